//! `formulanet-lab baseline`: simple methods to compare networks with.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use formulanet_cli::output::Output;
use formulanet_train::dataset::{Prepared, Split};
use formulanet_train::eval::evaluate;

use crate::baselines::{Baseline, BaselineOptions, LibraryBaseline};

/// Measure a simple method on held-out conjectures
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet-lab baseline seen --data holstep\n  \
    formulanet-lab baseline neighbours --data holstep")]
pub(super) struct Arguments {
    /// `majority`, `seen`, `tokens` and `nearest` classify pairs; `popularity` and `neighbours` rank all named premises
    #[arg(value_name = "METHOD", value_parser = ["majority", "seen", "tokens", "nearest", "popularity", "neighbours"])]
    method: String,
    /// A directory of `formulanet prepare`
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Measure at most N pairs, the same ones in every run
    #[arg(long, value_name = "N")]
    limit_pairs: Option<usize>,
    /// Print text or JSON
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let prepared = Prepared::open(&arguments.data)?;
    prepared.verify()?;
    let evaluated_pairs = arguments.limit_pairs.unwrap_or(0);
    let options = BaselineOptions { evaluated_pairs, ..BaselineOptions::default() };
    if let Ok(baseline) = formulanet_cli::parse_word::<Baseline>(&arguments.method) {
        let report = evaluate(&baseline.predict(&prepared, Split::Validation, &options)?, &[])?;
        return arguments.format.print(&report, &report);
    }
    let baseline = formulanet_cli::parse_word::<LibraryBaseline>(&arguments.method);
    let baseline = baseline.map_err(anyhow::Error::msg)?;
    let ranking = baseline.rank(&prepared, Split::Validation, &options)?;
    arguments.format.print(format!("{ranking}\n"), &ranking)
}
