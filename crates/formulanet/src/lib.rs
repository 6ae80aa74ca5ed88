//! Premise selection for theorem provers by deep graph embedding.
//!
//! The library under the `formulanet` command. [`logic`] turns text into formulas and formulas into graphs;
//! [`statements`] reads whole files of them, [`data`] whole data sets. [`metrics`] measures predictions, and
//! [`baselines`] has simple ones to compare with.

pub mod data;
mod error;
pub mod measure;
pub mod model;
pub mod paper;
pub mod processes;
pub mod rank;
pub mod read;
pub mod train;
mod util;

pub use error::Error;
pub use formulanet_logic as logic;
pub use formulanet_net as net;
pub use rank::{Ranked, Ranker};
pub use read::Statement;
pub use util::progress::{Progress, Silent, Stage};
