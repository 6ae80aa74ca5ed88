//! Files of statements: HOL Light lines, HolStep, TPTP, DeepMath and JSON Lines.
//!
//! Every reader calls a visitor with one statement after the other, so that memory does not grow with the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use formulanet_logic::{Formula, Interner, Limit, ParseError, Position, deepmath, hol, holstep};
use serde::Deserialize;

use crate::Error;

mod statement;
mod tptp;

pub(crate) use statement::parse;
pub use statement::{Statement, Syntax};
pub use tptp::{TptpStatement, read_problem};

/// A statement of a file.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its name; the steps of a HolStep proof have none.
    pub name: Option<&'a str>,
    /// What it is in its file: `conjecture`, `dependency`, `useful` or `useless`, a TPTP role, or nothing.
    pub role: &'a str,
    /// The file it stands in, as the user gave it or an include found it.
    pub file: &'a str,
    /// Where it begins.
    pub position: Position,
    /// As it is written.
    pub text: &'a str,
    /// What it is written in.
    pub syntax: Syntax,
    /// The formula.
    pub formula: &'a Formula,
}

/// The languages of files of statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `name: formula` on every line, in HOL Light's syntax; `#` begins a comment.
    Hol,
    /// `N`, `C`, `T`, `D`, `A`, `+` and `-` lines.
    Holstep,
    /// Annotated formulas and includes.
    Tptp,
    /// `C`, `+` and `-` lines with TPTP formulas.
    Deepmath,
    /// `{"name": ..., "statement": ..., "syntax": "hol"}` on every line.
    Jsonl,
}

impl Format {
    /// All formats by name.
    pub const ALL: [(&'static str, Format); 5] = [
        ("hol", Format::Hol),
        ("holstep", Format::Holstep),
        ("tptp", Format::Tptp),
        ("deepmath", Format::Deepmath),
        ("jsonl", Format::Jsonl),
    ];

    /// What its formulas are written in; a line of JSON Lines may say otherwise.
    pub fn syntax(self) -> Syntax {
        match self {
            Format::Tptp | Format::Deepmath => Syntax::Tptp,
            Format::Hol | Format::Holstep | Format::Jsonl => Syntax::Hol,
        }
    }

    /// What a text that begins so most likely is.
    pub fn of(beginning: &[u8]) -> Format {
        let text = String::from_utf8_lossy(beginning);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let Some(line) = lines.next() else { return Format::Hol };
        let words = ["fof(", "cnf(", "tff(", "tcf(", "thf(", "include("];
        let is_tptp = |line: &str| {
            let dense: String = line.chars().take(12).filter(|c| !c.is_whitespace()).collect();
            words.iter().any(|word| dense.starts_with(word))
        };
        if line.starts_with('{') {
            Format::Jsonl
        } else if line.starts_with("N ") {
            Format::Holstep
        } else if line.starts_with('%') || line.starts_with("/*") || is_tptp(line) {
            Format::Tptp
        } else if line.strip_prefix("C ").is_some_and(is_tptp) {
            Format::Deepmath
        } else {
            Format::Hol
        }
    }

    /// What a file most likely is, by its beginning.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn of_file(file: &str) -> Result<Format, Error> {
        let mut beginning = Vec::new();
        let read = open(file)?.take(1 << 16).read_to_end(&mut beginning);
        read.map_err(|error| Error::io(file, error))?;
        Ok(Format::of(&beginning))
    }
}

