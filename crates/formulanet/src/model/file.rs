//! A model file: a trained network with its vocabulary and where it comes from.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use formulanet_logic::View;
use formulanet_net::{Attachments, Meeting, Metadata, Model, Storage, checksum, is_sealed, stamp};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::{Artefact, shown};
use crate::model::memory::proofs::{NeighborVotes, TrainingProofs};
use crate::model::memory::statements::StatementMemory;
use crate::model::recipe::Recipe;
use crate::model::{JointModelFile, registry};
use crate::util::files;

/// A trained network, and what is needed to use it.
#[derive(Clone)]
pub struct ModelFile {
    /// The network; its users share its weights.
    pub model: Arc<Model>,
    /// The training data and recipe.
    pub origin: Origin,
    /// The label of every token.
    pub vocabulary: Vec<String>,
    /// How useful statements were in training, for a model that reads such hints.
    pub seen: StatementMemory,
    /// The conjectures of training, for a model that ranks and asks what proofs of similar ones used.
    pub proofs: TrainingProofs,
    /// The mean of training conjectures' vectors, in a model that ranks.
    pub typical: Vec<f32>,
    /// The checksum of the file that all this was read from, if that has one and all is in it.
    pub stamp: Option<String>,
}

/// Where a model comes from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// Which graph is made of a formula.
    #[serde(with = "super::serde_view")]
    pub view: View,
    /// How it was trained.
    pub recipe: Recipe,
    /// Name of the data set.
    pub data: String,
    /// Tells one data set from another.
    pub fingerprint: String,
    /// Pairs that training saw, counted as often as it saw them.
    pub pairs: u64,
    /// Accuracy on held-out conjectures, if it was measured; of a ranking, recall after 64 premises.
    pub validation_accuracy: Option<f64>,
    /// For a retriever: the logarithm of the ratio of useful to useless premises.
    #[serde(default)]
    pub prior: Option<f32>,
    /// The built-in model with the memory of this one, if the file has none: both were trained on the same data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_of: Option<String>,
    /// Version of the program.
    pub program: String,
}

/// Names of the parts in a file's metadata.
const ORIGIN: &str = "origin";
const VOCABULARY: &str = "vocabulary";
const SEEN: &str = "seen";
const PROOFS: &str = "neighbours";
const TYPICAL: &str = "typical";

impl ModelFile {
    /// Loads a built-in model by its name, or a model file by its path.
    ///
    /// # Errors
    ///
    /// If there is neither.
    pub fn named(model: &str) -> Result<Self, Error> {
        match bytes_of(model)? {
            Cow::Borrowed(bytes) => Self::read(bytes, model, Cow::Borrowed, true),
            Cow::Owned(bytes) => Self::from_bytes(&bytes, model),
        }
    }

