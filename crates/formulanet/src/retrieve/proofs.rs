//! What the proofs of a library say about a goal.

use std::borrow::Cow;
use std::collections::HashMap;

use formulanet_logic::problem::StatementGraph;

use crate::Error;
use crate::policy::TUNING;
use crate::proofs::{Features, IndexedGoal, Method, ProofIndex, SignalBlend, SignalTable};
use crate::rerank::{JointReranker, log_odds, probability};

/// The statements of a library by what they are recognised by, and what their proofs used.
#[derive(Clone, Debug, Default)]
pub struct ProofRetriever {
    index: ProofIndex,
    numbers: HashMap<String, u32>,
}

/// How candidates are read stage with the goal.
pub struct RerankStage<'a> {
    /// What reads them.
    pub reranker: &'a JointReranker,
    /// The graph of the goal.
    pub goal: &'a StatementGraph,
}

/// Where a choice is among so few, each is looked at.
const ALL: usize = 4096;

impl ProofRetriever {
    /// Statements in order, with what their proofs used.
    pub fn index(&self) -> &ProofIndex {
        &self.index
    }

    /// Adds a statement behind all others.
    pub fn add_fact(&mut self, name: String, features: &Features) {
        let number = self.index.add_fact(features);
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

    /// Scores the facts before a place anew by what proofs say of them. `scores` has what a model says of each fact, and says
    /// afterwards how likely it is to be useful; `is_ineligible` says which facts are not asked for.
    ///
    /// # Errors
    ///
    /// If what is read stage is too large.
    pub fn rescore<'a>(
        &self,
        (features, before): (&Features, usize),
        (scores, weight): (&mut [f32], f32),
        is_ineligible: impl Fn(usize) -> bool,
        stage: Option<RerankStage<'a>>,
        graph: impl FnMut(usize) -> Option<Cow<'a, StatementGraph>>,
        name: impl FnMut(u32) -> u32,
    ) -> Result<(), Error> {
        let goal = self.index.goal(features);
        let allowed: Vec<u32> =
            (0..scores.len()).filter(|&fact| !is_ineligible(fact)).map(|fact| fact as u32).collect();
        let found = match SignalBlend::built_in().filter(|_| self.index.len() >= TUNING.blend_from) {
            Some(blend) => {
                let mut signals = if allowed.len() <= ALL {
                    self.index.signals_among(&goal, before, allowed)
                } else {
                    self.index.signals(&goal, before)
                };
                signals.retain(|fact| !is_ineligible(fact));
                blended(&signals, blend, stage, graph, name)?
            }
            None => {
                let found = self.index.rank(&goal, before, Method::Mesh, before);
                found
                    .into_iter()
                    .filter(|(fact, _)| !is_ineligible(*fact))
                    .map(|(fact, score)| (fact, log_odds(score)))
                    .collect()
            }
        };
        add_odds(scores, &found, weight);
        Ok(())
    }
}

/// Puts found facts before all others, by their odds and what the model said of them.
fn add_odds(scores: &mut [f32], found: &[(usize, f32)], weight: f32) {
    let said: Vec<f32> = found.iter().map(|(fact, _)| log_odds(scores[*fact])).collect();
    let usual = said.iter().sum::<f32>() / said.len().max(1) as f32;
    let odds = found.iter().zip(&said).map(|((_, odds), said)| probability(odds + weight * (said - usual)));
    let odds: Vec<f32> = odds.collect();
    let lowest = odds.iter().copied().fold(1.0, f32::min);
    scores.iter_mut().for_each(|score| *score *= lowest);
    for ((fact, _), odds) in found.iter().zip(odds) {
        scores[*fact] = odds;
    }
}

/// The candidates of signals with their log-odds, the best first, of which the best are read stage with the goal, if
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

/// The best facts before a place of a library with proofs, read stage with the goal where somebody reads.
///
/// # Errors
///
/// If goal and facts are too large stage.
pub fn rank<'a>(
    (index, before): (&ProofIndex, usize),
    blend: &SignalBlend,
    goal: &IndexedGoal,
    stage: Option<RerankStage<'a>>,
    graph: impl Fn(usize) -> &'a StatementGraph,
    number: usize,
) -> Result<Vec<(usize, f32)>, Error> {
    let signals = index.signals(goal, before);
    let graph = |fact| Some(Cow::Borrowed(graph(fact)));
    let mut ranked = blended(&signals, blend, stage, graph, |_| 0)?;
    ranked.truncate(number);
    Ok(ranked)
}
