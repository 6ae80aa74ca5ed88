//! Ranking by the proofs of the library itself.
//!
//! A [`Theory`] has facts in the order of a library, and proofs. It learns nothing in the sense of training: a proof that was
//! just added counts for the next question.

mod bayes;
mod blend;
mod facts;
mod familiar;
mod features;
mod flat;
mod given;
mod methods;
mod neighbours;
mod reach;
mod signals;
mod surroundings;
#[cfg(test)]
mod tests;

pub use blend::Blend;
pub use facts::{Goal, Theory};
pub use features::Features;
pub(crate) use flat::FlatFact;
pub(crate) use given::{GivenKind, given_hash};
pub use methods::Method;
pub(crate) use methods::{best as best_of, mesh};
pub use signals::Signals;
