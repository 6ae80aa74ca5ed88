//! Runs over many problems: all cores at work, a journal, rounds, and proofs that help with the next problem.

mod experience;
mod inputs;
mod journal;
mod memory;
mod rounds;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Arguments;
use super::schedule::SCHEDULE;
use super::search::Provers;
use crate::input::counted;
use crate::output::{Output, shown};
use crate::usage::wrong;
use experience::Experience;
use inputs::Inputs;
use journal::Journal;
use rounds::{Limits, Run};

pub(crate) use memory::Memory;

/// Name of the journal in `--out`.
const JOURNAL: &str = "journal.jsonl";
/// Seconds for a problem, unless the user sets another time.
pub(super) const TIME: f64 = 30.0;

/// Whether the arguments ask for a run over several problems.
pub(super) fn is_asked(arguments: &Arguments) -> bool {
    arguments.all || Inputs::are_several(&arguments.problems)
}

/// Runs the command for several problems.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { problems, library, all, learn, resume, out, .. } = arguments;
    if *learn && library.is_some() && !*all {
        return Err(wrong(
            "--learn learns from problems, or with --all from the statements of a library: leave --library out, or add --all",
        ));
    }
    if *resume && out.is_none() && arguments.journal.is_none() {
        return Err(wrong("--resume continues a run that had --out DIR or --journal FILE: give it again"));
    }
    let provers = Provers::new(arguments.provers()?)?;
    let settings = arguments.settings();
    let mut axioms = arguments.axioms(library.as_deref())?;
    let inputs = match all {
        true => Inputs::of_library(axioms.unproved()?)?,
        false => Inputs::read(problems)?,
    };
    if inputs.problems.is_empty() {
        bail!("nothing is left to prove: each statement of the library has a proof");
    }
    if *learn && library.is_none() {
        axioms.remember();
    }
    let path = journal_path(out.as_deref(), arguments.journal.as_deref())?;
    let (journal, entries) = match &path {
        Some(path) => Journal::open(path, *resume)?,
        None => (Journal::none(), Vec::new()),
    };
    let slices = if arguments.most.is_empty() { &SCHEDULE[..] } else { &settings.schedule[..] };
    let orders = match (library, learn) {
        (Some(_), _) => 1,
        (None, true) => 3,
        (None, false) => 2,
    };
    let limits = Limits {
        time: arguments.time.map(Duration::from_secs_f64).or(inputs.time),
        budget: arguments.budget.or(inputs.budget),
    };
    let run = Run {
        experience: Experience::new(&provers.provers, slices, orders).into(),
        provers: &provers,
        axioms: &axioms,
        journal: &journal,
        settings: &settings,
        limits,
        learns: *learn || *all,
        keeps_going: arguments.keep_going,
        out: out.as_deref(),
        format: arguments.format,
    };
    let outcomes = run.all(&inputs.problems, &entries)?;
    let shown_outcomes: Vec<_> = outcomes.iter().collect();
    if arguments.format == Output::Text {
        crate::input::writing(std::io::Write::write_all(
            &mut std::io::stdout().lock(),
            table::table(&shown_outcomes).as_bytes(),
        ))?;
    }
    if provers.is_stopped() {
        let untried: Vec<&str> = outcomes
            .iter()
            .filter(|outcome| outcome.status == super::szs::Status::NotTried)
            .map(|outcome| outcome.problem.as_str())
            .collect();
        let names: Vec<String> = untried.iter().take(5).map(|name| shown(name).into_owned()).collect();
        let more = if untried.len() > names.len() { ", ..." } else { "" };
        if !untried.is_empty() {
            tell!("not tried: {} ({}{more})", counted(untried.len(), "problem"), names.join(", "));
        }
        if path.is_some() {
            tell!("continue with --resume");
        }
        bail!("stopped: {}", table::counts(&shown_outcomes));
    }
    match outcomes.iter().all(|outcome| outcome.status.is_proved()) {
        true => Ok(()),
        false => bail!("{}", table::counts(&shown_outcomes)),
    }
}

/// Returns the file of the journal, and makes the directory for proofs.
fn journal_path(out: Option<&Path>, journal: Option<&Path>) -> Result<Option<PathBuf>> {
    if let Some(out) = out {
        let name = || shown(&out.display().to_string()).into_owned();
        fs::create_dir_all(out).with_context(|| format!("cannot make the directory `{}`", name()))?;
    }
    Ok(journal.map(Path::to_owned).or_else(|| out.map(|out| out.join(JOURNAL))))
}
