//! An immutable snapshot of the statements that may be used for a goal, analyzed once.

mod snapshot;
mod vector_cache;
mod vectors;

use std::path::{Path, PathBuf};
#[cfg(feature = "sqlite")]
use std::sync::Mutex;
use std::sync::{Arc, OnceLock};

use crate::analyze::{AnalyzedStatement, Analyzer};
use crate::engine::Model;
use crate::policy::TUNING;
use crate::read::{Format, SkippedStatements, Source};
use crate::rerank::JointReranker;
use crate::retrieve::ProofRetriever;
use crate::{Cancel, Engine, Error, Language, Problem, Statement};
#[cfg(feature = "sqlite")]
use crate::{
    Library,
    library::{Change, fitted_reranker},
};

pub use snapshot::{LibraryEntry, LibrarySnapshot};
pub use vector_cache::VectorCache;
pub use vectors::{VectorColumn, VectorRow};

/// Statements in order: those of a library, if there is one, then others. A snapshot: cloning it is cheap, and threads share it.
#[derive(Clone)]
pub struct Corpus(pub(crate) Arc<Inner>);

#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) model: Arc<Model>,
    pub(crate) stored: Option<Stored>,
    pub(crate) local: Arc<Vec<AnalyzedStatement>>,
    /// Vectors of the local statements, computed by the first query that needs them.
    pub(crate) local_rows: OnceLock<VectorColumn>,
    /// The features of library and local statements, if there are both; computed by the first query that needs them.
    pub(crate) index: OnceLock<ProofRetriever>,
    /// The re-ranker that was fitted to the library.
    pub(crate) fitted: Option<Arc<JointReranker>>,
    pub(crate) language: Language,
    /// Whether the local statements are a problem's own axioms, which are kept even if they say the same as the goal.
    pub(crate) is_problem: bool,
    pub(crate) skipped: SkippedStatements,
}

/// A library in a corpus.
#[derive(Clone)]
pub(crate) enum Stored {
    /// In memory.
    Held(Arc<LibrarySnapshot>),
    /// In its file: vectors are read when they are scored.
    #[cfg(feature = "sqlite")]
    Streamed(Arc<Mutex<Library>>),
}

/// Where the vectors of a library are during a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Residency {
    /// In the file: a million statements take a few megabytes.
    #[default]
    Streamed,
    /// In memory: queries take less time.
    Held,
}

impl Corpus {
    /// The number of statements of the library, and of others.
    ///
    /// # Errors
    ///
    /// Returns an error if the library is damaged.
    pub fn counts(&self) -> Result<(usize, usize), Error> {
        Ok((self.stored_count()?, self.0.local.len()))
    }

