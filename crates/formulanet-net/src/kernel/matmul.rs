//! Matrix products: which instructions do them, and the two shapes that the network needs.

use std::cell::RefCell;

use super::bf16::{self, Side, Step, Unit};
use super::product;
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Portable, Simd};

/// Which instructions multiply matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kernel {
    /// f32 in plain Rust.
    Portable,
    /// f32 with AVX2 and FMA.
    Avx2,
    /// f32 with AVX-512.
    Avx512,
    /// bf16 in plain Rust: what a CPU with bf16 instructions computes, but not as fast.
    RoundedPortable,
    /// Numbers rounded to bf16, multiplied in f32 with AVX2.
    RoundedAvx2,
    /// bf16 with AVX-512.
    Avx512Bf16,
    /// bf16 with AMX.
    AmxBf16,
}

impl Kernel {
    /// The kernels for f32, the fastest first.
    const F32: &[Self] = &[Kernel::Avx512, Kernel::Avx2, Kernel::Portable];

    /// The kernels for bf16, the fastest first.
    const BF16: &[Self] =
        &[Kernel::AmxBf16, Kernel::Avx512Bf16, Kernel::RoundedAvx2, Kernel::RoundedPortable];

    /// The fastest kernel of this CPU for f32.
    pub(crate) fn f32() -> Self {
        Self::F32.iter().copied().find(|kernel| kernel.is_available()).unwrap_or(Kernel::Portable)
    }

    /// The fastest kernel of this CPU for bf16; one that rounds if it has none.
    pub(crate) fn bf16() -> Self {
        Self::BF16.iter().copied().find(|kernel| kernel.is_available()).unwrap_or(Kernel::RoundedPortable)
    }

    /// Every kernel that this CPU can run, for tests.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        [Self::F32, Self::BF16].concat().into_iter().filter(|kernel| kernel.is_available()).collect()
    }

    /// Whether this CPU has the instructions.
    fn is_available(self) -> bool {
        match self {
            Kernel::Portable | Kernel::RoundedPortable => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 | Kernel::RoundedAvx2 => {
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Bf16 => bf16::Avx512::is_available(),
            #[cfg(target_arch = "x86_64")]
            Kernel::AmxBf16 => bf16::Amx::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Its name in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "f32",
            Kernel::Avx2 => "f32 with AVX2",
            Kernel::Avx512 => "f32 with AVX-512",
            Kernel::RoundedPortable => "f32 rounded to bf16",
            Kernel::RoundedAvx2 => "f32 rounded to bf16, with AVX2",
            Kernel::Avx512Bf16 => "bf16 with AVX-512",
            Kernel::AmxBf16 => "bf16 with AMX",
        }
    }

    /// Whether the CPU itself multiplies bf16.
    pub(crate) fn is_native_bf16(self) -> bool {
        Self::BF16.contains(&self) && !self.rounds()
    }

    /// Whether it rounds numbers to bf16 by itself.
    pub(crate) fn rounds(self) -> bool {
        matches!(self, Kernel::RoundedPortable | Kernel::RoundedAvx2)
    }

    /// The instructions for products of bf16, in the kernels that keep numbers as bf16.
    fn unit(self) -> Option<Box<dyn Unit>> {
        match self {
            Kernel::RoundedPortable => Some(Box::new(bf16::Plain)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Bf16 => Some(Box::new(bf16::Avx512::new())),
            #[cfg(target_arch = "x86_64")]
            Kernel::AmxBf16 => Some(Box::new(bf16::Amx::new())),
            _ => None,
        }
    }

    /// How wide the panels of a packed matrix of f32 are.
    fn panel(self) -> usize {
        match self {
            Kernel::Portable => product::panel::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 | Kernel::RoundedAvx2 => product::panel::<Avx2>(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => product::panel::<Avx512>(),
            _ => unreachable!("{self:?} keeps numbers as bf16"),
        }
    }
}

/// How a matrix is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// As it is.
    Plain,
    /// Rows as columns.
    Transposed,
}

/// A right-hand side that many left-hand sides are multiplied with, laid out for a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    kernel: Kernel,
    k: usize,
    n: usize,
    values: Values,
}

