//! A named formula as text: what goes in and what comes out.

use std::borrow::Cow;

use formulanet_logic::hol::Overload;
use formulanet_logic::{Formula, Interner, ParseError, hol, lean, tptp};

/// The languages of single formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(into = "&'static str", try_from = "Cow<'_, str>")]
pub enum Language {
    /// HOL Light, as typed or as HolStep prints it.
    #[default]
    Hol,
    /// A TPTP formula, with or without `fof(...)` around it.
    Tptp,
    /// Lean 4: a declaration, a goal or a proposition, as Lean prints it.
    Lean,
    /// HOL Light, with a meaning of ambiguous operators for this formula alone.
    HolWith(Overload),
}

impl Language {
    /// All languages by name.
    pub const ALL: [(&'static str, Language); 3] =
        [("hol", Language::Hol), ("tptp", Language::Tptp), ("lean", Language::Lean)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Language::Hol => "hol",
            Language::Tptp => "tptp",
            Language::Lean => "lean",
            Language::HolWith(Overload::Num) => "hol-num",
            Language::HolWith(Overload::Real) => "hol-real",
            Language::HolWith(Overload::Int) => "hol-int",
            Language::HolWith(Overload::Vector) => "hol-vector",
            Language::HolWith(Overload::Resolved) => "hol-resolved",
        }
    }

    /// The language of a name.
    pub fn named(name: &str) -> Option<Self> {
        let with = Overload::ALL.map(|(_, overload)| Language::HolWith(overload));
        let all = Self::ALL.into_iter().map(|(_, language)| language).chain(with);
        all.into_iter().find(|language| language.name() == name)
    }

    /// Guesses the arithmetic of a statement from its name, if it is not specified: otherwise, text without types takes the `+`
    /// of `REAL_ADD_SYM` for that of natural numbers.
    pub(crate) fn guessed_by(self, name: &str) -> Self {
        const PREFIXES: [(&str, Overload); 3] =
            [("REAL_", Overload::Real), ("INT_", Overload::Int), ("VECTOR_", Overload::Vector)];
        let found = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix));
        match (self, found) {
            (Language::Hol, Some((_, overload))) => Language::HolWith(*overload),
            _ => self,
        }
    }

    /// Applies the field `overload`.
    pub(crate) fn with_overload(self, overload: Option<&str>) -> Result<Self, String> {
        let Some(name) = overload else { return Ok(self) };
        for (other, called) in [(Language::Tptp, "TPTP"), (Language::Lean, "Lean")] {
            if self == other {
                return Err(format!("expected no `overload` for a formula of {called}, found one"));
            }
        }
        let found = Overload::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, overload)| Language::HolWith(*overload)).ok_or_else(|| {
            let known: Vec<&str> = Overload::ALL.iter().map(|(name, _)| *name).collect();
            format!("expected `overload` to be one of {}, found `{name}`", known.join(", "))
        })
    }
}

impl From<Language> for &'static str {
    fn from(language: Language) -> Self {
        language.name()
    }
}

impl TryFrom<Cow<'_, str>> for Language {
    type Error = String;

    fn try_from(name: Cow<'_, str>) -> Result<Self, String> {
        Language::named(&name)
            .ok_or_else(|| format!("unknown variant `{name}`, expected `hol`, `tptp` or `lean`"))
    }
}

/// A formula with its name, as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its name.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// The language it is written in.
    pub language: Language,
}

impl Statement {
    /// A statement of HOL Light. Making one parses nothing.
    pub fn hol(name: impl Into<String>, text: impl Into<String>) -> Self {
        Statement { name: name.into(), text: text.into(), language: Language::Hol }
    }

    /// A statement of Lean. Making one parses nothing.
    pub fn lean(name: impl Into<String>, text: impl Into<String>) -> Self {
        Statement { name: name.into(), text: text.into(), language: Language::Lean }
    }

    /// A statement of TPTP. Making one parses nothing.
    pub fn tptp(name: impl Into<String>, text: impl Into<String>) -> Self {
        Statement { name: name.into(), text: text.into(), language: Language::Tptp }
    }
}

/// Reads a formula in one of the languages.
///
/// # Errors
///
/// If it cannot be read, with the place.
pub fn parse(
    text: &str,
    language: Language,
    options: &hol::Options,
    names: &mut Interner,
) -> Result<Formula, ParseError> {
    match language {
        Language::Hol => hol::parse(text, options, names),
        Language::HolWith(overload) => hol::parse(text, &hol::Options { overload, ..options.clone() }, names),
        Language::Tptp => tptp::parse_formula(text, tptp::Language::Fof, options.limits, names),
        Language::Lean => lean::parse(text, options.limits, names),
    }
}
