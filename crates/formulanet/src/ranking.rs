//! The answer to a query.

use crate::existing::Existing;
use crate::{Evidence, Order, Plan, Statement};

/// The place of a statement in its corpus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub(crate) u32);

/// The answer to a query.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Ranking {
    /// The best statements, the best first.
    pub hits: Vec<Hit>,
    /// Statements that already say what a goal says, so that it need not be proved again.
    pub existing: Vec<Existing>,
    /// The number of statements that were scored.
    pub considered: usize,
    /// The stages that were run.
    pub plan: Plan,
    /// Names and patterns of the query that no statement matches.
    pub unmatched: Vec<String>,
    /// Symbols of the goals that the model does not know.
    pub unknown_symbols: Vec<String>,
}

/// A statement of a ranking.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Hit {
    /// Its place in the corpus.
    pub id: Id,
    /// Its place among the statements that are not the library's.
    pub local: Option<usize>,
    /// The statement, as it was written.
    pub statement: Statement,
    /// The key that hits are sorted by; it compares statements of one ranking only.
    pub score: f32,
    /// How likely a proof of the goal uses the statement, if the last stage estimates that: before the order, and comparable between
    /// queries as far as it is calibrated.
    pub probability: Option<f32>,
    /// The score without the goal, if the query asked for evidence and the plan has one.
    pub base_rate: Option<f32>,
    /// Why the statement is there, if the query asked for it.
    pub evidence: Option<Evidence>,
}

impl Id {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The share of all proofs that use a fact which says little about a single proof.
const COMMON: f32 = 0.1;

/// Turns probabilities into sort keys: with [`Order::Lift`], the odds are divided by how much likelier than common a statement
/// is anyway.
pub(crate) fn apply_order(order: Order, scores: &mut [f32], base_rates: Option<&[f32]>) {
    let (Order::Lift, Some(base_rates)) = (order, base_rates) else { return };
    for (score, &rate) in scores.iter_mut().zip(base_rates).filter(|(_, rate)| **rate > COMMON) {
        let odds = |probability: f32| f64::from(probability) / (1.0 - f64::from(probability)).max(1e-9);
        let odds = odds(*score) * odds(COMMON) / odds(rate);
        *score = (odds / (1.0 + odds)) as f32;
    }
}

/// The scores that are estimates of a probability: those that the last stage gave, which looks at the best `depth`. The others are
/// only put below these.
pub(crate) fn estimates(scores: &[f32], depth: Option<usize>) -> Vec<Option<f32>> {
    let mut sorted = scores.to_vec();
    let lowest = match depth {
        Some(depth) if (1..scores.len()).contains(&depth) => {
            *sorted.select_nth_unstable_by(depth - 1, |a, b| b.total_cmp(a)).1
        }
        _ => f32::NEG_INFINITY,
    };
    scores.iter().map(|&score| Some(score).filter(|&score| score >= lowest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_looked_at_has_no_probability() {
        let scores = [0.2, 0.9, 0.1, 0.5];
        assert_eq!(estimates(&scores, Some(2)), [None, Some(0.9), None, Some(0.5)]);
        assert_eq!(estimates(&scores, Some(9)), scores.map(Some));
        assert_eq!(estimates(&scores, None), scores.map(Some));
    }

    #[test]
    fn what_every_proof_uses_has_to_be_likelier_than_usual() {
        let check = |order: Order, scores: [f32; 3], usual: Option<[f32; 3]>, expected: [usize; 3]| {
            let mut keys = scores;
            apply_order(order, &mut keys, usual.as_ref().map(|usual| &usual[..]));
            let mut found = [0, 1, 2];
            found.sort_by(|&a, &b| keys[b].total_cmp(&keys[a]));
            assert_eq!(found, expected, "{order:?} {scores:?} {usual:?}");
        };
        check(Order::Lift, [0.9, 0.6, 0.1], Some([0.9, 0.01, 0.001]), [1, 0, 2]);
        check(Order::Lift, [0.9, 0.2, 0.01], Some([0.5, 0.01, 0.001]), [0, 1, 2]);
        check(Order::Lift, [0.9, 0.6, 0.1], Some([0.02, 0.01, 0.03]), [0, 1, 2]);
        check(Order::Lift, [0.1, 0.6, 0.9], None, [2, 1, 0]);
        check(Order::Probability, [0.9, 0.6, 0.1], Some([0.9, 0.01, 0.001]), [0, 1, 2]);
    }
}
