//! A premise library: names, statements and vectors in one SQLite file.
//!
//! Statements are embedded once, when they are added; ranking reads their vectors. A file belongs to the model that made
//! its vectors. Every change is one transaction, so that a writer that is killed leaves the file as it was before, and
//! readers see it before or after, never in between.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use crate::Error;
use crate::rank::collection::{Collection, Premise};
use crate::rank::ranker::Ranker;
use crate::rank::selection::matches;
use crate::read::Syntax;

mod addition;

pub use addition::{Added, Addition};

/// Number of the file's format; a program reads only its own.
const FORMAT: i64 = 2;
/// What tells a library from other SQLite files: "FNet".
const APPLICATION: i64 = 0x464e_6574;
/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(30);

/// An open library.
pub struct Library {
    path: PathBuf,
    connection: Connection,
}

/// A statement of a library, without its vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What it is called.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// What it is written in.
    pub syntax: Syntax,
}

/// What a library was made with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// The model's fingerprint.
    pub fingerprint: String,
    /// The model's data, recipe and such, for people.
    pub model: String,
    /// Length of a vector.
    pub length: usize,
}

impl Library {
    /// Makes an empty library for a model.
    ///
    /// # Errors
    ///
    /// If there is a file already, or it cannot be written.
    pub fn create(path: &Path, ranker: &Ranker, model: &str) -> Result<Self, Error> {
        if path.exists() {
            return Err(Error::exists(path, "a file"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut library = Self::connect(path, flags)?;
        let fail = fail(path);
        let transaction = library.connection.transaction().map_err(&fail)?;
        let schema = format!(
            "PRAGMA application_id = {APPLICATION};
             PRAGMA user_version = {FORMAT};
             CREATE TABLE made (fingerprint TEXT NOT NULL, model TEXT NOT NULL, length INTEGER NOT NULL);
             CREATE TABLE statements (
                 number INTEGER PRIMARY KEY,
                 name TEXT NOT NULL UNIQUE,
                 text TEXT NOT NULL,
                 syntax TEXT NOT NULL,
                 vector BLOB NOT NULL
             );"
        );
        transaction.execute_batch(&schema).map_err(&fail)?;
        let made = params![ranker.model().fingerprint(), model, ranker.vector_length() as i64];
        transaction.execute("INSERT INTO made VALUES (?1, ?2, ?3)", made).map_err(&fail)?;
        transaction.commit().map_err(&fail)?;
        Ok(library)
    }

    /// Opens a library to read and change it.
    ///
    /// # Errors
    ///
    /// If it is not there, or is no library.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if !path.is_file() {
            let message = "expected a library, found no such file; make one with `formulanet library build`";
            return Err(Error::data(path.display().to_string(), message));
        }
        let library = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .or_else(|_| Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY))?;
        let pragma = |name: &str| -> Result<i64, Error> {
            library.connection.pragma_query_value(None, name, |row| row.get(0)).map_err(fail(path))
        };
        let wrong = |found: String| Error::data(path.display().to_string(), found);
        if pragma("application_id")? != APPLICATION {
            return Err(wrong("expected a premise library, found another SQLite file".into()));
        }
        match pragma("user_version")? {
            FORMAT => Ok(library),
            other => Err(wrong(format!(
                "expected a library of format {FORMAT}, found {other}; build it again with this program"
            ))),
        }
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, Error> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(fail(path))?;
        connection.busy_timeout(PATIENCE).map_err(fail(path))?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(fail(path))?;
        Ok(Library { path: path.to_owned(), connection })
    }

