//! The functions of Eqn. 1 and 2, forward and backward, on the union of a micro-batch.

use crate::compute::Compute;
use crate::config::{Config, NormKind};
use crate::kernel::norm::{self, Normalised, Statistics};
use crate::kernel::rows;
use crate::parameters::Update;
use crate::tensors::{Norm, Weight, Weights};
use crate::union::{Level, Relation};

/// One way through a network: its numbers, and what they run on.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) config: &'a Config,
    pub(crate) values: &'a [f32],
    pub(crate) weights: &'a Weights,
    pub(crate) compute: &'a Compute,
    /// Whether norms over a micro-batch look at it, or at the running statistics.
    pub(crate) is_training: bool,
    /// Whether the trace has what the backward pass needs, or the graphs' vectors alone.
    pub(crate) keeps_trace: bool,
}

/// The values that the backward pass of a norm needs.
#[derive(Default)]
pub(crate) struct NormTrace {
    /// The rows before scale and shift.
    rows: Vec<f32>,
    statistics: Statistics,
    /// The meaning of the rows.
    count: f32,
}

/// The values that the backward pass of an update function needs.
pub(crate) struct UpdateTrace {
    first: NormTrace,
    second: NormTrace,
}

/// The vectors of the classes in every role, or their gradients.
pub(crate) type Members = Vec<Vec<f32>>;

impl<'a> Pass<'a> {
    fn statistics(&self, norm: &Norm, rows: &[f32], counted: Counted<'_>) -> Statistics {
        let d = self.config.dimension;
        match (self.config.norm, &norm.running) {
            (NormKind::Layer, _) => Statistics::of_rows(rows, d),
            (NormKind::Batch, Some(running)) if !self.is_training => {
                let (mean, variance) = self.values[running.clone()].split_at(d);
                Statistics::fixed(mean, variance)
            }
            _ => Statistics::of_columns(rows, counted.weights, counted.groups, d),
        }
    }

    /// Norm and ReLU.
    pub(crate) fn norm_forward(
        &self,
        norm: &Norm,
        mut rows: Vec<f32>,
        counted: Counted<'_>,
    ) -> (Vec<f32>, NormTrace) {
        let statistics = self.statistics(norm, &rows, counted);
        let mut out = self.compute.take(rows.len());
        norm::activate(&mut out, &mut rows, counted.groups, &statistics, norm.affine(self.values));
        if !self.keeps_trace {
            // The rows of a large graph are most of what its embedding takes.
            self.compute.give(std::mem::take(&mut rows));
        }
        (out, NormTrace { rows, statistics, count: counted.weights.iter().sum() })
    }

    /// Turns the gradient of the output of norm and ReLU into that of the input.
    pub(crate) fn norm_backward(
        &self,
        norm: &Norm,
        trace: &NormTrace,
        counted: Counted<'_>,
        gradient: &mut [f32],
        gradients: &mut [f32],
    ) {
        let normalised = Normalised {
            rows: &trace.rows,
            weights: counted.weights,
            groups: counted.groups,
            statistics: &trace.statistics,
            affine: norm.affine(self.values),
        };
        let affine_gradient = norm.affine_gradient(gradients);
        match self.config.norm {
            NormKind::Layer => norm::backward_rows(gradient, normalised, affine_gradient),
            NormKind::Graph | NormKind::Batch => norm::backward(gradient, normalised, affine_gradient),
        }
    }

    pub(crate) fn product(&self, weight: &Weight, rows: &[f32]) -> Vec<f32> {
        self.weights.product(weight, rows, self.compute)
    }

    pub(crate) fn weight_gradient(
        &self,
        weight: &Weight,
        rows: &[f32],
        gradient: &[f32],
        gradients: &mut [f32],
    ) {
        weight.add_gradient(self.compute.kernel, rows, gradient, gradients);
    }

    /// The vectors of the classes in every role.
    pub(crate) fn members(&self, relation: &Relation, nodes: &[f32]) -> Members {
        let d = self.config.dimension;
        let of_role = relation.roles.iter().map(|role| {
            let mut members = self.compute.take(role.members.len() * d);
            rows::gather(&mut members, nodes, &role.members, d);
            members
        });
        of_role.collect()
    }

