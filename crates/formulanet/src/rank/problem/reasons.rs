//! Why an axiom of a problem is there, and how many of the problem's symbols a model knows.

use std::collections::BTreeSet;

use super::super::ranker::{Ranked, Ranker};
use super::super::reasons::{Reasons, Symbols, counts, shared};
use super::{Item, Part, Problem};
use crate::read::Syntax;

/// How many symbols of a problem a model knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Knowledge {
    /// Those that it knows.
    pub known: usize,
    /// All.
    pub of: usize,
}

impl Problem {
    /// Why these axioms were taken.
    pub fn reasons(&self, taken: &[Ranked], ranker: &Ranker) -> Vec<Reasons> {
        let mut reader = Symbols::new(ranker);
        let mut of = |item: &Item| reader.of(&item.text, Syntax::Tptp);
        let axioms: Vec<BTreeSet<String>> = self.axioms.iter().map(|&i| of(&self.items[i])).collect();
        let goal: BTreeSet<String> = self.of(Part::Conjecture).flat_map(of).collect();
        let counts = counts(axioms.iter());
        let reasons = |ranked: &Ranked| {
            let encoded = &self.items[self.axioms[ranked.statement]].encoded;
            Reasons {
                shared: shared(&axioms[ranked.statement], &goal, &counts),
                unknown: encoded.unknown().to_vec(),
                ..Reasons::default()
            }
        };
        taken.iter().map(reasons).collect()
    }

    /// How many of its symbols the model knows.
    pub fn knowledge(&self, ranker: &Ranker) -> Knowledge {
        let unknown: BTreeSet<&str> =
            self.items.iter().flat_map(|item| item.encoded.unknown()).map(String::as_str).collect();
        if unknown.is_empty() {
            return Knowledge { known: 0, of: 0 };
        }
        let mut reader = Symbols::new(ranker);
        let all: BTreeSet<String> =
            self.items.iter().flat_map(|item| reader.of(&item.text, Syntax::Tptp)).collect();
        let known = all.iter().filter(|symbol| !unknown.contains(symbol.as_str())).count();
        Knowledge { known, of: all.len() }
    }
}

impl Knowledge {
    /// Whether a user should be told: where a model knows less than half, its names say little.
    pub fn is_little(self) -> bool {
        2 * self.known < self.of
    }
}