/// The numbers of a packed matrix.
#[derive(Clone, Debug)]
enum Values {
    F32(Vec<f32>),
    Bf16(Vec<Step>),
}

thread_local! {
    /// Room for operands that are laid out or rounded on the way.
    static SCRATCH: RefCell<[Vec<f32>; 4]> = const { RefCell::new([const { Vec::new() }; 4]) };
}

impl Packed {
    /// Lays out a matrix with this many rows and columns.
    pub(crate) fn new(kernel: Kernel, matrix: &[f32], [rows, columns]: [usize; 2], read: Read) -> Self {
        assert_eq!(matrix.len(), rows * columns, "shapes do not fit");
        let [k, n] = match read {
            Read::Plain => [rows, columns],
            Read::Transposed => [columns, rows],
        };
        if let Some(unit) = kernel.unit() {
            let mut values = Vec::new();
            bf16::pack(&*unit, &mut values, matrix, [rows, columns], Side::Right, read);
            return Packed { kernel, k, n, values: Values::Bf16(values) };
        }
        let round = |x: f32| if kernel.rounds() { round_to_bf16(x) } else { x };
        let mut values = Vec::new();
        match read {
            Read::Plain => {
                product::pack(&mut values, [k, n], kernel.panel(), |l, j| round(matrix[l * columns + j]));
            }
            Read::Transposed => {
                product::pack(&mut values, [k, n], kernel.panel(), |l, j| round(matrix[j * columns + l]));
            }
        }
        Packed { kernel, k, n, values: Values::F32(values) }
    }

    /// `c = a b`, with `a` of any number of rows.
    pub(crate) fn multiply(&self, c: &mut [f32], a: &[f32]) {
        self.run(c, false, a);
    }

    /// `c += a b`
    pub(crate) fn multiply_add(&self, c: &mut [f32], a: &[f32]) {
        self.run(c, true, a);
    }

    fn run(&self, c: &mut [f32], adds: bool, a: &[f32]) {
        let m = a.len() / self.k;
        assert!(a.len() == m * self.k && c.len() == m * self.n, "shapes do not fit");
        match (&self.values, self.kernel.unit()) {
            (Values::Bf16(b), Some(unit)) => bf16::multiply(&*unit, c, adds, a, b, [self.n, self.k]),
            (Values::F32(b), None) => SCRATCH.with_borrow_mut(|[rounded, ..]| {
                let a = if self.kernel.rounds() { round_all(rounded, a) } else { a };
                multiply(self.kernel, c, adds, a, b, [m, self.n, self.k]);
            }),
            _ => unreachable!("a matrix is packed for its kernel"),
        }
    }
}

/// `c += aᵀ b`: `a` has rows of `m` numbers, `b` as many rows of `n`.
pub(crate) fn add_outer(kernel: Kernel, c: &mut [f32], a: &[f32], b: &[f32], [m, n]: [usize; 2]) {
    assert!(c.len() == m * n && a.len().is_multiple_of(m) && b.len() == a.len() / m * n, "shapes do not fit");
    if let Some(unit) = kernel.unit() {
        return bf16::add_outer(&*unit, c, a, b, [m, n]);
    }
    SCRATCH.with_borrow_mut(|[rounded_a, rounded_b, left, right]| {
        let (mut a, mut b) = (a, b);
        if kernel.rounds() {
            (a, b) = (round_all(rounded_a, a), round_all(rounded_b, b));
        }
        let mut scratch = [std::mem::take(left), std::mem::take(right)];
        outer(kernel, c, a, b, [m, n], &mut scratch);
        [*left, *right] = scratch;
    });
}

/// The nearest number that has the leading 16 bits of an f32 alone; halves go to the even one.
pub(crate) fn round_to_bf16(x: f32) -> f32 {
    let bits = x.to_bits();
    if x.is_nan() {
        // Set a bit that rounding leaves, so that it stays no number without the lower half.
        return f32::from_bits(bits | 0x0040_0000);
    }
    f32::from_bits(bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
}

fn round_all<'a>(to: &'a mut Vec<f32>, from: &[f32]) -> &'a [f32] {
    to.clear();
    to.extend(from.iter().map(|&x| round_to_bf16(x)));
    to
}

