//! Which handler answers what.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower_http::catch_panic::CatchPanicLayer;

use crate::body::{self, Bodies, Received};
use crate::catalog::{Catalog, shown};
use crate::guard::{self, Began};
use crate::lean::{self, Lean};
use crate::metrics::Metrics;
use crate::page::Page;
use crate::pool::{Deadline, MOST_LIGHT, Pool};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::{embed, facts, graph, listing, neighbors, rank, select};

/// Everything that answers depend on.
pub(crate) struct App {
    pub(crate) address: SocketAddr,
    pub(crate) settings: Settings,
    pub(crate) catalog: Catalog,
    pub(crate) pool: Pool,
    pub(crate) metrics: Metrics,
    pub(crate) bodies: Bodies,
    pub(crate) page: Page,
    /// Lean's protocol, if it is served.
    pub(crate) lean: Option<Lean>,
}

/// All paths.
pub(crate) fn router(app: Arc<App>) -> Router {
    let router = Router::new()
        .route("/", get(async |State(app): State<Arc<App>>| app.page.response()))
        .route("/healthz", get(async || "ok"))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(async || typed("application/json", include_str!("openapi.json"))))
        .route("/v1/embed", post(embed))
        .route("/v1/graph", post(graph))
        .route("/v1/libraries/{name}/facts", post(add_facts))
        .route("/v1/library", get(library))
        .route("/v1/neighbors", post(neighbors))
        .route("/v1/rank", post(rank))
        .route("/v1/select", post(select));
    lean::routes(router, &app)
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(|_| Problem::fault().into_response()))
        .layer(from_fn_with_state(Arc::clone(&app), guard::pass))
        .with_state(app)
}

/// An answer, and what it is written in.
pub(crate) struct Reply {
    pub(crate) kind: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    /// One JSON value.
    pub(crate) fn json(answer: &impl Serialize) -> Result<Self, Problem> {
        let bytes = serde_json::to_vec(answer).map_err(|_| Problem::fault())?;
        Ok(Reply { kind: "application/json", bytes })
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        typed(self.kind, self.bytes)
    }
}

async fn rank(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let began = began(&request);
    let (deadline, body) = receive(&app, request, app.settings.max_body).await?;
    let early = if is_short(&body) { Some(body::parse_several(&body)?) } else { None };
    let comparisons = early.as_ref().map_or(0, |asked| rank::comparisons(&app, asked));
    answer(app, deadline.of_comparisons(comparisons), move |app, deadline| {
        let asked = early.map_or_else(|| body::parse_several(&body), Ok)?;
        rank::reply(app, asked, began, deadline)
    })
    .await
}

async fn select(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let began = began(&request);
    let work = move |app: &App, asked, deadline: &Deadline| select::answer(app, asked, began, deadline);
    compute(app, request, select::comparisons, work).await
}

async fn neighbors(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    compute(app, request, neighbors::comparisons, neighbors::answer).await
}

async fn graph(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    compute(app, request, |_, _| 0, graph::answer).await
}

async fn embed(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    compute(app, request, |_, _| 0, embed::answer).await
}

async fn add_facts(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    facts::check(request.headers(), app.settings.token.as_deref())?;
    let (deadline, body) = receive(&app, request, app.settings.max_body).await?;
    let line = &app.catalog.shelf(&name)?.line;
    let at_work = Arc::clone(&app);
    let work = move |deadline: &Deadline| {
        Reply::json(&facts::answer(&at_work, &name, body::parse(&body)?, deadline)?)
    };
    Ok(line.run(deadline, work).await?.into_response())
}

async fn library(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let deadline = deadline(&app, &request);
    let Query(query) = Query::try_from_uri(request.uri()).map_err(|error| {
        let expected = "expected `name`, `offset`, `limit` and `contains` in the address";
        let message = error.body_text();
        let message = message.strip_prefix("Failed to deserialize query string: ").unwrap_or(&message);
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{expected}: {message}"))
    })?;
    answer(app, deadline, |app, deadline| Reply::json(&listing::answer(app, query, deadline)?)).await
}

/// Reads a request and answers it. `comparisons` says how much it asks for.
async fn compute<Q: DeserializeOwned + Send + 'static, A: Serialize>(
    app: Arc<App>,
    request: Request,
    comparisons: fn(&App, &Q) -> usize,
    work: impl FnOnce(&App, Q, &Deadline) -> Result<A, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let (deadline, body) = receive(&app, request, app.settings.max_body).await?;
    let early = if is_short(&body) { Some(body::parse(&body)?) } else { None };
    let comparisons = early.as_ref().map_or(0, |asked| comparisons(&app, asked));
    answer(app, deadline.of_comparisons(comparisons), move |app, deadline| {
        let asked = early.map_or_else(|| body::parse(&body), Ok)?;
        Reply::json(&work(app, asked, deadline)?)
    })
    .await
}

/// Whether a body is read before it waits, which takes less time than to hand it over: what it asks for decides where it waits.
fn is_short(body: &[u8]) -> bool {
    body.len() <= MOST_LIGHT
}

/// Reads a request of at most `most` bytes and answers it.
pub(crate) async fn compute_up_to<Q: DeserializeOwned, A: Serialize>(
    app: Arc<App>,
    request: Request,
    most: usize,
    work: impl FnOnce(&App, Q, &Deadline) -> Result<A, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let (deadline, body) = receive(&app, request, most).await?;
    answer(app, deadline, move |app, deadline| Reply::json(&work(app, body::parse(&body)?, deadline)?)).await
}

/// Reads the body of a request, and says until when it has to be answered.
async fn receive(app: &App, request: Request, most: usize) -> Result<(Deadline, Received), Problem> {
    let deadline = deadline(app, &request);
    let (parts, body) = request.into_parts();
    let body = body::read(&parts.headers, body, (most, &app.bodies), &deadline).await?;
    Ok((deadline.of_body(body.len()), body))
}

/// Computes an answer on another thread, and sends it.
async fn answer(
    app: Arc<App>,
    deadline: Deadline,
    work: impl FnOnce(&App, &Deadline) -> Result<Reply, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let at_work = Arc::clone(&app);
    let reply = app.pool.run(deadline, move |deadline| work(&at_work, deadline)).await?;
    Ok(reply.into_response())
}

fn began(request: &Request) -> std::time::Instant {
    request.extensions().get::<Began>().map_or_else(std::time::Instant::now, |began| began.0)
}

fn deadline(app: &App, request: &Request) -> Deadline {
    Deadline::at(began(request) + app.settings.timeout)
}

fn typed(kind: &'static str, body: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    typed("text/plain; version=0.0.4; charset=utf-8", app.metrics.text() + &app.catalog.metrics())
}

async fn not_found(request: Request) -> Problem {
    let message = format!("unknown path `{}`; see /openapi.json", shown(request.uri().path()));
    Problem::new(StatusCode::NOT_FOUND, message)
}

async fn wrong_method(request: Request) -> Problem {
    let (path, method) = (shown(request.uri().path()), shown(request.method().as_str()));
    let message = format!("`{path}` does not support {method}; see the header `allow`");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, message)
}
