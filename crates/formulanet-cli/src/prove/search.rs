//! The search for a proof of one problem.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use formulanet::Cancel;
use formulanet::read::Source;
use formulanet::util::temporary::TempFolder;
use formulanet_train::{Progress, Stage};

use super::answer;
use super::answer::Used;
use super::outcome::{Check, Outcome};
use super::prover::Prover;
use super::race::{Attempted, End, attempt, race};
use super::schedule::{Attempt, Planned, Slice, attempts, chosen};
use super::szs;
use super::szs::{Said, Status};
use super::task::Task;
use super::{minimize, numerals};
use crate::progress::Bar;
use crate::smtlib;

/// The provers, and the directory of their files.
pub(crate) struct Provers {
    pub(crate) provers: Vec<Prover>,
    pub(crate) bar: Bar,
    folder: TempFolder,
    cancel: Cancel,
    /// Programs that could not be started; each is reported once.
    missing: Mutex<Vec<String>>,
}

/// The settings of a search.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) schedule: Vec<Slice>,
    /// Attempts, if they were chosen in advance; the schedule is not used then.
    pub(crate) planned: Option<Vec<Planned>>,
    /// Time for a problem.
    pub(crate) time: Duration,
    /// Number of provers at once.
    pub(crate) threads: usize,
    pub(crate) minimize: bool,
    pub(crate) check: bool,
    /// Whether the progress bar shows the attempts.
    pub(crate) shows_attempts: bool,
}

impl Settings {
    /// Returns the maximum number of axioms of an attempt.
    pub(crate) fn most(&self) -> usize {
        self.schedule.iter().map(|slice| slice.most).max().unwrap_or(0)
    }
}

/// The answer of one prover to one text.
pub(crate) struct Answer {
    pub(crate) said: Said,
    /// Statements that it used, if it is a proof and reports them.
    pub(crate) used: Option<Used>,
    pub(crate) output: String,
    pub(crate) file: PathBuf,
}

/// An attempt that was made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Made {
    pub(crate) number: usize,
    pub(crate) took: Duration,
    /// Whether it ended by itself or because its time was over, rather than being stopped.
    pub(crate) is_whole: bool,
    /// Whether it found a proof.
    pub(crate) proves: bool,
}

/// A proof.
pub(crate) struct Found {
    /// Axioms that the prover had; those that it used, if it reports them.
    pub(crate) axioms: Vec<usize>,
    pub(crate) answer: Answer,
    /// Whether the axioms are known to suffice: reported by the prover, or tried alone.
    pub(crate) is_confirmed: bool,
}

impl Provers {
    /// Makes a directory for the files of provers.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be made.
    pub(crate) fn new(provers: Vec<Prover>) -> Result<Self> {
        let place = std::env::temp_dir();
        let folder = TempFolder::new_in(&place).with_context(|| {
            let place = place.display();
            format!("cannot make a temporary directory in `{place}`: set TMPDIR to a directory that can be written")
        })?;
        Ok(Provers { provers, bar: Bar::new(), folder, cancel: Cancel::never(), missing: Mutex::default() })
    }

    /// Adds a caller's request to cancel, which stops the search, too.
    pub(crate) fn until(self, cancel: Cancel) -> Self {
        Provers { cancel, ..self }
    }

    /// Whether the user has stopped the program, or the caller has cancelled.
    pub(crate) fn is_stopped(&self) -> bool {
        self.bar.is_stopped() || self.cancel.check().is_err()
    }

    /// Runs a prover on a problem, in a form that all provers read.
    ///
    /// # Errors
    ///
    /// Returns an error if the problem cannot be written.
    pub(crate) fn attempt(
        &self,
        (task, prover, axioms): (&Task, &Prover, &[usize]),
        file: &str,
        time: Duration,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Attempted, Option<Answer>)> {
        let text = task.reduced(axioms);
        let renamed = numerals::rename(&text);
        let file = self.folder.path().join(file);
        let given = renamed.as_ref().map_or(&text, |renamed| &renamed.text);
        let translated = match prover.is_smtlib {
            false => None,
            true => match smtlib::translate(Source::text(&task.name, given.clone()), task.limits()) {
                Ok(translated) => Some(translated),
                // There is no translation: for example, of a symbol that TPTP defines.
                Err(_) => {
                    let attempted = Attempted { end: End::Ended(String::new()), took: Duration::ZERO };
                    let (said, output) = (Said::Inappropriate, String::new());
                    return Ok((attempted, Some(Answer { said, used: None, output, file })));
                }
            },
        };
        fs::write(&file, translated.as_ref().unwrap_or(given)).with_context(|| {
            format!("cannot write `{}`: set TMPDIR to a directory with more space", file.display())
        })?;
        let attempted = attempt(prover, &file, time, is_over);
        let _ = fs::remove_file(&file);
        let answer = match &attempted.end {
            End::Ended(output) | End::OutOfTime(output) => {
                let output = renamed.map_or_else(|| output.clone(), |renamed| renamed.restore(output));
                let said = answer::said(prover, &output);
                let used = said.is_proof().then(|| answer::used(prover, task, &output)).flatten();
                Some(Answer { said, used, output, file })
            }
            End::NotStarted(message) => {
                let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
                if !missing.contains(&prover.program()) {
                    self.bar.note(&format!("warning: {message}"));
                    missing.push(prover.program());
                }
                None
            }
            End::Stopped | End::Skipped => None,
        };
        Ok((attempted, answer))
    }

