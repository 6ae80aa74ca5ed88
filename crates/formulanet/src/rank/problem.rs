//! A TPTP problem, and the smaller one that is left when only the best axioms are kept.

mod facts;
mod reasons;

use std::collections::HashMap;

use formulanet_logic::{Interner, hol};

use super::intake::encode_at;
use super::nameless::Nameless;
use super::pace::Pace;
use super::ranker::{Ranked, Ranker};
use super::reading::{Reading, Trust};
use super::row::Rows;
use super::theory::Features;
use crate::Error;
use crate::model::encode::Encoded;
use crate::read::{Annotated, Damaged, Skipped, Source, Statement, Syntax, parse};

pub use facts::{WithFacts, annotated};
pub use reasons::Knowledge;

/// What a statement is in a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// The declaration of a type or a logic: without it, others cannot be read.
    Declaration,
    /// What is to be proved.
    Conjecture,
    /// A role that is kept.
    Kept,
    /// What is selected from.
    Axiom,
    /// What could not be read, and stays.
    Unreadable,
}

/// What becomes of a statement that cannot be read. Without the conjecture there is nothing to select for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// Nothing is read on.
    Refused,
    /// It is left out.
    LeftOut,
    /// It stays in the problem as it is written, beside what is selected: a prover may know how to read it.
    Kept,
}

struct Item {
    part: Part,
    role: String,
    name: String,
    text: String,
    encoded: Encoded,
}

impl Item {
    /// As it is written.
    fn statement(&self) -> Statement {
        Statement { name: self.name.clone(), text: self.text.clone(), syntax: Syntax::Tptp }
    }
}

/// Conjectures that axioms are read together with, at most: each takes the time of a whole reading.
const MOST_CONJECTURES: usize = 4;

/// A problem that was read for a model.
pub struct Problem {
    items: Vec<Item>,
    /// The numbers of its axioms.
    axioms: Vec<usize>,
    /// How many statements were looked at for these, those of a library included.
    considered: usize,
    skipped: Skipped,
}

/// Axioms that were embedded once, for problems that share them.
pub struct EmbeddedAxioms {
    /// By name and graph: the number of a row.
    numbers: HashMap<(String, u64), usize>,
    rows: Rows,
}

impl EmbeddedAxioms {
    /// None yet.
    pub fn new(ranker: &Ranker) -> Self {
        EmbeddedAxioms { numbers: HashMap::new(), rows: Rows::new(ranker.width()) }
    }

    fn rows(&mut self, ranker: &Ranker, statements: &[(&str, &Encoded)]) -> Rows {
        let key = |(name, encoded): &(&str, &Encoded)| ((*name).to_owned(), encoded.fingerprint());
        let is_new = |statement: &&(&str, &Encoded)| !self.numbers.contains_key(&key(statement));
        let new: Vec<(&str, &Encoded)> = statements.iter().filter(is_new).copied().collect();
        let first = self.rows.len();
        self.rows.append(&ranker.rows(&new));
        self.numbers.extend(new.iter().zip(first..).map(|(statement, number)| (key(statement), number)));
        let mut rows = Rows::new(ranker.width());
        statements.iter().for_each(|statement| rows.push(self.rows.get(self.numbers[&key(statement)])));
        rows
    }
}

/// Whether a role in TPTP is that of what is to be proved.
pub fn is_goal(role: &str) -> bool {
    ["conjecture", "negated_conjecture", "question"].contains(&role)
}

impl Problem {
    /// Reads a problem with its includes. Statements with one of the roles in `kept` are always in, and not selected from.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place, or has nothing to prove.
    pub fn read(source: Source, ranker: &Ranker, kept: &[String]) -> Result<Self, Error> {
        Self::read_on(source, ranker, kept, Unreadable::Refused)
    }

