//! A premise library: names, statements and what scores need of them, in one SQLite file.
//!
//! Statements are embedded once, when they are added; ranking reads their rows. A file belongs to the model that made
//! them. Every change is one transaction, so that a writer that is killed leaves the file as it was before, and
//! readers see it before or after, never in between. A transaction is short: what takes long happens before it.
//!
//! The journal is SQLite's rollback journal. A write-ahead log would let readers pass a writer that is committing, but it stays
//! next to the library while a process has it open: a library that is moved into the place of another would be read together with
//! the log of the other.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use crate::analyze::{AnalyzedStatement, Analyzer};
use crate::error::{Artefact, shown};
use crate::model::registry;
use crate::retrieve::VectorRetriever;
use crate::util::files::{Identity, folder_of, identity};
use crate::util::glob::matches;
use crate::util::temporary::TempFolder;
use crate::util::vector::CHUNK;
use crate::{Engine, Error, Language, Statement};

mod checksum;
mod proofs;
mod repair;
mod schema;
mod snapshot;
mod writer;

pub use proofs::{Learned, ProofOrigin, RecordedProof};
pub use repair::Repaired;
pub use snapshot::{Additions, Change, Generation};
pub use writer::{Added, LibraryWriter};

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// Pages of a change that stay in memory until it is committed, 256 MiB. Of a larger change, some are written before, and
/// readers wait from then on.
const UNCOMMITTED: i64 = 1 << 16;

/// An open library.
pub struct Library {
    path: PathBuf,
    connection: Connection,
    /// Tells its file from another that takes its place; `None` in memory.
    identity: Option<Identity>,
}

/// The settings that a library was made with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryInfo {
    /// The model's fingerprint.
    pub fingerprint: String,
    /// The model's name or file.
    pub model: String,
    /// Numbers of a statement's vector.
    pub width: usize,
}

impl Library {
    /// Makes a library for a model and fills it. It is there as a whole or not at all, and never takes the place of a
    /// file that was made meanwhile.
    ///
    /// # Errors
    ///
    /// If there is a file already, or it cannot be written; or what filling it says.
    pub fn build(
        path: &Path,
        retriever: &VectorRetriever,
        model: &str,
        fill: impl FnOnce(&mut LibraryWriter<'_>) -> Result<(), Error>,
    ) -> Result<Added, Error> {
        let failed = |error| Error::io(path, error);
        let exists = || Error::Exists { path: shown(path), found: "a file" };
        if path.exists() {
            return Err(exists());
        }
        // Under another name until it is whole.
        let place = TempFolder::new_in(folder_of(path)).map_err(failed)?;
        let unfinished = place.path().join("library");
        let library = Self::create_for(&unfinished, retriever, model)?;
        // Nobody reads it yet, so that it need not stay in memory.
        library.connection.pragma_update(None, "cache_spill", true).map_err(fail(&unfinished))?;
        let mut addition = LibraryWriter::within(&library, retriever)?;
        fill(&mut addition)?;
        let added = addition.commit()?;
        drop(library);
        match fs::hard_link(&unfinished, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists()),
            // A file system without links has nothing that is exclusive.
            Err(_) if !path.exists() => fs::rename(&unfinished, path).map(|()| added).map_err(failed),
            Err(error) => Err(failed(error)),
            Ok(()) => Ok(added),
        }
    }

    /// An empty library in memory, for a process that embeds its share and writes nothing.
    ///
    /// # Errors
    ///
    /// If SQLite refuses.
    pub fn in_memory(retriever: &VectorRetriever) -> Result<Self, Error> {
        Self::create_for(Path::new(":memory:"), retriever, "")
    }

