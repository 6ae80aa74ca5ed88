//! What can go wrong, with the values that a caller may want to look at.

use std::io;

use formulanet_logic::{ParseError, Position, ReadError, TooLarge};
use thiserror::Error;

/// Why something could not be read, written or done.
///
/// Messages say what was expected, what was found and, where the library can know it, the way out. How a program's user
/// gets there (a flag, a field of a request) is for the program to add: variants carry what that takes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot read or write `{file}`")]
    Io {
        /// The file's name as the user gave it.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A text is not what it should be.
    #[error("{file}:{cause}")]
    Parse {
        /// The file's name as the user gave it.
        file: String,
        /// Where and why.
        cause: ParseError,
    },
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
    /// A file, folder or model is not what it should be.
    #[error("{file}: {message}")]
    Data {
        /// The file's name as the user gave it.
        file: String,
        /// What was expected and what was found.
        message: String,
    },
    /// A file or folder is there already, and would be lost.
    #[error("{path}: expected nothing there, found {found}")]
    Exists {
        /// Where it is.
        path: String,
        /// What it is.
        found: &'static str,
    },
    /// There is neither a model file nor a shipped model of this name.
    #[error("expected a model file or one of the shipped models ({shipped}), found neither: `{name}`")]
    NoSuchModel {
        /// What was asked for.
        name: String,
        /// The names of the shipped models.
        shipped: String,
    },
    /// There is no library at a path.
    #[error("{path}: expected a library, found no such file")]
    NoSuchLibrary {
        /// The path.
        path: String,
    },
    /// A library was made with another model.
    #[error("{library}: expected the model that made its vectors ({made_with}), found another")]
    OtherModel {
        /// The library.
        library: String,
        /// The model that made its vectors.
        made_with: String,
    },
    /// There are no statements to rank.
    #[error("expected statements to rank, found none")]
    NothingToRank,
    /// More statements must be selected than may be.
    #[error("expected at most {most} statements that must be selected, found {forced}")]
    TooManyForced {
        /// How many may be selected.
        most: usize,
        /// How many must be.
        forced: usize,
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
}

impl Error {
    pub(crate) fn io(file: impl Into<String>, source: io::Error) -> Self {
        Error::Io { file: file.into(), source }
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
