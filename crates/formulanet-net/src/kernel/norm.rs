//! Norms, each followed by ReLU: the columns of a group of rows get mean 0 and variance 1, then a learned scale and
//! shift.
//!
//! A group is a range of rows: those of one graph, or those of a whole micro-batch.

use super::wide::wide;

/// Keeps the variance of equal rows from being divided by zero.
pub(crate) const EPSILON: f32 = 1e-5;

/// Mean and one over the deviation of every column of every group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    pub(crate) mean: Vec<f32>,
    pub(crate) inverse: Vec<f32>,
}

/// Scale and shift of a norm.
#[derive(Clone, Copy)]
pub(crate) struct Affine<'a> {
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
}

/// The gradients of scale and shift.
pub(crate) struct AffineGradient<'a> {
    pub(crate) scale: &'a mut [f32],
    pub(crate) shift: &'a mut [f32],
}

/// Where rows are added to: the rows with these numbers, times the factor of each.
#[derive(Clone, Copy)]
pub(crate) struct Receivers<'a> {
    pub(crate) rows: &'a [u32],
    pub(crate) factors: &'a [f32],
}

impl Statistics {
    /// The statistics of groups of rows; group g is the rows from `groups[g]` to `groups[g + 1]`.
    pub(crate) fn of_columns(rows: &[f32], groups: &[u32], d: usize) -> Self {
        let count = groups.len() - 1;
        let mut statistics = Statistics { mean: vec![0.0; count * d], inverse: vec![0.0; count * d] };
        for (g, group) in groups.windows(2).enumerate() {
            let range = g * d..(g + 1) * d;
            let mean = &mut statistics.mean[range.clone()];
            column_statistics(
                &rows[group[0] as usize * d..group[1] as usize * d],
                mean,
                &mut statistics.inverse[range],
            );
        }
        statistics
    }

    /// The statistics of every row over its own numbers, as if each row were a group.
    pub(crate) fn of_rows(rows: &[f32], d: usize) -> Self {
        let mut statistics = Statistics::default();
        for row in rows.chunks_exact(d) {
            let mean = row.iter().sum::<f32>() / d as f32;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / d as f32;
            statistics.mean.extend(std::iter::repeat_n(mean, d));
            statistics.inverse.extend(std::iter::repeat_n(1.0 / (variance + EPSILON).sqrt(), d));
        }
        statistics
    }

    /// Fixed statistics of one group.
    pub(crate) fn fixed(mean: &[f32], variance: &[f32]) -> Self {
        let inverse = variance.iter().map(|variance| 1.0 / (variance + EPSILON).sqrt()).collect();
        Statistics { mean: mean.to_vec(), inverse }
    }

    /// The variance of every column of the first group.
    pub(crate) fn variance(&self) -> impl Iterator<Item = f32> {
        self.inverse.iter().map(|inverse| 1.0 / (inverse * inverse) - EPSILON)
    }
}

wide! {
    fn column_statistics(rows: &[f32], mean: &mut [f32], inverse: &mut [f32]) {
        let d = mean.len();
        let count = (rows.len() / d).max(1) as f32;
        for row in rows.chunks_exact(d) {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
        }
        mean.iter_mut().for_each(|mean| *mean /= count);
        for row in rows.chunks_exact(d) {
            for ((value, mean), square) in row.iter().zip(&*mean).zip(&mut *inverse) {
                let difference = value - mean;
                *square += difference * difference;
            }
        }
        inverse.iter_mut().for_each(|square| *square = 1.0 / (*square / count + EPSILON).sqrt());
    }
}

wide! {
    /// Normalises `rows` in place, and puts `max(0, scale * row + shift)` into `out`.
    pub(crate) fn activate(
        out: &mut [f32],
        rows: &mut [f32],
        groups: &[u32],
        statistics: &Statistics,
        affine: Affine<'_>,
    ) {
        let d = affine.scale.len();
        for (g, group) in groups.windows(2).enumerate() {
            let (mean, inverse) = (&statistics.mean[g * d..][..d], &statistics.inverse[g * d..][..d]);
            let range = group[0] as usize * d..group[1] as usize * d;
            for (row, out) in rows[range.clone()].chunks_exact_mut(d).zip(out[range].chunks_exact_mut(d)) {
                let (scale, shift) = (&affine.scale[..d], &affine.shift[..d]);
                for j in 0..d {
                    row[j] = (row[j] - mean[j]) * inverse[j];
                    out[j] = (row[j] * scale[j] + shift[j]).max(0.0);
                }
            }
        }
    }
}

wide! {
    /// Normalises `rows` in place, and adds `max(0, scale * row + shift)` to the receivers' rows of `out`.
    pub(crate) fn activate_into(
        out: &mut [f32],
        receivers: Receivers<'_>,
        rows: &mut [f32],
        groups: &[u32],
        statistics: &Statistics,
        affine: Affine<'_>,
    ) {
        let d = affine.scale.len();
        for (g, group) in groups.windows(2).enumerate() {
            let (mean, inverse) = (&statistics.mean[g * d..][..d], &statistics.inverse[g * d..][..d]);
            for r in group[0] as usize..group[1] as usize {
                let receiver = receivers.rows[r] as usize;
                let factor = receivers.factors[receiver];
                let (row, out) = (&mut rows[r * d..][..d], &mut out[receiver * d..][..d]);
                let (scale, shift) = (&affine.scale[..d], &affine.shift[..d]);
                for j in 0..d {
                    row[j] = (row[j] - mean[j]) * inverse[j];
                    out[j] += factor * (row[j] * scale[j] + shift[j]).max(0.0);
                }
            }
        }
    }
}

