//! How good a model, or a simple method, is.

pub mod baselines;
pub mod evaluate;
pub mod metrics;
pub mod premises;
