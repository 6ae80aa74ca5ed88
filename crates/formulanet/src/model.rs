//! Model files, the models that are built in, and how formulas become what a model reads.

pub mod encode;
mod file;
pub mod knowledge;
pub mod recipe;
mod seal;
pub mod shipped;
pub mod together;

pub use file::{AnyModel, Known, Origin, TrainedModel};
pub use seal::{has_checksum, seal_file};
pub use together::TogetherFile;
