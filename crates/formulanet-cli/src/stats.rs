//! `formulanet stats`: what a prepared folder holds.

use std::fmt::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use formulanet_train::dataset::{Layout, Prepared, Sizes, Stats};

use crate::output::Output;

/// Show the contents of a prepared data set
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet stats holstep\n  \
    formulanet stats holstep --format json")]
pub(crate) struct Arguments {
    /// Directory written by `formulanet prepare`
    data: PathBuf,
    /// Print text or JSON
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let prepared = Prepared::open(&arguments.data)?;
    prepared.verify()?;
    let stats = Stats::of(&prepared);
    let value = serde_json::json!({ "meta": prepared.meta(), "stats": stats });
    let mut shown = String::new();
    text(&mut shown, &prepared, &stats)?;
    arguments.format.print(shown, &value)
}

fn text(out: &mut String, prepared: &Prepared, stats: &Stats) -> fmt::Result {
    let (meta, counts) = (prepared.meta(), &stats.counts);
    let layout = Layout::ALL.iter().find(|(_, known)| *known == meta.layout).map_or("", |(name, _)| name);
    writeln!(out, "{} ({layout}), view {}", meta.input, meta.options.view.name())?;
    writeln!(out)?;
    writeln!(out, "{:<24}{:>12}{:>12}{:>12}", "", "train", "validation", "test")?;
    let rows = [
        ("conjectures", stats.conjectures),
        ("labelled statements", stats.pairs),
        ("useful ones", stats.positives),
    ];
    for (name, [train, validation, test]) in rows {
        writeln!(out, "{name:<24}{train:>12}{validation:>12}{test:>12}")?;
    }
    writeln!(out)?;
    let numbers = [
        ("distinct graphs", counts.graphs as u64),
        ("distinct statements", counts.statement_graphs as u64),
        ("tokens of statements", stats.tokens),
        ("labels", counts.vocabulary as u64),
        ("named premises", counts.premises as u64),
        ("dependencies", counts.dependencies as u64),
        ("skipped", counts.skipped as u64),
    ];
    for (name, number) in numbers {
        writeln!(out, "{name:<24}{number:>12}")?;
    }
    let shares = [
        ("statements with both labels", stats.both_labels),
        ("validation statements that training has, too", stats.validation_seen),
        ("unknown labels in held-out statements", stats.unknown),
    ];
    writeln!(out)?;
    for (name, share) in shares {
        writeln!(out, "{:>9.3} %  {name}", 100.0 * share)?;
    }
    writeln!(out)?;
    writeln!(out, "{:<24}{:>12}{:>12}{:>12}{:>12}", "", "mean", "median", "99 %", "max")?;
    sizes(out, "statement", &stats.statements)?;
    sizes(out, "conjecture", &stats.conjecture_sizes)
}

fn sizes(out: &mut String, what: &str, sizes: &Sizes) -> fmt::Result {
    for (name, d) in [("nodes", &sizes.nodes), ("edges", &sizes.edges), ("treelets", &sizes.treelets)] {
        let row = format!("{name} of a {what}");
        writeln!(out, "{row:<24}{:>12.1}{:>12}{:>12}{:>12}", d.mean, d.median, d.percentile_99, d.max)?;
    }
    Ok(())
}
