//! Errors that name the file they come from.

use std::io;

use formulanet_logic::{ParseError, Position, ReadError, TooLarge};
use thiserror::Error;

/// What can go wrong with a file of statements.
#[derive(Debug, Error)]
pub enum Error {
    /// A file could not be read.
    #[error("{file}: {source}")]
    Io {
        /// The file's name as the user gave it.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{file}:{source}")]
    Parse {
        /// The file's name as the user gave it.
        file: String,
        /// Where and why.
        source: ParseError,
    },
    /// A statement's graph is larger than the limits allow.
    #[error("{file}:{position}: {source}")]
    TooLarge {
        /// The file's name as the user gave it.
        file: String,
        /// Where the statement begins.
        position: Position,
        /// What there is too much of.
        source: TooLarge,
    },
}

impl Error {
    pub(crate) fn io(file: impl Into<String>, source: io::Error) -> Self {
        Error::Io { file: file.into(), source }
    }

    pub(crate) fn parse(file: impl Into<String>, source: ParseError) -> Self {
        Error::Parse { file: file.into(), source }
    }

    pub(crate) fn read(file: impl Into<String>, error: ReadError) -> Self {
        match error {
            ReadError::Io(source) => Error::io(file, source),
            ReadError::Parse(source) => Error::parse(file, source),
        }
    }
}
