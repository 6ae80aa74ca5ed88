//! The f32 matrix products, written once for vectors of any width.
//!
//! Every number of a product is one chain of multiply-adds in the order of the inner index, whatever the number of rows. So a row
//! has the same bits alone and among others.

use super::simd::Simd;

/// Rows of the inner index that [`add_outer`] takes at a time, so that what it packs stays in cache.
const DEPTH: usize = 192;

/// Bytes of left-hand rows that [`multiply`] goes over for each panel of the right-hand side.
const LEFT_BYTES: usize = 96 * 1024;

/// How wide a panel is: two vectors.
pub(super) const fn panel<S: Simd>() -> usize {
    2 * S::LANES
}

/// Cuts the k by n matrix whose element (l, j) is `at(l, j)` into panels of columns, padded with zeros. In a panel,
/// the numbers of a row lie together.
pub(super) fn pack(to: &mut Vec<f32>, [k, n]: [usize; 2], width: usize, at: impl Fn(usize, usize) -> f32) {
    to.clear();
    to.reserve(k * n.next_multiple_of(width));
    for start in (0..n).step_by(width) {
        for l in 0..k {
            to.extend((start..start + width).map(|j| if j < n { at(l, j) } else { 0.0 }));
        }
    }
}

/// As [`pack`], of rows that lie one after the other, without a look at every element.
fn pack_rows(to: &mut Vec<f32>, rows: &[f32], n: usize, width: usize) {
    to.clear();
    to.reserve(rows.len() / n * n.next_multiple_of(width));
    for start in (0..n).step_by(width) {
        let used = width.min(n - start);
        for row in rows.chunks_exact(n) {
            to.extend_from_slice(&row[start..start + used]);
            to.resize(to.len() + width - used, 0.0);
        }
    }
}

/// A left-hand side.
#[derive(Clone, Copy)]
enum Left {
    /// Rows with this stride.
    Rows(*const f32, usize),
    /// A panel of this many columns, each of which is a row of the product.
    Panel(*const f32, usize),
}

/// A tile of `M` rows and two vectors of columns.
///
/// # Safety
///
/// The CPU has the instructions of `S`; `a` has `M` rows of `k` numbers or a panel of `k` rows, `b` has `k` rows of a
/// panel's width, and `c` has `M` rows at a distance of `c_row`, of which the first `columns` numbers may be written.
#[inline(always)]
unsafe fn tile<S: Simd, const M: usize>(
    k: usize,
    a: Left,
    b: *const f32,
    (c, c_row, columns): (*mut f32, usize, usize),
    adds: bool,
) {
    // SAFETY: by this function's own contract; a tile at the right edge goes through an array of its own.
    unsafe {
        let mut sums = [[S::zero(); 2]; M];
        macro_rules! step {
            ($l:ident, $i:ident, $left:expr) => {{
                let b = b.add(2 * S::LANES * $l);
                let right = [S::load(b), S::load(b.add(S::LANES))];
                for ($i, sums) in sums.iter_mut().enumerate() {
                    let left = S::splat($left);
                    sums[0] = S::multiply_add(left, right[0], sums[0]);
                    sums[1] = S::multiply_add(left, right[1], sums[1]);
                }
            }};
        }
        match a {
            Left::Rows(a, distance) => {
                let rows: [*const f32; M] = std::array::from_fn(|i| a.add(i * distance));
                for l in 0..k {
                    step!(l, i, rows[i].add(l));
                }
            }
            Left::Panel(a, width) => {
                for l in 0..k {
                    step!(l, i, a.add(l * width + i));
                }
            }
        }
        let is_whole = columns == 2 * S::LANES;
        for (i, sums) in sums.iter().enumerate() {
            let c = c.add(i * c_row);
            if is_whole {
                for (v, &sum) in sums.iter().enumerate() {
                    let c = c.add(v * S::LANES);
                    S::store(c, if adds { S::add(S::load(c), sum) } else { sum });
                }
            } else {
                let mut edge = [0.0f32; 64];
                S::store(edge.as_mut_ptr(), sums[0]);
                S::store(edge.as_mut_ptr().add(S::LANES), sums[1]);
                for (j, sum) in edge[..columns].iter().enumerate() {
                    *c.add(j) = if adds { *c.add(j) + sum } else { *sum };
                }
            }
        }
    }
}

