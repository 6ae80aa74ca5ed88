//! A damaged library made whole again, as far as that can be done.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Row, params};

use super::{LibraryInfo, checksum, fail, proofs};
use crate::analyze::Analyzer;
use crate::error::shown;
use crate::model::JointModelFile;
use crate::retrieve::VectorRetriever;
use crate::util::files::folder_of;
use crate::util::temporary::TempFolder;
use crate::{Error, Language, Library};

/// Counts of what a repair kept, recomputed and lost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Repaired {
    /// Statements of the new file.
    pub statements: usize,
    /// Proofs of the new file.
    pub proofs: usize,
    /// Names of statements whose rows were computed again.
    pub embedded: Vec<String>,
    /// Names of statements whose texts are damaged, which were left out.
    pub lost: Vec<String>,
    /// Proofs that were left out.
    pub lost_proofs: usize,
    /// Whether the fitted re-retriever was left out.
    pub is_reader_lost: bool,
    /// Where the damaged file is kept.
    pub kept: PathBuf,
}

/// A row of the damaged table of statements.
struct Found {
    texts: [String; 4],
    graph: i64,
    row: Vec<u8>,
    features: Vec<u8>,
    checksum: [i64; 2],
}

impl Library {
    /// The settings of a library that may be too damaged to be opened.
    ///
    /// # Errors
    ///
    /// If there is no file, or this part of it is damaged, too.
    pub fn made_by(path: &Path) -> Result<LibraryInfo, Error> {
        if !path.is_file() {
            return Err(Error::NoSuchLibrary(shown(path)));
        }
        Self::connect_to(path)?.info()
    }

    /// Replaces a damaged library by one with all that can be read. The damaged file is kept next to it, with `.damaged` after
    /// its name. `model` is recorded as the model if the damaged file does not name it.
    ///
    /// # Errors
    ///
    /// If there is no library, none of it can be read, a file of an earlier repair is there, or the folder cannot be written.
    pub fn repair(path: &Path, retriever: &VectorRetriever, model: &str) -> Result<Repaired, Error> {
        if !path.is_file() {
            return Err(Error::NoSuchLibrary(shown(path)));
        }
        let failed = |error| Error::io(path, error);
        let mut kept = path.as_os_str().to_owned();
        kept.push(".damaged");
        let kept = PathBuf::from(kept);
        if kept.exists() {
            return Err(Error::Exists { path: shown(&kept), found: "a file" });
        }
        let old = Self::connect_to(path)?;
        // Nobody should add to a file that is about to be replaced. One that is too damaged for this cannot be added to.
        let _lock = old.writing().ok();
        let model = old.info().map_or_else(|_| model.to_owned(), |made| made.model);
        let place = TempFolder::new_in(folder_of(path)).map_err(failed)?;
        let unfinished = place.path().join("library");
        let new = Self::create_for(&unfinished, retriever, &model)?;
        let mut repaired = Repaired { kept, ..Repaired::default() };
        let transaction = new.writing()?;
        new.take_statements(&old, retriever, &mut repaired)?;
        new.take_proofs(&old, &mut repaired)?;
        match old.fitted_bytes() {
            Ok(None) => {}
            Ok(Some(bytes)) if JointModelFile::from_bytes(&bytes, "re-retriever").is_ok() => {
                let insert = "INSERT INTO reader VALUES (?1)";
                new.connection.execute(insert, [bytes]).map_err(fail(&unfinished))?;
            }
            _ => repaired.is_reader_lost = true,
        }
        if repaired.statements == 0 {
            return Err(old.error("expected statements, found none that can be read".to_owned()));
        }
        new.finish(transaction)?;
        drop(new);
        if fs::hard_link(path, &repaired.kept).is_err() {
            fs::copy(path, &repaired.kept).map_err(failed)?;
        }
        fs::rename(&unfinished, path).map_err(failed)?;
        Ok(repaired)
    }

