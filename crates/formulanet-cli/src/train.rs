//! `formulanet train`: a network learns from prepared pairs.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use formulanet::data::Prepared;
use formulanet::model::TrainedModel;
use formulanet::model::recipe::{OptimiserName, Recipe, ScheduleName, StorageName};
use formulanet::net::{Kind, Meeting, NormKind, Pooling, Precision, Reads};
use formulanet::processes;
use formulanet::train::{self, Line, Outcome, Plan, RunOptions, Watcher};
use indicatif::{ProgressBar, ProgressStyle};

use crate::input::writing;
use crate::processes::{group, speaks};
use crate::progress::stopped;

/// Train a network
///
/// Reads a folder of `formulanet prepare` and writes a run folder: the recipe, a log, a curve, checkpoints and, at the
/// end, `model.safetensors`. Ctrl-C stops after a checkpoint; --resume goes on to the same weights, bit for bit, as if
/// it had never stopped.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet train --data holstep --out run --limit-pairs 100000 --unconditional\n  \
    formulanet train --data holstep --out run --preset paper --model basic\n  \
    formulanet train --data holstep --resume run")]
pub(crate) struct Arguments {
    /// A folder of `formulanet prepare`; the preset `default` is meant for --view dag
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// The run folder to write
    #[arg(long, value_name = "RUN", required_unless_present = "resume")]
    out: Option<PathBuf>,
    /// Go on with a run from its last checkpoint
    #[arg(long, value_name = "RUN", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Where the recipe comes from; flags change it
    #[arg(long, value_enum, default_value_t = Preset::Default, conflicts_with = "resume")]
    preset: Preset,
    /// A recipe in TOML, as a run folder keeps it, instead of a preset
    #[arg(long, value_name = "FILE", conflicts_with_all = ["preset", "resume"])]
    recipe: Option<PathBuf>,
    /// Begin with the weights that this model, of the same labels and dimension, has in common with the new one
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    init: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// Threads; as many as there are cores if not given, which processes on the same cores share. Any number of threads
    /// and processes gives the same weights
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Stop after so many minutes, to be resumed later
    #[arg(long, value_name = "MINUTES")]
    max_minutes: Option<f64>,
    /// Seconds between two checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    checkpoint_every: u64,
    /// Batches between two lines of the log
    #[arg(long, value_name = "N", default_value_t = 20)]
    log_every: u64,
    /// How to show progress and result on standard output
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// What was measured to be best for its time on a CPU
    Default,
    /// The paper's
    Paper,
    /// For ranking the named premises that proofs depend on
    Premises,
}

