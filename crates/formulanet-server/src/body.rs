//! The body of a request: bytes in time, then JSON.

use std::fmt;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use formulanet::Language;
use formulanet::logic::Position;
use formulanet::logic::hol::Overload;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{DeserializeOwned, Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tokio::time::timeout_at;

use crate::pool::Deadline;
use crate::problem::Problem;

/// Reads a body that says it is JSON.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    deadline: &Deadline,
) -> Result<Bytes, Problem> {
    expect_json(headers)?;
    let too_large = || {
        let message = format!(
            "expected at most {most} bytes, found more; send less, or start the server with a larger --max-body"
        );
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).closing()
    };
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.and_then(|length| length.parse().ok()).is_some_and(|length: u64| length > most as u64) {
        return Err(too_large());
    }
    match timeout_at(deadline.until(), Limited::new(body, most).collect()).await {
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body did not come in time; send it faster")),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "expected a whole body, found one that breaks off")),
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
    .map_err(|(status, message)| Problem::new(status, message).closing())
}

fn expect_json(headers: &HeaderMap) -> Result<(), Problem> {
    let found = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("nothing");
    let kind = found.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let found = crate::catalog::shown(found);
    let message = format!("expected the header `content-type: application/json`, found {found}");
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

/// One request, or a list of them.
#[derive(Debug)]
pub(crate) enum Several<T> {
    One(T),
    Many(Vec<T>),
}

/// Reads a JSON object. What is no JSON is malformed; what is, but not as it should be, makes no sense.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    read_as(text(body)?, '{', "a JSON object")
}

/// Reads a JSON object, or a list of such.
pub(crate) fn parse_several<T: DeserializeOwned>(body: &[u8]) -> Result<Several<T>, Problem> {
    let text = text(body)?;
    let expected = "a JSON object, or a list of them,";
    if text.trim_start().starts_with('[') {
        read_as(text, '[', expected).map(Several::Many)
    } else {
        read_as(text, '{', expected).map(Several::One)
    }
}

fn text(body: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(body).map_err(|error| {
        let message = format!("expected JSON in UTF-8, found the byte 0x{:02x}", body[error.valid_up_to()]);
        let place = Position::in_text(&String::from_utf8_lossy(body), error.valid_up_to(), 1);
        Problem::new(StatusCode::BAD_REQUEST, message).at(place)
    })
}

fn read_as<T: DeserializeOwned>(text: &str, first: char, expected: &str) -> Result<T, Problem> {
    let is_expected = text.trim_start().starts_with(first);
    let error = match serde_json::from_str(text) {
        Ok(read) if is_expected => return Ok(read),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    if let Err(malformed) = serde_json::from_str::<IgnoredAny>(text) {
        return Err(at(StatusCode::BAD_REQUEST, "expected JSON", &malformed));
    }
    let expected = format!("expected {expected} as /openapi.json describes it");
    match error {
        // What is well-formed to one who ignores it, and malformed to one who reads it: nested too deeply, and the like.
        Some(error) if !error.is_data() => Err(at(StatusCode::BAD_REQUEST, "expected JSON", &error)),
        Some(error) if is_expected => Err(at(StatusCode::UNPROCESSABLE_ENTITY, &expected, &error)),
        _ => Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{expected}, found something else"))),
    }
}

/// What is wrong with JSON; the place stands beside the message, not in it.
fn at(status: StatusCode, expected: &str, error: &serde_json::Error) -> Problem {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let place = Position { line: line.max(1), column: column.max(1) };
    Problem::new(status, format!("{expected}: {}", in_words(message))).at(place)
}

/// A message of the JSON reader in words of JSON rather than of Rust.
fn in_words(message: &str) -> String {
    const WORDS: [(&str, &str); 13] = [
        ("usize", "a whole number"),
        ("u64", "a whole number"),
        ("u32", "a whole number"),
        ("f32", "a number"),
        ("f64", "a number"),
        ("a sequence", "a list"),
        ("a map", "an object"),
        ("map", "an object"),
        ("sequence", "a list"),
        ("a boolean", "true or false"),
        ("unit", "null"),
        ("unit value", "null"),
        ("a string", "a text"),
    ];
    let word = |text: &str| -> String {
        let is_type = text.starts_with("struct ") || text.starts_with("enum ");
        let known = WORDS.iter().find(|(rust, _)| *rust == text).map(|(_, word)| (*word).to_owned());
        known.unwrap_or_else(|| if is_type { "an object".to_owned() } else { text.to_owned() })
    };
    let found = |text: &str| -> String {
        let kinds = ["string ", "integer `", "floating point `", "boolean `"];
        match kinds.iter().find(|kind| text.starts_with(**kind)) {
            Some(kind) => text[kind.trim_end_matches('`').len()..].to_owned(),
            None => word(text),
        }
    };
    let wrong = ["invalid type: ", "invalid value: "].iter().find_map(|begin| message.strip_prefix(begin));
    match wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) {
        Some((given, expected)) => format!("expected {}, found {}", word(expected), found(given)),
        None => message.to_owned(),
    }
}

