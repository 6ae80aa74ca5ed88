//! Which symbols are predicates, and which equalities are about truth values.

use super::shape::{Shape, shape};
use super::{StatementBuilder, SymbolState};
use crate::formula::{Binder, Formula, Head, TermId};
use crate::symbol::Symbol;

impl StatementBuilder {
    /// Marks the symbols that stand where a formula stands, and says whether there are free variables.
    ///
    /// Of a language without `<=>`, one side of an equality that is a formula tells, or the same symbol elsewhere.
    pub(super) fn find_predicates(&mut self, formula: &Formula, parts: &[TermId]) -> bool {
        let mut has_free = false;
        for _ in 0..2 {
            let mut is_certain = true;
            self.pending.extend(parts.iter().map(|&part| (part, true)));
            while let Some((term, is_formula)) = self.pending.pop() {
                match shape(formula, term) {
                    Shape::Not(inner) => self.pending.push((inner, true)),
                    Shape::Truth(_) => {}
                    Shape::Junction(_) | Shape::Implies(..) => {
                        self.pending.extend(formula.children(term).map(|child| (child, true)));
                    }
                    Shape::Equal(left, right) => {
                        let is_formula = self.is_equivalence(formula, term, [left, right]);
                        is_certain &= is_formula;
                        self.pending.extend([(left, is_formula), (right, is_formula)]);
                    }
                    Shape::Binder(var, body) => {
                        let is_lambda = formula.variables()[var.index()].binder == Some(Binder::Lambda);
                        self.pending.push((body, !is_lambda));
                    }
                    Shape::Other(head) => {
                        match head {
                            Head::Constant(symbol) if is_formula => {
                                let stamp = self.stamp;
                                self.symbol_state(symbol).predicate = stamp;
                            }
                            Head::Variable(var) => {
                                has_free |= formula.variables()[var.index()].binder.is_none();
                            }
                            _ => {}
                        }
                        self.pending.extend(formula.children(term).map(|child| (child, false)));
                    }
                }
            }
            if is_certain {
                break;
            }
        }
        has_free
    }

    pub(super) fn symbol_state(&mut self, symbol: Symbol) -> &mut SymbolState {
        if self.symbols.len() <= symbol.index() {
            self.symbols.resize(symbol.index() + 1, SymbolState::default());
        }
        &mut self.symbols[symbol.index()]
    }

    pub(super) fn is_equivalence(&mut self, formula: &Formula, term: TermId, sides: [TermId; 2]) -> bool {
        formula.is_equivalence(term) || sides.into_iter().any(|side| self.is_formula(formula, side))
    }

    /// Whether a term is known to have a truth value.
    pub(super) fn is_formula(&mut self, formula: &Formula, term: TermId) -> bool {
        match shape(formula, term) {
            Shape::Binder(var, _) => {
                let binder = formula.variables()[var.index()].binder;
                !matches!(binder, Some(Binder::Lambda | Binder::Choice))
            }
            Shape::Other(Head::Constant(symbol)) => self.symbol_state(symbol).predicate == self.stamp,
            Shape::Other(_) => false,
            _ => true,
        }
    }
}
