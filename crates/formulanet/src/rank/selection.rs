//! Which of scored statements are taken: the best ones, those that must be in, and none that must not.

use crate::Cancel;
use super::ranker::{Ranked, earlier};
use crate::Error;

/// What is taken of scored statements.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// Take at most so many.
    pub most: usize,
    /// Leave out those with a lower score, unless they must be in.
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

/// Which statements must be selected and which must not, by their numbers; empty if there are no patterns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    included: Vec<bool>,
    excluded: Vec<bool>,
    /// Patterns that no name fits.
    pub unmatched: Vec<String>,
}

impl Selection {
    /// Takes from scored statements, the best first; of two with the same score, the earlier one.
    ///
    /// # Errors
    ///
    /// Returns an error if more must be included than there is room for.
    pub fn pick<'a>(&self, scores: &[f32], name: impl Fn(usize) -> &'a str) -> Result<Vec<Ranked>, Error> {
        let marks = self.marks(scores.len(), &name, &Cancel::never())?;
        self.pick_marked(scores, &marks)
    }

    /// Compares the names of statements with the patterns.
    ///
    /// # Errors
    ///
    /// If the time is over.
    pub fn marks<'a>(
        &self,
        count: usize,
        name: impl Fn(usize) -> &'a str,
        pace: &Cancel,
    ) -> Result<Marks, Error> {
        let mut unmatched = Vec::new();
        let mut mark = |patterns: &[String]| -> Result<Vec<bool>, Error> {
            let mut fits = vec![false; patterns.len()];
            let mut marks = vec![false; if patterns.is_empty() { 0 } else { count }];
            for (number, mark) in marks.iter_mut().enumerate() {
                if number % 32 == 0 {
                    pace.check()?;
                }
                for (pattern, fits) in patterns.iter().zip(&mut fits) {
                    if matches(pattern, name(number)) {
                        (*mark, *fits) = (true, true);
                    }
                }
            }
            let missed = patterns.iter().zip(&fits).filter(|(_, fits)| !**fits);
            unmatched.extend(missed.map(|(pattern, _)| pattern.clone()));
            Ok(marks)
        };
        let (included, excluded) = (mark(&self.include)?, mark(&self.exclude)?);
        Ok(Marks { included, excluded, unmatched })
    }

    /// [`Selection::pick`] for statements that were compared already.
    ///
    /// # Errors
    ///
    /// If more must be in than may be.
    pub fn pick_marked(&self, scores: &[f32], marks: &Marks) -> Result<Vec<Ranked>, Error> {
        let is = |marks: &[bool], number: usize| marks.get(number).copied().unwrap_or(false);
        let (mut taken, mut forced) = (Vec::new(), Vec::new());
        for (statement, &score) in scores.iter().enumerate().filter(|(i, _)| !is(&marks.excluded, *i)) {
            let ranked = Ranked { statement, score };
            if is(&marks.included, statement) {
                forced.push(ranked);
            } else if score >= self.threshold {
                taken.push(ranked);
            }
        }
        let Some(room) = self.most.checked_sub(forced.len()) else {
            return Err(Error::TooManyForced { most: self.most, forced: forced.len() });
        };
        // A few of very many are found without sorting all.
        if room < taken.len() {
            taken.select_nth_unstable_by(room, earlier);
            taken.truncate(room);
        }
        taken.append(&mut forced);
        taken.sort_unstable_by(earlier);
        Ok(taken)
    }
}

impl Marks {
    /// Keeps a statement out, whatever a pattern says.
    pub(crate) fn exclude(&mut self, barred: &[bool]) {
        if self.excluded.is_empty() {
            self.excluded = barred.to_vec();
        } else {
            self.excluded.iter_mut().zip(barred).for_each(|(excluded, barred)| *excluded |= barred);
        }
    }
}

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
    use crate::rank::order;

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

    #[test]
    fn takes_what_it_is_told() {
        let (names, scores) = (["d", "a", "c", "b"], [0.1, 0.9, 0.3, 0.8]);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let check = |most: usize, threshold: f32, include: &str, exclude: &str, expected: &str| {
            let selection = Selection { most, threshold, include: words(include), exclude: words(exclude) };
            let found = selection.pick(&scores, |i| names[i]);
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

    #[test]
    fn patterns_that_fit_nothing_are_named() {
        let selection = Selection {
            include: vec!["a*".into(), "z".into()],
            exclude: vec!["?".into()],
            ..Selection::default()
        };
        let marks = selection.marks(2, |i| ["ab", "cd"][i], &Cancel::never()).unwrap();
        assert_eq!(marks.unmatched, ["z", "?"]);
    }

    /// However many are taken, they are the first of the whole order.
    #[test]
    fn the_best_of_many() {
        let mut random = 1u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize
        };
        let scores: Vec<f32> = (0..2000).map(|_| [0.0, -0.0, 0.25, 0.5, 0.75][next() % 5]).collect();
        let names: Vec<String> = (0..2000).map(|_| format!("n{}", next() % 300)).collect();
        let name = |i: usize| names[i].as_str();
        let whole = order(&scores);
        for most in [0, 1, 7, 300, 1999, 2000, 5000] {
            let picked = Selection { most, ..Selection::default() }.pick(&scores, name).unwrap();
            assert_eq!(picked, whole[..most.min(2000)], "{most}");
        }
    }
}
