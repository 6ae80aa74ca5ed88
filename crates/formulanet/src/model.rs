//! Model files, the models that are built in, and how formulas become what a model reads.

pub mod encode;
mod file;
pub mod forest;
pub mod knowledge;
pub mod recipe;
pub mod serde_view;
pub mod shipped;
pub mod together;
pub mod vocabulary;

pub use file::{AnyModel, Known, Origin, TrainedModel, bytes_of};
pub use forest::Forest;
pub use together::TogetherFile;
