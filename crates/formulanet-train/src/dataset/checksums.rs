//! Checksums of the files of a prepared directory.

use std::collections::BTreeMap;
use std::path::Path;

use formulanet::net::checksum;
use serde::{Deserialize, Serialize};

use crate::Error;
use formulanet::error::Artefact;

/// Checksums by the names of files. Folders of older versions have none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Checksums(BTreeMap<String, String>);

impl Checksums {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes what a file is.
    pub(super) fn note(&mut self, name: &str, bytes: &[u8]) {
        self.0.insert(name.to_owned(), format!("{:016x}", checksum(bytes)));
    }

    /// Takes out what was noted of a file, so that the rest can be noted in it.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Compares a file with what it was. Of a folder of an older version, nothing is known.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub(super) fn verify(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_same = |known: &String| *known == format!("{:016x}", checksum(bytes));
        if self.is_empty() || self.0.get(&*name).is_some_and(is_same) {
            return Ok(());
        }
        Err(Error::corrupt(
            Artefact::Dataset,
            path,
            "expected the file that was written, found a damaged one; prepare the folder again",
        ))
    }
}
