//! Arithmetic on rows of numbers.

/// A dot product, of several sums so that it is quick.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (a_chunks, b_chunks) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for j in 0..16 {
            sums[j] += a[j] * b[j];
        }
    }
    sums.iter().sum::<f32>() + rest
}
