//! Baselines without neural networks, evaluated in the same way.
//!
//! A [`Baseline`] learns from the training split of a prepared folder and predicts which statements of another split
//! are useful; [`evaluate`](formulanet_train::eval::evaluate) measures its predictions as it does a network's. A
//! [`LibraryBaseline`] ranks all named premises for whole conjectures.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use formulanet_lab::baselines::{Baseline, BaselineOptions};
//! use formulanet_train::dataset::{Prepared, Split};
//! use formulanet_train::eval::evaluate;
//!
//! let prepared = Prepared::open(Path::new("prepared"))?;
//! let predictions = Baseline::Tokens.predict(&prepared, Split::Validation, &BaselineOptions::default())?;
//! let accuracy = evaluate(&predictions, &[])?.accuracy;
//! # Ok::<(), formulanet_train::Error>(())
//! ```

mod frequency;
mod library;
mod nearest;
mod regression;

use serde::{Deserialize, Serialize};

use formulanet::Error;
use formulanet::util::random::sample;
use formulanet_train::dataset::{Pair, Prepared, Split};
use formulanet_train::eval::metrics::Prediction;

/// A way to tell useful statements from useless ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Baseline {
    /// Every statement is as likely to be useful as the average one of training.
    Majority,
    /// Logistic regression on how often each token occurs.
    Tokens,
    /// The most similar statements of training vote.
    Nearest,
    /// How often the same statement was useful in training.
    Seen,
}

/// A way to rank all premises for a conjecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LibraryBaseline {
    /// By how many proofs of training depend on the premise.
    Popularity,
    /// By what the proofs of the most similar conjectures of training depend on, and those conjectures themselves where
    /// they are premises; then by popularity.
    Neighbours,
}

/// How baselines learn and what they are asked.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BaselineOptions {
    /// Decides which pairs are drawn, and in which order.
    pub seed: u64,
    /// Whether [`Baseline::Tokens`] uses the conjecture in addition to the statement; the others never do.
    pub is_conditional: bool,
    /// [`Baseline::Tokens`] reads at most this many labelled statements of training, each once.
    pub regression_pairs: usize,
    /// Step size of [`Baseline::Tokens`], before AdaGrad makes it smaller.
    pub learning_rate: f32,
    /// [`Baseline::Nearest`] keeps at most this many labelled statements of training.
    pub nearest_pairs: usize,
    /// The number of statements that vote in [`Baseline::Nearest`].
    pub nearest: usize,
    /// The number of conjectures that [`LibraryBaseline::Neighbours`] considers.
    pub neighbours: usize,
    /// Draw conjectures until they have this many labelled statements; 0 for no limit.
    pub evaluated_pairs: usize,
}

impl Default for BaselineOptions {
    fn default() -> Self {
        BaselineOptions {
            seed: 0,
            is_conditional: true,
            regression_pairs: 1_000_000,
            learning_rate: 0.05,
            nearest_pairs: 200_000,
            nearest: 5,
            neighbours: 10,
            evaluated_pairs: 0,
        }
    }
}

impl Baseline {
    /// All of them, the simplest first.
    pub const ALL: [Baseline; 4] = [Baseline::Majority, Baseline::Seen, Baseline::Tokens, Baseline::Nearest];

    /// Its name, in JSON as well.
    pub fn name(self) -> &'static str {
        match self {
            Baseline::Majority => "majority",
            Baseline::Tokens => "tokens",
            Baseline::Nearest => "nearest",
            Baseline::Seen => "seen",
        }
    }

    /// Learns from the training split and predicts another, conjecture by conjecture, in the folder's order.
    ///
    /// An error if there is nothing to learn from or nothing to predict.
    pub fn predict(
        self,
        prepared: &Prepared,
        split: Split,
        options: &BaselineOptions,
    ) -> Result<Vec<Prediction>, Error> {
        let training = pairs(prepared, Split::Train, 0, options.seed)?;
        let asked = pairs(prepared, split, options.evaluated_pairs, options.seed)?;
        let prior = frequency::prior(&training);
        let scores = match self {
            Baseline::Majority => vec![prior; asked.len()],
            Baseline::Seen => frequency::seen(&training, &asked, prior),
            Baseline::Tokens => regression::scores(prepared, training, &asked, options),
            Baseline::Nearest => nearest::scores(prepared, training, &asked, prior, options),
        };
        let with_scores = asked.iter().zip(scores);
        Ok(with_scores
            .map(|(pair, score)| Prediction { conjecture: pair.conjecture, score, is_useful: pair.useful })
            .collect())
    }
}

impl LibraryBaseline {
    /// All of them, the simplest first.
    pub const ALL: [LibraryBaseline; 2] = [LibraryBaseline::Popularity, LibraryBaseline::Neighbours];

    /// Its name, in JSON as well.
    pub fn name(self) -> &'static str {
        match self {
            LibraryBaseline::Popularity => "popularity",
            LibraryBaseline::Neighbours => "neighbours",
        }
    }
}

/// The labelled statements of a split: all of them if the limit is 0, else those of whole conjectures, drawn by the
/// seed, until the limit is reached.
fn pairs(prepared: &Prepared, split: Split, limit: usize, seed: u64) -> Result<Vec<Pair>, Error> {
    let mut conjectures = of_split(prepared, split);
    if limit > 0 {
        let number = conjectures.len();
        let mut left = limit;
        conjectures = sample(conjectures, number, seed);
        conjectures.retain(|&number| {
            let is_taken = left > 0;
            left = left.saturating_sub(prepared.conjecture(number).pairs.len());
            is_taken
        });
        conjectures.sort_unstable();
    }
    let numbers = conjectures.into_iter().flat_map(|number| prepared.conjecture(number).pairs);
    let pairs: Vec<Pair> = numbers.map(|number| prepared.pair(number)).collect();
    if pairs.is_empty() {
        return Err(nothing(prepared, "labelled statements", split));
    }
    Ok(pairs)
}

/// The conjectures of a split.
fn of_split(prepared: &Prepared, split: Split) -> Vec<usize> {
    let is_in_split = |&number: &usize| prepared.conjecture(number).split == split;
    (0..prepared.meta().counts.conjectures).filter(is_in_split).collect()
}

/// That a split is empty.
fn nothing(prepared: &Prepared, what: &str, split: Split) -> Error {
    let (name, remedy) = match split {
        Split::Train => ("training", "hold out fewer conjectures when preparing it"),
        Split::Validation => ("validation", "hold out some conjectures when preparing it"),
        Split::Test => ("test", "choose another split, or prepare data that has a test part"),
    };
    let message = format!("expected {what} in the {name} split of the prepared folder, found none; {remedy}");
    Error::input(&prepared.meta().input, message)
}
