//! One graph for a whole problem: a conjecture and its candidates read together.
//!
//! A [`ProblemInput`] is the graph of all formulas of a problem, in which every symbol is one thing that all its
//! occurrences share. In each round nodes hear from their parts, from what they are a part of and from their symbol, and
//! symbols hear from their occurrences; so what a candidate says reaches the conjecture and the other candidates over the
//! symbols that they share. A [`TogetherNetwork`] scores candidates by what their nodes have come to know;
//! [`State::train_step`](crate::State::train_step) teaches a [`TogetherModel`] with a [`TogetherBatch`] of problems. The
//! backward pass is written by hand.

mod config;
mod input;
mod network;
mod readout;
mod round;
mod train;

pub use config::{Loss, TogetherConfig};
pub use input::ProblemInput;
pub use network::TogetherNetwork;
pub use train::{LabelledProblem, TogetherBatch, TogetherGradients, TogetherOutcome, Trains};

/// A network for whole problems and its numbers.
pub type TogetherModel = crate::Model<TogetherConfig>;