#[allow(unsafe_code)]
fn multiply(kernel: Kernel, c: &mut [f32], adds: bool, a: &[f32], b: &[f32], shape: [usize; 3]) {
    // SAFETY: a kernel is made only where the CPU has its instructions, and the callers checked the lengths.
    unsafe {
        match kernel {
            Kernel::Portable => product::multiply::<Portable, 4>(c, adds, a, b, shape),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 | Kernel::RoundedAvx2 => multiply_avx2(c, adds, a, b, shape),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => multiply_avx512(c, adds, a, b, shape),
            _ => unreachable!("{kernel:?} keeps numbers as bf16"),
        }
    }
}

#[allow(unsafe_code)]
fn outer(
    kernel: Kernel,
    c: &mut [f32],
    a: &[f32],
    b: &[f32],
    shape: [usize; 2],
    scratch: &mut [Vec<f32>; 2],
) {
    // SAFETY: as for `multiply`.
    unsafe {
        match kernel {
            Kernel::Portable => product::add_outer::<Portable, 4>(c, a, b, shape, scratch),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 | Kernel::RoundedAvx2 => outer_avx2(c, a, b, shape, scratch),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => outer_avx512(c, a, b, shape, scratch),
            _ => unreachable!("{kernel:?} keeps numbers as bf16"),
        }
    }
}

