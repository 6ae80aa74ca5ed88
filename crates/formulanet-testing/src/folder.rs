//! A folder for the files of a test.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary folder, gone when it is dropped.
pub struct Folder(TempDir);

impl Folder {
    /// Makes an empty folder.
    #[allow(clippy::new_without_default, reason = "it makes a folder on disk, which a default should not")]
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    /// Where the folder is.
    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// The path as text, for a command line.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a file and returns its path as text.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.text(name)
    }

    /// The content of a file.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }
}
