//! `formulanet reproduce`: the paper's tables and figure, measured again.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use formulanet::paper::reproduce::{Budget, Preset, Reproduction, Settings, Target, Watcher};
use indicatif::{ProgressBar, ProgressStyle};

use crate::input::{validation, writing};
use crate::progress::stopped;

/// Measure the paper's tables again
///
/// Prepares the data, trains what is missing, and writes each table with the paper's numbers beside ours. Prepared data
/// and runs are kept in the work folder: what is finished there is used again, and what was stopped with Ctrl-C goes on
/// with the next call. A run that several tables need is trained once. Several processes may share a work folder: each
/// takes the next run that no other has begun.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet reproduce table1 --source holstep.tgz --budget 20m\n  \
    formulanet reproduce table3 --source holstep.tgz --budget 100000 --preset default\n  \
    formulanet reproduce all --source holstep.tgz --work reproduction --results results\n\n\
    Runs: 4 networks and DeepWalk for table1, 4 networks for table2, 9 for table3, 1 for figure5; 14 networks for all \
    of them with the preset `paper`. A budget is for each run; of one in pairs, DeepWalk takes 100000 at most.")]
pub(crate) struct Arguments {
    /// What to measure
    #[arg(value_enum)]
    what: What,
    /// Data as `formulanet prepare` takes it: a directory, an archive or a file
    #[arg(long, value_name = "PATH")]
    source: PathBuf,
    /// Where prepared data and runs are kept
    #[arg(long, value_name = "FOLDER", default_value = "reproduction")]
    work: PathBuf,
    /// Where tables and figures are written
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    results: PathBuf,
    /// How long each run trains: `full`, pairs (100000), or a time (20m, 2h) that a short trial turns into pairs
    #[arg(long, value_name = "BUDGET", default_value = "full")]
    budget: Budget,
    /// The recipe of the runs
    #[arg(long, value_enum, default_value_t = PresetName::Paper)]
    preset: PresetName,
    /// Conjectures to hold out for validation: a number, a fraction such as 0.07, or @FILE with a name per line
    #[arg(long, value_name = "N", default_value = "700")]
    validation: String,
    /// Decides first weights and the order of pairs; the held-out conjectures stay the same
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Length of a node's vector, if not the preset's
    #[arg(long, value_name = "N")]
    dim: Option<usize>,
    /// Pairs of a mini-batch, if not the preset's
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Threads; as many as there are cores if not given. Any number gives the same results
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// How to show what was written
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Accuracy of all methods
    Table1,
    /// What variable names and links between variables are worth
    Table2,
    /// What more steps are worth
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
    /// What was measured to be best for its time on a CPU, on the view `dag`
    Default,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// The names of the files
    Text,
    /// One object for each table or figure
    Json,
}

/// Time between two looks at what another process does.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let targets: &[Target] = match arguments.what {
        What::Table1 => &[Target::Table1],
        What::Table2 => &[Target::Table2],
        What::Table3 => &[Target::Table3],
        What::Figure5 => &[Target::Figure5],
        What::All => &Target::ALL.map(|(_, target)| target),
    };
    let cores = || thread::available_parallelism().map_or(1, usize::from);
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
        validation: validation(&arguments.validation)?,
        threads: arguments.threads.unwrap_or_else(cores).max(1),
    };
    let view = View::new();
    let reproduction = Reproduction::open(&settings, &view)?;
    let mut left = targets.to_vec();
    for pass in 0.. {
        left = measure(&reproduction, &left, &view, arguments.format)?;
        if left.is_empty() {
            break;
        }
        if pass == 0 {
            view.begin("waiting for another process", 0);
        }
        thread::sleep(PATIENCE);
    }
    Ok(())
}

/// Measures targets, tells what was written, and gives back those that another process has to finish first.
fn measure(
    reproduction: &Reproduction<'_>,
    targets: &[Target],
    view: &View,
    format: Output,
) -> Result<Vec<Target>> {
    let mut left = Vec::new();
    for &target in targets {
        let outcome = reproduction.measure(target);
        view.bar.finish_and_clear();
        let outcome = outcome?;
        if !outcome.is_complete && !view.is_stopped() {
            left.push(target);
            continue;
        }
        let mut out = io::stdout().lock();
        match format {
            Output::Json => writing(writeln!(out, "{}", serde_json::to_string(&outcome)?))?,
            Output::Text => {
                for file in &outcome.files {
                    writing(writeln!(out, "wrote {}", file.display()))?;
                }
            }
        }
        if !outcome.is_complete {
            bail!("stopped before the end of {}; the same command goes on", target.name());
        }
    }
    Ok(left)
}

/// A bar on a terminal, otherwise a line for every task.
struct View {
    bar: ProgressBar,
}

impl View {
    fn new() -> Self {
        // Ctrl-C is caught from now on, not only when somebody first asks.
        stopped();
        let bar = if io::stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        View { bar }
    }
}

impl Watcher for View {
    fn begin(&self, task: &str, units: u64) {
        self.bar.reset();
        self.bar.set_length(units);
        self.bar.set_message(task.to_owned());
        if self.bar.is_hidden() {
            eprintln!("{task}");
        }
    }

    fn done(&self, units: u64) {
        self.bar.set_position(units);
    }

    fn note(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    fn is_stopped(&self) -> bool {
        stopped().load(Ordering::SeqCst)
    }
}
