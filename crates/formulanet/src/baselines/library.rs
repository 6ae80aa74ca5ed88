//! Ranking all named premises.

use std::collections::HashMap;

use super::similar::Index;
use super::{LibraryBaseline, Options, nothing, of_split};
use crate::Error;
use crate::data::{Conjecture, Prepared, Split};
use crate::metrics::{Query, Ranking, ranking};

/// How much a premise's popularity counts beside the similarity of conjectures whose proofs depend on it: it decides
/// between premises that are otherwise equal, above all those that no neighbour uses.
const POPULARITY: f32 = 1e-3;

/// What is known of training when a premise's score is asked for.
struct Scorer<'a> {
    prepared: &'a Prepared,
    /// Share of proofs that depend on each premise.
    popularity: Vec<f32>,
    neighbours: Option<Neighbours>,
}

/// Conjectures of training by similarity.
struct Neighbours {
    conjectures: Vec<usize>,
    index: Index,
    /// How many are looked at.
    number: usize,
}

pub(super) fn rank(
    baseline: LibraryBaseline,
    prepared: &Prepared,
    split: Split,
    options: &Options,
) -> Result<Ranking, Error> {
    let with_dependencies = |split: Split| -> Result<Vec<usize>, Error> {
        let mut conjectures = of_split(prepared, split);
        conjectures.retain(|&number| !prepared.conjecture(number).dependencies.is_empty());
        match conjectures.is_empty() {
            true => Err(nothing(prepared, "conjectures that depend on named premises", split)),
            false => Ok(conjectures),
        }
    };
    let training = with_dependencies(Split::Train)?;
    let asked = with_dependencies(split)?;
    let names: HashMap<&str, usize> =
        (0..prepared.meta().counts.premises).map(|number| (prepared.premise(number).name, number)).collect();
    let scorer = Scorer::new(baseline, prepared, training, options);
    let of_conjecture = |number: usize| {
        let conjecture = prepared.conjecture(number);
        let scores = scorer.scores(&conjecture, &names);
        query(&conjecture, scores, names.get(conjecture.name).copied())
    };
    let queries: Vec<Query> = asked.into_iter().map(of_conjecture).collect::<Result<_, _>>()?;
    Ok(ranking(&queries))
}

impl<'a> Scorer<'a> {
    fn new(
        baseline: LibraryBaseline,
        prepared: &'a Prepared,
        training: Vec<usize>,
        options: &Options,
    ) -> Self {
        let mut popularity = vec![0.0; prepared.meta().counts.premises];
        for &number in &training {
            for &premise in prepared.conjecture(number).dependencies {
                popularity[premise as usize] += 1.0 / training.len() as f32;
            }
        }
        let neighbours = (baseline == LibraryBaseline::Neighbours).then(|| {
            let graphs = training.iter().map(|&number| prepared.conjecture(number).graph);
            let documents = graphs.map(|graph| prepared.graph(graph).tokens);
            let index = Index::new(documents, prepared.vocabulary().len());
            Neighbours { conjectures: training, index, number: options.neighbours }
        });
        Scorer { prepared, popularity, neighbours }
    }

    /// A score of every premise, by its number.
    fn scores(&self, conjecture: &Conjecture<'_>, names: &HashMap<&str, usize>) -> Vec<f32> {
        let Some(neighbours) = &self.neighbours else { return self.popularity.clone() };
        let mut scores: Vec<f32> = self.popularity.iter().map(|share| POPULARITY * share).collect();
        let tokens = self.prepared.graph(conjecture.graph).tokens;
        for (place, similarity) in neighbours.index.nearest(tokens, neighbours.number) {
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

/// All premises but the conjecture itself, ranked by score.
fn query(conjecture: &Conjecture<'_>, mut scores: Vec<f32>, itself: Option<usize>) -> Result<Query, Error> {
    let mut is_relevant = vec![false; scores.len()];
    for &premise in conjecture.dependencies {
        is_relevant[premise as usize] = true;
    }
    if let Some(itself) = itself {
        scores[itself] = f32::NEG_INFINITY;
        is_relevant[itself] = false;
    }
    let relevant = is_relevant.iter().filter(|&&is_relevant| is_relevant).count();
    Query::from_scores(&scores, &is_relevant, relevant)
}
