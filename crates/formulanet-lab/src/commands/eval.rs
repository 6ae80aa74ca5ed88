//! `formulanet-lab eval`: several classifiers that decide together.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use formulanet::model::{ModelFile, bytes_of};
use formulanet::net::{Compute, Network, Precision};
use formulanet_cli::output::Output;
use formulanet_cli::progress::Bar;
use formulanet_train::dataset::{Prepared, Split};
use formulanet_train::eval::{TokenMap, evaluate, pairs_of, predict};

use crate::ensemble::ensemble;
use crate::tally::{Tally, predict_tally};

/// Measure classifiers that decide together on held-out pairs
#[derive(Args)]
#[command(after_help = "Example:\n  \
    formulanet-lab eval --ensemble models/holstep --ensemble models/holstep-2 --ensemble models/holstep-tally --data holstep")]
pub(super) struct Arguments {
    /// A network or a count model; may be repeated
    #[arg(long, value_name = "MODEL", required = true)]
    ensemble: Vec<String>,
    /// A directory of `formulanet prepare`
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Measure at most N pairs, the same ones in every run
    #[arg(long, value_name = "N")]
    limit_pairs: Option<usize>,
    /// Multiply in f32 or bf16; `auto` takes bf16 if the CPU has instructions for it
    #[arg(long, value_name = "auto|f32|bf16", default_value = "auto", value_parser = formulanet_cli::parse_word::<Precision>)]
    precision: Precision,
    /// Print text or JSON
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let prepared = Prepared::open(&arguments.data)?;
    prepared.verify()?;
    let pairs = pairs_of(&prepared, Split::Validation, arguments.limit_pairs, 0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let compute = || Compute::new(arguments.precision, threads);
    let (mut networks, mut counts) = (Vec::new(), Vec::new());
    for name in &arguments.ensemble {
        let bytes = bytes_of(name)?;
        if Tally::is_one(&bytes) {
            let tally = Tally::from_bytes(&bytes, name)?;
            let map = TokenMap::new(prepared.vocabulary(), &tally.vocabulary, name)?;
            counts.push(predict_tally(&tally, &prepared, &map, &pairs, &compute(), &Bar::new())?);
        } else {
            let trained = ModelFile::named(name)?;
            let map = TokenMap::new(prepared.vocabulary(), &trained.vocabulary, name)?;
            let network = Network::new(trained.model.clone(), compute());
            networks.push(predict(&network, &trained.seen, &prepared, &map, &pairs, &Bar::new())?);
        }
    }
    let predictions = ensemble(networks, counts);
    let report = evaluate(&predictions.last, &predictions.steps)?;
    arguments.format.print(&report, &report)
}
