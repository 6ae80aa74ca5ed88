//! The words and operators of HOL Light: what its printer and its parser agree on.

/// How operators of the same precedence group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Associativity {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a ==> b ==> c` is `a ==> (b ==> c)`.
    Right,
}

/// Precedence and associativity of an infix operator, as HOL Light's libraries declare them.
pub fn infix(name: &str) -> Option<(u8, Associativity)> {
    use Associativity::{Left, Right};
    Some(match name {
        "<=>" => (2, Right),
        "==>" => (4, Right),
        "\\/" => (6, Right),
        "/\\" => (8, Right),
        "==" | "===" | "treal_eq" | "hreal_eq" | "nadd_eq" => (10, Right),
        "treal_le" | "hreal_le" | "nadd_le" => (12, Right),
        "IN" => (11, Right),
        "=" | "<" | "<=" | ">" | ">=" | "<<" | "<<=" | "<<<" | "=_c" | "<_c" | "<=_c" | ">_c" | ">=_c" => {
            (12, Right)
        }
        "SUBSET" | "PSUBSET" | "HAS_SIZE" | "divides" | "permutes" | "has_sup" | "has_inf" | "-->"
        | "--->" => (12, Right),
        "has_derivative" | "has_vector_derivative" | "has_complex_derivative" => (12, Right),
        "has_real_derivative" | "differentiable" | "complex_differentiable" => (12, Right),
        "differentiable_on" | "holomorphic_on" | "analytic_on" => (12, Right),
        "continuous" | "continuous_on" | "uniformly_continuous_on" | "real_continuous" => (12, Right),
        "real_continuous_on" | "real_differentiable" | "real_differentiable_on" => (12, Right),
        "has_integral" | "integrable_on" | "absolutely_integrable_on" | "has_measure" => (12, Right),
        "has_real_integral" | "real_integrable_on" | "has_real_measure" => (12, Right),
        "homeomorphic" | "homotopy_equivalent" | "retract_of" | "face_of" | "facet_of" => (12, Right),
        "exposed_face_of" | "extreme_point_of" | "simplex" | "tagged_division_of" => (12, Right),
        "division_of" | "tagged_partial_division_of" | "fine" | "edge_of" => (12, Right),
        "," | "within" | "in_direction" => (14, Right),
        ".." => (15, Right),
        "+" | "UNION" | "+_c" | "++" | "treal_add" | "hreal_add" | "nadd_add" => (16, Right),
        "-" | "DIFF" => (18, Left),
        "*" | "INTER" | "*_c" | "dot" | "cross" | "**" | "treal_mul" | "hreal_mul" | "nadd_mul" => {
            (20, Right)
        }
        "UNION_OF" | "INTERSECTION_OF" => (20, Right),
        "INSERT" | "%" | "%%" => (21, Right),
        "DELETE" | "hull" => (21, Left),
        "/" | "DIV" | "MOD" | "div" | "rem" => (22, Left),
        "CROSS" | "PCROSS" => (22, Right),
        "EXP" | "pow" | "ipow" | "zpow" | "rpow" | "cpow" | "^_c" => (24, Left),
        "$" | "$$" => (25, Left),
        "o" => (26, Right),
        _ => return None,
    })
}

/// Whether a name applies to the application that follows it: `~p x` is `~(p x)`.
pub fn is_prefix(name: &str) -> bool {
    matches!(name, "~" | "--")
}

/// Whether a name binds the variables after it, up to a dot.
pub fn is_binder(name: &str) -> bool {
    matches!(name, "!" | "?" | "?!" | "@" | "\\")
}

/// Whether a name has a syntax of its own, so that it stands in brackets when nothing is applied to it.
pub fn is_operator(name: &str) -> bool {
    infix(name).is_some() || is_prefix(name) || is_binder(name) || name == "&"
}

/// The constant that an operator stands for if it has another name: `<=>` is equality of truth values.
pub fn stands_for(operator: &str) -> Option<&'static str> {
    (operator == "<=>").then_some("=")
}

/// Words that are never names.
pub(crate) fn is_reserved(word: &str) -> bool {
    matches!(word, "if" | "then" | "else" | "let" | "and" | "in" | "match" | "with" | "function" | "when")
}

/// Symbolic names without precedence, which would otherwise fall apart into operators.
const SYMBOLIC_NAMES: [&str; 4] = ["#!#", "#?#", "////", "~="];

/// Punctuation made of symbol characters.
const PUNCTUATION: [&str; 6] = [".", ":", "|", "->", "|-", "?-"];

/// Whether a character can be part of a symbolic name.
pub(crate) fn is_symbolic(c: char) -> bool {
    matches!(c, '!'..='&' | '*' | '+' | '-' | '.' | '/' | ':' | '<'..='@' | '\\' | '^' | '|' | '~')
        && c != '"'
}

/// Whether a character can be part of a word.
pub(crate) fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// Lengths of the tokens of a run of symbol characters.
///
/// HOL Light takes the longest run as one name and so rejects `!x.~p`. Here a run that is no known token but
/// can be cut into known ones is cut, each as long as possible.
pub(crate) fn symbolic_tokens(run: &str) -> Vec<usize> {
    let is_known = |s: &str| is_operator(s) || SYMBOLIC_NAMES.contains(&s) || PUNCTUATION.contains(&s);
    if is_known(run) {
        return vec![run.len()];
    }
    let mut lengths = Vec::new();
    let mut rest = run;
    while !rest.is_empty() {
        let Some(length) = (1..=rest.len().min(4)).rev().find(|&n| is_known(&rest[..n])) else {
            return vec![run.len()];
        };
        lengths.push(length);
        rest = &rest[length..];
    }
    lengths
}

/// Whether a name is a plain word, the only kind that a variable is printed as without quotes.
pub fn is_word(name: &str) -> bool {
    let machine_made = name.strip_prefix("GEN%PVAR%").map(|rest| rest.trim_end_matches('\''));
    if machine_made.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())) {
        return true;
    }
    let first = name.chars().next();
    first.is_some_and(|c| c.is_alphabetic() || c == '_')
        && name.chars().all(is_word_character)
        && !is_reserved(name)
        && !is_operator(name)
}

/// Whether a name is printed without quotes or brackets: a word, or symbols that make one token.
pub fn is_identifier(name: &str) -> bool {
    is_word(name) || SYMBOLIC_NAMES.contains(&name)
}

/// Whether an unknown name looks like a variable: a letter, then digits or primes.
pub fn looks_like_variable(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(char::is_alphabetic) && characters.all(|c| c.is_ascii_digit() || c == '\'')
}
