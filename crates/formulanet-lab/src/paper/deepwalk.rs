//! DeepWalk, the paper's unsupervised comparison: vectors of nodes from random walks, by the shape of a graph alone.
//!
//! Every graph is learned by itself: walks over its undirected edges are sentences, and skip-gram with negative
//! sampling gives nodes that meet on walks similar vectors. The largest of every number over all nodes is the graph's
//! vector, and a small classifier, trained with labels, reads those.

use formulanet::net::{Compute, GraphInput, Precision};
use serde::{Deserialize, Serialize};

use formulanet::util::random::{Random, scramble};
use formulanet::util::vector::dot_in;
use formulanet_train::dataset::Prepared;
use formulanet_train::{Error, Progress};

/// How vectors are learned.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Options {
    /// Length of a vector.
    pub dimension: usize,
    /// Walks from every node.
    pub walks: usize,
    /// Nodes of a walk.
    pub length: usize,
    /// How far apart on a walk nodes still belong together.
    pub window: usize,
    /// Nodes drawn at random for every two that belong together.
    pub negatives: usize,
    /// Learning rate of the first walks; it falls in a line.
    pub rate: f32,
    /// Decides first vectors and walks.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { dimension: 64, walks: 8, length: 8, window: 2, negatives: 4, rate: 0.05, seed: 0 }
    }
}

/// Both ends of every edge, by node.
struct Neighbours {
    starts: Vec<usize>,
    nodes: Vec<u16>,
}

impl Neighbours {
    fn of(graph: GraphInput<'_>) -> Self {
        let edges = || {
            let sources = (0u16..).zip(graph.degrees).flat_map(|(node, &n)| (0..n).map(move |_| node));
            sources.zip(graph.targets.iter().copied())
        };
        let mut starts = vec![0; graph.degrees.len() + 1];
        for (source, target) in edges() {
            starts[usize::from(source) + 1] += 1;
            starts[usize::from(target) + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let (mut free, mut nodes) = (starts.clone(), vec![0; starts[starts.len() - 1]]);
        for (source, target) in edges() {
            for (from, to) in [(source, target), (target, source)] {
                nodes[free[usize::from(from)]] = to;
                free[usize::from(from)] += 1;
            }
        }
        Neighbours { starts, nodes }
    }

    fn walk(&self, start: usize, length: usize, random: &mut Random, walk: &mut Vec<usize>) {
        walk.clear();
        walk.push(start);
        let mut node = start;
        while walk.len() < length {
            let near = &self.nodes[self.starts[node]..self.starts[node + 1]];
            if near.is_empty() {
                return;
            }
            node = usize::from(near[random.below(near.len())]);
            walk.push(node);
        }
    }
}

/// A vector for every node, one after the other. They depend on the edges, the order of nodes and the options, never
/// on tokens.
pub(super) fn node_vectors(graph: GraphInput<'_>, options: &Options) -> Vec<f32> {
    let (nodes, dimension) = (graph.degrees.len(), options.dimension);
    let neighbours = Neighbours::of(graph);
    let mut random = Random(scramble(options.seed ^ 0x7761_6c6b));
    let mut first = || (random.unit() - 0.5) / dimension as f32;
    let mut vectors: Vec<f32> = (0..nodes * dimension).map(|_| first()).collect();
    if neighbours.nodes.is_empty() {
        return vectors;
    }
    let mut contexts = vec![0.0f32; nodes * dimension];
    let (mut walk, mut change) = (Vec::new(), vec![0.0f32; dimension]);
    for round in 0..options.walks {
        let rate = options.rate * (1.0 - round as f32 / options.walks as f32);
        for start in 0..nodes {
            neighbours.walk(start, options.length, &mut random, &mut walk);
            for (place, &centre) in walk.iter().enumerate() {
                let window =
                    place.saturating_sub(options.window)..(place + options.window + 1).min(walk.len());
                for near in window.filter(|&near| near != place) {
                    let centre = &mut vectors[centre * dimension..][..dimension];
                    change.fill(0.0);
                    for draw in 0..=options.negatives {
                        // Nodes with many edges are met more often, so they are drawn more often.
                        let other = match draw {
                            0 => walk[near],
                            _ => usize::from(neighbours.nodes[random.below(neighbours.nodes.len())]),
                        };
                        if draw > 0 && other == walk[near] {
                            continue;
                        }
                        let context = &mut contexts[other * dimension..][..dimension];
                        let truth = if draw == 0 { 1.0 } else { 0.0 };
                        let step = rate * (truth - sigmoid(dot(centre, context)));
                        add_scaled(&mut change, context, step);
                        add_scaled(context, centre, step);
                    }
                    add_scaled(centre, &change, 1.0);
                }
            }
        }
    }
    vectors
}

/// The largest of every number over all nodes; zeros for a graph without nodes.
pub(super) fn graph_vector(graph: GraphInput<'_>, options: &Options) -> Vec<f32> {
    let vectors = node_vectors(graph, options);
    let mut rows = vectors.chunks_exact(options.dimension.max(1));
    let mut pooled = rows.next().map_or_else(|| vec![0.0; options.dimension], <[f32]>::to_vec);
    for row in rows {
        pooled.iter_mut().zip(row).for_each(|(most, &value)| *most = most.max(value));
    }
    pooled
}

/// The vectors of some graphs, one after the other; any number of threads gives the same.
pub(super) fn graph_vectors(
    prepared: &Prepared,
    graphs: &[u32],
    options: &Options,
    threads: usize,
) -> Vec<f32> {
    let compute = Compute::new(Precision::F32, threads);
    compute.map(graphs.len(), |i| graph_vector(prepared.graph(graphs[i]), options)).concat()
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Eight sums side by side: what vectors were always learned with.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    dot_in::<8>(a, b)
}

fn add_scaled(to: &mut [f32], from: &[f32], by: f32) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += by * from);
}

