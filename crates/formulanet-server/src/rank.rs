//! `POST /v1/rank`: ranks premises by relevance to a conjecture.

use std::time::Instant;

use axum::http::StatusCode;
use formulanet::analyze::Analyzer;
use formulanet::policy::Stage1;
use formulanet::{
    Duplicates, Error, Evidence, Existing, Goal, GoalFormula, Hit, Language, Order, Policy, Query, Rerank,
    Statement, Take,
};
use serde::{Deserialize, Serialize};

use crate::body::{Arithmetic, Premises, Several};
use crate::catalog::shown;
use crate::given::{Given, check_patterns};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::{App, Reply};

/// A request.
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
    keep_duplicates: bool,
    #[serde(default)]
    order: Order,
    syntax: Option<Language>,
    overload: Option<Arithmetic>,
    library: Option<String>,
    premises: Option<Premises>,
    #[serde(default = "default_k")]
    k: usize,
    #[serde(default)]
    min_score: f32,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    model: Option<String>,
    /// Whether the best statements are scored once more, together with the conjecture.
    #[serde(default)]
    rerank: Rerank,
    /// Whether to say why each statement is there.
    #[serde(default)]
    explain: bool,
}

fn default_k() -> usize {
    32
}

/// The response.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    took_ms: f64,
    /// Labels of the conjecture that the model does not know.
    unknown_symbols: Vec<String>,
    /// Names and patterns of the request that no statement fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmatched: Vec<String>,
    /// Statements that already say what the conjecture says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    existing: Vec<Existing>,
    premises: Vec<Row>,
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
    syntax: Language,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

/// Why a statement is there.
#[derive(Serialize)]
struct Why {
    /// Symbols that it shares with the conjecture.
    shared_symbols: Vec<String>,
    /// The number of the library's proofs that used it, if the library has proofs, and some of the facts that they prove.
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_by: Option<Vec<String>>,
}

/// Conjectures of one request.
const MOST_CONJECTURES: usize = 1000;

/// The cost of re-ranking, in statements.
const READING: usize = 20_000;

/// The number of pairs of a conjecture and a statement that a request compares.
pub(crate) fn comparisons(app: &App, asked: &Several<Request>) -> usize {
    let of_one = |request: &Request| {
        let reading = if request.rerank == Rerank::Off { 0 } else { READING };
        let statements = app.catalog.statements(request.library.as_deref()) + reading;
        statements.saturating_mul(request.conjectures.as_ref().map_or(1, Vec::len))
    };
    match asked {
        Several::One(request) => of_one(request),
        Several::Many(requests) => requests.iter().map(of_one).fold(0, usize::saturating_add),
    }
}

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
    if given.library.is_none() && given.own.is_none() {
        let message = "expected `library`, `premises` or both, found neither";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    let mut given = given;
    let model = given.model(catalog, request.model.as_deref())?;
    let overload = request.overload.map(|Arithmetic(overload)| overload).unwrap_or_default();
    let analyzer = Analyzer::new(&model.retriever);
    let own = given.own.take();
    let own =
        own.map(|own| own.read(analyzer, request.syntax, settings.max_premises, deadline)).transpose()?;
    let (has_library, language) = (given.library.is_some(), request.syntax.unwrap_or(given.language));
    let language = match language {
        Language::Hol => Language::HolWith(overload),
        other => other,
    };
    let corpus = given.corpus(model, own.unwrap_or_default(), false);
    let written = |text: String| {
        Goal::from(GoalFormula {
            text,
            language: Some(language),
            source: "conjecture".into(),
            ..GoalFormula::default()
        })
    };
    let goals: Vec<Goal> = match (request.conjecture, request.conjectures, request.name) {
        (Some(text), None, None) => vec![written(text)],
        (None, Some(texts), None) => texts.into_iter().map(written).collect(),
        (None, None, Some(name)) if has_library => vec![Goal::Stored(name)],
        _ => {
            let message =
                "expected `conjecture`, `conjectures`, or `library` and the `name` of one of its statements";
            return Err(Problem::senseless("conjecture", message));
        }
    };
    if request.before.is_some() && !has_library {
        return Err(Problem::senseless("before", "expected `library` with `before`, found none"));
    }
    let duplicates = if request.keep_duplicates { Duplicates::Keep } else { Duplicates::Drop };
    let take = Take::new(request.k, request.min_score, request.include, request.exclude);
    let policy = Policy::default().order(request.order).rerank(request.rerank);
    let mut query =
        Query::default().modules(request.modules).duplicates(duplicates).policy(policy).take(take);
    if let Some(before) = request.before {
        query = query.before(before);
    }
    if request.explain {
        query = query.explain();
    }
    let cancel = deadline.cancel();
    let answer = |goal: Goal| -> Result<Answer, Problem> {
        let field = if matches!(goal, Goal::Stored(_)) { "name" } else { "conjecture" };
        let ranking = catalog.engine.rank_with(&corpus, &query.clone().goals(vec![goal]), &cancel);
        let ranking = ranking.map_err(|error| of_ranking(error, field))?;
        let has_proofs = matches!(ranking.plan.retrieve, Stage1::Learned { with_proofs: true });
        Ok(Answer {
            model: corpus.model_name().to_owned(),
            took_ms: milliseconds_since(began),
            unknown_symbols: ranking.unknown_symbols,
            unmatched: ranking.unmatched,
            existing: ranking.existing,
            premises: ranking
                .hits
                .into_iter()
                .zip(1..)
                .map(|(hit, rank)| row(hit, rank, has_proofs))
                .collect(),
        })
    };
    Ok(goals.into_iter().map(answer).collect())
}

fn row(hit: Hit, rank: usize, has_proofs: bool) -> Row {
    let Statement { name, text, language: syntax } = hit.statement;
    let why = hit.evidence.map(|Evidence { shared_symbols, uses, used_by, .. }| Why {
        shared_symbols,
        uses: has_proofs.then_some(uses),
        used_by: has_proofs.then_some(used_by),
    });
    Row { rank, name, score: hit.score, probability: hit.probability, statement: text, syntax, why }
}

/// Returns the response for an error of a query, with the field that caused it.
fn of_ranking(error: Error, field: &str) -> Problem {
    match &error {
        Error::NoSuchStatement { name, .. } => {
            let message = format!("expected a statement of the library, found `{}`", shown(name));
            Problem::senseless(if field == "name" { field } else { "before" }, message)
        }
        Error::TooManyIncluded { .. } => Problem::of(error, "include"),
        Error::NoStatements => Problem::of(error, "premises"),
        _ => Problem::of(error, field),
    }
}

/// How long ago something began, to a tenth of a millisecond.
pub(crate) fn milliseconds_since(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 1e4).round() / 10.0
}