    pub(crate) fn stored_count(&self) -> Result<usize, Error> {
        match &self.0.stored {
            None => Ok(0),
            Some(Stored::Held(snapshot)) => Ok(snapshot.entries.len()),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(library)) => lock(library).count(),
        }
    }

    /// The language of most statements.
    pub fn language(&self) -> Language {
        self.0.language
    }

    /// Whether the library has recorded proofs.
    ///
    /// # Errors
    ///
    /// Returns an error if the library is damaged.
    pub fn has_proofs(&self) -> Result<bool, Error> {
        match &self.0.stored {
            None => Ok(false),
            Some(Stored::Held(snapshot)) => Ok(snapshot.proof_count() > 0),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(library)) => Ok(lock(library).proof_count()? > 0),
        }
    }

    /// Whether its statements are indexed by what they are recognised by.
    pub(crate) fn has_index(&self) -> Result<bool, Error> {
        if self.0.local.len() > TUNING.index_up_to {
            return Ok(false);
        }
        match &self.0.stored {
            None => Ok(true),
            Some(Stored::Held(snapshot)) => Ok(snapshot.learned.is_some()),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(library)) => lock(library).has_index(),
        }
    }

    /// The name of the model that scores the statements.
    pub fn model_name(&self) -> &str {
        &self.0.model.name
    }

    /// The model that scores the statements.
    #[doc(hidden)]
    pub fn model(&self) -> Arc<Model> {
        Arc::clone(&self.0.model)
    }

    /// Names that the model reads as constants, for showing formulas.
    pub fn hol_options(&self) -> formulanet_logic::hol::Options {
        self.0.model.retriever.hol_options()
    }

    /// Statements that could not be read and were skipped.
    pub fn skipped(&self) -> &SkippedStatements {
        &self.0.skipped
    }

    /// Reads what has changed in the file of a library that is held in memory, and returns whether anything has. Other clones keep
    /// the state that they have.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is damaged, or was made again with a model that does not exist.
    #[cfg(feature = "sqlite")]
    pub fn refresh(&mut self, engine: &Engine, library: &Library) -> Result<bool, Error> {
        let Some(Stored::Held(snapshot)) = &self.0.stored else { return Ok(false) };
        let change = library.changes_since(snapshot.generation(), snapshot.learned.is_some())?;
        if matches!(change, Change::None) {
            return Ok(false);
        }
        let inner = Arc::make_mut(&mut self.0);
        match (change, &mut inner.stored) {
            (Change::Appended(additions), Some(Stored::Held(snapshot))) => {
                Arc::make_mut(snapshot).append(*additions);
            }
            _ => {
                // Local statements were read as the model before does.
                match inner.local.is_empty() {
                    true => inner.model = engine.model_of(library)?,
                    false => library.check(&inner.model.retriever)?,
                }
                inner.fitted = fitted_reranker(library, engine.compute())?.map(Arc::new);
                inner.stored = Some(Stored::Held(Arc::new(library.load()?)));
            }
        }
        if let (Some(Stored::Held(snapshot)), true) = (&inner.stored, inner.local.is_empty()) {
            inner.language = snapshot.language;
        }
        Ok(true)
    }

    /// Returns the same library with other local statements.
    #[doc(hidden)]
    #[must_use]
    pub fn with_local(
        &self,
        local: Vec<AnalyzedStatement>,
        language: Option<Language>,
        is_problem: bool,
    ) -> Self {
        let Inner { model, stored, fitted, .. } = &*self.0;
        Corpus(Arc::new(Inner {
            model: Arc::clone(model),
            stored: stored.clone(),
            local: Arc::new(local),
            local_rows: OnceLock::new(),
            index: OnceLock::new(),
            fitted: fitted.clone(),
            language: language.unwrap_or(self.0.language),
            is_problem,
            skipped: SkippedStatements::default(),
        }))
    }

    /// A library that was read into memory.
    #[doc(hidden)]
    pub fn of_snapshot(
        model: Arc<Model>,
        snapshot: Arc<LibrarySnapshot>,
        fitted: Option<Arc<JointReranker>>,
    ) -> Self {
        let language = snapshot.language;
        let stored = Some(Stored::Held(snapshot));
        Self::assemble(model, stored, fitted, (Vec::new(), false), language, SkippedStatements::default())
    }

    /// A library in memory without statements, which is filled one by one.
    #[doc(hidden)]
    pub fn growing(model: Arc<Model>, language: Language) -> Self {
        let snapshot = LibrarySnapshot::empty(model.retriever.width(), language);
        Self::of_snapshot(model, Arc::new(snapshot), None)
    }

    /// Adds a statement to a library in memory that no other corpus shares; false if there is none.
    #[doc(hidden)]
    pub fn push(&mut self, statement: &AnalyzedStatement, row: VectorRow<'_>) -> bool {
        self.snapshot_mut().map(|snapshot| snapshot.push(statement, row)).is_some()
    }

    /// Adds a proof to a library in memory that no other corpus shares; false if there is none.
    #[doc(hidden)]
    pub fn push_proof(&mut self, name: &str, used: &[String]) -> bool {
        let learned = self.snapshot_mut().and_then(|snapshot| snapshot.learned.as_mut());
        learned.map(|learned| learned.add_proof(name, used)).is_some()
    }

    fn snapshot_mut(&mut self) -> Option<&mut LibrarySnapshot> {
        match &mut Arc::get_mut(&mut self.0)?.stored {
            Some(Stored::Held(snapshot)) => Arc::get_mut(snapshot),
            _ => None,
        }
    }

    /// Statements without a library.
    #[doc(hidden)]
    pub fn of_local(
        model: Arc<Model>,
        local: Vec<AnalyzedStatement>,
        language: Language,
        is_problem: bool,
    ) -> Self {
        Self::assemble(model, None, None, (local, is_problem), language, SkippedStatements::default())
    }

    fn assemble(
        model: Arc<Model>,
        stored: Option<Stored>,
        fitted: Option<Arc<JointReranker>>,
        (local, is_problem): (Vec<AnalyzedStatement>, bool),
        language: Language,
        skipped: SkippedStatements,
    ) -> Self {
        let (local, local_rows, index) = (Arc::new(local), OnceLock::new(), OnceLock::new());
        Corpus(Arc::new(Inner {
            model,
            stored,
            local,
            local_rows,
            index,
            fitted,
            language,
            is_problem,
            skipped,
        }))
    }
}

/// Locks a library that several queries stream from.
#[cfg(feature = "sqlite")]
pub(crate) fn lock(library: &Mutex<Library>) -> std::sync::MutexGuard<'_, Library> {
    library.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Collects the parts of a corpus. Parts keep their order; a local statement takes the place of the library's of that name.
pub struct CorpusBuilder<'a> {
    engine: &'a Engine,
    parts: Vec<Part<'a>>,
    #[cfg(feature = "sqlite")]
    library: Option<(&'a Path, Residency)>,
    format: Option<Format>,
    language: Option<Language>,
    keeps_going: bool,
    cancel: Cancel,
}

