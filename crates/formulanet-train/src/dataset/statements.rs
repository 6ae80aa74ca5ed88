//! Statements as parts of problem graphs: flat arrays, each distinct statement once, symbols numbered for all of them.

use std::collections::HashMap;

use formulanet::logic::problem::{StatementBuilder, StatementGraph, StatementView};
use formulanet::logic::{Formula, Interner, Limits, TooLarge};

const NONE: u32 = u32::MAX;

/// Many statements in few arrays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Statements {
    pub(super) node_offsets: Vec<u64>,
    pub(super) edge_offsets: Vec<u64>,
    pub(super) block_offsets: Vec<u64>,
    pub(super) symbol_offsets: Vec<u64>,
    pub(super) labels: Vec<u8>,
    pub(super) symbol_of: Vec<u32>,
    /// One more for each statement than it has nodes.
    pub(super) edge_starts: Vec<u32>,
    pub(super) edge_targets: Vec<u32>,
    pub(super) edge_classes: Vec<u8>,
    pub(super) blocks: Vec<u32>,
    pub(super) symbols: Vec<u32>,
}

impl Default for Statements {
    fn default() -> Self {
        Statements {
            node_offsets: vec![0],
            edge_offsets: vec![0],
            block_offsets: vec![0],
            symbol_offsets: vec![0],
            labels: Vec::new(),
            symbol_of: Vec::new(),
            edge_starts: Vec::new(),
            edge_targets: Vec::new(),
            edge_classes: Vec::new(),
            blocks: Vec::new(),
            symbols: Vec::new(),
        }
    }
}

impl Statements {
    pub(super) fn len(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// The number of a statement's nodes.
    pub(super) fn nodes(&self, number: usize) -> usize {
        (self.node_offsets[number + 1] - self.node_offsets[number]) as usize
    }

    /// The numbers of a statement's symbols.
    pub(super) fn symbols(&self, number: usize) -> &[u32] {
        &self.symbols[self.symbol_offsets[number] as usize..self.symbol_offsets[number + 1] as usize]
    }

    pub(super) fn push(&mut self, statement: StatementView<'_>, symbol: impl FnMut(u32) -> u32) {
        self.labels.extend_from_slice(statement.labels());
        self.symbol_of.extend_from_slice(statement.symbol_of());
        self.edge_starts.extend_from_slice(statement.edge_starts());
        self.edge_targets.extend_from_slice(statement.edge_targets());
        self.edge_classes.extend_from_slice(statement.edge_classes());
        self.blocks.extend_from_slice(statement.blocks());
        self.symbols.extend(statement.symbols().iter().copied().map(symbol));
        self.node_offsets.push(self.labels.len() as u64);
        self.edge_offsets.push(self.edge_targets.len() as u64);
        self.block_offsets.push(self.blocks.len() as u64);
        self.symbol_offsets.push(self.symbols.len() as u64);
    }

    /// A statement, or nothing if its arrays do not fit together.
    pub(super) fn view(&self, number: usize) -> Option<StatementView<'_>> {
        let range = |offsets: &[u64]| offsets[number] as usize..offsets[number + 1] as usize;
        let (nodes, edges) = (range(&self.node_offsets), range(&self.edge_offsets));
        StatementView::new(
            &self.labels[nodes.clone()],
            &self.symbol_of[nodes.clone()],
            &self.edge_starts[nodes.start + number..=nodes.end + number],
            &self.edge_targets[edges.clone()],
            &self.edge_classes[edges],
            &self.blocks[range(&self.block_offsets)],
            self.symbols(number),
        )
    }

    /// Whether arrays from elsewhere are statements over this many symbols.
    pub(super) fn are_whole(&self, symbols: usize) -> bool {
        let count = self.len();
        let fits = |offsets: &[u64], end: usize| {
            offsets.len() == count + 1
                && offsets[0] == 0
                && offsets[count] == end as u64
                && offsets.is_sorted()
        };
        let (nodes, edges) = (self.labels.len(), self.edge_targets.len());
        fits(&self.node_offsets, nodes)
            && fits(&self.edge_offsets, edges)
            && fits(&self.block_offsets, self.blocks.len())
            && fits(&self.symbol_offsets, self.symbols.len())
            && self.symbol_of.len() == nodes
            && self.edge_starts.len() == nodes + count
            && self.edge_classes.len() == edges
            && self.symbols.iter().all(|&symbol| (symbol as usize) < symbols)
            && (0..count).all(|number| self.view(number).is_some())
    }
}

/// The statements of one parsing thread: graphs whose symbols are numbered by its own interner.
pub(super) struct StatementMaker {
    builder: StatementBuilder,
    /// For each symbol, whether its text was passed on.
    is_known: Vec<bool>,
    /// Symbols that no statement had before: number and text.
    pub(super) new_symbols: Vec<(u32, String)>,
}

impl StatementMaker {
    pub(super) fn new(limits: Limits) -> Self {
        StatementMaker {
            builder: StatementBuilder::new(limits),
            is_known: Vec::new(),
            new_symbols: Vec::new(),
        }
    }

    pub(super) fn make(&mut self, formula: &Formula, names: &Interner) -> Result<StatementGraph, TooLarge> {
        let statement = self.builder.build(formula)?;
        self.is_known.resize(names.len(), false);
        for &number in statement.view().symbols() {
            if !std::mem::replace(&mut self.is_known[number as usize], true) {
                let symbol = names.symbol(number).expect("a symbol of the formula");
                self.new_symbols.push((number, names.name(symbol).to_owned()));
            }
        }
        Ok(statement)
    }
}

/// The distinct statements of all threads. Symbols get their numbers in the order in which kept statements first have them,
/// so that the number of threads does not matter.
#[derive(Default)]
pub(super) struct StatementCollection {
    /// The names of the symbols.
    pub(super) symbols: Vec<String>,
    pub(super) statements: Statements,
    numbers: HashMap<String, u32>,
    /// For each thread and each symbol of its interner: the symbol's number, once it has one, and its text until then.
    threads: Vec<Vec<(u32, String)>>,
}

impl StatementCollection {
    pub(super) fn new(threads: usize) -> Self {
        StatementCollection { threads: vec![Vec::new(); threads], ..StatementCollection::default() }
    }

    /// Hears of the symbols that a thread has met.
    pub(super) fn meet(&mut self, thread: usize, symbols: Vec<(u32, String)>) {
        let known = &mut self.threads[thread];
        for (number, text) in symbols {
            if known.len() <= number as usize {
                known.resize(number as usize + 1, (NONE, String::new()));
            }
            known[number as usize].1 = text;
        }
    }

    /// Keeps a statement of a thread.
    pub(super) fn keep(&mut self, thread: usize, statement: &StatementGraph) {
        let (symbols, numbers) = (&mut self.symbols, &mut self.numbers);
        let known = &mut self.threads[thread];
        self.statements.push(statement.view(), |symbol| {
            let (number, text) = &mut known[symbol as usize];
            if *number == NONE {
                let text = std::mem::take(text);
                *number = *numbers.entry(text).or_insert_with_key(|text| {
                    symbols.push(text.clone());
                    symbols.len() as u32 - 1
                });
            }
            *number
        });
    }
}
