//! `formulanet train`: a network learns from prepared pairs.

mod flags;
mod together;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use formulanet::model::ModelFile;
use formulanet::model::recipe::Recipe;
use formulanet::read::read_text;
use formulanet_train::dataset::{HoldOut, Prepared};
use formulanet_train::processes;
use formulanet_train::train::{self, Event, Line, Plan, Run, RunEnd, RunOptions, Validation};
use formulanet_train::{Error, Progress};

use crate::input::writing;
use crate::output::Output;
use crate::prepare::hold_out;
use crate::processes::{group, speaks};
use crate::progress::Bar;
use crate::usage::refuse_given;
use flags::Changes;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Train a network
///
/// Writes a run directory with the recipe, a log, a curve, checkpoints and, at the end, `model.safetensors`. Ctrl-C writes a
/// checkpoint and stops. A run that is resumed ends with the same weights, bit for bit, as one that was not stopped.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet train --data holstep --out run --limit-pairs 100000 --unconditional\n  \
    formulanet train --data holstep --out run --preset paper --model basic\n  \
    formulanet train --kind reader --data holstep.tgz --out reader --epochs 3\n  \
    formulanet train --data holstep --resume run")]
pub(crate) struct Arguments {
    /// Directory written by `formulanet prepare`, with --view dag for the presets `default` and `premises`. With --kind reader, a
    /// directory prepared with --problems, or raw data
    #[arg(long, value_name = "PATH")]
    data: PathBuf,
    /// Run directory to create
    #[arg(long, value_name = "RUN", required_unless_present = "resume")]
    out: Option<PathBuf>,
    /// Continue this run from its last checkpoint
    #[arg(long, value_name = "RUN", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Train a network that scores statements one by one, or a re-ranker (reader), which scores all candidates of a conjecture
    /// jointly [default: network]
    #[arg(long, value_enum, conflicts_with = "resume")]
    kind: Option<Kind>,
    /// With --kind reader: also train on these data
    #[arg(long, value_name = "PATH")]
    more_data: Vec<PathBuf>,
    /// With --kind reader and raw data: hold out conjectures, as in `formulanet prepare` [default: 700]
    #[arg(long, value_name = "N", value_parser = hold_out)]
    validation: Option<HoldOut>,
    /// Start from this recipe; the flags below change it [default: default]
    #[arg(long, value_enum, conflicts_with = "resume")]
    preset: Option<Preset>,
    /// Start from a recipe in TOML, such as the `recipe.toml` of a run folder
    #[arg(long, value_name = "FILE", conflicts_with_all = ["preset", "resume"])]
    recipe: Option<PathBuf>,
    /// Initialize with the weights of this model, where labels and dimension agree [default: random weights]
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    init: Option<PathBuf>,
    /// Use N threads; the result is the same for any number [default: all cores, shared with other processes of the job]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Write a checkpoint and stop after this time [default: no limit]
    #[arg(long, value_name = "MINUTES")]
    max_minutes: Option<f64>,
    /// Write a checkpoint after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    checkpoint_every: u64,
    /// Log every N batches
    #[arg(long, value_name = "N", default_value_t = 20)]
    log_every: u64,
    /// Measure at most N held-out pairs at the end [default: all]
    #[arg(long, value_name = "N")]
    final_validation: Option<usize>,
    /// Output format; json prints the log
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    changes: Changes,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Preset {
    /// Most accurate in limited time on a CPU
    #[default]
    Default,
    /// Recipe of the paper
    Paper,
    /// Retriever, trained on the dependencies of proofs
    Premises,
}

/// Kinds of networks.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A network that scores statements one by one
    Network,
    /// A re-ranker, which scores all candidates of a conjecture jointly
    Reader,
}

impl Preset {
    fn recipe(self) -> Recipe {
        match self {
            Preset::Default => Recipe::default_preset(),
            Preset::Paper => Recipe::paper(),
            Preset::Premises => Recipe::premises(),
        }
    }
}

