//! A library, and what is kept of it in memory between two questions.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use formulanet::analyze::Analyzer;
use formulanet::corpus::LibrarySnapshot;
use formulanet::library::{Added, Change, LibraryWriter};
use formulanet::model::registry;
use formulanet::net::Precision;
use formulanet::read::{Format, Proof, ProofWarnings, read_proofs};
use formulanet::rerank::JointReranker;
use formulanet::retrieve::VectorRetriever;
use formulanet::{Error, Language};
use pyo3::prelude::*;

use crate::input::{Opened, Part, maybe_one_of, open, read_each};
use crate::interrupt::{OnInterrupt, Stop, interruptible};
use crate::models::{Loaded, Model};

/// All of a library, as it was at one moment.
#[derive(Clone)]
pub(crate) struct Contents {
    pub(crate) shelf: Arc<LibrarySnapshot>,
    /// The reader that was fitted to it, if there is one.
    pub(crate) reading: Option<Arc<JointReranker>>,
}

/// The state of a library's file.
#[derive(Default)]
struct Known {
    contents: Option<Contents>,
    model: Option<Arc<Loaded>>,
}

/// A library by its path. It is opened for every question and every change, so that others may change it, too.
#[pyclass(frozen, skip_from_py_object, module = "formulanet._native")]
#[derive(Clone)]
pub(crate) struct Library {
    path: PathBuf,
    known: Arc<Mutex<Known>>,
}

impl Library {
    fn open(&self) -> Result<formulanet::Library, Error> {
        formulanet::Library::open(&self.path)
    }

    /// The library as it is now. What was read before is read again only if it has changed.
    pub(crate) fn contents(&self) -> Result<Contents, Error> {
        let library = self.open()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut contents = match known.contents.take() {
            Some(contents) => contents,
            None => Self::load(&library)?,
        };
        match library.changes_since(contents.shelf.generation(), contents.shelf.learned.is_some())? {
            Change::None => {}
            // Copied only if another thread is at work with it.
            Change::Appended(additions) => {
                Arc::make_mut(&mut contents.shelf).append(*additions);
            }
            Change::Rewritten => contents = Self::load(&library)?,
        }
        known.contents = Some(contents.clone());
        Ok(contents)
    }

    fn load(library: &formulanet::Library) -> Result<Contents, Error> {
        let mut shelf = library.load()?;
        let threads = formulanet_train::processes::threads(&formulanet::net::Alone);
        let compute = || formulanet::net::Compute::new(Precision::Auto, threads);
        let reader = shelf.fitted.take();
        let reading = reader.map(|file| JointReranker::new(file, compute())).transpose()?.map(Arc::new);
        Ok(Contents { shelf: Arc::new(shelf), reading })
    }

    /// The model that it was made with.
    pub(crate) fn model(&self) -> Result<Arc<Loaded>, Error> {
        let made = self.open()?.info()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = known.model.as_ref().filter(|model| model.name == made.model) {
            return Ok(Arc::clone(model));
        }
        let model = Loaded::named(&made.model)?;
        known.model = Some(Arc::clone(&model));
        Ok(model)
    }

    /// Refuses a model other than the one that made the vectors.
    pub(crate) fn check(&self, retriever: &VectorRetriever) -> Result<(), Error> {
        self.open()?.check(retriever)
    }

    fn at(path: PathBuf) -> Self {
        Library { path, known: Arc::default() }
    }
}

/// The result of an addition.
#[derive(IntoPyObject)]
pub(crate) struct AddedCounts {
    new: usize,
    changed: usize,
    same: usize,
    proofs: usize,
    warnings: Vec<String>,
}

impl AddedCounts {
    fn of(added: &Added) -> Self {
        let repeated = (added.repeated > 0)
            .then(|| format!("left out {} statements with the name of a later one", added.repeated));
        AddedCounts {
            new: added.new,
            changed: added.replaced,
            same: added.same,
            proofs: added.proofs,
            warnings: repeated.into_iter().chain(added.warnings.report()).collect(),
        }
    }
}

/// The result of recording proofs.
#[derive(IntoPyObject)]
pub(crate) struct LearntCounts {
    new: usize,
    same: usize,
    left_out: usize,
    warnings: Vec<String>,
}

/// Proofs in a file, or as names with the names of what each used.
#[derive(FromPyObject)]
pub(crate) enum Proofs {
    File(String),
    List(Vec<(String, Vec<String>)>),
}

impl Proofs {
    fn read(self) -> Result<Vec<Proof>, Error> {
        match self {
            Proofs::File(file) => read_proofs(&file),
            Proofs::List(list) => {
                let proof = |(name, used): (String, Vec<String>)| Proof { place: name.clone(), name, used };
                Ok(list.into_iter().map(proof).collect())
            }
        }
    }
}

/// Reads statements into a library.
fn fill(
    parts: Vec<Opened>,
    syntax: Option<Language>,
    retriever: &VectorRetriever,
    addition: &mut LibraryWriter<'_>,
    stop: &Stop,
) -> Result<(), Error> {
    let mut count = 0;
    read_each(Analyzer::new(retriever), parts, syntax, stop, |premise| {
        count += 1;
        addition.push(premise)
    })?;
    if count == 0 { Err(Error::NoStatements) } else { Ok(()) }
}

