//! Things that are wanted several times and kept once.

use std::collections::HashMap;
use std::hash::Hash;

/// Distinct things in the order in which they were first asked for.
#[derive(Default)]
pub struct Distinct<T> {
    /// The items, each once.
    pub items: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Copy + Eq + Hash> Distinct<T> {
    /// The number of a thing, which is added if it is new.
    pub fn number(&mut self, item: T) -> usize {
        *self.numbers.entry(item).or_insert_with(|| {
            self.items.push(item);
            self.items.len() - 1
        })
    }
}
