//! Problem sets: conjectures with their candidates, every statement ready to be put into a problem graph.

mod folder;
mod pools;
mod share;

use std::ops::Range;
use std::path::Path;

use formulanet::logic::problem::{ProblemBuilder, StatementView};
use formulanet::logic::{Limits, TooLarge, View};
use serde::{Deserialize, Serialize};

pub(super) use folder::write;
pub use pools::PoolBuilder;

use super::collect::Collection;
use super::prepare;
use super::prepare::Options;
use super::source::Source;
use super::split::{HoldOut, Split};
use super::statements::{StatementCollection, Statements};
use super::{store, write as folders};
use crate::{Error, Progress, Stage};
use formulanet::model::joint::Standardizer;
use formulanet::read::SkippedStatements;

/// Conjectures with candidates that are known to be useful for them or not, in memory.
pub struct Problems {
    /// Where they come from.
    origin: ProblemOrigin,
    symbols: Vec<String>,
    statements: Statements,
    problems: Vec<Entry>,
    candidates: Vec<Candidate>,
    /// Names of the features of each candidate in addition to its formula, such as those of a retriever.
    features: Vec<String>,
    /// These numbers, one candidate after the other; the upper half of their bits.
    values: Vec<u16>,
}

/// Where problems come from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProblemOrigin {
    /// The path, as it was given.
    pub path: String,
    /// Name of the input, without its directory.
    pub input: String,
    /// Tells one input from another.
    pub fingerprint: String,
    /// How they were split, as JSON.
    pub split: String,
    /// Statements that were left out.
    #[serde(skip)]
    pub skipped: SkippedStatements,
}

struct Entry {
    name: String,
    statement: u32,
    split: Split,
    candidates: Range<usize>,
    /// The number of useful statements, among the candidates or not.
    relevant: usize,
}

/// A statement that may be useful for a conjecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Its number among all statements.
    pub statement: u32,
    /// Whether it is useful.
    pub is_useful: bool,
}

/// A conjecture and its candidates.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The conjecture's name.
    pub name: &'a str,
    /// The conjecture's number among all statements.
    pub conjecture: u32,
    /// Its split.
    pub split: Split,
    /// Its candidates.
    pub candidates: &'a [Candidate],
    /// The number of statements that are useful for it, among the candidates or not.
    pub relevant: usize,
    /// The features of the candidates, one after the other.
    values: &'a [u16],
}

impl Problem<'_> {
    /// The features of a candidate in addition to its formula.
    pub fn features(&self, candidate: usize) -> impl Iterator<Item = f32> + '_ {
        let width = self.values.len() / self.candidates.len().max(1);
        self.values[candidate * width..][..width].iter().map(|&bits| pools::lengthen(bits))
    }
}

/// The number of candidates, and the share of all useful statements among them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FoundShare {
    /// Candidates of all problems.
    pub candidates: usize,
    /// From 0 to 1.
    pub share: f64,
}

/// How raw data is read as problems.
#[derive(Clone, PartialEq, Debug)]
pub struct ProblemOptions {
    /// Which conjectures are held out for validation: those that [`prepare`](super::prepare) would hold out.
    pub validation: HoldOut,
    /// Chooses them, if only their number is given.
    pub seed: u64,
    /// Leave out statements that cannot be read, instead of failing.
    pub keep_going: bool,
    /// Threads that parse.
    pub threads: usize,
}

impl Default for ProblemOptions {
    fn default() -> Self {
        ProblemOptions { validation: HoldOut::Number(700), seed: 0, keep_going: false, threads: 1 }
    }
}

