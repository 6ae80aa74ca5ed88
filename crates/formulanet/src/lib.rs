//! Premise selection for theorem provers by deep graph embedding.
//!
//! The library under the `formulanet` command. [`logic`] turns text into formulas and formulas into graphs;
//! [`statements`] reads whole files of them, [`data`] whole data sets.

pub mod data;
mod error;
pub mod plot;
pub mod statements;

pub use error::Error;
pub use formulanet_logic as logic;
