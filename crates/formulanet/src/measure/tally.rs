//! What a tally says about prepared pairs.

use crate::data::Prepared;
use crate::measure::metrics::Prediction;
use crate::measure::predict::{Predictions, TokenMap};
use crate::model::Tally;
use crate::{Error, Progress, Stage};

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
    progress: &dyn Progress,
) -> Result<Predictions, Error> {
    let mut last = Vec::with_capacity(pairs.len());
    progress.begin(Stage { name: "counting", done: 0, of: pairs.len() as u64, unit: "pairs" });
    let pair = |number: &u32| prepared.pair(*number as usize);
    for same in pairs.chunk_by(|a, b| pair(a).conjecture == pair(b).conjecture) {
        progress.check()?;
        let conjecture = pair(&same[0]).conjecture;
        let graph = prepared.conjecture(conjecture as usize).graph;
        let goal = map.with_inputs(prepared, &[graph], |inputs| tally.goal(inputs[0]));
        for pair in same.iter().map(pair) {
            let odds = map.with_inputs(prepared, &[pair.statement], |inputs| tally.score(inputs[0], &goal));
            let score = 1.0 / (1.0 + (-odds).exp());
            last.push(Prediction { conjecture, score, is_useful: pair.useful });
        }
        progress.advance(same.len() as u64);
    }
    Ok(Predictions { last, steps: Vec::new() })
}
