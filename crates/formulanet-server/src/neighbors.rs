//! `POST /v1/neighbors`: statements that are close to a formula in the network's eyes.

use formulanet::Error;
use formulanet::rank::{Intake, Pace, Premise, Ranked, order};
use formulanet::read::{Statement, Syntax};
use serde::{Deserialize, Serialize};

use crate::body::{Arithmetic, Premises};
use crate::given::{Given, encode};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::App;

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    formula: String,
    syntax: Option<Syntax>,
    overload: Option<Arithmetic>,
    library: Option<String>,
    premises: Option<Premises>,
    #[serde(default = "default_k")]
    k: usize,
    model: Option<String>,
}

fn default_k() -> usize {
    10
}

/// What is answered.
#[derive(Serialize)]
pub(crate) struct Answer {
    model: String,
    neighbors: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    rank: usize,
    name: String,
    /// The cosine of the angle between the vectors.
    similarity: f32,
    statement: String,
    syntax: Syntax,
}

/// Looks for the closest.
pub(crate) fn answer(app: &App, request: Request, deadline: &Deadline) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    let given = Given::find(catalog, request.library.as_deref(), request.premises, request.syntax)?;
    if given.contents.is_none() == given.own.is_none() {
        let message = "expected either `library` or `premises`";
        return Err(Problem::senseless("library", message));
    }
    let model = given.model(catalog, request.model.as_deref())?;
    let Given { contents, own, languages, .. } = given;
    let ranker = &model.ranker;
    let formula = (request.formula.as_str(), languages.conjecture);
    let formula = encode("formula", formula, request.overload, ranker)?;
    let intake = Intake::new(ranker).without_features();
    let own = own.map(|own| own.read(intake, request.syntax, settings.max_premises, deadline)).transpose()?;
    let own = own.unwrap_or_default();
    let mut similarities = Vec::new();
    if let Some(contents) = &contents {
        similarities = ranker.similarities(&formula, &contents.shelf.rows);
    }
    let is_over = || deadline.check().map_err(|_| Error::Interrupted);
    for piece in Pace::Timed(&is_over).pieces(&own, |premise| &premise.encoded) {
        deadline.check()?;
        let named: Vec<_> = piece.iter().map(Premise::named).collect();
        similarities.extend(ranker.similarities(&formula, &ranker.rows(&named)));
    }
    deadline.check()?;
    // Of the one or of the other: a request names a library or brings statements along.
    let written = |number: usize| match &contents {
        Some(contents) => {
            let Statement { name, text, syntax } = &contents.shelf.entries[number].statement;
            (name.as_str(), text.as_str(), *syntax)
        }
        None => (own[number].name.as_str(), own[number].text.as_str(), own[number].syntax),
    };
    let mut closest = order(&similarities, |number| written(number).0);
    closest.truncate(request.k);
    let row = |(ranked, rank): (&Ranked, usize)| {
        let (name, statement, syntax) = written(ranked.statement);
        let (name, statement) = (name.to_owned(), statement.to_owned());
        Row { rank, name, similarity: ranked.score, statement, syntax }
    };
    Ok(Answer { model: model.name.clone(), neighbors: closest.iter().zip(1..).map(row).collect() })
}
