//! `formulanet prove`: from a problem to a proof.

mod prover;
mod race;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use formulanet::model::shipped;
use formulanet::processes::{self, Alone};
use formulanet::rank::{
    Candidates, EmbeddedAxioms, Library, Order, Pace, Problem, Question, Ranked, Ranker, Reading, Selection,
    Stored, Trust, Wishes, order,
};
use formulanet::read::{Proof, Source, Statement, Syntax};
use formulanet::{Progress, Stage};
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormulaArguments, LimitArguments, ModelArgument, ReadingArguments, counted, writing,
};
use crate::output::Output;
use crate::progress::Bar;
use crate::usage::wrong;
use prover::{Prover, is_proved, is_refuted, used};
use race::{Attempted, End, attempt, race};

/// Prove TPTP problems with the axioms that are most likely to help
///
/// Selects axioms, and lets the provers of this machine try with a few and with many of them, as many at once as there are
/// cores, until one finds a proof. Prints the SZS status, the proof and the axioms that it used.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet prove big.p\n  \
    formulanet prove big.p --time 60 --minimize\n  \
    formulanet prove big.p --prover 'eprover --auto --proof-object --cpu-limit={seconds} {file}'\n\n\
    Known provers are eprover, vampire, zipperposition, cvc5 and z3_tptp, if PATH has them.")]
