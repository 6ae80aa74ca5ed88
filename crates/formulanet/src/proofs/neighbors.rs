//! Facts similar to a goal, and the dependencies of their proofs.

use crate::proofs::methods::{Scored, best};
use crate::proofs::{IndexedGoal, ProofIndex};

/// Number of neighbors examined in one step.
const GO: usize = 64;

/// Returns the nearness of all facts to a goal: the sum of a function of idf over their common features.
pub(super) fn nearness(index: &ProofIndex, features: &[u32], weight: impl Fn(f32) -> f32) -> Vec<f32> {
    let mut near = vec![0.0f32; index.len()];
    for &feature in features {
        let weight = weight(index.idf(feature));
        if weight > 0.0 {
            index.postings[feature as usize].iter().for_each(|&fact| near[fact as usize] += weight);
        }
    }
    near
}

/// Ranks like CoqHammer: down the list of the nearest facts until `number` facts have a score. A near fact
/// gains its nearness, and each of its dependencies gains 2.7 times the nearness divided by their number.
pub(super) fn knn(index: &ProofIndex, goal: &IndexedGoal, before: usize, number: usize) -> Vec<Scored> {
    down(index, &nearness(index, goal.symbol_and_pair_features(), |idf| idf.powi(6)), before, number)
}

/// Ranks like [`knn`], given the nearness of each fact.
pub(super) fn down(index: &ProofIndex, near: &[f32], before: usize, number: usize) -> Vec<Scored> {
    let positive = (0..).zip(near).filter(|(_, near)| **near > 0.0);
    let mut ordered: Vec<Scored> = positive.map(|(fact, &near)| (fact, near)).collect();
    let mut scores = vec![0.0f32; index.len()];
    let mut scored: Vec<u32> = Vec::new();
    let mut gain = |fact: u32, more: f32, scored: &mut Vec<u32>| {
        if (fact as usize) < before {
            if scores[fact as usize] == 0.0 {
                scored.push(fact);
            }
            scores[fact as usize] += more;
        }
    };
    let mut go = number.max(GO);
    'down: while !ordered.is_empty() {
        let rest = if ordered.len() > go {
            ordered.select_nth_unstable_by(go, |a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
            ordered.split_off(go)
        } else {
            Vec::new()
        };
        for (fact, near) in best(std::mem::take(&mut ordered), go) {
            if scored.len() >= number {
                break 'down;
            }
            gain(fact, near, &mut scored);
            for proof in &index.facts[fact as usize].proofs {
                let more = 2.7 * near / proof.len() as f32;
                proof.iter().for_each(|&used| gain(used, more, &mut scored));
            }
        }
        ordered = rest;
        go *= 2;
    }
    scored.into_iter().map(|fact| (fact, scores[fact as usize])).collect()
}

/// Facts similar to a goal, the most similar first.
pub(super) struct Neighbors {
    /// Proved facts by the cosine of all features.
    pub(super) by_parts: Vec<Scored>,
    /// Proved facts by the cosine of symbols and pairs.
    pub(super) by_pairs: Vec<Scored>,
    /// Proved facts by the rarest features that they share with the goal, as in hammers.
    pub(super) by_rarity: Vec<Scored>,
    /// Any facts by the cosine of all features.
    pub(super) alike: Vec<Scored>,
    /// Nearness of each fact, as hammers compute it.
    pub(super) hammer: Vec<f32>,
}

/// Number of facts whose cosine is computed: those with the most in common.
const SHORT_LIST: usize = 1024;
/// Number of neighbors kept.
const KEPT: usize = 256;

impl Neighbors {
    pub(super) fn new(index: &ProofIndex, goal: &IndexedGoal) -> Self {
        let square = |features: &[u32]| nearness(index, features, |idf| idf * idf);
        let pairs = square(goal.symbol_and_pair_features());
        let mut parts = pairs.clone();
        for &feature in &goal.features[goal.ends[1]..] {
            let weight = index.idf(feature).powi(2);
            index.postings[feature as usize].iter().for_each(|&fact| parts[fact as usize] += weight);
        }
        let idf = nearness(index, goal.symbol_and_pair_features(), |idf| idf.powi(6));
        let listed = |near: &[f32], is_any: bool, number: usize| {
            let positive = (0..)
                .zip(near)
                .filter(|&(fact, near)| *near > 0.0 && (is_any || index.facts[fact as usize].is_proved()));
            best(positive.map(|(fact, &near)| (fact, near)).collect(), number)
        };
        let length =
            |features: &[u32]| features.iter().map(|&feature| index.idf(feature).powi(2)).sum::<f32>();
        let cosine = |mut list: Vec<Scored>, goal: &[u32], own: &dyn Fn(usize) -> f32| {
            let goal = length(goal);
            list.iter_mut().for_each(|(fact, near)| *near /= (goal * own(*fact as usize)).sqrt().max(1e-6));
            best(list, KEPT)
        };
        let all = |fact: usize| length(&index.facts[fact].features);
        let near = |fact: usize| length(index.facts[fact].symbol_and_pair_features());
        Neighbors {
            by_parts: cosine(listed(&parts, false, SHORT_LIST), &goal.features, &all),
            by_pairs: cosine(listed(&pairs, false, SHORT_LIST), goal.symbol_and_pair_features(), &near),
            by_rarity: listed(&idf, false, KEPT),
            alike: cosine(listed(&parts, true, SHORT_LIST), &goal.features, &all),
            hammer: idf,
        }
    }
}

/// Returns the share of some neighbors' proofs that used each fact, each neighbor weighted by a function of
/// its number and its nearness.
pub(super) fn shares(
    index: &ProofIndex,
    neighbours: &[Scored],
    weight: impl Fn(u32, f32) -> f32,
) -> Vec<f32> {
    let mut shares = vec![0.0f32; index.len()];
    let total: f32 = neighbours.iter().map(|&(fact, near)| weight(fact, near)).sum();
    for &(fact, near) in neighbours {
        let proofs = &index.facts[fact as usize].proofs;
        let each = weight(fact, near) / total.max(1e-20) / proofs.len().max(1) as f32;
        for &used in proofs.iter().flatten() {
            shares[used as usize] += each;
        }
    }
    shares
}
