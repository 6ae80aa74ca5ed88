//! Scores: what each kind of model needs of a statement and of a conjecture, and what it says of the two.

use std::ops::Range;

use formulanet_net::{GraphInput, Network};

use super::overlap;
use super::ranker::Ranker;
use super::row::{Row, Rows};
use crate::model::TrainedModel;
use crate::model::encode::Encoded;
use crate::model::knowledge::memory::{Asked, REMEMBERED, Recalled};
use crate::model::knowledge::proofs::Shares;
use crate::util::vector::{CHUNK, dot};

/// What scores need of a conjecture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Query {
    vector: Vec<f32>,
    /// Towers: what proofs of similar conjectures used.
    shares: Shares,
    /// Classifiers: what hints need of it.
    asked: Asked,
    /// Symbols that the model does not know, and their share.
    unknown: Vec<u32>,
    unknown_share: f32,
}

/// A model at work, by what it does.
#[derive(Clone, Copy)]
pub(super) enum Scorer<'a> {
    /// Ranks by the dot product of two towers, and by what proofs of similar conjectures used.
    Towers(&'a Network, &'a TrainedModel),
    /// Judges pairs, with hints on what training saw.
    Classifier(&'a Network, &'a TrainedModel),
    /// Knows no symbol, so that symbols in common decide.
    Nothing,
}

impl Ranker {
    /// Numbers of a statement's vector.
    pub fn width(&self) -> usize {
        match self.scorer() {
            Scorer::Towers(network, _) => network.model().config().tower(),
            Scorer::Classifier(network, _) => network.model().config().width(),
            Scorer::Nothing => 0,
        }
    }

