//! The folder of a run: its recipe, its log, its checkpoints and its curve.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use formulanet::net::{Metadata, Shape, State};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Line, Reached};
use crate::Error;
use crate::dataset::Prepared;
use formulanet::error::{Artefact, shown};
use formulanet::model::joint::JointRecipe;
use formulanet::util::files::{lock, read, read_text, write_whole};

/// A run folder that is in use by this process.
pub(super) struct RunFolder {
    path: PathBuf,
    /// Held as long as the run lasts.
    _lock: File,
    log: Log,
}

/// All lines of a run's log.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Log {
    /// The lines in order.
    pub lines: Vec<Line>,
}

const RECIPE: &str = "recipe.toml";
const LOG: &str = "log.jsonl";
const STATE: &str = "last.safetensors";
const CURVE: &str = "curve.svg";
const CURVE_TABLE: &str = "curve.csv";

impl Log {
    /// Reads the log of a run folder. A last line that was cut off by a crash is left out.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let text = read_text(&folder.join(LOG))?;
        Ok(Log { lines: text.lines().map_while(|line| serde_json::from_str(line).ok()).collect() })
    }

    fn to_text(&self) -> String {
        let line = |line: &Line| serde_json::to_string(line).expect("a line is plain data") + "\n";
        self.lines.iter().map(line).collect()
    }
}

/// The recipe of a run folder, of whatever kind the caller expects.
///
/// # Errors
///
/// If it cannot be read, or is of another kind.
pub fn recipe_of<R: DeserializeOwned>(folder: &Path) -> Result<R, Error> {
    let path = folder.join(RECIPE);
    toml::from_str(&read_text(&path)?).map_err(|error| Error::corrupt(Artefact::Checkpoint, path, error))
}

/// Whether a run folder is of a network that reads statements together.
pub fn is_together(folder: &Path) -> bool {
    recipe_of::<JointRecipe>(folder).is_ok()
}

impl RunFolder {
    pub(super) fn open(
        path: &Path,
        recipe: &impl Serialize,
        data: &RunData,
        resumes: bool,
    ) -> Result<Self, Error> {
        let lock = lock(path, "lock")?;
        let run = RunFolder { path: path.to_owned(), _lock: lock, log: Log::default() };
        if !resumes {
            if path.join(STATE).exists() || path.join("model.safetensors").exists() {
                return Err(Error::RunExists(shown(path)));
            }
            let text = toml::to_string(recipe).expect("a recipe is plain data");
            write_whole(&run.path(RECIPE), text.as_bytes())?;
            write_whole(&run.path("data.json"), data.facts.as_bytes())?;
            write_whole(&run.path(LOG), b"")?;
        } else {
            run.check_data(data)?;
        }
        Ok(run)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(super) fn damaged(&self, found: &str) -> Error {
        Error::corrupt(
            Artefact::Checkpoint,
            self.path(STATE),
            format!("expected a checkpoint of this run, found {found}"),
        )
    }

    /// Adds a line to the log.
    pub(super) fn log(&mut self, line: &Line) -> Result<(), Error> {
        let path = self.path(LOG);
        let failed = |error| Error::io(&path, error);
        let mut text = serde_json::to_string(line).expect("a line is plain data");
        text.push('\n');
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        self.log.lines.push(line.clone());
        Ok(())
    }

    /// Writes a checkpoint.
    pub(super) fn save<S: Shape>(&self, state: &State<S>, reached: &Reached) -> Result<(), Error> {
        let path = self.path(STATE);
        write_whole(
            &path,
            &state_bytes(state, reached)
                .map_err(|message| Error::corrupt(Artefact::Checkpoint, &path, message))?,
        )
    }

    /// Reads the checkpoint, and truncates the log after it. A run that was stopped before its first checkpoint starts over.
    pub(super) fn restore<S: Shape>(&mut self, state: &mut State<S>) -> Result<Reached, Error> {
        let path = self.path(STATE);
        let mut reached = Reached::default();
        if path.exists() {
            reached = restore_bytes(state, &read(&path)?).map_err(|found| self.damaged(&found))?;
        }
        let mut log = Log::read(&self.path)?;
        log.lines.retain(|line| line.step <= reached.step);
        write_whole(&self.path(LOG), log.to_text().as_bytes())?;
        self.log = log;
        Ok(reached)
    }

    /// Draws the curve, and writes its points.
    pub(super) fn draw(&self) -> Result<(), Error> {
        write_whole(&self.path(CURVE), super::curve::training_curve(&self.log.lines).as_bytes())?;
        write_whole(&self.path(CURVE_TABLE), super::curve::table(&self.log.lines).as_bytes())
    }

    /// Refuses data other than what the run began with.
    fn check_data(&self, data: &RunData) -> Result<(), Error> {
        if read_text(&self.path("data.json"))? != data.facts {
            return Err(Error::OtherData { data: data.path.clone(), run: shown(&self.path) });
        }
        Ok(())
    }
}

/// A checkpoint as bytes, or what is wrong with it.
pub(super) fn state_bytes<S: Shape>(state: &State<S>, reached: &Reached) -> Result<Vec<u8>, String> {
    let reached = serde_json::to_string(reached).expect("how far a run is, is plain data");
    let bytes = state.to_bytes(&Metadata::from([("progress".into(), reached)]));
    bytes.map_err(|error| error.to_string())
}

/// Reads a checkpoint, or says what else was found.
pub(super) fn restore_bytes<S: Shape>(state: &mut State<S>, bytes: &[u8]) -> Result<Reached, String> {
    let metadata = state.restore(bytes).map_err(|error| error.to_string())?;
    let text = metadata.get("progress").ok_or("one without progress")?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The data of a run.
pub(super) struct RunData {
    /// Where it is, for messages.
    pub(super) path: String,
    /// The identity of the data, as JSON.
    pub(super) facts: String,
}

impl RunData {
    /// A prepared folder.
    pub(super) fn of(prepared: &Prepared) -> Self {
        let meta = prepared.meta();
        let facts = serde_json::json!({
            "fingerprint": meta.fingerprint,
            "options": meta.options,
            "counts": meta.counts,
        });
        RunData { path: shown(prepared.path()), facts: facts.to_string() }
    }
}