/// A labelled statement, by where the vectors of its graphs are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Example {
    /// Number of the statement's vector.
    pub statement: usize,
    /// Number of the conjecture's vector.
    pub conjecture: usize,
    /// Whether the statement is useful.
    pub is_useful: bool,
}

/// The input of a classifier.
pub(super) struct Features {
    vectors: Vec<f32>,
    dimension: usize,
    /// Whether it sees the conjecture.
    is_conditional: bool,
}

impl Features {
    /// Vectors of graphs, moved and scaled so that each number has mean 0 and variance 1 over the statements of some
    /// examples: in the paper's classifier a norm does that.
    pub(super) fn new(
        mut vectors: Vec<f32>,
        dimension: usize,
        is_conditional: bool,
        examples: &[Example],
    ) -> Self {
        const MOST: usize = 10_000;
        let examples = &examples[..examples.len().min(MOST)];
        let count = examples.len().max(1) as f64;
        for i in 0..dimension {
            let values = || examples.iter().map(|e| f64::from(vectors[e.statement * dimension + i]));
            let mean = values().sum::<f64>() / count;
            let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            let scale = 1.0 / (variance + 1e-12).sqrt();
            for value in vectors.iter_mut().skip(i).step_by(dimension) {
                *value = ((f64::from(*value) - mean) * scale) as f32;
            }
        }
        Features { vectors, dimension, is_conditional }
    }

    fn number(&self) -> usize {
        if self.is_conditional { 2 * self.dimension } else { self.dimension }
    }

    fn read(&self, example: &Example, input: &mut Vec<f32>) {
        let vector = |number: usize| &self.vectors[number * self.dimension..][..self.dimension];
        input.clear();
        if self.is_conditional {
            input.extend_from_slice(vector(example.conjecture));
        }
        input.extend_from_slice(vector(example.statement));
    }
}

/// The paper's classifier without its norm: a hidden layer with ReLU, and one number that is positive for useful.
struct Classifier {
    inputs: usize,
    hidden: usize,
    /// Rows of the first layer, its shifts, the second layer, its shift.
    weights: Vec<f32>,
    /// Mean and mean square of gradients (Adam).
    moments: [Vec<f32>; 2],
    steps: i32,
}

