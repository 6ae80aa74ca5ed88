//! `POST /v1/rank`: which statements are worth using for a conjecture.

use std::sync::Arc;

use axum::http::StatusCode;
use formulanet::Error;
use formulanet::model::encode::Encoded;
use formulanet::rank::{
    self, Candidates, Intake, Languages, Order, Pace, Premise, Question, Ranked, Ranker, Selection, Stored,
    Wishes,
};
use formulanet::read::{Source, Statement, Syntax};
use serde::{Deserialize, Serialize};

use crate::body::{NamedStatement, Premises};
use crate::catalog::{Catalog, Model, Shelf, shown};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::App;

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    conjecture: Option<String>,
    /// A statement of the library to rank for, instead of a conjecture.
    name: Option<String>,
    /// Only what comes before this statement of the library.
    before: Option<String>,
    /// Only statements of the library from these modules.
    #[serde(default)]
    modules: Vec<String>,
    /// Whether to keep statements that say the same as the conjecture.
    #[serde(default)]
    keep_goal: bool,
    #[serde(default)]
    order: Order,
    syntax: Option<Syntax>,
    library: Option<String>,
    premises: Option<Premises>,
    #[serde(default = "default_k")]
    k: usize,
    #[serde(default)]
    threshold: f32,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    model: Option<String>,
    /// Whether to read the best statements together with the conjecture.
    read: Option<bool>,
}

fn default_k() -> usize {
    32
}

/// What is answered.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    /// Set by the caller, who knows when the request came.
    pub(crate) took_ms: f64,
    /// Labels of the conjecture that the model does not know.
    unknown: Vec<String>,
    /// Names and patterns of the request that no statement fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmatched: Vec<String>,
    premises: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    rank: usize,
    name: String,
    score: f32,
    statement: String,
    syntax: Syntax,
}

/// Ranks.
pub(crate) fn answer(app: &App, request: Request, deadline: &Deadline) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    let shelf = request.library.as_deref().map(|name| catalog.shelf(name)).transpose()?;
    if shelf.is_none() && request.premises.is_none() {
        let message = "expected `library`, `premises` or both, found neither";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    check_patterns("include", &request.include)?;
    check_patterns("exclude", &request.exclude)?;
    check_patterns("modules", &request.modules)?;
    let contents = shelf.map(Shelf::read);
    let own = request.premises.map(Own::new);
    let own_syntax = own.as_ref().map(|own| own.syntax(request.syntax));
    let stored_syntax = contents.as_ref().map(|contents| contents.shelf.syntax);
    let languages = Languages::decide(request.syntax, own_syntax, stored_syntax);
    let model = model_of(catalog, shelf, request.model.as_deref(), languages)?;
    let ranker = &model.ranker;
    let has_proofs = contents.as_ref().is_some_and(|contents| contents.shelf.learned.is_some());
    let intake = Intake::new(ranker);
    let intake = if has_proofs { intake } else { intake.without_features() };
    let own = own.map(|own| own.read(intake, request.syntax, settings.max_premises, deadline)).transpose()?;
    let conjecture = match (request.conjecture, &request.name, &contents) {
        (Some(text), None, _) => Statement { name: "conjecture".into(), text, syntax: languages.conjecture },
        (None, Some(name), Some(contents)) => statement_of(&contents.shelf, name, "name")?,
        _ => {
            let message = "expected `conjecture`, or `library` and the `name` of one of its statements";
            return Err(Problem::senseless("conjecture", message));
        }
    };
    match (&request.before, &contents) {
        (Some(before), Some(contents)) => drop(statement_of(&contents.shelf, before, "before")?),
        (Some(_), None) => {
            return Err(Problem::senseless("before", "expected `library` beside `before`, found none"));
        }
        (None, _) => {}
    }
    let question = Question::read(ranker, &conjecture);
    let mut question = question.map_err(|error| Problem::of(error, "conjecture"))?;

    let is_over = || deadline.check().map_err(|_| Error::Interrupted);
    let pace = Pace::Timed(&is_over);
    let reads = request.read.unwrap_or(has_proofs || languages.reads());
    let stored = contents.as_ref().map(|contents| Stored::InMemory(&contents.shelf));
    let mut candidates = Candidates::new(stored, own.unwrap_or_default());
    let wishes = Wishes {
        reading: match contents.as_ref().and_then(|contents| contents.reading.as_ref()) {
            _ if !reads => None,
            Some(fitted) => Some(fitted),
            None => Some(catalog.reader()?),
        },
        before: request.before,
        own_name: request.name,
        modules: request.modules,
        keeps_goal: request.keep_goal,
        order: request.order,
        with_usual: false,
    };
    let scores = candidates.rank(ranker, &mut question, &wishes, &pace);
    let scores = scores.map_err(|error| Problem::of(error, "premises"))?;
    let selection = Selection {
        most: request.k,
        threshold: request.threshold,
        include: request.include,
        exclude: request.exclude,
    };
    let selected = candidates.select(&selection, &scores, &pace);
    let (taken, marks) = selected.map_err(|error| Problem::of(error, "include"))?;
    let row = |(ranked, rank): (&Ranked, usize)| {
        let statement = candidates.statement(ranked.statement).map_err(|_| Problem::fault())?;
        let (name, syntax) = (statement.name, statement.syntax);
        Ok(Row { rank, name, score: ranked.score, statement: statement.text, syntax })
    };
    Ok(Answer {
        model: model.name.clone(),
        took_ms: 0.0,
        unknown: question.encoded.unknown().to_vec(),
        unmatched: marks.unmatched,
        premises: taken.iter().zip(1..).map(row).collect::<Result<_, Problem>>()?,
    })
}

