//! Graphs to vectors: the embedding of tokens, the steps of Eqn. 1 or 2, and pooling.

use crate::compute::Compute;
use crate::config::{Config, Pooling, Reads};
use crate::kernel::norm::Statistics;
use crate::kernel::rows;
use crate::layer::{Members, NormTrace, Pass, UpdateTrace};
use crate::parameters::{Functions, Step, Update};
use crate::tensors::{Layout, Shape, Tensor};
use crate::union::{Level, Plan, Relation, Union};

/// A network and its numbers.
#[derive(Clone)]
pub struct Model<S: Shape = Config> {
    pub(crate) config: S,
    pub(crate) layout: Layout<S::Functions>,
    pub(crate) values: Vec<f32>,
}

impl<S: Shape> Model<S> {
    /// A network with random weights; the same seed gives the same weights.
    pub fn new(config: S, seed: u64) -> Self {
        let layout = Layout::new(&config);
        let values = layout.initial(seed);
        Model { config, layout, values }
    }

    /// The shape of the network.
    pub fn config(&self) -> &S {
        &self.config
    }

    /// Where the numbers lie.
    pub fn layout(&self) -> &Layout<S::Functions> {
        &self.layout
    }

    /// All numbers.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All numbers, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Takes the numbers of another network over. Tensors that the other does not have in the same shape begin at zero.
    pub fn take_over(&mut self, other: &Self) {
        for tensor in self.layout.tensors() {
            let is_same = |other: &&Tensor| (&other.name, other.shape) == (&tensor.name, tensor.shape);
            let values = &mut self.values[tensor.range.clone()];
            match other.layout.tensors().iter().find(is_same) {
                Some(found) => values.copy_from_slice(&other.values[found.range.clone()]),
                None => values.fill(0.0),
            }
        }
    }
}

/// Everything that the backward pass of a micro-batch needs.
pub(crate) struct Trace {
    embedding: NormTrace,
    steps: Vec<StepTrace>,
    /// Before the first step and after every step, for every graph.
    pub(crate) pools: Vec<Pool>,
}

struct StepTrace {
    /// The classes' vectors before the step.
    nodes: Vec<f32>,
    edges: Vec<UpdateTrace>,
    treelets: Vec<UpdateTrace>,
    /// After the step's messages: the sum of a class's vector and what its neighbours sent.
    combined: Vec<f32>,
    combine: Option<NormTrace>,
}

/// The pooled vectors of all graphs of a micro-batch.
pub(crate) struct Pool {
    pub(crate) vectors: Vec<f32>,
    /// For every maximum, the class that it comes from.
    places: Vec<u32>,
}

/// F_I updates the target of an edge, F_O its source.
const EDGE_RECEIVERS: [usize; 2] = [1, 0];
/// F_L updates the left child of a treelet, F_H its head, F_R its right child.
const TREELET_RECEIVERS: [usize; 3] = [0, 1, 2];