impl Preset {
    pub(crate) fn recipe(self) -> Recipe {
        match self {
            Preset::Default => Recipe::fast(),
            Preset::Paper => Recipe::paper(),
            Preset::Premises => Recipe::premises(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Lines for people.
    Text,
    /// The lines of the log.
    Json,
}

/// The choices of a recipe as flags.
#[derive(Args, Clone)]
#[command(next_help_heading = "Recipe")]
pub(crate) struct Changes {
    /// FormulaNet (edges and treelets) or FormulaNet-basic (edges alone)
    #[arg(long, value_name = "MODEL", value_parser = parse_kind)]
    pub(crate) model: Option<Kind>,
    /// The classifier sees the conjecture
    #[arg(long, conflicts_with = "unconditional")]
    pub(crate) conditional: bool,
    /// The classifier sees the statement alone
    #[arg(long)]
    pub(crate) unconditional: bool,
    /// Length of a node's vector
    #[arg(long, value_name = "N")]
    pub(crate) dim: Option<usize>,
    /// How often nodes are updated
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<usize>,
    /// Norms over the rows of a graph, a micro-batch (batch) or a single row (layer)
    #[arg(long, value_name = "graph|batch|layer", value_parser = parse_word::<NormKind>)]
    norm: Option<NormKind>,
    /// How nodes become one vector
    #[arg(long, value_name = "max|max-mean", value_parser = parse_word::<Pooling>)]
    pooling: Option<Pooling>,
    /// What classifiers read
    #[arg(long, value_name = "states|messages", value_parser = parse_word::<Reads>)]
    reads: Option<Reads>,
    /// How statement and conjecture meet: side by side in a classifier, there also multiplied number by number, or in a
    /// dot product that ranks named premises
    #[arg(long, value_name = "concat|product|towers", value_parser = parse_word::<Meeting>)]
    meeting: Option<Meeting>,
    /// Remember statements that training sees so often, and how useful they were; 0 for none
    #[arg(long, value_name = "N")]
    memory: Option<u32>,
    /// Share of what is remembered that a batch leaves out
    #[arg(long, value_name = "SHARE")]
    forget: Option<f32>,
    /// Share of a graph's labels that a batch takes for unknown
    #[arg(long, value_name = "SHARE")]
    blur: Option<f32>,
    /// Towers: how much of a premise's probability is the share of similar conjectures' proofs that used it; 0 for nothing
    #[arg(long, value_name = "SHARE")]
    neighbours: Option<f32>,
    /// Mark the symbols of a statement that its conjecture has, too; such a model scores pairs, not libraries
    #[arg(long)]
    marks: bool,
    /// Share of numbers that classifiers or towers leave out at random
    #[arg(long, value_name = "SHARE")]
    dropout: Option<f32>,
    /// Towers: useful premises of each conjecture in a batch, at most
    #[arg(long, value_name = "N")]
    useful: Option<usize>,
    /// Towers: random premises in a batch
    #[arg(long, value_name = "N")]
    random: Option<usize>,
    /// Pairs of a mini-batch; towers: conjectures
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<usize>,
    /// Pairs of one conjecture drawn together
    #[arg(long, value_name = "N")]
    group: Option<usize>,
    /// Graphs that go through the network together
    #[arg(long, value_name = "N")]
    micro_batch: Option<usize>,
    /// The optimiser
    #[arg(long, value_name = "rms-prop|adam-w", value_parser = parse_word::<OptimiserName>)]
    optimiser: Option<OptimiserName>,
    /// The highest learning rate
    #[arg(long, value_name = "RATE")]
    rate: Option<f32>,
    /// How the learning rate changes
    #[arg(long, value_name = "divide|cosine", value_parser = parse_word::<ScheduleName>)]
    schedule: Option<ScheduleName>,
    /// What the rate is divided by after every epoch
    #[arg(long, value_name = "N")]
    divide_by: Option<f32>,
    /// Share of all steps in which the rate rises
    #[arg(long, value_name = "SHARE")]
    warm_up: Option<f32>,
    /// The rate never falls below this
    #[arg(long, value_name = "RATE")]
    floor: Option<f32>,
    /// Weight decay
    #[arg(long, value_name = "N")]
    weight_decay: Option<f32>,
    /// Longest gradient; 0 for any
    #[arg(long, value_name = "LENGTH")]
    clip: Option<f32>,
    /// Decay of the moving average of weights; 0 for none
    #[arg(long, value_name = "DECAY")]
    average: Option<f32>,
    /// How often every pair is seen
    #[arg(long, value_name = "N")]
    pub(crate) epochs: Option<u32>,
    /// End after so many pairs
    #[arg(long, value_name = "N")]
    pub(crate) limit_pairs: Option<u64>,
    /// Decides the first weights and the order of pairs
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// bf16 where the CPU multiplies it (auto), or always one of them
    #[arg(long, value_name = "auto|f32|bf16", value_parser = parse_word::<Precision>)]
    precision: Option<Precision>,
    /// Pairs between two validations
    #[arg(long, value_name = "N")]
    pub(crate) validate_every: Option<u64>,
    /// Pairs of a validation on the way; 0 for all. The one at the end takes all
    #[arg(long, value_name = "N")]
    pub(crate) validation_pairs: Option<usize>,
    /// How model files store matrices
    #[arg(long, value_name = "f32|bf16|f16", value_parser = parse_word::<StorageName>)]
    storage: Option<StorageName>,
}

/// A word of a recipe, as TOML has it.
pub(crate) fn parse_word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = serde_json::Value::String(text.to_string());
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    match text {
        "formulanet" => Ok(Kind::Full),
        "basic" => Ok(Kind::Basic),
        _ => Err("expected formulanet or basic".into()),
    }
}

impl Changes {
    /// The recipe with these changes.
    pub(crate) fn apply(&self, recipe: &mut Recipe) {
        fn set<T: Copy>(place: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *place = value;
            }
        }
        let conditional = (self.conditional || self.unconditional).then_some(self.conditional);
        set(&mut recipe.model, self.model);
        set(&mut recipe.conditional, conditional);
        set(&mut recipe.dimension, self.dim);
        set(&mut recipe.steps, self.steps);
        set(&mut recipe.norm, self.norm);
        set(&mut recipe.pooling, self.pooling);
        set(&mut recipe.reads, self.reads);
        set(&mut recipe.meeting, self.meeting);
        set(&mut recipe.memory, self.memory);
        set(&mut recipe.forget, self.forget);
        set(&mut recipe.blur, self.blur);
        set(&mut recipe.neighbours, self.neighbours);
        recipe.marks |= self.marks;
        set(&mut recipe.dropout, self.dropout);
        set(&mut recipe.useful, self.useful);
        set(&mut recipe.random, self.random);
        set(&mut recipe.batch, self.batch);
        set(&mut recipe.group, self.group);
        set(&mut recipe.micro_batch, self.micro_batch);
        set(&mut recipe.optimiser, self.optimiser);
        set(&mut recipe.rate, self.rate);
        set(&mut recipe.schedule, self.schedule);
        set(&mut recipe.divide_by, self.divide_by);
        set(&mut recipe.warm_up, self.warm_up);
        set(&mut recipe.floor, self.floor);
        set(&mut recipe.weight_decay, self.weight_decay);
        set(&mut recipe.clip, self.clip);
        set(&mut recipe.average, self.average);
        set(&mut recipe.epochs, self.epochs);
        set(&mut recipe.limit_pairs, self.limit_pairs);
        set(&mut recipe.seed, self.seed);
        set(&mut recipe.precision, self.precision);
        set(&mut recipe.validate_every, self.validate_every);
        set(&mut recipe.validation_pairs, self.validation_pairs);
        set(&mut recipe.storage, self.storage);
    }
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let prepared = Prepared::open(&arguments.data)?;
    let (folder, recipe) = match &arguments.resume {
        Some(folder) => {
            let recipe = recipe_of(folder)?;
            let mut changed = recipe.clone();
            arguments.changes.apply(&mut changed);
            if changed != recipe {
                bail!("a resumed run keeps its recipe: leave the flags out, or begin another run with --out");
            }
            (folder.clone(), recipe)
        }
        None => {
            let mut recipe = match (&arguments.recipe, arguments.preset) {
                (Some(file), _) => {
                    let text = fs::read_to_string(file)
                        .with_context(|| format!("cannot read `{}`", file.display()))?;
                    toml::from_str(&text).with_context(|| format!("{}", file.display()))?
                }
                (None, preset) => preset.recipe(),
            };
            arguments.changes.apply(&mut recipe);
            (arguments.out.clone().context("expected --out")?, recipe)
        }
    };
    let options = RunOptions {
        threads: arguments.threads.unwrap_or_else(|| processes::threads(group())).max(1),
        most_time: arguments
            .max_minutes
            .map(|minutes| Duration::from_secs_f64(60.0 * minutes.clamp(0.0, 1e6))),
        checkpoint_every: Duration::from_secs(arguments.checkpoint_every),
        log_every: arguments.log_every.max(1),
        resumes: arguments.resume.is_some(),
        group: group(),
    };
    let mut view = View::new(arguments.format);
    let first = arguments.init.as_deref().map(TrainedModel::load).transpose()?;
    if !speaks() {
        train::train_from(first.as_ref(), &prepared, &recipe, &folder, &options, &mut Listener)?;
        return Ok(());
    }
    let outcome = train::train_from(first.as_ref(), &prepared, &recipe, &folder, &options, &mut view);
    view.bar.finish_and_clear();
    let mut out = io::stdout().lock();
    match outcome? {
        Outcome::Finished(validation) => {
            let Output::Text = arguments.format else { return Ok(()) };
            if let Some(validation) = validation {
                let (accuracy, pairs) = (100.0 * validation.accuracy, validation.pairs);
                writing(match &validation.ranking {
                    Some(ranking) => write!(out, "held-out conjectures, all premises ranked\n{ranking}"),
                    None => writeln!(out, "validation accuracy {accuracy:.2} % of {pairs} held-out pairs"),
                })?;
            }
            writing(writeln!(out, "wrote {}", folder.join("model.safetensors").display()))
        }
        Outcome::Stopped(step) => {
            let (data, folder) = (arguments.data.display(), folder.display());
            eprintln!(
                "stopped after {step} batches; go on with: formulanet train --data {data} --resume {folder}"
            );
            Ok(())
        }
    }
}

/// The recipe of a run that goes on. Other processes need not see the folder.
fn recipe_of(folder: &Path) -> Result<Recipe> {
    let text = if speaks() { toml::to_string(&train::recipe_of(folder)?)? } else { String::new() };
    let text = String::from_utf8(processes::from_first(group(), text.into_bytes()))?;
    Ok(toml::from_str(&text)?)
}

/// A process that says nothing, and stops when it is told to.
struct Listener;

impl Watcher for Listener {
    fn begin(&mut self, _: &Plan) {}