pub(crate) struct Arguments {
    /// The problems; `-` is standard input
    #[arg(required_unless_present = "library")]
    problems: Vec<String>,
    /// Prove from the statements of a library in TPTP's syntax
    #[arg(long, value_name = "FILE", conflicts_with = "problems")]
    library: Option<PathBuf>,
    /// What to prove from the library, or `@FILE`
    #[arg(long, value_name = "FORMULA", requires = "library")]
    conjecture: Option<String>,
    /// Prove this statement of the library from what comes before it
    #[arg(long, value_name = "NAME", requires = "library", conflicts_with = "conjecture")]
    name: Option<String>,
    /// Learn from the proof of a statement of the library
    #[arg(long, requires = "name")]
    learn: bool,
    /// Try at most this many seconds for a problem
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    time: f64,
    /// Call this prover instead of the known ones; `{file}` and `{seconds}` stand for what they say
    #[arg(long, value_name = "COMMAND")]
    prover: Vec<String>,
    /// Keep at most K axioms; several numbers, separated by commas [default: a schedule of 8 to 1024]
    #[arg(short = 'k', value_name = "K", value_delimiter = ',')]
    most: Vec<usize>,
    /// Try to do with fewer axioms once there is a proof
    #[arg(long)]
    minimize: bool,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    together: ReadingArguments,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Some of the best axioms for some time.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Slice {
    most: usize,
    /// Which order they are the best in: 0 by model and reader, 1 by what formulas say alone.
    order: usize,
    /// How long it may take, beside others.
    weight: f64,
}

const fn slice(most: usize, order: usize, weight: f64) -> Slice {
    Slice { most, order, weight }
}

/// What is tried one after the other. Most proofs that are found at all are found in a second, with the right number of axioms:
/// so there are many slices and none is long.
const SCHEDULE: [Slice; 16] = [
    slice(64, 0, 2.0),
    slice(16, 0, 1.0),
    slice(128, 0, 3.0),
    slice(32, 0, 2.0),
    slice(256, 0, 4.0),
    slice(8, 0, 1.0),
    slice(64, 1, 2.0),
    slice(48, 0, 2.0),
    slice(16, 1, 1.0),
    slice(512, 0, 5.0),
    slice(24, 0, 2.0),
    slice(96, 0, 3.0),
    slice(256, 1, 4.0),
    slice(192, 0, 4.0),
    slice(1024, 0, 7.0),
    slice(64, 0, 9.0),
];

/// A problem that is to be proved.
struct Task {
    /// What it is called.
    name: String,
    problem: Problem,
    /// Axioms, the best first, in each of the orders.
    orders: [Vec<Ranked>; 2],
}

/// What came of it.
#[derive(Serialize)]
struct Outcome {
    problem: String,
    /// By the SZS ontology.
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    prover: Option<String>,
    /// How many axioms the prover had.
    #[serde(skip_serializing_if = "Option::is_none")]
    axioms: Option<usize>,
    seconds: f64,
    /// The axioms that the proof used.
    premises: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

/// Everything that attempts share.
struct Provers {
    provers: Vec<Prover>,
    threads: usize,
    bar: Bar,
    folder: tempfile::TempDir,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if !(arguments.time > 0.0 && arguments.time <= 1e6) {
        return Err(wrong("expected --time to be above 0"));
    }
    if arguments.library.is_some() && arguments.conjecture.is_none() && arguments.name.is_none() {
        return Err(wrong("say what to prove from the library: --conjecture FORMULA or --name NAME"));
    }
    let given =
        arguments.prover.iter().map(|command| Prover::of_command(command).map_err(|error| wrong(&error)));
    let mut provers = given.collect::<Result<Vec<_>>>()?;
    if provers.is_empty() {
        provers = Prover::found();
    }
    if provers.is_empty() {
        bail!(
            "no prover is there: install eprover, vampire, zipperposition or cvc5, or give one with --prover"
        );
    }
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let provers = Provers { provers, threads: processes::threads(&Alone), bar: Bar::new(), folder };
    let library = arguments.library.as_deref().map(Library::open).transpose()?;
    let together = (&arguments.together, shipped::reads(Syntax::Tptp));
    let computing = (&arguments.compute, arguments.limits.limits());
    let model = shipped::for_syntax(Syntax::Tptp);
    let (ranker, reading) = arguments.model.selector(model, library.as_ref(), together, computing)?;
    let (mut embedded, mut missed) = (EmbeddedAxioms::new(&ranker), 0);
    let inputs: Vec<Option<&String>> = match library {
        Some(_) => vec![None],
        None => arguments.problems.iter().map(Some).collect(),
    };
    for input in &inputs {
        let start = Instant::now();
        let task = match (input, &library) {
            (Some(file), _) => read(file, &ranker, reading.as_ref(), &mut embedded)?,
            (None, Some(library)) => from_library(&arguments, library, &ranker, reading.as_ref())?,
            (None, None) => continue,
        };
        let outcome = prove(&task, &arguments, &provers, start)?;
        missed += usize::from(!is_proved(&outcome.status));
        if let (true, true, Some(name), Some(path)) =
            (arguments.learn, is_proved(&outcome.status), &arguments.name, &arguments.library)
        {
            let proof =
                Proof { name: name.clone(), used: outcome.premises.clone(), place: "proof".to_owned() };
            Library::open(path)?.learn(&[proof], false)?;
        }
        show(&outcome, arguments.format)?;
    }
    match missed {
        0 => Ok(()),
        _ if provers.bar.is_stopped() => bail!("stopped"),
        _ => bail!("{} of {} not proved", missed, counted(inputs.len(), "problem")),
    }
}

/// Reads a problem and ranks its axioms.
fn read(
    file: &str,
    ranker: &Ranker,
    reading: Option<&Reading>,
    embedded: &mut EmbeddedAxioms,
) -> Result<Task> {
    let kept = ["hypothesis", "assumption"].map(str::to_owned);
    let problem = Problem::read(Source::open(file)?, ranker, &kept)?;
    let mut scores = problem.scores_with(ranker, embedded);
    if let Some(reading) = reading {
        problem.rescore(reading, ranker, (&mut scores, Trust::Both))?;
    }
    let mut nameless = problem.nameless_scores(ranker)?;
    if let Some(reading) = reading {
        problem.rescore(reading, ranker, (&mut nameless, Trust::Reader))?;
    }
    let orders = [scores, nameless].map(|scores| order(&scores, |i| problem.axiom_name(i)));
    Ok(Task { name: file.to_owned(), problem, orders })
}

/// The best statements of a library as a problem.
fn from_library(
    arguments: &Arguments,
    library: &Library,
    ranker: &Ranker,
    reading: Option<&Reading>,
) -> Result<Task> {
    if library.syntax()? != Syntax::Tptp {
        bail!("expected a library in TPTP's syntax, found one in that of HOL Light: no prover reads it");
    }
    let (mut question, conjecture, name) = match (&arguments.conjecture, &arguments.name) {
        (_, Some(name)) => {
            let statement = library.statement(name)?;
            (Question::read(ranker, &statement)?, statement.text, name.clone())
        }
        (conjecture, None) => {
            let text = conjecture.as_deref().unwrap_or_default();
            let question = arguments.reading.question(text, Syntax::Tptp, ranker)?;
            let text = match text.strip_prefix('@') {
                Some(file) => fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?,
                None => text.to_owned(),
            };
            (question, text, "conjecture".to_owned())
        }
    };
    let wishes =
        Wishes { reading, own_name: arguments.name.clone(), order: Order::Probability, ..Wishes::default() };
    let mut candidates = Candidates::new(Some(Stored::OnDisk(library)), Vec::new());
    let scores = candidates.rank(ranker, &mut question, &wishes, &Pace::Free)?;
    let most = SCHEDULE.iter().map(|slice| slice.most).chain(arguments.most.iter().copied()).max();
    let selection = Selection { most: most.unwrap_or(0), ..Selection::default() };
    let (taken, _) = candidates.select(&selection, &scores, &Pace::Free)?;
    let mut text = String::new();
    for ranked in &taken {
        let Statement { name, text: formula, .. } = candidates.statement(ranked.statement)?;
        text += &annotated(&name, "axiom", &formula);
    }
    text += &annotated(&name, "conjecture", &conjecture);
    let problem = Problem::read(Source::text("library", text), ranker, &[])?;
    let ranks = (0..taken.len()).map(|statement| Ranked { statement, score: 1.0 - statement as f32 });
    let best: Vec<Ranked> = ranks.collect();
    Ok(Task { name, problem, orders: [best.clone(), best] })
}

/// A formula as TPTP has it in a file. One that has a name already gets this one.
fn annotated(name: &str, role: &str, text: &str) -> String {
    let text = text.trim();
    let is_whole = ["fof(", "cnf(", "tff(", "thf("].iter().any(|language| text.starts_with(language));
    let name = format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"));
    let inner = if is_whole { text.splitn(3, ',').nth(2).unwrap_or(text) } else { text };
    let language = if is_whole { &text[..3] } else { "fof" };
    match is_whole {
        true => format!("{language}({name}, {role}, {inner}\n"),
        false => format!("{language}({name}, {role}, {inner}).\n"),
    }
}

/// Tries to prove a problem.
fn prove(task: &Task, arguments: &Arguments, provers: &Provers, start: Instant) -> Result<Outcome> {
    let end = start + Duration::from_secs_f64(arguments.time);
    let is_over = || Instant::now() >= end || provers.bar.is_stopped();
    let attempts = attempts(task, arguments, provers, end);
    let (bar, name) = (&provers.bar, &task.name);
    bar.begin(Stage { name, done: 0, of: attempts.len() as u64, unit: "attempts" });
    let run = |tried: &Try<'_>, is_over: &(dyn Fn() -> bool + Sync)| {
        let left = end.saturating_duration_since(Instant::now());
        let file = provers.folder.path().join(format!("{}.p", tried.number));
        match fs::write(&file, task.problem.reduced(tried.axioms)) {
            Ok(()) => attempt(tried.prover, &file, tried.time.min(left), is_over),
            Err(error) => Attempted {
                end: End::Missing(format!("cannot write `{}`: {error}", file.display())),
                took: Duration::ZERO,
            },
        }
    };
    let refuted = std::sync::Mutex::new(None::<String>);
    let heard = |tried: &Try<'_>, attempted: &Attempted| {
        bar.advance(1);
        match &attempted.end {
            End::Missing(message) => bar.note(message),
            // What cannot be proved from all axioms cannot be proved.
            End::Said { status, .. } if is_refuted(status) && tried.axioms.len() == task.orders[0].len() => {
                if let Ok(mut refuted) = refuted.lock() {
                    *refuted = Some(status.clone());
                }
            }
            _ => {}
        }
    };
    let won = race(&attempts, provers.threads, &is_over, run, heard);
    bar.clear();
    let seconds = start.elapsed().as_secs_f64();
    let Some((number, Attempted { end: End::Said { status, output }, took })) = won else {
        let refuted = refuted.into_inner().ok().flatten();
        let status = refuted.unwrap_or_else(|| if is_over() { "Timeout" } else { "GaveUp" }.to_owned());
        let problem = task.name.clone();
        return Ok(Outcome {
            problem,
            status,
            prover: None,
            axioms: None,
            seconds,
            premises: Vec::new(),
            proof: None,
        });
    };
    let winner = &attempts[number];
    let mut found = Found { axioms: task.used(&output, winner.axioms), output };
    if arguments.minimize {
        found = minimize(task, winner.prover, found, took, provers, arguments.time)?;
    }
    let name = |ranked: &Ranked| task.problem.axiom_name(ranked.statement).to_owned();
    let mut premises: Vec<String> = found.axioms.iter().map(name).collect();
    premises.sort_unstable();
    Ok(Outcome {
        problem: task.name.clone(),
        status,
        prover: Some(winner.prover.name.clone()),
        axioms: Some(winner.axioms.len()),
        seconds,
        premises,
        proof: Some(prover::proof(&found.output).to_owned()),
    })
}

