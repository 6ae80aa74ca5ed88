//! Whole HolStep files, read as a stream.

use std::io::BufRead;

use super::Tokenized;
use crate::error::{ParseError, Position, quoted};
use crate::limits::Limits;
use crate::parse::lines::{Lines, ReadError};

/// Roles of statements in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The conjecture that the file is about.
    Conjecture,
    /// A named theorem that the conjecture's proof depends on.
    Dependency,
    /// A step of a proof, and whether it was useful for the conjecture.
    Step {
        /// Whether it is on a `+` line.
        useful: bool,
    },
}

/// A statement of a file.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its role.
    pub kind: Kind,
    /// The name of the conjecture or theorem; steps have none.
    pub name: Option<&'a str>,
    /// Text and tokens.
    pub statement: Tokenized<'a>,
}

/// Reads a HolStep file statement by statement; at no time more than one statement is in memory. After a parse error,
/// [`Reader::recover`] goes on at the next statement.
///
/// ```
/// use formulanet_logic::{holstep, Limits};
/// let file = "N TRUTH\nC |- T\nT cT\n+ |- (T = T)\nT c= cT cT\n";
/// let mut reader = holstep::Reader::new(file.as_bytes(), Limits::default());
/// let conjecture = reader.next_entry()?.unwrap();
/// assert_eq!((conjecture.name, conjecture.statement.text), (Some("TRUTH"), "|- T"));
/// let step = reader.next_entry()?.unwrap();
/// assert_eq!(step.kind, holstep::Kind::Step { useful: true });
/// assert!(reader.next_entry()?.is_none());
/// # Ok::<(), formulanet_logic::ReadError>(())
/// ```
pub struct Reader<R> {
    lines: Lines<R>,
    name: Vec<u8>,
    text: Vec<u8>,
    tokens: Vec<u8>,
    has_conjecture: bool,
    /// Whether `text` has a line that was read, but belongs to no statement yet.
    has_line: bool,
    /// Whether lines up to the next mark are passed over.
    recovers: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader of a stream.
    pub fn new(input: R, limits: Limits) -> Self {
        let lines = Lines::new(input, limits.bytes);
        Reader {
            lines,
            name: Vec::new(),
            text: Vec::new(),
            tokens: Vec::new(),
            has_conjecture: false,
            has_line: false,
            recovers: false,
        }
    }

    /// Continues after a statement that could not be read, at the next line that begins one.
    pub fn recover(&mut self) {
        self.has_conjecture = true;
        self.recovers = true;
    }

    /// The next statement; `None` at the end of the file.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>, ReadError> {
        let Some(first) = self.first_line()? else { return Ok(None) };
        let kind = match first {
            b'N' => Kind::Conjecture,
            b'D' => Kind::Dependency,
            b'+' => Kind::Step { useful: true },
            _ => Kind::Step { useful: false },
        };
        let named = match kind {
            Kind::Conjecture => Some(("the text of the conjecture, `C `", b'C')),
            Kind::Dependency => Some(("the text of the theorem, `A `", b'A')),
            Kind::Step { .. } => None,
        };
        if let Some((expected, mark)) = named {
            std::mem::swap(&mut self.name, &mut self.text);
            if !self.lines.read(&mut self.text)? || !is_marked(&self.text, mark) {
                self.has_line = !self.text.is_empty();
                return Err(self.unexpected(expected, &self.text).into());
            }
        }
        let line = self.lines.number;
        if !self.lines.read(&mut self.tokens)? || !is_marked(&self.tokens, b'T') {
            // If it begins the next statement, that one can still be read.
            std::mem::swap(&mut self.text, &mut self.tokens);
            self.has_line = !self.text.is_empty();
            return Err(self.unexpected("the tokens of the text above, `T `", &self.text).into());
        }
        let tokens = self.lines.text(&self.tokens)?;
        let text = self.lines.text(&self.text).map_err(|error| at_line(error, line))?;
        let name = match named {
            Some(_) => Some(self.lines.text(&self.name).map_err(|error| at_line(error, line - 1))?),
            None => None,
        };
        Ok(Some(Entry {
            kind,
            name: name.map(|line| line[1..].trim()),
            statement: Tokenized {
                text: &text[2..],
                tokens: tokens.get(2..).unwrap_or(""),
                position: Position { line, column: 3 },
            },
        }))
    }

    /// Reads the first line of a statement into `text` and returns its mark.
    fn first_line(&mut self) -> Result<Option<u8>, ReadError> {
        let allowed: (&[u8], _) = if self.has_conjecture {
            (b"D+-", "a theorem (`D `), a step (`+ ` or `- `) or the end of the file")
        } else {
            (b"N", "the name of a conjecture, `N ` (is this a HolStep file?)")
        };
        let mut is_there = std::mem::take(&mut self.has_line) || self.lines.read_nonblank(&mut self.text)?;
        while self.recovers && is_there && !allowed.0.iter().any(|&mark| is_marked(&self.text, mark)) {
            is_there = self.lines.read_nonblank(&mut self.text)?;
        }
        self.recovers = false;
        if !is_there {
            let is_end = self.has_conjecture;
            return if is_end { Ok(None) } else { Err(self.unexpected(allowed.1, b"").into()) };
        }
        let mark = self.text[0];
        if !allowed.0.contains(&mark) || !is_marked(&self.text, mark) {
            return Err(self.unexpected(allowed.1, &self.text).into());
        }
        self.has_conjecture = true;
        Ok(Some(mark))
    }

    #[cold]
    fn unexpected(&self, expected: &str, line: &[u8]) -> ParseError {
        let found = match line {
            [] => "the end of the file".to_owned(),
            line => quoted(&String::from_utf8_lossy(&line[..line.len().min(200)])),
        };
        self.lines.error(0, expected, found)
    }
}

/// Whether a line begins with the mark and a space.
fn is_marked(line: &[u8], mark: u8) -> bool {
    line.first() == Some(&mark) && matches!(line.get(1), Some(b' '))
}

fn at_line(mut error: ParseError, line: usize) -> ParseError {
    error.position.line = line;
    error
}
