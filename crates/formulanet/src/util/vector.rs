//! Arithmetic on rows of numbers.

/// Rows that are read, embedded or scored together: enough that graphs recur, few enough that vectors fit in memory.
pub const CHUNK: usize = 4096;

/// A dot product of 16 sums side by side, so that it is quick.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    dot_in::<16>(a, b)
}

/// A dot product of `SUMS` sums side by side. Their number decides how the result is rounded.
pub fn dot_in<const SUMS: usize>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; SUMS];
    let (a_chunks, b_chunks) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for j in 0..SUMS {
            sums[j] += a[j] * b[j];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// A part as a share of a whole; 0 of nothing.
pub fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Items in order, each once.
pub fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}
