//! `formulanet-lab plot`: histograms of a prepared data set.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use formulanet_cli::output::write_file;
use formulanet_train::dataset::{Prepared, Stats};

use crate::histogram::histograms;

/// Draw how large the formulas of a prepared data set are, as SVG
#[derive(Args)]
#[command(after_help = "Example:\n  formulanet-lab plot holstep --out sizes.svg")]
pub(super) struct Arguments {
    /// A directory of `formulanet prepare`
    data: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let prepared = Prepared::open(&arguments.data)?;
    prepared.verify()?;
    let title = format!("{}: sizes of formulas", prepared.meta().input);
    let picture = histograms(&title, &Stats::of(&prepared).distributions());
    write_file(&arguments.out, picture.map_err(|error| anyhow!("cannot draw the histograms: {error}"))?)
}
