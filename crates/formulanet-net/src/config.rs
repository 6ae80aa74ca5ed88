//! What a network is made of.

use serde::{Deserialize, Serialize};

/// Which neighbours update a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// FormulaNet-basic, Eqn. 1: edges, whatever their order.
    Basic,
    /// FormulaNet, Eqn. 2: edges and treelets.
    Full,
}

/// Over which rows a norm takes mean and variance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormKind {
    /// The paper's: over the rows that one graph gives to one function.
    Graph,
    /// Over the rows of a micro-batch; once trained, fixed numbers that were followed in training.
    Batch,
    /// Over the numbers of each row by itself.
    Layer,
}

/// How the vectors of nodes become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The paper's: the largest of every number.
    Max,
    /// The largest, and behind them the means.
    MaxMean,
}

/// What the classifier after a step reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// The paper's: the nodes' vectors.
    States,
    /// What the neighbours sent, before it is added to the nodes' vectors; the last step then has no F_P.
    Messages,
}

/// The shape of a network; everything that sizes depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How many tokens there are.
    pub vocabulary: usize,
    /// Length of a node's vector.
    pub dimension: usize,
    /// How often nodes are updated.
    pub steps: usize,
    /// Which neighbours update a node.
    pub kind: Kind,
    /// Whether the classifier sees the conjecture.
    pub is_conditional: bool,
    /// Over which rows a norm goes.
    pub norm: NormKind,
    /// How the vectors of nodes become one.
    pub pooling: Pooling,
    /// What the classifier after a step reads.
    pub reads: Reads,
}

impl Config {
    /// The paper's network for a vocabulary.
    pub fn paper(vocabulary: usize) -> Self {
        Config {
            vocabulary,
            dimension: 256,
            steps: 3,
            kind: Kind::Full,
            is_conditional: true,
            norm: NormKind::Graph,
            pooling: Pooling::Max,
            reads: Reads::States,
        }
    }

    /// Length of a graph's vector.
    pub fn width(&self) -> usize {
        match self.pooling {
            Pooling::Max => self.dimension,
            Pooling::MaxMean => 2 * self.dimension,
        }
    }

    /// Length of what a classifier reads.
    pub(crate) fn classifier_input(&self) -> usize {
        if self.is_conditional { 2 * self.width() } else { self.width() }
    }

    /// Length of a classifier's hidden layer.
    pub(crate) fn classifier_hidden(&self) -> usize {
        if self.is_conditional { self.dimension } else { self.dimension.div_ceil(2) }
    }
}
