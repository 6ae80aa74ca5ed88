//! Graphs to vectors: the embedding of tokens, the steps of Eqn. 1 or 2, and pooling.

use crate::batch::{Relation, Role, Union};
use crate::compute::Compute;
use crate::config::{Config, Pooling, Reads};
use crate::kernel::norm::Statistics;
use crate::kernel::rows;
use crate::layer::{Members, NormTrace, Pass, UpdateTrace};
use crate::parameters::{Layout, Norm, Step, Update};

/// A network and its numbers.
#[derive(Clone)]
pub struct Model {
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) values: Vec<f32>,
}

impl Model {
    /// A network with random weights; the same seed gives the same weights.
    pub fn new(config: Config, seed: u64) -> Self {
        let layout = Layout::new(&config);
        let values = layout.initial(seed);
        Model { config, layout, values }
    }

    /// The shape of the network.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the numbers lie.
    pub fn layout(&self) -> &Layout {
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
}

/// Everything that the backward pass of a micro-batch needs.
pub(crate) struct Trace {
    embedding: NormTrace,
    steps: Vec<StepTrace>,
    /// Before the first step and after every step, for every graph.
    pub(crate) pools: Vec<Pool>,
}

struct StepTrace {
    /// The nodes' vectors before the step.
    nodes: Vec<f32>,
    edges: Vec<UpdateTrace>,
    treelets: Vec<UpdateTrace>,
    /// The sum of the nodes' vectors and what their neighbours sent.
    combined: Vec<f32>,
    combine: Option<NormTrace>,
}

/// The pooled vectors of all graphs of a micro-batch.
pub(crate) struct Pool {
    pub(crate) vectors: Vec<f32>,
    /// For every maximum, the node of the graph that it comes from.
    places: Vec<u32>,
}

/// Which groups of nodes, edges and treelets norms look at.
struct Groups {
    nodes: Vec<u32>,
    edges: Vec<u32>,
    treelets: Vec<u32>,
}

impl Groups {
    fn of(pass: &Pass<'_>, union: &Union) -> Self {
        Groups {
            nodes: pass.groups(&union.groups),
            edges: pass.groups(&union.edges.groups),
            treelets: pass.groups(&union.treelets.groups),
        }
    }
}

/// F_I updates the target of an edge, F_O its source.
const EDGE_RECEIVERS: [usize; 2] = [1, 0];
/// F_L updates the left child of a treelet, F_H its head, F_R its right child.
const TREELET_RECEIVERS: [usize; 3] = [0, 1, 2];

/// The members of a relation's roles before step `t`.
fn roles(t: usize, relation: &Relation) -> &[Role] {
    if t == 0 { &relation.first_roles } else { &relation.roles }
}

impl Pass<'_> {
    /// Embeds the graphs of a micro-batch.
    pub(crate) fn forward(&self, layout: &Layout, union: &Union) -> Trace {
        let (d, groups) = (self.config.dimension, Groups::of(self, union));
        let mut tokens = self.compute.take(union.tokens.len() * d);
        rows::gather(&mut tokens, &self.values[layout.embedding.clone()], &union.tokens, d);
        let (mut nodes, embedding) = self.norm_forward(&layout.embedding_norm, tokens, &groups.nodes);
        let mut trace = Trace { embedding, steps: Vec::new(), pools: vec![self.pool(&nodes, union)] };
        for (t, step) in layout.steps.iter().enumerate() {
            let (step_trace, after) = self.step_forward((t, step), union, &groups, nodes);
            trace.pools.push(match self.config.reads {
                Reads::States => self.pool(&after, union),
                Reads::Messages => {
                    let mut messages = self.compute.take(step_trace.nodes.len());
                    let both = step_trace.combined.iter().zip(&step_trace.nodes);
                    messages
                        .iter_mut()
                        .zip(both)
                        .for_each(|(message, (combined, node))| *message = combined - node);
                    let pool = self.pool(&messages, union);
                    self.compute.give(messages);
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
        (t, step): (usize, &Step),
        union: &Union,
        groups: &Groups,
        nodes: Vec<f32>,
    ) -> (StepTrace, Vec<f32>) {
        let mut combined = self.compute.take(nodes.len());
        combined.copy_from_slice(&nodes);
        let mut relation_forward =
            |updates: &[Update], relation: &Relation, groups: &[u32], receivers: &[usize]| {
                if updates.is_empty() {
                    return Vec::new();
                }
                let roles = roles(t, relation);
                let members = self.members(roles, &nodes);
                let traces = updates.iter().zip(receivers).map(|(update, &receiver)| {
                    self.update_forward(update, (relation, roles), groups, &members, receiver, &mut combined)
                });
                let traces = traces.collect();
                self.give_all(members);
                traces
            };
        let edges = relation_forward(&step.edge_updates, &union.edges, &groups.edges, &EDGE_RECEIVERS);
        let treelets =
            relation_forward(&step.treelet_updates, &union.treelets, &groups.treelets, &TREELET_RECEIVERS);
        let (after, combine) = match &step.combine {
            Some((weight, norm)) => {
                let (after, trace) = self.norm_forward(norm, self.product(weight, &combined), &groups.nodes);
                (after, Some(trace))
            }
            None => (Vec::new(), None),
        };
        (StepTrace { nodes, edges, treelets, combined, combine }, after)
    }

    /// Adds the gradients of all weights, given those of the graphs' vectors at every step.
    pub(crate) fn backward(
        &self,
        layout: &Layout,
        union: &Union,
        trace: Trace,
        pooled_gradients: &[Vec<f32>],
        gradients: &mut [f32],
    ) {
        let (d, groups) = (self.config.dimension, Groups::of(self, union));
        let mut node_gradient = self.compute.zeros(union.tokens.len() * d);
        for (t, (step, step_trace)) in layout.steps.iter().zip(trace.steps).enumerate().rev() {
            let pooled = (&trace.pools[t + 1], pooled_gradients[t + 1].as_slice());
            if self.config.reads == Reads::States {
                self.pool_backward(pooled, union, &mut node_gradient);
            }
            node_gradient =
                self.step_backward((t, step), step_trace, union, &groups, node_gradient, pooled, gradients);
        }
        self.pool_backward((&trace.pools[0], &pooled_gradients[0]), union, &mut node_gradient);
        let norm = &layout.embedding_norm;
        self.norm_backward(norm, &trace.embedding, &groups.nodes, &mut node_gradient, None, gradients);
        rows::add_rows(&mut gradients[layout.embedding.clone()], &node_gradient, &union.tokens, d);
        trace.embedding.recycle(self.compute);
        self.compute.give(node_gradient);
    }

    #[allow(clippy::too_many_arguments)] // as the forward pass, with a gradient beside each
    fn step_backward(
        &self,
        (t, step): (usize, &Step),
        trace: StepTrace,
        union: &Union,
        groups: &Groups,
        mut output_gradient: Vec<f32>,
        pooled: (&Pool, &[f32]),
        gradients: &mut [f32],
    ) -> Vec<f32> {
        let (d, compute) = (self.config.dimension, self.compute);
        let mut combined_gradient = compute.zeros(trace.combined.len());
        if let (Some((weight, norm)), Some(combine)) = (&step.combine, &trace.combine) {
            self.norm_backward(norm, combine, &groups.nodes, &mut output_gradient, None, gradients);
            self.weight_gradient(weight, &trace.combined, &output_gradient, gradients);
            self.weights.backward(weight).multiply(&mut combined_gradient, &output_gradient);
        }
        let mut node_gradient = output_gradient;
        node_gradient.copy_from_slice(&combined_gradient);
        if self.config.reads == Reads::Messages {
            self.pool_backward(pooled, union, &mut combined_gradient);
        }
        let parts = [
            (&step.edge_updates, &trace.edges, &union.edges, &groups.edges, EDGE_RECEIVERS.as_slice()),
            (&step.treelet_updates, &trace.treelets, &union.treelets, &groups.treelets, &TREELET_RECEIVERS),
        ];
        for (updates, traces, relation, groups, receivers) in parts {
            if updates.is_empty() {
                continue;
            }
            let roles = roles(t, relation);
            let members = self.members(roles, &trace.nodes);
            let mut member_gradients: Members =
                members.iter().map(|rows| compute.zeros(rows.len())).collect();
            for ((update, update_trace), &receiver) in updates.iter().zip(traces).zip(receivers) {
                self.update_backward(
                    update,
                    update_trace,
                    (relation, roles),
                    groups,
                    (&members, &mut member_gradients),
                    (receiver, &combined_gradient),
                    gradients,
                );
            }
            for (gradient, role) in member_gradients.iter().zip(roles) {
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
    fn pool(&self, nodes: &[f32], union: &Union) -> Pool {
        let (d, width) = (self.config.dimension, self.config.width());
        let count = union.graph_count();
        let (mut vectors, mut places) = (vec![0.0; count * width], vec![0; count * d]);
        for (g, group) in union.groups.windows(2).enumerate() {
            let nodes = &nodes[group[0] as usize * d..group[1] as usize * d];
            let (largest, mean) = vectors[g * width..][..width].split_at_mut(d);
            rows::max_pool(largest, &mut places[g * d..][..d], nodes);
            if self.config.pooling == Pooling::MaxMean {
                rows::mean_pool(mean, nodes);
            }
        }
        Pool { vectors, places }
    }

    fn pool_backward(&self, (pool, gradient): (&Pool, &[f32]), union: &Union, node_gradient: &mut [f32]) {
        let (d, width) = (self.config.dimension, self.config.width());
        for (g, group) in union.groups.windows(2).enumerate() {
            if group[0] == group[1] {
                continue;
            }
            let nodes = &mut node_gradient[group[0] as usize * d..group[1] as usize * d];
            let (largest, mean) = gradient[g * width..][..width].split_at(d);
            for (j, (&place, gradient)) in pool.places[g * d..][..d].iter().zip(largest).enumerate() {
                nodes[place as usize * d + j] += gradient;
            }
            if self.config.pooling == Pooling::MaxMean {
                let count = (group[1] - group[0]) as f32;
                for row in nodes.chunks_exact_mut(d) {
                    row.iter_mut().zip(mean).for_each(|(sum, gradient)| *sum += gradient / count);
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
    /// The nodes' vectors before step `t`.
    pub(crate) fn nodes(&self, t: usize) -> &[f32] {
        &self.steps[t].nodes
    }

    pub(crate) fn recycle(self, compute: &Compute) {
        self.embedding.recycle(compute);
        self.steps.into_iter().for_each(|step| step.recycle(compute));
    }

    /// What the norms over the micro-batch saw, for those that had rows.
    pub(crate) fn statistics<'a>(&'a self, layout: &'a Layout) -> Vec<(&'a Norm, &'a Statistics, usize)> {
        let mut norms: Vec<(&Norm, &NormTrace)> = vec![(&layout.embedding_norm, &self.embedding)];
        for (step, trace) in layout.steps.iter().zip(&self.steps) {
            let updates = step.edge_updates.iter().chain(&step.treelet_updates);
            for (update, trace) in updates.zip(trace.edges.iter().chain(&trace.treelets)) {
                norms.extend([&update.first_norm, &update.second_norm].into_iter().zip(trace.norms()));
            }
            if let (Some((_, norm)), Some(trace)) = (&step.combine, &trace.combine) {
                norms.push((norm, trace));
            }
        }
        let seen = |(norm, trace): (&'a Norm, &'a NormTrace)| {
            trace.followed().map(|(statistics, count)| (norm, statistics, count))
        };
        norms.into_iter().filter_map(seen).collect()
    }
}
