//! The tables of a library, and what a file has to pass before anything else is read from it.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::{checksum, fail};
use crate::error::{Artefact, shown};
use crate::util::hash::mix;
use crate::{Error, Library};

/// Number of the file's format; a program reads only its own.
const FORMAT: i64 = 10;
/// Tells a library from other SQLite files: "FNet".
const APPLICATION_ID: i64 = 0x464e_6574;
/// Bytes of a file whose indexes are compared with its tables each time it is opened. Of a larger one, this is done when all
/// of it is read, because opening it should take no time that a user notices.
const CHECKED: i64 = 64 << 20;

/// The tables, without the triggers that keep their checksum.
const TABLES: &str = "
    CREATE TABLE made (
        fingerprint TEXT NOT NULL,
        model TEXT NOT NULL,
        width INTEGER NOT NULL,
        build INTEGER NOT NULL,
        page INTEGER NOT NULL,
        statement_sum INTEGER NOT NULL,
        proof_sum INTEGER NOT NULL
    );
    CREATE TABLE statements (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        text TEXT NOT NULL,
        syntax TEXT NOT NULL,
        module TEXT NOT NULL,
        graph INTEGER NOT NULL,
        row BLOB NOT NULL,
        features BLOB NOT NULL,
        sum INTEGER NOT NULL,
        features_sum INTEGER NOT NULL
    );
    CREATE TABLE proofs (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        used TEXT NOT NULL,
        digest INTEGER NOT NULL,
        origin TEXT NOT NULL,
        origin_sum INTEGER NOT NULL,
        UNIQUE (name, digest)
    );
    CREATE TABLE reader (model BLOB NOT NULL);";

/// A table and an index of it, which have to name the same rows.
const INDEXES: [(&str, [&str; 2]); 2] = [
    (
        "statements",
        [
            "SELECT number, name, 0 FROM statements NOT INDEXED",
            "SELECT number, name, 0 FROM statements INDEXED BY sqlite_autoindex_statements_1",
        ],
    ),
    (
        "proofs",
        [
            "SELECT number, name, digest FROM proofs NOT INDEXED",
            "SELECT number, name, digest FROM proofs INDEXED BY sqlite_autoindex_proofs_1",
        ],
    ),
];

/// Makes the tables of a new library.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    let pragmas = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};");
    connection.execute_batch(&[&pragmas, TABLES, checksum::TRIGGERS].concat())
}

/// Disables SQLite features that libraries never need, so that a crafted file cannot use them either.
pub(super) fn protect(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, is_on)?;
    }
    connection.pragma_update(None, "cell_size_check", true)
}

/// A table, index or trigger: its kind, its name and how it was made.
type Object = (String, String, String);

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let query = "SELECT type, name, ifnull(sql, '') FROM main.sqlite_schema ORDER BY type, name";
    let mut query = connection.prepare(query)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// The objects of a new library.
fn expected() -> rusqlite::Result<&'static [Object]> {
    static EXPECTED: OnceLock<Vec<Object>> = OnceLock::new();
    if let Some(objects) = EXPECTED.get() {
        return Ok(objects);
    }
    let connection = Connection::open_in_memory()?;
    create(&connection)?;
    let objects = objects(&connection)?;
    Ok(EXPECTED.get_or_init(|| objects))
}

impl Library {
    /// Refuses a file that is no library, is one of another format, or has tables, views or triggers of its own.
    pub(super) fn check_schema(&self) -> Result<(), Error> {
        let fail = fail(&self.path);
        let pragma = |name: &str| -> Result<i64, Error> {
            self.connection.pragma_query_value(None, name, |row| row.get(0)).map_err(&fail)
        };
        if pragma("application_id")? != APPLICATION_ID {
            return Err(foreign(&self.path, "another SQLite file".to_owned()));
        }
        let format = pragma("user_version")?;
        if format != FORMAT {
            let (artefact, file) = (Artefact::Library, shown(&self.path));
            return Err(Error::Unsupported { artefact, file, found: format, supported: FORMAT });
        }
        let (found, expected) = (objects(&self.connection).map_err(&fail)?, expected().map_err(&fail)?);
        if let Some((kind, name, _)) = found.iter().find(|object| !expected.contains(object)) {
            return Err(foreign(&self.path, format!("a {kind} `{name}` that no library has")));
        }
        if found.len() < expected.len() {
            return Err(self.error("expected all tables of a library, found some of them".to_owned()));
        }
        Ok(())
    }

    /// Compares indexes with tables, unless the file is so large that this would take long.
    pub(super) fn check_indexes_of_small(&self) -> Result<(), Error> {
        let fail = fail(&self.path);
        let query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let bytes: i64 = self.connection.query_row(query, [], |row| row.get(0)).map_err(&fail)?;
        if bytes > CHECKED { Ok(()) } else { self.check_indexes() }
    }

    /// Compares indexes with tables. They differ in a file that was copied while it was being written: statements have checksum
    /// of their own, so that a mixture of old and new ones is noticed without this.
    pub(super) fn check_indexes(&self) -> Result<(), Error> {
        let _moment = self.connection.is_autocommit().then(|| self.read_transaction()).transpose()?;
        for (table, queries) in INDEXES {
            let [rows, entries] = queries.map(|query| named_rows(&self.connection, query));
            if rows.map_err(fail(&self.path))? != entries.map_err(fail(&self.path))? {
                return Err(self.error(format!(
                    "the index of its {table} does not fit them; the file was copied or cut while it was written"
                )));
            }
        }
        Ok(())
    }
}

fn foreign(path: &Path, found: String) -> Error {
    Error::WrongKind { file: shown(path), expected: Artefact::Library, found }
}

/// The number of rows and a hash of numbers and names, whatever their order.
fn named_rows(connection: &Connection, query: &str) -> rusqlite::Result<(usize, u64)> {
    let mut query = connection.prepare(query)?;
    let mut rows = query.query([])?;
    let (mut count, mut total) = (0, 0u64);
    while let Some(row) = rows.next()? {
        let name = row.get_ref(1)?.as_bytes().unwrap_or_default();
        let (number, digest) = (row.get::<_, i64>(0)? as u64, row.get::<_, i64>(2)? as u64);
        total = total.wrapping_add(mix(mix(number, digest), formulanet_net::checksum(name)));
        count += 1;
    }
    Ok((count, total))
}
