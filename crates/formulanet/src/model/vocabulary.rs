//! Labels and the tokens that networks know them by.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::util::hash::PlainHasher;

/// Labels that every vocabulary begins with.
pub const SPECIAL: [&str; 3] = ["VAR", "VARFUNC", UNKNOWN];

/// The label of everything that has no label of its own.
pub const UNKNOWN: &str = "UNKNOWN";

/// Labels of unknown symbols by their place and their number of arguments: `p` for those that hold or not, `f` for those
/// inside terms; the last of each stands for three arguments and more.
pub const UNKNOWN_KINDS: [[&str; 4]; 2] = [
    ["UNKNOWN/p0", "UNKNOWN/p1", "UNKNOWN/p2", "UNKNOWN/p3"],
    ["UNKNOWN/f0", "UNKNOWN/f1", "UNKNOWN/f2", "UNKNOWN/f3"],
];

/// Models have thousands of labels, and every command that reads one makes this table.
type Tokens = HashMap<String, u16, BuildHasherDefault<PlainHasher>>;

/// Which token a label has.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    tokens: Tokens,
    unknown: [[u16; 4]; 2],
}

impl Vocabulary {
    /// Labels in the order of their tokens; nothing if they do not include `UNKNOWN`.
    pub fn new(labels: &[String]) -> Option<Self> {
        let tokens: Tokens = labels.iter().cloned().zip(0..).collect();
        let any = *tokens.get(UNKNOWN)?;
        let unknown = UNKNOWN_KINDS.map(|kind| kind.map(|label| tokens.get(label).copied().unwrap_or(any)));
        Some(Vocabulary { tokens, unknown })
    }

    /// The vocabulary that has logic alone.
    pub fn of_logic() -> Self {
        let labels = SPECIAL.iter().chain(&LOGICAL).chain(&["=", "@", "|-", ",", "T", "F", "_"]);
        let tokens: Tokens = labels.map(|label| (*label).to_owned()).zip(0..).collect();
        let any = tokens.get(UNKNOWN).copied().unwrap_or_default();
        Vocabulary { tokens, unknown: [[any; 4]; 2] }
    }

    /// The token of a label that is known.
    pub fn known(&self, label: &str) -> Option<u16> {
        self.tokens.get(label).copied()
    }

    /// The token of an unknown symbol.
    pub fn unknown(&self, is_in_term: bool, arguments: u16) -> u16 {
        self.unknown[usize::from(is_in_term)][usize::from(arguments.min(3))]
    }

    /// Whether a token is one of those for unknown symbols.
    pub fn is_unknown(&self, token: u16) -> bool {
        self.tokens.get(UNKNOWN) == Some(&token) || self.unknown.as_flattened().contains(&token)
    }

    /// The tokens of a graph's nodes, given the label of each.
    pub fn tokens<'a>(&self, degrees: &[u16], targets: &[u16], label: impl Fn(usize) -> &'a str) -> Vec<u16> {
        let tokens = (0..degrees.len()).map(|node| self.known(label(node))).collect();
        self.complete(tokens, degrees, targets, |node| is_logical(label(node)))
    }

    /// Puts tokens for unknown symbols where a graph's nodes have none.
    pub fn complete(
        &self,
        mut tokens: Vec<Option<u16>>,
        degrees: &[u16],
        targets: &[u16],
        is_logical: impl Fn(usize) -> bool,
    ) -> Vec<u16> {
        if tokens.contains(&None) {
            let is_in_term = in_terms(degrees, targets, is_logical);
            for ((token, is_in_term), &degree) in tokens.iter_mut().zip(is_in_term).zip(degrees) {
                token.get_or_insert_with(|| self.unknown(is_in_term, degree));
            }
        }
        tokens.into_iter().flatten().collect()
    }
}

/// Connectives and binders.
const LOGICAL: [&str; 9] = ["~", "/\\", "\\/", "==>", "<=>", "!", "?", "?!", "\\"];

/// Whether a label is a connective or a binder: what stands below it holds or not.
pub fn is_logical(label: &str) -> bool {
    LOGICAL.contains(&label)
}

/// Whether a label is a symbol of some theory, rather than of logic or a variable.
pub fn is_symbol(label: &str) -> bool {
    !(is_logical(label)
        || SPECIAL.contains(&label)
        || matches!(label, "=" | "@" | "|-" | "," | "T" | "F" | "_"))
}

/// For every node, whether it stands inside a term: below something that is neither connective nor binder.
fn in_terms(degrees: &[u16], targets: &[u16], is_logical: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut is_in_term = vec![false; degrees.len()];
    let mut edges = targets;
    for (node, &degree) in degrees.iter().enumerate() {
        let (own, rest) = edges.split_at(usize::from(degree).min(edges.len()));
        if !is_logical(node) {
            own.iter().for_each(|&target| is_in_term[usize::from(target)] = true);
        }
        edges = rest;
    }
    is_in_term
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(text: &str) -> Vocabulary {
        Vocabulary::new(&text.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn unknown_symbols_are_told_apart_by_place_and_arguments() {
        // ~ (new (old x) other), where `new`, `old` and `other` may be unknown
        let labels = ["~", "new", "old", "x", "other"];
        let (degrees, targets) = ([1, 2, 1, 0, 0], [1, 2, 4, 3]);
        let check = |known: &str, expected: [&str; 5]| {
            let vocabulary = vocabulary(known);
            let expected: Vec<u16> = expected.iter().map(|label| vocabulary.known(label).unwrap()).collect();
            assert_eq!(vocabulary.tokens(&degrees, &targets, |node| labels[node]), expected, "{known}");
        };
        let kinds = UNKNOWN_KINDS.concat().join(" ");
        check("UNKNOWN ~ new old x other", labels);
        check("UNKNOWN ~ old x", ["~", "UNKNOWN", "old", "x", "UNKNOWN"]);
        check(&format!("UNKNOWN {kinds} ~ x"), ["~", "UNKNOWN/p2", "UNKNOWN/f1", "x", "UNKNOWN/f0"]);
    }

    #[test]
    fn there_is_always_a_token_for_the_unknown() {
        assert!(Vocabulary::new(&["VAR".to_owned()]).is_none());
        let vocabulary = vocabulary("VAR UNKNOWN UNKNOWN/f3");
        assert_eq!([vocabulary.unknown(true, 9), vocabulary.unknown(false, 9)], [2, 1]);
        assert!(vocabulary.is_unknown(1) && vocabulary.is_unknown(2) && !vocabulary.is_unknown(0));
    }
}
