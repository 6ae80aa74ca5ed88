//! `formulanet-lab tally`: counts what statements that look alike were good for.

use std::path::PathBuf;

use crate::tally::{TallyOptions, make_tally};
use anyhow::Result;
use clap::Args;
use formulanet_train::dataset::Prepared;

use formulanet_cli::progress::Bar;

/// Train a count-based classifier for ensembles
///
/// A tally knows a statement by what it looks like from afar, has counts of the training split for that, and decision trees
/// that say what the counts are worth. It takes minutes to make and errs elsewhere than networks do: give it to `formulanet
/// eval` after them.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet-lab tally --data holstep --out tally.safetensors\n  \
    formulanet eval --model tally.safetensors --data holstep")]
pub(crate) struct Arguments {
    /// A folder of `formulanet prepare` with pairs for training
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// Judge the statement alone, whatever the conjecture
    #[arg(long)]
    unconditional: bool,
    /// Do not write the memory, which is that of this model
    #[arg(long, value_name = "MODEL")]
    memory_of: Option<String>,
    /// Number of trees
    #[arg(long, value_name = "N", default_value_t = TallyOptions::default().trees)]
    trees: usize,
    /// Levels of a tree
    #[arg(long, value_name = "N", default_value_t = TallyOptions::default().depth as u8, value_parser = clap::value_parser!(u8).range(1..=8))]
    depth: u8,
    /// Which part of a tree's step is taken
    #[arg(long, value_name = "RATE", default_value_t = TallyOptions::default().rate)]
    rate: f32,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let prepared = Prepared::open(&arguments.data)?;
    prepared.verify()?;
    let options = TallyOptions {
        is_conditional: !arguments.unconditional,
        memory_of: arguments.memory_of,
        trees: arguments.trees,
        depth: usize::from(arguments.depth),
        rate: arguments.rate,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let tally = make_tally(&prepared, &options, &Bar::new())?;
    tally.save(&arguments.out)?;
    let (pairs, entries, trees) = (tally.origin.pairs, tally.entries(), tally.trees());
    formulanet_cli::tell!("{pairs} pairs, {entries} counts, {trees} trees: {}", arguments.out.display());
    Ok(())
}
