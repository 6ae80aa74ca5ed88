//! The operations that the network is made of, on rows of equal length. The only place with unsafe code.

pub(crate) mod adam;
mod bf16;
pub(crate) mod matmul;
#[allow(unsafe_code)]
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod norm;
#[allow(unsafe_code)]
mod product;
pub(crate) mod residual;
pub(crate) mod rows;
#[allow(unsafe_code)]
mod simd;
mod wide;
