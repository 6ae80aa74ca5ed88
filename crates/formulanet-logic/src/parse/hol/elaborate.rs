//! Terms to a formula: names find their binders, overloaded operators their types.

use std::collections::HashMap;

use super::preterm::{Id, Node, Preterms};
use super::signature::{self, Family};
use super::types::{Constructor, Type, Types};
use super::{Options, Overload};
use crate::formula::{Binder, Formula, TermId, VarId};
use crate::symbol::{Interner, Symbol};
use crate::syntax;

/// The formula of a sequent's parts.
pub(super) fn elaborate(preterms: Preterms, options: &Options, names: &mut Interner) -> Formula {
    let Preterms { nodes, types, parts } = preterms;
    let meanings = vec![Meaning::Unused; nodes.len()];
    let mut elaborator = Elaborator {
        nodes: &nodes,
        options,
        names,
        meanings,
        types,
        formula: Formula::new(),
        variable_types: Vec::new(),
    };
    elaborator.resolve(&parts);
    if options.overload != Overload::Resolved {
        elaborator.infer();
    }
    elaborator.emit(&parts)
}

/// The meaning of a node.
#[derive(Clone, Copy)]
enum Meaning {
    /// It is not part of the formula: a pattern that became binders.
    Unused,
    Constant(Symbol),
    /// A constant whose name may be overloaded.
    Operator(Symbol),
    Variable(VarId),
    Binder(VarId),
    /// An application or an annotated term.
    Structure,
}

struct Elaborator<'a> {
    nodes: &'a [Node],
    options: &'a Options,
    names: &'a mut Interner,
    meanings: Vec<Meaning>,
    types: Types,
    formula: Formula,
    variable_types: Vec<Type>,
}

/// An occurrence of an overloaded name that is not decided yet.
struct Pending {
    id: Id,
    name: Symbol,
    family: Family,
    decisive: Type,
    second: Option<Type>,
}