impl Problems {
    /// Opens a prepared folder that has problems, a folder of pools, or reads raw data: HolStep, DeepMath or JSON Lines, as a directory, an
    /// archive or a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, a folder was prepared without problems, or `progress` stops the work.
    pub fn open(path: &Path, options: &ProblemOptions, progress: &dyn Progress) -> Result<Self, Error> {
        if path.join(pools::POOLS).is_file() {
            return pools::read(path);
        }
        if path.join(store::META).is_file() {
            return folder::read(path);
        }
        let source = Source::open(path)?;
        let layout = prepare::recognise(&source, path, Limits::default().bytes)?;
        let prepare_options = Options {
            view: View::Dag,
            validation: options.validation.clone(),
            seed: options.seed,
            keep_going: options.keep_going,
            together: true,
            ..Options::default()
        };
        progress.begin(Stage { name: "reading", done: 0, of: source.bytes, unit: "bytes" });
        let mut collection =
            prepare::collect(&source, layout, &prepare_options, options.threads.max(1), progress)?;
        if collection.conjectures.is_empty() {
            return Err(Error::input(path.display().to_string(), "expected conjectures, found none"));
        }
        collection.pairs.sort_by_key(|pair| pair.conjecture);
        folders::hold_out(&mut collection.conjectures, &prepare_options);
        let origin = ProblemOrigin {
            path: path.display().to_string(),
            input: path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned()),
            fingerprint: source.fingerprint(progress)?,
            split: split_text(&prepare_options),
            skipped: std::mem::take(&mut collection.skipped),
        };
        Ok(Self::of(collection, origin))
    }

    fn of(collection: Collection, origin: ProblemOrigin) -> Self {
        let StatementCollection { symbols, statements, .. } = collection.statements;
        let mut pairs = collection.pairs.iter().peekable();
        let mut candidates = Vec::with_capacity(collection.pairs.len());
        let mut problems = Vec::with_capacity(collection.conjectures.len());
        for (number, conjecture) in collection.conjectures.into_iter().enumerate() {
            let begin = candidates.len();
            while let Some(pair) = pairs.next_if(|pair| pair.conjecture as usize == number) {
                candidates.push(Candidate { statement: pair.graph, is_useful: pair.useful });
            }
            problems.push(Entry {
                name: conjecture.name,
                statement: conjecture.graph,
                split: conjecture.split,
                relevant: candidates[begin..].iter().filter(|candidate| candidate.is_useful).count(),
                candidates: begin..candidates.len(),
            });
        }
        Problems {
            origin,
            symbols,
            statements,
            problems,
            candidates,
            features: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Where they come from.
    pub fn origin(&self) -> &ProblemOrigin {
        &self.origin
    }

    /// The names of all symbols, by number.
    pub fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// The names of the features of each candidate in addition to its formula.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// The number of distinct statements.
    pub fn statement_count(&self) -> usize {
        self.statements.len()
    }

    /// A statement, as a part of problems.
    ///
    /// # Panics
    ///
    /// If there is none with this number.
    pub fn statement(&self, number: u32) -> StatementView<'_> {
        self.statements.view(number as usize).expect("statements were made whole, or checked")
    }

    /// The number of a statement's nodes.
    pub fn statement_nodes(&self, number: u32) -> usize {
        self.statements.nodes(number as usize)
    }

    /// The numbers of a statement's symbols.
    pub fn statement_symbols(&self, number: u32) -> &[u32] {
        self.statements.symbols(number as usize)
    }

    /// The number of conjectures.
    pub fn len(&self) -> usize {
        self.problems.len()
    }

    /// Whether there is no conjecture.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds the problems of another set.
    ///
    /// # Errors
    ///
    /// If other numbers are known of its candidates.
    pub fn append(&mut self, other: Problems) -> Result<(), Error> {
        if self.features != other.features {
            let message = format!("expected the same numbers for each candidate as in {}", self.origin.path);
            return Err(Error::input(other.origin.path, message));
        }
        let [symbols, statements, candidates] =
            [self.symbols.len(), self.statements.len(), self.candidates.len()].map(|count| count as u32);
        for number in 0..other.statement_count() as u32 {
            self.statements.push(other.statement(number), |symbol| symbol + symbols);
        }
        self.symbols.extend(other.symbols);
        self.candidates.extend(other.candidates.iter().map(|candidate| Candidate {
            statement: candidate.statement + statements,
            is_useful: candidate.is_useful,
        }));
        self.values.extend(other.values);
        self.problems.extend(other.problems.into_iter().map(|entry| Entry {
            statement: entry.statement + statements,
            candidates: entry.candidates.start + candidates as usize
                ..entry.candidates.end + candidates as usize,
            ..entry
        }));
        let ProblemOrigin { path, input, fingerprint, split, skipped } = other.origin;
        for (own, more) in [
            (&mut self.origin.path, path),
            (&mut self.origin.input, input),
            (&mut self.origin.fingerprint, fingerprint),
            (&mut self.origin.split, split),
        ] {
            *own += " and ";
            *own += &more;
        }
        self.origin.skipped.add(skipped);
        Ok(())
    }

    /// How much of what is useful is among the candidates.
    pub fn found(&self) -> FoundShare {
        let useful = self.candidates.iter().filter(|candidate| candidate.is_useful).count();
        let relevant: usize = self.problems.iter().map(|entry| entry.relevant).sum();
        FoundShare { candidates: self.candidates.len(), share: useful as f64 / relevant.max(1) as f64 }
    }

    /// A conjecture with its candidates.
    ///
    /// # Panics
    ///
    /// If there is none with this number.
    pub fn problem(&self, number: usize) -> Problem<'_> {
        let Entry { name, statement, split, candidates, relevant } = &self.problems[number];
        let width = self.features.len();
        Problem {
            name,
            conjecture: *statement,
            split: *split,
            candidates: &self.candidates[candidates.clone()],
            relevant: *relevant,
            values: &self.values[candidates.start * width..candidates.end * width],
        }
    }

    /// The numbers of the conjectures of a split that have candidates.
    pub fn of_split(&self, split: Split) -> impl Iterator<Item = usize> + '_ {
        let is_asked = move |entry: &Entry| entry.split == split && !entry.candidates.is_empty();
        (0..self.len()).filter(move |&number| is_asked(&self.problems[number]))
    }

    /// Puts a conjecture and some statements into a builder, which is emptied first.
    ///
    /// # Errors
    ///
    /// If that is more than the builder's limits allow.
    pub fn build(
        &self,
        conjecture: u32,
        statements: impl IntoIterator<Item = u32>,
        builder: &mut ProblemBuilder,
    ) -> Result<(), TooLarge> {
        builder.clear();
        builder.add(self.statement(conjecture))?;
        statements.into_iter().try_for_each(|number| builder.add(self.statement(number)).map(|_| ()))
    }
}

/// How problems are split, as JSON.
fn split_text(options: &Options) -> String {
    serde_json::json!({ "validation": options.validation, "seed": options.seed }).to_string()
}
/// The features of some candidates of a problem, as input of the network.
pub fn scaled(scales: &[(Standardizer, usize)], problem: &Problem<'_>, candidates: &[usize]) -> Vec<f32> {
    let mut scaled = Vec::with_capacity(candidates.len() * scales.len());
    for &candidate in candidates {
        let known: Vec<f32> = problem.features(candidate).collect();
        scaled.extend(scales.iter().map(|(scale, place)| scale.apply(known[*place])));
    }
    scaled
}
