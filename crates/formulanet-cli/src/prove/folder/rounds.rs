//! Rounds over problems: each undecided problem is tried again with other slices, and with the proofs found
//! meanwhile.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use formulanet_train::{Progress, Stage};

use super::experience::{Arm, Experience, Tried, digest};
use super::inputs::Input;
use super::journal::{Entry, Journal};
use super::{TIME, table};
use crate::input::{counted, writing};
use crate::output::{Output, shown, write_file};
use crate::prove::axioms::Axioms;
use crate::prove::outcome::Outcome;
use crate::prove::schedule::Planned;
use crate::prove::search::{self, Provers, Settings};
use crate::prove::szs::Status;
use crate::prove::task::Task;

/// Seconds of the first round, if only the time of all problems is limited.
const FIRST: f64 = 4.0;
/// Maximum seconds of a round.
const LONGEST: f64 = 64.0;
/// Time for a problem that an attempt may take in addition to its time limit.
const SLACK: Duration = Duration::from_millis(500);

/// The time limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time of a problem, in all rounds together.
    pub(crate) time: Option<Duration>,
    /// Time of all problems.
    pub(crate) budget: Option<Duration>,
}

impl Limits {
    /// Returns the seconds for a problem in a round, from 1; `None` if its time is over.
    fn allowance(self, round: usize, has_rounds: bool) -> Option<f64> {
        let doublings = round.saturating_sub(2).min(16) as i32;
        match (self.time, self.budget) {
            (None, Some(_)) => Some((FIRST * 2f64.powi(doublings)).min(LONGEST)),
            (time, _) => {
                let time = time.map_or(TIME, |time| time.as_secs_f64());
                match (has_rounds, round) {
                    (false, 1) => Some(time),
                    (true, 1..=4) => Some((time / 8.0 * 2f64.powi(doublings)).max(1.0)),
                    _ => None,
                }
            }
        }
    }
}

/// A run over problems.
pub(crate) struct Run<'a> {
    pub(crate) provers: &'a Provers,
    pub(crate) axioms: &'a Axioms,
    pub(crate) journal: &'a Journal,
    pub(crate) settings: &'a Settings,
    pub(crate) experience: Mutex<Experience>,
    pub(crate) limits: Limits,
    pub(crate) learns: bool,
    pub(crate) keeps_going: bool,
    pub(crate) out: Option<&'a Path>,
    pub(crate) format: Output,
}

/// The state of a problem.
struct Item<'a> {
    input: &'a Input,
    /// Number of the last round that has ended.
    round: usize,
    tried: Vec<Tried>,
    outcome: Option<Outcome>,
    is_shown: bool,
}

impl Item<'_> {
    fn is_open(&self) -> bool {
        !self.outcome.as_ref().is_some_and(|outcome| outcome.status.is_final())
    }

    /// Adds a round that has ended.
    fn add(&mut self, entry: &Entry) {
        self.round = entry.round;
        self.tried.extend(entry.tried.iter().cloned());
        let mut outcome = entry.outcome.clone();
        if let Some(before) = &self.outcome {
            outcome.seconds += before.seconds;
            // A prover that ran out of time before may have found a proof with more time.
            let gave_up = matches!(outcome.status, Status::GaveUp | Status::NotTried);
            let is_kept = matches!(before.status, Status::Timeout | Status::ResourceOut | Status::GaveUp);
            if gave_up && is_kept {
                outcome.status = before.status;
            }
        }
        self.outcome = Some(outcome);
    }
}

