//! Middleware for all requests: metrics, the check of the host, security headers, and CORS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::router::App;

/// When the first lines of a request had come.
#[derive(Clone, Copy)]
pub(crate) struct Began(pub(crate) Instant);

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Headers of answers to pages of other sites that may ask.
const FOR_OTHER_SITES: [(HeaderName, &str); 4] = [
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type"),
    (header::ACCESS_CONTROL_MAX_AGE, "600"),
    (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
];

/// Whether pages of a site may ask.
fn is_listed(origin: &HeaderValue, origins: &[String]) -> bool {
    origins.iter().any(|listed| listed.as_bytes() == origin.as_bytes())
}

/// Whether a browser asks on behalf of a page whether the page may ask.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets a request through to its handler.
pub(crate) async fn pass(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let _in_flight = app.metrics.request();
    let path = request.uri().path().to_owned();
    request.extensions_mut().insert(Began(began));
    let origin =
        request.headers().get(header::ORIGIN).filter(|origin| is_listed(origin, &app.settings.origins));
    let origin = origin.cloned();
    let mut response = match check_host(&request, app.address) {
        Ok(()) if origin.is_some() && is_preflight(&request) => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if !app.settings.origins.is_empty() {
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("origin"));
    }
    if let Some(origin) = origin {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        for (name, value) in FOR_OTHER_SITES {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
    }
    app.metrics.answered(&path, response.status(), began.elapsed());
    response
}

/// Refuses what a browser was tricked into asking: a page elsewhere can let its own name point to this machine, but it
/// cannot change the host that the browser then asks for.
fn check_host(request: &Request, address: SocketAddr) -> Result<(), Problem> {
    // Who reads the first and who reads the last would not mean the same host.
    if request.headers().get_all(header::HOST).iter().count() > 1 {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "expected one header `host`, found several"));
    }
    if !address.ip().is_loopback() {
        return Ok(());
    }
    let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let found = [header, authority];
    if found.iter().all(Option::is_none) {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "expected a header `host`, found none"));
    }
    let Some(host) = found.into_iter().flatten().find(|host| !is_local(host)) else { return Ok(()) };
    let host = crate::catalog::shown(host);
    let message = format!(
        "expected the host localhost, 127.0.0.1 or [::1], found `{host}`; to serve other machines, start the server \
         with --listen and an address of this one"
    );
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, message))
}

/// Whether a host, with or without a port, is a name of this machine that no attacker can register.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let check = |host: &str, expected: bool| assert_eq!(is_local(host), expected, "{host}");
        for host in ["localhost", "LOCALHOST:8017", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8017"] {
            check(host, true);
        }
        for host in [
            "",
            ":80",
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org:8017",
            "evil@localhost",
            "localhost:80:80",
            "::1",
            "0.0.0.0",
        ] {
            check(host, false);
        }
    }
}
