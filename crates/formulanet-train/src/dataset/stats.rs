//! Statistics of a prepared directory.

use serde::Serialize;

use super::split::Split;
use super::store::{Counts, Prepared};
use formulanet::model::vocabulary::Vocabulary;
use formulanet::util::vector::share;

/// Numbers about a prepared folder.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Stats {
    /// How much there is.
    pub counts: Counts,
    /// Conjectures of the training, validation and test split.
    pub conjectures: [usize; 3],
    /// Pairs of the training, validation and test split.
    pub pairs: [usize; 3],
    /// Useful statements of the training, validation and test split.
    pub positives: [usize; 3],
    /// Tokens of all labelled statements, repeats included.
    pub tokens: u64,
    /// Share of distinct statements that are useful for one conjecture and useless for another.
    pub both_labels: f64,
    /// Share of validation statements that also stand in training.
    pub validation_seen: f64,
    /// Share of nodes outside the vocabulary, in validation and test statements.
    pub unknown: f64,
    /// Sizes of labelled statements, repeats included.
    pub statements: Sizes,
    /// Sizes of conjectures.
    pub conjecture_sizes: Sizes,
}

/// Sizes of graphs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Sizes {
    /// Nodes of a graph.
    pub nodes: Distribution,
    /// Edges of a graph.
    pub edges: Distribution,
    /// Treelets of a graph.
    pub treelets: Distribution,
}

/// A number that varies.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Distribution {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half of them are at most this.
    pub median: u64,
    /// 99 % of them are at most this.
    pub percentile_99: u64,
    /// The largest.
    pub max: u64,
    /// The number in each class: 0, 1, 2 to 3, 4 to 7, and so on, doubling.
    pub histogram: Vec<u64>,
}

impl Distribution {
    fn of(mut values: Vec<u64>) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        values.sort_unstable();
        let at =
            |share: f64| values[((values.len() as f64 * share).ceil() as usize).clamp(1, values.len()) - 1];
        let mut histogram = Vec::new();
        for &value in &values {
            let class = (u64::BITS - value.leading_zeros()) as usize;
            if histogram.len() <= class {
                histogram.resize(class + 1, 0);
            }
            histogram[class] += 1;
        }
        Distribution {
            mean: values.iter().sum::<u64>() as f64 / values.len() as f64,
            median: at(0.5),
            percentile_99: at(0.99),
            max: values[values.len() - 1],
            histogram,
        }
    }
}

impl Stats {
    /// Looks at everything once.
    pub fn of(prepared: &Prepared) -> Self {
        let counts = prepared.meta().counts;
        let vocabulary = Vocabulary::new(prepared.vocabulary());
        let mut stats = Stats {
            counts,
            statements: sizes(prepared, (0..counts.pairs).map(|i| prepared.pair(i).statement)),
            conjecture_sizes: sizes(prepared, prepared.conjectures().map(|c| c.graph)),
            ..Stats::default()
        };
        // Bit 0: useless somewhere; bit 1: useful somewhere; bit 2: in training.
        let mut seen = vec![0u8; counts.graphs];
        let (mut held_out_nodes, mut unknown_nodes) = (0u64, 0u64);
        for conjecture in prepared.conjectures() {
            let split = usize::from(conjecture.split.number());
            stats.conjectures[split] += 1;
            for pair in conjecture.pairs.map(|number| prepared.pair(number)) {
                stats.pairs[split] += 1;
                stats.positives[split] += usize::from(pair.useful);
                seen[pair.statement as usize] |= if pair.useful { 2 } else { 1 };
                let tokens = prepared.graph(pair.statement).tokens;
                stats.tokens += tokens.len() as u64;
                if conjecture.split == Split::Train {
                    seen[pair.statement as usize] |= 4;
                } else {
                    held_out_nodes += tokens.len() as u64;
                    let is_unknown =
                        |token: &&u16| vocabulary.as_ref().is_some_and(|v| v.is_unknown(**token));
                    unknown_nodes += tokens.iter().filter(is_unknown).count() as u64;
                }
            }
        }
        let labelled = seen.iter().filter(|&&s| s & 3 != 0);
        stats.both_labels = share(labelled.clone().filter(|&&s| s & 3 == 3).count(), labelled.count());
        let validation = prepared.of_split(Split::Validation).flat_map(|c| c.pairs);
        let statements: Vec<u32> = validation.map(|n| prepared.pair(n).statement).collect();
        let known = statements.iter().filter(|&&graph| seen[graph as usize] & 4 != 0).count();
        stats.validation_seen = share(known, statements.len());
        stats.unknown = share(unknown_nodes as usize, held_out_nodes as usize);
        stats
    }

    /// The histograms with the names of their charts.
    pub fn distributions(&self) -> [(&'static str, &Distribution); 6] {
        let (s, c) = (&self.statements, &self.conjecture_sizes);
        [
            ("nodes of a statement", &s.nodes),
            ("edges of a statement", &s.edges),
            ("treelets of a statement", &s.treelets),
            ("nodes of a conjecture", &c.nodes),
            ("edges of a conjecture", &c.edges),
            ("treelets of a conjecture", &c.treelets),
        ]
    }
}

fn sizes(prepared: &Prepared, graphs: impl Iterator<Item = u32>) -> Sizes {
    let (mut nodes, mut edges, mut treelets) = (Vec::new(), Vec::new(), Vec::new());
    for graph in graphs.map(|number| prepared.graph(number)) {
        nodes.push(graph.tokens.len() as u64);
        edges.push(graph.targets.len() as u64);
        treelets.push(graph.treelets() as u64);
    }
    Sizes {
        nodes: Distribution::of(nodes),
        edges: Distribution::of(edges),
        treelets: Distribution::of(treelets),
    }
}
