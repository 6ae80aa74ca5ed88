//! Patterns of names.

/// Whether a name fits a pattern, in which `*` stands for any characters and `?` for one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where to go on if the last star has to take one character more.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            retry = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((star, from)) = retry {
            retry = Some((star, from + 1));
            (p, n) = (star + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
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
        check("a*a*a*a*a*a*a*a*a*a*b", &"a".repeat(2000), false);
    }
}
