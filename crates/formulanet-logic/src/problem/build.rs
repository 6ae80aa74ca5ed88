//! Statements to a problem.

use super::NO_SYMBOL;
use super::graph::ProblemGraph;
use super::nodes::{INSIDE, Nodes, Table};
use super::statement::StatementView;
use crate::limits::{Limit, TooLarge};

/// Bounds on one problem. Sizes are those of the statements as they are added, before anything is shared: that is what
/// time and memory depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProblemLimits {
    /// Statements, with the conjecture.
    pub statements: usize,
    /// Nodes of all statements.
    pub nodes: usize,
    /// Edges of all statements.
    pub edges: usize,
}

impl Default for ProblemLimits {
    fn default() -> Self {
        ProblemLimits { statements: 100_000, nodes: 2_000_000, edges: 8_000_000 }
    }
}

/// Puts statements together to problems, one problem after the other, and keeps its working memory between them.
///
/// The first statement is the conjecture. What is there keeps its numbers when a statement is added.
pub struct ProblemBuilder {
    limits: ProblemLimits,
    is_shared: bool,
    graph: ProblemGraph,
    table: Table,
    /// By the number of a name, the symbol's number in the problem with the given stamp.
    symbols: Vec<(u32, u32)>,
    stamp: u32,
    /// Edges of all statements before sharing.
    edges: usize,
    block: Nodes,
    local_symbols: Vec<u32>,
}

impl ProblemBuilder {
    /// A builder of problems within limits.
    pub fn new(limits: ProblemLimits) -> Self {
        ProblemBuilder {
            limits,
            is_shared: true,
            graph: ProblemGraph::default(),
            table: Table::default(),
            symbols: Vec::new(),
            stamp: 1,
            edges: 0,
            block: Nodes::default(),
            local_symbols: Vec::new(),
        }
    }

    /// Lets statements share their symbols alone: every statement has nodes of its own.
    pub fn without_shared_formulas(mut self) -> Self {
        self.is_shared = false;
        self
    }

    /// Begins another problem.
    pub fn clear(&mut self) {
        self.graph.clear();
        self.table.clear();
        self.edges = 0;
        if self.stamp == u32::MAX {
            self.symbols.fill((0, 0));
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// The problem so far.
    pub fn graph(&self) -> &ProblemGraph {
        &self.graph
    }

    /// The problem, after which the builder begins another.
    pub fn finish(&mut self) -> ProblemGraph {
        let graph = std::mem::take(&mut self.graph);
        self.clear();
        graph
    }

    /// Adds a statement and returns its number; the first one, with number 0, is the conjecture. All statements of a
    /// problem have to number names alike. A statement that is too much changes nothing.
    pub fn add(&mut self, statement: StatementView<'_>) -> Result<usize, TooLarge> {
        let graph = &self.graph;
        let nodes = graph.segments.len() + statement.labels.len();
        let edges = self.edges + statement.edge_targets.len();
        let check = |what, found: usize, limit: usize| TooLarge::check(what, found as u64, limit as u64);
        check(Limit::Statements, graph.statement_count() + 1, self.limits.statements)?;
        check(Limit::Nodes, nodes, self.limits.nodes.min(INSIDE as usize - 1))?;
        check(Limit::Edges, edges, self.limits.edges.min(u32::MAX as usize))?;
        self.edges = edges;
        self.add_symbols(statement);
        let number = self.graph.statement_count();
        let base = self.graph.segments.len();
        let mut first = 0;
        for &end in statement.blocks {
            self.add_block(statement, first, end as usize, base);
            first = end as usize;
        }
        self.graph.segment_starts.push(self.graph.segments.len() as u32);
        if number == 0 {
            self.graph.conjecture_symbols = self.graph.symbols.len();
        }
        Ok(number)
    }

    fn add_symbols(&mut self, statement: StatementView<'_>) {
        self.local_symbols.clear();
        for &name in statement.symbols {
            let index = name as usize;
            if self.symbols.len() <= index {
                self.symbols.resize(index + 1, (0, 0));
            }
            let known = &mut self.symbols[index];
            if known.0 != self.stamp {
                *known = (self.stamp, self.graph.symbols.len() as u32);
                self.graph.symbols.push(name);
            }
            self.local_symbols.push(known.1);
        }
    }

    /// Adds the nodes of a block, or finds them. `base` is where the statement's segment begins.
    fn add_block(&mut self, statement: StatementView<'_>, first: usize, end: usize, base: usize) {
        self.block.truncate(0);
        for node in first..end {
            let edges = statement.edge_starts[node] as usize..statement.edge_starts[node + 1] as usize;
            for edge in edges {
                let target = statement.edge_targets[edge] as usize;
                let place = match target.checked_sub(first) {
                    Some(inside) => INSIDE | inside as u32,
                    None => self.graph.segments[base + target],
                };
                self.block.push_edge(place, statement.edge_classes[edge]);
            }
            let symbol = match statement.symbol_of[node] {
                NO_SYMBOL => NO_SYMBOL,
                local => self.local_symbols[local as usize],
            };
            self.block.end_node(statement.labels[node], symbol);
        }
        let nodes = &mut self.graph.nodes;
        let place = match self.is_shared {
            true => self.table.find_or_append(nodes, &self.block),
            false => nodes.append(&self.block),
        };
        self.graph.segments.extend(place..place + (end - first) as u32);
    }
}
