//! Columns with one row per statement, from which scores are computed.

use std::ops::Range;

/// A statement as a model scores it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VectorRow<'a> {
    /// Its embedding.
    pub vector: &'a [f32],
    /// Its number among the statements that the model remembers, if it is one of them.
    pub memory_id: Option<u32>,
    /// Tokens of its rarest symbols, for a model that compares those of statement and conjecture.
    pub symbols: &'a [u16],
    /// Numbers of symbols that the model does not know.
    pub unknown: &'a [u32],
}

impl VectorRow<'_> {
    /// Whether two rows of a statement are the same but for rounding.
    pub fn is_close(&self, other: &VectorRow<'_>) -> bool {
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 + 1e-2 * a.abs();
        self.vector.len() == other.vector.len()
            && self.vector.iter().zip(other.vector).all(is_close)
            && (self.memory_id, self.symbols, self.unknown) == (other.memory_id, other.symbols, other.unknown)
    }

    /// As files keep it: the vector; the number counted from 1, with 0 for none; how many symbols there are, and
    /// the symbols; the unknown ones. All little-endian.
    pub fn to_bytes(self) -> Vec<u8> {
        let memory_id = self.memory_id.map_or(0, |number| number + 1);
        let mut bytes: Vec<u8> = self.vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        bytes.extend(memory_id.to_le_bytes());
        bytes.extend((self.symbols.len() as u16).to_le_bytes());
        bytes.extend(self.symbols.iter().flat_map(|token| token.to_le_bytes()));
        bytes.extend(self.unknown.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }
}

/// Rows of many statements, column by column.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VectorColumn {
    /// Numbers of one vector.
    width: usize,
    vectors: Vec<f32>,
    memory_id: Vec<Option<u32>>,
    symbols: Vec<u16>,
    symbol_ends: Vec<usize>,
    unknown: Vec<u32>,
    unknown_ends: Vec<usize>,
}

impl VectorColumn {
    /// An empty column for vectors of this length.
    pub fn new(width: usize) -> Self {
        VectorColumn { width, ..VectorColumn::default() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.memory_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.memory_id.is_empty()
    }

    /// One row.
    pub fn get(&self, number: usize) -> VectorRow<'_> {
        VectorRow {
            vector: &self.vectors[number * self.width..][..self.width],
            memory_id: self.memory_id[number],
            symbols: &self.symbols[part(&self.symbol_ends, number)],
            unknown: self.unknown(number),
        }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = VectorRow<'_>> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// The concatenated vectors of some rows.
    pub(crate) fn vectors(&self, rows: Range<usize>) -> &[f32] {
        &self.vectors[rows.start * self.width..rows.end * self.width]
    }

    /// The unknown symbols of a row.
    pub(crate) fn unknown(&self, number: usize) -> &[u32] {
        &self.unknown[part(&self.unknown_ends, number)]
    }

    /// Adds a row.
    pub fn push(&mut self, row: VectorRow<'_>) {
        debug_assert_eq!(row.vector.len(), self.width);
        self.vectors.extend_from_slice(row.vector);
        self.memory_id.push(row.memory_id);
        self.symbols.extend_from_slice(row.symbols);
        self.symbol_ends.push(self.symbols.len());
        self.unknown.extend_from_slice(row.unknown);
        self.unknown_ends.push(self.unknown.len());
    }

    /// Adds all rows of others.
    pub fn append(&mut self, others: &VectorColumn) {
        others.iter().for_each(|row| self.push(row));
    }

    /// Adds a row that [`VectorRow::to_bytes`] wrote; false if the bytes are something else.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> bool {
        let Some((vector, rest)) = bytes.split_at_checked(4 * self.width) else { return false };
        let Some((&memory_id, rest)) = rest.split_first_chunk() else { return false };
        let Some((&count, rest)) = rest.split_first_chunk() else { return false };
        let Some((symbols, unknown)) = rest.split_at_checked(2 * usize::from(u16::from_le_bytes(count)))
        else {
            return false;
        };
        let start = self.vectors.len();
        self.vectors.extend(vector.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        if !unknown.len().is_multiple_of(4) || self.vectors[start..].iter().any(|x| !x.is_finite()) {
            self.vectors.truncate(start);
            return false;
        }
        self.memory_id.push(u32::from_le_bytes(memory_id).checked_sub(1));
        self.symbols.extend(symbols.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])));
        self.symbol_ends.push(self.symbols.len());
        self.unknown.extend(unknown.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        self.unknown_ends.push(self.unknown.len());
        true
    }
}

/// Where the part of a row lies, given where all parts end.
fn part(ends: &[usize], number: usize) -> Range<usize> {
    number.checked_sub(1).map_or(0, |before| ends[before])..ends[number]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_read_back_and_damage_is_seen(
            vector in proptest::collection::vec(-9f32..9.0, 3),
            memory_id in proptest::option::of(0u32..u32::MAX),
            symbols in proptest::collection::vec(any::<u16>(), 0..9),
            unknown in proptest::collection::vec(any::<u32>(), 0..5),
        ) {
            let row = VectorRow { vector: &vector, memory_id, symbols: &symbols, unknown: &unknown };
            let bytes = row.to_bytes();
            let mut rows = VectorColumn::new(3);
            prop_assert!(rows.push_bytes(&bytes) && rows.push_bytes(&bytes));
            prop_assert!(rows.iter().all(|found| found == row && found.is_close(&row)));
            for length in (0..bytes.len()).filter(|length| !(bytes.len() - length).is_multiple_of(4)) {
                prop_assert!(!rows.push_bytes(&bytes[..length]));
            }
            prop_assert_eq!(rows.len(), 2);
        }
    }
}
