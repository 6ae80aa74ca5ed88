//! `POST /v1/neighbors`: statements that are close to a formula in the network's eyes.

use std::sync::Arc;

use formulanet::analyze::Analyzer;
use formulanet::{Hit, Language, Statement};
use serde::{Deserialize, Serialize};

use crate::body::{Arithmetic, Premises};
use crate::given::{Given, encode};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::App;

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    formula: String,
    syntax: Option<Language>,
    overload: Option<Arithmetic>,
    library: Option<String>,
    premises: Option<Premises>,
    #[serde(default = "default_k")]
    k: usize,
    model: Option<String>,
}

fn default_k() -> usize {
    10
}

/// The response.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    neighbors: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    rank: usize,
    name: String,
    /// The cosine of the angle between the vectors.
    similarity: f32,
    statement: String,
    syntax: Language,
}

/// The number of statements of a library that are compared with the formula.
pub(crate) fn comparisons(app: &App, request: &Request) -> usize {
    app.catalog.statements(request.library.as_deref())
}

/// Looks for the closest.
pub(crate) fn answer(app: &App, request: Request, deadline: &Deadline) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    let given = Given::find(catalog, request.library.as_deref(), request.premises, request.syntax)?;
    if given.library.is_none() == given.own.is_none() {
        let message = "expected either `library` or `premises`";
        return Err(Problem::senseless("library", message));
    }
    let model = given.model(catalog, request.model.as_deref())?;
    let language = request.syntax.unwrap_or(given.language);
    let mut given = given;
    let retriever = &model.retriever;
    let formula = encode("formula", (request.formula.as_str(), language), request.overload, retriever)?;
    let analyzer = Analyzer::new(retriever).without_features();
    let own = given.own.take();
    let own =
        own.map(|own| own.read(analyzer, request.syntax, settings.max_premises, deadline)).transpose()?;
    let corpus = given.corpus(Arc::clone(&model), own.unwrap_or_default(), false);
    let closest = catalog.engine.neighbors(&corpus, &formula, request.k, &deadline.cancel());
    let closest = closest.map_err(|error| Problem::of(error, "premises"))?;
    let row = |(hit, rank): (Hit, usize)| {
        let Statement { name, text, language: syntax } = hit.statement;
        Row { rank, name, similarity: hit.score, statement: text, syntax }
    };
    Ok(Answer { model: model.name.clone(), neighbors: closest.into_iter().zip(1..).map(row).collect() })
}
