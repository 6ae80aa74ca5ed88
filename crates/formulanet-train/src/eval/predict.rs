//! Predictions of a network for prepared pairs.

use formulanet::net::{Embedding, GraphInput, Hints, Network};

use crate::dataset::{Pair, Prepared, Split};
use crate::distinct::Distinct;
use crate::eval::metrics::{self, Prediction};
use crate::{Error, Progress, Stage};
use formulanet::model::memory::marks::{Marked, SymbolMarker};
use formulanet::model::memory::statements::{ConjectureContext, StatementMemory};
use formulanet::model::vocabulary::{self, SPECIAL, Vocabulary};
use formulanet::util::random::sample;

/// The number of pairs that are scored between two reports of progress: the more, the more of their statements recur.
const CHUNK: usize = 1 << 14;
/// The number of graphs that a thread looks up in a memory at a time.
const LOOKED_UP: usize = 64;

/// The predictions of all classifiers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Predictions {
    /// Those of the last classifier, in the order of the pairs.
    pub last: Vec<Prediction>,
    /// The probabilities of every classifier: all of the first pair, then all of the second, and so on.
    pub steps: Vec<f32>,
}

impl Predictions {
    /// Accuracy of every classifier.
    pub fn accuracies(&self) -> Vec<f64> {
        metrics::accuracies(&self.last, &self.steps)
    }

    /// The mean cross-entropy of the last classifier.
    pub fn loss(&self) -> f64 {
        metrics::log_loss(&self.last)
    }
}

/// The pairs of a split, or a sample of them that is the same in every run; in order.
pub fn pairs_of(prepared: &Prepared, split: Split, most: Option<usize>, seed: u64) -> Vec<u32> {
    let pairs = prepared.of_split(split).flat_map(|conjecture| conjecture.pairs);
    let pairs: Vec<u32> = pairs.map(|pair| pair as u32).collect();
    match most {
        Some(most) if most < pairs.len() => {
            let mut chosen = sample(pairs, most, seed);
            chosen.sort_unstable();
            chosen
        }
        _ => pairs,
    }
}

/// How a data set's tokens are called in a model.
pub struct TokenMap {
    /// Nothing if they are the same.
    changes: Option<Changes>,
}

struct Changes {
    /// For every token of the data, the model's, if it knows the label.
    tokens: Vec<Option<u16>>,
    /// Whether the data's token is a connective or a binder.
    is_logical: Vec<bool>,
    vocabulary: Vocabulary,
}

impl TokenMap {
    /// From one vocabulary to another. Labels that the model does not know become one of its tokens for unknown ones.
    ///
    /// # Errors
    ///
    /// Returned if the model's vocabulary has less than a tenth of the labels, not counting special ones.
    pub fn new(data: &[String], model: &[String], name: &str) -> Result<Self, Error> {
        if data == model {
            return Ok(TokenMap { changes: None });
        }
        let vocabulary = Vocabulary::new(model).ok_or_else(|| {
            Error::input(name, "expected a model whose vocabulary has UNKNOWN; train it again")
        })?;
        let tokens: Vec<Option<u16>> = data.iter().map(|label| vocabulary.known(label)).collect();
        let ordinary: Vec<_> =
            data.iter().zip(&tokens).filter(|(label, _)| !SPECIAL.contains(&label.as_str())).collect();
        let known = ordinary.iter().filter(|(_, token)| token.is_some()).count();
        if known * 10 < ordinary.len() {
            return Err(Error::ForeignModel { model: name.to_owned(), known, labels: ordinary.len() });
        }
        let is_logical = data.iter().map(|label| vocabulary::is_logical(label)).collect();
        Ok(TokenMap { changes: Some(Changes { tokens, is_logical, vocabulary }) })
    }

    /// The model's tokens of a graph, if they are others than the data's.
    pub fn map(&self, graph: &GraphInput<'_>) -> Option<Vec<u16>> {
        let Changes { tokens, is_logical, vocabulary } = self.changes.as_ref()?;
        let mapped = graph.tokens.iter().map(|&token| tokens[usize::from(token)]).collect();
        let is_logical = |node: usize| is_logical[usize::from(graph.tokens[node])];
        Some(vocabulary.complete(mapped, graph.degrees, graph.targets, is_logical))
    }

