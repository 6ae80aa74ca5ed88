//! Pictures of problems.
//!
//! A statement is a node above its root, a symbol a node below all its occurrences. At the source of an edge stands
//! which argument it is, or `f` for what is applied, `v` for a variable that is bound, `g` for a guard, `b` for a body;
//! `~` says that the target is negated.

use std::borrow::Cow;

use crate::graph::{Graph, NodeKind};
use crate::problem::{EdgeClass, NO_SYMBOL, NodeLabel, ProblemGraph};
use crate::symbol::Interner;

use super::{Sketch, SvgOptions, TooLargeToDraw, dot, svg};

/// A problem in the DOT language. Symbols are numbered if names are left out.
pub fn problem_dot(problem: &ProblemGraph, names: Option<&Interner>) -> String {
    let mut text = String::new();
    let parts = Parts::new(problem, names);
    dot::write_sketch(&mut text, &parts.sketch()).expect("a string takes everything");
    text
}

/// A layered drawing of a problem as an SVG file. Symbols are numbered if names are left out.
pub fn problem_svg(
    problem: &ProblemGraph,
    names: Option<&Interner>,
    options: &SvgOptions,
) -> Result<String, TooLargeToDraw> {
    let nodes = problem.node_count() + problem.symbol_count() + problem.statement_count();
    if nodes > options.max_nodes {
        return Err(TooLargeToDraw { what: "nodes", limit: options.max_nodes, found: nodes });
    }
    svg::draw(&Parts::new(problem, names).sketch(), options)
}

/// The data that a sketch of a problem borrows.
struct Parts {
    graph: Graph,
    labels: Interner,
    dashed: Vec<bool>,
    marks: Vec<&'static str>,
}

impl Parts {
    fn new(problem: &ProblemGraph, names: Option<&Interner>) -> Self {
        let mut parts =
            Parts { graph: Graph::new(), labels: Interner::new(), dashed: Vec::new(), marks: Vec::new() };
        let symbols = problem.node_count() as u32;
        let symbol_text = |symbol| problem.symbol_text(symbol, names);
        for node in 0..symbols {
            let edges = problem.edges(node).map(|(target, class, is_negated)| {
                (target, MARKS[usize::from(class.number(is_negated))], class == EdgeClass::Binds)
            });
            let symbol = problem.symbol_of()[node as usize];
            let to_symbol = (symbol != NO_SYMBOL).then(|| (symbols + symbol, "", true));
            let (kind, sign) = look(problem.label(node));
            let label = if symbol == NO_SYMBOL { sign.to_owned() } else { symbol_text(symbol) };
            parts.add(&label, kind, edges.chain(to_symbol));
        }
        for symbol in 0..problem.symbol_count() as u32 {
            parts.add(&symbol_text(symbol), NodeKind::Constant, []);
        }
        for (number, root) in problem.roots().enumerate() {
            let label = if number == 0 { "conjecture".to_owned() } else { format!("statement {number}") };
            parts.add(&label, NodeKind::Turnstile, [(root, "", false)]);
        }
        parts
    }

    fn add(
        &mut self,
        label: &str,
        kind: NodeKind,
        edges: impl IntoIterator<Item = (u32, &'static str, bool)>,
    ) {
        let label = self.labels.intern(label);
        let edges = edges.into_iter().map(|(target, mark, is_dashed)| {
            self.marks.push(mark);
            self.dashed.push(is_dashed);
            target
        });
        self.graph.push(label, kind, edges);
    }

    fn sketch(&self) -> Sketch<'_> {
        Sketch {
            graph: Cow::Borrowed(&self.graph),
            labels: self.graph.labels().iter().map(|&label| self.labels.name(label).into()).collect(),
            numbers: (0..self.graph.node_count() as u32).collect(),
            dashed: self.dashed.clone(),
            marks: Some(self.marks.clone()),
            kind_name: |kind| match kind {
                NodeKind::Turnstile => "statement",
                NodeKind::Binder => "rule or binder",
                NodeKind::Function => "occurrence or connective",
                NodeKind::Constant => "symbol",
                NodeKind::Variable => "variable",
                NodeKind::VariableFunction => "application",
            },
            dashed_name: "binds, or occurrence of",
        }
    }
}

/// By the number of an edge's class.
const MARKS: [&str; EdgeClass::COUNT] =
    ["", "1", "2", "3", "4+", "f", "v", "g", "b", "~", "~1", "~2", "~3", "~4+", "~f", "~v", "~g", "~b"];

/// Shape and text of a node.
fn look(label: NodeLabel) -> (NodeKind, &'static str) {
    use NodeLabel as Label;
    let kind = match label {
        Label::Rule | Label::Exists | Label::ExistsUnique | Label::Choice | Label::Lambda => NodeKind::Binder,
        Label::Universal | Label::Existential | Label::Abstracted => NodeKind::Variable,
        Label::Application => NodeKind::VariableFunction,
        _ => NodeKind::Function,
    };
    let text = match label {
        Label::Universal => "∀",
        Label::Existential => "∃",
        Label::Abstracted => "λ",
        Label::Equivalence => "<=>",
        Label::Equality => "=",
        label => label.name(),
    };
    (kind, text)
}
