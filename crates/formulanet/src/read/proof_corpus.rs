//! Theory files: statements in the order of a library, with what their proofs used.
//!
//! A line is an object, `{"name": ..., "statement": ..., "syntax": "hol|tptp", "proof": ["name", ...]}`; `proof` may be
//! missing, and `overload` says what ambiguous operators of a statement mean. Files that are compressed with zstd or gzip are read as they are.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use formulanet_logic::{Formula, Interner, ParseError, Position, hol};
use serde::Deserialize;

use crate::read::source::{not_utf8, open, plain};
use crate::statement::parse;
use crate::{Error, Language};

/// Bytes of a line: a proof may have very many dependencies.
const LONGEST_LINE: u64 = 1 << 28;

/// A fact of a corpus file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofCorpusFact {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// In which language.
    pub language: Language,
    /// Its line in the file.
    pub line: usize,
    /// The dependencies of its proof, as ascending numbers of earlier facts; `None` if it has no proof.
    pub proof: Option<Vec<u32>>,
    /// Names in its proof that no fact has.
    pub unknown: Vec<String>,
}

/// Warnings about references of proofs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProofWarnings {
    /// Names that no fact has, in all proofs together.
    pub unknown: usize,
    /// Proofs that use what they prove.
    pub circular: usize,
    /// Names of facts that come after what they should prove, in all proofs together.
    pub later: usize,
    /// The first of all, with file and line.
    pub first: Option<String>,
}

impl ProofWarnings {
    /// Notes a name in a proof that does not count: that of the fact itself, of a later one, or of none.
    ///
    /// # Errors
    ///
    /// If `is_strict`, and the name is the fact's own or that of a later one.
    pub fn note(
        &mut self,
        place: &str,
        owner: &str,
        name: &str,
        is_known: bool,
        is_strict: bool,
    ) -> Result<(), Error> {
        let (what, count) = if name == owner {
            (format!("the proof of `{owner}` uses `{owner}`"), &mut self.circular)
        } else if is_known {
            (format!("the proof of `{owner}` uses `{name}`, which comes later"), &mut self.later)
        } else {
            (format!("the proof of `{owner}` uses `{name}`, which is not there"), &mut self.unknown)
        };
        if is_strict && (is_known || name == owner) {
            return Err(Error::input(place, format!("expected earlier facts, but {what}")));
        }
        *count += 1;
        self.first.get_or_insert_with(|| format!("{place}: {what}"));
        Ok(())
    }

    /// A warning for the user; `None` if there is none.
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

/// The facts of a corpus file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProofCorpusFile {
    /// In the order of the library.
    pub facts: Vec<ProofCorpusFact>,
    /// Warnings about references of proofs.
    pub warnings: ProofWarnings,
    numbers: HashMap<String, u32>,
}

/// A line.
#[derive(Deserialize)]
struct Line {
    name: String,
    statement: String,
    #[serde(default, rename = "syntax")]
    language: Language,
    #[serde(default)]
    overload: Option<String>,
    #[serde(default)]
    proof: Option<Vec<String>>,
}

