//! The body of a request: bytes in time, then JSON.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use formulanet::Language;
use formulanet::logic::Position;
use formulanet::logic::hol::Overload;
use http_body_util::BodyExt;
use serde::de::{DeserializeOwned, Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

use crate::pool::Deadline;
use crate::problem::Problem;

/// Memory for bodies that are on their way, or wait until they are read.
pub(crate) struct Bodies(Arc<Semaphore>);

/// The unit in which bytes are counted. A body of at most one unit is free: there are no more bodies than connections.
const UNIT: usize = 16 << 10;
/// Bytes of all bodies that are held at once.
const HELD: usize = 256 << 20;

impl Bodies {
    /// A budget for bodies with this maximum size.
    pub(crate) fn new(most: usize) -> Self {
        // Two of the largest, whatever they are: else none of that size could come.
        let units = (HELD.max(most.saturating_mul(2)) / UNIT).min(Semaphore::MAX_PERMITS);
        Bodies(Arc::new(Semaphore::new(units)))
    }
}

/// The bytes of a body, with their place in memory, which others get when it is dropped.
pub(crate) struct Received {
    bytes: Vec<u8>,
    held: Option<OwnedSemaphorePermit>,
}

impl Received {
    fn new() -> Self {
        Received { bytes: Vec::new(), held: None }
    }

    /// Adds some bytes, which are copied: a piece of one byte would keep all that was read with it.
    fn take(&mut self, piece: &[u8], most: usize, bodies: &Bodies) -> Result<(), Problem> {
        let needed = self.bytes.len() + piece.len();
        if needed > self.bytes.capacity() {
            let room = needed.max((2 * self.bytes.capacity()).min(most)).next_multiple_of(UNIT);
            let units =
                (room / UNIT - 1).saturating_sub(self.held.as_ref().map_or(0, |held| held.num_permits()));
            if units > 0 {
                let units = u32::try_from(units).map_err(|_| Problem::too_many_bytes())?;
                let more = Arc::clone(&bodies.0).try_acquire_many_owned(units);
                let more = more.map_err(|_| Problem::too_many_bytes())?;
                match &mut self.held {
                    Some(held) => held.merge(more),
                    held => *held = Some(more),
                }
            }
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

impl Deref for Received {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body that says it is JSON.
pub(crate) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    (most, bodies): (usize, &Bodies),
    deadline: &Deadline,
) -> Result<Received, Problem> {
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
    let closing = |status, message: &str| Problem::new(status, message).closing();
    let whole = async {
        let mut received = Received::new();
        while let Some(frame) = body.frame().await {
            let breaks_off = "expected a whole body, found one that breaks off";
            let frame = frame.map_err(|_| closing(StatusCode::BAD_REQUEST, breaks_off))?;
            // Trailers say nothing that is asked for.
            let Ok(piece) = frame.into_data() else { continue };
            if received.len() + piece.len() > most {
                return Err(too_large());
            }
            received.take(&piece, most, bodies)?;
        }
        Ok(received)
    };
    let late = "timed out while reading the body";
    timeout_at(deadline.until(), whole)
        .await
        .unwrap_or_else(|_| Err(closing(StatusCode::REQUEST_TIMEOUT, late)))
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

/// An error in JSON; its position is a separate field.
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

    /// A body has a place for all of its bytes as long as it is there, and is refused if there is none.
    #[test]
    fn bodies_are_counted() {
        let bodies = Bodies(Arc::new(Semaphore::new(8)));
        let mut small = Received::new();
        small.take(&[1; 100], 1 << 20, &bodies).unwrap();
        assert_eq!(bodies.0.available_permits(), 8, "what every connection may have is not counted");
        let mut large = Received::new();
        for _ in 0..4 {
            large.take(&[2; UNIT], 1 << 20, &bodies).unwrap();
        }
        assert_eq!((large.len(), bodies.0.available_permits()), (4 * UNIT, 5));
        let refused = large.take(&[2; 8 * UNIT], 1 << 20, &bodies).unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        // Byte by byte takes no more than at once.
        let mut slow = Received::new();
        for _ in 0..2 * UNIT {
            slow.take(&[3], 1 << 20, &bodies).unwrap();
        }
        assert_eq!((slow.bytes.capacity(), bodies.0.available_permits()), (2 * UNIT, 4));
        drop((slow, large));
        assert_eq!(bodies.0.available_permits(), 8);
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
        check(
            r#"{"p": [{"name": "a", "statement": "T", "syntax": "coq"}]}"#,
            "expected `hol`, `tptp` or `lean`",
        );
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
