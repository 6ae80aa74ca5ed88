//! The graph of one statement, to be kept and put into problems.

use super::NO_SYMBOL;
use super::labels::{EdgeClass, NodeLabel};
use super::nodes::Nodes;

/// The graph of one statement: what a problem takes over when the statement is added. Its last node is its root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatementGraph {
    pub(super) nodes: Nodes,
    /// The end of each block; see `nodes.rs`.
    pub(super) blocks: Vec<u32>,
    /// The names of the symbols by the order of their first occurrence.
    pub(super) symbols: Vec<u32>,
}

impl StatementGraph {
    /// The arrays.
    pub fn view(&self) -> StatementView<'_> {
        StatementView {
            labels: &self.nodes.labels,
            symbol_of: &self.nodes.symbols,
            edge_starts: &self.nodes.starts,
            edge_targets: &self.nodes.targets,
            edge_classes: &self.nodes.classes,
            blocks: &self.blocks,
            symbols: &self.symbols,
        }
    }

    /// Gives the symbols other names, by number. Different names have to stay different.
    pub fn rename_symbols(&mut self, mut name: impl FnMut(u32) -> u32) {
        self.symbols.iter_mut().for_each(|symbol| *symbol = name(*symbol));
    }
}

/// A [`StatementGraph`] that lies elsewhere, for instance in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatementView<'a> {
    pub(super) labels: &'a [u8],
    pub(super) symbol_of: &'a [u32],
    pub(super) edge_starts: &'a [u32],
    pub(super) edge_targets: &'a [u32],
    pub(super) edge_classes: &'a [u8],
    pub(super) blocks: &'a [u32],
    pub(super) symbols: &'a [u32],
}

impl<'a> StatementView<'a> {
    /// The view of arrays that were [taken](StatementView::labels) from a view before; `None` if they do not fit together.
    pub fn new(
        labels: &'a [u8],
        symbol_of: &'a [u32],
        edge_starts: &'a [u32],
        edge_targets: &'a [u32],
        edge_classes: &'a [u8],
        blocks: &'a [u32],
        symbols: &'a [u32],
    ) -> Option<Self> {
        let view =
            StatementView { labels, symbol_of, edge_starts, edge_targets, edge_classes, blocks, symbols };
        view.is_whole().then_some(view)
    }

    fn is_whole(&self) -> bool {
        let (nodes, edges) = (self.labels.len(), self.edge_targets.len());
        let lengths = nodes > 0
            && nodes < super::nodes::INSIDE as usize
            && self.symbol_of.len() == nodes
            && self.edge_starts.len() == nodes + 1
            && self.edge_classes.len() == edges
            && self.edge_starts[0] == 0
            && self.edge_starts[nodes] as usize == edges
            && self.edge_starts.is_sorted();
        let numbers = self.labels.iter().all(|&label| NodeLabel::of(label).is_some())
            && self.edge_classes.iter().all(|&class| usize::from(class) < EdgeClass::COUNT)
            && self.symbol_of.iter().all(|&s| s == NO_SYMBOL || (s as usize) < self.symbols.len());
        let rise = self.blocks.is_sorted_by(|a, b| a < b) && self.blocks.first().is_some_and(|&end| end > 0);
        let mut start = 0;
        lengths
            && numbers
            && rise
            && self.blocks.last() == Some(&(nodes as u32))
            && self.blocks.iter().all(|&end| {
                let edges = self.edge_starts[start] as usize..self.edge_starts[end as usize] as usize;
                // Only a block of several nodes leads to itself.
                let limit = if end as usize == start + 1 { start as u32 } else { end };
                start = end as usize;
                self.edge_targets[edges].iter().all(|&target| target < limit)
            })
    }

    /// The number of each node's [`NodeLabel`].
    pub fn labels(&self) -> &'a [u8] {
        self.labels
    }

    /// For each node, the place of its symbol in [`StatementView::symbols`], or [`NO_SYMBOL`].
    pub fn symbol_of(&self) -> &'a [u32] {
        self.symbol_of
    }

    /// Where each node's edges begin, and the end of the last.
    pub fn edge_starts(&self) -> &'a [u32] {
        self.edge_starts
    }

    /// The targets of all edges, ordered by source.
    pub fn edge_targets(&self) -> &'a [u32] {
        self.edge_targets
    }

    /// The [number](EdgeClass::number) of the class of each edge.
    pub fn edge_classes(&self) -> &'a [u8] {
        self.edge_classes
    }

    /// The ends of the parts that a problem shares as a whole.
    pub fn blocks(&self) -> &'a [u32] {
        self.blocks
    }

    /// The names of the symbols, as the numbers that they have in the interner, in the order of first occurrence.
    pub fn symbols(&self) -> &'a [u32] {
        self.symbols
    }
}
