//! Lines of `name: formula`, and JSON Lines.

use std::io::{BufRead, Read};

use formulanet_logic::hol::Overload;
use formulanet_logic::{Formula, Interner, Limit, ParseError, Position, hol, pass_line};
use serde::Deserialize;

use crate::read::SourceItem;
use crate::read::format::is_comment;
use crate::read::source::not_utf8;
use crate::statement::parse;
use crate::{Error, Language};

/// Reads a statement from every line that is neither blank nor a comment.
pub(super) struct NamedLines {
    input: Box<dyn BufRead>,
    is_json: bool,
    options: hol::Options,
    line: Vec<u8>,
    number: usize,
    /// Whether the last line was too long, and its rest is still to come.
    is_inside: bool,
    found: Found,
}

/// A line.
#[derive(Default, Deserialize)]
struct Found {
    name: String,
    statement: String,
    #[serde(default, rename = "syntax")]
    language: Language,
    /// The meaning of ambiguous operators in this statement.
    #[serde(default)]
    overload: Option<String>,
    /// The dependencies of a proof.
    #[serde(default)]
    proof: Option<Vec<String>>,
    /// The dependencies of several proofs, in addition to the one above.
    #[serde(default)]
    proofs: Vec<Vec<String>>,
    #[serde(default)]
    module: Option<String>,
    /// Characters before the statement, if it stands in the line as it is.
    #[serde(skip)]
    start: Option<usize>,
}

impl NamedLines {
    pub(super) fn new(input: Box<dyn BufRead>, is_json: bool, options: hol::Options) -> Self {
        let (line, found) = (Vec::new(), Found::default());
        NamedLines { input, is_json, options, line, number: 0, is_inside: false, found }
    }

    /// The next statement, whose formula replaces what `formula` held.
    pub(super) fn next<'a>(
        &'a mut self,
        file: &'a str,
        names: &mut Interner,
        formula: &'a mut Formula,
    ) -> Result<Option<SourceItem<'a>>, Error> {
        if !self.next_line(file)? {
            return Ok(None);
        }
        let Found { name, statement, language, proofs, module, start, .. } = &self.found;
        let position = Position { line: self.number, column: start.map_or(1, |column| column + 1) };
        *formula = parse(statement, *language, &self.options, names).map_err(|mut error| match start {
            Some(column) => {
                // The formula is one line of the file, so its columns are the file's, moved.
                error.position = Position { line: position.line, column: error.position.column + column };
                Error::parse(file, error)
            }
            None => Error::input(format!("{file}:{}", position.line), format!("in the statement, {error}")),
        })?;
        let (name, text) = (Some(name.as_str()), statement.as_str());
        let module = module.as_deref();
        Ok(Some(SourceItem {
            name,
            role: "",
            file,
            position,
            text,
            language: *language,
            formula,
            proofs,
            module,
        }))
    }

    /// Reads lines up to one that has a statement; false at the end.
    fn next_line(&mut self, file: &str) -> Result<bool, Error> {
        let most = self.options.limits.bytes as u64;
        loop {
            self.line.clear();
            if std::mem::take(&mut self.is_inside) {
                pass_line(&mut self.input).map_err(|error| Error::io(file, error))?;
            }
            self.number += 1;
            let read = self.input.by_ref().take(most.saturating_add(2)).read_until(b'\n', &mut self.line);
            if read.map_err(|error| Error::io(file, error))? == 0 {
                return Ok(false);
            }
            let number = self.number;
            let place = |column: usize| Position { line: number, column };
            let at = |column, expected: &str, found: &str| {
                Error::parse(file, ParseError::at(place(column), expected, found))
            };
            if self.line.len() as u64 > most.saturating_add(1) {
                self.is_inside = self.line.last() != Some(&b'\n');
                let long = ParseError::at(place(1), format!("at most {most} bytes in a line"), "more");
                return Err(Error::parse(file, long.over(Limit::Bytes)));
            }
            let text = std::str::from_utf8(&self.line).map_err(|error| {
                let valid = error.valid_up_to();
                let column = String::from_utf8_lossy(&self.line[..valid]).chars().count() + 1;
                Error::parse(file, not_utf8(place(column), self.line[valid]))
            })?;
            let text = text.trim_end_matches(['\n', '\r']);
            let trimmed = text.trim();
            if trimmed.is_empty() || (!self.is_json && is_comment(trimmed)) {
                continue;
            }
            self.found = if self.is_json {
                serde_json::from_str(trimmed).map_err(|error| {
                    at(error.column(), "an object with `name` and `statement`", &error.to_string())
                })?
            } else {
                let (name, statement) =
                    text.split_once(':').ok_or_else(|| at(1, "`name: formula`", "a line without `:`"))?;
                let start = text.len() - statement.trim_start().len();
                let (name, statement) = (name.trim().to_owned(), statement.trim().to_owned());
                Found { name, statement, start: Some(text[..start].chars().count()), ..Found::default() }
            };
            let overload = self.found.overload.take();
            self.found.language = self
                .found
                .language
                .with_overload(overload.as_deref())
                .map_err(|message| Error::input(format!("{file}:{number}"), message))?;
            if self.options.overload == Overload::default() {
                self.found.language = self.found.language.guessed_by(&self.found.name);
            }
            let first = self.found.proof.take();
            self.found.proofs.extend(first);
            if self.found.name.is_empty() {
                return Err(at(1, "a name before `:`", "nothing"));
            }
            if let Some(control) = self.found.name.chars().find(|c| c.is_control()) {
                // Elsewhere a name is a line, or a part of one.
                let found = format!("`{}`", control.escape_default());
                return Err(at(1, "a name without control characters", &found));
            }
            return Ok(true);
        }
    }
}
