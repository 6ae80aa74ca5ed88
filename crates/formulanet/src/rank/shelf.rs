//! A library in memory.

use std::sync::Arc;

use super::learned::Learned;
#[cfg(feature = "sqlite")]
use super::library::Bookmark;
use super::intake::Premise;
use super::row::{Row, Rows};
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
    /// What its statements are recognised by and what their proofs used, unless there are too many without a proof.
    pub learned: Option<Learned>,
    /// The reader that was fitted to it, if there is one.
    pub reader: Option<TogetherFile>,
    /// How far the library has been read.
    #[cfg(feature = "sqlite")]
    pub(super) bookmark: Bookmark,
}

impl Shelf {
    /// No statements yet.
    pub fn empty(width: usize, syntax: Syntax) -> Self {
        Shelf {
            entries: Vec::new(),
            rows: Rows::new(width),
            syntax,
            learned: Some(Learned::default()),
            reader: None,
            #[cfg(feature = "sqlite")]
            bookmark: Bookmark::default(),
        }
    }

    /// Adds a statement after all others.
    pub fn push(&mut self, premise: &Premise, row: Row<'_>) {
        let Premise { name, text, syntax, encoded, features, module, .. } = premise;
        let statement = Statement { name: name.clone(), text: text.clone(), syntax: *syntax };
        self.entries.push(Entry { statement, graph: encoded.fingerprint(), module: module.as_str().into() });
        self.rows.push(row);
        if let Some(learned) = &mut self.learned {
            learned.add_fact(name.clone(), features);
        }
    }

    /// The number of recorded proofs.
    pub fn proof_count(&self) -> usize {
        self.learned.as_ref().map_or(0, |learned| learned.theory().proof_count())
    }
}
