//! The hash of this crate's own tables.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Mixes a word into a hash.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(word ^ 0xd1b5_4a32_d192_ed03);
    (product >> 64) as u64 ^ product as u64
}

/// A random seed for hashes, so that crafted input cannot make all names collide.
pub(crate) fn seed() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
