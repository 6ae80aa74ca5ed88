//! `formulanet models`: what is built in.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use formulanet::model::registry;
use serde::Serialize;

use crate::input::writing;
use crate::lines;
use crate::output::Output;
use crate::usage::wrong;

/// List the built-in models, or show the card of one
///
/// A card has the use, the training data, the held-out results and the limitations of a model.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet models\n  \
    formulanet models reader")]
pub(crate) struct Arguments {
    /// Show the card of this model
    model: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    /// Its purpose, in a sentence.
    summary: String,
    bytes: usize,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let mut out = io::stdout().lock();
    if let Some(model) = &arguments.model {
        let card = registry::card(model)
            .ok_or_else(|| wrong(format!("expected one of {}, found `{model}`", registry::names())))?;
        return writing(out.write_all(card.as_bytes()));
    }
    let width = lines::column(registry::all());
    for name in registry::all() {
        let bytes = registry::bytes(name).map_or(0, <[u8]>::len);
        let row = Row { name, summary: summary(registry::card(name).unwrap_or_default()), bytes };
        writing(match arguments.format {
            Output::Json => writeln!(out, "{}", serde_json::to_string(&row)?),
            Output::Text => {
                let megabytes = row.bytes as f64 / 1e6;
                let line = format!("{:<width$}  {megabytes:>4.1} MB  {}", row.name, row.summary);
                writeln!(out, "{}", lines::cut(&line))
            }
        })?;
    }
    Ok(())
}

/// The first sentence of a card.
fn summary(card: &str) -> String {
    let paragraph = card.split("\n\n").find(|paragraph| !paragraph.starts_with('#')).unwrap_or_default();
    let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned()
}
