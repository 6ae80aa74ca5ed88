//! Dumps of Lean libraries: one declaration a line, in the order of the library.
//!
//! A line is an object, `{"module": "Init.Prelude", "name": "id", "decl": "def id ..."}`; other fields are ignored. Files
//! that are compressed with zstd or gzip are read as they are.

use formulanet_logic::{ParseError, Position};
use serde::Deserialize;

use crate::Error;
use crate::read::JsonLines;

/// A declaration of a dump.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct LeanLine {
    /// The module that it is from.
    pub module: String,
    /// Its full name.
    pub name: String,
    /// Its text.
    pub decl: String,
}

/// The declarations of a dump, one after the other.
pub struct LeanDump {
    file: String,
    lines: JsonLines,
}

impl LeanDump {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(file: &str) -> Result<Self, Error> {
        Ok(LeanDump { file: file.to_owned(), lines: JsonLines::open(file)? })
    }

    /// The next declaration with the number of its line, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the line is not such an object, with the place.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results would be asked on after an error"
    )]
    pub fn next(&mut self) -> Result<Option<(usize, LeanLine)>, Error> {
        let Some((number, text)) = self.lines.next_line()? else { return Ok(None) };
        let line = serde_json::from_str(text).map_err(|error| {
            let place = Position { line: number, column: error.column().max(1) };
            let message = error.to_string();
            let end = format!(" at line {} column {}", error.line(), error.column());
            let found = message.strip_suffix(&end).unwrap_or(&message);
            let expected = "an object with `module`, `name` and `decl`";
            Error::parse(&self.file, ParseError::at(place, expected, format!("something else: {found}")))
        })?;
        Ok(Some((number, line)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The declarations of a file, or the first error.
    fn read(bytes: &[u8]) -> Result<Vec<(usize, String)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        fs::write(&path, bytes).unwrap();
        let mut dump = LeanDump::open(&path.to_string_lossy()).unwrap();
        let mut names = Vec::new();
        loop {
            match dump.next() {
                Ok(Some((number, line))) => names.push((number, line.name)),
                Ok(None) => return Ok(names),
                Err(error) => return Err(error.to_string().replace(&*path.to_string_lossy(), "dump")),
            }
        }
    }

    #[test]
    fn lines_are_declarations() {
        let text = "{\"module\": \"M\", \"name\": \"a\", \"decl\": \"axiom a : p\", \"kind\": 3}\n\n\
                    {\"name\": \"b\", \"decl\": \"\", \"module\": \"\"}\n";
        let expected = vec![(1, "a".to_owned()), (3, "b".to_owned())];
        assert_eq!(read(text.as_bytes()), Ok(expected.clone()));
        assert_eq!(read(&zstd::encode_all(text.as_bytes(), 1).unwrap()), Ok(expected));
        assert_eq!(read(b""), Ok(vec![]));
    }

    #[test]
    fn mistakes_have_a_place() {
        let check = |text: &str, expected: &str| {
            let found = read(text.as_bytes()).unwrap_err();
            assert!(found.starts_with(expected), "{found}");
        };
        check("\n[1]", "dump:2:");
        check(
            "{\"module\": \"M\", \"name\": \"a\"}",
            "dump:1:28: expected an object with `module`, `name` and `decl`",
        );
        check("{\"module\": \"M\",", "dump:1:15: ");
    }
}
