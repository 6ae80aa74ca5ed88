//! What a model remembers of its training besides its weights.

pub mod conjectures;
pub mod marks;
pub mod proofs;
pub mod statements;
pub mod symbols;
pub mod tfidf;
pub mod varint;
