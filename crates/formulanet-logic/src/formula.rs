//! The one syntax tree that every parser makes and every graph is built from.
//!
//! A [`Formula`] is a sequent `h1, ..., hn |- c`. Its terms lie in one flat array and are linked by first child
//! and next sibling, so that building, walking and dropping a formula never recurses, however deep it is, and
//! one allocation serves many formulas after [`Formula::clear`].
//!
//! Application is flattened as the paper's graph wants it: `((f a) b)` is one term with the head `f` and the
//! arguments `a`, `b`. Variables are resolved: every occurrence names the binder it belongs to by its
//! [`VarId`], so shadowing and renaming are settled before a graph is built.

use std::fmt;

use crate::symbol::{Interner, Symbol};

mod pretty;
mod print;

pub use pretty::Pretty;
pub use print::Display;

/// A term of one formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct TermId(pub(crate) u32);

/// A variable of one formula: one binder's, or a free one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct VarId(pub(crate) u32);

impl VarId {
    /// The variable's number: dense, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The binder of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Binder {
    /// `!`
    Forall,
    /// `?`
    Exists,
    /// `?!`
    ExistsUnique,
    /// `@`
    Choice,
    /// `\`, which HolStep also prints as `lambda`
    Lambda,
}

impl Binder {
    /// The label of the binder's node.
    #[inline]
    pub fn symbol(self) -> Symbol {
        match self {
            Binder::Forall => Symbol::FORALL,
            Binder::Exists => Symbol::EXISTS,
            Binder::ExistsUnique => Symbol::EXISTS_UNIQUE,
            Binder::Choice => Symbol::CHOICE,
            Binder::Lambda => Symbol::LAMBDA,
        }
    }
}

/// The head of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Head {
    /// A constant; its children are its arguments.
    Constant(Symbol),
    /// An occurrence of a variable; its children are its arguments.
    Variable(VarId),
    /// The binder of a variable; its children are the body and then what the binder is applied to.
    Binder(VarId),
}

/// A variable's name, and its binder unless it is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The name in the text, which no graph but the `-names` views looks at.
    pub name: Symbol,
    /// Its binder; `None` for a free variable.
    pub binder: Option<Binder>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Term {
    head: Head,
    first: u32,
    last: u32,
    next: u32,
    arity: u32,
}

/// A sequent of higher-order logic.
///
/// ```
/// use formulanet_logic::{Binder, Formula, Interner};
/// let mut names = Interner::new();
/// let (p, x) = (names.intern("p"), names.intern("x"));
/// let mut formula = Formula::new();
/// let var = formula.bind(Binder::Forall, x);
/// let (head, argument) = (formula.constant(p), formula.variable(var));
/// let body = formula.apply(head, argument);
/// let all = formula.abstraction(var, body);
/// formula.push(all);
/// assert_eq!(formula.display(&names).to_string(), "|- (!x. (p x))");
/// ```
#[derive(Clone)]
pub struct Formula {
    terms: Vec<Term>,
    variables: Vec<Variable>,
    first: u32,
    last: u32,
    parts: u32,
    /// Terms that are written `<=>`, in the order of their numbers.
    equivalences: Vec<TermId>,
}

impl Default for Formula {
    fn default() -> Self {
        Self::new()
    }
}

impl Formula {
    /// A formula without any term.
    pub fn new() -> Self {
        Formula {
            terms: Vec::new(),
            variables: Vec::new(),
            first: NONE,
            last: NONE,
            parts: 0,
            equivalences: Vec::new(),
        }
    }

    /// Empties the formula but keeps its memory.
    pub fn clear(&mut self) {
        self.terms.clear();
        self.variables.clear();
        self.equivalences.clear();
        (self.first, self.last, self.parts) = (NONE, NONE, 0);
    }

    /// The number of terms; a graph never has more nodes than terms, free variables and the turnstile.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there is no term yet.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// An occurrence of a constant.
    #[inline]
    pub fn constant(&mut self, name: Symbol) -> TermId {
        self.term(Head::Constant(name))
    }

    /// An occurrence of a variable.
    #[inline]
    pub fn variable(&mut self, var: VarId) -> TermId {
        self.term(Head::Variable(var))
    }

    /// A new free variable.
    pub fn free(&mut self, name: Symbol) -> VarId {
        self.new_variable(Variable { name, binder: None })
    }

    /// A new bound variable, for [`Formula::abstraction`] once its body is there.
    #[inline]
    pub fn bind(&mut self, binder: Binder, name: Symbol) -> VarId {
        self.new_variable(Variable { name, binder: Some(binder) })
    }

    /// The binder of a variable around its body.
    #[inline]
    pub fn abstraction(&mut self, var: VarId, body: TermId) -> TermId {
        let term = self.binder(var);
        self.apply(term, body)
    }

    /// The binder of a variable, whose body is its first argument.
    #[inline]
    pub(crate) fn binder(&mut self, var: VarId) -> TermId {
        self.term(Head::Binder(var))
    }

    /// Gives `function` one more argument. The argument must not be part of another term.
    #[inline(always)]
    pub fn apply(&mut self, function: TermId, argument: TermId) -> TermId {
        debug_assert!(self.terms[argument.0 as usize].next == NONE && function != argument);
        let term = &mut self.terms[function.0 as usize];
        term.arity += 1;
        let last = std::mem::replace(&mut term.last, argument.0);
        match last {
            NONE => term.first = argument.0,
            last => self.terms[last as usize].next = argument.0,
        }
        function
    }

    /// Remembers that the newest term is an equality of truth values, where the language has a sign for that: the tree
    /// does not tell. Only problem graphs ask; formulas with and without the mark are equal.
    pub(crate) fn mark_equivalence(&mut self) {
        self.equivalences.extend(self.terms.len().checked_sub(1).map(|newest| TermId(newest as u32)));
    }

