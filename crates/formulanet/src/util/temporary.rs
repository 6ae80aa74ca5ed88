//! Temporary files and directories next to what they become, and the removal of those that killed processes left.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{io, process};

use crate::util::hash::hash_text;

/// The prefix of all names.
const MARK: &str = ".formulanet-";

/// A temporary file, removed when dropped unless it was kept.
pub struct TempFile {
    /// The open file.
    pub file: File,
    path: PathBuf,
}

impl TempFile {
    /// Creates an empty file in a directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be written.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        let (file, path) = unused(folder, |path| options.open(path))?;
        Ok(TempFile { file, path })
    }

    /// Gives the file its final name, in place of a file that has it.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be renamed.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A temporary directory, removed with its contents when dropped unless it was kept.
pub struct TempFolder(PathBuf);

impl TempFolder {
    /// Creates an empty directory in another, which only this user can read.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be written.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let ((), path) = unused(folder, |path| builder.create(path))?;
        Ok(TempFolder(path))
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves the directory where it is.
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Creates something under a name that nothing in the directory has. Names tell which process of which machine made it; files
/// of processes of this machine that have ended are removed first.
fn unused<T>(folder: &Path, mut create: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    static PREFIX: OnceLock<String> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(folder.to_owned())
    {
        sweep(folder, machine());
    }
    let prefix = PREFIX.get_or_init(|| format!("{MARK}{:x}-{}-", machine(), process::id()));
    loop {
        let path = folder.join(format!("{prefix}{:x}", NEXT.fetch_add(1, Ordering::Relaxed)));
        match create(&path) {
            Ok(made) => return Ok((made, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Tells this machine from others that see the same folder, and this container, whose processes have numbers of their own.
fn machine() -> u64 {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let container = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    hash_text(&format!("{host} {}", container.display()))
}

/// Removes the temporary files of dead processes of a machine from a directory. Files that cannot be removed are left.
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
        let _made = TempFile::new_in(folder.path()).unwrap();
        let left: HashSet<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(left.len(), stay.len() + 1, "{left:?}");
        assert!(stay.iter().all(|name| left.contains(name)), "{left:?}");
    }
}
