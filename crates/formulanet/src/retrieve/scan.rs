//! Scores: what each kind of model needs of a statement and of a conjecture, and what it says of the two.

use std::ops::Range;

use formulanet_net::{GraphInput, Network};

use crate::corpus::{VectorColumn, VectorRow};
use crate::model::ModelFile;
use crate::model::encode::Encoded;
use crate::model::memory::proofs::NeighborVotes;
use crate::model::memory::statements::{ConjectureContext, REMEMBERED, StatementKey};
use crate::retrieve::{VectorRetriever, unknown_symbols};
use crate::util::vector::{CHUNK, dot};

/// What scores need of a conjecture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GoalVector {
    vector: Vec<f32>,
    /// Towers: what proofs of similar conjectures used.
    shares: NeighborVotes,
    /// Classifiers: what hints need of it.
    context: ConjectureContext,
    /// Symbols that the model does not know, and their share.
    unknown: Vec<u32>,
    unknown_share: f32,
}

/// A model at work, by what it does.
#[derive(Clone, Copy)]
pub(crate) enum ScoringModel<'a> {
    /// Ranks by the dot product of two towers, and by what proofs of similar conjectures used.
    Towers(&'a Network, &'a ModelFile),
    /// Judges pairs, with hints on what training saw.
    Classifier(&'a Network, &'a ModelFile),
}

impl VectorRetriever {
    /// Numbers of a statement's vector.
    pub fn width(&self) -> usize {
        match self.scoring_model() {
            ScoringModel::Towers(network, _) => network.model().config().tower(),
            ScoringModel::Classifier(network, _) => network.model().config().width(),
        }
    }

    /// Rows of statements with their names. A row depends on its statement alone. Names count only for a model that knows
    /// what proofs used, and only to tell equal statements apart.
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

    /// How alike a statement and those of some rows are: the cosine of the angle between their vectors.
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

    /// What scores need of a conjecture.
    pub fn goal_vector(&self, conjecture: &Encoded) -> GoalVector {
        let unknown = unknown_symbols::symbol_ids(conjecture.unknown());
        let goal = GoalVector { unknown, unknown_share: conjecture.unknown_share(), ..GoalVector::default() };
        match self.scoring_model() {
            ScoringModel::Towers(network, trained) => {
                let vector = network.queries(&[&network.embed(conjecture.input())]);
                GoalVector { vector, shares: trained.proofs.shares(conjecture.input()), ..goal }
            }
            ScoringModel::Classifier(network, trained) => {
                let is_conditional = network.model().config().is_conditional;
                let context = is_conditional.then(|| trained.seen.conjecture(conjecture.input()));
                let vector = network.embed(conjecture.input()).last().to_vec();
                GoalVector { vector, context: context.unwrap_or_default(), ..goal }
            }
        }
    }

    /// A conjecture that nothing is known of: how useful a statement is for it says how useful it is in general. `None`
    /// for a model that has not learnt what usual conjectures are like.
    pub fn typical_goal_vector(&self) -> Option<GoalVector> {
        match self.scoring_model() {
            ScoringModel::Towers(_, trained) => (trained.typical.len() == self.width()).then(|| {
                let (vector, shares) = (trained.typical.clone(), trained.proofs.popularity());
                GoalVector { vector, shares, ..GoalVector::default() }
            }),
            ScoringModel::Classifier(network, _) => {
                let nothing = GoalVector { vector: vec![0.0; self.width()], ..GoalVector::default() };
                (!network.model().config().is_conditional).then_some(nothing)
            }
        }
    }

    /// The probability that each of some rows is useful for a conjecture, as far as the model knows.
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

/// Scores of statements for a conjecture, in the making: they can come in parts, but symbols that the model does not
/// know are compared over all of them.
pub struct VectorScan<'a> {
    retriever: &'a VectorRetriever,
    goal: &'a GoalVector,
    scores: Vec<f32>,
    /// Unknown symbols of every statement, if the conjecture has some.
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

    /// The scores of all, in order. As far as the model does not know the conjecture's symbols, symbols in common
    /// decide.
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

/// How much of a score symbols in common decide if the model knows no symbol of the conjecture; the rest still tells
/// statements apart that have nothing in common with it, or the same.
const MOST_OVERLAP: f32 = 0.9;

/// A range in about equal parts.
fn parts(range: Range<usize>, threads: usize) -> Vec<Range<usize>> {
    let size = range.len().div_ceil(threads.max(1)).max(1024);
    range.clone().step_by(size).map(|start| start..(start + size).min(range.end)).collect()
}
