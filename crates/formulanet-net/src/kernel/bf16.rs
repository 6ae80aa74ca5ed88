//! Matrix products of numbers rounded to bf16, summed in f32.
//!
//! CPUs multiply bf16 in pairs: one instruction adds `x[2p] y[2p] + x[2p + 1] y[2p + 1]` to a number. So both
//! operands are cut into [`Tile`]s of pairs along the inner index, the same for every CPU, and a [`Unit`] does what
//! differs between CPUs: it rounds numbers into tiles and multiplies panels of them.
//!
//! Every number of a product is summed in the order of the inner index, whatever the number of rows. So a row has the same bits
//! alone and among others.

use std::cell::RefCell;

use super::matmul::Read;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod amx;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512;
mod plain;

#[cfg(target_arch = "x86_64")]
pub(super) use amx::Amx;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
pub(super) use plain::Plain;

/// Lines of a tile, and pairs in a line.
const LINES: usize = 16;

/// Numbers of the inner index in a tile.
const DEPTH: usize = 2 * LINES;

/// Rows or columns of a panel: two tiles side by side. A block of a product is as high and as wide.
const WIDTH: usize = 2 * LINES;

/// Bytes of left-hand rows that [`multiply`] packs at a time, so that they stay in the L2 cache.
const LEFT_BYTES: usize = 128 * 1024;

/// Rows of the inner index that [`add_outer`] packs at a time: a whole number of tiles.
const OUTER_ROWS: usize = 16 * DEPTH;

/// Sixteen lines of sixteen pairs of bf16, of which the lower half of a pair comes first.
///
/// In a tile of the left-hand side a line has pairs of one row; in a tile of the right-hand side it has one pair of
/// every column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Tile([[u32; LINES]; LINES]);

impl Tile {
    const ZERO: Tile = Tile([[0; LINES]; LINES]);
}

/// One step of a panel along the inner index: two tiles side by side.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Step([Tile; 2]);

/// A CPU's instructions for bf16. There is a value only where the CPU has them.
pub(super) trait Unit {
    /// Rounds 32 numbers of each of 16 rows that begin `stride` apart: a pair has two numbers of a row.
    fn round_rows(&self, to: &mut Tile, from: &[f32], stride: usize);

    /// Rounds 16 numbers of each of 32 rows that begin `stride` apart: a pair has a number of two rows.
    fn round_pairs(&self, to: &mut Tile, from: &[f32], stride: usize);

    /// Makes lines of columns.
    fn transpose(&self, to: &mut Tile, from: &Tile);

    /// `c = a b`, or `c += a b`, for a panel on either side: `c` has 32 rows of 32 numbers that begin `stride` apart,
    /// of which the first `rows` are of interest and the others may have any value.
    fn multiply(&self, c: &mut [f32], stride: usize, adds: bool, a: &[Step], b: &[Step], rows: usize);
}

/// The number of values that a part of a matrix spans, whose rows begin `stride` apart.
const fn span(rows: usize, columns: usize, stride: usize) -> usize {
    (rows - 1) * stride + columns
}

/// An operand of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// m by k
    Left,
    /// k by n
    Right,
}

/// Cuts an operand into panels along the inner index, padded with zeros. The matrix has this many rows and columns as it lies in
/// memory, before it is read one way or the other. `to` is made longer if necessary; its content after the panels, which are
/// returned, stays for the next operand.
pub(super) fn pack<'a>(
    unit: &dyn Unit,
    to: &'a mut Vec<Step>,
    matrix: &[f32],
    shape: [usize; 2],
    side: Side,
    read: Read,
) -> &'a [Step] {
    let inner_is_in_rows = (side == Side::Left) == (read == Read::Plain);
    let [outer, inner] = if inner_is_in_rows { shape } else { [shape[1], shape[0]] };
    let (depth, panels) = (inner.div_ceil(DEPTH), outer.div_ceil(WIDTH));
    if to.len() < panels * depth {
        to.resize(panels * depth, Step([Tile::ZERO; 2]));
    }
    let to = &mut to[..panels * depth];
    let mut edge = [0.0; LINES * DEPTH];
    for i in 0..to.len() {
        // In the order of the matrix's rows, so that each of them comes from memory once.
        let (panel, step) = if inner_is_in_rows { (i / depth, i % depth) } else { (i % panels, i / panels) };
        let inner = step * DEPTH;
        for (half, tile) in to[panel * depth + step].0.iter_mut().enumerate() {
            let outer = panel * WIDTH + half * LINES;
            let mut round = |tile: &mut Tile| {
                if inner_is_in_rows {
                    let (numbers, stride) = part(matrix, shape, [outer, inner], [LINES, DEPTH], &mut edge);
                    unit.round_rows(tile, numbers, stride);
                } else {
                    let (numbers, stride) = part(matrix, shape, [inner, outer], [DEPTH, LINES], &mut edge);
                    unit.round_pairs(tile, numbers, stride);
                }
            };
            match read {
                Read::Plain => round(tile),
                Read::Transposed => {
                    let mut rounded = Tile::ZERO;
                    round(&mut rounded);
                    unit.transpose(tile, &rounded);
                }
            }
        }
    }
    to
}

/// A part of a matrix and how far apart its rows begin; if it goes over an edge, a copy with zeros beyond.
fn part<'a>(
    matrix: &'a [f32],
    [rows, columns]: [usize; 2],
    [row, column]: [usize; 2],
    [height, width]: [usize; 2],
    edge: &'a mut [f32],
) -> (&'a [f32], usize) {
    if row + height <= rows && column + width <= columns {
        return (&matrix[row * columns + column..], columns);
    }
    edge.fill(0.0);
    if column < columns {
        let used = width.min(columns - column);
        for (to, from) in edge.chunks_exact_mut(width).zip(matrix.chunks_exact(columns).skip(row)) {
            to[..used].copy_from_slice(&from[column..column + used]);
        }
    }
    (edge, width)
}

