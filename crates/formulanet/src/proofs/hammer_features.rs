//! Features that were computed by a hammer.

use crate::proofs::Features;
use crate::util::hash::{hash_text, mix};

/// The kind of a given feature, by its name in CoqHammer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum HammerFeatureKind {
    /// A symbol, or a feature of no other form.
    Symbol = 0,
    /// A symbol and the head of an argument: `S-O`.
    Pair = 1,
    /// A symbol or a pair with its polarity: `S+`, `S-O-`.
    Polar = 2,
    /// The empty feature, which means none.
    None = 3,
}

impl HammerFeatureKind {
    pub(crate) fn of(feature: &str) -> Self {
        if feature.is_empty() {
            HammerFeatureKind::None
        } else if feature.len() > 1 && feature.ends_with(['+', '-']) {
            HammerFeatureKind::Polar
        } else if feature.contains('-') {
            HammerFeatureKind::Pair
        } else {
            HammerFeatureKind::Symbol
        }
    }
}

/// Returns the hash of a given feature. Features of formulas have other hashes.
pub(crate) fn hammer_feature_hash(feature: &str) -> u64 {
    mix(hash_text(feature), 0x8ebc_6af0_9c88_c6e3)
}

impl Features {
    /// Makes features from those of CoqHammer: symbols, pairs `f-g` of a symbol and the head of an argument,
    /// and either followed by a polarity. A feature of another form counts as a symbol.
    pub fn from_hammer<'a>(features: impl IntoIterator<Item = &'a str>) -> Self {
        let known = features
            .into_iter()
            .map(|feature| (HammerFeatureKind::of(feature) as u8, hammer_feature_hash(feature)));
        Self::of_hashes(known)
    }

    /// Makes features from hashes, each with the number of its [`HammerFeatureKind`].
    pub(crate) fn of_hashes(features: impl Iterator<Item = (u8, u64)>) -> Self {
        let mut found = Features::default();
        for (kind, hash) in features {
            let list = match kind {
                0 => &mut found.symbols,
                1 => &mut found.pairs,
                2 => &mut found.subterms,
                _ => continue,
            };
            list.push(hash);
            found.size += 1;
        }
        found.tidy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_features_are() {
        let check = |feature: &str, expected: HammerFeatureKind| {
            assert_eq!(HammerFeatureKind::of(feature), expected, "{feature}")
        };
        check("Coq.Init.Nat.add", HammerFeatureKind::Symbol);
        check("Coq.Init.Nat.add-X", HammerFeatureKind::Pair);
        check("Coq.Init.Nat.add+", HammerFeatureKind::Polar);
        check("Coq.Init.Nat.add-", HammerFeatureKind::Polar);
        check("Coq.Init.Nat.add-X-", HammerFeatureKind::Polar);
        check("+", HammerFeatureKind::Symbol);
        check("17", HammerFeatureKind::Symbol);
        check("", HammerFeatureKind::None);
        let features = Features::from_hammer(["f", "f-g", "f+", "f-g+", "", "f", "h"]);
        let counts = [&features.symbols, &features.pairs, &features.subterms].map(Vec::len);
        assert_eq!((counts, features.size), ([2, 1, 2], 6));
    }
}
