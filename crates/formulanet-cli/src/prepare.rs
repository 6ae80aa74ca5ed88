//! `formulanet prepare`: a data set becomes what training reads.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use formulanet::data::{self, Layout, Meta, Options, Outcome};

use crate::input::{LimitArguments, ViewArgument, named, validation, writing};
use crate::progress::Bar;

/// Turn a data set into graphs for training
///
/// Reads HolStep, DeepMath or JSON Lines from a directory, an archive (.tar, .tar.gz, .tar.zst) or a file, and
/// writes a folder with every distinct graph once, the labelled pairs, the named premises and the vocabulary.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet prepare holstep.tgz --out holstep\n  \
    formulanet prepare my-pairs.jsonl --out mine --view dag --validation 0.1\n\n\
    A line of JSON Lines: {\"conjecture\": \"...\", \"statement\": \"...\", \"useful\": true, \"name\": \"...\", \"syntax\": \"hol\"}")]
pub(crate) struct Arguments {
    /// A directory, an archive or a file
    input: PathBuf,
    /// The folder to write
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// What the input is; recognised by looking if not given
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Layout::ALL.map(|(name, _)| name)))]
    input_format: Option<String>,
    #[command(flatten)]
    view: ViewArgument,
    /// Conjectures to hold out for validation: a number, a fraction such as 0.07, or @FILE with a name per line
    #[arg(long, value_name = "N", default_value = "700")]
    validation: String,
    /// Decides which conjectures are held out
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Labels that occur less often in training count as unknown symbols, told apart by place and number of arguments
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_count: u64,
    /// Give the variables of every formula other names, chosen by this seed
    #[arg(long, value_name = "SEED")]
    rename_variables: Option<u64>,
    /// Leave out statements that cannot be read, and say which
    #[arg(long)]
    keep_going: bool,
    /// Threads that parse; as many as there are cores if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Output {
    /// A few lines.
    Text,
    /// The folder's description.
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let options = Options {
        view: arguments.view.view(),
        validation: validation(&arguments.validation)?,
        seed: arguments.seed,
        rename_variables: arguments.rename_variables,
        labels: data::Labels::Training,
        min_count: arguments.min_count,
        keep_going: arguments.keep_going,
        limits: arguments.limits.limits(),
    };
    let layout = arguments.input_format.as_deref().map(|name| named(&Layout::ALL, name));
    let threads =
        arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let bar = Bar::new();
    let outcome = data::prepare(&arguments.input, &arguments.out, layout, &options, threads, &bar);
    drop(bar);
    let (meta, is_new) = match outcome? {
        Outcome::AlreadyThere(meta) => (meta, false),
        Outcome::Written(meta, skipped) => {
            report_skipped(&skipped);
            (meta, true)
        }
    };
    let mut out = io::stdout().lock();
    match arguments.format {
        Output::Json => writing(writeln!(out, "{}", serde_json::to_string(&meta)?)),
        Output::Text => {
            let what = if is_new { "wrote" } else { "already there:" };
            writing(writeln!(out, "{what} {}", arguments.out.display()))?;
            writing(summary(&mut out, &meta))
        }
    }
}

fn summary(out: &mut impl Write, meta: &Meta) -> io::Result<()> {
    let counts = &meta.counts;
    writeln!(out, "{:>12} conjectures", counts.conjectures)?;
    writeln!(out, "{:>12} labelled statements, {} distinct", counts.pairs, counts.statement_graphs)?;
    writeln!(out, "{:>12} graphs, {} nodes, {} edges", counts.graphs, counts.nodes, counts.edges)?;
    writeln!(out, "{:>12} labels", counts.vocabulary)?;
    writeln!(out, "{:>12} named premises, {} dependencies", counts.premises, counts.dependencies)
}

/// Says which statements were left out: all of a few, the first of many.
fn report_skipped(skipped: &[String]) {
    const SHOWN: usize = 20;
    for message in skipped.iter().take(SHOWN) {
        eprintln!("left out: {message}");
    }
    if skipped.len() > SHOWN {
        eprintln!("left out: {} more", skipped.len() - SHOWN);
    }
    if !skipped.is_empty() {
        eprintln!("{} statements were left out", skipped.len());
    }
}
