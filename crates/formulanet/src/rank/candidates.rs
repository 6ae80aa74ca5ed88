//! What is ranked: the statements of a library, and behind them those that come with the question.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use formulanet_logic::problem::StatementBuilder;

use super::intake::{Intake, Premise};
use super::learned::{Learned, Together};
#[cfg(feature = "sqlite")]
use super::library::{Bookmark, Library};
use super::pace::Pace;
use super::question::{Order, Question, Wishes};
use super::ranker::{Ranked, Ranker};
use super::reading::{Reading, Trust};
use super::reasons::{MOST_USERS, Reasons, Symbols, counts, shared, symbols};
use super::row::Rows;
use super::scorer::Scoring;
use super::selection::{Marks, Selection, matches};
use super::theory::Features;
use crate::Error;
use crate::model::encode::Encoded;
use crate::model::together::TogetherFile;
use crate::read::{Statement, Syntax, parse};

/// How much the model's odds count beside what the proofs of a library say, as far as it knows the conjecture's symbols: chosen
/// on held-out conjectures of HolStep and Mizar.
const MODEL: f32 = 0.5;

/// A statement of a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What it says.
    pub statement: Statement,
    /// The same for statements with the same graph.
    pub graph: u64,
    /// The module or file that it is from.
    pub module: Arc<str>,
}

/// A library in memory.
pub struct Shelf {
    /// Its statements, in order.
    pub entries: Vec<Entry>,
    /// What scores need of each.
    pub rows: Rows,
    /// What most of its statements are written in.
    pub syntax: Syntax,
    /// What its proofs say, if it has some.
    pub learned: Option<Learned>,
    /// The reader that was fitted to it, if there is one.
    pub reader: Option<TogetherFile>,
    /// How far the library has been read.
    #[cfg(feature = "sqlite")]
    pub(super) bookmark: Bookmark,
}

/// Where the statements of a library are.
#[derive(Clone, Copy)]
pub enum Stored<'a> {
    /// In its file: rows are read when they are scored, texts when they are shown.
    #[cfg(feature = "sqlite")]
    OnDisk(&'a Library),
    /// In memory.
    InMemory(&'a Shelf),
}

/// Statements to rank.
pub struct Candidates<'a> {
    stored: Option<Stored<'a>>,
    /// Statements on disk without their texts, known once they are scored.
    known: Vec<Entry>,
    own: Vec<Premise>,
}

/// The scores of candidates.
pub struct Scores {
    /// For the conjecture.
    pub scores: Vec<f32>,
    /// For a conjecture that nothing is known of, where they were wanted and the model has them.
    pub usual: Option<Vec<f32>>,
    /// Which of them are not asked for.
    barred: Vec<bool>,
}

impl Scores {
    /// Gives each candidate the better of its scores for two conjectures.
    pub(super) fn join(&mut self, other: &Scores) {
        let scores = self.scores.iter_mut().zip(&other.scores);
        scores.for_each(|(score, other)| *score = score.max(*other));
        self.barred.iter_mut().zip(&other.barred).for_each(|(barred, other)| *barred |= other);
    }
}

/// Rows that are scored between two looks at the clock.
const ROWS: usize = 8192;

impl<'a> Candidates<'a> {
    /// The statements of a library, if there is one, and others behind them.
    pub fn new(stored: Option<Stored<'a>>, own: Vec<Premise>) -> Self {
        Candidates { stored, known: Vec::new(), own }
    }

    /// Says how useful each of them is for a conjecture: by what a model says, by what the proofs of the library used, and by
    /// reading the best together with the conjecture, as far as there is such.
    ///
    /// # Errors
    ///
    /// If the library cannot be read, there is nothing to rank, a name is not there, or the time is over.
    pub fn rank(
        &mut self,
        ranker: &Ranker,
        question: &mut Question,
        wishes: &Wishes<'_>,
        pace: &Pace<'_>,
    ) -> Result<Scores, Error> {
        // Statements and proofs have to be those of one moment.
        #[cfg(feature = "sqlite")]
        let _moment = match self.stored {
            Some(Stored::OnDisk(library)) => Some(library.moment()?),
            _ => None,
        };
        let learned = self.learned()?;
        let wants_usual = wishes.with_usual || (wishes.order == Order::Goal && learned.is_none());
        let (mut scores, mut usual) = self.score(ranker, &question.encoded, wants_usual, pace)?;
        let end = self.place(wishes)?;
        let barred = self.barred(question, wishes, end);
        let is_barred = |number: usize| barred[number];
        if let Some(mut learned) = learned {
            let is_stored = wishes.own_name.is_some();
            if is_stored || !self.own.is_empty() {
                let mut changed = learned.into_owned();
                if is_stored {
                    changed.take_proofs(end);
                }
                for premise in &self.own {
                    changed.add_fact(premise.name.clone(), &premise.features);
                }
                learned = Cow::Owned(changed);
            }
            let shares = learned.theory().use_shares();
            let before = if self.own.is_empty() { end } else { learned.theory().len() };
            self.weigh(&learned, (ranker, question), (&mut scores, before), is_barred, wishes.reading)?;
            usual = Some(shares);
        } else if let Some(reading) = wishes.reading {
            for number in (0..scores.len()).filter(|&number| barred[number]) {
                scores[number] = -1.0;
            }
            let Question { formula, names, .. } = question;
            let statement = |number| self.statement(number);
            reading.rescore((&mut scores, Trust::Both), statement, formula, &ranker.hol_options(), names)?;
        }
        pace.check()?;
        wishes.order.apply(&mut scores, usual.as_deref());
        Ok(Scores { scores, usual: usual.filter(|_| wishes.with_usual), barred })
    }

