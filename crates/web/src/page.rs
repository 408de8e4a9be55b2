//! Embedded files of the web page, and compressed answers.

use crate::api::{self, App};
use crate::fault::Fault;
use crate::limits;
use adept_page::{FILES, File};
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::{Arc, LazyLock};

/// The page without a list of games, for servers that want a token first.
static BARE: LazyLock<File> = LazyLock::new(|| adept_page::index(""));

/// Joins and compresses the files.
pub(crate) fn prepare() {
    LazyLock::force(&FILES);
    LazyLock::force(&BARE);
}

/// Answers with the page and the list of games.
pub(crate) async fn index(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if let Some(file) = app.index.get() {
        return sent(file, &headers);
    }
    match api::games_text(&app).await {
        Ok(games) => sent(app.index.get_or_init(|| adept_page::index(&games)), &headers),
        // The page asks for the list, and says why there is none.
        Err(_) => sent(&BARE, &headers),
    }
}

/// Answers with the page alone.
pub(crate) async fn bare_index(headers: HeaderMap) -> Response {
    sent(&BARE, &headers)
}

pub(crate) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match FILES.iter().find(|file| file.name == name) {
        Some(file) => sent(file, &headers),
        None => Fault::missing("no such file").into_response(),
    }
}

/// Answers requests for browser icons with an empty response.
pub(crate) async fn icon() -> StatusCode {
    StatusCode::NO_CONTENT
}

/// Whether a header lists this word, and not with the weight 0.
fn has(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let texts = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|part| {
        let mut words = part.split(';').map(str::trim);
        let is_refused = |weight: &str| weight.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
        words.next() == Some(word) && !words.any(is_refused)
    })
}

/// A file, compressed if the client takes that; or 304 if the client has it.
fn sent(file: &File, headers: &HeaderMap) -> Response {
    let kind = match file.name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    let is_gzip = has(headers, &header::ACCEPT_ENCODING, "gzip");
    // The two forms are different bytes, so they have different tags.
    let tag = format!("\"{}{}\"", file.tag, if is_gzip { "-gzip" } else { "" });
    let about =
        [(header::CACHE_CONTROL, "no-cache"), (header::ETAG, &*tag), (header::VARY, "accept-encoding")];
    // A proxy may have made a weak tag of it.
    let is_known =
        [&*tag, &format!("W/{tag}"), "*"].iter().any(|tag| has(headers, &header::IF_NONE_MATCH, tag));
    if is_known {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    let kind = [(header::CONTENT_TYPE, kind)];
    match is_gzip {
        true => (about, kind, [(header::CONTENT_ENCODING, "gzip")], file.gzip.clone()).into_response(),
        false => (about, kind, file.text.clone()).into_response(),
    }
}

/// Middleware that compresses large JSON for clients that take it.
pub(crate) async fn compressed(request: Request, next: Next) -> Response {
    let is_wanted = has(request.headers(), &header::ACCEPT_ENCODING, "gzip");
    let response = next.run(request).await;
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    // Streams of events have no size.
    let is_large = response.body().size_hint().exact().is_some_and(|size| size >= limits::COMPRESSED);
    if !is_wanted || !is_json || !is_large {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    // Writing to memory does not fail.
    let Ok(packed) = encoder.write_all(&bytes).and_then(|()| encoder.finish()) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(parts, Body::from(packed))
}
