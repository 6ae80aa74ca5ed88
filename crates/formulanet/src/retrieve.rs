//! The first stage of a ranking, which scores every statement.
//!
//! A [`VectorRetriever`] scores by a model's embeddings, a [`ProofRetriever`] by the recorded proofs of a
//! library, and a [`SymbolRetriever`] by the symbols that goal and statements share, whatever their names.

pub mod proofs;
mod scan;
mod symbols;
mod unknown_symbols;
mod vector;

pub use proofs::ProofRetriever;
pub use scan::{GoalVector, VectorScan};
pub use symbols::SymbolRetriever;
pub(crate) use vector::by_score;
pub use vector::{ScoredStatement, VectorRetriever, best_first};
