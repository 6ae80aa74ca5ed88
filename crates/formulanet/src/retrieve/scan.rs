//! Scoring: the data that each kind of model needs of a statement and of a conjecture, and the score of the
//! pair.

use std::ops::Range;

use formulanet_net::{GraphInput, Network};

use crate::corpus::{VectorColumn, VectorRow};
use crate::model::ModelFile;
use crate::model::encode::Encoded;
use crate::model::memory::proofs::NeighborVotes;
use crate::model::memory::statements::{ConjectureContext, REMEMBERED, StatementKey};
use crate::retrieve::{VectorRetriever, unknown_symbols};
use crate::util::vector::{CHUNK, dot};

/// The data of a conjecture that scoring needs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GoalVector {
    vector: Vec<f32>,
    /// Towers: dependencies of the proofs of similar conjectures.
    shares: NeighborVotes,
    /// Classifiers: the conjecture's part of the hints.
    context: ConjectureContext,
    /// Symbols that the model's vocabulary lacks, and their share.
    unknown: Vec<u32>,
    unknown_share: f32,
}

/// A model in use, by its kind.
#[derive(Clone, Copy)]
pub(crate) enum ScoringModel<'a> {
    /// Ranks by the dot product of two towers, and by the dependencies of the proofs of similar conjectures.
    Towers(&'a Network, &'a ModelFile),
    /// Classifies pairs, with hints from the training data.
    Classifier(&'a Network, &'a ModelFile),
    /// Has no vocabulary, so that common symbols decide.
    Nothing,
}

impl VectorRetriever {
    /// Returns the width of a statement's vector.
    pub fn width(&self) -> usize {
        match self.scoring_model() {
            ScoringModel::Towers(network, _) => network.model().config().tower(),
            ScoringModel::Classifier(network, _) => network.model().config().width(),
            ScoringModel::Nothing => 0,
        }
    }

    /// Returns rows for statements, given with their names. A row depends on its statement alone. Names
    /// matter only for a model with the proofs of its training data, and only to tell equal statements apart.
    pub fn rows(&self, statements: &[(&str, &Encoded)]) -> VectorColumn {
        let mut rows = VectorColumn::new(self.width());
        for chunk in statements.chunks(CHUNK) {
            let inputs: Vec<GraphInput<'_>> = chunk.iter().map(|(_, encoded)| encoded.input()).collect();
            match self.scoring_model() {
                ScoringModel::Towers(network, trained) => {
                    let embeddings = network.embed_all(&inputs);
                    let keys = network.keys(&embeddings.iter().collect::<Vec<_>>());
                    for (vector, (name, encoded)) in keys.chunks_exact(self.width()).zip(chunk) {
                        let memory_id = trained.proofs.number(name, encoded.input());
                        let unknown = &unknown_symbols::rare_symbol_ids(encoded.unknown());
                        rows.push(VectorRow { vector, memory_id, symbols: &[], unknown });
                    }
                }
                ScoringModel::Nothing => {
                    for (_, encoded) in chunk {
                        let unknown = &unknown_symbols::rare_symbol_ids(encoded.unknown());
                        rows.push(VectorRow { vector: &[], memory_id: None, symbols: &[], unknown });
                    }
                }
                ScoringModel::Classifier(network, trained) => {
                    let compares = network.model().config().hints > REMEMBERED;
                    for (embedding, (_, encoded)) in network.embed_all(&inputs).iter().zip(chunk) {
                        let StatementKey { number, signature } = trained.seen.statement(encoded.input());
                        let symbols: Vec<u16> = signature.tokens().filter(|_| compares).collect();
                        let unknown = &unknown_symbols::rare_symbol_ids(encoded.unknown());
                        rows.push(VectorRow {
                            vector: embedding.last(),
                            memory_id: number,
                            symbols: &symbols,
                            unknown,
                        });
                    }
                }
            }
        }
        rows
    }

    /// Returns the similarity of a statement to those of some rows: the cosine of the angle between their
    /// vectors.
    pub fn similarities(&self, statement: &Encoded, rows: &VectorColumn) -> Vec<f32> {
        let own = self.rows(&[("", statement)]);
        let vector = own.get(0).vector;
        let norm = dot(vector, vector).sqrt();
        let cosine = |other: &[f32]| {
            let norms = norm * dot(other, other).sqrt();
            (dot(other, vector) / norms.max(f32::MIN_POSITIVE)).clamp(-1.0, 1.0)
        };
        rows.iter().map(|row| cosine(row.vector)).collect()
    }

