//! Formulas as a model reads them: graphs with the model's tokens.

use std::collections::HashSet;

use formulanet_logic::{Formula, Graph, GraphBuilder, Interner, Limits, TooLarge, View};
use formulanet_net::GraphInput;

use crate::model::vocabulary::{Vocabulary, is_symbol};
use crate::util::hash::{hash_text, mix};
use crate::util::vector::sorted;

/// A formula's graph with the tokens of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Encoded {
    tokens: Vec<u16>,
    degrees: Vec<u16>,
    targets: Vec<u16>,
    /// Labels that the model does not know, each once, in order.
    unknown: Vec<String>,
    /// The number of its symbols in the model's vocabulary, if some are not.
    known: usize,
    fingerprint: u64,
}

impl Encoded {
    /// The graph as the network's input.
    pub fn input(&self) -> GraphInput<'_> {
        GraphInput { tokens: &self.tokens, degrees: &self.degrees, targets: &self.targets }
    }

    /// Labels that the model does not know, each once, in order.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// A hash that formulas share if and only if they have the same graph, including names of symbols, up to a chance of one in
    /// many billions. It does not depend on the model.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// About how long it takes to embed: its edges and treelets.
    pub fn cost(&self) -> usize {
        1 + self.targets.len() + self.input().treelets()
    }

    /// The share of its symbols that are not in the model's vocabulary, from 0 to 1.
    pub fn unknown_share(&self) -> f32 {
        let unknown = self.unknown.len();
        if unknown == 0 { 0.0 } else { unknown as f32 / (unknown + self.known) as f32 }
    }
}

/// Encodes one formula after the other, and keeps its working memory between them.
pub struct Encoder<'a> {
    vocabulary: &'a Vocabulary,
    builder: GraphBuilder,
    graph: Graph,
}

impl<'a> Encoder<'a> {
    /// For a model's view and vocabulary.
    pub fn new(view: View, vocabulary: &'a Vocabulary, limits: Limits) -> Self {
        // Nodes and children are counted in sixteen bits; a node with m children has m (m - 1) / 2 treelets.
        let most = u64::from(u16::MAX);
        let limits = Limits {
            nodes: limits.nodes.min(usize::from(u16::MAX)),
            treelets: limits.treelets.min(most * (most - 1) / 2),
            ..limits
        };
        Encoder { vocabulary, builder: GraphBuilder::new(view, limits), graph: Graph::new() }
    }

    /// Encodes a formula.
    ///
    /// # Errors
    ///
    /// If its graph is larger than the limits allow.
    pub fn encode(&mut self, formula: &Formula, names: &Interner) -> Result<Encoded, TooLarge> {
        self.builder.build(formula, names, &mut self.graph)?;
        let graph = &self.graph;
        let degrees: Vec<u16> = graph.starts().windows(2).map(|w| (w[1] - w[0]) as u16).collect();
        let targets: Vec<u16> = graph.targets().iter().map(|target| target.0 as u16).collect();
        let label = |node: usize| names.name(graph.labels()[node]);
        let tokens = self.vocabulary.tokens(&degrees, &targets, label);
        let (mut unknown, mut known) = (Vec::<String>::new(), Vec::<&str>::new());
        let mut met = HashSet::new();
        for (node, &token) in tokens.iter().enumerate() {
            let label = label(node);
            if !self.vocabulary.is_unknown(token) {
                known.push(label);
            } else if met.insert(label) {
                unknown.push(label.to_owned());
            }
        }
        let known = known.into_iter().filter(|label| !unknown.is_empty() && is_symbol(label));
        let known = sorted(known).len();
        let of_labels = (0..tokens.len()).fold(1, |hash, node| mix(hash, hash_text(label(node))));
        let edges = degrees.iter().chain(&targets);
        let fingerprint = edges.fold(of_labels, |hash, &edge| mix(hash, u64::from(edge) + 1));
        Ok(Encoded { tokens, degrees, targets, unknown, known, fingerprint })
    }
}
