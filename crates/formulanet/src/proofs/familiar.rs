//! Retrieval of facts about familiar symbols: those of the goal, and of the facts found for it.
//!
//! In addition to statements similar to its goal, a proof needs small, general facts: the type of a constant,
//! the inclusion of a class in another, the meaning of a notation. Such a fact shares at most one symbol with
//! the goal, so similarity does not find it. But once the first facts are found, all of its symbols are
//! familiar.

use crate::proofs::methods::{Scored, best};
use crate::proofs::{IndexedGoal, ProofIndex};

/// Number of the found facts whose symbols become familiar.
const LENDERS: usize = 32;
/// Rank at which the familiarity of a found fact's symbols has fallen to 1/e.
const FADING: f32 = 16.0;
/// Cost of an unfamiliar symbol.
const STRANGE: f32 = 0.3;
/// Cost of each node of a fact: of two facts with the same symbols, the shorter one is needed more often.
const LONG: f32 = 0.002;

/// Returns the `number` most familiar facts, best first; `found` has the facts found for a goal, best first.
/// Facts that share no symbol with the goal or the found facts are left out.
pub(super) fn by_familiar_symbols(
    index: &ProofIndex,
    goal: &IndexedGoal,
    found: &[usize],
    number: usize,
) -> Vec<Scored> {
    // By symbol: its familiarity, from 0 to 1.
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
