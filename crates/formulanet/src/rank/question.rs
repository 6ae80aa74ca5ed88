//! What is asked of candidates: a conjecture, which of them may be used for it, and in what order they are wanted.

use formulanet_logic::{Formula, Interner, hol};

use super::ranker::Ranker;
use super::reading::Reading;
use crate::Error;
use crate::model::encode::Encoded;
use crate::read::{Statement, parse};

/// A conjecture, as it was parsed and as a model reads it.
pub struct Question {
    /// As the model reads it.
    pub encoded: Encoded,
    /// As it was parsed.
    pub formula: Formula,
    /// The names of its symbols.
    pub names: Interner,
}

impl Question {
    /// Reads a conjecture.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is too large.
    pub fn read(ranker: &Ranker, conjecture: &Statement) -> Result<Self, Error> {
        Self::read_as(ranker, conjecture, &ranker.hol_options())
    }

    /// The same with options of one's own, such as what `+` means where nothing tells.
    ///
    /// # Errors
    ///
    /// As [`Question::read`].
    pub fn read_as(ranker: &Ranker, conjecture: &Statement, options: &hol::Options) -> Result<Self, Error> {
        let Statement { name, text, syntax } = conjecture;
        let mut names = Interner::new();
        let formula = parse(text, *syntax, options, &mut names).map_err(|error| Error::parse(name, error))?;
        Self::new(ranker, formula, names, name)
    }

    /// A conjecture that was parsed; the name is for messages.
    ///
    /// # Errors
    ///
    /// If it is too large.
    pub fn new(ranker: &Ranker, formula: Formula, names: Interner, name: &str) -> Result<Self, Error> {
        let encoded = ranker.encoder().encode(&formula, &names).map_err(|cause| {
            let position = formulanet_logic::Position { line: 1, column: 1 };
            Error::TooLarge { file: name.to_owned(), position, cause }
        })?;
        Ok(Question { encoded, formula, names })
    }
}

/// How a question is answered.
#[derive(Clone, Default)]
pub struct Wishes<'a> {
    /// What reads the best candidates together with the conjecture.
    pub reading: Option<&'a Reading>,
    /// Only statements of the library that come before this one, by its name, may be used.
    pub before: Option<String>,
    /// The conjecture is this statement of the library: what its own proofs used is not known, and it comes behind all that may
    /// be used.
    pub own_name: Option<String>,
    /// Only statements of the library in modules or files that fit one of these patterns may be used; all if there is none.
    pub modules: Vec<String>,
    /// Whether a statement that says what the conjecture says may be used.
    pub keeps_goal: bool,
    /// Which come first.
    pub order: Order,
    /// Whether to tell what is said of candidates without the conjecture.
    pub with_usual: bool,
}

/// Which statements come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Those that the conjecture makes likely: what every other proof uses has to be more likely for it than usual.
    #[default]
    Goal,
    /// Those that are most likely to be used.
    Probability,
}

impl Order {
    /// All orders by name.
    pub const ALL: [(&'static str, Order); 2] = [("goal", Order::Goal), ("probability", Order::Probability)];

    /// Scores by which statements come in this order: how likely each is to be used, beside how often it is used anyway.
    pub(super) fn apply(self, scores: &mut [f32], usual: Option<&[f32]>) {
        let (Order::Goal, Some(usual)) = (self, usual) else { return };
        for (score, &usual) in scores.iter_mut().zip(usual).filter(|(_, usual)| **usual > OFTEN) {
            // The odds, divided by how many times likelier than now and then it is anyway.
            let odds = |probability: f32| f64::from(probability) / (1.0 - f64::from(probability)).max(1e-9);
            let odds = odds(*score) * odds(OFTEN) / odds(usual);
            *score = (odds / (1.0 + odds)) as f32;
        }
    }
}

/// Which share of all proofs use a fact that says little about a single one.
const OFTEN: f32 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_proof_uses_has_to_be_likelier_than_usual() {
        let check = |order: Order, scores: [f32; 3], usual: Option<[f32; 3]>, expected: [usize; 3]| {
            let mut keys = scores;
            order.apply(&mut keys, usual.as_ref().map(|usual| &usual[..]));
            let mut found = [0, 1, 2];
            found.sort_by(|&a, &b| keys[b].total_cmp(&keys[a]));
            assert_eq!(found, expected, "{order:?} {scores:?} {usual:?}");
        };
        check(Order::Goal, [0.9, 0.6, 0.1], Some([0.9, 0.01, 0.001]), [1, 0, 2]);
        check(Order::Goal, [0.9, 0.2, 0.01], Some([0.5, 0.01, 0.001]), [0, 1, 2]);
        check(Order::Goal, [0.9, 0.6, 0.1], Some([0.02, 0.01, 0.03]), [0, 1, 2]);
        check(Order::Goal, [0.1, 0.6, 0.9], None, [2, 1, 0]);
        check(Order::Probability, [0.9, 0.6, 0.1], Some([0.9, 0.01, 0.001]), [0, 1, 2]);
    }
}
