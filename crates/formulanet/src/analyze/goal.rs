//! A goal, analysed.

use formulanet_logic::{Formula, Interner, hol};

use crate::model::encode::Encoded;
use crate::retrieve::VectorRetriever;
use crate::statement::parse;
use crate::{Error, Statement};

/// A conjecture, as it was parsed and as a model reads it.
pub struct GoalAnalysis {
    /// As the model reads it.
    pub encoded: Encoded,
    /// As it was parsed.
    pub formula: Formula,
    /// The names of its symbols.
    pub names: Interner,
}

impl GoalAnalysis {
    /// Reads a conjecture.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is too large.
    pub fn read(retriever: &VectorRetriever, conjecture: &Statement) -> Result<Self, Error> {
        Self::read_as(retriever, conjecture, &retriever.hol_options())
    }

    /// Analyzes a goal with other options, such as the meaning of `+`.
    ///
    /// # Errors
    ///
    /// As [`GoalAnalysis::read`].
    pub fn read_as(
        retriever: &VectorRetriever,
        conjecture: &Statement,
        options: &hol::Options,
    ) -> Result<Self, Error> {
        let Statement { name, text, language } = conjecture;
        let mut names = Interner::new();
        let formula =
            parse(text, *language, options, &mut names).map_err(|error| Error::parse(name, error))?;
        Self::new(retriever, formula, names, name)
    }

    /// A conjecture that was parsed; the name is for messages.
    ///
    /// # Errors
    ///
    /// If it is too large.
    pub fn new(
        retriever: &VectorRetriever,
        formula: Formula,
        names: Interner,
        name: &str,
    ) -> Result<Self, Error> {
        let encoded = retriever.encoder().encode(&formula, &names).map_err(|cause| {
            let position = formulanet_logic::Position { line: 1, column: 1 };
            Error::TooLarge { file: name.to_owned(), position, cause }
        })?;
        Ok(GoalAnalysis { encoded, formula, names })
    }
}
