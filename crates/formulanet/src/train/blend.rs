//! Learning how to blend signals.

mod boost;

pub use boost::{BoostOptions, Examples, boost};
