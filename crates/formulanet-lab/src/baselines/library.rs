//! Ranking all named premises.

use std::collections::HashMap;

use super::{BaselineOptions, LibraryBaseline, nothing};
use formulanet::Error;
use formulanet::model::memory::tfidf::{TfIdfIndex, bag};
use formulanet_train::dataset::{Conjecture, Prepared, Split};
use formulanet_train::eval::metrics::{RankedList, Ranking, ranking};
use formulanet_train::eval::premises::Questions;

/// The weight of a premise's popularity relative to the similarity of conjectures whose proofs depend on it: it decides between
/// premises that are otherwise equal, above all those that no neighbor uses.
const POPULARITY: f32 = 1e-3;

/// The training data for a premise's score.
struct Scorer<'a> {
    prepared: &'a Prepared,
    /// Share of proofs that depend on each premise.
    popularity: Vec<f32>,
    neighbours: Option<Neighbours>,
}

/// Conjectures of training by similarity.
struct Neighbours {
    conjectures: Vec<usize>,
    index: TfIdfIndex<u16>,
    /// The number that is considered.
    number: usize,
}

impl LibraryBaseline {
    /// Learns from the training split and ranks all premises for every conjecture of another that depends on any.
    ///
    /// A conjecture is no premise of its own. In which order things were proved is not known, so the candidates include
    /// premises that were proved after the conjecture. An error if there is nothing to learn from or nothing to rank.
    pub fn rank(
        self,
        prepared: &Prepared,
        split: Split,
        options: &BaselineOptions,
    ) -> Result<Ranking, Error> {
        let questions = Questions::new(prepared, &[split]);
        let training = Questions::new(prepared, &[Split::Train]).asked;
        for (conjectures, split) in [(&training, Split::Train), (&questions.asked, split)] {
            if conjectures.is_empty() {
                return Err(nothing(prepared, "conjectures that depend on named premises", split));
            }
        }
        let scorer = Scorer::new(self, prepared, training, options);
        let of_conjecture = |&number: &usize| {
            let conjecture = prepared.conjecture(number);
            questions.list(&conjecture, scorer.scores(&conjecture, &questions.names))
        };
        let lists: Vec<RankedList> = questions.asked.iter().map(of_conjecture).collect::<Result<_, _>>()?;
        Ok(ranking(&lists))
    }
}

impl<'a> Scorer<'a> {
    fn new(
        baseline: LibraryBaseline,
        prepared: &'a Prepared,
        training: Vec<usize>,
        options: &BaselineOptions,
    ) -> Self {
        let mut popularity = vec![0.0; prepared.meta().counts.premises];
        for &number in &training {
            for &premise in prepared.conjecture(number).dependencies {
                popularity[premise as usize] += 1.0 / training.len() as f32;
            }
        }
        let neighbours = (baseline == LibraryBaseline::Neighbours).then(|| {
            let graphs = training.iter().map(|&number| prepared.conjecture(number).graph);
            let index = TfIdfIndex::new(graphs.map(|graph| bag(prepared.graph(graph).tokens)));
            Neighbours { conjectures: training, index, number: options.neighbours }
        });
        Scorer { prepared, popularity, neighbours }
    }

    /// A score of every premise, by its number.
    fn scores(&self, conjecture: &Conjecture<'_>, names: &HashMap<&str, usize>) -> Vec<f32> {
        let Some(neighbours) = &self.neighbours else { return self.popularity.clone() };
        let mut scores: Vec<f32> = self.popularity.iter().map(|share| POPULARITY * share).collect();
        let tokens = bag(self.prepared.graph(conjecture.graph).tokens);
        for (place, similarity) in neighbours.index.nearest(&tokens, neighbours.number) {
            let neighbour = self.prepared.conjecture(neighbours.conjectures[place]);
            for &premise in neighbour.dependencies {
                scores[premise as usize] += similarity;
            }
            // A similar theorem is itself something to prove the conjecture with.
            if let Some(&premise) = names.get(neighbour.name) {
                scores[premise] += similarity;
            }
        }
        scores
    }
}
