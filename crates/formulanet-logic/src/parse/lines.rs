//! Lines of a stream, one at a time and of bounded length.

use std::io::{self, BufRead};

use thiserror::Error;

use crate::error::{ParseError, Position};
use crate::limits::Limit;

/// Why a file of statements could not be read on.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The stream failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The text is not what it should be.
    #[error(transparent)]
    Parse(#[from] ParseError),
}

/// Reads lines and counts them.
pub(super) struct Lines<R> {
    input: R,
    /// Number of the line that was read last.
    pub(super) number: usize,
    limit: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        Lines { input, number: 0, limit }
    }

    /// Goes on with another file.
    pub(super) fn restart(&mut self, input: R) {
        self.input = input;
        self.number = 0;
    }

    /// [`Lines::read`], but skips lines of white space.
    pub(super) fn read_nonblank(&mut self, line: &mut Vec<u8>) -> Result<bool, ReadError> {
        while self.read(line)? {
            if !line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next line into `line`, without its end; false at the end of the stream. A line above the limit
    /// is an error before it takes more memory than the limit.
    pub(super) fn read(&mut self, line: &mut Vec<u8>) -> Result<bool, ReadError> {
        line.clear();
        self.number += 1;
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if available.is_empty() {
                return Ok(!line.is_empty());
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.unwrap_or(available.len());
            if line.len() + taken > self.limit {
                let expected = format!("at most {} bytes in a line", self.limit);
                line.clear();
                self.input.skip_until(b'\n')?;
                return Err(self.error(self.limit, expected, "more").over(Limit::Bytes).into());
            }
            line.extend_from_slice(&available[..taken]);
            self.input.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(true);
            }
        }
    }

    /// An error in the current line, at a byte that follows only one-byte characters.
    pub(super) fn error(
        &self,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ParseError {
        ParseError::at(Position { line: self.number, column: offset + 1 }, expected, found)
    }

    /// The line as text.
    pub(super) fn text<'a>(&self, line: &'a [u8]) -> Result<&'a str, ParseError> {
        let bad = match std::str::from_utf8(line) {
            Ok(text) => match memchr::memchr(0, line) {
                None => return Ok(text),
                Some(offset) => offset,
            },
            Err(error) => error.valid_up_to(),
        };
        let found = match line[bad] {
            0 => "a NUL byte".to_owned(),
            byte => format!("the byte 0x{byte:02x}"),
        };
        let before = String::from_utf8_lossy(&line[..bad]);
        Err(ParseError::new(&before, before.len(), self.number, "UTF-8 text", found))
    }
}
