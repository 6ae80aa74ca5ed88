//! Gathering, scattering and pooling of rows.

use super::wide::wide;

wide! {
    /// Row r of `out` is the sum over the inputs of their rows `indices[i][r]`.
    pub(crate) fn gather_sum(out: &mut [f32], inputs: &[&[f32]], indices: &[&[u32]], d: usize) {
        for (r, out) in out.chunks_exact_mut(d).enumerate() {
            let row = |i: usize| &inputs[i][indices[i][r] as usize * d..][..d];
            let [first, second] = [row(0), row(1)];
            if inputs.len() == 3 {
                let third = row(2);
                for j in 0..d {
                    out[j] = first[j] + second[j] + third[j];
                }
            } else {
                for j in 0..d {
                    out[j] = first[j] + second[j];
                }
            }
        }
    }
}

wide! {
    /// Row r of `out` is row `indices[r]` of `rows`.
    pub(crate) fn gather(out: &mut [f32], rows: &[f32], indices: &[u32], d: usize) {
        for (out, &index) in out.chunks_exact_mut(d).zip(indices) {
            out.copy_from_slice(&rows[index as usize * d..][..d]);
        }
    }
}

wide! {
    /// Adds every row to the row of `out` with its index.
    pub(crate) fn add_rows(out: &mut [f32], rows: &[f32], indices: &[u32], d: usize) {
        for (row, &index) in rows.chunks_exact(d).zip(indices) {
            out[index as usize * d..][..d].iter_mut().zip(row).for_each(|(value, x)| *value += x);
        }
    }
}

wide! {
    /// Row `to[i]` of `out` gets row `from[i]` of `rows`, times the factor of the row it goes to.
    pub(crate) fn deliver(out: &mut [f32], to: &[u32], factors: &[f32], rows: &[f32], from: &[u32], d: usize) {
        for (&to, &from) in to.iter().zip(from) {
            let factor = factors[to as usize];
            let row = &rows[from as usize * d..][..d];
            out[to as usize * d..][..d].iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
        }
    }
}

wide! {
    /// The gradient of [`deliver`]: row `from[i]` of `out` gets row `to[i]` of the gradient, times its factor.
    pub(crate) fn collect(out: &mut [f32], from: &[u32], factors: &[f32], gradient: &[f32], to: &[u32], d: usize) {
        for (&to, &from) in to.iter().zip(from) {
            let factor = factors[to as usize];
            let row = &gradient[to as usize * d..][..d];
            out[from as usize * d..][..d].iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
        }
    }
}

wide! {
    /// `out += values`
    pub(crate) fn add(out: &mut [f32], values: &[f32]) {
        out.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
    }
}

wide! {
    /// Adds values that are multiplied by a factor.
    pub(crate) fn add_scaled(out: &mut [f32], values: &[f32], factor: f32) {
        out.iter_mut().zip(values).for_each(|(sum, x)| *sum += factor * x);
    }
}

wide! {
    /// The largest value of every column among some rows, and the first row that has it. Of no rows, zeros.
    pub(crate) fn max_pool(largest: &mut [f32], places: &mut [u32], rows: &[f32], numbers: &[u32]) {
        let d = largest.len();
        largest.fill(if numbers.is_empty() { 0.0 } else { f32::NEG_INFINITY });
        places.fill(0);
        let places = &mut places[..d];
        for &r in numbers {
            let row = &rows[r as usize * d..][..d];
            for j in 0..d {
                let is_larger = row[j] > largest[j];
                largest[j] = if is_larger { row[j] } else { largest[j] };
                places[j] = if is_larger { r } else { places[j] };
            }
        }
    }
}

wide! {
    /// The mean of every column of some rows, each counted as often as is said; of no rows, zeros.
    pub(crate) fn mean_pool(mean: &mut [f32], rows: &[f32], numbers: &[u32], counts: &[f32]) {
        let d = mean.len();
        mean.fill(0.0);
        for (&r, &count) in numbers.iter().zip(counts) {
            let row = &rows[r as usize * d..][..d];
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += count * x);
        }
        let total = counts.iter().sum::<f32>().max(1.0);
        mean.iter_mut().for_each(|mean| *mean /= total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_scattered_and_pooled() {
        let rows = [1.0, -2.0, 3.0, 4.0, 5.0, -6.0];
        let mut out = [0.0; 4];
        gather(&mut out, &rows, &[2, 0], 2);
        assert_eq!(out, [5.0, -6.0, 1.0, -2.0]);
        gather_sum(&mut out, &[&rows, &rows], &[&[0, 2], &[1, 1]], 2);
        assert_eq!(out, [4.0, 2.0, 8.0, -2.0]);
        gather_sum(&mut out, &[&rows, &rows, &rows], &[&[0, 2], &[1, 1], &[2, 2]], 2);
        assert_eq!(out, [9.0, -4.0, 13.0, -8.0]);
        let mut sums = [0.5; 4];
        add_rows(&mut sums, &rows, &[1, 1, 0], 2);
        assert_eq!(sums, [5.5, -5.5, 4.5, 2.5]);
        let (mut largest, mut places, mut mean) = ([0.0; 2], [9; 2], [0.0; 2]);
        max_pool(&mut largest, &mut places, &rows, &[0, 1, 2]);
        mean_pool(&mut mean, &rows, &[0, 1, 2], &[1.0; 3]);
        assert_eq!((largest, places, mean), ([5.0, 4.0], [2, 1], [3.0, -4.0 / 3.0]));
        max_pool(&mut largest, &mut places, &[1.0, 2.0, 1.0, 2.0], &[0, 1]);
        assert_eq!(places, [0, 0], "the first of equal rows");
        max_pool(&mut largest, &mut places, &rows, &[]);
        mean_pool(&mut mean, &rows, &[], &[]);
        assert_eq!((largest, mean), ([0.0; 2], [0.0; 2]));
        mean_pool(&mut mean, &rows, &[2, 0], &[1.0, 3.0]);
        assert_eq!(mean, [2.0, -3.0]);
        let (mut delivered, mut collected) = ([1.0; 4], [0.0; 6]);
        deliver(&mut delivered, &[1, 1], &[9.0, 0.5], &rows, &[0, 2], 2);
        assert_eq!(delivered, [1.0, 1.0, 4.0, -3.0]);
        collect(&mut collected, &[0, 2], &[9.0, 0.5], &delivered, &[1, 1], 2);
        assert_eq!(collected, [2.0, -1.5, 0.0, 0.0, 2.0, -1.5]);
    }
}
