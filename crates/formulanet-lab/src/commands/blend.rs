//! `formulanet-lab blend`: learns how to blend what speaks for a fact.

use std::path::PathBuf;

use crate::blend::{Lesson, add_examples};
use crate::boost::{BoostOptions, Examples, boost};
use anyhow::Result;
use clap::Args;
use formulanet::proofs::{SignalBlend, SignalTable};

use formulanet_cli::progress::Bar;
use formulanet_cli::usage::wrong;

/// Learn from libraries how to rank the facts of others
///
/// What speaks for a fact (uses in similar proofs, odds, popularity, rare symbols in common, ...) is blended to one score by
/// decision trees, which this command fits to the proofs of theory files. The built-in blend was made with it; see
/// `formulanet eval --theory` for how good one is.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    formulanet-lab blend --growing theory.jsonl --trees 10 --out my-blend.safetensors")]
pub(crate) struct Arguments {
    /// A theory file, asked in its order: earlier proofs are known; may be given several times
    #[arg(long, value_name = "FILE")]
    growing: Vec<String>,
    /// A theory file of which a random part of the proofs is known; may be given several times
    #[arg(long, value_name = "FILE")]
    open: Vec<String>,
    /// Of a growing theory, take this share of the facts, the first ones
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    first: f64,
    /// Of an open theory, this many proofs are known
    #[arg(long, value_name = "N", default_value_t = 1000)]
    known: usize,
    /// Ask at most this many questions of each theory
    #[arg(long, value_name = "N", default_value_t = 1500)]
    questions: usize,
    /// How many trees
    #[arg(long, value_name = "N", default_value_t = BoostOptions::default().trees)]
    trees: usize,
    /// Levels of a tree
    #[arg(long, value_name = "N", default_value_t = BoostOptions::default().depth as u8, value_parser = clap::value_parser!(u8).range(1..=8))]
    depth: u8,
    /// Which part of a tree's step is taken
    #[arg(long, value_name = "RATE", default_value_t = BoostOptions::default().rate)]
    rate: f32,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if !(0.0..=1.0).contains(&arguments.first) {
        return Err(wrong("--first takes a share from 0 to 1"));
    }
    let growing = arguments.growing.iter().map(|file| (file, Lesson::Growing { first: arguments.first }));
    let open = arguments.open.iter().map(|file| (file, Lesson::Open { known: arguments.known }));
    let (mut examples, bar) = (Examples::new(SignalTable::COUNT), Bar::with_lines());
    for (file, lesson) in growing.chain(open) {
        add_examples(file, lesson, arguments.questions, &mut examples, &bar)?;
    }
    if examples.is_empty() {
        return Err(wrong("expected theories with proofs to learn from: give --growing or --open"));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let options = BoostOptions {
        trees: arguments.trees,
        depth: usize::from(arguments.depth),
        rate: arguments.rate,
        threads,
        ..BoostOptions::default()
    };
    let forest = boost(&examples, &options, &bar)?;
    let origin = format!(
        "{} questions, {} candidates; {} trees of depth {}, rate {}",
        examples.groups(),
        examples.len(),
        forest.len(),
        arguments.depth,
        arguments.rate
    );
    SignalBlend::new(forest, &origin)?.save(&arguments.out)?;
    formulanet_cli::tell!("{origin}: {}", arguments.out.display());
    Ok(())
}
