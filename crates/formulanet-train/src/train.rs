//! Training: from a prepared folder and a recipe to a model, in a run folder that can be resumed at any time.
//!
//! The weights after a step depend on the data, the recipe and the step alone: not on the number of threads or
//! processes, nor on how often the run was stopped and resumed.

mod contest;
mod curve;
mod folder;
mod gather;
mod library;
mod order;
mod pools;
mod shared;
mod sitting;
mod together;
mod trainer;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use formulanet::net::{Alone, Compute, Group};
use serde::{Deserialize, Serialize};

pub use folder::{Log, is_together, recipe_of};
pub use library::{LibraryTrained, LibraryTraining, train_library};
pub use pools::{PoolOptions, PoolSource, make_pools};
use together::train_together_from;
pub use together::{TogetherRun, train_together};

use crate::dataset::Prepared;
use crate::eval::{Predictions, Ranking};
use crate::{Error, Progress, Stage, processes, remember};
use folder::{RunData, RunFolder};
use formulanet::error::shown;
use formulanet::model::ModelFile;
use formulanet::model::memory::statements::StatementMemory;
use formulanet::model::recipe::Recipe;
use order::Order;
use sitting::{Learner, Reached, Sitting};
use trainer::Trainer;

/// The network, data and directory of a run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The data.
    pub prepared: &'a Prepared,
    /// The recipe.
    pub recipe: &'a Recipe,
    /// The run folder: written, or gone on with.
    pub folder: &'a Path,
    /// A model whose weights the network begins with; random ones if there is none.
    pub first_weights: Option<&'a ModelFile>,
    /// Settings that do not change the result.
    pub options: RunOptions,
}

/// Settings that do not change the result of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Threads that compute.
    pub threads: usize,
    /// Stop after this time, to be resumed later.
    pub most_time: Option<Duration>,
    /// Time between two checkpoints.
    pub checkpoint_every: Duration,
    /// Batches between two lines of the log.
    pub log_every: u64,
    /// The number of held-out pairs to evaluate at the end; all by default.
    pub final_validation: Option<usize>,
    /// Show how far the last validation is, as a stage of its own.
    pub shows_validation: bool,
    /// Go on from the folder's checkpoint.
    pub resumes: bool,
    /// The processes that share the work; the first of them has the folder.
    pub group: &'static dyn Group,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            threads: processes::threads(&Alone),
            most_time: None,
            checkpoint_every: Duration::from_secs(120),
            log_every: 20,
            final_validation: None,
            shows_validation: false,
            resumes: false,
            group: &Alone,
        }
    }
}

/// A line of the log: how training goes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Batches so far.
    pub step: u64,
    /// Pairs so far.
    pub pairs: u64,
    /// Epochs so far.
    pub epoch: f64,
    /// Seconds of training so far, those of earlier sittings included.
    pub seconds: f64,
    /// Pairs a second since the last line.
    pub speed: f64,
    /// Seconds since the last line in which the first of several processes waited for the others, or for numbers on
    /// their way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited: f64,
    /// The learning rate.
    pub rate: f32,
    /// Length of the gradient before it was clipped, of the last batch.
    pub gradient: f64,
    /// Mean cross-entropy of every classifier since the last line.
    pub loss: Vec<f64>,
    /// Accuracy of every classifier since the last line.
    pub accuracy: Vec<f64>,
    /// The validation result, if it is new.
    pub validation: Option<Validation>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants a reference
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A validation result.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Validation {
    /// The number of pairs that were evaluated.
    pub pairs: usize,
    /// Accuracy of the last classifier; of a ranking, recall after 64 premises.
    pub accuracy: f64,
    /// Mean cross-entropy of the last classifier; 0 for a ranking.
    pub loss: f64,
    /// Accuracy of every classifier.
    pub steps: Vec<f64>,
    /// The ranking of premises, for retrievers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
    /// Accuracy with the names of all symbols hidden, of a network that reads whole problems and knows names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<f64>,
}

impl Validation {
    fn of(predictions: &Predictions) -> Self {
        let steps = predictions.accuracies();
        let accuracy = steps.last().copied().unwrap_or(0.0);
        let pairs = predictions.last.len();
        Validation { pairs, accuracy, loss: predictions.loss(), steps, ..Validation::default() }
    }

    fn of_ranking(ranking: Ranking) -> Self {
        let accuracy = ranking.recall_at.get(&64).copied().unwrap_or(0.0);
        Validation { pairs: ranking.queries, accuracy, ranking: Some(ranking), ..Validation::default() }
    }
}