impl Classifier {
    fn new(inputs: usize, hidden: usize, seed: u64) -> Self {
        let mut random = Random(scramble(seed ^ 0x636c_6173));
        let number = hidden * inputs + 2 * hidden + 1;
        let mut weights = vec![0.0; number];
        let mut fill = |range: std::ops::Range<usize>, bound: f32| {
            weights[range].iter_mut().for_each(|weight| *weight = bound * (2.0 * random.unit() - 1.0));
        };
        fill(0..hidden * inputs, (6.0 / inputs.max(1) as f32).sqrt());
        fill(hidden * (inputs + 1)..number - 1, (3.0 / hidden.max(1) as f32).sqrt());
        Classifier { inputs, hidden, weights, moments: [vec![0.0; number], vec![0.0; number]], steps: 0 }
    }

    /// The number that decides, and the hidden layer on the way.
    fn forward(&self, input: &[f32], hidden: &mut [f32]) -> f32 {
        let (first, rest) = self.weights.split_at(self.hidden * self.inputs);
        let (shifts, second) = rest.split_at(self.hidden);
        for ((value, row), shift) in hidden.iter_mut().zip(first.chunks_exact(self.inputs)).zip(shifts) {
            *value = (dot(row, input) + shift).max(0.0);
        }
        dot(&second[..self.hidden], hidden) + second[self.hidden]
    }

    /// Adds the gradient of the cross-entropy of one example.
    fn backward(&self, input: &[f32], hidden: &mut [f32], is_useful: bool, gradient: &mut [f32]) {
        let error = sigmoid(self.forward(input, hidden)) - f32::from(u8::from(is_useful));
        let second = &self.weights[self.hidden * (self.inputs + 1)..];
        let (to_first, rest) = gradient.split_at_mut(self.hidden * self.inputs);
        let (to_shifts, to_second) = rest.split_at_mut(self.hidden);
        for (i, row) in to_first.chunks_exact_mut(self.inputs).enumerate() {
            if hidden[i] > 0.0 {
                add_scaled(row, input, error * second[i]);
                to_shifts[i] += error * second[i];
            }
        }
        add_scaled(&mut to_second[..self.hidden], hidden, error);
        to_second[self.hidden] += error;
    }

    fn step(&mut self, gradient: &[f32], scale: f32, rate: f32) {
        self.steps = self.steps.saturating_add(1);
        let unbiased = |decay: f32| 1.0 - decay.powi(self.steps);
        let (mean_by, square_by) = (1.0 / unbiased(0.9), 1.0 / unbiased(0.99));
        let [means, squares] = &mut self.moments;
        let moments = means.iter_mut().zip(squares);
        for ((weight, (mean, square)), gradient) in self.weights.iter_mut().zip(moments).zip(gradient) {
            let gradient = gradient * scale;
            *mean += 0.1 * (gradient - *mean);
            *square += 0.01 * (gradient * gradient - *square);
            *weight -= rate * mean_by * *mean / ((square_by * *square).sqrt() + 1e-8);
        }
    }
}

