//! Statements that were seen in training, by a hash of their graphs.

use std::collections::HashMap;

use formulanet_net::GraphInput;

use crate::random::scramble;

/// Which statements have a vector of their own in a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory {
    keys: Vec<u64>,
    rows: HashMap<u64, u32>,
}

impl Memory {
    /// The memory of graphs with these keys, in the order of their vectors.
    pub fn new(keys: Vec<u64>) -> Self {
        let rows = keys.iter().copied().zip(0..).collect();
        Memory { keys, rows }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The number of a graph's own vector.
    pub fn row(&self, graph: GraphInput<'_>) -> Option<u32> {
        if self.is_empty() { None } else { self.rows.get(&key(graph)).copied() }
    }

    /// As model files keep it: 12 hexadecimal digits a key.
    pub(crate) fn to_text(&self) -> String {
        self.keys.iter().map(|key| format!("{key:012x}")).collect()
    }

    /// What [`Memory::to_text`] wrote; nothing if it is something else.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let digits: Vec<&[u8]> = text.as_bytes().chunks(12).collect();
        let key = |digits: &[u8]| {
            let is_key = digits.len() == 12 && digits.iter().all(u8::is_ascii_hexdigit);
            let text = std::str::from_utf8(digits).ok().filter(|_| is_key)?;
            u64::from_str_radix(text, 16).ok()
        };
        digits.into_iter().map(key).collect::<Option<Vec<u64>>>().map(Memory::new)
    }
}

/// 48 bits that tell a graph from others. Tokens are the model's, so that names of variables make no difference.
pub fn key(graph: GraphInput<'_>) -> u64 {
    let mut hash = 0u64;
    for part in [graph.tokens, graph.degrees, graph.targets] {
        hash = scramble(hash ^ part.len() as u64);
        part.iter().for_each(|&number| hash = scramble(hash ^ u64::from(number)));
    }
    hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph<'a>(tokens: &'a [u16], degrees: &'a [u16], targets: &'a [u16]) -> GraphInput<'a> {
        GraphInput { tokens, degrees, targets }
    }

    #[test]
    fn a_graph_is_found_by_all_of_its_arrays() {
        let seen = graph(&[3, 4], &[1, 0], &[1]);
        let memory = Memory::new(vec![7, key(seen)]);
        let check = |graph, expected| assert_eq!(memory.row(graph), expected);
        check(seen, Some(1));
        check(graph(&[3, 5], &[1, 0], &[1]), None);
        check(graph(&[3, 4], &[0, 1], &[1]), None);
        check(graph(&[3, 4], &[1, 0], &[0]), None);
        check(graph(&[3], &[4], &[1, 0, 1]), None);
    }

    #[test]
    fn text_is_read_back() {
        let memory = Memory::new(vec![0, 1, 0xffff_ffff_ffff]);
        assert_eq!(Memory::from_text(&memory.to_text()), Some(memory));
        assert_eq!(Memory::from_text(""), Some(Memory::default()));
        assert_eq!(Memory::from_text("12345"), None);
        assert_eq!(Memory::from_text("00000000000+"), None);
        assert_eq!(Memory::from_text("ééééééé"), None);
    }
}