enum Part<'a> {
    File(PathBuf),
    Source(Source),
    Statements(Vec<Statement>),
    Problem(&'a Problem),
}

impl<'a> CorpusBuilder<'a> {
    pub(crate) fn new(engine: &'a Engine) -> Self {
        CorpusBuilder {
            engine,
            parts: Vec::new(),
            #[cfg(feature = "sqlite")]
            library: None,
            format: None,
            language: None,
            keeps_going: false,
            cancel: Cancel::never(),
        }
    }

    /// Adds statements.
    #[must_use]
    pub fn statements(mut self, statements: impl IntoIterator<Item = Statement>) -> Self {
        self.parts.push(Part::Statements(statements.into_iter().collect()));
        self
    }

    /// Adds the statements of a file in any format that is known.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.parts.push(Part::File(path.as_ref().to_owned()));
        self
    }

    /// Adds the statements of an open source.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.parts.push(Part::Source(source));
        self
    }

    /// Adds the axioms of a TPTP problem, which are kept even if they say the same as the goal.
    #[must_use]
    pub fn problem(mut self, problem: &'a Problem) -> Self {
        self.parts.push(Part::Problem(problem));
        self
    }

    /// Ranks the statements of a library, too, which come first.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn library(mut self, path: &'a Path, residency: Residency) -> Self {
        self.library = Some((path, residency));
        self
    }

    /// Reads files in this format instead of detecting it.
    #[must_use]
    pub fn format(mut self, format: Option<Format>) -> Self {
        self.format = format;
        self
    }

    /// The language of a corpus that says nothing of its own.
    #[must_use]
    pub fn language(mut self, language: Option<Language>) -> Self {
        self.language = language;
        self
    }

    /// Skips statements that cannot be read; see [`Corpus::skipped`].
    #[must_use]
    pub fn keep_going(mut self) -> Self {
        self.keeps_going = true;
        self
    }

    /// Gives up when this says so.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Reads and analyses all parts.
    ///
    /// # Errors
    ///
    /// Returns an error if a statement cannot be read, with the place, or a library was made with another model.
    pub fn build(mut self) -> Result<Corpus, Error> {
        for part in &mut self.parts {
            if let Part::File(path) = part {
                let source = Source::open(&path.display().to_string())?.in_format(self.format);
                *part = Part::Source(source);
            }
        }
        let own = self.parts.first().map(|part| match part {
            Part::Source(source) => source.language(),
            Part::Statements(list) => list.first().map_or_else(Language::default, |first| first.language),
            Part::Problem(_) | Part::File(_) => Language::Tptp,
        });
        #[cfg(feature = "sqlite")]
        let library = self.library.map(|(path, _)| Library::open(path)).transpose()?;
        #[cfg(feature = "sqlite")]
        let stored_language = library.as_ref().map(Library::language).transpose()?;
        #[cfg(not(feature = "sqlite"))]
        let stored_language: Option<Language> = None;
        let language = own.or(stored_language).or(self.language).unwrap_or_default();
        #[cfg_attr(not(feature = "sqlite"), allow(unused_mut, reason = "libraries are files of SQLite"))]
        let (mut stored, mut fitted) = (None, None);
        #[cfg(feature = "sqlite")]
        let model = match (library, self.library) {
            (Some(library), Some((_, residency))) => {
                let model = self.engine.model_of(&library)?;
                fitted = fitted_reranker(&library, self.engine.compute())?.map(Arc::new);
                stored = Some(match residency {
                    Residency::Held => Stored::Held(Arc::new(library.load()?)),
                    Residency::Streamed => Stored::Streamed(Arc::new(Mutex::new(library))),
                });
                model
            }
            _ => self.engine.model_for(language)?,
        };
        #[cfg(not(feature = "sqlite"))]
        let model = self.engine.model_for(language)?;
        let mut analyzer = Analyzer::new(&model.retriever);
        if self.keeps_going {
            analyzer = analyzer.keep_going();
        }
        let (mut local, mut is_problem) = (Vec::new(), false);
        for part in self.parts {
            match part {
                Part::File(_) => {}
                Part::Source(source) => {
                    for premise in analyzer.read(source)? {
                        self.cancel.check()?;
                        local.push(premise?);
                    }
                }
                Part::Statements(list) => {
                    for statement in list {
                        self.cancel.check()?;
                        local.push(analyzer.analyze(&statement.name, &statement.text, statement.language)?);
                    }
                }
                Part::Problem(problem) => {
                    is_problem = true;
                    local.extend(problem.axioms().iter().cloned());
                }
            }
        }
        let skipped = analyzer.skipped();
        Ok(Corpus::assemble(model, stored, fitted, (local, is_problem), language, skipped))
    }
}
