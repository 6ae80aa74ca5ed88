//! Statistics of the training data that a model keeps in addition to its weights.

pub mod conjectures;
pub mod marks;
pub mod proofs;
pub mod statements;
pub mod symbols;
pub mod tfidf;
pub mod varint;
