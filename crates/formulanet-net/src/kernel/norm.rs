//! Batch norm over the rows of one graph, then ReLU.

/// Keeps the variance of equal rows from being divided by zero.
pub(crate) const EPSILON: f32 = 1e-5;

/// What the backward pass needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    /// The normalised rows, before scale and shift.
    pub(crate) normalised: Vec<f32>,
    /// One over the deviation of every column.
    inverse: Vec<f32>,
}

/// Normalises every column of `rows` to mean 0 and variance 1.
pub(crate) fn normalise(mut rows: Vec<f32>, d: usize) -> Saved {
    let count = (rows.len() / d).max(1) as f32;
    let mut mean = vec![0.0; d];
    for row in rows.chunks_exact(d) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
    }
    mean.iter_mut().for_each(|mean| *mean /= count);
    let mut inverse = vec![0.0; d];
    for row in rows.chunks_exact_mut(d) {
        for ((value, mean), square) in row.iter_mut().zip(&mean).zip(&mut inverse) {
            *value -= mean;
            *square += *value * *value;
        }
    }
    inverse.iter_mut().for_each(|square| *square = 1.0 / (*square / count + EPSILON).sqrt());
    for row in rows.chunks_exact_mut(d) {
        row.iter_mut().zip(&inverse).for_each(|(value, inverse)| *value *= inverse);
    }
    Saved { normalised: rows, inverse }
}

/// `max(0, scale * normalised + shift)`
pub(crate) fn activate(normalised: &[f32], scale: &[f32], shift: &[f32]) -> Vec<f32> {
    let mut out = Vec::with_capacity(normalised.len());
    for row in normalised.chunks_exact(scale.len()) {
        out.extend(row.iter().zip(scale).zip(shift).map(|((x, scale), shift)| (x * scale + shift).max(0.0)));
    }
    out
}

/// Turns the gradient of the output into that of the rows before the norm, and adds those of scale and shift.
pub(crate) fn backward(
    saved: &Saved,
    mut gradient: Vec<f32>,
    (scale, shift): (&[f32], &[f32]),
    (scale_gradient, shift_gradient): (&mut [f32], &mut [f32]),
) -> Vec<f32> {
    let d = scale.len();
    let (mut sums, mut products) = (vec![0.0; d], vec![0.0; d]);
    for (row, x) in gradient.chunks_exact_mut(d).zip(saved.normalised.chunks_exact(d)) {
        for j in 0..d {
            if x[j] * scale[j] + shift[j] <= 0.0 {
                row[j] = 0.0;
            }
            sums[j] += row[j];
            products[j] += row[j] * x[j];
        }
    }
    scale_gradient.iter_mut().zip(&products).for_each(|(gradient, product)| *gradient += product);
    shift_gradient.iter_mut().zip(&sums).for_each(|(gradient, sum)| *gradient += sum);
    let count = (gradient.len() / d).max(1) as f32;
    for (row, x) in gradient.chunks_exact_mut(d).zip(saved.normalised.chunks_exact(d)) {
        for j in 0..d {
            row[j] = scale[j] * saved.inverse[j] * (row[j] - (sums[j] + x[j] * products[j]) / count);
        }
    }
    gradient
}
