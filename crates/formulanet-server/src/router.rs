//! Which handler answers what.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower_http::catch_panic::CatchPanicLayer;

use crate::catalog::{Catalog, shown};
use crate::guard::{self, Began};
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
}

/// All paths.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(async |State(app): State<Arc<App>>| app.page.response()))
        .route("/healthz", get(async || "ok"))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi))
        .route("/v1/embed", post(embed))
        .route("/v1/graph", post(graph))
        .route("/v1/library", get(library))
        .route("/v1/rank", post(rank))
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(|_| Problem::fault().into_response()))
        .layer(from_fn_with_state(Arc::clone(&app), guard::pass))
        .with_state(app)
}

async fn rank(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let began = began(&request);
    compute(app, request, move |app, asked, deadline| {
        let mut answer = rank::answer(&app.catalog, &app.settings, asked, deadline)?;
        answer.took_ms = (began.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        Ok(answer)
    })
    .await
}

async fn graph(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    compute(app, request, |app, asked, deadline| graph::answer(&app.catalog, &app.settings, asked, deadline))
        .await
}

async fn embed(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    compute(app, request, |app, asked, deadline| embed::answer(&app.catalog, &app.settings, asked, deadline))
        .await
}

async fn library(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let deadline = deadline(&app, &request);
    let query = Query::try_from_uri(request.uri()).map_err(|error| {
        let message = format!(
            "expected `name`, `offset`, `limit` and `contains` in the address: {}",
            error.body_text()
        );
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    })?;
    let Query(query) = query;
    let at_work = Arc::clone(&app);
    let work = move |deadline: &Deadline| json(&listing::answer(&at_work.catalog, query, deadline)?);
    Ok(json_response(app.pool.run(deadline, work).await?))
}

/// Reads a request, computes an answer on another thread, and sends it.
async fn compute<Q: DeserializeOwned, A: Serialize>(
    app: Arc<App>,
    request: Request,
    work: impl FnOnce(&App, Q, &Deadline) -> Result<A, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let deadline = deadline(&app, &request);
    let (parts, body) = request.into_parts();
    let body = body::read(&parts.headers, body, app.settings.max_body, &deadline).await?;
    let at_work = Arc::clone(&app);
    let work = move |deadline: &Deadline| json(&work(&at_work, body::parse(&body)?, deadline)?);
    Ok(json_response(app.pool.run(deadline, work).await?))
}

fn began(request: &Request) -> std::time::Instant {
    request.extensions().get::<Began>().map_or_else(std::time::Instant::now, |began| began.0)
}

fn deadline(app: &App, request: &Request) -> Deadline {
    Deadline::at(began(request) + app.settings.timeout)
}

fn json(answer: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(answer).map_err(|_| Problem::fault())
}

fn json_response(body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], app.metrics.text()).into_response()
}

async fn openapi() -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], include_str!("openapi.json")).into_response()
}

async fn not_found(request: Request) -> Problem {
    let message =
        format!("there is nothing at `{}`; /openapi.json says what there is", shown(request.uri().path()));
    Problem::new(StatusCode::NOT_FOUND, message)
}

async fn wrong_method(request: Request) -> Problem {
    let message = format!(
        "`{}` is not asked with {}; the header `allow` says how",
        shown(request.uri().path()),
        shown(request.method().as_str())
    );
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, message)
}
