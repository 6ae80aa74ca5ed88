//! The architecture of a network for whole problems.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::tensors::{Initial, Norm, Shape, Tensors, Weight};

/// How scores are judged in training.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Every candidate by itself: the cross-entropy of useful or not, where a score above 0 means useful.
    Each,
    /// The candidates of a problem against each other: the cross-entropy of a softmax over all with those that are useful,
    /// as if each of them were the answer equally often. A problem without useful candidates teaches nothing.
    Pool,
}

/// The shape of a network that reads a conjecture and its candidates together; everything that sizes depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TogetherConfig {
    /// The number of node labels.
    pub labels: usize,
    /// The number of edge classes.
    pub edge_classes: usize,
    /// The number of symbol names, including the first, for hidden or unknown names; 0 if the network ignores names.
    pub names: usize,
    /// Length of a node's vector.
    pub dimension: usize,
    /// How often nodes and symbols are updated.
    pub rounds: usize,
    /// Length of the hidden layer that scores a candidate.
    pub hidden: usize,
    /// The number of features of each candidate in addition to its formula, such as those of a retriever.
    pub features: usize,
    /// Length of the hidden layer of a score by those numbers alone, to which the graph's score is added; 0 for none. The
    /// graph's score begins at zero then.
    pub feature_hidden: usize,
    /// How scores are judged in training.
    pub loss: Loss,
}

impl TogetherConfig {
    /// A network of five rounds of 64 numbers.
    pub fn new(labels: usize, edge_classes: usize) -> Self {
        TogetherConfig {
            labels,
            edge_classes,
            names: 0,
            dimension: 64,
            rounds: 5,
            hidden: 128,
            features: 0,
            feature_hidden: 0,
            loss: Loss::Each,
        }
    }
}

/// The transformation of messages by edge class in one direction: a row of gains and of shifts for each class.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) gains: Range<usize>,
    pub(crate) shifts: Range<usize>,
}

/// h' = norm(h + W relu(Z h + up + down + V s + c) + b), where `up` and `down` are sums of messages.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    /// The matrices for messages up, messages down, and Z, one below the other.
    pub(crate) products: Weight,
    /// c
    pub(crate) met_bias: Range<usize>,
    pub(crate) up: Gate,
    pub(crate) down: Gate,
    /// V
    pub(crate) of_symbol: Weight,
    /// W
    pub(crate) output: Weight,
    /// b
    pub(crate) output_bias: Range<usize>,
    pub(crate) norm: Norm,
    /// Nothing reads the symbols after the last round.
    pub(crate) symbols: Option<SymbolUpdate>,
}

/// s' = norm(s + W relu(U [s, mean, max of what its occurrences send up] + c) + b)
#[derive(Clone, Debug)]
pub(crate) struct SymbolUpdate {
    pub(crate) first: Weight,
    pub(crate) first_bias: Range<usize>,
    pub(crate) second: Weight,
    pub(crate) second_bias: Range<usize>,
    pub(crate) norm: Norm,
}

/// Two layers that make a score.
#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    pub(crate) first: Weight,
    pub(crate) first_bias: Range<usize>,
    pub(crate) second: Weight,
    pub(crate) second_bias: Range<usize>,
}

/// All functions of a network for whole problems.
#[derive(Clone, Debug)]
pub struct TogetherFunctions {
    /// How nodes begin: a row for each label, outside the conjecture and in it.
    pub(crate) labels: Range<usize>,
    /// How symbols begin: outside the conjecture, and in it.
    pub(crate) symbols: Range<usize>,
    /// The contribution of a name.
    pub(crate) names: Option<Range<usize>>,
    pub(crate) rounds: Vec<Round>,
    /// Reads the vectors of a candidate, and the numbers that are known of it.
    pub(crate) readout: Scorer,
    /// Adds the vectors of the conjecture, and the mean of those of all candidates, to the readout's hidden layer.
    pub(crate) of_problem: Weight,
    /// Reads the numbers that are known of a candidate, and nothing else.
    pub(crate) by_features: Option<Scorer>,
}

impl TogetherFunctions {
    /// Where the scores by features alone lie among all numbers.
    pub(crate) fn feature_range(&self) -> Range<usize> {
        self.by_features.as_ref().map_or(0..0, |scorer| scorer.first.range.start..scorer.second_bias.end)
    }
}

struct Maker<'a> {
    config: &'a TogetherConfig,
    tensors: &'a mut Tensors,
}

/// Random numbers of mean 0.
fn around_zero(deviation: f32) -> Initial {
    Initial::Normal { mean: 0.0, deviation }
}

