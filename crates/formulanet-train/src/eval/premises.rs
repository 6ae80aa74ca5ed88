//! Ranking all named premises of a data set for its conjectures.

use std::collections::HashMap;

use formulanet::net::Network;

use crate::dataset::{Conjecture, Prepared, Split};
use crate::eval::metrics::{RankedList, Ranking, ranking};
use crate::eval::predict::TokenMap;
use crate::{Error, Progress, Stage};
use formulanet::error::shown;
use formulanet::model::PriorKnowledge;
use formulanet::model::memory::proofs::NeighborVotes;
use formulanet::util::vector::{CHUNK, dot};

/// Conjectures that depend on named premises, each to be ranked for it.
pub struct Questions<'a> {
    prepared: &'a Prepared,
    /// The number of a premise by its name.
    pub names: HashMap<&'a str, usize>,
    /// The conjectures that are asked, by number.
    pub asked: Vec<usize>,
}

impl<'a> Questions<'a> {
    /// Collects the queries of some splits.
    pub fn new(prepared: &'a Prepared, splits: &[Split]) -> Self {
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
    pub fn list(&self, conjecture: &Conjecture<'_>, mut scores: Vec<f32>) -> Result<RankedList, Error> {
        let mut is_relevant = vec![false; scores.len()];
        for &premise in conjecture.dependencies {
            is_relevant[premise as usize] = true;
        }
        if let Some(&itself) = self.names.get(conjecture.name) {
            scores[itself] = f32::NEG_INFINITY;
            is_relevant[itself] = false;
        }
        let relevant = is_relevant.iter().filter(|&&is_relevant| is_relevant).count();
        RankedList::from_scores(&scores, &is_relevant, relevant)
    }

    /// How good a network's dot products are, with what proofs know.
    pub fn rank(
        &self,
        network: &Network,
        known: &PriorKnowledge<'_>,
        map: &TokenMap,
        progress: &dyn Progress,
    ) -> Result<Ranking, Error> {
        let prepared = self.prepared;
        let length = network.model().config().tower();
        let premises: Vec<u32> =
            (0..prepared.meta().counts.premises).map(|number| prepared.premise(number).graph).collect();
        let of = (premises.len() + self.asked.len()) as u64;
        progress.begin(Stage { name: "ranking", done: 0, of, unit: "statements" });
        let mut keys = Vec::with_capacity(premises.len() * length);
        let mut numbers = Vec::with_capacity(premises.len());
        for (i, chunk) in premises.chunks(CHUNK).enumerate() {
            progress.check()?;
            map.with_inputs(prepared, chunk, |inputs| {
                let embeddings = network.embed_all(inputs);
                keys.extend(network.keys(&embeddings.iter().collect::<Vec<_>>()));
                let names = (i * CHUNK..).map(|number| prepared.premise(number).name);
                let named = inputs.iter().zip(names);
                numbers.extend(named.map(|(&input, name)| known.proofs.number(name, input)));
            });
            progress.advance(chunk.len() as u64);
        }
        let mut lists = Vec::new();
        for chunk in self.asked.chunks(CHUNK) {
            let conjectures: Vec<_> = chunk.iter().map(|&number| prepared.conjecture(number)).collect();
            let graphs: Vec<u32> = conjectures.iter().map(|conjecture| conjecture.graph).collect();
            let (vectors, shares) = map.with_inputs(prepared, &graphs, |inputs| {
                let embeddings = network.embed_all(inputs);
                let shares: Vec<NeighborVotes> =
                    inputs.iter().map(|&input| known.proofs.shares(input)).collect();
                (network.queries(&embeddings.iter().collect::<Vec<_>>()), shares)
            });
            for ((conjecture, vector), shares) in
                conjectures.iter().zip(vectors.chunks_exact(length)).zip(&shares)
            {
                progress.check()?;
                let rows = keys.chunks_exact(length).zip(&numbers);
                let scores =
                    rows.map(|(key, &number)| known.score(dot(key, vector), shares, number)).collect();
                lists.push(self.list(conjecture, scores)?);
            }
            progress.advance(chunk.len() as u64);
        }
        Ok(ranking(&lists))
    }
}

/// How early a network's dot products, and what else is known, put the premises that conjectures of some splits depend
/// on, among all premises.
///
/// A conjecture is no premise of its own. In which order things were proved is not known, so the candidates include
/// premises that were proved after the conjecture.
///
/// # Errors
///
/// If no conjecture depends on a named premise, or `progress` stops it.
pub fn rank_premises(
    network: &Network,
    known: &PriorKnowledge<'_>,
    prepared: &Prepared,
    map: &TokenMap,
    splits: &[Split],
    progress: &dyn Progress,
) -> Result<Ranking, Error> {
    let questions = Questions::new(prepared, splits);
    if questions.asked.is_empty() {
        return Err(Error::NothingToRank(shown(prepared.path())));
    }
    questions.rank(network, known, map, progress)
}
