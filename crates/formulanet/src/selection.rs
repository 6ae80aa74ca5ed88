//! Which of ranked statements are taken: the best ones, those that must be in, and none that must not.

use crate::Error;
use crate::rank::Ranked;

/// What is taken of a ranking.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// So many at most.
    pub most: usize,
    /// None with a lower score, unless it must be in.
    pub threshold: f32,
    /// Names or patterns of those that must be in.
    pub include: Vec<String>,
    /// Names or patterns of those that must not; they win over the others.
    pub exclude: Vec<String>,
}

impl Default for Selection {
    fn default() -> Self {
        Selection { most: usize::MAX, threshold: 0.0, include: Vec::new(), exclude: Vec::new() }
    }
}

impl Selection {
    /// Takes from a ranking, in its order.
    ///
    /// # Errors
    ///
    /// If more must be in than may be.
    pub fn take<'a>(&self, ranked: &[Ranked], name: impl Fn(usize) -> &'a str) -> Result<Vec<Ranked>, Error> {
        let is_among = |patterns: &[String], statement: usize| {
            patterns.iter().any(|pattern| matches(pattern, name(statement)))
        };
        self.take_marked(ranked, |i| is_among(&self.exclude, i), |i| is_among(&self.include, i))
    }

    /// The same for a caller that has found out by itself which statements must not be in, and which must.
    ///
    /// # Errors
    ///
    /// If more must be in than may be.
    pub fn take_marked(
        &self,
        ranked: &[Ranked],
        is_excluded: impl Fn(usize) -> bool,
        is_included: impl Fn(usize) -> bool,
    ) -> Result<Vec<Ranked>, Error> {
        let allowed: Vec<(Ranked, bool)> = ranked
            .iter()
            .filter(|ranked| !is_excluded(ranked.statement))
            .map(|ranked| (*ranked, is_included(ranked.statement)))
            .collect();
        let forced = allowed.iter().filter(|(_, is_forced)| *is_forced).count();
        if forced > self.most {
            let message = format!(
                "expected at most {} statements that must be in, found {forced}; raise -k or name fewer",
                self.most
            );
            return Err(Error::data("--include", message));
        }
        let mut free = self.most - forced;
        let is_taken = |(ranked, is_forced): &(Ranked, bool)| {
            if *is_forced {
                return true;
            }
            let is_taken = free > 0 && ranked.score >= self.threshold;
            free -= usize::from(is_taken);
            is_taken
        };
        Ok(allowed.into_iter().filter(is_taken).map(|(ranked, _)| ranked).collect())
    }
}

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

    #[test]
    fn takes_what_it_is_told() {
        let names = ["a", "b", "c", "d"];
        let ranked = [0.9, 0.8, 0.3, 0.1].iter().enumerate();
        let ranked: Vec<Ranked> = ranked.map(|(statement, &score)| Ranked { statement, score }).collect();
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let check = |most: usize, threshold: f32, include: &str, exclude: &str, expected: &str| {
            let selection = Selection { most, threshold, include: words(include), exclude: words(exclude) };
            let found = selection.take(&ranked, |i| names[i]);
            let found = found.map_or("error".to_owned(), |found| {
                found.iter().map(|ranked| names[ranked.statement]).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found, expected, "{selection:?}");
        };
        check(2, 0.0, "", "", "a b");
        check(9, 0.0, "", "", "a b c d");
        check(0, 0.0, "", "", "");
        check(9, 0.5, "", "", "a b");
        check(2, 0.0, "d", "", "a d");
        check(2, 0.5, "d", "a", "b d");
        check(2, 0.0, "?", "a", "error");
        check(3, 0.0, "?", "a", "b c d");
        check(2, 0.0, "a", "a", "b c");
    }
}
