//! A trained network at work: graphs to vectors, vectors to probabilities.

use std::ops::Range;
use std::sync::Arc;

use crate::compute::Compute;
use crate::config::Hints;
use crate::layer::Pass;
use crate::model::Model;
use crate::tensors::Weights;
use crate::union::{GraphInput, Union};

/// A trained network, laid out for a CPU.
pub struct Network {
    model: Arc<Model>,
    weights: Weights,
    compute: Compute,
}

/// The vectors of a graph: before the first step, and after every step.
#[derive(Clone, PartialEq, Debug)]
pub struct Embedding {
    values: Vec<f32>,
    width: usize,
}

impl Embedding {
    /// The vector after this many steps.
    ///
    /// # Panics
    ///
    /// If the network has fewer steps.
    pub fn step(&self, t: usize) -> &[f32] {
        &self.values[t * self.width..][..self.width]
    }

    /// All vectors, concatenated.
    pub fn all(&self) -> &[f32] {
        &self.values
    }

    /// The vector after the last step, which is the graph's embedding.
    pub fn last(&self) -> &[f32] {
        &self.values[self.values.len() - self.width..]
    }
}

/// Graphs of about this cost go through the network together, so that products have enough rows and yet fit a cache.
const MICRO_BATCH_COST: usize = 10_000;

/// Pairs that a classifier reads at a time.
const PAIRS: usize = 512;

impl Network {
    /// Lays a network out.
    pub fn new(model: impl Into<Arc<Model>>, compute: Compute) -> Self {
        let model = model.into();
        let weights = Weights::new(&model.layout.weights, &model.values, compute.kernel, false);
        Network { model, weights, compute }
    }

