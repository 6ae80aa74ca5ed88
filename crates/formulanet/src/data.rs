//! Data sets: from what people download to what training reads.
//!
//! [`prepare`] reads HolStep, DeepMath or JSON Lines as a stream (`source`), turns every statement into a graph
//! (`parse`, on all cores), stores each distinct graph once (`collect`), holds conjectures out for validation
//! (`split`) and writes a folder that [`Prepared`] maps into memory.

mod collect;
#[cfg(feature = "plots")]
pub mod histogram;
mod map;
mod parse;
mod prepare;
mod source;
mod split;
mod stats;
mod store;
pub mod vocabulary;
mod write;

pub(crate) use prepare::view_name;
pub use prepare::{Labels, Options, Outcome, Progress, Silent, prepare};
pub use source::Layout;
pub use split::{Split, Validation};
pub use stats::{Distribution, Sizes, Stats};
pub use store::{Conjecture, Counts, GraphRef, Meta, Pair, Premise, Prepared};
