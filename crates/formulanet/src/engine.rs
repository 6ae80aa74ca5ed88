//! Models at work: answers queries over a corpus.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use formulanet_logic::Limits;
use formulanet_net::{Alone, Compute, Group, Precision};

use crate::analyze::GoalAnalysis;
use crate::corpus::{Stored, VectorCache, VectorColumn};
use crate::model::encode::Encoded;
use crate::model::{JointModelFile, ModelFile, ModelKind, registry};
use crate::pipeline::{GoalTask, Run, Scores, fuse_by_rank, join};
use crate::policy::{Facts, Fuse, RerankerSource, Stage1, Stage2, TUNING};
use crate::ranking::{apply_order, estimates};
use crate::rerank::JointReranker;
use crate::retrieve::VectorRetriever;
use crate::{
    Cancel, Corpus, CorpusBuilder, Error, Goal, GoalFormula, Hit, Id, Language, Query, Ranking, Statement,
};
#[cfg(feature = "sqlite")]
use crate::{Library, corpus};
use crate::{Order, Plan};

/// Models at work. Cloning is cheap: clones share the models that were loaded.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
    /// The model that was given, or else each corpus has that of its language or library.
    model: Option<Arc<Model>>,
    /// The re-ranker that was given.
    reranker: Option<Arc<JointReranker>>,
}

struct Shared {
    precision: Precision,
    threads: usize,
    group: &'static dyn Group,
    limits: Limits,
    /// Models by their names, loaded once.
    models: Mutex<HashMap<String, Arc<Model>>>,
    built_in: OnceLock<Option<Arc<JointReranker>>>,
}

/// A model that scores statements, with its name.
pub struct Model {
    /// Its name, or its file.
    pub name: String,
    /// The model at work.
    pub retriever: VectorRetriever,
    /// Vectors of axioms that several problems share.
    vectors: Mutex<Option<VectorCache>>,
}

impl Model {
    /// A model at work.
    pub fn new(name: impl Into<String>, retriever: VectorRetriever) -> Self {
        Model { name: name.into(), retriever, vectors: Mutex::new(None) }
    }

    /// Adds the vectors of statements to others, and computes each only once.
    pub(crate) fn cached_rows(&self, statements: &[(&str, &Encoded)], rows: &mut VectorColumn) {
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let vectors = vectors.get_or_insert_with(|| VectorCache::new(&self.retriever));
        rows.append(&vectors.rows(&self.retriever, statements));
    }
}

/// Chooses models and what they run on.
#[derive(Clone)]
pub struct EngineBuilder {
    model: Option<String>,
    reranker: Option<String>,
    precision: Precision,
    threads: usize,
    group: &'static dyn Group,
    limits: Limits,
}

impl EngineBuilder {
    /// Scores statements with a built-in model, by its name, or a model file. A re-ranker is taken as such.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Re-ranks with a built-in model, by its name, or a model file.
    #[must_use]
    pub fn reranker(mut self, model: impl Into<String>) -> Self {
        self.reranker = Some(model.into());
        self
    }

    /// Sets how exact products are.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Computes on this number of threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Shares the work with other processes.
    #[must_use]
    pub fn group(mut self, group: &'static dyn Group) -> Self {
        self.group = group;
        self
    }

    /// Sets bounds on a statement.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Loads the given models.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them does not exist or is of the wrong kind.
    pub fn build(self) -> Result<Engine, Error> {
        let EngineBuilder { model, reranker, precision, threads, group, limits } = self;
        let (models, built_in) = (Mutex::default(), OnceLock::new());
        let shared = Arc::new(Shared { precision, threads, group, limits, models, built_in });
        let mut engine = Engine { shared, model: None, reranker: None };
        match model.as_deref().map(ModelKind::named).transpose()? {
            Some(ModelKind::Joint(file)) => {
                engine.reranker = Some(Arc::new(JointReranker::new(*file, engine.compute())?));
            }
            Some(ModelKind::Pairwise(trained)) => {
                let name = model.unwrap_or_default();
                engine.model = Some(Arc::new(Model::new(name, engine.lay_out(*trained)?)));
            }
            None => {}
        }
        if let Some(reranker) = reranker {
            if engine.reranker.is_some() {
                return Err(Error::TwoRerankers);
            }
            engine.reranker =
                Some(Arc::new(JointReranker::new(JointModelFile::named(&reranker)?, engine.compute())?));
        }
        Ok(engine)
    }
}

