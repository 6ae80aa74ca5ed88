//! Facts that are like the goal, and what their proofs used.

use super::facts::{Goal, Theory};
use super::methods::{Scored, best};

/// How many neighbours are looked at in one go.
const GO: usize = 64;

/// How near all facts are to a goal: the sum of a function of rarity over the features that both have.
pub(super) fn nearness(theory: &Theory, features: &[u32], weight: impl Fn(f32) -> f32) -> Vec<f32> {
    let mut near = vec![0.0f32; theory.len()];
    for &feature in features {
        let weight = weight(theory.rarity(feature));
        if weight > 0.0 {
            theory.having[feature as usize].iter().for_each(|&fact| near[fact as usize] += weight);
        }
    }
    near
}

/// As CoqHammer does it: down the list of the nearest until so many facts have a score. A near fact gains its nearness, each
/// of its dependencies 2.7 of it divided by their number.
pub(super) fn plain(theory: &Theory, goal: &Goal, before: usize, number: usize) -> Vec<Scored> {
    down(theory, &nearness(theory, goal.near_features(), |rarity| rarity.powi(6)), before, number)
}

/// The same, with how near each fact is.
pub(super) fn down(theory: &Theory, near: &[f32], before: usize, number: usize) -> Vec<Scored> {
    let positive = (0..).zip(near).filter(|(_, near)| **near > 0.0);
    let mut ordered: Vec<Scored> = positive.map(|(fact, &near)| (fact, near)).collect();
    let mut scores = vec![0.0f32; theory.len()];
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
            for proof in &theory.facts[fact as usize].proofs {
                let more = 2.7 * near / proof.len() as f32;
                proof.iter().for_each(|&used| gain(used, more, &mut scored));
            }
        }
        ordered = rest;
        go *= 2;
    }
    scored.into_iter().map(|fact| (fact, scores[fact as usize])).collect()
}

/// Facts that are like a goal, the most similar first.
pub(super) struct Neighbours {
    /// Proved facts by the cosine of all features.
    pub(super) by_parts: Vec<Scored>,
    /// Proved facts by the cosine of symbols and pairs.
    pub(super) by_pairs: Vec<Scored>,
    /// Proved facts by what they share of the rarest features, as hammers do.
    pub(super) by_rarity: Vec<Scored>,
    /// Any facts by the cosine of all features.
    pub(super) alike: Vec<Scored>,
    /// How near each fact is, as hammers see it.
    pub(super) hammer: Vec<f32>,
}

/// Facts whose cosine is computed: those with the most in common.
const SHORT_LIST: usize = 1024;
/// Neighbours that are kept.
const KEPT: usize = 256;

impl Neighbours {
    pub(super) fn new(theory: &Theory, goal: &Goal) -> Self {
        let square = |features: &[u32]| nearness(theory, features, |rarity| rarity * rarity);
        let pairs = square(goal.near_features());
        let mut parts = pairs.clone();
        for &feature in &goal.features[goal.ends[1]..] {
            let weight = theory.rarity(feature).powi(2);
            theory.having[feature as usize].iter().for_each(|&fact| parts[fact as usize] += weight);
        }
        let rarity = nearness(theory, goal.near_features(), |rarity| rarity.powi(6));
        let listed = |near: &[f32], is_any: bool, number: usize| {
            let positive = (0..)
                .zip(near)
                .filter(|&(fact, near)| *near > 0.0 && (is_any || theory.facts[fact as usize].is_proved()));
            best(positive.map(|(fact, &near)| (fact, near)).collect(), number)
        };
        let length =
            |features: &[u32]| features.iter().map(|&feature| theory.rarity(feature).powi(2)).sum::<f32>();
        let cosine = |mut list: Vec<Scored>, goal: &[u32], own: &dyn Fn(usize) -> f32| {
            let goal = length(goal);
            list.iter_mut().for_each(|(fact, near)| *near /= (goal * own(*fact as usize)).sqrt().max(1e-6));
            best(list, KEPT)
        };
        let all = |fact: usize| length(&theory.facts[fact].features);
        let near = |fact: usize| length(theory.facts[fact].near_features());
        Neighbours {
            by_parts: cosine(listed(&parts, false, SHORT_LIST), &goal.features, &all),
            by_pairs: cosine(listed(&pairs, false, SHORT_LIST), goal.near_features(), &near),
            by_rarity: listed(&rarity, false, KEPT),
            alike: cosine(listed(&parts, true, SHORT_LIST), &goal.features, &all),
            hammer: rarity,
        }
    }
}

/// Which share of some neighbours' proofs used each fact, where a neighbour counts as much as a function of its number and
/// nearness says.
pub(super) fn shares(theory: &Theory, neighbours: &[Scored], weight: impl Fn(u32, f32) -> f32) -> Vec<f32> {
    let mut shares = vec![0.0f32; theory.len()];
    let total: f32 = neighbours.iter().map(|&(fact, near)| weight(fact, near)).sum();
    for &(fact, near) in neighbours {
        let proofs = &theory.facts[fact as usize].proofs;
        let each = weight(fact, near) / total.max(1e-20) / proofs.len().max(1) as f32;
        for &used in proofs.iter().flatten() {
            shares[used as usize] += each;
        }
    }
    shares
}
