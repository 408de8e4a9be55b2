//! Embedded files of the web page.

use crate::fault::Fault;
use adept_page::{FILES, INDEX};
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

pub(crate) async fn index() -> Response {
    sent("index.html", INDEX)
}

pub(crate) async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => sent(name, text),
        None => Fault::missing("no such file").into_response(),
    }
}

/// Answers requests for browser icons with an empty response.
pub(crate) async fn icon() -> StatusCode {
    StatusCode::NO_CONTENT
}

fn sent(name: &str, text: &'static str) -> Response {
    let kind = match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}
