//! A theory that is made at once, which takes a small part of the time that adding one fact after the other does.

use super::facts::{Fact, OWN, Theory};
use super::features::MOST;

/// A fact for [`Theory::at_once`].
#[derive(Clone, Debug, Default)]
pub(crate) struct FlatFact<'a> {
    /// Symbols, pairs, and other parts, as numbers of features, each once.
    pub(crate) features: [&'a [u32]; 3],
    /// What its proof used: other facts, each once. `None` without a proof.
    pub(crate) used: Option<&'a [u32]>,
}

impl Theory {
    /// The theory of some facts, whose features have numbers, which are the places of their hashes.
    ///
    /// Equal to adding all facts and then all proofs, but for the numbers of features.
    pub(crate) fn at_once<'a>(hashes: &[u64], facts: impl Iterator<Item = FlatFact<'a>>) -> Self {
        let mut theory = Theory {
            numbers: hashes.iter().copied().zip(0..).collect(),
            having: vec![Vec::new(); hashes.len()],
            proved: vec![0; hashes.len()],
            ..Theory::default()
        };
        for FlatFact { features, used } in facts {
            let number = theory.facts.len() as u32;
            let mut fact =
                Fact { size: features.iter().map(|list| list.len() as u32).sum(), ..Fact::default() };
            let kept = features.map(|list| &list[..list.len().min(MOST)]);
            fact.ends = [kept[0].len(), kept[0].len() + kept[1].len()];
            fact.features = kept.concat();
            for &feature in &fact.features {
                theory.having[feature as usize].push(number);
                theory.proved[feature as usize] += u32::from(used.is_some());
            }
            if let Some(used) = used {
                let mut used = used.to_vec();
                used.sort_unstable();
                theory.proofs += 1;
                fact.proofs.push(used);
            }
            theory.facts.push(fact);
        }
        theory.commonness = theory.having.iter().map(|having| (having.len() as f32).ln()).collect();
        theory.size = (theory.facts.len() as f32).ln();
        theory.count_uses();
        theory
    }

    /// Says of every fact which proofs used it, and counts the features of what they prove.
    fn count_uses(&mut self) {
        for user in 0..self.facts.len() {
            let proofs = std::mem::take(&mut self.facts[user].proofs);
            for &used in proofs.iter().flatten() {
                self.facts[used as usize].uses.push(user as u32);
            }
            self.facts[user].proofs = proofs;
        }
        // By feature: its count for the fact at hand, 0 before and after.
        let mut count = vec![0u32; self.having.len()];
        let mut counted: Vec<u32> = Vec::new();
        for fact in 0..self.facts.len() {
            let known = &self.facts[fact];
            let own = known.near_features().iter().map(|&feature| (feature, OWN));
            let users = known.uses.iter().flat_map(|&user| self.facts[user as usize].near_features());
            for (feature, more) in own.chain(users.map(|&feature| (feature, 1))) {
                if count[feature as usize] == 0 {
                    counted.push(feature);
                }
                count[feature as usize] += more;
            }
            counted.sort_unstable();
            let counts =
                counted.drain(..).map(|feature| (feature, std::mem::take(&mut count[feature as usize])));
            let counts = counts.collect();
            self.facts[fact].counts = counts;
        }
    }
}
