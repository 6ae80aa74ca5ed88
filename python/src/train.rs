//! Training, with a callback.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use formulanet::model::ModelFile;
use formulanet::model::joint::JointRecipe;
use formulanet::model::recipe::Recipe;
use formulanet::net::Alone;
use formulanet_train::dataset::{HoldOut, Prepared, ProblemOptions, Problems};
use formulanet_train::train::{self as training, Event, Plan, Run, RunEnd, RunOptions, TogetherRun};
use formulanet_train::{Error, Progress};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::data::Held;
use crate::errors::{exception, refused};

/// A run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    data: PathBuf,
    out: PathBuf,
    resume: bool,
    /// `default`, `paper`, `premises` or `together`.
    preset: String,
    /// Changes to the preset's recipe, as JSON.
    changes: String,
    init: Option<PathBuf>,
    validation: Option<Held>,
    threads: Option<usize>,
    max_minutes: Option<f64>,
    checkpoint_every: f64,
    log_every: u64,
}

/// An observer of a run in Python. After every batch, training checks whether to stop, on the thread that Python called from, so
/// that callbacks and Ctrl-C are handled there.
struct Watch {
    callback: Option<Py<PyAny>>,
    /// The exception of a callback or signal handler.
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    fn keep(&self, result: PyResult<()>) {
        if let Err(error) = result
            && let Ok(mut raised) = self.raised.lock()
        {
            raised.get_or_insert(error);
        }
    }

    /// Calls the callback with a dictionary, unless it has raised an exception.
    fn tell(&self, event: &Value) {
        let Some(callback) = self.callback.as_ref().filter(|_| !self.has_raised()) else { return };
        self.keep(Python::attach(|py| {
            let event = py.import("json")?.call_method1("loads", (event.to_string(),))?;
            callback.call1(py, (event,)).map(drop)
        }));
    }

    fn has_raised(&self) -> bool {
        self.raised.lock().is_ok_and(|raised| raised.is_some())
    }

    fn into_raised(self) -> Option<PyErr> {
        self.raised.into_inner().ok().flatten()
    }
}

impl Progress for Watch {
    fn is_stopped(&self) -> bool {
        if !self.has_raised() {
            self.keep(Python::attach(|py| py.check_signals()));
        }
        self.has_raised()
    }
}

fn plan(plan: &Plan) -> Value {
    let Plan { pairs, validation_pairs, total, batch, first, weights, compute, .. } = plan;
    json!({
        "event": "begins", "pairs": pairs, "validation_pairs": validation_pairs, "batches": total, "batch": batch,
        "first": first, "weights": weights, "compute": compute,
    })
}

/// A recipe with changes by the names of its fields.
fn changed<R: Serialize + DeserializeOwned>(recipe: &R, changes: &str) -> Result<R, String> {
    // By way of its text, in which 0.15 is 0.15 rather than the nearest number of 32 bits.
    let text = serde_json::to_string(recipe).expect("a recipe is plain data");
    let mut fields: Map<String, Value> = serde_json::from_str(&text).expect("it was written so");
    let changes: Map<String, Value> = serde_json::from_str(changes).map_err(|error| error.to_string())?;
    for (name, value) in changes {
        if !fields.contains_key(&name) || name == "kind" {
            fields.remove("kind");
            let known: Vec<String> = fields.into_iter().map(|(name, _)| name).collect();
            return Err(format!(
                "expected one of the recipe's choices, found `{name}`; there are {}",
                known.join(", ")
            ));
        }
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        let mut tried = fields.clone();
        tried.extend(alone);
        serde_json::from_value::<R>(tried.into()).map_err(|error| format!("`{name}`: {error}"))?;
        fields.insert(name, value);
    }
    serde_json::from_value(fields.into()).map_err(|error| error.to_string())
}

/// Trains a network, and says how that ended, as JSON.
#[pyfunction]
pub(crate) fn train(py: Python<'_>, asked: Asked, callback: Option<Py<PyAny>>) -> PyResult<String> {
    let watch = Watch { callback, raised: Mutex::new(None) };
    let end = py.detach(|| run(asked, &watch));
    if let Some(raised) = watch.into_raised() {
        return Err(raised);
    }
    match end {
        Ok(Ok(end)) => Ok(end.to_string()),
        Ok(Err(message)) => Err(refused(py, message)),
        Err(error) => Err(exception(py, &error)),
    }
}

/// The end of a run; a message if its recipe makes no sense.
fn run(asked: Asked, watch: &Watch) -> Result<Result<Value, String>, Error> {
    let seconds = |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.0, 1e8));
    let usual = RunOptions::default();
    let options = RunOptions {
        threads: asked.threads.unwrap_or(usual.threads).max(1),
        most_time: asked.max_minutes.map(|minutes| seconds(60.0 * minutes)),
        checkpoint_every: seconds(asked.checkpoint_every),
        log_every: asked.log_every.max(1),
        resumes: asked.resume,
        group: &Alone,
        ..usual
    };
    let (folder, changes) = (asked.out.as_path(), asked.changes.as_str());
    let mut listen = |event: Event<'_>| match event {
        Event::Begins(begun) => watch.tell(&plan(begun)),
        Event::Logged(line) => {
            let mut line = json!(line);
            line["event"] = json!("logged");
            watch.tell(&line);
        }
    };
    let is_together = if asked.resume { training::is_together(folder) } else { asked.preset == "together" };
    let end = if is_together {
        let recipe = match asked.resume {
            true => training::recipe_of(folder)?,
            false => match changed(&JointRecipe::default(), changes) {
                Ok(recipe) => recipe,
                Err(message) => return Ok(Err(message)),
            },
        };
        let validation = asked.validation.map_or(HoldOut::Number(700), HoldOut::from);
        let reading = ProblemOptions { validation, seed: 0, keep_going: false, threads: options.threads };
        let problems = Problems::open(&asked.data, &reading, watch)?;
        let run = TogetherRun { problems: &problems, recipe: &recipe, folder, options };
        training::train_together(&run, watch, &mut listen)?
    } else {
        let preset = match asked.preset.as_str() {
            "paper" => Recipe::paper(),
            "premises" => Recipe::premises(),
            _ => Recipe::default_preset(),
        };
        let recipe = match asked.resume {
            true => training::recipe_of(folder)?,
            false => match changed(&preset, changes) {
                Ok(recipe) => recipe,
                Err(message) => return Ok(Err(message)),
            },
        };
        let prepared = Prepared::open(&asked.data)?;
        let first = asked.init.as_deref().map(ModelFile::load).transpose()?;
        let run =
            Run { prepared: &prepared, recipe: &recipe, folder, first_weights: first.as_ref(), options };
        training::train(&run, watch, &mut listen)?
    };
    Ok(Ok(match end {
        RunEnd::Finished(validation) => json!({ "finished": true, "validation": validation }),
        RunEnd::Stopped(step) => json!({ "finished": false, "batches": step }),
    }))
}