    /// Whether the program of a prover could not be started.
    fn is_missing(&self, prover: &Prover) -> bool {
        self.missing.lock().is_ok_and(|missing| missing.contains(&prover.program()))
    }
}

/// Tries to prove a problem. `start` is the time at which it began.
///
/// # Errors
///
/// Returns an error if no file can be written, or no prover can be started.
pub(crate) fn prove<'a>(
    task: &'a Task,
    settings: &Settings,
    provers: &'a Provers,
    start: Instant,
) -> Result<Outcome> {
    let end = start + settings.time;
    let is_over = || Instant::now() >= end || provers.is_stopped();
    let attempts = match &settings.planned {
        Some(planned) => chosen(task, planned, &provers.provers),
        None => attempts(task, &settings.schedule, &provers.provers, (end, settings.threads)),
    };
    if settings.shows_attempts {
        let (name, of) = (&task.name, attempts.len() as u64);
        provers.bar.begin(Stage { name, done: 0, of, unit: "attempts" });
    }
    let search = Search {
        task,
        provers,
        said: Mutex::default(),
        answers: Mutex::default(),
        made: Mutex::default(),
        failed: Mutex::default(),
    };
    let is_failed = AtomicBool::new(false);
    let run = |tried: &Attempt<'a>, is_over: &(dyn Fn() -> bool + Sync)| {
        let left = tried.time.min(end.saturating_duration_since(Instant::now()));
        let is_over = || is_over() || is_failed.load(Ordering::SeqCst);
        search.run(tried, left, &is_over).unwrap_or_else(|error| {
            is_failed.store(true, Ordering::SeqCst);
            search.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            Attempted { end: End::Stopped, took: Duration::ZERO }
        })
    };
    let ended = |tried: &Attempt<'_>, _: &Attempted| {
        if settings.shows_attempts {
            provers.bar.advance(1);
        }
        search.is_settled(tried)
    };
    let stops = || is_over() || is_failed.load(Ordering::SeqCst);
    let won = race(&attempts, settings.threads, &stops, run, ended);
    if settings.shows_attempts {
        provers.bar.clear();
    }
    let seconds = start.elapsed().as_secs_f64();
    if let Some(error) = search.failed.into_inner().unwrap_or_default() {
        return Err(error);
    }
    if !attempts.is_empty() && attempts.iter().all(|attempt| provers.is_missing(attempt.prover)) {
        bail!("no prover could be started");
    }
    let said = search.said.into_inner().unwrap_or_default();
    let made = search.made.into_inner().unwrap_or_default();
    let mut answers = search.answers.into_inner().unwrap_or_default();
    let place = won.and_then(|(number, attempted)| {
        Some((number, attempted, answers.iter().position(|(of, _)| of.number == number)?))
    });
    let Some((number, attempted, place)) = place else {
        let status = match provers.provers.iter().any(|prover| prover.reads(task.languages())) {
            true => szs::undecided(&said, provers.is_stopped(), is_over()),
            false => Status::Inappropriate,
        };
        return Ok(Outcome { made, ..Outcome::undecided(&task.name, status, seconds) });
    };
    let (winner, (_, answer)) = (&attempts[number], answers.swap_remove(place));
    let has_all = task.is_complete && winner.axioms.len() == task.axiom_count();
    let status = |answer: &Answer| {
        let uses_goal = answer.used.as_ref().map(|used| used.has_goal);
        szs::status(answer.said, task.has_conjecture(), uses_goal, has_all).unwrap_or(Status::GaveUp)
    };
    let mut outcome = Outcome::undecided(&task.name, status(&answer), seconds);
    (outcome.prover, outcome.axioms) = (Some(winner.prover.name.clone()), Some(winner.axioms.len()));
    outcome.made = made;
    if !answer.said.is_proof() {
        return Ok(outcome);
    }
    let mut found = Found::of(task, answer, winner.axioms);
    if settings.minimize {
        let began = Instant::now();
        found = minimize::minimize(task, winner.prover, found, attempted.took, provers, settings.time)?;
        outcome.minimizing = Some(began.elapsed().as_secs_f64());
        outcome.status = status(&found.answer);
    }
    outcome.add_proof(task, &found);
    if settings.check && !provers.is_stopped() {
        outcome.check = check(task, winner.prover, &found.axioms, attempted.took, provers, settings)?;
    }
    Ok(outcome)
}

