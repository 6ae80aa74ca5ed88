//! The best few hundred facts for a goal, with what a network that reads them together is told of each.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::proofs::{Features, IndexedGoal, Method, OF_ORDER, ProofIndex, SignalTable};

/// How little the first ranks count more than the next.
const SMOOTH: f32 = 8.0;
/// The number of facts that are taken by the goal's symbols.
const REACHED: usize = 2048;

/// Candidates, the retriever's best first, with what is known of each.
#[derive(Clone, Debug, Default)]
pub struct ToldFeatures {
    facts: Vec<u32>,
    rows: Vec<f32>,
}

impl ToldFeatures {
    /// Replaces the numbers of the candidates.
    pub fn renumbered(mut self, numbers: &[usize]) -> Self {
        self.facts.iter_mut().for_each(|fact| *fact = numbers[*fact as usize] as u32);
        self
    }

    /// The candidates with what is known of each, in the order of [`ToldFeatures::FEATURES`].
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (usize, &[f32])> {
        let width = Self::FEATURES.len();
        self.facts.iter().map(|&fact| fact as usize).zip(self.rows.chunks_exact(width))
    }
}

impl ToldFeatures {
    /// The features of each candidate: all ranking features, whether proofs and the order of the library are known, and the
    /// retriever's verdict.
    pub const FEATURES: &[&str] = &FEATURES;

    /// The best facts for a goal, where proofs are known. With `excluded`, the library is not in order, and all facts but
    /// this one are candidates; else all are.
    pub fn with_proofs(index: &ProofIndex, goal: &IndexedGoal, excluded: Option<usize>, size: usize) -> Self {
        let signals = index.signals(goal, index.len());
        let mut told = Self::all(&signals, excluded.is_none());
        let width = Self::FEATURES.len();
        if let Some(place) = told.facts.iter().position(|&fact| Some(fact as usize) == excluded) {
            told.facts.remove(place);
            told.rows.drain(place * width..(place + 1) * width);
        }
        told.facts.truncate(size);
        told.rows.truncate(size * width);
        told
    }

    /// All facts with evidence in the ranking features, the best first, if proofs are known.
    pub(crate) fn all(signals: &SignalTable, is_ordered: bool) -> Self {
        let facts: Vec<usize> = signals.facts().collect();
        let rows: Vec<&[f32]> = signals.rows().collect();
        let scores = by_ranks(&rows);
        let mut order: Vec<usize> = (0..facts.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(facts[b].cmp(&facts[a])));
        let best = order.first().map_or(0.0, |&place| scores[place]);
        let verdict = |rank: usize, place: usize| RetrieverVerdict {
            is_ordered,
            knows_proofs: true,
            score: scores[place],
            behind: scores[place] - best,
            rank,
        };
        let rows =
            order.iter().enumerate().flat_map(|(rank, &place)| row(rows[place], &verdict(rank, place)));
        let rows = rows.collect();
        ToldFeatures { facts: order.into_iter().map(|place| facts[place] as u32).collect(), rows }
    }

    /// The best facts for a goal, where no proof is known: those that its symbols lead to, and those that are like it.
    pub fn without_proofs(
        index: &ProofIndex,
        goal: &IndexedGoal,
        excluded: Option<usize>,
        size: usize,
    ) -> Vec<usize> {
        let reached = index.rank(goal, index.len(), Method::MePo, index.len().min(REACHED));
        let reached = reached.into_iter().map(|(fact, _)| fact);
        let signals = index.signals(goal, index.len());
        let alike = Self::all(&signals, false);
        let alike = alike.rows().map(|(fact, _)| fact);
        let mut scores: HashMap<usize, f32> = HashMap::new();
        for (rank, fact) in reached.enumerate().chain(alike.enumerate()) {
            *scores.entry(fact).or_default() += 1.0 / (rank as f32 + SMOOTH);
        }
        let mut found: Vec<(usize, f32)> =
            scores.into_iter().filter(|(fact, _)| Some(*fact) != excluded).collect();
        found.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        found.truncate(size);
        found.into_iter().map(|(fact, _)| fact).collect()
    }
}

impl ToldFeatures {
    /// Candidates in a given order, if only their formulas and the goal are known: rarity is counted among them.
    pub fn of_found(goal: &Features, found: &[&Features]) -> Self {
        let mut index = ProofIndex::default();
        for features in found {
            index.add_fact(features);
        }
        let signals = index.signals_of_all(&index.goal(goal));
        let rows = signals.rows().enumerate().flat_map(|(rank, signals)| {
            row(
                signals,
                &RetrieverVerdict { is_ordered: false, knows_proofs: false, score: 0.0, behind: 0.0, rank },
            )
        });
        ToldFeatures { rows: rows.collect(), facts: (0..found.len() as u32).collect() }
    }
}

/// A retriever's verdict on a candidate, and the data it was based on.
struct RetrieverVerdict {
    is_ordered: bool,
    knows_proofs: bool,
    score: f32,
    /// How much less that is than the best score.
    behind: f32,
    rank: usize,
}

/// The features of a candidate for a network.
fn row<'a>(signals: &'a [f32], verdict: &RetrieverVerdict) -> impl Iterator<Item = f32> + use<'a> {
    static IS_ORDER_DEPENDENT: LazyLock<Vec<bool>> =
        LazyLock::new(|| SignalTable::NAMES.iter().map(|name| OF_ORDER.contains(name)).collect());
    let is_ordered = verdict.is_ordered;
    let signals = signals.iter().zip(&*IS_ORDER_DEPENDENT);
    let signals =
        signals.map(move |(&value, &is_of_order)| if is_ordered || !is_of_order { value } else { 0.0 });
    let flag = |is_so: bool| f32::from(u8::from(is_so));
    let rank = (1.0 + verdict.rank as f32).ln();
    signals.chain([flag(is_ordered), flag(verdict.knows_proofs), verdict.score, verdict.behind, rank])
}

/// Every signal's name, and what the retriever adds.
const FEATURES: [&str; SignalTable::COUNT + 5] = {
    let mut names = [""; SignalTable::COUNT + 5];
    let mut place = 0;
    while place < SignalTable::COUNT {
        names[place] = SignalTable::NAMES[place];
        place += 1;
    }
    names[place] = "ordered";
    names[place + 1] = "proofs_known";
    names[place + 2] = "retrieved";
    names[place + 3] = "behind_best";
    names[place + 4] = "retrieved_rank";
    names
};

/// A score by the ranks that a fact has by different signals.
fn by_ranks(rows: &[&[f32]]) -> Vec<f32> {
    let mut scores = vec![0.0f32; rows.len()];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for name in ["hammer_score", "parts_64", "bayes_score", "like_parts", "given_mean"] {
        let Some(column) = SignalTable::NAMES.iter().position(|known| *known == name) else { continue };
        order.sort_by(|&a, &b| rows[b][column].total_cmp(&rows[a][column]).then(b.cmp(&a)));
        for (rank, &place) in order.iter().enumerate() {
            scores[place] += 1.0 / (rank as f32 + SMOOTH);
        }
    }
    scores.iter().map(|score| score.ln()).collect()
}