    fn step(&mut self, _: u64) {}

    fn line(&mut self, _: &Line) {}

    fn is_stopped(&self) -> bool {
        stopped().load(std::sync::atomic::Ordering::SeqCst)
    }
}

/// What people see of a run: a bar on a terminal, otherwise a line now and then.
struct View {
    format: Output,
    bar: ProgressBar,
    plan: Option<Plan>,
}

impl View {
    fn new(format: Output) -> Self {
        let bar = if io::stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} batches, {eta} left\n{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        View { format, bar, plan: None }
    }
}

impl Watcher for View {
    fn begin(&mut self, plan: &Plan) {
        self.bar.set_length(plan.total);
        self.bar.set_position(plan.first);
        self.bar.reset_eta();
        eprintln!(
            "{} training pairs, {} for validation on the way; {} batches of {}{}; {} weights; {}",
            plan.pairs,
            plan.validation_pairs,
            plan.total,
            plan.batch,
            if plan.first > 0 { format!(", going on after {}", plan.first) } else { String::new() },
            plan.weights,
            match plan.processes {
                1 => plan.compute.clone(),
                number => format!("{number} processes, {}", plan.compute),
            }
        );
        self.plan = Some(plan.clone());
    }

    fn step(&mut self, step: u64) {
        self.bar.set_position(step);
    }

