//! The network of FormulaNet, in numbers only: batches of integers in, vectors and gradients out.
//!
//! A [`GraphInput`] is a graph as index arrays. A [`Model`] embeds it with Eqn. 1 or Eqn. 2 of the paper and
//! classifies pairs of embeddings; [`Model::gradients`] is the backward pass, written by hand. Every graph is
//! carried through the network on its own, so that an embedding depends on nothing but the graph, to the last bit.

mod config;
mod graph;
mod head;
mod init;
mod kernel;
mod layer;
mod model;
mod optim;
mod parameters;
mod train;

pub use config::{Config, Kind};
pub use graph::GraphInput;
pub use model::Model;
pub use optim::{MovingAverage, Optimiser, Rule, Schedule, clip};
pub use parameters::{Layout, Tensor};
pub use train::{Batch, Gradients, Pair};