/// The products once for every set of instructions, so that the compiler may use them.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($features:literal, $simd:ty, $rows:literal, $multiply:ident, $outer:ident) => {
        #[target_feature(enable = $features)]
        #[allow(unsafe_code)]
        fn $multiply(c: &mut [f32], adds: bool, a: &[f32], b: &[f32], shape: [usize; 3]) {
            // SAFETY: this function runs only where the instructions are, and the lengths were checked.
            unsafe { product::multiply::<$simd, $rows>(c, adds, a, b, shape) }
        }

        #[target_feature(enable = $features)]
        #[allow(unsafe_code)]
        fn $outer(c: &mut [f32], a: &[f32], b: &[f32], shape: [usize; 2], scratch: &mut [Vec<f32>; 2]) {
            // SAFETY: as above.
            unsafe { product::add_outer::<$simd, $rows>(c, a, b, shape, scratch) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
compiled_for!("avx2,fma", Avx2, 6, multiply_avx2, outer_avx2);
#[cfg(target_arch = "x86_64")]
compiled_for!("avx512f", Avx512, 12, multiply_avx512, outer_avx512);

// The edge of a tile goes through an array of 64 numbers.
const _: () = assert!(Portable::LANES <= 32);

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|i| ((i.wrapping_mul(2_654_435_761) ^ seed) % 1000) as f32 / 500.0 - 1.0).collect()
    }

    const ROWS: [usize; 8] = [0, 1, 5, 15, 17, 64, 255, 257];
    const SHAPES: [[usize; 2]; 7] = [[1, 1], [2, 256], [3, 17], [33, 15], [64, 64], [17, 3], [130, 2]];

    /// `expected` is a sum of this many products of numbers up to 1.
    fn assert_near(kernel: Kernel, found: f32, expected: f32, terms: usize, what: &str) {
        let tolerance = if Kernel::BF16.contains(&kernel) { 8e-3 } else { 1e-6 } * (terms as f32 + 1.0);
        assert!((found - expected).abs() <= tolerance, "{kernel:?} {what}: {found}, not {expected}");
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "who runs the tests should know")]
    fn kernels_that_this_cpu_cannot_run_are_named() {
        for kernel in [Kernel::F32, Kernel::BF16].concat() {
            match kernel.is_available() {
                true => eprintln!("tested: {}", kernel.name()),
                false => eprintln!("skipped: this CPU cannot do {}", kernel.name()),
            }
        }
    }

    #[test]
    fn products_equal_plain_loops() {
        for kernel in Kernel::all() {
            for m in ROWS {
                for [n, k] in SHAPES {
                    let (a, b, old) = (values(m * k, 1), values(k * n, 2), values(m * n, 3));
                    for read in [Read::Plain, Read::Transposed] {
                        let shape = if read == Read::Plain { [k, n] } else { [n, k] };
                        let packed = Packed::new(kernel, &b, shape, read);
                        let (mut c, mut sum) = (old.clone(), old.clone());
                        packed.multiply(&mut c, &a);
                        packed.multiply_add(&mut sum, &a);
                        let what = format!("{m} {n} {k} {read:?}");
                        for i in 0..m {
                            for j in 0..n {
                                let b_at = |l| if read == Read::Plain { b[l * n + j] } else { b[j * k + l] };
                                let expected: f32 = (0..k).map(|l| a[i * k + l] * b_at(l)).sum();
                                assert_near(kernel, c[i * n + j], expected, k, &what);
                                assert_near(kernel, sum[i * n + j], old[i * n + j] + expected, k, &what);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn outer_products_equal_plain_loops() {
        for kernel in Kernel::all() {
            for rows in ROWS {
                for [m, n] in SHAPES {
                    let (a, b, old) = (values(rows * m, 1), values(rows * n, 2), values(m * n, 3));
                    let mut c = old.clone();
                    add_outer(kernel, &mut c, &a, &b, [m, n]);
                    let what = format!("{rows} {m} {n}");
                    for i in 0..m {
                        for j in 0..n {
                            let sum: f32 = (0..rows).map(|l| a[l * m + i] * b[l * n + j]).sum();
                            assert_near(kernel, c[i * n + j], old[i * n + j] + sum, rows, &what);
                        }
                    }
                }
            }
        }
    }

    /// Small whole numbers have exact products and sums in bf16 and f32, so that not one may be in a wrong place. The
    /// sizes go over what is packed at a time.
    #[test]
    fn products_of_whole_numbers_are_exact() {
        let whole =
            |n, seed| -> Vec<f32> { values(n, seed).into_iter().map(|x| (8.0 * x).round()).collect() };
        for kernel in Kernel::all() {
            for [m, n, k] in [[33, 31, 33], [70, 65, 31], [300, 33, 257], [35, 48, 1100]] {
                let (a, b, old) = (whole(m * k, 1), whole(k * n, 2), whole(m * n, 3));
                let mut expected = old.clone();
                for (c, a) in expected.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
                    for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
                        c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
                    }
                }
                let mut c = old.clone();
                Packed::new(kernel, &b, [k, n], Read::Plain).multiply_add(&mut c, &a);
                assert!(c == expected, "{kernel:?} {m} {n} {k}");
                let a_transposed: Vec<f32> = (0..m * k).map(|i| a[i % m * k + i / m]).collect();
                let mut c = old;
                add_outer(kernel, &mut c, &a_transposed, &b, [m, n]);
                assert!(c == expected, "{kernel:?} {m} {n} {k} outer");
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_alone_and_among_others() {
        for kernel in Kernel::all() {
            for [m, n, k] in [[29, 40, 64], [70, 33, 67]] {
                let (a, b, old) = (values(m * k, 1), values(k * n, 2), values(m * n, 3));
                let packed = Packed::new(kernel, &b, [k, n], Read::Plain);
                let (mut together, mut added) = (vec![0.0; m * n], old.clone());
                packed.multiply(&mut together, &a);
                packed.multiply_add(&mut added, &a);
                for (i, row) in a.chunks_exact(k).enumerate() {
                    let range = i * n..(i + 1) * n;
                    let (mut alone, mut added_alone) = (vec![0.0; n], old[range.clone()].to_vec());
                    packed.multiply(&mut alone, row);
                    packed.multiply_add(&mut added_alone, row);
                    assert_eq!(alone, together[range.clone()], "{kernel:?}");
                    assert_eq!(added_alone, added[range], "{kernel:?}");
                }
            }
        }
    }

    #[test]
    fn rounding_goes_to_the_nearest_and_to_even() {
        for (x, expected) in [
            (1.0, 0x3f80),
            (f32::from_bits(0x3f80_8000), 0x3f80),
            (f32::from_bits(0x3f81_8000), 0x3f82),
            (f32::from_bits(0x3f80_8001), 0x3f81),
            (-0.0, 0x8000),
            (f32::MAX, 0x7f80),
            (f32::INFINITY, 0x7f80),
        ] {
            assert_eq!(round_to_bf16(x).to_bits(), expected << 16, "{x}");
        }
        assert!(round_to_bf16(f32::NAN).is_nan());
    }
}