    fn line(&mut self, line: &Line) {
        let mut out = io::stdout().lock();
        // Nobody reading the lines is no reason to stop training.
        let _ = match self.format {
            Output::Json => writeln!(out, "{}", serde_json::to_string(line).unwrap_or_default()),
            Output::Text => {
                let text = self.text(line);
                self.bar.set_message(text.clone());
                match (&line.validation, self.bar.is_hidden()) {
                    (None, false) => Ok(()),
                    _ => self.bar.suspend(|| writeln!(out, "{text}")),
                }
            }
        };
    }

    fn is_stopped(&self) -> bool {
        stopped().load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl View {
    fn text(&self, line: &Line) -> String {
        let percent = |shares: &[f64]| {
            shares.iter().map(|share| format!("{:.1}", 100.0 * share)).collect::<Vec<_>>().join(" ")
        };
        let total = self.plan.as_ref().map_or(0, |plan| plan.total);
        let left = line.seconds / line.step.max(1) as f64 * total.saturating_sub(line.step) as f64;
        let mut text = format!(
            "{:>6}/{total} epoch {:.2}  {:.0} pairs/s  loss {:.3}  accuracy {} %  rate {:.1e}  {:.0} min left",
            line.step,
            line.epoch,
            line.speed,
            line.loss.last().unwrap_or(&0.0),
            percent(&line.accuracy),
            line.rate,
            left / 60.0
        );
        if let Some(train::Validation { ranking: Some(ranking), .. }) = &line.validation {
            let recall = |at: usize| ranking.recall_at.get(&at).copied().unwrap_or(0.0);
            text += &format!(
                "\n       validation of {}: recall@16 {:.4}, @32 {:.4}, @64 {:.4}, full@64 {:.4}, MRR {:.4}, MAP {:.4}",
                ranking.queries,
                recall(16),
                recall(32),
                recall(64),
                ranking.full_recall_at.get(&64).copied().unwrap_or(0.0),
                ranking.mean_reciprocal_rank,
                ranking.mean_average_precision
            );
        } else if let Some(validation) = &line.validation {
            text += &format!(
                "\n       validation {:.2} % of {} (steps {} %), loss {:.3}",
                100.0 * validation.accuracy,
                validation.pairs,
                percent(&validation.steps),
                validation.loss
            );
        }
        text
    }
}
