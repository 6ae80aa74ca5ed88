//! Sums of rows with what a function makes of them, each normalised over its own numbers.

use super::norm::{Affine, AffineGradient, EPSILON};
use super::wide::wide;

/// So many sums are kept apart, so that they fill vectors.
const LANES: usize = 16;

/// The sum of `of(j)` for all numbers below `d`, in the same order on every CPU.
#[inline(always)]
fn sum(d: usize, of: impl Fn(usize) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let whole = d - d % LANES;
    for begin in (0..whole).step_by(LANES) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += of(begin + lane);
        }
    }
    let rest: f32 = (whole..d).map(of).sum();
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0] + rest
}

wide! {
    /// Normalises `base + change + bias` and puts `scale * normalised + shift` into `out`; `change` becomes what is
    /// normalised, and `inverse` one over the deviation of every row.
    pub(crate) fn add_and_norm(
        out: &mut [f32],
        change: &mut [f32],
        inverse: &mut [f32],
        base: &[f32],
        bias: &[f32],
        affine: Affine<'_>,
    ) {
        let d = bias.len();
        let (scale, shift) = (&affine.scale[..d], &affine.shift[..d]);
        let rows = out.chunks_exact_mut(d).zip(change.chunks_exact_mut(d)).zip(base.chunks_exact(d));
        for (((out, change), base), inverse) in rows.zip(inverse) {
            for j in 0..d {
                change[j] = base[j] + (change[j] + bias[j]);
            }
            let mean = sum(d, |j| change[j]) / d as f32;
            let variance = sum(d, |j| (change[j] - mean) * (change[j] - mean)) / d as f32;
            *inverse = 1.0 / (variance + EPSILON).sqrt();
            for j in 0..d {
                change[j] = (change[j] - mean) * *inverse;
                out[j] = change[j] * scale[j] + shift[j];
            }
        }
    }
}

wide! {
    /// Turns the gradient of the output into that of the sum before the norm, and adds those of scale, shift and bias.
    pub(crate) fn add_and_norm_backward(
        gradient: &mut [f32],
        normalised: &[f32],
        inverse: &[f32],
        affine: Affine<'_>,
        affine_gradient: AffineGradient<'_>,
        bias_gradient: &mut [f32],
    ) {
        let d = bias_gradient.len();
        let scale = &affine.scale[..d];
        let (scales, shifts) = (&mut affine_gradient.scale[..d], &mut affine_gradient.shift[..d]);
        for ((row, x), &inverse) in gradient.chunks_exact_mut(d).zip(normalised.chunks_exact(d)).zip(inverse) {
            for j in 0..d {
                scales[j] += row[j] * x[j];
                shifts[j] += row[j];
                row[j] *= scale[j];
            }
            let mean = sum(d, |j| row[j]) / d as f32;
            let slope = sum(d, |j| row[j] * x[j]) / d as f32;
            for j in 0..d {
                row[j] = inverse * (row[j] - mean - x[j] * slope);
                bias_gradient[j] += row[j];
            }
        }
    }
}

wide! {
    /// Adds a bias to every row, then ReLU.
    pub(crate) fn activate(rows: &mut [f32], bias: &[f32]) {
        let d = bias.len();
        for row in rows.chunks_exact_mut(d) {
            for j in 0..d {
                row[j] = (row[j] + bias[j]).max(0.0);
            }
        }
    }
}

wide! {
    /// Turns the gradient of ReLU's output into that of its input, and adds it to that of the bias.
    pub(crate) fn activate_backward(gradient: &mut [f32], active: &[f32], bias_gradient: &mut [f32]) {
        let d = bias_gradient.len();
        for (row, active) in gradient.chunks_exact_mut(d).zip(active.chunks_exact(d)) {
            for j in 0..d {
                row[j] = if active[j] > 0.0 { row[j] } else { 0.0 };
                bias_gradient[j] += row[j];
            }
        }
    }
}
