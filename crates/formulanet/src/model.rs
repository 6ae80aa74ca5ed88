//! Model files, the models that are built in, and how formulas become what a model reads.

pub mod encode;
mod file;
mod forest;
pub mod knowledge;
pub mod recipe;
mod seal;
pub mod shipped;
pub(crate) mod tally;
pub mod together;

pub use file::{AnyModel, Known, Origin, TrainedModel};
pub use forest::Forest;
pub use seal::{has_checksum, seal_file};
pub use tally::{Tally, TallyOrigin};
pub use together::TogetherFile;
