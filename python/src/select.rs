//! A TPTP problem with the best axioms alone: what `formulanet select` does.

use formulanet::problem::{ProblemOptions, as_axiom};
use formulanet::read::Source;
use formulanet::{Error, Hit, Language, Policy, Problem, Symbols};
use pyo3::prelude::*;

use crate::errors::refused;
use crate::input::{digits, one_of};
use crate::interrupt::{OnInterrupt, interruptible};
use crate::library::Library;
use crate::rank::{Choice, Taken, corpus};

/// A request.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    /// The problem's file, or what messages call its text.
    file: String,
    /// The problem, if it is not in a file.
    text: Option<String>,
    library: Option<Py<Library>>,
    /// Roles that are kept; `None` for the usual ones.
    keep_roles: Option<Vec<String>>,
    symbols: String,
    explain: bool,
    taken: Taken,
    choice: Choice,
}

/// Name, score, statement; symbols in common with the conjecture, and symbols that the model does not know.
type Row = (String, f64, String, Option<Vec<String>>, Option<Vec<String>>, Option<f64>);

/// The response.
#[derive(IntoPyObject)]
pub(crate) struct Answer {
    text: String,
    conjectures: Vec<String>,
    rows: Vec<Row>,
    warnings: Vec<String>,
    /// Names and patterns that no axiom fits.
    unmatched: Vec<String>,
}

#[pyfunction]
pub(crate) fn select(py: Python<'_>, asked: Asked) -> PyResult<Answer> {
    let Asked { file, text, library, keep_roles, symbols, explain, taken, choice } = asked;
    let symbols = one_of(py, &Symbols::ALL, "symbols", &symbols)?;
    if symbols == Symbols::Anonymous && library.is_some() {
        return Err(refused(py, "`symbols=\"anonymous\"` looks at statements alone: leave `library` out"));
    }
    let choice = choice.chosen(py)?;
    let library = library.map(|library| library.get().clone());
    let take = taken.take();
    interruptible(py, OnInterrupt::Leave, move |stop| {
        let contents = library.as_ref().map(Library::contents).transpose()?;
        if contents.as_ref().is_some_and(|contents| contents.shelf.language != Language::Tptp) {
            return Err(Error::NotTptp);
        }
        let rerank = choice.rerank;
        let (engine, model) = choice.engine(Language::Tptp, library.as_ref())?;
        let source = match text {
            Some(text) => Source::text(&file, text),
            None => Source::open(&file)?,
        };
        let mut options = ProblemOptions::default();
        if let Some(roles) = &keep_roles {
            options.keep_roles.clone_from(roles);
        }
        let retriever = model.retriever()?;
        let mut problem = Problem::read(source, retriever, &options)?;
        let mut warnings = Vec::new();
        for role in keep_roles.iter().flatten().filter(|role| !problem.has_role(role)) {
            warnings.push(format!("no statement has the role `{role}`"));
        }
        let coverage = problem.coverage(retriever);
        if coverage.is_low() && symbols == Symbols::Named && library.is_none() {
            let (known, of) = (coverage.known, coverage.total);
            warnings.push(format!(
                "the model knows {known} of the {of} symbols of `{file}`; try `symbols=\"anonymous\"`, or a library with proofs"
            ));
        }
        let corpus = corpus(&model, contents, (problem.take_axioms(), Language::Tptp, true))?;
        let mut query = problem.query().policy(Policy::default().symbols(symbols).rerank(rerank)).take(take);
        if explain {
            query = query.explain();
        }
        let ranking = engine.rank_with(&corpus, &query, &stop.cancel())?;
        let row = |hit: &Hit| {
            let (shared, unknown) = hit
                .evidence
                .clone()
                .map(|evidence| (evidence.shared_symbols, evidence.unknown_symbols))
                .unzip();
            (
                hit.statement.name.clone(),
                digits(hit.score),
                as_axiom(hit),
                shared,
                unknown,
                hit.probability.map(digits),
            )
        };
        Ok(Answer {
            text: problem.reduced(&ranking.hits, ranking.considered),
            conjectures: problem.conjecture_names().into_iter().map(str::to_owned).collect(),
            rows: ranking.hits.iter().map(row).collect(),
            warnings,
            unmatched: ranking.unmatched,
        })
    })
}
