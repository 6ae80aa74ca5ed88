//! Ranked lists: how early what is relevant comes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Prediction;
use crate::Error;
use formulanet::util::random::scramble;
use formulanet::util::vector::share;

/// After how many candidates recall is measured.
pub const CUTOFFS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// A ranked list: where what is relevant stands in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankedList {
    /// Ranks of the relevant candidates, from 1, ascending.
    ranks: Vec<usize>,
    /// The number of relevant items, including those outside the list.
    relevant: usize,
}

impl RankedList {
    /// From best to worst. `relevant` counts what is relevant inside and outside the list; it is raised to what
    /// the list has, if that is more.
    pub fn from_list(is_relevant: impl IntoIterator<Item = bool>, relevant: usize) -> Self {
        let ranked = is_relevant.into_iter().zip(1..);
        let ranks: Vec<usize> =
            ranked.filter(|(is_relevant, _)| *is_relevant).map(|(_, rank)| rank).collect();
        let relevant = relevant.max(ranks.len());
        RankedList { ranks, relevant }
    }

    /// Candidates with their scores, which are ranked from high to low. An error if a score is not a number.
    ///
    /// Equal scores are ordered by a hash of the candidate's number: the same in every run, but not the order of the
    /// candidates, because many data sets list what is relevant first.
    pub fn from_scores(scores: &[f32], is_relevant: &[bool], relevant: usize) -> Result<Self, Error> {
        let (expected, found) = (is_relevant.len(), scores.len());
        if found != expected {
            let message = format!("expected {expected} scores, one of each candidate, found {found}");
            return Err(Error::input("ranking", message));
        }
        if let Some(place) = scores.iter().position(|score| score.is_nan()) {
            let message = format!("expected a number as the score of candidate {}, found NaN", place + 1);
            return Err(Error::input("ranking", message));
        }
        Ok(Self::from_list(order(scores).into_iter().map(|place| is_relevant[place]), relevant))
    }

    fn recall(&self, at: usize) -> f64 {
        share(self.ranks.partition_point(|&rank| rank <= at), self.relevant)
    }

    /// Mean of the precision at every relevant candidate; one that is not found counts as 0.
    fn average_precision(&self) -> f64 {
        let precisions = self.ranks.iter().zip(1..).map(|(&rank, found)| f64::from(found) / rank as f64);
        precisions.sum::<f64>() / self.relevant as f64
    }
}

/// Candidates from the highest score to the lowest. No score is NaN.
fn order(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // `+ 0.0` makes 0 of -0, which `total_cmp` would put below.
    order.sort_by(|&a, &b| {
        let by_score = (scores[b] + 0.0).total_cmp(&(scores[a] + 0.0));
        by_score.then_with(|| scramble(a as u64).cmp(&scramble(b as u64)))
    });
    order
}

/// How early what is relevant comes, averaged over queries that have something relevant. All 0 if there is none.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Ranking {
    /// The number of queries with a relevant item.
    pub queries: usize,
    /// Share of what is relevant that is among the first k, for every k of [`CUTOFFS`].
    pub recall_at: BTreeMap<usize, f64>,
    /// Share of queries that have all that is relevant among the first k, for every k of [`CUTOFFS`].
    pub full_recall_at: BTreeMap<usize, f64>,
    /// Mean of 1 / rank of the first relevant candidate (MRR).
    pub mean_reciprocal_rank: f64,
    /// Mean of the queries' average precision (MAP).
    pub mean_average_precision: f64,
}

/// Measures ranked lists.
///
/// ```
/// use formulanet_train::eval::metrics::{RankedList, ranking};
///
/// let first = RankedList::from_list([false, true, true], 2);
/// let second = RankedList::from_scores(&[0.1, 0.7], &[false, true], 1)?;
/// let found = ranking(&[first, second]);
/// assert_eq!(found.mean_reciprocal_rank, 0.75);
/// assert_eq!(found.recall_at[&2], 0.75);
/// # Ok::<(), formulanet::Error>(())
/// ```
pub fn ranking(lists: &[RankedList]) -> Ranking {
    let lists: Vec<&RankedList> = lists.iter().filter(|list| list.relevant > 0).collect();
    let mean = |of_list: &dyn Fn(&RankedList) -> f64| {
        let sum: f64 = lists.iter().map(|list| of_list(list)).sum();
        sum / lists.len().max(1) as f64
    };
    let is_full = |list: &RankedList, at: usize| {
        list.ranks.len() == list.relevant && list.ranks.last().is_some_and(|&rank| rank <= at)
    };
    Ranking {
        queries: lists.len(),
        recall_at: CUTOFFS.map(|at| (at, mean(&|list| list.recall(at)))).into(),
        full_recall_at: CUTOFFS.map(|at| (at, mean(&|list| f64::from(u8::from(is_full(list, at)))))).into(),
        mean_reciprocal_rank: mean(&|list| list.ranks.first().map_or(0.0, |&rank| 1.0 / rank as f64)),
        mean_average_precision: mean(&RankedList::average_precision),
    }
}

/// A ranked list of every conjecture's statements.
pub(super) fn lists(predictions: &[Prediction]) -> Vec<RankedList> {
    let mut sorted: Vec<&Prediction> = predictions.iter().collect();
    sorted.sort_by_key(|prediction| prediction.conjecture);
    let of_conjecture = |candidates: &[&Prediction]| {
        let scores: Vec<f32> = candidates.iter().map(|prediction| prediction.score).collect();
        RankedList::from_list(order(&scores).into_iter().map(|place| candidates[place].is_useful), 0)
    };
    sorted.chunk_by(|a, b| a.conjecture == b.conjecture).map(of_conjecture).collect()
}
