//! Error responses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use formulanet::Error;
use formulanet::logic::Position;
use serde::Serialize;

/// A refusal: a status, and a message that says what was expected, what was found and the way out.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) details: Details,
    /// Seconds after which it makes sense to try again.
    retry_after: Option<u32>,
    /// Whether the connection ends, because the rest of the request will not be read.
    closes: bool,
}

/// The body of an error response: problem details (RFC 9457) with the position of the error.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    r#type: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    error: &'a Details,
}

/// A message and its position.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Details {
    pub(crate) message: String,
    /// The part of the request that is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// A place in the text of that part; in the whole body if no part is named. Both numbers count from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let details = Details { message: message.into(), ..Details::default() };
        Problem { status, details, retry_after: None, closes: false }
    }

    /// Well-formed, but it makes no sense.
    pub(crate) fn senseless(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message).in_field(field)
    }

    /// Every place in the queue is taken.
    pub(crate) fn too_many(queue: usize) -> Self {
        let message = format!("{queue} requests are waiting already; try again in a moment");
        Problem { retry_after: Some(1), ..Self::new(StatusCode::TOO_MANY_REQUESTS, message) }
    }

    /// There is no memory left for what is still on its way.
    pub(crate) fn too_many_bytes() -> Self {
        let message =
            "the bodies of other requests take all memory that there is for them; try again in a moment";
        Problem { retry_after: Some(1), ..Self::new(StatusCode::TOO_MANY_REQUESTS, message) }.closing()
    }

    /// The time was over before a library could be changed.
    pub(crate) fn not_written() -> Self {
        let message = "timed out before the library could be changed, nothing was written; send fewer statements, or \
                       try again when no other process is writing";
        Problem { retry_after: Some(5), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    /// The time was over while the answer was being computed.
    pub(crate) fn time_over() -> Self {
        let message = "request timed out; send fewer or smaller statements, or start the server with a longer --timeout";
        Problem { retry_after: Some(5), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    /// A fault of the program.
    pub(crate) fn fault() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error; see the server's log")
    }

    /// Returns the response for an error of the engine about a field of the request.
    pub(crate) fn of(error: Error, field: impl Into<String>) -> Self {
        match error {
            Error::Parse { cause, .. } => {
                let message = format!("expected {}, found {}", cause.expected, cause.found);
                Self::new(StatusCode::BAD_REQUEST, message).in_field(field).at(cause.position)
            }
            Error::TooLarge { cause, position, .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, cause.to_string()).in_field(field).at(position)
            }
            Error::Input { message, .. } => Self::new(StatusCode::BAD_REQUEST, message).in_field(field),
            Error::NotTptp => Self::new(StatusCode::BAD_REQUEST, error.to_string()).in_field(field),
            Error::NoStatements | Error::NoVectors => Self::senseless(field, error.to_string()),
            Error::NoConjecture { .. } => {
                let message = "expected a conjecture, found none; give one the role `conjecture`";
                Self::senseless(field, message)
            }
            Error::TooManyIncluded { k, included } => {
                let message = format!(
                    "expected at most k = {k} statements that must be in, found {included}; raise `k` or name fewer"
                );
                Self::senseless(field, message)
            }
            Error::Interrupted => Self::time_over(),
            // Requests make us read no files.
            _ => Self::fault(),
        }
    }

    /// Why a library was not changed.
    pub(crate) fn of_library(error: Error, name: &str) -> Self {
        match error {
            Error::Interrupted | Error::Busy(_) => Self::not_written(),
            error => {
                crate::tell(format_args!("library {name}: {error}"));
                let message = format!(
                    "the library `{name}` cannot be written now: nothing was written; the server's log says why"
                );
                Problem { retry_after: Some(5), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
            }
        }
    }

    pub(crate) fn in_field(mut self, field: impl Into<String>) -> Self {
        self.details.field = Some(field.into());
        self
    }

    pub(crate) fn at(mut self, place: Position) -> Self {
        (self.details.line, self.details.column) = (Some(place.line), Some(place.column));
        self
    }

    /// Who has not said who it is, or not in the way that counts.
    pub(crate) fn unauthorised(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }

    /// As clients read it.
    pub(crate) fn document(&self) -> Document<'_> {
        Document {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.details.message,
            error: &self.details,
        }
    }

    pub(crate) fn closing(mut self) -> Self {
        self.closes = true;
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let text = serde_json::to_string(&self.document()).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (self.status, kind, text).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.closes {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
