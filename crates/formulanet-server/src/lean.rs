//! The four paths that premise selection of Lean asks (LeanHammer and Lean's `premises`).
//!
//! They stand where that client expects them, outside of `/v1`, and answer as it expects: lists and numbers by themselves.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use formulanet::lean::{LeanIndex, LeanQuery, LeanSelector};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use tokio::sync::Semaphore;

use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::{App, compute_up_to};
use crate::settings::{Settings, StartError};

/// Declarations that a client may send with a question, as it is told.
const MOST_NEW: usize = 2048;
/// Declarations that an answer may have.
const MOST_ANSWERED: usize = 4096;
/// Bytes of a question: declarations of 4 KiB each, which few are.
const BODY: usize = MOST_NEW * (4 << 10);
/// Questions that are read or computed at once, so that all of them take a known amount of memory.
const MOST_QUESTIONS: usize = 16;
/// Bytes for what is remembered of declarations.
const REMEMBERED: usize = 128 << 20;

/// The state of a server for Lean.
pub(crate) struct Lean {
    selector: LeanSelector,
    modules: Bytes,
    premises: Bytes,
    questions: Semaphore,
}

/// A summary of Lean's index, for the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeanSummary {
    /// Modules of the index.
    pub modules: usize,
    /// Declarations of the index.
    pub declarations: usize,
    /// Declarations that could not be read.
    pub skipped: usize,
    /// The first error.
    pub first_skipped: Option<String>,
}

impl Lean {
    /// Reads the index, if there is one. `None` for a server that does not answer Lean.
    pub(crate) fn open(settings: &Settings) -> Result<Option<Self>, StartError> {
        let index = match &settings.lean_index {
            Some(path) => LeanIndex::read(&path.to_string_lossy(), settings.limits)?,
            None if settings.lean => LeanIndex::default(),
            None => return Ok(None),
        };
        let list =
            |names: Vec<&str>| serde_json::to_vec(&names).map(Bytes::from).map_err(std::io::Error::from);
        Ok(Some(Lean {
            modules: list(index.modules().iter().map(String::as_str).collect())?,
            premises: list(index.names().collect())?,
            selector: LeanSelector::new(index, settings.limits, REMEMBERED),
            questions: Semaphore::new(MOST_QUESTIONS),
        }))
    }

    pub(crate) fn summary(&self) -> LeanSummary {
        let index = self.selector.index();
        let (skipped, first) = index.skipped();
        LeanSummary {
            modules: index.modules().len(),
            declarations: index.len(),
            skipped,
            first_skipped: first.map(str::to_owned),
        }
    }
}

/// Adds the paths, if the server answers Lean.
pub(crate) fn routes(router: Router<Arc<App>>, app: &App) -> Router<Arc<App>> {
    if app.lean.is_none() {
        return router;
    }
    router
        .route("/max-new-premises", get(async || json(Bytes::from(MOST_NEW.to_string()))))
        .route("/indexed-modules", get(async |State(app): State<Arc<App>>| list(&app, |lean| &lean.modules)))
        .route(
            "/indexed-premises",
            get(async |State(app): State<Arc<App>>| list(&app, |lean| &lean.premises)),
        )
        .route("/retrieve", post(retrieve))
}

fn json(body: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn list(app: &App, of: impl Fn(&Lean) -> &Bytes) -> Response {
    json(app.lean.as_ref().map(|lean| of(lean).clone()).unwrap_or_default())
}

async fn retrieve(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let at_work = Arc::clone(&app);
    let Some(lean) = &app.lean else { return Err(Problem::fault()) };
    let _place = lean.questions.try_acquire().map_err(|_| Problem::too_many(MOST_QUESTIONS))?;
    let most = app.settings.max_body.max(BODY);
    compute_up_to(at_work, request, most, answer).await
}

/// A request. Unknown fields are ignored, because clients add fields with every version.
#[derive(Deserialize)]
struct Question {
    state: String,
    #[serde(default)]
    local_premises: Vec<Place>,
    #[serde(default)]
    imported_modules: Vec<Place>,
    #[serde(default)]
    imported_all_modules: Vec<Place>,
    #[serde(default)]
    new_premises: Vec<NewPremise>,
    k: usize,
}

#[derive(Deserialize)]
struct NewPremise {
    name: String,
    decl: String,
}

#[derive(Serialize)]
struct Ranked {
    name: String,
    score: f32,
}

/// Something in one of the lists that the client was given: its place or its name.
enum Place {
    Number(u64),
    Name(String),
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlaceVisitor;
        impl Visitor<'_> for PlaceVisitor {
            type Value = Place;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a place in the list, counted from 0, or a name")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Place, E> {
                Ok(Place::Number(number))
            }

            fn visit_str<E>(self, name: &str) -> Result<Place, E> {
                Ok(Place::Name(name.to_owned()))
            }
        }
        deserializer.deserialize_any(PlaceVisitor)
    }
}

/// The places that a field means. A name that is not in the index is no mistake: the client has more modules than that.
fn places(
    field: &str,
    list: &[Place],
    (count, address): (usize, &str),
    find: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<usize>, Problem> {
    let mut found = Vec::with_capacity(list.len());
    for (i, place) in list.iter().enumerate() {
        match place {
            Place::Name(name) => found.extend(find(name)),
            Place::Number(number) => match usize::try_from(*number).ok().filter(|&number| number < count) {
                Some(number) => found.push(number),
                None => {
                    let message = format!(
                        "expected a place in the list of `{address}`, which has {count}, found {number}; ask for the \
                         list again"
                    );
                    return Err(
                        Problem::new(StatusCode::BAD_REQUEST, message).in_field(format!("{field}[{i}]"))
                    );
                }
            },
        }
    }
    Ok(found)
}

fn answer(app: &App, asked: Question, deadline: &Deadline) -> Result<Vec<Ranked>, Problem> {
    let Some(Lean { selector, .. }) = &app.lean else { return Err(Problem::fault()) };
    let index = selector.index();
    if asked.k > MOST_ANSWERED {
        let message = format!("expected a number from 0 to {MOST_ANSWERED}, found {}", asked.k);
        return Err(Problem::new(StatusCode::BAD_REQUEST, message).in_field("k"));
    }
    if asked.new_premises.len() > MOST_NEW {
        let message = format!(
            "expected at most {MOST_NEW} declarations, as `/max-new-premises` says, found {}; send the newest, or start \
             the server with --lean-index and a file of the others",
            asked.new_premises.len()
        );
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).in_field("new_premises"));
    }
    let modules = (index.modules().len(), "/indexed-modules");
    let module = |name: &str| index.module(name);
    let mut imported = places("imported_modules", &asked.imported_modules, modules, module)?;
    imported.extend(places("imported_all_modules", &asked.imported_all_modules, modules, module)?);
    let premises = (index.len(), "/indexed-premises");
    let local = places("local_premises", &asked.local_premises, premises, |name| index.place(name))?;
    let new: Vec<(&str, &str)> =
        asked.new_premises.iter().map(|premise| (premise.name.as_str(), premise.decl.as_str())).collect();
    let question = LeanQuery { state: &asked.state, modules: &imported, local: &local, new: &new };
    let reader = app.catalog.reader()?;
    let best = selector.best(reader.as_deref(), &question, asked.k, &deadline.cancel());
    let best = best.map_err(|error| Problem::of(error, "state"))?;
    Ok(best.into_iter().map(|ranked| Ranked { name: ranked.name, score: ranked.score }).collect())
}