impl Pass<'_> {
    /// Embeds the graphs of a micro-batch.
    pub(crate) fn forward(&self, functions: &Functions, union: &Union) -> Trace {
        let d = self.config.dimension;
        let mut tokens = self.compute.take(union.tokens.len() * d);
        rows::gather(&mut tokens, &self.values[functions.embedding.clone()], &union.tokens, d);
        let level = &union.levels[0];
        let (mut nodes, embedding) = self.norm_forward(&functions.embedding_norm, tokens, level.counted());
        let mut trace = Trace { embedding, steps: Vec::new(), pools: vec![self.pool(&nodes, level)] };
        for ((step, plan), level) in functions.steps.iter().zip(&union.plans).zip(&union.levels[1..]) {
            let (step_trace, after) = self.step_forward(step, plan, level, nodes);
            trace.pools.push(match self.config.reads {
                Reads::States => self.pool(&after, level),
                Reads::Messages => {
                    let mut own = self.compute.take(step_trace.combined.len());
                    rows::gather(&mut own, &step_trace.nodes, &plan.parents, d);
                    own.iter_mut().zip(&step_trace.combined).for_each(|(own, sum)| *own = sum - *own);
                    let pool = self.pool(&own, level);
                    self.compute.give(own);
                    pool
                }
            });
            nodes = after;
            if self.keeps_trace {
                trace.steps.push(step_trace);
            } else {
                step_trace.recycle(self.compute);
            }
        }
        self.compute.give(nodes);
        trace
    }

    fn step_forward(
        &self,
        step: &Step,
        plan: &Plan,
        level: &Level,
        nodes: Vec<f32>,
    ) -> (StepTrace, Vec<f32>) {
        let d = self.config.dimension;
        let mut combined = self.compute.take(plan.parents.len() * d);
        rows::gather(&mut combined, &nodes, &plan.parents, d);
        let mut relation_forward = |updates: &[Update], relation: &Relation, receivers: &[usize]| {
            if updates.is_empty() {
                return Vec::new();
            }
            let members = self.members(relation, &nodes);
            let traces = updates.iter().zip(receivers).map(|(update, &receiver)| {
                self.update_forward(update, relation, &members, receiver, &mut combined)
            });
            let traces = traces.collect();
            self.give_all(members);
            traces
        };
        let edges = relation_forward(&step.edge_updates, &plan.edges, &EDGE_RECEIVERS);
        let treelets = relation_forward(&step.treelet_updates, &plan.treelets, &TREELET_RECEIVERS);
        let (after, combine) = match &step.combine {
            Some((weight, norm)) => {
                let product = self.product(weight, &combined);
                let (after, trace) = self.norm_forward(norm, product, level.counted());
                (after, Some(trace))
            }
            None => (Vec::new(), None),
        };
        (StepTrace { nodes, edges, treelets, combined, combine }, after)
    }

    /// Adds the gradients of all weights, given those of the graphs' vectors at every step.
    pub(crate) fn backward(
        &self,
        functions: &Functions,
        union: &Union,
        trace: Trace,
        pooled_gradients: &[Vec<f32>],
        gradients: &mut [f32],
    ) {
        let d = self.config.dimension;
        let count = union.levels[union.levels.len() - 1].weights.len();
        let mut node_gradient = self.compute.zeros(count * d);
        for (t, (step, step_trace)) in functions.steps.iter().zip(trace.steps).enumerate().rev() {
            let (plan, level) = (&union.plans[t], &union.levels[t + 1]);
            let pooled = (&trace.pools[t + 1], pooled_gradients[t + 1].as_slice());
            if self.config.reads == Reads::States {
                self.pool_backward(pooled, level, &mut node_gradient);
            }
            node_gradient =
                self.step_backward(step, step_trace, (plan, level), node_gradient, pooled, gradients);
        }
        let level = &union.levels[0];
        self.pool_backward((&trace.pools[0], &pooled_gradients[0]), level, &mut node_gradient);
        let norm = &functions.embedding_norm;
        self.norm_backward(norm, &trace.embedding, level.counted(), &mut node_gradient, gradients);
        rows::add_rows(&mut gradients[functions.embedding.clone()], &node_gradient, &union.tokens, d);
        trace.embedding.recycle(self.compute);
        self.compute.give(node_gradient);
    }

    fn step_backward(
        &self,
        step: &Step,
        trace: StepTrace,
        (plan, level): (&Plan, &Level),
        mut output_gradient: Vec<f32>,
        pooled: (&Pool, &[f32]),
        gradients: &mut [f32],
    ) -> Vec<f32> {
        let (d, compute) = (self.config.dimension, self.compute);
        let mut combined_gradient = compute.zeros(trace.combined.len());
        if let (Some((weight, norm)), Some(combine)) = (&step.combine, &trace.combine) {
            self.norm_backward(norm, combine, level.counted(), &mut output_gradient, gradients);
            self.weight_gradient(weight, &trace.combined, &output_gradient, gradients);
            self.weights.backward(weight).multiply(&mut combined_gradient, &output_gradient);
        }
        compute.give(output_gradient);
        let mut node_gradient = compute.zeros(trace.nodes.len());
        rows::add_rows(&mut node_gradient, &combined_gradient, &plan.parents, d);
        if self.config.reads == Reads::Messages {
            self.pool_backward(pooled, level, &mut combined_gradient);
        }
        let parts = [
            (&step.edge_updates, &trace.edges, &plan.edges, EDGE_RECEIVERS.as_slice()),
            (&step.treelet_updates, &trace.treelets, &plan.treelets, &TREELET_RECEIVERS),
        ];
        for (updates, traces, relation, receivers) in parts {
            if updates.is_empty() {
                continue;
            }
            let members = self.members(relation, &trace.nodes);
            let mut member_gradients: Members =
                members.iter().map(|rows| compute.zeros(rows.len())).collect();
            for ((update, update_trace), &receiver) in updates.iter().zip(traces).zip(receivers) {
                self.update_backward(
                    update,
                    update_trace,
                    relation,
                    (&members, &mut member_gradients),
                    (receiver, &combined_gradient),
                    gradients,
                );
            }
            for (gradient, role) in member_gradients.iter().zip(&relation.roles) {
                rows::add_rows(&mut node_gradient, gradient, &role.members, d);
            }
            self.give_all(members);
            self.give_all(member_gradients);
        }
        compute.give(combined_gradient);
        trace.recycle(compute);
        node_gradient
    }

    /// One vector for every graph.
    fn pool(&self, nodes: &[f32], level: &Level) -> Pool {
        let (d, width) = (self.config.dimension, self.config.width());
        let count = level.graphs.len() - 1;
        let (mut vectors, mut places) = (vec![0.0; count * width], vec![0; count * d]);
        for (g, graph) in level.graphs.windows(2).enumerate() {
            let graph = graph[0] as usize..graph[1] as usize;
            let classes = &level.classes[graph.clone()];
            let (largest, mean) = vectors[g * width..][..width].split_at_mut(d);
            rows::max_pool(largest, &mut places[g * d..][..d], nodes, classes);
            if self.config.pooling == Pooling::MaxMean {
                rows::mean_pool(mean, nodes, classes, &level.counts[graph]);
            }
        }
        Pool { vectors, places }
    }

    fn pool_backward(&self, (pool, gradient): (&Pool, &[f32]), level: &Level, node_gradient: &mut [f32]) {
        let (d, width) = (self.config.dimension, self.config.width());
        for (g, graph) in level.graphs.windows(2).enumerate() {
            let graph = graph[0] as usize..graph[1] as usize;
            if graph.is_empty() {
                continue;
            }
            let (largest, mean) = gradient[g * width..][..width].split_at(d);
            for (j, (&place, gradient)) in pool.places[g * d..][..d].iter().zip(largest).enumerate() {
                node_gradient[place as usize * d + j] += gradient;
            }
            if self.config.pooling == Pooling::MaxMean {
                let total: f32 = level.counts[graph.clone()].iter().sum();
                for (&class, &count) in level.classes[graph.clone()].iter().zip(&level.counts[graph]) {
                    let row = &mut node_gradient[class as usize * d..][..d];
                    row.iter_mut().zip(mean).for_each(|(sum, gradient)| *sum += count / total * gradient);
                }
            }
        }
    }

    fn give_all(&self, buffers: Vec<Vec<f32>>) {
        buffers.into_iter().for_each(|buffer| self.compute.give(buffer));
    }
}

