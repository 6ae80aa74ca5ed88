//! `formulanet eval`: how good a model is on labelled pairs.

mod theory;
mod together;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use formulanet::Symbols;
use formulanet::logic::View;
use formulanet::model::{ModelFile, ModelKind};
use formulanet::net::Network;
use formulanet_train::dataset::{self, HoldOut, Labels, Options, Preparation, Prepared, Split};
use formulanet_train::eval::{
    Predictions, TokenMap, evaluate, pairs_of, predict, rank_premises, report_html, roc_points,
};
use formulanet_train::processes;

use crate::input::{ComputeArguments, at_least_one, one_of};
use crate::output::{Output, write_file};
use crate::processes::{group, speaks};
use crate::progress::Bar;
use crate::usage::refuse_given;
use together::Facts;

/// Evaluate a model, or ranking by a library's proofs
///
/// For a classifier or re-ranker: accuracy, precision, recall, F1, AUC, calibration, ranking of a conjecture's statements, and
/// accuracy after each step. For a retriever: recall, full recall, MRR and MAP. The scores of a re-ranker depend on the other
/// statements of the list.
///
/// With --theory: evaluates methods that rank the facts of a library by its own proofs.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet eval --model run/model.safetensors --data holstep\n  \
    formulanet eval --model run/model.safetensors --data holstep.tgz --split test --format json\n  \
    formulanet eval --theory theory.jsonl --test-last 5")]
pub(crate) struct Arguments {
    /// Model file, its directory, or the name of a built-in model
    #[arg(long, value_name = "MODEL", required_unless_present = "theory")]
    model: Option<String>,
    /// Directory written by `formulanet prepare`; or a HolStep, DeepMath or JSON Lines directory, archive or file
    #[arg(long, value_name = "PATH", required_unless_present = "theory")]
    data: Option<PathBuf>,
    /// Pairs to evaluate [default: validation for prepared data, all otherwise]
    #[arg(long, value_enum)]
    split: Option<Part>,
    /// Evaluate at most N pairs, the same ones in every run
    #[arg(long, value_name = "N")]
    limit_pairs: Option<usize>,
    /// Write an HTML page with tables and curves
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write every prediction as tab-separated values with a header: conjecture, statement, truth, probability by each
    /// step's classifier
    #[arg(long, value_name = "FILE.tsv")]
    predictions: Option<PathBuf>,
    /// For re-rankers: evaluate on random lists of N statements
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    group_size: Option<usize>,
    /// For re-rankers: drop statements at random until this share of a list is useful
    #[arg(long, value_name = "SHARE", value_parser = between_zero_and_one)]
    useful_share: Option<f32>,
    /// For re-rankers: use the names of symbols, or ignore them
    #[arg(long, value_name = "SYMBOLS", default_value = "named", value_parser = one_of(&SYMBOLS))]
    symbols: Symbols,
    /// Skip statements of raw data that cannot be read
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    theory: theory::TheoryArguments,
    #[command(flatten)]
    compute: ComputeArguments,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

/// Values of `--symbols`.
static SYMBOLS: [(&str, Symbols); 2] = [("named", Symbols::Named), ("anonymous", Symbols::Anonymous)];

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Training pairs
    Train,
    /// Pairs held out from training
    Validation,
    /// Test pairs of the data set's authors
    Test,
    /// All pairs
    All,
}

impl Part {
    fn splits(self) -> &'static [Split] {
        match self {
            Part::Train => &[Split::Train],
            Part::Validation => &[Split::Validation],
            Part::Test => &[Split::Test],
            Part::All => &Split::ALL,
        }
    }
}

impl Arguments {
    /// The data, which is there unless a theory is measured.
    fn data(&self) -> Result<&Path> {
        self.data.as_deref().context("expected --data")
    }

    fn model(&self) -> &str {
        self.model.as_deref().unwrap_or_default()
    }
}

fn between_zero_and_one(text: &str) -> Result<f32, String> {
    let is_between = |&share: &f32| share > 0.0 && share < 1.0;
    text.parse().ok().filter(is_between).ok_or_else(|| "expected a number between 0 and 1".to_owned())
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if arguments.theory.is_given() {
        return theory::run(&arguments);
    }
    let trained = match ModelKind::named(arguments.model())? {
        ModelKind::Joint(file) => return together::run(&file, &arguments),
        ModelKind::Pairwise(trained) => *trained,
    };
    let flags = [
        ("--group-size", arguments.group_size.is_some()),
        ("--useful-share", arguments.useful_share.is_some()),
        ("--symbols", arguments.symbols != Symbols::Named),
    ];
    refuse_given(&flags, "a model that reads statements one by one")?;
    if trained.ranks() {
        let flags = [
            ("--report", arguments.report.is_some()),
            ("--predictions", arguments.predictions.is_some()),
            ("--limit-pairs", arguments.limit_pairs.is_some()),
        ];
        refuse_given(&flags, "a model that ranks premises")?;
    }
    let data = Data::open(&arguments, trained.origin.view)?;
    let prepared = &data.prepared;
    let usual = if data.is_raw() { Part::All } else { Part::Validation };
    let splits = arguments.split.unwrap_or(usual).splits();
    agree(&trained, prepared, &arguments)?;
    let map = TokenMap::new(prepared.vocabulary(), &trained.vocabulary, arguments.model())?;
    let network = Network::new(trained.model.clone(), arguments.compute.compute());
    if trained.ranks() {
        let ranking =
            rank_premises(&network, &trained.prior_knowledge(), prepared, &map, splits, &Bar::new())?;
        return if speaks() { arguments.format.print(format!("{ranking}\n"), &ranking) } else { Ok(()) };
    }
    let pairs = chosen(prepared, splits, arguments.limit_pairs)?;
    let predictions = predict(&network, &trained.seen, prepared, &map, &pairs, &Bar::new())?;
    let name = |conjecture: u32| prepared.conjecture(conjecture as usize).name;
    if speaks() { report(arguments.model(), &predictions, &name, None, &arguments) } else { Ok(()) }
}