impl Engine {
    /// The built-in models on all cores.
    ///
    /// # Errors
    ///
    /// Returns an error if a built-in model cannot be read, which would be a fault of the build.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Chooses models and what they run on.
    pub fn builder() -> EngineBuilder {
        EngineBuilder {
            model: None,
            reranker: None,
            precision: Precision::Auto,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            group: &Alone,
            limits: Limits::default(),
        }
    }

    /// Collects the parts of a corpus.
    pub fn corpus(&self) -> CorpusBuilder<'_> {
        CorpusBuilder::new(self)
    }

    /// Replaces the model.
    #[doc(hidden)]
    #[must_use]
    pub fn with_model(&self, model: Arc<Model>) -> Self {
        Engine { model: Some(model), ..self.clone() }
    }

    /// Replaces the re-ranker.
    #[doc(hidden)]
    #[must_use]
    pub fn with_reranker(&self, reranker: Option<Arc<JointReranker>>) -> Self {
        Engine { reranker, ..self.clone() }
    }

    /// Whether a re-ranker was given.
    pub fn has_reranker(&self) -> bool {
        self.reranker.is_some()
    }

    /// Replaces the re-ranker by a built-in one, by its name, or by a file.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such re-ranker.
    pub fn with_reranker_named(&self, reranker: &str) -> Result<Self, Error> {
        let reranker = JointReranker::new(JointModelFile::named(reranker)?, self.compute())?;
        Ok(self.with_reranker(Some(Arc::new(reranker))))
    }

    /// The resources that networks run on.
    pub fn compute(&self) -> Compute {
        Compute::among(self.shared.group, self.shared.precision, self.shared.threads)
    }

    /// A model at work, with this engine's threads, precision and bounds.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not score statements one by one.
    #[doc(hidden)]
    pub fn lay_out(&self, trained: ModelFile) -> Result<VectorRetriever, Error> {
        Ok(VectorRetriever::new(trained, self.compute())?.with_limits(self.shared.limits))
    }

    /// The given model, or the built-in one for a language.
    ///
    /// # Errors
    ///
    /// Returns an error if the built-in model was left out of the build.
    pub fn model_for(&self, language: Language) -> Result<Arc<Model>, Error> {
        match &self.model {
            Some(model) => Ok(Arc::clone(model)),
            None => self.model_named(registry::for_language(language)),
        }
    }

    /// A built-in model by its name, or a model file, loaded once.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such model.
    pub fn model_named(&self, name: &str) -> Result<Arc<Model>, Error> {
        let mut models = self.shared.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(name) {
            return Ok(Arc::clone(model));
        }
        let retriever = VectorRetriever::named(name, self.compute())?.with_limits(self.shared.limits);
        let model = Arc::new(Model::new(name, retriever));
        models.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    /// The model that a library was made with.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist any more, or if another one was given.
    #[cfg(feature = "sqlite")]
    pub fn model_of(&self, library: &Library) -> Result<Arc<Model>, Error> {
        let model = match &self.model {
            Some(model) => Arc::clone(model),
            None => self.model_named(&library.info()?.model)?,
        };
        library.check(&model.retriever)?;
        Ok(model)
    }

    /// The built-in re-ranker, if the build has it.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, which would be a fault of the build.
    fn built_in(&self) -> Result<Option<&Arc<JointReranker>>, Error> {
        if let Some(reranker) = self.shared.built_in.get() {
            return Ok(reranker.as_ref());
        }
        let reranker = match registry::bytes("reader") {
            Some(_) => Some(Arc::new(JointReranker::built_in(self.compute())?)),
            None => None,
        };
        Ok(self.shared.built_in.get_or_init(|| reranker).as_ref())
    }

    /// The built-in re-ranker, if the build has it.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, which would be a fault of the build.
    #[doc(hidden)]
    pub fn built_in_reranker(&self) -> Result<Option<Arc<JointReranker>>, Error> {
        Ok(self.built_in()?.cloned())
    }

    /// Releases memory that waits for the next query.
    pub fn trim(&self) {
        let models = self.shared.models.lock().unwrap_or_else(PoisonError::into_inner);
        let given = self.model.iter();
        let networks = models.values().chain(given).filter_map(|model| model.retriever.network().ok());
        networks.for_each(|network| network.compute().forget_buffers());
        let readers = self.shared.built_in.get().into_iter().flatten().chain(&self.reranker);
        readers.for_each(|reranker| reranker.forget_buffers());
    }

    /// Decides what [`Engine::rank`] would do.
    ///
    /// # Errors
    ///
    /// Returns an error if the library is damaged.
    pub fn plan(&self, corpus: &Corpus, query: &Query) -> Result<Plan, Error> {
        let facts = Facts {
            has_library: corpus.stored_count()? > 0,
            has_index: corpus.has_index()?,
            has_proofs: corpus.has_proofs()?,
            is_small: corpus.stored_count()? + corpus.0.local.len() < TUNING.learned_from,
            is_tptp: corpus.language() == Language::Tptp,
            has_model: corpus.0.model.retriever.model().is_some(),
            has_given: self.reranker.is_some(),
            has_fitted: corpus.0.fitted.is_some(),
            has_built_in: registry::bytes("reader").is_some(),
        };
        Ok(Plan::decide(query.policy, facts, &TUNING))
    }

    /// Ranks the statements of a corpus by how useful they are for a goal.
    ///
    /// # Errors
    ///
    /// Returns an error if a goal cannot be read, there is nothing to rank, or a name of the query does not exist.
    pub fn rank(&self, corpus: &Corpus, query: &Query) -> Result<Ranking, Error> {
        self.rank_with(corpus, query, &Cancel::never())
    }

    /// Ranks like [`Engine::rank`], until it is cancelled.
    ///
    /// # Errors
    ///
    /// As [`Engine::rank`]; [`Error::Interrupted`] if it was cancelled.
    pub fn rank_with(&self, corpus: &Corpus, query: &Query, cancel: &Cancel) -> Result<Ranking, Error> {
        let plan = self.plan(corpus, query)?;
        #[cfg(feature = "sqlite")]
        {
            let locked = match &corpus.0.stored {
                Some(Stored::Streamed(library)) => Some(corpus::lock(library)),
                _ => None,
            };
            let library = locked.as_deref();
            // Statements and proofs have to be those of one moment.
            let _moment = library.map(Library::read_transaction).transpose()?;
            self.run(corpus, query, plan, Run::new(&corpus.0, library, cancel))
        }
        #[cfg(not(feature = "sqlite"))]
        self.run(corpus, query, plan, Run::new(&corpus.0, cancel))
    }

    /// The statements whose vectors are closest to a formula's, the closest first; scores are cosines.
    ///
    /// # Errors
    ///
    /// Returns an error if the library is damaged; [`Error::Interrupted`] if it was cancelled.
    #[doc(hidden)]
    pub fn neighbors(
        &self,
        corpus: &Corpus,
        formula: &Encoded,
        k: usize,
        cancel: &Cancel,
    ) -> Result<Vec<Hit>, Error> {
        #[cfg(feature = "sqlite")]
        {
            let locked = match &corpus.0.stored {
                Some(Stored::Streamed(library)) => Some(corpus::lock(library)),
                _ => None,
            };
            let library = locked.as_deref();
            let _moment = library.map(Library::read_transaction).transpose()?;
            Run::new(&corpus.0, library, cancel).closest(formula, k)
        }
        #[cfg(not(feature = "sqlite"))]
        Run::new(&corpus.0, cancel).closest(formula, k)
    }

    fn run(&self, corpus: &Corpus, query: &Query, plan: Plan, mut run: Run<'_>) -> Result<Ranking, Error> {
        let mut task = self.read_goals(corpus, query, &run)?;
        let reranker = self.reranker(corpus, &plan)?;
        let stage = reranker.as_deref().zip(plan.rerank);
        let mut ineligible = Vec::new();
        let Scores { scores, probabilities, base_rates } = match plan.retrieve {
            Stage1::Model => self.by_model(query, &plan, stage, &mut task, &mut run, &mut ineligible)?,
            Stage1::Learned { .. } => {
                let mut best: Option<Scores> = None;
                for (number, task) in task.iter_mut().enumerate() {
                    let stage = stage.filter(|_| number < TUNING.reranked_goals);
                    let mut own = Vec::new();
                    let found = run.by_learned(task, &query.scope, stage, plan.order, &mut own)?;
                    unite(&mut ineligible, &own);
                    match &mut best {
                        None => best = Some(found),
                        Some(best) => {
                            join(&mut best.scores, &found.scores);
                            if let (Some(best), Some(found)) = (&mut best.probabilities, &found.probabilities)
                            {
                                join(best, found);
                            }
                        }
                    }
                }
                best.ok_or(Error::NoStatements)?
            }
            Stage1::Symbols => {
                let scores = self.by_symbols(query, stage, &mut task, &mut run, &mut ineligible)?;
                Scores { scores, probabilities: None, base_rates: None }
            }
            Stage1::ModelAndSymbols => {
                let by_probability = Plan { order: Order::Probability, ..plan };
                let named = self
                    .by_model(query, &by_probability, stage, &mut task, &mut run, &mut ineligible)?
                    .scores;
                let deep = |(reranker, stage): (_, Stage2)| {
                    (reranker, Stage2 { depth: TUNING.depth_anonymous, fuse: Fuse::Replace, ..stage })
                };
                let anonymous =
                    self.by_symbols(query, stage.map(deep), &mut task, &mut run, &mut ineligible)?;
                Scores { scores: fuse_by_rank(&named, &anonymous), probabilities: None, base_rates: None }
            }
        };
        let unknown = task.iter().flat_map(|task| task.goal.encoded.unknown());
        let mut unknown_symbols: Vec<String> = Vec::new();
        unknown.for_each(|symbol| {
            if !unknown_symbols.contains(symbol) {
                unknown_symbols.push(symbol.clone());
            }
        });
        let mut matches = query.take.pattern_matches(scores.len(), |number| run.name(number), run.cancel)?;
        matches.exclude(&ineligible);
        let taken = query.take.pick(&scores, &matches)?;
        let numbers: Vec<usize> = taken.iter().map(|ranked| ranked.statement).collect();
        let depth = plan.rerank.map(|stage| stage.depth);
        let probabilities = probabilities.map(|known| estimates(&known, depth));
        let evidence = if query.explain { Some(run.evidence(&numbers, &task)?) } else { None };
        let stored = run.stored_count();
        let hit = |(place, &number): (usize, &usize)| -> Result<Hit, Error> {
            Ok(Hit {
                id: Id(number as u32),
                local: number.checked_sub(stored),
                statement: run.statement(number)?,
                score: scores[number],
                probability: probabilities.as_ref().and_then(|known| known[number]),
                base_rate: base_rates.as_ref().filter(|_| query.explain).map(|rates| rates[number]),
                evidence: evidence.as_ref().map(|evidence| evidence[place].clone()),
            })
        };
        let hits = numbers.iter().enumerate().map(hit).collect::<Result<_, Error>>()?;
        let mut existing = Vec::new();
        for task in &mut task {
            for found in run.existing(task, &scores, &ineligible)? {
                if !existing.contains(&found) {
                    existing.push(found);
                }
            }
        }
        Ok(Ranking {
            hits,
            existing,
            considered: scores.len(),
            plan,
            unmatched: matches.unmatched,
            unknown_symbols,
        })
    }

    /// Scores by the model: joined over all goals, re-ranked for the first few, then ordered.
    fn by_model(
        &self,
        query: &Query,
        plan: &Plan,
        stage: Option<(&JointReranker, Stage2)>,
        task: &mut [GoalTask],
        run: &mut Run<'_>,
        ineligible: &mut Vec<bool>,
    ) -> Result<Scores, Error> {
        let with_base = query.explain || plan.order == Order::Lift;
        let mut pool: Option<Scores> = None;
        for task in task.iter() {
            let found = run.by_model(&task.goal.encoded, with_base)?;
            match &mut pool {
                None => pool = Some(found),
                Some(pool) => join(&mut pool.scores, &found.scores),
            }
            let end = run.place(&query.scope, task)?;
            unite(ineligible, &run.ineligible(task, &query.scope, end));
        }
        let Scores { scores: mut pool, base_rates, .. } = pool.ok_or(Error::NoStatements)?;
        if let Some(stage) = stage {
            let mut best = vec![0.0f32; pool.len()];
            for (number, task) in task.iter_mut().enumerate() {
                let mut read = pool.clone();
                if number < TUNING.reranked_goals {
                    run.rerank(&mut task.goal, ineligible, stage, &mut read)?;
                }
                join(&mut best, &read);
            }
            pool = best;
        }
        let probabilities = Some(pool.clone());
        apply_order(plan.order, &mut pool, base_rates.as_deref());
        Ok(Scores { scores: pool, probabilities, base_rates })
    }

    /// Scores by symbols: each goal's, re-ranked for the first few, then joined.
    fn by_symbols(
        &self,
        query: &Query,
        stage: Option<(&JointReranker, Stage2)>,
        task: &mut [GoalTask],
        run: &mut Run<'_>,
        ineligible: &mut Vec<bool>,
    ) -> Result<Vec<f32>, Error> {
        let features = run.features()?;
        let mut best = vec![0.0f32; features.len()];
        for task in task.iter() {
            let end = run.place(&query.scope, task)?;
            unite(ineligible, &run.ineligible(task, &query.scope, end));
        }
        for (number, task) in task.iter_mut().enumerate() {
            let stage = stage.filter(|_| number < TUNING.reranked_goals);
            join(&mut best, &run.by_symbols(&mut task.goal, &features, ineligible, stage)?);
        }
        Ok(best)
    }

    /// The re-ranker of a plan.
    fn reranker(&self, corpus: &Corpus, plan: &Plan) -> Result<Option<Arc<JointReranker>>, Error> {
        Ok(match plan.rerank.map(|stage| stage.reranker) {
            None => None,
            Some(RerankerSource::Given) => self.reranker.clone(),
            Some(RerankerSource::Fitted) => corpus.0.fitted.clone(),
            Some(RerankerSource::BuiltIn) => self.built_in()?.cloned(),
        })
    }

    fn read_goals(&self, corpus: &Corpus, query: &Query, run: &Run<'_>) -> Result<Vec<GoalTask>, Error> {
        let retriever = &corpus.0.model.retriever;
        let read = |goal: &Goal| -> Result<GoalTask, Error> {
            Ok(match goal {
                Goal::Formula(formula) => {
                    GoalTask { goal: read_goal(retriever, formula, corpus.language())?, stored: None }
                }
                Goal::Stored(name) => {
                    let statement = stored_statement(corpus, run, name)?;
                    let language = statement.language;
                    let Goal::Formula(formula) = Goal::from(statement) else {
                        return Err(Error::NoStatements);
                    };
                    let goal = read_goal(retriever, &formula, language)?;
                    GoalTask { goal, stored: Some(name.clone()) }
                }
            })
        };
        query.goals.iter().map(read).collect()
    }
}

