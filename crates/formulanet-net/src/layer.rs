//! The functions of Eqn. 1 and 2, forward and backward.

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

/// Applies an update function to rows of nodes: row r has the inputs `roles[0][r]`, `roles[1][r]`, ...
///
/// The first FC of the concatenation is the sum of a product for each input, W[a;b] = Wa a + Wb b, and those are the
/// same for all rows in which a node has the same role.
pub(crate) fn update_forward(
    values: &[f32],
    update: &Update,
    nodes: &[f32],
    roles: &[&[u32]],
    d: usize,
) -> (Vec<f32>, UpdateState) {
    let (count, rows) = (nodes.len() / d, roles[0].len());
    let products: Vec<Vec<f32>> = update
        .first
        .iter()
        .map(|weight| {
            let mut product = vec![0.0; count * d];
            multiply(&mut product, 0.0, (nodes, Plain), (&values[weight.clone()], Transposed), [count, d, d]);
            product
        })
        .collect();
    let first = norm::normalise(rows::gather_sum(&products, roles, d), d);
    let (scale, shift) = affine(values, &update.first_norm);
    let hidden = norm::activate(&first.normalised, scale, shift);
    let mut second = vec![0.0; rows * d];
    multiply(&mut second, 0.0, (&hidden, Plain), (&values[update.second.clone()], Transposed), [rows, d, d]);
    let second = norm::normalise(second, d);
    let (scale, shift) = affine(values, &update.second_norm);
    let messages = norm::activate(&second.normalised, scale, shift);
    (messages, UpdateState { first, second })
}

/// Adds the gradients of an update function's weights and of the nodes, given that of the messages.
#[allow(clippy::too_many_arguments)]
pub(crate) fn update_backward(
    values: &[f32],
    gradients: &mut [f32],
    update: &Update,
    state: &UpdateState,
    nodes: &[f32],
    node_gradient: &mut [f32],
    roles: &[&[u32]],
    message_gradient: Vec<f32>,
    d: usize,
) {
    let (count, rows) = (nodes.len() / d, roles[0].len());
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
    for (weight, role) in update.first.iter().zip(roles) {
        let product_gradient = rows::scatter_rows(&gradient, role, count, d);
        multiply(
            &mut gradients[weight.clone()],
            1.0,
            (&product_gradient, Transposed),
            (nodes, Plain),
            [d, d, count],
        );
        multiply(
            node_gradient,
            1.0,
            (&product_gradient, Plain),
            (&values[weight.clone()], Plain),
            [count, d, d],
        );
    }
}