/// Statements as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Statements {
    parts: Vec<Part>,
    syntax: Option<String>,
    input_format: Option<String>,
    strict: bool,
}

#[pymethods]
impl Library {
    /// Opens a library that is there.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let library = Self::at(path);
        let opened = library.clone();
        interruptible(py, OnInterrupt::Leave, move |_| opened.open().map(drop))?;
        Ok(library)
    }

    /// Makes a library.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        path: PathBuf,
        statements: Statements,
        model: Option<Py<Model>>,
    ) -> PyResult<(Self, AddedCounts)> {
        let syntax = maybe_one_of(py, &Language::ALL, "syntax", statements.syntax.as_deref())?;
        let format = maybe_one_of(py, &Format::ALL, "input_format", statements.input_format.as_deref())?;
        let model = model.map(|model| Arc::clone(&model.get().0));
        let (parts, is_strict) = (statements.parts, statements.strict);
        interruptible(py, OnInterrupt::Wait, move |stop| {
            let parts = open(parts, format)?;
            let own = parts.first().map(|part| part.syntax(syntax));
            let model = match model {
                Some(model) => model,
                None => Loaded::named(registry::for_language(own.or(syntax).unwrap_or_default()))?,
            };
            let retriever = model.retriever()?;
            let added = formulanet::Library::build(&path, retriever, &model.name, |addition| {
                addition.set_strict(is_strict);
                fill(parts, syntax, retriever, addition, stop)
            })?;
            Ok((Self::at(path), AddedCounts::of(&added)))
        })
    }

    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    fn add(&self, py: Python<'_>, statements: Statements) -> PyResult<AddedCounts> {
        let syntax = maybe_one_of(py, &Language::ALL, "syntax", statements.syntax.as_deref())?;
        let format = maybe_one_of(py, &Format::ALL, "input_format", statements.input_format.as_deref())?;
        let (parts, is_strict, this) = (statements.parts, statements.strict, self.clone());
        interruptible(py, OnInterrupt::Wait, move |stop| {
            let (mut library, model) = (this.open()?, this.model()?);
            let retriever = model.retriever()?;
            // A list is in the library's language, unless somebody says otherwise.
            let syntax = Some(syntax.map_or_else(|| library.language(), Ok)?);
            let parts = open(parts, format)?;
            let mut addition = library.writer(retriever)?;
            addition.set_strict(is_strict);
            fill(parts, syntax, retriever, &mut addition, stop)?;
            Ok(AddedCounts::of(&addition.commit()?))
        })
    }

    fn remove(&self, py: Python<'_>, patterns: Vec<String>) -> PyResult<usize> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Wait, move |_| this.open()?.remove(&patterns))
    }

    fn learn(&self, py: Python<'_>, proofs: Vec<Proofs>, strict: bool) -> PyResult<LearntCounts> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Wait, move |_| {
            let mut library = this.open()?;
            let proofs = proofs.into_iter().map(Proofs::read).collect::<Result<Vec<_>, Error>>()?.concat();
            let learnt = library.learn(&proofs, strict)?;
            let strangers = learnt.first_unknown.as_ref().map(|first| {
                let count = learnt.of_unknown;
                format!("left out {count} proofs of statements that are not in the library (first {first}); add these first")
            });
            Ok(LearntCounts {
                new: learnt.new,
                same: learnt.same,
                left_out: learnt.of_unknown,
                warnings: ProofWarnings::report(&learnt.warnings).into_iter().chain(strangers).collect(),
            })
        })
    }

    fn forget(&self, py: Python<'_>, names: Vec<String>, last: bool) -> PyResult<usize> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Wait, move |_| {
            let mut library = this.open()?;
            names.iter().map(|name| library.forget(name, last)).sum()
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Leave, move |_| this.open()?.count())
    }

    fn proof_count(&self, py: Python<'_>) -> PyResult<usize> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Leave, move |_| this.open()?.proof_count())
    }

    /// Name, statement and syntax of all, in order.
    fn statements(&self, py: Python<'_>) -> PyResult<Vec<(String, String, &'static str)>> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Leave, move |_| {
            let statements = this.open()?.statements()?;
            Ok(statements.into_iter().map(|s| (s.name, s.text, s.language.name())).collect())
        })
    }

    /// The dependencies of a statement's proofs.
    fn proofs(&self, py: Python<'_>, name: String) -> PyResult<Vec<Vec<String>>> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Leave, move |_| this.open()?.proofs_of(&name))
    }

    /// The model that made it.
    fn model_name(&self, py: Python<'_>) -> PyResult<String> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Leave, move |_| Ok(this.open()?.info()?.model))
    }

    /// Checks the file and compares every vector with a new one.
    fn verify(&self, py: Python<'_>) -> PyResult<usize> {
        let this = self.clone();
        interruptible(py, OnInterrupt::Leave, move |_| this.open()?.verify(this.model()?.retriever()?))
    }
}
