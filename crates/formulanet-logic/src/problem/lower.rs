//! A formula to the graph of a statement.
//!
//! A machine with explicit stacks, so that the depth of a formula is no matter. Nodes without variables below them are
//! blocks of their own and get their places at once; the others wait until the outermost binder that they depend on is
//! complete, and then become one block with it.

use super::NO_SYMBOL;
use super::labels::{EdgeClass, NodeLabel};
use super::nodes::{INSIDE, Nodes, Table};
use super::statement::StatementGraph;
use crate::formula::{Binder, Formula, Head, TermId, VarId};
use crate::limits::{Limit, Limits, TooLarge};
use crate::symbol::Symbol;

mod finish;
mod predicates;
mod shape;

use shape::{Shape, is_quantifier, shape};

const NONE: u32 = u32::MAX;

/// Makes the graphs of statements one after the other and keeps its working memory between them.
pub struct StatementBuilder {
    limits: Limits,
    /// By the number of a symbol; only those with the current stamp count.
    symbols: Vec<SymbolState>,
    stamp: u32,
    variables: Vec<VariableState>,
    tasks: Vec<Task>,
    /// The edges of nodes whose other edges are not known yet.
    edges: Vec<(u32, u8)>,
    /// The variables of binders that are open.
    bound: Vec<VarId>,
    /// Free variables by the order of their first occurrence.
    free: Vec<VarId>,
    /// The number of open binders.
    depth: u32,
    /// Nodes with variables below them. Their own edges lead to others of them by `INSIDE` and the number.
    waiting: Nodes,
    /// For each of them, the depth of the outermost binder that it depends on.
    outermost: Vec<u32>,
    table: Table,
    waiting_table: Table,
    /// The term that is compared or moved.
    block: Nodes,
    operands: Vec<(TermId, EdgeClass)>,
    pending: Vec<(TermId, bool)>,
    terms: Vec<TermId>,
}

#[derive(Clone, Copy, Default)]
struct SymbolState {
    stamp: u32,
    local: u32,
    /// The stamp of a statement that has the symbol where a formula stands.
    predicate: u32,
}

#[derive(Clone, Copy)]
struct VariableState {
    /// Its node, once it has one.
    node: u32,
    /// The depth of its binder; 0 for a free variable.
    depth: u32,
}

#[derive(Clone, Copy)]
enum Task {
    /// Makes the node of a term, and an edge to it.
    Visit { term: TermId, class: EdgeClass, is_formula: bool },
    /// Handles a binder without arguments.
    Bare { term: TermId },
    /// Makes a node of the edges from `first` on, and an edge to it.
    Finish { label: NodeLabel, symbol: u32, first: u32, edge: u8, scope: Option<Scope> },
}

/// The state of a binder until its body is complete.
#[derive(Clone, Copy)]
struct Scope {
    depth: u32,
    /// Its first variable in `bound`.
    bound: u32,
    /// Its first node in `waiting`.
    waiting: u32,
}

impl Default for StatementBuilder {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl StatementBuilder {
    /// A builder of graphs of formulas with at most this many nodes.
    pub fn new(limits: Limits) -> Self {
        StatementBuilder {
            limits,
            symbols: Vec::new(),
            stamp: 0,
            variables: Vec::new(),
            tasks: Vec::new(),
            edges: Vec::new(),
            bound: Vec::new(),
            free: Vec::new(),
            depth: 0,
            waiting: Nodes::default(),
            outermost: Vec::new(),
            table: Table::default(),
            waiting_table: Table::default(),
            block: Nodes::default(),
            operands: Vec::new(),
            pending: Vec::new(),
            terms: Vec::new(),
        }
    }

    /// The graph of a statement. Symbols are told apart by their numbers in the formula's interner.
    pub fn build(&mut self, formula: &Formula) -> Result<StatementGraph, TooLarge> {
        // A term makes at most one node, and an edge to it from what it is part of and from its binder.
        let most = self.limits.nodes.min(INSIDE as usize / 4);
        TooLarge::check(Limit::Nodes, formula.len() as u64, most as u64)?;
        self.reset(formula);
        let mut graph = StatementGraph::default();
        let parts: Vec<TermId> = formula.parts().collect();
        let Some((&conclusion, hypotheses)) = parts.split_last() else {
            self.finish(NodeLabel::True, NO_SYMBOL, 0, 0, None, &mut graph);
            return Ok(graph);
        };
        let has_free = self.find_predicates(formula, &parts);
        let edge = EdgeClass::Body.number(false);
        if has_free || !hypotheses.is_empty() {
            self.open_rule(formula, hypotheses, conclusion, edge, has_free);
        } else {
            self.tasks.push(Task::Visit { term: conclusion, class: EdgeClass::Body, is_formula: true });
        }
        self.run(formula, &mut graph);
        self.close(&mut graph);
        Ok(graph)
    }

