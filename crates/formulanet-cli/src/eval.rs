//! `formulanet eval`: how good a model, or a simple baseline, is on labelled pairs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use formulanet::data::{self, Labels, Options, Prepared, Split, Validation};
use formulanet::logic::View;
use formulanet::measure::baselines::{Baseline, LibraryBaseline, Options as BaselineOptions};
use formulanet::measure::evaluate::{Predictions, TokenMap, Watch, pairs_of, predict};
use formulanet::measure::metrics::{Ranking, Report, evaluate, report_html, roc_points};
use formulanet::measure::premises::rank_premises;
use formulanet::model::TrainedModel;
use formulanet::net::Network;
use formulanet::processes;
use indicatif::{ProgressBar, ProgressStyle};

use crate::input::{ComputeArguments, writing};
use crate::processes::{group, speaks};
use crate::progress::{Bar, stopped};

/// Measure a model on labelled pairs
///
/// Prints accuracy, precision, recall, F1, the area under the ROC curve, the accuracy of every step's classifier and of
/// their vote, how the statements of a conjecture are ranked, and calibration. With --baseline, measures what a user
/// would try first instead of a model.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet eval --model run/model.safetensors --data holstep\n  \
    formulanet eval --model run/model.safetensors --data holstep.tgz --split test --format json\n  \
    formulanet eval --baseline seen --data holstep --report seen.html")]
pub(crate) struct Arguments {
    /// A model file of `formulanet train`, or a shipped model (holstep, hol-premises, mizar, mizar-premises)
    #[arg(long, value_name = "MODEL", required_unless_present_any = ["baseline", "library_baseline"])]
    model: Option<String>,
    /// A folder of `formulanet prepare`, or a raw HolStep, DeepMath or JSON Lines directory, archive or file
    #[arg(long, value_name = "PATH")]
    data: PathBuf,
    /// Which pairs; by default validation of a prepared folder, and everything of raw data
    #[arg(long, value_enum)]
    split: Option<Part>,
    /// A simple method instead of a model, trained on the training split of the prepared folder
    #[arg(long, value_name = "NAME", conflicts_with = "model", value_parser = parse_baseline)]
    baseline: Option<Baseline>,
    /// A simple way to rank all named premises for every conjecture, instead of a model
    #[arg(long, value_name = "NAME", conflicts_with_all = ["model", "baseline"], value_parser = parse_library_baseline)]
    library_baseline: Option<LibraryBaseline>,
    /// Measure a sample of so many pairs, the same in every run
    #[arg(long, value_name = "N")]
    limit_pairs: Option<usize>,
    /// Write a page with tables and curves
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write every prediction: conjecture, truth and the probability by every step's classifier, separated by tabs
    #[arg(long, value_name = "FILE.tsv")]
    predictions: Option<PathBuf>,
    /// Leave out statements of raw data that cannot be read
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    compute: ComputeArguments,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// What training saw
    Train,
    /// What was held out
    Validation,
    /// What the makers of the data kept apart
    Test,
    /// Everything
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Tables.
    Text,
    /// One object.
    Json,
}

fn parse_baseline(text: &str) -> Result<Baseline, String> {
    let names = || Baseline::ALL.map(Baseline::name).join(", ");
    let found = Baseline::ALL.into_iter().find(|baseline| baseline.name() == text);
    found.ok_or_else(|| format!("expected one of {}", names()))
}

