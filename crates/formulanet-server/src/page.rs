//! The web page: one file without anything from elsewhere, and a policy that lets the browser run nothing else.

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formulanet::logic::draw::{self, SvgOptions};
use formulanet::logic::{Graph, Interner};
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page/style.css");
/// Parts of one script, in their order.
const SCRIPT: &str = concat!(
    include_str!("page/server.js"),
    include_str!("page/graphs.js"),
    include_str!("page/ranking.js"),
    include_str!("page/share.js"),
    include_str!("page/add.js"),
);

/// The page with its policy.
pub(crate) struct Page {
    text: Bytes,
    policy: HeaderValue,
}

impl Page {
    /// Works the policy out: the page's own script and styles are known by their hashes, as is the style sheet that every
    /// picture of a graph brings along.
    pub(crate) fn new() -> Self {
        let picture = draw::svg(&Graph::new(), &Interner::new(), &SvgOptions::default()).unwrap_or_default();
        let text = PAGE.replacen("<style></style>", &format!("<style>{STYLE}</style>"), 1);
        let text = text.replacen("<script></script>", &format!("<script>{SCRIPT}</script>"), 1);
        let script = hash(SCRIPT);
        let styles = [hash(STYLE), hash(inside(&picture, "style"))].join(" ");
        let policy = format!(
            "default-src 'none'; script-src {script}; style-src {styles}; connect-src 'self'; img-src data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
        Page { text: text.into(), policy }
    }

    pub(crate) fn response(&self) -> Response {
        let headers = [
            (header::CONTENT_SECURITY_POLICY, self.policy.clone()),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        (headers, Html(self.text.clone())).into_response()
    }
}

/// The text inside of the first element of a kind.
fn inside<'a>(text: &'a str, element: &str) -> &'a str {
    let begin = text.split_once(&format!("<{element}>")).map_or("", |(_, behind)| behind);
    begin.split_once(&format!("</{element}>")).map_or("", |(before, _)| before)
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_brings_everything_along() {
        let page = Page::new();
        let text = str::from_utf8(&page.text).unwrap();
        // What browsers hash is what is between the tags.
        assert_eq!((inside(text, "script"), inside(text, "style")), (SCRIPT, STYLE));
        for tag in ["<script", "</script", "<style", "</style"] {
            assert_eq!(text.matches(tag).count(), 1, "{tag}");
        }
        for forbidden in
            ["<script ", " style=", " onclick=", "src=\"http", "innerHTML", "@import", "url(http"]
        {
            assert!(!text.contains(forbidden), "{forbidden}");
        }
        let policy = page.policy.to_str().unwrap();
        let empty = hash("");
        assert!(!policy.contains(&empty) && !policy.contains("unsafe"), "{policy}");
        assert_eq!(policy.matches("'sha256-").count(), 3, "{policy}");
    }

    #[test]
    fn hashes_are_as_browsers_make_them() {
        // Of the standard's own example.
        let expected = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
        assert_eq!(hash("alert('Hello, world.');"), expected);
    }
}