/// Reads every statement of a file; `-` is standard input.
///
/// ```
/// use formulanet::logic::{Interner, hol};
/// use formulanet::read::{self, Format};
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("group.p").to_string_lossy().into_owned();
/// std::fs::write(&file, "fof(assoc, axiom, ![X,Y,Z]: m(X,m(Y,Z)) = m(m(X,Y),Z)).")?;
/// let (mut names, mut count) = (Interner::new(), 0);
/// let options = hol::Options::default();
/// read::read(&file, Format::Tptp, &options, &mut names, &mut |statement, _names| {
///     assert_eq!((statement.name, statement.role), (Some("assoc"), "axiom"));
///     count += 1;
///     Ok::<(), formulanet::Error>(())
/// })?;
/// assert_eq!(count, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read, or a statement of it, with the place; or what the visitor says.
pub fn read<E: From<Error>>(
    file: &str,
    format: Format,
    options: &hol::Options,
    names: &mut Interner,
    visit: &mut impl FnMut(&Item<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    if format == Format::Tptp {
        return tptp::read(file, None, options.limits, names, visit);
    }
    let input = BufReader::with_capacity(1 << 16, open(file)?);
    read_lines(file, input, format, options, names, visit)
}

/// Reads every statement of a text in memory; `name` is for messages. A TPTP text must not include files.
///
/// # Errors
///
/// As [`read`].
pub fn read_str<E: From<Error>>(
    name: &str,
    text: &str,
    format: Format,
    options: &hol::Options,
    names: &mut Interner,
    visit: &mut impl FnMut(&Item<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    match format {
        Format::Tptp => tptp::read(name, Some(text), options.limits, names, visit),
        _ => read_lines(name, text.as_bytes(), format, options, names, visit),
    }
}

fn read_lines<E: From<Error>>(
    file: &str,
    input: impl BufRead,
    format: Format,
    options: &hol::Options,
    names: &mut Interner,
    visit: &mut impl FnMut(&Item<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    match format {
        Format::Holstep => read_holstep(file, input, options, names, visit),
        Format::Deepmath => read_deepmath(file, input, options, names, visit),
        Format::Hol | Format::Jsonl | Format::Tptp => {
            read_named(file, input, format == Format::Jsonl, options, names, visit)
        }
    }
}

fn read_holstep<E: From<Error>>(
    file: &str,
    input: impl BufRead,
    options: &hol::Options,
    names: &mut Interner,
    visit: &mut impl FnMut(&Item<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = holstep::Reader::new(input, options.limits);
    let (mut parser, mut formula) = (holstep::Parser::new(options.limits), Formula::new());
    while let Some(entry) = reader.next_entry().map_err(|error| Error::read(file, error))? {
        parser.parse(&entry.statement, names, &mut formula).map_err(|error| Error::parse(file, error))?;
        let role = match entry.kind {
            holstep::Kind::Conjecture => "conjecture",
            holstep::Kind::Dependency => "dependency",
            holstep::Kind::Step { useful: true } => "useful",
            holstep::Kind::Step { useful: false } => "useless",
        };
        let (position, text) = (entry.statement.position, entry.statement.text);
        let name = entry.name;
        visit(&Item { name, role, file, position, text, syntax: Syntax::Hol, formula: &formula }, names)?;
    }
    Ok(())
}

fn read_deepmath<E: From<Error>>(
    file: &str,
    input: impl BufRead,
    options: &hol::Options,
    names: &mut Interner,
    visit: &mut impl FnMut(&Item<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = deepmath::Reader::new(input, options.limits);
    let mut formula = Formula::new();
    while let Some(line) = reader.next(names, &mut formula).map_err(|error| Error::read(file, error))? {
        let role = match line.kind {
            deepmath::Kind::Conjecture => "conjecture",
            deepmath::Kind::Useful => "useful",
            deepmath::Kind::Useless => "useless",
        };
        let position = Position { line: line.number, column: 3 };
        let (name, text) = (Some(line.name.as_ref()), line.text);
        visit(&Item { name, role, file, position, text, syntax: Syntax::Tptp, formula: &formula }, names)?;
    }
    Ok(())
}

/// A line of JSON Lines.
#[derive(Deserialize)]
struct JsonStatement {
    name: String,
    statement: String,
    #[serde(default)]
    syntax: Syntax,
}

/// `name: formula` or a JSON object on every line.
fn read_named<E: From<Error>>(
    file: &str,
    mut input: impl BufRead,
    is_json: bool,
    options: &hol::Options,
    names: &mut Interner,
    visit: &mut impl FnMut(&Item<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    let (mut line, mut number) = (Vec::new(), 0);
    let most = options.limits.bytes as u64;
    loop {
        line.clear();
        number += 1;
        let read = input.by_ref().take(most.saturating_add(2)).read_until(b'\n', &mut line);
        if read.map_err(|error| Error::io(file, error))? == 0 {
            return Ok(());
        }
        let at = |column: usize, expected: &str, found: String| {
            let position = Position { line: number, column };
            Error::parse(file, ParseError::at(position, expected, found))
        };
        if line.len() as u64 > most + 1 {
            let expected = format!("at most {most} bytes in a line");
            let position = Position { line: number, column: 1 };
            let error = ParseError::at(position, expected, "more").over(Limit::Bytes);
            return Err(Error::parse(file, error).into());
        }
        let text = std::str::from_utf8(&line).map_err(|error| {
            let valid = error.valid_up_to();
            let before = String::from_utf8_lossy(&line[..valid]);
            at(before.chars().count() + 1, "UTF-8 text", format!("the byte 0x{:02x}", line[valid]))
        })?;
        let text = text.trim_end_matches(['\n', '\r']);
        let trimmed = text.trim();
        if trimmed.is_empty() || (!is_json && trimmed.starts_with('#')) {
            continue;
        }
        let (name, statement, syntax, start) = if is_json {
            let found: JsonStatement = serde_json::from_str(trimmed).map_err(|error| {
                at(error.column(), "an object with `name` and `statement`", error.to_string())
            })?;
            (found.name, found.statement, found.syntax, None)
        } else {
            let (name, statement) = text
                .split_once(':')
                .ok_or_else(|| at(1, "`name: formula`", "a line without `:`".to_owned()))?;
            let start = text.len() - statement.trim_start().len();
            let column = text[..start].chars().count();
            (name.trim().to_owned(), statement.trim().to_owned(), Syntax::Hol, Some(column))
        };
        if name.is_empty() {
            return Err(at(1, "a name before `:`", "nothing".to_owned()).into());
        }
        let formula = parse(&statement, syntax, options, names).map_err(|mut error| match start {
            Some(column) => {
                // The formula is one line of the file, so its columns are the file's, moved.
                error.position = Position { line: number, column: error.position.column + column };
                Error::parse(file, error)
            }
            None => Error::data(format!("{file}:{number}"), format!("in the statement, {error}")),
        })?;
        let position = Position { line: number, column: start.map_or(1, |column| column + 1) };
        let (name, text) = (Some(name.as_str()), statement.as_str());
        visit(&Item { name, role: "", file, position, text, syntax, formula: &formula }, names)?;
    }
}

/// Opens a file, or standard input for `-`.
fn open(file: &str) -> Result<Box<dyn Read>, Error> {
    if file == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let path = Path::new(file);
    if path.is_dir() {
        let source = io::Error::new(io::ErrorKind::IsADirectory, "expected a file, found a directory");
        return Err(Error::io(file, source));
    }
    File::open(path).map(|opened| Box::new(opened) as Box<dyn Read>).map_err(|error| Error::io(file, error))
}

/// Reads a whole text, at most `limit` bytes of it. Text that is not UTF-8 is an error with its place.
pub fn read_text(file: &str, limit: usize) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let most = (limit as u64).saturating_add(1);
    open(file)?.take(most).read_to_end(&mut bytes).map_err(|error| Error::io(file, error))?;
    if bytes.len() > limit {
        let message = format!("expected at most {limit} bytes, found more");
        return Err(Error::io(file, io::Error::new(io::ErrorKind::FileTooLarge, message)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let found = format!("the byte 0x{:02x}", error.as_bytes()[valid]);
        let position = Position::in_text(&text, valid, 1);
        Error::parse(file, ParseError::at(position, "UTF-8 text", found))
    })
}
