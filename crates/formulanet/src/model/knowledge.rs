//! What a model remembers besides its weights.

pub mod conjectures;
pub(crate) mod index;
pub(crate) mod marks;
pub mod memory;
pub(crate) mod packed;
pub mod proofs;
pub(crate) mod symbols;