    /// Rows of statements with their names. A row depends on its statement alone. Names count only for a model that knows
    /// what proofs used, and only to tell equal statements apart.
    pub fn rows(&self, statements: &[(&str, &Encoded)]) -> Rows {
        let mut rows = Rows::new(self.width());
        for chunk in statements.chunks(CHUNK) {
            let inputs: Vec<GraphInput<'_>> = chunk.iter().map(|(_, encoded)| encoded.input()).collect();
            match self.scorer() {
                Scorer::Towers(network, trained) => {
                    let embeddings = network.embed_all(&inputs);
                    let keys = network.keys(&embeddings.iter().collect::<Vec<_>>());
                    for (vector, (name, encoded)) in keys.chunks_exact(self.width()).zip(chunk) {
                        let remembered = trained.proofs.number(name, encoded.input());
                        let unknown = &overlap::kept(encoded.unknown());
                        rows.push(Row { vector, remembered, symbols: &[], unknown });
                    }
                }
                Scorer::Nothing => {
                    for (_, encoded) in chunk {
                        let unknown = &overlap::kept(encoded.unknown());
                        rows.push(Row { vector: &[], remembered: None, symbols: &[], unknown });
                    }
                }
                Scorer::Classifier(network, trained) => {
                    let compares = network.model().config().hints > REMEMBERED;
                    for (embedding, (_, encoded)) in network.embed_all(&inputs).iter().zip(chunk) {
                        let Recalled { number, signature } = trained.seen.statement(encoded.input());
                        let symbols: Vec<u16> = signature.tokens().filter(|_| compares).collect();
                        let unknown = &overlap::kept(encoded.unknown());
                        rows.push(Row {
                            vector: embedding.last(),
                            remembered: number,
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
    pub fn similarities(&self, statement: &Encoded, rows: &Rows) -> Vec<f32> {
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
    pub fn query(&self, conjecture: &Encoded) -> Query {
        let unknown = overlap::numbers(conjecture.unknown());
        let query = Query { unknown, unknown_share: conjecture.unknown_share(), ..Query::default() };
        match self.scorer() {
            Scorer::Towers(network, trained) => {
                let vector = network.queries(&[&network.embed(conjecture.input())]);
                Query { vector, shares: trained.proofs.shares(conjecture.input()), ..query }
            }
            Scorer::Nothing => query,
            Scorer::Classifier(network, trained) => {
                let is_conditional = network.model().config().is_conditional;
                let asked = is_conditional.then(|| trained.seen.conjecture(conjecture.input()));
                let vector = network.embed(conjecture.input()).last().to_vec();
                Query { vector, asked: asked.unwrap_or_default(), ..query }
            }
        }
    }

    /// A conjecture that nothing is known of: how useful a statement is for it says how useful it is in general. `None`
    /// for a model that has not learnt what usual conjectures are like.
    pub fn usual_query(&self) -> Option<Query> {
        match self.scorer() {
            Scorer::Towers(_, trained) => (trained.typical.len() == self.width()).then(|| {
                let (vector, shares) = (trained.typical.clone(), trained.proofs.popularity());
                Query { vector, shares, ..Query::default() }
            }),
            Scorer::Nothing => None,
            Scorer::Classifier(network, _) => {
                let nothing = Query { vector: vec![0.0; self.width()], ..Query::default() };
                (!network.model().config().is_conditional).then_some(nothing)
            }
        }
    }

    /// The probability that each of some rows is useful for a conjecture, as far as the model knows.
    fn known_scores(&self, query: &Query, rows: &Rows, range: Range<usize>) -> Vec<f32> {
        match self.scorer() {
            Scorer::Towers(network, trained) => {
                let known = trained.known();
                let compute = network.compute();
                let parts = parts(range, compute.threads());
                let score =
                    |row: Row<'_>| known.score(dot(row.vector, &query.vector), &query.shares, row.remembered);
                let of_part =
                    |i: usize| -> Vec<f32> { parts[i].clone().map(|n| score(rows.get(n))).collect() };
                compute.map(parts.len(), of_part).concat()
            }
            Scorer::Nothing => vec![0.0; range.len()],
            Scorer::Classifier(network, trained) => {
                let hints = range.clone().map(|number| {
                    let Row { remembered, symbols, .. } = rows.get(number);
                    let signature = trained.seen.signature(symbols.iter().copied());
                    trained.seen.hints(&Recalled { number: remembered, signature }, &query.asked)
                });
                let hints: Vec<_> = hints.collect();
                network.score_rows(&query.vector, rows.vectors(range), &hints)
            }
        }
    }
}

/// Scores of statements for a conjecture, in the making: they can come in parts, but symbols that the model does not
/// know are compared over all of them.
pub struct Scoring<'a> {
    ranker: &'a Ranker,
    query: &'a Query,
    scores: Vec<f32>,
    /// Unknown symbols of every statement, if the conjecture has some.
    unknown: Vec<Vec<u32>>,
}

impl<'a> Scoring<'a> {
    pub(super) fn new(ranker: &'a Ranker, query: &'a Query) -> Self {
        Scoring { ranker, query, scores: Vec::new(), unknown: Vec::new() }
    }

    /// Scores more statements.
    pub fn add(&mut self, rows: &Rows) {
        self.add_range(rows, 0..rows.len());
    }

    /// Scores a range of statements.
    pub fn add_range(&mut self, rows: &Rows, range: Range<usize>) {
        self.scores.extend(self.ranker.known_scores(self.query, rows, range.clone()));
        if self.query.unknown_share > 0.0 {
            self.unknown.extend(range.map(|number| rows.unknown(number).to_vec()));
        }
    }

    /// The scores of all, in order. As far as the model does not know the conjecture's symbols, symbols in common
    /// decide.
    pub fn finish(mut self) -> Vec<f32> {
        let share = MOST_OVERLAP * self.query.unknown_share;
        if share > 0.0 {
            let likeness = overlap::likeness(&self.query.unknown, &self.unknown);
            for (score, likeness) in self.scores.iter_mut().zip(likeness) {
                *score = (1.0 - share) * *score + share * overlap::probability(likeness);
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
