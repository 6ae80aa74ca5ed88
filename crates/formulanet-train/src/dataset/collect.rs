//! All files of a data set put together: every distinct graph once, and what points to it.
//!
//! Files arrive in the order of the data set whatever thread parsed them, and labels get their numbers in the order
//! in which stored graphs first use them. So the result does not depend on the number of threads.

use std::collections::HashMap;

use formulanet::logic::problem::StatementGraph;

use super::parse::{Entry, Graphs, Parsed};
use super::split::Split;
use super::statements::StatementCollection;
use formulanet::read::SkippedStatements;

const NONE: u32 = u32::MAX;

/// A conjecture and what it was used with.
pub(super) struct Conjecture {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) graph: u32,
    pub(super) split: Split,
    pub(super) dependencies: Vec<u32>,
}

/// A labelled statement of a conjecture.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) conjecture: u32,
    pub(super) graph: u32,
    pub(super) useful: bool,
}

/// A named statement.
pub(super) struct Premise {
    pub(super) name: String,
    pub(super) graph: u32,
}

/// Everything that was read so far.
#[derive(Default)]
pub(super) struct Collection {
    /// Texts of the labels that graphs use.
    pub(super) labels: Vec<String>,
    pub(super) tokens: Vec<u32>,
    pub(super) degrees: Vec<u16>,
    pub(super) targets: Vec<u16>,
    pub(super) node_offsets: Vec<u64>,
    pub(super) edge_offsets: Vec<u64>,
    pub(super) conjectures: Vec<Conjecture>,
    pub(super) pairs: Vec<Pair>,
    pub(super) premises: Vec<Premise>,
    /// Names that stood for more than one graph; the first one counts.
    pub(super) ambiguous_premises: usize,
    pub(super) skipped: SkippedStatements,
    /// For each graph, the statement as a part of problems, if requested.
    pub(super) statements: StatementCollection,
    label_numbers: HashMap<String, u32>,
    premise_numbers: HashMap<String, u32>,
    conjecture_keys: HashMap<String, u32>,
    /// For each worker, what is known of its symbols.
    workers: Vec<WorkerLabels>,
    table: Table,
}

#[derive(Default)]
struct WorkerLabels {
    /// For each symbol, the label's number, or `NONE` while no stored graph is known to use it.
    numbers: Vec<u32>,
    /// Texts of the symbols without a number.
    texts: HashMap<u32, String>,
}

impl Collection {
    pub(super) fn new(workers: usize) -> Self {
        Collection {
            node_offsets: vec![0],
            edge_offsets: vec![0],
            workers: std::iter::repeat_with(WorkerLabels::default).take(workers).collect(),
            statements: StatementCollection::new(workers),
            ..Collection::default()
        }
    }

