//! Vectors of numbers, as wide as the CPU has them, in one small trait.

/// The few operations that a matrix product needs. Loads and stores may be unaligned.
///
/// # Safety
///
/// Every operation may be called only on a CPU that has the instructions of the implementing type, with pointers to
/// [`Simd::LANES`] readable (or, for `store`, writable) numbers; `splat` reads one.
pub(crate) trait Simd {
    /// The number of lanes of a vector.
    const LANES: usize;
    /// A vector.
    type Vector: Copy;
    unsafe fn zero() -> Self::Vector;
    unsafe fn splat(from: *const f32) -> Self::Vector;
    unsafe fn load(from: *const f32) -> Self::Vector;
    unsafe fn store(to: *mut f32, vector: Self::Vector);
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`
    unsafe fn multiply_add(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
}

/// Plain Rust, on any CPU.
pub(crate) struct Portable;

impl Simd for Portable {
    const LANES: usize = 4;
    type Vector = [f32; 4];

    #[inline(always)]
    unsafe fn zero() -> [f32; 4] {
        [0.0; 4]
    }

    #[inline(always)]
    unsafe fn splat(from: *const f32) -> [f32; 4] {
        // SAFETY: the caller gives a pointer to a number.
        [unsafe { *from }; 4]
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> [f32; 4] {
        // SAFETY: the caller gives a pointer to four numbers.
        unsafe { from.cast::<[f32; 4]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, vector: [f32; 4]) {
        // SAFETY: the caller gives a pointer to four numbers.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(vector) }
    }

    #[inline(always)]
    unsafe fn add(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        std::array::from_fn(|i| a[i] + b[i])
    }

    #[inline(always)]
    unsafe fn multiply_add(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        std::array::from_fn(|i| a[i] * b[i] + c[i])
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Simd;
    use std::arch::x86_64::*;

    /// AVX2 with fused multiply-add.
    pub(crate) struct Avx2;

    /// AVX-512.
    pub(crate) struct Avx512;

    macro_rules! implement {
        ($name:ident $lanes:literal $vector:ident
         $zero:ident $splat:ident $load:ident $store:ident $add:ident $fma:ident) => {
            // SAFETY (of every block): the caller promises the instructions and the pointers.
            impl Simd for $name {
                const LANES: usize = $lanes;
                type Vector = $vector;

                #[inline(always)]
                unsafe fn zero() -> $vector {
                    unsafe { $zero() }
                }

                #[inline(always)]
                unsafe fn splat(from: *const f32) -> $vector {
                    unsafe { $splat(*from) }
                }

                #[inline(always)]
                unsafe fn load(from: *const f32) -> $vector {
                    unsafe { $load(from) }
                }

                #[inline(always)]
                unsafe fn store(to: *mut f32, vector: $vector) {
                    unsafe { $store(to, vector) }
                }

                #[inline(always)]
                unsafe fn add(a: $vector, b: $vector) -> $vector {
                    unsafe { $add(a, b) }
                }

                #[inline(always)]
                unsafe fn multiply_add(a: $vector, b: $vector, c: $vector) -> $vector {
                    unsafe { $fma(a, b, c) }
                }
            }
        };
    }

    implement! {
        Avx2 8 __m256
        _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_fmadd_ps
    }
    implement! {
        Avx512 16 __m512
        _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_fmadd_ps
    }
}
