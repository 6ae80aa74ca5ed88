//! Facts reached from the goal's symbols, as in Sledgehammer's MePo: facts most of whose symbols are relevant
//! are relevant, and so are their symbols.

use crate::proofs::methods::Scored;
use crate::proofs::{IndexedGoal, ProofIndex};

/// Share of a fact's symbols, by weight, that must be relevant in the first round.
const THRESHOLD: f32 = 0.6;
/// Rate at which later rounds demand more.
const DECAY: f32 = 2.4;
/// Maximum number of rounds.
const ROUNDS: usize = 8;

/// Returns at most `number` facts, those of earlier rounds first. Scores count from the last round, and are
/// above 0.
pub(super) fn mepo(index: &ProofIndex, goal: &IndexedGoal, before: usize, number: usize) -> Vec<Scored> {
    let weight = |feature: u32| 1.0 + 2.0 / (1.0 + index.postings[feature as usize].len() as f32).ln();
    // By fact: the weight of its relevant symbols.
    let mut common = vec![0.0f32; index.len()];
    let mut is_relevant = vec![false; index.postings.len()];
    let mut is_taken = vec![false; before];
    let (mut found, mut threshold): (Vec<Scored>, f32) = (Vec::new(), THRESHOLD);
    let mut fresh: Vec<u32> = goal.symbols().to_vec();
    for round in 0..ROUNDS {
        for &symbol in &fresh {
            if !std::mem::replace(&mut is_relevant[symbol as usize], true) {
                let weight = weight(symbol);
                index.postings[symbol as usize].iter().for_each(|&fact| common[fact as usize] += weight);
            }
        }
        fresh.clear();
        let mut passing: Vec<Scored> = Vec::new();
        let mut failing: Vec<Scored> = Vec::new();
        for fact in 0..before {
            if is_taken[fact] || common[fact] == 0.0 {
                continue;
            }
            let symbols = index.facts[fact].symbols();
            let foreign = symbols.iter().filter(|&&symbol| !is_relevant[symbol as usize]).count();
            let share = common[fact] / (common[fact] + foreign as f32);
            let list = if share >= threshold { &mut passing } else { &mut failing };
            list.push((fact as u32, share));
        }
        let is_last = round + 1 == ROUNDS || passing.is_empty();
        let rest = number.saturating_sub(found.len());
        if is_last {
            passing.append(&mut failing);
        }
        let most = if is_last { rest } else { rest.min(number.div_ceil(4)) };
        for (fact, share) in crate::proofs::best_of(passing, most) {
            is_taken[fact as usize] = true;
            fresh.extend(index.facts[fact as usize].symbols());
            found.push((fact, (ROUNDS - round) as f32 + share));
        }
        if is_last || found.len() >= number {
            break;
        }
        threshold += (1.0 - threshold) / DECAY;
    }
    found
}
