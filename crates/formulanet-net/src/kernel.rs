//! The operations that the network is made of, on rows of equal length.

pub(crate) mod matmul;
pub(crate) mod norm;
pub(crate) mod rows;
