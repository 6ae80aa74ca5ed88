//! The file of a tally.

use std::collections::HashMap;
use std::path::Path;

use formulanet::net::{CHECKSUM, Metadata, UNSEALED, checksum, is_sealed, read_metadata, seal, verify};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::symbols::Symbols;
use super::table::Table;
use super::{Tally, TallyOrigin, keys, width};
use formulanet::Error;
use formulanet::error::Artefact;
use formulanet::model::memory::statements::StatementMemory;
use formulanet::model::{ModelFile, bytes_of, registry};
use formulanet::proofs::TreeEnsemble;
use formulanet::proofs::trees::Part;
use formulanet::util::files;

/// The key of everything that is no number.
const METADATA: &str = "formulanet";
/// Names of the parts of a file.
const KIND: &str = "kind";
const TALLY: &str = "tally";
const ORIGIN: &str = "origin";
const VOCABULARY: &str = "vocabulary";
const KEYS: &str = "keys";
const HAVING: &str = "conjectures";
const SEEN: &str = "seen";

impl Tally {
    /// Whether a file says that it is a tally.
    pub fn is_one(bytes: &[u8]) -> bool {
        let metadata = read_metadata(bytes).unwrap_or_default();
        metadata.get(KIND).is_some_and(|kind| kind == TALLY)
    }

    /// Loads a file by its path, or by the directory that has it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file, or it is a network.
    pub fn named(model: &str) -> Result<Self, Error> {
        Self::from_bytes(&bytes_of(model)?, model)
    }

    /// Reads a file that is in memory; `name` is for messages.
    ///
    /// # Errors
    ///
    /// If it is no tally of this program's keys.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let damaged = |message: String| {
            Error::corrupt(Artefact::Model, name, format!("expected a tally, found {message}"))
        };
        let metadata = read_metadata(bytes).map_err(|error| damaged(error.to_string()))?;
        let part = |key: &str| metadata.get(key).map_or("", String::as_str);
        if part(KIND) != TALLY {
            return Err(damaged("something else".into()));
        }
        if !is_sealed(bytes) || verify(bytes).is_err() {
            return Err(damaged("a damaged one: the checksum does not fit".into()));
        }
        let wrong = |error: serde_json::Error| damaged(format!("another one: {error}"));
        let origin: TallyOrigin = serde_json::from_str(part(ORIGIN)).map_err(wrong)?;
        let vocabulary: Vec<String> = serde_json::from_str(part(VOCABULARY)).map_err(wrong)?;
        if part(KEYS) != keys_of(&origin) {
            return Err(damaged("one of other keys, made by another version of this program".into()));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
        let forest = TreeEnsemble::read(&tensors, width(origin.is_conditional)).map_err(damaged)?;
        let part = |key: &str| tensors.tensor(key).map(|tensor| tensor.data());
        let counts = part(HAVING).map_err(|error| damaged(error.to_string()))?;
        let counts = counts.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut having: Vec<u32> = counts.collect();
        let conjectures = having.pop().filter(|_| having.len() == vocabulary.len());
        let conjectures = conjectures.ok_or_else(|| damaged("another number of labels".into()))?;
        let symbols = Symbols::new(&vocabulary, having, conjectures);
        let table = |key: &str| {
            let bytes = part(key).map_err(|error| damaged(error.to_string()))?;
            Table::from_bytes(bytes).ok_or_else(|| damaged(format!("a damaged table `{key}`")))
        };
        let tables = keys::names(origin.is_conditional).map(table).collect::<Result<_, Error>>()?;
        let seen = match &origin.memory_of {
            Some(other) => {
                let missing = || damaged(format!("one with the memory of `{other}`, which is not built in"));
                ModelFile::from_bytes(registry::bytes(other).ok_or_else(missing)?, other)?.seen
            }
            None => StatementMemory::from_bytes(part(SEEN).unwrap_or_default())
                .ok_or_else(|| damaged("a damaged memory of statements".into()))?,
        };
        Ok(Tally { origin, vocabulary, symbols, tables, forest, seen })
    }

    /// Tells one tally from another: a hash of everything that scores depend on.
    ///
    /// # Errors
    ///
    /// If its tables cannot be packed.
    pub fn fingerprint(&self) -> Result<String, Error> {
        Ok(format!("{:016x}", checksum(&self.to_bytes()?)))
    }

    /// As files have it.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let (having, conjectures) = self.symbols.counts();
        let counts: Vec<u8> = having.iter().chain([&conjectures]).flat_map(|n| n.to_le_bytes()).collect();
        let mut parts: Vec<Part> = self.forest.parts().into();
        parts.push((HAVING, Dtype::U32, vec![having.len() + 1], counts));
        let mut add = |key, bytes: Vec<u8>| parts.push((key, Dtype::U8, vec![bytes.len()], bytes));
        for (key, table) in keys::names(self.origin.is_conditional).zip(&self.tables) {
            add(
                key,
                table
                    .to_bytes()
                    .map_err(|error| Error::corrupt(Artefact::Model, TALLY, error.to_string()))?,
            );
        }
        if self.origin.memory_of.is_none() {
            add(SEEN, self.seen.to_bytes());
        }
        let metadata = Metadata::from([
            (KIND.to_owned(), TALLY.to_owned()),
            (ORIGIN.to_owned(), serde_json::to_string(&self.origin).expect("an origin is plain data")),
            (VOCABULARY.to_owned(), serde_json::to_string(&self.vocabulary).expect("labels are plain data")),
            (KEYS.to_owned(), keys_of(&self.origin)),
            (CHECKSUM.to_owned(), UNSEALED.to_owned()),
        ]);
        let failed =
            |error: safetensors::SafeTensorError| Error::corrupt(Artefact::Model, TALLY, error.to_string());
        // All of it under one key, as networks have it, so that a tally has the same bytes whenever it is written.
        let metadata = serde_json::to_string(&metadata).expect("texts are plain data");
        let metadata = HashMap::from([(METADATA.to_owned(), metadata)]);
        let views = parts.iter().map(|(key, dtype, shape, bytes)| {
            Ok((*key, TensorView::new(*dtype, shape.clone(), bytes).map_err(failed)?))
        });
        let views = views.collect::<Result<Vec<_>, Error>>()?;
        let mut bytes = safetensors::serialize(views, Some(metadata)).map_err(failed)?;
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        files::write_whole(path, &self.to_bytes()?)
    }
}

