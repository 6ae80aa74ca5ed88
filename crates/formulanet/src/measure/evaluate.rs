//! What a network says about prepared pairs.

use std::collections::HashMap;

use formulanet_net::{Embedding, GraphInput, Hints, Network};

use crate::Error;
use crate::data::vocabulary::{self, SPECIAL, Vocabulary};
use crate::data::{GraphRef, Pair, Prepared, Split};
use crate::measure::metrics::Prediction;
use crate::model::knowledge::marks::{Marked, Marker};
use crate::model::knowledge::memory::{Asked, Seen};
use crate::util::random::sample;

/// The predictions of all classifiers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Predictions {
    /// Those of the last classifier, in the order of the pairs.
    pub last: Vec<Prediction>,
    /// The probabilities of every classifier: all of the first pair, then all of the second, and so on.
    pub steps: Vec<f32>,
}

impl Predictions {
    /// Share of pairs that each classifier is right about.
    pub fn accuracies(&self) -> Vec<f64> {
        let classifiers = self.steps.len() / self.last.len().max(1);
        let mut right = vec![0usize; classifiers];
        for (prediction, scores) in self.last.iter().zip(self.steps.chunks_exact(classifiers.max(1))) {
            for (right, &score) in right.iter_mut().zip(scores) {
                *right += usize::from((score > 0.5) == prediction.is_useful);
            }
        }
        right.into_iter().map(|right| right as f64 / self.last.len().max(1) as f64).collect()
    }

    /// The mean cross-entropy of the last classifier.
    pub fn loss(&self) -> f64 {
        let of_truth = |p: &Prediction| if p.is_useful { p.score } else { 1.0 - p.score };
        let sum: f64 = self.last.iter().map(|p| -f64::from(of_truth(p).max(1e-7)).ln()).sum();
        sum / self.last.len().max(1) as f64
    }
}

/// Who watches an evaluation and may stop it.
pub trait Watch: Sync {
    /// So many of all pairs are done.
    fn done(&self, pairs: usize, of: usize);
    /// Whether to stop.
    fn is_stopped(&self) -> bool;
}

/// Nobody watches.
pub struct Unwatched;

