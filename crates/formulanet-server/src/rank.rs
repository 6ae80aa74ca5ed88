//! `POST /v1/rank`: which statements are worth using for a conjecture.

use std::sync::Arc;

use axum::http::StatusCode;
use formulanet::model::encode::Encoded;
use formulanet::rank::collection::{Collection, Premise};
use formulanet::rank::ranker::{Ranked, Ranker, Scoring};
use formulanet::rank::selection::{Selection, matches};
use formulanet::read::Format;
use formulanet::read::Syntax;
use serde::{Deserialize, Serialize};

use crate::body::Premises;
use crate::catalog::{Catalog, Model, Shelf};
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::settings::Settings;

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    conjecture: String,
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
pub(crate) fn answer(
    catalog: &Catalog,
    settings: &Settings,
    request: Request,
    deadline: &Deadline,
) -> Result<Answer, Problem> {
    let shelf = request.library.as_deref().map(|name| catalog.shelf(name)).transpose()?;
    if shelf.is_none() && request.premises.is_none() {
        let message = "expected `library`, `premises` or both, found neither";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    check_patterns("include", &request.include)?;
    check_patterns("exclude", &request.exclude)?;
    let model = model_of(catalog, shelf, &request)?;
    let ranker = &model.ranker;
    let own = own_statements(ranker, request.premises, request.syntax, settings.max_premises, deadline)?;
    let candidates = Candidates { shelf, own };
    if candidates.len() == 0 {
        return Err(Problem::senseless("premises", "expected statements to rank, found none"));
    }
    let syntax = request.syntax.unwrap_or_else(|| candidates.syntax());
    let conjecture = encode("conjecture", &request.conjecture, syntax, ranker)?;

    let query = ranker.query(&conjecture);
    deadline.check()?;
    let mut scoring = ranker.scoring(&query);
    if let Some(shelf) = shelf {
        score(&mut scoring, &shelf.vectors, ranker.vector_length(), deadline)?;
    }
    for chunk in split_by_cost(&candidates.own, |premise| cost(&premise.encoded)) {
        deadline.check()?;
        let named: Vec<_> = chunk.iter().map(|premise| premise.named()).collect();
        score(&mut scoring, &ranker.vectors(&named), ranker.vector_length(), deadline)?;
    }
    let scores = scoring.finish();
    deadline.check()?;
    let selection = Selection { most: request.k, threshold: request.threshold, ..Selection::default() };
    let taken = take(&selection, &scores, &request.include, &request.exclude, &candidates, deadline)?;
    let premises = taken.iter().zip(1..).map(|(ranked, rank)| candidates.row(rank, ranked)).collect();
    let unknown = conjecture.unknown().to_vec();
    Ok(Answer { model: model.name.clone(), took_ms: 0.0, unknown, premises })
}

/// The library's model, the one that the request names, or the one for its language.
fn model_of(catalog: &Catalog, shelf: Option<&Shelf>, request: &Request) -> Result<Arc<Model>, Problem> {
    let named = request.model.as_deref().map(|name| catalog.model(name)).transpose()?;
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
        (None, None) => {
            let language = match &request.premises {
                Some(Premises::Text(text)) => Some(Format::of(text.as_bytes()).syntax()),
                Some(Premises::List(list)) => list.first().and_then(|first| first.syntax),
                None => None,
            };
            let language = language.or(request.syntax).unwrap_or_default();
            catalog.default_model(language)
        }
    }
}

/// Reads one formula as a model does.
pub(crate) fn encode(field: &str, text: &str, syntax: Syntax, ranker: &Ranker) -> Result<Encoded, Problem> {
    let mut alone = Collection::new(ranker);
    alone.add(field, text, syntax).map_err(|error| Problem::of(error, field))?;
    let read = alone.premises.pop().map(|premise| premise.encoded);
    read.ok_or_else(|| Problem::senseless(field, "expected a formula, found nothing"))
}

/// Reads the statements of a request. Those of a list are in the request's language unless they say otherwise.
fn own_statements(
    ranker: &Ranker,
    premises: Option<Premises>,
    syntax: Option<Syntax>,
    most: usize,
    deadline: &Deadline,
) -> Result<Vec<Premise>, Problem> {
    let check_count = |count: usize| {
        if count <= most {
            return Ok(());
        }
        let message = format!(
            "expected at most {most} statements, found {count}; make a library of them with `formulanet library \
             build`, or start the server with a larger --max-premises"
        );
        Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).in_field("premises"))
    };
    let mut collection = Collection::new(ranker);
    match premises {
        None => {}
        Some(Premises::Text(text)) => {
            // Includes are refused: a request must not make us read files.
            let read = collection.read_str("premises", &text, None);
            read.map_err(|error| Problem::of(error, "premises"))?;
        }
        Some(Premises::List(list)) => {
            check_count(list.len())?;
            for (i, item) in list.iter().enumerate() {
                if i % 64 == 0 {
                    deadline.check()?;
                }
                if item.name.is_empty() {
                    return Err(Problem::senseless(
                        format!("premises[{i}].name"),
                        "expected a name, found nothing",
                    ));
                }
                let syntax = item.syntax.or(syntax).unwrap_or_default();
                let added = collection.add(&item.name, &item.statement, syntax);
                added.map_err(|error| Problem::of(error, format!("premises[{i}].statement")))?;
            }
        }
    }
    check_count(collection.premises.len())?;
    Ok(collection.premises)
}

