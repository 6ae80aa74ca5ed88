//! Premise selection for theorem provers by deep graph embedding.
//!
//! The library under the `formulanet` command. [`logic`] turns text into formulas and formulas into graphs;
//! [`statements`] reads whole files of them, [`data`] whole data sets. [`metrics`] measures predictions, and
//! [`baselines`] has simple ones to compare with.

pub mod baselines;
pub mod collection;
pub mod conjectures;
pub mod data;
pub mod deepwalk;
pub mod encode;
mod error;
pub mod evaluate;
pub mod figure5;
mod files;
pub mod library;
mod marks;
mod matching;
pub mod memory;
pub mod metrics;
pub mod model;
pub mod neighbours;
mod numbers;
mod overlap;
pub mod plot;
pub mod premises;
pub mod problem;
mod random;
pub mod rank;
pub mod ranks;
pub mod recipe;
pub mod reproduce;
pub mod selection;
pub mod shipped;
mod similar;
pub mod statements;
pub mod train;
pub mod tsne;
pub mod vectors;
pub mod vocab;

pub use error::Error;
pub use formulanet_logic as logic;
pub use formulanet_net as net;
pub use rank::{Ranked, Ranker, Statement};
