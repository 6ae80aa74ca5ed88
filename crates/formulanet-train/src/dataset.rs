//! Data sets: from what people download to what training reads.
//!
//! [`prepare`] reads HolStep, DeepMath or JSON Lines as a stream (`source`), turns every statement into a graph
//! (`parse`, on all cores), stores each distinct graph once (`collect`), holds conjectures out for validation
//! (`split`) and writes a folder (`write`) that [`Prepared`] maps into memory (`store`).

mod checksums;
mod collect;
mod parse;
mod prepare;
mod problems;
mod source;
mod split;
mod statements;
mod stats;
mod store;
mod write;

pub use prepare::{Labels, Options, Preparation, prepare};
pub use problems::{
    Candidate, FoundShare, PoolBuilder, Problem, ProblemOptions, ProblemOrigin, Problems, scaled,
};
pub use source::Layout;
pub use split::choose_held_out;
pub use split::{HoldOut, Split};
pub use stats::{Distribution, Sizes, Stats};
pub use store::{Conjecture, Counts, Meta, Pair, Place, Premise, Prepared};
