//! What a model remembers besides its weights.

pub mod conjectures;
pub mod index;
pub mod marks;
pub mod memory;
pub mod packed;
pub mod proofs;
pub mod symbols;
