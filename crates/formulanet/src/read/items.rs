//! The statements of a source, one after the other.

use std::io::BufRead;

use formulanet_logic::{Formula, Interner, Limits, Position, deepmath, hol, holstep};

use crate::read::lines::NamedLines;
use crate::read::toplevel::Toplevel;
use crate::read::{Format, Source, TptpReader};
use crate::{Error, Language};

/// A statement of a source.
#[derive(Clone, Copy, Debug)]
pub struct SourceItem<'a> {
    /// Its name; the steps of a HolStep proof have none.
    pub name: Option<&'a str>,
    /// Its role in its file: `conjecture`, `dependency`, `useful` or `useless`, a TPTP role, or nothing.
    pub role: &'a str,
    /// The file it stands in, as the user gave it or an include found it.
    pub file: &'a str,
    /// Where it begins.
    pub position: Position,
    /// As it is written.
    pub text: &'a str,
    /// The language it is written in.
    pub language: Language,
    /// The formula.
    pub formula: &'a Formula,
    /// The dependencies of its proofs, if its file has them.
    pub proofs: &'a [Vec<String>],
    /// The module that its file says it belongs to.
    pub module: Option<&'a str>,
}

impl<'a> SourceItem<'a> {
    /// A statement of a file that says nothing of proofs and modules.
    pub fn new(
        (name, role): (Option<&'a str>, &'a str),
        (file, position): (&'a str, Position),
        (text, language): (&'a str, Language),
        formula: &'a Formula,
    ) -> Self {
        SourceItem { name, role, file, position, text, language, formula, proofs: &[], module: None }
    }

    /// Its name; if it has none, its line.
    pub fn shown_name(&self) -> String {
        self.name.map_or_else(|| format!("line {}", self.position.line), str::to_owned)
    }

    /// Whether it is what is to be proved, rather than something to prove it with.
    pub fn is_conjecture(&self) -> bool {
        is_goal(self.role)
    }
}

/// Whether a role in TPTP is that of a formula to prove.
pub fn is_goal(role: &str) -> bool {
    ["conjecture", "negated_conjecture", "question"].contains(&role)
}

type Input = Box<dyn BufRead>;

/// Reads the statements of a source.
pub struct SourceItems {
    file: String,
    kind: Kind,
    /// The name of the last line of DeepMath, which may be unquoted.
    name: String,
    formula: Formula,
}

enum Kind {
    Named(NamedLines),
    Holstep(holstep::Reader<Input>, holstep::Parser),
    Deepmath(deepmath::Reader<Input>),
    Tptp(TptpReader),
    Toplevel(Toplevel),
}

impl SourceItems {
    pub(super) fn new(source: Source, options: hol::Options) -> Result<Self, Error> {
        let (file, limits, format): (_, Limits, _) =
            (source.name().to_owned(), options.limits, source.format());
        let kind = match format {
            Format::Tptp => Kind::Tptp(source.problem(limits)?),
            Format::Holstep => {
                let reader = holstep::Reader::new(source.into_input(), limits);
                Kind::Holstep(reader, holstep::Parser::new(limits))
            }
            Format::Deepmath => Kind::Deepmath(deepmath::Reader::new(source.into_input(), limits)),
            Format::Toplevel => Kind::Toplevel(Toplevel::new(source.into_text()?, options)),
            Format::Hol | Format::Jsonl => {
                Kind::Named(NamedLines::new(source.into_input(), format == Format::Jsonl, options))
            }
        };
        Ok(SourceItems { file, kind, name: String::new(), formula: Formula::new() })
    }

    /// Continues after a statement that could not be read. False if it was not a statement: a stream that fails, or an include.
    pub fn recover(&mut self, error: &Error) -> bool {
        if matches!(error, Error::Io { .. }) {
            return false;
        }
        match &mut self.kind {
            Kind::Named(_) => {}
            Kind::Tptp(problem) => return problem.recover().is_some(),
            Kind::Toplevel(toplevel) => return toplevel.has_formulas(),
            Kind::Holstep(reader, _) => reader.recover(),
            Kind::Deepmath(reader) => reader.recover(),
        }
        true
    }

    /// The next statement; `None` at the end. Declarations of TPTP are passed over.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place.
    pub fn next(&mut self, names: &mut Interner) -> Result<Option<SourceItem<'_>>, Error> {
        let SourceItems { file, kind, name, formula } = self;
        Ok(match kind {
            Kind::Named(named) => named.next(file, names, formula)?,
            Kind::Tptp(problem) => problem.next_formula(names)?,
            Kind::Toplevel(toplevel) => toplevel.next(file, names, formula)?,
            Kind::Holstep(reader, parser) => {
                let Some(entry) = reader.next_entry().map_err(|error| Error::read(&**file, error))? else {
                    return Ok(None);
                };
                let sentence = entry.statement;
                parser.parse(&sentence, names, formula).map_err(|error| Error::parse(&**file, error))?;
                let role = match entry.kind {
                    holstep::Kind::Conjecture => "conjecture",
                    holstep::Kind::Dependency => "dependency",
                    holstep::Kind::Step { useful: true } => "useful",
                    holstep::Kind::Step { useful: false } => "useless",
                };
                let (name, position, text) = (entry.name, sentence.position, sentence.text);
                Some(SourceItem::new((name, role), (file, position), (text, Language::Hol), formula))
            }
            Kind::Deepmath(reader) => {
                let Some(line) = reader.next(names, formula).map_err(|error| Error::read(&**file, error))?
                else {
                    return Ok(None);
                };
                let role = match line.kind {
                    deepmath::Kind::Conjecture => "conjecture",
                    deepmath::Kind::Useful => "useful",
                    deepmath::Kind::Useless => "useless",
                };
                let position = Position { line: line.number, column: 3 };
                *name = line.name.into_owned();
                let (name, text) = (Some(name.as_str()), line.text);
                Some(SourceItem::new((name, role), (file, position), (text, Language::Tptp), formula))
            }
        })
    }
}
