//! Data sets, training and evaluation for [`formulanet`], a premise selector.
//!
//! - [`dataset`] prepares data sets for training, and maps them.
//! - [`train`] trains retrievers, classifiers and re-rankers, in run directories that can be resumed.
//! - [`eval`] measures models on held-out data.
//! - [`processes`] shares the work of several processes.

pub mod dataset;
mod date;
pub mod distinct;
pub mod eval;
pub mod processes;
mod progress;
pub mod remember;
pub mod train;

pub use date::{now, today};
pub use formulanet::Error;
pub use progress::{Progress, Silent, Stage};