    fn create_for(path: &Path, retriever: &VectorRetriever, model: &str) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let fail = fail(path);
        let mut library = Self::connect(path, flags).map_err(&fail)?;
        let transaction = library.connection.transaction().map_err(&fail)?;
        schema::create(&transaction).map_err(&fail)?;
        let made = params![retriever.fingerprint(), model, retriever.width() as i64];
        transaction
            .execute("INSERT INTO made VALUES (?1, ?2, ?3, random(), 1, 0, 0)", made)
            .map_err(&fail)?;
        transaction.commit().map_err(&fail)?;
        Ok(library)
    }

    /// Opens a library to read and change it.
    ///
    /// # Errors
    ///
    /// If it is not there, or is no library.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_within(path, BUSY_TIMEOUT)
    }

    /// [`Library::open`], which waits so long at most for another process that is writing; the same holds for everything
    /// that is done with the library afterwards.
    ///
    /// # Errors
    ///
    /// As [`Library::open`]; [`Error::Busy`] if it has to wait longer.
    pub fn open_within(path: &Path, timeout: Duration) -> Result<Self, Error> {
        if !path.is_file() {
            return Err(Error::NoSuchLibrary(shown(path)));
        }
        let library = Self::connect_to(path)?;
        library.set_busy_timeout(timeout)?;
        library.check_schema()?;
        library.check_indexes_of_small()?;
        Ok(library)
    }

    /// Opens a file, of which nothing is known yet.
    fn connect_to(path: &Path) -> Result<Self, Error> {
        let library = match Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
            // Only a file that cannot be written is opened for reading alone; one that is busy is another matter.
            Err(error) if is_read_only(&error) => Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY),
            opened => opened,
        };
        library.map_err(fail(path))
    }

    fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Self> {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        schema::protect(&connection)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Where the file is not there yet, SQLite has made it.
        let library = Library { path: path.to_owned(), connection, identity: identity(path) };
        library.connection.pragma_update(Some("main"), "cache_spill", UNCOMMITTED)?;
        Ok(library)
    }

    fn set_busy_timeout(&self, timeout: Duration) -> Result<(), Error> {
        self.connection.busy_timeout(timeout.min(BUSY_TIMEOUT)).map_err(fail(&self.path))
    }

    /// Whether the file that was opened is still the one at its path.
    pub fn is_in_place(&self) -> bool {
        self.identity.is_none() || identity(&self.path) == self.identity
    }

    fn expect_in_place(&self) -> Result<(), Error> {
        if self.is_in_place() { Ok(()) } else { Err(Error::Replaced(shown(&self.path))) }
    }

    /// Refuses what can only be read, before work is done that could not be kept.
    fn expect_writable(&self) -> Result<(), Error> {
        match self.connection.is_readonly("main").map_err(fail(&self.path))? {
            true => Err(read_only(&self.path)),
            false => Ok(()),
        }
    }

    /// The settings that it was made with.
    ///
    /// # Errors
    ///
    /// If the file is damaged, or names something as its model that is no file, such as a pipe without an end.
    pub fn info(&self) -> Result<LibraryInfo, Error> {
        let made = self.one("SELECT fingerprint, model, width FROM made", |row| {
            Ok(LibraryInfo {
                fingerprint: row.get(0)?,
                model: row.get(1)?,
                width: row.get::<_, i64>(2)? as usize,
            })
        })?;
        let is_special = |found: fs::Metadata| !found.is_file() && !found.is_dir();
        if registry::bytes(&made.model).is_none() && fs::metadata(&made.model).is_ok_and(is_special) {
            let message = format!("expected a model file, found a pipe or a device: `{}`", made.model);
            return Err(self.error(message));
        }
        Ok(made)
    }

    /// Returns the result of a query with one row.
    fn one<T>(
        &self,
        query: &str,
        read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.connection.query_row(query, [], read).map_err(fail(&self.path))
    }

    /// Refuses a model other than the one that made the vectors.
    ///
    /// # Errors
    ///
    /// If it is another, with the way out.
    pub fn check(&self, retriever: &VectorRetriever) -> Result<(), Error> {
        let made = self.info()?;
        if made.fingerprint == retriever.fingerprint() && made.width == retriever.width() {
            return Ok(());
        }
        Err(Error::ModelMismatch { library: shown(&self.path), made_with: made.model })
    }

    /// The number of statements.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn count(&self) -> Result<usize, Error> {
        Ok(self.one("SELECT count(*) FROM statements", |row| row.get::<_, i64>(0))? as usize)
    }

    /// Makes an empty library for the engine's model of a language.
    ///
    /// # Errors
    ///
    /// Returns an error if there is a file already, or it cannot be written.
    pub fn create(path: impl AsRef<Path>, engine: &Engine, language: Language) -> Result<Self, Error> {
        let (path, model) = (path.as_ref(), engine.model_for(language)?);
        Self::build(path, &model.retriever, &model.name, |_| Ok(()))?;
        Self::open(path)
    }

    /// Adds statements, all or none; one with the name of a stored statement replaces it.
    ///
    /// # Errors
    ///
    /// Returns an error if a statement cannot be read, the library was made with another model, or it cannot be written.
    pub fn add(
        &mut self,
        engine: &Engine,
        statements: impl IntoIterator<Item = Statement>,
    ) -> Result<Added, Error> {
        let model = engine.model_of(self)?;
        let (mut analyzer, mut writer) = (Analyzer::new(&model.retriever), self.writer(&model.retriever)?);
        for Statement { name, text, language } in statements {
            writer.push(analyzer.analyze(&name, &text, language)?)?;
        }
        writer.commit()
    }

    /// Begins an addition, which takes statements one by one; what is not committed does not get in.
    ///
    /// # Errors
    ///
    /// If the model is another than the library's.
    pub fn writer<'a>(&'a mut self, retriever: &'a VectorRetriever) -> Result<LibraryWriter<'a>, Error> {
        self.check(retriever)?;
        LibraryWriter::new(self, retriever)
    }

    /// Removes statements by names or patterns, and says how many. A name that a statement has is no pattern.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn remove(&mut self, patterns: &[String]) -> Result<usize, Error> {
        let fail = fail(&self.path);
        let transaction = self.writing()?;
        let mut all = transaction.prepare("SELECT name FROM statements").map_err(&fail)?;
        let names = all.query_map([], |row| row.get(0)).map_err(&fail)?;
        let mut names: Vec<String> = names.collect::<Result<_, _>>().map_err(&fail)?;
        let is_name: Vec<bool> =
            patterns.iter().map(|pattern| names.iter().any(|name| name == pattern)).collect();
        let fits = |name: &String| {
            let mut patterns = patterns.iter().zip(&is_name);
            patterns.any(|(pattern, &is_name)| if is_name { pattern == name } else { matches(pattern, name) })
        };
        names.retain(fits);
        drop(all);
        let mut removed = 0;
        for name in names {
            proofs::delete_proofs(self, &name)?;
            removed +=
                transaction.execute("DELETE FROM statements WHERE name = ?1", [name]).map_err(&fail)?;
        }
        if removed > 0 {
            self.bump_generation()?;
        }
        self.finish(transaction)?;
        Ok(removed)
    }

    /// All statements in the order in which they were added.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn statements(&self) -> Result<Vec<Statement>, Error> {
        let fail = fail(&self.path);
        let query = "SELECT name, text, syntax FROM statements ORDER BY number";
        let mut query = self.connection.prepare(query).map_err(&fail)?;
        let rows = query.query_map([], statement).map_err(&fail)?;
        rows.collect::<Result<_, _>>().map_err(&fail)
    }

    /// One statement by its name.
    ///
    /// # Errors
    ///
    /// If it is not there, or the file is damaged.
    pub fn statement(&self, name: &str) -> Result<Statement, Error> {
        let query = "SELECT name, text, syntax FROM statements WHERE name = ?1";
        let found =
            self.connection.query_row(query, [name], statement).optional().map_err(fail(&self.path))?;
        found.ok_or_else(|| Error::NoSuchStatement { library: shown(&self.path), name: name.to_owned() })
    }

    /// The language of most of its statements.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn language(&self) -> Result<Language, Error> {
        let query = "SELECT count(*), count(*) FILTER (WHERE syntax = 'tptp'), count(*) FILTER (WHERE syntax = 'lean')
                     FROM statements";
        let (all, tptp, lean): (i64, i64, i64) =
            self.one(query, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let is_most = |count: i64| 2 * count > all;
        Ok(match (is_most(tptp), is_most(lean)) {
            (true, _) => Language::Tptp,
            (_, true) => Language::Lean,
            _ => Language::Hol,
        })
    }

    /// Checks the file, reads every statement and compares its vector with a new one. Returns how many there are.
    ///
    /// # Errors
    ///
    /// If something is not as it should be.
    pub fn verify(&self, retriever: &VectorRetriever) -> Result<usize, Error> {
        self.check(retriever)?;
        let check: String = self.one("PRAGMA integrity_check(1)", |row| row.get(0))?;
        if check != "ok" {
            return Err(self.error(format!("the file is damaged: {check}")));
        }
        self.check_indexes()?;
        // Reads all rows at one moment, which tells whether some are missing.
        self.scan(|_, _| Ok(()))?;
        let mut analyzer = Analyzer::new(retriever);
        let features = "SELECT features FROM statements WHERE name = ?1";
        let mut features = self.connection.prepare(features).map_err(fail(&self.path))?;
        let (mut count, mut last) = (0, 0);
        // A part at a time: embedding takes long, and whoever changes the library should not wait for it.
        while let Some(part) = self.part_after(last)? {
            let statements = part.entries.iter().map(|entry| &entry.statement);
            let premises = statements.map(|s| analyzer.analyze(&s.name, &s.text, s.language));
            let premises: Vec<AnalyzedStatement> = premises.collect::<Result<_, Error>>()?;
            let rows = retriever.rows(&premises.iter().map(AnalyzedStatement::named).collect::<Vec<_>>());
            for (((premise, entry), row), stored) in
                premises.iter().zip(&part.entries).zip(rows.iter()).zip(part.rows.iter())
            {
                let kept = features.query_row([&premise.name], |row| row.get::<_, Vec<u8>>(0)).optional();
                let kept = kept.map_err(fail(&self.path))?;
                // What was removed meanwhile has no features any more.
                let is_same = entry.graph == premise.encoded.fingerprint()
                    && kept.is_none_or(|kept| kept == premise.features.to_bytes());
                if !is_same || !row.is_close(&stored) {
                    return Err(self.damaged(&premise.name));
                }
            }
            count += part.entries.len();
            last = part.last;
        }
        Ok(count)
    }

    fn damaged(&self, name: &str) -> Error {
        self.error(format!("the row of `{name}` is damaged"))
    }

    fn error(&self, message: String) -> Error {
        Error::corrupt(Artefact::Library, &self.path, message)
    }
}

