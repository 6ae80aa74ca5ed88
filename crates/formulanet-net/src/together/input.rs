//! Problems as the network reads them: a conjecture and its candidates as one graph, in integers alone.

use crate::kernel::messages::{Edges, Groups};
use crate::together::config::TogetherConfig;

/// A conjecture and its candidates as one graph. Statements may share nodes; every symbol is one thing, however many
/// nodes of whatever statement it occurs at. `statement` 0 is the conjecture, the others are the candidates.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProblemInput {
    /// The label of every node, such as conjunction or variable.
    pub labels: Vec<u8>,
    /// The symbol of every node, by its number, or [`ProblemInput::NO_SYMBOL`].
    pub symbols: Vec<u32>,
    /// For every edge the upper node, which has the lower one as a part of it.
    pub parents: Vec<u32>,
    /// For every edge the lower node.
    pub children: Vec<u32>,
    /// For every edge its class, which says where the lower node stands in the upper one, and whether it is negated.
    pub edge_classes: Vec<u8>,
    /// The name of every symbol, by its number, or 0 if it is hidden or unknown.
    pub names: Vec<u32>,
    /// The root of every statement.
    pub roots: Vec<u32>,
    /// Where the nodes of every statement begin in `statement_nodes`, and the end.
    pub statement_starts: Vec<u32>,
    /// The nodes of every statement.
    pub statement_nodes: Vec<u32>,
    /// The features of all candidates in addition to their formulas, one candidate after the other.
    pub features: Vec<f32>,
}

impl ProblemInput {
    /// Stands for no symbol at nodes that have none.
    pub const NO_SYMBOL: u32 = u32::MAX;

    /// The number of candidates.
    pub fn candidates(&self) -> usize {
        self.roots.len().saturating_sub(1)
    }

    /// The number of nodes, a measure of the work.
    pub fn nodes(&self) -> usize {
        self.labels.len()
    }

    /// Returns an error message if it is invalid.
    fn fault(&self, config: &TogetherConfig) -> Option<&'static str> {
        let (nodes, statements) = (self.labels.len(), self.roots.len());
        let are_nodes = |numbers: &[u32]| numbers.iter().all(|&n| (n as usize) < nodes);
        let below = |classes: &[u8], count: usize| classes.iter().all(|&class| usize::from(class) < count);
        let starts = &self.statement_starts;
        let is_symbol = |&n: &u32| n == Self::NO_SYMBOL || (n as usize) < self.names.len();
        let checks = [
            (statements > 0, "there is no conjecture"),
            (self.symbols.len() == nodes, "not a symbol for each node"),
            (self.symbols.iter().all(is_symbol), "a symbol that is not there"),
            (below(&self.labels, config.labels), "a label that the network does not have"),
            (
                self.parents.len() == self.edge_classes.len()
                    && self.children.len() == self.edge_classes.len(),
                "not two nodes for each edge",
            ),
            (are_nodes(&self.parents) && are_nodes(&self.children), "an edge to no node"),
            (
                below(&self.edge_classes, config.edge_classes),
                "an edge of a class that the network does not have",
            ),
            (
                self.names.iter().all(|&name| config.names == 0 || (name as usize) < config.names),
                "a name that the network does not have",
            ),
            (
                are_nodes(&self.roots) && are_nodes(&self.statement_nodes),
                "a statement with no node of the graph",
            ),
            (
                starts.len() == statements + 1
                    && starts.first() == Some(&0)
                    && starts.last().is_some_and(|&end| end as usize == self.statement_nodes.len())
                    && starts.is_sorted(),
                "the statements' nodes are not contiguous",
            ),
            (self.features.len() == self.candidates() * config.features, "a wrong number of features"),
        ];
        checks.into_iter().find(|(is_right, _)| !is_right).map(|(_, fault)| fault)
    }
}

/// A few problems side by side, ready for the network.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Company {
    /// How every node begins: a row for each label, outside the conjecture and in it.
    pub(crate) beginnings: Vec<u32>,
    /// The parts of every node, and what it is a part of.
    pub(crate) children: Edges,
    pub(crate) parents: Edges,
    /// One over the root of how many of them there are.
    pub(crate) child_factors: Vec<f32>,
    pub(crate) parent_factors: Vec<f32>,
    /// The symbol of every node, or [`ProblemInput::NO_SYMBOL`].
    pub(crate) symbols: Vec<u32>,
    /// How every symbol begins: outside the conjecture or in it, and its name.
    pub(crate) symbol_beginnings: Vec<u32>,
    pub(crate) names: Vec<u32>,
    /// The nodes of every symbol.
    pub(crate) occurrences: Groups,
    /// Root and nodes of every statement.
    pub(crate) roots: Vec<u32>,
    pub(crate) statements: Groups,
    /// The conjecture of every problem, by its number among the statements.
    pub(crate) conjectures: Vec<u32>,
    /// For every candidate its number among the statements, and its problem.
    pub(crate) candidates: Vec<u32>,
    pub(crate) problems: Vec<u32>,
    pub(crate) features: Vec<f32>,
}

