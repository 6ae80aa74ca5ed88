//! Which statements are worth using for a conjecture.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use formulanet_logic::{Limits, Names, Position, hol};
use formulanet_net::{Compute, GraphInput, Network, Precision};

use crate::Error;
use crate::data::vocabulary::Vocabulary;
use crate::model::TrainedModel;
use crate::model::encode::{Encoded, Encoder};
use crate::model::knowledge::memory::{Asked, REMEMBERED, Recalled};
use crate::model::knowledge::proofs::Shares;
use crate::model::knowledge::symbols::SYMBOLS;
use crate::rank::overlap::{self, SLOTS};
use crate::read::{Statement, Syntax};
use crate::util::vector::dot;

/// A statement with its place and its score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ranked {
    /// The number of the statement among those that were ranked.
    pub statement: usize,
    /// The probability that it is useful.
    pub score: f32,
}

/// What scores need of a conjecture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Query {
    vector: Vec<f32>,
    /// What proofs of similar conjectures used.
    shares: Shares,
    /// What hints need of it.
    asked: Asked,
    /// Symbols that the model does not know, and their share.
    unknown: Vec<u32>,
    unknown_share: f32,
}

/// A trained network that ranks statements for a conjecture.
///
/// ```
/// use formulanet::{Ranker, Statement};
///
/// let ranker = Ranker::load_default()?;
/// let conjecture = Statement::hol("goal", "!m n. m + n = n + m")?;
/// let premises = [
///     Statement::hol("ADD_CLAUSES", "(!n. 0 + n = n) /\\ (!m n. SUC m + n = SUC (m + n))")?,
///     Statement::hol("REAL_LT_REFL", "!x:real. ~(x < x)")?,
/// ];
/// for ranked in ranker.rank(&conjecture, &premises)? {
///     println!("{:.3} {}", ranked.score, premises[ranked.statement].name);
/// }
/// # Ok::<(), formulanet::Error>(())
/// ```
pub struct Ranker {
    network: Network,
    trained: TrainedModel,
    /// Shared with every reader of formulas, which asks it for names.
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
}

impl Ranker {
    /// The shipped model for libraries in HOL Light's syntax, on all cores.
    ///
    /// # Errors
    ///
    /// If the model that is built in cannot be read, which would be a fault of the build.
    pub fn load_default() -> Result<Self, Error> {
        Self::new(TrainedModel::named(crate::model::shipped::for_syntax(Syntax::Hol))?, default_compute())
    }

    /// A model file or a shipped model's name, on all cores.
    ///
    /// # Errors
    ///
    /// If there is no such model.
    pub fn load(model: &str) -> Result<Self, Error> {
        Self::new(TrainedModel::named(model)?, default_compute())
    }

    /// A trained model on the given cores.
    ///
    /// # Errors
    ///
    /// If the model's vocabulary has no token for unknown symbols, or it reads a statement anew for every conjecture.
    pub fn new(trained: TrainedModel, compute: Compute) -> Result<Self, Error> {
        if trained.model.config().marks {
            let message = "expected a model that makes a vector of every statement, found one that reads it anew for \
                           every conjecture (--marks); it can be measured with `formulanet eval`, for ranking take \
                           another";
            return Err(Error::data("model", message));
        }
        let vocabulary = Vocabulary::new(&trained.vocabulary).ok_or_else(|| {
            Error::data("model", "expected a vocabulary with UNKNOWN; train the model again")
        })?;
        let network = Network::new(trained.model.clone(), compute);
        Ok(Ranker { network, trained, vocabulary: Arc::new(vocabulary), limits: Limits::default() })
    }

    /// The same ranker with other bounds on a statement.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The model.
    pub fn model(&self) -> &TrainedModel {
        &self.trained
    }

    /// The network on its cores.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Bounds on a statement.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How formulas of HOL Light are read: names that the model knows are constants.
    pub fn hol_options(&self) -> hol::Options {
        let vocabulary = Arc::clone(&self.vocabulary);
        let names = Names::default().with_known(move |name| vocabulary.known(name).is_some());
        hol::Options { names, limits: self.limits, ..hol::Options::default() }
    }

