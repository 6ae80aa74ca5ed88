//! Statements on their way into a library, a few thousand at a time.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use rusqlite::Transaction;

use super::{CHUNK, proofs};
use crate::analyze::AnalyzedStatement;
use crate::read::{Proof, ProofWarnings};
use crate::retrieve::VectorRetriever;
use crate::{Cancel, Error, Library};

mod put;
mod staged;

use put::Ready;
use staged::Staged;

/// The result of an addition. Of statements with the same name, the last counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Added {
    /// Statements that were not there before.
    pub new: usize,
    /// Statements whose text, language or module changed.
    pub replaced: usize,
    /// Statements that were there already.
    pub same: usize,
    /// Statements that share their name with a later one of the same addition.
    pub repeated: usize,
    /// Proofs that were not known before.
    pub proofs: usize,
    /// Proofs of statements that the library does not have, which were not kept.
    pub of_unknown: usize,
    /// Warnings about references of new proofs.
    pub warnings: ProofWarnings,
}

/// An addition that has begun: all of it or nothing gets into the library.
///
/// Statements are embedded a few thousand at a time and kept outside the library, so that neither readers nor other writers wait.
/// [`LibraryWriter::commit`] writes all of them at once.
pub struct LibraryWriter<'a> {
    library: &'a Library,
    retriever: &'a VectorRetriever,
    place: Place<'a>,
    waiting: Vec<AnalyzedStatement>,
    /// Proofs that came without their statements.
    claims: Vec<Proof>,
    cancel: Cancel,
    /// When to give up waiting for another process that writes.
    deadline: Option<Instant>,
    is_strict: bool,
}

