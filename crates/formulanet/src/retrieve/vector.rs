//! A model at work: ranks statements for a conjecture.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use formulanet_logic::{Limits, Names, hol};
use formulanet_net::{Compute, Network, Precision};

use crate::analyze::Analyzer;
use crate::corpus::VectorColumn;
use crate::error::Artefact;
use crate::model::ModelFile;
use crate::model::encode::{Encoded, Encoder};
use crate::model::vocabulary::Vocabulary;
use crate::retrieve::scan::ScoringModel;
use crate::retrieve::{GoalVector, VectorScan};
use crate::{Error, Language, Statement};

/// A statement with its place and its score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScoredStatement {
    /// The number of the statement among those that were ranked.
    pub statement: usize,
    /// The probability that it is useful.
    pub score: f32,
}

/// A trained network that scores statements for a conjecture.
pub struct VectorRetriever {
    network: Network,
    trained: ModelFile,
    /// Shared with every reader of formulas, which asks it for names.
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    /// Computed once, because it is a hash of very much.
    fingerprint: OnceLock<String>,
}

impl VectorRetriever {
    /// The shipped model for libraries in HOL Light's syntax, on all cores.
    ///
    /// # Errors
    ///
    /// If the model that is built in cannot be read, which would be a fault of the build.
    pub fn load_default() -> Result<Self, Error> {
        Self::new(ModelFile::named(crate::model::registry::for_language(Language::Hol))?, default_compute())
    }

    /// A model file or a shipped model's name, on all cores.
    ///
    /// # Errors
    ///
    /// If there is no such model.
    pub fn load(model: &str) -> Result<Self, Error> {
        Self::new(ModelFile::named(model)?, default_compute())
    }

    /// A trained model on the given cores.
    ///
    /// # Errors
    ///
    /// If the model's vocabulary has no token for unknown symbols, or it reads a statement anew for every conjecture.
    pub fn new(trained: ModelFile, compute: Compute) -> Result<Self, Error> {
        if trained.model.config().marks {
            let found = "one that reads each statement again for every conjecture; it can be measured, but for ranking \
                         take another"
                .to_owned();
            return Err(Error::WrongKind { file: "model".to_owned(), expected: Artefact::Retriever, found });
        }
        let vocabulary = Vocabulary::new(&trained.vocabulary).ok_or_else(|| {
            Error::corrupt(
                Artefact::Model,
                "model",
                "expected a vocabulary with UNKNOWN; train the model again",
            )
        })?;
        let network = Network::new(trained.model.clone(), compute);
        let (vocabulary, limits) = (Arc::new(vocabulary), Limits::default());
        Ok(VectorRetriever { network, trained, vocabulary, limits, fingerprint: OnceLock::new() })
    }

    /// The same retriever with other bounds on a statement.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The model.
    pub fn model(&self) -> &ModelFile {
        &self.trained
    }

    /// Tells its model from others.
    pub fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| self.trained.fingerprint())
    }

    /// The network on its cores.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Bounds on a statement.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How formulas of HOL Light are read: names that the model knows are constants.
    pub fn hol_options(&self) -> hol::Options {
        let vocabulary = Arc::clone(&self.vocabulary);
        let names = Names::default().with_known(move |name| vocabulary.known(name).is_some());
        hol::Options { names, limits: self.limits, ..hol::Options::default() }
    }

    /// An encoder for the model.
    pub fn encoder(&self) -> Encoder<'_> {
        Encoder::new(self.trained.origin.view, &self.vocabulary, self.limits)
    }

    /// Reads a statement and encodes it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is too large.
    pub fn encode(&self, statement: &Statement) -> Result<Encoded, Error> {
        Ok(Analyzer::new(self).analyze(&statement.name, &statement.text, statement.language)?.encoded)
    }

    pub(crate) fn scoring_model(&self) -> ScoringModel<'_> {
        match self.trained.ranks() {
            true => ScoringModel::Towers(&self.network, &self.trained),
            false => ScoringModel::Classifier(&self.network, &self.trained),
        }
    }

    /// The probability that each statement is useful for a conjecture.
    pub fn scores(&self, goal: &GoalVector, rows: &VectorColumn) -> Vec<f32> {
        let mut scan = self.scan(goal);
        scan.add(rows);
        scan.finish()
    }

    /// Begins to score statements for a conjecture, some after the other.
    pub fn scan<'a>(&'a self, goal: &'a GoalVector) -> VectorScan<'a> {
        VectorScan::new(self, goal)
    }
}

fn default_compute() -> Compute {
    Compute::new(Precision::Auto, std::thread::available_parallelism().map_or(1, usize::from))
}

/// Statements from the highest score to the lowest; of equal ones, the by_score first.
pub fn best_first(scores: &[f32]) -> Vec<ScoredStatement> {
    let mut ranked: Vec<ScoredStatement> =
        scores.iter().enumerate().map(|(statement, &score)| ScoredStatement { statement, score }).collect();
    ranked.sort_unstable_by(by_score);
    ranked
}

/// Compares two statements in that order, which is never undecided.
pub(crate) fn by_score(a: &ScoredStatement, b: &ScoredStatement) -> Ordering {
    (b.score + 0.0).total_cmp(&(a.score + 0.0)).then(a.statement.cmp(&b.statement))
}
