//! Statements on their way into a library, a few thousand at a time.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::analyze::AnalyzedStatement;
use crate::library::{CHUNK, checksum, fail, proofs};
use crate::read::{Proof, ProofWarnings};
use crate::retrieve::VectorRetriever;
use crate::{Error, Library};

/// What an addition did. Of statements with the same name, the last counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Added {
    /// Statements that were not there before.
    pub new: usize,
    /// Statements whose text changed.
    pub replaced: usize,
    /// Statements that were there already.
    pub same: usize,
    /// Statements that share their name with a later one of the same addition.
    pub repeated: usize,
    /// Proofs that were not known before.
    pub proofs: usize,
    /// What is strange in these.
    pub warnings: ProofWarnings,
}

/// An addition that has begun: all of it or nothing gets into the library.
///
/// Statements are embedded and written a few thousand at a time, so that memory does not grow with their number but for
/// their names. Other writers have to wait from the first of these writes on.
pub struct LibraryWriter<'a> {
    library: &'a Library,
    retriever: &'a VectorRetriever,
    transaction: Option<Transaction<'a>>,
    waiting: Vec<AnalyzedStatement>,
    changes: HashMap<String, Change>,
    repeated: usize,
    /// Proofs that were not there, by what they prove.
    learned: Vec<Proof>,
    is_strict: bool,
    writes: bool,
}

/// Hashes of what the library had under a name, and of what it has now.
struct Change {
    before: Option<u64>,
    now: u64,
}

impl<'a> LibraryWriter<'a> {
    pub(super) fn new(library: &'a Library, retriever: &'a VectorRetriever) -> Self {
        LibraryWriter {
            library,
            retriever,
            transaction: None,
            waiting: Vec::new(),
            changes: HashMap::new(),
            repeated: 0,
            learned: Vec::new(),
            is_strict: false,
            writes: true,
        }
    }

    /// Says whether to refuse proofs that use what they prove or what comes after it; otherwise such names do not count.
    pub fn set_strict(&mut self, is_strict: bool) {
        self.is_strict = is_strict;
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
    pub fn push(&mut self, premise: AnalyzedStatement) -> Result<(), Error> {
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
        let proofs = std::mem::take(&mut self.learned);
        let mut added = Added { repeated: self.repeated, proofs: proofs.len(), ..Added::default() };
        // Only now is it known which names come later.
        proofs::check_references(self.library, &proofs, self.is_strict, &mut added.warnings)?;
        for change in self.changes.values() {
            match change.before {
                None => added.new += 1,
                Some(before) if before == change.now => added.same += 1,
                Some(_) => added.replaced += 1,
            }
        }
        if added.replaced > 0 {
            self.library.bump_generation()?;
        }
        if let Some(transaction) = self.transaction.take() {
            transaction.commit().map_err(fail(&self.library.path))?;
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
        let rows = self.retriever.rows(&named);
        if !self.writes {
            return Ok(());
        }
        let insert =
            "INSERT INTO statements (name, text, syntax, module, graph, row, features, sum, features_sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (name) DO UPDATE SET text = ?2, syntax = ?3, module = ?4, graph = ?5, row = ?6, features = ?7,
             sum = ?8, features_sum = ?9";
        let mut insert = connection.prepare_cached(insert).map_err(&fail)?;
        for (premise, row) in fresh.iter().zip(rows.iter()) {
            // A proof of what a name meant before says nothing about what it means now.
            proofs::delete_proofs(self.library, &premise.name)?;
            let graph = premise.encoded.fingerprint() as i64;
            let features = premise.features.to_bytes();
            let (name, text, language) =
                (premise.name.as_str(), premise.text.as_str(), premise.language.name());
            let (module, row) = (&premise.module, row.to_bytes());
            let texts = [name, text, language, module].map(str::as_bytes);
            let sum = checksum::of_statement(texts, graph, &row);
            let features_sum = checksum::sum(&[name.as_bytes(), &features]);
            let values = params![name, text, language, module, graph, row, features, sum, features_sum];
            insert.execute(values).map_err(&fail)?;
        }
        for proof in waiting.into_iter().flat_map(|premise| premise.proofs) {
            if proofs::insert_proof(self.library, &proof)? {
                self.learned.push(proof);
            }
        }
        Ok(())
    }

    /// The statements that the library does not have, in order; notes what they change.
    fn fresh<'p>(&mut self, premises: &'p [AnalyzedStatement]) -> Result<Vec<&'p AnalyzedStatement>, Error> {
        let fail = fail(&self.library.path);
        let known = "SELECT text, syntax FROM statements WHERE name = ?1";
        let mut known = self.library.connection.prepare(known).map_err(&fail)?;
        let mut fresh = Vec::new();
        for premise in premises {
            let now = hash(&premise.text, premise.language.name());
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
fn hash(text: &str, language: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (text, language).hash(&mut hasher);
    hasher.finish()
}
