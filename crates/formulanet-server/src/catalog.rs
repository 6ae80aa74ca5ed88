//! Models and libraries that the server has read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use axum::http::StatusCode;
use formulanet::corpus::LibrarySnapshot;
use formulanet::engine::Model;
use formulanet::library::{Additions, Change};
use formulanet::model::{ModelFile, registry};
use formulanet::rerank::JointReranker;
use formulanet::{Corpus, Engine, Error, Language, Library};

use crate::pool::Line;
use crate::problem::Problem;
use crate::settings::{Settings, StartError};

/// A library that is served.
pub(crate) struct Shelf {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) model: Arc<Model>,
    /// The last complete state. Requests take it and let go of the lock, so that no request waits for a change.
    contents: Mutex<Contents>,
    /// Held while a change is read.
    refreshing: Mutex<()>,
    /// Why the file could not be read when it was last tried.
    failure: Mutex<Option<String>>,
    /// Where requests wait that change it.
    pub(crate) line: Line,
}

/// The most statements that are added in place, while requests for the state wait.
const MOST_IN_PLACE: usize = 1000;

/// One state of a library.
#[derive(Clone)]
pub(crate) struct Contents {
    pub(crate) shelf: Arc<LibrarySnapshot>,
    /// The re-ranker that was fitted to the library, if there is one.
    pub(crate) reading: Option<Arc<JointReranker>>,
}

impl Contents {
    /// Reads a library.
    fn load(library: &Library, engine: &Engine) -> Result<Self, Error> {
        let mut shelf = library.load()?;
        let fitted = shelf.fitted.take();
        let reading =
            fitted.map(|file| JointReranker::new(file, engine.compute())).transpose()?.map(Arc::new);
        Ok(Contents { shelf: Arc::new(shelf), reading })
    }
}

impl Shelf {
    /// The last complete state.
    pub(crate) fn contents(&self) -> Contents {
        lock(&self.contents).clone()
    }

    /// The last complete state as a corpus.
    pub(crate) fn corpus(&self) -> Corpus {
        let Contents { shelf, reading } = self.contents();
        Corpus::of_snapshot(Arc::clone(&self.model), shelf, reading)
    }

    /// Reads what has changed in the file, at one moment, before any lock is taken.
    pub(crate) fn refresh(&self, library: &Library, engine: &Engine) -> Result<(), Error> {
        let _refreshing = lock(&self.refreshing);
        let before = self.contents().shelf;
        match library.changes_since(before.generation(), before.learned.is_some())? {
            Change::None => {}
            Change::Appended(additions) => {
                drop(before);
                self.append(*additions);
            }
            Change::Rewritten => {
                drop(before);
                let contents = Contents::load(library, engine)?;
                *lock(&self.contents) = contents;
            }
        }
        Ok(())
    }

    /// Adds to the state: in place if that is soon done and no request is using it, otherwise to a copy that takes its place.
    /// Requests never wait for copying.
    fn append(&self, additions: Additions) {
        if additions.len() <= MOST_IN_PLACE
            && let Some(shelf) = Arc::get_mut(&mut lock(&self.contents).shelf)
        {
            shelf.append(additions);
            return;
        }
        let before = self.contents().shelf;
        let mut shelf = (*before).clone();
        shelf.append(additions);
        lock(&self.contents).shelf = Arc::new(shelf);
    }

    /// Notes why the file cannot be read, and says so once; nothing if it could be read.
    pub(crate) fn note(&self, failure: Option<String>) {
        let mut noted = lock(&self.failure);
        if let Some(message) = failure.as_ref().filter(|_| *noted != failure) {
            crate::tell(format_args!("library {}: {message}; the state before is served", self.name));
        }
        *noted = failure;
    }

    /// Why the file could not be read when it was last tried.
    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }
}

/// Locks what holds whole values, also after a thread has panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A model that requests can name. Built-in models are loaded when first needed.
struct Slot {
    name: String,
    model: OnceLock<Arc<Model>>,
}

/// Everything that requests can name.
pub(crate) struct Catalog {
    /// The built-in models, the given one, and those of the libraries.
    slots: Vec<Slot>,
    /// The model for statements of requests, if one was given.
    given: Option<Arc<Model>>,
    pub(crate) shelves: Vec<Shelf>,
    pub(crate) engine: Engine,
}

