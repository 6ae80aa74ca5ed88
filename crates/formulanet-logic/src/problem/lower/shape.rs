//! The shape of a term by its head and its number of children.

use crate::formula::{Binder, Formula, Head, TermId, VarId};
use crate::symbol::Symbol;

/// The shape of a term, as far as graphs distinguish formulas.
pub(super) enum Shape {
    Not(TermId),
    Truth(bool),
    /// `&` or `|`
    Junction(Symbol),
    Implies(TermId, TermId),
    Equal(TermId, TermId),
    Binder(VarId, TermId),
    /// Anything else, with the head.
    Other(Head),
}

/// The shape of a term. A connective with too few or too many arguments is a symbol like any other.
pub(super) fn shape(formula: &Formula, term: TermId) -> Shape {
    let head = formula.head(term);
    let first = || formula.first_child(Some(term)).expect("it has children");
    let second = || formula.sibling(first()).expect("it has two children");
    match (head, formula.arity(term)) {
        (Head::Constant(Symbol::NOT), 1) => Shape::Not(first()),
        (Head::Constant(Symbol::TRUE), 0) => Shape::Truth(true),
        (Head::Constant(Symbol::FALSE), 0) => Shape::Truth(false),
        (Head::Constant(symbol @ (Symbol::AND | Symbol::OR)), 2) => Shape::Junction(symbol),
        (Head::Constant(Symbol::IMPLIES), 2) => Shape::Implies(first(), second()),
        (Head::Constant(Symbol::EQUAL), 2) => Shape::Equal(first(), second()),
        (Head::Binder(var), 1) => Shape::Binder(var, first()),
        _ => Shape::Other(head),
    }
}

/// Whether a binder is that quantifier; one without a name is a closed free variable's.
pub(super) fn is_quantifier(formula: &Formula, var: VarId, binder: Binder) -> bool {
    formula.variables()[var.index()].binder.unwrap_or(Binder::Forall) == binder
}
