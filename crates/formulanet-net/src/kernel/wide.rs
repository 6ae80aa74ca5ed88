//! Plain loops, compiled for wider vectors in addition to the ordinary ones.

/// Defines a function of plain loops for every CPU, for one with AVX2 and for one with AVX-512, and picks when it is
/// called. The compiler makes vectors of the loops; it never changes their order or rounding, so all give the same bits.
macro_rules! wide {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        $visibility fn $name($($argument: $type),*) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn plain($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                #[allow(clippy::too_many_arguments)]
                fn avx512($($argument: $type),*) {
                    plain($($argument),*);
                }

                #[target_feature(enable = "avx2")]
                #[allow(clippy::too_many_arguments)]
                fn avx2($($argument: $type),*) {
                    plain($($argument),*);
                }

                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the CPU has AVX-512.
                    #[allow(unsafe_code)]
                    return unsafe { avx512($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the CPU has AVX2.
                    #[allow(unsafe_code)]
                    return unsafe { avx2($($argument),*) };
                }
            }
            plain($($argument),*);
        }
    };
}

pub(crate) use wide;
