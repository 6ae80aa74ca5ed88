//! All of a library, read at once or part by part, and read again where it has changed.

use std::sync::Arc;

use rusqlite::{OptionalExtension, Transaction};

use super::{CHUNK, Library, fail, statement, sums};
use crate::Error;
use crate::model::together::TogetherFile;
use crate::rank::shelf::{Entry, Shelf};
use crate::rank::row::Rows;

/// How far a library has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bookmark {
    /// Changes when something that was there is no more, or is another.
    page: i64,
    /// The highest number of a statement.
    statement: i64,
    /// The highest number of a proof.
    proof: i64,
}

/// What a second look at a library finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// Nothing.
    None,
    /// Statements or proofs that were added: [`Library::read_on`] reads them.
    Additions,
    /// Something was changed or taken away: all has to be read again.
    Changes,
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

    /// Looks whether what was read is all that there is.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn look(&self, shelf: &Shelf) -> Result<News, Error> {
        let (before, now) = (shelf.bookmark, self.bookmark()?);
        Ok(if now == before {
            News::None
        } else if now.page != before.page || (shelf.learned.is_none() && now.proof > 0) {
            News::Changes
        } else {
            News::Additions
        })
    }

    /// Adds statements and proofs that came behind those that were read.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn read_on(&self, shelf: &mut Shelf) -> Result<(), Error> {
        let _moment = self.moment()?;
        let (before, now) = (shelf.bookmark, self.bookmark()?);
        self.scan_behind(before.statement, |part, rows| {
            shelf.entries.extend(part);
            shelf.rows.append(rows);
            Ok(())
        })?;
        if let Some(learned) = &mut shelf.learned {
            self.learn_into(learned, before.statement, before.proof)?;
        }
        (shelf.syntax, shelf.bookmark) = (self.syntax()?, now);
        Ok(())
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
        transaction.commit().map_err(&fail)
    }

    /// The reader that was fitted to this library, if there is one.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn reader(&self) -> Result<Option<TogetherFile>, Error> {
        let fail = fail(&self.path);
        let query = "SELECT model FROM reader";
        let found: Option<Vec<u8>> =
            self.connection.query_row(query, [], |row| row.get(0)).optional().map_err(&fail)?;
        let name = self.path.display().to_string();
        found.map(|bytes| TogetherFile::from_bytes(&bytes, &name)).transpose()
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
        let query = "SELECT page, (SELECT ifnull(max(number), 0) FROM statements),
                     (SELECT ifnull(max(number), 0) FROM proofs) FROM made";
        self.one(query, |row| Ok(Bookmark { page: row.get(0)?, statement: row.get(1)?, proof: row.get(2)? }))
    }

    /// Goes over all statements in the order in which they were added, as they are at one moment: a few thousand at a
    /// time, with their rows.
    ///
    /// # Errors
    ///
    /// If the file is damaged; or what the visitor says.
    pub fn scan(&self, visit: impl FnMut(Vec<Entry>, &Rows) -> Result<(), Error>) -> Result<(), Error> {
        self.scan_behind(0, visit)
    }

    /// The same for statements with a higher number than this one.
    fn scan_behind(
        &self,
        number: i64,
        mut visit: impl FnMut(Vec<Entry>, &Rows) -> Result<(), Error>,
    ) -> Result<(), Error> {
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
            return Err(self
                .error("expected more statements; the file is damaged: build the library again".to_owned()));
        }
        if entries.is_empty() { Ok(()) } else { visit(entries, &rows) }
    }
}
