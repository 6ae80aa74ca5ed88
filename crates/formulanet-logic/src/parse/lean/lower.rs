//! Written terms to a [`Formula`]: names are resolved, and Lean's logic gets the names of the one syntax tree.
//!
//! A machine with explicit stacks, like all that walks terms here.

use std::collections::HashMap;

use crate::error::ParseError;
use crate::formula::{Binder, Formula, Head, TermId, VarId};
use crate::limits::{Limit, Limits};
use crate::symbol::{Interner, Symbol};

use super::lex::Tokens;
use super::operators;
use super::preterm::{Kind, Term, Terms, Written, components};

mod fields;

/// The label of what says which type something has: `(x : T)` is this, applied to `x` and `T`.
const HAS_TYPE: &str = ":";
/// The label of a function's type before its body.
const TYPED_BODY: &str = "fun";

/// Something to do.
#[derive(Clone, Copy)]
enum Task {
    /// Makes the value of a term.
    Visit(Written),
    /// Makes a term of a head and this many values.
    Finish(Shape, usize),
    /// Binds a variable, which may have a type.
    Enter(Kind, Option<Symbol>, Option<Written>),
    /// Ends a binder whose body, and before it its type, are the last values.
    Close { kind: Kind, has_variable: bool, has_type: bool },
    /// Ends a `let` in the same way, with its value before both.
    CloseLet { has_type: bool },
}

/// The formula of a term's head.
#[derive(Clone, Copy)]
enum Shape {
    Constant(Symbol),
    Variable(VarId),
    /// The value before the arguments.
    Value,
    /// Equality of truth values.
    Equivalence,
    /// An equation that does not hold.
    Unequal,
}

/// A variable that is bound here, its name, and what that name meant before.
struct Scope {
    var: VarId,
    name: Option<Symbol>,
    before: Option<VarId>,
}

/// Makes formulas of terms.
pub(super) struct Lowering<'r> {
    terms: &'r mut Terms,
    names: &'r mut Interner,
    limits: Limits,
    formula: Formula,
    tasks: Vec<Task>,
    values: Vec<TermId>,
    scopes: Vec<Scope>,
    bound: HashMap<Symbol, VarId>,
    /// By variable: whether it occurs.
    occurs: Vec<bool>,
    /// By variable: its type, if it is written.
    types: Vec<Option<Written>>,
    arguments: Vec<Written>,
}

