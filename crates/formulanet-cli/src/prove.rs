//! `formulanet prove`: from a problem to a proof.

mod numerals;
mod prover;
mod race;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use formulanet::model::shipped;
use formulanet::rank::{
    EmbeddedAxioms, Library, Order, Pace, Problem, Ranked, Ranker, Reading, Selection, Stored, Wishes,
    annotated, order,
};
use formulanet::read::{Proof, Source, Syntax};
use formulanet_train::processes::{self, Alone};
use formulanet_train::{Progress, Stage};
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormulaArguments, LimitArguments, ModelArgument, ReadingArguments, counted,
    refuse_stdin_twice, writing,
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
    Known provers are eprover, vampire, zipperposition, cvc5 and z3_tptp, if PATH has them.\n\
    To prove a formula from a library: formulanet prove --library sets.db --conjecture '![X]: subset(X, X)'")]
pub(crate) struct Arguments {
    /// The problems; `-` is standard input
    problems: Vec<String>,
    /// Use the statements of this library, too, which is in TPTP's syntax
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Prove this formula from the library, or that of `@FILE`
    #[arg(long, value_name = "FORMULA", requires = "library", conflicts_with = "problems")]
    conjecture: Option<String>,
    /// Prove this statement of the library from what comes before it
    #[arg(long, value_name = "NAME", requires = "library", conflicts_with_all = ["conjecture", "problems"])]
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
/// so there are many slices and none is long. Those that prove the most further problems come first, as `bench/schedule.py` found
/// them on other problems than those that are reported.
const SCHEDULE: [Slice; 16] = [
    slice(96, 0, 2.0),
    slice(256, 0, 3.0),
    slice(32, 0, 2.0),
    slice(192, 0, 3.0),
    slice(24, 0, 2.0),
    slice(64, 0, 2.0),
    slice(16, 0, 1.0),
    slice(128, 0, 3.0),
    slice(64, 1, 2.0),
    slice(48, 0, 2.0),
    slice(8, 0, 1.0),
    slice(256, 1, 4.0),
    slice(512, 0, 5.0),
    slice(16, 1, 1.0),
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

impl Provers {
    /// Lets a prover try a problem, in a form that all provers read.
    fn attempt(
        &self,
        prover: &Prover,
        file: &str,
        problem: String,
        time: Duration,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Attempted {
        let renamed = numerals::rename(&problem);
        let file = self.folder.path().join(file);
        if let Err(error) = fs::write(&file, renamed.as_ref().map_or(&problem, |renamed| &renamed.text)) {
            let message = format!("cannot write `{}`: {error}", file.display());
            return Attempted { end: End::Missing(message), took: Duration::ZERO };
        }
        let mut attempted = attempt(prover, &file, time, is_over);
        if let (Some(renamed), End::Said { output, .. }) = (renamed, &mut attempted.end) {
            *output = renamed.restore(output);
        }
        attempted
    }
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if !(arguments.time > 0.0 && arguments.time <= 1e6) {
        return Err(wrong("expected --time to be above 0"));
    }
    if arguments.problems.is_empty() && arguments.conjecture.is_none() && arguments.name.is_none() {
        return Err(wrong(
            "say what to prove: PROBLEM, or --library FILE with --conjecture FORMULA or --name NAME",
        ));
    }
    refuse_stdin_twice(arguments.problems.iter().map(String::as_str))?;
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
    let wanted = match (&library, &arguments.name, &arguments.conjecture) {
        (Some(library), Some(name), _) => {
            vec![Wanted::Text { name: name.clone(), formula: library.statement(name)?.text }]
        }
        (_, _, Some(formula)) => {
            let formula = arguments.reading.text(formula, arguments.limits.limits())?;
            vec![Wanted::Text { name: "conjecture".to_owned(), formula }]
        }
        _ => arguments.problems.iter().map(|file| Wanted::File(file)).collect(),
    };
    let selector = Selector { library: library.as_ref(), ranker: &ranker, reading: reading.as_ref() };
    for wanted in &wanted {
        let start = Instant::now();
        let task = selector.task(wanted, &arguments, &mut embedded)?;
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
        _ => bail!("{} of {} not proved", missed, counted(wanted.len(), "problem")),
    }
}

/// What is to be proved.
enum Wanted<'a> {
    /// A problem.
    File(&'a str),
    /// A formula, from what a library has.
    Text { name: String, formula: String },
}

/// What finds axioms.
struct Selector<'a> {
    library: Option<&'a Library>,
    ranker: &'a Ranker,
    reading: Option<&'a Reading>,
}

impl Selector<'_> {
    /// Reads a problem and ranks its axioms.
    fn task(
        &self,
        wanted: &Wanted<'_>,
        arguments: &Arguments,
        embedded: &mut EmbeddedAxioms,
    ) -> Result<Task> {
        let (name, source) = match wanted {
            Wanted::File(file) => ((*file).to_owned(), Source::open(file)?),
            Wanted::Text { name, formula } => {
                (name.clone(), Source::text("conjecture", annotated(name, "conjecture", formula)))
            }
        };
        let kept = ["hypothesis", "assumption"].map(str::to_owned);
        let mut problem = Problem::read(source, self.ranker, &kept)?;
        let orders = match self.library {
            Some(library) => {
                let best = self.with_facts(&mut problem, library, arguments)?;
                [best.clone(), best]
            }
            None => self.orders(&problem, embedded)?,
        };
        Ok(Task { name, problem, orders })
    }

    /// The axioms of a problem, the best first: by all that is known, and by what formulas say alone.
    fn orders(&self, problem: &Problem, embedded: &mut EmbeddedAxioms) -> Result<[Vec<Ranked>; 2]> {
        let mut scores = problem.scores_with(self.ranker, embedded);
        if let Some(reading) = self.reading {
            problem.rescore(reading, self.ranker, &mut scores)?;
        }
        let nameless = problem.nameless_scores(self.ranker, self.reading, &Pace::Free)?;
        let [known, nameless] = [scores, nameless].map(|scores| order(&scores, |i| problem.axiom_name(i)));
        let both = order(&by_ranks(&known, &nameless), |i| problem.axiom_name(i));
        Ok([both, nameless])
    }

    /// Adds the best facts of a library to a problem. All of its axioms, the best first.
    fn with_facts(
        &self,
        problem: &mut Problem,
        library: &Library,
        arguments: &Arguments,
    ) -> Result<Vec<Ranked>> {
        let wishes = Wishes {
            reading: self.reading,
            own_name: arguments.name.clone(),
            order: Order::Probability,
            ..Wishes::default()
        };
        let most = SCHEDULE.iter().map(|slice| slice.most).chain(arguments.most.iter().copied()).max();
        let selection = Selection { most: most.unwrap_or(0), ..Selection::default() };
        let from = (Stored::OnDisk(library), library.syntax()?);
        let found = problem.rank_axioms(Some(from), self.ranker, &wishes, &selection, &Pace::Free)?;
        Ok(order(&found.scores, |i| problem.axiom_name(i)))
    }
}

/// Scores of axioms by their ranks in two orders. The model knows what was useful elsewhere, the second order what the symbols of
/// the best mean: on problems of other conjectures, more of what a proof needs is among the first of both than of either.
fn by_ranks(known: &[Ranked], nameless: &[Ranked]) -> Vec<f32> {
    let mut scores = vec![0.0; known.len()];
    for (order, weight) in [(known, 1.0), (nameless, 0.5)] {
        for (rank, axiom) in order.iter().enumerate() {
            scores[axiom.statement] += weight / (16.0 + rank as f32);
        }
    }
    scores
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
        let text = task.problem.reduced(tried.axioms);
        provers.attempt(tried.prover, &format!("{}.p", tried.number), text, tried.time.min(left), is_over)
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
        found = minimize(task, winner.prover, found, took, provers, arguments.time);
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
) -> Found {
    let end = Instant::now() + Duration::from_secs_f64(most_time);
    let is_over = || Instant::now() >= end || provers.bar.is_stopped();
    // What takes long with fewer axioms is no gain.
    let time = (2 * took).max(Duration::from_secs(1));
    let proves = |axioms: &[Ranked]| {
        let text = task.problem.reduced(axioms);
        match provers.attempt(prover, "fewer.p", text, time, &is_over).end {
            End::Said { status, output } if is_proved(&status) => {
                Some(Found { axioms: task.used(&output, axioms), output })
            }
            _ => None,
        }
    };
    if let Some(fewer) = proves(&found.axioms.clone()) {
        found = fewer;
    }
    let mut place = found.axioms.len();
    // The least likely first.
    while place > 0 && !is_over() {
        place -= 1;
        let mut fewer = found.axioms.clone();
        fewer.remove(place);
        if let Some(fewer) = proves(&fewer) {
            found = fewer;
            place = place.min(found.axioms.len());
        }
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_count() {
        let ranked = |order: &[usize]| -> Vec<Ranked> {
            order.iter().map(|&statement| Ranked { statement, score: 0.0 }).collect()
        };
        let check = |known: &[usize], nameless: &[usize], expected: &[usize]| {
            let scores = by_ranks(&ranked(known), &ranked(nameless));
            let found = order(&scores, |_| "");
            assert_eq!(found.iter().map(|axiom| axiom.statement).collect::<Vec<_>>(), expected);
        };
        check(&[2, 0, 1], &[2, 0, 1], &[2, 0, 1]);
        // Of two neighbours by the first, the second decides; but not of those that are far apart.
        check(&[0, 1, 2, 3], &[3, 2, 1, 0], &[0, 1, 2, 3]);
        check(&[0, 1, 2, 3], &[1, 2, 3, 0], &[1, 0, 2, 3]);
        check(&[], &[], &[]);
    }
}