/// The statement of a library that a field names.
fn statement_of(contents: &rank::Shelf, name: &str, field: &str) -> Result<Statement, Problem> {
    let found = contents.entries.iter().find(|entry| entry.statement.name == name);
    let missing = || format!("expected a statement of the library, found `{}`", shown(name));
    Ok(found.ok_or_else(|| Problem::senseless(field, missing()))?.statement.clone())
}

/// The library's model, the one that the request names, or the one for the statements' language.
fn model_of(
    catalog: &Catalog,
    shelf: Option<&Shelf>,
    named: Option<&str>,
    languages: Languages,
) -> Result<Arc<Model>, Problem> {
    let named = named.map(|name| catalog.model(name)).transpose()?;
    match (shelf, named) {
        (Some(shelf), Some(named)) if !Arc::ptr_eq(&shelf.model, &named) => {
            let message = format!(
                "expected `{}`, which the library `{}` was made with, found `{}`; leave `model` out",
                shelf.model.name, shelf.name, named.name
            );
            Err(Problem::senseless("model", message))
        }
        (Some(shelf), _) => Ok(Arc::clone(&shelf.model)),
        (None, Some(named)) => Ok(named),
        (None, None) => catalog.default_model(languages.statements),
    }
}

/// Reads one formula as a model does.
pub(crate) fn encode(field: &str, text: &str, syntax: Syntax, ranker: &Ranker) -> Result<Encoded, Problem> {
    let read = Intake::new(ranker).take(field, text, syntax);
    read.map(|premise| premise.encoded).map_err(|error| Problem::of(error, field))
}

/// The statements of a request.
enum Own {
    List(Vec<NamedStatement>),
    /// A text that must not include files: a request must not make us read any.
    Text(Source),
}

impl Own {
    fn new(premises: Premises) -> Self {
        match premises {
            Premises::List(list) => Own::List(list),
            Premises::Text(text) => Own::Text(Source::text("premises", text)),
        }
    }

    /// The language of the first. Those of a list are in the request's language unless they say otherwise.
    fn syntax(&self, asked: Option<Syntax>) -> Syntax {
        match self {
            Own::List(list) => list.first().and_then(|first| first.syntax).or(asked).unwrap_or_default(),
            Own::Text(source) => source.syntax(),
        }
    }

    /// Reads them, and looks at their number and at the clock on the way.
    fn read(
        self,
        mut intake: Intake<'_>,
        asked: Option<Syntax>,
        most: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Premise>, Problem> {
        let mut premises = Vec::new();
        match self {
            Own::List(list) => {
                check_count(list.len(), most)?;
                for (i, item) in list.iter().enumerate() {
                    if i % 64 == 0 {
                        deadline.check()?;
                    }
                    if item.name.is_empty() {
                        let field = format!("premises[{i}].name");
                        return Err(Problem::senseless(field, "expected a name, found nothing"));
                    }
                    let syntax = item.syntax.or(asked).unwrap_or_default();
                    let read = intake.take(&item.name, &item.statement, syntax);
                    let field = || format!("premises[{i}].statement");
                    premises.push(read.map_err(|error| Problem::of(error, field()))?);
                }
            }
            Own::Text(source) => {
                let read = intake.read(source).map_err(|error| Problem::of(error, "premises"))?;
                for premise in read {
                    if premises.len() % 64 == 0 {
                        deadline.check()?;
                    }
                    check_count(premises.len() + 1, most)?;
                    premises.push(premise.map_err(|error| Problem::of(error, "premises"))?);
                }
            }
        }
        Ok(premises)
    }
}

fn check_count(count: usize, most: usize) -> Result<(), Problem> {
    if count <= most {
        return Ok(());
    }
    let message = format!(
        "expected at most {most} statements, found more; make a library of them with `formulanet library build`, or \
         start the server with a larger --max-premises"
    );
    Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).in_field("premises"))
}

/// Patterns of one kind in a request, and characters of each.
const MOST_PATTERNS: usize = 1000;
const LONGEST_PATTERN: usize = 256;

fn check_patterns(field: &str, patterns: &[String]) -> Result<(), Problem> {
    if patterns.len() > MOST_PATTERNS {
        let message = format!("expected at most {MOST_PATTERNS} names or patterns, found {}", patterns.len());
        return Err(Problem::senseless(field, message));
    }
    if let Some(i) = patterns.iter().position(|pattern| pattern.len() > LONGEST_PATTERN) {
        let message = format!("expected at most {LONGEST_PATTERN} bytes, found {}", patterns[i].len());
        return Err(Problem::senseless(format!("{field}[{i}]"), message));
    }
    Ok(())
}
