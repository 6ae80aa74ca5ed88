//! Ranks premises for a conjecture, as `formulanet rank` does.

use std::sync::{Arc, LazyLock};

use formulanet::analyze::{AnalyzedStatement, Analyzer};
use formulanet::model::registry;
use formulanet::read::Format;
use formulanet::{
    Corpus, Duplicates, Engine, Error, Goal, Hit, Language, Order, Policy, Query, Rerank, Statement, Take,
};
use pyo3::prelude::*;

use crate::errors::refused;
use crate::input::{Part, Reading, digits, maybe_one_of, one_of, open, read_all};
use crate::interrupt::{OnInterrupt, interruptible};
use crate::library::{Contents, Library};
use crate::models::{Kind, Loaded, Model};

/// Which statements are taken.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Taken {
    k: usize,
    min_score: f32,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Taken {
    pub(crate) fn take(self) -> Take {
        let Taken { k, min_score, include, exclude } = self;
        Take::new(k, min_score, include, exclude)
    }
}

/// Which models retrieve and re-rank.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Choice {
    model: Option<Py<Model>>,
    rerank: String,
    reranker: Option<Py<Model>>,
}

/// Ranks without the interpreter lock.
pub(crate) struct Chosen {
    model: Option<Arc<Loaded>>,
    /// Whether the best candidates are re-ranked.
    pub(crate) rerank: Rerank,
    reranker: Option<Arc<Loaded>>,
}

impl Choice {
    /// Refuses choices that contradict each other.
    pub(crate) fn chosen(self, py: Python<'_>) -> PyResult<Chosen> {
        let loaded = |model: Option<Py<Model>>| model.map(|model| Arc::clone(&model.get().0));
        let Choice { model, rerank, reranker } = self;
        let rerank = one_of(py, &Rerank::ALL, "rerank", &rerank)?;
        let chosen = Chosen { model: loaded(model), rerank, reranker: loaded(reranker) };
        let is_together = chosen.model.as_ref().is_some_and(|model| matches!(model.kind, Kind::Together(..)));
        if chosen.reranker.is_some() && rerank == Rerank::Off {
            return Err(refused(py, "expected `rerank=\"off\"` or a `reranker`, found both"));
        }
        if is_together && (rerank != Rerank::Auto || chosen.reranker.is_some()) {
            return Err(refused(py, "a `model` that re-ranks needs neither `rerank` nor `reranker`"));
        }
        Ok(chosen)
    }
}

impl Chosen {
    /// The engine, and the model that it scores with. A given model retrieves or re-ranks, whichever it was trained for.
    pub(crate) fn engine(
        self,
        language: Language,
        library: Option<&Library>,
    ) -> Result<(Engine, Arc<Loaded>), Error> {
        let usual = || match library {
            Some(library) => library.model(),
            None => Loaded::named(registry::for_language(language)),
        };
        let (loaded, given) = match self.model {
            Some(model) if matches!(model.kind, Kind::Together(..)) => (usual()?, Some(model)),
            Some(model) => (model, None),
            None => (usual()?, None),
        };
        if let Some(library) = library {
            library.check(loaded.retriever()?)?;
        }
        let reranker = given.or(self.reranker).map(|model| model.reading()).transpose()?;
        let engine = ENGINE
            .as_ref()
            .map_err(|error| Error::Input { place: "engine".to_owned(), message: error.to_string() })?;
        Ok((engine.with_model(Arc::clone(loaded.model()?)).with_reranker(reranker), loaded))
    }
}

/// The built-in models, shared by all calls.
static ENGINE: LazyLock<Result<Engine, Error>> = LazyLock::new(Engine::new);

/// The statements to rank: those of a library, if there is one, and others.
pub(crate) fn corpus(
    loaded: &Loaded,
    library: Option<Contents>,
    (local, language, is_problem): (Vec<AnalyzedStatement>, Language, bool),
) -> Result<Corpus, Error> {
    let model = Arc::clone(loaded.model()?);
    Ok(match library {
        Some(Contents { shelf, reading }) => {
            Corpus::of_snapshot(model, shelf, reading).with_local(local, Some(language), is_problem)
        }
        None => Corpus::of_local(model, local, language, is_problem),
    })
}

