//! `formulanet-lab reproduce`: the paper's tables and its figure.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::paper::{Budget, Preset, Reproduction, Settings, Target};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use formulanet_train::dataset::HoldOut;
use formulanet_train::processes::{self, Alone};
use formulanet_train::{Progress, Stage};

use formulanet_cli::output::Output;
use formulanet_cli::prepare::hold_out;
use formulanet_cli::progress::Bar;

/// Reproduce the paper's tables and figure
///
/// Prepares the data, trains missing networks, and writes each table with the paper's numbers next to ours. The work directory
/// keeps prepared data and runs: finished ones are used again, and ones stopped with Ctrl-C continue with the next call. A run
/// that several tables need is trained once. Several processes may share a work directory: each takes the next run that no other
/// has begun.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet-lab reproduce table1 --source holstep.tgz --budget 20m\n  \
    formulanet-lab reproduce table3 --source holstep.tgz --budget 100000 --preset default\n  \
    formulanet-lab reproduce all --source holstep.tgz --work reproduction --results results\n\n\
    Runs: table1 trains 4 networks and DeepWalk, table2 4 networks, table3 9, figure5 1; together 14 networks with the \
    preset `paper`. A budget is for each run. DeepWalk sees at most 100000 pairs of a budget in pairs.")]
pub(crate) struct Arguments {
    /// Table or figure to reproduce
    #[arg(value_enum)]
    what: What,
    /// The data set, as `formulanet prepare` takes it: a directory, an archive or a file
    #[arg(long, value_name = "PATH")]
    source: PathBuf,
    /// Keep prepared data and runs in this folder
    #[arg(long, value_name = "FOLDER", default_value = "reproduction")]
    work: PathBuf,
    /// Write tables and figures to this folder
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    results: PathBuf,
    /// How long to train each run: `full`, pairs (100000), or a time (20m, 2h) that a short trial turns into pairs
    #[arg(long, value_name = "BUDGET", default_value = "full")]
    budget: Budget,
    /// Start from this recipe
    #[arg(long, value_enum, default_value_t = PresetName::Paper)]
    preset: PresetName,
    /// Hold out conjectures for validation: a number, a fraction such as 0.07, or @FILE with a name per line
    #[arg(long, value_name = "N", default_value = "700", value_parser = hold_out)]
    validation: HoldOut,
    /// Choose first weights and the order of pairs; the held-out conjectures stay the same
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Length of a node's vector [default: 256; 128 for the preset `default`]
    #[arg(long, value_name = "N")]
    dim: Option<usize>,
    /// Pairs in a batch [default: 300; 128 for the preset `default`]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Use N threads; the results are the same for any number [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print text or JSON
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Accuracy of all methods
    Table1,
    /// Effect of variable names and links between variables
    Table2,
    /// Effect of more steps
    Table3,
    /// Nodes with similar vectors
    Figure5,
    /// All of them
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PresetName {
    /// The paper's, on the view `graph`
    Paper,
    /// The best in a given time on a CPU, on the view `dag`
    Default,
}

/// Time between two looks at what another process does.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let mut left = match arguments.what {
        What::Table1 => vec![Target::Table1],
        What::Table2 => vec![Target::Table2],
        What::Table3 => vec![Target::Table3],
        What::Figure5 => vec![Target::Figure5],
        What::All => Target::ALL.map(|(_, target)| target).to_vec(),
    };
    let settings = Settings {
        source: arguments.source,
        work: arguments.work,
        results: arguments.results,
        preset: match arguments.preset {
            PresetName::Paper => Preset::Paper,
            PresetName::Default => Preset::Default,
        },
        budget: arguments.budget,
        dimension: arguments.dim,
        batch: arguments.batch,
        seed: arguments.seed,
        validation: arguments.validation,
        threads: arguments.threads.unwrap_or_else(|| processes::threads(&Alone)).max(1),
    };
    let bar = Bar::with_lines();
    let reproduction = Reproduction::open(&settings, &bar)?;
    for pass in 0.. {
        left = measure(&reproduction, &settings, &left, &bar, arguments.format)?;
        if left.is_empty() {
            break;
        }
        if pass == 0 {
            bar.begin(Stage { name: "waiting for another process", done: 0, of: 0, unit: "" });
        }
        thread::sleep(PATIENCE);
    }
    Ok(())
}

/// Measures targets, tells what was written, and gives back those that another process has to finish first.
fn measure(
    reproduction: &Reproduction<'_>,
    settings: &Settings,
    targets: &[Target],
    bar: &Bar,
    format: Output,
) -> Result<Vec<Target>> {
    let mut left = Vec::new();
    for &target in targets {
        let reproduced = reproduction.measure(target, &command(settings, target));
        bar.clear();
        let reproduced = reproduced?;
        if !reproduced.is_complete && !bar.is_stopped() {
            left.push(target);
            continue;
        }
        let wrote = |file: &PathBuf| format!("wrote {}\n", file.display());
        format.print(reproduced.files.iter().map(wrote).collect::<String>(), &reproduced)?;
        if !reproduced.is_complete {
            bail!("stopped before the end of {}; the same command goes on", target.name());
        }
    }
    Ok(left)
}

/// The command that makes a result, with all that the result depends on but no path of this machine.
fn command(settings: &Settings, target: Target) -> String {
    let source = settings.source_name();
    let is_plain = |c: char| c.is_alphanumeric() || "._-+@%:,".contains(c);
    let source = match source.chars().all(is_plain) {
        true => source,
        false => format!("'{}'", source.replace('\'', r"'\''")),
    };
    let (preset, budget, seed) = (settings.preset.name(), &settings.budget, settings.seed);
    let mut command = format!(
        "formulanet-lab reproduce {} --source {source} --preset {preset} --budget {budget} --seed {seed}",
        target.name()
    );
    for (flag, value) in [("dim", settings.dimension), ("batch", settings.batch)] {
        command += &value.map(|value| format!(" --{flag} {value}")).unwrap_or_default();
    }
    command
        + &match &settings.validation {
            HoldOut::Number(number) => format!(" --validation {number}"),
            HoldOut::Fraction(share) => format!(" --validation {share}"),
            HoldOut::Names(_) => " --validation @FILE".to_owned(),
        }
}