    /// Scores what the proofs of the library speak for anew.
    fn weigh(
        &self,
        learned: &Learned,
        (ranker, question): (&Ranker, &mut Question),
        (scores, before): (&mut [f32], usize),
        is_barred: impl Fn(usize) -> bool,
        reading: Option<&Reading>,
    ) -> Result<(), Error> {
        let options = ranker.hol_options();
        let Question { formula, names, encoded } = question;
        let features = Features::of(formula, names);
        let weight = MODEL * (1.0 - encoded.unknown_share());
        let mut builder = StatementBuilder::new(options.limits);
        let goal = reading.and_then(|_| builder.build(formula).ok());
        let names = RefCell::new(names);
        let graph = |number: usize| {
            let Statement { text, syntax, .. } = self.statement(number).ok()?;
            let formula = parse(&text, syntax, &options, &mut names.borrow_mut()).ok()?;
            builder.build(&formula).ok().map(Cow::Owned)
        };
        let together = reading.zip(goal.as_ref()).map(|(reading, goal)| Together { reading, goal });
        let name = |symbol: u32| reading.map_or(0, |reading| reading.name(symbol, &names.borrow()));
        learned.rescore((&features, before), (scores, weight), is_barred, together, graph, name)
    }

    /// Where the conjecture stands: how many statements of the library come before it.
    fn place(&self, wishes: &Wishes<'_>) -> Result<usize, Error> {
        let Some(name) = wishes.own_name.as_ref().or(wishes.before.as_ref()) else {
            return Ok(self.stored_count());
        };
        let place = (0..self.stored_count()).position(|number| self.name(number) == name);
        place.ok_or_else(|| Error::data("library", format!("expected a statement `{name}`, found none")))
    }

    /// Which candidates are not asked for: what comes too late or is in other modules, and the conjecture itself.
    fn barred(&self, question: &Question, wishes: &Wishes<'_>, end: usize) -> Vec<bool> {
        let graph = question.encoded.fingerprint();
        let is_goal = |other: u64| !wishes.keeps_goal && other == graph;
        let fits = |module: &str| {
            wishes.modules.is_empty() || wishes.modules.iter().any(|pattern| matches(pattern, module))
        };
        let stored = self.entries().iter().enumerate();
        let stored =
            stored.map(|(number, entry)| number >= end || is_goal(entry.graph) || !fits(&entry.module));
        let own = self.own.iter().map(|premise| is_goal(premise.encoded.fingerprint()));
        stored.chain(own).collect()
    }

