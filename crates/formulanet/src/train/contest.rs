//! Which conjectures are compared with which premises in a batch of training.
//!
//! A batch has some conjectures, some premises of each, and random premises; every conjecture is compared with all of
//! them. What a premise's presence says of its usefulness is taken back by [`Contest::prior`] and the chances.
//!
//! A conjecture may borrow the dependencies of a similar one: what proofs of similar conjectures depend on is what a
//! conjecture's own proof might have depended on, and a network that is shown nothing but the one proof learns it by heart.

use std::collections::HashMap;

use formulanet_net::{Batch, Candidate, Contest, Dealing, Dropout, Meeting};

use super::gather::{Blur, Gathered};
use crate::baselines::Index;
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
    /// For every conjecture, similar ones and how likely each is to lend its dependencies, adding up to 1.
    lenders: Vec<Vec<(u32, f32)>>,
    /// What can be lent: the dependencies of every conjecture, and itself if it is a premise.
    loans: Vec<Vec<u32>>,
}

/// How many similar conjectures may lend.
const LENDERS: usize = 20;

/// For every conjecture, those that are most like it by their symbols.
fn lenders(prepared: &Prepared, conjectures: &[usize]) -> Vec<Vec<(u32, f32)>> {
    let tokens = |number: &usize| prepared.graph(prepared.conjecture(*number).graph).tokens;
    let index = Index::new(conjectures.iter().map(tokens), prepared.vocabulary().len());
    let of_one = |place: usize| -> Vec<(u32, f32)> {
        let mut found = index.nearest(tokens(&conjectures[place]), LENDERS + 1);
        found.retain(|&(other, _)| other != place);
        found.truncate(LENDERS);
        // The closest count most.
        let total: f32 = found.iter().map(|(_, similarity)| similarity.powi(4)).sum();
        found.into_iter().map(|(other, similarity)| (other as u32, similarity.powi(4) / total)).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = conjectures.len().div_ceil(threads).max(1);
    let of_one = &of_one;
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..conjectures.len())
            .step_by(size)
            .map(|start| {
                let end = (start + size).min(conjectures.len());
                scope.spawn(move || (start..end).map(of_one).collect::<Vec<_>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("a search does not panic")).collect()
    })
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
        let borrows = recipe.borrow > 0.0;
        let lenders = if borrows { lenders(prepared, &conjectures) } else { Vec::new() };
        let names: HashMap<&str, u32> =
            (0..premises).map(|number| (prepared.premise(number).name, number as u32)).collect();
        let loan = |&number: &usize| {
            let conjecture = prepared.conjecture(number);
            let mut loan = conjecture.dependencies.to_vec();
            loan.extend(
                names.get(conjecture.name).filter(|itself| !conjecture.dependencies.contains(itself)),
            );
            loan
        };
        ContestOrder {
            lenders,
            loans: if borrows { conjectures.iter().map(loan).collect() } else { Vec::new() },
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
    pub(super) fn batch(&self, places: &[u32], step: u64, dealing: Dealing) -> Batch {
        let (prepared, recipe) = (self.prepared, self.recipe);
        let seed = scramble(recipe.seed ^ scramble(step ^ 0x636f_6e74));
        let asked: Vec<Asked<'_>> =
            places.iter().map(|&place| self.asked(place, seed ^ scramble(u64::from(place) << 20))).collect();
        let mut premises: Vec<u32> = Vec::new();
        for (i, asked) in asked.iter().enumerate() {
            let drawn = sample(asked.dependencies.to_vec(), recipe.useful, seed ^ scramble(i as u64 + 1));
            premises.extend(drawn);
        }
        let all = prepared.meta().counts.premises as u64;
        premises.extend((0..recipe.random as u64).map(|i| (scramble(seed ^ scramble(!i)) % all) as u32));
        premises.sort_unstable();
        premises.dedup();
        let mut graphs = Gathered::default();
        let keeps = |premise: u32| share(seed, u64::from(premise) | 1 << 40) >= recipe.forget;
        let candidate = |&premise: &u32| Candidate {
            graph: graphs.number(prepared.premise(premise as usize).graph),
            memory: self.memory[premise as usize].filter(|_| keeps(premise)),
            chance: self.chances[premise as usize],
        };
        let statements: Vec<Candidate> = premises.iter().map(candidate).collect();
        let places: HashMap<u32, u32> = premises.iter().copied().zip(0..).collect();
        let useful_for = |asked: &Asked<'_>| {
            asked.dependencies.iter().filter_map(|premise| places.get(premise).copied()).collect()
        };
        let contest = Contest {
            useful: asked.iter().map(useful_for).collect(),
            chances: asked.iter().map(|asked| chance(asked.dependencies.len(), recipe.useful)).collect(),
            conjectures: asked.iter().map(|asked| graphs.number(asked.graph)).collect(),
            statements,
            prior: self.prior,
            dropout: Dropout { share: recipe.dropout, seed },
        };
        let config = recipe.config(prepared.vocabulary().len());
        graphs.with_inputs(prepared, &self.blur, step, |inputs| {
            Batch::contest(inputs, contest, dealing, &config)
        })
    }
}

/// A conjecture of a batch, with the dependencies that it is to learn.
struct Asked<'a> {
    graph: u32,
    dependencies: &'a [u32],
}

impl ContestOrder<'_> {
    /// A conjecture with its own dependencies, or with those of a similar one.
    fn asked(&self, place: u32, seed: u64) -> Asked<'_> {
        let conjecture = self.prepared.conjecture(self.conjectures[place as usize]);
        let own = Asked { graph: conjecture.graph, dependencies: conjecture.dependencies };
        if self.lenders.is_empty() || share(seed, 1) >= self.recipe.borrow {
            return own;
        }
        let mut dice = share(seed, 2);
        for &(lender, chance) in &self.lenders[place as usize] {
            dice -= chance;
            if dice <= 0.0 {
                return Asked { dependencies: &self.loans[lender as usize], ..own };
            }
        }
        own
    }
}

/// A number from 0 to below 1 that looks random.
fn share(seed: u64, number: u64) -> f32 {
    let dice = scramble(seed ^ scramble(number)) >> 40;
    dice as f32 / (1u64 << 24) as f32
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
