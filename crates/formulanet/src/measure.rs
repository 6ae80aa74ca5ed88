//! How good a model is: what it says of held-out data, the figures for that, and what simple methods reach.

mod baselines;
mod metrics;
mod predict;
mod premises;
mod tally;
mod theory;
mod together;

pub use baselines::{Baseline, BaselineOptions, LibraryBaseline};
#[cfg(feature = "plots")]
pub(crate) use metrics::accuracy;
pub use metrics::{
    Bin, CUTOFFS, Calibration, Confusion, Prediction, RankedList, Ranking, Report, RocPoint, THRESHOLD,
    evaluate, ranking, report_html, roc_points,
};
pub use predict::{Predictions, TokenMap, pairs_of, predict};
pub(crate) use premises::Questions;
pub use premises::rank_premises;
pub use tally::predict_tally;
pub use theory::{Measured, THEORY_CUTOFFS, TheoryOutcome, TheoryReport, TheoryTest, theory_table};
pub use together::{Company, Reader, pool_ranking, predict_together, retriever_ranking};
