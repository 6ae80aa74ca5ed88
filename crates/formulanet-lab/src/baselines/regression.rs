//! Logistic regression on bags of tokens.

use super::BaselineOptions;
use formulanet::model::memory::tfidf::bag;
use formulanet::util::random::sample;
use formulanet_train::dataset::{Pair, Prepared};

/// A weight for every feature, and the sum of its squared gradients (AdaGrad): tokens that are rare keep large steps.
struct Regression {
    weights: Vec<f32>,
    squares: Vec<f32>,
    learning_rate: f32,
}

impl Regression {
    fn probability(&self, features: &[(usize, f32)]) -> f32 {
        let sum: f32 = features.iter().map(|&(feature, value)| self.weights[feature] * value).sum();
        1.0 / (1.0 + (-sum).exp())
    }

    fn learn(&mut self, features: &[(usize, f32)], is_useful: bool) {
        let error = self.probability(features) - f32::from(u8::from(is_useful));
        for &(feature, value) in features {
            let gradient = error * value;
            self.squares[feature] += gradient * gradient;
            let length = self.squares[feature].sqrt() + 1e-8;
            self.weights[feature] -= self.learning_rate * gradient / length;
        }
    }
}

/// The features of pairs for the regression.
struct Features<'a> {
    prepared: &'a Prepared,
    is_conditional: bool,
}

impl Features<'_> {
    /// Blocks of tokens: of the statement, of the conjecture, of both.
    fn number(&self) -> usize {
        let blocks = if self.is_conditional { 3 } else { 1 };
        1 + blocks * self.prepared.vocabulary().len()
    }

    /// Features of a pair into a list that is used again: feature 0 is always there, then come the blocks.
    ///
    /// Tokens that both have are a block of their own. Without it, the conjecture would move the scores of all its
    /// statements alike, and would not change which of them are better.
    fn collect(&self, pair: &Pair, features: &mut Vec<(usize, f32)>) {
        let vocabulary = self.prepared.vocabulary().len();
        let known = |(token, _): &(u16, f32)| usize::from(*token) < vocabulary;
        let bag_of = |graph: u32| -> Vec<(u16, f32)> {
            bag(self.prepared.graph(graph).tokens).into_iter().filter(known).collect()
        };
        features.clear();
        features.push((0, 1.0));
        let statement = bag_of(pair.statement);
        features.extend(statement.iter().map(|&(token, value)| (1 + usize::from(token), value)));
        if self.is_conditional {
            let conjecture = bag_of(self.prepared.conjecture(pair.conjecture as usize).graph);
            let block = 1 + vocabulary;
            features.extend(conjecture.iter().map(|&(token, value)| (block + usize::from(token), value)));
            let block = block + vocabulary;
            let common = statement.iter().filter(|(token, _)| {
                conjecture.binary_search_by_key(token, |&(of_conjecture, _)| of_conjecture).is_ok()
            });
            features.extend(common.map(|&(token, value)| (block + usize::from(token), value)));
        }
    }
}

/// Learns from training pairs, each once in an order of the seed, and predicts the others.
pub(super) fn scores(
    prepared: &Prepared,
    training: Vec<Pair>,
    asked: &[Pair],
    options: &BaselineOptions,
) -> Vec<f32> {
    let features = Features { prepared, is_conditional: options.is_conditional };
    let number = features.number();
    let mut regression = Regression {
        weights: vec![0.0; number],
        squares: vec![0.0; number],
        learning_rate: options.learning_rate,
    };
    let mut list = Vec::new();
    for pair in sample(training, options.regression_pairs, options.seed) {
        features.collect(&pair, &mut list);
        regression.learn(&list, pair.useful);
    }
    let score = |pair: &Pair| {
        features.collect(pair, &mut list);
        regression.probability(&list)
    };
    asked.iter().map(score).collect()
}
