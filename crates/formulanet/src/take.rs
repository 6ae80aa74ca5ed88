//! Which of scored statements are taken: the best ones, those that must be in, and none that must not.

use crate::retrieve::{ScoredStatement, by_score};
use crate::util::glob::matches;
use crate::{Cancel, Error};

/// Which of the ranked statements are returned.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Take {
    /// At most this number.
    pub k: usize,
    /// The lowest score, unless a statement must be included.
    pub min_score: f32,
    /// Names or patterns of statements that must be included; they count among the `k`.
    pub include: Vec<String>,
    /// Names or patterns of statements that must not; they win over the others.
    pub exclude: Vec<String>,
}

impl Default for Take {
    fn default() -> Self {
        Take { k: 32, min_score: 0.0, include: Vec::new(), exclude: Vec::new() }
    }
}

impl Take {
    /// Returns at most `k` statements.
    pub fn at_most(k: usize) -> Self {
        Take { k, ..Take::default() }
    }

    /// Sets all fields.
    pub fn new(k: usize, min_score: f32, include: Vec<String>, exclude: Vec<String>) -> Self {
        Take { k, min_score, include, exclude }
    }
}

/// Which statements must be selected and which must not, by their numbers; empty if there are no patterns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PatternMatches {
    included: Vec<bool>,
    excluded: Vec<bool>,
    /// Patterns that no name fits.
    pub(crate) unmatched: Vec<String>,
}

impl Take {
    /// Compares the names of statements with the patterns.
    ///
    /// # Errors
    ///
    /// If the time is over.
    pub(crate) fn pattern_matches<'a>(
        &self,
        count: usize,
        name: impl Fn(usize) -> &'a str,
        cancel: &Cancel,
    ) -> Result<PatternMatches, Error> {
        let mut unmatched = Vec::new();
        let mut mark = |patterns: &[String]| -> Result<Vec<bool>, Error> {
            let mut fits = vec![false; patterns.len()];
            let mut marks = vec![false; if patterns.is_empty() { 0 } else { count }];
            for (number, mark) in marks.iter_mut().enumerate() {
                if number % 32 == 0 {
                    cancel.check()?;
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
        Ok(PatternMatches { included, excluded, unmatched })
    }

    /// Takes from scored statements, the best first; of two with the same score, the by_score one.
    ///
    /// # Errors
    ///
    /// If more must be in than may be.
    pub(crate) fn pick(
        &self,
        scores: &[f32],
        matches: &PatternMatches,
    ) -> Result<Vec<ScoredStatement>, Error> {
        let is = |marks: &[bool], number: usize| marks.get(number).copied().unwrap_or(false);
        let (mut taken, mut included) = (Vec::new(), Vec::new());
        for (statement, &score) in scores.iter().enumerate().filter(|(i, _)| !is(&matches.excluded, *i)) {
            let ranked = ScoredStatement { statement, score };
            if is(&matches.included, statement) {
                included.push(ranked);
            } else if score >= self.min_score {
                taken.push(ranked);
            }
        }
        let Some(room) = self.k.checked_sub(included.len()) else {
            return Err(Error::TooManyIncluded { k: self.k, included: included.len() });
        };
        // A few of very many are found without sorting all.
        if room < taken.len() {
            taken.select_nth_unstable_by(room, by_score);
            taken.truncate(room);
        }
        taken.append(&mut included);
        taken.sort_unstable_by(by_score);
        Ok(taken)
    }
}

impl PatternMatches {
    /// Keeps a statement out, whatever a pattern says.
    pub(crate) fn exclude(&mut self, ineligible: &[bool]) {
        if self.excluded.is_empty() {
            self.excluded = ineligible.to_vec();
        } else {
            self.excluded
                .iter_mut()
                .zip(ineligible)
                .for_each(|(excluded, ineligible)| *excluded |= ineligible);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::best_first;

    #[test]
    fn takes_what_it_is_told() {
        let (names, scores) = (["d", "a", "c", "b"], [0.1, 0.9, 0.3, 0.8]);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let check = |k: usize, min_score: f32, include: &str, exclude: &str, expected: &str| {
            let take = Take::new(k, min_score, words(include), words(exclude));
            let matches = take.pattern_matches(scores.len(), |i| names[i], &Cancel::never()).unwrap();
            let found = take.pick(&scores, &matches);
            let found = found.map_or("error".to_owned(), |found| {
                found.iter().map(|ranked| names[ranked.statement]).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found, expected, "{take:?}");
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
        let take = Take::new(32, 0.0, vec!["a*".into(), "z".into()], vec!["?".into()]);
        let matches = take.pattern_matches(2, |i| ["ab", "cd"][i], &Cancel::never()).unwrap();
        assert_eq!(matches.unmatched, ["z", "?"]);
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
        let whole = best_first(&scores);
        for k in [0, 1, 7, 300, 1999, 2000, 5000] {
            let picked = Take::at_most(k).pick(&scores, &PatternMatches::default()).unwrap();
            assert_eq!(picked, whole[..k.min(2000)], "{k}");
        }
    }
}