/// The description of a run, reported before it begins.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Training pairs.
    pub pairs: usize,
    /// Pairs of a validation.
    pub validation_pairs: usize,
    /// Batches of the whole training.
    pub total: u64,
    /// Pairs of a batch.
    pub batch: usize,
    /// The batch to begin with; not 0 in a resumed run.
    pub first: u64,
    /// Numbers that are trained.
    pub weights: usize,
    /// The resources of the network.
    pub compute: String,
    /// The number of processes that share the work.
    pub processes: usize,
}

/// Events of a run in addition to its progress.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The run begins.
    Begins(&'a Plan),
    /// The log has a new line.
    Logged(&'a Line),
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub enum RunEnd {
    /// The model is there; validation of all held-out pairs at the end, if there are any.
    Finished(Option<Validation>),
    /// It was stopped after this many batches and can be resumed.
    Stopped(u64),
}

/// Trains a network. `progress` counts batches and may stop the run, to be resumed later; `listen` hears of events.
///
/// # Errors
///
/// If the data has nothing to train on, the folder is in use, holds another run or cannot be written, or the loss is
/// no longer a number. A good checkpoint is never overwritten by a bad one.
pub fn train(
    run: &Run<'_>,
    progress: &dyn Progress,
    listen: &mut dyn FnMut(Event<'_>),
) -> Result<RunEnd, Error> {
    let Run { prepared, recipe, first_weights, options, .. } = *run;
    recipe.check().map_err(|message| Error::input("recipe", message))?;
    prepared.verify()?;
    let group = options.group;
    let compute = Compute::among(group, recipe.precision, options.threads);
    let data = RunData::of(prepared);
    shared::agree(&compute, recipe, || {
        let first = first_weights.map_or_else(|| "random".to_owned(), ModelFile::fingerprint);
        (format!("{} with digest {:016x}", data.facts, prepared.digest()), first)
    })?;
    let dealing = shared::dealing(group, recipe)?;
    let seen = if recipe.memory > 0 {
        remember::labels(prepared, recipe.memory)
    } else {
        StatementMemory::default()
    };
    let mut order = Order::new(prepared, recipe, &seen, dealing, &compute);
    if order.count() < 2 {
        return Err(Error::TooFewPairs { data: shown(prepared.path()), found: order.count() });
    }
    let mut trainer = Trainer::new(prepared, recipe, order.prior(), seen, compute);
    if let Some(first) = first_weights {
        trainer.begin_with(first)?;
    }
    let open = || RunFolder::open(run.folder, recipe, &data, options.resumes);
    let mut folder = group.is_first().then(open).transpose()?;
    let mut reached = Reached::default();
    if options.resumes {
        reached = shared::restore(group, folder.as_mut(), &mut trainer.state)?;
    } else if let (Some(_), Some(folder)) = (first_weights, &folder) {
        // A resumed run does not know where its first weights came from.
        folder.save(&trainer.state, &reached)?;
    }
    let (first, total) = (reached.step, order.total());
    listen(Event::Begins(&Plan {
        pairs: order.count(),
        validation_pairs: trainer.validation.len(),
        total,
        batch: recipe.batch.min(order.count()),
        first,
        weights: trainer.state.model.layout().trained(),
        compute: trainer.compute.describe(),
        processes: group.size(),
    }));
    let batches = order.batches();
    let sitting = Sitting { trainer, folder, options, reached, total, batches, progress, listen };
    sit(sitting, move |step| order.batch(step))
}

/// Goes on with a run from where it stands; `make` makes the batches.
fn sit<L: Learner>(
    sitting: Sitting<'_, L>,
    mut make: impl FnMut(u64) -> L::Batch + Send,
) -> Result<RunEnd, Error> {
    let (first, total) = (sitting.reached.step, sitting.total);
    sitting.progress.begin(Stage { name: "training", done: first, of: total, unit: "batches" });
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // The next batches are made while this one is computed.
        let (sender, receiver) = mpsc::sync_channel(2);
        let stop = &stop;
        scope.spawn(move || {
            for step in first..total {
                if stop.load(Ordering::Relaxed) || sender.send(make(step)).is_err() {
                    return;
                }
            }
        });
        let end = sitting.run(&receiver);
        stop.store(true, Ordering::Relaxed);
        drop(receiver);
        end
    })
}
