//! All of a library, read at once or part by part, and read again where it has changed.

use std::sync::Arc;

use rusqlite::{OptionalExtension, Transaction};

use super::{CHUNK, Library, fail, statement, sums};
use crate::Error;
use crate::model::together::TogetherFile;
use crate::rank::shelf::{Entry, Shelf};
use crate::rank::learned::Learned;
use crate::rank::row::Rows;
use crate::rank::theory::Features;
use crate::read::Syntax;

/// How far a library has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bookmark {
    /// Tells one build of a library from another.
    build: i64,
    /// Another number whenever a statement or a proof is removed or replaced.
    page: i64,
    /// The highest number of a statement.
    statement: i64,
    /// The highest number of a proof.
    proof: i64,
    /// The sum of all statements, and that of all proofs. Two copies of one build may go on differently.
    sums: (i64, i64),
}

/// The difference between a library and what was read of it before.
pub enum Change {
    /// There is none.
    None,
    /// Statements and proofs were added.
    Appended(Box<Additions>),
    /// Something was removed or replaced: all has to be read again.
    Rewritten,
}

/// Statements and proofs that were added to a library.
pub struct Additions {
    from: Bookmark,
    to: Bookmark,
    syntax: Syntax,
    entries: Vec<Entry>,
    rows: Rows,
    recorded: Vec<Recorded>,
}

impl Additions {
    /// The number of statements.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether only proofs were added.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A row of the library that its proofs are indexed by.
pub(super) enum Recorded {
    Fact(String, Features),
    Proof(String, Vec<String>),
}

impl Recorded {
    /// Adds it to an index.
    pub(super) fn add_to(self, learned: &mut Learned) {
        match self {
            Recorded::Fact(name, features) => learned.add_fact(name, &features),
            Recorded::Proof(name, used) => learned.add_proof(&name, &used),
        }
    }
}

impl Shelf {
    /// How far the library has been read.
    pub fn bookmark(&self) -> Bookmark {
        self.bookmark
    }

    /// Adds what was added to the library; false if the additions follow another state.
    pub fn append(&mut self, additions: Additions) -> bool {
        let Additions { from, to, syntax, entries, rows, recorded } = additions;
        if from != self.bookmark {
            return false;
        }
        self.entries.extend(entries);
        self.rows.append(&rows);
        if let Some(learned) = &mut self.learned {
            recorded.into_iter().for_each(|recorded| recorded.add_to(learned));
        }
        (self.syntax, self.bookmark) = (syntax, to);
        true
    }
}

impl Library {
    /// Reads all of it into memory.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn load(&self) -> Result<Shelf, Error> {
        let _moment = self.moment()?;
        self.load_now()
    }