/// A word of a recipe, as TOML has it.
pub fn parse_word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error| error.to_string())
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let is_reader = arguments.kind == Some(Kind::Reader);
    if is_reader {
        let flags = [("--preset", arguments.preset.is_some()), ("--init", arguments.init.is_some())];
        refuse_given(&flags, "--kind reader")?;
    }
    if is_reader || arguments.resume.as_deref().is_some_and(train::is_together) {
        return together::run(&arguments);
    }
    let flags =
        [("--validation", arguments.validation.is_some()), ("--more-data", !arguments.more_data.is_empty())];
    refuse_given(&flags, "data that `formulanet prepare` has split")?;
    let prepared = Prepared::open(&arguments.data)?;
    let (folder, recipe) = match &arguments.resume {
        Some(folder) => (folder, recipe_of(folder)?),
        None => {
            let recipe = match &arguments.recipe {
                Some(file) => read_recipe(file)?,
                None => arguments.preset.unwrap_or_default().recipe(),
            };
            (arguments.out.as_ref().context("expected --out")?, arguments.changes.apply(recipe)?)
        }
    };
    let options = arguments.options();
    let first = arguments.init.as_deref().map(ModelFile::load).transpose()?;
    let run = Run { prepared: &prepared, recipe: &recipe, folder, first_weights: first.as_ref(), options };
    arguments.watch(folder, |progress, listen| train::train(&run, progress, listen))
}

impl Arguments {
    /// Settings that do not change the result.
    fn options(&self) -> RunOptions {
        let minutes = |minutes: f64| Duration::from_secs_f64(60.0 * minutes.clamp(0.0, 1e6));
        RunOptions {
            threads: self.threads.unwrap_or_else(|| processes::threads(group())).max(1),
            most_time: self.max_minutes.map(minutes),
            checkpoint_every: Duration::from_secs(self.checkpoint_every),
            log_every: self.log_every.max(1),
            final_validation: self.final_validation,
            shows_validation: true,
            resumes: self.resume.is_some(),
            group: group(),
        }
    }