/// The names of a tally's keys.
fn keys_of(origin: &TallyOrigin) -> String {
    keys::names(origin.is_conditional).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::tiny;
    use super::*;

    #[test]
    fn files_are_read_back() {
        for is_conditional in [false, true] {
            let tally = tiny(is_conditional);
            let bytes = tally.to_bytes().unwrap();
            assert!(Tally::is_one(&bytes));
            assert_eq!(Tally::from_bytes(&bytes, "tiny").unwrap(), tally);
            assert_eq!(tally.fingerprint().unwrap(), tiny(is_conditional).fingerprint().unwrap());
        }
        assert!(!Tally::is_one(b"something else"));
    }

    #[test]
    fn damaged_files_are_errors() {
        let bytes = tiny(true).to_bytes().unwrap();
        for length in 0..bytes.len() {
            assert!(Tally::from_bytes(&bytes[..length], "cut").is_err(), "{length}");
        }
        let check = |from: &[u8], to: &[u8], is_sealed: bool, expected: &str| {
            let place = bytes.windows(from.len()).position(|part| part == from).unwrap();
            let mut other = bytes.clone();
            other[place..place + from.len()].copy_from_slice(to);
            if is_sealed {
                seal(&mut other);
            }
            let error = Tally::from_bytes(&other, "other").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(b"\"tally\\\"", b"\"totem\\\"", true, "something else");
        check(b"body_3 ", b"body_9 ", true, "other keys");
        check(b"\"VARFUNC", b"\"VARFOND", false, "the checksum does not fit");
        check(b"checksum:", b"checksam:", false, "the checksum does not fit");
        check(&2.5f32.to_le_bytes(), &f32::NAN.to_le_bytes(), true, "damaged trees");
        // The first bytes of what is compressed.
        check(&[0x28, 0xb5, 0x2f, 0xfd], &[0; 4], true, "a damaged table");
        // A label less.
        check(br#"\\\"c\\\",\\\"d\\\""#, br#"\\\"c          \\\""#, true, "another number of labels");
        let lost = Tally {
            origin: TallyOrigin { memory_of: Some("nobody".to_owned()), ..tiny(true).origin },
            ..tiny(true)
        };
        let error = Tally::from_bytes(&lost.to_bytes().unwrap(), "lost").unwrap_err().to_string();
        assert!(error.contains("the memory of `nobody`, which is not built in"), "{error}");
    }
}