    pub(super) fn graph_count(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Adds the next file.
    pub(super) fn add(&mut self, parsed: Parsed) {
        let labels = &mut self.workers[parsed.worker];
        for (symbol, text) in parsed.new_labels {
            if labels.numbers.len() <= symbol as usize {
                labels.numbers.resize(symbol as usize + 1, NONE);
            }
            labels.texts.insert(symbol, text);
        }
        self.skipped.add(parsed.skipped);
        self.statements.meet(parsed.worker, parsed.new_symbols);
        let numbers = self.add_graphs(&parsed.graphs, &parsed.statements, parsed.worker);
        let mut current = None;
        for entry in parsed.entries {
            match entry {
                Entry::Conjecture { name, graph, key } => {
                    let conjecture = Conjecture {
                        name,
                        file: parsed.file.clone(),
                        graph: numbers[graph as usize],
                        split: parsed.split,
                        dependencies: Vec::new(),
                    };
                    current = Some(self.conjecture(conjecture, key));
                }
                Entry::Named { name, graph, is_dependency } => {
                    let premise = self.premise(name, numbers[graph as usize]);
                    if is_dependency && let Some(conjecture) = current {
                        self.conjectures[conjecture as usize].dependencies.push(premise);
                    }
                }
                Entry::Pair { name, graph, useful } => {
                    let graph = numbers[graph as usize];
                    let Some(conjecture) = current else { continue };
                    self.pairs.push(Pair { conjecture, graph, useful });
                    if let Some(name) = name {
                        let premise = self.premise(name, graph);
                        if useful {
                            self.conjectures[conjecture as usize].dependencies.push(premise);
                        }
                    }
                }
            }
        }
    }

    fn conjecture(&mut self, conjecture: Conjecture, key: Option<String>) -> u32 {
        let number = self.conjectures.len() as u32;
        if let Some(key) = key {
            let known = *self.conjecture_keys.entry(key).or_insert(number);
            if known != number {
                return known;
            }
        }
        self.conjectures.push(conjecture);
        number
    }

    fn premise(&mut self, name: String, graph: u32) -> u32 {
        if let Some(&known) = self.premise_numbers.get(&name) {
            self.ambiguous_premises += usize::from(self.premises[known as usize].graph != graph);
            return known;
        }
        let number = self.premises.len() as u32;
        self.premise_numbers.insert(name.clone(), number);
        self.premises.push(Premise { name, graph });
        number
    }

    /// The number of every graph of a file.
    fn add_graphs(&mut self, graphs: &Graphs, statements: &[StatementGraph], worker: usize) -> Vec<u32> {
        let (mut node, mut edge) = (0, 0);
        let mut numbers = Vec::with_capacity(graphs.ends.len());
        let mut tokens = Vec::new();
        for (place, &(node_end, edge_end, hash)) in graphs.ends.iter().enumerate() {
            let labels = &graphs.labels[node..node_end as usize];
            let degrees = &graphs.degrees[node..node_end as usize];
            let targets = &graphs.targets[edge..edge_end as usize];
            (node, edge) = (node_end as usize, edge_end as usize);
            self.tokens_of(labels, worker, &mut tokens);
            let number = match self.find(hash, &tokens, degrees, targets) {
                Some(number) => number,
                None => {
                    self.number_labels(labels, worker, &mut tokens);
                    self.tokens.extend_from_slice(&tokens);
                    self.degrees.extend_from_slice(degrees);
                    self.targets.extend_from_slice(targets);
                    self.node_offsets.push(self.tokens.len() as u64);
                    self.edge_offsets.push(self.targets.len() as u64);
                    let number = self.graph_count() as u32 - 1;
                    self.table.insert(hash, number);
                    if let Some(statement) = statements.get(place) {
                        self.statements.keep(worker, statement);
                    }
                    number
                }
            };
            numbers.push(number);
        }
        numbers
    }

    fn find(&self, hash: u64, tokens: &[u32], degrees: &[u16], targets: &[u16]) -> Option<u32> {
        self.table.candidates(hash).find(|&graph| {
            let graph = graph as usize;
            let nodes = self.node_offsets[graph] as usize..self.node_offsets[graph + 1] as usize;
            let edges = self.edge_offsets[graph] as usize..self.edge_offsets[graph + 1] as usize;
            self.tokens[nodes.clone()] == *tokens
                && self.degrees[nodes] == *degrees
                && self.targets[edges] == *targets
        })
    }

    /// The numbers of a graph's labels, `NONE` for those that no stored graph uses.
    fn tokens_of(&mut self, labels: &[u32], worker: usize, tokens: &mut Vec<u32>) {
        let WorkerLabels { numbers, texts } = &mut self.workers[worker];
        tokens.clear();
        for &label in labels {
            let number = &mut numbers[label as usize];
            if *number == NONE {
                // Another worker may have met the label in the meantime.
                if let Some(&known) = self.label_numbers.get(&texts[&label]) {
                    *number = known;
                    texts.remove(&label);
                }
            }
            tokens.push(*number);
        }
    }

    /// Gives numbers to the labels of a graph that have none.
    fn number_labels(&mut self, labels: &[u32], worker: usize, tokens: &mut [u32]) {
        let WorkerLabels { numbers, texts } = &mut self.workers[worker];
        for (&label, token) in labels.iter().zip(tokens).filter(|(_, token)| **token == NONE) {
            if let Some(text) = texts.remove(&label) {
                numbers[label as usize] = self.labels.len() as u32;
                self.label_numbers.insert(text.clone(), self.labels.len() as u32);
                self.labels.push(text);
            }
            *token = numbers[label as usize];
        }
    }
}

/// Graphs by hash: open addressing over numbers, because a general map takes several times the memory.
#[derive(Default)]
struct Table {
    slots: Vec<(u64, u32)>,
    count: usize,
}

impl Table {
    fn candidates(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = hash as usize & mask;
        std::iter::from_fn(move || {
            while !self.slots.is_empty() {
                let (found, number) = self.slots[place];
                place = (place + 1) & mask;
                if number == NONE {
                    return None;
                }
                if found == hash {
                    return Some(number);
                }
            }
            None
        })
    }

    fn insert(&mut self, hash: u64, number: u32) {
        if (self.count + 1) * 2 > self.slots.len() {
            let size = (self.slots.len() * 2).max(1024);
            let old = std::mem::replace(&mut self.slots, vec![(0, NONE); size]);
            for (hash, number) in old.into_iter().filter(|&(_, number)| number != NONE) {
                self.put(hash, number);
            }
        }
        self.put(hash, number);
        self.count += 1;
    }

    fn put(&mut self, hash: u64, number: u32) {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place].1 != NONE {
            place = (place + 1) & mask;
        }
        self.slots[place] = (hash, number);
    }
}
