//! Why an axiom is there: what a reader sees who looks at it beside the conjecture.

use std::collections::{BTreeMap, BTreeSet};

use formulanet_logic::{Head, Interner};

use super::super::ranker::{Ranked, Ranker};
use super::{Item, Part, Problem};
use crate::data::vocabulary::is_symbol;
use crate::read::{Syntax, parse};

/// What speaks for an axiom, as far as it can be seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reasons {
    /// Symbols that it has in common with what is to be proved, those of the fewest axioms first.
    pub shared: Vec<String>,
    /// Symbols that the model does not know.
    pub unknown: Vec<String>,
}

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
        let mut symbols = Symbols::new(ranker);
        let mut axioms_with: BTreeMap<String, usize> = BTreeMap::new();
        for &axiom in &self.axioms {
            for symbol in symbols.of(&self.items[axiom]) {
                *axioms_with.entry(symbol).or_default() += 1;
            }
        }
        let goal: BTreeSet<String> = self.of(Part::Conjecture).flat_map(|item| symbols.of(item)).collect();
        let reasons = |ranked: &Ranked| {
            let item = &self.items[self.axioms[ranked.statement]];
            let own = symbols.of(item);
            let mut shared: Vec<String> = own.intersection(&goal).cloned().collect();
            shared.sort_by_key(|symbol| axioms_with.get(symbol).copied().unwrap_or(0));
            Reasons { shared, unknown: item.encoded.unknown().to_vec() }
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
        let mut symbols = Symbols::new(ranker);
        let all: BTreeSet<String> = self.items.iter().flat_map(|item| symbols.of(item)).collect();
        Knowledge {
            known: all.iter().filter(|symbol| !unknown.contains(symbol.as_str())).count(),
            of: all.len(),
        }
    }
}

impl Knowledge {
    /// Whether a user should be told: where a model knows less than half, its names say little.
    pub fn is_little(self) -> bool {
        2 * self.known < self.of
    }
}

/// Reads statements again, for their symbols.
struct Symbols<'a> {
    ranker: &'a Ranker,
    names: Interner,
}

impl<'a> Symbols<'a> {
    fn new(ranker: &'a Ranker) -> Self {
        Symbols { ranker, names: Interner::new() }
    }

    /// The symbols of a statement, those of logic left out.
    fn of(&mut self, item: &Item) -> BTreeSet<String> {
        let options = self.ranker.hol_options();
        // Declarations of types are no formulas; everything else was parsed once already.
        let Ok(formula) = parse(&item.text, Syntax::Tptp, &options, &mut self.names) else {
            return BTreeSet::new();
        };
        let symbol = |term| match formula.head(term) {
            Head::Constant(symbol) => Some(self.names.name(self.names.label(symbol))),
            _ => None,
        };
        let symbols = formula.preorder().filter_map(symbol);
        symbols.filter(|symbol| is_symbol(symbol)).map(str::to_owned).collect()
    }
}
