//! The finished graph of a problem.

use std::fmt::{self, Write};

use super::NO_SYMBOL;
use super::labels::{EdgeClass, NodeLabel};
use super::nodes::Nodes;
use crate::symbol::Interner;

/// A conjecture and statements as one graph, in flat arrays; see the [module](super).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProblemGraph {
    pub(super) nodes: Nodes,
    /// The name of each symbol.
    pub(super) symbols: Vec<u32>,
    /// The number of the conjecture's symbols.
    pub(super) conjecture_symbols: usize,
    pub(super) segment_starts: Vec<u32>,
    pub(super) segments: Vec<u32>,
}

impl Default for ProblemGraph {
    fn default() -> Self {
        ProblemGraph {
            nodes: Nodes::default(),
            symbols: Vec::new(),
            conjecture_symbols: 0,
            segment_starts: vec![0],
            segments: Vec::new(),
        }
    }
}

impl ProblemGraph {
    pub(super) fn clear(&mut self) {
        self.nodes.truncate(0);
        self.symbols.clear();
        self.conjecture_symbols = 0;
        self.segment_starts.truncate(1);
        self.segments.clear();
    }

    /// The number of nodes, without those of symbols.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of edges, without those from occurrences to their symbols.
    pub fn edge_count(&self) -> usize {
        self.nodes.targets.len()
    }

    /// The number of symbols.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// The number of statements, with the conjecture.
    pub fn statement_count(&self) -> usize {
        self.segment_starts.len() - 1
    }

    /// The number of each node's [`NodeLabel`].
    pub fn labels(&self) -> &[u8] {
        &self.nodes.labels
    }

    /// For each node, the symbol that it is an occurrence of, or [`NO_SYMBOL`].
    pub fn symbol_of(&self) -> &[u32] {
        &self.nodes.symbols
    }

    /// Where each node's edges begin, and the end of the last.
    pub fn edge_starts(&self) -> &[u32] {
        &self.nodes.starts
    }

    /// The targets of all edges, ordered by source.
    pub fn edge_targets(&self) -> &[u32] {
        &self.nodes.targets
    }

    /// The [number](EdgeClass::number) of the class of each edge.
    pub fn edge_classes(&self) -> &[u8] {
        &self.nodes.classes
    }

    /// The sources of all edges.
    pub fn edge_sources(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.node_count()).flat_map(|node| self.nodes.edges(node).map(move |_| node as u32))
    }

    /// The edges of a node: targets, classes, and whether the target is negated.
    pub fn edges(&self, node: u32) -> impl Iterator<Item = (u32, EdgeClass, bool)> + '_ {
        self.nodes.children(node as usize).map(|(target, number)| {
            let (class, is_negated) = EdgeClass::of(number).expect("edges have numbers of classes");
            (target, class, is_negated)
        })
    }

    /// The label of a node.
    pub fn label(&self, node: u32) -> NodeLabel {
        NodeLabel::of(self.nodes.labels[node as usize]).expect("nodes have numbers of labels")
    }

    /// The name of each symbol, as its number in the interner. This alone changes if symbols are renamed.
    pub fn symbol_names(&self) -> &[u32] {
        &self.symbols
    }

    /// The number of the conjecture's symbols, which come first.
    pub fn conjecture_symbol_count(&self) -> usize {
        self.conjecture_symbols
    }

    /// Where each statement's nodes begin in [`ProblemGraph::segments`], and the end of the last.
    pub fn segment_starts(&self) -> &[u32] {
        &self.segment_starts
    }

    /// The nodes of all statements, each statement's in its own order. A shared node stands in several.
    pub fn segments(&self) -> &[u32] {
        &self.segments
    }

    /// The nodes of a statement; those of the conjecture, statement 0, are the first of all.
    pub fn statement(&self, number: usize) -> &[u32] {
        &self.segments[self.segment_starts[number] as usize..self.segment_starts[number + 1] as usize]
    }

    /// The root of a statement: its last node.
    pub fn root(&self, number: usize) -> u32 {
        *self.statement(number).last().expect("a statement has a node")
    }

    /// The roots of all statements.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.statement_count()).map(|number| self.root(number))
    }

    /// The text of a symbol: its name, or its number in the problem if names are left out.
    pub fn symbol_text(&self, symbol: u32, names: Option<&Interner>) -> String {
        let known = names.and_then(|names| Some(names.name(names.symbol(self.symbols[symbol as usize])?)));
        known.map_or_else(|| format!("s{symbol}"), str::to_owned)
    }

    /// The graph as text, a node a line: number, label, symbol, and edges, with `~` before what is negated. Then the
    /// statements, each with its root and its nodes.
    pub fn text(&self, names: Option<&Interner>) -> String {
        let mut text = String::new();
        self.write_text(&mut text, names).expect("a string takes everything");
        text
    }

    fn write_text(&self, out: &mut String, names: Option<&Interner>) -> fmt::Result {
        for node in 0..self.node_count() as u32 {
            write!(out, "{node} {}", self.label(node).name())?;
            let symbol = self.nodes.symbols[node as usize];
            if symbol != NO_SYMBOL {
                write!(out, " {}", self.symbol_text(symbol, names))?;
            }
            for (target, class, is_negated) in self.edges(node) {
                write!(out, " {} {}{target}", class.name(), if is_negated { "~" } else { "" })?;
            }
            out.push('\n');
        }
        for number in 0..self.statement_count() {
            write!(out, "statement {number} root {} nodes", self.root(number))?;
            self.statement(number).iter().try_for_each(|node| write!(out, " {node}"))?;
            out.push('\n');
        }
        Ok(())
    }
}
