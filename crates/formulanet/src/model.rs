//! Model files, the models that are built in, and how formulas become what a model reads.

pub mod encode;
mod file;
pub mod joint;
pub mod memory;
pub mod recipe;
pub mod registry;
pub mod serde_view;
pub mod vocabulary;

pub use file::{ModelFile, ModelKind, Origin, PriorKnowledge, bytes_of};
pub use joint::JointModelFile;