/// Where statements go when they are embedded.
enum Place<'a> {
    /// Outside the library, until the end.
    Beside(Staged<'a>),
    /// Into a new library that is not visible yet.
    Within(Transaction<'a>, Seen),
    /// Nowhere: another process writes.
    Nowhere(Seen),
}

/// The statements written so far in one addition to a new library.
#[derive(Default)]
struct Seen {
    /// Hashes of texts by names.
    texts: HashMap<String, u64>,
    given: usize,
    /// Proofs that were not there.
    learned: Vec<Proof>,
}

/// The statements that were written, and the proofs to be written after them.
struct Counts {
    added: Added,
    proofs: Vec<Proof>,
}

impl<'a> LibraryWriter<'a> {
    /// An addition to an empty library that is not visible yet.
    pub(super) fn new(library: &'a Library, retriever: &'a VectorRetriever) -> Result<Self, Error> {
        library.expect_writable()?;
        Ok(Self::at(library, retriever, Place::Beside(Staged::new(library)?)))
    }

    /// An addition to an empty library that is not visible yet.
    pub(super) fn within(library: &'a Library, retriever: &'a VectorRetriever) -> Result<Self, Error> {
        Ok(Self::at(library, retriever, Place::Within(library.writing()?, Seen::default())))
    }

    fn at(library: &'a Library, retriever: &'a VectorRetriever, place: Place<'a>) -> Self {
        let (waiting, claims) = (Vec::new(), Vec::new());
        let (cancel, deadline) = (Cancel::never(), None);
        LibraryWriter { library, retriever, place, waiting, claims, cancel, deadline, is_strict: false }
    }

    /// Says whether to refuse proofs that use what they prove or what comes after it; otherwise such names do not count.
    pub fn set_strict(&mut self, is_strict: bool) {
        self.is_strict = is_strict;
    }

    /// Limits the addition: it stops when it is cancelled, and waits for another writer until a deadline. Nothing is written
    /// then.
    #[must_use]
    pub fn until(mut self, cancel: Cancel, deadline: Instant) -> Self {
        (self.cancel, self.deadline) = (cancel, Some(deadline));
        self
    }

    /// An addition of a process that shares the work of embedding with the one that makes a library, and writes nothing.
    #[must_use]
    pub fn without_writing(mut self) -> Self {
        self.place = Place::Nowhere(Seen::default());
        self
    }

    /// Adds a statement. One whose name is there already is replaced if its text differs.
    ///
    /// # Errors
    ///
    /// If it cannot be kept until the end.
    pub fn push(&mut self, premise: AnalyzedStatement) -> Result<(), Error> {
        self.waiting.push(premise);
        if self.waiting.len() >= CHUNK { self.write() } else { Ok(()) }
    }

    /// Adds a proof of a statement that is there, or that comes with the same addition.
    pub fn push_proof(&mut self, proof: Proof) {
        self.claims.push(proof);
    }

    /// Makes the addition last.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn commit(mut self) -> Result<Added, Error> {
        self.write()?;
        if let Some(deadline) = self.deadline {
            self.library.set_busy_timeout(deadline.saturating_duration_since(Instant::now()))?;
        }
        let LibraryWriter { library, retriever, place, claims, cancel, is_strict, .. } = self;
        let (transaction, mut added, mut learned, proofs) = match place {
            Place::Beside(staged) => {
                let transaction = library.writing()?;
                let Counts { added, proofs } = staged.write(retriever, &cancel)?;
                (Some(transaction), added, Vec::new(), proofs)
            }
            Place::Within(transaction, seen) => (Some(transaction), seen.counts(), seen.learned, Vec::new()),
            Place::Nowhere(seen) => return Ok(seen.counts()),
        };
        for proof in proofs.into_iter().chain(claims) {
            if proofs::number(library, &proof.name)?.is_none() {
                added.of_unknown += 1;
            } else if proofs::insert_proof(library, &proof, None)? {
                learned.push(proof);
            }
        }
        // Only now is it known which names come later.
        proofs::check_references(library, &learned, is_strict, &mut added.warnings)?;
        added.proofs = learned.len();
        if added.replaced > 0 {
            library.bump_generation()?;
        }
        cancel.check()?;
        transaction.map_or(Ok(()), |transaction| library.finish(transaction))?;
        Ok(added)
    }

    /// Embeds what waits, and puts it in its place.
    fn write(&mut self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let is_fresh = match &mut self.place {
            Place::Beside(staged) => staged.fresh(&waiting)?,
            Place::Within(_, seen) | Place::Nowhere(seen) => {
                waiting.iter().map(|premise| seen.note(premise)).collect()
            }
        };
        let fresh: Vec<&AnalyzedStatement> =
            waiting.iter().zip(&is_fresh).filter(|(_, is_fresh)| **is_fresh).map(|(one, _)| one).collect();
        let mut rows = Vec::with_capacity(fresh.len());
        for batch in self.cancel.batches(&fresh, |premise| &premise.encoded) {
            self.cancel.check()?;
            let named: Vec<_> = batch.iter().map(|premise| premise.named()).collect();
            rows.extend(self.retriever.rows(&named).iter().map(|row| row.to_bytes()));
        }
        let mut rows = rows.into_iter();
        let rows: Vec<Option<Vec<u8>>> =
            is_fresh.iter().map(|is_fresh| if *is_fresh { rows.next() } else { None }).collect();
        match &mut self.place {
            Place::Beside(staged) => staged.keep(&waiting, &rows),
            Place::Within(_, seen) => {
                for (premise, row) in waiting.iter().zip(&rows) {
                    let features = premise.features.to_bytes();
                    let ready = Ready {
                        name: &premise.name,
                        text: &premise.text,
                        language: premise.language.name(),
                        module: &premise.module,
                        graph: premise.encoded.fingerprint() as i64,
                        features: &features,
                        row: row.as_deref(),
                    };
                    self.library.put(&ready, self.retriever)?;
                }
                for proof in waiting.into_iter().flat_map(|premise| premise.proofs) {
                    if proofs::insert_proof(self.library, &proof, None)? {
                        seen.learned.push(proof);
                    }
                }
                Ok(())
            }
            Place::Nowhere(_) => Ok(()),
        }
    }
}

impl Seen {
    /// Notes a statement, and says whether it differs from the last of its name.
    fn note(&mut self, premise: &AnalyzedStatement) -> bool {
        self.given += 1;
        let mut hasher = DefaultHasher::new();
        (&premise.text, premise.language.name()).hash(&mut hasher);
        let now = hasher.finish();
        self.texts.insert(premise.name.clone(), now) != Some(now)
    }

    fn counts(&self) -> Added {
        let new = self.texts.len();
        Added { new, repeated: self.given - new, ..Added::default() }
    }
}
