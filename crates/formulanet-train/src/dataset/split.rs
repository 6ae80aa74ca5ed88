//! Which conjectures are held out.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use formulanet::util::hash::{hash_text, mix};

/// The use of a conjecture and its statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Training.
    #[default]
    Train,
    /// Held out from training, to choose between models.
    Validation,
    /// Set apart by the data set's authors.
    Test,
}

impl Split {
    /// All splits, in the order of their numbers.
    pub const ALL: [Split; 3] = [Split::Train, Split::Validation, Split::Test];

    /// The number that stands for the split in a prepared folder.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// Which training conjectures are held out for validation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HoldOut {
    /// This many, chosen by the seed.
    Number(usize),
    /// This share, chosen by the seed.
    Fraction(f64),
    /// Those with these names.
    Names(Vec<String>),
}

/// A conjecture as far as splitting looks at it.
pub(super) struct Candidate<'a> {
    pub(super) name: &'a str,
    pub(super) graph: u32,
}

/// Which of some names are held out, by their places.
pub fn choose_held_out(names: &[&str], hold_out: &HoldOut, seed: u64) -> HashSet<usize> {
    let candidates: Vec<Candidate<'_>> =
        names.iter().zip(0..).map(|(name, graph)| Candidate { name, graph }).collect();
    held_out(&candidates, hold_out, seed)
}

/// The positions of the candidates that are held out.
///
/// The order of choice depends on the seed and the names alone, so that it stays the same when a file moves.
/// Candidates with the same graph are the same conjecture and stay together.
pub(super) fn held_out(candidates: &[Candidate<'_>], hold_out: &HoldOut, seed: u64) -> HashSet<usize> {
    let wanted = match hold_out {
        HoldOut::Names(names) => {
            let names: HashSet<&str> = names.iter().map(String::as_str).collect();
            let of_names = candidates.iter().filter(|c| names.contains(c.name));
            let graphs: HashSet<u32> = of_names.map(|c| c.graph).collect();
            return (0..candidates.len()).filter(|&i| graphs.contains(&candidates[i].graph)).collect();
        }
        HoldOut::Number(number) => (*number).min(candidates.len()),
        HoldOut::Fraction(share) => (candidates.len() as f64 * share).round() as usize,
    };
    let mut same: HashMap<u32, Vec<usize>> = HashMap::new();
    for (i, candidate) in candidates.iter().enumerate() {
        same.entry(candidate.graph).or_default().push(i);
    }
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&i| (mix(hash_text(candidates[i].name), seed ^ 0x5eed), candidates[i].name, i));
    let mut chosen = HashSet::new();
    for i in order {
        let group = &same[&candidates[i].graph];
        if group[0] == i && chosen.len() + group.len() <= wanted {
            chosen.extend(group);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(graphs: &[u32], hold_out: HoldOut, expected: usize) {
        let names: Vec<String> = (0..graphs.len()).map(|i| format!("c{i}")).collect();
        let candidates: Vec<Candidate<'_>> =
            names.iter().zip(graphs).map(|(name, &graph)| Candidate { name, graph }).collect();
        let chosen = held_out(&candidates, &hold_out, 7);
        assert_eq!(chosen.len(), expected);
        for (i, a) in graphs.iter().enumerate() {
            for (j, b) in graphs.iter().enumerate() {
                assert!(a != b || chosen.contains(&i) == chosen.contains(&j), "{i} and {j} are the same");
            }
        }
        assert_eq!(held_out(&candidates, &hold_out, 7), chosen);
    }

    #[test]
    fn as_many_as_asked_for() {
        let graphs: Vec<u32> = (0..100).collect();
        check(&graphs, HoldOut::Number(30), 30);
        check(&graphs, HoldOut::Number(1000), 100);
        check(&graphs, HoldOut::Number(0), 0);
        check(&graphs, HoldOut::Fraction(0.25), 25);
        check(&graphs, HoldOut::Names(vec!["c3".into(), "c4".into(), "none".into()]), 2);
    }

    #[test]
    fn equal_conjectures_stay_together() {
        check(&[1, 1, 2, 3, 3, 3, 4, 5, 6], HoldOut::Number(4), 4);
        check(&[1, 1, 2], HoldOut::Names(vec!["c1".into()]), 2);
    }

    #[test]
    fn another_seed_chooses_others() {
        let names: Vec<String> = (0..1000).map(|i| format!("c{i}")).collect();
        let candidates: Vec<Candidate<'_>> =
            names.iter().zip(0..).map(|(name, graph)| Candidate { name, graph }).collect();
        let number = HoldOut::Number(100);
        assert_ne!(held_out(&candidates, &number, 1), held_out(&candidates, &number, 2));
    }
}