impl Elaborator<'_> {
    /// Finds out what every name stands for, from left to right.
    fn resolve(&mut self, parts: &[Id]) {
        enum Step {
            Enter(Id),
            /// The end of a binder's scope: what its variable's name meant before.
            Leave(Symbol, Option<VarId>),
        }
        let mut bound: HashMap<Symbol, VarId> = HashMap::new();
        let mut free: HashMap<Symbol, VarId> = HashMap::new();
        let mut pending: Vec<Step> = parts.iter().rev().map(|&part| Step::Enter(part)).collect();
        while let Some(step) = pending.pop() {
            let id = match step {
                Step::Enter(id) => id,
                Step::Leave(name, before) => {
                    match before {
                        Some(var) => bound.insert(name, var),
                        None => bound.remove(&name),
                    };
                    continue;
                }
            };
            self.meanings[id.index()] = match self.nodes[id.index()] {
                Node::Constant(name) => Meaning::Constant(name),
                Node::Apply(function, argument) => {
                    pending.extend([Step::Enter(argument), Step::Enter(function)]);
                    Meaning::Structure
                }
                Node::Typed(term, _) => {
                    pending.push(Step::Enter(term));
                    Meaning::Structure
                }
                Node::Bind(binder, name, ty, body) => {
                    let var = self.formula.bind(binder, name);
                    let ty = ty.unwrap_or_else(|| self.types.unknown());
                    self.variable_types.push(ty);
                    pending.extend([Step::Leave(name, bound.insert(name, var)), Step::Enter(body)]);
                    Meaning::Binder(var)
                }
                node @ (Node::Name(name) | Node::Variable(name)) => match bound.get(&name) {
                    Some(&var) => Meaning::Variable(var),
                    None if matches!(node, Node::Name(_)) && self.is_constant(name) => {
                        let constant = syntax::stands_for(self.names.name(name));
                        Meaning::Operator(constant.map_or(name, |constant| self.names.intern(constant)))
                    }
                    None => Meaning::Variable(*free.entry(name).or_insert_with(|| {
                        self.variable_types.push(self.types.unknown());
                        self.formula.free(name)
                    })),
                },
            };
        }
    }

    fn is_constant(&self, name: Symbol) -> bool {
        self.options.names.is_constant(self.names.name(name))
    }

    /// Infers types and decides what overloaded names mean.
    fn infer(&mut self) {
        let mut pending = Vec::new();
        let mut types: Vec<Type> = Vec::with_capacity(self.nodes.len());
        for index in 0..self.nodes.len() {
            let ty = self.infer_node(index, &types, &mut pending);
            types.push(ty);
        }
        // What can never be a natural number decides first, then everything else, then what depends on both.
        for family in [Family::NotNatural, Family::Number] {
            for occurrence in pending.iter().filter(|p| p.family == family) {
                if self.types.shape(occurrence.decisive).is_none() {
                    let name = self.names.name(occurrence.name);
                    let assumed = signature::assumed(name, family, self.options.overload, &mut self.types);
                    self.types.unify(occurrence.decisive, assumed);
                }
            }
        }
        for Pending { id, name, decisive, second, .. } in pending {
            let text = self.names.name(name);
            let meaning = match signature::meaning(text, decisive, second, &mut self.types) {
                Some(constant) => self.names.intern(constant),
                None => name,
            };
            self.meanings[id.index()] = Meaning::Constant(meaning);
        }
    }

    fn infer_node(&mut self, index: usize, types: &[Type], pending: &mut Vec<Pending>) -> Type {
        match (self.meanings[index], self.nodes[index]) {
            (Meaning::Constant(name), _) => self.constant_type(name),
            (Meaning::Operator(name), _) => {
                let Some(overloaded) = signature::overloaded(self.names.name(name)) else {
                    self.meanings[index] = Meaning::Constant(name);
                    return self.constant_type(name);
                };
                let mut variables = HashMap::new();
                let ty = signature::read(overloaded.ty, &mut self.types, &mut variables);
                pending.push(Pending {
                    id: Id::new(index),
                    name,
                    family: overloaded.family,
                    decisive: variables["A"],
                    second: variables.get("B").copied(),
                });
                ty
            }
            (Meaning::Variable(var), _) => self.variable_types[var.index()],
            (Meaning::Binder(var), Node::Bind(binder, _, _, body)) => {
                let (variable, body) = (self.variable_types[var.index()], types[body.index()]);
                if binder == Binder::Lambda {
                    return self.types.function(variable, body);
                }
                let truth = self.types.base(Constructor::Bool);
                self.types.unify(body, truth);
                if binder == Binder::Choice { variable } else { truth }
            }
            (_, Node::Apply(function, argument)) => {
                let result = self.types.unknown();
                let expected = self.types.function(types[argument.index()], result);
                self.types.unify(types[function.index()], expected);
                result
            }
            (_, Node::Typed(term, ty)) => {
                self.types.unify(types[term.index()], ty);
                ty
            }
            _ => self.types.unknown(),
        }
    }

    fn constant_type(&mut self, name: Symbol) -> Type {
        signature::instantiate(self.names.name(name), &mut self.types).unwrap_or_else(|| self.types.unknown())
    }

    /// Parts have smaller numbers than what they are part of, so one pass in order builds everything.
    fn emit(mut self, parts: &[Id]) -> Formula {
        let nothing = TermId(u32::MAX);
        let mut terms: Vec<TermId> = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let term = match (self.meanings[index], *node) {
                (Meaning::Unused, _) => nothing,
                (Meaning::Constant(name) | Meaning::Operator(name), _) => self.formula.constant(name),
                (Meaning::Variable(var), _) => self.formula.variable(var),
                (Meaning::Binder(var), Node::Bind(_, _, _, body)) => {
                    self.formula.abstraction(var, terms[body.index()])
                }
                (_, Node::Apply(function, argument)) => {
                    self.formula.apply(terms[function.index()], terms[argument.index()])
                }
                (_, Node::Typed(term, _)) => terms[term.index()],
                _ => nothing,
            };
            terms.push(term);
        }
        for part in parts {
            self.formula.push(terms[part.index()]);
        }
        self.formula
    }
}
