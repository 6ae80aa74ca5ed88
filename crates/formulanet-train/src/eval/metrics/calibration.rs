//! Whether scores can be taken for probabilities.

use serde::{Deserialize, Serialize};

use super::Prediction;

/// In how many bins scores are put.
const BINS: usize = 10;

/// Predictions with similar scores.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bin {
    /// Scores of the bin are at least this.
    pub from: f64,
    /// Scores of the bin are below this; in the last bin, at most this.
    pub to: f64,
    /// The number of predictions.
    pub count: usize,
    /// Mean of their scores; nothing if the bin is empty.
    pub mean_score: Option<f64>,
    /// Share of them that are useful; nothing if the bin is empty.
    pub share_useful: Option<f64>,
}

/// Whether scores can be taken for probabilities.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// Bins of equal width, from low to high scores.
    pub bins: Vec<Bin>,
    /// Mean distance of a bin's mean score from its share of useful statements, weighted by the bin's count.
    pub expected_calibration_error: f64,
    /// Mean square of the distance of a score from the truth.
    pub brier_score: f64,
}

impl Calibration {
    /// Measures predictions, whose scores are known to be probabilities and of which there is at least one.
    pub(super) fn of(predictions: &[Prediction]) -> Self {
        let mut sums = [(0usize, 0.0f64, 0usize); BINS];
        let mut squares = 0.0;
        for prediction in predictions {
            let score = f64::from(prediction.score);
            // In f32, so that a score written 0.3 is in the bin from 0.3.
            let bin = ((prediction.score * BINS as f32) as usize).min(BINS - 1);
            let (count, scores, useful) = &mut sums[bin];
            *count += 1;
            *scores += score;
            *useful += usize::from(prediction.is_useful);
            squares += (score - f64::from(u8::from(prediction.is_useful))).powi(2);
        }
        let distances = sums.iter().map(|(_, scores, useful)| (scores - *useful as f64).abs());
        let expected_calibration_error = distances.sum::<f64>() / predictions.len() as f64;
        let bins = sums.iter().enumerate().map(|(number, &(count, scores, useful))| Bin {
            from: number as f64 / BINS as f64,
            to: (number + 1) as f64 / BINS as f64,
            count,
            mean_score: (count > 0).then(|| scores / count as f64),
            share_useful: (count > 0).then(|| useful as f64 / count as f64),
        });
        Calibration {
            bins: bins.collect(),
            expected_calibration_error,
            brier_score: squares / predictions.len() as f64,
        }
    }
}