    /// Reads a model file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no model file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::from_bytes(&files::read(path)?, &shown(path))
    }

    /// Reads a model file that is in memory; `name` is for messages.
    ///
    /// # Errors
    ///
    /// If it is no model file.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Error> {
        Self::read(bytes, name, |part| Cow::Owned(part.to_vec()), false)
    }

    /// Reads a model file. Of one that is built in, the largest part need not be copied to be kept.
    fn read<'a>(
        bytes: &'a [u8],
        name: &str,
        keep: fn(&'a [u8]) -> Cow<'static, [u8]>,
        is_own: bool,
    ) -> Result<Self, Error> {
        let opened = if is_own { <Model>::from_own_bytes(bytes) } else { <Model>::from_bytes(bytes) };
        let (model, metadata, attachments) = opened.map_err(|error| match bytes {
            _ if JointModelFile::is_one(bytes) => Error::ReadsTogether { model: name.to_owned() },
            _ if is_count_model(bytes) => Error::OnlyCounts { model: name.to_owned() },
            _ => Error::corrupt(Artefact::Model, name, error),
        })?;
        let damaged = |message: String| Error::corrupt(Artefact::Model, name, message);
        if !is_sealed(bytes) {
            return Err(damaged(
                "expected a checksum, found a model without a checksum; train it again".into(),
            ));
        }
        let part = |key: &str| {
            let missing = || damaged(format!("expected a formulanet model, found one without `{key}`"));
            metadata.get(key).ok_or_else(missing)
        };
        let wrong = |error: serde_json::Error| damaged(format!("expected a formulanet model: {error}"));
        let origin: Origin = serde_json::from_str(part(ORIGIN)?).map_err(wrong)?;
        let vocabulary: Vec<String> = serde_json::from_str(part(VOCABULARY)?).map_err(wrong)?;
        let expected = model.config().vocabulary - usize::from(model.config().marks);
        if vocabulary.len() != expected {
            return Err(damaged(format!("expected {expected} labels, found {}", vocabulary.len())));
        }
        let attached = |key: &str| attachments.get(key).copied().unwrap_or_default();
        let proofs = TrainingProofs::from_bytes(keep(attached(PROOFS)), is_sealed(bytes));
        let proofs = proofs.ok_or_else(|| damaged("expected conjectures and what they use".into()))?;
        let seen = StatementMemory::from_bytes(attached(SEEN));
        let mut seen = seen.ok_or_else(|| damaged("expected a memory of statements".into()))?;
        let mut stamp = stamp(bytes).map(str::to_owned);
        // A shipped model that has its memory itself, so that this ends.
        if let Some(other) = origin.memory_of.as_deref().filter(|_| attached(SEEN).is_empty()) {
            let bytes = registry::bytes(other)
                .ok_or_else(|| damaged(format!("expected the memory of `{other}`, which is not built in")))?;
            seen = Self::from_bytes(bytes, other)?.seen;
            stamp = None;
        }
        let typical: Vec<f32> =
            attached(TYPICAL).chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        if typical.iter().any(|x| !x.is_finite()) {
            return Err(damaged("expected numbers, found a typical conjecture that is none".into()));
        }
        Ok(ModelFile { model: Arc::new(model), origin, vocabulary, seen, proofs, typical, stamp })
    }

    /// Tells one model from another: a hash of everything that scores depend on.
    pub fn fingerprint(&self) -> String {
        if let Some(stamp) = &self.stamp {
            return stamp.clone();
        }
        let PriorKnowledge { trust, prior, .. } = self.prior_knowledge();
        let mut sum = 0;
        let mut add =
            |part: &[u8]| sum = checksum(&[u64::to_le_bytes(sum), checksum(part).to_le_bytes()].concat());
        let mut buffer = [[0; 4]; 1 << 12];
        for values in self.model.values().chunks(buffer.len()).chain([&[trust, prior][..]]) {
            let bytes = &mut buffer[..values.len()];
            bytes.iter_mut().zip(values).for_each(|(bytes, value)| *bytes = value.to_le_bytes());
            add(bytes.as_flattened());
        }
        add(self.vocabulary.join("\n").as_bytes());
        add(&self.seen.to_bytes());
        add(&self.proofs.to_bytes());
        format!("{sum:016x}")
    }

    /// Whether it ranks premises by dot products, rather than classify pairs.
    pub fn ranks(&self) -> bool {
        self.model.config().meeting == Meeting::Towers
    }

    /// Its knowledge in addition to the network, if it ranks.
    pub fn prior_knowledge(&self) -> PriorKnowledge<'_> {
        PriorKnowledge {
            proofs: &self.proofs,
            trust: self.origin.recipe.proofs,
            prior: self.origin.prior.unwrap_or(0.0),
        }
    }

    /// Writes a model file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&self, path: &Path, storage: Storage) -> Result<(), Error> {
        let metadata = Metadata::from([
            (ORIGIN.into(), serde_json::to_string(&self.origin).expect("an origin is plain data")),
            (VOCABULARY.into(), serde_json::to_string(&self.vocabulary).expect("labels are plain data")),
        ]);
        let typical = self.typical.iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut attachments = Attachments::from([
            (SEEN.into(), self.seen.to_bytes()),
            (PROOFS.into(), self.proofs.to_bytes().into_owned()),
            (TYPICAL.into(), typical),
        ]);
        attachments.retain(|_, bytes| !bytes.is_empty());
        let bytes = self.model.to_bytes(storage, &metadata, &attachments);
        files::write_whole(path, &bytes.map_err(|error| Error::corrupt(Artefact::Model, path, error))?)
    }
}

/// A model of any kind.
pub enum ModelKind {
    /// One that reads statements one by one, with the conjecture or without.
    Pairwise(Box<ModelFile>),
    /// One that reads a conjecture and its candidates together.
    Joint(Box<JointModelFile>),
}

impl ModelKind {
    /// Loads a built-in model by its name, or a model file by its path.
    ///
    /// # Errors
    ///
    /// If there is neither.
    pub fn named(model: &str) -> Result<Self, Error> {
        let bytes = bytes_of(model)?;
        if JointModelFile::is_one(&bytes) {
            return Ok(ModelKind::Joint(Box::new(JointModelFile::from_bytes(&bytes, model)?)));
        }
        Ok(ModelKind::Pairwise(Box::new(ModelFile::from_bytes(&bytes, model)?)))
    }
}

/// Whether a file is a count model of `formulanet-lab`, which has no network.
fn is_count_model(bytes: &[u8]) -> bool {
    let metadata = formulanet_net::read_metadata(bytes).unwrap_or_default();
    metadata.get("kind").is_some_and(|kind| kind == "tally")
}

/// The bytes of a built-in model, or of a model file.
pub fn bytes_of(model: &str) -> Result<Cow<'static, [u8]>, Error> {
    if let Some(bytes) = registry::bytes(model) {
        return Ok(bytes.into());
    }
    let path = Path::new(model);
    if !path.exists() {
        return Err(Error::NoSuchModel { name: model.to_owned(), built_in: registry::names() });
    }
    // A folder of the shipped kind.
    let inside = path.join("model.safetensors");
    let path = if inside.is_file() { &inside } else { path };
    Ok(files::read(path)?.into())
}

/// The knowledge of a retriever in addition to its network.
#[derive(Clone, Copy)]
pub struct PriorKnowledge<'a> {
    /// The conjectures of training.
    pub proofs: &'a TrainingProofs,
    /// How much of a probability they say.
    pub trust: f32,
    /// The logarithm of how many premises are useful for each that is not.
    pub prior: f32,
}

impl PriorKnowledge<'_> {
    /// The probability that a premise is useful: of the network's score, and of what similar conjectures say.
    pub fn score(&self, score: f32, shares: &NeighborVotes, premise: Option<u32>) -> f32 {
        let trust = shares.trust(self.trust);
        let of_network = 1.0 / (1.0 + (-(score + self.prior)).exp());
        trust * shares.of(premise) + (1.0 - trust) * of_network
    }
}
