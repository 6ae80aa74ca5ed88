//! The work folder: prepared data and runs, made when they are asked for and then kept.
//!
//! `data/VIEW` and `data/VIEW-renamed` are prepared directories, `runs/FAMILY/EXPERIMENT` are run directories; a family is all
//! that has the same preset, sizes, seed and budget. Measurements of a run are kept next to its model.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use formulanet::logic::View;
use formulanet::net::{Compute, Kind, Network};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::watch::{Named, Probe};
use super::{Settings, announce, budget};
use formulanet::error::shown;
use formulanet::model::ModelFile;
use formulanet::model::recipe::Recipe;
use formulanet::util::files::{lock, write_whole};
use formulanet_train::dataset::{self, HoldOut, Labels, Options, Prepared, Split};
use formulanet_train::eval::{TokenMap, pairs_of, predict};
use formulanet_train::train::{self, Event, Line, Log, RunEnd, RunOptions};
use formulanet_train::{Error, Progress};

pub(super) struct Workshop<'a> {
    pub(super) settings: &'a Settings,
    pub(super) progress: &'a dyn Progress,
    prepared: RefCell<HashMap<String, Rc<Prepared>>>,
    held_out: OnceCell<Rc<[usize]>>,
}

/// The identity of a run in its family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Experiment {
    pub(super) kind: Kind,
    pub(super) is_conditional: bool,
    pub(super) steps: usize,
    pub(super) view: View,
}

/// A finished run.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) view: View,
    pub(super) recipe: Recipe,
    /// Pairs that training saw, counted as often as it saw them.
    pub(super) pairs: u64,
    /// Seconds of training.
    pub(super) seconds: f64,
    /// The final validation of training.
    at_end: Option<train::Validation>,
    /// Held until all is measured.
    _lock: File,
}

/// Pairs that accuracy is measured on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Validation,
    /// The accuracy with other variable names.
    RenamedValidation,
    Test,
}

/// A measured accuracy.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Accuracy {
    pub(super) share: f64,
    pub(super) pairs: usize,
}

/// The view whose graphs tell which conjectures are the same and stay on one side. One for all presets, so that they
/// can share a work folder.
const DECIDING_VIEW: View = View::Graph;
/// Kept in the folder of a run while it is tried, trained or measured. Training has a lock of its own there.
pub(super) const LOCK: &str = "reproduce.lock";
/// Time between two looks at a lock.
const PATIENCE: Duration = Duration::from_millis(200);
/// Decides the new names of variables.
const RENAMING_SEED: u64 = 1;

impl Experiment {
    /// The name of its folder.
    pub(super) fn name(&self) -> String {
        let kind = match self.kind {
            // Without steps there is nothing that the two differ in.
            _ if self.steps == 0 => "formulanet",
            Kind::Basic => "formulanet-basic",
            Kind::Full => "formulanet",
        };
        let sees = if self.is_conditional { "conditional" } else { "unconditional" };
        format!("{kind}-{sees}-steps-{}-{}", self.steps, self.view.name())
    }

    fn recipe(&self, settings: &Settings) -> Recipe {
        Recipe {
            model: if self.steps == 0 { Kind::Full } else { self.kind },
            conditional: self.is_conditional,
            steps: self.steps,
            // The paper's networks know nothing but graphs.
            memory: 0,
            ..settings.recipe()
        }
    }
}

/// A result, or nothing if it is not there yet: the work was stopped, or another process does it.
pub(super) fn if_there<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Err(Error::Interrupted | Error::InUse(_)) => Ok(None),
        result => result.map(Some),
    }
}

impl<'a> Workshop<'a> {
    pub(super) fn new(settings: &'a Settings, progress: &'a dyn Progress) -> Self {
        Workshop { settings, progress, prepared: RefCell::default(), held_out: OnceCell::new() }
    }

    /// Training and test data in a view.
    pub(super) fn data(&self, view: View) -> Result<Rc<Prepared>, Error> {
        let validation =
            if view == DECIDING_VIEW { self.settings.validation.clone() } else { self.held_out_names()? };
        self.prepare(view.name(), Options { view, validation, ..Options::default() })
    }

    /// The conjectures and statements with other variable names. A model brings its own vocabulary, so that names it has never
    /// seen are unknown to it.
    fn renamed_data(&self, view: View) -> Result<Rc<Prepared>, Error> {
        let options = Options {
            view,
            validation: self.held_out_names()?,
            rename_variables: Some(RENAMING_SEED),
            labels: Labels::All,
            ..Options::default()
        };
        self.prepare(&format!("{}-renamed", view.name()), options)
    }

