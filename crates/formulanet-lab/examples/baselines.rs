//! Figures of every baseline on a prepared folder.
//!
//! `cargo run --release -p formulanet --example baselines -- FOLDER [OPTIONS as JSON]`
//! for example with `{"nearest_pairs": 200000, "is_conditional": false}`.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use formulanet_lab::baselines::{Baseline, BaselineOptions, LibraryBaseline};
use formulanet_train::dataset::{Prepared, Split};
use formulanet_train::eval::evaluate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("expected a prepared folder")?;
    let options: BaselineOptions = match arguments.next() {
        Some(text) => serde_json::from_str(&text)?,
        None => BaselineOptions::default(),
    };
    let prepared = Prepared::open(Path::new(&folder))?;
    let mut out = std::io::stdout();
    for baseline in Baseline::ALL {
        let start = Instant::now();
        let predictions = baseline.predict(&prepared, Split::Validation, &options)?;
        let seconds = start.elapsed().as_secs_f64();
        let report = evaluate(&predictions, &[])?;
        let auc = report.auc.map_or("-".to_owned(), |auc| format!("{auc:.4}"));
        writeln!(
            out,
            "{:<11} {} statements: accuracy {:.4}, AUC {auc}, log loss {:.4}, MAP {:.4}, {seconds:.1} s",
            baseline.name(),
            report.examples,
            report.accuracy,
            report.log_loss,
            report.ranking.mean_average_precision,
        )?;
    }
    for baseline in LibraryBaseline::ALL {
        let start = Instant::now();
        let ranking = baseline.rank(&prepared, Split::Validation, &options)?;
        let seconds = start.elapsed().as_secs_f64();
        let recall = [16, 32, 64].map(|at| format!("{at}: {:.4}", ranking.recall_at[&at])).join(", ");
        writeln!(
            out,
            "{:<11} {} conjectures: recall at {recall}, full at 64: {:.4}, MRR {:.4}, MAP {:.4}, {seconds:.1} s",
            baseline.name(),
            ranking.queries,
            ranking.full_recall_at[&64],
            ranking.mean_reciprocal_rank,
            ranking.mean_average_precision,
        )?;
    }
    Ok(())
}
