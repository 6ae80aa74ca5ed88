//! Counting labels.

use std::collections::HashMap;

use formulanet_train::dataset::Pair;

/// Labels of statements that count as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Labels {
    /// The number of useful ones.
    pub(super) useful: u32,
    /// Their number.
    pub(super) all: u32,
}

/// Share of useful statements.
pub(super) fn prior(pairs: &[Pair]) -> f32 {
    let useful = pairs.iter().filter(|pair| pair.useful).count();
    (useful as f64 / pairs.len().max(1) as f64) as f32
}

/// The labels of every distinct statement.
pub(super) fn by_statement(pairs: &[Pair]) -> HashMap<u32, Labels> {
    let mut labels: HashMap<u32, Labels> = HashMap::new();
    for pair in pairs {
        let of_statement = labels.entry(pair.statement).or_default();
        of_statement.useful += u32::from(pair.useful);
        of_statement.all += 1;
    }
    labels
}

/// How often each statement was useful in training, as if it had been seen once more with the average label. So one
/// that was never seen gets the average, and one that was seen often gets its own share.
pub(super) fn seen(training: &[Pair], asked: &[Pair], prior: f32) -> Vec<f32> {
    let known = by_statement(training);
    let score = |pair: &Pair| {
        let labels = known.get(&pair.statement).copied().unwrap_or_default();
        (labels.useful as f32 + prior) / (labels.all as f32 + 1.0)
    };
    asked.iter().map(score).collect()
}
