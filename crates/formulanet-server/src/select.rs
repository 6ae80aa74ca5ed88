//! `POST /v1/select`: a TPTP problem with the best axioms alone.

use std::time::Instant;

use formulanet::problem::{ProblemOptions, SymbolCoverage, as_axiom};
use formulanet::read::Source;
use formulanet::{Error, Evidence, Hit, Language, Policy, Rerank, Symbols, Take};
use serde::{Deserialize, Serialize};

use crate::given::{Given, check_count, check_patterns};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::rank::milliseconds_since;
use crate::router::App;

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// A problem without includes.
    problem: String,
    /// Select from the statements of this library, too.
    library: Option<String>,
    #[serde(default = "default_k")]
    k: usize,
    /// Roles that are kept, and do not count.
    #[serde(default = "default_roles")]
    keep_roles: Vec<String>,
    /// Whether symbols are known by their names.
    #[serde(default)]
    symbols: Symbols,
    #[serde(default)]
    min_score: f32,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    model: Option<String>,
    /// Whether the best axioms are scored once more, together with the conjecture.
    #[serde(default)]
    rerank: Rerank,
}

fn default_k() -> usize {
    64
}

fn default_roles() -> Vec<String> {
    ["hypothesis", "assumption"].map(str::to_owned).to_vec()
}

/// The response.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    took_ms: f64,
    /// The smaller problem.
    problem: String,
    /// The share of the problem's symbols in the model's vocabulary, if it is not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Known>,
    /// Names and patterns of the request that no axiom fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmatched: Vec<String>,
    premises: Vec<Row>,
}

#[derive(Serialize)]
struct Known {
    symbols: usize,
    of: usize,
}

#[derive(Serialize)]
struct Row {
    rank: usize,
    name: String,
    score: f32,
    /// How likely a proof uses it, if that was estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f32>,
    statement: String,
    /// Symbols that it has in common with the conjecture.
    shared_symbols: Vec<String>,
    /// Symbols that the model does not know.
    unknown_symbols: Vec<String>,
}

/// The number of statements of a library that are compared with the conjecture.
pub(crate) fn comparisons(app: &App, request: &Request) -> usize {
    app.catalog.statements(request.library.as_deref())
}

/// Selects.
pub(crate) fn answer(
    app: &App,
    request: Request,
    began: Instant,
    deadline: &Deadline,
) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    check_patterns("include", &request.include)?;
    check_patterns("exclude", &request.exclude)?;
    check_patterns("keep_roles", &request.keep_roles)?;
    let given = Given::find(catalog, request.library.as_deref(), None, Some(Language::Tptp))?;
    let of_problem = |error: Error| Problem::of(error, "problem");
    if given.library.as_ref().is_some_and(|library| library.language() != Language::Tptp) {
        return Err(of_problem(Error::NotTptp));
    }
    let model = given.model(catalog, request.model.as_deref())?;
    let source = Source::text("problem", request.problem);
    let options = ProblemOptions { keep_roles: request.keep_roles, ..ProblemOptions::default() };
    let mut problem = formulanet::Problem::read(source, &model.retriever, &options).map_err(of_problem)?;
    let axioms = problem.axioms().len();
    check_count(axioms, settings.max_premises).map_err(|error| error.in_field("problem"))?;
    deadline.check()?;
    let SymbolCoverage { known: symbols, total } = problem.coverage(&model.retriever);
    let corpus = given.corpus(model, problem.take_axioms(), true);
    let policy = Policy::default().symbols(request.symbols).rerank(request.rerank);
    let take = Take::new(request.k, request.min_score, request.include, request.exclude);
    let query = problem.query().policy(policy).take(take).explain();
    let ranking = catalog.engine.rank_with(&corpus, &query, &deadline.cancel());
    let ranking = ranking.map_err(|error| match error {
        Error::TooManyIncluded { .. } => Problem::of(error, "include"),
        error => of_problem(error),
    })?;
    let text = problem.reduced(&ranking.hits, ranking.considered);
    let row = |(hit, rank): (Hit, usize)| {
        let statement = as_axiom(&hit);
        let Evidence { shared_symbols, unknown_symbols, .. } = hit.evidence.unwrap_or_default();
        Row {
            rank,
            name: hit.statement.name,
            score: hit.score,
            probability: hit.probability,
            statement,
            shared_symbols,
            unknown_symbols,
        }
    };
    Ok(Answer {
        model: corpus.model_name().to_owned(),
        took_ms: milliseconds_since(began),
        problem: text,
        known: (total > 0).then_some(Known { symbols, of: total }),
        unmatched: ranking.unmatched,
        premises: ranking.hits.into_iter().zip(1..).map(row).collect(),
    })
}
