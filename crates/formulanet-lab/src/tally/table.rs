//! How often statements with a key were useful, for many keys in few bytes.
//!
//! A key is known by so few bits that of keys never seen, one in about a hundred is taken for a seen one; training
//! looks at the same table, and learns what that is worth.

use std::io::Read;

use formulanet::model::memory::varint::{self, Reader};

/// The codes of keys, in the order of keys.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Table {
    /// The number of bits of a key.
    bits: u32,
    keys: Vec<u32>,
    codes: Vec<Code>,
}

/// The rounded numbers of statements with a key and of useful ones, in one byte; 0 if none had it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Code(u8);

/// The least number of statements of every size.
const SIZES: [u32; 10] = [1, 2, 3, 4, 6, 9, 14, 25, 60, 200];
/// Odds are rounded to steps of a quarter, this many to either side.
const STEPS: i32 = 12;
/// The number of different odds.
const ODDS: u8 = 2 * STEPS as u8 + 1;
/// The bits of keys in addition to those that number them.
const MORE_BITS: u32 = 6;
/// Bytes of a table that is not compressed, at most.
const LARGEST: u64 = 1 << 28;

impl Code {
    /// Encodes a number of statements and of useful ones.
    pub(crate) fn new(all: u32, useful: u32) -> Self {
        let size = SIZES.partition_point(|&least| least <= all) as u8;
        if size == 0 {
            return Code(0);
        }
        let odds = 0.5 * ((useful as f32 + 0.5) / (all.saturating_sub(useful) as f32 + 0.5)).ln();
        let step = ((4.0 * odds).round() as i32).clamp(-STEPS, STEPS) + STEPS;
        Code(1 + (size - 1) * ODDS + step as u8)
    }

    /// Half of the logarithm of the odds that such a statement is useful, and which size the number has; both 0 if there
    /// was none.
    pub(crate) fn numbers(self) -> [f32; 2] {
        match self.0.checked_sub(1) {
            None => [0.0; 2],
            Some(code) => {
                [f32::from(i16::from(code % ODDS) - STEPS as i16) / 4.0, f32::from(code / ODDS + 1)]
            }
        }
    }

    fn is_one(self) -> bool {
        self.0 > 0 && usize::from(self.0) <= SIZES.len() * usize::from(ODDS)
    }
}

impl Table {
    /// The number of bits of the keys in a table of this size.
    pub(crate) fn bits_for(keys: usize) -> u32 {
        (keys.max(1).next_power_of_two().ilog2() + MORE_BITS).min(32)
    }

    /// A key shortened to this many bits.
    pub(crate) fn short(key: u64, bits: u32) -> u32 {
        (key >> (64 - bits.clamp(1, 32))) as u32
    }

    /// Builds a table of keys with this many bits and their codes, in order, each once.
    pub(crate) fn new(bits: u32, entries: impl Iterator<Item = (u32, Code)>) -> Self {
        let (keys, codes) = entries.unzip();
        Table { bits, keys, codes }
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The counts of a key.
    pub(crate) fn get(&self, key: u64) -> Code {
        let found = self.keys.binary_search(&Table::short(key, self.bits));
        found.map_or_else(|_| Code::default(), |place| self.codes[place])
    }

    /// As files have it.
    pub(crate) fn to_bytes(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(3 * self.len());
        varint::write(&mut bytes, u64::from(self.bits));
        varint::write_ascending(&mut bytes, self.keys.iter().map(|&key| u64::from(key)));
        bytes.extend(self.codes.iter().map(|code| code.0));
        zstd::encode_all(bytes.as_slice(), 19)
    }

    /// Reads the output of [`Table::to_bytes`]; `None` for other bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut unpacked = Vec::new();
        zstd::Decoder::new(bytes).ok()?.take(LARGEST).read_to_end(&mut unpacked).ok()?;
        let mut reader = Reader { bytes: &unpacked };
        let bits = u32::try_from(reader.number()?).ok().filter(|bits| (1..=32).contains(bits))?;
        let keys: Vec<u32> = reader.ascending(1 << bits)?.into_iter().map(|key| key as u32).collect();
        let codes: Vec<Code> = reader.bytes.iter().map(|&byte| Code(byte)).collect();
        let is_whole = codes.len() == keys.len() && codes.iter().all(|code| code.is_one());
        is_whole.then_some(Table { bits, keys, codes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codes_say_about_how_many_and_how_useful() {
        let check = |all: u32, useful: u32, expected: [f32; 2]| {
            assert_eq!(Code::new(all, useful).numbers(), expected, "{useful} of {all}");
        };
        check(0, 0, [0.0, 0.0]);
        check(1, 1, [0.5, 1.0]);
        check(1, 0, [-0.5, 1.0]);
        check(2, 1, [0.0, 2.0]);
        check(5, 5, [1.25, 4.0]);
        check(8, 2, [-0.5, 5.0]);
        check(u32::MAX, u32::MAX, [3.0, 10.0]);
        check(u32::MAX, 0, [-3.0, 10.0]);
    }

    #[test]
    fn keys_are_found() {
        let entries = [(3u32, Code::new(1, 1)), (9, Code::new(4, 0))];
        let table = Table::new(Table::bits_for(2), entries.into_iter());
        assert_eq!((table.len(), table.bits), (2, 7));
        let check = |key: u32, expected: Code| assert_eq!(table.get(u64::from(key) << 57 | 12345), expected);
        check(3, Code::new(1, 1));
        check(9, Code::new(4, 0));
        check(4, Code::default());
        assert_eq!(Table::bits_for(usize::MAX >> 1), 32);
    }

    proptest! {
        // Compressing as much as files are takes a while.
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn bytes_are_read_back(keys in proptest::collection::btree_set(0u32..1 << 20, 0..50), useful in 0u32..9) {
            let table = Table::new(20, keys.iter().map(|&key| (key, Code::new(1 + key % 300, useful.min(1 + key % 300)))));
            let bytes = table.to_bytes().unwrap();
            prop_assert_eq!(Table::from_bytes(&bytes), Some(table));
            for length in 0..bytes.len() {
                prop_assert_eq!(Table::from_bytes(&bytes[..length]), None);
            }
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Table::from_bytes(&bytes);
            let _ = Table::from_bytes(&zstd::encode_all(bytes.as_slice(), 1).unwrap());
        }
    }
}
