//! The analysis of a hammer's files, cached for the next call with the same files.
//!
//! A hammer starts several predictors at once, each with the same files. What they say takes a fifth of the files' space, so
//! an entry is mapped and copied in a small part of the time that looking into the files takes. An entry is there as a whole or
//! not at all, has a checksum, and is never needed: whatever is wrong with it, the files are looked into again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Error;
use crate::error::Artefact;
use crate::hammer::table::{Csr, NO_FACT, Table};
use crate::util::files;
use crate::util::hash::digest;
use crate::util::map::map as map_file;

/// Changes when entries are laid out differently, or when features get other hashes.
const FORMAT: u64 = 1;
/// `FNpredic`, in the order of bytes of the machine that wrote it.
const MAGIC: u64 = u64::from_ne_bytes(*b"FNpredic");
/// Words before an entry's arrays: magic, format, identity, checksum, and how long the arrays are.
const HEADER: usize = 2 + 6 + 1 + LENGTHS;
const LENGTHS: usize = 9;
/// Entries and their bytes, at most. The oldest go.
const MOST_ENTRIES: usize = 32;
const MOST_BYTES: u64 = 256 << 20;

/// Where the entry of some files is.
fn path(folder: &Path, identity: [u64; 6]) -> PathBuf {
    let [_, features, _, dependencies, _, order] = identity;
    folder.join(format!("predict-{features:016x}{dependencies:016x}{order:016x}.cache"))
}

/// The entry of some files. `None` without one; a damaged one is an error.
pub(super) fn load(folder: &Path, identity: [u64; 6]) -> Result<Option<Table>, Error> {
    let path = path(folder, identity);
    if !path.exists() {
        return Ok(None);
    }
    let bytes = map_file(&path)?;
    let Some(table) = from_bytes(&bytes, identity) else {
        return Err(Error::corrupt(
            Artefact::HammerCache,
            &path,
            "expected an entry of the cache with the right checksum, found a damaged one",
        ));
    };
    // The last used are the last to go. That the time cannot be set only makes the entry go earlier.
    let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
    Ok(Some(table))
}

