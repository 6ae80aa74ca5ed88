//! Signals from the surroundings of a goal: uses near its place, dependencies of dependencies, and facts used
//! together.

use std::collections::HashMap;

use crate::proofs::index::IndexedFact;
use crate::proofs::methods::{Scored, best};
use crate::proofs::{IndexedGoal, ProofIndex};

/// Distances, in facts, over which uses fade.
const SCALES: [f32; 3] = [10.0, 100.0, 1000.0];
/// Farthest distance that is considered.
const FARTHEST: usize = 3000;

/// Returns the share of the proofs around a place that used each fact, the closest proofs weighing most, for
/// each of [`SCALES`].
pub(super) fn close(index: &ProofIndex, place: usize) -> [Vec<f32>; 3] {
    let mut shares = SCALES.map(|_| vec![0.0f32; index.len()]);
    let mut totals = [0.0f32; 3];
    let range = place.saturating_sub(FARTHEST)..(place + FARTHEST).min(index.len());
    for fact in range.filter(|&fact| index.facts[fact].is_proved()) {
        let distance = fact.abs_diff(place) as f32;
        for ((scale, shares), total) in SCALES.iter().zip(&mut shares).zip(&mut totals) {
            if distance > 8.0 * scale {
                continue;
            }
            let weight = (-distance / scale).exp();
            *total += weight;
            for &used in &index.facts[fact].proofs[0] {
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

/// Returns the share of each fact in the proofs of the facts that the neighbors' proofs used.
pub(super) fn indirect(index: &ProofIndex, neighbours: &[Scored]) -> Vec<f32> {
    let mut shares = vec![0.0f32; index.len()];
    let total: f32 = neighbours.iter().map(|(_, near)| near).sum();
    for &(fact, near) in neighbours {
        let Some(used) = index.facts[fact as usize].proofs.first() else { continue };
        let each = near / total.max(1e-6) / used.len().max(1) as f32;
        for &middle in used {
            let Some(behind) = index.facts[middle as usize].proofs.first() else { continue };
            let each = each / (behind.len() as f32).sqrt().max(1.0);
            behind.iter().for_each(|&fact| shares[fact as usize] += each);
        }
    }
    shares
}

/// Number of facts above which a feature is too common to distinguish facts.
const RARE: usize = 200;

/// Returns how often proofs of facts that share a rare feature with the goal used each fact: the mean over
/// these features, the rarest weighing most, and the maximum.
pub(super) fn votes(index: &ProofIndex, goal: &IndexedGoal) -> [Vec<f32>; 2] {
    let (mut mean, mut most) = (vec![0.0f32; index.len()], vec![0.0f32; index.len()]);
    let mut of_feature = vec![0.0f32; index.len()];
    let mut touched: Vec<u32> = Vec::new();
    let mut total = 0.0;
    for &feature in &goal.features {
        let postings = &index.postings[feature as usize];
        let proved = index.proved[feature as usize];
        if postings.len() > RARE || proved == 0 {
            continue;
        }
        let (idf, each) = (index.idf(feature), 1.0 / (1.0 + proved as f32));
        total += idf;
        for &used in postings.iter().flat_map(|&fact| index.facts[fact as usize].proofs.iter().flatten()) {
            if of_feature[used as usize] == 0.0 {
                touched.push(used);
            }
            of_feature[used as usize] += each;
        }
        for used in touched.drain(..) {
            let share = std::mem::take(&mut of_feature[used as usize]);
            mean[used as usize] += idf * share;
            most[used as usize] = most[used as usize].max(share);
        }
    }
    mean.iter_mut().for_each(|share| *share /= total.max(1e-6));
    [mean, most]
}

/// Returns the relevance of each symbol: 1 if the goal has it, else the highest share of a distinctive fact
/// that has it.
pub(super) fn relevance(index: &ProofIndex, goal: &IndexedGoal, shares: &[f32]) -> HashMap<u32, f32> {
    let mut relevance: HashMap<u32, f32> = HashMap::new();
    for (fact, _) in distinctive(index, shares) {
        for &symbol in index.facts[fact as usize].symbols() {
            let known = relevance.entry(symbol).or_insert(0.0);
            *known = known.max(shares[fact as usize]);
        }
    }
    relevance.extend(goal.symbols().iter().map(|&symbol| (symbol, 1.0)));
    relevance
}

/// Returns the facts that neighbors use much more often than other facts do.
fn distinctive(index: &ProofIndex, shares: &[f32]) -> Vec<Scored> {
    let proofs = index.proofs.max(1) as f32;
    let distinctive = (0..).zip(shares).filter(|(_, share)| **share > 0.0).map(|(fact, &share)| {
        let usual = index.facts[fact as usize].uses.len() as f32 / proofs;
        (fact, share * ((share + 1e-3) / (usual + 1e-3)).ln())
    });
    best(distinctive.collect(), 24)
}

/// Returns how often facts are used by the same proofs as the distinctive facts.
pub(super) fn together(index: &ProofIndex, shares: &[f32], place: usize) -> Vec<f32> {
    let distinctive = distinctive(index, shares);
    let total: f32 = distinctive.iter().map(|(_, weight)| weight.max(0.0)).sum();
    let mut found = vec![0.0f32; index.len()];
    for (fact, weight) in distinctive {
        let users = nearest_users(&index.facts[fact as usize], place, 48);
        let each = weight.max(0.0) / total.max(1e-6) / users.len().max(1) as f32;
        for &user in users {
            for &used in index.facts[user as usize].proofs.iter().flatten() {
                found[used as usize] += each;
            }
        }
    }
    found
}

/// Returns at most `number` of the facts whose proofs used a fact, those around a place.
pub(super) fn nearest_users(fact: &IndexedFact, place: usize, number: usize) -> &[u32] {
    let middle = fact.uses.partition_point(|&user| (user as usize) < place);
    let end = (middle + number / 2).min(fact.uses.len()).max(number.min(fact.uses.len()));
    &fact.uses[end.saturating_sub(number)..end]
}

/// Returns the distance from a place to the closest proof that used a fact.
pub(super) fn last_use(fact: &IndexedFact, place: usize) -> Option<usize> {
    let middle = fact.uses.partition_point(|&user| (user as usize) < place);
    let around = [middle.checked_sub(1), Some(middle)].into_iter().flatten();
    around.filter_map(|place| fact.uses.get(place)).map(|&user| (user as usize).abs_diff(place)).min()
}
