//! Access control: requests from other pages are refused, and remote access needs a token.

use crate::fault::{Fault, Kind};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

/// Content security policy of the page: its own files and what is in it, and requests to this server.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
    let [scripts, looks] = [adept_page::scripts().map(hash).join(" "), hash(adept_page::looks())];
    let policy = format!(
        "default-src 'none'; script-src 'self' {scripts}; style-src {looks}; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("a policy is plain text")
});

/// Accepted host names and the required token.
pub(crate) struct Guard {
    pub(crate) token: Option<String>,
    /// Names in addition to `localhost` and addresses.
    pub(crate) hosts: Vec<String>,
}

pub(crate) async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_api =
        !matches!(request.uri().path(), "/" | "/favicon.ico") && !request.uri().path().starts_with("/page/");
    let mut response = match guard.check(&request, is_api) {
        Ok(()) => next.run(request).await,
        Err(fault) => fault.into_response(),
    };
    let headers = response.headers_mut();
    let mut set = |name, value| headers.insert(name, HeaderValue::from_static(value));
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    if is_api {
        set(header::CACHE_CONTROL, "no-store");
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
    response
}

impl Guard {
    /// Whether a request is allowed.
    fn check(&self, request: &Request, is_api: bool) -> Result<(), Fault> {
        let forbidden = |message: String| Err(Fault::new(StatusCode::FORBIDDEN, Kind::Forbidden, message));
        let headers = request.headers();
        let host = text(headers, header::HOST).unwrap_or_default();
        // DNS rebinding: another page can point its own name here, but cannot have the name `localhost` or an address.
        if !self.knows(host) {
            return forbidden(format!(
                "unknown host name `{}`: start the server with --host for other names",
                host.chars().take(80).collect::<String>()
            ));
        }
        if let Some(origin) = text(headers, header::ORIGIN) {
            let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if own != Some(host) {
                return forbidden("requests from other origins are refused".into());
            }
        } else if is_api
            && text(headers, "sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
        {
            return forbidden("requests from other origins are refused".into());
        }
        match &self.token {
            Some(token) if is_api && !is_shown(token, request) => Err(Fault::new(
                StatusCode::UNAUTHORIZED,
                Kind::Forbidden,
                "a token is needed: `Authorization: Bearer TOKEN`, as the server printed it when it started",
            )),
            _ => Ok(()),
        }
    }

    fn knows(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let name = name.to_ascii_lowercase();
        name == "localhost" || name.parse::<IpAddr>().is_ok() || self.hosts.contains(&name)
    }
}

fn text(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a request has the token, in a header or, where headers cannot be set, in its query.
fn is_shown(token: &str, request: &Request) -> bool {
    let header =
        text(request.headers(), header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let in_query = || request.uri().query()?.split('&').find_map(|pair| pair.strip_prefix("token="));
    header.or_else(in_query).is_some_and(|shown| is_same(shown.as_bytes(), token.as_bytes()))
}

/// Bytes as text of 64 signs.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let four = |three: &[u8]| {
        let whole =
            three.iter().chain([0, 0].iter()).take(3).fold(0, |all, byte| all << 8 | usize::from(*byte));
        let sign = |i: usize| match i <= three.len() {
            true => char::from(SIGNS[whole >> (18 - 6 * i) & 63]),
            false => '=',
        };
        [0, 1, 2, 3].map(sign)
    };
    bytes.chunks(3).flat_map(four).collect()
}

/// Compares in constant time.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |found, (a, b)| found | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn ask(guard: &Guard, headers: &[(&str, &str)], path: &str) -> Option<StatusCode> {
        let mut request = Request::builder().uri(path).method("POST");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        guard.check(&request.body(Body::empty()).ok()?, true).err().map(|fault| fault.status)
    }

    #[test]
    fn names_and_origins_are_checked() {
        let guard = Guard { token: None, hosts: vec!["games.example".into()] };
        for (headers, refused) in [
            (&[("host", "127.0.0.1:8080")][..], false),
            (&[("host", "[::1]:8080")], false),
            (&[("host", "LOCALHOST")], false),
            (&[("host", "games.example:80")], false),
            (&[("host", "evil.example")], true),
            (&[("host", "127.0.0.1.evil.example:8080")], true),
            (&[], true),
            (&[("host", "localhost:1"), ("origin", "http://localhost:1")], false),
            (&[("host", "localhost:1"), ("origin", "http://localhost:2")], true),
            (&[("host", "localhost:1"), ("origin", "null")], true),
            (&[("host", "localhost:1"), ("sec-fetch-site", "cross-site")], true),
            (&[("host", "localhost:1"), ("sec-fetch-site", "same-origin")], false),
        ] {
            let wanted = refused.then_some(StatusCode::FORBIDDEN);
            assert_eq!(ask(&guard, headers, "/api/v1/moves"), wanted, "{headers:?}");
        }
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn the_token_is_asked_for() {
        let guard = Guard { token: Some("abc".into()), hosts: Vec::new() };
        let host = ("host", "10.0.0.1:8080");
        let refused = Some(StatusCode::UNAUTHORIZED);
        assert_eq!(ask(&guard, &[host], "/api/v1/games"), refused);
        assert_eq!(ask(&guard, &[host, ("authorization", "Bearer abd")], "/api/v1/games"), refused);
        assert_eq!(ask(&guard, &[host, ("authorization", "Bearer abc")], "/api/v1/games"), None);
        assert_eq!(ask(&guard, &[host], "/api/v1/jobs/1/events?token=abc"), None);
    }
}
