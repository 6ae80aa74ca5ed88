//! Sums of rows with what a function makes of them, each normalised over its own numbers.

use super::norm::{Affine, AffineGradient, EPSILON};
use super::wide::wide;

/// The number of separate sums, which fill vectors.
const LANES: usize = 16;

/// The sum of what a function makes of every pair of numbers of two rows, in the same order on every CPU.
#[inline(always)]
fn sum(first: &[f32], second: &[f32], of: impl Fn(f32, f32) -> f32) -> f32 {
    let (first, first_rest) = first.as_chunks::<LANES>();
    let (second, second_rest) = second.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (first, second) in first.iter().zip(second) {
        for lane in 0..LANES {
            lanes[lane] += of(first[lane], second[lane]);
        }
    }
    let rest: f32 = first_rest.iter().zip(second_rest).map(|(&x, &y)| of(x, y)).sum();
    // Halves are added to each other: arrays of a known length stay in vectors.
    let eight: [f32; 8] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 8]);
    let four: [f32; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
    let two: [f32; 2] = std::array::from_fn(|lane| four[lane] + four[lane + 2]);
    two[0] + two[1] + rest
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
            let mean = sum(change, change, |x, _| x) / d as f32;
            let variance = sum(change, change, |x, _| (x - mean) * (x - mean)) / d as f32;
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
            let mean = sum(row, x, |gradient, _| gradient) / d as f32;
            let slope = sum(row, x, |gradient, x| gradient * x) / d as f32;
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
