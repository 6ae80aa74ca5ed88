//! Premise selection for theorem provers by deep graph embedding.
//!
//! The library under the `formulanet` command. [`logic`] turns text into formulas and formulas into graphs;
//! [`statements`] reads whole files of them, [`data`] whole data sets. [`metrics`] measures predictions, and
//! [`baselines`] has simple ones to compare with.

pub mod baselines;
pub mod data;
pub mod deepwalk;
mod error;
pub mod evaluate;
pub mod figure5;
mod files;
pub mod memory;
pub mod metrics;
pub mod model;
pub mod plot;
pub mod premises;
mod random;
pub mod recipe;
pub mod reproduce;
pub mod statements;
pub mod train;
pub mod tsne;
pub mod vocab;

pub use error::Error;
pub use formulanet_logic as logic;
pub use formulanet_net as net;
