//! Ranking by the recorded proofs of a library.
//!
//! A [`ProofIndex`] holds facts in library order, and proofs. It needs no training: a proof affects the next
//! query as soon as it is added.

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
pub(crate) use signals::OF_ORDER;
pub use signals::{Context, GoalPosition, ModelScores, SignalTable};
pub use trees::TreeEnsemble;