/// Weights whose product with this many numbers of variance 1 has a third of it.
fn linear(inputs: usize) -> Initial {
    around_zero((1.0 / (3 * inputs.max(1)) as f32).sqrt())
}

/// Half of that, for what is added to something that is there already.
fn gentle(inputs: usize) -> Initial {
    around_zero(0.5 * (1.0 / (3 * inputs.max(1)) as f32).sqrt())
}

impl Maker<'_> {
    fn bias(&mut self, name: String, width: usize) -> Range<usize> {
        self.tensors.tensor(name, [1, width], Initial::Zeros)
    }

    fn gate(&mut self, name: String) -> Gate {
        let shape = [self.config.edge_classes, self.config.dimension];
        let gains = Initial::Normal { mean: 1.0, deviation: 0.3 };
        Gate {
            gains: self.tensors.tensor(format!("{name}.gains"), shape, gains),
            shifts: self.tensors.tensor(format!("{name}.shifts"), shape, around_zero(0.3)),
        }
    }

    fn round(&mut self, t: usize) -> Round {
        let d = self.config.dimension;
        let name = |part: &str| format!("rounds.{t}.{part}");
        let is_read = t + 1 < self.config.rounds;
        Round {
            products: self.tensors.weight(name("products"), [3 * d, d], linear(d)),
            met_bias: self.bias(name("met_bias"), d),
            up: self.gate(name("up")),
            down: self.gate(name("down")),
            of_symbol: self.tensors.weight(name("of_symbol"), [d, d], linear(d)),
            output: self.tensors.weight(name("output"), [d, d], gentle(d)),
            output_bias: self.bias(name("output_bias"), d),
            norm: self.tensors.norm(&name("norm"), d, false),
            symbols: is_read.then(|| SymbolUpdate {
                first: self.tensors.weight(name("symbols.first"), [d, 3 * d], linear(3 * d)),
                first_bias: self.bias(name("symbols.first_bias"), d),
                second: self.tensors.weight(name("symbols.second"), [d, d], gentle(d)),
                second_bias: self.bias(name("symbols.second_bias"), d),
                norm: self.tensors.norm(&name("symbols.norm"), d, false),
            }),
        }
    }

    fn scorer(&mut self, name: &str, inputs: usize, hidden: usize, last: Initial) -> Scorer {
        Scorer {
            first: self.tensors.weight(format!("{name}.first"), [hidden, inputs], linear(inputs)),
            first_bias: self.bias(format!("{name}.first_bias"), hidden),
            second: self.tensors.weight(format!("{name}.second"), [1, hidden], last),
            second_bias: self.bias(format!("{name}.second_bias"), 1),
        }
    }
}

impl Shape for TogetherConfig {
    type Functions = TogetherFunctions;

    fn functions(&self, tensors: &mut Tensors) -> TogetherFunctions {
        let (d, hidden) = (self.dimension, self.hidden);
        let adds = self.features > 0 && self.feature_hidden > 0;
        let mut maker = Maker { config: self, tensors };
        TogetherFunctions {
            labels: maker.tensors.tensor("labels".into(), [2 * self.labels, d], around_zero(0.7)),
            symbols: maker.tensors.tensor("symbols".into(), [2, d], around_zero(0.5)),
            names: (self.names > 0)
                .then(|| maker.tensors.tensor("names".into(), [self.names, d], around_zero(0.1))),
            rounds: (0..self.rounds).map(|t| maker.round(t)).collect(),
            readout: maker.scorer(
                "readout",
                3 * d + self.features,
                hidden,
                if adds { Initial::Zeros } else { linear(hidden) },
            ),
            of_problem: maker.tensors.weight("readout.of_problem".into(), [hidden, 6 * d], linear(6 * d)),
            by_features: adds.then(|| {
                let last = linear(self.feature_hidden);
                maker.scorer("by_features", self.features, self.feature_hidden, last)
            }),
        }
    }

    fn fits(&self, bytes: usize) -> bool {
        // A class is a byte; a matrix takes at least two bytes a number.
        (1..=256).contains(&self.labels)
            && (1..=256).contains(&self.edge_classes)
            && self.names <= 1 << 24
            && (1..=1 << 10).contains(&self.dimension)
            && (1..=64).contains(&self.rounds)
            && (1..=1 << 12).contains(&self.hidden)
            && self.features <= 1 << 10
            && self.feature_hidden <= 1 << 12
            && self.names * self.dimension <= bytes
    }
}
