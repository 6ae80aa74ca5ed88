//! Checksums: a file that was damaged after it was written is refused, not used with other results.
//!
//! A file of tensors has its checksum among its metadata, as `checksum:` and sixteen hexadecimal digits. It is that of all
//! bytes of the file but these digits. Nothing here is meant against forgery.

use crate::checkpoint::CheckpointError;
use crate::random::scramble;

/// The key of the checksum among the metadata.
pub const CHECKSUM: &str = "checksum";

/// The value of that key before the checksum is known.
pub const UNSEALED: &str = "checksum:0000000000000000";

/// The text before the digits in a file.
const MARK: &[u8] = b"\"checksum:";
const DIGITS: usize = 16;

/// The number of words that are hashed in parallel, so that the CPU need not wait for one product before the next.
const LANES: usize = 8;
const BLOCK: usize = 8 * LANES;

/// A checksum of many bytes, as fast as memory can be read. Whatever is changed within eight bytes is noticed for certain.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut lanes: [u64; LANES] = std::array::from_fn(|lane| scramble(lane as u64 + 1));
    let blocks = bytes.chunks_exact(BLOCK);
    let mut last = [0; BLOCK];
    last[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
    for block in blocks.chain([&last[..]]) {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            let word = u64::from_le_bytes(*word);
            *lane = (*lane ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }
    lanes.iter().fold(bytes.len() as u64, |sum, &lane| scramble(sum ^ lane))
}

/// Puts the checksum into the bytes of a file whose metadata have [`UNSEALED`].
pub fn seal(bytes: &mut [u8]) {
    if let Some(place) = digits(bytes) {
        let sum = format!("{:0DIGITS$x}", outside(bytes, place));
        bytes[place..place + DIGITS].copy_from_slice(sum.as_bytes());
    }
}

/// Whether a file has a checksum; files of older versions have none.
pub fn is_sealed(bytes: &[u8]) -> bool {
    digits(bytes).is_some()
}

/// The checksum that a file says it has, in hexadecimal digits.
pub fn stamp(bytes: &[u8]) -> Option<&str> {
    let place = digits(bytes)?;
    std::str::from_utf8(&bytes[place..place + DIGITS]).ok()
}

/// Compares a file with its checksum. A file without one passes.
///
/// # Errors
///
/// If the file is damaged.
pub fn verify(bytes: &[u8]) -> Result<(), CheckpointError> {
    let Some(place) = digits(bytes) else { return Ok(()) };
    let (found, expected) =
        (String::from_utf8_lossy(&bytes[place..place + DIGITS]).into_owned(), outside(bytes, place));
    if found == format!("{expected:0DIGITS$x}") { Ok(()) } else { Err(CheckpointError::Damaged) }
}

/// The checksum of all bytes but the digits at a place.
fn outside(bytes: &[u8], place: usize) -> u64 {
    scramble(checksum(&bytes[..place]) ^ checksum(&bytes[place + DIGITS..]).rotate_left(1))
}

/// Where the digits stand, which is in the header.
fn digits(bytes: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(*bytes.first_chunk()?).min(bytes.len() as u64 - 8) as usize;
    let header = &bytes[8..8 + length];
    let found = header.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    (found + DIGITS <= header.len()).then_some(8 + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_noticed() {
        let bytes: Vec<u8> = (0..777u32).map(|i| (i * i) as u8).collect();
        let sum = checksum(&bytes);
        for i in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[i] ^= 1 << bit;
                assert_ne!(checksum(&other), sum);
            }
            assert_ne!(checksum(&bytes[..i]), sum);
        }
        for (i, j) in [(0, 64), (1, 9), (100, 700), (3, 515)] {
            let mut other = bytes.clone();
            other.swap(i, j);
            assert!(other == bytes || checksum(&other) != sum);
        }
        assert_ne!(checksum(&[0; 10]), checksum(&[0; 11]));
    }

    #[test]
    fn zeros_where_nothing_was_are_noticed() {
        // What a crash leaves of a file on some systems.
        let mut bytes = vec![7u8; 10_000];
        let sum = checksum(&bytes);
        bytes[4096..8192].fill(0);
        assert_ne!(checksum(&bytes), sum);
    }
}
