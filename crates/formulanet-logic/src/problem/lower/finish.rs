//! Nodes whose edges are all there: where they are put, and what they are shared with.

use super::super::NO_SYMBOL;
use super::super::labels::{EdgeClass, NodeLabel};
use super::super::nodes::INSIDE;
use super::super::statement::StatementGraph;
use super::{NONE, Scope, StatementBuilder, VariableState};

impl StatementBuilder {
    /// Makes a node of the edges from `first` on, and an edge to it.
    pub(super) fn finish(
        &mut self,
        label: NodeLabel,
        symbol: u32,
        first: usize,
        edge: u8,
        scope: Option<Scope>,
        graph: &mut StatementGraph,
    ) {
        self.block.truncate(0);
        let mut binds = false;
        if let Some(scope) = scope {
            binds = self.bind(scope);
        }
        if label.is_set() {
            drop_repeats(&mut self.edges, first);
        }
        let depth = scope.map_or(NONE, |scope| scope.depth);
        let mut outermost = NONE;
        for &(target, class) in &self.edges[first..] {
            self.block.push_edge(target, class);
            if target & INSIDE != 0 {
                let below = self.outermost[(target ^ INSIDE) as usize];
                if below < depth {
                    outermost = outermost.min(below);
                }
            }
        }
        self.edges.truncate(first);
        let node = match (outermost, scope) {
            (NONE, Some(scope)) if self.waiting.len() > scope.waiting as usize => {
                self.settle(label, scope, graph)
            }
            (NONE, _) => {
                self.block.end_node(label as u8, symbol);
                let found = self.table.find_or_append(&mut graph.nodes, &self.block);
                mark_end(graph);
                found
            }
            _ => {
                self.block.end_node(label as u8, symbol);
                let found = if binds {
                    // Nothing else is about its variables.
                    let node = self.waiting.len() as u32;
                    for (target, class) in self.block.children(0) {
                        self.waiting.push_edge(target, class);
                    }
                    self.waiting.end_node(label as u8, symbol);
                    node
                } else {
                    self.waiting_table.find_or_append(&mut self.waiting, &self.block)
                };
                if self.outermost.len() < self.waiting.len() {
                    self.outermost.push(outermost);
                }
                INSIDE | found
            }
        };
        self.edges.push((node, edge));
    }

    /// Ends a scope: edges to the variables of it that occur, in the order of their occurrence.
    fn bind(&mut self, scope: Scope) -> bool {
        let bound = scope.bound as usize;
        if scope.depth == 0 {
            self.bound.append(&mut self.free);
        } else {
            self.depth -= 1;
        }
        let variables = &self.variables;
        self.bound[bound..].sort_unstable_by_key(|var| variables[var.index()].node);
        for var in self.bound.drain(bound..) {
            let state = &mut self.variables[var.index()];
            if state.node != NONE {
                self.block.push_edge(state.node, EdgeClass::Binds.number(false));
            }
            *state = VariableState { node: NONE, depth: 0 };
        }
        !self.block.targets.is_empty()
    }

    /// A binder that depends on nothing outside: all that waits for it becomes one block.
    fn settle(&mut self, label: NodeLabel, scope: Scope, graph: &mut StatementGraph) -> u32 {
        let start = scope.waiting;
        let inside = |target: u32| if target & INSIDE == 0 { target } else { target - start };
        let base = self.edges.len();
        self.edges.extend(self.block.targets.iter().copied().zip(self.block.classes.iter().copied()));
        self.block.truncate(0);
        for node in start as usize..self.waiting.len() {
            for (target, class) in self.waiting.children(node) {
                self.block.push_edge(inside(target), class);
            }
            self.block.end_node(self.waiting.labels[node], self.waiting.symbols[node]);
        }
        for (target, class) in self.edges.drain(base..) {
            self.block.push_edge(inside(target), class);
        }
        self.block.end_node(label as u8, NO_SYMBOL);
        self.waiting.truncate(start as usize);
        self.outermost.truncate(start as usize);
        let first = self.table.find_or_append(&mut graph.nodes, &self.block);
        mark_end(graph);
        first + self.block.len() as u32 - 1
    }

    /// Makes the root, if the last node is not one yet.
    pub(super) fn close(&mut self, graph: &mut StatementGraph) {
        let (root, edge) = self.edges[0];
        if root & INSIDE != 0 {
            // A variable outside of its binder, which no parser makes: it counts as free.
            let scope = Some(Scope { depth: 0, bound: self.bound.len() as u32, waiting: 0 });
            self.finish(NodeLabel::Rule, NO_SYMBOL, 0, EdgeClass::Body.number(false), scope, graph);
        } else if edge != EdgeClass::Body.number(false) {
            self.finish(NodeLabel::Not, NO_SYMBOL, 0, EdgeClass::Body.number(false), None, graph);
        }
    }
}

/// Remembers the end of a block, if there is a new one.
fn mark_end(graph: &mut StatementGraph) {
    let end = graph.nodes.len() as u32;
    if graph.blocks.last() != Some(&end) {
        graph.blocks.push(end);
    }
}

/// Drops edges that stand there twice, from a place on.
fn drop_repeats(edges: &mut Vec<(u32, u8)>, first: usize) {
    if edges.len() - first > 16 {
        let mut order: Vec<usize> = (first..edges.len()).collect();
        order.sort_by_key(|&i| edges[i]);
        let mut kept: Vec<usize> =
            order.chunk_by(|&a, &b| edges[a] == edges[b]).map(|same| same[0]).collect();
        kept.sort_unstable();
        for (to, from) in (first..).zip(&kept) {
            edges[to] = edges[*from];
        }
        edges.truncate(first + kept.len());
        return;
    }
    let mut end = first;
    for i in first..edges.len() {
        if !edges[first..end].contains(&edges[i]) {
            edges[end] = edges[i];
            end += 1;
        }
    }
    edges.truncate(end);
}