    fn prepare(&self, name: &str, options: Options) -> Result<Rc<Prepared>, Error> {
        if let Some(known) = self.prepared.borrow().get(name) {
            return Ok(known.clone());
        }
        let folder = self.settings.work.join("data");
        let _lock = self.wait_for(&folder)?;
        let (folder, threads) = (folder.join(name), self.settings.threads);
        let progress = self.named("preparing", name);
        dataset::prepare(&self.settings.source, &folder, None, &options, threads, &progress)?;
        let prepared = Rc::new(Prepared::open(&folder)?);
        self.prepared.borrow_mut().insert(name.to_owned(), prepared.clone());
        Ok(prepared)
    }

    fn named(&self, what: &str, name: &str) -> Named<'_> {
        Named { progress: self.progress, name: format!("{what} {name}") }
    }

    /// The lock of a folder, as soon as no other process has it.
    fn wait_for(&self, folder: &Path) -> Result<File, Error> {
        loop {
            match lock(folder, "lock") {
                Err(Error::InUse(_)) if !self.progress.is_stopped() => thread::sleep(PATIENCE),
                found => return found,
            }
        }
    }

    /// The conjectures that are held out. They have the same numbers in every view, because these follow the source.
    pub(super) fn held_out(&self) -> Result<Rc<[usize]>, Error> {
        if let Some(known) = self.held_out.get() {
            return Ok(known.clone());
        }
        let prepared = self.data(DECIDING_VIEW)?;
        let found: Rc<[usize]> = validation_of(&prepared).into();
        if found.iter().all(|&number| prepared.conjecture(number).pairs.is_empty()) {
            let training = prepared.of_split(Split::Train).count();
            return Err(Error::NothingHeldOut { data: shown(&self.settings.source), training });
        }
        Ok(self.held_out.get_or_init(|| found).clone())
    }

    fn held_out_names(&self) -> Result<HoldOut, Error> {
        let prepared = self.data(DECIDING_VIEW)?;
        let held_out = self.held_out()?;
        let names = held_out.iter().map(|&number| prepared.conjecture(number).name.to_owned());
        Ok(HoldOut::Names(names.collect()))
    }

    /// The pairs of the held-out conjectures in any view.
    pub(super) fn held_out_pairs(&self, prepared: &Prepared) -> Result<Vec<u32>, Error> {
        let main = self.data(DECIDING_VIEW)?;
        let held_out = self.held_out()?;
        let is_same = |&number: &usize| {
            let known = number < prepared.meta().counts.conjectures;
            known && prepared.conjecture(number).name == main.conjecture(number).name
        };
        if !held_out.iter().all(is_same) {
            let expected = "the conjectures of the other prepared folders in their order";
            return Err(Error::other_work(prepared.path(), expected, "others"));
        }
        Ok(held_out.iter().flat_map(|&n| prepared.conjecture(n).pairs).map(|pair| pair as u32).collect())
    }

    /// The folder of a run.
    pub(super) fn run_folder(&self, name: &str) -> PathBuf {
        self.settings.work.join("runs").join(self.settings.family()).join(name)
    }

    /// A run, trained to its end unless it is already, and kept from other processes.
    pub(super) fn run(&self, experiment: &Experiment) -> Result<Run, Error> {
        let (name, prepared) = (experiment.name(), self.data(experiment.view)?);
        self.held_out()?;
        let folder = self.run_folder(&name);
        let lock = lock(&folder, LOCK)?;
        let mut recipe = experiment.recipe(self.settings);
        let limit =
            budget::pairs(self.settings.budget, &folder, |time| self.probe(&prepared, &recipe, time))?;
        recipe.limit_pairs = limit.unwrap_or(0);
        let resumes = folder.join("recipe.toml").exists();
        if resumes && train::recipe_of::<Recipe>(&folder)? != recipe {
            return Err(Error::other_work(&folder, "a run with the recipe of this call", "another recipe"));
        }
        if !folder.join("model.safetensors").exists() {
            self.progress.check()?;
            let options = RunOptions { threads: self.settings.threads, resumes, ..RunOptions::default() };
            let mut tell = |event: Event<'_>| {
                if let Event::Logged(Line { validation: Some(validation), pairs, .. }) = event {
                    let accuracy = 100.0 * validation.accuracy;
                    self.progress.note(&format!("{name}: {accuracy:.1} % after {pairs} pairs"));
                }
            };
            let (prepared, recipe, folder) = (&prepared, &recipe, &folder);
            let run = train::Run { prepared, recipe, folder, first_weights: None, options };
            if let RunEnd::Stopped(_) = train::train(&run, &self.named("training", &name), &mut tell)? {
                return Err(Error::Interrupted);
            }
        }
        let log = Log::read(&folder)?;
        let missing = || Error::other_work(&folder, "the log of a finished run", "an empty one");
        let last = log.lines.last().ok_or_else(missing)?;
        let at_end = last.validation.clone();
        let (pairs, seconds) = (last.pairs, last.seconds);
        Ok(Run { name, folder, view: experiment.view, recipe, pairs, seconds, at_end, _lock: lock })
    }

    /// Pairs a second of a recipe, tried for about this time.
    fn probe(&self, prepared: &Prepared, recipe: &Recipe, time: Duration) -> Result<f64, Error> {
        announce(self.progress, "measuring the speed");
        let folder = tempfile::tempdir_in(&self.settings.work)
            .map_err(|error| Error::io(&self.settings.work, error))?;
        let recipe = Recipe { validate_every: u64::MAX, validation_pairs: 1, ..recipe.clone() };
        let options = RunOptions { threads: self.settings.threads, ..RunOptions::default() };
        let (probe, folder) = (Probe::new(self.progress, time), folder.path().join("run"));
        let run = train::Run { prepared, recipe: &recipe, folder: &folder, first_weights: None, options };
        let mut batch = 0;
        train::train(&run, &probe, &mut |event| {
            if let Event::Begins(plan) = event {
                batch = plan.batch;
            }
        })?;
        self.progress.check()?;
        Ok(probe.batches_per_second() * batch as f64)
    }

    /// The network of a run.
    pub(super) fn network(&self, run: &Run) -> Result<(Network, ModelFile), Error> {
        let trained = ModelFile::load(&run.folder.join("model.safetensors"))?;
        let compute = Compute::new(run.recipe.precision, self.settings.threads);
        Ok((Network::new(trained.model.clone(), compute), trained))
    }

    /// The accuracy of a run's model; nothing for test data that the source does not have.
    pub(super) fn accuracy(&self, run: &Run, part: Part) -> Result<Option<Accuracy>, Error> {
        let prepared = self.data(run.view)?;
        let name = match part {
            Part::Validation => "validation.json",
            Part::RenamedValidation => "renamed-validation.json",
            Part::Test => "test.json",
        };
        kept(&run.folder.join(name), &prepared, || {
            if let (Part::Validation, Some(at_end)) = (part, &run.at_end)
                // Elsewhere training may have held out more: conjectures that only this view does not tell apart.
                && *validation_of(&prepared) == *self.held_out()?
            {
                return Ok(Some(Accuracy { share: at_end.accuracy, pairs: at_end.pairs }));
            }
            let (asked, pairs) = match part {
                Part::Validation => (prepared.clone(), self.held_out_pairs(&prepared)?),
                Part::RenamedValidation => {
                    let renamed = self.renamed_data(run.view)?;
                    let pairs = self.held_out_pairs(&renamed)?;
                    (renamed, pairs)
                }
                Part::Test => {
                    let pairs = pairs_of(&prepared, Split::Test, None, 0);
                    (prepared.clone(), pairs)
                }
            };
            if pairs.is_empty() {
                return Ok(None);
            }
            let (network, trained) = self.network(run)?;
            let map = TokenMap::new(asked.vocabulary(), &trained.vocabulary, &run.name)?;
            let progress = self.named("evaluating", &run.name);
            let predictions = predict(&network, &trained.seen, &asked, &map, &pairs, &progress)?;
            let share = predictions.accuracies().last().copied().unwrap_or(0.0);
            Ok(Some(Accuracy { share, pairs: pairs.len() }))
        })
    }
}

