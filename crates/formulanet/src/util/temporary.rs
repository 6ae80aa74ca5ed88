//! Temporary files and folders beside what they become, and what killed processes left of theirs.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError};

use tempfile::TempDir;

use super::hash::hash_text;

/// What all names begin with.
const MARK: &str = ".formulanet-";

/// Makes temporary files and folders in a folder. Their names say which process of which machine they belong to; those of
/// processes of this machine that are no more are removed first.
pub(crate) fn maker(folder: &Path) -> tempfile::Builder<'static, 'static> {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.get_or_insert_default().insert(folder.to_owned()) {
        sweep(folder, machine());
    }
    static PREFIX: OnceLock<String> = OnceLock::new();
    let prefix = PREFIX.get_or_init(|| format!("{MARK}{:x}-{}-", machine(), process::id()));
    let mut maker = tempfile::Builder::new();
    maker.prefix(prefix);
    maker
}

/// Makes a temporary folder in a folder. If the process is killed, the next one that makes something there removes it.
///
/// # Errors
///
/// If it cannot be made.
pub fn temporary_folder(folder: &Path) -> io::Result<TempDir> {
    maker(folder).tempdir_in(folder)
}

/// Tells this machine from others that see the same folder, and this container, whose processes have numbers of their own.
fn machine() -> u64 {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let container = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    hash_text(&format!("{host} {}", container.display()))
}

/// Removes what dead processes of a machine left in a folder. What cannot be removed stays: it is in nobody's way.
fn sweep(folder: &Path, machine: u64) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| owner(name, machine)) else { continue };
        if Path::new("/proc").join(owner.to_string()).exists() {
            continue;
        }
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
    }
}

/// The process of this machine that a temporary name belongs to.
fn owner(name: &str, machine: u64) -> Option<u32> {
    let mut parts = name.strip_prefix(MARK)?.splitn(3, '-');
    let is_here = u64::from_str_radix(parts.next()?, 16).ok()? == machine;
    let owner = parts.next()?.parse().ok()?;
    parts.next().filter(|_| is_here)?;
    Some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dead_processes_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (machine(), machine() ^ 1);
        // No process has this number: Linux gives out at most 4194304.
        let (dead, own) = (4_194_305, process::id());
        let name = |machine: u64, process: u32| format!("{MARK}{machine:x}-{process}-aB3");
        fs::create_dir(folder.path().join(name(here, dead))).unwrap();
        fs::write(folder.path().join(name(here, dead)).join("half"), "x").unwrap();
        fs::write(folder.path().join(name(here, dead) + "2"), "x").unwrap();
        let stay = [name(here, own), name(elsewhere, dead), format!("{MARK}aB3cD4"), "theory.db".to_owned()];
        stay.iter().for_each(|name| fs::write(folder.path().join(name), "x").unwrap());
        let _made = maker(folder.path()).tempfile_in(folder.path()).unwrap();
        let left: HashSet<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(left.len(), stay.len() + 1, "{left:?}");
        assert!(stay.iter().all(|name| left.contains(name)), "{left:?}");
    }
}
