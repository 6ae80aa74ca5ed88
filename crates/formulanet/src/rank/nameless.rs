//! Candidates by what statements say alone: renaming all symbols changes nothing.

use super::pool::Pool;
use super::theory::{Features, Method, Theory};

/// How many of the best come first. A prover that is given more wants to know what the symbols of these and of the goal
/// mean, rather than the next best guesses: see `results/problem-graph.md`.
const FIRST: usize = 64;
/// How many of the candidates behind these are put there by what the goal's symbols lead to.
const REACHED: usize = 1024;

/// What statements alone say about candidates for a goal.
pub(super) struct Nameless {
    /// A score for each candidate.
    pub(super) scores: Vec<f32>,
    /// Candidates that the goal's symbols lead to, as MePo asks, the first to be reached first.
    reached: Vec<usize>,
}

impl Nameless {
    /// Looks at candidates.
    pub(super) fn new(goal: &Features, candidates: &[Features]) -> Self {
        let mut theory = Theory::default();
        for features in candidates {
            theory.add_fact(features);
        }
        let goal = theory.goal(goal);
        let mut scores = vec![0.0; candidates.len()];
        for (rank, fact) in
            Pool::without_proofs(&theory, &goal, None, candidates.len()).into_iter().enumerate()
        {
            scores[fact] = 1.0 / (2.0 + rank as f32);
        }
        let reached = theory.rank(&goal, candidates.len(), Method::Reach, REACHED);
        Nameless { scores, reached: reached.into_iter().map(|(fact, _)| fact).collect() }
    }

    /// The scores, where candidates behind the best few come in the order in which the goal's symbols lead to them.
    pub(super) fn surrounded(self) -> Vec<f32> {
        let Nameless { mut scores, reached } = self;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let (first, behind) = order.split_at(FIRST.min(order.len()));
        let Some(&lowest) = first.last() else { return scores };
        let lowest = scores[lowest];
        let is_first: std::collections::HashSet<usize> = first.iter().copied().collect();
        let reached: Vec<usize> = reached.into_iter().filter(|fact| !is_first.contains(fact)).collect();
        let steps = (reached.len() + 1) as f32;
        // Half of what is left below the first ones is for what is reached, the other half for the rest.
        for &fact in behind {
            scores[fact] *= 0.5;
        }
        for (rank, fact) in (1..).zip(reached) {
            scores[fact] = lowest * (1.0 - 0.5 * rank as f32 / steps);
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, reached: &[usize], expected: &[usize]) {
        let scores = (0..count).map(|number| 1.0 / (2.0 + number as f32)).collect();
        let scores = Nameless { scores, reached: reached.to_vec() }.surrounded();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        assert_eq!(order[FIRST.min(count)..], *expected);
        assert_eq!(order[..FIRST.min(count)], *(0..FIRST.min(count)).collect::<Vec<_>>());
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
    }

    #[test]
    fn what_is_reached_comes_behind_the_best() {
        check(68, &[66, 3, 67], &[66, 67, 64, 65]);
        check(68, &[], &[64, 65, 66, 67]);
        check(3, &[2, 1], &[]);
        check(0, &[], &[]);
    }
}