    fn reset(&mut self, formula: &Formula) {
        if self.stamp == u32::MAX {
            self.symbols.fill(SymbolState::default());
            self.stamp = 0;
        }
        self.stamp += 1;
        self.variables.clear();
        self.variables.resize(formula.variables().len(), VariableState { node: NONE, depth: 0 });
        self.tasks.clear();
        self.edges.clear();
        self.bound.clear();
        self.free.clear();
        self.depth = 0;
        self.waiting.truncate(0);
        self.outermost.clear();
        self.table.clear();
        self.waiting_table.clear();
    }

    fn run(&mut self, formula: &Formula, graph: &mut StatementGraph) {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Visit { term, class, is_formula } => {
                    self.visit(formula, term, class, is_formula, graph)
                }
                Task::Bare { term } => {
                    if let Head::Binder(var) = formula.head(term) {
                        self.open_binder(formula, term, var, EdgeClass::Head.number(false));
                    }
                }
                Task::Finish { label, symbol, first, edge, scope } => {
                    self.finish(label, symbol, first as usize, edge, scope, graph);
                }
            }
        }
    }

    fn visit(
        &mut self,
        formula: &Formula,
        mut term: TermId,
        class: EdgeClass,
        mut is_formula: bool,
        graph: &mut StatementGraph,
    ) {
        let mut is_negated = false;
        let shape = loop {
            match shape(formula, term) {
                Shape::Not(inner) => (term, is_negated, is_formula) = (inner, !is_negated, true),
                shape => break shape,
            }
        };
        let edge = class.number(is_negated);
        match shape {
            Shape::Not(_) => unreachable!("taken off above"),
            Shape::Truth(is_true) => {
                let edge = class.number(is_negated == is_true);
                self.finish(NodeLabel::True, NO_SYMBOL, self.edges.len(), edge, None, graph);
            }
            Shape::Junction(symbol) => {
                let label = if symbol == Symbol::AND { NodeLabel::And } else { NodeLabel::Or };
                self.operands.clear();
                self.flatten(formula, symbol, term, EdgeClass::Operand);
                self.open(label, edge, None, true);
            }
            Shape::Implies(..) => self.open_rule(formula, &[], term, edge, false),
            Shape::Equal(left, right) => {
                let is_formula = self.is_equivalence(formula, term, [left, right]);
                let label = if is_formula { NodeLabel::Equivalence } else { NodeLabel::Equality };
                self.operands.clear();
                self.operands.extend([left, right].map(|side| (side, EdgeClass::Operand)));
                self.open(label, edge, None, is_formula);
            }
            Shape::Binder(var, _) => self.open_binder(formula, term, var, edge),
            Shape::Other(Head::Constant(symbol)) => {
                let label = match formula.arity(term) {
                    _ if is_formula => NodeLabel::Predicate,
                    0 => NodeLabel::Constant,
                    _ => NodeLabel::Function,
                };
                let local = self.local(symbol, graph);
                self.arguments(formula, term, 0);
                self.open_node(label, local, edge);
            }
            Shape::Other(Head::Variable(var)) if formula.arity(term) == 0 => {
                let node = self.variable(formula, var);
                self.edges.push((node, edge));
            }
            Shape::Other(Head::Variable(var)) => {
                self.arguments(formula, term, 0);
                self.open_node(NodeLabel::Application, NO_SYMBOL, edge);
                let node = self.variable(formula, var);
                self.edges.push((node, EdgeClass::Head.number(false)));
            }
            Shape::Other(Head::Binder(_)) => {
                self.arguments(formula, term, 1);
                self.open_node(NodeLabel::Application, NO_SYMBOL, edge);
                if formula.arity(term) > 0 {
                    self.tasks.push(Task::Bare { term });
                }
            }
        }
    }

    /// The number of a symbol in this statement.
    fn local(&mut self, symbol: Symbol, graph: &mut StatementGraph) -> u32 {
        let stamp = self.stamp;
        let state = self.symbol_state(symbol);
        if state.stamp != stamp {
            (state.stamp, state.local) = (stamp, graph.symbols.len() as u32);
            graph.symbols.push(symbol.index() as u32);
        }
        state.local
    }

    /// The node of a variable, which is made when it first occurs.
    fn variable(&mut self, formula: &Formula, var: VarId) -> u32 {
        let state = &mut self.variables[var.index()];
        if state.node == NONE {
            let label = match formula.variables()[var.index()].binder {
                None | Some(Binder::Forall) => NodeLabel::Universal,
                Some(Binder::Exists | Binder::ExistsUnique) => NodeLabel::Existential,
                Some(Binder::Lambda | Binder::Choice) => NodeLabel::Abstracted,
            };
            state.node = INSIDE | self.waiting.len() as u32;
            self.waiting.end_node(label as u8, NO_SYMBOL);
            self.outermost.push(state.depth);
            if state.depth == 0 {
                self.free.push(var);
            }
        }
        state.node
    }

    /// The arguments of a term, from some child on, become the operands.
    fn arguments(&mut self, formula: &Formula, term: TermId, skip: usize) {
        self.operands.clear();
        let arguments = formula.children(term).skip(skip).enumerate();
        self.operands.extend(arguments.map(|(place, child)| (child, EdgeClass::argument(place))));
    }

    /// Adds the operands of a chain of `&` or `|` from left to right.
    fn flatten(&mut self, formula: &Formula, symbol: Symbol, term: TermId, class: EdgeClass) {
        self.terms.push(term);
        while let Some(term) = self.terms.pop() {
            match shape(formula, term) {
                Shape::Junction(found) if found == symbol => {
                    let start = self.terms.len();
                    self.terms.extend(formula.children(term));
                    self.terms[start..].reverse();
                }
                _ => self.operands.push((term, class)),
            }
        }
    }

    /// Begins a node of a symbol or an application, whose arguments are terms.
    fn open_node(&mut self, label: NodeLabel, symbol: u32, edge: u8) {
        let first = self.edges.len() as u32;
        self.tasks.push(Task::Finish { label, symbol, first, edge, scope: None });
        self.visit_operands(false);
    }

    /// Begins a node of a formula.
    fn open(&mut self, label: NodeLabel, edge: u8, scope: Option<Scope>, is_formula: bool) {
        let first = self.edges.len() as u32;
        self.tasks.push(Task::Finish { label, symbol: NO_SYMBOL, first, edge, scope });
        self.visit_operands(is_formula);
    }

    fn visit_operands(&mut self, is_formula: bool) {
        let visits = self.operands.drain(..).rev();
        self.tasks.extend(visits.map(|(term, class)| Task::Visit { term, class, is_formula }));
    }

    /// Begins a chain of `!` and `=>`.
    fn open_rule(
        &mut self,
        formula: &Formula,
        hypotheses: &[TermId],
        mut term: TermId,
        edge: u8,
        closes_free: bool,
    ) {
        self.operands.clear();
        for &hypothesis in hypotheses {
            self.flatten(formula, Symbol::AND, hypothesis, EdgeClass::Guard);
        }
        let bound = self.bound.len() as u32;
        loop {
            match shape(formula, term) {
                Shape::Binder(var, body) if is_quantifier(formula, var, Binder::Forall) => {
                    self.bound.push(var);
                    term = body;
                }
                Shape::Implies(left, right) => {
                    self.flatten(formula, Symbol::AND, left, EdgeClass::Guard);
                    term = right;
                }
                _ => break,
            }
        }
        self.flatten(formula, Symbol::AND, term, EdgeClass::Body);
        let scope = self.scope(bound, closes_free);
        self.open(NodeLabel::Rule, edge, scope, true);
    }

    fn open_binder(&mut self, formula: &Formula, term: TermId, var: VarId, edge: u8) {
        let bound = self.bound.len() as u32;
        let body = formula.first_child(Some(term)).expect("a binder has a body");
        let binder = formula.variables()[var.index()].binder;
        self.operands.clear();
        let label = match binder {
            None | Some(Binder::Forall) if formula.arity(term) == 1 => {
                return self.open_rule(formula, &[], term, edge, false);
            }
            None | Some(Binder::Forall) => NodeLabel::Rule,
            Some(Binder::Exists) => {
                self.bound.push(var);
                let mut inner = body;
                while let Shape::Binder(var, body) = shape(formula, inner)
                    && is_quantifier(formula, var, Binder::Exists)
                {
                    self.bound.push(var);
                    inner = body;
                }
                self.flatten(formula, Symbol::AND, inner, EdgeClass::Body);
                let scope = self.scope(bound, false);
                return self.open(NodeLabel::Exists, edge, scope, true);
            }
            Some(Binder::ExistsUnique) => NodeLabel::ExistsUnique,
            Some(Binder::Choice) => NodeLabel::Choice,
            Some(Binder::Lambda) => NodeLabel::Lambda,
        };
        // The order of abstractions matters, so each is a node of its own.
        self.bound.push(var);
        self.operands.push((body, EdgeClass::Body));
        let scope = self.scope(bound, false);
        self.open(label, edge, scope, label != NodeLabel::Lambda);
    }

    /// Opens the scope of the variables in `bound` from a place on.
    fn scope(&mut self, bound: u32, closes_free: bool) -> Option<Scope> {
        if self.bound.len() == bound as usize && !closes_free {
            return None;
        }
        let waiting = self.waiting.len() as u32;
        if closes_free {
            // The outermost rule, whose own variables are as deep as the free ones.
            return Some(Scope { depth: 0, bound, waiting });
        }
        self.depth += 1;
        for var in &self.bound[bound as usize..] {
            self.variables[var.index()].depth = self.depth;
        }
        Some(Scope { depth: self.depth, bound, waiting })
    }
}
