//! How good predictions are, in numbers.
//!
//! [`evaluate`] turns [`Prediction`]s into a [`Report`], which prints as a table ([`std::fmt::Display`]), as JSON
//! (serde) and as a page ([`report_html`]). [`ranking`] is for ranked lists of any origin.
//!
//! ```
//! use formulanet_train::eval::metrics::{Prediction, evaluate};
//!
//! let prediction = |score, is_useful| Prediction { conjecture: 0, score, is_useful };
//! let report = evaluate(&[prediction(0.9, true), prediction(0.6, false), prediction(0.2, false)], &[])?;
//! assert_eq!(report.auc, Some(1.0));
//! assert_eq!(report.confusion.false_positive, 1);
//! # Ok::<(), formulanet::Error>(())
//! ```

mod calibration;
mod chart;
mod html;
mod ranking;
mod roc;
#[cfg(test)]
mod tests;
mod text;

use serde::{Deserialize, Serialize};

pub use calibration::{Bin, Calibration};
pub use html::report_html;
pub use ranking::{CUTOFFS, RankedList, Ranking, ranking};
pub use roc::{RocPoint, roc_points};

use crate::Error;
use formulanet::util::vector::share;

/// A statement is predicted to be useful if its score is above this.
pub const THRESHOLD: f32 = 0.5;

/// Scores are moved this far from 0 and 1 before their logarithm is taken, so that one error does not cost infinitely much.
const LOG_LOSS_MARGIN: f64 = 1e-7;

/// The prediction for a statement, and its label.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// The conjecture that the statement is for; statements of the same conjecture are ranked against each other.
    pub conjecture: u32,
    /// Probability that the statement is useful.
    pub score: f32,
    /// Whether it is.
    pub is_useful: bool,
}

/// Predictions by what was predicted and what is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Confusion {
    /// Useful, and predicted to be.
    pub true_positive: usize,
    /// Useless, but predicted to be useful.
    pub false_positive: usize,
    /// Useless, and predicted to be.
    pub true_negative: usize,
    /// Useful, but predicted to be useless.
    pub false_negative: usize,
}

/// How good predictions are. Shares are between 0 and 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The number of predictions.
    pub examples: usize,
    /// Share of predictions that are right.
    pub accuracy: f64,
    /// Share of statements predicted to be useful that are; 0 if there is none.
    pub precision: f64,
    /// Share of useful statements that were predicted to be; 0 if there is none.
    pub recall: f64,
    /// Harmonic mean of precision and recall; 0 if both are.
    pub f1: f64,
    /// Area under the ROC curve: how often a useful statement has a higher score than a useless one, a tie counting
    /// half. Nothing if all statements are useful or all useless.
    pub auc: Option<f64>,
    /// Accuracy of the classifier after each step of the network; empty if there are no such classifiers.
    pub steps: Vec<f64>,
    /// Accuracy of the mean of all steps' probabilities.
    pub vote: Option<f64>,
    /// Mean negative logarithm of the probability that was given to the truth.
    pub log_loss: f64,
    /// Right and wrong predictions of either kind.
    pub confusion: Confusion,
    /// How the statements of a conjecture are ranked against each other.
    pub ranking: Ranking,
    /// Whether scores can be taken for probabilities.
    pub calibration: Calibration,
}

