//! Retrieval by formulas alone: renaming all symbols changes nothing.

use std::collections::HashSet;

use crate::proofs::{Features, IndexedGoal, ProofIndex};
use crate::rerank::ToldFeatures;

/// Number of the best candidates that come first, whatever their symbols: see `results/problem-graph.md`.
const FIRST: usize = 8;
/// Number of the candidates after these that are ordered by the familiarity of their symbols.
const FAMILIAR: usize = 1024;

/// Scores of candidates for a goal by formulas alone.
pub struct SymbolRetriever {
    /// A score for each candidate.
    pub scores: Vec<f32>,
    index: ProofIndex,
    goal: IndexedGoal,
}

impl SymbolRetriever {
    /// Scores candidates for a goal.
    pub fn new(goal: &Features, candidates: &[Features]) -> Self {
        let mut index = ProofIndex::default();
        for features in candidates {
            index.add_fact(features);
        }
        let goal = index.goal(goal);
        let mut scores = vec![0.0; candidates.len()];
        for (rank, fact) in
            ToldFeatures::without_proofs(&index, &goal, None, candidates.len()).into_iter().enumerate()
        {
            scores[fact] = 1.0 / (2.0 + rank as f32);
        }
        SymbolRetriever { scores, index, goal }
    }

    /// Returns the scores, changed so that familiar candidates follow the best few: those with symbols of the
    /// goal and of the best.
    pub fn with_familiar(self) -> Vec<f32> {
        let SymbolRetriever { mut scores, index, goal } = self;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let (first, behind) = order.split_at(FIRST.min(order.len()));
        let Some(&lowest) = first.last() else { return scores };
        let lowest = scores[lowest];
        let is_first: HashSet<usize> = first.iter().copied().collect();
        let mut familiar = index.by_familiar_symbols(&goal, &order, FAMILIAR);
        familiar.retain(|fact| !is_first.contains(fact));
        let steps = (familiar.len() + 1) as f32;
        // Half of the scores below the first ones is for familiar candidates, the other half for the rest.
        for &fact in behind {
            scores[fact] *= 0.5;
        }
        for (rank, fact) in (1..).zip(familiar) {
            scores[fact] = lowest * (1.0 - 0.5 * rank as f32 / steps);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use formulanet_logic::{Interner, hol};

    use super::*;

    /// Checks which candidates follow the first ones, given the scores of retrieval.
    fn check(goal: &str, candidates: &[&str], scores: &[f32], expected: &[usize]) {
        let mut names = Interner::new();
        let mut features = |text: &&str| {
            Features::of(&hol::parse(text, &hol::Options::default(), &mut names).unwrap(), &names)
        };
        let goal = features(&goal);
        let candidates: Vec<Features> = candidates.iter().map(features).collect();
        let nameless =
            SymbolRetriever { scores: scores.to_vec(), ..SymbolRetriever::new(&goal, &candidates) };
        let scores = nameless.with_familiar();
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        assert_eq!(order[FIRST.min(order.len())..], *expected);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
    }

    #[test]
    fn what_is_familiar_comes_behind_the_best() {
        let mut candidates = vec!["!x. ring x ==> group x"; FIRST];
        // After the best: a fact about other symbols, one with an unfamiliar symbol, and one of symbols that
        // others have.
        candidates.extend(["!x. graph x ==> tree x", "!x. ring x ==> field x", "group zero"]);
        let scores: Vec<f32> = (0..candidates.len()).map(|number| 1.0 / (2.0 + number as f32)).collect();
        check("ring zero", &candidates, &scores, &[FIRST + 2, FIRST + 1, FIRST]);
        check("ring zero", &candidates[..3], &scores[..3], &[]);
        check("ring zero", &[], &[], &[]);
        // Candidates that have nothing in common with others keep their order.
        let strangers = vec!["!x. x = x"; FIRST + 2];
        let scores: Vec<f32> = (0..strangers.len()).map(|number| 1.0 / (12.0 - number as f32)).collect();
        check("ring zero", &strangers, &scores, &[1, 0]);
    }
}
