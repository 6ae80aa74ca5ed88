//! Patterns of names.

/// A part of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Any characters.
    Any,
    /// One character.
    One,
    /// This character.
    This(char),
}

/// The parts of a pattern. After a backslash, `*`, `?` and the backslash itself stand for themselves.
fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(first) = rest.next() {
        parts.push(match first {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => Part::This(rest.next_if(|next| matches!(next, '*' | '?' | '\\')).unwrap_or('\\')),
            other => Part::This(other),
        });
    }
    parts
}

/// Whether a name fits a pattern, in which `*` stands for any characters and `?` for one; `\*` and `\?` stand for themselves.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (parts(pattern), name.chars().collect::<Vec<char>>());
    let (mut p, mut n) = (0, 0);
    // Where to go on if the last star has to take one character more.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == Part::Any {
            retry = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == Part::One || pattern[p] == Part::This(name[n])) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((star, from)) = retry {
            retry = Some((star, from + 1));
            (p, n) = (star + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&part| part == Part::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        };
        check("ADD_SYM", "ADD_SYM", true);
        check("ADD_SYM", "ADD_SYMM", false);
        check("ADD_*", "ADD_SYM", true);
        check("*_SYM", "ADD_SYM", true);
        check("*D*Y*", "ADD_SYM", true);
        check("A?D*", "ADD_SYM", true);
        check("A?D", "ADDD", false);
        check("*", "", true);
        check("", "x", false);
        check("**a**", "bab", true);
        check(r"MULT\*", "MULT*", true);
        check(r"MULT\*", "MULT_1", false);
        check(r"*\?", "WHY?", true);
        check(r"*\?", "WHY", false);
        check(r"/\\_THM", r"/\_THM", true);
        check(r"/\_THM", r"/\_THM", true);
        check("a*a*a*a*a*a*a*a*a*a*b", &"a".repeat(2000), false);
    }
}