/// A tile of at most `M` rows.
///
/// # Safety
///
/// As [`tile`], with `rows` instead of `M`; `M` is at most 12.
#[inline(always)]
unsafe fn short_tile<S: Simd, const M: usize>(
    rows: usize,
    k: usize,
    a: Left,
    b: *const f32,
    c: (*mut f32, usize, usize),
    adds: bool,
) {
    macro_rules! of {
        ($($count:literal)*) => {
            match rows {
                // SAFETY: by this function's own contract.
                $($count => unsafe { tile::<S, $count>(k, a, b, c, adds) },)*
                _ => unreachable!("a tile of {rows} rows"),
            }
        };
    }
    if rows == M {
        // SAFETY: as above.
        unsafe { tile::<S, M>(k, a, b, c, adds) };
    } else {
        of!(1 2 3 4 5 6 7 8 9 10 11);
    }
}

/// `c = a b`, or `c += a b`: `a` has rows of `k` numbers, `b` is packed.
///
/// # Safety
///
/// The CPU has the instructions of `S`, and the lengths fit: `a` is m by k, `b` the panels of k by n, `c` m by n.
#[inline(always)]
pub(super) unsafe fn multiply<S: Simd, const M: usize>(
    c: &mut [f32],
    adds: bool,
    a: &[f32],
    b: &[f32],
    [m, n, k]: [usize; 3],
) {
    let width = panel::<S>();
    let block = (LEFT_BYTES / (4 * k.max(1))).max(M).next_multiple_of(M);
    for begin in (0..m).step_by(block) {
        let end = (begin + block).min(m);
        for start in (0..n).step_by(width) {
            let columns = width.min(n - start);
            for i in (begin..end).step_by(M) {
                // SAFETY: row i and the next ones up to `end` are within `a` and `c`, as are the columns; the panel
                // has k rows.
                unsafe {
                    let a = Left::Rows(a.as_ptr().add(i * k), k);
                    let b = b.as_ptr().add(start * k);
                    let c = (c.as_mut_ptr().add(i * n + start), n, columns);
                    short_tile::<S, M>(M.min(end - i), k, a, b, c, adds);
                }
            }
        }
    }
}

/// `c += aᵀ b`: `a` has rows of `m` numbers, `b` as many rows of `n`.
///
/// # Safety
///
/// The CPU has the instructions of `S`, and the lengths fit: `c` is m by n.
#[inline(always)]
pub(super) unsafe fn add_outer<S: Simd, const M: usize>(
    c: &mut [f32],
    a: &[f32],
    b: &[f32],
    [m, n]: [usize; 2],
    scratch: &mut [Vec<f32>; 2],
) {
    let width = panel::<S>();
    let [left, right] = scratch;
    for (a, b) in a.chunks(DEPTH * m).zip(b.chunks(DEPTH * n)) {
        let k = a.len() / m;
        pack_rows(left, a, m, M);
        pack_rows(right, b, n, width);
        for start in (0..n).step_by(width) {
            let columns = width.min(n - start);
            for i in (0..m).step_by(M) {
                // SAFETY: both packed matrices are padded to whole panels; the tile's rows and columns are within `c`.
                unsafe {
                    let a = Left::Panel(left.as_ptr().add(i * k), M);
                    let b = right.as_ptr().add(start * k);
                    let c = (c.as_mut_ptr().add(i * n + start), n, columns);
                    short_tile::<S, M>(M.min(m - i), k, a, b, c, true);
                }
            }
        }
    }
}
