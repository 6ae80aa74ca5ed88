//! Sparse naive Bayes, as in CoqHammer and Sledgehammer.

use crate::proofs::index::OWN;
use crate::proofs::methods::Scored;
use crate::proofs::{IndexedGoal, ProofIndex};

/// A goal's features, ascending, with their rarities.
pub(super) struct Weighted(Vec<(u32, f32)>);

impl Weighted {
    pub(super) fn new(index: &ProofIndex, goal: &IndexedGoal) -> Self {
        let mut features: Vec<u32> = goal.symbol_and_pair_features().to_vec();
        features.sort_unstable();
        Weighted(features.into_iter().map(|feature| (feature, index.idf(feature))).collect())
    }
}

/// Scores every fact before a place.
pub(super) fn all(index: &ProofIndex, goal: &IndexedGoal, before: usize) -> Vec<Scored> {
    let weighted = Weighted::new(index, goal);
    (0..before as u32).map(|fact| (fact, score(index, &weighted, fact))).collect()
}

/// `30 ln t + sum over common f of w ln(5 s / t) - 18 * sum over f of the goal alone of w + 0.2 * sum over f
/// of the premise alone of w ln(1 - (s - 1) / t)`, where t counts uses and s uses for facts with f.
pub(super) fn score(index: &ProofIndex, goal: &Weighted, fact: u32) -> f32 {
    let fact = &index.facts[fact as usize];
    let total = OWN as f32 + fact.uses.len() as f32;
    let mut score = 30.0 * total.ln();
    let mut asked = goal.0.iter().peekable();
    for &(feature, count) in &fact.counts {
        while let Some((_, weight)) = asked.next_if(|(other, _)| *other < feature) {
            score -= 18.0 * weight;
        }
        match asked.next_if(|(other, _)| *other == feature) {
            Some((_, weight)) => score += weight * (5.0 * count as f32 / total).ln(),
            // Most features have one use, whose logarithm is 0.
            None if count == 1 => {}
            None => score += 0.2 * index.idf(feature) * (1.0 - (count as f32 - 1.0) / total).ln(),
        }
    }
    score - asked.map(|(_, weight)| 18.0 * weight).sum::<f32>()
}
