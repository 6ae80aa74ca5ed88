//! Files of statements: HolStep, TPTP and DeepMath.
//!
//! Every reader calls a visitor with one statement after the other, so that memory does not grow with the file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use formulanet_logic::{Formula, Interner, Limits, Position, deepmath, holstep};

use crate::Error;

mod tptp;

/// A statement of a file.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// Its name; the steps of a HolStep proof have none.
    pub name: Option<&'a str>,
    /// What it is in its file: `conjecture`, `dependency`, `useful` or `useless`, or a TPTP role.
    pub role: &'a str,
    /// The file it stands in, as the user gave it or an include found it.
    pub file: &'a str,
    /// Where it begins.
    pub position: Position,
    /// The formula.
    pub formula: &'a Formula,
}

/// The languages of files of statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `N`, `C`, `T`, `D`, `A`, `+` and `-` lines.
    Holstep,
    /// Annotated formulas and includes.
    Tptp,
    /// `C`, `+` and `-` lines with TPTP formulas.
    Deepmath,
}

/// Reads every statement of a file; `-` is standard input.
///
/// ```
/// use formulanet::logic::{Interner, Limits};
/// use formulanet::statements::{self, Format};
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("group.p").to_string_lossy().into_owned();
/// std::fs::write(&file, "fof(assoc, axiom, ![X,Y,Z]: m(X,m(Y,Z)) = m(m(X,Y),Z)).")?;
/// let mut names = Interner::new();
/// let mut count = 0;
/// statements::read(&file, Format::Tptp, Limits::default(), &mut names, &mut |statement, _names| {
///     assert_eq!((statement.name, statement.role), (Some("assoc"), "axiom"));
///     count += 1;
///     Ok::<(), formulanet::Error>(())
/// })?;
/// assert_eq!(count, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<E: From<Error>>(
    file: &str,
    format: Format,
    limits: Limits,
    names: &mut Interner,
    visit: &mut impl FnMut(&Statement<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    match format {
        Format::Holstep => read_holstep(file, limits, names, visit),
        Format::Tptp => tptp::read(file, limits, names, visit),
        Format::Deepmath => read_deepmath(file, limits, names, visit),
    }
}

fn read_holstep<E: From<Error>>(
    file: &str,
    limits: Limits,
    names: &mut Interner,
    visit: &mut impl FnMut(&Statement<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = holstep::Reader::new(BufReader::with_capacity(1 << 16, open(file)?), limits);
    let (mut parser, mut formula) = (holstep::Parser::new(limits), Formula::new());
    while let Some(entry) = reader.next_entry().map_err(|error| Error::read(file, error))? {
        parser.parse(&entry.statement, names, &mut formula).map_err(|error| Error::parse(file, error))?;
        let role = match entry.kind {
            holstep::Kind::Conjecture => "conjecture",
            holstep::Kind::Dependency => "dependency",
            holstep::Kind::Step { useful: true } => "useful",
            holstep::Kind::Step { useful: false } => "useless",
        };
        let position = entry.statement.position;
        visit(&Statement { name: entry.name, role, file, position, formula: &formula }, names)?;
    }
    Ok(())
}

fn read_deepmath<E: From<Error>>(
    file: &str,
    limits: Limits,
    names: &mut Interner,
    visit: &mut impl FnMut(&Statement<'_>, &Interner) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = deepmath::Reader::new(BufReader::with_capacity(1 << 16, open(file)?), limits);
    let mut formula = Formula::new();
    while let Some(line) = reader.next(names, &mut formula).map_err(|error| Error::read(file, error))? {
        let role = match line.kind {
            deepmath::Kind::Conjecture => "conjecture",
            deepmath::Kind::Useful => "useful",
            deepmath::Kind::Useless => "useless",
        };
        let position = Position { line: line.number, column: 3 };
        visit(&Statement { name: Some(&line.name), role, file, position, formula: &formula }, names)?;
    }
    Ok(())
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
        let expected = "UTF-8 text".to_owned();
        Error::parse(file, formulanet_logic::ParseError { position, expected, found })
    })
}