impl StepTrace {
    fn recycle(self, compute: &Compute) {
        compute.give(self.nodes);
        compute.give(self.combined);
        self.edges.into_iter().chain(self.treelets).for_each(|update| update.recycle(compute));
        self.combine.into_iter().for_each(|norm| norm.recycle(compute));
    }
}

impl Trace {
    /// The classes' vectors before step `t`.
    pub(crate) fn nodes(&self, t: usize) -> &[f32] {
        &self.steps[t].nodes
    }

    pub(crate) fn recycle(self, compute: &Compute) {
        self.embedding.recycle(compute);
        self.steps.into_iter().for_each(|step| step.recycle(compute));
    }

    /// A gradient of zeros for the graphs' vectors at every step.
    pub(crate) fn zero_gradients(&self) -> Vec<Vec<f32>> {
        self.pools.iter().map(|pool| vec![0.0; pool.vectors.len()]).collect()
    }

    /// A micro-batch of another process: the graphs' vectors alone.
    pub(crate) fn of_vectors(vectors: impl Iterator<Item = Vec<f32>>) -> Self {
        let pools = vectors.map(|vectors| Pool { vectors, places: Vec::new() }).collect();
        Trace { embedding: NormTrace::default(), steps: Vec::new(), pools }
    }

    /// The statistics of the norms over the micro-batch, in the order of [`Layout::norms`]: nothing where there were no rows.
    pub(crate) fn statistics(&self) -> Vec<Option<(&Statistics, f32)>> {
        let mut norms: Vec<&NormTrace> = vec![&self.embedding];
        for step in &self.steps {
            norms.extend(step.edges.iter().chain(&step.treelets).flat_map(UpdateTrace::norms));
            norms.extend(&step.combine);
        }
        norms.into_iter().map(NormTrace::followed).collect()
    }
}
