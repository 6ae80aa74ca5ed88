//! `formulanet-lab blend`: fits the learned ranker.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use formulanet::proofs::{SignalBlend, SignalTable};
use formulanet::retrieve::VectorRetriever;

use crate::blend::{Lessons, Source, add_lessons, calibrate};
use crate::boost::{BoostOptions, Phase, Shares, boost};
use formulanet_cli::progress::Bar;
use formulanet_cli::usage::wrong;

/// Fit the learned ranker to libraries
///
/// Fits decision trees to the recorded dependencies of facts files: what a candidate's ranking signals are (its part in similar
/// proofs, symbols in common, a model's score, its place, ...), and whether the proof used it. The built-in ranker was made with
/// this command; `formulanet eval --theory` measures it.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    formulanet-lab blend --facts theory.jsonl --trees 10 --out my-blend.safetensors")]
pub(crate) struct Arguments {
    /// A facts file, whose proofs no model was trained on; may be repeated
    #[arg(long, value_name = "FILE")]
    facts: Vec<String>,
    /// A facts file that a model was trained on, but for the names in --held-out; may be repeated
    #[arg(long, value_name = "FILE")]
    trained: Vec<String>,
    /// Names of facts that the models were not trained on, one a line; may be repeated
    #[arg(long, value_name = "FILE")]
    held_out: Vec<PathBuf>,
    /// Query none of these facts: names, one a line; may be repeated
    #[arg(long, value_name = "FILE")]
    exclude: Vec<PathBuf>,
    /// Query facts of this share of --facts, the first ones
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    prefix: f64,
    /// Make about this many queries to each file
    #[arg(long, value_name = "N", default_value_t = 1500)]
    queries: usize,
    /// Trees on all features but those of a model
    #[arg(long, value_name = "N", default_value_t = 400)]
    trees: usize,
    /// Additional trees on a model's scores and the result of those trees
    #[arg(long, value_name = "N", default_value_t = 150)]
    model_trees: usize,
    /// Levels of a tree
    #[arg(long, value_name = "N", default_value_t = BoostOptions::default().depth as u8, value_parser = clap::value_parser!(u8).range(1..=8))]
    depth: u8,
    /// Which part of a tree's step is taken
    #[arg(long, value_name = "RATE", default_value_t = BoostOptions::default().rate)]
    rate: f32,
    /// The weight of the pairwise loss
    #[arg(long, value_name = "SHARE", default_value_t = BoostOptions::default().pairwise)]
    pairwise: f32,
    /// Which share of the queries each tree is fitted to
    #[arg(long, value_name = "SHARE", default_value_t = 0.4)]
    subset: f32,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if !(0.0..=1.0).contains(&arguments.prefix) {
        return Err(wrong("--prefix takes a share from 0 to 1"));
    }
    if arguments.facts.is_empty() && arguments.trained.is_empty() {
        return Err(wrong("nothing to learn from: give --facts or --trained"));
    }
    let (held_out, excluded) = (names(&arguments.held_out)?, names(&arguments.exclude)?);
    let (mut lessons, bar) = (Lessons::default(), Bar::with_lines());
    let facts = arguments.facts.iter().map(|file| (file, None, arguments.prefix));
    let trained = arguments.trained.iter().map(|file| (file, Some(held_out.clone()), 1.0));
    for (file, unseen, share) in facts.chain(trained) {
        let mut source = Source::read(file, VectorRetriever::load(model(file)?)?, unseen)?;
        source.limit(share, &excluded);
        add_lessons(&source, arguments.queries, &mut lessons, &bar)?;
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let options = BoostOptions {
        depth: usize::from(arguments.depth),
        rate: arguments.rate,
        pairwise: arguments.pairwise,
        threads,
        shares: Shares { columns: 1.0, groups: arguments.subset },
        ..BoostOptions::default()
    };
    let of_model: Vec<usize> = SignalTable::of_model().collect();
    let others = (0..SignalTable::COUNT).filter(|column| !of_model.contains(column)).collect();
    let next_to_model = SignalTable::next_to_model().chain(of_model).collect();
    let phases =
        [(Phase::First, arguments.trees, others), (Phase::Second, arguments.model_trees, next_to_model)];
    let forest = boost(&lessons.trees, &options, &phases, &bar)?;
    let origin = format!(
        "{} queries, {} candidates; {} trees of depth {}, rate {}",
        lessons.trees.groups(),
        lessons.trees.len(),
        forest.len(),
        arguments.depth,
        arguments.rate
    );
    let calibration = [false, true].map(|has_proofs| {
        let rows = lessons.calibration.rows().filter(|(row, _)| SignalTable::has_proofs(row) == has_proofs);
        calibrate(&rows.map(|(row, is_used)| (forest.score(row), is_used)).collect::<Vec<_>>())
    });
    SignalBlend::new(forest, calibration, &origin)?.save(&arguments.out)?;
    formulanet_cli::tell!("{origin}; calibration {calibration:?}: {}", arguments.out.display());
    Ok(())
}

/// The names of files, one a line.
fn names(files: &[PathBuf]) -> Result<HashSet<String>> {
    let mut names = HashSet::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        names.extend(text.lines().map(|line| line.trim().to_owned()));
    }
    Ok(names)
}

/// The model for the language of a facts file.
fn model(file: &str) -> Result<&'static str> {
    let language = formulanet::read::Source::open(file)?.language();
    Ok(formulanet::model::registry::for_language(language))
}
