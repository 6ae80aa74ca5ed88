//! Which conjectures are compared with which premises in a batch of training.
//!
//! A batch has some conjectures, some premises of each, and random premises; every conjecture is compared with all of
//! them. What a premise's presence says of its usefulness is taken back by [`Contest::prior`] and the chances.

use std::collections::HashMap;

use formulanet_net::{Batch, Candidate, Contest, Meeting};

use super::gather::{Blur, Gathered};
use crate::data::{Prepared, Split};
use crate::memory::{self, Memory};
use crate::random::{sample, scramble};
use crate::recipe::Recipe;

/// Which conjectures and premises every batch has.
pub(super) struct ContestOrder<'a> {
    prepared: &'a Prepared,
    recipe: &'a Recipe,
    /// Numbers of the training conjectures that depend on something.
    conjectures: Vec<usize>,
    /// For every premise, the chance that a random batch has it.
    chances: Vec<f32>,
    prior: f32,
    /// For every premise, the vector of its own.
    memory: Vec<Option<u32>>,
    blur: Blur,
}

/// The memory of a recipe: premises that enough training conjectures depend on.
pub(super) fn memory_of(prepared: &Prepared, recipe: &Recipe) -> Memory {
    if recipe.memory == 0 || recipe.meeting != Meeting::Towers {
        return Memory::default();
    }
    let uses = uses(prepared);
    let mut by_graph: HashMap<u32, u32> = HashMap::new();
    for (number, &uses) in uses.iter().enumerate() {
        *by_graph.entry(prepared.premise(number).graph).or_default() += uses;
    }
    let mut graphs: Vec<u32> =
        by_graph.into_iter().filter(|&(_, uses)| uses >= recipe.memory).map(|(graph, _)| graph).collect();
    graphs.sort_unstable();
    let mut keys: Vec<u64> =
        graphs.into_iter().map(|graph| memory::key(prepared.graph(graph).input())).collect();
    keys.dedup();
    Memory::new(keys)
}

/// How many training conjectures depend on every premise.
fn uses(prepared: &Prepared) -> Vec<u32> {
    let mut uses = vec![0; prepared.meta().counts.premises];
    for conjecture in prepared.conjectures().filter(|conjecture| conjecture.split == Split::Train) {
        conjecture.dependencies.iter().for_each(|&premise| uses[premise as usize] += 1);
    }
    uses
}

impl<'a> ContestOrder<'a> {
    pub(super) fn new(prepared: &'a Prepared, recipe: &'a Recipe) -> Self {
        let is_asked = |&number: &usize| {
            let conjecture = prepared.conjecture(number);
            conjecture.split == Split::Train && !conjecture.dependencies.is_empty()
        };
        let conjectures: Vec<usize> = (0..prepared.meta().counts.conjectures).filter(is_asked).collect();
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
        let memory = memory_of(prepared, recipe);
        let row = |number| memory.row(prepared.graph(prepared.premise(number).graph).input());
        ContestOrder {
            prepared,
            recipe,
            chances: expected.into_iter().map(of_premise).collect(),
            prior: prior(share),
            memory: (0..premises).map(row).collect(),
            conjectures,
            blur: Blur::new(prepared, recipe),
        }
    }

    pub(super) fn prior(&self) -> f32 {
        self.prior
    }

    pub(super) fn count(&self) -> usize {
        self.conjectures.len()
    }

    /// A batch, ready for the network: conjectures by their places in the epoch's order.
    pub(super) fn batch(&self, places: &[u32], step: u64) -> Batch {
        let (prepared, recipe) = (self.prepared, self.recipe);
        let seed = scramble(recipe.seed ^ scramble(step ^ 0x636f_6e74));
        let conjectures: Vec<_> =
            places.iter().map(|&place| prepared.conjecture(self.conjectures[place as usize])).collect();
        let mut premises: Vec<u32> = Vec::new();
        for (i, conjecture) in conjectures.iter().enumerate() {
            let drawn =
                sample(conjecture.dependencies.to_vec(), recipe.useful, seed ^ scramble(i as u64 + 1));
            premises.extend(drawn);
        }
        let all = prepared.meta().counts.premises as u64;
        premises.extend((0..recipe.random as u64).map(|i| (scramble(seed ^ scramble(!i)) % all) as u32));
        premises.sort_unstable();
        premises.dedup();
        let mut graphs = Gathered::default();
        let keeps = |premise: u32| {
            let dice = scramble(seed ^ scramble(u64::from(premise) | 1 << 40)) >> 40;
            dice as f32 / (1u64 << 24) as f32 >= recipe.forget
        };
        let candidate = |&premise: &u32| Candidate {
            graph: graphs.number(prepared.premise(premise as usize).graph),
            memory: self.memory[premise as usize].filter(|_| keeps(premise)),
            chance: self.chances[premise as usize],
        };
        let statements: Vec<Candidate> = premises.iter().map(candidate).collect();
        let places: HashMap<u32, u32> = premises.iter().copied().zip(0..).collect();
        let useful_for = |conjecture: &crate::data::Conjecture<'_>| {
            conjecture.dependencies.iter().filter_map(|premise| places.get(premise).copied()).collect()
        };
        let contest = Contest {
            useful: conjectures.iter().map(useful_for).collect(),
            chances: conjectures.iter().map(|c| chance(c.dependencies.len(), recipe.useful)).collect(),
            conjectures: conjectures.iter().map(|conjecture| graphs.number(conjecture.graph)).collect(),
            statements,
            prior: self.prior,
        };
        let config = recipe.config(prepared.vocabulary().len());
        graphs.with_inputs(prepared, &self.blur, step, |inputs| {
            Batch::contest(inputs, contest, recipe.micro_batch, &config)
        })
    }
}

/// The chance that one of so many dependencies is drawn.
fn chance(dependencies: usize, useful: usize) -> f32 {
    (useful as f32 / dependencies as f32).min(1.0)
}

/// The logarithm of the odds of a share.
fn prior(share: f64) -> f32 {
    let share = share.clamp(1e-9, 0.5);
    (share / (1.0 - share)).ln() as f32
}
