//! Compiled Lean modules, `.olean` files, read without Lean: statements as exact terms, and the dependencies
//! of their proofs.
//!
//! A module is one file or several: `M.olean` has the public part, `M.olean.private` the proofs. Statements
//! are printed as Lean prints them without notation: with every function by its full name, and without
//! implicit arguments, instances and proofs. So they are parsed like any other Lean text.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::Artefact;

mod module;
mod objects;
mod print;
mod signature;

use module::{Declared, Known, Module};
use objects::{Damage, LARGEST};
use signature::Signatures;

/// Maximum number of modules: many times Mathlib.
const MOST_MODULES: usize = 1 << 18;
/// Maximum depth of nested directories.
const DEEPEST: usize = 64;

/// A statement of a compiled module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeanFact {
    /// Module that contains it.
    pub module: String,
    /// Full name.
    pub name: String,
    /// Declaration.
    pub text: String,
    /// Theorems that its proof uses, if the file has the proof.
    pub proof: Option<Vec<String>>,
}

/// The compiled modules of some directories, imports first.
pub struct LeanModules {
    /// Modules with their files, in order.
    files: VecDeque<(String, PathBuf)>,
    count: usize,
    signatures: Signatures,
    known: Known,
    facts: VecDeque<LeanFact>,
    skipped: usize,
    missing: usize,
}

impl LeanModules {
    /// Finds the modules of directories, such as `.lake/build/lib/lean`, and the order in which they import
    /// each other.
    ///
    /// # Errors
    ///
    /// Returns an error if a directory has none, or a file cannot be read or is damaged.
    pub fn open(folders: &[PathBuf]) -> Result<Self, Error> {
        let mut found = Vec::new();
        for folder in folders {
            let before = found.len();
            find(folder, &mut found)?;
            if found.len() == before {
                let message = "expected compiled Lean modules (`.olean` files), found none";
                return Err(Error::input(folder.display().to_string(), message));
            }
        }
        let mut imports = HashMap::new();
        for (module, file) in &found {
            let of_file = open(file, false)?.imports().map_err(|damage| damaged(file, &damage))?;
            imports.insert(module.clone(), of_file.iter().map(|name| (**name).to_owned()).collect());
        }
        let (files, missing) = in_order(found, &imports);
        let count = files.len();
        let (signatures, known, facts) = (Signatures::default(), Known::default(), VecDeque::new());
        Ok(LeanModules { files: files.into(), count, signatures, known, facts, skipped: 0, missing })
    }

    /// Returns the number of modules.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of statements so far that were too large to print.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns the number of imported modules that no directory has.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Returns the next statement, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or is damaged.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results would be asked on after an error"
    )]
    pub fn next(&mut self) -> Result<Option<LeanFact>, Error> {
        while self.facts.is_empty() {
            let Some((module, file)) = self.files.pop_front() else { return Ok(None) };
            let fail = |damage: Damage| damaged(&file, &damage);
            let mut opened = open(&file, false)?;
            let declared = opened.declared(&mut self.signatures, &mut self.known, &mut self.skipped);
            let declared = declared.map_err(fail)?;
            // If proofs have a file of their own, it points into the others.
            let mut with_proofs = if part(&file, "private").is_file() { open(&file, true)? } else { opened };
            let mut proofs = with_proofs.proofs(&mut self.known).map_err(fail)?;
            self.facts.extend(declared.into_iter().map(|Declared { name, text }| LeanFact {
                module: module.clone(),
                proof: proofs.remove(&name),
                name: (*name).to_owned(),
                text,
            }));
        }
        Ok(self.facts.pop_front())
    }
}

/// Returns the file of another part of a module.
fn part(file: &Path, name: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".");
    path.push(name);
    path.into()
}

/// Reads a module, with its proofs if `with_proofs`.
fn open(file: &Path, with_proofs: bool) -> Result<Module, Error> {
    let mut parts = vec![file.to_owned()];
    if with_proofs {
        parts.splice(
            0..0,
            [part(file, "private"), part(file, "server")].into_iter().filter(|path| path.is_file()),
        );
    }
    let parts: Result<Vec<Vec<u8>>, Error> = parts.iter().map(|path| bytes(path)).collect();
    Module::new(parts?).map_err(|damage| damaged(file, &damage))
}

fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |error| Error::io(path, error);
    let length = fs::metadata(path).map_err(fail)?.len();
    if length > LARGEST {
        return Err(damaged(path, &format!("expected at most {LARGEST} bytes, found {length}")));
    }
    fs::read(path).map_err(fail)
}

fn damaged(file: &Path, damage: &str) -> Error {
    Error::corrupt(Artefact::LeanModule, file, damage)
}

/// Finds the modules below a directory, in the order of their names.
fn find(folder: &Path, found: &mut Vec<(String, PathBuf)>) -> Result<(), Error> {
    let mut stack = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = stack.pop() {
        let fail = |error| Error::io(&folder, error);
        let mut entries: Vec<_> =
            fs::read_dir(&folder).map_err(fail)?.collect::<Result<_, _>>().map_err(fail)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().map_err(fail)?.is_dir() {
                if depth < DEEPEST {
                    stack.push((entry.path(), format!("{prefix}{name}."), depth + 1));
                }
            } else if let Some(name) = name.strip_suffix(".olean") {
                if found.len() >= MOST_MODULES {
                    let message = format!("expected at most {MOST_MODULES} modules, found more");
                    return Err(Error::input(folder.display().to_string(), message));
                }
                found.push((format!("{prefix}{name}"), entry.path()));
            }
        }
    }
    found.sort();
    Ok(())
}

/// Returns modules with their imports first, and the number of imports without a file.
fn in_order(
    found: Vec<(String, PathBuf)>,
    imports: &HashMap<String, Vec<String>>,
) -> (Vec<(String, PathBuf)>, usize) {
    let mut files: HashMap<&str, &PathBuf> = HashMap::new();
    for (module, file) in &found {
        files.entry(module).or_insert(file);
    }
    let (mut order, mut seen, mut missing) = (Vec::new(), HashSet::new(), HashSet::new());
    for (module, _) in &found {
        // A module, and whether its imports are already in the list.
        let mut stack = vec![(module.as_str(), false)];
        while let Some((module, is_ready)) = stack.pop() {
            let Some(file) = files.get(module) else {
                missing.insert(module);
                continue;
            };
            if is_ready {
                order.push((module.to_owned(), (*file).clone()));
            } else if seen.insert(module) {
                stack.push((module, true));
                let imports = imports.get(module).into_iter().flatten().rev();
                stack.extend(imports.map(|import| (import.as_str(), false)));
            }
        }
    }
    (order, missing.len())
}
