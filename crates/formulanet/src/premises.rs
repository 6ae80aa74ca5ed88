//! Ranking all named premises of a data set for its conjectures.

use std::collections::HashMap;

use formulanet_net::{Embedding, GraphInput, Network};

use crate::Error;
use crate::data::{Conjecture, Prepared, Split};
use crate::evaluate::{TokenMap, Watch};
use crate::memory::Memory;
use crate::metrics::{Query, Ranking, ranking};

/// Conjectures that depend on named premises, each to be ranked for it.
pub(crate) struct Questions<'a> {
    prepared: &'a Prepared,
    /// The number of a premise by its name.
    pub(crate) names: HashMap<&'a str, usize>,
    pub(crate) asked: Vec<usize>,
}

impl<'a> Questions<'a> {
    pub(crate) fn new(prepared: &'a Prepared, splits: &[Split]) -> Self {
        let is_asked = |&number: &usize| {
            let conjecture = prepared.conjecture(number);
            splits.contains(&conjecture.split) && !conjecture.dependencies.is_empty()
        };
        let premises = 0..prepared.meta().counts.premises;
        Questions {
            prepared,
            names: premises.map(|number| (prepared.premise(number).name, number)).collect(),
            asked: (0..prepared.meta().counts.conjectures).filter(is_asked).collect(),
        }
    }

    /// All premises but the conjecture itself, ranked by score.
    pub(crate) fn query(&self, conjecture: &Conjecture<'_>, mut scores: Vec<f32>) -> Result<Query, Error> {
        let mut is_relevant = vec![false; scores.len()];
        for &premise in conjecture.dependencies {
            is_relevant[premise as usize] = true;
        }
        if let Some(&itself) = self.names.get(conjecture.name) {
            scores[itself] = f32::NEG_INFINITY;
            is_relevant[itself] = false;
        }
        let relevant = is_relevant.iter().filter(|&&is_relevant| is_relevant).count();
        Query::from_scores(&scores, &is_relevant, relevant)
    }

    /// How good a network's dot products are.
    pub(crate) fn rank(
        &self,
        network: &Network,
        memory: &Memory,
        map: &TokenMap,
        watch: &dyn Watch,
    ) -> Result<Ranking, Error> {
        let prepared = self.prepared;
        let length = network.model().config().tower();
        let embed = |graphs: &[u32]| -> Vec<(Embedding, Option<u32>)> {
            let graphs: Vec<_> = graphs.iter().map(|&graph| prepared.graph(graph)).collect();
            let mapped: Vec<_> = graphs.iter().map(|graph| map.map(graph)).collect();
            let inputs: Vec<GraphInput<'_>> = graphs
                .iter()
                .zip(&mapped)
                .map(|(graph, tokens)| GraphInput {
                    tokens: tokens.as_deref().unwrap_or(graph.tokens),
                    ..graph.input()
                })
                .collect();
            let rows = inputs.iter().map(|&input| memory.row(input));
            network.embed_all(&inputs).into_iter().zip(rows).collect()
        };
        let premises: Vec<u32> =
            (0..prepared.meta().counts.premises).map(|number| prepared.premise(number).graph).collect();
        let of = premises.len() + self.asked.len();
        let mut keys = Vec::with_capacity(premises.len() * length);
        for (i, chunk) in premises.chunks(CHUNK).enumerate() {
            if watch.is_stopped() {
                return Err(Error::Interrupted);
            }
            let embedded = embed(chunk);
            let embedded: Vec<_> = embedded.iter().map(|(embedding, row)| (embedding, *row)).collect();
            keys.extend(network.keys(&embedded));
            watch.done(i * CHUNK + chunk.len(), of);
        }
        let mut queries = Vec::new();
        for chunk in self.asked.chunks(CHUNK) {
            let conjectures: Vec<_> = chunk.iter().map(|&number| prepared.conjecture(number)).collect();
            let graphs: Vec<u32> = conjectures.iter().map(|conjecture| conjecture.graph).collect();
            let embedded = embed(&graphs);
            let vectors =
                network.queries(&embedded.iter().map(|(embedding, _)| embedding).collect::<Vec<_>>());
            for (conjecture, vector) in conjectures.iter().zip(vectors.chunks_exact(length)) {
                if watch.is_stopped() {
                    return Err(Error::Interrupted);
                }
                let scores = keys.chunks_exact(length).map(|key| dot(key, vector)).collect();
                queries.push(self.query(conjecture, scores)?);
            }
            watch.done(premises.len() + queries.len(), of);
        }
        Ok(ranking(&queries))
    }
}

/// Graphs that are embedded together.
const CHUNK: usize = 4096;

/// A dot product, of several sums so that it is quick.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (a_chunks, b_chunks) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for j in 0..16 {
            sums[j] += a[j] * b[j];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// How early a network's dot products put the premises that conjectures of some splits depend on, among all premises.
///
/// A conjecture is no premise of its own. In which order things were proved is not known, so the candidates include
/// premises that were proved after the conjecture.
///
/// # Errors
///
/// If no conjecture depends on a named premise, or the watcher stopped it.
pub fn rank_premises(
    network: &Network,
    memory: &Memory,
    prepared: &Prepared,
    map: &TokenMap,
    splits: &[Split],
    watch: &dyn Watch,
) -> Result<Ranking, Error> {
    let questions = Questions::new(prepared, splits);
    if questions.asked.is_empty() {
        return Err(Error::data(
            prepared.path().display().to_string(),
            "expected conjectures that depend on named premises, found none; choose another --split or data",
        ));
    }
    questions.rank(network, memory, map, watch)
}
