//! The paper's tables and its figure.

pub mod deepwalk;
pub mod figure5;
pub mod reproduce;
pub mod tsne;
