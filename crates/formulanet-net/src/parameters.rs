//! All numbers of a network in one array, and where each matrix lies in it.

use std::ops::Range;

use crate::config::{Config, Kind};
use crate::init::Random;

/// A matrix or vector of the array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    /// Its name, as in checkpoints.
    pub name: String,
    /// Rows and columns; a vector has one row.
    pub shape: [usize; 2],
    /// Where it lies.
    pub range: Range<usize>,
}

/// Scale and shift of a norm.
#[derive(Clone, Debug)]
pub(crate) struct Norm {
    pub(crate) scale: Range<usize>,
    pub(crate) shift: Range<usize>,
}

/// A function F_I, F_O, F_L, F_H or F_R: concatenate, FC, norm, ReLU, FC, norm, ReLU.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    /// The first FC, cut into a square matrix for each input: W[a;b] = Wa a + Wb b.
    pub(crate) first: Vec<Range<usize>>,
    pub(crate) first_norm: Norm,
    pub(crate) second: Range<usize>,
    pub(crate) second_norm: Norm,
}

/// The functions of one step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// F_I and F_O.
    pub(crate) edge_updates: [Update; 2],
    /// F_L, F_H and F_R.
    pub(crate) treelet_updates: Option<[Update; 3]>,
    /// F_P.
    pub(crate) combine: Range<usize>,
    pub(crate) combine_norm: Norm,
}

/// A classifier: FC, norm over the mini-batch, ReLU, FC.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) first: Range<usize>,
    pub(crate) norm: Norm,
    pub(crate) second: Range<usize>,
    pub(crate) bias: Range<usize>,
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub struct Layout {
    tensors: Vec<Tensor>,
    pub(crate) embedding: Range<usize>,
    pub(crate) embedding_norm: Norm,
    pub(crate) steps: Vec<Step>,
    pub(crate) heads: Vec<Head>,
    length: usize,
}

impl Layout {
    /// The layout of a network.
    pub fn new(config: &Config) -> Self {
        let mut maker = Maker { tensors: Vec::new(), length: 0 };
        let d = config.dimension;
        let embedding = maker.matrix("embedding".into(), config.vocabulary, d);
        let embedding_norm = maker.norm("embedding_norm", d);
        let steps = (0..config.steps).map(|t| maker.step(t, config)).collect();
        let heads = (0..=config.steps).map(|t| maker.head(t, config)).collect();
        let Maker { tensors, length } = maker;
        Layout { tensors, embedding, embedding_norm, steps, heads, length }
    }

    /// All tensors in order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// How many numbers there are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Kaiming-normal weights, scales of one, shifts of zero.
    pub(crate) fn initial(&self, seed: u64) -> Vec<f32> {
        let mut values = vec![0.0; self.length];
        let mut random = Random::new(seed);
        for tensor in &self.tensors {
            let values = &mut values[tensor.range.clone()];
            if tensor.name.ends_with("scale") {
                values.fill(1.0);
            } else if tensor.shape[0] > 1 {
                // A matrix that is one block of a wider one counts the inputs of the whole.
                let blocks = if tensor.name.contains(".first.") { self.blocks(&tensor.name) } else { 1 };
                let deviation = (2.0 / (tensor.shape[1] * blocks) as f32).sqrt();
                values.iter_mut().for_each(|value| *value = random.normal() * deviation);
            }
        }
        values
    }

    fn blocks(&self, name: &str) -> usize {
        let stem = &name[..=name.rfind('.').unwrap_or(0)];
        self.tensors.iter().filter(|tensor| tensor.name.starts_with(stem)).count()
    }
}

struct Maker {
    tensors: Vec<Tensor>,
    length: usize,
}

impl Maker {
    fn matrix(&mut self, name: String, rows: usize, columns: usize) -> Range<usize> {
        let range = self.length..self.length + rows * columns;
        self.length = range.end;
        self.tensors.push(Tensor { name, shape: [rows, columns], range: range.clone() });
        range
    }

    fn norm(&mut self, name: &str, d: usize) -> Norm {
        Norm {
            scale: self.matrix(format!("{name}.scale"), 1, d),
            shift: self.matrix(format!("{name}.shift"), 1, d),
        }
    }

    fn update(&mut self, name: String, inputs: usize, d: usize) -> Update {
        Update {
            first: (0..inputs).map(|i| self.matrix(format!("{name}.first.{i}"), d, d)).collect(),
            first_norm: self.norm(&format!("{name}.first_norm"), d),
            second: self.matrix(format!("{name}.second"), d, d),
            second_norm: self.norm(&format!("{name}.second_norm"), d),
        }
    }

    fn step(&mut self, t: usize, config: &Config) -> Step {
        let d = config.dimension;
        let edge_updates = ["in", "out"].map(|name| self.update(format!("steps.{t}.{name}"), 2, d));
        let treelet_updates = (config.kind == Kind::Full)
            .then(|| ["left", "head", "right"].map(|name| self.update(format!("steps.{t}.{name}"), 3, d)));
        Step {
            edge_updates,
            treelet_updates,
            combine: self.matrix(format!("steps.{t}.combine"), d, d),
            combine_norm: self.norm(&format!("steps.{t}.combine_norm"), d),
        }
    }

    fn head(&mut self, t: usize, config: &Config) -> Head {
        let (inputs, hidden) = (config.classifier_input(), config.classifier_hidden());
        Head {
            first: self.matrix(format!("heads.{t}.first"), hidden, inputs),
            norm: self.norm(&format!("heads.{t}.norm"), hidden),
            second: self.matrix(format!("heads.{t}.second"), 2, hidden),
            bias: self.matrix(format!("heads.{t}.bias"), 1, 2),
        }
    }
}