    /// An encoder for the model.
    pub fn encoder(&self) -> Encoder<'_> {
        Encoder::new(self.trained.origin.view, &self.vocabulary, self.limits)
    }

    /// Encodes one statement.
    ///
    /// # Errors
    ///
    /// If it is too large.
    pub fn encode(&self, statement: &Statement) -> Result<Encoded, Error> {
        self.encoder().encode(&statement.formula, &statement.names).map_err(|cause| Error::TooLarge {
            file: statement.name.clone(),
            position: Position { line: 1, column: 1 },
            cause,
        })
    }

    /// Ranks statements for a conjecture, the best first; of two with the same score, the one with the lesser name.
    ///
    /// # Errors
    ///
    /// If a statement is too large.
    pub fn rank(&self, conjecture: &Statement, statements: &[Statement]) -> Result<Vec<Ranked>, Error> {
        let encoded: Vec<Encoded> = statements.iter().map(|s| self.encode(s)).collect::<Result<_, _>>()?;
        let named: Vec<_> = statements.iter().map(|s| s.name.as_str()).zip(&encoded).collect();
        let vectors = self.vectors(&named);
        let scores = self.scores(&self.query(&self.encode(conjecture)?), &vectors);
        Ok(order(&scores, |i| &statements[i].name))
    }

    /// Length of a statement's vector.
    pub fn vector_length(&self) -> usize {
        let config = self.network.model().config();
        self.beside() + if self.trained.ranks() { config.tower() } else { config.width() }
    }

    /// Length of what follows a statement's own numbers in its vector: which of the remembered statements it is; for a
    /// model that reads what statement and conjecture have in common, symbols; and symbols that the model does not know.
    fn beside(&self) -> usize {
        let compares = self.network.model().config().hints > REMEMBERED;
        DIGITS + if compares { SYMBOLS } else { 0 } + SLOTS
    }

    /// What scores need of statements with their names, one vector behind the other. It depends on each statement alone.
    /// Names count only for a model that knows what proofs used, and only to tell equal statements apart.
    pub fn vectors(&self, statements: &[(&str, &Encoded)]) -> Vec<f32> {
        let mut vectors = Vec::with_capacity(statements.len() * self.vector_length());
        for chunk in statements.chunks(CHUNK) {
            let inputs: Vec<GraphInput<'_>> = chunk.iter().map(|(_, encoded)| encoded.input()).collect();
            let embeddings = self.network.embed_all(&inputs);
            if self.trained.ranks() {
                let keys = self.network.keys(&embeddings.iter().collect::<Vec<_>>());
                let keys = keys.chunks_exact(self.vector_length() - self.beside());
                for (key, (name, encoded)) in keys.zip(chunk) {
                    vectors.extend_from_slice(key);
                    vectors.extend(digits(self.trained.neighbours.number(name, encoded.input())));
                    vectors.extend(overlap::slots(encoded.unknown()));
                }
            } else {
                for (embedding, (_, encoded)) in embeddings.iter().zip(chunk) {
                    let known = self.trained.seen.statement(encoded.input());
                    vectors.extend_from_slice(embedding.last());
                    vectors.extend(digits(known.number));
                    // Counted from 1, because 0 stands for none.
                    let tokens = known.signature.tokens().map(|token| f32::from(token) + 1.0);
                    let slots = self.beside() - DIGITS - SLOTS;
                    vectors.extend(tokens.chain(std::iter::repeat(0.0)).take(slots));
                    vectors.extend(overlap::slots(encoded.unknown()));
                }
            }
        }
        vectors
    }

    /// Whether two vectors of a statement are the same but for rounding.
    pub(crate) fn is_same(&self, a: &[f32], b: &[f32]) -> bool {
        let length = self.vector_length();
        if a.len() != length || b.len() != length {
            return false;
        }
        let own = length - self.beside();
        let ((a, a_beside), (b, b_beside)) = (a.split_at(own), b.split_at(own));
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 + 1e-2 * a.abs();
        a_beside == b_beside && a.iter().zip(b).all(is_close)
    }

    /// What scores need of a conjecture.
    pub fn query(&self, conjecture: &Encoded) -> Query {
        let embedding = self.network.embed(conjecture.input());
        let mut query = Query {
            unknown: overlap::numbers(conjecture.unknown()),
            unknown_share: conjecture.unknown_share(),
            ..Query::default()
        };
        if self.trained.ranks() {
            query.shares = self.trained.neighbours.shares(conjecture.input());
            query.vector = self.network.queries(&[&embedding]);
        } else {
            query.vector = embedding.last().to_vec();
            if self.network.model().config().is_conditional {
                query.asked = self.trained.seen.conjecture(conjecture.input());
            }
        }
        query
    }

    /// The probability that each statement is useful for a conjecture.
    pub fn scores(&self, query: &Query, vectors: &[f32]) -> Vec<f32> {
        let mut scoring = self.scoring(query);
        scoring.add(vectors);
        scoring.finish()
    }

    /// Begins to score statements for a conjecture, some after the other.
    pub fn scoring<'a>(&'a self, query: &'a Query) -> Scoring<'a> {
        Scoring { ranker: self, query, scores: Vec::new(), unknown: Vec::new() }
    }

    /// What the model says of statements.
    fn model_scores(&self, query: &Query, vectors: &[f32]) -> Vec<f32> {
        let length = self.vector_length();
        if self.trained.ranks() {
            let known = self.trained.known();
            let count = vectors.len() / length;
            let parts = parts(count, self.network.compute().threads());
            let of_part = |i: usize| -> Vec<f32> {
                let part: &Range<usize> = &parts[i];
                let rows = vectors[part.start * length..part.end * length].chunks_exact(length);
                let score = |row: &[f32]| {
                    let (key, beside) = row.split_at(length - self.beside());
                    known.score(dot(key, &query.vector), &query.shares, number(&beside[..DIGITS]))
                };
                rows.map(score).collect()
            };
            return self.network.compute().map(parts.len(), of_part).concat();
        }
        let width = length - self.beside();
        let (mut rows, mut hints) = (Vec::with_capacity(vectors.len()), Vec::new());
        for row in vectors.chunks_exact(length) {
            let (own, beside) = row.split_at(width);
            let (digits, symbols) = beside[..beside.len() - SLOTS].split_at(DIGITS);
            let tokens = symbols.iter().map_while(|&token| (token as u16).checked_sub(1));
            let known = Recalled { number: number(digits), signature: self.trained.seen.signature(tokens) };
            rows.extend_from_slice(own);
            hints.push(self.trained.seen.hints(&known, &query.asked));
        }
        self.network.score_rows(&query.vector, &rows, &hints)
    }

    /// The probability that each statement is useful for a conjecture that nothing is known of; nothing for a model
    /// that has not learnt what usual conjectures are like.
    pub fn scores_without_conjecture(&self, vectors: &[f32]) -> Option<Vec<f32>> {
        if !self.trained.ranks() {
            let config = self.network.model().config();
            let nothing = Query { vector: vec![0.0; config.width()], ..Query::default() };
            return (!config.is_conditional).then(|| self.scores(&nothing, vectors));
        }
        let typical = &self.trained.typical;
        (typical.len() == self.vector_length() - self.beside()).then(|| {
            let shares = self.trained.neighbours.popularity();
            self.scores(&Query { vector: typical.clone(), shares, ..Query::default() }, vectors)
        })
    }
}