impl Found {
    /// Makes a proof from the axioms that the prover was given.
    pub(crate) fn of(task: &Task, answer: Answer, axioms: &[usize]) -> Self {
        match &answer.used {
            None => Found { axioms: axioms.to_vec(), answer, is_confirmed: false },
            Some(used) => {
                let is_used: Vec<usize> = used.tags.iter().filter_map(|tag| task.axiom_tagged(tag)).collect();
                // In the order in which they were given, best first.
                let axioms = axioms.iter().copied().filter(|axiom| is_used.contains(axiom)).collect();
                Found { axioms, answer, is_confirmed: true }
            }
        }
    }
}

/// A running search.
struct Search<'a> {
    task: &'a Task,
    provers: &'a Provers,
    /// Status of each attempt that was made.
    said: Mutex<Vec<Said>>,
    /// Proofs and models.
    answers: Mutex<Vec<(Attempt<'a>, Answer)>>,
    made: Mutex<Vec<Made>>,
    failed: Mutex<Option<anyhow::Error>>,
}

impl<'a> Search<'a> {
    fn run(
        &self,
        tried: &Attempt<'a>,
        time: Duration,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Attempted> {
        let skipped = Attempted { end: End::Skipped, took: Duration::ZERO };
        if self.provers.is_missing(tried.prover) || self.has_model(tried) {
            return Ok(skipped);
        }
        let file = format!("{}-{}.p", self.task.number(), tried.number);
        let (attempted, answer) =
            self.provers.attempt((self.task, tried.prover, tried.axioms), &file, time, is_over)?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(Made {
            number: tried.number,
            took: attempted.took,
            is_whole: matches!(attempted.end, End::Ended(_) | End::OutOfTime(_)),
            proves: answer.as_ref().is_some_and(|answer| answer.said.is_proof()),
        });
        let said = match (&attempted.end, &answer) {
            (End::Stopped | End::Skipped | End::NotStarted(_), _) => return Ok(attempted),
            (End::OutOfTime(_), Some(answer)) if !answer.said.is_proof() => Said::ResourceOut,
            (_, answer) => answer.as_ref().map_or(Said::Nothing, |answer| answer.said),
        };
        self.said.lock().unwrap_or_else(PoisonError::into_inner).push(said);
        let decides = |answer: &Answer| {
            answer.said.is_proof() || matches!(answer.said, Said::Model | Said::CounterProof)
        };
        if let Some(answer) = answer.filter(decides) {
            self.answers.lock().unwrap_or_else(PoisonError::into_inner).push((*tried, answer));
        }
        Ok(attempted)
    }

    /// Whether an attempt decided the problem.
    fn is_settled(&self, tried: &Attempt<'_>) -> bool {
        let has_all = self.task.is_complete && tried.axioms.len() == self.task.axiom_count();
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().any(|(of, answer)| {
            of.number == tried.number
                && szs::status(answer.said, self.task.has_conjecture(), None, has_all).is_some()
        })
    }

    /// Whether a prover has found a model of at least the axioms of an attempt, which then proves nothing.
    fn has_model(&self, tried: &Attempt<'_>) -> bool {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().any(|(of, answer)| {
            let has_more = of.slice.order == tried.slice.order && of.axioms.len() >= tried.axioms.len();
            answer.said == Said::Model && (has_more || of.axioms.len() == self.task.axiom_count())
        })
    }
}

/// Proves a problem again from some axioms alone, with another prover than the first, if there is one.
fn check(
    task: &Task,
    first: &Prover,
    axioms: &[usize],
    took: Duration,
    provers: &Provers,
    settings: &Settings,
) -> Result<Option<Check>> {
    let able = || provers.provers.iter().filter(|prover| prover.reads(task.languages()));
    // Variants of a prover are the same program.
    let others = able().filter(|prover| prover.program() != first.program());
    let time = (4 * took).max(Duration::from_secs(5)).min(settings.time.max(Duration::from_secs(1)));
    let mut tried = None;
    for prover in others.chain([first]) {
        let is_same = prover.program() == first.program();
        let file = format!("{}-check.p", task.number());
        let is_over = || provers.is_stopped();
        let (_, answer) = provers.attempt((task, prover, axioms), &file, time, &is_over)?;
        let is_proved = answer.is_some_and(|answer| answer.said.is_proof());
        let check = Check { prover: prover.name.clone(), is_same, is_proved };
        if is_proved {
            return Ok(Some(check));
        }
        tried.get_or_insert(check);
    }
    Ok(tried)
}
