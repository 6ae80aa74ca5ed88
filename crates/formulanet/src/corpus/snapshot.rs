//! A library in memory.

use std::sync::Arc;

use crate::corpus::VectorColumn;
#[cfg(feature = "sqlite")]
use crate::library::Generation;
use crate::model::JointModelFile;
use crate::retrieve::ProofRetriever;
use crate::{Language, Statement};

/// A statement of a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryEntry {
    /// What it says.
    pub statement: Statement,
    /// The same for statements with the same graph.
    pub graph: u64,
    /// The module or file that it is from.
    pub module: Arc<str>,
}

/// A library in memory.
#[derive(Clone)]
pub struct LibrarySnapshot {
    /// Its statements, in order.
    pub entries: Vec<LibraryEntry>,
    /// What scores need of each.
    pub rows: VectorColumn,
    /// What most of its statements are written in.
    pub language: Language,
    /// What its proofs say, if it has some.
    pub learned: Option<ProofRetriever>,
    /// The reader that was fitted to it, if there is one.
    pub fitted: Option<JointModelFile>,
    /// How far the library has been read.
    #[cfg(feature = "sqlite")]
    pub(crate) generation: Generation,
}