    /// Begins a look at the library: until it is dropped, everything is read as it is now, whatever others write.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(crate) fn moment(&self) -> Result<Transaction<'_>, Error> {
        self.connection.unchecked_transaction().map_err(fail(&self.path))
    }

    fn load_now(&self) -> Result<Shelf, Error> {
        self.check_indexes()?;
        let (mut entries, mut all) = (Vec::with_capacity(self.count()?), Rows::new(self.made()?.width));
        self.scan(|part, rows| {
            entries.extend(part);
            all.append(rows);
            Ok(())
        })?;
        let (syntax, learned) = (self.syntax()?, self.learned()?);
        let reader = self.reader()?;
        Ok(Shelf { entries, rows: all, syntax, learned, reader, bookmark: self.bookmark()? })
    }

    /// Reads what was added since a state, at one moment; see [`Shelf::append`].
    ///
    /// # Errors
    ///
    /// Returns an error if the file is damaged.
    pub fn changes_since(&self, from: Bookmark, has_proofs: bool) -> Result<Change, Error> {
        let _moment = self.moment()?;
        let to = self.bookmark()?;
        if to == from {
            return Ok(Change::None);
        }
        let is_appended = (to.build, to.page) == (from.build, from.page)
            && to.statement >= from.statement
            && to.proof >= from.proof
            && (has_proofs || to.proof == 0);
        if !is_appended {
            return Ok(Change::Rewritten);
        }
        let (mut entries, mut all) = (Vec::new(), Rows::new(self.made()?.width));
        let statements = self.scan_behind(from.statement, |part, rows| {
            entries.extend(part);
            all.append(rows);
            Ok(())
        })?;
        let (mut recorded, mut proofs) = (Vec::new(), 0);
        if has_proofs {
            proofs = self.recorded_since(from.statement, from.proof, |one| recorded.push(one))?;
        }
        // What was there before has to be there still.
        if (sums::add(from.sums.0, statements), sums::add(from.sums.1, proofs)) != to.sums {
            return Ok(Change::Rewritten);
        }
        let syntax = self.syntax()?;
        Ok(Change::Appended(Box::new(Additions { from, to, syntax, entries, rows: all, recorded })))
    }

    /// Keeps a reader that was fitted to this library, in place of the one that is there; or none.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn keep_reader(&mut self, model: Option<&[u8]>) -> Result<(), Error> {
        let fail = fail(&self.path);
        let transaction = self.writing()?;
        transaction.execute("DELETE FROM reader", []).map_err(&fail)?;
        if let Some(model) = model {
            transaction.execute("INSERT INTO reader VALUES (?1)", [model]).map_err(&fail)?;
        }
        self.turn_page()?;
        self.finish(transaction)
    }

    /// The reader that was fitted to this library, if there is one.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn reader(&self) -> Result<Option<TogetherFile>, Error> {
        let name = self.path.display().to_string();
        self.reader_bytes()?.map(|bytes| TogetherFile::from_bytes(&bytes, &name)).transpose()
    }

    pub(super) fn reader_bytes(&self) -> Result<Option<Vec<u8>>, Error> {
        let query = "SELECT model FROM reader";
        let found = self.connection.query_row(query, [], |row| row.get(0)).optional();
        found.map_err(fail(&self.path))
    }

    /// A number that changes when another connection has changed the library.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn version(&self) -> Result<i64, Error> {
        self.connection.pragma_query_value(None, "data_version", |row| row.get(0)).map_err(fail(&self.path))
    }

    fn bookmark(&self) -> Result<Bookmark, Error> {
        let query = "SELECT build, page, (SELECT ifnull(max(number), 0) FROM statements),
                     (SELECT ifnull(max(number), 0) FROM proofs), statement_sum, proof_sum FROM made";
        self.one(query, |row| {
            let (build, page, statement, proof) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(Bookmark { build, page, statement, proof, sums: (row.get(4)?, row.get(5)?) })
        })
    }

    /// Goes over all statements in the order in which they were added, as they are at one moment: a few thousand at a
    /// time, with their rows.
    ///
    /// # Errors
    ///
    /// If the file is damaged; or what the visitor says.
    pub fn scan(&self, visit: impl FnMut(Vec<Entry>, &Rows) -> Result<(), Error>) -> Result<(), Error> {
        self.scan_behind(0, visit).map(|_| ())
    }

    /// The same for statements with a higher number than this one. Returns their sum.
    fn scan_behind(
        &self,
        number: i64,
        mut visit: impl FnMut(Vec<Entry>, &Rows) -> Result<(), Error>,
    ) -> Result<i64, Error> {
        let fail = fail(&self.path);
        let width = self.made()?.width;
        // Read before the statements: what is added meanwhile is in none of both, because this is one look at the file.
        let _moment = self.connection.is_autocommit().then(|| self.moment()).transpose()?;
        let expected: i64 = self.one("SELECT statement_sum FROM made", |row| row.get(0))?;
        let query = "SELECT name, text, syntax, row, graph, module, sum FROM statements WHERE number > ?1 ORDER BY number";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let mut found = query.query([number]).map_err(&fail)?;
        let (mut entries, mut rows) = (Vec::new(), Rows::new(width));
        let mut last: Arc<str> = Arc::from("");
        let mut total = 0;
        while let Some(row) = found.next().map_err(&fail)? {
            let statement = statement(row).map_err(&fail)?;
            let blob = row.get_ref(3).map_err(&fail)?.as_blob().unwrap_or_default();
            let graph = row.get::<_, i64>(4).map_err(&fail)?;
            let module = row.get_ref(5).map_err(&fail)?.as_str().unwrap_or_default();
            let syntax = row.get_ref(2).map_err(&fail)?.as_str().unwrap_or_default();
            let texts = [&statement.name, &statement.text, syntax, module].map(str::as_bytes);
            let sum = sums::of_statement(texts, graph, blob);
            if Ok(sum) != row.get(6) || !rows.push_bytes(blob) {
                return Err(self.damaged(&statement.name));
            }
            total = sums::add(total, sum);
            // Statements of a module stand together, and share its name.
            if module != &*last {
                last = Arc::from(module);
            }
            entries.push(Entry { statement, graph: graph as u64, module: Arc::clone(&last) });
            if entries.len() == CHUNK {
                visit(std::mem::take(&mut entries), &rows)?;
                rows = Rows::new(width);
            }
        }
        if number == 0 && total != expected {
            return Err(self.error("the file is damaged: statements are missing".to_owned()));
        }
        if !entries.is_empty() {
            visit(entries, &rows)?;
        }
        Ok(total)
    }
}
