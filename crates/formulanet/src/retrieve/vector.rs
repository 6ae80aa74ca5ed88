//! Retrieval by a model: ranks statements for a conjecture.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use formulanet_logic::{Limits, Names, View, hol};
use formulanet_net::{Compute, Network, Precision};

use crate::analyze::Analyzer;
use crate::corpus::VectorColumn;
use crate::error::Artefact;
use crate::model::ModelFile;
use crate::model::encode::{Encoded, Encoder};
use crate::model::registry::NO_MODEL;
use crate::model::vocabulary::Vocabulary;
use crate::retrieve::scan::ScoringModel;
use crate::retrieve::{GoalVector, VectorScan};
use crate::{Error, Language, Statement};

/// A statement's number and its score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScoredStatement {
    /// Number of the statement among those that were ranked.
    pub statement: usize,
    /// Estimated probability that it is useful.
    pub score: f32,
}

/// A trained network that scores statements for a conjecture. Without a network, statements are compared by
/// their symbols.
pub struct VectorRetriever {
    model: Option<(Network, ModelFile)>,
    /// Shared with all parsers of formulas, which look up names in it.
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    /// Computed once, because it is a hash of much data.
    fingerprint: OnceLock<String>,
}

impl VectorRetriever {
    /// Loads the built-in model for libraries in HOL Light's syntax, on all cores.
    ///
    /// # Errors
    ///
    /// Returns an error if the built-in model cannot be read, which would be a fault of the build.
    pub fn load_default() -> Result<Self, Error> {
        Self::new(ModelFile::named(crate::model::registry::for_language(Language::Hol))?, default_compute())
    }

    /// Loads a model file, or a built-in model by its name, on all cores.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such model.
    pub fn load(model: &str) -> Result<Self, Error> {
        Self::new(ModelFile::named(model)?, default_compute())
    }

    /// Makes a retriever of a trained model on the given cores.
    ///
    /// # Errors
    ///
    /// Returns an error if the model's vocabulary has no token for unknown symbols, or the model encodes a
    /// statement again for every conjecture.
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
        let model = Some((network, trained));
        Ok(VectorRetriever { model, vocabulary, limits, fingerprint: OnceLock::new() })
    }

    /// Makes a retriever without a model, for statements whose symbols no model was trained on. It makes no
    /// vectors, and every symbol is unknown to it.
    pub fn without_model() -> Self {
        let vocabulary = Arc::new(Vocabulary::of_logic());
        VectorRetriever { model: None, vocabulary, limits: Limits::default(), fingerprint: OnceLock::new() }
    }

    /// Loads a built-in model by its name, or a model file; makes a retriever without a model for
    /// [`NO_MODEL`].
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such model.
    pub fn named(name: &str, compute: Compute) -> Result<Self, Error> {
        if name == NO_MODEL { Ok(Self::without_model()) } else { Self::new(ModelFile::named(name)?, compute) }
    }

    /// Returns the retriever with other limits on a statement.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the model, if there is one.
    pub fn model(&self) -> Option<&ModelFile> {
        self.model.as_ref().map(|(_, trained)| trained)
    }

    /// Returns the fingerprint that tells its model from others.
    pub fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| self.model().map_or(NO_MODEL.to_owned(), ModelFile::fingerprint))
    }

    /// Returns the network on its cores.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no model.
    pub fn network(&self) -> Result<&Network, Error> {
        self.model.as_ref().map(|(network, _)| network).ok_or(Error::NoVectors)
    }

    /// Returns the kind of graph that statements are turned into.
    pub fn view(&self) -> View {
        self.model().map_or(View::Graph, |trained| trained.origin.view)
    }

    /// Returns the limits on a statement.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the options for parsing HOL Light's formulas: names in the model's vocabulary are constants.
    pub fn hol_options(&self) -> hol::Options {
        let vocabulary = Arc::clone(&self.vocabulary);
        let names = Names::default().with_known(move |name| vocabulary.known(name).is_some());
        hol::Options { names, limits: self.limits, ..hol::Options::default() }
    }

    /// Returns an encoder for the model.
    pub fn encoder(&self) -> Encoder<'_> {
        Encoder::new(self.view(), &self.vocabulary, self.limits)
    }

    /// Parses a statement and encodes it.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be parsed, or is too large.
    pub fn encode(&self, statement: &Statement) -> Result<Encoded, Error> {
        Ok(Analyzer::new(self).analyze(&statement.name, &statement.text, statement.language)?.encoded)
    }

    pub(crate) fn scoring_model(&self) -> ScoringModel<'_> {
        match &self.model {
            None => ScoringModel::Nothing,
            Some((network, trained)) if trained.ranks() => ScoringModel::Towers(network, trained),
            Some((network, trained)) => ScoringModel::Classifier(network, trained),
        }
    }

    /// Returns the probability that each statement is useful for a conjecture.
    pub fn scores(&self, goal: &GoalVector, rows: &VectorColumn) -> Vec<f32> {
        let mut scan = self.scan(goal);
        scan.add(rows);
        scan.finish()
    }

    /// Begins to score statements for a conjecture in parts.
    pub fn scan<'a>(&'a self, goal: &'a GoalVector) -> VectorScan<'a> {
        VectorScan::new(self, goal)
    }
}

fn default_compute() -> Compute {
    Compute::new(Precision::Auto, std::thread::available_parallelism().map_or(1, usize::from))
}

/// Returns statements from the highest score to the lowest; of equal scores, the earlier statement is first.
pub fn best_first(scores: &[f32]) -> Vec<ScoredStatement> {
    let mut ranked: Vec<ScoredStatement> =
        scores.iter().enumerate().map(|(statement, &score)| ScoredStatement { statement, score }).collect();
    ranked.sort_unstable_by(by_score);
    ranked
}

/// Compares two statements in the order of [`best_first`], which is total.
pub(crate) fn by_score(a: &ScoredStatement, b: &ScoredStatement) -> Ordering {
    (b.score + 0.0).total_cmp(&(a.score + 0.0)).then(a.statement.cmp(&b.statement))
}
