//! Models that read a conjecture and its candidates together: their files, and what they read.

mod recipe;
mod standardizer;

use std::collections::HashMap;
use std::path::Path;

use formulanet_logic::problem::{EdgeClass, NodeLabel, ProblemGraph};
use formulanet_net::together::{ProblemInput, TogetherConfig, TogetherModel};
use formulanet_net::{Attachments, Metadata, Storage};
use serde::{Deserialize, Serialize};

pub use recipe::{JointRecipe, RecipeKind};
pub use standardizer::Standardizer;

use crate::Error;
use crate::error::Artefact;
use crate::model::ModelKind;
use crate::util::files;

/// A trained network that reads whole problems, and what is needed to use it.
#[derive(Clone)]
pub struct JointModelFile {
    /// The network.
    pub model: TogetherModel,
    /// The training data and recipe.
    pub origin: JointOrigin,
    /// The symbols whose names it knows; the first has number 1, because 0 is a name that is hidden or unknown.
    pub names: Vec<String>,
    /// How the numbers that are known of candidates are scaled; none if it reads formulas alone.
    pub scales: Vec<Standardizer>,
}

/// Where a model that reads whole problems comes from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JointOrigin {
    /// How it was trained.
    pub recipe: JointRecipe,
    /// Name of the data set.
    pub data: String,
    /// Tells one data set from another.
    pub fingerprint: String,
    /// Candidates that training saw, counted as often as it saw them.
    pub pairs: u64,
    /// Accuracy on held-out conjectures, if it was measured.
    pub validation_accuracy: Option<f64>,
    /// Hides all names.
    #[serde(default)]
    pub hidden_accuracy: Option<f64>,
    /// Version of the program.
    pub program: String,
}

/// Names of the parts in a file's metadata.
const KIND: &str = "kind";
const JOINT: &str = "together";
const ORIGIN: &str = "origin";
const NAMES: &str = "names";
const SCALES: &str = "scales";

impl JointModelFile {
    /// Whether a file says that it is such a model.
    pub fn is_one(bytes: &[u8]) -> bool {
        let kind = formulanet_net::read_metadata(bytes).ok().and_then(|mut metadata| metadata.remove(KIND));
        kind.as_deref() == Some(JOINT)
    }

    /// Loads a built-in model by its name, or a model file by its path.
    ///
    /// # Errors
    ///
    /// If there is neither, or it reads statements one by one.
    pub fn named(model: &str) -> Result<Self, Error> {
        match ModelKind::named(model)? {
            ModelKind::Joint(file) => Ok(*file),
            ModelKind::Pairwise(_) => {
                let (file, found) =
                    (model.to_owned(), "a model that scores statements one by one".to_owned());
                Err(Error::WrongKind { file, expected: Artefact::Reranker, found })
            }
        }
    }

    /// Reads a model file that is in memory; `name` is for messages.
    ///
    /// # Errors
    ///
    /// If it is no such model.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let damaged = |message: String| Error::corrupt(Artefact::Model, name, message);
        let (model, metadata, _) =
            TogetherModel::from_bytes(bytes).map_err(|error| damaged(error.to_string()))?;
        let part = |key: &str| metadata.get(key).map_or("", String::as_str);
        let wrong = |error: serde_json::Error| damaged(format!("expected a formulanet model: {error}"));
        let origin = serde_json::from_str(part(ORIGIN)).map_err(wrong)?;
        let names: Vec<String> = serde_json::from_str(part(NAMES)).map_err(wrong)?;
        let scales: Vec<Standardizer> = match metadata.get(SCALES) {
            Some(scales) => serde_json::from_str(scales).map_err(wrong)?,
            None => Vec::new(),
        };
        let config = model.config();
        if (config.labels, config.edge_classes) != (NodeLabel::COUNT, EdgeClass::COUNT) {
            return Err(damaged("expected a network for this program's problem graphs".into()));
        }
        if names.len() != config.names.saturating_sub(1) {
            let expected = config.names.saturating_sub(1);
            return Err(damaged(format!("expected {expected} names, found {}", names.len())));
        }
        if scales.len() != config.features {
            let message = format!("expected {} scales of features, found {}", config.features, scales.len());
            return Err(damaged(message));
        }
        Ok(JointModelFile { model, origin, names, scales })
    }

    /// Writes a model file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&self, path: &Path, storage: Storage) -> Result<(), Error> {
        let mut metadata = Metadata::from([
            (KIND.into(), JOINT.into()),
            (ORIGIN.into(), serde_json::to_string(&self.origin).expect("an origin is plain data")),
            (NAMES.into(), serde_json::to_string(&self.names).expect("names are plain data")),
        ]);
        if !self.scales.is_empty() {
            let scales = serde_json::to_string(&self.scales).expect("scales are plain data");
            metadata.insert(SCALES.into(), scales);
        }
        let bytes = self.model.to_bytes(storage, &metadata, &Attachments::new());
        let bytes = bytes.map_err(|error| {
            Error::corrupt(Artefact::Model, path.display().to_string(), error.to_string())
        })?;
        files::write_whole(path, &bytes)
    }

    /// The numbers of the names that this model has for symbols; 0 for those that it does not know.
    pub fn name_numbers(&self, symbols: &[String]) -> Vec<u32> {
        let known: HashMap<&str, u32> = self.names.iter().map(String::as_str).zip(1..).collect();
        symbols.iter().map(|symbol| known.get(symbol.as_str()).copied().unwrap_or(0)).collect()
    }
}

/// A network for this program's problem graphs.
pub fn shape() -> TogetherConfig {
    TogetherConfig::new(NodeLabel::COUNT, EdgeClass::COUNT)
}

/// Which of the numbers that are known of candidates are scaled by what, or `None` if one is missing.
pub fn scales_of(scales: &[Standardizer], features: &[String]) -> Option<Vec<(Standardizer, usize)>> {
    let with_place =
        |scale: &Standardizer| Some((scale.clone(), features.iter().position(|name| *name == scale.name)?));
    scales.iter().map(with_place).collect()
}

/// A problem as the network reads it. `name` gives the number of a symbol's name, by the symbol's number in the interner.
pub fn problem_input(graph: &ProblemGraph, name: impl FnMut(u32) -> u32) -> ProblemInput {
    ProblemInput {
        labels: graph.labels().to_vec(),
        symbols: graph.symbol_of().to_vec(),
        parents: graph.edge_sources().collect(),
        children: graph.edge_targets().to_vec(),
        edge_classes: graph.edge_classes().to_vec(),
        names: graph.symbol_names().iter().copied().map(name).collect(),
        roots: graph.roots().collect(),
        statement_starts: graph.segment_starts().to_vec(),
        statement_nodes: graph.segments().to_vec(),
        features: Vec::new(),
    }
}