    /// The same, which may go on behind a statement that cannot be read.
    ///
    /// # Errors
    ///
    /// As [`Problem::read`], and if the conjecture is such a statement.
    pub fn read_on(
        source: Source,
        ranker: &Ranker,
        kept: &[String],
        unreadable: Unreadable,
    ) -> Result<Self, Error> {
        let (mut names, mut items, mut skipped) = (Interner::new(), Vec::new(), Skipped::default());
        let mut encoder = ranker.encoder();
        let file = source.name().to_owned();
        let mut reader = source.problem(ranker.limits())?;
        let mut pass = |header: Option<(String, String)>, text: &str, error: Error| {
            let (name, role) = header.unwrap_or_default();
            if unreadable == Unreadable::Refused || is_goal(&role) {
                return Err(error);
            }
            skipped.note(&error);
            Ok((unreadable == Unreadable::Kept).then(|| Item {
                part: Part::Unreadable,
                role,
                name,
                text: text.to_owned(),
                encoded: Encoded::default(),
            }))
        };
        loop {
            let Annotated { annotated, text, file } = match reader.next(&mut names) {
                Ok(None) => break,
                Ok(Some(next)) => next,
                Err(error) => {
                    let Some(Damaged { header, text, .. }) = reader.recover() else { return Err(error) };
                    items.extend(pass(header, text, error)?);
                    continue;
                }
            };
            let (role, name, text) = (annotated.role.clone(), annotated.name.clone(), text.to_owned());
            let Some(formula) = &annotated.formula else {
                items.push(Item { part: Part::Declaration, role, name, text, encoded: Encoded::default() });
                continue;
            };
            let part = match role.as_str() {
                role if is_goal(role) => Part::Conjecture,
                role if kept.iter().any(|kept| kept == role) => Part::Kept,
                _ => Part::Axiom,
            };
            let encoded = match encode_at(formula, &names, &mut encoder, file, annotated.position) {
                Ok(encoded) => encoded,
                Err(error) => {
                    items.extend(pass(Some((name, role)), &text, error)?);
                    continue;
                }
            };
            items.push(Item { part, role, name, text, encoded });
        }
        let axioms: Vec<usize> = (0..items.len()).filter(|&i| items[i].part == Part::Axiom).collect();
        let problem = Problem { considered: axioms.len(), axioms, items, skipped };
        if problem.of(Part::Conjecture).next().is_none() {
            return Err(Error::NoConjecture { file });
        }
        Ok(problem)
    }

