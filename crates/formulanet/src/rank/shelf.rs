//! A library in memory.

use std::sync::Arc;

use super::learned::Learned;
#[cfg(feature = "sqlite")]
use super::library::Bookmark;
use super::row::Rows;
use crate::model::together::TogetherFile;
use crate::read::{Statement, Syntax};

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
#[derive(Clone)]
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
