//! The functions of Eqn. 1 and 2, forward and backward.

use crate::graph::Role;
use crate::kernel::matmul::Read::{Plain, Transposed};
use crate::kernel::matmul::multiply;
use crate::kernel::norm::{self, Saved};
use crate::kernel::rows;
use crate::parameters::{Norm, Update};

/// Scale and shift of a norm.
pub(crate) fn affine<'a>(values: &'a [f32], norm: &Norm) -> (&'a [f32], &'a [f32]) {
    (&values[norm.scale.clone()], &values[norm.shift.clone()])
}

/// The gradients of a norm's scale and shift.
pub(crate) fn affine_gradients<'a>(gradients: &'a mut [f32], norm: &Norm) -> (&'a mut [f32], &'a mut [f32]) {
    // The shift lies right behind the scale.
    let (scale, shift) = gradients[norm.scale.start..norm.shift.end].split_at_mut(norm.scale.len());
    (scale, shift)
}

/// What the backward pass of an update function needs.
pub(crate) struct UpdateState {
    first: Saved,
    second: Saved,
}

/// The vectors of the nodes in a role, and in the backward pass their gradient.
pub(crate) struct Members<'a> {
    role: &'a Role,
    nodes: Vec<f32>,
    gradient: Vec<f32>,
}

impl<'a> Members<'a> {
    pub(crate) fn of(role: &'a Role, nodes: &[f32], d: usize) -> Self {
        Members { role, nodes: rows::gather(nodes, &role.members, d), gradient: Vec::new() }
    }

    /// Makes room for gradients.
    pub(crate) fn with_gradient(mut self) -> Self {
        self.gradient = vec![0.0; self.nodes.len()];
        self
    }

    /// Adds the gradient to that of all nodes.
    pub(crate) fn add_to(&self, node_gradient: &mut [f32], d: usize) {
        rows::add_rows(node_gradient, &self.gradient, &self.role.members, d);
    }
}

/// Applies an update function to rows of nodes, which have a role each.
///
/// The first FC of the concatenation is the sum of a product for each input, W[a;b] = Wa a + Wb b, and those are the
/// same for all rows in which a node has the same role.
pub(crate) fn update_forward(
    values: &[f32],
    update: &Update,
    members: &[Members<'_>],
    d: usize,
) -> (Vec<f32>, UpdateState) {
    let rows = members[0].role.rows.len();
    let products: Vec<Vec<f32>> = update
        .first
        .iter()
        .zip(members)
        .map(|(weight, members)| {
            let count = members.role.members.len();
            let mut product = vec![0.0; count * d];
            let weight = &values[weight.clone()];
            multiply(&mut product, 0.0, (&members.nodes, Plain), (weight, Transposed), [count, d, d]);
            product
        })
        .collect();
    let indices: Vec<&[u32]> = members.iter().map(|members| members.role.rows.as_slice()).collect();
    let first = norm::normalise(rows::gather_sum(&products, &indices, d), d);
    let (scale, shift) = affine(values, &update.first_norm);
    let hidden = norm::activate(&first.normalised, scale, shift);
    let mut second = vec![0.0; rows * d];
    let weight = &values[update.second.clone()];
    multiply(&mut second, 0.0, (&hidden, Plain), (weight, Transposed), [rows, d, d]);
    let second = norm::normalise(second, d);
    let (scale, shift) = affine(values, &update.second_norm);
    let messages = norm::activate(&second.normalised, scale, shift);
    (messages, UpdateState { first, second })
}

/// Adds the gradients of an update function's weights and of its members, given that of the messages.
pub(crate) fn update_backward(
    values: &[f32],
    gradients: &mut [f32],
    update: &Update,
    state: &UpdateState,
    members: &mut [Members<'_>],
    message_gradient: Vec<f32>,
    d: usize,
) {
    let rows = members[0].role.rows.len();
    let gradient = norm::backward(
        &state.second,
        message_gradient,
        affine(values, &update.second_norm),
        affine_gradients(gradients, &update.second_norm),
    );
    let (scale, shift) = affine(values, &update.first_norm);
    let hidden = norm::activate(&state.first.normalised, scale, shift);
    let weight = update.second.clone();
    multiply(&mut gradients[weight.clone()], 1.0, (&gradient, Transposed), (&hidden, Plain), [d, d, rows]);
    let mut hidden_gradient = vec![0.0; rows * d];
    multiply(&mut hidden_gradient, 0.0, (&gradient, Plain), (&values[weight], Plain), [rows, d, d]);
    let gradient = norm::backward(
        &state.first,
        hidden_gradient,
        (scale, shift),
        affine_gradients(gradients, &update.first_norm),
    );
    for (weight, members) in update.first.iter().zip(members) {
        let count = members.role.members.len();
        let mut product = vec![0.0; count * d];
        rows::add_rows(&mut product, &gradient, &members.role.rows, d);
        let shape = [d, d, count];
        multiply(&mut gradients[weight.clone()], 1.0, (&product, Transposed), (&members.nodes, Plain), shape);
        let weight = &values[weight.clone()];
        multiply(&mut members.gradient, 1.0, (&product, Plain), (weight, Plain), [count, d, d]);
    }
}
