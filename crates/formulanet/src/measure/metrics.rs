//! How good predictions are, in numbers.
//!
//! [`evaluate`] turns [`Prediction`]s into a [`Report`], which prints as a table ([`std::fmt::Display`]), as JSON
//! (serde) and as a page ([`report_html`]). [`ranking`] is for ranked lists of any origin.
//!
//! ```
//! use formulanet::measure::metrics::{Prediction, evaluate};
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
pub use ranking::{CUTOFFS, Query, Ranking, ranking};
pub use roc::{RocPoint, roc_points};

use crate::Error;

/// A statement is predicted to be useful if its score is above this.
pub const THRESHOLD: f32 = 0.5;

/// Scores are moved this far from 0 and 1 before their logarithm is taken, lest one mistake costs infinitely much.
const LOG_LOSS_MARGIN: f64 = 1e-7;

/// What was predicted of a statement, and what is true.
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
    /// How many predictions there are.
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
/// `steps` has the probabilities of every step's classifier, all steps of the first prediction, then all steps of the
/// second, and so on; it is empty if there are no such classifiers.
///
/// An error if there are no predictions, or if a score is not a probability.
pub fn evaluate(predictions: &[Prediction], steps: &[f32]) -> Result<Report, Error> {
    check(predictions)?;
    let (steps, vote) = step_accuracies(predictions, steps)?;
    let mut confusion = Confusion::default();
    let mut log_loss = 0.0;
    for prediction in predictions {
        *match (prediction.is_useful, prediction.score > THRESHOLD) {
            (true, true) => &mut confusion.true_positive,
            (false, true) => &mut confusion.false_positive,
            (false, false) => &mut confusion.true_negative,
            (true, false) => &mut confusion.false_negative,
        } += 1;
        let score = f64::from(prediction.score);
        let of_truth = if prediction.is_useful { score } else { 1.0 - score };
        log_loss -= of_truth.clamp(LOG_LOSS_MARGIN, 1.0 - LOG_LOSS_MARGIN).ln();
    }
    let Confusion { true_positive, false_positive, true_negative, false_negative } = confusion;
    Ok(Report {
        examples: predictions.len(),
        accuracy: share(true_positive + true_negative, predictions.len()),
        precision: share(true_positive, true_positive + false_positive),
        recall: share(true_positive, true_positive + false_negative),
        f1: share(2 * true_positive, 2 * true_positive + false_positive + false_negative),
        auc: roc::auc(predictions),
        steps,
        vote,
        log_loss: log_loss / predictions.len() as f64,
        confusion,
        ranking: ranking(&ranking::queries(predictions)),
        calibration: Calibration::of(predictions),
    })
}

/// Accuracy of every step's classifier, and of the mean of their probabilities.
fn step_accuracies(predictions: &[Prediction], steps: &[f32]) -> Result<(Vec<f64>, Option<f64>), Error> {
    if steps.is_empty() {
        return Ok((Vec::new(), None));
    }
    if !steps.len().is_multiple_of(predictions.len()) {
        return Err(Error::data(
            "predictions",
            format!(
                "expected equally many steps of each of the {} predictions, found {} probabilities of steps",
                predictions.len(),
                steps.len()
            ),
        ));
    }
    let number = steps.len() / predictions.len();
    let mut right = vec![0; number];
    let mut right_votes = 0;
    for (place, (prediction, of_steps)) in predictions.iter().zip(steps.chunks(number)).enumerate() {
        let mut sum = 0.0;
        for (right, &score) in right.iter_mut().zip(of_steps) {
            check_score(score, place)?;
            *right += usize::from((score > THRESHOLD) == prediction.is_useful);
            sum += f64::from(score);
        }
        let is_voted = sum / number as f64 > f64::from(THRESHOLD);
        right_votes += usize::from(is_voted == prediction.is_useful);
    }
    let accuracies = right.iter().map(|&right| share(right, predictions.len())).collect();
    Ok((accuracies, Some(share(right_votes, predictions.len()))))
}

/// Whether predictions can be measured at all.
fn check(predictions: &[Prediction]) -> Result<(), Error> {
    if predictions.is_empty() {
        return Err(Error::data("predictions", "expected at least one prediction, found none"));
    }
    predictions.iter().enumerate().try_for_each(|(place, prediction)| check_score(prediction.score, place))
}

fn check_score(score: f32, place: usize) -> Result<(), Error> {
    if (0.0..=1.0).contains(&score) {
        return Ok(());
    }
    let message = format!("expected a probability as the score of prediction {}, found {score}", place + 1);
    Err(Error::data("predictions", message))
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