    /// The network's numbers.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The resources that it runs on.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    pub(crate) fn pass(&self) -> Pass<'_> {
        Pass {
            config: &self.model.config,
            values: &self.model.values,
            weights: &self.weights,
            compute: &self.compute,
            is_training: false,
            keeps_trace: false,
        }
    }

    /// The vectors of a graph.
    pub fn embed(&self, graph: GraphInput<'_>) -> Embedding {
        self.embed_all(&[graph]).swap_remove(0)
    }

    /// The vectors of many graphs, each the same as if it were alone. Processes that share the work each embed graphs of
    /// about the same cost, and all get all vectors.
    pub fn embed_all(&self, graphs: &[GraphInput<'_>]) -> Vec<Embedding> {
        let group = self.compute.group();
        if group.size() == 1 {
            return self.embed_here(graphs);
        }
        let costs: Vec<usize> = graphs.iter().map(GraphInput::cost).collect();
        let shares = shares(&costs, group.size());
        let own = self.embed_here(&graphs[shares[group.rank()].clone()]);
        let width = self.model.config.width();
        let length = (self.model.config.steps + 1) * width;
        let mine: Vec<f32> = own.iter().flat_map(|embedding| &embedding.values).copied().collect();
        let mut all = self.compute.take(graphs.len() * length);
        group.gather(&mine, &shares.iter().map(|share| share.len() * length).collect::<Vec<_>>(), &mut all);
        let embedding = |values: &[f32]| Embedding { values: values.to_vec(), width };
        let embeddings = all.chunks_exact(length).map(embedding).collect();
        self.compute.give(all);
        embeddings
    }

    /// Runs on the threads of this process alone.
    fn embed_here(&self, graphs: &[GraphInput<'_>]) -> Vec<Embedding> {
        let parts = parts(graphs);
        let width = self.model.config.width();
        let embedded = self.compute.map(parts.len(), |i| {
            let part = &graphs[parts[i].clone()];
            let union = Union::new(part.iter().copied(), &self.model.config);
            let trace = self.pass().forward(&self.model.layout.functions, &union);
            let of_graph = |g: usize| {
                let vectors = trace.pools.iter().flat_map(|pool| &pool.vectors[g * width..][..width]);
                Embedding { values: vectors.copied().collect(), width }
            };
            let embeddings: Vec<Embedding> = (0..part.len()).map(of_graph).collect();
            trace.recycle(&self.compute);
            embeddings
        });
        embedded.into_iter().flatten().collect()
    }

    /// The vector of every node of a graph after `t` steps, one after the other.
    ///
    /// # Panics
    ///
    /// If the network does not have more than `t` steps.
    pub fn nodes(&self, graph: GraphInput<'_>, t: usize) -> Vec<f32> {
        assert!(t < self.model.config.steps, "the network has {} steps", self.model.config.steps);
        let pass = Pass { keeps_trace: true, ..self.pass() };
        let union = Union::new([graph], &self.model.config);
        let trace = pass.forward(&self.model.layout.functions, &union);
        let d = self.model.config.dimension;
        let classes = union.levels[t].of_node.iter();
        let nodes = classes.flat_map(|&class| &trace.nodes(t)[class as usize * d..][..d]).copied().collect();
        trace.recycle(&self.compute);
        nodes
    }

    /// The probability that each statement is useful for its conjecture, by the classifier of every step: one array for each
    /// step. An unconditional network ignores the conjectures, and one without hints the side features.
    pub fn score_all(&self, pairs: &[(&Embedding, &Embedding, Hints)]) -> Vec<Vec<f32>> {
        let of_step = |t: usize| {
            let chunks: Vec<&[(&Embedding, &Embedding, Hints)]> = pairs.chunks(PAIRS).collect();
            let scores = self.compute.map(chunks.len(), |i| {
                let mut inputs = Vec::new();
                for (statement, conjecture, hints) in chunks[i] {
                    self.model.config.join(statement.step(t), conjecture.step(t), *hints, &mut inputs);
                }
                self.pass().probabilities(&self.model.layout.functions.heads[t], &inputs)
            });
            scores.concat()
        };
        (0..self.model.layout.functions.heads.len()).map(of_step).collect()
    }

    /// The probability that each of many statements is useful for a conjecture, by the last classifier. `statements` has the
    /// concatenated vectors after the last step.
    ///
    /// # Panics
    ///
    /// If a vector does not have the network's width, or there are not as many hints as statements.
    pub fn score_rows(&self, conjecture: &[f32], statements: &[f32], hints: &[Hints]) -> Vec<f32> {
        let config = &self.model.config;
        let width = config.width();
        assert!(conjecture.len() == width && statements.len() == width * hints.len(), "vectors do not fit");
        let head = self.model.layout.functions.heads.last().expect("there is always a classifier");
        let chunks: Vec<(&[f32], &[Hints])> =
            statements.chunks(width * PAIRS).zip(hints.chunks(PAIRS)).collect();
        let scores = self.compute.map(chunks.len(), |i| {
            let mut inputs = Vec::with_capacity(chunks[i].1.len() * config.classifier_input());
            for (statement, &hints) in chunks[i].0.chunks_exact(width).zip(chunks[i].1) {
                config.join(statement, conjecture, hints, &mut inputs);
            }
            self.pass().probabilities(head, &inputs)
        });
        scores.concat()
    }
}

/// Cuts costs into this many ranges of about the same sum.
fn shares(costs: &[usize], count: usize) -> Vec<Range<usize>> {
    let total: usize = costs.iter().sum();
    let (mut shares, mut start, mut cost) = (Vec::with_capacity(count), 0, 0);
    for number in 1..=count {
        let mut end = start;
        // What lies across a border belongs to the side where its middle is.
        while end < costs.len() && (number == count || 2 * cost + costs[end] <= 2 * total * number / count) {
            cost += costs[end];
            end += 1;
        }
        shares.push(start..end);
        start = end;
    }
    shares
}

/// Cuts graphs into ranges of about the same cost.
fn parts(graphs: &[GraphInput<'_>]) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut cost) = (Vec::new(), 0, 0);
    for (i, graph) in graphs.iter().enumerate() {
        cost += graph.cost();
        if cost >= MICRO_BATCH_COST || i + 1 == graphs.len() {
            parts.push(start..i + 1);
            (start, cost) = (i + 1, 0);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_and_cover_everything() {
        for costs in [vec![], vec![5], vec![1; 100], vec![1000, 1, 1, 1], (0..50).map(|i| i * i).collect()] {
            for count in [1, 2, 3, 7] {
                let shares = shares(&costs, count);
                assert_eq!(shares.len(), count);
                assert_eq!(
                    shares.iter().cloned().flatten().collect::<Vec<_>>(),
                    (0..costs.len()).collect::<Vec<_>>()
                );
                let (total, most) = (costs.iter().sum::<usize>(), costs.iter().max().unwrap_or(&0));
                for share in shares {
                    assert!(
                        costs[share].iter().sum::<usize>() <= total / count + most + 1,
                        "{costs:?} {count}"
                    );
                }
            }
        }
    }
}
