//! TPTP problems with their includes.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use formulanet_logic::{Interner, Limits, ParseError, Position, tptp};

use crate::read::{SourceItem, read_text};
use crate::{Error, Language};

/// Bytes of one file. A problem is in memory as a whole, because what is selected from it is printed as it was.
pub(super) const MAX_FILE: usize = 1 << 30;
/// Includes within includes.
const MAX_DEPTH: usize = 32;
/// Files of one problem: a few files that include each other twice would otherwise make very many.
const MAX_FILES: usize = 10_000;

/// An annotated formula of a problem as it stands there, be it a formula or a declaration.
#[derive(Clone, Copy, Debug)]
pub struct AnnotatedFormula<'a> {
    /// The content.
    pub annotated: &'a tptp::Annotated,
    /// As it is written, from `fof` to the dot.
    pub text: &'a str,
    /// The file it stands in.
    pub file: &'a str,
}

/// A statement of a problem that could not be read.
#[derive(Clone, Debug)]
pub struct UnreadableStatement<'a> {
    /// Its name and role, if these could be read.
    pub header: Option<(String, String)>,
    /// Where it begins.
    pub position: Position,
    /// As it is written.
    pub text: &'a str,
    /// The file it stands in.
    pub file: &'a str,
}

/// Reads everything that a problem and the files that it includes have, in order.
pub struct TptpReader {
    limits: Limits,
    /// The files that are being read, outermost first.
    open: Vec<Open>,
    /// The number of files opened so far.
    files: usize,
    may_include: bool,
    last: Option<tptp::Annotated>,
}

/// A file that is being read.
struct Open {
    file: String,
    identity: PathBuf,
    text: String,
    cursor: tptp::Cursor,
    /// The names that are wanted of it; `None` for all.
    selection: Option<Rc<HashSet<String>>>,
}

impl TptpReader {
    pub(super) fn new(file: String, text: String, limits: Limits, may_include: bool) -> Self {
        let first = Open::new(file, text, limits, None);
        TptpReader { limits, open: vec![first], files: 1, may_include, last: None }
    }

    /// The next annotated formula, declarations included; `None` at the end.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, with the place.
    pub fn next(&mut self, names: &mut Interner) -> Result<Option<AnnotatedFormula<'_>>, Error> {
        self.last = None;
        while self.last.is_none() {
            let is_outermost = self.open.len() == 1;
            let Some(inner) = self.open.last_mut() else { return Ok(None) };
            let item = inner.cursor.next(&inner.text, names);
            match item.map_err(|error| Error::parse(&inner.file, error))? {
                // The outermost stays, so that what was read last can be looked at.
                None if is_outermost => return Ok(None),
                None => drop(self.open.pop()),
                Some(tptp::Item::Include(include)) => self.include(include)?,
                Some(tptp::Item::Annotated(annotated)) => {
                    let is_wanted =
                        inner.selection.as_ref().is_none_or(|names| names.contains(&annotated.name));
                    self.last = is_wanted.then_some(annotated);
                }
            }
        }
        let (Some(annotated), Some(inner)) = (&self.last, self.open.last()) else { return Ok(None) };
        Ok(Some(AnnotatedFormula { annotated, text: &inner.text[annotated.span.clone()], file: &inner.file }))
    }

    /// Passes over the statement that could not be read; `None` if that was no statement but an include.
    pub fn recover(&mut self) -> Option<UnreadableStatement<'_>> {
        let inner = self.open.last_mut()?;
        let tptp::Damaged { header, span, position } = inner.cursor.recover(&inner.text)?;
        Some(UnreadableStatement { header, position, text: &inner.text[span], file: &inner.file })
    }

    /// The next one that is no declaration.
    pub(super) fn next_formula(&mut self, names: &mut Interner) -> Result<Option<SourceItem<'_>>, Error> {
        while self.next(names)?.is_some_and(|next| next.annotated.formula.is_none()) {}
        let (Some(annotated), Some(inner)) = (&self.last, self.open.last()) else { return Ok(None) };
        let Some(formula) = annotated.formula.as_ref() else { return Ok(None) };
        let named = (Some(annotated.name.as_str()), annotated.role.as_str());
        let written = (&inner.text[annotated.span.clone()], Language::Tptp);
        Ok(Some(SourceItem::new(named, (&inner.file, annotated.position), written, formula)))
    }

    fn include(&mut self, include: tptp::Include) -> Result<(), Error> {
        let Some(outer) = self.open.last() else { return Ok(()) };
        let found = self.find(&outer.file, &include).map_err(|error| Error::parse(&outer.file, error))?;
        let selection = match (include.selection, &outer.selection) {
            (None, outer) => outer.clone(),
            (Some(names), None) => Some(Rc::new(names.into_iter().collect())),
            (Some(names), Some(outer)) => {
                Some(Rc::new(names.into_iter().filter(|name| outer.contains(name)).collect()))
            }
        };
        let text = read_text(&found, MAX_FILE)?;
        self.files += 1;
        self.open.push(Open::new(found, text, self.limits, selection));
        Ok(())
    }

    /// The file of an include: next to the including file, or in the directory that `$TPTP` names.
    fn find(&self, from: &str, include: &tptp::Include) -> Result<String, ParseError> {
        let fail = |expected: &str, found: String| ParseError::at(include.position, expected, found);
        if !self.may_include {
            return Err(fail("a text without includes", format!("an include of '{}'", include.file)));
        }
        let near = Path::new(from).parent().unwrap_or(Path::new("")).join(&include.file);
        let library = std::env::var_os("TPTP").map(|root| Path::new(&root).join(&include.file));
        let Some(path) = [Some(near), library].into_iter().flatten().find(|path| path.is_file()) else {
            let expected = "an include that exists next to this file or in the directory that $TPTP names";
            return Err(fail(expected, format!("'{}'", include.file)));
        };
        let path = path.to_string_lossy().into_owned();
        if self.open.iter().any(|open| open.identity == identity(&path)) {
            let found = format!("'{}', which includes this file", include.file);
            return Err(fail("includes that do not form a cycle", found));
        }
        if self.open.len() >= MAX_DEPTH || self.files >= MAX_FILES {
            let expected = format!("at most {MAX_DEPTH} nested includes and {MAX_FILES} files");
            return Err(fail(&expected, "more".to_owned()));
        }
        Ok(path)
    }
}

impl Open {
    fn new(file: String, text: String, limits: Limits, selection: Option<Rc<HashSet<String>>>) -> Self {
        let (identity, cursor) = (identity(&file), tptp::Cursor::new(limits));
        Open { file, identity, text, cursor, selection }
    }
}

/// The identity of a file, for comparing paths.
fn identity(file: &str) -> PathBuf {
    std::fs::canonicalize(file).unwrap_or_else(|_| PathBuf::from(file))
}