fn parse_library_baseline(text: &str) -> Result<LibraryBaseline, String> {
    let names = || LibraryBaseline::ALL.map(LibraryBaseline::name).join(", ");
    let found = LibraryBaseline::ALL.into_iter().find(|baseline| baseline.name() == text);
    found.ok_or_else(|| format!("expected one of {}", names()))
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let threads = arguments.compute.threads();
    let trained = arguments.model.as_deref().map(TrainedModel::named).transpose()?;
    let data = Data::open(&arguments, trained.as_ref().map(|trained| trained.origin.view), threads)?;
    let splits: &[Split] = match arguments.split {
        Some(Part::Train) => &[Split::Train],
        Some(Part::Validation) => &[Split::Validation],
        Some(Part::Test) => &[Split::Test],
        Some(Part::All) => &Split::ALL,
        None if data.is_raw() => &Split::ALL,
        None => &[Split::Validation],
    };
    match &trained {
        Some(trained) => agree(trained, &data.prepared, &arguments)?,
        // Baselines take seconds, and one process is enough.
        None if !speaks() => return Ok(()),
        None => {}
    }
    if let Some(baseline) = arguments.library_baseline {
        let ranking = baseline.rank(&data.prepared, splits[0], &BaselineOptions::default())?;
        return print_ranking(&ranking, arguments.format);
    }
    if let Some(trained) = trained.as_ref().filter(|trained| trained.ranks()) {
        let ranking = of_ranker(trained, &data.prepared, splits, &arguments)?;
        if !speaks() {
            return Ok(());
        }
        return print_ranking(&ranking, arguments.format);
    }
    let (title, predictions) = match (trained, arguments.baseline) {
        (Some(trained), _) => {
            let title = arguments.model.clone().unwrap_or_default();
            (title.clone(), of_model(trained, &title, &data.prepared, splits, &arguments)?)
        }
        (None, Some(baseline)) => {
            let [split] = splits else { bail!("expected --split train, validation or test for a baseline") };
            let options = BaselineOptions {
                evaluated_pairs: arguments.limit_pairs.unwrap_or(0),
                ..BaselineOptions::default()
            };
            let last = baseline.predict(&data.prepared, *split, &options)?;
            (baseline.name().to_string(), Predictions { last, steps: Vec::new() })
        }
        (None, None) => bail!("expected --model or --baseline"),
    };
    if !speaks() {
        return Ok(());
    }
    if let Some(path) = &arguments.predictions {
        fs::write(path, table(&data.prepared, &predictions))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let report = evaluate(&predictions.last, &predictions.steps)?;
    if let Some(path) = &arguments.report {
        let page = report_html(&title, &report, &roc_points(&predictions.last, 400)?);
        fs::write(path, page).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    print(&report, arguments.format)
}

/// Refuses processes that would not say the same.
fn agree(trained: &TrainedModel, prepared: &Prepared, arguments: &Arguments) -> Result<()> {
    if group().size() == 1 {
        return Ok(());
    }
    let facts = [
        ("program", processes::program().to_owned()),
        ("kind of CPU", arguments.compute.compute().instructions().to_owned()),
        ("model", trained.fingerprint()),
        ("data", format!("one with digest {:016x}", prepared.digest())),
    ];
    Ok(processes::agree(group(), &facts)?)
}

/// A line for every prediction; those of a baseline have one probability.
fn table(prepared: &Prepared, predictions: &Predictions) -> String {
    let classifiers = predictions.steps.len() / predictions.last.len().max(1);
    let mut text = String::new();
    for (i, prediction) in predictions.last.iter().enumerate() {
        let name = prepared.conjecture(prediction.conjecture as usize).name;
        text += &format!("{name}\t{}", u8::from(prediction.is_useful));
        let steps = &predictions.steps[i * classifiers..][..classifiers];
        for score in if steps.is_empty() { std::slice::from_ref(&prediction.score) } else { steps } {
            text += &format!("\t{score}");
        }
        text.push('\n');
    }
    text
}

fn print_ranking(ranking: &Ranking, format: Output) -> Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Output::Json => writing(writeln!(out, "{}", serde_json::to_string(ranking)?)),
        Output::Text => writing(writeln!(out, "{ranking}")),
    }
}

fn of_ranker(
    trained: &TrainedModel,
    prepared: &Prepared,
    splits: &[Split],
    arguments: &Arguments,
) -> Result<Ranking> {
    if arguments.report.is_some() {
        bail!("a model that ranks premises has no ROC curve to report; leave --report out");
    }
    let map = TokenMap::new(prepared.vocabulary(), &trained.vocabulary, "model")?;
    let network = Network::new(trained.model.clone(), arguments.compute.compute());
    let watch = PairBar::new();
    let ranking = rank_premises(&network, &trained.known(), prepared, &map, splits, &watch);
    watch.0.finish_and_clear();
    Ok(ranking?)
}

