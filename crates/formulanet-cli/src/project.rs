//! `formulanet.toml`: the libraries of a project, found from the current directory upwards.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use formulanet::read::read_text;
use serde::Deserialize;

use crate::usage::wrong;

/// The name of the file.
const FILE: &str = "formulanet.toml";

/// The most bytes of such a file.
const MOST: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    /// Relative paths are relative to the file.
    libraries: Vec<PathBuf>,
}

/// The libraries that the nearest project file names; none if there is no such file.
pub(crate) fn libraries() -> Result<Vec<PathBuf>> {
    // Where the current directory was removed, there is no project.
    std::env::current_dir().map_or(Ok(Vec::new()), |folder| libraries_from(&folder))
}

/// The library of the project, for a command that takes one; none if there is no project.
pub(crate) fn library() -> Result<Option<PathBuf>> {
    let mut libraries = libraries()?;
    match libraries.len() {
        0 | 1 => Ok(libraries.pop()),
        count => Err(wrong(format!("{FILE} names {count} libraries: choose one with --library FILE"))),
    }
}

fn libraries_from(folder: &Path) -> Result<Vec<PathBuf>> {
    let Some(folder) = folder.ancestors().find(|folder| folder.join(FILE).is_file()) else {
        return Ok(Vec::new());
    };
    let file = folder.join(FILE).display().to_string();
    let text = read_text(&file, MOST)?;
    let project: Project = toml::from_str(&text).with_context(|| format!("cannot read `{file}`"))?;
    Ok(project.libraries.iter().map(|library| folder.join(library)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_counts() {
        let root = tempfile::tempdir().unwrap();
        let below = root.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        let check = |folder: &Path, expected: &[PathBuf]| {
            assert_eq!(libraries_from(folder).unwrap(), expected, "{}", folder.display());
        };
        check(&below, &[]);
        std::fs::write(root.path().join(FILE), "libraries = ['one.db', '/two.db']").unwrap();
        check(&below, &[root.path().join("one.db"), "/two.db".into()]);
        std::fs::write(root.path().join("a").join(FILE), "libraries = []").unwrap();
        check(&below, &[]);
        check(root.path(), &[root.path().join("one.db"), "/two.db".into()]);
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        let root = tempfile::tempdir().unwrap();
        for text in ["libraries = 3", "library = 'x.db'", "libraries = ['a']\nmore = 1", "", "["] {
            std::fs::write(root.path().join(FILE), text).unwrap();
            let error = format!("{:#}", libraries_from(root.path()).unwrap_err());
            assert!(error.contains(FILE), "{text}: {error}");
        }
    }
}
