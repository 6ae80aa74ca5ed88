//! HOL Light as a user types it.
//!
//! The text goes through three stages, none of which recurses: tokens (`lex`), terms without meaning
//! (`preterm`, where sets, lists, numerals and `let` become the constants that HOL Light itself uses), and
//! the formula (`elaborate`, where names are resolved and types decide what an overloaded `+` stands for).
//! HolStep's fully parenthesised text is a subset of what is read here.

mod elaborate;
mod lex;
mod preterm;
mod signature;
mod toplevel;
mod type_syntax;
mod types;

pub(crate) use signature::operator_of;

use crate::error::ParseError;
use crate::formula::Formula;
use crate::limits::{Limit, Limits};
use crate::names::Names;
use crate::symbol::Interner;

/// Which arithmetic an operator belongs to when its operands do not tell, as HOL Light's `prioritize_real()` and
/// its like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overload {
    /// Natural numbers.
    #[default]
    Num,
    /// Real numbers.
    Real,
    /// Integers.
    Int,
    /// Vectors of real numbers.
    Vector,
    /// No operator is overloaded: every name stands for itself, as in HolStep and in printed formulas.
    Resolved,
}

impl Overload {
    /// All choices, with the names they have on the command line.
    pub const ALL: [(&'static str, Overload); 5] = [
        ("num", Overload::Num),
        ("real", Overload::Real),
        ("int", Overload::Int),
        ("vector", Overload::Vector),
        ("resolved", Overload::Resolved),
    ];
}

/// How to read a formula.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which names are constants.
    pub names: Names,
    /// The meaning of ambiguous operators.
    pub overload: Overload,
    /// How large the formula may be.
    pub limits: Limits,
}

impl Options {
    /// Options that read the text of a formula back to the same formula.
    pub fn to_read_back(formula: &Formula, names: &Interner) -> Self {
        Options { names: Names::of(formula, names), overload: Overload::Resolved, limits: Limits::default() }
    }
}

/// Reads a formula or a sequent `h1, h2 |- c`. What HOL Light's top level prints around them is passed over: `val it : thm =`,
/// `;;`, and in a goal stack everything but the goal that is to be proved next.
///
/// ```
/// use formulanet_logic::{hol, Interner};
/// let mut names = Interner::new();
/// let options = hol::Options::default();
/// let formula = hol::parse("!x:real. x + &1 < y ==> ~(y = x)", &options, &mut names)?;
/// assert_eq!(
///     formula.display(&names).to_string(),
///     "|- (!x. (((real_lt ((real_add x) (real_of_num (NUMERAL (BIT1 _0))))) y) ==> (~ (y = x))))"
/// );
/// let error = hol::parse("!x. x +", &options, &mut names).unwrap_err();
/// assert_eq!(error.to_string(), "1:8: expected a term, found the end of the formula");
/// # Ok::<(), formulanet_logic::ParseError>(())
/// ```
pub fn parse(text: &str, options: &Options, names: &mut Interner) -> Result<Formula, ParseError> {
    let fail = |fault: Fault| {
        let error = ParseError::new(text, fault.offset, 1, fault.expected, fault.found);
        ParseError { limit: fault.limit, ..error }
    };
    let limits = &options.limits;
    if text.len() > limits.bytes {
        return Err(fail(Fault::over(limits.bytes, Limit::Bytes, limits.bytes, "bytes")));
    }
    let bare = toplevel::bare(text);
    let tokens = lex::tokens(&bare).map_err(fail)?;
    let preterms = preterm::parse(&bare, &tokens, limits, &options.names, names).map_err(fail)?;
    Ok(elaborate::elaborate(preterms, options, names))
}

/// An error message, and the byte of the text that it is about.
#[derive(Debug)]
struct Fault {
    offset: usize,
    expected: String,
    found: String,
    limit: Option<Limit>,
}

impl Fault {
    fn new(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Fault { offset, expected: expected.into(), found: found.into(), limit: None }
    }

    /// More than a limit allows.
    fn over(offset: usize, limit: Limit, most: usize, what: &str) -> Self {
        Fault { limit: Some(limit), ..Self::new(offset, format!("at most {most} {what}"), "more") }
    }
}

#[cfg(test)]
mod tests;
