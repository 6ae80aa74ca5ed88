//! Premise selection for theorem provers by deep graph embedding.
//!
//! The library under the `formulanet` command. [`logic`] turns text into formulas and formulas into graphs;
//! [`statements`] reads whole files of them.

#![forbid(unsafe_code)]

mod error;
pub mod statements;

pub use error::Error;
pub use formulanet_logic as logic;
