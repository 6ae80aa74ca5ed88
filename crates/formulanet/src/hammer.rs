//! Premise selection for hammers that send features instead of statements: CoqHammer and Isabelle.

mod cache;
mod exact;
mod files;
mod gnu_hash_map;
mod gnu_sort;
mod rank;
mod table;

use std::collections::HashMap;
use std::path::Path;

pub use exact::VendorMethod;
pub use files::{HammerFiles, HammerIndex, parse_goal_features};

use crate::Error;
use crate::proofs::{Features, GoalPosition, ProofIndex, hammer_feature_hash};
use exact::ExactIndex;
use rank::{ConstantUse, GrowingIndex, HammerGoal, best};
use table::Table;

/// How to rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// As well as this program can. A method that a hammer asked for counts half: a hammer asks several at once, and it is
    /// worth more if their answers differ.
    Ours(Option<VendorMethod>),
    /// As CoqHammer's own program does.
    Exact(VendorMethod),
}

/// A library of a hammer that can be asked.
pub struct Predictor {
    table: Table,
    warnings: Vec<String>,
    is_cached: bool,
}

impl Predictor {
    /// Looks into a hammer's files, or takes what was found there from a cache.
    ///
    /// The cache is a folder, which need not be there yet. What is wrong with it is a warning. Warnings about the files
    /// themselves come with the first call.
    ///
    /// # Errors
    ///
    /// If the files are damaged.
    pub fn new(files: &HammerFiles, cache: Option<&Path>) -> Result<Self, Error> {
        let identity = cache.map(|folder| (folder, files.identity()));
        let mut wrong = None;
        if let Some((folder, identity)) = identity {
            match cache::load(folder, identity) {
                Ok(Some(table)) => return Ok(Predictor { table, warnings: Vec::new(), is_cached: true }),
                Ok(None) => {}
                Err(error) => wrong = Some(error.to_string()),
            }
        }
        let (table, mut warnings) = Table::new(files)?;
        warnings.extend(wrong);
        if let Some((folder, identity)) = identity
            && let Err(error) = cache::store(folder, identity, &table)
        {
            warnings.push(error.to_string());
        }
        Ok(Predictor { table, warnings, is_cached: false })
    }

    /// Whether a cache had it.
    pub fn is_cached(&self) -> bool {
        self.is_cached
    }

    /// The number of facts.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Warnings about the files or the cache.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Learns all facts, to be asked for goals.
    pub fn learn(&self, choice: Mode) -> Session<'_> {
        let table = &self.table;
        let ranker = match choice {
            Mode::Ours(vendor) => {
                let mut constant_use = ConstantUse::default();
                (0..table.len()).for_each(|fact| constant_use.add(table, fact));
                Ranker::Ours {
                    index: Box::new(table.proof_index()),
                    vendor,
                    constant_use,
                    numbers: table.numbers(),
                }
            }
            Mode::Exact(method) => {
                let mut index = ExactIndex::new(table, method);
                // Its program does not learn the last fact, though it may recommend it.
                index.learn(table.len().saturating_sub(1));
                Ranker::Exact(index, method, table.hashes.iter().copied().zip(0..).collect())
            }
        };
        Session { table, ranker }
    }

    /// Asks for facts by name, each as if the library ended before it, in the order of the library. Calls `visit` with each
    /// name and the names of the best facts before it. Returns the names that no fact has.
    ///
    /// # Errors
    ///
    /// If `visit` fails.
    pub fn evaluate<'a, E>(
        &'a self,
        names: &[&'a str],
        choice: Mode,
        number: usize,
        mut visit: impl FnMut(&str, &[&str]) -> Result<(), E>,
    ) -> Result<Vec<&'a str>, E> {
        let table = &self.table;
        let numbers = table.numbers();
        let mut asked: Vec<usize> =
            names.iter().filter_map(|name| numbers.get(name)).map(|&fact| fact as usize).collect();
        asked.sort_unstable();
        asked.dedup();
        let mut tell = |fact: usize, best: &[u32]| {
            let names: Vec<&str> = best.iter().map(|&fact| table.name(fact as usize)).collect();
            visit(table.name(fact), &names)
        };
        match choice {
            Mode::Ours(vendor) => {
                let mut growing = GrowingIndex::new(table);
                for fact in asked {
                    growing.grow(fact);
                    let named = table.features.get(fact).iter().map(|&feature| table.named[feature as usize]);
                    let asked = HammerGoal {
                        features: &table.features_of(fact),
                        position: GoalPosition::End,
                        own: growing.constant_use.own(named, fact),
                        vendor,
                    };
                    tell(fact, &best(&growing.index, &asked, number))?;
                }
            }
            Mode::Exact(method) => {
                let mut index = ExactIndex::new(table, method);
                for fact in asked {
                    index.learn(fact);
                    tell(fact, &index.rank(table.features.get(fact), method, fact, number))?;
                }
            }
        }
        Ok(names.iter().copied().filter(|name| !numbers.contains_key(name)).collect())
    }
}

