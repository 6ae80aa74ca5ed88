//! DeepMath: conjectures of the Mizar library, each with premises that a proof of it used and others.
//!
//! Every line is a TPTP statement after its kind: `C fof(...).` is a conjecture, `+ fof(...).` a premise that is
//! useful for it, `- fof(...).` one that is not. A published file has one conjecture; a stream of several files is
//! read as well, each `C` line beginning the next.

use std::borrow::Cow;
use std::io::BufRead;

use crate::error::quoted;
use crate::formula::Formula;
use crate::limits::Limits;
use crate::parse::lines::{Lines, ReadError};
use crate::symbol::Interner;
use crate::tptp::Parser;

/// The role of a line's statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Kind {
    /// `C`: the conjecture itself.
    Conjecture,
    /// `+`: a premise that its proof used.
    Useful,
    /// `-`: a premise that looked useful and was not.
    Useless,
}

/// A line, whose formula lies in the buffer that the caller gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    /// The role of the statement.
    pub kind: Kind,
    /// The statement's name.
    pub name: Cow<'a, str>,
    /// The statement's role, which is `axiom` in all published files.
    pub role: &'a str,
    /// The statement as it stands in the file: `fof(...).`
    pub text: &'a str,
    /// The line's number, from 1.
    pub number: usize,
}

/// Reads lines one after the other and never holds more than one. After a parse error the
/// next line can be read.
///
/// ```
/// use formulanet_logic::{deepmath::{Kind, Reader}, Formula, Interner, Limits};
/// let input = "C fof(t1, axiom, p(c)).\n+ fof(d1, axiom, ! [A] : p(A)).\n";
/// let (mut names, mut formula) = (Interner::new(), Formula::new());
/// let mut reader = Reader::new(input.as_bytes(), Limits::default());
/// let mut shown = Vec::new();
/// while let Some(line) = reader.next(&mut names, &mut formula)? {
///     shown.push((line.kind, line.name.into_owned(), formula.display(&names).to_string()));
/// }
/// assert_eq!(shown[0], (Kind::Conjecture, "t1".to_owned(), "|- (p c)".to_owned()));
/// assert_eq!(shown[1], (Kind::Useful, "d1".to_owned(), "|- (!A. (p A))".to_owned()));
/// # Ok::<(), formulanet_logic::ReadError>(())
/// ```
pub struct Reader<R> {
    lines: Lines<R>,
    parser: Parser,
    buffer: Vec<u8>,
    has_conjecture: bool,
    /// The role that the last line declared.
    kind: Option<Kind>,
}

impl<R: BufRead> Reader<R> {
    /// A reader of lines within the given limits.
    pub fn new(input: R, limits: Limits) -> Self {
        let lines = Lines::new(input, limits.bytes);
        Reader { lines, parser: Parser::new(limits), buffer: Vec::new(), has_conjecture: false, kind: None }
    }

    /// Goes on with another file, and keeps the working memory.
    pub fn restart(&mut self, input: R) {
        self.lines.restart(input);
        self.has_conjecture = false;
    }

    /// The role that the last line declared, even if the rest of it could not be read.
    pub fn last_kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Continues after a line that could not be read, even if it was the conjecture.
    pub fn recover(&mut self) {
        self.has_conjecture = true;
    }