/// Measures predictions.
///
/// `steps` has the probabilities of every step's classifier: all of the first prediction, then all of the second, and
/// so on; it is empty if there are no such classifiers.
///
/// # Errors
///
/// If there are no predictions, or if a score is not a probability.
pub fn evaluate(predictions: &[Prediction], steps: &[f32]) -> Result<Report, Error> {
    check(predictions)?;
    check_steps(predictions, steps)?;
    let mut confusion = Confusion::default();
    for prediction in predictions {
        *match (prediction.is_useful, prediction.score > THRESHOLD) {
            (true, true) => &mut confusion.true_positive,
            (false, true) => &mut confusion.false_positive,
            (false, false) => &mut confusion.true_negative,
            (true, false) => &mut confusion.false_negative,
        } += 1;
    }
    let Confusion { true_positive, false_positive, true_negative, false_negative } = confusion;
    Ok(Report {
        examples: predictions.len(),
        accuracy: share(true_positive + true_negative, predictions.len()),
        precision: share(true_positive, true_positive + false_positive),
        recall: share(true_positive, true_positive + false_negative),
        f1: share(2 * true_positive, 2 * true_positive + false_positive + false_negative),
        auc: roc::auc(predictions),
        steps: accuracies(predictions, steps),
        vote: vote(predictions, steps),
        log_loss: log_loss(predictions),
        confusion,
        ranking: ranking(&ranking::lists(predictions)),
        calibration: Calibration::of(predictions),
    })
}

/// Share of scores that are on the right side of the threshold.
pub fn accuracy(scored: impl Iterator<Item = (f64, bool)>) -> f64 {
    let is_right = |(score, is_useful): (f64, bool)| (score > f64::from(THRESHOLD)) == is_useful;
    let (right, all) = scored.fold((0, 0), |(right, all), one| (right + usize::from(is_right(one)), all + 1));
    share(right, all)
}

/// Mean negative logarithm of the probability that was given to the truth.
pub(super) fn log_loss(predictions: &[Prediction]) -> f64 {
    let loss = |prediction: &Prediction| {
        let score = f64::from(prediction.score);
        let of_truth = if prediction.is_useful { score } else { 1.0 - score };
        of_truth.clamp(LOG_LOSS_MARGIN, 1.0 - LOG_LOSS_MARGIN).ln()
    };
    let total = predictions.iter().fold(0.0, |total, prediction| total - loss(prediction));
    total / predictions.len().max(1) as f64
}

/// Accuracy of every step's classifier.
pub(super) fn accuracies(predictions: &[Prediction], steps: &[f32]) -> Vec<f64> {
    let number = steps.len() / predictions.len().max(1);
    let of_step = |step: usize| {
        let scores = steps.iter().skip(step).step_by(number).map(|&score| f64::from(score));
        accuracy(scores.zip(predictions.iter().map(|prediction| prediction.is_useful)))
    };
    (0..number).map(of_step).collect()
}

/// Accuracy of the mean of all steps' probabilities.
fn vote(predictions: &[Prediction], steps: &[f32]) -> Option<f64> {
    let number = steps.len() / predictions.len().max(1);
    let mean = |scores: &[f32]| scores.iter().map(|&score| f64::from(score)).sum::<f64>() / number as f64;
    (number > 0).then(|| {
        let means = steps.chunks(number).map(mean);
        accuracy(means.zip(predictions.iter().map(|prediction| prediction.is_useful)))
    })
}

/// Whether predictions can be measured at all.
fn check(predictions: &[Prediction]) -> Result<(), Error> {
    if predictions.is_empty() {
        return Err(Error::input("predictions", "expected at least one prediction, found none"));
    }
    predictions.iter().enumerate().try_for_each(|(place, prediction)| check_score(prediction.score, place))
}

/// Whether there are equally many probabilities for every prediction.
fn check_steps(predictions: &[Prediction], steps: &[f32]) -> Result<(), Error> {
    let (number, found) = (predictions.len(), steps.len());
    if !found.is_multiple_of(number) {
        let message = format!(
            "expected equally many steps of each of the {number} predictions, found {found} probabilities of steps"
        );
        return Err(Error::input("predictions", message));
    }
    steps.iter().enumerate().try_for_each(|(place, &score)| check_score(score, place / (found / number)))
}

fn check_score(score: f32, place: usize) -> Result<(), Error> {
    if (0.0..=1.0).contains(&score) {
        return Ok(());
    }
    let message = format!("expected a probability as the score of prediction {}, found {score}", place + 1);
    Err(Error::input("predictions", message))
}
