//! The functions of a network, and where their matrices lie among its numbers.

use std::ops::Range;

use crate::config::{Config, HINTS, Kind, Meeting, NormKind, Reads};
use crate::tensors::{Initial, Norm, Shape, Tensors, Weight};

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

/// All functions of a network.
#[derive(Clone, Debug)]
pub struct Functions {
    pub(crate) embedding: Range<usize>,
    pub(crate) embedding_norm: Norm,
    pub(crate) steps: Vec<Step>,
    /// The classifiers of all steps; or, for dot products, what reads a conjecture and what reads a statement.
    pub(crate) heads: Vec<Head>,
}

impl Functions {
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
}

impl Shape for Config {
    type Functions = Functions;

    fn functions(&self, tensors: &mut Tensors) -> Functions {
        let mut maker = Maker { config: self, tensors };
        let d = self.dimension;
        let initial = Initial::Kaiming { inputs: d };
        Functions {
            embedding: maker.tensors.tensor("embedding".into(), [self.vocabulary, d], initial),
            embedding_norm: maker.norm("embedding_norm"),
            steps: (0..self.steps).map(|t| maker.step(t)).collect(),
            heads: match self.meeting {
                Meeting::Concat | Meeting::Product => {
                    (0..=self.steps).map(|t| maker.head(&format!("heads.{t}"), 2, None)).collect()
                }
                Meeting::Towers => {
                    let of_conjecture = maker.head("towers.conjecture", self.tower(), None);
                    // They begin as the same function, so that at first those are close that are alike.
                    let of_statement = maker.head("towers.statement", self.tower(), Some(&of_conjecture));
                    vec![of_conjecture, of_statement]
                }
            },
        }
    }

    fn fits(&self, bytes: usize) -> bool {
        (1..=1 << 24).contains(&self.vocabulary)
            && (1..=1 << 13).contains(&self.dimension)
            && self.steps <= 64
            && self.hints <= HINTS
            // A matrix takes at least two bytes a number.
            && self.vocabulary * self.dimension <= bytes
    }
}

struct Maker<'a> {
    config: &'a Config,
    tensors: &'a mut Tensors,
}

impl Maker<'_> {
    /// A square matrix, one of several that make up one with a multiple of its inputs.
    fn square(&mut self, name: String, blocks: usize) -> Weight {
        let d = self.config.dimension;
        self.tensors.weight(name, [d, d], Initial::Kaiming { inputs: blocks * d })
    }

    fn norm(&mut self, name: &str) -> Norm {
        self.tensors.norm(name, self.config.dimension, self.config.norm == NormKind::Batch)
    }

    fn update(&mut self, name: String, inputs: usize) -> Update {
        Update {
            first: (0..inputs).map(|i| self.square(format!("{name}.first.{i}"), inputs)).collect(),
            first_norm: self.norm(&format!("{name}.first_norm")),
            second: self.square(format!("{name}.second"), 1),
            second_norm: self.norm(&format!("{name}.second_norm")),
        }
    }

    fn step(&mut self, t: usize) -> Step {
        let treelets: &[&str] = if self.config.kind == Kind::Full { &["left", "head", "right"] } else { &[] };
        let is_read = self.config.reads == Reads::States || t + 1 < self.config.steps;
        let name = |part: &str| format!("steps.{t}.{part}");
        Step {
            edge_updates: ["in", "out"].map(|part| self.update(name(part), 2)).into(),
            treelet_updates: treelets.iter().map(|part| self.update(name(part), 3)).collect(),
            combine: is_read.then(|| (self.square(name("combine"), 1), self.norm(&name("combine_norm")))),
        }
    }

    /// A head, which may begin as a copy of another.
    fn head(&mut self, name: &str, outputs: usize, like: Option<&Head>) -> Head {
        let (inputs, hidden) = (self.config.classifier_input(), self.config.classifier_hidden());
        let initial = |like: Option<&Weight>, inputs| match like {
            Some(weight) => Initial::SameAs(weight.range.clone()),
            None => Initial::Kaiming { inputs },
        };
        let first = initial(like.map(|head| &head.first), inputs);
        let second = initial(like.map(|head| &head.second), hidden);
        Head {
            first: self.tensors.weight(format!("{name}.first"), [hidden, inputs], first),
            norm: self.tensors.norm(&format!("{name}.norm"), hidden, true),
            second: self.tensors.weight(format!("{name}.second"), [outputs, hidden], second),
            bias: self.tensors.tensor(format!("{name}.bias"), [1, outputs], Initial::Zeros),
        }
    }
}
