//! The distinct graphs of a batch.

use std::collections::HashMap;

use formulanet::net::GraphInput;

use crate::dataset::Prepared;
use crate::distinct::Distinct;
use formulanet::model::memory::marks::{Marked, SymbolMarker};
use formulanet::model::recipe::Recipe;
use formulanet::model::vocabulary::{UNKNOWN, is_symbol};
use formulanet::util::random::{falls_in, scramble};

/// Which labels a batch may take for unknown, so that the network learns to do without them and what an unknown one
/// means.
pub(super) struct Blur {
    share: f32,
    seed: u64,
    unknown: u16,
    /// Whether a token may be blurred: connectives, binders and variables are not.
    is_blurred: Vec<bool>,
}

impl Blur {
    pub(super) fn new(prepared: &Prepared, recipe: &Recipe) -> Self {
        let labels = prepared.vocabulary();
        let unknown = labels.iter().position(|label| label == UNKNOWN);
        let may = |label: &String| {
            let label = label.as_str();
            is_symbol(label) || matches!(label, "@" | "," | "_")
        };
        Blur {
            share: if unknown.is_some() { recipe.blur } else { 0.0 },
            seed: recipe.seed,
            unknown: unknown.unwrap_or(0) as u16,
            is_blurred: labels.iter().map(may).collect(),
        }
    }

    /// The tokens of a graph in a batch, if they are others than the graph's own: a label is blurred everywhere in a
    /// graph or nowhere.
    fn tokens(&self, graph: u32, tokens: &[u16], step: u64) -> Option<Vec<u16>> {
        if self.share <= 0.0 {
            return None;
        }
        let of_graph = scramble(self.seed ^ scramble(step ^ scramble(u64::from(graph) ^ 0x626c_7572)));
        let is_chosen = |token: u16| {
            self.is_blurred[usize::from(token)] && falls_in(scramble(of_graph ^ u64::from(token)), self.share)
        };
        tokens.iter().any(|&token| is_chosen(token)).then(|| {
            tokens.iter().map(|&token| if is_chosen(token) { self.unknown } else { token }).collect()
        })
    }
}

/// Graphs in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Gathered<'a> {
    marker: Option<&'a SymbolMarker>,
    /// A graph and, if it is marked, the graph of its conjecture.
    graphs: Distinct<(u32, Option<u32>)>,
}

impl<'a> Gathered<'a> {
    /// Statements may be marked.
    pub(super) fn marking(marker: Option<&'a SymbolMarker>) -> Self {
        Gathered { marker, ..Gathered::default() }
    }

    /// A graph's number in the batch.
    pub(super) fn number(&mut self, graph: u32) -> usize {
        self.graphs.number((graph, None))
    }

    /// The number of a statement's graph, which may be marked for a conjecture.
    pub(super) fn statement(&mut self, graph: u32, conjecture: u32) -> usize {
        self.graphs.number((graph, self.marker.map(|_| conjecture)))
    }

    /// Calls `make` with all graphs.
    pub(super) fn with_inputs<T>(
        &self,
        prepared: &Prepared,
        blur: &Blur,
        step: u64,
        make: impl FnOnce(&[GraphInput<'_>]) -> T,
    ) -> T {
        let asked = self.graphs.items.as_slice();
        let graphs: Vec<GraphInput<'_>> = asked.iter().map(|&(graph, _)| prepared.graph(graph)).collect();
        let blur =
            |(&(number, _), graph): (&(u32, _), &GraphInput<'_>)| blur.tokens(number, graph.tokens, step);
        let blurred: Vec<Option<Vec<u16>>> = asked.iter().zip(&graphs).map(blur).collect();
        let mut inputs: Vec<GraphInput<'_>> =
            graphs.iter().zip(&blurred).map(|(graph, tokens)| graph.with(tokens)).collect();
        // Statements of a conjecture are marked alike.
        let mut wanted: HashMap<u32, Vec<u16>> = HashMap::new();
        let mut mark = |conjecture: Option<u32>, input: GraphInput<'_>| {
            let (marker, conjecture) = (self.marker?, conjecture?);
            let tokens = || marker.wanted(prepared.graph(conjecture).tokens);
            marker.mark(input, wanted.entry(conjecture).or_insert_with(tokens))
        };
        let marked: Vec<Option<Marked>> =
            asked.iter().zip(&inputs).map(|(&(_, conjecture), &input)| mark(conjecture, input)).collect();
        for (input, marked) in inputs.iter_mut().zip(&marked) {
            *input = marked.as_ref().map_or(*input, Marked::input);
        }
        make(&inputs)
    }
}
