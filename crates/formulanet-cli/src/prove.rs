//! `formulanet prove`: from problems to proofs.

mod answer;
mod axioms;
mod folder;
mod guard;
mod languages;
mod minimize;
mod numerals;
mod outcome;
mod prover;
mod race;
mod schedule;
mod search;
mod szs;
mod task;
mod tokens;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use formulanet::{Cancel, Engine};

use crate::input::{
    ComputeArguments, FormulaArguments, LimitArguments, ModelArgument, RerankArguments, counted,
    refuse_stdin_twice, writing,
};
use crate::output::Output;
use crate::usage::{refuse_given, wrong};
use axioms::{Axioms, Choice};
use outcome::Outcome;
use prover::Prover;
use schedule::{SCHEDULE, Slice, slice};
use search::{Provers, Settings};

pub(crate) use axioms::Target;
pub(crate) use guard::{GuardArguments, guard};

/// Prove TPTP problems with the axioms that are most likely to help
///
/// Selects axioms, and lets the provers of this machine try with a few and with many of them, as many at once
/// as there are cores, until one finds a proof. Of one problem, prints the SZS status, the proof and the
/// axioms that it used. Of several, and of the problems of a directory or of a batch file of CASC's LTB
/// division, prints a line as each ends, and a table at the end.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet prove big.p\n  \
    formulanet prove big.p --time 60 --minimize\n  \
    formulanet prove problems/ --out proofs --keep-going\n  \
    formulanet prove problems/ --out proofs --keep-going --resume\n  \
    formulanet prove problems/ --learn --budget 2h --journal run.jsonl\n  \
    formulanet prove --library sets.db --all --budget 2h\n  \
    formulanet prove big.p --prover 'eprover --auto --proof-object --cpu-limit={seconds} {file}'\n\n\
    Known provers are eprover, vampire, zipperposition, cvc5, z3 and others, if PATH has them.\n\
    To prove a formula from a library: formulanet prove --library sets.db --conjecture '![X]: subset(X, X)'\n\n\
    Exit codes: 0 if all problems are proved, 1 if one is not, cannot be read or was not tried, 2 if the arguments are wrong.")]
pub(crate) struct Arguments {
    /// The problems, directories of problems, or batch files; `-` is standard input
    problems: Vec<String>,
    /// Use the statements of this library, too, which is in TPTP's syntax
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Prove this formula from the library, or that of `@FILE`
    #[arg(long, value_name = "FORMULA", requires = "library", conflicts_with = "problems")]
    conjecture: Option<String>,
    /// Prove this statement of the library from what comes before it
    #[arg(long, value_name = "NAME", requires = "library", conflicts_with_all = ["conjecture", "problems"])]
    goal_name: Option<String>,
    /// Prove each statement of the library that has no proof yet from what comes before it, and keep the
    /// proofs in the library
    #[arg(long, requires = "library", conflicts_with_all = ["conjecture", "goal_name", "problems"])]
    all: bool,
    /// Learn from each proof: of a statement of the library, or of problems that share the names of symbols
    #[arg(long, conflicts_with = "conjecture")]
    learn: bool,
    /// Try at most this many seconds for a problem [default: 30, without --budget]
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// Try for at most this long in all, in rounds, such as 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = crate::library::parse_time)]
    budget: Option<Duration>,
    /// Go on with the other problems if one cannot be read
    #[arg(long)]
    keep_going: bool,
    /// Write a file for each proof to this directory, and the journal of the run
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the journal of the run to this file [default: journal.jsonl in --out]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Continue the run of the journal: problems that have ended are not tried again
    #[arg(long)]
    resume: bool,
    /// Call this prover instead of all that are found: a built-in name, a description in TOML, or a command
    /// with `{file}` and `{seconds}`
    #[arg(long, value_name = "PROVER")]
    prover: Vec<String>,
    /// Keep at most K axioms; several numbers, separated by commas [default: a schedule of 8 to 1024]
    #[arg(short = 'k', value_name = "K", value_delimiter = ',')]
    most: Vec<usize>,
    /// Try to do with fewer axioms once there is a proof
    #[arg(long)]
    minimize: bool,
    /// Prove the conjecture again from the used premises alone, with another prover if there is one
    #[arg(long)]
    check: bool,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    reranking: RerankArguments,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if arguments.time.is_some_and(|time| !(time > 0.0 && time <= 1e6)) {
        return Err(wrong("expected --time to be above 0"));
    }
    let is_nothing = arguments.conjecture.is_none() && arguments.goal_name.is_none() && !arguments.all;
    if arguments.problems.is_empty() && is_nothing {
        return Err(wrong(
            "say what to prove: PROBLEM, or --library FILE with --conjecture FORMULA, --goal-name NAME or --all",
        ));
    }
    refuse_stdin_twice(arguments.problems.iter().map(String::as_str))?;
    if folder::is_asked(&arguments) {
        return folder::run(&arguments);
    }
    let given = [
        ("--learn", arguments.learn && arguments.goal_name.is_none()),
        ("--budget", arguments.budget.is_some()),
        ("--keep-going", arguments.keep_going),
        ("--out", arguments.out.is_some()),
        ("--journal", arguments.journal.is_some()),
        ("--resume", arguments.resume),
    ];
    refuse_given(&given, "one problem: name a directory, several problems, or --all")?;
    let provers = Provers::new(arguments.provers()?)?;
    let targets = arguments.targets()?;
    let settings = arguments.settings();
    let axioms = arguments.axioms(arguments.library.as_deref())?;
    let mut missed = 0;
    for target in &targets {
        let start = Instant::now();
        let task = axioms.task(target)?;
        let outcome = search::prove(&task, &settings, &provers, start)?;
        missed += usize::from(!outcome.status.is_proved());
        if arguments.learn && outcome.status.is_proved() {
            match &outcome.premises {
                Some(_) => axioms.learn(target, &task, &outcome)?,
                None => tell!(
                    "warning: nothing is learned from a proof whose premises are not known; add --minimize"
                ),
            }
        }
        show(&outcome, arguments.format)?;
    }
    match missed {
        0 => Ok(()),
        _ if provers.is_stopped() => bail!("stopped"),
        _ => bail!("{} of {} not proved", missed, counted(targets.len(), "problem")),
    }
}

