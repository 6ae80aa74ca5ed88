//! All of a library, read at once or part by part, and read again where it has changed.

use std::sync::Arc;

use rusqlite::{OptionalExtension, Transaction};

use crate::corpus::{LibraryEntry, LibrarySnapshot, VectorColumn};
use crate::library::{CHUNK, checksum, fail, statement};
use crate::model::JointModelFile;
use crate::proofs::Features;
use crate::retrieve::ProofRetriever;
use crate::{Error, Language, Library};

/// How far a library has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Generation {
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
    from: Generation,
    to: Generation,
    language: Language,
    entries: Vec<LibraryEntry>,
    rows: VectorColumn,
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
    pub(super) fn add_to(self, learned: &mut ProofRetriever) {
        match self {
            Recorded::Fact(name, features) => learned.add_fact(name, &features),
            Recorded::Proof(name, used) => learned.add_proof(&name, &used),
        }
    }
}

impl LibrarySnapshot {
    /// How far the library has been read.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Adds what was added to the library; false if the additions follow another state.
    pub fn append(&mut self, additions: Additions) -> bool {
        let Additions { from, to, language, entries, rows, recorded } = additions;
        if from != self.generation {
            return false;
        }
        self.entries.extend(entries);
        self.rows.append(&rows);
        if let Some(learned) = &mut self.learned {
            recorded.into_iter().for_each(|recorded| recorded.add_to(learned));
        }
        (self.language, self.generation) = (language, to);
        true
    }
}

