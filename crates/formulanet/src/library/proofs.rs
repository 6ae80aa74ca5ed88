//! The dependencies of the proofs of a library's statements.
//!
//! A proof is kept with all names that it has, also those that the library does not know. Which of them count is decided when
//! the library is read: those of statements that come before what was proved.

use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::library::snapshot::Recorded;
use crate::library::{checksum, fail};
use crate::policy::TUNING;
use crate::proofs::Features;
use crate::read::{Proof, ProofWarnings};
use crate::retrieve::ProofRetriever;
use crate::{Error, Library};

/// The result of recording proofs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Learned {
    /// Proofs that were not known before.
    pub new: usize,
    /// Proofs that were known.
    pub same: usize,
    /// Proofs of what the library does not have.
    pub of_unknown: usize,
    /// The first of these, with its place.
    pub first_unknown: Option<String>,
    /// Checks the references of new proofs.
    pub warnings: ProofWarnings,
}

/// Where a proof came from, if a prover found it for this library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProofOrigin {
    /// The prover's name.
    pub prover: String,
    /// Seconds until the proof.
    pub seconds: f64,
    /// The time that it was found, such as `2026-11-17T15:02:06Z`.
    pub time: String,
}

/// A proof that a library has.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedProof {
    /// The names of the statements that it used.
    pub used: Vec<String>,
    /// Where it came from; `None` if it was given to the library.
    pub origin: Option<ProofOrigin>,
}

impl Library {
    /// Adds a proof that a prover has found; false if a proof from the same statements is known.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written, or has no such statement.
    pub fn learn_found(&mut self, proof: &Proof, origin: &ProofOrigin) -> Result<bool, Error> {
        self.statement(&proof.name)?;
        let transaction = self.writing()?;
        let is_new = insert_proof(self, proof, Some(origin))?;
        self.finish(transaction)?;
        Ok(is_new)
    }

    /// The proofs of a statement with their origins, in the order in which they were learned.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is damaged.
    pub fn recorded_proofs_of(&self, name: &str) -> Result<Vec<RecordedProof>, Error> {
        let fail = fail(&self.path);
        let query = "SELECT used, digest, origin, origin_sum FROM proofs WHERE name = ?1 ORDER BY number";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let mut rows = query.query([name]).map_err(&fail)?;
        let mut proofs = Vec::new();
        while let Some(row) = rows.next().map_err(&fail)? {
            let texts = || Ok::<(String, String), rusqlite::Error>((row.get(0)?, row.get(2)?));
            let sums = || Ok::<(i64, i64), rusqlite::Error>((row.get(1)?, row.get(3)?));
            let ((used, origin), (digest, sum)) = (texts().map_err(&fail)?, sums().map_err(&fail)?);
            if digest != proof_sum(name, &used) || sum != origin_sum(digest, &origin) {
                return Err(self.damaged_proof());
            }
            let origin = match origin.as_str() {
                "" => None,
                text => Some(serde_json::from_str(text).map_err(|_| self.damaged_proof())?),
            };
            proofs.push(RecordedProof { used: self.names(&used)?, origin });
        }
        Ok(proofs)
    }

    /// Adds proofs of statements that are there, all or none. A statement may have several.
    ///
    /// # Errors
    ///
    /// If the file cannot be written; if `is_strict`, also if a proof uses what it proves or what comes after it.
    pub fn learn(&mut self, proofs: &[Proof], is_strict: bool) -> Result<Learned, Error> {
        let transaction = self.writing()?;
        let mut learned = Learned::default();
        let mut new = Vec::new();
        for proof in proofs {
            if number(self, &proof.name)?.is_none() {
                learned.of_unknown += 1;
                learned.first_unknown.get_or_insert_with(|| format!("{}: `{}`", proof.place, proof.name));
            } else if insert_proof(self, proof, None)? {
                new.push(proof.clone());
            } else {
                learned.same += 1;
            }
        }
        learned.new = new.len();
        check_references(self, &new, is_strict, &mut learned.warnings)?;
        self.finish(transaction)?;
        Ok(learned)
    }