/// Scores of statements for a conjecture, in the making: they can come in parts, but symbols that the model does not
/// know are compared over all of them.
pub struct Scoring<'a> {
    ranker: &'a Ranker,
    query: &'a Query,
    scores: Vec<f32>,
    /// Unknown symbols of every statement, if the conjecture has some.
    unknown: Vec<[f32; SLOTS]>,
}

impl Scoring<'_> {
    /// Scores more statements, given their vectors one behind the other.
    pub fn add(&mut self, vectors: &[f32]) {
        self.scores.extend(self.ranker.model_scores(self.query, vectors));
        if self.query.unknown_share > 0.0 {
            let rows = vectors.chunks_exact(self.ranker.vector_length());
            self.unknown.extend(rows.map(|row| *row.last_chunk::<SLOTS>().expect("every row has its slots")));
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

/// Numbers of a vector that say which of the remembered statements it is, if one: its number, counted from 1, in digits
/// of 256, the lowest first, so that any format of numbers keeps it. All are 0 if it is none of them.
const DIGITS: usize = 3;

fn digits(number: Option<u32>) -> [f32; DIGITS] {
    let number = number.map_or(0, |number| number + 1);
    [number, number >> 8, number >> 16].map(|number| (number & 255) as f32)
}

fn number(digits: &[f32]) -> Option<u32> {
    digits.iter().rev().fold(0, |number, &digit| number << 8 | digit as u32).checked_sub(1)
}

/// Statements that are embedded together.
const CHUNK: usize = 4096;

/// All numbers below `count`, in about equal ranges.
fn parts(count: usize, threads: usize) -> Vec<Range<usize>> {
    let size = count.div_ceil(threads.max(1)).max(1024);
    (0..count).step_by(size).map(|start| start..(start + size).min(count)).collect()
}

fn default_compute() -> Compute {
    Compute::new(Precision::Auto, std::thread::available_parallelism().map_or(1, usize::from))
}

/// Statements from the highest score to the lowest; of equal ones, by name and then by number.
pub fn order<'a>(scores: &[f32], name: impl Fn(usize) -> &'a str) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> =
        scores.iter().enumerate().map(|(statement, &score)| Ranked { statement, score }).collect();
    ranked.sort_unstable_by(|a, b| earlier(a, b, &name));
    ranked
}

/// Which of two comes first in such an order, which is never undecided.
pub(crate) fn earlier<'a>(a: &Ranked, b: &Ranked, name: &impl Fn(usize) -> &'a str) -> Ordering {
    let by_score = (b.score + 0.0).total_cmp(&(a.score + 0.0));
    by_score.then_with(|| name(a.statement).cmp(name(b.statement))).then(a.statement.cmp(&b.statement))
}
