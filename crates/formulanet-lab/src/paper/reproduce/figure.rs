//! Figure 5, drawn from the FormulaNet of Table 1.

use formulanet::net::Kind;

use super::markdown::RunRow;
use super::workshop::{Experiment, Workshop};
use super::{Document, announce};
use crate::paper::figure5::{self, FigureOptions};
use formulanet::Error;

/// Trains or reads the model, and draws.
pub(super) fn figure(workshop: &Workshop<'_>) -> Result<Document, Error> {
    let settings = workshop.settings;
    let experiment = Experiment { kind: Kind::Full, is_conditional: true, steps: 3, view: settings.view() };
    let run = workshop.run(&experiment)?;
    let prepared = workshop.data(run.view)?;
    let (network, trained) = workshop.network(&run)?;
    announce(workshop.progress, "drawing neighbours of nodes");
    let options = FigureOptions { seed: settings.seed, ..FigureOptions::default() };
    let figure = figure5::figure5(&network, &trained, &prepared, &options)?;
    let text = format!("{}\n", figure.markdown.trim_end());
    Ok(Document { text, picture: Some(figure.svg), runs: vec![RunRow::of(&run)] })
}