    /// Takes back the proofs of a statement, or only the last that was learned, and says how many that were.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn forget(&mut self, name: &str, only_last: bool) -> Result<usize, Error> {
        let fail = fail(&self.path);
        let transaction = self.writing()?;
        let forgotten = if only_last {
            let query = "DELETE FROM proofs WHERE number = (SELECT max(number) FROM proofs WHERE name = ?1)";
            self.connection.execute(query, [name]).map_err(&fail)?
        } else {
            delete_proofs(self, name)?
        };
        if forgotten > 0 {
            self.bump_generation()?;
        }
        self.finish(transaction)?;
        Ok(forgotten)
    }

    /// The number of proofs.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn proof_count(&self) -> Result<usize, Error> {
        Ok(self.one("SELECT count(*) FROM proofs", |row| row.get::<_, i64>(0))? as usize)
    }

    /// The dependencies of a statement's proofs, in the order in which they were recorded.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn proofs_of(&self, name: &str) -> Result<Vec<Vec<String>>, Error> {
        let fail = fail(&self.path);
        let query = "SELECT used, digest FROM proofs WHERE name = ?1 ORDER BY number";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        let rows = query.query_map([name], read).map_err(&fail)?;
        let whole = |(used, sum): (String, i64)| {
            if sum == proof_sum(name, &used) { self.names(&used) } else { Err(self.damaged_proof()) }
        };
        rows.map(|row| whole(row.map_err(&fail)?)).collect()
    }

    /// Whether its statements are indexed: not if there are very many without a proof.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is damaged.
    pub fn has_index(&self) -> Result<bool, Error> {
        Ok(self.proof_count()? > 0 || self.count()? <= TUNING.index_up_to)
    }

    /// The features and dependencies of its statements; `None` if there are very many and no proofs.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    pub fn learned(&self) -> Result<Option<ProofRetriever>, Error> {
        if !self.has_index()? {
            return Ok(None);
        }
        let mut learned = ProofRetriever::default();
        self.recorded_since(0, 0, |recorded| recorded.add_to(&mut learned))?;
        Ok(Some(learned))
    }

    /// Visits statements and proofs with higher numbers than these. Returns the sum of the proofs.
    pub(super) fn recorded_since(
        &self,
        statement: i64,
        proof: i64,
        mut visit: impl FnMut(Recorded),
    ) -> Result<i64, Error> {
        let fail = fail(&self.path);
        let query = "SELECT name, features, features_sum FROM statements WHERE number > ?1 ORDER BY number";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let mut rows = query.query([statement]).map_err(&fail)?;
        while let Some(row) = rows.next().map_err(&fail)? {
            let name: String = row.get(0).map_err(&fail)?;
            let blob = row.get_ref(1).map_err(&fail)?;
            let blob = blob.as_blob().unwrap_or_default();
            let is_whole = Ok(checksum::sum(&[name.as_bytes(), blob])) == row.get(2);
            let features = Features::from_bytes(blob).filter(|_| is_whole);
            let features = features.ok_or_else(|| self.damaged(&name))?;
            visit(Recorded::Fact(name, features));
        }
        let query = "SELECT name, used, digest FROM proofs WHERE number > ?1 ORDER BY number";
        let mut query = self.connection.prepare_cached(query).map_err(&fail)?;
        let mut rows = query.query([proof]).map_err(&fail)?;
        let mut total = 0;
        while let Some(row) = rows.next().map_err(&fail)? {
            let name: String = row.get(0).map_err(&fail)?;
            let used: String = row.get(1).map_err(&fail)?;
            let sum = proof_sum(&name, &used);
            if Ok(sum) != row.get(2) {
                return Err(self.damaged_proof());
            }
            total = checksum::add(total, sum);
            let used = self.names(&used)?;
            visit(Recorded::Proof(name, used));
        }
        let expected: i64 = self.one("SELECT proof_sum FROM made", |row| row.get(0))?;
        if proof == 0 && total != expected { Err(self.damaged_proof()) } else { Ok(total) }
    }

    fn names(&self, used: &str) -> Result<Vec<String>, Error> {
        serde_json::from_str(used).map_err(|_| self.damaged_proof())
    }

    fn damaged_proof(&self) -> Error {
        self.error("the list of a proof is damaged".to_owned())
    }

    /// Begins a change; others that want to change the library wait. Refuses a file that is no longer at its place: what is
    /// written there would be lost.
    pub(super) fn writing(&self) -> Result<Transaction<'_>, Error> {
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let begun = begun.map_err(fail(&self.path))?;
        self.expect_in_place()?;
        Ok(begun)
    }

    /// Makes a change last, and says if the file was replaced meanwhile.
    pub(super) fn finish(&self, transaction: Transaction<'_>) -> Result<(), Error> {
        transaction.commit().map_err(fail(&self.path))?;
        self.expect_in_place()
    }

    /// Notes that something is not as it was, so that who has read it reads all of it again.
    pub(super) fn bump_generation(&self) -> Result<(), Error> {
        self.connection.execute("UPDATE made SET page = random()", []).map_err(fail(&self.path))?;
        Ok(())
    }
}

