//! Draws figure 5 of the paper: nodes and their nearest neighbours after a step.
//!
//! `cargo run --release -p formulanet --example figure5 -- MODEL FOLDER OUT.svg [SEED]` writes the picture, and the text
//! that goes with it on the standard output.

use std::io::Write;
use std::path::Path;

use formulanet::model::ModelFile;
use formulanet::net::{Compute, Network, Precision};
use formulanet_lab::paper::{FigureOptions, figure5};
use formulanet_train::dataset::Prepared;
use formulanet_train::processes::{self, Alone};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let (model, folder, out, seed) = match arguments.as_slice() {
        [_, model, folder, out] => (model, folder, out, 0),
        [_, model, folder, out, seed] => (model, folder, out, seed.parse()?),
        _ => return Err("expected MODEL FOLDER OUT.svg [SEED]".into()),
    };
    let trained = ModelFile::load(Path::new(model))?;
    let prepared = Prepared::open(Path::new(folder))?;
    let threads = processes::threads(&Alone);
    let network = Network::new(trained.model.clone(), Compute::new(Precision::Auto, threads));
    let figure = figure5(&network, &trained, &prepared, &FigureOptions { seed, ..FigureOptions::default() })?;
    std::fs::write(out, figure.svg)?;
    std::io::stdout().write_all(figure.markdown.as_bytes())?;
    Ok(())
}
