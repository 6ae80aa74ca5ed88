//! `GET /v1/library`: the libraries of the server, and what is in them.

use formulanet::Language;
use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::App;

/// The query string.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    name: Option<String>,
    #[serde(default)]
    offset: usize,
    #[serde(default = "default_limit")]
    limit: usize,
    contains: Option<String>,
}

fn default_limit() -> usize {
    50
}

/// Entries of one answer.
const MOST: usize = 1000;

/// The response: all libraries, or a part of one.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Libraries {
        libraries: Vec<LibraryRow>,
        models: Vec<ModelRow>,
        /// Whether requests that know the token may change libraries.
        writable: bool,
    },
    Entries {
        name: String,
        model: String,
        statements: usize,
        found: usize,
        entries: Vec<EntryRow>,
    },
}

#[derive(Serialize)]
pub(crate) struct LibraryRow {
    name: String,
    statements: usize,
    proofs: usize,
    model: String,
    syntax: Language,
    /// Why the file cannot be read now; the state before is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct ModelRow {
    name: String,
    /// The languages whose statements it reads unless another model is asked for.
    default_for: Vec<Language>,
}

#[derive(Serialize)]
pub(crate) struct EntryRow {
    name: String,
    statement: String,
    syntax: Language,
}

/// Lists.
pub(crate) fn answer(app: &App, query: Query, deadline: &Deadline) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    let Some(name) = &query.name else { return Ok(libraries(catalog, settings.token.is_some())) };
    if query.limit > MOST {
        let message =
            format!("expected at most {MOST}, found {}; ask for the rest with `offset`", query.limit);
        return Err(Problem::senseless("limit", message));
    }
    let shelf = catalog.shelf(name).map_err(|problem| problem.in_field("name"))?;
    let wanted = query.contains.as_deref().map(str::to_lowercase);
    let (mut found, mut entries) = (0, Vec::new());
    let contents = shelf.contents();
    for (i, entry) in contents.shelf.entries.iter().map(|entry| &entry.statement).enumerate() {
        if i % 256 == 0 {
            deadline.check()?;
        }
        let contains = |wanted: &String| {
            [&entry.name, &entry.text].iter().any(|text| text.to_lowercase().contains(wanted))
        };
        if !wanted.as_ref().is_none_or(contains) {
            continue;
        }
        if found >= query.offset && entries.len() < query.limit {
            let (name, statement) = (entry.name.clone(), entry.text.clone());
            entries.push(EntryRow { name, statement, syntax: entry.language });
        }
        found += 1;
    }
    let (name, model) = (shelf.name.clone(), shelf.model.name.clone());
    Ok(Answer::Entries { name, model, statements: contents.shelf.entries.len(), found, entries })
}

fn libraries(catalog: &Catalog, writable: bool) -> Answer {
    let library = |shelf: &crate::catalog::Shelf| {
        let contents = shelf.contents().shelf;
        LibraryRow {
            name: shelf.name.clone(),
            statements: contents.entries.len(),
            proofs: contents.learned.as_ref().map_or(0, |learned| learned.index().proof_count()),
            model: shelf.model.name.clone(),
            syntax: contents.language,
            unreadable: shelf.failure(),
        }
    };
    let models = catalog.model_names().map(|name| {
        let is_default = |syntax: &Language| catalog.default_model_name(*syntax) == name;
        let default_for = [Language::Hol, Language::Tptp].into_iter().filter(is_default).collect();
        ModelRow { name: name.to_owned(), default_for }
    });
    let libraries = catalog.shelves.iter().map(library).collect();
    Answer::Libraries { libraries, models: models.collect(), writable }
}
