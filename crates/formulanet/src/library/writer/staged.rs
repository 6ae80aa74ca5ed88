//! Staged statements: in temporary tables, which SQLite keeps in a private file.

use std::ops::Not;

use rusqlite::{OptionalExtension, params};

use super::put::{Put, Ready};
use super::{Added, Counts};
use crate::analyze::AnalyzedStatement;
use crate::library::fail;
use crate::read::Proof;
use crate::retrieve::VectorRetriever;
use crate::{Cancel, Error, Library};

/// Statements that wait until all of an addition is embedded.
pub(super) struct Staged<'a> {
    library: &'a Library,
    /// Statements that were given, those with a repeated name among them.
    given: usize,
}

const TABLES: &str = "
    DROP TABLE IF EXISTS temp.staged;
    DROP TABLE IF EXISTS temp.staged_proofs;
    CREATE TEMP TABLE staged (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, text TEXT, syntax TEXT, module TEXT, graph INTEGER,
        features BLOB, row BLOB
    );
    CREATE TEMP TABLE staged_proofs (number INTEGER PRIMARY KEY, name TEXT, used TEXT, place TEXT);
    CREATE INDEX temp.staged_proof_names ON staged_proofs (name);";

/// Statements between two looks whether to give up.
const BETWEEN: usize = 256;

impl<'a> Staged<'a> {
    pub(super) fn new(library: &'a Library) -> Result<Self, Error> {
        library.connection.execute_batch(TABLES).map_err(fail(&library.path))?;
        Ok(Staged { library, given: 0 })
    }

    /// Which statements the library does not have, as it is now.
    pub(super) fn fresh(&self, premises: &[AnalyzedStatement]) -> Result<Vec<bool>, Error> {
        let _moment = self.library.read_transaction()?;
        premises.iter().map(|premise| self.library.has(premise).map(Not::not)).collect()
    }

    /// Keeps statements with the rows of those that the library did not have. Of a name, the last counts.
    pub(super) fn keep(
        &mut self,
        premises: &[AnalyzedStatement],
        rows: &[Option<Vec<u8>>],
    ) -> Result<(), Error> {
        let connection = &self.library.connection;
        let fail = fail(&self.library.path);
        // Touches only temporary tables, so that the library itself is not locked.
        let transaction = connection.unchecked_transaction().map_err(&fail)?;
        for (premise, row) in premises.iter().zip(rows) {
            self.given += 1;
            let AnalyzedStatement { name, text, language, module, encoded, features, proofs, .. } = premise;
            let before = "SELECT text = ?2 AND syntax = ?3 FROM temp.staged WHERE name = ?1";
            let mut before = connection.prepare_cached(before).map_err(&fail)?;
            let is_same: Option<bool> = before
                .query_row(params![name, text, language.name()], |row| row.get(0))
                .optional()
                .map_err(&fail)?;
            if is_same == Some(false) {
                let forget = "DELETE FROM temp.staged_proofs WHERE name = ?1";
                connection.prepare_cached(forget).and_then(|mut q| q.execute([name])).map_err(&fail)?;
            }
            let keep = "INSERT INTO temp.staged (name, text, syntax, module, graph, features, row)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                        ON CONFLICT (name) DO UPDATE SET text = ?2, syntax = ?3, module = ?4, graph = ?5, features = ?6,
                        row = ?7";
            let graph = encoded.fingerprint() as i64;
            let values = params![name, text, language.name(), module, graph, features.to_bytes(), row];
            connection.prepare_cached(keep).and_then(|mut q| q.execute(values)).map_err(&fail)?;
            for Proof { name, used, place } in proofs {
                let used = serde_json::to_string(used).expect("names are plain data");
                let keep = "INSERT INTO temp.staged_proofs (name, used, place) VALUES (?1, ?2, ?3)";
                let mut keep = connection.prepare_cached(keep).map_err(&fail)?;
                keep.execute([name, &used, place]).map_err(&fail)?;
            }
        }
        transaction.commit().map_err(&fail)
    }

    /// Writes all of them into the library, whose transaction has begun, and counts.
    pub(super) fn write(&self, retriever: &VectorRetriever, cancel: &Cancel) -> Result<Counts, Error> {
        let fail = fail(&self.library.path);
        let query =
            "SELECT name, text, syntax, module, graph, features, row FROM temp.staged ORDER BY number";
        let mut query = self.library.connection.prepare(query).map_err(&fail)?;
        let mut rows = query.query([]).map_err(&fail)?;
        let mut added = Added::default();
        let mut count = 0;
        while let Some(row) = rows.next().map_err(&fail)? {
            if count % BETWEEN == 0 {
                cancel.check()?;
            }
            count += 1;
            let ready = ready(row).map_err(&fail)?;
            match self.library.put(&ready, retriever)? {
                Put::New => added.new += 1,
                Put::Changed => added.replaced += 1,
                Put::Same => added.same += 1,
            }
        }
        added.repeated = self.given - count;
        let query = "SELECT name, used, place FROM temp.staged_proofs ORDER BY number";
        let mut query = self.library.connection.prepare(query).map_err(&fail)?;
        let read = |row: &rusqlite::Row<'_>| {
            let used: String = row.get(1)?;
            let used = serde_json::from_str(&used).unwrap_or_default();
            Ok(Proof { name: row.get(0)?, used, place: row.get(2)? })
        };
        let proofs = query.query_map([], read).map_err(&fail)?;
        let proofs = proofs.collect::<Result<_, _>>().map_err(&fail)?;
        Ok(Counts { added, proofs })
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // What is not dropped here goes with the connection.
        let tables = "DROP TABLE IF EXISTS temp.staged; DROP TABLE IF EXISTS temp.staged_proofs;";
        let _ = self.library.connection.execute_batch(tables);
    }
}

fn ready<'r>(row: &'r rusqlite::Row<'_>) -> rusqlite::Result<Ready<'r>> {
    let text = |column: usize| -> rusqlite::Result<&'r str> { Ok(row.get_ref(column)?.as_str()?) };
    Ok(Ready {
        name: text(0)?,
        text: text(1)?,
        language: text(2)?,
        module: text(3)?,
        graph: row.get(4)?,
        features: row.get_ref(5)?.as_blob()?,
        row: row.get_ref(6)?.as_blob_or_null()?,
    })
}
