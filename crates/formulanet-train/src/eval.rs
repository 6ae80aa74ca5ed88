//! How good a model is: what it says of held-out data, the figures for that, and what simple methods reach.

pub mod metrics;
pub mod predict;
pub mod premises;
mod theory;
mod together;

pub use metrics::{
    Bin, CUTOFFS, Calibration, Confusion, Prediction, RankedList, Ranking, Report, RocPoint, THRESHOLD,
    accuracy, evaluate, ranking, report_html, roc_points,
};
pub use predict::{Predictions, TokenMap, pairs_of, predict};
pub use premises::Questions;
pub use premises::rank_premises;
pub use theory::{
    Measured, THEORY_CUTOFFS, TheoryOptions, TheoryOutcome, TheoryReport, TheoryTest, theory_table,
};
pub use together::{Company, Reader, pool_ranking, predict_together, retriever_ranking};
