//! A goal, analysed.

use formulanet_logic::{Formula, Interner, hol};

use super::ranker::Ranker;
use crate::Error;
use crate::model::encode::Encoded;
use crate::read::{Statement, parse};

/// A conjecture, as it was parsed and as a model reads it.
pub struct Question {
    /// As the model reads it.
    pub encoded: Encoded,
    /// As it was parsed.
    pub formula: Formula,
    /// The names of its symbols.
    pub names: Interner,
}

impl Question {
    /// Reads a conjecture.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is too large.
    pub fn read(ranker: &Ranker, conjecture: &Statement) -> Result<Self, Error> {
        Self::read_as(ranker, conjecture, &ranker.hol_options())
    }

    /// The same with options of one's own, such as what `+` means where nothing tells.
    ///
    /// # Errors
    ///
    /// As [`Question::read`].
    pub fn read_as(ranker: &Ranker, conjecture: &Statement, options: &hol::Options) -> Result<Self, Error> {
        let Statement { name, text, syntax } = conjecture;
        let mut names = Interner::new();
        let formula = parse(text, *syntax, options, &mut names).map_err(|error| Error::parse(name, error))?;
        Self::new(ranker, formula, names, name)
    }

    /// A conjecture that was parsed; the name is for messages.
    ///
    /// # Errors
    ///
    /// If it is too large.
    pub fn new(ranker: &Ranker, formula: Formula, names: Interner, name: &str) -> Result<Self, Error> {
        let encoded = ranker.encoder().encode(&formula, &names).map_err(|cause| {
            let position = formulanet_logic::Position { line: 1, column: 1 };
            Error::TooLarge { file: name.to_owned(), position, cause }
        })?;
        Ok(Question { encoded, formula, names })
    }
}
