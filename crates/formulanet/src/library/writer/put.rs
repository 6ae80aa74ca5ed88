//! One statement on its way into a library's table.

use rusqlite::{OptionalExtension, params};

use crate::analyze::{AnalyzedStatement, Analyzer};
use crate::library::{checksum, fail, proofs};
use crate::retrieve::VectorRetriever;
use crate::{Error, Language, Library};

/// A statement as the library keeps it.
pub(super) struct Ready<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    pub(super) language: &'a str,
    pub(super) module: &'a str,
    pub(super) graph: i64,
    pub(super) features: &'a [u8],
    /// Its row; `None` if the library had the statement when it was analysed.
    pub(super) row: Option<&'a [u8]>,
}

/// The effect on a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Put {
    /// Its name is new.
    New,
    /// Its text, language or module changed.
    Changed,
    /// It was there.
    Same,
}

/// A stored statement, compared with a new one of its name.
struct Stored {
    /// Whether text and language are the same.
    is_same: bool,
    module: String,
    sum: i64,
    row: Vec<u8>,
}

impl Library {
    /// Whether a statement is there with this text and in this language.
    pub(super) fn has(&self, premise: &AnalyzedStatement) -> Result<bool, Error> {
        let fail = fail(&self.path);
        let query = "SELECT text = ?2 AND syntax = ?3 FROM statements WHERE name = ?1";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let values = params![premise.name, premise.text, premise.language.name()];
        Ok(query.query_row(values, |row| row.get(0)).optional().map_err(&fail)?.unwrap_or(false))
    }

    /// Writes a statement. One that differs only in its module keeps its row and its proofs.
    pub(super) fn put(&self, ready: &Ready<'_>, retriever: &VectorRetriever) -> Result<Put, Error> {
        let Ready { name, text, language, module, graph, features, .. } = *ready;
        let fail = fail(&self.path);
        let sum_in = |module: &str, row: &[u8]| {
            checksum::of_statement([name, text, language, module].map(str::as_bytes), graph, row)
        };
        let stored = self.stored(name, text, language)?;
        if let Some(Stored { module: before, sum, row, .. }) = stored.as_ref().filter(|stored| stored.is_same)
        {
            // Who gives no module says nothing of it.
            if before == module || module.is_empty() {
                return Ok(Put::Same);
            }
            // A new sum must not hide that the row is damaged.
            if sum_in(before, row) != *sum {
                return Err(self.damaged(name));
            }
            let update = "UPDATE statements SET module = ?2, sum = ?3 WHERE name = ?1";
            let mut update = self.connection.prepare_cached(update).map_err(&fail)?;
            update.execute(params![name, module, sum_in(module, row)]).map_err(&fail)?;
            return Ok(Put::Changed);
        }
        let embedded;
        let row = match ready.row {
            Some(row) => row,
            None => {
                embedded = embed(ready, retriever)?;
                &embedded
            }
        };
        // A proof of what a name meant before says nothing about what it means now.
        if stored.is_some() {
            proofs::delete_proofs(self, name)?;
        }
        let upsert =
            "INSERT INTO statements (name, text, syntax, module, graph, row, features, sum, features_sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (name) DO UPDATE SET text = ?2, syntax = ?3, module = ?4, graph = ?5, row = ?6, features = ?7,
             sum = ?8, features_sum = ?9";
        let mut upsert = self.connection.prepare_cached(upsert).map_err(&fail)?;
        let features_sum = checksum::sum(&[name.as_bytes(), features]);
        let values =
            params![name, text, language, module, graph, row, features, sum_in(module, row), features_sum];
        upsert.execute(values).map_err(&fail)?;
        Ok(if stored.is_some() { Put::Changed } else { Put::New })
    }

    fn stored(&self, name: &str, text: &str, language: &str) -> Result<Option<Stored>, Error> {
        let fail = fail(&self.path);
        let query = "SELECT text = ?2 AND syntax = ?3, module, sum, row FROM statements WHERE name = ?1";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Stored { is_same: row.get(0)?, module: row.get(1)?, sum: row.get(2)?, row: row.get(3)? })
        };
        query.query_row([name, text, language], read).optional().map_err(&fail)
    }
}

/// Makes the row of a statement that the library had when it was analysed, and that another process removed since.
fn embed(ready: &Ready<'_>, retriever: &VectorRetriever) -> Result<Vec<u8>, Error> {
    let language = Language::named(ready.language).unwrap_or_default();
    let premise = Analyzer::new(retriever).analyze(ready.name, ready.text, language)?;
    Ok(retriever.rows(&[premise.named()]).get(0).to_bytes())
}