    fn of(&self, part: Part) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.part == part)
    }

    /// Statements that could not be read.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Whether some statement has a role.
    pub fn has_role(&self, role: &str) -> bool {
        self.items.iter().any(|item| item.role == role)
    }

    /// How many axioms it has.
    pub fn axiom_count(&self) -> usize {
        self.axioms.len()
    }

    /// The name of an axiom by its number.
    pub fn axiom_name(&self, number: usize) -> &str {
        &self.items[self.axioms[number]].name
    }

    /// An axiom by its number, as it is written.
    pub fn axiom_text(&self, number: usize) -> &str {
        &self.items[self.axioms[number]].text
    }

    /// The names of what is to be proved.
    pub fn conjecture_names(&self) -> Vec<&str> {
        self.of(Part::Conjecture).map(|item| item.name.as_str()).collect()
    }

    /// The scores of all axioms. Where there are several conjectures, an axiom has the best of its scores.
    pub fn scores(&self, ranker: &Ranker) -> Vec<f32> {
        self.scores_with(ranker, &mut EmbeddedAxioms::new(ranker))
    }

    /// The same, where axioms that other problems had, too, are not embedded again.
    pub fn scores_with(&self, ranker: &Ranker, embedded: &mut EmbeddedAxioms) -> Vec<f32> {
        let named = self.axioms.iter().map(|&i| (self.items[i].name.as_str(), &self.items[i].encoded));
        let rows = embedded.rows(ranker, &named.collect::<Vec<_>>());
        let mut best = vec![0.0f32; self.axioms.len()];
        for conjecture in self.of(Part::Conjecture) {
            let scores = ranker.scores(&ranker.query(&conjecture.encoded), &rows);
            best.iter_mut().zip(scores).for_each(|(best, score)| *best = best.max(score));
        }
        best
    }

    /// Scores of all axioms by what they say alone, the best of them read together with what is to be proved: renaming all
    /// symbols changes none. Behind the best few come those that the symbols of the conjecture lead to. Where there are
    /// several conjectures, an axiom has the best of its scores.
    ///
    /// # Errors
    ///
    /// If a statement cannot be read again, all is too large together, or there is no more time.
    pub fn nameless_scores(
        &self,
        ranker: &Ranker,
        reading: Option<&Reading>,
        pace: &Pace<'_>,
    ) -> Result<Vec<f32>, Error> {
        let (mut names, options) = (Interner::new(), ranker.hol_options());
        let mut features = |item: &Item| -> Result<Features, Error> {
            let formula = parse(&item.text, Syntax::Tptp, &options, &mut names);
            Ok(Features::of(&formula.map_err(|error| Error::parse(&item.name, error))?, &names))
        };
        let axioms =
            self.axioms.iter().map(|&i| features(&self.items[i])).collect::<Result<Vec<_>, Error>>()?;
        self.best_scores(|conjecture, is_read| {
            pace.check()?;
            let mut nameless = Nameless::new(&features(conjecture)?, &axioms);
            pace.check()?;
            let Some(reading) = reading.filter(|_| is_read) else { return Ok(nameless.scores) };
            self.read_together((&mut nameless.scores, Trust::Reader), reading, conjecture, &options)?;
            Ok(nameless.surrounded())
        })
    }

    /// Reads the best axioms together with what is to be proved, and scores them anew. Where there are several
    /// conjectures, an axiom has the best of its scores.
    ///
    /// # Errors
    ///
    /// If a statement cannot be read again, or all is too large together.
    pub fn rescore(&self, reading: &Reading, ranker: &Ranker, scores: &mut Vec<f32>) -> Result<(), Error> {
        let options = ranker.hol_options();
        let found = self.best_scores(|conjecture, is_read| {
            let mut read = scores.clone();
            if is_read {
                self.read_together((&mut read, Trust::Both), reading, conjecture, &options)?;
            }
            Ok(read)
        })?;
        *scores = found;
        Ok(())
    }

    /// The best of each axiom's scores for all conjectures. The first few of these are read together with axioms.
    fn best_scores(
        &self,
        mut scores: impl FnMut(&Item, bool) -> Result<Vec<f32>, Error>,
    ) -> Result<Vec<f32>, Error> {
        let mut best = vec![0.0f32; self.axioms.len()];
        for (number, conjecture) in self.of(Part::Conjecture).enumerate() {
            let scores = scores(conjecture, number < MOST_CONJECTURES)?;
            best.iter_mut().zip(scores).for_each(|(best, score)| *best = best.max(score));
        }
        Ok(best)
    }

    fn read_together(
        &self,
        scores: (&mut [f32], Trust),
        reading: &Reading,
        conjecture: &Item,
        options: &hol::Options,
    ) -> Result<(), Error> {
        let axiom = |number: usize| Ok(self.items[self.axioms[number]].statement());
        reading.rescore_for(&conjecture.statement(), scores, axiom, options)
    }

    /// The problem with these axioms alone, by rank: declarations, what is kept, axioms, and the conjecture
    /// last.
    pub fn reduced(&self, taken: &[Ranked]) -> String {
        self.reduced_with(taken, |_| None)
    }

    /// The same with comments before axioms, by their rank from 0.
    pub fn reduced_with(&self, taken: &[Ranked], comment: impl Fn(usize) -> Option<String>) -> String {
        let (taken_count, all, version) = (taken.len(), self.considered, env!("CARGO_PKG_VERSION"));
        let mut text = format!("% {taken_count} of {all} axioms, selected by formulanet {version}\n");
        let mut line = |statement: &str| {
            text.push_str(statement);
            text.push('\n');
        };
        let of = |part| self.of(part).map(|item| item.text.as_str());
        of(Part::Declaration).chain(of(Part::Unreadable)).chain(of(Part::Kept)).for_each(&mut line);
        for (rank, ranked) in taken.iter().enumerate() {
            if let Some(comment) = comment(rank) {
                // A comment is one line, whatever is in a quoted name.
                line(&format!("% {}", comment.replace(|c: char| c.is_control(), " ")));
            }
            line(self.axiom_text(ranked.statement));
        }
        of(Part::Conjecture).for_each(&mut line);
        text
    }
}
