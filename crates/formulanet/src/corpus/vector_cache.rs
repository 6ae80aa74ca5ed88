//! Vectors of axioms that several problems share.

use std::collections::HashMap;

use crate::corpus::VectorColumn;
use crate::model::encode::Encoded;
use crate::retrieve::VectorRetriever;

/// Axioms that were embedded once, for problems that share them.
pub struct VectorCache {
    /// By name and graph: the number of a row.
    numbers: HashMap<(String, u64), usize>,
    rows: VectorColumn,
}

impl VectorCache {
    /// None yet.
    pub fn new(retriever: &VectorRetriever) -> Self {
        VectorCache { numbers: HashMap::new(), rows: VectorColumn::new(retriever.width()) }
    }

    /// The vectors of statements, in order.
    pub fn rows(&mut self, retriever: &VectorRetriever, statements: &[(&str, &Encoded)]) -> VectorColumn {
        let key = |(name, encoded): &(&str, &Encoded)| ((*name).to_owned(), encoded.fingerprint());
        let is_new = |statement: &&(&str, &Encoded)| !self.numbers.contains_key(&key(statement));
        let new: Vec<(&str, &Encoded)> = statements.iter().filter(is_new).copied().collect();
        let first = self.rows.len();
        self.rows.append(&retriever.rows(&new));
        self.numbers.extend(new.iter().zip(first..).map(|(statement, number)| (key(statement), number)));
        let mut rows = VectorColumn::new(retriever.width());
        statements.iter().for_each(|statement| rows.push(self.rows.get(self.numbers[&key(statement)])));
        rows
    }
}