impl ProofCorpusFile {
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
        let mut lines = JsonLines::open(file)?;
        let mut corpus = ProofCorpusFile::default();
        let mut proofs: Vec<Option<Vec<String>>> = Vec::new();
        while let Some((number, text)) = lines.next_line()? {
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
                return Err(Error::input(place, "expected a name, found an empty one"));
            }
            let language = line
                .language
                .with_overload(line.overload.as_deref())
                .map_err(|message| Error::input(&place, message))?;
            let formula = parse(&line.statement, language, options, names).map_err(|error| {
                Error::input(&place, format!("in the statement of `{}`, {error}", line.name))
            })?;
            let fact = corpus.facts.len();
            if let Some(first) = corpus.numbers.insert(line.name.clone(), fact as u32) {
                let first = corpus.facts[first as usize].line;
                let message =
                    format!("expected each name once, found `{}` again, as in line {first}", line.name);
                return Err(Error::input(place, message));
            }
            visit(fact, &formula, names);
            corpus.facts.push(ProofCorpusFact {
                name: line.name,
                text: line.statement,
                language,
                line: number,
                proof: None,
                unknown: Vec::new(),
            });
            proofs.push(line.proof);
        }
        for (fact, proof) in proofs.into_iter().enumerate() {
            let Some(proof) = proof else { continue };
            let place = format!("{file}:{}", corpus.facts[fact].line);
            let names = proof.iter().map(String::as_str);
            let mut warnings = std::mem::take(&mut corpus.warnings);
            let used = corpus.resolve(&place, fact, names, is_strict, &mut warnings)?;
            corpus.warnings = warnings;
            let unknown = proof.into_iter().filter(|name| corpus.number(name).is_none()).collect();
            corpus.facts[fact] = ProofCorpusFact { proof: Some(used), unknown, ..corpus.facts[fact].clone() };
        }
        Ok(corpus)
    }

    /// The number of a fact.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).map(|&number| number as usize)
    }

    /// The facts that the names of a fact's proof mean, ascending. Names of later facts and of the fact itself are left out,
    /// unless `is_strict` makes them an error; what is left out is noted.
    pub fn resolve<'a>(
        &self,
        place: &str,
        fact: usize,
        proof: impl Iterator<Item = &'a str>,
        is_strict: bool,
        warnings: &mut ProofWarnings,
    ) -> Result<Vec<u32>, Error> {
        let owner = &self.facts[fact].name;
        let mut used = Vec::new();
        for name in proof {
            match self.number(name) {
                Some(number) if number < fact => used.push(number as u32),
                found => warnings.note(place, owner, name, found.is_some(), is_strict)?,
            }
        }
        used.sort_unstable();
        used.dedup();
        Ok(used)
    }
}

/// Lines of a file that may be compressed, blank ones left out.
pub struct JsonLines {
    file: String,
    input: Box<dyn BufRead>,
    line: Vec<u8>,
    number: usize,
}

impl JsonLines {
    /// Opens a file, or standard input for `-`.
    pub fn open(file: &str) -> Result<Self, Error> {
        let input = plain(open(file)?).map_err(|error| Error::io(file, error))?;
        Ok(JsonLines { file: file.to_owned(), input, line: Vec::new(), number: 0 })
    }

    /// The next line that is not blank, with its number.
    pub fn next_line(&mut self) -> Result<Option<(usize, &str)>, Error> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    const LINES: &str = r#"{"name": "a", "statement": "p", "syntax": "tptp"}

{"name": "b", "statement": "fof(b, axiom, ![X]: q(X)).", "syntax": "tptp", "proof": ["a", "a"]}
{"name": "c", "statement": "!x. x = x", "overload": "real", "proof": []}
{"name": "d", "statement": "T", "proof": ["e", "gone", "c", "d", "b"]}
{"name": "e", "statement": "thf(e, axiom, ( ^ [V: $o] : V ) = f).", "syntax": "tptp", "proof": null}
"#;