wide! {
    /// `max(0, scale * normalised + shift)`
    pub(crate) fn activate_again(out: &mut [f32], normalised: &[f32], affine: Affine<'_>) {
        let d = affine.scale.len();
        for (out, row) in out.chunks_exact_mut(d).zip(normalised.chunks_exact(d)) {
            let (scale, shift) = (&affine.scale[..d], &affine.shift[..d]);
            for j in 0..d {
                out[j] = (row[j] * scale[j] + shift[j]).max(0.0);
            }
        }
    }
}

/// What a backward pass knows of a norm's forward pass.
#[derive(Clone, Copy)]
pub(crate) struct Normalised<'a> {
    /// The rows before scale and shift.
    pub(crate) rows: &'a [f32],
    pub(crate) groups: &'a [u32],
    pub(crate) statistics: &'a Statistics,
    pub(crate) affine: Affine<'a>,
}

/// Turns the gradient of the output into that of the rows before the norm, and adds those of scale and shift. If the
/// output was added to receivers, `source` has them and their gradient, and `gradient` is only written to.
pub(crate) fn backward(
    gradient: &mut [f32],
    source: Option<(&[f32], Receivers<'_>)>,
    norm: Normalised<'_>,
    affine_gradient: AffineGradient<'_>,
) {
    let d = norm.affine.scale.len();
    let (mut sums, mut products) = (vec![0.0; d], vec![0.0; d]);
    backward_groups(gradient, source, norm, &mut sums, &mut products, affine_gradient);
}

wide! {
    fn backward_groups(
        gradient: &mut [f32],
        source: Option<(&[f32], Receivers<'_>)>,
        norm: Normalised<'_>,
        sums: &mut [f32],
        products: &mut [f32],
        affine_gradient: AffineGradient<'_>,
    ) {
        let d = norm.affine.scale.len();
        let (scale, shift, sums, products) =
            (&norm.affine.scale[..d], &norm.affine.shift[..d], &mut sums[..d], &mut products[..d]);
        for (g, group) in norm.groups.windows(2).enumerate() {
            let group = group[0] as usize..group[1] as usize;
            sums.fill(0.0);
            products.fill(0.0);
            for r in group.clone() {
                let (row, x) = (&mut gradient[r * d..][..d], &norm.rows[r * d..][..d]);
                if let Some((received, receivers)) = source {
                    let receiver = receivers.rows[r] as usize;
                    let (factor, received) = (receivers.factors[receiver], &received[receiver * d..][..d]);
                    row.iter_mut().zip(received).for_each(|(value, received)| *value = factor * received);
                }
                for j in 0..d {
                    row[j] = if x[j] * scale[j] + shift[j] > 0.0 { row[j] } else { 0.0 };
                    sums[j] += row[j];
                    products[j] += row[j] * x[j];
                }
            }
            affine_gradient.scale.iter_mut().zip(&*products).for_each(|(gradient, product)| *gradient += product);
            affine_gradient.shift.iter_mut().zip(&*sums).for_each(|(gradient, sum)| *gradient += sum);
            let count = group.len().max(1) as f32;
            let inverse = &norm.statistics.inverse[g * d..][..d];
            sums.iter_mut().chain(&mut *products).for_each(|sum| *sum /= count);
            for r in group {
                let (row, x) = (&mut gradient[r * d..][..d], &norm.rows[r * d..][..d]);
                for j in 0..d {
                    row[j] = scale[j] * inverse[j] * (row[j] - (sums[j] + x[j] * products[j]));
                }
            }
        }
    }
}

/// As [`backward`], for a norm of every row over its own numbers.
pub(crate) fn backward_rows(
    gradient: &mut [f32],
    source: Option<(&[f32], Receivers<'_>)>,
    norm: Normalised<'_>,
    affine_gradient: AffineGradient<'_>,
) {
    let d = norm.affine.scale.len();
    for (r, (row, x)) in gradient.chunks_exact_mut(d).zip(norm.rows.chunks_exact(d)).enumerate() {
        if let Some((received, receivers)) = source {
            let receiver = receivers.rows[r] as usize;
            let factor = receivers.factors[receiver];
            row.iter_mut().zip(&received[receiver * d..]).for_each(|(value, x)| *value = factor * x);
        }
        let (mut sum, mut product) = (0.0, 0.0);
        for j in 0..d {
            let (scale, shift) = (norm.affine.scale[j], norm.affine.shift[j]);
            row[j] = if x[j] * scale + shift > 0.0 { row[j] } else { 0.0 };
            affine_gradient.scale[j] += row[j] * x[j];
            affine_gradient.shift[j] += row[j];
            row[j] *= scale;
            sum += row[j];
            product += row[j] * x[j];
        }
        let (mean, slope) = (sum / d as f32, product / d as f32);
        let inverse = norm.statistics.inverse[r * d];
        row.iter_mut().zip(x).for_each(|(value, x)| *value = inverse * (*value - mean - x * slope));
    }
}
