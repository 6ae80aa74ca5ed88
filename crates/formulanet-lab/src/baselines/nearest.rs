//! Similar statements vote.

use std::collections::HashMap;

use super::BaselineOptions;
use super::frequency::{Labels, by_statement};
use formulanet::model::memory::tfidf::{TfIdfIndex, bag};
use formulanet::util::random::sample;
use formulanet_train::dataset::{Pair, Prepared};

/// A statement's score is the share of useful ones among the most similar statements of training, weighted by
/// similarity, with one average label more. A statement that was labelled several times has several votes.
///
/// Equal statements are looked up once, so work grows with the number of distinct ones.
pub(super) fn scores(
    prepared: &Prepared,
    training: Vec<Pair>,
    asked: &[Pair],
    prior: f32,
    options: &BaselineOptions,
) -> Vec<f32> {
    let drawn = sample(training, options.nearest_pairs, options.seed);
    let mut known: Vec<(u32, Labels)> = by_statement(&drawn).into_iter().collect();
    known.sort_unstable_by_key(|(statement, _)| *statement);
    let bag_of = |statement: u32| bag(prepared.graph(statement).tokens);
    let index = TfIdfIndex::new(known.iter().map(|(statement, _)| bag_of(*statement)));
    let mut scores: HashMap<u32, f32> = HashMap::new();
    let mut vote = |statement: u32| {
        *scores.entry(statement).or_insert_with(|| {
            let (mut useful, mut all) = (prior, 1.0);
            for (document, similarity) in index.nearest(&bag_of(statement), options.nearest) {
                let labels = known[document].1;
                useful += similarity * labels.useful as f32;
                all += similarity * labels.all as f32;
            }
            (useful / all).clamp(0.0, 1.0)
        })
    };
    asked.iter().map(|pair| vote(pair.statement)).collect()
}
