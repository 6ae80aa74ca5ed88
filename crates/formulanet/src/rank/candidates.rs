//! What is ranked: the statements of a library, and behind them those that come with the question.

use super::intake::{Intake, Premise};
#[cfg(feature = "libraries")]
use super::library::Library;
use super::pace::Pace;
use super::ranker::{Ranked, Ranker};
use super::row::Rows;
use super::scorer::Scoring;
use super::selection::{Marks, Selection};
use crate::Error;
use crate::model::encode::Encoded;
use crate::read::{Statement, Syntax};

/// A library in memory.
pub struct Shelf {
    /// Its statements.
    pub statements: Vec<Statement>,
    /// What scores need of each.
    pub rows: Rows,
    /// What most of its statements are written in.
    pub syntax: Syntax,
}

/// Where the statements of a library are.
#[derive(Clone, Copy)]
pub enum Stored<'a> {
    /// In its file: rows are read when they are scored, texts when they are shown.
    #[cfg(feature = "libraries")]
    OnDisk(&'a Library),
    /// In memory.
    InMemory(&'a Shelf),
}

/// Statements to rank.
pub struct Candidates<'a> {
    stored: Option<Stored<'a>>,
    /// Names of statements on disk, known once they are scored.
    names: Vec<String>,
    own: Vec<Premise>,
}

/// The scores of candidates.
pub struct Scores {
    /// For the conjecture.
    pub scores: Vec<f32>,
    /// For a conjecture that nothing is known of, where they were wanted and the model has them.
    pub usual: Option<Vec<f32>>,
}

/// Rows that are scored between two looks at the clock.
const ROWS: usize = 8192;

impl<'a> Candidates<'a> {
    /// The statements of a library, if there is one, and others behind them.
    pub fn new(stored: Option<Stored<'a>>, own: Vec<Premise>) -> Self {
        Candidates { stored, names: Vec::new(), own }
    }

    /// Scores all of them. Those on disk are scored as they are read, so that their rows take no memory.
    ///
    /// # Errors
    ///
    /// If the library cannot be read, there is nothing to rank, or the time is over.
    pub fn score(
        &mut self,
        ranker: &Ranker,
        conjecture: &Encoded,
        with_usual: bool,
        pace: &Pace<'_>,
    ) -> Result<Scores, Error> {
        pace.check()?;
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
            #[cfg(feature = "libraries")]
            Some(Stored::OnDisk(library)) => library.scan(|statements, rows| {
                self.names.extend(statements.into_iter().map(|statement| statement.name));
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
        if scores.is_empty() {
            return Err(Error::NoStatements);
        }
        Ok(Scores { scores, usual })
    }

    /// Takes the best of scored candidates, and says which patterns fit none.
    ///
    /// # Errors
    ///
    /// If more must be in than may be, or the time is over.
    pub fn select(
        &self,
        selection: &Selection,
        scores: &[f32],
        pace: &Pace<'_>,
    ) -> Result<(Vec<Ranked>, Marks), Error> {
        let marks = selection.marks(scores.len(), |i| self.name(i), pace)?;
        Ok((selection.pick_marked(scores, |i| self.name(i), &marks)?, marks))
    }

    /// The name of a candidate that was scored.
    pub fn name(&self, number: usize) -> &str {
        match (self.stored, number.checked_sub(self.stored_count())) {
            (Some(Stored::InMemory(shelf)), None) => &shelf.statements[number].name,
            (_, None) => &self.names[number],
            (_, Some(own)) => &self.own[own].name,
        }
    }

    /// A candidate that was scored.
    ///
    /// # Errors
    ///
    /// If it was removed from the library meanwhile.
    pub fn statement(&self, number: usize) -> Result<Statement, Error> {
        if let Some(own) = number.checked_sub(self.stored_count()) {
            let Premise { name, text, syntax, .. } = self.own[own].clone();
            return Ok(Statement { name, text, syntax });
        }
        match self.stored {
            Some(Stored::InMemory(shelf)) => Ok(shelf.statements[number].clone()),
            #[cfg(feature = "libraries")]
            Some(Stored::OnDisk(library)) => library.statement(&self.names[number]),
            None => Err(Error::NoStatements),
        }
    }

    /// Symbols of a candidate that the model does not know.
    ///
    /// # Errors
    ///
    /// If it was removed from the library meanwhile.
    pub fn unknown(&self, number: usize, ranker: &Ranker) -> Result<Vec<String>, Error> {
        if let Some(own) = number.checked_sub(self.stored_count()) {
            return Ok(self.own[own].encoded.unknown().to_vec());
        }
        let Statement { name, text, syntax } = self.statement(number)?;
        Ok(Intake::new(ranker).take(&name, &text, syntax)?.encoded.unknown().to_vec())
    }

    fn stored_count(&self) -> usize {
        match self.stored {
            Some(Stored::InMemory(shelf)) => shelf.statements.len(),
            _ => self.names.len(),
        }
    }
}