/// Searches for a proof with the provers of this machine, as the command does without flags.
///
/// # Errors
///
/// Returns an error if a text cannot be read, there is no prover, or the library is not in the language of
/// provers.
pub(crate) fn prove_within(
    engine: &Engine,
    library: Option<&Path>,
    target: &Target,
    time: Duration,
    cancel: &Cancel,
) -> Result<Outcome> {
    let start = Instant::now();
    let provers = Provers::new(found()?)?.until(cancel.clone());
    let settings = Settings {
        schedule: SCHEDULE.to_vec(),
        planned: None,
        time,
        threads: engine.compute().threads(),
        minimize: false,
        check: false,
        shows_attempts: false,
    };
    let task = Axioms::new(engine.clone(), library, settings.most())?.task(target)?;
    search::prove(&task, &settings, &provers, start)
}

/// Returns all built-in provers that this machine has.
fn found() -> Result<Vec<Prover>> {
    let provers = Prover::found()?;
    if provers.is_empty() {
        bail!(
            "no prover is there: install eprover, vampire, zipperposition or cvc5, or give one with --prover"
        );
    }
    Ok(provers)
}

impl Arguments {
    /// Returns the provers to try: the given ones, or all built-in ones that this machine has.
    fn provers(&self) -> Result<Vec<Prover>> {
        let mut provers = Vec::new();
        for text in &self.prover {
            let found = Prover::named(text).map_err(|error| wrong(format!("--prover: {error:#}")))?;
            if let Some(missing) = found.iter().find(|prover| prover.path().is_none()) {
                bail!(
                    "--prover: cannot find the program `{}`; give its path, or install it",
                    missing.program()
                );
            }
            provers.extend(found);
        }
        if self.prover.is_empty() { found() } else { Ok(provers) }
    }

    /// Returns the problems to prove.
    fn targets(&self) -> Result<Vec<Target>> {
        Ok(match (&self.goal_name, &self.conjecture) {
            (Some(name), _) => vec![Target::Fact(name.clone())],
            (_, Some(formula)) => vec![Target::Formula(self.reading.text(formula, self.limits.limits())?)],
            _ => self.problems.iter().map(|file| Target::File(file.clone())).collect(),
        })
    }

    /// Opens the axioms of a library, or of problems alone.
    fn axioms(&self, library: Option<&Path>) -> Result<Axioms> {
        Axioms::open(&Choice {
            library,
            model: &self.model,
            reading: &self.reranking,
            compute: &self.compute,
            limits: self.limits.limits(),
            most: self.settings().most(),
        })
    }

    fn settings(&self) -> Settings {
        let given: Vec<Slice> = self.most.iter().map(|&most| slice(most, 0, 1.0)).collect();
        Settings {
            schedule: if given.is_empty() { SCHEDULE.to_vec() } else { given },
            planned: None,
            time: Duration::from_secs_f64(self.time.unwrap_or(folder::TIME)),
            threads: self.compute.threads(),
            minimize: self.minimize,
            check: self.check,
            shows_attempts: true,
        }
    }
}

fn show(outcome: &Outcome, format: Output) -> Result<()> {
    let mut out = io::stdout().lock();
    writing(match format {
        Output::Json => io::Write::write_fmt(&mut out, format_args!("{}\n", serde_json::to_string(outcome)?)),
        Output::Text => outcome.write(&mut out),
    })
}
