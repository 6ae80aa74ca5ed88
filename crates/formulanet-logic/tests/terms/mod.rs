//! Terms that proptest makes, and formulas of them.

use std::collections::BTreeSet;

use formulanet_logic::{Binder, Formula, Interner, TermId, VarId};
use proptest::prelude::*;

/// A term whose variables are the binders around it, counted from the outside, or free.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Constant(usize),
    Bound(usize),
    Free(usize),
    Apply(Box<Term>, Vec<Term>),
    Bind(usize, Box<Term>, Vec<Term>),
}

/// Connectives and other constants, some of them operators.
pub(crate) const CONSTANTS: [&str; 11] =
    ["T", "SUC", "+", "=", "~", "real_add", "GSPEC", "<=_c", "/\\", "\\/", "==>"];

/// Constants that are no meaning of an overloaded name.
pub(crate) const PLAIN_CONSTANTS: [&str; 14] =
    ["T", "SUC", "+", "-", "=", "~", "--", "&", ",", "<=_c", "/\\", "\\/", "==>", "INSERT"];

/// Constants that only quotes keep apart from something else.
pub(crate) const ODD_CONSTANTS: [&str; 9] = ["if", "odd name", "it's", "7", "!", "lambda", "é\\", "x", "<=>"];
const BINDERS: [Binder; 5] =
    [Binder::Forall, Binder::Exists, Binder::ExistsUnique, Binder::Choice, Binder::Lambda];

fn term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![
        (0..99usize).prop_map(Term::Constant),
        (0..6usize).prop_map(Term::Bound),
        (0..4usize).prop_map(Term::Free),
    ];
    leaf.prop_recursive(6, 48, 4, |inner| {
        prop_oneof![
            (inner.clone(), prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(head, arguments)| Term::Apply(Box::new(head), arguments)),
            (0..5usize, inner.clone(), prop::collection::vec(inner, 0..2))
                .prop_map(|(binder, body, arguments)| Term::Bind(binder, Box::new(body), arguments)),
        ]
    })
}

/// Parts of a sequent.
pub(crate) fn sequent() -> impl Strategy<Value = Vec<Term>> {
    prop::collection::vec(term(), 1..4)
}

/// How names are chosen: any name that captures nothing may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Naming {
    /// A new name for every binder.
    Distinct,
    /// The first name of a small pool that captures nothing, from the given place: much shadowing, and bound
    /// variables that share their names with free ones.
    Crowded(usize),
}

/// Makes formulas of terms, with names.
struct Writer<'a> {
    names: &'a mut Interner,
    formula: Formula,
    naming: Naming,
    free: Vec<Option<VarId>>,
    constants: &'static [&'static str],
    next: usize,
}

impl Writer<'_> {
    fn sequent(mut self, parts: &[Term]) -> Formula {
        for part in parts {
            let part = self.term(part, &mut Vec::new());
            self.formula.push(part);
        }
        self.formula
    }

    fn free_name(&self, index: usize) -> String {
        match self.naming {
            Naming::Distinct => format!("z{index}"),
            Naming::Crowded(start) => pool((index + start) % 4),
        }
    }

    fn term(&mut self, term: &Term, scope: &mut Vec<(VarId, String)>) -> TermId {
        match term {
            Term::Constant(index) => {
                let name = self.names.intern(self.constants[index % self.constants.len()]);
                self.formula.constant(name)
            }
            Term::Bound(index) if !scope.is_empty() => {
                let var = scope[index % scope.len()].0;
                self.formula.variable(var)
            }
            Term::Bound(index) | Term::Free(index) => {
                let index = index % self.free.len();
                let name = self.free_name(index);
                let var = match self.free[index] {
                    Some(var) => var,
                    None => {
                        let name = self.names.intern(&name);
                        *self.free[index].insert(self.formula.free(name))
                    }
                };
                self.formula.variable(var)
            }
            Term::Apply(head, arguments) => {
                let head = self.term(head, scope);
                self.apply(head, arguments, scope)
            }
            Term::Bind(binder, body, arguments) => {
                let name = self.binder_name(body, scope);
                let symbol = self.names.intern(&name);
                let var = self.formula.bind(BINDERS[binder % 5], symbol);
                scope.push((var, name));
                let body = self.term(body, scope);
                scope.pop();
                let head = self.formula.abstraction(var, body);
                self.apply(head, arguments, scope)
            }
        }
    }

    fn apply(&mut self, head: TermId, arguments: &[Term], scope: &mut Vec<(VarId, String)>) -> TermId {
        arguments.iter().fold(head, |head, argument| {
            let argument = self.term(argument, scope);
            self.formula.apply(head, argument)
        })
    }

    fn binder_name(&mut self, body: &Term, scope: &[(VarId, String)]) -> String {
        self.next += 1;
        match self.naming {
            Naming::Distinct => format!("w{}", self.next),
            Naming::Crowded(start) => {
                let (mut used, mut free) = (BTreeSet::new(), BTreeSet::new());
                self.references(body, scope.len() + 1, &mut used, &mut free);
                let taken: BTreeSet<String> = used
                    .iter()
                    .filter(|&&index| index < scope.len())
                    .map(|&index| scope[index].1.clone())
                    .chain(free.iter().map(|&index| self.free_name(index)))
                    .collect();
                (0..)
                    .map(|i| pool(i + start))
                    .find(|name| !taken.contains(name))
                    .expect("the pool is endless")
            }
        }
    }

    /// Which binders of the scope and which free variables a term refers to.
    fn references(&self, term: &Term, depth: usize, used: &mut BTreeSet<usize>, free: &mut BTreeSet<usize>) {
        match term {
            Term::Constant(_) => {}
            Term::Bound(index) if depth > 0 => {
                used.insert(index % depth);
            }
            Term::Bound(index) | Term::Free(index) => {
                free.insert(index % self.free.len());
            }
            Term::Apply(head, arguments) => {
                self.references(head, depth, used, free);
                arguments.iter().for_each(|a| self.references(a, depth, used, free));
            }
            Term::Bind(_, body, arguments) => {
                // A binder inside refers to itself by a number that is not in this scope.
                self.references(body, depth + 1, used, free);
                arguments.iter().for_each(|a| self.references(a, depth, used, free));
            }
        }
    }
}

fn pool(index: usize) -> String {
    let letters = ["x", "y", "z0", "GEN%PVAR%1"];
    format!("{}{}", letters[index % 4], "'".repeat(index / 4))
}

/// The sequent of terms, with names.
pub(crate) fn write(
    parts: &[Term],
    naming: Naming,
    constants: &'static [&'static str],
    names: &mut Interner,
) -> Formula {
    let writer = Writer { names, formula: Formula::new(), naming, free: vec![None; 4], constants, next: 0 };
    writer.sequent(parts)
}