    /// What it was made with.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn made(&self) -> Result<Made, Error> {
        let read = self.connection.query_row("SELECT fingerprint, model, length FROM made", [], |row| {
            Ok(Made { fingerprint: row.get(0)?, model: row.get(1)?, length: row.get::<_, i64>(2)? as usize })
        });
        read.map_err(fail(&self.path))
    }

    /// Refuses a model other than the one that made the vectors.
    ///
    /// # Errors
    ///
    /// If it is another, with the way out.
    pub fn check(&self, ranker: &Ranker) -> Result<(), Error> {
        let made = self.made()?;
        if made.fingerprint == ranker.model().fingerprint() && made.length == ranker.vector_length() {
            return Ok(());
        }
        let library = self.path.display().to_string();
        Err(Error::OtherModel { library, made_with: made.model })
    }

    /// How many statements there are.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn count(&self) -> Result<usize, Error> {
        let count =
            self.connection.query_row("SELECT count(*) FROM statements", [], |row| row.get::<_, i64>(0));
        Ok(count.map_err(fail(&self.path))? as usize)
    }

    /// Adds statements, all or none. A statement whose name is there already replaces it if the text differs.
    ///
    /// # Errors
    ///
    /// If the model is another than the library's, or the file cannot be written.
    pub fn add(
        &mut self,
        premises: impl IntoIterator<Item = Premise>,
        ranker: &Ranker,
    ) -> Result<Added, Error> {
        let mut addition = self.addition(ranker)?;
        premises.into_iter().try_for_each(|premise| addition.push(premise))?;
        addition.commit()
    }

    /// Begins an addition, which takes statements one by one; what is not committed does not get in.
    ///
    /// # Errors
    ///
    /// If the model is another than the library's.
    pub fn addition<'a>(&'a mut self, ranker: &'a Ranker) -> Result<Addition<'a>, Error> {
        self.check(ranker)?;
        Ok(Addition::new(self, ranker))
    }

    /// Removes statements by names or patterns, and says how many.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn remove(&mut self, patterns: &[String]) -> Result<usize, Error> {
        let path = self.path.clone();
        let fail = fail(&path);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&fail)?;
        let mut all = transaction.prepare("SELECT name FROM statements").map_err(&fail)?;
        let names = all.query_map([], |row| row.get(0)).map_err(&fail)?;
        let names = names.filter(|name: &rusqlite::Result<String>| {
            name.as_ref().is_ok_and(|name| patterns.iter().any(|pattern| matches(pattern, name)))
        });
        let names: Vec<String> = names.collect::<Result<_, _>>().map_err(&fail)?;
        drop(all);
        let mut removed = 0;
        for name in names {
            removed +=
                transaction.execute("DELETE FROM statements WHERE name = ?1", [name]).map_err(&fail)?;
        }
        transaction.commit().map_err(&fail)?;
        Ok(removed)
    }

    /// All statements in the order in which they were added.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let fail = fail(&self.path);
        let query = "SELECT name, text, syntax FROM statements ORDER BY number";
        let mut query = self.connection.prepare(query).map_err(&fail)?;
        let rows = query.query_map([], entry).map_err(&fail)?;
        rows.collect::<Result<_, _>>().map_err(&fail)
    }

    /// One statement by its name.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn entry(&self, name: &str) -> Result<Option<Entry>, Error> {
        let query = "SELECT name, text, syntax FROM statements WHERE name = ?1";
        self.connection.query_row(query, [name], entry).optional().map_err(fail(&self.path))
    }

    /// Goes over all statements in the order in which they were added, as they are at one moment: a few thousand at a
    /// time, with their vectors one behind the other.
    ///
    /// # Errors
    ///
    /// If the file is damaged; or what the visitor says.
    pub fn scan<E: From<Error>>(
        &self,
        mut visit: impl FnMut(Vec<Entry>, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let fail = fail(&self.path);
        let length = self.made()?.length;
        let query = "SELECT name, text, syntax, vector FROM statements ORDER BY number";
        let mut query = self.connection.prepare(query).map_err(&fail)?;
        let mut rows = query.query([]).map_err(&fail)?;
        let (mut entries, mut values) = (Vec::new(), Vec::with_capacity(CHUNK * length));
        loop {
            let row = rows.next().map_err(&fail)?;
            if entries.len() >= CHUNK || (row.is_none() && !entries.is_empty()) {
                visit(std::mem::take(&mut entries), &values)?;
                values.clear();
            }
            let Some(row) = row else { return Ok(()) };
            let entry = entry(row).map_err(&fail)?;
            let blob = row.get_ref(3).map_err(&fail)?;
            let blob = blob.as_blob().unwrap_or_default();
            let numbers = blob.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            values.extend(numbers);
            let is_whole = blob.len() == 4 * length;
            if !is_whole || values[values.len() - length..].iter().any(|x| !x.is_finite()) {
                return Err(self.damaged(&entry.name).into());
            }
            entries.push(entry);
        }
    }

    /// Checks the file, reads every statement and compares its vector with a new one. Returns how many there are.
    ///
    /// # Errors
    ///
    /// If something is not as it should be.
    pub fn verify(&self, ranker: &Ranker) -> Result<usize, Error> {
        self.check(ranker)?;
        let check: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(fail(&self.path))?;
        if check != "ok" {
            return Err(Error::data(
                self.path.display().to_string(),
                format!("the file is damaged: {check}"),
            ));
        }
        let (length, mut count) = (ranker.vector_length(), 0);
        self.scan(|entries, stored| {
            count += entries.len();
            let mut collection = Collection::new(ranker);
            for entry in &entries {
                collection.add(&entry.name, &entry.text, entry.syntax)?;
            }
            let named: Vec<_> = collection.premises.iter().map(Premise::named).collect();
            let vectors = ranker.vectors(&named);
            let mut rows = vectors.chunks_exact(length).zip(stored.chunks_exact(length));
            match rows.position(|(vector, stored)| !ranker.is_same(vector, stored)) {
                Some(number) => Err(self.damaged(&entries[number].name)),
                None => Ok(()),
            }
        })?;
        Ok(count)
    }

    fn damaged(&self, name: &str) -> Error {
        let message = format!("the vector of `{name}` is damaged; build the library again");
        Error::data(self.path.display().to_string(), message)
    }
}

/// Statements that are embedded, written or read together.
const CHUNK: usize = 4096;

fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry { name: row.get(0)?, text: row.get(1)?, syntax: syntax_of(row.get_ref(2)?.as_str()?) })
}

fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn name_of(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Hol => "hol",
        Syntax::Tptp => "tptp",
    }
}

fn syntax_of(name: &str) -> Syntax {
    if name == "tptp" { Syntax::Tptp } else { Syntax::Hol }
}

/// What SQLite said of a file.
fn fail(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    let shown = path.display().to_string();
    move |error| {
        let message = match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy) => "another process is writing; try again".to_owned(),
            Some(rusqlite::ErrorCode::NotADatabase) => {
                "expected a premise library, found another file".to_owned()
            }
            Some(rusqlite::ErrorCode::ReadOnly) => "the file cannot be written".to_owned(),
            _ => error.to_string(),
        };
        Error::data(&shown, message)
    }
}
