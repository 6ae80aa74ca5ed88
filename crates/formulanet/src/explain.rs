//! Evidence for a statement, as it is shown to people.

use std::collections::{BTreeMap, BTreeSet};

use formulanet_logic::{Formula, Head, Interner};

use crate::Language;
use crate::model::vocabulary::is_symbol;
use crate::retrieve::VectorRetriever;
use crate::statement::parse;

/// Visible evidence for a statement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    /// Symbols that it has in common with what is to be proved, those that the fewest others have first.
    pub shared_symbols: Vec<String>,
    /// Symbols that the model does not know.
    pub unknown_symbols: Vec<String>,
    /// The number of the library's proofs that used it.
    pub uses: usize,
    /// Some of what those proofs prove, what is most like the conjecture first.
    pub used_by: Vec<String>,
}

/// The most facts that are named whose proofs used a statement.
pub const MOST_USERS: usize = 3;

/// Reads statements again, for their symbols.
pub struct SymbolReader<'a> {
    retriever: &'a VectorRetriever,
    names: Interner,
}

impl<'a> SymbolReader<'a> {
    pub fn new(retriever: &'a VectorRetriever) -> Self {
        SymbolReader { retriever, names: Interner::new() }
    }

    /// The symbols of a statement, those of logic left out; none if it cannot be read.
    pub fn of(&mut self, text: &str, language: Language) -> BTreeSet<String> {
        let formula = parse(text, language, &self.retriever.hol_options(), &mut self.names);
        formula.map_or_else(|_| BTreeSet::new(), |formula| symbols(&formula, &self.names))
    }
}

/// The symbols of a formula, those of logic left out.
pub fn symbols(formula: &Formula, names: &Interner) -> BTreeSet<String> {
    let symbol = |term| match formula.head(term) {
        Head::Constant(symbol) => Some(names.name(names.label(symbol))),
        _ => None,
    };
    // That two statements have digits in common says nothing.
    let is_digit = |symbol: &str| matches!(symbol, "NUMERAL" | "BIT0" | "BIT1");
    let found = formula.preorder().filter_map(symbol);
    found.filter(|symbol| is_symbol(symbol) && !is_digit(symbol)).map(str::to_owned).collect()
}

/// Counts the statements that have each symbol.
pub fn counts<'a>(statements: impl Iterator<Item = &'a BTreeSet<String>>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    statements.flatten().for_each(|symbol| *counts.entry(symbol.as_str()).or_default() += 1);
    counts
}

/// The symbols that a statement and a goal share, the rarest first.
pub fn shared(
    own: &BTreeSet<String>,
    goal: &BTreeSet<String>,
    counts: &BTreeMap<&str, usize>,
) -> Vec<String> {
    let mut shared: Vec<String> = own.intersection(goal).cloned().collect();
    shared.sort_by_key(|symbol| counts.get(symbol.as_str()).copied().unwrap_or(0));
    shared
}
