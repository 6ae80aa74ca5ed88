//! The ROC curve: useful statements found against useless ones taken for useful, for every threshold.

use serde::{Deserialize, Serialize};

use super::{Prediction, check};
use crate::Error;
use formulanet::util::vector::share;

/// A point of the ROC curve.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RocPoint {
    /// Share of useless statements above the threshold.
    pub false_positive_rate: f64,
    /// Share of useful statements above the threshold.
    pub true_positive_rate: f64,
}

/// The numbers of statements of either kind with the same score.
struct Tie {
    useful: u64,
    useless: u64,
}

/// Scores from high to low, equal ones together.
fn ties(predictions: &[Prediction]) -> Vec<Tie> {
    let mut sorted: Vec<(f32, bool)> = predictions.iter().map(|p| (p.score, p.is_useful)).collect();
    sorted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    // By value, not by bits: 0 and -0 are the same score.
    let of_tie = |tie: &[(f32, bool)]| {
        let useful = tie.iter().filter(|(_, is_useful)| *is_useful).count() as u64;
        Tie { useful, useless: tie.len() as u64 - useful }
    };
    sorted.chunk_by(|a, b| a.0 == b.0).map(of_tie).collect()
}

/// How often a useful statement has a higher score than a useless one. Exact: pairs are counted as whole numbers.
pub(super) fn auc(predictions: &[Prediction]) -> Option<f64> {
    let (mut useful_above, mut useless, mut twice_won) = (0, 0, 0);
    for tie in ties(predictions) {
        twice_won += u128::from(tie.useless * (2 * useful_above + tie.useful));
        useful_above += tie.useful;
        useless += tie.useless;
    }
    let pairs = u128::from(useful_above) * u128::from(useless);
    (pairs > 0).then(|| twice_won as f64 / (2 * pairs) as f64)
}

/// The ROC curve from (0, 0) to (1, 1), with at most `max_points` points (but at least the two ends).
///
/// If there are more thresholds than that, points are left out evenly along the curve. Without useful or without
/// useless statements there is no curve, and no point.
pub fn roc_points(predictions: &[Prediction], max_points: usize) -> Result<Vec<RocPoint>, Error> {
    check(predictions)?;
    let ties = ties(predictions);
    let useful: u64 = ties.iter().map(|tie| tie.useful).sum();
    let useless: u64 = ties.iter().map(|tie| tie.useless).sum();
    if useful == 0 || useless == 0 {
        return Ok(Vec::new());
    }
    let mut points = vec![RocPoint { false_positive_rate: 0.0, true_positive_rate: 0.0 }];
    let (mut useful_above, mut useless_above) = (0, 0);
    for tie in ties {
        useful_above += tie.useful;
        useless_above += tie.useless;
        points.push(RocPoint {
            false_positive_rate: share(useless_above as usize, useless as usize),
            true_positive_rate: share(useful_above as usize, useful as usize),
        });
    }
    if points.len() <= max_points.max(2) {
        return Ok(points);
    }
    // The way along axes is 2 for every curve, so each point between the ends stands for an equal part of it.
    let parts = max_points.max(2) - 1;
    let mut kept = vec![points[0]];
    for point in &points[1..points.len() - 1] {
        let way = (point.false_positive_rate + point.true_positive_rate) / 2.0;
        if way * parts as f64 >= kept.len() as f64 && kept.len() < parts {
            kept.push(*point);
        }
    }
    kept.push(points[points.len() - 1]);
    Ok(kept)
}
