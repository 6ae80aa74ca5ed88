//! `POST /v1/rank`: which statements are worth using for a conjecture.

use std::time::Instant;

use axum::http::StatusCode;
use formulanet::Error;
use formulanet::logic::hol::{self, Overload};
use formulanet::rank::{
    self, Candidates, Intake, Order, Pace, Question, Ranked, Reasons, Selection, Stored, Wishes,
};
use formulanet::read::{Statement, Syntax};
use serde::{Deserialize, Serialize};

use crate::body::{Arithmetic, Premises, Several};
use crate::catalog::shown;
use crate::given::{Given, check_patterns};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::{App, Reply};

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    conjecture: Option<String>,
    /// Several conjectures, which are answered one by one.
    conjectures: Option<Vec<String>>,
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
    overload: Option<Arithmetic>,
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
    /// Whether to say why each statement is there.
    #[serde(default)]
    explain: bool,
}

fn default_k() -> usize {
    32
}

/// What is answered.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    took_ms: f64,
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
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

/// Why a statement is there.
#[derive(Serialize)]
struct Why {
    /// Symbols that it shares with the conjecture.
    shared: Vec<String>,
    /// How many proofs of the library used it, if it has some, and part of what they prove.
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_by: Option<Vec<String>>,
}

/// Conjectures of one request.
const MOST_CONJECTURES: usize = 1000;

/// Answers one question with a JSON object, and several with a line for each, in their order: an answer or a problem.
pub(crate) fn reply(
    app: &App,
    asked: Several<Request>,
    began: Instant,
    deadline: &Deadline,
) -> Result<Reply, Problem> {
    let requests = match asked {
        Several::One(request) if request.conjectures.is_none() => {
            let answer = answers(app, request, began, deadline)?.pop().unwrap_or(Err(Problem::fault()))?;
            return Reply::json(&answer);
        }
        Several::One(request) => vec![request],
        Several::Many(requests) if requests.is_empty() => {
            let message = "expected a JSON object, or a list of them, found an empty list";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message));
        }
        Several::Many(requests) => requests,
    };
    let several = |request: &Request| request.conjectures.as_ref().map_or(1, Vec::len);
    let count = requests.iter().map(several).fold(0, usize::saturating_add);
    if count > MOST_CONJECTURES {
        let message =
            format!("expected at most {MOST_CONJECTURES} conjectures, found {count}; ask several times");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    let mut lines = Vec::new();
    for request in requests {
        let wanted = several(&request);
        match answers(app, request, began, deadline) {
            Ok(answers) => answers.iter().try_for_each(|answer| write_line(&mut lines, answer))?,
            // What is wrong with a request is wrong for each of its conjectures.
            Err(problem) => (0..wanted).try_for_each(|_| write_line(&mut lines, &Err(problem.clone())))?,
        }
        deadline.check()?;
    }
    Ok(Reply { kind: "application/x-ndjson", bytes: lines })
}

fn write_line(lines: &mut Vec<u8>, answer: &Result<Answer, Problem>) -> Result<(), Problem> {
    let written = match answer {
        Ok(answer) => serde_json::to_writer(&mut *lines, answer),
        Err(problem) => serde_json::to_writer(&mut *lines, &problem.document()),
    };
    lines.push(b'\n');
    written.map_err(|_| Problem::fault())
}

/// Ranks for all conjectures of a request.
fn answers(
    app: &App,
    request: Request,
    began: Instant,
    deadline: &Deadline,
) -> Result<Vec<Result<Answer, Problem>>, Problem> {
    let App { catalog, settings, .. } = app;
    check_patterns("include", &request.include)?;
    check_patterns("exclude", &request.exclude)?;
    check_patterns("modules", &request.modules)?;
    let given = Given::find(catalog, request.library.as_deref(), request.premises, request.syntax)?;
    if given.contents.is_none() && given.own.is_none() {
        let message = "expected `library`, `premises` or both, found neither";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    let model = given.model(catalog, request.model.as_deref())?;
    let ranker = &model.ranker;
    let Given { contents, own, languages, .. } = given;
    let has_proofs = contents.as_ref().is_some_and(|contents| contents.shelf.learned.is_some());
    let Arithmetic(overload) = request.overload.unwrap_or(Arithmetic(Overload::default()));
    let intake = Intake::new(ranker).with_overload(overload);
    let intake = if has_proofs { intake } else { intake.without_features() };
    let own = own.map(|own| own.read(intake, request.syntax, settings.max_premises, deadline)).transpose()?;
    let written = |text: String| Statement { name: "conjecture".into(), text, syntax: languages.conjecture };
    let conjectures: Vec<Statement> = match (
        request.conjecture,
        request.conjectures,
        &request.name,
        &contents,
    ) {
        (Some(text), None, None, _) => vec![written(text)],
        (None, Some(texts), None, _) => texts.into_iter().map(written).collect(),
        (None, None, Some(name), Some(contents)) => vec![statement_of(&contents.shelf, name, "name")?],
        _ => {
            let message =
                "expected `conjecture`, `conjectures`, or `library` and the `name` of one of its statements";
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
    let selection = Selection {
        most: request.k,
        threshold: request.threshold,
        include: request.include,
        exclude: request.exclude,
    };
    let options = hol::Options { overload, ..ranker.hol_options() };
    let mut answer = |conjecture: &Statement| -> Result<Answer, Problem> {
        let question = Question::read_as(ranker, conjecture, &options);
        let mut question = question.map_err(|error| Problem::of(error, "conjecture"))?;
        let scores = candidates.rank(ranker, &mut question, &wishes, &pace);
        let scores = scores.map_err(|error| Problem::of(error, "premises"))?;
        let selected = candidates.select(&selection, &scores, &pace);
        let (taken, marks) = selected.map_err(|error| Problem::of(error, "include"))?;
        let reasons = request.explain.then(|| candidates.reasons(&taken, ranker, &question)).transpose();
        let reasons = reasons.map_err(|error| Problem::of(error, "premises"))?;
        let why = |place: usize| {
            let Reasons { shared, uses, used_by, .. } = reasons.as_ref()?.get(place)?.clone();
            let (uses, used_by) = (has_proofs.then_some(uses), has_proofs.then_some(used_by));
            Some(Why { shared, uses, used_by })
        };
        let row = |(ranked, rank): (&Ranked, usize)| {
            let statement = candidates.statement(ranked.statement).map_err(|_| Problem::fault())?;
            let (name, syntax) = (statement.name, statement.syntax);
            Ok(Row { rank, name, score: ranked.score, statement: statement.text, syntax, why: why(rank - 1) })
        };
        Ok(Answer {
            model: model.name.clone(),
            took_ms: milliseconds_since(began),
            unknown: question.encoded.unknown().to_vec(),
            unmatched: marks.unmatched,
            premises: taken.iter().zip(1..).map(row).collect::<Result<_, Problem>>()?,
        })
    };
    Ok(conjectures.iter().map(&mut answer).collect())
}

/// How long ago something began, to a tenth of a millisecond.
pub(crate) fn milliseconds_since(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 1e4).round() / 10.0
}

/// The statement of a library that a field names.
fn statement_of(contents: &rank::Shelf, name: &str, field: &str) -> Result<Statement, Problem> {
    let found = contents.entries.iter().find(|entry| entry.statement.name == name);
    let missing = || format!("expected a statement of the library, found `{}`", shown(name));
    Ok(found.ok_or_else(|| Problem::senseless(field, missing()))?.statement.clone())
}