/// Keeps an entry, and removes old ones if there are too many.
pub(super) fn store(folder: &Path, identity: [u64; 6], table: &Table) -> Result<(), Error> {
    let bytes = to_bytes(table, identity);
    if bytes.len() as u64 > MOST_BYTES {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    files::write_unsynced(&path(folder, identity), &bytes)?;
    tidy(folder).map_err(|error| Error::io(folder, error))
}

fn tidy(folder: &Path) -> std::io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Another process may have removed it.
        if let Ok(data) = entry.metadata()
            && name.starts_with("predict-")
            && name.ends_with(".cache")
        {
            entries.push((data.modified()?, data.len(), entry.path()));
        }
    }
    entries.sort_by_key(|(time, ..)| std::cmp::Reverse(*time));
    let mut total = 0;
    for (number, (_, size, path)) in entries.into_iter().enumerate() {
        total += size;
        if number >= MOST_ENTRIES || total > MOST_BYTES {
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

fn to_bytes(table: &Table, identity: [u64; 6]) -> Vec<u8> {
    let Table { names, name_ends, hashes, kinds, named, features, dependencies } = table;
    let numbers =
        [name_ends, named, &features.ends, &features.items, &dependencies.ends, &dependencies.items];
    let mut lengths = vec![hashes.len()];
    lengths.extend(numbers.iter().map(|numbers| numbers.len()));
    lengths.extend([kinds.len(), names.len()]);
    let mut arrays: Vec<u8> = lengths.iter().flat_map(|&length| (length as u64).to_ne_bytes()).collect();
    arrays.extend_from_slice(bytemuck::cast_slice(hashes));
    numbers.iter().for_each(|numbers| arrays.extend_from_slice(bytemuck::cast_slice(numbers)));
    arrays.extend_from_slice(kinds);
    arrays.extend_from_slice(names.as_bytes());
    let mut bytes = Vec::with_capacity(arrays.len() + 8 * (HEADER - LENGTHS));
    let header = [MAGIC, FORMAT].into_iter().chain(identity).chain([digest(&arrays)]);
    header.for_each(|word| bytes.extend_from_slice(&word.to_ne_bytes()));
    bytes.append(&mut arrays);
    bytes
}

/// A table, if the bytes are an entry of these files, and whole.
fn from_bytes(bytes: &[u8], identity: [u64; 6]) -> Option<Table> {
    let mut rest = Rest(bytes);
    let header = rest.numbers(HEADER - LENGTHS, u64::from_ne_bytes)?;
    let expected = [MAGIC, FORMAT].into_iter().chain(identity).chain([digest(rest.0)]);
    if !expected.eq(header) {
        return None;
    }
    let lengths =
        rest.numbers(LENGTHS, |bytes| usize::try_from(u64::from_ne_bytes(bytes)).unwrap_or(usize::MAX))?;
    let [hashes, name_ends, named, feature_ends, features, dependency_ends, dependencies, kinds, names] =
        lengths[..]
    else {
        return None;
    };
    let hashes = rest.numbers(hashes, u64::from_ne_bytes)?;
    let mut numbers = |length: usize| rest.numbers(length, u32::from_ne_bytes);
    let (name_ends, named) = (numbers(name_ends)?, numbers(named)?);
    let features = Csr { ends: numbers(feature_ends)?, items: numbers(features)? };
    let dependencies = Csr { ends: numbers(dependency_ends)?, items: numbers(dependencies)? };
    let kinds = rest.take(kinds)?.to_vec();
    let names = std::str::from_utf8(rest.take(names)?).ok()?.to_owned();
    let table = Table { names, name_ends, hashes, kinds, named, features, dependencies };
    (rest.0.is_empty() && is_sound(&table)).then_some(table)
}

/// The unread rest of some bytes.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }

    fn numbers<const SIZE: usize, T>(&mut self, count: usize, number: fn([u8; SIZE]) -> T) -> Option<Vec<T>> {
        let bytes = self.take(count.checked_mul(SIZE)?)?;
        Some(bytes.as_chunks().0.iter().map(|&bytes| number(bytes)).collect())
    }
}

/// Whether all references are valid. A checksum detects damage, not a forged file.
fn is_sound(table: &Table) -> bool {
    let Table { names, name_ends, hashes, kinds, named, features, dependencies } = table;
    let ascending =
        |ends: &[u32], end: usize| ends.is_sorted() && ends.last().map_or(0, |&last| last as usize) == end;
    let below = |numbers: &[u32], bound: usize| numbers.iter().all(|&number| (number as usize) < bound);
    let facts = name_ends.len();
    ascending(name_ends, names.len())
        && name_ends.iter().all(|&end| names.is_char_boundary(end as usize))
        && [kinds.len(), named.len()] == [hashes.len(); 2]
        && [features.len(), dependencies.len()] == [facts; 2]
        && ascending(&features.ends, features.items.len())
        && ascending(&dependencies.ends, dependencies.items.len())
        && below(&features.items, hashes.len())
        && below(&dependencies.items, facts)
        && named.iter().all(|&fact| fact == NO_FACT || (fact as usize) < facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: [u64; 6] = [1, 2, 3, 4, 5, 6];

    fn table() -> Table {
        let mut table = Table {
            names: "onetwo".to_owned(),
            name_ends: vec![3, 6],
            hashes: vec![7, 8, 9],
            kinds: vec![0, 1, 2],
            named: vec![1, NO_FACT, NO_FACT],
            ..Table::default()
        };
        table.features.push(&[0, 2]);
        table.features.push(&[1]);
        table.dependencies.push(&[]);
        table.dependencies.push(&[0]);
        table
    }

    #[test]
    fn an_entry_is_what_was_stored() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("new");
        assert_eq!(load(&place, IDENTITY).unwrap(), None);
        store(&place, IDENTITY, &table()).unwrap();
        assert_eq!(load(&place, IDENTITY).unwrap(), Some(table()));
        assert_eq!(load(&place, [1, 2, 3, 4, 5, 7]).unwrap(), None);
        // The same hashes, but another size.
        assert!(load(&place, [0, 2, 3, 4, 5, 6]).is_err());
    }

    #[test]
    fn damage_is_seen() {
        let bytes = to_bytes(&table(), IDENTITY);
        assert_eq!(from_bytes(&bytes, IDENTITY), Some(table()));
        for end in 0..bytes.len() {
            assert_eq!(from_bytes(&bytes[..end], IDENTITY), None, "{end} bytes");
        }
        for place in 0..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 1;
            assert_eq!(from_bytes(&other, IDENTITY), None, "byte {place}");
        }
        let check = |change: &dyn Fn(&mut Table)| {
            let mut other = table();
            change(&mut other);
            assert_eq!(from_bytes(&to_bytes(&other, IDENTITY), IDENTITY), None, "{other:?}");
        };
        check(&|table| table.name_ends[0] = 7);
        check(&|table| table.named[0] = 2);
        check(&|table| table.features.items[0] = 3);
        check(&|table| table.features.ends[0] = 4);
        check(&|table| table.dependencies.items[0] = 2);
        check(&|table| table.kinds = Vec::new());
    }

    #[test]
    fn old_entries_go() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("other"), "is not ours").unwrap();
        for number in 0..MOST_ENTRIES as u64 + 3 {
            store(folder.path(), [0, number, 0, 0, 0, 0], &table()).unwrap();
            let file =
                File::options().append(true).open(path(folder.path(), [0, number, 0, 0, 0, 0])).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + number);
            file.set_modified(time).unwrap();
        }
        store(folder.path(), [0, 999, 0, 0, 0, 0], &table()).unwrap();
        let is_there = |number: u64| load(folder.path(), [0, number, 0, 0, 0, 0]).unwrap().is_some();
        assert!(
            is_there(999) && is_there(MOST_ENTRIES as u64 + 2) && !is_there(0) && !is_there(3) && is_there(4)
        );
        assert!(folder.path().join("other").exists());
    }
}