impl<'r> Lowering<'r> {
    pub(super) fn new(terms: &'r mut Terms, names: &'r mut Interner, limits: Limits) -> Self {
        Lowering {
            terms,
            names,
            limits,
            formula: Formula::new(),
            tasks: Vec::new(),
            values: Vec::new(),
            scopes: Vec::new(),
            bound: HashMap::new(),
            occurs: Vec::new(),
            types: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// The formula that a term is. The tokens are for the place of an error.
    pub(super) fn run(mut self, term: Written, tokens: &Tokens<'_>) -> Result<Formula, ParseError> {
        self.tasks.push(Task::Visit(term));
        while let Some(task) = self.tasks.pop() {
            if self.formula.len() > self.limits.nodes.min(u32::MAX as usize / 2) {
                return tokens.over(tokens.get(0), Limit::Nodes, self.limits.nodes, "nodes");
            }
            match task {
                Task::Visit(term) => self.visit(term),
                Task::Finish(shape, count) => self.finish(shape, count),
                Task::Enter(kind, name, typed) => self.enter(kind, name, typed),
                Task::Close { kind, has_variable, has_type } => self.close(kind, has_variable, has_type),
                Task::CloseLet { has_type } => {
                    self.close(Kind::Fun, true, has_type);
                    // The value was read before the function that it is given to.
                    let last = self.values.len() - 1;
                    self.values.swap(last - 1, last);
                    self.finish_value(1);
                }
            }
        }
        if let Some(whole) = self.values.pop() {
            self.formula.push(whole);
        }
        Ok(self.formula)
    }

    fn visit(&mut self, term: Written) {
        self.arguments.clear();
        let mut head = term;
        loop {
            head = match self.terms.get(head) {
                Term::Apply(function, argument) => {
                    self.arguments.push(argument);
                    function
                }
                Term::Name { name, .. } => match self.fields_of_variable(name) {
                    Some(field) => field,
                    None => break,
                },
                _ => break,
            }
        }
        self.arguments.reverse();
        match self.terms.get(head) {
            Term::Name { name, is_explicit } => self.visit_name(name, is_explicit),
            Term::Constant(name) => self.visit_constant(name, false),
            Term::Apply(..) => {}
            Term::Field { name, object } => {
                let name = self.field_constant(name, object);
                self.arguments.insert(0, object);
                self.visit_constant(name, false);
            }
            Term::Bind { kind, name, typed, body, .. } => {
                self.finish_arguments(Shape::Value);
                self.tasks_of_binder(kind, name, typed, body);
            }
            Term::Let { name, typed, value, body } => {
                self.finish_arguments(Shape::Value);
                self.tasks.push(Task::CloseLet { has_type: typed.is_some() });
                self.tasks.push(Task::Visit(body));
                self.tasks.push(Task::Enter(Kind::Fun, Some(name), typed));
                self.tasks.extend(typed.map(Task::Visit));
                self.tasks.push(Task::Visit(value));
            }
        }
    }

    /// Asks for the values of the arguments, and for a term of them.
    fn finish_arguments(&mut self, shape: Shape) {
        let count = self.arguments.len();
        if count > 0 || !matches!(shape, Shape::Value) {
            self.tasks.push(Task::Finish(shape, count));
        }
        self.tasks.extend(self.arguments.drain(..).rev().map(Task::Visit));
    }

    fn tasks_of_binder(&mut self, kind: Kind, name: Option<Symbol>, typed: Option<Written>, body: Written) {
        // An arrow binds nothing.
        let has_variable = name.is_some() || kind == Kind::Fun || typed.is_none();
        self.tasks.push(Task::Close { kind, has_variable, has_type: typed.is_some() });
        self.tasks.push(Task::Visit(body));
        if has_variable {
            self.tasks.push(Task::Enter(kind, name, typed));
        }
        self.tasks.extend(typed.map(Task::Visit));
    }

    fn visit_name(&mut self, name: Symbol, is_explicit: bool) {
        if let Some(&var) = self.bound.get(&name) {
            return self.finish_arguments(Shape::Variable(var));
        }
        let name = operators::full_name(self.names.name(name)).map_or(name, |full| self.names.intern(full));
        self.visit_constant(name, is_explicit);
    }

    /// Field notation that is written as one name: `h.left` is a part of what the variable `h` stands for.
    fn fields_of_variable(&mut self, name: Symbol) -> Option<Written> {
        let text = self.names.name(name);
        if self.bound.contains_key(&name) || !text.contains('.') {
            return None;
        }
        let first = self.names.get(components(text).next()?)?;
        self.bound.get(&first)?;
        let text = text.to_owned();
        let variable = self.terms.add(Term::Name { name: first, is_explicit: false });
        Some(components(&text).skip(1).fold(variable, |object, field| {
            let name = self.names.intern(field);
            self.terms.add(Term::Field { name, object })
        }))
    }

    /// A constant with the arguments, of which Lean hides some unless it is written with `@`.
    fn visit_constant(&mut self, name: Symbol, is_explicit: bool) {
        let text = self.names.name(name);
        if is_explicit {
            let hidden = operators::hidden_arguments(text).min(self.arguments.len());
            self.arguments.drain(..hidden);
        }
        let shape = match (text, self.arguments.len()) {
            ("Eq", _) => Shape::Constant(Symbol::EQUAL),
            ("Ne", 2) => Shape::Unequal,
            ("Iff", 2) => Shape::Equivalence,
            ("And", _) => Shape::Constant(Symbol::AND),
            ("Or", _) => Shape::Constant(Symbol::OR),
            ("Not", _) => Shape::Constant(Symbol::NOT),
            ("True", 0) => Shape::Constant(Symbol::TRUE),
            ("False", 0) => Shape::Constant(Symbol::FALSE),
            ("GT.gt" | "GE.ge", 2) => {
                self.arguments.reverse();
                let turned = if text == "GT.gt" { "LT.lt" } else { "LE.le" };
                Shape::Constant(self.names.intern(turned))
            }
            // A number of some type is the number.
            ("OfNat.ofNat", 1..=3) => {
                let arguments = self.arguments.iter();
                let mut number = arguments.filter_map(|&argument| match self.terms.get(argument) {
                    Term::Constant(name)
                        if self.names.name(name).starts_with(|c: char| c.is_ascii_digit()) =>
                    {
                        Some(name)
                    }
                    _ => None,
                });
                match number.next() {
                    Some(number) => {
                        self.arguments.clear();
                        Shape::Constant(number)
                    }
                    None => Shape::Constant(name),
                }
            }
            ("Exists" | "ExistsUnique", 1) => {
                let kind = if text == "Exists" { Kind::Exists } else { Kind::ExistsUnique };
                if let Term::Bind { kind: Kind::Fun, name, typed, body, .. } =
                    self.terms.get(self.arguments[0])
                {
                    return self.tasks_of_binder(kind, name, typed, body);
                }
                Shape::Constant(if kind == Kind::Exists { Symbol::EXISTS } else { Symbol::EXISTS_UNIQUE })
            }
            _ => Shape::Constant(name),
        };
        self.finish_arguments(shape);
    }

    fn finish(&mut self, shape: Shape, count: usize) {
        let head = match shape {
            Shape::Value => return self.finish_value(count),
            Shape::Constant(name) => self.formula.constant(name),
            Shape::Variable(var) => self.occurrence(var),
            Shape::Equivalence | Shape::Unequal => self.formula.constant(Symbol::EQUAL),
        };
        if matches!(shape, Shape::Equivalence) {
            self.formula.mark_equivalence();
        }
        self.apply_values(head, count);
        let term = match shape {
            Shape::Unequal => {
                let not = self.formula.constant(Symbol::NOT);
                self.formula.apply(not, head)
            }
            _ => head,
        };
        self.values.push(term);
    }

    /// Applies the value before the last ones to these.
    fn finish_value(&mut self, count: usize) {
        let place = self.values.len() - count - 1;
        let head = self.values.remove(place);
        self.apply_values(head, count);
        self.values.push(head);
    }

    fn apply_values(&mut self, head: TermId, count: usize) {
        for value in self.values.drain(self.values.len() - count..) {
            self.formula.apply(head, value);
        }
    }

    fn occurrence(&mut self, var: VarId) -> TermId {
        self.occurs[var.index()] = true;
        self.formula.variable(var)
    }

    fn enter(&mut self, kind: Kind, name: Option<Symbol>, typed: Option<Written>) {
        let binder = match kind {
            Kind::Pi => Binder::Forall,
            Kind::Fun => Binder::Lambda,
            Kind::Exists => Binder::Exists,
            Kind::ExistsUnique => Binder::ExistsUnique,
        };
        let var = self.formula.bind(binder, name.unwrap_or(Symbol::MACHINE));
        self.occurs.push(false);
        self.types.push(typed);
        let before = name.and_then(|name| self.bound.insert(name, var));
        self.scopes.push(Scope { var, name, before });
    }

    fn close(&mut self, kind: Kind, has_variable: bool, has_type: bool) {
        let body = self.values.pop();
        let typed = self.values.pop_if(|_| has_type);
        let scope = if has_variable { self.scopes.pop() } else { None };
        if let Some(Scope { var, name: Some(name), before }) = scope {
            match before {
                Some(before) => self.bound.insert(name, before),
                None => self.bound.remove(&name),
            };
            debug_assert!(var.index() < self.occurs.len());
        }
        let Some(body) = body else { return };
        let var = scope.map(|scope| scope.var);
        let used = var.filter(|var| self.occurs[var.index()]);
        let connective = if kind == Kind::Pi { Symbol::IMPLIES } else { Symbol::AND };
        let term = match (kind, typed, used) {
            (Kind::Fun, Some(typed), _) => {
                let label = self.names.intern(TYPED_BODY);
                let body = self.binary(label, typed, body);
                self.abstraction(var, body)
            }
            (Kind::Pi | Kind::Exists, Some(typed), None) => self.binary(connective, typed, body),
            (_, Some(typed), _) => {
                let guard = self.guard(var, typed);
                let body = self.binary(connective, guard, body);
                self.abstraction(var, body)
            }
            (_, None, _) => self.abstraction(var, body),
        };
        self.values.push(term);
    }

    fn abstraction(&mut self, var: Option<VarId>, body: TermId) -> TermId {
        var.map_or(body, |var| self.formula.abstraction(var, body))
    }

    /// The hypothesis of a variable's type: the type itself if it is a proposition, else that the variable has it.
    fn guard(&mut self, var: Option<VarId>, typed: TermId) -> TermId {
        let is_proposition = match self.formula.head(typed) {
            Head::Constant(name) => {
                [Symbol::EQUAL, Symbol::AND, Symbol::OR, Symbol::NOT].contains(&name)
                    || operators::is_predicate(self.names.name(name))
            }
            Head::Variable(_) => false,
            Head::Binder(var) => {
                let binder = self.formula.variables()[var.index()].binder;
                matches!(binder, Some(Binder::Exists | Binder::ExistsUnique))
            }
        };
        match var {
            Some(var) if !is_proposition => {
                let (label, variable) = (self.names.intern(HAS_TYPE), self.formula.variable(var));
                self.binary(label, variable, typed)
            }
            _ => typed,
        }
    }

    fn binary(&mut self, name: Symbol, left: TermId, right: TermId) -> TermId {
        let head = self.formula.constant(name);
        self.formula.apply(head, left);
        self.formula.apply(head, right)
    }
}