/// A request.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    conjecture: Option<String>,
    /// A statement of the library instead of a conjecture.
    name: Option<String>,
    /// The statements of a request.
    parts: Vec<Part>,
    input_format: Option<String>,
    library: Option<Py<Library>>,
    before: Option<String>,
    modules: Vec<String>,
    keep_duplicates: bool,
    order: String,
    explain: bool,
    taken: Taken,
    choice: Choice,
    reading: Reading,
}

/// Name, score, statement, syntax; symbols that the model does not know, the score without the conjecture, and the
/// probability.
pub(crate) type Row = (String, f64, String, &'static str, Option<Vec<String>>, Option<f64>, Option<f64>);

/// The response.
#[derive(IntoPyObject)]
pub(crate) struct Answer {
    rows: Vec<Row>,
    /// Symbols of the conjecture that the model does not know.
    unknown: Vec<String>,
    /// Names and patterns that no statement fits.
    unmatched: Vec<String>,
    /// Statements that already say what the conjecture says, each with how it does.
    existing: Vec<(String, &'static str)>,
}

#[pyfunction]
pub(crate) fn rank(py: Python<'_>, asked: Asked) -> PyResult<Answer> {
    let Asked { conjecture, name, parts, input_format, library, before, modules, keep_duplicates, .. } =
        asked;
    let format = maybe_one_of(py, &Format::ALL, "input_format", input_format.as_deref())?;
    let order = one_of(py, &Order::ALL, "order", &asked.order)?;
    let (reader, choice) = (asked.reading.understood(py)?, asked.choice.chosen(py)?);
    let (explain, take) = (asked.explain, asked.taken.take());
    let library = library.map(|library| library.get().clone());
    interruptible(py, OnInterrupt::Leave, move |stop| {
        let contents = library.as_ref().map(Library::contents).transpose()?;
        let parts = open(parts, format)?;
        let own = parts.first().map(|part| part.syntax(reader.syntax));
        let stored = contents.as_ref().map(|contents| contents.shelf.language);
        let statements = own.or(stored).or(reader.syntax).unwrap_or_default();
        let rerank = choice.rerank;
        let (engine, model) = choice.engine(statements, library.as_ref())?;
        let analyzer = Analyzer::new(model.retriever()?);
        let own = read_all(analyzer, parts, reader.syntax, stop)?;
        let goal = match name {
            Some(name) if contents.is_some() => Goal::Stored(name),
            _ => reader.goal(conjecture.unwrap_or_default(), reader.syntax.unwrap_or(statements)),
        };
        let corpus = corpus(&model, contents, (own, statements, false))?;
        let duplicates = if keep_duplicates { Duplicates::Keep } else { Duplicates::Drop };
        let policy = Policy::default().order(order).rerank(rerank);
        let mut query = Query::new(goal).modules(modules).duplicates(duplicates).policy(policy).take(take);
        if let Some(before) = before {
            query = query.before(before);
        }
        if explain {
            query = query.explain();
        }
        let ranking = engine.rank_with(&corpus, &query, &stop.cancel())?;
        let row = |hit: Hit| -> Row {
            let Statement { name, text, language: syntax } = hit.statement;
            let unknown = hit.evidence.map(|evidence| evidence.unknown_symbols);
            (
                name,
                digits(hit.score),
                text,
                Language::name(syntax),
                unknown,
                hit.base_rate.map(digits),
                hit.probability.map(digits),
            )
        };
        Ok(Answer {
            rows: ranking.hits.into_iter().map(row).collect(),
            unknown: ranking.unknown_symbols,
            unmatched: ranking.unmatched,
            existing: ranking.existing.into_iter().map(|found| (found.name, found.relation.name())).collect(),
        })
    })
}