impl Catalog {
    /// Reads everything that is sure to be used.
    pub(crate) fn open(settings: &Settings) -> Result<Self, StartError> {
        let slot = |name: &str| Slot { name: name.to_owned(), model: OnceLock::new() };
        let mut catalog = Catalog {
            slots: registry::embedding_models().map(slot).collect(),
            given: None,
            shelves: Vec::new(),
            engine: Engine::builder()
                .precision(settings.precision)
                .threads(1)
                .limits(settings.limits)
                .build()?,
        };
        catalog.given = settings.model.as_deref().map(|model| catalog.add(model)).transpose()?;
        for path in &settings.libraries {
            let shelf = catalog.read_shelf(path)?;
            if catalog.shelves.iter().any(|other| other.name == shelf.name) {
                return Err(StartError::SameName { name: shelf.name });
            }
            catalog.shelves.push(shelf);
        }
        if catalog.given.is_none() {
            for syntax in [Language::Hol, Language::Tptp] {
                catalog.add(registry::for_language(syntax))?;
            }
        }
        Ok(catalog)
    }

    /// Lets go of memory that waits for the next request.
    pub(crate) fn forget_buffers(&self) {
        let models = self.slots.iter().filter_map(|slot| slot.model.get());
        let networks = models.filter_map(|model| model.retriever.network().ok());
        networks.for_each(|network| network.compute().forget_buffers());
        self.engine.trim();
        for shelf in &self.shelves {
            shelf.contents().reading.iter().for_each(|reading| reading.forget_buffers());
        }
    }

    /// Names of the models.
    pub(crate) fn model_names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.name.as_str())
    }

    /// The model that a request names.
    pub(crate) fn model(&self, name: &str) -> Result<Arc<Model>, Problem> {
        let Some(slot) = self.slots.iter().find(|slot| slot.name == name) else {
            let known: Vec<&str> = self.model_names().collect();
            let message = format!("expected one of {}, found `{}`", known.join(", "), shown(name));
            return Err(Problem::senseless("model", message));
        };
        if let Some(model) = slot.model.get() {
            return Ok(Arc::clone(model));
        }
        // Only shipped models are not there yet. One that cannot be read is a fault of the build.
        let loaded = ModelFile::named(&slot.name).and_then(|trained| self.lay_out(&slot.name, trained));
        let loaded = loaded.map_err(|_| Problem::fault())?;
        Ok(Arc::clone(slot.model.get_or_init(|| Arc::new(loaded))))
    }

    /// The re-ranker for Lean's declarations.
    pub(crate) fn reader(&self) -> Result<Option<Arc<JointReranker>>, Problem> {
        self.engine.built_in_reranker().map_err(|_| Problem::fault())
    }

    /// The name of the model for statements in a language.
    pub(crate) fn default_model_name(&self, syntax: Language) -> &str {
        self.given.as_ref().map_or(registry::for_language(syntax), |given| &given.name)
    }

    /// The model for statements in a language.
    pub(crate) fn default_model(&self, syntax: Language) -> Result<Arc<Model>, Problem> {
        self.model(self.default_model_name(syntax))
    }

    /// The number of statements of the library that a request names.
    pub(crate) fn statements(&self, library: Option<&str>) -> usize {
        let shelf = self.shelves.iter().find(|shelf| Some(shelf.name.as_str()) == library);
        shelf.map_or(0, |shelf| shelf.contents().shelf.entries.len())
    }

    /// Whether the file of each library can be read, as Prometheus reads it.
    pub(crate) fn metrics(&self) -> String {
        let mut out = String::new();
        if !self.shelves.is_empty() {
            out += "# HELP formulanet_library_readable Whether the file of a library can be read, and is what is served.\n";
            out += "# TYPE formulanet_library_readable gauge\n";
        }
        for shelf in &self.shelves {
            let name = shelf.name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let is_readable = u8::from(shelf.failure().is_none());
            out += &format!("formulanet_library_readable{{library=\"{name}\"}} {is_readable}\n");
        }
        out
    }

    /// The library that a request names.
    pub(crate) fn shelf(&self, name: &str) -> Result<&Shelf, Problem> {
        self.shelves.iter().find(|shelf| shelf.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.shelves.iter().map(|shelf| shelf.name.as_str()).collect();
            let message = if known.is_empty() {
                "this server has no libraries; start it with --library FILE".to_owned()
            } else {
                format!("expected one of {}, found `{}`", known.join(", "), shown(name))
            };
            Problem::new(StatusCode::NOT_FOUND, message).in_field("library")
        })
    }
}

