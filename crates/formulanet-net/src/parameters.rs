//! All numbers of a network in one array, and where each matrix lies in it.
//!
//! First come the numbers that training moves along gradients, behind them those that it follows: the running means
//! and variances of norms.

use std::ops::Range;

use crate::config::{Config, Kind, Meeting, NormKind, Reads};
use crate::init::Random;
use crate::kernel::matmul::{Kernel, Packed, Read};
use crate::kernel::norm::{Affine, AffineGradient};

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

/// A matrix that rows are multiplied with: of outputs by inputs.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    pub(crate) range: Range<usize>,
    pub(crate) shape: [usize; 2],
    /// Its number among all weights.
    pub(crate) number: usize,
}

/// A norm's scale, its shift right behind, and its running mean with the variance right behind, if it has them.
#[derive(Clone, Debug)]
pub(crate) struct Norm {
    pub(crate) affine: Range<usize>,
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

/// A function F_I, F_O, F_L, F_H or F_R: concatenate, FC, norm, ReLU, FC, norm, ReLU.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    /// The first FC, cut into a square matrix for each input: W[a;b] = Wa a + Wb b.
    pub(crate) first: Vec<Weight>,
    pub(crate) first_norm: Norm,
    pub(crate) second: Weight,
    pub(crate) second_norm: Norm,
}

/// The functions of one step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// F_I and F_O.
    pub(crate) edge_updates: Vec<Update>,
    /// F_L, F_H and F_R, or none.
    pub(crate) treelet_updates: Vec<Update>,
    /// F_P, unless nothing reads what it makes.
    pub(crate) combine: Option<(Weight, Norm)>,
}

/// A classifier, or what makes a vector for dot products: FC, norm over the mini-batch, ReLU, FC.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) first: Weight,
    pub(crate) norm: Norm,
    pub(crate) second: Weight,
    pub(crate) bias: Range<usize>,
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub struct Layout {
    tensors: Vec<Tensor>,
    pub(crate) embedding: Range<usize>,
    pub(crate) embedding_norm: Norm,
    pub(crate) steps: Vec<Step>,
    /// The classifiers of all steps; or, for dot products, what reads a conjecture and what reads a statement.
    pub(crate) heads: Vec<Head>,
    pub(crate) weights: Vec<Weight>,
    trained: usize,
    length: usize,
}

impl Layout {
    /// The norms that a micro-batch goes through, in order.
    pub(crate) fn norms(&self) -> Vec<&Norm> {
        let mut norms = vec![&self.embedding_norm];
        for step in &self.steps {
            let updates = step.edge_updates.iter().chain(&step.treelet_updates);
            norms.extend(updates.flat_map(|update| [&update.first_norm, &update.second_norm]));
            norms.extend(step.combine.iter().map(|(_, norm)| norm));
        }
        norms
    }

    /// The layout of a network.
    pub fn new(config: &Config) -> Self {
        let mut maker =
            Maker { config, tensors: Vec::new(), weights: Vec::new(), running: Vec::new(), length: 0 };
        let d = config.dimension;
        let embedding = maker.tensor("embedding".into(), [config.vocabulary, d]);
        let mut embedding_norm = maker.norm("embedding_norm", d, config.norm == NormKind::Batch);
        let mut steps: Vec<Step> = (0..config.steps).map(|t| maker.step(t)).collect();
        let mut heads: Vec<Head> = match config.meeting {
            Meeting::Concat | Meeting::Product => {
                (0..=config.steps).map(|t| maker.head(format!("heads.{t}"), 2)).collect()
            }
            Meeting::Towers => TOWERS.map(|name| maker.head(name.into(), config.tower())).into(),
        };
        let trained = maker.length;
        // What is followed lies behind what is trained: only now is it known where.
        let running = std::mem::take(&mut maker.running);
        let mut next = running.iter();
        let mut place = |norm: &mut Norm| {
            if norm.running.is_some() {
                let (name, width) = next.next().expect("as many as were noted");
                let start = maker.length;
                maker.tensor(format!("{name}.mean"), [1, *width]);
                maker.tensor(format!("{name}.variance"), [1, *width]);
                norm.running = Some(start..start + 2 * width);
            }
        };
        place(&mut embedding_norm);
        for step in &mut steps {
            for update in step.edge_updates.iter_mut().chain(&mut step.treelet_updates) {
                place(&mut update.first_norm);
                place(&mut update.second_norm);
            }
            step.combine.iter_mut().for_each(|(_, norm)| place(norm));
        }
        heads.iter_mut().for_each(|head| place(&mut head.norm));
        let Maker { tensors, weights, length, .. } = maker;
        Layout { tensors, embedding, embedding_norm, steps, heads, weights, trained, length }
    }

    /// All tensors in order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// How many numbers there are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// How many of them, from the first on, training moves along gradients.
    pub fn trained(&self) -> usize {
        self.trained
    }

