//! A premise library: names, statements and vectors in one SQLite file.
//!
//! Statements are embedded once, when they are added; ranking reads their vectors. A file belongs to the model that made
//! its vectors. Every change is one transaction, so that a writer that is killed leaves the file as it was before, and
//! readers see it before or after, never in between.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::Error;
use crate::collection::{Collection, Premise};
use crate::rank::{Ranker, Syntax};
use crate::selection::matches;

/// Number of the file's format; a program reads only its own.
const FORMAT: i64 = 1;
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

/// All names and vectors of a library, for ranking.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Vectors {
    /// What every statement is called.
    pub names: Vec<String>,
    /// Their vectors, one behind the other.
    pub values: Vec<f32>,
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

/// What an addition did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Added {
    /// Statements that were not there before.
    pub new: usize,
    /// Statements whose text changed.
    pub replaced: usize,
    /// Statements that were there already.
    pub same: usize,
}

impl Library {
    /// Makes an empty library for a model.
    ///
    /// # Errors
    ///
    /// If there is a file already, or it cannot be written.
    pub fn create(path: &Path, ranker: &Ranker, model: &str) -> Result<Self, Error> {
        if path.exists() {
            let message = "there is a file already; add to it with `library add`, or choose another name";
            return Err(Error::data(path.display().to_string(), message));
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
        let message = format!(
            "its vectors were made with another model ({}); give that one with --model, or build the library again \
             with `formulanet library build`",
            made.model
        );
        Err(Error::data(self.path.display().to_string(), message))
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
    pub fn add(&mut self, premises: &[Premise], ranker: &Ranker) -> Result<Added, Error> {
        self.check(ranker)?;
        let path = self.path.clone();
        let fail = fail(&path);
        let known = self.connection.prepare("SELECT text, syntax FROM statements WHERE name = ?1");
        let mut known = known.map_err(&fail)?;
        let mut fresh: Vec<&Premise> = Vec::new();
        let mut added = Added::default();
        for premise in premises {
            let found: Option<(String, String)> = known
                .query_row([&premise.name], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .map_err(&fail)?;
            match found {
                Some((text, syntax)) if text == premise.text && syntax == name_of(premise.syntax) => {
                    added.same += 1;
                }
                Some(_) => {
                    added.replaced += 1;
                    fresh.push(premise);
                }
                None => {
                    added.new += 1;
                    fresh.push(premise);
                }
            }
        }
        drop(known);
        let length = ranker.vector_length();
        let transaction = self.begin()?;
        for chunk in fresh.chunks(CHUNK) {
            let encoded: Vec<_> = chunk.iter().map(|premise| &premise.encoded).collect();
            let vectors = ranker.vectors(&encoded);
            let insert = "INSERT INTO statements (name, text, syntax, vector) VALUES (?1, ?2, ?3, ?4)
                          ON CONFLICT (name) DO UPDATE SET text = ?2, syntax = ?3, vector = ?4";
            let mut insert = transaction.prepare(insert).map_err(&fail)?;
            for (premise, vector) in chunk.iter().zip(vectors.chunks_exact(length)) {
                let values = params![premise.name, premise.text, name_of(premise.syntax), bytes(vector)];
                insert.execute(values).map_err(&fail)?;
            }
        }
        transaction.commit().map_err(&fail)?;
        Ok(added)
    }

    /// Takes part in an addition of another process, to a library that has none of the statements yet: embeds some of
    /// them, in as many calls.
    pub fn embed_with_others(premises: &[Premise], ranker: &Ranker) {
        for chunk in premises.chunks(CHUNK) {
            let encoded: Vec<_> = chunk.iter().map(|premise| &premise.encoded).collect();
            ranker.vectors(&encoded);
        }
    }

    /// Removes statements by names or patterns, and says how many.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn remove(&mut self, patterns: &[String]) -> Result<usize, Error> {
        let names: Vec<String> = self.entries()?.into_iter().map(|entry| entry.name).collect();
        let path = self.path.clone();
        let fail = fail(&path);
        let transaction = self.begin()?;
        let mut removed = 0;
        for name in names.iter().filter(|name| patterns.iter().any(|pattern| matches(pattern, name))) {
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
        let rows = query.query_map([], |row| {
            Ok(Entry { name: row.get(0)?, text: row.get(1)?, syntax: syntax_of(&row.get::<_, String>(2)?) })
        });
        rows.map_err(&fail)?.collect::<Result<_, _>>().map_err(&fail)
    }

    /// One statement by its name.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn entry(&self, name: &str) -> Result<Option<Entry>, Error> {
        let query = "SELECT name, text, syntax FROM statements WHERE name = ?1";
        let found = self.connection.query_row(query, [name], |row| {
            Ok(Entry { name: row.get(0)?, text: row.get(1)?, syntax: syntax_of(&row.get::<_, String>(2)?) })
        });
        found.optional().map_err(fail(&self.path))
    }

    /// All names and vectors.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn vectors(&self) -> Result<Vectors, Error> {
        let fail = fail(&self.path);
        let (length, count) = (self.made()?.length, self.count()?);
        let mut vectors =
            Vectors { names: Vec::with_capacity(count), values: Vec::with_capacity(count * length) };
        let query = "SELECT name, vector FROM statements ORDER BY number";
        let mut query = self.connection.prepare(query).map_err(&fail)?;
        let mut rows = query.query([]).map_err(&fail)?;
        while let Some(row) = rows.next().map_err(&fail)? {
            let name: String = row.get(0).map_err(&fail)?;
            let blob = row.get_ref(1).map_err(&fail)?;
            let blob = blob.as_blob().unwrap_or_default();
            if blob.len() != 4 * length {
                return Err(self.damaged(&name));
            }
            let numbers = blob.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            vectors.values.extend(numbers);
            vectors.names.push(name);
        }
        if vectors.values.iter().any(|x| !x.is_finite()) {
            return Err(self.damaged("a statement"));
        }
        Ok(vectors)
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
        let stored = self.vectors()?;
        let length = ranker.vector_length();
        let mut collection = Collection::new(ranker);
        for entry in self.entries()? {
            collection.add(&entry.name, &entry.text, entry.syntax)?;
        }
        for (i, chunk) in collection.premises.chunks(CHUNK).enumerate() {
            let encoded: Vec<_> = chunk.iter().map(|premise| &premise.encoded).collect();
            let vectors = ranker.vectors(&encoded);
            for (j, vector) in vectors.chunks_exact(length).enumerate() {
                let number = i * CHUNK + j;
                let of_file = &stored.values[number * length..][..length];
                let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 + 1e-2 * a.abs();
                if !vector.iter().zip(of_file).all(is_close) {
                    return Err(self.damaged(&stored.names[number]));
                }
            }
        }
        Ok(collection.premises.len())
    }

    fn begin(&mut self) -> Result<Transaction<'_>, Error> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        begun.map_err(fail(&self.path))
    }

    fn damaged(&self, name: &str) -> Error {
        let message = format!("the vector of `{name}` is damaged; build the library again");
        Error::data(self.path.display().to_string(), message)
    }
}

/// Statements that are embedded together.
const CHUNK: usize = 4096;

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