/// A name from a request, shortened for messages.
pub(crate) fn shown(name: &str) -> String {
    let mut short: String = name.chars().take(60).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}

impl Catalog {
    /// Makes a model ready for work on one thread: requests run side by side.
    fn lay_out(&self, name: &str, trained: ModelFile) -> Result<Model, Error> {
        Ok(Model::new(name, self.engine.lay_out(trained)?))
    }

    /// Loads a built-in model or a model file, unless it is loaded already.
    fn add(&mut self, model: &str) -> Result<Arc<Model>, StartError> {
        let trained = ModelFile::named(model)?;
        if let Some(known) = self.with_fingerprint(&trained.fingerprint()) {
            return Ok(known);
        }
        if let Some(slot) = self.slots.iter().find(|slot| slot.name == model && slot.model.get().is_none()) {
            let added = self.lay_out(model, trained)?;
            return Ok(Arc::clone(slot.model.get_or_init(|| Arc::new(added))));
        }
        let name = self.free_name(&model_name(model));
        let added = Arc::new(self.lay_out(&name, trained)?);
        self.slots.push(Slot { name, model: OnceLock::from(Arc::clone(&added)) });
        Ok(added)
    }

    /// Returns a unique name, for example for a file that is named like a built-in model.
    fn free_name(&self, name: &str) -> String {
        let others = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(others);
        names.find(|name| self.model_names().all(|known| known != name)).unwrap_or_default()
    }

    /// The model with a fingerprint, if it has been read.
    fn with_fingerprint(&self, fingerprint: &str) -> Option<Arc<Model>> {
        let mut models = self.slots.iter().filter_map(|slot| slot.model.get());
        models.find(|model| model.retriever.fingerprint() == fingerprint).map(Arc::clone)
    }

    /// Reads a library, and the model that it was made with.
    fn read_shelf(&mut self, path: &Path) -> Result<Shelf, StartError> {
        let library = Library::open(path)?;
        let made = library.info()?;
        let model = match (self.with_fingerprint(&made.fingerprint), &self.given) {
            (Some(known), _) => known,
            // Its model has gone. The given one does not fit, and to say so is more than that the other is not there.
            (None, Some(given))
                if registry::bytes(&made.model).is_none() && !Path::new(&made.model).exists() =>
            {
                Arc::clone(given)
            }
            (None, _) => self.add(&made.model)?,
        };
        library.check(&model.retriever)?;
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let contents = Mutex::new(Contents::load(&library, &self.engine)?);
        let (refreshing, failure, line) = (Mutex::default(), Mutex::default(), Line::default());
        Ok(Shelf { name, path: path.to_owned(), model, contents, refreshing, failure, line })
    }
}

/// The name of a model in requests: that of a built-in model or of a file, or of its directory if the file is called `model`.
fn model_name(model: &str) -> String {
    if registry::bytes(model).is_some() {
        return model.to_owned();
    }
    let path = Path::new(model);
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let folder = path.parent().and_then(stem);
    match (stem(path), folder) {
        (Some(name), Some(folder)) if name == "model" => folder,
        (Some(name), _) => name,
        (None, _) => "model".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_short_names() {
        let check = |model: &str, expected: &str| assert_eq!(model_name(model), expected);
        check("hol-premises", "hol-premises");
        check("runs/mine.safetensors", "mine");
        check("runs/monday/model.safetensors", "monday");
        check("model.safetensors", "model");
    }

    #[test]
    fn long_names_are_cut_in_messages() {
        assert_eq!(shown("short"), "short");
        assert_eq!(shown(&"é".repeat(100)).chars().count(), 61);
    }
}
