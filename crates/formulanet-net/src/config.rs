//! The architecture of a network.

use serde::{Deserialize, Serialize};

/// Which neighbours update a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// FormulaNet-basic, Eqn. 1: edges, whatever their order.
    Basic,
    /// FormulaNet, Eqn. 2: edges and treelets. Older files call it `full`.
    #[serde(rename = "formulanet", alias = "full")]
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
    /// The maxima, followed by the means.
    MaxMean,
}

/// The input of the classifier after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// The paper's: the nodes' vectors.
    States,
    /// The messages of the neighbors, before they are added to the nodes' vectors; the last step then has no F_P.
    Messages,
}

/// How a statement and a conjecture meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meeting {
    /// The paper's: a classifier reads both vectors, concatenated.
    #[default]
    Concat,
    /// Both vectors, followed by their elementwise product.
    Product,
    /// In a dot product: of a vector that one function makes of the conjecture and one that another makes of the
    /// statement. Whole libraries are ranked so, because a statement's vector is made once for all conjectures.
    Towers,
}

/// Side features of a pair, such as how useful the statement was before. All 0 if nothing is known.
pub type Hints = [f32; HINTS];

/// The number of hints.
pub(crate) const HINTS: usize = 20;

/// The shape of a network; everything that sizes depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The number of tokens.
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
    /// The input of the classifier after a step.
    pub reads: Reads,
    /// How a statement and a conjecture meet.
    #[serde(default)]
    pub meeting: Meeting,
    /// The number of leading [`Hints`] that classifiers read.
    #[serde(default)]
    pub hints: usize,
    /// Whether statements come with marks, for which the last token stands.
    #[serde(default)]
    pub marks: bool,
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
            meeting: Meeting::Concat,
            hints: 0,
            marks: false,
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
        let vectors = match (self.is_conditional, self.meeting) {
            (false, _) => self.width(),
            (true, Meeting::Concat) => 2 * self.width(),
            (true, Meeting::Product) => 3 * self.width(),
            (true, Meeting::Towers) => return (self.steps + 1) * self.width(),
        };
        vectors + self.hints
    }

    /// Length of the vectors whose dot product is a score.
    pub fn tower(&self) -> usize {
        self.dimension
    }

    /// Adds a row of what a classifier reads.
    pub(crate) fn join(&self, statement: &[f32], conjecture: &[f32], hints: Hints, rows: &mut Vec<f32>) {
        rows.extend_from_slice(statement);
        if self.is_conditional {
            rows.extend_from_slice(conjecture);
            if self.meeting == Meeting::Product {
                rows.extend(statement.iter().zip(conjecture).map(|(a, b)| a * b));
            }
        }
        rows.extend_from_slice(&hints[..self.hints]);
    }

    /// The gradients of a statement's and a conjecture's vector, from that of a row that [`Config::join`] made of them.
    pub(crate) fn part(&self, row: &[f32], statement: &[f32], conjecture: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let mut parts = row[..row.len() - self.hints].chunks_exact(self.width());
        let mut next = || parts.next().map_or_else(Vec::new, <[f32]>::to_vec);
        let (mut of_statement, mut of_conjecture, of_product) = (next(), next(), next());
        for (j, gradient) in of_product.into_iter().enumerate() {
            of_statement[j] += gradient * conjecture[j];
            of_conjecture[j] += gradient * statement[j];
        }
        (of_statement, of_conjecture)
    }

    /// Length of the hidden layer of a classifier, or of what makes a vector for dot products.
    pub(crate) fn classifier_hidden(&self) -> usize {
        match (self.is_conditional, self.meeting) {
            (_, Meeting::Towers) => 2 * self.dimension,
            (true, _) => self.dimension,
            (false, _) => self.dimension.div_ceil(2),
        }
    }
}
