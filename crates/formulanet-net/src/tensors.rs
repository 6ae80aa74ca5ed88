//! Numbers of a network in one array: where each matrix lies in it, and how it begins.
//!
//! First come the trained numbers, then the tracked ones: the running means and variances of norms.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::compute::Compute;
use crate::kernel::matmul::{Kernel, Packed, Read, add_outer};
use crate::kernel::norm::{Affine, AffineGradient};
use crate::parameters::Functions;
use crate::random::Random;

/// A matrix or vector of the array.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    /// Its name, as in checkpoints.
    pub name: String,
    /// Rows and columns; a vector has one row.
    pub shape: [usize; 2],
    /// Where it lies.
    pub range: Range<usize>,
    initial: Initial,
}

/// The initial values of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Initial {
    /// Shifts, means and biases.
    Zeros,
    /// Scales and variances.
    Ones,
    /// Kaiming-normal: a sum over this many non-negative inputs varies as much as they do.
    Kaiming { inputs: usize },
    /// Normal.
    Normal { mean: f32, deviation: f32 },
    /// A copy of what lies there, which comes first.
    SameAs(Range<usize>),
}

/// A matrix that rows are multiplied with: of outputs by inputs.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    pub(crate) range: Range<usize>,
    pub(crate) shape: [usize; 2],
    /// Its number among all weights.
    number: usize,
}

impl Weight {
    /// Adds its gradient, given the rows that it was multiplied with and the gradient of the product.
    pub(crate) fn add_gradient(&self, kernel: Kernel, rows: &[f32], gradient: &[f32], gradients: &mut [f32]) {
        add_outer(kernel, &mut gradients[self.range.clone()], gradient, rows, self.shape);
    }
}

/// A norm's scale, directly followed by its shift, and its running mean directly followed by the variance, if it has them.
#[derive(Clone, Debug)]
pub(crate) struct Norm {
    affine: Range<usize>,
    pub(crate) running: Option<Range<usize>>,
}

impl Norm {
    pub(crate) fn affine<'a>(&self, values: &'a [f32]) -> Affine<'a> {
        let (scale, shift) = values[self.affine.clone()].split_at(self.affine.len() / 2);
        Affine { scale, shift }
    }

    pub(crate) fn affine_gradient<'a>(&self, gradients: &'a mut [f32]) -> AffineGradient<'a> {
        let (scale, shift) = gradients[self.affine.clone()].split_at_mut(self.affine.len() / 2);
        AffineGradient { scale, shift }
    }
}

/// The parameters that the sizes of a network depend on, as in files.
pub trait Shape: Clone + PartialEq + Serialize + DeserializeOwned {
    /// The functions that the network is made of: where the numbers of each lie.
    type Functions: Clone;

    /// Lays out the tensors of all functions.
    fn functions(&self, tensors: &mut Tensors) -> Self::Functions;

    /// Whether a file of this size may have such a network: a small file must not request much memory, and impossible sizes
    /// indicate a damaged or hostile file.
    fn fits(&self, bytes: usize) -> bool;
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub struct Layout<F = Functions> {
    tensors: Vec<Tensor>,
    pub(crate) weights: Vec<Weight>,
    trained: usize,
    pub(crate) functions: F,
}

impl<F> Layout<F> {
    /// The layout of a network.
    pub fn new(shape: &impl Shape<Functions = F>) -> Self {
        // What is followed lies behind what is trained: how much that is says a first try.
        let mut first_try = Tensors::default();
        shape.functions(&mut first_try);
        let trained = first_try.trained_length();
        let mut tensors = Tensors { followed_from: trained, ..Tensors::default() };
        let functions = shape.functions(&mut tensors);
        let weights = std::mem::take(&mut tensors.weights);
        Layout { tensors: [tensors.trained, tensors.followed].concat(), weights, trained, functions }
    }

    /// All tensors in order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The number of leading values that training updates by gradients.
    pub fn trained(&self) -> usize {
        self.trained
    }