    /// What the proofs of the library say, if it has some.
    fn learned(&self) -> Result<Option<Cow<'a, Learned>>, Error> {
        Ok(match self.stored {
            Some(Stored::InMemory(shelf)) => shelf.learned.as_ref().map(Cow::Borrowed),
            #[cfg(feature = "sqlite")]
            Some(Stored::OnDisk(library)) => library.learned()?.map(Cow::Owned),
            None => None,
        })
    }

    /// What a model says of all of them. Those on disk are scored as they are read, so that their rows take no memory.
    fn score(
        &mut self,
        ranker: &Ranker,
        conjecture: &Encoded,
        with_usual: bool,
        pace: &Pace<'_>,
    ) -> Result<(Vec<f32>, Option<Vec<f32>>), Error> {
        pace.check()?;
        self.known.clear();
        let query = ranker.query(conjecture);
        let usual_query = if with_usual { ranker.usual_query() } else { None };
        let mut scoring = ranker.scoring(&query);
        let mut usual = usual_query.as_ref().map(|query| ranker.scoring(query));
        let mut add = |rows: &Rows| -> Result<(), Error> {
            for start in (0..rows.len()).step_by(ROWS) {
                pace.check()?;
                let range = start..(start + ROWS).min(rows.len());
                scoring.add_range(rows, range.clone());
                usual.iter_mut().for_each(|usual| usual.add_range(rows, range.clone()));
            }
            Ok(())
        };
        match self.stored {
            Some(Stored::InMemory(shelf)) => add(&shelf.rows)?,
            #[cfg(feature = "sqlite")]
            Some(Stored::OnDisk(library)) => library.scan(|mut entries, rows| {
                entries.iter_mut().for_each(|entry| entry.statement.text = String::new());
                self.known.extend(entries);
                add(rows)
            })?,
            None => {}
        }
        for piece in pace.pieces(&self.own, |premise| &premise.encoded) {
            pace.check()?;
            add(&ranker.rows(&piece.iter().map(Premise::named).collect::<Vec<_>>()))?;
        }
        let (scores, usual) = (scoring.finish(), usual.map(Scoring::finish));
        pace.check()?;
        if scores.is_empty() { Err(Error::NoStatements) } else { Ok((scores, usual)) }
    }

    /// Takes the best of scored candidates, and says which patterns fit none.
    ///
    /// # Errors
    ///
    /// If more must be in than may be, or the time is over.
    pub fn select(
        &self,
        selection: &Selection,
        scores: &Scores,
        pace: &Pace<'_>,
    ) -> Result<(Vec<Ranked>, Marks), Error> {
        let Scores { scores, barred, .. } = scores;
        let mut marks = selection.marks(scores.len(), |i| self.name(i), pace)?;
        marks.exclude(barred);
        Ok((selection.pick_marked(scores, |i| self.name(i), &marks)?, marks))
    }

    /// The name of a candidate that was scored.
    pub fn name(&self, number: usize) -> &str {
        match number.checked_sub(self.stored_count()) {
            None => &self.entries()[number].statement.name,
            Some(own) => &self.own[own].name,
        }
    }

    /// A candidate that was scored.
    ///
    /// # Errors
    ///
    /// If it was removed from the library meanwhile.
    pub fn statement(&self, number: usize) -> Result<Statement, Error> {
        if let Some(own) = number.checked_sub(self.stored_count()) {
            let Premise { name, text, syntax, .. } = &self.own[own];
            return Ok(Statement { name: name.clone(), text: text.clone(), syntax: *syntax });
        }
        match self.stored {
            Some(Stored::InMemory(shelf)) => Ok(shelf.entries[number].statement.clone()),
            #[cfg(feature = "sqlite")]
            Some(Stored::OnDisk(library)) => library.statement(&self.known[number].statement.name),
            None => Err(Error::NoStatements),
        }
    }

    /// Why these candidates are there.
    ///
    /// # Errors
    ///
    /// If one was removed from the library meanwhile.
    pub fn reasons(
        &self,
        taken: &[Ranked],
        ranker: &Ranker,
        question: &Question,
    ) -> Result<Vec<Reasons>, Error> {
        let (mut reader, learned) = (Symbols::new(ranker), self.learned()?);
        let goal = symbols(&question.formula, &question.names);
        let features = learned.as_ref().map(|_| Features::of(&question.formula, &question.names));
        let asked = learned.as_ref().zip(features.as_ref());
        let asked = asked.map(|(learned, features)| (learned.theory(), learned.theory().goal(features)));
        let statements = taken.iter().map(|ranked| self.statement(ranked.statement));
        let statements = statements.collect::<Result<Vec<Statement>, Error>>()?;
        let own: Vec<_> =
            statements.iter().map(|statement| reader.of(&statement.text, statement.syntax)).collect();
        let counts = counts(own.iter());
        let mut reasons = Vec::with_capacity(taken.len());
        for (ranked, own) in taken.iter().zip(&own) {
            let is_stored = ranked.statement < self.stored_count();
            let users = asked.as_ref().filter(|_| is_stored);
            let (uses, users) = users
                .map_or((0, Vec::new()), |(theory, goal)| theory.users(ranked.statement, goal, MOST_USERS));
            reasons.push(Reasons {
                shared: shared(own, &goal, &counts),
                unknown: self.unknown(ranked.statement, ranker)?,
                uses,
                used_by: users.into_iter().map(|user| self.name(user).to_owned()).collect(),
            });
        }
        Ok(reasons)
    }

    /// Symbols of a candidate that the model does not know.
    fn unknown(&self, number: usize, ranker: &Ranker) -> Result<Vec<String>, Error> {
        if let Some(own) = number.checked_sub(self.stored_count()) {
            return Ok(self.own[own].encoded.unknown().to_vec());
        }
        let Statement { name, text, syntax } = self.statement(number)?;
        Ok(Intake::new(ranker).take(&name, &text, syntax)?.encoded.unknown().to_vec())
    }

    fn stored_count(&self) -> usize {
        self.entries().len()
    }

    /// The statements of the library.
    fn entries(&self) -> &[Entry] {
        match self.stored {
            Some(Stored::InMemory(shelf)) => &shelf.entries,
            _ => &self.known,
        }
    }
}