impl Run<'_> {
    /// Proves all problems, as far as the time lasts. Returns the results in the order of the problems.
    ///
    /// # Errors
    ///
    /// Returns an error if a problem cannot be read and the run does not keep going, no prover can be
    /// started, or a file cannot be written.
    pub(crate) fn all(&self, inputs: &[Input], entries: &[Entry]) -> Result<Vec<Outcome>> {
        let start = Instant::now();
        let end = self.limits.budget.map(|budget| start + budget);
        let mut items: Vec<Item<'_>> = inputs.iter().map(Item::new).collect();
        self.resume(&mut items, entries)?;
        let has_rounds = self.learns || self.limits.budget.is_some();
        for round in 1.. {
            let Some(allowance) = self.limits.allowance(round, has_rounds) else { break };
            let open: Vec<usize> = (0..items.len()).filter(|&item| items[item].is_open()).collect();
            if open.is_empty() {
                break;
            }
            let open: Vec<usize> = open.into_iter().filter(|&item| items[item].round < round).collect();
            if open.is_empty() {
                continue;
            }
            let name = if has_rounds { format!("round {round}") } else { "proving".to_owned() };
            self.provers.bar.begin(Stage { name: &name, done: 0, of: open.len() as u64, unit: "problems" });
            let (before, attempts) = (proved(&items), attempted(&items));
            let began = Instant::now();
            let shared: Vec<Mutex<Item<'_>>> = items.into_iter().map(Mutex::new).collect();
            let ended = self.round((round, allowance, end), &shared, &open);
            let taken =
                shared.into_iter().map(|item| item.into_inner().unwrap_or_else(PoisonError::into_inner));
            items = taken.collect();
            self.provers.bar.clear();
            ended?;
            if has_rounds {
                let (tried, new) = (counted(open.len(), "problem"), proved(&items) - before);
                let seconds = began.elapsed().as_secs_f64();
                tell!("round {round}: {new} of {tried} proved in {seconds:.0} s");
            }
            // Nothing is left to try, and nothing has changed.
            let is_idle = attempted(&items) == attempts && proved(&items) == before;
            if is_idle || self.is_stopped(end) {
                break;
            }
        }
        for item in &mut items {
            if item.outcome.is_none() {
                item.outcome = Some(Outcome::undecided(&item.input.name, Status::NotTried, 0.0));
            }
            self.show(item)?;
        }
        Ok(items.into_iter().filter_map(|item| item.outcome).collect())
    }

    /// Adds the rounds of the journal.
    fn resume(&self, items: &mut [Item<'_>], entries: &[Entry]) -> Result<()> {
        for entry in entries {
            entry.tried.iter().for_each(|tried| self.experience().add(tried));
            // A file that could not be read may have been corrected.
            if entry.outcome.status == Status::InputError {
                continue;
            }
            let name = &entry.outcome.problem;
            let Some(item) = items.iter_mut().find(|item| item.input.name == *name) else { continue };
            item.add(entry);
            if self.learns && is_learned(&entry.outcome) {
                self.axioms.recall(&item.input.target, &entry.outcome)?;
            }
        }
        for item in items.iter_mut().filter(|item| !item.is_open()) {
            self.show(item)?;
        }
        Ok(())
    }

    fn experience(&self) -> std::sync::MutexGuard<'_, Experience> {
        self.experience.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one round: problems in order, as many at once as there are cores.
    fn round(
        &self,
        (round, allowance, end): (usize, f64, Option<Instant>),
        items: &[Mutex<Item<'_>>],
        open: &[usize],
    ) -> Result<()> {
        let (next, has_failed, failure) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(None));
        let workers = self.settings.threads.min(open.len()).max(1);
        let threads = (self.settings.threads / workers).max(1);
        let is_over = || has_failed.load(Ordering::SeqCst) || self.is_stopped(end);
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while !is_over() {
                        let Some(&number) = open.get(next.fetch_add(1, Ordering::SeqCst)) else { return };
                        let mut item = items[number].lock().unwrap_or_else(PoisonError::into_inner);
                        let ended = self.problem(&mut item, (round, allowance, end), threads);
                        self.provers.bar.advance(1);
                        if let Err(error) = ended {
                            has_failed.store(true, Ordering::SeqCst);
                            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        }
                    }
                });
            }
        });
        failure.into_inner().unwrap_or_default().map_or(Ok(()), Err)
    }

    /// Runs one round of one problem.
    fn problem(
        &self,
        item: &mut Item<'_>,
        (round, allowance, end): (usize, f64, Option<Instant>),
        threads: usize,
    ) -> Result<()> {
        let name = &item.input.name;
        let start = Instant::now();
        let task = match self.axioms.task(&item.input.target) {
            Ok(task) => task,
            Err(error) if self.keeps_going => {
                self.provers.bar.note(&format!("error: {error:#}"));
                let outcome = Outcome::undecided(name, Status::InputError, 0.0);
                return self.end(item, Entry { round, allowance, tried: Vec::new(), outcome });
            }
            Err(error) => {
                let hint = "add --keep-going to go on with the other problems";
                return Err(error.context(format!("cannot prove `{}`; {hint}", shown(name))));
            }
        };
        let began = Instant::now();
        let most = Duration::from_secs_f64(allowance) + SLACK;
        let last = end.map_or(began + most, |end| end.min(began + most));
        let mut tried = Vec::new();
        let mut ended: Option<Outcome> = None;
        // Attempts that end early leave time for others.
        loop {
            let left = allowance - began.elapsed().as_secs_f64();
            let before = ended.as_ref().map(|outcome| outcome.status);
            let is_over = before.is_some_and(Status::is_final) || left < 1.0 || self.is_stopped(end);
            if is_over && ended.is_some() {
                break;
            }
            let Some((mut outcome, new)) =
                self.attempts(&task, (&item.tried, &tried), left, (last, threads))?
            else {
                break;
            };
            if let Some(before) = before.filter(|_| outcome.status == Status::GaveUp) {
                outcome.status = before;
            }
            // Attempts that could not or need not be made would be planned again.
            let is_last = new.is_empty();
            tried.extend(new);
            ended = Some(outcome);
            if is_last {
                break;
            }
        }
        let Some(mut outcome) = ended else {
            let is_read = self.provers.provers.iter().any(|prover| prover.reads(task.languages()));
            let status = if is_read { Status::NotTried } else { Status::Inappropriate };
            let outcome = Outcome::undecided(name, status, 0.0);
            return self.end(item, Entry { round, allowance, tried: Vec::new(), outcome });
        };
        outcome.seconds = start.elapsed().as_secs_f64();
        outcome.problem.clone_from(name);
        if self.is_stopped(end) && !outcome.status.is_final() {
            // The round did not get all of its time, so a resumed run repeats it.
            if item.outcome.is_none() {
                item.outcome = Some(outcome);
            }
            return Ok(());
        }
        if self.learns && is_learned(&outcome) {
            match &outcome.premises {
                Some(_) => self.axioms.learn(&item.input.target, &task, &outcome)?,
                None => self.provers.bar.note(&format!(
                    "warning: nothing is learned from the proof of `{}`: the prover does not report premises; add --minimize",
                    shown(name)
                )),
            }
        }
        tried.iter().for_each(|tried| self.experience().add(tried));
        self.end(item, Entry { round, allowance, tried, outcome })
    }

    /// Whether the user has stopped the run, or its time is over.
    fn is_stopped(&self, end: Option<Instant>) -> bool {
        self.provers.is_stopped() || end.is_some_and(|end| Instant::now() >= end)
    }

    /// Returns some attempts at a problem; `None` if there is nothing left to try.
    fn attempts(
        &self,
        task: &Task,
        (before, new): (&[Tried], &[Tried]),
        seconds: f64,
        (last, threads): (Instant, usize),
    ) -> Result<Option<(Outcome, Vec<Tried>)>> {
        let provers = &self.provers.provers;
        let tried_before = [before, new].concat();
        let planned = self.experience().plan(task, provers, &tried_before, seconds * threads as f64);
        if planned.is_empty() {
            return Ok(None);
        }
        let began = Instant::now();
        let settings = Settings {
            planned: Some(planned.clone()),
            time: last.saturating_duration_since(began),
            threads,
            shows_attempts: false,
            ..self.settings.clone()
        };
        let mut outcome = search::prove(task, &settings, self.provers, began)?;
        // A problem that one prover cannot read may be readable for another.
        if outcome.status == Status::Inappropriate {
            outcome.status = Status::GaveUp;
        }
        let tried = tried(task, &planned, &outcome, provers);
        Ok(Some((outcome, tried)))
    }

    /// Writes the proof and the journal, and prints the line of a problem that is decided.
    fn end(&self, item: &mut Item<'_>, entry: Entry) -> Result<()> {
        if let (Some(out), true) = (self.out, entry.outcome.status.is_proved()) {
            let path = out.join(&item.input.proof);
            if let Some(folder) = path.parent() {
                let place =
                    || format!("cannot make the directory `{}`", shown(&folder.display().to_string()));
                fs::create_dir_all(folder).with_context(place)?;
            }
            let mut text = Vec::new();
            entry.outcome.write(&mut text)?;
            write_file(&path, text)?;
        }
        self.journal.add(&entry)?;
        item.add(&entry);
        let is_last =
            self.limits.allowance(entry.round + 1, self.learns || self.limits.budget.is_some()).is_none();
        if is_last || !item.is_open() { self.show(item) } else { Ok(()) }
    }

    /// Prints the line of a problem, once.
    fn show(&self, item: &mut Item<'_>) -> Result<()> {
        let (Some(outcome), false) = (&item.outcome, item.is_shown) else { return Ok(()) };
        item.is_shown = true;
        let line = match self.format {
            Output::Text => table::line(outcome),
            Output::Json => serde_json::to_string(outcome)?,
        };
        self.provers.bar.suspend(|| {
            let mut out = io::stdout().lock();
            writing(writeln!(out, "{line}").and_then(|()| out.flush()))
        })
    }
}