/// The checksum of a proof, which also tells it from others of the same statement.
pub(super) fn proof_sum(name: &str, used: &str) -> i64 {
    checksum::sum(&[name.as_bytes(), used.as_bytes()])
}

/// The checksum of the origin of a proof, which is empty if it has none.
pub(super) fn origin_sum(digest: i64, origin: &str) -> i64 {
    checksum::sum(&[&digest.to_le_bytes(), origin.as_bytes()])
}

/// Puts a proof in, unless it is there; says whether it was not.
pub(super) fn insert_proof(
    library: &Library,
    proof: &Proof,
    origin: Option<&ProofOrigin>,
) -> Result<bool, Error> {
    let mut used: Vec<&str> = proof.used.iter().map(String::as_str).collect();
    used.sort_unstable();
    used.dedup();
    let used = serde_json::to_string(&used).expect("names are plain data");
    let fail = fail(&library.path);
    let origin = origin
        .map_or(String::new(), |origin| serde_json::to_string(origin).expect("an origin is plain data"));
    let digest = proof_sum(&proof.name, &used);
    let insert =
        "INSERT OR IGNORE INTO proofs (name, used, digest, origin, origin_sum) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = library.connection.prepare_cached(insert).map_err(&fail)?;
    let values = params![proof.name, used, digest, origin, origin_sum(digest, &origin)];
    Ok(insert.execute(values).map_err(&fail)? > 0)
}

/// Takes all proofs of a statement back, and says how many that were.
pub(super) fn delete_proofs(library: &Library, name: &str) -> Result<usize, Error> {
    let fail = fail(&library.path);
    let mut delete =
        library.connection.prepare_cached("DELETE FROM proofs WHERE name = ?1").map_err(&fail)?;
    delete.execute([name]).map_err(&fail)
}

pub(super) fn number(library: &Library, name: &str) -> Result<Option<i64>, Error> {
    let fail = fail(&library.path);
    let query = "SELECT number FROM statements WHERE name = ?1";
    let mut query = library.connection.prepare_cached(query).map_err(&fail)?;
    query.query_row([name], |row| row.get(0)).optional().map_err(&fail)
}

/// Notes names in proofs that do not count.
pub(super) fn check_references(
    library: &Library,
    proofs: &[Proof],
    is_strict: bool,
    warnings: &mut ProofWarnings,
) -> Result<(), Error> {
    for Proof { name, used, place } in proofs {
        let own = number(library, name)?;
        for other in used {
            match number(library, other)? {
                Some(number) if Some(number) < own => {}
                found => warnings.note(place, name, other, found.is_some(), is_strict)?,
            }
        }
    }
    Ok(())
}