impl Company {
    /// Some problems, for a network.
    ///
    /// # Panics
    ///
    /// If a problem is not one, or has something that the network does not know.
    pub(crate) fn new<'a>(
        problems: impl IntoIterator<Item = &'a ProblemInput>,
        config: &TogetherConfig,
    ) -> Self {
        let mut all = ProblemInput { statement_starts: vec![0], ..ProblemInput::default() };
        let (mut beginnings, mut symbol_beginnings) = (Vec::new(), Vec::new());
        let (mut conjectures, mut candidates, mut problem_of) = (Vec::new(), Vec::new(), Vec::new());
        for problem in problems {
            if let Some(fault) = problem.fault(config) {
                panic!("{fault}");
            }
            let [node, symbol, statement, place] =
                [all.labels.len(), all.names.len(), all.roots.len(), all.statement_nodes.len()]
                    .map(|n| n as u32);
            let mut is_conjecture = vec![0; problem.labels.len()];
            for &n in &problem.statement_nodes[..problem.statement_starts[1] as usize] {
                is_conjecture[n as usize] = 1;
            }
            let mut in_conjecture = vec![0; problem.names.len()];
            for (&symbol, &is_conjecture) in problem.symbols.iter().zip(&is_conjecture) {
                if symbol != ProblemInput::NO_SYMBOL {
                    in_conjecture[symbol as usize] |= is_conjecture;
                }
            }
            let labels = problem.labels.iter().zip(&is_conjecture);
            beginnings.extend(labels.map(|(&label, is_conjecture)| 2 * u32::from(label) + is_conjecture));
            symbol_beginnings.extend(in_conjecture);
            all.labels.extend(&problem.labels);
            all.edge_classes.extend(&problem.edge_classes);
            all.names.extend(&problem.names);
            all.features.extend(&problem.features);
            let moved = |numbers: &[u32], by: u32| numbers.iter().map(|n| n + by).collect::<Vec<u32>>();
            all.parents.extend(moved(&problem.parents, node));
            all.children.extend(moved(&problem.children, node));
            all.roots.extend(moved(&problem.roots, node));
            all.statement_nodes.extend(moved(&problem.statement_nodes, node));
            all.statement_starts.extend(moved(&problem.statement_starts[1..], place));
            let of_node = |&n: &u32| if n == ProblemInput::NO_SYMBOL { n } else { n + symbol };
            all.symbols.extend(problem.symbols.iter().map(of_node));
            candidates.extend(statement + 1..all.roots.len() as u32);
            problem_of.resize(candidates.len(), conjectures.len() as u32);
            conjectures.push(statement);
        }
        let nodes = all.labels.len();
        let children = edges(&all.parents, &all.children, &all.edge_classes, nodes);
        let parents = edges(&all.children, &all.parents, &all.edge_classes, nodes);
        let all_nodes: Vec<u32> = (0..nodes as u32).collect();
        Company {
            beginnings,
            child_factors: factors(&children.ends),
            parent_factors: factors(&parents.ends),
            children,
            parents,
            occurrences: group(&all.symbols, &all_nodes, all.names.len()),
            symbols: all.symbols,
            symbol_beginnings,
            names: all.names,
            roots: all.roots,
            statements: Groups { starts: all.statement_starts, items: all.statement_nodes },
            conjectures,
            candidates,
            problems: problem_of,
            features: all.features,
        }
    }
}

/// Puts every item into the group of its key, in order; those whose key is no group are left out.
fn group(keys: &[u32], items: &[u32], count: usize) -> Groups {
    let (starts, order) = sort(keys, count);
    Groups { starts, items: order.into_iter().map(|i| items[i as usize]).collect() }
}

/// Where each group begins, and the end; and the numbers of the items, group by group.
fn sort(keys: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; count + 1];
    let is_group = |key: u32| (key as usize) < count;
    keys.iter().filter(|&&key| is_group(key)).for_each(|&key| starts[key as usize + 1] += 1);
    (0..count).for_each(|group| starts[group + 1] += starts[group]);
    let mut next = starts.clone();
    let mut order = vec![0; starts[count] as usize];
    for (item, &key) in keys.iter().enumerate().filter(|(_, key)| is_group(**key)) {
        order[next[key as usize] as usize] = item as u32;
        next[key as usize] += 1;
    }
    (starts, order)
}

fn edges(from: &[u32], to: &[u32], classes: &[u8], nodes: usize) -> Edges {
    let (starts, order) = sort(from, nodes);
    let items = order.iter().map(|&edge| to[edge as usize]).collect();
    Edges {
        ends: Groups { starts, items },
        classes: order.iter().map(|&edge| classes[edge as usize]).collect(),
    }
}

fn factors(ends: &Groups) -> Vec<f32> {
    ends.starts.windows(2).map(|pair| 1.0 / ((pair[1] - pair[0]).max(1) as f32).sqrt()).collect()
}
