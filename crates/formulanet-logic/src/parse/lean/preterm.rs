//! Terms as they are written: names are not resolved yet, and what a type says is not decided.

use crate::symbol::Symbol;

/// A term, as its number in a [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Written(u32);

/// Nodes of terms. The types of `(x y : T)` are one and the same term, so that this is no tree.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    /// A name, and whether it is written with `@`.
    Name { name: Symbol, is_explicit: bool },
    /// Atoms that nothing binds: literals, holes and the heads of operators.
    Constant(Symbol),
    /// A function and one argument.
    Apply(Written, Written),
    /// A binder of one variable. An arrow is one without a name.
    Bind { kind: Kind, name: Option<Symbol>, typed: Option<Written>, body: Written, is_explicit: bool },
    /// Field notation, `t.f`: which function it is depends on the type of the object.
    Field { name: Symbol, object: Written },
    /// `let x : T := v; b`
    Let { name: Symbol, typed: Option<Written>, value: Written, body: Written },
}

/// The binders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `∀` and `→`
    Pi,
    /// `fun`
    Fun,
    /// `∃`
    Exists,
    /// `∃!`
    ExistsUnique,
}

/// A variable that is bound, and its type if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    pub(super) name: Option<Symbol>,
    pub(super) typed: Option<Written>,
    /// Whether it stands in round brackets, so that what is declared takes it as an argument.
    pub(super) is_explicit: bool,
}

/// All terms of one text.
#[derive(Default)]
pub(super) struct Terms(Vec<Term>);

impl Terms {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, term: Term) -> Written {
        self.0.push(term);
        Written(self.0.len() as u32 - 1)
    }

    pub(super) fn get(&self, term: Written) -> Term {
        self.0[term.0 as usize]
    }

    pub(super) fn constant(&mut self, name: Symbol) -> Written {
        self.add(Term::Constant(name))
    }

    pub(super) fn apply(&mut self, function: Written, argument: Written) -> Written {
        self.add(Term::Apply(function, argument))
    }

    /// A constant with two arguments.
    pub(super) fn binary(&mut self, name: Symbol, left: Written, right: Written) -> Written {
        let head = self.constant(name);
        let applied = self.apply(head, left);
        self.apply(applied, right)
    }

    /// Binds variables around a body, the last one innermost.
    pub(super) fn bind(&mut self, kind: Kind, bindings: &[Binding], body: Written) -> Written {
        bindings.iter().rev().fold(body, |body, &Binding { name, typed, is_explicit }| {
            self.add(Term::Bind { kind, name, typed, body, is_explicit })
        })
    }
}

/// The components of a name, or of fields with a point before the first. `«a.b»` is one component.
pub(super) fn components(name: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    name.split(move |c: char| {
        is_quoted = (is_quoted || c == '«') && c != '»';
        c == '.' && !is_quoted
    })
    .filter(|component| !component.is_empty())
}
