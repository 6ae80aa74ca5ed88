//! A formula with its name: what tool builders hand over.

use formulanet_logic::{Formula, Interner, ParseError, hol, tptp};

use crate::Error;

/// The languages of single formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// HOL Light, as typed or as HolStep prints it.
    #[default]
    Hol,
    /// A TPTP formula, with or without `fof(...)` around it.
    Tptp,
}

/// A formula with its name and its text.
#[derive(Clone)]
pub struct Statement {
    /// What it is called.
    pub name: String,
    /// As it was written.
    pub text: String,
    pub(crate) formula: Formula,
    pub(crate) names: Interner,
}

impl Statement {
    /// Reads a statement of HOL Light.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place.
    pub fn hol(name: impl Into<String>, text: impl Into<String>) -> Result<Self, Error> {
        Self::parse(name, text, Syntax::Hol)
    }

    /// Reads a statement of TPTP.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place.
    pub fn tptp(name: impl Into<String>, text: impl Into<String>) -> Result<Self, Error> {
        Self::parse(name, text, Syntax::Tptp)
    }

    fn parse(name: impl Into<String>, text: impl Into<String>, syntax: Syntax) -> Result<Self, Error> {
        let (name, text, mut names) = (name.into(), text.into(), Interner::new());
        let formula = parse(&text, syntax, &hol::Options::default(), &mut names)
            .map_err(|error| Error::parse(&name, error))?;
        Ok(Statement { name, text, formula, names })
    }
}

/// Reads a formula in one of the languages.
pub(crate) fn parse(
    text: &str,
    syntax: Syntax,
    options: &hol::Options,
    names: &mut Interner,
) -> Result<Formula, ParseError> {
    match syntax {
        Syntax::Hol => hol::parse(text, options, names),
        Syntax::Tptp => tptp::parse_formula(text, tptp::Language::Fof, options.limits, names),
    }
}
