//! The paper's tables and its figure of neighbors, reproduced: missing parts are prepared, trained and evaluated, and the result
//! is written with the paper's numbers next to ours.
//!
//! Prepared folders and runs are kept in a work folder. What is finished there is used again, what was stopped goes on,
//! and a run that two tables need is trained once. Several processes may share the folder: each takes the next run that
//! no other has begun.

mod budget;
mod chart;
mod figure;
mod markdown;
mod tables;
mod walks;
mod watch;
mod workshop;

use std::fs;
use std::path::{Path, PathBuf};

use formulanet::logic::View;
use formulanet::net::Storage;
use serde::Serialize;

pub use budget::Budget;

use formulanet::model::recipe::Recipe;
use formulanet::util::files::write_whole;
use formulanet_train::dataset::HoldOut;
use formulanet_train::{Error, Progress, Stage};
use markdown::RunRow;
use workshop::Workshop;

/// Tables and figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Accuracy of all methods.
    Table1,
    /// The effect of variable names and links between variables.
    Table2,
    /// The effect of more steps.
    Table3,
    /// Nodes with similar vectors.
    Figure5,
}

impl Target {
    /// All targets, with the names they have in the results folder.
    pub const ALL: [(&'static str, Target); 4] = [
        ("table1", Target::Table1),
        ("table2", Target::Table2),
        ("table3", Target::Table3),
        ("figure5", Target::Figure5),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// The recipe that runs begin from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// The paper's, on the view `graph`.
    Paper,
    /// The best in a given time on a CPU, on the view `dag`; Table 2 has its own views.
    Default,
}

impl Preset {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Default => "default",
        }
    }
}

/// A request.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A data set as people download it: a directory, an archive or a file.
    pub source: PathBuf,
    /// Where prepared folders and runs are kept.
    pub work: PathBuf,
    /// Where tables and figures are written.
    pub results: PathBuf,
    /// The recipe to begin from.
    pub preset: Preset,
    /// How long every run trains.
    pub budget: Budget,
    /// Length of a node's vector, if not the preset's.
    pub dimension: Option<usize>,
    /// Pairs of a mini-batch, if not the preset's.
    pub batch: Option<usize>,
    /// Decides first weights, the order of pairs and walks; not which conjectures are held out.
    pub seed: u64,
    /// Which conjectures are held out.
    pub validation: HoldOut,
    /// Threads that compute. Any number gives the same results.
    pub threads: usize,
}

/// The result of a target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reproduced {
    /// The target.
    pub target: Target,
    /// The files that were written; none if something is missing and a whole result stands there already.
    pub files: Vec<PathBuf>,
    /// Whether nothing is missing in them.
    pub is_complete: bool,
}

/// A result before it is written.
struct Document {
    /// All but how it was made.
    text: String,
    picture: Option<String>,
    /// The runs that it comes from.
    runs: Vec<RunRow>,
}

/// Begins an activity of unknown length.
fn announce(progress: &dyn Progress, name: &str) {
    progress.begin(Stage { name, done: 0, of: 0, unit: "" });
}

impl Settings {
    /// The recipe of FormulaNet, conditional, with three steps; experiments change these.
    fn recipe(&self) -> Recipe {
        let preset = match self.preset {
            Preset::Paper => Recipe::paper(),
            Preset::Default => Recipe::default_preset(),
        };
        Recipe {
            dimension: self.dimension.unwrap_or(preset.dimension),
            batch: self.batch.unwrap_or(preset.batch),
            seed: self.seed,
            // What is read back from a file then says the same, to the last bit, as what was trained.
            storage: Storage::F32,
            ..preset
        }
    }

    /// The graph that formulas become, where a table does not compare several.
    fn view(&self) -> View {
        match self.preset {
            Preset::Paper => View::Graph,
            Preset::Default => View::Dag,
        }
    }

    /// The name of the data set, without where it is: results are the same on another machine.
    pub fn source_name(&self) -> String {
        let name = self.source.file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| self.source.display().to_string())
    }

    /// The folder of all runs that differ only in the experiment.
    fn family(&self) -> String {
        let Recipe { dimension, batch, seed, .. } = self.recipe();
        let (preset, budget) = (self.preset.name(), self.budget.folder_name());
        format!("{preset}-dim-{dimension}-batch-{batch}-seed-{seed}-{budget}")
    }
}

/// The work on a data set with some settings. Several processes may share a work folder.
pub struct Reproduction<'a> {
    workshop: Workshop<'a>,
}

impl<'a> Reproduction<'a> {
    /// Opens the work folder; makes it, and the one for results, if they are not there.
    ///
    /// # Errors
    ///
    /// If the settings make no sense, or a folder cannot be made.
    pub fn open(settings: &'a Settings, progress: &'a dyn Progress) -> Result<Self, Error> {
        settings.recipe().check().map_err(|message| Error::input("recipe", message))?;
        for folder in [&settings.work, &settings.results] {
            fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        }
        Ok(Reproduction { workshop: Workshop::new(settings, progress) })
    }

    /// Reproduces one table or figure: writes `NAME.md` and, where a picture helps, `NAME.svg`. The text says that
    /// `command` made it.
    ///
    /// Leaves runs that another process works on to that process. If some are missing in the end, or if `progress`
    /// stops the work, writes a table of what is finished, unless a whole one is there already.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, has nothing to train on or nothing held out; if the work folder holds other work;
    /// if something cannot be written.
    pub fn measure(&self, target: Target, command: &str) -> Result<Reproduced, Error> {
        let document = match target {
            Target::Table1 => tables::table1(&self.workshop),
            Target::Table2 => tables::table2(&self.workshop),
            Target::Table3 => tables::table3(&self.workshop),
            Target::Figure5 => figure::figure(&self.workshop),
        };
        let document = match document {
            // There is nothing to show yet.
            Err(Error::Interrupted | Error::InUse(_)) => {
                return Ok(Reproduced { target, files: Vec::new(), is_complete: false });
            }
            document => document?,
        };
        let is_complete = document.runs.iter().all(RunRow::is_finished);
        let how = markdown::how(&self.workshop, command, &document.runs)?;
        let text = format!("{}\n{how}", document.text);
        let files = write(target, &text, document.picture, is_complete, &self.workshop.settings.results)?;
        Ok(Reproduced { target, files, is_complete })
    }
}

/// The note of a result if something is missing.
const UNFINISHED: &str = "Not everything is measured yet: the same command goes on.";

fn write(
    target: Target,
    text: &str,
    picture: Option<String>,
    is_complete: bool,
    folder: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let markdown = folder.join(format!("{}.md", target.name()));
    // Half a table does not replace a whole one.
    if !is_complete && fs::read_to_string(&markdown).is_ok_and(|old| !old.contains(UNFINISHED)) {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    if let Some(picture) = picture {
        let path = folder.join(format!("{}.svg", target.name()));
        write_whole(&path, picture.as_bytes())?;
        files.push(path);
    }
    write_whole(&markdown, text.as_bytes())?;
    files.insert(0, markdown);
    Ok(files)
}