/// The numbers of the conjectures that a prepared folder holds out.
fn validation_of(prepared: &Prepared) -> Vec<usize> {
    let numbered = prepared.conjectures().enumerate();
    numbered.filter(|(_, c)| c.split == Split::Validation).map(|(number, _)| number).collect()
}

/// The value in a file, or one that is computed and written to it. It belongs to the data it was measured on.
pub(super) fn kept<T: Serialize + DeserializeOwned>(
    path: &Path,
    prepared: &Prepared,
    compute: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    #[derive(Serialize, Deserialize)]
    struct Kept<T> {
        data: String,
        value: T,
    }
    let meta = prepared.meta();
    let data = serde_json::json!([meta.fingerprint, meta.options, meta.counts]).to_string();
    if let Ok(text) = fs::read_to_string(path) {
        return match serde_json::from_str::<Kept<T>>(&text) {
            Ok(kept) if kept.data == data => Ok(kept.value),
            found => {
                let what = found.map_or_else(|error| error.to_string(), |_| "one of other data".into());
                let expected = format!("a measurement on {}", prepared.path().display());
                Err(Error::other_work(path, expected, what))
            }
        };
    }
    let kept = Kept { data, value: compute()? };
    write_whole(path, &serde_json::to_vec(&kept).expect("a measurement is plain data"))?;
    Ok(kept.value)
}