impl<'a> Item<'a> {
    fn new(input: &'a Input) -> Self {
        Item { input, round: 0, tried: Vec::new(), outcome: None, is_shown: false }
    }
}

/// Whether a proof shows which axioms are useful for the conjecture: one from contradictory axioms does not.
fn is_learned(outcome: &Outcome) -> bool {
    matches!(outcome.status, Status::Theorem | Status::Unsatisfiable)
}

/// Returns the number of attempts that were made.
fn attempted(items: &[Item<'_>]) -> usize {
    items.iter().map(|item| item.tried.len()).sum()
}

fn proved(items: &[Item<'_>]) -> usize {
    let is_proved =
        |item: &&Item<'_>| item.outcome.as_ref().is_some_and(|outcome| outcome.status.is_proved());
    items.iter().filter(is_proved).count()
}

/// Returns the informative attempts of a round: those that ended, or had some time.
fn tried(
    task: &Task,
    planned: &[Planned],
    outcome: &Outcome,
    provers: &[crate::prove::prover::Prover],
) -> Vec<Tried> {
    let tells = |made: &&search::Made| made.is_whole || made.proves || made.took >= Duration::from_secs(1);
    outcome
        .made
        .iter()
        .filter(tells)
        .map(|made| {
            let planned = &planned[made.number];
            let arm = Arm {
                prover: provers[planned.prover].name.clone(),
                most: planned.slice.most,
                order: planned.slice.order,
            };
            let limit = if made.is_whole { planned.time } else { made.took };
            Tried {
                axioms: digest(task, &arm),
                arm,
                limit: limit.as_secs_f64(),
                seconds: made.took.as_secs_f64(),
                proves: made.proves,
            }
        })
        .collect()
}
