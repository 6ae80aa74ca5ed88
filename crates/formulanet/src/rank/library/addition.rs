//! Statements on their way into a library, a few thousand at a time.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::{CHUNK, Library, fail};
use crate::Error;
use crate::rank::{Premise, Ranker};

/// What an addition did. Of statements with the same name, the last counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Added {
    /// Statements that were not there before.
    pub new: usize,
    /// Statements whose text changed.
    pub replaced: usize,
    /// Statements that were there already.
    pub same: usize,
    /// Statements that share their name with a later one of the same addition.
    pub repeated: usize,
}

/// An addition that has begun: all of it or nothing gets into the library.
///
/// Statements are embedded and written a few thousand at a time, so that memory does not grow with their number but for
/// their names. Other writers have to wait from the first of these writes on.
pub struct Addition<'a> {
    library: &'a Library,
    ranker: &'a Ranker,
    transaction: Option<Transaction<'a>>,
    waiting: Vec<Premise>,
    changes: HashMap<String, Change>,
    repeated: usize,
    writes: bool,
}

/// Hashes of what the library had under a name, and of what it has now.
struct Change {
    before: Option<u64>,
    now: u64,
}

impl<'a> Addition<'a> {
    pub(super) fn new(library: &'a Library, ranker: &'a Ranker) -> Self {
        let (waiting, changes) = (Vec::new(), HashMap::new());
        Addition { library, ranker, transaction: None, waiting, changes, repeated: 0, writes: true }
    }

    /// The same addition of a process that shares the work of embedding with one that writes, and does not write itself.
    #[must_use]
    pub fn without_writing(mut self) -> Self {
        self.writes = false;
        self
    }

    /// Adds a statement. One whose name is there already is replaced if the text differs.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn push(&mut self, premise: Premise) -> Result<(), Error> {
        self.waiting.push(premise);
        if self.waiting.len() >= CHUNK { self.write() } else { Ok(()) }
    }

    /// Makes the addition last.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn commit(mut self) -> Result<Added, Error> {
        self.write()?;
        if let Some(transaction) = self.transaction.take() {
            transaction.commit().map_err(fail(&self.library.path))?;
        }
        let mut added = Added { repeated: self.repeated, ..Added::default() };
        for change in self.changes.values() {
            match change.before {
                None => added.new += 1,
                Some(before) if before == change.now => added.same += 1,
                Some(_) => added.replaced += 1,
            }
        }
        Ok(added)
    }

    /// Embeds and writes what waits.
    fn write(&mut self) -> Result<(), Error> {
        let fail = fail(&self.library.path);
        let connection = &self.library.connection;
        if self.transaction.is_none() {
            let begun = Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
            self.transaction = Some(begun.map_err(&fail)?);
        }
        let waiting = std::mem::take(&mut self.waiting);
        let fresh = self.fresh(&waiting)?;
        let named: Vec<_> = fresh.iter().map(|premise| premise.named()).collect();
        let rows = self.ranker.rows(&named);
        if !self.writes {
            return Ok(());
        }
        let insert = "INSERT INTO statements (name, text, syntax, row) VALUES (?1, ?2, ?3, ?4)
                      ON CONFLICT (name) DO UPDATE SET text = ?2, syntax = ?3, row = ?4";
        let mut insert = connection.prepare(insert).map_err(&fail)?;
        for (premise, row) in fresh.iter().zip(rows.iter()) {
            let values = params![premise.name, premise.text, premise.syntax.name(), row.to_bytes()];
            insert.execute(values).map_err(&fail)?;
        }
        Ok(())
    }

    /// The statements that the library does not have, in order; notes what they change.
    fn fresh<'p>(&mut self, premises: &'p [Premise]) -> Result<Vec<&'p Premise>, Error> {
        let fail = fail(&self.library.path);
        let known = "SELECT text, syntax FROM statements WHERE name = ?1";
        let mut known = self.library.connection.prepare(known).map_err(&fail)?;
        let mut fresh = Vec::new();
        for premise in premises {
            let now = hash(&premise.text, premise.syntax.name());
            if let Some(change) = self.changes.get_mut(&premise.name) {
                self.repeated += 1;
                if std::mem::replace(&mut change.now, now) != now {
                    fresh.push(premise);
                }
                continue;
            }
            let before = known.query_row([&premise.name], |row| {
                Ok(hash(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?))
            });
            let before = before.optional().map_err(&fail)?;
            if before != Some(now) {
                fresh.push(premise);
            }
            self.changes.insert(premise.name.clone(), Change { before, now });
        }
        Ok(fresh)
    }
}

/// Tells one statement from another.
fn hash(text: &str, syntax: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (text, syntax).hash(&mut hasher);
    hasher.finish()
}
