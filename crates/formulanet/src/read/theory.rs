//! Theory files: statements in the order of a library, with what their proofs used.
//!
//! A line is an object, `{"name": ..., "statement": ..., "syntax": "hol|tptp", "proof": ["name", ...]}`; `proof` may be
//! missing. Files that are compressed with zstd or gzip are read as they are.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use formulanet_logic::{Formula, Interner, ParseError, Position, hol};
use serde::Deserialize;

use super::source::not_utf8;
use super::{Syntax, parse};
use crate::Error;

/// Bytes of a line: a proof may have very many dependencies.
const LONGEST_LINE: u64 = 1 << 28;

/// A fact of a theory file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TheoryFact {
    /// What it is called.
    pub name: String,
    /// Its line in the file.
    pub line: usize,
    /// What its proof used, as numbers of facts before it, ascending; `None` if it has no proof.
    pub proof: Option<Vec<u32>>,
    /// Names in its proof that no fact has.
    pub unknown: Vec<String>,
}

/// What was strange in proofs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Oddities {
    /// Names that no fact has, in all proofs together.
    pub unknown: usize,
    /// Proofs that use what they prove.
    pub circular: usize,
    /// Names of facts that come after what they should prove, in all proofs together.
    pub later: usize,
    /// The first of all, with file and line.
    pub first: Option<String>,
}

impl Oddities {
    fn note(&mut self, place: &str, what: String) {
        self.first.get_or_insert_with(|| format!("{place}: {what}"));
    }

    /// What to tell the user; `None` if all is well.
    pub fn report(&self) -> Option<String> {
        let counts = [
            (self.unknown, "that no fact has"),
            (self.circular, "of the fact itself"),
            (self.later, "of later facts"),
        ];
        let found: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let first = self.first.as_ref()?;
        Some(format!("proofs have names that are not used: {} (first {first})", found.join(", ")))
    }
}

/// The facts of a theory file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TheoryFile {
    /// In the order of the library.
    pub facts: Vec<TheoryFact>,
    /// What was strange in proofs.
    pub oddities: Oddities,
    numbers: HashMap<String, u32>,
}

/// What a line says.
#[derive(Deserialize)]
struct Line {
    name: String,
    statement: String,
    #[serde(default)]
    syntax: Syntax,
    #[serde(default)]
    proof: Option<Vec<String>>,
}

impl TheoryFile {
    /// Reads a file and calls `visit` with the number and formula of every fact.
    ///
    /// # Errors
    ///
    /// If a line cannot be read or a name occurs twice; if `is_strict`, also if a proof names itself or a later fact.
    pub fn read(
        file: &str,
        options: &hol::Options,
        is_strict: bool,
        names: &mut Interner,
        visit: &mut dyn FnMut(usize, &Formula, &Interner),
    ) -> Result<Self, Error> {
        let mut lines = Lines::open(file)?;
        let mut theory = TheoryFile::default();
        let mut proofs: Vec<Option<Vec<String>>> = Vec::new();
        while let Some((number, text)) = lines.next()? {
            let place = format!("{file}:{number}");
            let line: Line = serde_json::from_str(text).map_err(|error| {
                let position = Position { line: number, column: error.column().max(1) };
                let expected = "an object with `name`, `statement` and perhaps `syntax` and `proof`";
                // serde_json says the line, which is always 1 here.
                let found = error.to_string();
                let found = found.split(" at line ").next().unwrap_or(&found);
                Error::parse(file, ParseError::at(position, expected, found))
            })?;
            if line.name.is_empty() {
                return Err(Error::data(place, "expected a name, found an empty one"));
            }
            let formula = parse(&line.statement, line.syntax, options, names)
                .map_err(|error| Error::data(&place, format!("in the statement of `{}`, {error}", line.name)))?;
            let fact = theory.facts.len();
            if let Some(first) = theory.numbers.insert(line.name.clone(), fact as u32) {
                let first = theory.facts[first as usize].line;
                let message = format!("expected each name once, found `{}` again, as in line {first}", line.name);
                return Err(Error::data(place, message));
            }
            visit(fact, &formula, names);
            theory.facts.push(TheoryFact { name: line.name, line: number, proof: None, unknown: Vec::new() });
            proofs.push(line.proof);
        }
        for (fact, proof) in proofs.into_iter().enumerate() {
            theory.resolve(file, fact, proof, is_strict)?;
        }
        Ok(theory)
    }

