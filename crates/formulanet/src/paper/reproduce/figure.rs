//! Figure 5, drawn from the FormulaNet of Table 1.

use formulanet_net::Kind;

use super::markdown;
use super::workshop::{Experiment, Workshop};
use super::{Document, Target};
use crate::Error;
use crate::paper::figure5;

/// Trains or reads the model, and draws.
pub(super) fn figure5(workshop: &Workshop<'_>) -> Result<Document, Error> {
    let settings = workshop.settings;
    let experiment = Experiment { kind: Kind::Full, is_conditional: true, steps: 3, view: settings.view() };
    let run = workshop.run(&experiment)?;
    let prepared = workshop.data(run.view)?;
    let (network, trained) = workshop.network(&run)?;
    workshop.watcher.begin("drawing neighbours of nodes", 0);
    let options = figure5::Options { seed: settings.seed, ..figure5::Options::default() };
    let figure = figure5::figure5(&network, &trained, &prepared, &options)?;
    let runs = [markdown::RunRow::of(&run)];
    let text = figure.markdown.trim_end();
    let how = markdown::how(workshop, Target::Figure5, &runs)?;
    Ok(Document { markdown: format!("{text}\n\n{how}"), picture: Some(figure.svg), is_complete: true })
}
