//! The parts of TPTP that a problem uses and a prover reads.

use formulanet::logic::tptp::Language;

use super::tokens::{is_numeral, tokens};

/// A set of parts of TPTP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Languages(u8);

/// The parts by their names in a prover's description.
const NAMES: [(&str, Languages); 5] = [
    ("cnf", Languages(1)),
    ("fof", Languages(2)),
    ("tff", Languages(4)),
    ("thf", Languages(8)),
    ("arithmetic", Languages(16)),
];

impl Languages {
    /// All parts.
    pub(crate) const ALL: Languages = Languages(31);

    /// Returns a part by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, part)| part)
    }

    /// Returns the names of all parts, for messages.
    pub(crate) fn names() -> String {
        NAMES.map(|(name, _)| name).join(", ")
    }

    /// Adds the parts of another set.
    pub(crate) fn add(&mut self, other: Languages) {
        self.0 |= other.0;
    }

    /// Whether the set has all parts of another.
    pub(crate) fn has(self, other: Languages) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Returns the parts that a statement uses.
pub(crate) fn of(language: Language, text: &str) -> Languages {
    let mut found = Languages(match language {
        Language::Cnf => return Languages(1),
        Language::Fof => return Languages(2),
        Language::Tff | Language::Tcf => 4,
        Language::Thf => 8,
    });
    // A name may be a number: arithmetic begins after the second comma.
    let mut commas = 0;
    for token in tokens(text) {
        commas += usize::from(token == ",");
        if commas >= 2 && (is_arithmetic(token) || is_numeral(token)) {
            found.add(Languages(16));
            break;
        }
    }
    found
}

fn is_arithmetic(token: &str) -> bool {
    const WORDS: [&str; 14] = [
        "$int",
        "$rat",
        "$real",
        "$less",
        "$lesseq",
        "$greater",
        "$greatereq",
        "$sum",
        "$difference",
        "$product",
        "$uminus",
        "$to_int",
        "$to_rat",
        "$to_real",
    ];
    WORDS.contains(&token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_told() {
        let check = |language, text: &str, expected: &[&str]| {
            let mut all = Languages::default();
            expected.iter().for_each(|name| all.add(Languages::named(name).unwrap()));
            assert_eq!(of(language, text), all, "{text}");
        };
        check(Language::Fof, "fof(1, axiom, p(1)).", &["fof"]);
        check(Language::Tff, "tff(1, axiom, p).", &["tff"]);
        check(Language::Tff, "tff(1, axiom, p(1)).", &["tff", "arithmetic"]);
        check(Language::Tff, "tff(f, type, f: $int > $i).", &["tff", "arithmetic"]);
        check(Language::Thf, "thf(f, axiom, (p @ '$int')).", &["thf"]);
        assert!(
            Languages::ALL.has(of(Language::Thf, ""))
                && !Languages::named("fof").unwrap().has(Languages::ALL)
        );
    }
}
