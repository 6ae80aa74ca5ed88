//! A graph to vectors: the embedding of tokens, the steps of Eqn. 1 or 2, and max-pooling.

use crate::config::Config;
use crate::graph::GraphInput;
use crate::kernel::matmul::Read::{Plain, Transposed};
use crate::kernel::matmul::multiply;
use crate::kernel::norm::{self, Saved};
use crate::kernel::rows;
use crate::layer::{self, Members, UpdateState};
use crate::parameters::{Layout, Step};

/// A network and its weights.
#[derive(Clone)]
pub struct Model {
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) values: Vec<f32>,
    /// For each classifier, the mean and variance of its hidden layer over the mini-batches of training.
    pub(crate) running: Vec<[Vec<f32>; 2]>,
}

/// Everything that the backward pass of one graph needs.
pub(crate) struct Trace {
    embedding: Saved,
    /// The nodes' vectors before every step, and after the last.
    pub(crate) nodes: Vec<Vec<f32>>,
    steps: Vec<StepTrace>,
    /// For the vector after every step, the node that each number comes from.
    places: Vec<Vec<u32>>,
    /// The graph's vector before the first step and after every step.
    pub(crate) pooled: Vec<Vec<f32>>,
}

struct StepTrace {
    edge_updates: [UpdateState; 2],
    treelet_updates: Option<[UpdateState; 3]>,
    combined: Vec<f32>,
    combine: Saved,
}

impl Model {
    /// A network with random weights; the same seed gives the same weights.
    pub fn new(config: Config, seed: u64) -> Self {
        let layout = Layout::new(&config);
        let values = layout.initial(seed);
        let hidden = config.classifier_hidden();
        let running = vec![[vec![0.0; hidden], vec![1.0; hidden]]; config.steps + 1];
        Model { config, layout, values, running }
    }

    /// The shape of the network.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the weights lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All weights.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All weights, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The vectors of a graph: before the first step, and after every step. The last one is its embedding.
    pub fn embed(&self, graph: &GraphInput) -> Vec<Vec<f32>> {
        self.forward(graph).pooled
    }

    pub(crate) fn forward(&self, graph: &GraphInput) -> Trace {
        let (d, values) = (self.config.dimension, &self.values);
        let table = &values[self.layout.embedding.clone()];
        let tokens = graph.tokens.iter().flat_map(|&token| &table[token as usize * d..][..d]);
        let embedding = norm::normalise(tokens.copied().collect(), d);
        let (scale, shift) = layer::affine(values, &self.layout.embedding_norm);
        let nodes = norm::activate(&embedding.normalised, scale, shift);
        let (pooled, places) = rows::max_pool(&nodes, d);
        let mut trace = Trace {
            embedding,
            nodes: vec![nodes],
            steps: Vec::new(),
            places: vec![places],
            pooled: vec![pooled],
        };
        for step in &self.layout.steps {
            let (step_trace, nodes) = self.step_forward(step, graph, &trace.nodes[trace.nodes.len() - 1]);
            let (pooled, places) = rows::max_pool(&nodes, d);
            trace.steps.push(step_trace);
            trace.nodes.push(nodes);
            trace.places.push(places);
            trace.pooled.push(pooled);
        }
        trace
    }

    fn step_forward(&self, step: &Step, graph: &GraphInput, nodes: &[f32]) -> (StepTrace, Vec<f32>) {
        let (d, values) = (self.config.dimension, &self.values);
        let mut combined = nodes.to_vec();
        let [sources, targets] = &graph.edges;
        let members = graph.edge_roles.each_ref().map(|role| Members::of(role, nodes, d));
        // F_I updates the target of an edge, F_O its source.
        let edge_updates = std::array::from_fn(|i| {
            let (messages, state) = layer::update_forward(values, &step.edge_updates[i], &members, d);
            rows::scatter_add(&mut combined, &messages, [targets, sources][i], &graph.edge_factors, d);
            state
        });
        // F_L updates the left child of a treelet, F_H its head, F_R its right child.
        let treelet_updates = step.treelet_updates.as_ref().map(|updates| {
            let members = graph.treelet_roles.each_ref().map(|role| Members::of(role, nodes, d));
            std::array::from_fn(|i| {
                let (messages, state) = layer::update_forward(values, &updates[i], &members, d);
                rows::scatter_add(&mut combined, &messages, &graph.treelets[i], &graph.treelet_factors, d);
                state
            })
        });
        let count = graph.node_count();
        let mut product = vec![0.0; count * d];
        let weight = &values[step.combine.clone()];
        multiply(&mut product, 0.0, (&combined, Plain), (weight, Transposed), [count, d, d]);
        let combine = norm::normalise(product, d);
        let (scale, shift) = layer::affine(values, &step.combine_norm);
        let nodes = norm::activate(&combine.normalised, scale, shift);
        (StepTrace { edge_updates, treelet_updates, combined, combine }, nodes)
    }

