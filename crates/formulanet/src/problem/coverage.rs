//! The share of a problem's symbols in a model's vocabulary.

use std::collections::BTreeSet;

use crate::explain::SymbolReader;
use crate::retrieve::VectorRetriever;
use crate::{Language, Problem};

/// The share of a problem's symbols that a model knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolCoverage {
    /// The symbols that it knows.
    pub known: usize,
    /// All of them.
    pub total: usize,
}

impl Problem {
    /// Counts the symbols of the problem that the model knows.
    pub fn coverage(&self, retriever: &VectorRetriever) -> SymbolCoverage {
        let unknown: BTreeSet<&str> =
            self.items.iter().flat_map(|item| &item.unknown).map(String::as_str).collect();
        if unknown.is_empty() {
            return SymbolCoverage { known: 0, total: 0 };
        }
        let mut reader = SymbolReader::new(retriever);
        let all: BTreeSet<String> =
            self.items.iter().flat_map(|item| reader.of(&item.text, Language::Tptp)).collect();
        let known = all.iter().filter(|symbol| !unknown.contains(symbol.as_str())).count();
        SymbolCoverage { known, total: all.len() }
    }
}

impl SymbolCoverage {
    /// Whether the model knows less than half of them, so that names are of little use.
    pub fn is_low(self) -> bool {
        2 * self.known < self.total
    }
}