/// A library that was learned whole.
pub struct Session<'a> {
    table: &'a Table,
    ranker: Ranker<'a>,
}

enum Ranker<'a> {
    Ours {
        index: Box<ProofIndex>,
        vendor: Option<VendorMethod>,
        constant_use: ConstantUse,
        /// Queries for facts, by their names.
        numbers: HashMap<&'a str, u32>,
    },
    /// With the numbers of features by their hashes.
    Exact(ExactIndex<'a>, VendorMethod, HashMap<u64, u32>),
}

impl<'a> Session<'a> {
    /// The names of the best `count` facts for a goal with these features, or of all if there are fewer.
    pub fn predict(&self, features: &[&str], number: usize) -> Vec<&'a str> {
        let best = match &self.ranker {
            Ranker::Ours { index, vendor, constant_use, numbers } => {
                let named = features.iter().filter_map(|feature| numbers.get(feature).copied());
                let asked = HammerGoal {
                    features: &Features::from_hammer(features.iter().copied()),
                    position: GoalPosition::NearestFact,
                    own: constant_use.own(named, self.table.len()),
                    vendor: *vendor,
                };
                best(index, &asked, number)
            }
            Ranker::Exact(index, method, numbers) => {
                let goal: Vec<u32> = features
                    .iter()
                    .filter_map(|feature| numbers.get(&hammer_feature_hash(feature)).copied())
                    .collect();
                index.rank(&goal, *method, self.table.len(), number)
            }
        };
        best.into_iter().map(|fact| self.table.name(fact as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/hammer/");

    fn predictor() -> Predictor {
        let [features, dependencies, order] =
            ["lib.fea", "lib.dep", "lib.seq"].map(|name| format!("{FOLDER}{name}"));
        Predictor::new(&HammerFiles::open(&features, &dependencies, &order).unwrap(), None).unwrap()
    }

    const ALL: [Mode; 6] = [
        Mode::Ours(None),
        Mode::Ours(Some(VendorMethod::Knn)),
        Mode::Ours(Some(VendorMethod::NaiveBayes)),
        Mode::Exact(VendorMethod::Knn),
        Mode::Exact(VendorMethod::NaiveBayes),
        Mode::Exact(VendorMethod::MePo),
    ];

    #[test]
    fn answers_have_as_many_names_as_asked_for() {
        let predictor = predictor();
        for choice in ALL {
            let learned = predictor.learn(choice);
            for features in [&["rev", "rev-app"][..], &[], &[""], &["unheard-of"], &["nat", "nat", "nat+"]] {
                for number in [1, 2, 25, 26, 27, 1000] {
                    let mut names = learned.predict(features, number);
                    assert_eq!(names.len(), number.min(26), "{choice:?} {features:?}");
                    names.sort_unstable();
                    names.dedup();
                    assert_eq!(names.len(), number.min(26), "{choice:?} {features:?}: {names:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_goal_is_made_of_comes_first() {
        let predictor = predictor();
        let mut found = predictor.learn(Mode::Ours(None)).predict(&["rev", "length", "app-X", "gone"], 2);
        found.sort_unstable();
        assert_eq!(found, ["length", "rev"]);
    }

    #[test]
    fn a_fact_is_asked_for_by_what_stands_before_it() {
        let predictor = predictor();
        for choice in ALL {
            let mut found = Vec::new();
            let unknown = predictor
                .evaluate(&["rev_app", "nobody", "nat", "add_comm", "rev_app"], choice, 8, |name, best| {
                    found.push((name.to_owned(), best.iter().map(ToString::to_string).collect::<Vec<_>>()));
                    Ok::<(), ()>(())
                })
                .unwrap();
            assert_eq!(unknown, ["nobody"]);
            let asked: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(asked, ["nat", "add_comm", "rev_app"], "in the order of the library");
            assert_eq!(found.iter().map(|(_, best)| best.len()).collect::<Vec<_>>(), [0, 8, 8]);
            assert!(
                found[1]
                    .1
                    .iter()
                    .all(|name| !["add_comm", "add_assoc", "nat_induction"].contains(&&name[..]))
            );
        }
    }

    /// CoqHammer's own program (1.3.2, Debian) printed these.
    #[test]
    fn exact_rankings_are_those_of_the_stock_program() {
        let predictor = predictor();
        let check = |method: VendorMethod, expected: &str| {
            let goal = ["length", "app", "rev", "nat", "list", "length-rev", "rev-app", "rev-app+"];
            let found = predictor.learn(Mode::Exact(method)).predict(&goal, 12);
            assert_eq!(found, expected.split_whitespace().collect::<Vec<_>>(), "{method:?}");
        };
        check(
            VendorMethod::Knn,
            "rev_app length_rev rev list list_induction app_assoc app app_nil length_app length add_comm nat",
        );
        check(
            VendorMethod::NaiveBayes,
            "rev_app app list list_induction app_assoc rev app_nil length_app add length nat rev_rev",
        );
        check(
            VendorMethod::MePo,
            "rev_app length_rev length_app rev_rev nil app_assoc app_nil zero cons app rev length",
        );
    }
}