    /// Shows how a run goes, and what comes of it.
    fn watch(
        &self,
        folder: &Path,
        run: impl FnOnce(&dyn Progress, &mut dyn FnMut(Event<'_>)) -> Result<RunEnd, Error>,
    ) -> Result<()> {
        let (bar, mut total) = (Bar::new(), 0);
        let mut tell = |event: Event<'_>| match event {
            _ if !speaks() => {}
            Event::Begins(plan) => {
                total = plan.total;
                tell!("{}", plan_text(plan));
            }
            Event::Logged(line) => print_line(line, total, self.format, &bar),
        };
        let end = run(&bar, &mut tell)?;
        drop(bar);
        if speaks() { print_end(&end, folder, self) } else { Ok(()) }
    }
}

/// Bytes of a recipe, at most.
const MOST_RECIPE: usize = 1 << 20;

/// A recipe in a file of the user's.
fn read_recipe<R: DeserializeOwned>(file: &Path) -> Result<R> {
    let text = read_text(&file.to_string_lossy(), MOST_RECIPE)?;
    toml::from_str(&text).with_context(|| format!("{}", file.display()))
}

/// The recipe of a run that goes on. Other processes need not see the folder.
fn recipe_of<R: Serialize + DeserializeOwned>(folder: &Path) -> Result<R> {
    let text = if speaks() { toml::to_string(&train::recipe_of::<R>(folder)?)? } else { String::new() };
    let text = String::from_utf8(processes::from_first(group(), text.into_bytes()))?;
    Ok(toml::from_str(&text)?)
}

fn print_end(end: &RunEnd, folder: &Path, arguments: &Arguments) -> Result<()> {
    let (data, shown) = (arguments.data.display(), folder.display());
    match end {
        RunEnd::Stopped(step) => {
            tell!(
                "stopped after {step} batches; go on with: formulanet train --data {data} --resume {shown}"
            );
            Ok(())
        }
        RunEnd::Finished(_) if arguments.format == Output::Json => Ok(()),
        RunEnd::Finished(validation) => {
            let mut out = io::stdout().lock();
            match validation {
                Some(Validation { ranking: Some(ranking), .. }) => {
                    writing(write!(out, "held-out conjectures, all premises ranked\n{ranking}"))?;
                }
                Some(Validation { accuracy, pairs, hidden, .. }) => {
                    let text =
                        format!("validation accuracy {:.2} % of {pairs} held-out pairs", 100.0 * accuracy);
                    let hidden = hidden.map(|hidden| format!(", {:.2} % with names hidden", 100.0 * hidden));
                    writing(writeln!(out, "{text}{}", hidden.unwrap_or_default()))?;
                }
                None => {}
            }
            writing(writeln!(out, "wrote {}", folder.join("model.safetensors").display()))
        }
    }
}

/// The first line of a run's output.
fn plan_text(plan: &Plan) -> String {
    let Plan { pairs, validation_pairs, total, batch, first, weights, processes, compute } = plan;
    let after = if *first > 0 { format!(", going on after {first}") } else { String::new() };
    let among = if *processes > 1 { format!("{processes} processes, ") } else { String::new() };
    format!(
        "{pairs} training pairs, {validation_pairs} for each validation; {total} batches of {batch}{after}; \
         {weights} weights; {among}{compute}"
    )
}

/// Shows a line of the log: below the bar on a terminal, and otherwise on standard output.
fn print_line(line: &Line, total: u64, format: Output, bar: &Bar) {
    let mut out = io::stdout().lock();
    // Nobody reading the lines is no reason to stop training.
    let _ = match format {
        Output::Json => writeln!(out, "{}", serde_json::to_string(line).unwrap_or_default()),
        Output::Text => {
            let text = line_text(line, total);
            bar.show(&text);
            match (&line.validation, bar.is_hidden()) {
                (None, false) => Ok(()),
                _ => bar.suspend(|| writeln!(out, "{text}")),
            }
        }
    };
}

fn line_text(line: &Line, total: u64) -> String {
    // The classifier of every step is labelled with the step, from that of the labels alone.
    let by_step = |shares: &[f64]| {
        let labelled = shares.iter().enumerate().map(|(step, share)| format!("{step}: {:.1}", 100.0 * share));
        labelled.collect::<Vec<_>>().join(", ")
    };
    let left = line.seconds / line.step.max(1) as f64 * total.saturating_sub(line.step) as f64;
    let Line { step, epoch, speed, rate, .. } = line;
    let (loss, last) = (line.loss.last().unwrap_or(&0.0), 100.0 * line.accuracy.last().unwrap_or(&0.0));
    let steps = match line.accuracy.len() {
        0 | 1 => String::new(),
        _ => format!(" (after step {})", by_step(&line.accuracy)),
    };
    let text = format!(
        "{step:>6}/{total} epoch {epoch:.2}  {speed:.0} pairs/s  loss {loss:.3}  accuracy {last:.1} %{steps}  \
         rate {rate:.1e}  {:.0} min left",
        left / 60.0
    );
    let Some(validation) = &line.validation else { return text };
    let Validation { accuracy, pairs, steps, loss, ranking, hidden } = validation;
    let found = match (ranking, hidden) {
        (Some(ranking), _) => {
            let at = |shares: &BTreeMap<usize, f64>, at| shares.get(&at).copied().unwrap_or(0.0);
            let [r16, r32, r64] = [16, 32, 64].map(|k| at(&ranking.recall_at, k));
            let (full, queries) = (at(&ranking.full_recall_at, 64), ranking.queries);
            let (mrr, map) = (ranking.mean_reciprocal_rank, ranking.mean_average_precision);
            format!(
                " of {queries}: recall@16 {r16:.4}, @32 {r32:.4}, @64 {r64:.4}, full@64 {full:.4}, MRR {mrr:.4}, \
                 MAP {map:.4}"
            )
        }
        (None, hidden) => {
            let more = match hidden {
                Some(hidden) => format!(", {:.2} % with names hidden", 100.0 * hidden),
                None => format!(" (after step {})", by_step(steps)),
            };
            format!(" {:.2} % of {pairs}{more}, loss {loss:.3}", 100.0 * accuracy)
        }
    };
    format!("{text}\n       validation{found}")
}
