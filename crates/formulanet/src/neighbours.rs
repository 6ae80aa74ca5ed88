//! What proofs of similar conjectures depended on.
//!
//! A model that ranks may know the conjectures of training by features of their graphs, and which premises their proofs
//! used. Asked for a conjecture, it finds the most similar ones and says which share of their proofs used a premise.
//! Features and premises are known by hashes, never by names.

mod bytes;

use std::collections::HashMap;

use formulanet_net::GraphInput;

use crate::data::{Prepared, Split};
use crate::memory::key;
use crate::random::scramble;
use crate::similar::{Index, weight};

/// How many conjectures are looked at.
const NUMBER: usize = 40;
/// The share of a conjecture is its similarity to this power, so that the closest count most.
const POWER: i32 = 4;

/// Conjectures of training and what their proofs used.
#[derive(Clone, PartialEq, Debug)]
pub struct Neighbours {
    /// The keys of premises' graphs, ascending. A premise is known by its number here.
    premises: Vec<u64>,
    /// For every conjecture, its features and how often it has them, ascending.
    features: Vec<Vec<(u32, u32)>>,
    /// For every conjecture, the premises that its proof used and itself, ascending.
    uses: Vec<Vec<u32>>,
    index: Index<u32>,
}

/// Which share of the proofs of some conjectures used each premise.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shares {
    /// By the premises' numbers; empty if no conjecture is similar.
    shares: Vec<f32>,
}

impl Shares {
    /// The share of a premise; of one that no proof used, 0.
    pub fn of(&self, premise: Option<u32>) -> f32 {
        premise.and_then(|number| self.shares.get(number as usize)).copied().unwrap_or(0.0)
    }

    /// How much to trust the shares, given how much to trust any.
    pub fn trust(&self, any: f32) -> f32 {
        if self.shares.is_empty() { 0.0 } else { any }
    }
}

impl Default for Neighbours {
    fn default() -> Self {
        Neighbours::of_parts(Vec::new(), Vec::new(), Vec::new())
    }
}

impl Neighbours {
    /// The training conjectures of a prepared folder that depend on something, in its order.
    pub fn of(prepared: &Prepared) -> Self {
        let is_known = |number: &usize| {
            let conjecture = prepared.conjecture(*number);
            conjecture.split == Split::Train && !conjecture.dependencies.is_empty()
        };
        let known = (0..prepared.meta().counts.conjectures).filter(is_known);
        let key_of = |graph: u32| key(prepared.graph(graph).input());
        let uses: Vec<(u32, Vec<u64>)> = known
            .map(|number| prepared.conjecture(number))
            .map(|conjecture| {
                let premises = conjecture.dependencies.iter().map(|&n| prepared.premise(n as usize).graph);
                // A similar theorem is itself something to prove the conjecture with.
                (conjecture.graph, premises.chain([conjecture.graph]).map(key_of).collect())
            })
            .collect();
        let mut premises: Vec<u64> = uses.iter().flat_map(|(_, keys)| keys).copied().collect();
        premises.sort_unstable();
        premises.dedup();
        let numbers: HashMap<u64, u32> = premises.iter().copied().zip(0..).collect();
        let number_all = |(_, keys): &(u32, Vec<u64>)| {
            let mut numbers: Vec<u32> = keys.iter().map(|key| numbers[key]).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let features = uses.iter().map(|(graph, _)| counted(prepared.graph(*graph).input())).collect();
        let uses = uses.iter().map(number_all).collect();
        Neighbours::of_parts(premises, features, uses)
    }

    fn of_parts(premises: Vec<u64>, features: Vec<Vec<(u32, u32)>>, uses: Vec<Vec<u32>>) -> Self {
        let index = Index::new(features.iter().map(|features| weighed(features)));
        Neighbours { premises, features, uses, index }
    }

    /// How many conjectures there are.
    pub fn len(&self) -> usize {
        self.uses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// How many premises are known.
    pub fn premises(&self) -> usize {
        self.premises.len()
    }

    /// The number of a premise, if some proof used it.
    pub fn number(&self, premise: GraphInput<'_>) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        self.premises.binary_search(&key(premise)).ok().map(|number| number as u32)
    }

    /// Which share of the proofs of similar conjectures used each premise.
    pub fn shares(&self, conjecture: GraphInput<'_>) -> Shares {
        self.shares_of(&weighed(&counted(conjecture)), None)
    }

    /// The same for one of the known conjectures, as if it were not known.
    pub(crate) fn shares_without(&self, conjecture: usize) -> Shares {
        self.shares_of(&weighed(&self.features[conjecture]), Some(conjecture))
    }

    /// Which share of all proofs used each premise.
    pub fn popularity(&self) -> Shares {
        self.add_up((0..self.len()).map(|conjecture| (conjecture, 1.0)).collect())
    }

    fn shares_of(&self, features: &[(u32, f32)], without: Option<usize>) -> Shares {
        let mut nearest = self.index.nearest(features, NUMBER + usize::from(without.is_some()));
        nearest.retain(|&(conjecture, _)| Some(conjecture) != without);
        nearest.truncate(NUMBER);
        nearest.iter_mut().for_each(|(_, similarity)| *similarity = similarity.powi(POWER));
        self.add_up(nearest)
    }

    fn add_up(&self, conjectures: Vec<(usize, f32)>) -> Shares {
        if conjectures.is_empty() {
            return Shares::default();
        }
        let mut shares = vec![0.0; self.premises.len()];
        let total: f32 = conjectures.iter().map(|(_, weight)| weight).sum();
        for (conjecture, weight) in conjectures {
            for &premise in &self.uses[conjecture] {
                // Sums of parts may be above the whole by a rounding.
                let share = &mut shares[premise as usize];
                *share = (*share + weight / total).min(1.0);
            }
        }
        Shares { shares }
    }
}

/// The features of a graph, as similarity wants them.
fn weighed(features: &[(u32, u32)]) -> Vec<(u32, f32)> {
    features.iter().map(|&(feature, count)| (feature, weight(count as usize))).collect()
}

/// The features of a graph and how often it has them: tokens, tokens of the two ends of an edge, and tokens of a node
/// with its children in order.
fn counted(graph: GraphInput<'_>) -> Vec<(u32, u32)> {
    let hash = |kind: u64, tokens: &mut dyn Iterator<Item = u16>| {
        let hash = tokens.fold(scramble(kind), |hash, token| scramble(hash ^ u64::from(token)));
        (hash >> 32) as u32
    };
    let mut features = Vec::with_capacity(2 * graph.tokens.len() + graph.targets.len());
    let mut targets = graph.targets;
    for (&token, &degree) in graph.tokens.iter().zip(graph.degrees) {
        features.push(hash(1, &mut [token].into_iter()));
        let (own, others) = targets.split_at(usize::from(degree));
        targets = others;
        let children = || own.iter().map(|&target| graph.tokens[usize::from(target)]);
        features.extend(children().map(|child| hash(2, &mut [token, child].into_iter())));
        if degree > 0 {
            features.push(hash(3, &mut [token].into_iter().chain(children())));
        }
    }
    features.sort_unstable();
    features.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

#[cfg(test)]
mod tests;