    /// The number of a fact.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).map(|&number| number as usize)
    }

    /// Makes numbers of the names in a proof.
    fn resolve(
        &mut self,
        file: &str,
        fact: usize,
        proof: Option<Vec<String>>,
        is_strict: bool,
    ) -> Result<(), Error> {
        let Some(proof) = proof else { return Ok(()) };
        let place = format!("{file}:{}", self.facts[fact].line);
        let (mut used, mut unknown) = (Vec::with_capacity(proof.len()), Vec::new());
        for name in proof {
            match self.number(&name) {
                Some(number) if number < fact => used.push(number as u32),
                Some(number) => {
                    let (what, count) = if number == fact {
                        (format!("the proof of `{name}` uses `{name}`"), &mut self.oddities.circular)
                    } else {
                        let what = format!("the proof of `{}` uses `{name}`, which comes later", self.facts[fact].name);
                        (what, &mut self.oddities.later)
                    };
                    if is_strict {
                        return Err(Error::data(place, format!("expected earlier facts, but {what}")));
                    }
                    *count += 1;
                    self.oddities.note(&place, what);
                }
                None => {
                    self.oddities.unknown += 1;
                    let owner = &self.facts[fact].name;
                    self.oddities.note(&place, format!("the proof of `{owner}` uses `{name}`, which is not there"));
                    unknown.push(name);
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        self.facts[fact].proof = Some(used);
        self.facts[fact].unknown = unknown;
        Ok(())
    }
}

/// Lines of a file that may be compressed, blank ones left out.
pub(crate) struct Lines {
    file: String,
    input: Box<dyn BufRead>,
    line: Vec<u8>,
    number: usize,
}

impl Lines {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(file: &str) -> Result<Self, Error> {
        let failed = |error| Error::io(file, error);
        let raw: Box<dyn Read> = if file == "-" {
            Box::new(io::stdin().lock())
        } else if Path::new(file).is_dir() {
            return Err(Error::data(file, "expected a file, found a directory"));
        } else {
            Box::new(File::open(file).map_err(failed)?)
        };
        let mut raw = BufReader::with_capacity(1 << 16, raw);
        let beginning = raw.fill_buf().map_err(failed)?;
        let input: Box<dyn BufRead> = match beginning {
            [0x1f, 0x8b, ..] => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(raw))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                Box::new(BufReader::new(zstd::Decoder::with_buffer(raw).map_err(failed)?))
            }
            _ => Box::new(raw),
        };
        Ok(Lines { file: file.to_owned(), input, line: Vec::new(), number: 0 })
    }

    /// The next line that is not blank, with its number.
    pub(crate) fn next(&mut self) -> Result<Option<(usize, &str)>, Error> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = self.input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut self.line);
            if read.map_err(|error| Error::io(&self.file, error))? == 0 {
                return Ok(None);
            }
            let place = |column| Position { line: self.number, column };
            if self.line.len() as u64 > LONGEST_LINE {
                let expected = format!("at most {LONGEST_LINE} bytes in a line");
                return Err(Error::parse(&self.file, ParseError::at(place(1), expected, "more")));
            }
            if let Err(error) = std::str::from_utf8(&self.line) {
                let valid = error.valid_up_to();
                let column = String::from_utf8_lossy(&self.line[..valid]).chars().count() + 1;
                return Err(Error::parse(&self.file, not_utf8(place(column), self.line[valid])));
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        // Checked above; what is not UTF-8 does not come here.
        let text = std::str::from_utf8(&self.line).unwrap_or_default().trim();
        Ok(Some((self.number, text)))
    }
}
