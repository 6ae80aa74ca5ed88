//! `POST /v1/libraries/{name}/facts`: statements and proofs that are added to a library.

use axum::http::{HeaderMap, StatusCode, header};
use formulanet::analyze::Analyzer;
use formulanet::read::Proof;
use formulanet::{Error, Language, Library};
use serde::{Deserialize, Serialize};

use crate::given::check_count;
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::App;

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    facts: Vec<Fact>,
}

/// A statement to add, or the proof of one that is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    name: String,
    statement: Option<String>,
    syntax: Option<Language>,
    module: Option<String>,
    /// Names of what a proof of it used.
    proof: Option<Vec<String>>,
}

/// The response.
#[derive(Serialize)]
pub(crate) struct Answer {
    /// Statements that were not there before.
    new: usize,
    /// Statements whose text changed.
    changed: usize,
    /// Statements that were there already.
    same: usize,
    /// Proofs that were not known before.
    proofs: usize,
    /// Proofs of what the library does not have, which were not kept.
    of_unknown: usize,
    /// Names in new proofs that the library does not have.
    unknown: usize,
    /// Names in new proofs that do not count: of what is proved itself, or of what comes after it.
    ignored: usize,
}

/// Refuses who may not change libraries.
pub(crate) fn check(headers: &HeaderMap, token: Option<&str>) -> Result<(), Problem> {
    let Some(token) = token else {
        let message =
            "this server does not let requests change libraries; start it with --writable and --token-file";
        return Err(Problem::new(StatusCode::FORBIDDEN, message));
    };
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.split_once(' '));
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token);
    match given {
        Some(given) if is_equal(given.trim().as_bytes(), token.as_bytes()) => Ok(()),
        Some(_) => Err(Problem::unauthorised("the token is not the one in the server's token file")),
        None => Err(Problem::unauthorised("expected the header `authorization: Bearer TOKEN`, found none")),
    }
}

/// Compares in a time that does not tell how much of it is right.
fn is_equal(given: &[u8], token: &[u8]) -> bool {
    let differences = given.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

/// Bytes of a name. It comes back in every answer that has the statement.
const LONGEST_NAME: usize = 1000;

/// Adds statements and proofs: all of them, or nothing if there is an error.
pub(crate) fn answer(
    app: &App,
    name: &str,
    request: Request,
    deadline: &Deadline,
) -> Result<Answer, Problem> {
    deadline.check().map_err(|_| Problem::not_written())?;
    let App { catalog, settings, .. } = app;
    let shelf = catalog.shelf(name)?;
    check_count(request.facts.len(), settings.max_premises).map_err(|problem| problem.in_field("facts"))?;
    let retriever = &shelf.model.retriever;
    let mut analyzer = Analyzer::new(retriever);
    let (mut statements, mut proofs) = (Vec::new(), Vec::new());
    for (i, Fact { name, statement, syntax, module, proof }) in request.facts.into_iter().enumerate() {
        if i % 64 == 0 {
            deadline.check()?;
        }
        let is_long = name.len() > LONGEST_NAME;
        if is_long || name.is_empty() || name.contains(|c: char| c.is_control()) {
            let message = format!("expected a name of 1 to {LONGEST_NAME} bytes without control characters");
            return Err(Problem::senseless(format!("facts[{i}].name"), message));
        }
        if let Some(used) = proof {
            proofs.push(Proof { name: name.clone(), used, place: format!("facts[{i}]") });
        } else if statement.is_none() {
            return Err(Problem::senseless(format!("facts[{i}]"), "expected `statement`, `proof` or both"));
        }
        if let Some(text) = statement {
            let syntax = syntax.unwrap_or(shelf.contents().shelf.language);
            let mut premise = analyzer
                .analyze(&name, &text, syntax)
                .map_err(|error| Problem::of(error, format!("facts[{i}].statement")))?;
            premise.module = module.unwrap_or_default();
            statements.push(premise);
        }
    }
    let failed = |error: Error| Problem::of_library(error, name);
    let mut library = Library::open_within(&shelf.path, deadline.left()).map_err(failed)?;
    let writer = library.writer(retriever).map_err(failed)?;
    let mut writer = writer.until(deadline.cancel(), deadline.until().into_std());
    statements.into_iter().try_for_each(|statement| writer.push(statement)).map_err(failed)?;
    proofs.into_iter().for_each(|proof| writer.push_proof(proof));
    let added = writer.commit().map_err(failed)?;
    // The next question knows it, without waiting for who watches the file. From here on, it is written: what cannot be read
    // now is read by who watches.
    if let Err(error) = shelf.refresh(&library, &catalog.engine) {
        crate::tell(format_args!("library {name}: {error}"));
    }
    Ok(Answer {
        new: added.new,
        changed: added.replaced,
        same: added.same,
        proofs: added.proofs,
        of_unknown: added.of_unknown,
        unknown: added.warnings.unknown,
        ignored: added.warnings.circular + added.warnings.later,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_compared() {
        let check_one = |header: Option<&str>, token: Option<&str>, expected: Option<u16>| {
            let mut headers = HeaderMap::new();
            if let Some(header) = header {
                headers.insert(header::AUTHORIZATION, header.parse().unwrap());
            }
            let found = check(&headers, token).err().map(|problem| problem.status.as_u16());
            assert_eq!(found, expected, "{header:?} {token:?}");
        };
        check_one(None, None, Some(403));
        check_one(Some("Bearer secret"), None, Some(403));
        check_one(None, Some("secret"), Some(401));
        check_one(Some("secret"), Some("secret"), Some(401));
        check_one(Some("Bearer secre"), Some("secret"), Some(401));
        check_one(Some("Bearer secrets"), Some("secret"), Some(401));
        check_one(Some("Bearer "), Some("secret"), Some(401));
        check_one(Some("Bearer secret"), Some("secret"), None);
        check_one(Some("bearer secret"), Some("secret"), None);
    }
}