/// Trains a classifier on examples, each once and in their order, and says how probable it is that others are useful.
///
/// # Errors
///
/// If `progress` stops it.
pub(super) fn classify(
    features: &Features,
    training: &[Example],
    asked: &[Example],
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<f32>, Error> {
    const BATCH: usize = 128;
    const RATE: f32 = 2e-3;
    // As in the paper: as wide as a vector, or half of it without the conjecture.
    let width = if features.is_conditional { features.dimension } else { features.dimension.div_ceil(2) };
    let mut classifier = Classifier::new(features.number(), width, seed);
    let (mut input, mut hidden) = (Vec::new(), vec![0.0; width]);
    let mut gradient = vec![0.0; classifier.weights.len()];
    for (i, batch) in training.chunks(BATCH).enumerate() {
        progress.check()?;
        gradient.fill(0.0);
        for example in batch {
            features.read(example, &mut input);
            classifier.backward(&input, &mut hidden, example.is_useful, &mut gradient);
        }
        let left = 1.0 - (i * BATCH) as f32 / training.len() as f32;
        classifier.step(&gradient, 1.0 / batch.len() as f32, RATE * left);
    }
    let score = |example: &Example| {
        features.read(example, &mut input);
        sigmoid(classifier.forward(&input, &mut hidden))
    };
    Ok(asked.iter().map(score).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use formulanet_train::Silent;

    struct Stopped;

    impl Progress for Stopped {
        fn is_stopped(&self) -> bool {
            true
        }
    }

    const CHAIN: GraphInput<'static> =
        GraphInput { tokens: &[5, 6, 7], degrees: &[1, 1, 0], targets: &[1, 2] };

    fn small() -> Options {
        Options { dimension: 10, ..Options::default() }
    }

    #[test]
    fn vectors_follow_the_seed() {
        let vector = graph_vector(CHAIN, &small());
        assert_eq!(vector.len(), 10);
        assert_eq!(vector, graph_vector(CHAIN, &small()));
        assert_ne!(vector, graph_vector(CHAIN, &Options { seed: 1, ..small() }));
        assert!(vector.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn tokens_do_not_matter_and_edges_do() {
        let renamed = GraphInput { tokens: &[1, 1, 1], ..CHAIN };
        assert_eq!(graph_vector(CHAIN, &small()), graph_vector(renamed, &small()));
        let star = GraphInput { degrees: &[2, 0, 0], targets: &[1, 2], ..CHAIN };
        assert_ne!(graph_vector(CHAIN, &small()), graph_vector(star, &small()));
        // The other direction of an edge is the same walk.
        let backwards = GraphInput { degrees: &[0, 1, 1], targets: &[0, 1], ..CHAIN };
        let neighbours = |graph| {
            let Neighbours { starts, mut nodes } = Neighbours::of(graph);
            starts.windows(2).for_each(|w| nodes[w[0]..w[1]].sort_unstable());
            (starts, nodes)
        };
        assert_eq!(neighbours(CHAIN), neighbours(backwards));
    }

    #[test]
    fn graphs_without_edges_or_nodes() {
        let nothing = GraphInput { tokens: &[], degrees: &[], targets: &[] };
        assert_eq!(graph_vector(nothing, &small()), [0.0; 10]);
        assert!(node_vectors(nothing, &small()).is_empty());
        let alone = GraphInput { tokens: &[3], degrees: &[0], targets: &[] };
        assert!(graph_vector(alone, &small()).iter().any(|&value| value != 0.0));
    }

    #[test]
    fn nodes_that_meet_on_walks_are_similar() {
        // Two triangles with one edge between them.
        let graph =
            GraphInput { tokens: &[0; 6], degrees: &[2, 1, 1, 2, 1, 0], targets: &[1, 2, 2, 3, 4, 5, 5] };
        let vectors = node_vectors(graph, &Options { walks: 60, ..Options::default() });
        let node = |i: usize| &vectors[i * 64..][..64];
        let similarity =
            |a, b| dot(node(a), node(b)) / (dot(node(a), node(a)) * dot(node(b), node(b))).sqrt();
        assert!(similarity(0, 1) > similarity(0, 5), "{} {}", similarity(0, 1), similarity(0, 5));
        assert!(similarity(4, 5) > similarity(1, 4));
    }

    #[test]
    fn a_classifier_learns_what_needs_the_conjecture() {
        // Useful if both vectors point the same way: no sum of the two tells that.
        let mut random = Random(7);
        let vectors: Vec<f32> = (0..400).map(|_| random.unit() - 0.5).collect();
        let mut example = || {
            let (statement, conjecture) = (random.below(200), random.below(200));
            let is_useful = (vectors[2 * statement] > 0.0) == (vectors[2 * conjecture] > 0.0);
            Example { statement, conjecture, is_useful }
        };
        let training: Vec<Example> = (0..20_000).map(|_| example()).collect();
        let asked: Vec<Example> = (0..1_000).map(|_| example()).collect();
        let accuracy = |is_conditional| {
            // Eight copies of the two numbers, so that the hidden layer is wide enough.
            let wide: Vec<f32> = vectors.chunks(2).flat_map(|v| v.repeat(8)).collect();
            let features = Features::new(wide, 16, is_conditional, &training);
            let scores = classify(&features, &training, &asked, 0, &Silent).unwrap();
            let right = scores.iter().zip(&asked).filter(|(score, e)| (**score > 0.5) == e.is_useful);
            right.count()
        };
        assert!(accuracy(true) > 900, "{}", accuracy(true));
        assert!(accuracy(false) < 600);
        let features = Features::new(vectors.clone(), 2, true, &training);
        assert!(matches!(classify(&features, &training, &asked, 0, &Stopped), Err(Error::Interrupted)));
    }
}
