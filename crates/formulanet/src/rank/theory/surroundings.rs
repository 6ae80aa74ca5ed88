//! What stands around: uses near the goal's place, what is used by what is used, and what is used together.

use super::facts::{Fact, Theory};
use super::methods::{Scored, best};

/// Over how many facts uses fade, in three speeds.
const SCALES: [f32; 3] = [10.0, 100.0, 1000.0];
/// How far the slowest looks.
const FARTHEST: usize = 3000;

/// Which share of the proofs around a place used each fact, the closest proofs counting most.
pub(super) fn close(theory: &Theory, place: usize) -> [Vec<f32>; 3] {
    let mut shares = SCALES.map(|_| vec![0.0f32; theory.len()]);
    let mut totals = [0.0f32; 3];
    let range = place.saturating_sub(FARTHEST)..(place + FARTHEST).min(theory.len());
    for fact in range.filter(|&fact| theory.facts[fact].is_proved()) {
        let distance = fact.abs_diff(place) as f32;
        for ((scale, shares), total) in SCALES.iter().zip(&mut shares).zip(&mut totals) {
            if distance > 8.0 * scale {
                continue;
            }
            let weight = (-distance / scale).exp();
            *total += weight;
            for &used in &theory.facts[fact].proofs[0] {
                shares[used as usize] += weight;
            }
        }
    }
    for (shares, total) in shares.iter_mut().zip(totals) {
        if total > 0.0 {
            shares.iter_mut().for_each(|share| *share /= total);
        }
    }
    shares
}

/// How much of the proofs of what the neighbours' proofs used is each fact.
pub(super) fn indirect(theory: &Theory, neighbours: &[Scored]) -> Vec<f32> {
    let mut shares = vec![0.0f32; theory.len()];
    let total: f32 = neighbours.iter().map(|(_, near)| near).sum();
    for &(fact, near) in neighbours {
        let Some(used) = theory.facts[fact as usize].proofs.first() else { continue };
        let each = near / total.max(1e-6) / used.len().max(1) as f32;
        for &middle in used {
            let Some(behind) = theory.facts[middle as usize].proofs.first() else { continue };
            let each = each / (behind.len() as f32).sqrt().max(1.0);
            behind.iter().for_each(|&fact| shares[fact as usize] += each);
        }
    }
    shares
}

/// How often facts are used by the same proofs as the facts that neighbours use much more than others do.
pub(super) fn together(theory: &Theory, shares: &[f32], place: usize) -> Vec<f32> {
    let proofs = theory.proofs.max(1) as f32;
    let telling = (0..).zip(shares).filter(|(_, share)| **share > 0.0).map(|(fact, &share)| {
        let usual = theory.facts[fact as usize].uses.len() as f32 / proofs;
        (fact, share * ((share + 1e-3) / (usual + 1e-3)).ln())
    });
    let telling = best(telling.collect(), 24);
    let total: f32 = telling.iter().map(|(_, weight)| weight.max(0.0)).sum();
    let mut found = vec![0.0f32; theory.len()];
    for (fact, weight) in telling {
        let users = nearest_users(&theory.facts[fact as usize], place, 48);
        let each = weight.max(0.0) / total.max(1e-6) / users.len().max(1) as f32;
        for &user in users {
            for &used in theory.facts[user as usize].proofs.iter().flatten() {
                found[used as usize] += each;
            }
        }
    }
    found
}

/// At most so many of the facts whose proofs used a fact, those around a place.
pub(super) fn nearest_users(fact: &Fact, place: usize, number: usize) -> &[u32] {
    let middle = fact.uses.partition_point(|&user| (user as usize) < place);
    let end = (middle + number / 2).min(fact.uses.len()).max(number.min(fact.uses.len()));
    &fact.uses[end.saturating_sub(number)..end]
}

/// How far from a place the closest proof is that used a fact.
pub(super) fn last_use(fact: &Fact, place: usize) -> Option<usize> {
    let middle = fact.uses.partition_point(|&user| (user as usize) < place);
    let around = [middle.checked_sub(1), Some(middle)].into_iter().flatten();
    around.filter_map(|place| fact.uses.get(place)).map(|&user| (user as usize).abs_diff(place)).min()
}