    /// The next line, whose formula replaces what `formula` held; `None` at the end of the input.
    pub fn next(
        &mut self,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<Option<Line<'_>>, ReadError> {
        formula.clear();
        self.kind = None;
        if !self.lines.read_nonblank(&mut self.buffer)? {
            if !self.has_conjecture {
                let expected = "a line that begins with `C `";
                return Err(self.lines.error(0, expected, "the end of the file").into());
            }
            return Ok(None);
        }
        let (text, number) = (self.lines.text(&self.buffer)?, self.lines.number);
        let kind = match (text.as_bytes(), self.has_conjecture) {
            ([b'C', b' ', ..], _) => Kind::Conjecture,
            ([b'+', b' ', ..], true) => Kind::Useful,
            ([b'-', b' ', ..], true) => Kind::Useless,
            (_, has_conjecture) => {
                let expected = match has_conjecture {
                    true => "a line that begins with `C `, `+ ` or `- `",
                    false => "a line that begins with `C ` first",
                };
                let first_word = text.split_inclusive(' ').next().unwrap_or_default();
                return Err(self.lines.error(0, expected, quoted(first_word)).into());
            }
        };
        self.kind = Some(kind);
        // Also when the rest is wrong, so that the premises below it can still be read.
        self.has_conjecture = true;
        let header = self.parser.annotated_from(text, 2, number, names, formula)?;
        Ok(Some(Line { kind, name: header.name, role: header.role, text: text[2..].trim_ascii(), number }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::*;

    /// Lists the lines of an input, and its errors.
    #[track_caller]
    fn check_within(limits: Limits, input: &[u8], expected: &[&str]) {
        let (mut names, mut formula) = (Interner::new(), Formula::new());
        // A tiny buffer, so that lines do not arrive in one piece.
        let mut reader = Reader::new(io::BufReader::with_capacity(3, input), limits);
        let mut found = Vec::new();
        while found.len() < 20 {
            let shown = match reader.next(&mut names, &mut formula) {
                Ok(None) => break,
                Ok(Some(line)) => {
                    assert!(line.text.starts_with("fof(") && line.text.ends_with('.'));
                    let (kind, name, role) = (line.kind, line.name, line.role);
                    format!("{} {kind:?} {name} {role} {}", line.number, formula.display(&names))
                }
                Err(error) => error.to_string(),
            };
            let at_end = shown.ends_with("the end of the file");
            found.push(shown);
            if at_end {
                break;
            }
        }
        assert_eq!(found, expected, "for {}", input.escape_ascii());
    }

    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        check_within(Limits::default(), input.as_bytes(), expected);
    }

    #[test]
    fn lines() {
        let input = "C fof(t1, axiom, p(7)).\n\
                     + fof(d1, axiom, ( ! [A] : (p(A) => q) ) ).\r\n\
                     \n\
                     - fof(d2, lemma, a!=b).";
        check(
            input,
            &[
                "1 Conjecture t1 axiom |- (p '7')",
                "2 Useful d1 axiom |- (!A. ((p A) ==> q))",
                "4 Useless d2 lemma |- (~ (a = b))",
            ],
        );
        check(
            "C fof(a,axiom,p).\nC fof(b,axiom,q).\n",
            &["1 Conjecture a axiom |- p", "2 Conjecture b axiom |- q"],
        );
    }

    #[test]
    fn damaged_lines() {
        check("", &["1:1: expected a line that begins with `C `, found the end of the file"]);
        check("\n\n", &["3:1: expected a line that begins with `C `, found the end of the file"]);
        check(
            "+ fof(a,axiom,p).\nC fof(b,axiom,q).\n+ fof(c,axiom,r).\n",
            &[
                "1:1: expected a line that begins with `C ` first, found `+ `",
                "2 Conjecture b axiom |- q",
                "3 Useful c axiom |- r",
            ],
        );
        check(
            "C fof(a,axiom,p).\n* fof(b,axiom,q).\nfof(b,axiom,q).\n+",
            &[
                "1 Conjecture a axiom |- p",
                "2:1: expected a line that begins with `C `, `+ ` or `- `, found `* `",
                "3:1: expected a line that begins with `C `, `+ ` or `- `, found `fof(b,axiom,q).`",
                "4:1: expected a line that begins with `C `, `+ ` or `- `, found `+`",
            ],
        );
        check(
            "C fof(a,axiom,p).\n+ fof(b,axiom,q(",
            &["1 Conjecture a axiom |- p", "2:17: expected a term, found the end of the text"],
        );
        check(
            "C fof(a,axiom,p)\n- fof(b,axiom,q)) .",
            &[
                "1:17: expected `.` after `)`, found the end of the text",
                "2:17: expected `.` after `)`, found `)`",
            ],
        );
    }

    #[test]
    fn damaged_bytes() {
        check(
            "C fof(a,axiom,p).\n+ fof(b,axiom,\0).",
            &["1 Conjecture a axiom |- p", "2:15: expected UTF-8 text, found a NUL byte"],
        );
        check(
            "C fof(a,axiom,p). % \0",
            &[
                "1:21: expected UTF-8 text, found a NUL byte",
                "2:1: expected a line that begins with `C `, found the end of the file",
            ],
        );
        check_within(
            Limits::default(),
            b"C fof('\xc3\xb6\xff',axiom,p).\nC fof(a,axiom,p).",
            &["1:9: expected UTF-8 text, found the byte 0xff", "2 Conjecture a axiom |- p"],
        );
    }

    #[test]
    fn long_lines() {
        let limits = Limits { bytes: 17, ..Limits::default() };
        check_within(
            limits,
            b"C fof(a,axiom,p).\n+ fof(b,axiom,qq).\n- fof(c,axiom,r).",
            &[
                "1 Conjecture a axiom |- p",
                "2:18: expected at most 17 bytes in a line, found more",
                "3 Useless c axiom |- r",
            ],
        );
    }

    #[test]
    fn a_failing_input_is_no_parse_error() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("unplugged"))
            }
        }
        let mut reader = Reader::new(io::BufReader::new(Failing), Limits::default());
        let error = reader.next(&mut Interner::new(), &mut Formula::new()).unwrap_err();
        assert!(matches!(error, ReadError::Io(_)) && error.to_string() == "unplugged");
    }

    /// A line without end is refused after the limit, not collected.
    #[test]
    fn an_endless_line_takes_no_memory() {
        let limits = Limits { bytes: 1000, ..Limits::default() };
        let input = io::BufReader::new(io::repeat(b'C').take(50 << 20));
        let mut reader = Reader::new(input, limits);
        assert!(reader.next(&mut Interner::new(), &mut Formula::new()).is_err());
        assert!(reader.buffer.capacity() < 10_000);
    }
}
