//! Checksums of a library: of every statement and every proof, and the sums of all, which notice what is missing.

use formulanet_net::checksum;

use crate::util::hash::mix;

/// Sums stay below this, so that three of them are no overflow in SQLite.
const CHECKSUM_MODULUS: i64 = 1 << 61;

/// Keep the sums of all while statements and proofs come, change and go. The number is [`CHECKSUM_MODULUS`].
pub(super) const TRIGGERS: &str = "
    CREATE TRIGGER statement_added AFTER INSERT ON statements BEGIN
        UPDATE made SET statement_sum = (statement_sum + NEW.sum) % 2305843009213693952;
    END;
    CREATE TRIGGER statement_changed AFTER UPDATE ON statements BEGIN
        UPDATE made SET statement_sum =
            (statement_sum + NEW.sum + 2305843009213693952 - OLD.sum) % 2305843009213693952;
    END;
    CREATE TRIGGER statement_removed AFTER DELETE ON statements BEGIN
        UPDATE made SET statement_sum =
            (statement_sum + 2305843009213693952 - OLD.sum) % 2305843009213693952;
    END;
    CREATE TRIGGER proof_added AFTER INSERT ON proofs BEGIN
        UPDATE made SET proof_sum = (proof_sum + NEW.digest) % 2305843009213693952;
    END;
    CREATE TRIGGER proof_removed AFTER DELETE ON proofs BEGIN
        UPDATE made SET proof_sum = (proof_sum + 2305843009213693952 - OLD.digest) % 2305843009213693952;
    END;";

/// A checksum of some values, which tells where one ends and the next begins.
pub(super) fn sum(parts: &[&[u8]]) -> i64 {
    let whole = parts.iter().fold(parts.len() as u64, |sum, part| mix(sum, checksum(part)));
    (whole % CHECKSUM_MODULUS as u64) as i64
}

/// The checksum of a statement: its name, text, syntax and module, and what a model made of it.
pub(super) fn of_statement([name, text, language, module]: [&[u8]; 4], graph: i64, row: &[u8]) -> i64 {
    sum(&[name, text, language, module, &graph.to_le_bytes(), row])
}

/// The sum of all, with one more.
pub(super) fn add(total: i64, sum: i64) -> i64 {
    total.wrapping_add(sum).rem_euclid(CHECKSUM_MODULUS)
}