/// What is ranked: the statements of a library, and behind them those of the request.
struct Candidates<'a> {
    shelf: Option<&'a Shelf>,
    own: Vec<Premise>,
}

impl Candidates<'_> {
    fn stored(&self) -> usize {
        self.shelf.map_or(0, |shelf| shelf.entries.len())
    }

    fn len(&self) -> usize {
        self.stored() + self.own.len()
    }

    /// Name, text and language of a statement.
    fn get(&self, number: usize) -> (&str, &str, Syntax) {
        match (self.shelf, number.checked_sub(self.stored())) {
            (Some(shelf), None) => {
                let entry = &shelf.entries[number];
                (&entry.name, &entry.text, entry.syntax)
            }
            (_, own) => {
                let premise = &self.own[own.unwrap_or(number)];
                (&premise.name, &premise.text, premise.syntax)
            }
        }
    }

    fn name(&self, number: usize) -> &str {
        self.get(number).0
    }

    /// What most statements of the request are written in; if it has none, most of the library.
    fn syntax(&self) -> Syntax {
        let tptp = self.own.iter().filter(|premise| premise.syntax == Syntax::Tptp).count();
        match self.shelf {
            Some(shelf) if self.own.is_empty() => shelf.syntax,
            _ if 2 * tptp > self.own.len() => Syntax::Tptp,
            _ => Syntax::Hol,
        }
    }

    fn row(&self, rank: usize, ranked: &Ranked) -> Row {
        let (name, statement, syntax) = self.get(ranked.statement);
        Row { rank, name: name.to_owned(), score: ranked.score, statement: statement.to_owned(), syntax }
    }
}

/// Vectors that are scored between two looks at the clock.
const ROWS: usize = 8192;

fn score(
    scoring: &mut Scoring<'_>,
    vectors: &[f32],
    length: usize,
    deadline: &Deadline,
) -> Result<(), Problem> {
    for rows in vectors.chunks(ROWS * length) {
        deadline.check()?;
        scoring.add(rows);
    }
    Ok(())
}

/// About how long a statement takes to embed: its edges and treelets.
pub(crate) fn cost(encoded: &Encoded) -> usize {
    let treelets = |&degree: &u16| usize::from(degree) * usize::from(degree).saturating_sub(1) / 2;
    let input = encoded.input();
    1 + input.targets.len() + input.degrees.iter().map(treelets).sum::<usize>()
}

/// Consecutive pieces of about the same cost, between which there is time for a look at the clock.
pub(crate) fn split_by_cost<T>(items: &[T], cost: impl Fn(&T) -> usize) -> impl Iterator<Item = &[T]> {
    const MOST: usize = 4096;
    let mut rest = items;
    std::iter::from_fn(move || {
        let mut sum = 0;
        let fitting = rest.iter().take_while(|item| {
            sum += cost(item);
            sum <= MOST
        });
        let count = fitting.count().max(1).min(rest.len());
        let (chunk, behind) = rest.split_at(count);
        rest = behind;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Patterns of one kind in a request, and characters of each.
const MOST_PATTERNS: usize = 1000;
const LONGEST_PATTERN: usize = 256;

fn check_patterns(field: &str, patterns: &[String]) -> Result<(), Problem> {
    if patterns.len() > MOST_PATTERNS {
        let message = format!("expected at most {MOST_PATTERNS} names or patterns, found {}", patterns.len());
        return Err(Problem::senseless(field, message));
    }
    match patterns.iter().position(|pattern| pattern.len() > LONGEST_PATTERN) {
        Some(i) => {
            let message = format!("expected at most {LONGEST_PATTERN} bytes, found {}", patterns[i].len());
            Err(Problem::senseless(format!("{field}[{i}]"), message))
        }
        None => Ok(()),
    }
}

/// Takes what was asked for. Names meet patterns here, where there is a clock.
fn take(
    selection: &Selection,
    scores: &[f32],
    include: &[String],
    exclude: &[String],
    candidates: &Candidates<'_>,
    deadline: &Deadline,
) -> Result<Vec<Ranked>, Problem> {
    let marks = |patterns: &[String]| -> Result<Vec<bool>, Problem> {
        let mut marks = vec![false; if patterns.is_empty() { 0 } else { candidates.len() }];
        for (number, mark) in marks.iter_mut().enumerate() {
            if number % 32 == 0 {
                deadline.check()?;
            }
            *mark = patterns.iter().any(|pattern| matches(pattern, candidates.name(number)));
        }
        Ok(marks)
    };
    let (included, excluded) = (marks(include)?, marks(exclude)?);
    let is = |marks: &[bool], number: usize| marks.get(number).copied().unwrap_or(false);
    let name = |i: usize| candidates.name(i);
    let taken = selection.pick_marked(scores, name, |i| is(&excluded, i), |i| is(&included, i));
    taken.map_err(|_| {
        let count = (0..candidates.len()).filter(|&i| is(&included, i) && !is(&excluded, i)).count();
        let message = format!(
            "expected at most k = {} statements that must be in, found {count}; raise `k` or name fewer",
            selection.most
        );
        Problem::senseless("include", message)
    })
}
