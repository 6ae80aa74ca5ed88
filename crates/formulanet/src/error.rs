//! Errors that name the file they come from.

use std::io;

use formulanet_logic::{ParseError, Position, ReadError, TooLarge};
use thiserror::Error;

/// What can go wrong with a file of statements.
///
/// The message of a cause is part of the message, so causes are not [`std::error::Error::source`]s.
#[derive(Debug, Error)]
pub enum Error {
    /// A file could not be read.
    #[error("{file}: {cause}")]
    Io {
        /// The file's name as the user gave it.
        file: String,
        /// What the system said.
        cause: io::Error,
    },
    /// A file is not what it should be.
    #[error("{file}:{cause}")]
    Parse {
        /// The file's name as the user gave it.
        file: String,
        /// Where and why.
        cause: ParseError,
    },
    /// A data set or prepared folder is not what it should be.
    #[error("{file}: {message}")]
    Data {
        /// The file's name as the user gave it.
        file: String,
        /// What was expected and what was found.
        message: String,
    },
    /// Another process is at work in a folder.
    #[error("{folder}: another process is at work in this folder; wait for it or choose another folder")]
    InUse {
        /// The folder's name as the user gave it.
        folder: String,
    },
    /// The user stopped the work.
    #[error("stopped before the end; nothing was written")]
    Interrupted,
    /// A statement's graph is larger than the limits allow.
    #[error("{file}:{position}: {cause}")]
    TooLarge {
        /// The file's name as the user gave it.
        file: String,
        /// Where the statement begins.
        position: Position,
        /// What there is too much of.
        cause: TooLarge,
    },
}

impl Error {
    pub(crate) fn io(file: impl Into<String>, cause: io::Error) -> Self {
        Error::Io { file: file.into(), cause }
    }

    pub(crate) fn data(file: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Data { file: file.into(), message: message.into() }
    }

    pub(crate) fn parse(file: impl Into<String>, cause: ParseError) -> Self {
        Error::Parse { file: file.into(), cause }
    }

    pub(crate) fn read(file: impl Into<String>, error: ReadError) -> Self {
        match error {
            ReadError::Io(source) => Error::io(file, source),
            ReadError::Parse(source) => Error::parse(file, source),
        }
    }
}
