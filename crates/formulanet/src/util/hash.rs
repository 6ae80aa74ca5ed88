//! Hashes that are the same in every run; none of them is meant against forgery.

use std::hash::Hasher;

use crate::util::random::scramble;

/// Mixes two words into one.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(b ^ 0x8bb8_4b93_962e_acc9);
    (product >> 64) as u64 ^ product as u64
}

/// Up to eight bytes as a word.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// A hash of a text, never 0.
pub fn hash_text(text: &str) -> u64 {
    let first = mix(text.len() as u64, 0x9e37_79b9_7f4a_7c15);
    let chunks = text.as_bytes().chunks(8);
    chunks.fold(first, |hash, chunk| mix(hash ^ word(chunk), 0xe703_7ed1_a0b4_28db)) | 1
}

/// Hashes the keys of a private table, one word at a time.
#[derive(Clone, Default, Debug)]
pub struct PlainHasher(u64);

impl Hasher for PlainHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .chunks(8)
            .fold(self.0 ^ bytes.len() as u64, |hash, chunk| mix(hash ^ word(chunk), 0xe703_7ed1_a0b4_28db));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A hash of many bytes.
pub fn digest(bytes: &[u8]) -> u64 {
    // Several chains, so that the CPU need not wait for one number to go on with the next.
    let mut chains = [1u64, 2, 3, 4];
    for block in bytes.chunks(32) {
        for (chain, bytes) in chains.iter_mut().zip(block.chunks(8)) {
            *chain = scramble(*chain ^ word(bytes));
        }
    }
    chains.iter().fold(bytes.len() as u64, |sum, &chain| scramble(sum ^ chain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_sees_every_byte() {
        let bytes = vec![7u8; 100];
        for i in 0..100 {
            let mut other = bytes.clone();
            other[i] ^= 1;
            assert_ne!(digest(&other), digest(&bytes));
        }
        assert_ne!(digest(&bytes[..99]), digest(&bytes));
    }
}