    /// Applies an update function to the rows of a relation, and adds what it makes of each row to those that have the
    /// role `receiver` there.
    ///
    /// The first FC of the concatenation is the sum of a product for each input, W[a;b] = Wa a + Wb b, and those are
    /// the same for all rows in which a class has the same role.
    pub(crate) fn update_forward(
        &self,
        update: &Update,
        relation: &Relation,
        members: &Members,
        receiver: usize,
        combined: &mut [f32],
    ) -> UpdateTrace {
        let (d, compute) = (self.config.dimension, self.compute);
        let products: Vec<Vec<f32>> =
            update.first.iter().zip(members).map(|(weight, members)| self.product(weight, members)).collect();
        let mut sums = compute.take(relation.weights.len() * d);
        let inputs: Vec<&[f32]> = products.iter().map(Vec::as_slice).collect();
        let indices: Vec<&[u32]> = relation.roles.iter().map(|role| role.rows.as_slice()).collect();
        rows::gather_sum(&mut sums, &inputs, &indices, d);
        products.into_iter().for_each(|product| compute.give(product));
        let (hidden, first) = self.norm_forward(&update.first_norm, sums, relation.counted());
        let product = self.product(&update.second, &hidden);
        compute.give(hidden);
        let (messages, second) = self.norm_forward(&update.second_norm, product, relation.counted());
        let to = &relation.deliveries[receiver];
        rows::deliver(combined, &to.classes, &relation.factors, &messages, &to.rows, d);
        compute.give(messages);
        UpdateTrace { first, second }
    }

    /// Adds the gradients of an update function's weights and of its members, given that of those which it updated.
    pub(crate) fn update_backward(
        &self,
        update: &Update,
        trace: &UpdateTrace,
        relation: &Relation,
        (members, member_gradients): (&Members, &mut Members),
        (receiver, combined_gradient): (usize, &[f32]),
        gradients: &mut [f32],
    ) {
        let (d, compute) = (self.config.dimension, self.compute);
        let mut gradient = compute.zeros(relation.weights.len() * d);
        let to = &relation.deliveries[receiver];
        rows::collect(&mut gradient, &to.rows, &relation.factors, combined_gradient, &to.classes, d);
        let counted = relation.counted();
        self.norm_backward(&update.second_norm, &trace.second, counted, &mut gradient, gradients);
        let mut hidden = compute.take(gradient.len());
        norm::activate_again(&mut hidden, &trace.first.rows, update.first_norm.affine(self.values));
        self.weight_gradient(&update.second, &hidden, &gradient, gradients);
        let mut hidden_gradient = hidden;
        self.weights.backward(&update.second).multiply(&mut hidden_gradient, &gradient);
        compute.give(gradient);
        self.norm_backward(&update.first_norm, &trace.first, counted, &mut hidden_gradient, gradients);
        for (i, (weight, role)) in update.first.iter().zip(&relation.roles).enumerate() {
            let mut product = compute.zeros(members[i].len());
            rows::add_rows(&mut product, &hidden_gradient, &role.rows, d);
            self.weight_gradient(weight, &members[i], &product, gradients);
            self.weights.backward(weight).multiply_add(&mut member_gradients[i], &product);
            compute.give(product);
        }
        compute.give(hidden_gradient);
    }
}

/// How rows are counted by norms: what each stands for, and the groups that are looked at.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'a> {
    weights: &'a [f32],
    groups: &'a [u32],
}

impl Relation {
    fn counted(&self) -> Counted<'_> {
        Counted { weights: &self.weights, groups: &self.groups }
    }
}

impl Level {
    pub(crate) fn counted(&self) -> Counted<'_> {
        Counted { weights: &self.weights, groups: &self.groups }
    }
}

impl NormTrace {
    /// The statistics, if there were rows, and of how many.
    pub(crate) fn followed(&self) -> Option<(&Statistics, f32)> {
        (self.count > 0.0).then_some((&self.statistics, self.count))
    }

    pub(crate) fn recycle(self, compute: &Compute) {
        compute.give(self.rows);
    }
}

impl UpdateTrace {
    pub(crate) fn norms(&self) -> [&NormTrace; 2] {
        [&self.first, &self.second]
    }

    pub(crate) fn recycle(self, compute: &Compute) {
        self.first.recycle(compute);
        self.second.recycle(compute);
    }
}