    /// Adds the gradients of all weights, given those of the graph's vectors.
    pub(crate) fn backward(
        &self,
        graph: &GraphInput,
        trace: &Trace,
        pooled_gradients: &[Vec<f32>],
        gradients: &mut [f32],
    ) {
        let d = self.config.dimension;
        let mut node_gradient = vec![0.0; graph.node_count() * d];
        for t in (0..=self.config.steps).rev() {
            if graph.node_count() > 0 {
                for (j, (&place, gradient)) in trace.places[t].iter().zip(&pooled_gradients[t]).enumerate() {
                    node_gradient[place as usize * d + j] += gradient;
                }
            }
            if t > 0 {
                let (step, step_trace) = (&self.layout.steps[t - 1], &trace.steps[t - 1]);
                node_gradient = self.step_backward(
                    step,
                    step_trace,
                    graph,
                    &trace.nodes[t - 1],
                    node_gradient,
                    gradients,
                );
            }
        }
        let gradient = norm::backward(
            &trace.embedding,
            node_gradient,
            layer::affine(&self.values, &self.layout.embedding_norm),
            layer::affine_gradients(gradients, &self.layout.embedding_norm),
        );
        let table = &mut gradients[self.layout.embedding.clone()];
        for (row, &token) in gradient.chunks_exact(d).zip(&graph.tokens) {
            table[token as usize * d..][..d].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
    }

    fn step_backward(
        &self,
        step: &Step,
        trace: &StepTrace,
        graph: &GraphInput,
        nodes: &[f32],
        output_gradient: Vec<f32>,
        gradients: &mut [f32],
    ) -> Vec<f32> {
        let (d, values, count) = (self.config.dimension, &self.values, graph.node_count());
        let gradient = norm::backward(
            &trace.combine,
            output_gradient,
            layer::affine(values, &step.combine_norm),
            layer::affine_gradients(gradients, &step.combine_norm),
        );
        let weight = step.combine.clone();
        multiply(
            &mut gradients[weight.clone()],
            1.0,
            (&gradient, Transposed),
            (&trace.combined, Plain),
            [d, d, count],
        );
        let mut combined = vec![0.0; count * d];
        multiply(&mut combined, 0.0, (&gradient, Plain), (&values[weight], Plain), [count, d, d]);
        let mut node_gradient = combined.clone();
        let [sources, targets] = &graph.edges;
        let mut members = graph.edge_roles.each_ref().map(|role| Members::of(role, nodes, d).with_gradient());
        for ((update, state), receivers) in
            step.edge_updates.iter().zip(&trace.edge_updates).zip([targets, sources])
        {
            let messages = rows::gather_scaled(&combined, receivers, &graph.edge_factors, d);
            layer::update_backward(values, gradients, update, state, &mut members, messages, d);
        }
        members.iter().for_each(|members| members.add_to(&mut node_gradient, d));
        if let (Some(updates), Some(states)) = (&step.treelet_updates, &trace.treelet_updates) {
            let mut members =
                graph.treelet_roles.each_ref().map(|role| Members::of(role, nodes, d).with_gradient());
            for ((update, state), receivers) in updates.iter().zip(states).zip(&graph.treelets) {
                let messages = rows::gather_scaled(&combined, receivers, &graph.treelet_factors, d);
                layer::update_backward(values, gradients, update, state, &mut members, messages, d);
            }
            members.iter().for_each(|members| members.add_to(&mut node_gradient, d));
        }
        node_gradient
    }
}
