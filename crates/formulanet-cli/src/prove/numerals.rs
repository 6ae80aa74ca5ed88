//! Numerals of untyped problems as constants.
//!
//! Mizar's problems have numerals in first-order formulas without types. Some provers take these for integers
//! and stop with a type error. So they get constants instead, and the proof that is shown has the numerals
//! again.

use super::tokens::{is_numeral, tokens};

/// Prefix of the constants that stand for numerals.
const PREFIX: &str = "numeral_";

/// Characters of a numeral that are not digits, and the letters that stand for them.
const LETTERS: [(char, char); 6] = [('-', 'm'), ('+', 'p'), ('.', 'd'), ('/', 's'), ('e', 'e'), ('E', 'E')];

/// A problem without numerals, and the prefix of the constants that replace them.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Renamed {
    pub(crate) text: String,
    prefix: String,
}

/// Renames the numerals of formulas in FOF and CNF; `None` if there are none.
pub(crate) fn rename(text: &str) -> Option<Renamed> {
    let mut prefix = PREFIX.to_owned();
    while text.contains(&prefix) {
        prefix.push('_');
    }
    let (mut renamed, mut count) = (String::with_capacity(text.len()), 0);
    let (mut depth, mut is_untyped) = (0usize, false);
    for token in tokens(text) {
        match token.chars().next() {
            Some('(') => depth += 1,
            Some(')') => depth = depth.saturating_sub(1),
            // Outside of brackets is the language of the next formula.
            Some(c) if depth == 0 && c.is_alphabetic() => is_untyped = matches!(token, "fof" | "cnf"),
            _ => {}
        }
        if is_untyped && depth > 0 && is_numeral(token) {
            count += 1;
            renamed.push_str(&prefix);
            renamed.extend(token.chars().map(|c| letter(c, |(from, to)| (from, to))));
        } else {
            renamed.push_str(token);
        }
    }
    (count > 0).then_some(Renamed { text: renamed, prefix })
}

impl Renamed {
    /// Replaces the constants by the numerals that they stand for.
    pub(crate) fn restore(&self, output: &str) -> String {
        let mut parts = output.split(&self.prefix);
        let mut restored = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
            restored.extend(part[..end].chars().map(|c| letter(c, |(from, to)| (to, from))));
            restored.push_str(&part[end..]);
        }
        restored
    }
}

/// Returns the replacement of a character of a numeral.
fn letter(c: char, direction: impl Fn((char, char)) -> (char, char)) -> char {
    LETTERS.into_iter().map(direction).find(|(from, _)| *from == c).map_or(c, |(_, to)| to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numerals_become_constants_and_come_back() {
        let check = |text: &str, expected: &str| {
            let renamed = rename(text).unwrap();
            assert_eq!(renamed.text, expected);
            assert_eq!(renamed.restore(&renamed.text), text);
        };
        check(
            "fof(a, axiom, p(1) | f(x2, 3) = 40).",
            "fof(a, axiom, p(numeral_1) | f(x2, numeral_3) = numeral_40).",
        );
        check("cnf(7, axiom, p(-1/2)).", "cnf(numeral_7, axiom, p(numeral_m1s2)).");
        check(
            "fof(a, axiom, p(1.5e-3, '1', \"2\")). % 4\n",
            "fof(a, axiom, p(numeral_1d5em3, '1', \"2\")). % 4\n",
        );
        check(
            "tff(a, axiom, p(1)). fof(b, axiom, p(1)).",
            "tff(a, axiom, p(1)). fof(b, axiom, p(numeral_1)).",
        );
        check("fof(a, axiom, numeral_1 = 1).", "fof(a, axiom, numeral_1 = numeral__1).");
    }

    #[test]
    fn other_problems_stay_as_they_are() {
        for text in [
            "fof(a, axiom, p(x1)).",
            "tff(a, axiom, $sum(1, 2) = 3).",
            "% 12\n/* 12 */",
            "",
            "fof(a, 'it''s 1",
        ] {
            assert_eq!(rename(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_renamed_comes_back(text in "(fof\\(|cnf\\(|[-+.,()/*% '\"\\\\a-eE0-9é\n]){0,40}") {
            if let Some(renamed) = rename(&text) {
                prop_assert_eq!(renamed.restore(&renamed.text), text);
            }
        }
    }
}
