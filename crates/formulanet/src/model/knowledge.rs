//! What a model remembers besides its weights.

pub mod conjectures;
pub(crate) mod index;
pub(crate) mod marks;
pub mod memory;
mod packed;
pub mod proofs;
pub(crate) mod symbols;
