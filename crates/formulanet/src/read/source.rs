//! An input that is opened once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use formulanet_logic::{Limits, ParseError, Position, hol};

use crate::read::format::is_told;
use crate::read::newlines::{normal, normal_text};
use crate::read::{Format, SourceItems, TptpReader};
use crate::{Error, Language};

/// Bytes that are looked at to tell the format, at most.
const BEGINNING: usize = 1 << 16;

/// A file, standard input or a text, with what its first bytes say about it.
///
/// ```
/// use formulanet::logic::{Interner, hol};
/// use formulanet::read::{Format, Source};
///
/// let source = Source::text("group", "fof(assoc, axiom, ![X,Y,Z]: m(X,m(Y,Z)) = m(m(X,Y),Z)).");
/// assert_eq!(source.format(), Format::Tptp);
/// let (mut items, mut names) = (source.items(hol::Options::default())?, Interner::new());
/// while let Some(item) = items.next(&mut names)? {
///     assert_eq!((item.name, item.role), (Some("assoc"), "axiom"));
/// }
/// # Ok::<(), formulanet::Error>(())
/// ```
pub struct Source {
    name: String,
    format: Format,
    language: Language,
    input: Box<dyn BufRead>,
    /// Whether it may include files: a text from a client must not cause reads.
    may_include: bool,
}

impl Source {
    /// Opens a file, or standard input for `-`. What is compressed with gzip or zstd is read as if it were not.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(file: &str) -> Result<Self, Error> {
        let mut input = plain(open(file)?).map_err(|error| Error::io(file, error))?;
        let beginning = look(&mut input).map_err(|error| Error::io(file, error))?;
        Ok(Self::new(file, beginning, input, true))
    }

    /// A text in memory; the name is for messages. If it is TPTP, it must not include files.
    pub fn text(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, normal_text(text.into()).into_bytes(), io::empty(), false)
    }

    fn new(name: &str, beginning: Vec<u8>, rest: impl Read + 'static, may_include: bool) -> Self {
        let told = &beginning[..beginning.len().min(BEGINNING)];
        let format = Format::of(told);
        let language = format.language(told);
        let rest = BufReader::with_capacity(BEGINNING, rest);
        let input = Box::new(Cursor::new(beginning).chain(rest));
        Source { name: name.to_owned(), format, language, input, may_include }
    }

    /// Sets the format, if one is given.
    #[must_use]
    pub fn in_format(mut self, format: Option<Format>) -> Self {
        if let Some(format) = format.filter(|&format| format != self.format) {
            (self.format, self.language) = (format, format.language(b""));
        }
        self
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its content.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The language of its statements; of JSON Lines, of the first.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Reads its statements, one after the other.
    ///
    /// # Errors
    ///
    /// If it is TPTP or what a top level printed, which are read as a whole, and cannot be read.
    pub fn items(self, options: hol::Options) -> Result<SourceItems, Error> {
        SourceItems::new(self, options)
    }

    /// Reads it as a TPTP problem, declarations included.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn problem(self, limits: Limits) -> Result<TptpReader, Error> {
        let (name, may_include) = (self.name.clone(), self.may_include);
        Ok(TptpReader::new(name, self.into_text()?, limits, may_include))
    }

    /// All of it, for formats that are not read line by line.
    pub(super) fn into_text(self) -> Result<String, Error> {
        whole(self.input, &self.name, super::tptp::MAX_FILE)
    }

    pub(super) fn into_input(self) -> Box<dyn BufRead> {
        self.input
    }
}

/// Reads until the first line that tells the format is whole. A pipe gives what it has, so it takes several tries.
fn look(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut beginning = vec![0; BEGINNING];
    let mut length = 0;
    while length < BEGINNING && !is_told(&beginning[..length]) {
        match input.read(&mut beginning[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    beginning.truncate(length);
    Ok(beginning)
}

/// The text of an input that may be compressed with gzip or zstd.
pub(super) fn plain(raw: Box<dyn Read>) -> io::Result<Box<dyn BufRead>> {
    let mut raw = BufReader::with_capacity(BEGINNING, raw);
    let input: Box<dyn BufRead> = match raw.fill_buf()? {
        [0x1f, 0x8b, ..] => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(raw))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(BufReader::new(zstd::Decoder::with_buffer(raw)?)),
        _ => Box::new(raw),
    };
    normal(input)
}

/// Opens a file, or standard input for `-`.
pub(super) fn open(file: &str) -> Result<Box<dyn Read>, Error> {
    if file == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let path = Path::new(file);
    if path.is_dir() {
        return Err(Error::input(file, "expected a file, found a directory"));
    }
    File::open(path).map(|opened| Box::new(opened) as Box<dyn Read>).map_err(|error| Error::io(file, error))
}

/// Reads a whole text from a file, or from standard input for `-`: at most `limit` bytes. Text that is not UTF-8 is an
/// error with its place.
///
/// # Errors
///
/// If it cannot be read, is too long or not UTF-8.
pub fn read_text(file: &str, limit: usize) -> Result<String, Error> {
    whole(plain(open(file)?).map_err(|error| Error::io(file, error))?, file, limit)
}

fn whole(input: impl Read, file: &str, limit: usize) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let most = (limit as u64).saturating_add(1);
    input.take(most).read_to_end(&mut bytes).map_err(|error| Error::io(file, error))?;
    if bytes.len() > limit {
        return Err(Error::input(file, format!("expected at most {limit} bytes, found more")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let position = Position::in_text(&text, valid, 1);
        Error::parse(file, not_utf8(position, error.as_bytes()[valid]))
    })
}

pub(crate) fn not_utf8(position: Position, byte: u8) -> ParseError {
    ParseError::at(position, "UTF-8 text", format!("the byte 0x{byte:02x}"))
}
