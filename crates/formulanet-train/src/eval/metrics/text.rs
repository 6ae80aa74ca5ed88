//! A report as a table for people.

use std::fmt::{self, Display, Formatter};

use super::{Ranking, Report};

/// A number that may not be there.
pub(super) fn or_dash(number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4}"))
}

/// The figures that are one number each, with their names.
pub(super) fn figures(report: &Report) -> [(&'static str, String); 9] {
    let figure = |number| or_dash(Some(number));
    [
        ("examples", report.examples.to_string()),
        ("accuracy", figure(report.accuracy)),
        ("precision", figure(report.precision)),
        ("recall", figure(report.recall)),
        ("F1", figure(report.f1)),
        ("AUC", or_dash(report.auc)),
        ("log loss", figure(report.log_loss)),
        ("Brier score", figure(report.calibration.brier_score)),
        ("calibration error", figure(report.calibration.expected_calibration_error)),
    ]
}

/// The columns of the table of steps: which step, and its accuracy.
pub(super) fn steps(report: &Report) -> Vec<(String, String)> {
    let steps = report.steps.iter().enumerate();
    let of_steps = steps.map(|(number, &accuracy)| (number.to_string(), or_dash(Some(accuracy))));
    of_steps.chain(report.vote.map(|vote| ("vote".to_owned(), or_dash(Some(vote))))).collect()
}

/// Cells to the right of a name, each of the same width.
fn row(f: &mut Formatter<'_>, name: &str, cells: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    write!(f, "{name:<18}")?;
    cells.into_iter().try_for_each(|cell| write!(f, " {cell:>8}"))?;
    writeln!(f)
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (name, figure) in figures(self) {
            row(f, name, [figure])?;
        }
        let confusion = &self.confusion;
        writeln!(f)?;
        row(f, "predicted", ["useful", "useless"])?;
        row(f, "  useful", [confusion.true_positive, confusion.false_negative])?;
        row(f, "  useless", [confusion.false_positive, confusion.true_negative])?;
        if !self.steps.is_empty() {
            let (names, accuracies): (Vec<String>, Vec<String>) = steps(self).into_iter().unzip();
            writeln!(f)?;
            row(f, "step", names)?;
            row(f, "  accuracy", accuracies)?;
        }
        writeln!(f, "\n{}", self.ranking)?;
        let bins: Vec<_> = self.calibration.bins.iter().filter(|bin| bin.count > 0).collect();
        row(f, "score from", bins.iter().map(|bin| format!("{:.1}", bin.from)))?;
        row(f, "  statements", bins.iter().map(|bin| bin.count))?;
        row(f, "  mean score", bins.iter().map(|bin| or_dash(bin.mean_score)))?;
        row(f, "  share useful", bins.iter().map(|bin| or_dash(bin.share_useful)))
    }
}

impl Display for Ranking {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.queries == 0 {
            return writeln!(f, "ranking            nothing relevant for any conjecture");
        }
        row(f, "first k", self.recall_at.keys())?;
        row(f, "  recall", self.recall_at.values().map(|&recall| or_dash(Some(recall))))?;
        row(f, "  full recall", self.full_recall_at.values().map(|&recall| or_dash(Some(recall))))?;
        let (mrr, map) = (self.mean_reciprocal_rank, self.mean_average_precision);
        writeln!(f, "  MRR {mrr:.4}, MAP {map:.4}, mean of {} conjectures", self.queries)
    }
}