/// Writes and prints what predictions are worth.
fn report<'a>(
    title: &str,
    predictions: &Predictions,
    name: &dyn Fn(u32) -> &'a str,
    company: Option<&Facts>,
    arguments: &Arguments,
) -> Result<()> {
    if let Some(path) = &arguments.predictions {
        write_file(path, table(name, predictions))?;
    }
    let report = evaluate(&predictions.last, &predictions.steps)?;
    if let Some(path) = &arguments.report {
        let about = [
            ("model", title.to_owned()),
            ("data", arguments.data()?.display().to_string()),
            ("split", split_name(arguments)),
            ("date", formulanet_train::today()),
        ];
        write_file(path, report_html(title, &about, &report, &roc_points(&predictions.last, 400)?))?;
    }
    let Some(company) = company else { return arguments.format.print(&report, &report) };
    let mut value = serde_json::to_value(&report)?;
    company.add_to(&mut value);
    arguments.format.print(company.text() + &report.to_string(), &value)
}

/// Which pairs were measured, in words.
fn split_name(arguments: &Arguments) -> String {
    let split = arguments.split.and_then(|split| split.to_possible_value());
    let split = split.map(|split| split.get_name().to_owned()).unwrap_or_else(|| {
        let is_prepared = arguments.data.as_deref().is_some_and(|data| data.join("meta.json").is_file());
        if is_prepared { "validation" } else { "all" }.to_owned()
    });
    match arguments.limit_pairs {
        Some(most) => format!("{split}, at most {most} pairs"),
        None => split,
    }
}

/// Refuses processes that would compute different results.
fn agree(trained: &ModelFile, prepared: &Prepared, arguments: &Arguments) -> Result<()> {
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

/// A header, and a line for every prediction; Statements have no names in most
/// data: they are numbered, for every conjecture from 1.
fn table<'a>(name: &dyn Fn(u32) -> &'a str, predictions: &Predictions) -> String {
    let classifiers = predictions.steps.len() / predictions.last.len().max(1);
    let mut text = String::from("conjecture\tstatement\tuseful");
    match classifiers {
        0 | 1 => text += "\tprobability",
        _ => text.extend((0..classifiers).map(|step| format!("\tafter_step_{step}"))),
    }
    text.push('\n');
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    for (i, prediction) in predictions.last.iter().enumerate() {
        let name = name(prediction.conjecture);
        let number = numbers.entry(prediction.conjecture).or_default();
        *number += 1;
        text += &format!("{name}\t{number}\t{}", u8::from(prediction.is_useful));
        let steps = &predictions.steps[i * classifiers..][..classifiers];
        for score in if steps.is_empty() { std::slice::from_ref(&prediction.score) } else { steps } {
            text += &format!("\t{score}");
        }
        text.push('\n');
    }
    text
}

/// The pairs to measure.
fn chosen(prepared: &Prepared, splits: &[Split], limit: Option<usize>) -> Result<Vec<u32>> {
    let mut pairs: Vec<u32> = splits.iter().flat_map(|&split| pairs_of(prepared, split, limit, 0)).collect();
    pairs.truncate(limit.unwrap_or(usize::MAX));
    if pairs.is_empty() {
        let [train, validation, test] = Split::ALL.map(|split| pairs_of(prepared, split, None, 0).len());
        bail!(
            "expected pairs to measure, found none: there are {train} for training, {validation} for validation and \
             {test} for test; choose others with --split"
        );
    }
    Ok(pairs)
}

/// Prepared data, or raw data that was prepared for the occasion.
struct Data {
    prepared: Prepared,
    /// Removed when the evaluation is over.
    folder: Option<tempfile::TempDir>,
}

impl Data {
    /// Opens a prepared folder, or prepares raw data for a model that reads this view.
    fn open(arguments: &Arguments, view: View) -> Result<Self> {
        let path = arguments.data()?;
        if path.join("meta.json").is_file() {
            refuse_given(&[("--keep-going", arguments.keep_going)], "a prepared folder")?;
            let prepared = Prepared::open(path)?;
            prepared.verify()?;
            let found = prepared.meta().options.view;
            if view != found {
                let (shown, expected, found) = (path.display(), view.name(), found.name());
                bail!(
                    "{shown}: expected the model's view `{expected}`, found `{found}`; prepare it with --view {expected}"
                );
            }
            return Ok(Data { prepared, folder: None });
        }
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let options = Options {
            view,
            validation: HoldOut::Number(0),
            labels: Labels::All,
            keep_going: arguments.keep_going,
            ..Options::default()
        };
        let out = folder.path().join("prepared");
        let prepared =
            dataset::prepare(path, &out, None, &options, arguments.compute.threads(), &Bar::new())?;
        if let Preparation::Written(meta, skipped) = prepared
            && skipped.count > 0
            && speaks()
        {
            tell!("skipped {} of {} statements", skipped.count, meta.counts.pairs + skipped.count);
        }
        Ok(Data { prepared: Prepared::open(&out)?, folder: Some(folder) })
    }

    fn is_raw(&self) -> bool {
        self.folder.is_some()
    }
}