    fn read(bytes: &[u8], is_strict: bool) -> Result<ProofCorpusFile, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpus");
        fs::write(&path, bytes).unwrap();
        let mut seen = 0;
        let shown = path.display().to_string();
        let corpus = ProofCorpusFile::read(
            &shown,
            &hol::Options::default(),
            is_strict,
            &mut Interner::new(),
            &mut |fact, _, _| {
                assert_eq!(fact, seen);
                seen += 1;
            },
        );
        corpus.map_err(|error| error.to_string().replace(&shown, "FILE"))
    }

    #[test]
    fn lines_become_facts() {
        let corpus = read(LINES.as_bytes(), false).unwrap();
        let proofs: Vec<Option<&[u32]>> = corpus.facts.iter().map(|fact| fact.proof.as_deref()).collect();
        assert_eq!(proofs, [None, Some(&[0][..]), Some(&[]), Some(&[1, 2]), None]);
        assert_eq!(corpus.facts[3].unknown, ["gone"]);
        assert_eq!((corpus.facts[1].line, corpus.number("e"), corpus.number("gone")), (3, Some(4), None));
        let report = corpus.warnings.report().unwrap();
        let expected = "proofs have names that are not used: 1 that no fact has, 1 of the fact itself, 1 of later facts \
                        (first FILE:5: the proof of `d` uses `e`, which comes later)";
        let place = report.find("(first ").unwrap() + 7;
        let end = report.find(":5:").unwrap();
        assert_eq!(format!("{}FILE{}", &report[..place], &report[end..]), expected);
    }

    #[test]
    fn compressed_files_are_read_as_they_are() {
        let plain = read(LINES.as_bytes(), false).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(LINES.as_bytes()).unwrap();
        let zipped = [gzip.finish().unwrap(), zstd::encode_all(LINES.as_bytes(), 1).unwrap()];
        for bytes in zipped {
            assert_eq!(read(&bytes, false).unwrap().facts, plain.facts);
            assert!(read(&bytes[..bytes.len() - 9], false).unwrap_err().starts_with("cannot read"));
        }
    }

    #[test]
    fn damage_has_a_place() {
        let check = |bytes: &[u8], is_strict: bool, expected: &str| {
            let error = read(bytes, is_strict).unwrap_err();
            assert!(error.starts_with(expected), "expected {expected}\nfound {error}");
        };
        check(LINES.as_bytes(), true, "FILE:5: expected earlier facts, but the proof of `d` uses `e`");
        check(
            b"{\"name\": \"a\", \"statement\": \"T\", \"proof\": [\"a\"]}",
            true,
            "FILE:1: expected earlier facts, but",
        );
        check(
            b"{\"name\": \"a\", \"statement\": \"T\"}\n{\"name\": \"a",
            false,
            "FILE:2:11: expected an object with `name`",
        );
        check(b"\n{\"name\": \"a\"}", false, "FILE:2:13: expected an object with `name`, `statement`");
        check(b"{\"name\": \"\", \"statement\": \"T\"}", false, "FILE:1: expected a name");
        check(
            b"{\"name\": \"a\", \"statement\": \"x +\"}",
            false,
            "FILE:1: in the statement of `a`, 1:4: expected",
        );
        check(b"{\"name\": \"a\xff\"}", false, "FILE:1:12: expected UTF-8 text, found the byte 0xff");
        let double = b"{\"name\": \"a\", \"statement\": \"T\"}\n{\"name\": \"a\", \"statement\": \"F\"}";
        check(double, false, "FILE:2: expected each name once, found `a` again, as in line 1");
        check(b"[1]", false, "FILE:1:");
        check(
            b"{\"name\": \"a\", \"statement\": \"T\", \"overload\": \"nat\"}",
            false,
            "FILE:1: expected `overload` to be one of num, real, int, vector, resolved, found `nat`",
        );
        check(
            b"{\"name\": \"a\", \"statement\": \"p\", \"syntax\": \"tptp\", \"overload\": \"num\"}",
            false,
            "FILE:1: expected no `overload` for a formula of TPTP, found one",
        );
    }

    #[test]
    fn a_million_dependencies_are_read() {
        let many = "\"a\",".repeat(1_000_000);
        let text = format!(
            "{{\"name\": \"a\", \"statement\": \"T\"}}\n{{\"name\": \"b\", \"statement\": \"T\", \"proof\": [{many}\"x\"]}}"
        );
        let corpus = read(text.as_bytes(), false).unwrap();
        assert_eq!((corpus.facts[1].proof.as_deref(), corpus.warnings.unknown), (Some(&[0][..]), 1));
    }
}
