//! A named formula as text: what goes in and what comes out.

use std::borrow::Cow;

use formulanet_logic::hol::Overload;
use formulanet_logic::{Formula, Interner, ParseError, hol, lean, tptp};

/// The languages of single formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(into = "&'static str", try_from = "Cow<'_, str>")]
pub enum Syntax {
    /// HOL Light, as typed or as HolStep prints it.
    #[default]
    Hol,
    /// A TPTP formula, with or without `fof(...)` around it.
    Tptp,
    /// Lean 4: a declaration, a goal or a proposition, as Lean prints it.
    Lean,
    /// HOL Light, where somebody said for this formula alone what ambiguous operators mean.
    HolWith(Overload),
}

impl Syntax {
    /// All languages by name.
    pub const ALL: [(&'static str, Syntax); 3] =
        [("hol", Syntax::Hol), ("tptp", Syntax::Tptp), ("lean", Syntax::Lean)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Syntax::Hol => "hol",
            Syntax::Tptp => "tptp",
            Syntax::Lean => "lean",
            Syntax::HolWith(Overload::Num) => "hol-num",
            Syntax::HolWith(Overload::Real) => "hol-real",
            Syntax::HolWith(Overload::Int) => "hol-int",
            Syntax::HolWith(Overload::Vector) => "hol-vector",
            Syntax::HolWith(Overload::Resolved) => "hol-resolved",
        }
    }

    /// The language of a name.
    pub fn named(name: &str) -> Option<Self> {
        let with = Overload::ALL.map(|(_, overload)| Syntax::HolWith(overload));
        let all = Self::ALL.into_iter().map(|(_, syntax)| syntax).chain(with);
        all.into_iter().find(|syntax| syntax.name() == name)
    }

    /// The same language with what a field `overload` says of ambiguous operators.
    pub(super) fn with_overload(self, overload: Option<&str>) -> Result<Self, String> {
        let Some(name) = overload else { return Ok(self) };
        for (other, called) in [(Syntax::Tptp, "TPTP"), (Syntax::Lean, "Lean")] {
            if self == other {
                return Err(format!("expected no `overload` for a formula of {called}, found one"));
            }
        }
        let found = Overload::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, overload)| Syntax::HolWith(*overload)).ok_or_else(|| {
            let known: Vec<&str> = Overload::ALL.iter().map(|(name, _)| *name).collect();
            format!("expected `overload` to be one of {}, found `{name}`", known.join(", "))
        })
    }
}

impl From<Syntax> for &'static str {
    fn from(syntax: Syntax) -> Self {
        syntax.name()
    }
}

impl TryFrom<Cow<'_, str>> for Syntax {
    type Error = String;

    fn try_from(name: Cow<'_, str>) -> Result<Self, String> {
        Syntax::named(&name)
            .ok_or_else(|| format!("unknown variant `{name}`, expected `hol`, `tptp` or `lean`"))
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
    /// A statement of HOL Light. Making one parses nothing.
    pub fn hol(name: impl Into<String>, text: impl Into<String>) -> Self {
        Statement { name: name.into(), text: text.into(), syntax: Syntax::Hol }
    }

    /// A statement of Lean. Making one parses nothing.
    pub fn lean(name: impl Into<String>, text: impl Into<String>) -> Self {
        Statement { name: name.into(), text: text.into(), syntax: Syntax::Lean }
    }

    /// A statement of TPTP. Making one parses nothing.
    pub fn tptp(name: impl Into<String>, text: impl Into<String>) -> Self {
        Statement { name: name.into(), text: text.into(), syntax: Syntax::Tptp }
    }
}

/// Reads a formula in one of the languages.
///
/// # Errors
///
/// If it cannot be read, with the place.
pub fn parse(
    text: &str,
    syntax: Syntax,
    options: &hol::Options,
    names: &mut Interner,
) -> Result<Formula, ParseError> {
    match syntax {
        Syntax::Hol => hol::parse(text, options, names),
        Syntax::HolWith(overload) => hol::parse(text, &hol::Options { overload, ..options.clone() }, names),
        Syntax::Tptp => tptp::parse_formula(text, tptp::Language::Fof, options.limits, names),
        Syntax::Lean => lean::parse(text, options.limits, names),
    }
}
