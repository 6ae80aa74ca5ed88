//! Vectors of axioms that several problems share.

use std::collections::HashMap;

use super::ranker::Ranker;
use super::row::Rows;
use crate::model::encode::Encoded;

/// Axioms that were embedded once, for problems that share them.
pub struct EmbeddedAxioms {
    /// By name and graph: the number of a row.
    numbers: HashMap<(String, u64), usize>,
    rows: Rows,
}

impl EmbeddedAxioms {
    /// None yet.
    pub fn new(ranker: &Ranker) -> Self {
        EmbeddedAxioms { numbers: HashMap::new(), rows: Rows::new(ranker.width()) }
    }

    /// The vectors of statements, in order.
    pub fn rows(&mut self, ranker: &Ranker, statements: &[(&str, &Encoded)]) -> Rows {
        let key = |(name, encoded): &(&str, &Encoded)| ((*name).to_owned(), encoded.fingerprint());
        let is_new = |statement: &&(&str, &Encoded)| !self.numbers.contains_key(&key(statement));
        let new: Vec<(&str, &Encoded)> = statements.iter().filter(is_new).copied().collect();
        let first = self.rows.len();
        self.rows.append(&ranker.rows(&new));
        self.numbers.extend(new.iter().zip(first..).map(|(statement, number)| (key(statement), number)));
        let mut rows = Rows::new(ranker.width());
        statements.iter().for_each(|statement| rows.push(self.rows.get(self.numbers[&key(statement)])));
        rows
    }
}