impl Watch for Unwatched {
    fn done(&self, _: usize, _: usize) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

/// The pairs of a split, or a sample of them that is the same in every run; in order.
pub fn pairs_of(prepared: &Prepared, split: Split, most: Option<usize>, seed: u64) -> Vec<u32> {
    let ranges = prepared
        .conjectures()
        .filter(|conjecture| conjecture.split == split)
        .map(|conjecture| conjecture.pairs);
    let pairs: Vec<u32> = ranges.flatten().map(|pair| pair as u32).collect();
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
    /// If the model knows less than a tenth of the labels, beside the special ones: then it is of another world.
    pub fn new(data: &[String], model: &[String], name: &str) -> Result<Self, Error> {
        if data == model {
            return Ok(TokenMap { changes: None });
        }
        let vocabulary = Vocabulary::new(model).ok_or_else(|| {
            Error::data(name, "expected a model whose vocabulary has UNKNOWN; train it again")
        })?;
        let tokens: Vec<Option<u16>> = data.iter().map(|label| vocabulary.known(label)).collect();
        let ordinary: Vec<_> =
            data.iter().zip(&tokens).filter(|(label, _)| !SPECIAL.contains(&label.as_str())).collect();
        let known = ordinary.iter().filter(|(_, token)| token.is_some()).count();
        if known * 10 < ordinary.len() {
            return Err(Error::data(
                name,
                format!(
                    "expected a model for this data, found one that knows {known} of its {} labels; \
                     give one that was trained on such data with --model",
                    ordinary.len()
                ),
            ));
        }
        let is_logical = data.iter().map(|label| vocabulary::is_logical(label)).collect();
        Ok(TokenMap { changes: Some(Changes { tokens, is_logical, vocabulary }) })
    }

    /// The model's tokens of a graph, if they are others than the data's.
    pub(crate) fn map(&self, graph: &GraphRef<'_>) -> Option<Vec<u16>> {
        let Changes { tokens, is_logical, vocabulary } = self.changes.as_ref()?;
        let mapped = graph.tokens.iter().map(|&token| tokens[usize::from(token)]).collect();
        let is_logical = |node: usize| is_logical[usize::from(graph.tokens[node])];
        Some(vocabulary.complete(mapped, graph.degrees, graph.targets, is_logical))
    }

    /// Calls `look` with graphs of a prepared folder as the model reads them.
    pub(crate) fn with_inputs<T>(
        &self,
        prepared: &Prepared,
        graphs: &[u32],
        look: impl FnOnce(&[GraphInput<'_>]) -> T,
    ) -> T {
        let graphs: Vec<_> = graphs.iter().map(|&graph| prepared.graph(graph)).collect();
        let mapped: Vec<Option<Vec<u16>>> = graphs.iter().map(|graph| self.map(graph)).collect();
        let inputs = graphs.iter().zip(&mapped).map(|(graph, tokens)| GraphInput {
            tokens: tokens.as_deref().unwrap_or(graph.tokens),
            ..graph.input()
        });
        look(&inputs.collect::<Vec<_>>())
    }
}

/// Pairs that are looked at together: enough that graphs recur, few enough that vectors fit in memory.
const CHUNK: usize = 4096;

/// What a network says about pairs of a prepared folder, given what is known of statements beside.
///
/// # Errors
///
/// If the watcher stopped it.
pub fn predict(
    network: &Network,
    seen: &Seen,
    prepared: &Prepared,
    map: &TokenMap,
    pairs: &[u32],
    watch: &dyn Watch,
) -> Result<Predictions, Error> {
    let config = network.model().config();
    let marker = config.marks.then(|| seen.marker((config.vocabulary - 1) as u16));
    let judge = Judge { network, seen, marker, prepared, map };
    let mut predictions = Predictions::default();
    for chunk in pairs.chunks(CHUNK) {
        if watch.is_stopped() {
            return Err(Error::Interrupted);
        }
        let chunk: Vec<Pair> = chunk.iter().map(|&pair| prepared.pair(pair as usize)).collect();
        let scores = judge.scores(&chunk);
        for (i, pair) in chunk.iter().enumerate() {
            predictions.steps.extend(scores.iter().map(|scores| scores[i]));
            let score = scores[scores.len() - 1][i];
            predictions.last.push(Prediction { conjecture: pair.conjecture, score, is_useful: pair.useful });
        }
        watch.done(predictions.last.len(), pairs.len());
    }
    Ok(predictions)
}

/// What it takes to score pairs.
struct Judge<'a> {
    network: &'a Network,
    seen: &'a Seen,
    /// Of a network that reads statements with marks.
    marker: Option<Marker>,
    prepared: &'a Prepared,
    map: &'a TokenMap,
}

impl Judge<'_> {
    fn is_conditional(&self) -> bool {
        self.network.model().config().is_conditional
    }

    /// The graph of a pair's conjecture.
    fn conjecture(&self, pair: &Pair) -> u32 {
        self.prepared.conjecture(pair.conjecture as usize).graph
    }

    /// The graphs that pairs need, each once, and the number of each among them.
    fn graphs(&self, pairs: &[Pair]) -> (Vec<u32>, HashMap<u32, usize>) {
        let (mut graphs, mut numbers) = (Vec::new(), HashMap::new());
        for pair in pairs {
            let conjecture = self.is_conditional().then(|| self.conjecture(pair));
            for graph in [Some(pair.statement), conjecture].into_iter().flatten() {
                numbers.entry(graph).or_insert_with(|| {
                    graphs.push(graph);
                    graphs.len() - 1
                });
            }
        }
        (graphs, numbers)
    }

    /// The probabilities of pairs, one array for each step.
    fn scores(&self, pairs: &[Pair]) -> Vec<Vec<f32>> {
        let (graphs, numbers) = self.graphs(pairs);
        self.map.with_inputs(self.prepared, &graphs, |inputs| {
            let known: Vec<_> = inputs.iter().map(|&input| self.seen.statement(input)).collect();
            let (mut hints, mut marked) = (Vec::<Hints>::new(), Vec::<Option<Marked>>::new());
            for same in pairs.chunk_by(|a, b| a.conjecture == b.conjecture) {
                let conjecture = numbers.get(&self.conjecture(&same[0])).filter(|_| self.is_conditional());
                let conjecture = conjecture.map(|&number| inputs[number]);
                let asked = conjecture.map_or_else(Asked::default, |graph| self.seen.conjecture(graph));
                let marking = self.marker.as_ref().zip(conjecture);
                let marking = marking.map(|(marker, graph)| (marker, marker.wanted(graph.tokens)));
                for number in same.iter().map(|pair| numbers[&pair.statement]) {
                    hints.push(self.seen.hints(&known[number], &asked));
                    let mark = |(marker, wanted): &(&Marker, Vec<u16>)| marker.mark(inputs[number], wanted);
                    marked.push(marking.as_ref().and_then(mark));
                }
            }
            // A statement that is marked for all its conjectures needs no vector of its own.
            let mut is_plain = vec![false; inputs.len()];
            for (pair, marked) in pairs.iter().zip(&marked) {
                let conjecture = numbers.get(&self.conjecture(pair)).filter(|_| self.is_conditional());
                conjecture.into_iter().for_each(|&number| is_plain[number] = true);
                is_plain[numbers[&pair.statement]] |= marked.is_none();
            }
            let plain = inputs.iter().zip(&is_plain).filter(|(_, is_plain)| **is_plain);
            let plain = plain.map(|(input, _)| *input);
            let read: Vec<GraphInput<'_>> = plain.chain(marked.iter().flatten().map(Marked::input)).collect();
            let mut read = self.network.embed_all(&read).into_iter();
            let mut next = |is_read: bool| is_read.then(|| read.next().expect("a vector for every graph"));
            let vectors: Vec<Option<Embedding>> = is_plain.into_iter().map(&mut next).collect();
            let marked: Vec<Option<Embedding>> = marked.iter().map(|marked| next(marked.is_some())).collect();
            let vector = |number: usize| vectors[number].as_ref().expect("a graph that was read");
            let embedded = pairs.iter().zip(&marked).zip(&hints).map(|((pair, marked), &hints)| {
                let statement = marked.as_ref().unwrap_or_else(|| vector(numbers[&pair.statement]));
                let conjecture =
                    if self.is_conditional() { vector(numbers[&self.conjecture(pair)]) } else { statement };
                (statement, conjecture, hints)
            });
            self.network.score_all(&embedded.collect::<Vec<_>>())
        })
    }
}
