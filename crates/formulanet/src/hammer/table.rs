//! A library of a hammer in a few flat arrays.

use std::collections::HashMap;

use crate::Error;
use crate::hammer::HammerFiles;
use crate::proofs::{BulkFact, Features, HammerFeatureKind, ProofIndex, hammer_feature_hash};

/// Lists of numbers in one array (compressed sparse rows).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Csr {
    /// Where each list ends.
    pub(super) ends: Vec<u32>,
    pub(super) items: Vec<u32>,
}

impl Csr {
    pub(super) fn push(&mut self, items: &[u32]) {
        self.items.extend_from_slice(items);
        self.ends.push(self.items.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, list: usize) -> &[u32] {
        let start = list.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[list] as usize]
    }

    /// By number below `count`: the lists that have it, ascending.
    pub(super) fn transpose(&self, count: usize) -> Csr {
        let mut ends = vec![0u32; count + 1];
        self.items.iter().for_each(|&item| ends[item as usize + 1] += 1);
        for item in 0..count {
            ends[item + 1] += ends[item];
        }
        let mut items = vec![0; self.items.len()];
        // Each number's end begins where its list begins, and moves to where it ends.
        for list in 0..self.len() {
            for &item in self.get(list) {
                items[ends[item as usize] as usize] = list as u32;
                ends[item as usize] += 1;
            }
        }
        ends.truncate(count);
        Csr { ends, items }
    }
}

/// No fact.
pub(super) const NO_FACT: u32 = u32::MAX;

/// Everything that the three files say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Table {
    /// The concatenated names of all facts, and where each ends.
    pub(super) names: String,
    pub(super) name_ends: Vec<u32>,
    /// By feature: its hash, and what it is.
    pub(super) hashes: Vec<u64>,
    pub(super) kinds: Vec<u8>,
    /// By feature: the fact of the same name, or [`NO_FACT`].
    pub(super) named: Vec<u32>,
    /// By fact: its features, and the facts it depends on.
    pub(super) features: Csr,
    pub(super) dependencies: Csr,
}

impl Table {
    /// Looks into the files. Says what is strange in them, too.
    pub(super) fn new(files: &HammerFiles) -> Result<(Self, Vec<String>), Error> {
        let mut table = Table::default();
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut features: Vec<Vec<u32>> = Vec::new();
        // By feature: the last fact that has it, plus 1.
        let mut last: Vec<u32> = Vec::new();
        let library = files.parse(&mut |fact, names| {
            let mut found = Vec::with_capacity(names.len());
            for name in names {
                let hash = hammer_feature_hash(name);
                let next = table.hashes.len() as u32;
                let number = *numbers.entry(hash).or_insert(next);
                if number == next {
                    table.hashes.push(hash);
                    table.kinds.push(HammerFeatureKind::of(name) as u8);
                    last.push(0);
                }
                if std::mem::replace(&mut last[number as usize], fact as u32 + 1) != fact as u32 + 1 {
                    found.push(number);
                }
            }
            if features.len() <= fact {
                features.resize(fact + 1, Vec::new());
            }
            features[fact] = found;
        })?;
        features.resize(library.names.len(), Vec::new());
        features.iter().for_each(|features| table.features.push(features));
        library.dependencies.iter().for_each(|used| table.dependencies.push(used));
        table.named = vec![NO_FACT; table.hashes.len()];
        for (fact, name) in library.names.into_iter().enumerate() {
            table.names.push_str(name);
            table.name_ends.push(table.names.len() as u32);
            if let Some(&feature) = numbers.get(&hammer_feature_hash(name)) {
                table.named[feature as usize] = fact as u32;
            }
        }
        Ok((table, library.warnings))
    }

    pub(super) fn len(&self) -> usize {
        self.name_ends.len()
    }

    pub(super) fn name(&self, fact: usize) -> &str {
        let start = fact.checked_sub(1).map_or(0, |before| self.name_ends[before]);
        &self.names[start as usize..self.name_ends[fact] as usize]
    }

    /// The numbers of facts by their names.
    pub(super) fn numbers(&self) -> HashMap<&str, u32> {
        (0..self.len()).map(|fact| (self.name(fact), fact as u32)).collect()
    }

    /// The features of a fact, as a theory wants to be asked.
    pub(super) fn features_of(&self, fact: usize) -> Features {
        Features::of_hashes(
            self.features
                .get(fact)
                .iter()
                .map(|&feature| (self.kinds[feature as usize], self.hashes[feature as usize])),
        )
    }

    /// All facts as a theory.
    pub(super) fn proof_index(&self) -> ProofIndex {
        let mut by_kind = Csr::default();
        for fact in 0..self.len() {
            for kind in 0..3u8 {
                let of_kind = |feature: &&u32| self.kinds[**feature as usize] == kind;
                by_kind.items.extend(self.features.get(fact).iter().filter(of_kind));
                by_kind.ends.push(by_kind.items.len() as u32);
            }
        }
        let facts = (0..self.len()).map(|fact| {
            let used = self.dependencies.get(fact);
            BulkFact {
                features: [0, 1, 2].map(|kind| by_kind.get(3 * fact + kind)),
                used: Some(used).filter(|used| !used.is_empty()),
            }
        });
        ProofIndex::from_bulk(&self.hashes, facts)
    }
}