/// An attempt of one prover with some axioms.
struct Try<'a> {
    number: usize,
    prover: &'a Prover,
    axioms: &'a [Ranked],
    time: Duration,
}

/// All that is to be tried, in order. The time is shared by the weights of the slices.
fn attempts<'a>(task: &'a Task, arguments: &Arguments, provers: &'a Provers, end: Instant) -> Vec<Try<'a>> {
    let given: Vec<Slice> = arguments.most.iter().map(|&most| slice(most, 0, 1.0)).collect();
    let schedule = if given.is_empty() { &SCHEDULE[..] } else { &given };
    let mut tried = Vec::new();
    let mut attempts: Vec<(Try<'a>, f64)> = Vec::new();
    for slice in schedule {
        let order = &task.orders[slice.order];
        let axioms = &order[..slice.most.min(order.len())];
        // Problems with few axioms have fewer slices, but the last, which has more time.
        let is_longer = tried.iter().all(|&(most, order, weight)| {
            (most, order) != (axioms.len(), slice.order) || weight < slice.weight
        });
        if is_longer {
            tried.push((axioms.len(), slice.order, slice.weight));
            attempts.extend(
                provers
                    .provers
                    .iter()
                    .map(|prover| (Try { number: 0, prover, axioms, time: Duration::ZERO }, slice.weight)),
            );
        }
    }
    let total: f64 = attempts.iter().map(|(_, weight)| weight).sum();
    let left = end.saturating_duration_since(Instant::now()).as_secs_f64() * provers.threads as f64;
    let finish = |(number, (attempt, weight)): (usize, (Try<'a>, f64))| {
        let seconds = (left * weight / total.max(1e-9)).max(1.0);
        Try { number, time: Duration::from_secs_f64(seconds), ..attempt }
    };
    attempts.into_iter().enumerate().map(finish).collect()
}

/// A proof, and the axioms that it used.
struct Found {
    axioms: Vec<Ranked>,
    output: String,
}

impl Task {
    /// The axioms that a proof used: all that the prover had, if it does not say.
    fn used(&self, output: &str, axioms: &[Ranked]) -> Vec<Ranked> {
        let Some(names) = used(output) else { return axioms.to_vec() };
        let is_used =
            |ranked: &&Ranked| names.iter().any(|name| name == self.problem.axiom_name(ranked.statement));
        axioms.iter().filter(is_used).copied().collect()
    }
}

/// Tries with the axioms of a proof alone, and then without each of them.
fn minimize(
    task: &Task,
    prover: &Prover,
    mut found: Found,
    took: Duration,
    provers: &Provers,
    most_time: f64,
) -> Result<Found> {
    let end = Instant::now() + Duration::from_secs_f64(most_time);
    let is_over = || Instant::now() >= end || provers.bar.is_stopped();
    // What takes long with fewer axioms is no gain.
    let time = (2 * took).max(Duration::from_secs(1));
    let file = provers.folder.path().join("fewer.p");
    let proves = |axioms: &[Ranked]| -> Result<Option<Found>> {
        write(&file, &task.problem.reduced(axioms))?;
        Ok(match attempt(prover, &file, time, &is_over).end {
            End::Said { status, output } if is_proved(&status) => {
                Some(Found { axioms: task.used(&output, axioms), output })
            }
            _ => None,
        })
    };
    if let Some(fewer) = proves(&found.axioms.clone())? {
        found = fewer;
    }
    let mut place = found.axioms.len();
    // The least likely first.
    while place > 0 && !is_over() {
        place -= 1;
        let mut fewer = found.axioms.clone();
        fewer.remove(place);
        if let Some(fewer) = proves(&fewer)? {
            found = fewer;
            place = place.min(found.axioms.len());
        }
    }
    Ok(found)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

fn show(outcome: &Outcome, format: Output) -> Result<()> {
    let mut out = io::stdout().lock();
    writing(match format {
        Output::Json => writeln!(out, "{}", serde_json::to_string(outcome)?),
        Output::Text => text(&mut out, outcome),
    })
}

fn text(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let Outcome { problem, status, prover, axioms, seconds, premises, proof } = outcome;
    writeln!(out, "% SZS status {status} for {problem}")?;
    if let (Some(prover), Some(axioms)) = (prover, axioms) {
        writeln!(out, "% {prover} with {}, {seconds:.1} s in all", counted(*axioms, "axiom"))?;
        writeln!(out, "% used: {}", premises.join(" "))?;
    }
    proof.iter().try_for_each(|proof| writeln!(out, "{proof}"))
}
