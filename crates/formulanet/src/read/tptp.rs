//! TPTP problems with their includes.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use formulanet_logic::{Interner, Limits, ParseError, tptp};

use super::{Item, Syntax, read_text};
use crate::Error;

/// Bytes of one file. A problem is in memory as a whole, because what is selected from it is printed as it was.
const MAX_FILE: usize = 1 << 30;
/// Includes within includes.
const MAX_DEPTH: usize = 32;
/// Files of one problem: a few files that include each other twice would otherwise make very many.
const MAX_FILES: usize = 10_000;

/// A statement of a problem as it stands there, be it a formula or a declaration.
#[derive(Clone, Copy, Debug)]
pub struct TptpStatement<'a> {
    /// What was read.
    pub statement: &'a tptp::Annotated,
    /// As it is written, from `fof` to the dot.
    pub text: &'a str,
    /// The file it stands in.
    pub file: &'a str,
}

/// Reads the formulas of a problem and everything that it includes, in order; or of a text that includes nothing.
pub(super) fn read<E: From<Error>>(
    file: &str,
    text: Option<&str>,
    limits: Limits,
    names: &mut Interner,
    visit: &mut impl FnMut(&Item<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    read_items(file, text, limits, names, &mut |item: TptpStatement<'_>, names: &Interner| {
        let TptpStatement { statement, text, file } = item;
        let Some(formula) = &statement.formula else { return Ok(()) };
        let (name, role) = (Some(statement.name.as_str()), statement.role.as_str());
        let (position, syntax) = (statement.position, Syntax::Tptp);
        visit(&Item { name, role, file, position, text, syntax, formula }, names)
    })
}

/// Reads every statement of a problem and of what it includes, declarations too; `-` is standard input.
///
/// # Errors
///
/// If a file cannot be read, with the place; or what the visitor says.
pub fn read_problem<E: From<Error>>(
    file: &str,
    limits: Limits,
    names: &mut Interner,
    visit: &mut impl FnMut(TptpStatement<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    read_items(file, None, limits, names, visit)
}

fn read_items<E: From<Error>>(
    file: &str,
    text: Option<&str>,
    limits: Limits,
    names: &mut Interner,
    visit: &mut impl FnMut(TptpStatement<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    let is_file = text.is_none();
    let mut problem = Problem { limits, names, visit, open: Vec::new(), files: 0, is_file };
    match text {
        Some(text) => problem.items(file, text, None),
        None => problem.read(file.to_owned(), None),
    }
}

struct Problem<'a, V> {
    limits: Limits,
    names: &'a mut Interner,
    visit: &'a mut V,
    /// The files that are being read, outermost first.
    open: Vec<PathBuf>,
    files: usize,
    /// Whether it is a file; a text from elsewhere must not make us read files.
    is_file: bool,
}

impl<V> Problem<'_, V> {
    fn read<E>(&mut self, file: String, selection: Option<&HashSet<String>>) -> Result<(), E>
    where
        E: From<Error>,
        V: FnMut(TptpStatement<'_>, &Interner) -> Result<(), E>,
    {
        let text = read_text(&file, MAX_FILE)?;
        self.files += 1;
        self.open.push(identity(&file));
        self.items(&file, &text, selection)?;
        self.open.pop();
        Ok(())
    }

    fn items<E>(&mut self, file: &str, text: &str, selection: Option<&HashSet<String>>) -> Result<(), E>
    where
        E: From<Error>,
        V: FnMut(TptpStatement<'_>, &Interner) -> Result<(), E>,
    {
        let mut reader = tptp::Reader::new(text, self.limits);
        while let Some(item) = reader.next(self.names).map_err(|error| Error::parse(file, error))? {
            match item {
                tptp::Item::Annotated(statement) => {
                    if selection.is_none_or(|names| names.contains(&statement.name)) {
                        let text = &text[statement.span.clone()];
                        (self.visit)(TptpStatement { statement: &statement, text, file }, self.names)?;
                    }
                }
                tptp::Item::Include(include) => {
                    let found = self.find(file, &include).map_err(|error| Error::parse(file, error))?;
                    let inner = match (include.selection, selection) {
                        (None, None) => None,
                        (Some(names), None) => Some(names.into_iter().collect()),
                        (None, Some(outer)) => Some(outer.clone()),
                        (Some(names), Some(outer)) => {
                            Some(names.into_iter().filter(|name| outer.contains(name)).collect())
                        }
                    };
                    self.read(found, inner.as_ref())?;
                }
            }
        }
        Ok(())
    }

    /// The file that an include means: beside the including file, or in the directory that `$TPTP` names.
    fn find(&self, from: &str, include: &tptp::Include) -> Result<String, ParseError> {
        let fail = |expected: &str, found: String| ParseError::at(include.position, expected, found);
        if !self.is_file {
            return Err(fail("a text without includes", format!("an include of '{}'", include.file)));
        }
        let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(&include.file);
        let library = std::env::var_os("TPTP").map(|root| Path::new(&root).join(&include.file));
        let candidates = [Some(beside), library].into_iter().flatten();
        let Some(path) = candidates.into_iter().find(|path| path.is_file()) else {
            let expected = "an include that exists beside this file or in the directory that $TPTP names";
            return Err(fail(expected, format!("'{}'", include.file)));
        };
        if self.open.contains(&identity(&path.to_string_lossy())) {
            let found = format!("'{}', which includes this file", include.file);
            return Err(fail("includes that do not form a cycle", found));
        }
        if self.open.len() >= MAX_DEPTH || self.files >= MAX_FILES {
            let expected = format!("at most {MAX_DEPTH} nested includes and {MAX_FILES} files");
            return Err(fail(&expected, "more".to_owned()));
        }
        Ok(path.to_string_lossy().into_owned())
    }
}

/// What tells whether two paths are the same file.
fn identity(file: &str) -> PathBuf {
    std::fs::canonicalize(file).unwrap_or_else(|_| PathBuf::from(file))
}
