//! Gathering, scattering and pooling of rows.

/// Row r of the result is the sum over the inputs of their rows `indices[i][r]`.
pub(crate) fn gather_sum(inputs: &[Vec<f32>], indices: &[&[u32]], d: usize) -> Vec<f32> {
    let mut out = vec![0.0; indices[0].len() * d];
    for (input, indices) in inputs.iter().zip(indices) {
        for (row, &index) in out.chunks_exact_mut(d).zip(*indices) {
            let source = &input[index as usize * d..][..d];
            row.iter_mut().zip(source).for_each(|(value, x)| *value += x);
        }
    }
    out
}

/// The rows with the given indices.
pub(crate) fn gather(rows: &[f32], indices: &[u32], d: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(indices.len() * d);
    indices.iter().for_each(|&index| out.extend_from_slice(&rows[index as usize * d..][..d]));
    out
}

/// Adds every row to the row with its index.
pub(crate) fn add_rows(out: &mut [f32], rows: &[f32], indices: &[u32], d: usize) {
    for (row, &index) in rows.chunks_exact(d).zip(indices) {
        out[index as usize * d..][..d].iter_mut().zip(row).for_each(|(value, x)| *value += x);
    }
}

/// Adds every row, times the factor of its target, to the target's row.
pub(crate) fn scatter_add(out: &mut [f32], rows: &[f32], targets: &[u32], factors: &[f32], d: usize) {
    for (row, &target) in rows.chunks_exact(d).zip(targets) {
        let factor = factors[target as usize];
        let target = &mut out[target as usize * d..][..d];
        target.iter_mut().zip(row).for_each(|(value, x)| *value += factor * x);
    }
}

/// The gradient of [`scatter_add`]: the rows of the targets, times their factors.
pub(crate) fn gather_scaled(gradient: &[f32], targets: &[u32], factors: &[f32], d: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(targets.len() * d);
    for &target in targets {
        let factor = factors[target as usize];
        out.extend(gradient[target as usize * d..][..d].iter().map(|x| factor * x));
    }
    out
}

/// The largest value of every column, and the first row that has it.
pub(crate) fn max_pool(rows: &[f32], d: usize) -> (Vec<f32>, Vec<u32>) {
    let (mut largest, mut places) = (vec![f32::NEG_INFINITY; d], vec![0; d]);
    for (r, row) in rows.chunks_exact(d).enumerate() {
        for j in 0..d {
            if row[j] > largest[j] {
                (largest[j], places[j]) = (row[j], r as u32);
            }
        }
    }
    if rows.is_empty() {
        largest.fill(0.0);
    }
    (largest, places)
}
