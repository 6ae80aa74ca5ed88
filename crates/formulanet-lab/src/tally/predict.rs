//! Predictions of a tally for prepared pairs.

use formulanet::net::Compute;

use crate::tally::Tally;
use formulanet_train::dataset::{Pair, Prepared};
use formulanet_train::eval::metrics::Prediction;
use formulanet_train::eval::predict::{Predictions, TokenMap};
use formulanet_train::{Error, Progress, Stage};

/// The number of conjectures between two reports of progress.
const CHUNK: usize = 32;

/// Scores pairs of a prepared folder with a tally.
///
/// # Errors
///
/// If `progress` stops it.
pub fn predict_tally(
    tally: &Tally,
    prepared: &Prepared,
    map: &TokenMap,
    pairs: &[u32],
    compute: &Compute,
    progress: &dyn Progress,
) -> Result<Predictions, Error> {
    let mut last = Vec::with_capacity(pairs.len());
    progress.begin(Stage { name: "counting", done: 0, of: pairs.len() as u64, unit: "pairs" });
    let pair = |number: &u32| prepared.pair(*number as usize);
    let groups: Vec<&[u32]> = pairs.chunk_by(|a, b| pair(a).conjecture == pair(b).conjecture).collect();
    for groups in groups.chunks(CHUNK) {
        progress.check()?;
        let judged = compute.map(groups.len(), |group| {
            let conjecture = pair(&groups[group][0]).conjecture;
            let graph = prepared.conjecture(conjecture as usize).graph;
            let goal = map.with_inputs(prepared, &[graph], |inputs| tally.goal(inputs[0]));
            let judge = |pair: Pair| {
                let statement = [pair.statement];
                let odds = map.with_inputs(prepared, &statement, |inputs| tally.score(inputs[0], &goal));
                let score = 1.0 / (1.0 + (-odds).exp());
                Prediction { conjecture, score, is_useful: pair.useful }
            };
            groups[group].iter().map(pair).map(judge).collect::<Vec<_>>()
        });
        progress.advance(judged.iter().map(|group| group.len() as u64).sum());
        last.extend(judged.into_iter().flatten());
    }
    Ok(Predictions { last, steps: Vec::new() })
}
