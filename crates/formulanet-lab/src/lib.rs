//! Experiments of formulanet that its users do not need: the paper's tables and figure, baselines, count models, the fitting of
//! the learned ranker, and ensembles.

pub mod baselines;
pub mod blend;
pub mod boost;
mod commands;
pub mod ensemble;
pub mod histogram;
pub mod paper;
mod plot;
pub mod tally;

pub use commands::main;
