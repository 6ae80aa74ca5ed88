//! Matrix products. Rows lie one after the other.

use gemm::Parallelism;

/// How a matrix is read.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// As it is.
    Plain,
    /// Rows as columns.
    Transposed,
}

/// `c = alpha * c + a * b`, with `a` of m by k and `b` of k by n after they are read as said.
///
/// # Panics
///
/// If a slice does not have the length that its shape asks for.
#[allow(unsafe_code)]
pub(crate) fn multiply(
    c: &mut [f32],
    alpha: f32,
    (a, read_a): (&[f32], Read),
    (b, read_b): (&[f32], Read),
    [m, n, k]: [usize; 3],
) {
    assert!(c.len() == m * n && a.len() == m * k && b.len() == k * n, "shapes do not fit");
    if m == 0 || n == 0 {
        return;
    }
    let strides = |read, rows: usize, columns: usize| match read {
        Read::Plain => (1, columns as isize),
        Read::Transposed => (rows as isize, 1),
    };
    let ((a_column, a_row), (b_column, b_row)) = (strides(read_a, m, k), strides(read_b, k, n));
    // SAFETY: the lengths were checked, the strides address exactly these elements, and `c` is borrowed mutably, so
    // it overlaps neither `a` nor `b`.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            n as isize,
            alpha != 0.0,
            a.as_ptr(),
            a_column,
            a_row,
            b.as_ptr(),
            b_column,
            b_row,
            alpha,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|i| ((i.wrapping_mul(2_654_435_761) ^ seed) % 1000) as f32 / 500.0 - 1.0).collect()
    }

    #[test]
    fn products_equal_plain_loops() {
        for [m, n, k] in
            [[0, 3, 2], [1, 1, 1], [15, 17, 3], [17, 15, 33], [5, 64, 64], [255, 3, 17], [257, 16, 8]]
        {
            for read_a in [Read::Plain, Read::Transposed] {
                for read_b in [Read::Plain, Read::Transposed] {
                    let (a, b, old) = (values(m * k, 1), values(k * n, 2), values(m * n, 3));
                    let a_at = |i: usize, l: usize| match read_a {
                        Read::Plain => a[i * k + l],
                        Read::Transposed => a[l * m + i],
                    };
                    let b_at = |l: usize, j: usize| match read_b {
                        Read::Plain => b[l * n + j],
                        Read::Transposed => b[j * k + l],
                    };
                    for alpha in [0.0, 1.0] {
                        let mut c = old.clone();
                        multiply(&mut c, alpha, (&a, read_a), (&b, read_b), [m, n, k]);
                        for i in 0..m {
                            for j in 0..n {
                                let sum: f32 = (0..k).map(|l| a_at(i, l) * b_at(l, j)).sum();
                                let expected = alpha * old[i * n + j] + sum;
                                assert!((c[i * n + j] - expected).abs() < 1e-4, "{m} {n} {k}");
                            }
                        }
                    }
                }
            }
        }
    }
}
