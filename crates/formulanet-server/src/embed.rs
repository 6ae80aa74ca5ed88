//! `POST /v1/embed`: the vectors of statements.

use axum::http::StatusCode;
use formulanet::Language;
use formulanet::model::encode::Encoded;
use serde::{Deserialize, Serialize};

use crate::body::Arithmetic;
use crate::given::encode;
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::App;

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    statements: Vec<Item>,
    overload: Option<Arithmetic>,
    model: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    /// So that lists of premises can be sent as they are; vectors come in the order of the statements.
    #[serde(default, rename = "name")]
    _name: Option<String>,
    statement: String,
    syntax: Option<Language>,
}

/// The response.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    /// Length of each vector.
    length: usize,
    vectors: Vec<Vec<f32>>,
}

/// Embeds.
pub(crate) fn answer(app: &App, request: Request, deadline: &Deadline) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    let Request { statements, overload, model } = request;
    if statements.len() > settings.max_premises {
        let message =
            format!("expected at most {} statements, found {}", settings.max_premises, statements.len());
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).in_field("statements"));
    }
    let Some(first) = statements.first() else {
        return Err(Problem::senseless("statements", "expected at least one statement, found none"));
    };
    let model = match &model {
        Some(name) => catalog.model(name)?,
        None => catalog.default_model(first.syntax.unwrap_or_default())?,
    };
    let mut encoded: Vec<Encoded> = Vec::with_capacity(statements.len());
    for (i, statement) in statements.iter().enumerate() {
        if i % 64 == 0 {
            deadline.check()?;
        }
        let (field, syntax) = (format!("statements[{i}].statement"), statement.syntax.unwrap_or_default());
        encoded.push(encode(&field, (&statement.statement, syntax), overload, &model.retriever)?);
    }
    let network = model.retriever.network().map_err(|error| Problem::of(error, "statements"))?;
    let mut vectors = Vec::with_capacity(encoded.len());
    for chunk in deadline.cancel().batches(&encoded, |encoded| encoded) {
        deadline.check()?;
        let inputs: Vec<_> = chunk.iter().map(Encoded::input).collect();
        vectors.extend(network.embed_all(&inputs).iter().map(|embedding| embedding.last().to_vec()));
    }
    Ok(Answer { model: model.name.clone(), length: network.model().config().width(), vectors })
}
