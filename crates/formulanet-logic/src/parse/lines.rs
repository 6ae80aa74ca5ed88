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
    /// Whether the last line was too long, and its rest is still to come.
    is_inside: bool,
}

/// Bytes of a line that are passed over, at most: a stream without lines has to end, too.
const MOST_PASSED: usize = 1 << 30;

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        Lines { input, number: 0, limit, is_inside: false }
    }

    /// Goes on with another file.
    pub(super) fn restart(&mut self, input: R) {
        self.input = input;
        self.number = 0;
        self.is_inside = false;
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

    /// Reads the next line into `line`, without its end; false at the end of the stream. A line above the limit is an error
    /// before it takes more memory than the limit; its rest is skipped by the next call.
    pub(super) fn read(&mut self, line: &mut Vec<u8>) -> Result<bool, ReadError> {
        line.clear();
        if std::mem::take(&mut self.is_inside) {
            pass_line(&mut self.input)?;
        }
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
            if taken > self.limit - line.len() {
                let expected = format!("at most {} bytes in a line", self.limit);
                line.clear();
                self.is_inside = true;
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

/// Passes over the rest of a line.
///
/// # Errors
///
/// If the stream fails, or the line has no end within a gigabyte.
pub fn pass_line(input: &mut impl BufRead) -> io::Result<()> {
    let mut passed = 0;
    while passed < MOST_PASSED {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr::memchr(b'\n', available);
        let taken = end.map_or(available.len(), |end| end + 1);
        input.consume(taken);
        if end.is_some() || taken == 0 {
            return Ok(());
        }
        passed += taken;
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("a line of more than {MOST_PASSED} bytes")))
}
