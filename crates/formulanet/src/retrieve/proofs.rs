//! What the proofs of a library say about a goal.

use std::borrow::Cow;
use std::collections::HashMap;

use formulanet_logic::problem::StatementGraph;

use crate::Error;
use crate::policy::TUNING;
use crate::proofs::{Context, Features, ProofIndex, SignalBlend, SignalTable};
use crate::rerank::{JointReranker, log_odds, probability};

/// The statements of a library by what they are recognised by, and what their proofs used.
#[derive(Clone, Debug, Default)]
pub struct ProofRetriever {
    index: ProofIndex,
    numbers: HashMap<String, u32>,
    /// How often a name comes before that of the fact before it.
    descents: usize,
    last: String,
}

/// How candidates are re-ranked.
pub struct RerankStage<'a> {
    /// What reads them.
    pub reranker: &'a JointReranker,
    /// The graph of the goal.
    pub goal: &'a StatementGraph,
}

impl ProofRetriever {
    /// Statements in order, with what their proofs used.
    pub fn index(&self) -> &ProofIndex {
        &self.index
    }

    /// Adds a statement behind all others.
    pub fn add_fact(&mut self, name: String, features: &Features) {
        let number = self.index.add_fact(features);
        self.descents += usize::from(name < self.last);
        self.last.clone_from(&name);
        self.numbers.insert(name, number as u32);
    }

    /// Adds a proof of a statement. What it used counts as far as it comes before what was proved.
    pub fn add_proof(&mut self, name: &str, used: &[String]) {
        let Some(&fact) = self.numbers.get(name) else { return };
        let used = used.iter().filter_map(|name| self.numbers.get(name));
        let used: Vec<usize> = used.filter(|&&used| used < fact).map(|&used| used as usize).collect();
        self.index.add_proof(fact as usize, &used);
    }

    /// Takes the proofs of a statement back, for asking what it needs.
    pub fn take_proofs(&mut self, fact: usize) {
        self.index.take_proofs(fact);
    }

    /// Whether the order of the facts can mean something: it does not in a short list, nor where names are sorted.
    pub fn is_ordered(&self) -> bool {
        self.descents > 0 && self.index.len() >= TUNING.ordered_from
    }

    /// The facts before a place that are eligible, with their ranking signals for a goal.
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

/// Log-odds of facts that similar proofs used, each moved by how much likelier than the others the model finds it.
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

/// Turns a model's scores into those of a ranking: the facts that were found come first, by their log-odds.
pub(crate) fn put_first(scores: &mut [f32], found: &[(usize, f32)]) {
    let lowest = found.iter().map(|(_, odds)| probability(*odds)).fold(1.0, f32::min);
    scores.iter_mut().for_each(|score| *score *= lowest);
    for &(fact, odds) in found {
        scores[fact] = probability(odds);
    }
}

/// The candidates of signals with their log-odds, the best first, of which the best are re-ranked, if
/// somebody reads. `graph` gives the graph of a fact, `name` the reader's number of a symbol.
///
/// # Errors
///
/// If goal and facts are too large stage.
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