impl Library {
    /// Reads all of it into memory.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn load(&self) -> Result<LibrarySnapshot, Error> {
        let _moment = self.read_transaction()?;
        self.load_now()
    }

    /// Begins a look at the library: until it is dropped, everything is read as it is now, whatever others write.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(crate) fn read_transaction(&self) -> Result<Transaction<'_>, Error> {
        self.connection.unchecked_transaction().map_err(fail(&self.path))
    }

    fn load_now(&self) -> Result<LibrarySnapshot, Error> {
        self.check_indexes()?;
        let (mut entries, mut all) =
            (Vec::with_capacity(self.count()?), VectorColumn::new(self.info()?.width));
        self.scan(|part, rows| {
            entries.extend(part);
            all.append(rows);
            Ok(())
        })?;
        let (language, learned) = (self.language()?, self.learned()?);
        let fitted = self.fitted_reranker()?;
        Ok(LibrarySnapshot { entries, rows: all, language, learned, fitted, generation: self.generation()? })
    }

    /// Reads what was added since a state, at one moment; see [`LibrarySnapshot::append`].
    ///
    /// # Errors
    ///
    /// Returns an error if the file is damaged.
    pub fn changes_since(&self, from: Generation, has_index: bool) -> Result<Change, Error> {
        let _moment = self.read_transaction()?;
        let to = self.generation()?;
        if to == from {
            return Ok(Change::None);
        }
        let is_appended = (to.build, to.page) == (from.build, from.page)
            && to.statement >= from.statement
            && to.proof >= from.proof
            && (has_index || to.proof == 0);
        if !is_appended {
            return Ok(Change::Rewritten);
        }
        let (mut entries, mut all) = (Vec::new(), VectorColumn::new(self.info()?.width));
        let statements = self.scan_behind(from.statement, |part, rows| {
            entries.extend(part);
            all.append(rows);
            Ok(())
        })?;
        let (mut recorded, mut proofs) = (Vec::new(), 0);
        if has_index {
            proofs = self.recorded_since(from.statement, from.proof, |one| recorded.push(one))?;
        }
        // What was there before has to be there still.
        if (checksum::add(from.sums.0, statements), checksum::add(from.sums.1, proofs)) != to.sums {
            return Ok(Change::Rewritten);
        }
        let language = self.language()?;
        Ok(Change::Appended(Box::new(Additions { from, to, language, entries, rows: all, recorded })))
    }

    /// Keeps a reader that was fitted to this library, in place of the one that is there; or none.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn set_fitted_reranker(&mut self, model: Option<&[u8]>) -> Result<(), Error> {
        let fail = fail(&self.path);
        let transaction = self.writing()?;
        transaction.execute("DELETE FROM reader", []).map_err(&fail)?;
        if let Some(model) = model {
            transaction.execute("INSERT INTO reader VALUES (?1)", [model]).map_err(&fail)?;
        }
        self.bump_generation()?;
        self.finish(transaction)
    }

    /// The reader that was fitted to this library, if there is one.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn fitted_reranker(&self) -> Result<Option<JointModelFile>, Error> {
        let name = self.path.display().to_string();
        self.fitted_bytes()?.map(|bytes| JointModelFile::from_bytes(&bytes, &name)).transpose()
    }

    pub(super) fn fitted_bytes(&self) -> Result<Option<Vec<u8>>, Error> {
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

    fn generation(&self) -> Result<Generation, Error> {
        let query = "SELECT build, page, (SELECT ifnull(max(number), 0) FROM statements),
                     (SELECT ifnull(max(number), 0) FROM proofs), statement_sum, proof_sum FROM made";
        self.one(query, |row| {
            let (build, page, statement, proof) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(Generation { build, page, statement, proof, sums: (row.get(4)?, row.get(5)?) })
        })
    }

    /// Goes over all statements in the order in which they were added, as they are at one moment: a few thousand at a
    /// time, with their rows.
    ///
    /// # Errors
    ///
    /// If the file is damaged; or what the visitor says.
    pub fn scan(
        &self,
        visit: impl FnMut(Vec<LibraryEntry>, &VectorColumn) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.scan_behind(0, visit).map(|_| ())
    }

    /// Visits the statements with a higher number than this one. Returns their sum.
    fn scan_behind(
        &self,
        number: i64,
        mut visit: impl FnMut(Vec<LibraryEntry>, &VectorColumn) -> Result<(), Error>,
    ) -> Result<i64, Error> {
        // Read before the statements: what is added meanwhile is in none of both, because this is one look at the file.
        let _moment = self.connection.is_autocommit().then(|| self.read_transaction()).transpose()?;
        let expected: i64 = self.one("SELECT statement_sum FROM made", |row| row.get(0))?;
        let (mut last, mut total) = (number, 0);
        while let Some(part) = self.part_after(last)? {
            (last, total) = (part.last, checksum::add(total, part.sum));
            visit(part.entries, &part.rows)?;
        }
        if number == 0 && total != expected {
            return Err(self.error("the file is damaged: statements are missing".to_owned()));
        }
        Ok(total)
    }

    /// Some thousand statements with higher numbers than this one; `None` if there are none.
    pub(super) fn part_after(&self, number: i64) -> Result<Option<Part>, Error> {
        let fail = fail(&self.path);
        let query =
            "SELECT name, text, syntax, row, graph, module, sum, number FROM statements WHERE number > ?1
                     ORDER BY number LIMIT ?2";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let mut found = query.query([number, CHUNK as i64]).map_err(&fail)?;
        let mut part =
            Part { entries: Vec::new(), rows: VectorColumn::new(self.info()?.width), sum: 0, last: number };
        let mut module_before: Arc<str> = Arc::from("");
        while let Some(row) = found.next().map_err(&fail)? {
            let statement = statement(row).map_err(&fail)?;
            let blob = row.get_ref(3).map_err(&fail)?.as_blob().unwrap_or_default();
            let graph = row.get::<_, i64>(4).map_err(&fail)?;
            let module = row.get_ref(5).map_err(&fail)?.as_str().unwrap_or_default();
            let language = row.get_ref(2).map_err(&fail)?.as_str().unwrap_or_default();
            let texts = [&statement.name, &statement.text, language, module].map(str::as_bytes);
            let sum = checksum::of_statement(texts, graph, blob);
            if Ok(sum) != row.get(6) || !part.rows.push_bytes(blob) {
                return Err(self.damaged(&statement.name));
            }
            (part.sum, part.last) = (checksum::add(part.sum, sum), row.get(7).map_err(&fail)?);
            // Statements of a module stand together, and share its name.
            if module != &*module_before {
                module_before = Arc::from(module);
            }
            let module = Arc::clone(&module_before);
            part.entries.push(LibraryEntry { statement, graph: graph as u64, module });
        }
        Ok((!part.entries.is_empty()).then_some(part))
    }
}

/// Some of a library's statements, with their rows.
pub(super) struct Part {
    pub(super) entries: Vec<LibraryEntry>,
    pub(super) rows: VectorColumn,
    /// The sum of these statements.
    sum: i64,
    /// The number of the last.
    pub(super) last: i64,
}