/// Reads a goal as the corpus's model does.
fn read_goal(
    retriever: &VectorRetriever,
    goal: &GoalFormula,
    language: Language,
) -> Result<GoalAnalysis, Error> {
    let known = retriever.hol_options();
    let names = known.names.with_constants(&goal.constants).with_variables(&goal.variables);
    let options = formulanet_logic::hol::Options { names, ..known };
    let statement = Statement {
        name: goal.source.clone(),
        text: goal.text.clone(),
        language: goal.language.unwrap_or(language),
    };
    GoalAnalysis::read_as(retriever, &statement, &options)
}

/// A statement of the library by its name.
#[cfg_attr(not(feature = "sqlite"), allow(unused_variables, reason = "libraries are files of SQLite"))]
fn stored_statement(corpus: &Corpus, run: &Run<'_>, name: &str) -> Result<Statement, Error> {
    let missing = || Error::NoSuchStatement { library: "library".to_owned(), name: name.to_owned() };
    match &corpus.0.stored {
        Some(Stored::Held(snapshot)) => {
            let found = snapshot.entries.iter().find(|entry| entry.statement.name == name);
            found.map(|entry| entry.statement.clone()).ok_or_else(missing)
        }
        #[cfg(feature = "sqlite")]
        Some(Stored::Streamed(_)) => run.library.ok_or_else(missing)?.statement(name),
        None => Err(missing()),
    }
}

fn unite(ineligible: &mut Vec<bool>, other: &[bool]) {
    if ineligible.is_empty() {
        *ineligible = other.to_vec();
    } else {
        ineligible.iter_mut().zip(other).for_each(|(ineligible, other)| *ineligible |= other);
    }
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Engine>();
    shared::<Corpus>();
    shared::<Query>();
    shared::<Ranking>();
    shared::<Error>();
};
