//! The paper's tables and its figure.

mod deepwalk;
mod figure5;
mod reproduce;
mod tsne;

pub use figure5::{Figure, FigureOptions, figure5};
pub use reproduce::{Budget, Preset, Reproduced, Reproduction, Settings, Target};
