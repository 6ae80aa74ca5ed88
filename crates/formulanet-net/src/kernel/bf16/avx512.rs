//! Products of bf16 with AVX-512.

use std::arch::x86_64::*;

use super::{DEPTH, LINES, Step, Tile, Unit, WIDTH, span};

/// Rows whose sums are kept in registers: with two vectors each, 16 of 32 registers, enough to hide the latency of
/// the instruction.
const ROWS: usize = 8;

/// AVX-512 with bf16.
pub(crate) struct Avx512(());

impl Avx512 {
    /// Whether the CPU has the instructions.
    pub(crate) fn is_available() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512bf16")
    }

    /// Panics if the CPU has not the instructions.
    pub(crate) fn new() -> Self {
        assert!(Self::is_available(), "this CPU has no AVX-512 BF16");
        Avx512(())
    }
}

impl Unit for Avx512 {
    fn round_rows(&self, to: &mut Tile, from: &[f32], stride: usize) {
        assert!(from.len() >= span(LINES, DEPTH, stride));
        // SAFETY: `new` saw that the CPU has the instructions, and the numbers are there.
        unsafe { round_rows(to, from, stride) }
    }

    fn round_pairs(&self, to: &mut Tile, from: &[f32], stride: usize) {
        assert!(from.len() >= span(DEPTH, LINES, stride));
        // SAFETY: as above.
        unsafe { round_pairs(to, from, stride) }
    }

    fn transpose(&self, to: &mut Tile, from: &Tile) {
        // SAFETY: `new` saw that the CPU has the instructions.
        unsafe { transpose(to, from) }
    }

    fn multiply(&self, c: &mut [f32], stride: usize, adds: bool, a: &[Step], b: &[Step], rows: usize) {
        assert!(c.len() >= span(WIDTH, WIDTH, stride) && rows <= WIDTH);
        for row in (0..rows).step_by(ROWS) {
            // SAFETY: as above; `ROWS` divides the height of a block, so `c` has all rows from here.
            unsafe { multiply(&mut c[row * stride..], stride, adds, a, b, row) }
        }
    }
}

/// Rounds 32 numbers and leaves them in their order, those of `low` first.
#[target_feature(enable = "avx512f,avx512bf16")]
fn round(low: __m512, high: __m512) -> __m512i {
    // SAFETY: both types are 512 bits of anything.
    unsafe { std::mem::transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low)) }
}

/// # Safety
///
/// `from` has 16 rows of 32 numbers that begin `stride` apart.
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn round_rows(to: &mut Tile, from: &[f32], stride: usize) {
    for (i, line) in to.0.iter_mut().enumerate() {
        // SAFETY: by this function's own contract; a line is as long as a vector.
        unsafe {
            let row = from.as_ptr().add(i * stride);
            let rounded = round(_mm512_loadu_ps(row), _mm512_loadu_ps(row.add(LINES)));
            _mm512_store_si512(line.as_mut_ptr().cast(), rounded);
        }
    }
}

/// # Safety
///
/// `from` has 32 rows of 16 numbers that begin `stride` apart.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn round_pairs(to: &mut Tile, from: &[f32], stride: usize) {
    /// Where the numbers of a line come from: one of the first row, one of the second, and so on.
    const ORDER: [u16; DEPTH] = {
        let mut order = [0; DEPTH];
        let mut i = 0;
        while i < DEPTH {
            order[i] = (i / 2 + i % 2 * LINES) as u16;
            i += 1;
        }
        order
    };
    // SAFETY: the array is as long as a vector.
    let order = unsafe { _mm512_loadu_si512(ORDER.as_ptr().cast()) };
    for (i, line) in to.0.iter_mut().enumerate() {
        // SAFETY: by this function's own contract; a line is as long as a vector.
        unsafe {
            let rows = from.as_ptr().add(2 * i * stride);
            let rounded = round(_mm512_loadu_ps(rows), _mm512_loadu_ps(rows.add(stride)));
            _mm512_store_si512(line.as_mut_ptr().cast(), _mm512_permutexvar_epi16(order, rounded));
        }
    }
}

#[target_feature(enable = "avx512f")]
fn transpose(to: &mut Tile, from: &Tile) {
    for (block, lines) in to.0.chunks_exact_mut(4).enumerate() {
        // Four columns of the rows i, i + 4, i + 8 and i + 12.
        let columns = |i: usize| {
            // SAFETY: there are four numbers at the start of each block of columns.
            let of_row = |row: usize| unsafe { _mm_loadu_si128(from.0[row][4 * block..].as_ptr().cast()) };
            let vector = _mm512_castsi128_si512(of_row(i));
            let vector = _mm512_inserti32x4::<1>(vector, of_row(i + 4));
            let vector = _mm512_inserti32x4::<2>(vector, of_row(i + 8));
            _mm512_inserti32x4::<3>(vector, of_row(i + 12))
        };
        let [a, b, c, d] = [columns(0), columns(1), columns(2), columns(3)];
        // Four by four numbers change places in every quarter of the vectors.
        let [ab, cd] = [_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d)];
        let [ab_high, cd_high] = [_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d)];
        let columns = [
            _mm512_unpacklo_epi64(ab, cd),
            _mm512_unpackhi_epi64(ab, cd),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ];
        for (line, column) in lines.iter_mut().zip(columns) {
            // SAFETY: a line is as long as a vector.
            unsafe { _mm512_store_si512(line.as_mut_ptr().cast(), column) };
        }
    }
}

/// The rows of a block from `row` on; `c` begins at that row.
///
/// # Safety
///
/// `c` has [`ROWS`] rows of 32 numbers that begin `stride` apart.
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn multiply(c: &mut [f32], stride: usize, adds: bool, a: &[Step], b: &[Step], row: usize) {
    let c = c.as_mut_ptr();
    let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
    if adds {
        for (i, sums) in sums.iter_mut().enumerate() {
            // SAFETY: by this function's own contract.
            *sums =
                unsafe { [_mm512_loadu_ps(c.add(i * stride)), _mm512_loadu_ps(c.add(i * stride + LINES))] };
        }
    }
    for (Step(left), Step(right)) in a.iter().zip(b) {
        let left: &[[u32; LINES]; ROWS] =
            left[row / LINES].0[row % LINES..].first_chunk().expect("`ROWS` divides a tile");
        for p in 0..LINES {
            // SAFETY: a line is as long as a vector, and both types are 512 bits of anything.
            let right = unsafe {
                [0, 1].map(|half: usize| as_bf16(_mm512_load_si512(right[half].0[p].as_ptr().cast())))
            };
            for (sums, line) in sums.iter_mut().zip(left) {
                let left = as_bf16(_mm512_set1_epi32(line[p].cast_signed()));
                *sums =
                    [_mm512_dpbf16_ps(sums[0], left, right[0]), _mm512_dpbf16_ps(sums[1], left, right[1])];
            }
        }
    }
    for (i, sums) in sums.into_iter().enumerate() {
        // SAFETY: by this function's own contract.
        unsafe {
            _mm512_storeu_ps(c.add(i * stride), sums[0]);
            _mm512_storeu_ps(c.add(i * stride + LINES), sums[1]);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bf16")]
fn as_bf16(pairs: __m512i) -> __m512bh {
    // SAFETY: both types are 512 bits of anything.
    unsafe { std::mem::transmute(pairs) }
}