    /// Kaiming-normal weights, scales and variances of one, shifts and means of zero.
    pub(crate) fn initial(&self, seed: u64) -> Vec<f32> {
        let mut values = vec![0.0; self.length];
        let mut random = Random::new(seed);
        for tensor in &self.tensors {
            let values = &mut values[tensor.range.clone()];
            if tensor.name.ends_with(".scale") || tensor.name.ends_with(".variance") {
                values.fill(1.0);
            } else if tensor.shape[0] > 1 {
                // A matrix that is one block of a wider one counts the inputs of the whole.
                let blocks = if tensor.name.contains(".first.") { self.blocks(&tensor.name) } else { 1 };
                let deviation = (2.0 / (tensor.shape[1] * blocks) as f32).sqrt();
                values.iter_mut().for_each(|value| *value = random.normal() * deviation);
            }
        }
        self.tie_towers(&mut values);
        values
    }

    /// What reads a statement begins as what reads a conjecture, so that at first those are close that are alike.
    fn tie_towers(&self, values: &mut [f32]) {
        for tensor in &self.tensors {
            let Some(rest) = tensor.name.strip_prefix(TOWERS[1]) else { continue };
            let of_conjecture =
                self.tensors.iter().find(|other| other.name.strip_prefix(TOWERS[0]) == Some(rest));
            if let Some(of_conjecture) = of_conjecture {
                values.copy_within(of_conjecture.range.clone(), tensor.range.start);
            }
        }
    }

    fn blocks(&self, name: &str) -> usize {
        let stem = &name[..=name.rfind('.').unwrap_or(0)];
        self.tensors.iter().filter(|tensor| tensor.name.starts_with(stem)).count()
    }
}

/// Names of what reads a conjecture and of what reads a statement.
const TOWERS: [&str; 2] = ["towers.conjecture", "towers.statement"];

struct Maker<'a> {
    config: &'a Config,
    tensors: Vec<Tensor>,
    weights: Vec<Weight>,
    /// Name and width of the norms whose statistics are followed.
    running: Vec<(String, usize)>,
    length: usize,
}

impl Maker<'_> {
    fn tensor(&mut self, name: String, shape: [usize; 2]) -> Range<usize> {
        let range = self.length..self.length + shape[0] * shape[1];
        self.length = range.end;
        self.tensors.push(Tensor { name, shape, range: range.clone() });
        range
    }

    fn weight(&mut self, name: String, shape: [usize; 2]) -> Weight {
        let weight = Weight { range: self.tensor(name, shape), shape, number: self.weights.len() };
        self.weights.push(weight.clone());
        weight
    }

    fn norm(&mut self, name: &str, width: usize, follows: bool) -> Norm {
        let scale = self.tensor(format!("{name}.scale"), [1, width]);
        let shift = self.tensor(format!("{name}.shift"), [1, width]);
        if follows {
            self.running.push((name.to_string(), width));
        }
        Norm { affine: scale.start..shift.end, running: follows.then_some(0..0) }
    }

    fn update(&mut self, name: String, inputs: usize) -> Update {
        let (d, follows) = (self.config.dimension, self.config.norm == NormKind::Batch);
        Update {
            first: (0..inputs).map(|i| self.weight(format!("{name}.first.{i}"), [d, d])).collect(),
            first_norm: self.norm(&format!("{name}.first_norm"), d, follows),
            second: self.weight(format!("{name}.second"), [d, d]),
            second_norm: self.norm(&format!("{name}.second_norm"), d, follows),
        }
    }

    fn step(&mut self, t: usize) -> Step {
        let (d, follows) = (self.config.dimension, self.config.norm == NormKind::Batch);
        let treelets: &[&str] = if self.config.kind == Kind::Full { &["left", "head", "right"] } else { &[] };
        let is_read = self.config.reads == Reads::States || t + 1 < self.config.steps;
        Step {
            edge_updates: ["in", "out"].map(|name| self.update(format!("steps.{t}.{name}"), 2)).into(),
            treelet_updates: treelets
                .iter()
                .map(|name| self.update(format!("steps.{t}.{name}"), 3))
                .collect(),
            combine: is_read.then(|| {
                let weight = self.weight(format!("steps.{t}.combine"), [d, d]);
                (weight, self.norm(&format!("steps.{t}.combine_norm"), d, follows))
            }),
        }
    }

    fn head(&mut self, name: String, outputs: usize) -> Head {
        let (inputs, hidden) = (self.config.classifier_input(), self.config.classifier_hidden());
        Head {
            first: self.weight(format!("{name}.first"), [hidden, inputs]),
            norm: self.norm(&format!("{name}.norm"), hidden, true),
            second: self.weight(format!("{name}.second"), [outputs, hidden]),
            bias: self.tensor(format!("{name}.bias"), [1, outputs]),
        }
    }
}

/// All weights, laid out for products.
pub(crate) struct Weights {
    /// For outputs from inputs.
    forward: Vec<Packed>,
    /// For the gradients of inputs from those of outputs.
    backward: Vec<Packed>,
}

impl Weights {
    pub(crate) fn new(layout: &Layout, values: &[f32], kernel: Kernel, is_training: bool) -> Self {
        let pack = |read| {
            let one =
                |weight: &Weight| Packed::new(kernel, &values[weight.range.clone()], weight.shape, read);
            layout.weights.iter().map(one).collect()
        };
        Weights {
            forward: pack(Read::Transposed),
            backward: if is_training { pack(Read::Plain) } else { Vec::new() },
        }
    }

    pub(crate) fn forward(&self, weight: &Weight) -> &Packed {
        &self.forward[weight.number]
    }

    pub(crate) fn backward(&self, weight: &Weight) -> &Packed {
        &self.backward[weight.number]
    }
}