/// The re-ranker that was fitted to a library, at work.
///
/// # Errors
///
/// Returns an error if it is damaged.
pub fn fitted_reranker(
    library: &Library,
    compute: formulanet_net::Compute,
) -> Result<Option<crate::rerank::JointReranker>, Error> {
    library.fitted_reranker()?.map(|file| crate::rerank::JointReranker::new(file, compute)).transpose()
}

fn statement(row: &rusqlite::Row<'_>) -> rusqlite::Result<Statement> {
    let language = Language::named(row.get_ref(2)?.as_str()?).unwrap_or_default();
    Ok(Statement { name: row.get(0)?, text: row.get(1)?, language })
}

/// Whether a file cannot be opened for writing.
fn is_read_only(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | PermissionDenied | ReadOnly))
}

/// Converts an error of SQLite for a file.
fn fail(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    move |error| {
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy(shown(path)),
            Some(ErrorCode::NotADatabase) => {
                let found = "another file".to_owned();
                Error::WrongKind { file: shown(path), expected: Artefact::Library, found }
            }
            Some(ErrorCode::ReadOnly) if extended == Some(rusqlite::ffi::SQLITE_READONLY_ROLLBACK) => {
                Error::input(
                    path,
                    "a change that was not finished has to be undone first, but the file or its directory cannot be written",
                )
            }
            Some(ErrorCode::ReadOnly) => read_only(path),
            Some(ErrorCode::DatabaseCorrupt) => Error::corrupt(Artefact::Library, path, error),
            // A value of another type than every library has.
            None => Error::corrupt(Artefact::Library, path, error),
            Some(_) => Error::input(path, error),
        }
    }
}

fn read_only(path: &Path) -> Error {
    Error::input(path, "the file cannot be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that cannot be read is an error, not a statement that is not there.
    #[test]
    fn damaged_rows_are_seen() {
        let retriever = VectorRetriever::load_default().unwrap();
        let mut library = Library::in_memory(&retriever).unwrap();
        let mut writer = library.writer(&retriever).unwrap();
        writer.push(Analyzer::new(&retriever).analyze("a", "x = x", Language::Hol).unwrap()).unwrap();
        writer.commit().unwrap();
        library.connection.execute("UPDATE statements SET name = x'ff'", []).unwrap();
        assert!(library.remove(&["b".to_owned()]).is_err());
        assert!(library.statements().is_err() && library.load().is_err());
        library.connection.execute("UPDATE statements SET name = 'a', row = x'00'", []).unwrap();
        assert!(library.load().is_err_and(|error| error.to_string().contains("`a` is damaged")));
    }
}
