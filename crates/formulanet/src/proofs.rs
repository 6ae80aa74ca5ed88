//! Ranking by the recorded proofs of a library.
//!
//! A [`ProofIndex`] has facts in the order of a library, and proofs. It learns nothing in the sense of training: a proof that was
//! just added counts for the next goal.

mod bayes;
mod blend;
mod bulk;
mod context;
mod familiar;
mod features;
mod hammer_features;
mod index;
mod mepo;
mod methods;
mod neighbors;
mod signals;
#[cfg(test)]
mod tests;
pub mod trees;

pub use blend::SignalBlend;
pub(crate) use bulk::BulkFact;
pub use features::Features;
pub(crate) use hammer_features::{HammerFeatureKind, hammer_feature_hash};
pub use index::{IndexedGoal, ProofIndex};
pub use methods::Method;
pub(crate) use methods::{best as best_of, mesh};
pub(crate) use signals::GoalPosition;
pub use signals::SignalTable;
pub use trees::TreeEnsemble;
