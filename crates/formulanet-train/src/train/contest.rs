//! Which conjectures are compared with which premises in a batch of training.
//!
//! A batch has some conjectures, some premises of each, and random premises; every conjecture is compared with all of
//! them. What a premise's presence says of its usefulness is taken back by [`Contest::prior`] and the chances.

use std::collections::HashMap;

use formulanet::net::{Batch, Candidate, Contest, Dealing, Dropout};

use super::gather::{Blur, Gathered};
use crate::dataset::{Conjecture, Prepared, Split};
use crate::eval::Questions;
use formulanet::model::recipe::Recipe;
use formulanet::util::random::{sample, scramble};
use formulanet::util::vector::sorted;

/// Which conjectures and premises every batch has.
pub(super) struct ContestOrder<'a> {
    prepared: &'a Prepared,
    recipe: &'a Recipe,
    /// Numbers of the training conjectures that depend on something.
    pub(super) conjectures: Vec<usize>,
    /// For every premise, the chance that a random batch has it.
    chances: Vec<f32>,
    pub(super) prior: f32,
    blur: Blur,
}

impl<'a> ContestOrder<'a> {
    pub(super) fn new(prepared: &'a Prepared, recipe: &'a Recipe) -> Self {
        let conjectures = Questions::new(prepared, &[Split::Train]).asked;
        let premises = prepared.meta().counts.premises;
        let mut expected = vec![0.0f64; premises];
        let mut dependencies = 0;
        for &number in &conjectures {
            let of_this = prepared.conjecture(number).dependencies;
            dependencies += of_this.len();
            for &premise in of_this {
                expected[premise as usize] += f64::from(chance(of_this.len(), recipe.useful));
            }
        }
        let batch = recipe.batch.min(conjectures.len());
        let random = recipe.random as f64 / premises.max(1) as f64;
        let of_premise = |expected: f64| {
            let missed = (1.0 - expected / conjectures.len().max(1) as f64).max(0.0);
            let missed = missed.powi(batch.saturating_sub(1) as i32) * (1.0 - random.min(1.0));
            (1.0 - missed).clamp(1e-6, 1.0) as f32
        };
        let share = dependencies as f64 / (conjectures.len().max(1) * premises.max(1)) as f64;
        ContestOrder {
            prepared,
            recipe,
            chances: expected.into_iter().map(of_premise).collect(),
            prior: prior(share),
            conjectures,
            blur: Blur::new(prepared, recipe),
        }
    }

    /// A batch, ready for the network: conjectures by their places in the epoch's order.
    pub(super) fn batch(&self, places: &[u32], step: u64, dealing: Dealing) -> Batch {
        let (prepared, recipe) = (self.prepared, self.recipe);
        let seed = scramble(recipe.seed ^ scramble(step ^ 0x636f_6e74));
        let asked: Vec<Conjecture<'_>> =
            places.iter().map(|&place| prepared.conjecture(self.conjectures[place as usize])).collect();
        let mut premises: Vec<u32> = Vec::new();
        for (i, asked) in asked.iter().enumerate() {
            let drawn = sample(asked.dependencies.to_vec(), recipe.useful, seed ^ scramble(i as u64 + 1));
            premises.extend(drawn);
        }
        let all = prepared.meta().counts.premises as u64;
        premises.extend((0..recipe.random as u64).map(|i| (scramble(seed ^ scramble(!i)) % all) as u32));
        let premises = sorted(premises.into_iter());
        let mut graphs = Gathered::default();
        let candidate = |&premise: &u32| Candidate {
            graph: graphs.number(prepared.premise(premise as usize).graph),
            chance: self.chances[premise as usize],
        };
        let statements: Vec<Candidate> = premises.iter().map(candidate).collect();
        let in_batch: HashMap<u32, u32> = premises.iter().copied().zip(0..).collect();
        let useful_for = |asked: &Conjecture<'_>| {
            asked.dependencies.iter().filter_map(|premise| in_batch.get(premise).copied()).collect()
        };
        let contest = Contest {
            useful: asked.iter().map(useful_for).collect(),
            chances: asked.iter().map(|asked| chance(asked.dependencies.len(), recipe.useful)).collect(),
            conjectures: asked.iter().map(|asked| graphs.number(asked.graph)).collect(),
            statements,
            prior: self.prior,
        };
        let config = recipe.config(prepared.vocabulary().len());
        graphs.with_inputs(prepared, &self.blur, step, |inputs| {
            Batch::contest(inputs, contest, dealing, &config)
                .with_dropout(Dropout { share: recipe.dropout, seed })
        })
    }
}

/// The chance that a dependency is drawn, of this many.
fn chance(dependencies: usize, useful: usize) -> f32 {
    (useful as f32 / dependencies as f32).min(1.0)
}

/// The logarithm of the odds of a share.
fn prior(share: f64) -> f32 {
    let share = share.clamp(1e-9, 0.5);
    (share / (1.0 - share)).ln() as f32
}
