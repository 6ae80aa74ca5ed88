//! Retrieval by the recorded proofs of a library.

use std::borrow::Cow;
use std::collections::HashMap;

use formulanet_logic::problem::StatementGraph;

use crate::Error;
use crate::policy::TUNING;
use crate::proofs::{Context, Features, ProofIndex, SignalBlend, SignalTable};
use crate::rerank::{JointReranker, log_odds, probability};

/// The statements of a library, with their features and the dependencies of their proofs.
#[derive(Clone, Debug, Default)]
pub struct ProofRetriever {
    index: ProofIndex,
    numbers: HashMap<String, u32>,
    /// Number of names that sort before the name of the preceding fact.
    descents: usize,
    last: String,
}

/// The second stage, which re-ranks candidates.
pub struct RerankStage<'a> {
    /// The re-ranker.
    pub reranker: &'a JointReranker,
    /// The graph of the goal.
    pub goal: &'a StatementGraph,
}

impl ProofRetriever {
    /// Returns the statements in order, with the dependencies of their proofs.
    pub fn index(&self) -> &ProofIndex {
        &self.index
    }

    /// Appends a statement.
    pub fn add_fact(&mut self, name: String, features: &Features) {
        let number = self.index.add_fact(features);
        self.descents += usize::from(name < self.last);
        self.last.clone_from(&name);
        self.numbers.insert(name, number as u32);
    }

    /// Adds a proof of a statement. Dependencies count as far as they precede the statement.
    pub fn add_proof(&mut self, name: &str, used: &[String]) {
        let Some(&fact) = self.numbers.get(name) else { return };
        let used = used.iter().filter_map(|name| self.numbers.get(name));
        let used: Vec<usize> = used.filter(|&&used| used < fact).map(|&used| used as usize).collect();
        self.index.add_proof(fact as usize, &used);
    }

    /// Removes the proofs of a statement, so that it can be a goal.
    pub fn take_proofs(&mut self, fact: usize) {
        self.index.take_proofs(fact);
    }

    /// Whether the order of the facts can mean something: it does not in a short list, nor if names are
    /// sorted.
    pub fn is_ordered(&self) -> bool {
        self.descents > 0 && self.index.len() >= TUNING.ordered_from
    }

    /// Returns the eligible facts before a place, with their signals for a goal.
    pub fn signals(
        &self,
        features: &Features,
        before: usize,
        context: Context<'_>,
        is_eligible: impl Fn(usize) -> bool,
    ) -> SignalTable {
        self.index.signals_in(&self.index.goal(features), before, context, is_eligible)
    }
}

/// Returns the log-odds of facts that similar proofs used, each moved by how much likelier than the others
/// the model finds it.
pub(crate) fn next_to_model(
    found: impl Iterator<Item = (usize, f32)>,
    scores: &[f32],
    weight: f32,
) -> Vec<(usize, f32)> {
    let found: Vec<(usize, f32)> = found.collect();
    let odds = |fact: usize| log_odds(scores[fact]);
    let mean = found.iter().map(|(fact, _)| odds(*fact)).sum::<f32>() / found.len().max(1) as f32;
    let moved = |(fact, score): (usize, f32)| (fact, log_odds(score) + weight * (odds(fact) - mean));
    found.into_iter().map(moved).collect()
}

/// Turns a model's scores into those of a ranking in which the found facts come first, by their log-odds.
pub(crate) fn put_first(scores: &mut [f32], found: &[(usize, f32)]) {
    let lowest = found.iter().map(|(_, odds)| probability(*odds)).fold(1.0, f32::min);
    scores.iter_mut().for_each(|score| *score *= lowest);
    for &(fact, odds) in found {
        scores[fact] = probability(odds);
    }
}

/// Returns the candidates of a table with their log-odds, best first; if there is a second stage, the best
/// are re-ranked. `graph` returns the graph of a fact, `name` the re-ranker's number of a symbol.
///
/// # Errors
///
/// Returns an error if goal and facts are too large.
pub fn blended<'a>(
    signals: &SignalTable,
    blend: &SignalBlend,
    stage: Option<RerankStage<'a>>,
    graph: impl FnMut(usize) -> Option<Cow<'a, StatementGraph>>,
    name: impl FnMut(u32) -> u32,
) -> Result<Vec<(usize, f32)>, Error> {
    let mut odds: Vec<(usize, f32)> =
        signals.facts().zip(signals.rows().map(|row| blend.score(row))).collect();
    odds.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(b.cmp(a)));
    if let Some(RerankStage { reranker, goal }) = stage {
        reranker.weigh(signals, &mut odds, goal, graph, name)?;
        odds.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(b.cmp(a)));
    }
    Ok(odds)
}