    /// Calls `look` with graphs of a prepared folder as the model reads them.
    pub fn with_inputs<T>(
        &self,
        prepared: &Prepared,
        graphs: &[u32],
        look: impl FnOnce(&[GraphInput<'_>]) -> T,
    ) -> T {
        let graphs: Vec<_> = graphs.iter().map(|&graph| prepared.graph(graph)).collect();
        let mapped: Vec<Option<Vec<u16>>> = graphs.iter().map(|graph| self.map(graph)).collect();
        let inputs = graphs.iter().zip(&mapped).map(|(graph, tokens)| graph.with(tokens));
        look(&inputs.collect::<Vec<_>>())
    }
}

/// Scores pairs of a prepared folder with a network, and with what its model remembers of statements.
///
/// # Errors
///
/// If `progress` stops it.
pub fn predict(
    network: &Network,
    seen: &StatementMemory,
    prepared: &Prepared,
    map: &TokenMap,
    pairs: &[u32],
    progress: &dyn Progress,
) -> Result<Predictions, Error> {
    let config = network.model().config();
    let marker = config.marks.then(|| seen.marker((config.vocabulary - 1) as u16));
    let judge = Judge { network, seen, marker, prepared, map };
    let mut predictions = Predictions::default();
    progress.begin(Stage { name: "evaluating", done: 0, of: pairs.len() as u64, unit: "pairs" });
    for chunk in pairs.chunks(CHUNK) {
        progress.check()?;
        let chunk: Vec<Pair> = chunk.iter().map(|&pair| prepared.pair(pair as usize)).collect();
        let scores = judge.scores(&chunk);
        for (i, pair) in chunk.iter().enumerate() {
            predictions.steps.extend(scores.iter().map(|scores| scores[i]));
            let score = scores[scores.len() - 1][i];
            predictions.last.push(Prediction { conjecture: pair.conjecture, score, is_useful: pair.useful });
        }
        progress.advance(chunk.len() as u64);
    }
    Ok(predictions)
}

/// The data needed to score pairs.
struct Judge<'a> {
    network: &'a Network,
    seen: &'a StatementMemory,
    /// For a network that reads statements with marks.
    marker: Option<SymbolMarker>,
    prepared: &'a Prepared,
    map: &'a TokenMap,
}

/// Where the graphs of a pair stand among those of a chunk.
struct Places {
    statement: usize,
    /// Nothing if the network does not look at conjectures.
    conjecture: Option<usize>,
}

impl Judge<'_> {
    /// The probabilities of pairs, one array for each step.
    fn scores(&self, pairs: &[Pair]) -> Vec<Vec<f32>> {
        let (graphs, places) = self.graphs(pairs);
        self.map.with_inputs(self.prepared, &graphs, |inputs| {
            let (hints, marked) = self.hints(&places, inputs);
            let (plain, marked) = self.embed(&places, inputs, &marked);
            let vector = |place: usize| plain[place].as_ref().expect("a graph that was read");
            let pairs = places.iter().zip(&marked).zip(hints).map(|((places, marked), hints)| {
                let statement = marked.as_ref().unwrap_or_else(|| vector(places.statement));
                (statement, places.conjecture.map_or(statement, vector), hints)
            });
            self.network.score_all(&pairs.collect::<Vec<_>>())
        })
    }

    /// The graphs that pairs need, each once, and which of them every pair has.
    fn graphs(&self, pairs: &[Pair]) -> (Vec<u32>, Vec<Places>) {
        let is_conditional = self.network.model().config().is_conditional;
        let mut graphs = Distinct::default();
        let conjecture = |pair: &Pair| self.prepared.conjecture(pair.conjecture as usize).graph;
        let places = pairs.iter().map(|pair| Places {
            statement: graphs.number(pair.statement),
            conjecture: is_conditional.then(|| graphs.number(conjecture(pair))),
        });
        let places = places.collect();
        (graphs.items, places)
    }

    /// The side features of every pair, and its statement with marks if it has any.
    fn hints(&self, places: &[Places], inputs: &[GraphInput<'_>]) -> (Vec<Hints>, Vec<Option<Marked>>) {
        let compute = self.network.compute();
        let parts: Vec<_> = inputs.chunks(LOOKED_UP).collect();
        let look_up =
            |part: usize| -> Vec<_> { parts[part].iter().map(|&graph| self.seen.statement(graph)).collect() };
        let known: Vec<_> = compute.map(parts.len(), look_up).into_iter().flatten().collect();
        let groups: Vec<&[Places]> = places.chunk_by(|a, b| a.conjecture == b.conjecture).collect();
        let of_group = |group: usize| {
            let conjecture = groups[group][0].conjecture.map(|place| inputs[place]);
            let asked =
                conjecture.map_or_else(ConjectureContext::default, |graph| self.seen.conjecture(graph));
            let marking = self.marker.as_ref().zip(conjecture);
            let marking = marking.map(|(marker, graph)| (marker, marker.wanted(graph.tokens)));
            let of_pair = |places: &Places| {
                let statement = inputs[places.statement];
                let marked = marking.as_ref().and_then(|(marker, wanted)| marker.mark(statement, wanted));
                (self.seen.hints(&known[places.statement], &asked), marked)
            };
            groups[group].iter().map(of_pair).collect::<Vec<_>>()
        };
        compute.map(groups.len(), of_group).into_iter().flatten().unzip()
    }

    /// The vectors of graphs as they are, where some pair needs them so, and those of marked statements.
    fn embed(
        &self,
        places: &[Places],
        inputs: &[GraphInput<'_>],
        marked: &[Option<Marked>],
    ) -> (Vec<Option<Embedding>>, Vec<Option<Embedding>>) {
        let mut is_plain = vec![false; inputs.len()];
        for (places, marked) in places.iter().zip(marked) {
            places.conjecture.into_iter().for_each(|place| is_plain[place] = true);
            is_plain[places.statement] |= marked.is_none();
        }
        let plain = inputs.iter().zip(&is_plain).filter(|(_, is_plain)| **is_plain).map(|(input, _)| *input);
        let read: Vec<GraphInput<'_>> = plain.chain(marked.iter().flatten().map(Marked::input)).collect();
        let mut read = self.network.embed_all(&read).into_iter();
        let mut next = |is_read: bool| is_read.then(|| read.next().expect("a vector for every graph"));
        let plain = is_plain.into_iter().map(&mut next).collect();
        (plain, marked.iter().map(|marked| next(marked.is_some())).collect())
    }
}
