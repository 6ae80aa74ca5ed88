//! The nodes of sampled statements, and their vectors.

use formulanet::net::{GraphInput, Network};

use super::FigureOptions;
use formulanet::Error;
use formulanet::error::shown;
use formulanet::model::ModelFile;
use formulanet::util::random::sample;
use formulanet::util::vector::sorted;
use formulanet_train::dataset::{Prepared, Split};
use formulanet_train::eval::{TokenMap, pairs_of};

/// The nodes of all sampled graphs, one graph after the other.
pub(super) struct Nodes<'a> {
    pub(super) graphs: Vec<GraphInput<'a>>,
    /// Where the nodes of each graph begin; at the end, how many there are.
    starts: Vec<usize>,
    /// The graph of every node.
    graph_of: Vec<u32>,
    /// Where the edges of every node begin among those of its graph.
    edges: Vec<u32>,
    /// The model's token of every node.
    pub(super) tokens: Vec<u16>,
    /// The number of edges that reach every node.
    incoming: Vec<u32>,
    /// The vectors after the step.
    vectors: Vec<f32>,
    pub(super) width: usize,
    /// For every token of the model how many nodes have it.
    pub(super) counts: Vec<usize>,
    /// For every token that occurs the mean vector before the first step. Where norms do not look at the graph, that
    /// is the vector of each of its nodes.
    first: Vec<f32>,
}

/// A node with its parents and children: what one step can see of a graph, but for the siblings.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Local {
    pub(super) token: u16,
    /// In the order of their tokens, as a graph does not order parents.
    pub(super) parents: Vec<Link>,
    /// In the order of their first edges.
    pub(super) children: Vec<Link>,
}

/// A parent or child.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Link {
    pub(super) token: u16,
    /// The number of edges between the two.
    pub(super) edges: usize,
}

impl<'a> Nodes<'a> {
    /// The nodes of some statements of held-out conjectures.
    pub(super) fn sample(
        network: &Network,
        trained: &ModelFile,
        prepared: &'a Prepared,
        options: &FigureOptions,
    ) -> Result<Self, Error> {
        let (view, step) = (prepared.meta().options.view, options.step);
        if view != trained.origin.view {
            let (expected, found) = (trained.origin.view.name(), view.name());
            let message = format!("expected graphs of the model's view `{expected}`, found `{found}`");
            return Err(Error::input(prepared.path(), message));
        }
        let steps = network.model().config().steps;
        if step >= steps {
            let message = format!("expected more than {step} steps, to look between them, found {steps}");
            return Err(Error::input("the model", message));
        }
        let pairs = pairs_of(prepared, Split::Validation, None, 0).into_iter();
        let numbers = sorted(pairs.map(|pair| prepared.pair(pair as usize).statement));
        if numbers.is_empty() {
            let training = prepared.of_split(Split::Train).count();
            return Err(Error::NothingHeldOut { data: shown(prepared.path()), training });
        }
        let map = TokenMap::new(prepared.vocabulary(), &trained.vocabulary, &shown(prepared.path()))?;
        let numbers = sample(numbers, options.graphs.max(1), options.seed);
        let graphs: Vec<_> = numbers.into_iter().map(|number| prepared.graph(number)).collect();
        let mapped: Vec<Option<Vec<u16>>> = graphs.iter().map(|graph| map.map(graph)).collect();
        let inputs: Vec<_> = graphs.iter().zip(&mapped).map(|(graph, tokens)| graph.with(tokens)).collect();
        let width = network.model().config().dimension;
        let vectors = vectors(network, &inputs, step);
        let mut starts = vec![0];
        let (mut incoming, mut graph_of, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        for (number, graph) in graphs.iter().enumerate() {
            let start = incoming.len();
            let mut edge = 0;
            for &degree in graph.degrees {
                graph_of.push(number as u32);
                edges.push(edge);
                edge += u32::from(degree);
            }
            incoming.resize(start + graph.tokens.len(), 0);
            graph.targets.iter().for_each(|&target| incoming[start + usize::from(target)] += 1);
            starts.push(incoming.len());
        }
        let tokens: Vec<u16> = inputs.iter().flat_map(|input| input.tokens).copied().collect();
        let mut counts = vec![0; trained.vocabulary.len()];
        tokens.iter().for_each(|&token| counts[usize::from(token)] += 1);
        let first = if step == 0 { vectors.clone() } else { self::vectors(network, &inputs, 0) };
        let first = means(&first, width, &tokens, &counts);
        Ok(Nodes { graphs, starts, graph_of, edges, tokens, incoming, vectors, width, counts, first })
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The graph of a node.
    pub(super) fn graph_of(&self, node: usize) -> usize {
        self.graph_of[node] as usize
    }

    /// The numbers of edges that reach and leave a node.
    pub(super) fn degrees(&self, node: usize) -> (usize, usize) {
        let graph = self.graph_of(node);
        let outgoing = self.graphs[graph].degrees[node - self.starts[graph]];
        (self.incoming[node] as usize, usize::from(outgoing))
    }

    /// The targets of a node's edges, in their order.
    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let graph = self.graph_of(node);
        let (start, outgoing) = (self.starts[graph], self.degrees(node).1);
        let targets = &self.graphs[graph].targets[self.edges[node] as usize..][..outgoing];
        targets.iter().map(move |&target| start + usize::from(target))
    }

    /// The vector of a node.
    pub(super) fn vector(&self, node: usize) -> &[f32] {
        &self.vectors[node * self.width..][..self.width]
    }

    /// The first vector of a token.
    pub(super) fn first_vector(&self, token: u16) -> &[f32] {
        &self.first[usize::from(token) * self.width..][..self.width]
    }

    /// A node with what stands around it.
    pub(super) fn local(&self, node: usize) -> Local {
        let graph = self.graph_of(node);
        let mut parents = Vec::new();
        for parent in self.starts[graph]..self.starts[graph + 1] {
            let edges = self.children(parent).filter(|&child| child == node).count();
            if edges > 0 {
                parents.push(Link { token: self.tokens[parent], edges });
            }
        }
        parents.sort_unstable();
        let mut children: Vec<(usize, usize)> = Vec::new();
        for child in self.children(node) {
            match children.iter_mut().find(|(known, _)| *known == child) {
                Some((_, edges)) => *edges += 1,
                None => children.push((child, 1)),
            }
        }
        let link = |(child, edges)| Link { token: self.tokens[child], edges };
        Local { token: self.tokens[node], parents, children: children.into_iter().map(link).collect() }
    }
}

/// The vectors of all nodes after `step` steps, on all threads of the network; in order.
fn vectors(network: &Network, graphs: &[GraphInput<'_>], step: usize) -> Vec<f32> {
    network.compute().map(graphs.len(), |i| network.nodes(graphs[i], step)).concat()
}

/// The mean vector of every token; zeros if it does not occur.
fn means(vectors: &[f32], width: usize, tokens: &[u16], counts: &[usize]) -> Vec<f32> {
    let mut sums = vec![0f64; counts.len() * width];
    for (&token, vector) in tokens.iter().zip(vectors.chunks_exact(width)) {
        let sum = &mut sums[usize::from(token) * width..][..width];
        sum.iter_mut().zip(vector).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let count = |place: usize| counts[place / width].max(1) as f64;
    sums.into_iter().enumerate().map(|(place, sum)| (sum / count(place)) as f32).collect()
}
