//! `formulanet-lab seal`: checksums for model files of older versions.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use formulanet::model::seal_file;

/// Add a checksum to model files of older versions
///
/// Model files and checkpoints have a checksum, so that a damaged one is refused. This adds one to files that have none, and changes
/// nothing else: no number, no name, nothing that scores depend on.
#[derive(Args)]
#[command(after_help = "Example:\n  formulanet-lab seal run/model.safetensors")]
pub(crate) struct Arguments {
    /// Model files, checkpoints or blends
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for file in &arguments.files {
        let told = if seal_file(file)? { "has a checksum now" } else { "had a checksum, which fits" };
        eprintln!("{} {told}", file.display());
    }
    Ok(())
}