fn print(report: &Report, format: Output) -> Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Output::Json => writing(writeln!(out, "{}", serde_json::to_string(report)?)),
        Output::Text => writing(write!(out, "{report}")),
    }
}

fn of_model(
    trained: TrainedModel,
    name: &str,
    prepared: &Prepared,
    splits: &[Split],
    arguments: &Arguments,
) -> Result<Predictions> {
    let mut pairs: Vec<u32> =
        splits.iter().flat_map(|&split| pairs_of(prepared, split, arguments.limit_pairs, 0)).collect();
    pairs.truncate(arguments.limit_pairs.unwrap_or(usize::MAX));
    if pairs.is_empty() {
        let counts = Split::ALL.map(|split| pairs_of(prepared, split, None, 0).len());
        bail!(
            "expected pairs to measure, found none: there are {} for training, {} for validation and {} for test; \
             choose others with --split",
            counts[0],
            counts[1],
            counts[2]
        );
    }
    let map = TokenMap::new(prepared.vocabulary(), &trained.vocabulary, name)?;
    let compute = arguments.compute.compute();
    let network = Network::new(trained.model.clone(), compute);
    let watch = PairBar::new();
    let predictions = predict(&network, &trained.seen, prepared, &map, &pairs, &watch);
    watch.0.finish_and_clear();
    Ok(predictions?)
}

/// A bar of pairs.
struct PairBar(ProgressBar);

impl PairBar {
    fn new() -> Self {
        let bar = if speaks() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} pairs, {per_sec}, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        PairBar(bar)
    }
}

impl Watch for PairBar {
    fn done(&self, pairs: usize, of: usize) {
        self.0.set_length(of as u64);
        self.0.set_position(pairs as u64);
    }

    fn is_stopped(&self) -> bool {
        stopped().load(Ordering::SeqCst)
    }
}

/// Prepared data, or raw data that was prepared for the occasion.
struct Data {
    prepared: Prepared,
    /// Removed when the evaluation is over.
    folder: Option<tempfile::TempDir>,
}

impl Data {
    fn open(arguments: &Arguments, view: Option<View>, threads: usize) -> Result<Self> {
        let path = &arguments.data;
        if path.join("meta.json").is_file() {
            let prepared = Prepared::open(path)?;
            prepared.verify()?;
            let found = prepared.meta().options.view;
            if let Some(expected) = view.filter(|&view| view != found) {
                let name =
                    |view| View::ALL.iter().find(|(_, known)| *known == view).map_or("", |(name, _)| name);
                bail!(
                    "the model reads the view `{}`, and {} has the view `{}`; prepare it with --view {}",
                    name(expected),
                    path.display(),
                    name(found),
                    name(expected)
                );
            }
            return Ok(Data { prepared, folder: None });
        }
        let Some(view) = view else {
            bail!(
                "a baseline learns from the training split of a prepared folder: run `formulanet prepare` first"
            );
        };
        Self::prepare(path, view, arguments.keep_going, threads)
    }

    fn prepare(path: &Path, view: View, keep_going: bool, threads: usize) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let options = Options {
            view,
            validation: Validation::Number(0),
            labels: Labels::All,
            keep_going,
            ..Options::default()
        };
        let out = folder.path().join("prepared");
        let bar = Bar::new();
        let outcome = data::prepare(path, &out, None, &options, threads, &bar);
        drop(bar);
        if let data::Outcome::Written(meta, skipped) = outcome?
            && !skipped.is_empty()
            && speaks()
        {
            eprintln!("left out {} of {} statements", skipped.len(), meta.counts.pairs + skipped.len());
        }
        Ok(Data { prepared: Prepared::open(&out)?, folder: Some(folder) })
    }

    fn is_raw(&self) -> bool {
        self.folder.is_some()
    }
}
