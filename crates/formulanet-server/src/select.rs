//! `POST /v1/select`: a TPTP problem with the best axioms alone.

use std::time::Instant;

use formulanet::Error;
use formulanet::rank::{self, Knowledge, Order, Pace, Ranked, Selection, Stored, Wishes};
use formulanet::read::{Source, Syntax};
use serde::{Deserialize, Serialize};

use crate::given::{Given, check_count, check_patterns};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::rank::milliseconds_since;
use crate::router::App;

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// A problem without includes.
    problem: String,
    /// Select from the statements of this library, too.
    library: Option<String>,
    #[serde(default = "default_k")]
    k: usize,
    /// Roles that are kept, and do not count.
    #[serde(default = "default_keep")]
    keep: Vec<String>,
    /// Whether to look at names of symbols.
    #[serde(default = "yes")]
    names: bool,
    #[serde(default)]
    threshold: f32,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    model: Option<String>,
    /// Whether to read the best axioms together with the conjecture.
    #[serde(default = "yes")]
    read: bool,
}

fn default_k() -> usize {
    64
}

fn default_keep() -> Vec<String> {
    ["hypothesis", "assumption"].map(str::to_owned).to_vec()
}

fn yes() -> bool {
    true
}

/// What is answered.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    took_ms: f64,
    /// The smaller problem.
    problem: String,
    /// How many of the problem's symbols the model knows, if it does not know all.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Known>,
    /// Names and patterns of the request that no axiom fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmatched: Vec<String>,
    premises: Vec<Row>,
}

#[derive(Serialize)]
struct Known {
    symbols: usize,
    of: usize,
}

#[derive(Serialize)]
struct Row {
    rank: usize,
    name: String,
    score: f32,
    statement: String,
    /// Symbols that it has in common with the conjecture.
    shared: Vec<String>,
    /// Symbols that the model does not know.
    unknown: Vec<String>,
}

/// Selects.
pub(crate) fn answer(
    app: &App,
    request: Request,
    began: Instant,
    deadline: &Deadline,
) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    check_patterns("include", &request.include)?;
    check_patterns("exclude", &request.exclude)?;
    check_patterns("keep", &request.keep)?;
    let given = Given::find(catalog, request.library.as_deref(), None, Some(Syntax::Tptp))?;
    if given.contents.is_some() && !request.names {
        let message =
            "expected no `library` beside `names: false`: its statements are ranked by their names, too";
        return Err(Problem::senseless("names", message));
    }
    let model = given.model(catalog, request.model.as_deref())?;
    let (ranker, contents) = (&model.ranker, given.contents);
    let of_problem = |error: Error| Problem::of(error, "problem");
    let source = Source::text("problem", request.problem);
    let mut problem = rank::Problem::read(source, ranker, &request.keep).map_err(of_problem)?;
    check_count(problem.axiom_count(), settings.max_premises).map_err(|error| error.in_field("problem"))?;
    deadline.check()?;
    let is_over = || deadline.check().map_err(|_| Error::Interrupted);
    let pace = Pace::Timed(&is_over);
    let fitted = contents.as_ref().and_then(|contents| contents.reading.as_ref());
    let reading = match fitted {
        _ if !request.read => None,
        Some(fitted) => Some(fitted),
        None => Some(catalog.reader()?),
    };
    let selection = Selection {
        most: request.k,
        threshold: request.threshold,
        include: request.include,
        exclude: request.exclude,
    };
    let (scores, unmatched) = if request.names {
        let wishes = Wishes { reading, keeps_goal: true, order: Order::Probability, ..Wishes::default() };
        let stored =
            contents.as_ref().map(|contents| (Stored::InMemory(&contents.shelf), contents.shelf.syntax));
        let found = problem.rank_axioms(stored, ranker, &wishes, &selection, &pace).map_err(of_problem)?;
        (found.scores, Some(found.unmatched))
    } else {
        (problem.nameless_scores(ranker, reading, &pace).map_err(of_problem)?, None)
    };
    deadline.check()?;
    let name = |number| problem.axiom_name(number);
    let marks = selection.marks(scores.len(), name, &pace).map_err(of_problem)?;
    let taken = selection.pick_marked(&scores, name, &marks);
    let taken = taken.map_err(|error| Problem::of(error, "include"))?;
    let Knowledge { known: symbols, of } = problem.knowledge(ranker);
    let row = |((ranked, reasons), rank): ((&Ranked, rank::Reasons), usize)| Row {
        rank,
        name: name(ranked.statement).to_owned(),
        score: ranked.score,
        statement: problem.axiom_text(ranked.statement).to_owned(),
        shared: reasons.shared,
        unknown: reasons.unknown,
    };
    Ok(Answer {
        model: model.name.clone(),
        took_ms: milliseconds_since(began),
        problem: problem.reduced(&taken),
        known: (of > 0).then_some(Known { symbols, of }),
        unmatched: unmatched.unwrap_or(marks.unmatched),
        premises: taken.iter().zip(problem.reasons(&taken, ranker)).zip(1..).map(row).collect(),
    })
}
