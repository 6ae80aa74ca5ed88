//! A library in memory.

use std::sync::Arc;

use crate::analyze::AnalyzedStatement;
use crate::corpus::{VectorColumn, VectorRow};
#[cfg(feature = "sqlite")]
use crate::library::Generation;
use crate::model::JointModelFile;
use crate::retrieve::ProofRetriever;
use crate::{Language, Statement};

/// A statement of a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryEntry {
    /// Its text.
    pub statement: Statement,
    /// A hash that statements with the same graph share.
    pub graph: u64,
    /// The module or file that it is from.
    pub module: Arc<str>,
}

/// A library in memory.
#[derive(Clone)]
pub struct LibrarySnapshot {
    /// Its statements, in order.
    pub entries: Vec<LibraryEntry>,
    /// The rows that scores are computed from.
    pub rows: VectorColumn,
    /// The language of most of its statements.
    pub language: Language,
    /// The features and dependencies of its statements, unless there are too many and none has a proof.
    pub learned: Option<ProofRetriever>,
    /// The reader that was fitted to it, if there is one.
    pub fitted: Option<JointModelFile>,
    /// How far the library has been read.
    #[cfg(feature = "sqlite")]
    pub(crate) generation: Generation,
}

impl LibrarySnapshot {
    /// No statements yet.
    pub fn empty(width: usize, language: Language) -> Self {
        LibrarySnapshot {
            entries: Vec::new(),
            rows: VectorColumn::new(width),
            language,
            learned: Some(ProofRetriever::default()),
            fitted: None,
            #[cfg(feature = "sqlite")]
            generation: Generation::default(),
        }
    }

    /// Adds a statement after all others.
    pub fn push(&mut self, added: &AnalyzedStatement, row: VectorRow<'_>) {
        let AnalyzedStatement { name, text, language, encoded, features, module, .. } = added;
        let statement = Statement { name: name.clone(), text: text.clone(), language: *language };
        let module = module.as_str().into();
        self.entries.push(LibraryEntry { statement, graph: encoded.fingerprint(), module });
        self.rows.push(row);
        if let Some(learned) = &mut self.learned {
            learned.add_fact(name.clone(), features);
        }
    }

    /// The number of recorded proofs.
    pub fn proof_count(&self) -> usize {
        self.learned.as_ref().map_or(0, |learned| learned.index().proof_count())
    }
}
