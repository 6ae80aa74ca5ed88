//! Which statements are worth using for a conjecture.

pub mod collection;
pub mod library;
mod overlap;
pub mod problem;
pub mod ranker;
pub mod selection;
pub mod vectors;

pub use ranker::{Ranked, Ranker};
