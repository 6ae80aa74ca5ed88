//! Which handler answers what.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower_http::catch_panic::CatchPanicLayer;

use crate::catalog::{Catalog, shown};
use crate::guard::{self, Began};
use crate::lean::{self, Lean};
use crate::metrics::Metrics;
use crate::page::Page;
use crate::pool::{Deadline, Pool};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::{body, embed, graph, listing, rank};

/// Everything that answers depend on.
pub(crate) struct App {
    pub(crate) address: SocketAddr,
    pub(crate) settings: Settings,
    pub(crate) catalog: Catalog,
    pub(crate) pool: Pool,
    pub(crate) metrics: Metrics,
    pub(crate) page: Page,
    /// What Lean asks for, if the server answers it.
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
        .route("/v1/library", get(library))
        .route("/v1/rank", post(rank));
    lean::routes(router, &app)
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(|_| Problem::fault().into_response()))
        .layer(from_fn_with_state(Arc::clone(&app), guard::pass))
        .with_state(app)
}

async fn rank(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let began = began(&request);
    compute(app, request, move |app, asked, deadline| {
        let mut answer = rank::answer(app, asked, deadline)?;
        answer.took_ms = (began.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        Ok(answer)
    })
    .await
}

async fn graph(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    compute(app, request, graph::answer).await
}

async fn embed(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    compute(app, request, embed::answer).await
}

async fn library(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let deadline = deadline(&app, &request);
    let Query(query) = Query::try_from_uri(request.uri()).map_err(|error| {
        let expected = "expected `name`, `offset`, `limit` and `contains` in the address";
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{expected}: {}", error.body_text()))
    })?;
    answer(app, deadline, |app, deadline| listing::answer(&app.catalog, query, deadline)).await
}

/// Reads a request and answers it.
async fn compute<Q: DeserializeOwned, A: Serialize>(
    app: Arc<App>,
    request: Request,
    work: impl FnOnce(&App, Q, &Deadline) -> Result<A, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let most = app.settings.max_body;
    compute_up_to(app, request, most, work).await
}

/// The same for a request of at most so many bytes.
pub(crate) async fn compute_up_to<Q: DeserializeOwned, A: Serialize>(
    app: Arc<App>,
    request: Request,
    most: usize,
    work: impl FnOnce(&App, Q, &Deadline) -> Result<A, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let deadline = deadline(&app, &request);
    let (parts, body) = request.into_parts();
    let body = body::read(&parts.headers, body, most, &deadline).await?;
    answer(app, deadline, move |app, deadline| work(app, body::parse(&body)?, deadline)).await
}

/// Computes an answer on another thread, and sends it.
async fn answer<A: Serialize>(
    app: Arc<App>,
    deadline: Deadline,
    work: impl FnOnce(&App, &Deadline) -> Result<A, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let at_work = Arc::clone(&app);
    let work = move |deadline: &Deadline| {
        serde_json::to_vec(&work(&at_work, deadline)?).map_err(|_| Problem::fault())
    };
    Ok(typed("application/json", app.pool.run(deadline, work).await?))
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
    typed("text/plain; version=0.0.4; charset=utf-8", app.metrics.text())
}

async fn not_found(request: Request) -> Problem {
    let message =
        format!("there is nothing at `{}`; /openapi.json says what there is", shown(request.uri().path()));
    Problem::new(StatusCode::NOT_FOUND, message)
}

async fn wrong_method(request: Request) -> Problem {
    let (path, method) = (shown(request.uri().path()), shown(request.method().as_str()));
    let message = format!("`{path}` is not asked with {method}; the header `allow` says how");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, message)
}
