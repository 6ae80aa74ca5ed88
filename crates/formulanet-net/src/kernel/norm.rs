//! Norms, each followed by ReLU: the columns of a group of rows get mean 0 and variance 1, then a learned scale and
//! shift.
//!
//! A group is a range of rows: those of one graph, or those of a whole micro-batch. A row counts as often as its weight
//! says.

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

impl Statistics {
    /// The statistics of groups of rows; group g is the rows from `groups[g]` to `groups[g + 1]`.
    pub(crate) fn of_columns(rows: &[f32], weights: &[f32], groups: &[u32], d: usize) -> Self {
        let count = groups.len() - 1;
        let mut statistics = Statistics { mean: vec![0.0; count * d], inverse: vec![0.0; count * d] };
        for (g, group) in groups.windows(2).enumerate() {
            let (range, group) = (g * d..(g + 1) * d, group[0] as usize..group[1] as usize);
            column_statistics(
                &rows[group.start * d..group.end * d],
                &weights[group],
                &mut statistics.mean[range.clone()],
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
    fn column_statistics(rows: &[f32], weights: &[f32], mean: &mut [f32], inverse: &mut [f32]) {
        let d = mean.len();
        let count = weights.iter().sum::<f32>().max(1.0);
        for (row, &weight) in rows.chunks_exact(d).zip(weights) {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += weight * value);
        }
        mean.iter_mut().for_each(|mean| *mean /= count);
        for (row, &weight) in rows.chunks_exact(d).zip(weights) {
            for ((value, mean), square) in row.iter().zip(&*mean).zip(&mut *inverse) {
                let difference = value - mean;
                *square += weight * difference * difference;
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

/// The values of a norm's forward pass that its backward pass needs.
#[derive(Clone, Copy)]
pub(crate) struct Normalised<'a> {
    /// The rows before scale and shift.
    pub(crate) rows: &'a [f32],
    pub(crate) weights: &'a [f32],
    pub(crate) groups: &'a [u32],
    pub(crate) statistics: &'a Statistics,
    pub(crate) affine: Affine<'a>,
}

/// Turns the gradient of the output into that of the rows before the norm, and adds those of scale and shift.
pub(crate) fn backward(gradient: &mut [f32], norm: Normalised<'_>, affine_gradient: AffineGradient<'_>) {
    let d = norm.affine.scale.len();
    let (mut sums, mut products) = (vec![0.0; d], vec![0.0; d]);
    backward_groups(gradient, norm, &mut sums, &mut products, affine_gradient);
}

wide! {
    fn backward_groups(
        gradient: &mut [f32],
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
                for j in 0..d {
                    row[j] = if x[j] * scale[j] + shift[j] > 0.0 { row[j] } else { 0.0 };
                    sums[j] += row[j];
                    products[j] += row[j] * x[j];
                }
            }
            affine_gradient.scale.iter_mut().zip(&*products).for_each(|(gradient, product)| *gradient += product);
            affine_gradient.shift.iter_mut().zip(&*sums).for_each(|(gradient, sum)| *gradient += sum);
            let count = norm.weights[group.clone()].iter().sum::<f32>().max(1.0);
            let inverse = &norm.statistics.inverse[g * d..][..d];
            sums.iter_mut().chain(&mut *products).for_each(|sum| *sum /= count);
            for r in group {
                let (row, x) = (&mut gradient[r * d..][..d], &norm.rows[r * d..][..d]);
                let weight = norm.weights[r];
                for j in 0..d {
                    row[j] = scale[j] * inverse[j] * (row[j] - weight * (sums[j] + x[j] * products[j]));
                }
            }
        }
    }
}

/// As [`backward`], for a norm of every row over its own numbers.
pub(crate) fn backward_rows(gradient: &mut [f32], norm: Normalised<'_>, affine_gradient: AffineGradient<'_>) {
    let d = norm.affine.scale.len();
    for (r, (row, x)) in gradient.chunks_exact_mut(d).zip(norm.rows.chunks_exact(d)).enumerate() {
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

#[cfg(test)]
mod tests {
    use super::*;

    const D: usize = 5;

    fn values(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|i| ((i.wrapping_mul(2_654_435_761) ^ seed) % 1000) as f32 / 500.0 - 1.0).collect()
    }

    fn affine() -> (Vec<f32>, Vec<f32>) {
        (values(D, 11).iter().map(|x| x + 1.5).collect(), values(D, 12))
    }

    fn assert_near(found: &[f32], expected: &[f64], what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (f64::from(*found) - expected).abs() < 2e-3 + 1e-4 * expected.abs(),
                "{what}: {found} {expected}"
            );
        }
    }

    /// The output of a norm over columns and ReLU, in f64 and one number at a time.
    fn plain(rows: &[f64], weights: &[f32], groups: &[u32], scale: &[f32], shift: &[f32]) -> Vec<f64> {
        let mut out = vec![0.0; rows.len()];
        for group in groups.windows(2) {
            let (begin, end) = (group[0] as usize, group[1] as usize);
            for j in 0..D {
                let weight = |r: usize| f64::from(weights[r]);
                let count: f64 = (begin..end).map(weight).sum();
                let mean = (begin..end).map(|r| weight(r) * rows[r * D + j]).sum::<f64>() / count;
                let square = |r: usize| weight(r) * (rows[r * D + j] - mean).powi(2);
                let variance = (begin..end).map(square).sum::<f64>() / count;
                for r in begin..end {
                    let normalised = (rows[r * D + j] - mean) / (variance + f64::from(EPSILON)).sqrt();
                    out[r * D + j] = (normalised * f64::from(scale[j]) + f64::from(shift[j])).max(0.0);
                }
            }
        }
        out
    }

    /// Groups of odd sizes, empty ones among them, and the gradient by finite differences in f64.
    #[test]
    fn norms_equal_plain_loops() {
        for counts in [vec![0], vec![1], vec![15, 0, 17], vec![255, 1], vec![257], vec![3, 4, 0, 0, 9]] {
            let mut groups = vec![0u32];
            counts.iter().for_each(|count| groups.push(groups[groups.len() - 1] + count));
            let count = groups[groups.len() - 1] as usize;
            let (rows, (scale, shift)) = (values(count * D, 3), affine());
            let affine = Affine { scale: &scale, shift: &shift };
            let exact: Vec<f64> = rows.iter().map(|&x| f64::from(x)).collect();
            let weights: Vec<f32> = (0..count).map(|r| (r % 3 + 1) as f32).collect();
            let expected = plain(&exact, &weights, &groups, &scale, &shift);
            let statistics = Statistics::of_columns(&rows, &weights, &groups, D);
            let (mut normalised, mut out) = (rows.clone(), vec![0.0; rows.len()]);
            activate(&mut out, &mut normalised, &groups, &statistics, affine);
            assert_near(&out, &expected, "activate");
            let mut again = vec![0.0; rows.len()];
            activate_again(&mut again, &normalised, affine);
            assert_eq!(again, out);

            // The gradient of a weighted sum of the outputs.
            let slopes = values(rows.len(), 5);
            let trace = Normalised {
                rows: &normalised,
                weights: &weights,
                groups: &groups,
                statistics: &statistics,
                affine,
            };
            let (mut gradient, mut scales, mut shifts) = (slopes.clone(), vec![0.0; D], vec![0.0; D]);
            let affine_gradient = AffineGradient { scale: &mut scales, shift: &mut shifts };
            backward(&mut gradient, trace, affine_gradient);
            let loss = |rows: &[f64]| -> f64 {
                let out = plain(rows, &weights, &groups, &scale, &shift);
                out.iter().zip(&slopes).map(|(out, &weight)| out * f64::from(weight)).sum()
            };
            for i in (0..rows.len()).step_by(rows.len() / 40 + 1) {
                let moved = |by: f64| {
                    let mut rows = exact.clone();
                    rows[i] += by;
                    loss(&rows)
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                // A group of one row is always 0 before the shift, at ReLU's kink if the shift is 0 too.
                let difference = (f64::from(gradient[i]) - slope).abs();
                assert!(difference < 1e-2 + 1e-2 * slope.abs(), "{counts:?} {i}: {} {slope}", gradient[i]);
            }
            let active = |r: usize, j: usize| f64::from(u8::from(out[r * D + j] > 0.0));
            let weight = |r: usize, j: usize| f64::from(slopes[r * D + j]) * active(r, j);
            let sum =
                |j: usize, of: &dyn Fn(usize) -> f64| (0..count).map(|r| weight(r, j) * of(r)).sum::<f64>();
            let expected: Vec<f64> = (0..D).map(|j| sum(j, &|_| 1.0)).collect();
            assert_near(&shifts, &expected, "shift");
            let expected: Vec<f64> = (0..D).map(|j| sum(j, &|r| f64::from(normalised[r * D + j]))).collect();
            assert_near(&scales, &expected, "scale");
        }
    }

    /// A row that counts three times is three rows.
    #[test]
    fn weights_count_rows() {
        let (scale, shift) = affine();
        let affine = Affine { scale: &scale, shift: &shift };
        let distinct = values(4 * D, 3);
        let weights = [3.0, 1.0, 2.0, 1.0];
        let repeated: Vec<f32> =
            [0, 0, 0, 1, 2, 2, 3].iter().flat_map(|&r: &usize| distinct[r * D..][..D].to_vec()).collect();
        let run = |rows: &[f32], weights: &[f32], gradient: &mut [f32]| {
            let groups = [0, weights.len() as u32];
            let statistics = Statistics::of_columns(rows, weights, &groups, D);
            let (mut normalised, mut out) = (rows.to_vec(), vec![0.0; rows.len()]);
            activate(&mut out, &mut normalised, &groups, &statistics, affine);
            let (mut scales, mut shifts) = (vec![0.0; D], vec![0.0; D]);
            let trace =
                Normalised { rows: &normalised, weights, groups: &groups, statistics: &statistics, affine };
            backward(gradient, trace, AffineGradient { scale: &mut scales, shift: &mut shifts });
            (out, scales, shifts)
        };
        let exact = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let mut each = values(7 * D, 5);
        let mut total: Vec<f32> = Vec::new();
        for copies in [0..3, 3..4, 4..6, 6..7] {
            total.extend((0..D).map(|j| copies.clone().map(|r: usize| each[r * D + j]).sum::<f32>()));
        }
        let (out, scales, shifts) = run(&distinct, &weights, &mut total);
        let (outs, expected_scales, expected_shifts) = run(&repeated, &[1.0; 7], &mut each);
        assert_near(&out[..D], &exact(&outs[2 * D..3 * D]), "output");
        assert_near(&scales, &exact(&expected_scales), "scale");
        assert_near(&shifts, &exact(&expected_shifts), "shift");
        let of_copies: Vec<f32> = (0..D).map(|j| (0..3).map(|r| each[r * D + j]).sum()).collect();
        assert_near(&total[..D], &exact(&of_copies), "gradient");
    }

    #[test]
    fn rows_have_statistics_of_their_own() {
        let statistics = Statistics::of_rows(&[1.0, 3.0, 5.0, 5.0], 2);
        assert_eq!(statistics.mean, [2.0, 2.0, 5.0, 5.0]);
        assert!((statistics.inverse[0] - 1.0).abs() < 1e-4);
        let fixed = Statistics::fixed(&[1.0], &[4.0]);
        assert!((fixed.variance().next().unwrap() - 4.0).abs() < 1e-4);
    }
}
