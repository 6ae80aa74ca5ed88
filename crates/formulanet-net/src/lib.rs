//! The network of FormulaNet, in numbers only: batches of integers in, vectors and gradients out.
//!
//! A [`GraphInput`] is a graph as index arrays. A [`Network`] embeds it with Eqn. 1 or Eqn. 2 of the paper and classifies pairs
//! of embeddings; [`Model::gradients`] is the backward pass, written by hand. Graphs go through the network in micro-batches, and
//! every row of a product has the same bits whatever the other rows are, so that an embedding depends on nothing but the graph,
//! to the last bit.
//!
//! [`together`] is another network, which reads all formulas of a problem as one graph.

mod batch;
mod checkpoint;
mod compute;
mod config;
mod group;
mod head;
mod kernel;
mod lanes;
mod layer;
mod model;
mod network;
mod optim;
mod parameters;
pub mod random;
mod seal;
mod shared;
mod team;
mod tensors;
pub mod together;
mod towers;
mod train;
mod union;

pub use batch::{Batch, Candidate, Contest, Dealing, Dropout, Pair};
pub use checkpoint::{
    Attached, Attachments, CheckpointError, Metadata, State, Storage, read_metadata, sealed,
};
pub use compute::{Compute, Precision};
pub use config::{Config, Hints, Kind, Meeting, NormKind, Pooling, Reads};
pub use group::{Alone, Group};
pub use kernel::memory::{apart, give_all_memory_back, give_memory_back, return_large_memory};
pub use model::Model;
pub use network::{Embedding, Network};
pub use optim::{MovingAverage, Optimiser, Rule, Schedule, clip};
pub use seal::{CHECKSUM, UNSEALED, checksum, is_sealed, seal, stamp, verify};
pub use team::{Member, team};
pub use tensors::{Layout, Shape, Tensor};
pub use train::Gradients;
pub use union::GraphInput;
