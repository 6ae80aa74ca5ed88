//! A named formula as text: what goes in and what comes out.

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

impl Syntax {
    /// All languages by name.
    pub const ALL: [(&'static str, Syntax); 2] = [("hol", Syntax::Hol), ("tptp", Syntax::Tptp)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Syntax::Hol => "hol",
            Syntax::Tptp => "tptp",
        }
    }
}

/// A formula with its name, as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// What it is called.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// The language it is written in.
    pub syntax: Syntax,
}

impl Statement {
    /// A statement of HOL Light. Which of its names are constants is for the model to say that reads it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place.
    pub fn hol(name: impl Into<String>, text: impl Into<String>) -> Result<Self, Error> {
        Self::checked(name.into(), text.into(), Syntax::Hol)
    }

    /// A statement of TPTP.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place.
    pub fn tptp(name: impl Into<String>, text: impl Into<String>) -> Result<Self, Error> {
        Self::checked(name.into(), text.into(), Syntax::Tptp)
    }

    fn checked(name: String, text: String, syntax: Syntax) -> Result<Self, Error> {
        parse(&text, syntax, &hol::Options::default(), &mut Interner::new())
            .map_err(|error| Error::parse(&name, error))?;
        Ok(Statement { name, text, syntax })
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