    /// The numbers before training; the same seed gives the same numbers.
    pub(crate) fn initial(&self, seed: u64) -> Vec<f32> {
        let mut values = vec![0.0; self.tensors.last().map_or(0, |tensor| tensor.range.end)];
        let mut random = Random::new(seed);
        for tensor in &self.tensors {
            match &tensor.initial {
                Initial::Zeros => {}
                Initial::Ones => values[tensor.range.clone()].fill(1.0),
                Initial::Kaiming { inputs } => {
                    let deviation = (2.0 / *inputs as f32).sqrt();
                    values[tensor.range.clone()].fill_with(|| random.normal() * deviation);
                }
                &Initial::Normal { mean, deviation } => {
                    values[tensor.range.clone()].fill_with(|| mean + deviation * random.normal());
                }
                Initial::SameAs(other) => values.copy_within(other.clone(), tensor.range.start),
            }
        }
        values
    }
}

/// Lays tensors out, one after the other.
#[derive(Debug, Default)]
pub struct Tensors {
    trained: Vec<Tensor>,
    followed: Vec<Tensor>,
    weights: Vec<Weight>,
    /// The start of the tracked numbers: after all trained ones, once their length is known.
    followed_from: usize,
}

impl Tensors {
    fn trained_length(&self) -> usize {
        self.trained.last().map_or(0, |tensor| tensor.range.end)
    }

    pub(crate) fn tensor(&mut self, name: String, shape: [usize; 2], initial: Initial) -> Range<usize> {
        push(&mut self.trained, 0, name, shape, initial)
    }

    pub(crate) fn weight(&mut self, name: String, shape: [usize; 2], initial: Initial) -> Weight {
        let range = self.tensor(name, shape, initial);
        let weight = Weight { range, shape, number: self.weights.len() };
        self.weights.push(weight.clone());
        weight
    }

    pub(crate) fn norm(&mut self, name: &str, width: usize, follows: bool) -> Norm {
        let scale = self.tensor(format!("{name}.scale"), [1, width], Initial::Ones);
        let shift = self.tensor(format!("{name}.shift"), [1, width], Initial::Zeros);
        let mut follow = |part: &str, initial| {
            push(&mut self.followed, self.followed_from, format!("{name}.{part}"), [1, width], initial)
        };
        let running =
            follows.then(|| follow("mean", Initial::Zeros).start..follow("variance", Initial::Ones).end);
        Norm { affine: scale.start..shift.end, running }
    }
}

/// Appends a tensor; the first begins at `start`.
fn push(
    tensors: &mut Vec<Tensor>,
    start: usize,
    name: String,
    shape: [usize; 2],
    initial: Initial,
) -> Range<usize> {
    let start = tensors.last().map_or(start, |tensor| tensor.range.end);
    let range = start..start + shape[0] * shape[1];
    tensors.push(Tensor { name, shape, range: range.clone(), initial });
    range
}

/// All weights, laid out for products.
pub(crate) struct Weights {
    /// For outputs from inputs.
    forward: Vec<Packed>,
    /// For the gradients of inputs from those of outputs.
    backward: Vec<Packed>,
}

impl Weights {
    pub(crate) fn new(weights: &[Weight], values: &[f32], kernel: Kernel, is_training: bool) -> Self {
        let pack = |read| {
            let one =
                |weight: &Weight| Packed::new(kernel, &values[weight.range.clone()], weight.shape, read);
            weights.iter().map(one).collect()
        };
        Weights {
            forward: pack(Read::Transposed),
            backward: if is_training { pack(Read::Plain) } else { Vec::new() },
        }
    }

    /// The product of rows with a weight.
    pub(crate) fn product(&self, weight: &Weight, rows: &[f32], compute: &Compute) -> Vec<f32> {
        let mut product = compute.take(rows.len() / weight.shape[1] * weight.shape[0]);
        self.forward(weight).multiply(&mut product, rows);
        product
    }

    pub(crate) fn forward(&self, weight: &Weight) -> &Packed {
        &self.forward[weight.number]
    }

    pub(crate) fn backward(&self, weight: &Weight) -> &Packed {
        &self.backward[weight.number]
    }
}
