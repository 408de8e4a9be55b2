//! HTTP exchange of one message and its answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Limits on bytes of headers, and of a message: a megabyte of rules with spaces between all parentheses.
const HEAD: usize = 1 << 14;
const BODY: usize = 1 << 22;
const HEADERS: usize = 64;
/// Timeout for receiving a message.
const WAIT: Duration = Duration::from_secs(10);

/// An error: status and text.
struct Fault(u16, String);

/// Reads a message and writes the answer of `answer` to its text and arrival time.
pub(super) fn converse(mut socket: TcpStream, answer: impl FnOnce(&str, Instant) -> Result<String, String>) {
    // On some systems, accepted sockets inherit the listener's non-blocking mode.
    if socket.set_nonblocking(false).is_err() || socket.set_nodelay(true).is_err() {
        return;
    }
    let (status, text) = match read(&mut socket) {
        Ok(body) => match answer(&body, Instant::now()) {
            Ok(text) => (200, text),
            Err(why) => (400, why),
        },
        Err(Fault(status, why)) => (status, why),
    };
    write(&mut socket, status, &text);
}

/// Answers that there are too many connections.
pub(super) fn refuse(mut socket: TcpStream) {
    write(&mut socket, 503, "too many connections");
}

fn write(socket: &mut TcpStream, status: u16, text: &str) {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        503 => "Service Unavailable",
        _ => "Request Timeout",
    };
    // Some managers count multi-byte characters once: without a length they read to the end.
    let length = if text.is_ascii() { format!("Content-Length: {}\r\n", text.len()) } else { String::new() };
    let answer = format!(
        "HTTP/1.0 {status} {reason}\r\nContent-Type: text/acl\r\n{length}Connection: close\r\n\r\n{text}"
    );
    // The client may have disconnected.
    let _ = socket.set_write_timeout(Some(WAIT));
    if socket.write_all(answer.as_bytes()).is_ok() {
        let _ = socket.shutdown(Shutdown::Write);
    }
}

/// Reads available bytes, until a deadline.
fn more(socket: &mut TcpStream, into: &mut Vec<u8>, until: Instant) -> Result<usize, Fault> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Fault(408, format!("no whole message came in {} s", WAIT.as_secs())));
    }
    let broken = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            Fault(408, format!("no whole message came in {} s", WAIT.as_secs()))
        }
        _ => Fault(400, format!("the connection broke: {error}")),
    };
    let mut part = [0; 1 << 14];
    let count = socket.set_read_timeout(Some(left)).and_then(|()| socket.read(&mut part)).map_err(broken)?;
    into.extend_from_slice(&part[..count]);
    Ok(count)
}

fn read(socket: &mut TcpStream) -> Result<String, Fault> {
    let until = Instant::now() + WAIT;
    let mut bytes = Vec::new();
    let (begin, length) = loop {
        let ended = more(socket, &mut bytes, until)? == 0;
        if let Some(found) = head(&bytes)? {
            break found;
        }
        if ended || bytes.len() > HEAD {
            return Err(Fault(400, "this is not a request in HTTP".into()));
        }
    };
    if length > BODY {
        return Err(Fault(413, format!("a message of {length} bytes; at most {BODY} are read")));
    }
    while bytes.len() < begin + length {
        if more(socket, &mut bytes, until)? == 0 {
            return Err(Fault(400, "the message ends before its length".into()));
        }
    }
    // Some managers count multi-byte characters once.
    let soon = Instant::now() + Duration::from_millis(50);
    while !bytes.is_ascii()
        && bytes.len() < BODY
        && more(socket, &mut bytes, soon).is_ok_and(|count| count > 0)
    {}
    String::from_utf8(bytes.split_off(begin)).map_err(|_| Fault(400, "the message is not UTF-8".into()))
}

/// The start and length of the body, once all headers are complete.
fn head(bytes: &[u8]) -> Result<Option<(usize, usize)>, Fault> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let begin = match request.parse(bytes) {
        Ok(httparse::Status::Complete(begin)) => begin,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(Fault(400, format!("this is not a request in HTTP: {error}"))),
    };
    if request.method != Some("POST") {
        return Err(Fault(405, "game managers send their messages by POST, such as ( INFO )".into()));
    }
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse().ok());
    match length {
        Some(length) => Ok(Some((begin, length))),
        None => Err(Fault(411, "a message needs its length: the header Content-Length".into())),
    }
}