    /// Returns the data of a conjecture that scoring needs.
    pub fn goal_vector(&self, conjecture: &Encoded) -> GoalVector {
        let unknown = unknown_symbols::symbol_ids(conjecture.unknown());
        let goal = GoalVector { unknown, unknown_share: conjecture.unknown_share(), ..GoalVector::default() };
        match self.scoring_model() {
            ScoringModel::Towers(network, trained) => {
                let vector = network.queries(&[&network.embed(conjecture.input())]);
                GoalVector { vector, shares: trained.proofs.shares(conjecture.input()), ..goal }
            }
            ScoringModel::Nothing => goal,
            ScoringModel::Classifier(network, trained) => {
                let is_conditional = network.model().config().is_conditional;
                let context = is_conditional.then(|| trained.seen.conjecture(conjecture.input()));
                let vector = network.embed(conjecture.input()).last().to_vec();
                GoalVector { vector, context: context.unwrap_or_default(), ..goal }
            }
        }
    }

    /// Returns a stand-in for an unknown conjecture: a statement's score for it is its general usefulness.
    /// `None` for a model without such a conjecture.
    pub fn typical_goal_vector(&self) -> Option<GoalVector> {
        match self.scoring_model() {
            ScoringModel::Towers(_, trained) => (trained.typical.len() == self.width()).then(|| {
                let (vector, shares) = (trained.typical.clone(), trained.proofs.popularity());
                GoalVector { vector, shares, ..GoalVector::default() }
            }),
            ScoringModel::Nothing => None,
            ScoringModel::Classifier(network, _) => {
                let nothing = GoalVector { vector: vec![0.0; self.width()], ..GoalVector::default() };
                (!network.model().config().is_conditional).then_some(nothing)
            }
        }
    }

    /// Returns the model's estimate of the probability that each of some rows is useful for a conjecture.
    fn model_scores(&self, goal: &GoalVector, rows: &VectorColumn, range: Range<usize>) -> Vec<f32> {
        match self.scoring_model() {
            ScoringModel::Towers(network, trained) => {
                let known = trained.prior_knowledge();
                let compute = network.compute();
                let parts = parts(range, compute.threads());
                let score = |row: VectorRow<'_>| {
                    known.score(dot(row.vector, &goal.vector), &goal.shares, row.memory_id)
                };
                let of_part =
                    |i: usize| -> Vec<f32> { parts[i].clone().map(|n| score(rows.get(n))).collect() };
                compute.map(parts.len(), of_part).concat()
            }
            ScoringModel::Nothing => vec![0.0; range.len()],
            ScoringModel::Classifier(network, trained) => {
                let hints = range.clone().map(|number| {
                    let VectorRow { memory_id, symbols, .. } = rows.get(number);
                    let signature = trained.seen.signature(symbols.iter().copied());
                    trained.seen.hints(&StatementKey { number: memory_id, signature }, &goal.context)
                });
                let hints: Vec<_> = hints.collect();
                network.score_rows(&goal.vector, rows.vectors(range), &hints)
            }
        }
    }
}

/// Scoring of statements for a conjecture in parts. Symbols outside the model's vocabulary are compared over
/// all of the statements.
pub struct VectorScan<'a> {
    retriever: &'a VectorRetriever,
    goal: &'a GoalVector,
    scores: Vec<f32>,
    /// Unknown symbols of every statement, if the conjecture has any.
    unknown: Vec<Vec<u32>>,
}

impl<'a> VectorScan<'a> {
    pub(crate) fn new(retriever: &'a VectorRetriever, goal: &'a GoalVector) -> Self {
        VectorScan { retriever, goal, scores: Vec::new(), unknown: Vec::new() }
    }

    /// Scores more statements.
    pub fn add(&mut self, rows: &VectorColumn) {
        self.add_range(rows, 0..rows.len());
    }

    /// Scores a range of statements.
    pub fn add_range(&mut self, rows: &VectorColumn, range: Range<usize>) {
        self.scores.extend(self.retriever.model_scores(self.goal, rows, range.clone()));
        if self.goal.unknown_share > 0.0 {
            self.unknown.extend(range.map(|number| rows.unknown(number).to_vec()));
        }
    }

    /// Returns the scores of all, in order. As far as the conjecture's symbols are unknown to the model,
    /// common symbols decide.
    pub fn finish(mut self) -> Vec<f32> {
        let share = MOST_OVERLAP * self.goal.unknown_share;
        if share > 0.0 {
            let likeness = unknown_symbols::overlap_cosine(&self.goal.unknown, &self.unknown);
            for (score, likeness) in self.scores.iter_mut().zip(likeness) {
                *score = (1.0 - share) * *score + share * unknown_symbols::probability(likeness);
            }
        }
        self.scores
    }
}

/// Weight of common symbols in a score if the model knows no symbol of the conjecture. The rest of the score
/// orders statements with no symbols, or the same ones, in common with it.
const MOST_OVERLAP: f32 = 0.9;

/// Splits a range into about equal parts.
fn parts(range: Range<usize>, threads: usize) -> Vec<Range<usize>> {
    let size = range.len().div_ceil(threads.max(1)).max(1024);
    range.clone().step_by(size).map(|start| start..(start + size).min(range.end)).collect()
}