    fn take_statements(
        &self,
        old: &Library,
        retriever: &VectorRetriever,
        repaired: &mut Repaired,
    ) -> Result<(), Error> {
        let fail = fail(&self.path);
        let columns = "number, name, text, syntax, module, graph, row, features, sum, features_sum";
        let mut intake = Analyzer::new(retriever);
        let mut names = std::collections::HashSet::new();
        for (number, found) in readable(old, "statements", columns, statement) {
            let Found { texts, graph, row, features, checksum: [sum, features_sum] } = found;
            let [name, text, syntax, _] = &texts;
            let parts = || [0, 1, 2, 3].map(|i| texts[i].as_bytes());
            if !names.insert(name.clone()) {
                continue;
            }
            let (mut graph, mut row, mut features) = (graph, row, features);
            let is_row_whole = checksum::of_statement(parts(), graph, &row) == sum;
            if !is_row_whole || checksum::sum(&[name.as_bytes(), &features]) != features_sum {
                let syntax = Language::named(syntax).unwrap_or_default();
                let Ok(premise) = intake.analyze(name, text, syntax) else {
                    repaired.lost.push(name.clone());
                    continue;
                };
                features = premise.features.to_bytes();
                if !is_row_whole {
                    graph = premise.encoded.fingerprint() as i64;
                    row = retriever.rows(&[premise.named()]).get(0).to_bytes();
                    // The sum fits the new row only if it is the row that was damaged, and not the text.
                    if checksum::of_statement(parts(), graph, &row) != sum {
                        repaired.lost.push(name.clone());
                        continue;
                    }
                }
                repaired.embedded.push(name.clone());
            }
            let insert = "INSERT INTO statements VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
            let features_sum = checksum::sum(&[name.as_bytes(), &features]);
            let [name, text, syntax, module] = &texts;
            let values = params![number, name, text, syntax, module, graph, row, features, sum, features_sum];
            self.connection.prepare_cached(insert).and_then(|mut q| q.execute(values)).map_err(&fail)?;
            repaired.statements += 1;
        }
        Ok(())
    }

    fn take_proofs(&self, old: &Library, repaired: &mut Repaired) -> Result<(), Error> {
        let fail = fail(&self.path);
        let read = |row: &Row<'_>| -> rusqlite::Result<([String; 3], [i64; 2])> {
            Ok(([row.get(1)?, row.get(2)?, row.get(4)?], [row.get(3)?, row.get(5)?]))
        };
        let columns = "number, name, used, digest, origin, origin_sum";
        for (number, ([name, used, origin], [digest, sum])) in readable(old, "proofs", columns, read) {
            if proofs::proof_sum(&name, &used) != digest || proofs::number(self, &name)?.is_none() {
                repaired.lost_proofs += 1;
                continue;
            }
            // A proof counts without its origin.
            let origin = if proofs::origin_sum(digest, &origin) == sum { origin } else { String::new() };
            let sum = proofs::origin_sum(digest, &origin);
            let insert = "INSERT OR IGNORE INTO proofs VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let values = params![number, name, used, digest, origin, sum];
            repaired.proofs +=
                self.connection.prepare_cached(insert).and_then(|mut q| q.execute(values)).map_err(&fail)?;
        }
        Ok(())
    }
}

fn statement(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        texts: [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?],
        graph: row.get(5)?,
        row: row.get(6)?,
        features: row.get(7)?,
        checksum: [row.get(8)?, row.get(9)?],
    })
}

/// The rows of a table that can be read, by their numbers: from the first up to where the file is damaged, and from the last
/// down to there.
fn readable<T>(
    old: &Library,
    table: &str,
    columns: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> BTreeMap<i64, T> {
    let mut found = BTreeMap::new();
    for order in ["ASC", "DESC"] {
        let query = format!("SELECT {columns} FROM {table} NOT INDEXED ORDER BY number {order}");
        let Ok(mut query) = old.connection.prepare(&query) else { continue };
        let Ok(mut rows) = query.query([]) else { continue };
        while let Ok(Some(row)) = rows.next() {
            let Ok(number) = row.get::<_, i64>(0) else { continue };
            if order == "DESC" && found.contains_key(&number) {
                break;
            }
            // One that cannot be read does not hide those after it.
            if let Ok(row) = read(row) {
                found.insert(number, row);
            }
        }
    }
    found
}
