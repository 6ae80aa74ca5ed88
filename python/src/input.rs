//! Input from Python: names of choices, statements and files of them.

use formulanet::analyze::{AnalyzedStatement, Analyzer};
use formulanet::logic::hol::{self, Overload};
use formulanet::logic::{Formula, Interner, lean, tptp};
use formulanet::read::{Format, Source};
use formulanet::{Error, Goal, GoalFormula, Language};
use pyo3::prelude::*;

use crate::errors::refused;
use crate::interrupt::Stop;
use formulanet_train::Progress;

/// The value that a name stands for; `what` is for the message if there is no such name.
pub(crate) fn one_of<T: Copy>(py: Python<'_>, values: &[(&str, T)], what: &str, name: &str) -> PyResult<T> {
    let found = values.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = values.iter().map(|(name, _)| format!("'{name}'")).collect();
        refused(py, format!("expected `{what}` to be one of {}, found '{name}'", known.join(", ")))
    })
}

/// Parses an optional name of a choice.
pub(crate) fn maybe_one_of<T: Copy>(
    py: Python<'_>,
    values: &[(&str, T)],
    what: &str,
    name: Option<&str>,
) -> PyResult<Option<T>> {
    name.map(|name| one_of(py, values, what, name)).transpose()
}

/// Some statements.
#[derive(FromPyObject)]
pub(crate) enum Part {
    /// All of a file.
    File(String),
    /// Some with their names.
    Named(Vec<(String, String)>),
    /// Some without.
    Nameless(Vec<String>),
}

/// Statements, read as far as needed to tell their language.
pub(crate) enum Opened {
    File(Source),
    List(Vec<(String, String)>),
}

/// Opens parts, each file once.
pub(crate) fn open(parts: Vec<Part>, format: Option<Format>) -> Result<Vec<Opened>, Error> {
    let open = |part| {
        Ok(match part {
            Part::File(file) => Opened::File(Source::open(&file)?.in_format(format)),
            Part::Named(list) => Opened::List(list),
            Part::Nameless(list) => {
                let name = |(text, number)| (format!("statement {number}"), text);
                Opened::List(list.into_iter().zip(1..).map(name).collect())
            }
        })
    };
    parts.into_iter().map(open).collect()
}

impl Opened {
    /// The language of its statements. A list says nothing of it, so it is what was asked for.
    pub(crate) fn syntax(&self, asked: Option<Language>) -> Language {
        match self {
            Opened::File(source) => source.language(),
            Opened::List(_) => asked.unwrap_or_default(),
        }
    }
}

/// Reads all statements, and passes each on. Looks now and then whether to stop.
pub(crate) fn read_each(
    mut analyzer: Analyzer<'_>,
    parts: Vec<Opened>,
    asked: Option<Language>,
    stop: &Stop,
    mut take: impl FnMut(AnalyzedStatement) -> Result<(), Error>,
) -> Result<(), Error> {
    for part in parts {
        match part {
            Opened::File(source) => {
                for premise in analyzer.read(source)? {
                    stop.check()?;
                    take(premise?)?;
                }
            }
            Opened::List(list) => {
                for (name, text) in list {
                    stop.check()?;
                    take(analyzer.analyze(&name, &text, asked.unwrap_or_default())?)?;
                }
            }
        }
    }
    Ok(())
}

/// The names as a list.
pub(crate) fn read_all(
    analyzer: Analyzer<'_>,
    parts: Vec<Opened>,
    asked: Option<Language>,
    stop: &Stop,
) -> Result<Vec<AnalyzedStatement>, Error> {
    let mut premises = Vec::new();
    read_each(analyzer, parts, asked, stop, |premise| {
        premises.push(premise);
        Ok(())
    })?;
    Ok(premises)
}

/// How a formula is read that stands alone.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    pub(crate) syntax: Option<String>,
    overload: Option<String>,
    constants: Vec<String>,
    variables: Vec<String>,
}

/// The input with parsed choices.
pub(crate) struct FormulaReader {
    pub(crate) syntax: Option<Language>,
    overload: Option<Overload>,
    constants: Vec<String>,
    variables: Vec<String>,
}

impl Reading {
    pub(crate) fn understood(self, py: Python<'_>) -> PyResult<FormulaReader> {
        let Reading { syntax, overload, constants, variables } = self;
        Ok(FormulaReader {
            syntax: maybe_one_of(py, &Language::ALL, "syntax", syntax.as_deref())?,
            overload: maybe_one_of(py, &Overload::ALL, "overload", overload.as_deref())?,
            constants,
            variables,
        })
    }
}

impl FormulaReader {
    /// A formula as a goal.
    pub(crate) fn goal(&self, text: String, language: Language) -> Goal {
        let language = match (language, self.overload) {
            (Language::Tptp | Language::Lean, _) => language,
            (Language::HolWith(own), None) => Language::HolWith(own),
            (_, overload) => Language::HolWith(overload.unwrap_or_default()),
        };
        let (constants, variables) = (self.constants.clone(), self.variables.clone());
        let source = "conjecture".to_owned();
        GoalFormula { text, language: Some(language), constants, variables, source }.into()
    }

    /// Reads a formula with what is known of names; `name` is for messages.
    pub(crate) fn parse(
        &self,
        (name, text): (&str, &str),
        syntax: Language,
        known: hol::Options,
        names: &mut Interner,
    ) -> Result<Formula, Error> {
        let formula = match syntax {
            Language::Tptp => tptp::parse_formula(text, tptp::Language::Fof, known.limits, names),
            Language::Lean => lean::parse(text, known.limits, names),
            Language::Hol | Language::HolWith(_) => {
                let with = known.names.with_constants(&self.constants).with_variables(&self.variables);
                let of_syntax = if let Language::HolWith(overload) = syntax { Some(overload) } else { None };
                let overload = self.overload.or(of_syntax).unwrap_or_default();
                hol::parse(text, &hol::Options { names: with, overload, limits: known.limits }, names)
            }
        };
        formula.map_err(|cause| Error::Parse { file: name.to_owned(), cause })
    }
}

/// A number of 32 bits as the number of 64 bits with the same digits, so that Python prints what the program does.
pub(crate) fn digits(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}
