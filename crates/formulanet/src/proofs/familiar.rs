//! Which facts speak of nothing new: their symbols are those of the goal, and of the facts that were found for it.
//!
//! What a proof needs beside the statements that are like its goal is small and about nothing in particular: what type a
//! constant has, which class is part of another, what a notation stands for. Such a fact shares one symbol with the goal
//! or none, so that no likeness finds it; but by the time that the first facts are there, all of its symbols are.

use crate::proofs::methods::{Scored, best};
use crate::proofs::{IndexedGoal, ProofIndex};

/// How many of the facts that were found spread their symbols.
const LENDERS: usize = 32;
/// After how many of these a symbol counts for little more than a third.
const FADING: f32 = 16.0;
/// What a symbol costs that nobody has.
const STRANGE: f32 = 0.3;
/// What each node of a fact costs: of two that say something of the same symbols, the short one is needed more often.
const LONG: f32 = 0.002;

/// So many facts, the most familiar first, given those that were found for a goal, the best first. Facts that share no symbol
/// with the goal or with those are left out.
pub(super) fn by_familiar_symbols(
    index: &ProofIndex,
    goal: &IndexedGoal,
    found: &[usize],
    number: usize,
) -> Vec<Scored> {
    // By symbol: how familiar it is, from 0 to 1.
    let mut known = vec![0.0f32; index.postings.len()];
    let mut spread = |symbols: &[u32], weight: f32| {
        for &symbol in symbols {
            let known = &mut known[symbol as usize];
            *known = known.max(weight);
        }
    };
    spread(goal.symbols(), 1.0);
    for (rank, &fact) in found.iter().take(LENDERS).enumerate() {
        spread(index.facts[fact].symbols(), (-(rank as f32) / FADING).exp());
    }
    let idf = |symbol: u32| 1.0 / (2.0 + index.postings[symbol as usize].len() as f32).ln();
    let scored = index.facts.iter().zip(0..).filter_map(|(fact, number)| {
        let (mut unfamiliar, mut distinctive) = (0.0, 0.0f32);
        for &symbol in fact.symbols() {
            let known = known[symbol as usize];
            unfamiliar += 1.0 - known;
            distinctive = distinctive.max(known * idf(symbol));
        }
        (distinctive > 0.0).then_some((number, distinctive - STRANGE * unfamiliar - LONG * fact.size as f32))
    });
    best(scored.collect(), number)
}
