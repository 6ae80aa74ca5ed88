//! `formulanet prepare`: a data set becomes what training reads.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use formulanet::logic::View;
use formulanet::read::read_text;
use formulanet_train::dataset::{self, Counts, HoldOut, Labels, Layout, Options, Preparation};
use formulanet_train::processes::{self, Alone};
use formulanet_train::train::{PoolOptions, PoolSource, make_pools};

use crate::input::{LimitArguments, ViewArgument, one_of, report_skipped};
use crate::output::Output;
use crate::progress::Bar;
use crate::usage::{refuse_given, wrong};

/// Prepare a data set for training
///
/// Reads HolStep, DeepMath or JSON Lines from a directory, an archive (.tar, .tar.gz, .tar.zst) or a file. Writes a directory
/// with the distinct graphs, the labeled pairs, the named premises and the vocabulary.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet prepare holstep.tgz --out holstep\n  \
    formulanet prepare my-pairs.jsonl --out mine --view dag --validation 0.1\n  \
    formulanet prepare theory.jsonl --pool 128 --out pools\n\n\
    A line of JSON Lines: {\"conjecture\": \"...\", \"statement\": \"...\", \"useful\": true, \"name\": \"...\", \"syntax\": \"hol\"}")]
pub(crate) struct Arguments {
    /// Data set: a directory, an archive or a file; with --pool, facts files
    #[arg(required_unless_present = "unordered")]
    input: Vec<PathBuf>,
    /// Output directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Format of the data set [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&Layout::ALL))]
    input_format: Option<Layout>,
    #[command(flatten)]
    view: ViewArgument,
    /// Hold out conjectures for validation: a number, a fraction such as 0.07, or @FILE with a name per line
    #[arg(long, value_name = "N", default_value = "700", value_parser = hold_out)]
    validation: HoldOut,
    /// Choose the held-out conjectures by this seed [default: 0]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Treat symbols that occur less than N times in training as unknown
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_count: u64,
    /// Rename the variables of every formula at random, by this seed
    #[arg(long, value_name = "SEED")]
    rename_variables: Option<u64>,
    /// Also write the input of `train --kind reader`
    #[arg(long)]
    problems: bool,
    /// Find the best N candidates for every fact with a proof in facts files, for `train --kind reader`
    #[arg(long, value_name = "N")]
    pool: Option<usize>,
    /// With --pool: a facts file without an order, so that all facts are candidates for all others
    #[arg(long, value_name = "FILE", requires = "pool")]
    unordered: Vec<PathBuf>,
    /// With --pool: only for facts that are held out
    #[arg(long, requires = "pool")]
    only_held_out: bool,
    /// With --pool: ignore all proofs when finding candidates for this share of the facts [default: 0.15]
    #[arg(long, value_name = "SHARE", requires = "pool")]
    without_proofs: Option<f64>,
    /// Skip and report statements that cannot be read
    #[arg(long)]
    keep_going: bool,
    /// Use N threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Bytes of a file of names, at most.
const MOST_NAMES: usize = 1 << 28;

/// Parses the conjectures to hold out: a number, a share or the names in a file.
pub fn hold_out(argument: &str) -> Result<HoldOut, String> {
    if let Some(file) = argument.strip_prefix('@') {
        let text = read_text(file, MOST_NAMES).map_err(|error| format!("{error:#}"))?;
        let names = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
        return Ok(HoldOut::Names(names.collect()));
    }
    if let Ok(number) = argument.parse() {
        return Ok(HoldOut::Number(number));
    }
    match argument.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(HoldOut::Fraction(share)),
        _ => Err("expected a number, a fraction from 0 to 1 or @FILE".to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if let Some(size) = arguments.pool {
        return pools(&arguments, size);
    }
    let [input] = &arguments.input[..] else {
        return Err(wrong("expected one data set; only with --pool there may be several"));
    };
    let view = arguments.view.view;
    if matches!(arguments.validation, HoldOut::Names(_)) {
        let with = "--validation @FILE, which names the conjectures";
        refuse_given(&[("--seed", arguments.seed.is_some())], with)?;
    }
    if !matches!(view, View::GraphNames | View::TreeNames) {
        let with = format!("--view {}, which has no variable names", view.name());
        refuse_given(&[("--rename-variables", arguments.rename_variables.is_some())], &with)?;
    }
    let options = Options {
        view,
        validation: arguments.validation,
        seed: arguments.seed.unwrap_or(0),
        rename_variables: arguments.rename_variables,
        labels: Labels::Training,
        min_count: arguments.min_count,
        together: arguments.problems,
        keep_going: arguments.keep_going,
        limits: arguments.limits.limits(),
    };
    let threads = arguments.threads.unwrap_or_else(|| processes::threads(&Alone));
    let (out, layout) = (&arguments.out, arguments.input_format);
    let prepared = dataset::prepare(input, out, layout, &options, threads, &Bar::new())?;
    let (what, meta) = match prepared {
        Preparation::AlreadyThere(meta) => ("already there:", meta),
        Preparation::Written(meta, skipped) => {
            report_skipped(&skipped);
            ("wrote", meta)
        }
    };
    let text = format!("{what} {}\n{}", out.display(), summary(&meta.counts));
    arguments.format.print(text, &meta)
}

/// Makes pools of theory files.
fn pools(arguments: &Arguments, size: usize) -> Result<()> {
    let without_proofs = arguments.without_proofs.unwrap_or(0.15);
    if size == 0 || !(0.0..=1.0).contains(&without_proofs) {
        return Err(wrong("expected --pool to be at least 1, and --without-proofs to be from 0 to 1"));
    }
    let unused = [
        ("--input-format", arguments.input_format.is_some()),
        ("--rename-variables", arguments.rename_variables.is_some()),
        ("--problems", arguments.problems),
        ("--keep-going", arguments.keep_going),
    ];
    refuse_given(&unused, "--pool")?;
    let source =
        |is_ordered: bool| move |file: &PathBuf| PoolSource { file: file.display().to_string(), is_ordered };
    let ordered = arguments.input.iter().map(source(true));
    let sources: Vec<PoolSource> = ordered.chain(arguments.unordered.iter().map(source(false))).collect();
    let options = PoolOptions {
        size,
        validation: arguments.validation.clone(),
        seed: arguments.seed.unwrap_or(0),
        without_proofs,
        only_held_out: arguments.only_held_out,
        limits: arguments.limits.limits(),
        threads: arguments.threads.unwrap_or_else(|| processes::threads(&Alone)),
    };
    let problems = make_pools(&sources, &options, &Bar::new())?;
    problems.write_pools(&arguments.out)?;
    let found = problems.found();
    let text = format!(
        "wrote {}\n{:>12} goals\n{:>12} candidates\n{:>12.1} % of what their proofs used is among them\n",
        arguments.out.display(),
        problems.len(),
        found.candidates,
        100.0 * found.share
    );
    let object =
        serde_json::json!({ "goals": problems.len(), "candidates": found.candidates, "found": found.share });
    arguments.format.print(text, &object)
}

fn summary(counts: &Counts) -> String {
    let Counts { conjectures, pairs, statement_graphs, graphs, nodes, edges, .. } = counts;
    let Counts { vocabulary, premises, dependencies, .. } = counts;
    format!(
        "{conjectures:>12} conjectures\n{pairs:>12} labelled statements, {statement_graphs} distinct\n\
         {graphs:>12} graphs, {nodes} nodes, {edges} edges\n{vocabulary:>12} labels\n\
         {premises:>12} named premises, {dependencies} dependencies\n"
    )
}
