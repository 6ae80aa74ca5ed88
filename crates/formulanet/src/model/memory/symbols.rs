//! Features of the symbols that a statement and a conjecture share, for classifiers.
//!
//! A network that has made one vector of each can hardly tell which symbols both have. These numbers do.

use crate::util::vector::sorted;

/// The number of features.
pub const OVERLAP_FEATURES: usize = 6;
/// Symbols of a graph that are compared, at most: the rarest.
pub const SYMBOLS: usize = 32;

/// The symbols of a graph with how rare they are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RareSymbols {
    /// Each once, by token.
    symbols: Vec<(u16, f32)>,
}

impl RareSymbols {
    /// Selects tokens by rarity; those with a rarity of 0, which occur everywhere or are unknown, are left out.
    pub fn new(tokens: impl Iterator<Item = u16>, rarity: impl Fn(u16) -> f32) -> Self {
        let rare = sorted(tokens).into_iter().map(|token| (token, rarity(token)));
        let mut symbols: Vec<(u16, f32)> = rare.filter(|(_, rarity)| *rarity > 0.0).collect();
        if symbols.len() > SYMBOLS {
            symbols.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            symbols.truncate(SYMBOLS);
            symbols.sort_unstable_by_key(|&(token, _)| token);
        }
        RareSymbols { symbols }
    }

    /// The tokens of its symbols.
    pub fn tokens(&self) -> impl Iterator<Item = u16> + '_ {
        self.symbols.iter().map(|(token, _)| *token)
    }

    /// Compares a statement's symbols with those of a conjecture; all 0 if one of them has no symbols.
    pub fn compare(&self, conjecture: &RareSymbols) -> [f32; OVERLAP_FEATURES] {
        if self.symbols.is_empty() || conjecture.symbols.is_empty() {
            return [0.0; OVERLAP_FEATURES];
        }
        let (mut own, mut theirs, mut common) = (Part::default(), Part::default(), Part::default());
        let (mut left, mut right) = (self.symbols.as_slice(), conjecture.symbols.as_slice());
        loop {
            match (left.split_first(), right.split_first()) {
                (None, None) => break,
                (Some((a, rest)), b) if b.is_none_or(|(b, _)| a.0 < b.0) => {
                    own.add(a.1);
                    left = rest;
                }
                (a, Some((b, rest))) if a.is_none_or(|(a, _)| b.0 < a.0) => {
                    theirs.add(b.1);
                    right = rest;
                }
                _ => {
                    common.add(left[0].1);
                    (left, right) = (&left[1..], &right[1..]);
                }
            }
        }
        let lengths = (own.squares + common.squares) * (theirs.squares + common.squares);
        // The rarest is divided so that all are about as large as each other.
        [
            common.squares / lengths.sqrt(),
            common.sum / (own.sum + common.sum),
            common.sum / (theirs.sum + common.sum),
            0.5 * own.count.ln_1p(),
            common.most / 5.0,
            own.most / 5.0,
        ]
    }
}

/// The combined features of some symbols.
#[derive(Default)]
struct Part {
    count: f32,
    sum: f32,
    squares: f32,
    most: f32,
}

impl Part {
    fn add(&mut self, rarity: f32) {
        self.count += 1.0;
        self.sum += rarity;
        self.squares += rarity * rarity;
        self.most = self.most.max(rarity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signature(tokens: &[u16]) -> RareSymbols {
        // Token 0 is everywhere, the others are the rarer the higher they are.
        RareSymbols::new(tokens.iter().copied(), f32::from)
    }

    #[test]
    fn numbers_say_what_is_in_common() {
        let check = |statement: &[u16], conjecture: &[u16], expected: [f32; OVERLAP_FEATURES]| {
            let found = signature(statement).compare(&signature(conjecture));
            let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(is_close, "{statement:?} {conjecture:?}: {found:?}");
        };
        check(&[0, 3, 3], &[3], [1.0, 1.0, 1.0, 0.0, 0.6, 0.0]);
        check(&[5], &[3], [0.0, 0.0, 0.0, 0.5 * 2f32.ln(), 0.0, 1.0]);
        check(&[4, 3], &[3, 0], [0.6, 3.0 / 7.0, 1.0, 0.5 * 2f32.ln(), 0.6, 0.8]);
        check(&[3], &[4, 3], [0.6, 1.0, 3.0 / 7.0, 0.0, 0.6, 0.0]);
        check(&[0], &[3], [0.0; OVERLAP_FEATURES]);
        check(&[3], &[], [0.0; OVERLAP_FEATURES]);
    }

    #[test]
    fn the_rarest_are_kept() {
        let all: Vec<u16> = (1..100).rev().collect();
        assert!(signature(&all).tokens().eq(100 - SYMBOLS as u16..100));
    }

    proptest! {
        #[test]
        fn a_signature_is_its_tokens(tokens in proptest::collection::vec(0u16..200, 0..99)) {
            let signature = signature(&tokens);
            prop_assert_eq!(&RareSymbols::new(signature.tokens(), f32::from), &signature);
            let with_itself = signature.compare(&signature);
            prop_assert!(with_itself.iter().all(|x| x.is_finite()));
        }
    }
}
