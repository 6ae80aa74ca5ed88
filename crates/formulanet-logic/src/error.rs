//! Errors of parsers.

use std::fmt;

use thiserror::Error;

use crate::limits::Limit;

/// A place in a text, for people: both numbers count from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Position {
    /// The place of a byte of a text that begins at the given line.
    pub fn in_text(text: &str, offset: usize, first_line: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let newlines = before.iter().filter(|&&b| b == b'\n').count();
        // Bytes that continue a character do not count; the offset may lie inside of one.
        let characters = before[line_start..].iter().filter(|&&b| b & 0xc0 != 0x80).count();
        Position { line: first_line + newlines, column: characters + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A text that is not a formula: where, what was expected there and what was found.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{position}: expected {expected}, found {found}")]
#[non_exhaustive]
pub struct ParseError {
    /// Where the text goes wrong.
    pub position: Position,
    /// Description of the expected input.
    pub expected: String,
    /// Description of the input found.
    pub found: String,
    /// Which limit the text is above, if that is what is wrong with it.
    pub limit: Option<Limit>,
}

impl ParseError {
    /// An error at a place.
    pub fn at(position: Position, expected: impl Into<String>, found: impl Into<String>) -> Self {
        ParseError { position, expected: expected.into(), found: found.into(), limit: None }
    }

    /// Marks the error as caused by a limit.
    pub fn over(self, limit: Limit) -> Self {
        ParseError { limit: Some(limit), ..self }
    }

    /// An error at a byte of a text that begins at the given line.
    pub(crate) fn new(
        text: &str,
        offset: usize,
        first_line: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::at(Position::in_text(text, offset, first_line), expected, found)
    }
}

/// A piece of the input as an error message shows it: short, and without control characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    shown = shown.replace("\\'", "'").replace("\\\"", "\"").replace("\\\\", "\\");
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