    /// Whether an equality is known to be one of truth values.
    pub fn is_equivalence(&self, term: TermId) -> bool {
        self.equivalences.binary_search_by_key(&term.0, |marked| marked.0).is_ok()
    }

    /// Adds the next part of the sequent; the last one is the conclusion, those before it are hypotheses.
    pub fn push(&mut self, part: TermId) {
        self.parts += 1;
        match std::mem::replace(&mut self.last, part.0) {
            NONE => self.first = part.0,
            last => self.terms[last as usize].next = part.0,
        }
    }

    /// The hypotheses and then the conclusion.
    pub fn parts(&self) -> Children<'_> {
        Children { formula: self, next: self.first }
    }

    /// The number of parts of the sequent.
    #[inline]
    pub fn part_count(&self) -> usize {
        self.parts as usize
    }

    /// The head of a term.
    #[inline]
    pub fn head(&self, term: TermId) -> Head {
        self.terms[term.0 as usize].head
    }

    /// The number of a term's children.
    #[inline]
    pub fn arity(&self, term: TermId) -> usize {
        self.terms[term.0 as usize].arity as usize
    }

    /// The children of a term: a function's arguments, or a binder's body and arguments.
    pub fn children(&self, term: TermId) -> Children<'_> {
        Children { formula: self, next: self.terms[term.0 as usize].first }
    }

    /// The first child of a term, or the first part of the sequent.
    #[inline]
    pub(crate) fn first_child(&self, term: Option<TermId>) -> Option<TermId> {
        some(match term {
            Some(term) => self.terms[term.0 as usize].first,
            None => self.first,
        })
    }

    /// The next child of the same parent.
    #[inline]
    pub(crate) fn sibling(&self, term: TermId) -> Option<TermId> {
        some(self.terms[term.0 as usize].next)
    }

    /// The variables, in the order of their numbers.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The numbers of all variables.
    pub fn variable_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len() as u32).map(VarId)
    }

    /// Gives a variable another name. The structure, and with it every graph without names, stays the same.
    pub fn rename(&mut self, var: VarId, name: Symbol) {
        self.variables[var.index()].name = name;
    }

    /// Every term that belongs to the sequent, each before its children, from left to right.
    pub fn preorder(&self) -> Preorder<'_> {
        Preorder { formula: self, stack: some(self.first).into_iter().collect() }
    }

    /// The text of the formula in fully parenthesised HOL Light syntax.
    pub fn display<'a>(&'a self, names: &'a Interner) -> Display<'a> {
        Display::new(self, names)
    }

    /// The text of the formula as people write it: infix, with few brackets. Types are not shown, and `+` stands for
    /// every addition.
    pub fn pretty<'a>(&'a self, names: &'a Interner) -> Pretty<'a> {
        Pretty::new(self, names)
    }

    #[inline(always)]
    fn term(&mut self, head: Head) -> TermId {
        let id = TermId(self.terms.len() as u32);
        self.terms.push(Term { head, first: NONE, last: NONE, next: NONE, arity: 0 });
        id
    }

    #[inline]
    fn new_variable(&mut self, variable: Variable) -> VarId {
        let id = VarId(self.variables.len() as u32);
        self.variables.push(variable);
        id
    }
}

#[inline]
fn some(id: u32) -> Option<TermId> {
    (id != NONE).then_some(TermId(id))
}

/// Iterator over the children of a term.
#[derive(Clone)]
pub struct Children<'a> {
    formula: &'a Formula,
    next: u32,
}

impl Iterator for Children<'_> {
    type Item = TermId;

    fn next(&mut self) -> Option<TermId> {
        let term = some(self.next)?;
        self.next = self.formula.terms[term.0 as usize].next;
        Some(term)
    }
}

/// Iterator over all terms of a formula; see [`Formula::preorder`].
pub struct Preorder<'a> {
    formula: &'a Formula,
    stack: Vec<TermId>,
}

impl Iterator for Preorder<'_> {
    type Item = TermId;

    fn next(&mut self) -> Option<TermId> {
        let term = self.stack.pop()?;
        self.stack.extend(self.formula.sibling(term));
        self.stack.extend(self.formula.first_child(Some(term)));
        Some(term)
    }
}

/// Same sequent, same constants, same variable names; how the variables are numbered does not matter.
impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        let mut matched: Vec<Option<VarId>> = vec![None; self.variables.len()];
        let mut taken = vec![false; other.variables.len()];
        let mut same = |a: VarId, b: VarId| match matched[a.index()] {
            Some(partner) => partner == b,
            None => {
                matched[a.index()] = Some(b);
                self.variables[a.index()] == other.variables[b.index()]
                    && !std::mem::replace(&mut taken[b.index()], true)
            }
        };
        let (mut left, mut right) = (self.preorder(), other.preorder());
        self.parts == other.parts
            && loop {
                match (left.next(), right.next()) {
                    (None, None) => break true,
                    (Some(a), Some(b)) => {
                        let heads = match (self.head(a), other.head(b)) {
                            (Head::Constant(a), Head::Constant(b)) => a == b,
                            (Head::Variable(a), Head::Variable(b)) => same(a, b),
                            (Head::Binder(a), Head::Binder(b)) => same(a, b),
                            _ => false,
                        };
                        if !heads || self.arity(a) != other.arity(b) {
                            break false;
                        }
                    }
                    _ => break false,
                }
            }
    }
}

impl Eq for Formula {}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.preorder().map(|t| (self.head(t), self.arity(t)))).finish()
    }
}
