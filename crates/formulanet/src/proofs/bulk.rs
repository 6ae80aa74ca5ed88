//! Construction of an index in one go, in a small part of the time of adding one fact after another.

use crate::proofs::ProofIndex;
use crate::proofs::features::MOST;
use crate::proofs::index::{IndexedFact, OWN};

/// A fact for [`ProofIndex::from_bulk`].
#[derive(Clone, Debug, Default)]
pub(crate) struct BulkFact<'a> {
    /// Symbols, pairs, and other parts, as feature numbers, each once.
    pub(crate) features: [&'a [u32]; 3],
    /// Dependencies of its proof: other facts, each once. `None` without a proof.
    pub(crate) used: Option<&'a [u32]>,
}

impl ProofIndex {
    /// Builds the index of some facts. The number of a feature is the place of its hash in `hashes`.
    ///
    /// The result equals adding all facts and then all proofs, except for the numbers of features.
    pub(crate) fn from_bulk<'a>(hashes: &[u64], facts: impl Iterator<Item = BulkFact<'a>>) -> Self {
        let mut index = ProofIndex {
            numbers: hashes.iter().copied().zip(0..).collect(),
            postings: vec![Vec::new(); hashes.len()],
            proved: vec![0; hashes.len()],
            ..ProofIndex::default()
        };
        for BulkFact { features, used } in facts {
            let number = index.facts.len() as u32;
            let mut fact = IndexedFact {
                size: features.iter().map(|list| list.len() as u32).sum(),
                ..IndexedFact::default()
            };
            let kept = features.map(|list| &list[..list.len().min(MOST)]);
            fact.ends = [kept[0].len(), kept[0].len() + kept[1].len()];
            fact.features = kept.concat();
            for &feature in &fact.features {
                index.postings[feature as usize].push(number);
                index.proved[feature as usize] += u32::from(used.is_some());
            }
            if let Some(used) = used {
                let mut used = used.to_vec();
                used.sort_unstable();
                index.proofs += 1;
                fact.proofs.push(used);
            }
            index.facts.push(fact);
        }
        index.log_df = index.postings.iter().map(|postings| (postings.len() as f32).ln()).collect();
        index.size = (index.facts.len() as f32).ln();
        index.count_uses();
        index
    }

    /// Records the proofs that used every fact, and counts the features of the facts that they prove.
    fn count_uses(&mut self) {
        for user in 0..self.facts.len() {
            let proofs = std::mem::take(&mut self.facts[user].proofs);
            for &used in proofs.iter().flatten() {
                self.facts[used as usize].uses.push(user as u32);
            }
            self.facts[user].proofs = proofs;
        }
        // By feature: its count for the fact at hand, 0 before and after.
        let mut count = vec![0u32; self.postings.len()];
        let mut counted: Vec<u32> = Vec::new();
        for fact in 0..self.facts.len() {
            let known = &self.facts[fact];
            let own = known.symbol_and_pair_features().iter().map(|&feature| (feature, OWN));
            let users =
                known.uses.iter().flat_map(|&user| self.facts[user as usize].symbol_and_pair_features());
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proofs::{Features, Method};

    /// Facts with features by kind, and the dependencies of their proofs.
    type Facts = Vec<([Vec<u32>; 3], Option<Vec<u32>>)>;

    fn facts() -> impl Strategy<Value = Facts> {
        let numbers = |end: u32| proptest::collection::btree_set(0..end, 0..6).prop_map(Vec::from_iter);
        let kinds = [numbers(8), numbers(8), numbers(8)];
        let fact = (kinds, proptest::option::of(numbers(30)));
        proptest::collection::vec(fact, 1..30)
    }

    /// Gives features of different kinds different numbers.
    fn apart(features: &[Vec<u32>; 3]) -> [Vec<u32>; 3] {
        std::array::from_fn(|kind| features[kind].iter().map(|feature| 8 * kind as u32 + feature).collect())
    }

    proptest! {
        #[test]
        fn at_once_is_one_after_the_other(facts in facts()) {
            let hashes: Vec<u64> = (100..124).collect();
            let features: Vec<[Vec<u32>; 3]> = facts.iter().map(|(features, _)| apart(features)).collect();
            let used = |fact: usize| -> Option<Vec<u32>> {
                let used = facts[fact].1.as_ref()?.iter();
                Some(used.copied().filter(|&used| used as usize != fact && (used as usize) < facts.len()).collect())
            };
            let proofs: Vec<Option<Vec<u32>>> = (0..facts.len()).map(used).collect();
            let flat = features.iter().zip(&proofs).map(|(features, used)| BulkFact {
                features: std::array::from_fn(|kind| &features[kind][..]),
                used: used.as_deref(),
            });
            let from_bulk = ProofIndex::from_bulk(&hashes, flat);
            let asked = |features: &[Vec<u32>; 3]| {
                Features::of_hashes((0..3).flat_map(|kind| features[kind].iter().map(move |&feature| (kind as u8, u64::from(feature) + 100))))
            };
            let mut slowly = ProofIndex::default();
            features.iter().for_each(|features| { slowly.add_fact(&asked(features)); });
            for (fact, used) in proofs.iter().enumerate() {
                if let Some(used) = used {
                    slowly.add_proof(fact, &used.iter().map(|&used| used as usize).collect::<Vec<_>>());
                }
            }
            prop_assert_eq!(from_bulk.proof_count(), slowly.proof_count());
            for (one, other) in from_bulk.facts.iter().zip(&slowly.facts) {
                prop_assert_eq!((&one.proofs, &one.uses, one.ends, one.size), (&other.proofs, &other.uses, other.ends, other.size));
            }
            let goal = asked(&features[0]);
            for (_, method) in Method::ALL.into_iter().filter(|(name, _)| *name != "nbayes" && *name != "mesh" && *name != "auto") {
                let [one, other] = [&from_bulk, &slowly].map(|index| index.rank(&index.goal(&goal), index.len(), method, 9));
                prop_assert_eq!(one, other);
            }
            // Naive Bayes sums in the order of the feature numbers, which differ.
            let [one, other] = [&from_bulk, &slowly].map(|index| {
                let mut all = index.rank(&index.goal(&goal), index.len(), Method::NaiveBayes, index.len());
                all.sort_by_key(|(fact, _)| *fact);
                all
            });
            for ((_, one), (_, other)) in one.into_iter().zip(other) {
                prop_assert!((one - other).abs() < 1e-2, "{} and {}", one, other);
            }
        }
    }
}