/// Which arithmetic an operator of HOL Light belongs to where nothing else tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arithmetic(pub(crate) Overload);

impl<'de> Deserialize<'de> for Arithmetic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = String::deserialize(deserializer)?;
        let known = Overload::ALL.iter().find(|(name, _)| *name == found);
        known.map(|(_, overload)| Arithmetic(*overload)).ok_or_else(|| {
            let names = Overload::ALL.map(|(name, _)| name).join(", ");
            D::Error::custom(format!("expected one of {names}, found `{}`", crate::catalog::shown(&found)))
        })
    }
}

/// A statement of a request.
#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedStatement {
    pub(crate) name: String,
    pub(crate) statement: String,
    #[serde(default)]
    pub(crate) syntax: Option<Language>,
}

/// The statements of a request: a list, or the text of a file.
#[derive(Debug, PartialEq)]
pub(crate) enum Premises {
    List(Vec<NamedStatement>),
    Text(String),
}

impl<'de> Deserialize<'de> for Premises {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PremisesVisitor)
    }
}

/// Written by hand because a derived reader of alternatives forgets what went wrong inside of them.
struct PremisesVisitor;

impl<'de> Visitor<'de> for PremisesVisitor {
    type Value = Premises;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of objects with `name` and `statement`, or the text of a file of statements")
    }

    fn visit_str<E>(self, text: &str) -> Result<Premises, E> {
        Ok(Premises::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Premises, E> {
        Ok(Premises::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Premises, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Premises::List(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        #[serde(rename = "p")]
        _premises: Premises,
    }

    fn check(json: &str, expected: &str) {
        let found = match parse::<Asked>(json.as_bytes()) {
            Ok(found) => format!("{found:?}"),
            Err(problem) => {
                let Problem { status, details, .. } = problem;
                let place = [details.line, details.column].map(|number| number.unwrap_or(0));
                format!("{} {}:{} {}", status.as_u16(), place[0], place[1], details.message)
            }
        };
        assert!(found.contains(expected), "{json:.300}\n  expected {expected}\n  found {found}");
    }

    #[test]
    fn premises_are_a_list_or_a_text() {
        check(r#"{"p": "a: T"}"#, r#"Text("a: T")"#);
        check(r#"{"p": []}"#, "List([])");
        check(r#"{"p": [{"name": "a", "statement": "T"}]}"#, r#"name: "a", statement: "T", syntax: None"#);
        check(r#"{"p": [{"name": "a", "statement": "T", "syntax": "tptp"}]}"#, "syntax: Some(Tptp)");
        check(
            r#"{"p": [{"name": "a"}]}"#,
            "422 1:20 expected a JSON object as /openapi.json describes it: missing field `statement`",
        );
        check(r#"{"p": [{"name": "a", "statement": "T", "syntax": "coq"}]}"#, "expected `hol` or `tptp`");
        check(r#"{"p": [{"name": "a", "statment": "T"}]}"#, "422 1:31");
        check(r#"{"p": 7}"#, "422 1:7");
    }

    #[test]
    fn messages_speak_of_json() {
        let check = |rust: &str, expected: &str| assert_eq!(in_words(rust), expected, "{rust}");
        check("invalid type: string \"many\", expected usize", "expected a whole number, found \"many\"");
        check("invalid value: integer `-1`, expected usize", "expected a whole number, found `-1`");
        check("invalid type: map, expected a string", "expected a text, found an object");
        check("invalid type: null, expected f32", "expected a number, found null");
        check("invalid type: integer `3`, expected struct Request", "expected an object, found `3`");
        check(
            "invalid type: string \"a, expected b\", expected a sequence",
            "expected a list, found \"a, expected b\"",
        );
        check("missing field `conjecture`", "missing field `conjecture`");
    }

    #[test]
    fn malformed_is_not_senseless() {
        check("", "400 1:1 expected JSON: EOF");
        check("{\n  ?", "400 2:3 expected JSON: key must be a string");
        let problem = parse::<Asked>(b"{\n\"\xc3\xa9\xff\": 1}").unwrap_err();
        assert_eq!(
            (problem.status.as_u16(), problem.details.line, problem.details.column),
            (400, Some(2), Some(3))
        );
        check("[]", "422 0:0 expected a JSON object");
        check("[\"a: T\"]", "422 0:0 expected a JSON object");
        check("[1, 2", "400 1:5 expected JSON");
        check("{\"q\": 1, ]", "400 1:10 expected JSON");
        check("{\"q\": 1}", "422 1:4");
        check("{\"p\": \"\u{1}\"}", "400");
        check(&"[".repeat(100_000), "400");
        check(&format!("{{\"p\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000)), "422");
    }
}
