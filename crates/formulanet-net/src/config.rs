//! What a network is made of.

/// Which neighbours update a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// FormulaNet-basic, Eqn. 1: edges, whatever their order.
    Basic,
    /// FormulaNet, Eqn. 2: edges and treelets.
    Full,
}

/// The shape of a network; everything that sizes depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// How many tokens there are.
    pub vocabulary: usize,
    /// Length of an embedding.
    pub dimension: usize,
    /// How often nodes are updated.
    pub steps: usize,
    /// Which neighbours update a node.
    pub kind: Kind,
    /// Whether the classifier sees the conjecture.
    pub is_conditional: bool,
}

impl Config {
    /// The paper's network for a vocabulary.
    pub fn paper(vocabulary: usize) -> Self {
        Config { vocabulary, dimension: 256, steps: 3, kind: Kind::Full, is_conditional: true }
    }

    /// Length of what a classifier reads.
    pub(crate) fn classifier_input(&self) -> usize {
        if self.is_conditional { 2 * self.dimension } else { self.dimension }
    }

    /// Length of a classifier's hidden layer.
    pub(crate) fn classifier_hidden(&self) -> usize {
        if self.is_conditional { self.dimension } else { self.dimension / 2 }
    }
}