thread_local! {
    /// Room for operands that are packed on the way.
    static PANELS: RefCell<[Vec<Step>; 2]> = const { RefCell::new([const { Vec::new() }; 2]) };
}

/// `c = a b`, or `c += a b`: `a` is m by k, `b` packed from k by n, `c` m by n.
pub(super) fn multiply(
    unit: &dyn Unit,
    c: &mut [f32],
    adds: bool,
    a: &[f32],
    b: &[Step],
    [n, k]: [usize; 2],
) {
    if c.is_empty() {
        return;
    }
    let depth = k.div_ceil(DEPTH);
    let rows = WIDTH * (LEFT_BYTES / (depth * size_of::<Step>())).max(1);
    PANELS.with_borrow_mut(|[left, _]| {
        for (c, a) in c.chunks_mut(rows * n).zip(a.chunks(rows * k)) {
            let left = pack(unit, left, a, [a.len() / k, k], Side::Left, Read::Plain);
            product(unit, c, adds, left, b, [n, depth]);
        }
    });
}

/// `c += aᵀ b`: `a` has rows of `m` numbers, `b` as many rows of `n`.
pub(super) fn add_outer(unit: &dyn Unit, c: &mut [f32], a: &[f32], b: &[f32], [m, n]: [usize; 2]) {
    if c.is_empty() {
        return;
    }
    PANELS.with_borrow_mut(|[left, right]| {
        for (a, b) in a.chunks(OUTER_ROWS * m).zip(b.chunks(OUTER_ROWS * n)) {
            let rows = a.len() / m;
            let left = pack(unit, left, a, [rows, m], Side::Left, Read::Transposed);
            let right = pack(unit, right, b, [rows, n], Side::Right, Read::Plain);
            product(unit, c, true, left, right, [n, rows.div_ceil(DEPTH)]);
        }
    });
}

/// The product of packed operands whose panels have `depth` steps.
fn product(unit: &dyn Unit, c: &mut [f32], adds: bool, a: &[Step], b: &[Step], [n, depth]: [usize; 2]) {
    for (b, column) in b.chunks_exact(depth).zip((0..n).step_by(WIDTH)) {
        for (a, c) in a.chunks_exact(depth).zip(c.chunks_mut(WIDTH * n)) {
            let (rows, columns) = (c.len() / n, WIDTH.min(n - column));
            if rows == WIDTH && columns == WIDTH {
                unit.multiply(&mut c[column..], n, adds, a, b, rows);
            } else {
                let mut edge = [0.0; WIDTH * WIDTH];
                if adds {
                    for (edge, c) in edge.chunks_exact_mut(WIDTH).zip(c.chunks_exact(n)) {
                        edge[..columns].copy_from_slice(&c[column..column + columns]);
                    }
                }
                unit.multiply(&mut edge, WIDTH, adds, a, b, rows);
                for (edge, c) in edge.chunks_exact(WIDTH).zip(c.chunks_exact_mut(n)) {
                    c[column..column + columns].copy_from_slice(&edge[..columns]);
                }
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn units() -> Vec<Box<dyn Unit>> {
        let mut units: Vec<Box<dyn Unit>> = Vec::new();
        if Avx512::is_available() {
            units.push(Box::new(Avx512::new()));
        }
        if Amx::is_available() {
            units.push(Box::new(Amx::new()));
        }
        units
    }

    /// Numbers of every exponent that is not denormal, halfway between two bf16 or close to that, and special ones.
    fn numbers(count: usize) -> Vec<f32> {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1.0, -1.5];
        let others = (0u32..).map(|i| {
            let low = [0x0000, 0x7fff, 0x8000, 0x8001, 0xffff][i as usize % 5];
            let high = i.wrapping_mul(2_654_435_761) & 0xffff_0000;
            f32::from_bits(high | low)
        });
        special.into_iter().chain(others.filter(|x| x.is_normal())).take(count).collect()
    }

    #[test]
    fn tiles_are_rounded_and_transposed_as_in_plain_rust() {
        let stride = 37;
        let numbers = numbers(span(DEPTH, DEPTH, stride));
        for unit in units() {
            let (mut found, mut expected) = (Tile::ZERO, Tile::ZERO);
            unit.round_rows(&mut found, &numbers, stride);
            Plain.round_rows(&mut expected, &numbers, stride);
            assert_eq!(found, expected);
            unit.round_pairs(&mut found, &numbers, stride);
            Plain.round_pairs(&mut expected, &numbers, stride);
            assert_eq!(found, expected);
            let mut transposed = [Tile::ZERO; 2];
            unit.transpose(&mut transposed[0], &expected);
            Plain.transpose(&mut transposed[1], &expected);
            assert_eq!(transposed[0], transposed[1]);
        }
    }

    #[test]
    fn no_number_becomes_an_infinity_for_being_no_number() {
        let quiet_and_signalling = [f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xff80_1000)];
        for x in quiet_and_signalling {
            let mut tile = Tile::ZERO;
            for unit in units().into_iter().chain([Box::new(Plain) as Box<dyn Unit>]) {
                unit.round_rows(&mut tile, &[x; LINES * DEPTH], DEPTH);
                assert!(f32::from_bits(tile.0[3][5] << 16).is_nan() && f32::from_bits(tile.0[3][5]).is_nan());
            }
        }
    }
}
