//! Models at work, each loaded once.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use formulanet::Error;
use formulanet::model::{JointModelFile, ModelFile, ModelKind, registry};
use formulanet::net::{Alone, Compute, Precision};
use formulanet::rerank::JointReranker;
use formulanet::retrieve::VectorRetriever;
use formulanet_train::processes;
use pyo3::prelude::*;

use crate::input::one_of;
use crate::interrupt::{OnInterrupt, interruptible};

const PRECISIONS: [(&str, Precision); 3] =
    [("auto", Precision::Auto), ("f32", Precision::F32), ("bf16", Precision::Bf16)];

/// A trained network.
pub(crate) enum Kind {
    /// One that makes a vector of every statement.
    Retriever(Arc<formulanet::engine::Model>),
    /// A model that reads a statement again for every conjecture: it can be evaluated.
    Marked(Box<ModelFile>),
    /// One that reads a conjecture and its candidates together, laid out once it is needed.
    Together(Box<JointModelFile>, OnceLock<Arc<JointReranker>>),
}

/// A model, and what it runs on.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    precision: Precision,
    threads: usize,
}

impl Loaded {
    pub(crate) fn new(name: &str, precision: Precision, threads: Option<usize>) -> Result<Self, Error> {
        let threads = threads.unwrap_or_else(|| processes::threads(&Alone)).max(1);
        if name == registry::NO_MODEL {
            let retriever = VectorRetriever::without_model();
            let kind = Kind::Retriever(Arc::new(formulanet::engine::Model::new(name, retriever)));
            return Ok(Loaded { name: name.to_owned(), kind, precision, threads });
        }
        let kind = match ModelKind::named(name)? {
            ModelKind::Joint(file) => Kind::Together(file, OnceLock::new()),
            ModelKind::Pairwise(trained) if trained.model.config().marks => Kind::Marked(trained),
            ModelKind::Pairwise(trained) => {
                let retriever = VectorRetriever::new(*trained, Compute::new(precision, threads))?;
                Kind::Retriever(Arc::new(formulanet::engine::Model::new(name, retriever)))
            }
        };
        Ok(Loaded { name: name.to_owned(), kind, precision, threads })
    }

    /// A built-in model on all cores, which is loaded once; or a model file.
    pub(crate) fn named(name: &str) -> Result<Arc<Self>, Error> {
        static SHIPPED: LazyLock<Mutex<HashMap<String, Arc<Loaded>>>> = LazyLock::new(Mutex::default);
        if registry::bytes(name).is_none() {
            return Ok(Arc::new(Self::new(name, Precision::Auto, None)?));
        }
        let mut known = SHIPPED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = known.get(name) {
            return Ok(Arc::clone(loaded));
        }
        let loaded = Arc::new(Self::new(name, Precision::Auto, None)?);
        known.insert(name.to_owned(), Arc::clone(&loaded));
        Ok(loaded)
    }

    pub(crate) fn compute(&self) -> Compute {
        Compute::new(self.precision, self.threads)
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// As one that makes vectors.
    pub(crate) fn retriever(&self) -> Result<&VectorRetriever, Error> {
        Ok(&self.model()?.retriever)
    }

    /// As one that makes vectors, for the engine.
    pub(crate) fn model(&self) -> Result<&Arc<formulanet::engine::Model>, Error> {
        match &self.kind {
            Kind::Retriever(model) => Ok(model),
            Kind::Together(..) => Err(Error::ReadsTogether { model: self.name.clone() }),
            Kind::Marked(_) => Err(Error::Input {
                place: self.name.clone(),
                message: "expected a model that makes a vector of every statement, found one that needs the conjecture for \
                          that; it can be evaluated, but not used for ranking"
                    .to_owned(),
            }),
        }
    }

    /// As one that reads statements together.
    pub(crate) fn reading(&self) -> Result<Arc<JointReranker>, Error> {
        let Kind::Together(file, reading) = &self.kind else {
            let message = "expected a model that reads statements together, found one that does not";
            return Err(Error::Input { place: self.name.clone(), message: message.to_owned() });
        };
        if let Some(reading) = reading.get() {
            return Ok(Arc::clone(reading));
        }
        let made = JointReranker::new(JointModelFile::clone(file), self.compute())?;
        Ok(Arc::clone(reading.get_or_init(|| Arc::new(made))))
    }

    /// The trained network, if it reads statements one by one.
    pub(crate) fn trained(&self) -> Option<&ModelFile> {
        match &self.kind {
            Kind::Retriever(model) => model.retriever.model(),
            Kind::Marked(trained) => Some(trained),
            Kind::Together(..) => None,
        }
    }
}

/// A model that was loaded.
#[pyclass(frozen, module = "formulanet._native")]
pub(crate) struct Model(pub(crate) Arc<Loaded>);

#[pymethods]
impl Model {
    #[new]
    fn new(py: Python<'_>, name: String, precision: &str, threads: Option<usize>) -> PyResult<Self> {
        let precision = one_of(py, &PRECISIONS, "precision", precision)?;
        let load = move |_: &_| match (precision, threads) {
            (Precision::Auto, None) => Loaded::named(&name),
            _ => Ok(Arc::new(Loaded::new(&name, precision, threads)?)),
        };
        Ok(Model(interruptible(py, OnInterrupt::Leave, load)?))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// `classify`, `rank` or `read together`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.trained() {
            None => "read together",
            Some(trained) if trained.ranks() => "rank",
            Some(_) => "classify",
        }
    }

    /// The graphs that it reads, if it reads statements one by one.
    #[getter]
    fn view(&self) -> Option<&'static str> {
        self.0.trained().map(|trained| trained.origin.view.name())
    }

    /// The labels that it knows, or the names of symbols.
    #[getter]
    fn vocabulary(&self) -> Vec<String> {
        match &self.0.kind {
            Kind::Together(file, _) => file.names.clone(),
            _ => self.0.trained().map(|trained| trained.vocabulary.clone()).unwrap_or_default(),
        }
    }

    /// Where it comes from, as JSON.
    #[getter]
    fn origin(&self) -> String {
        let text = match (&self.0.kind, self.0.trained()) {
            (Kind::Together(file, _), _) => serde_json::to_string(&file.origin),
            (_, trained) => serde_json::to_string(&trained.map(|trained| &trained.origin)),
        };
        text.unwrap_or_default()
    }

    /// Numbers of a statement's vector, if it makes any.
    #[getter]
    fn width(&self) -> Option<usize> {
        self.0
            .retriever()
            .and_then(|retriever| retriever.network())
            .ok()
            .map(|network| network.model().config().width())
    }
}

/// The names of the models that are built in.
#[pyfunction]
pub(crate) fn models() -> Vec<&'static str> {
    registry::all().collect()
}
