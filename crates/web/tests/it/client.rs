//! A server on a free port, and a client that speaks plain HTTP.

use adept_builtin::backgammon::Backgammon;
use adept_builtin::connect_four::ConnectFour;
use adept_builtin::holdem;
use adept_builtin::tictactoe::TicTacToe;
use adept_lab::Catalogue;
use adept_trainer::config::One;
use adept_trainer::run::Cancel;
use adept_web::{ClientLimits, Named, ServeOptions, serve};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
}

/// The published checkpoints.
pub(crate) fn published() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../checkpoints"))
}

pub(crate) fn options() -> ServeOptions {
    ServeOptions {
        listen: "127.0.0.1:0".into(),
        hosts: Vec::new(),
        token: None,
        agents: Vec::new(),
        published: adept_model::checkpoint::published_in(published()),
        runs: "missing".into(),
        train: false,
        plays: None,
        extras: Vec::new(),
        client: ClientLimits::default(),
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(options())
    }

    pub(crate) fn with(options: ServeOptions) -> Self {
        let holdem = holdem::named("holdem:limit:2").unwrap().unwrap();
        let games = ((One(TicTacToe), One(Backgammon::default())), (One(ConnectFour), One(holdem)));
        Self::serve(games, options)
    }

    /// A server of these games.
    pub(crate) fn serve(games: impl Catalogue + Send + 'static, options: ServeOptions) -> Self {
        let cancel = Cancel::default();
        let (sender, receiver) = mpsc::channel();
        let stop = cancel.clone();
        let thread = std::thread::spawn(move || {
            serve(&games, &options, &stop, |address, token| {
                sender.send((address, token.map(String::from))).unwrap();
            })
            .unwrap();
        });
        let (address, token) = receiver.recv().unwrap();
        Self { address, token, cancel, thread: Some(thread) }
    }

    /// Sends bytes, and returns the status and the body of the answer.
    pub(crate) fn send(&self, request: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may answer and close before everything is sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let body = match head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            true => joined(body),
            false => body.into(),
        };
        (status, body)
    }

    /// The whole answer, with its head, to a request without a body, such as `GET /`.
    pub(crate) fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!("{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a request with these headers.
    pub(crate) fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String) {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.send(request.as_bytes())
    }

    fn json(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let headers = [("Content-Type", "application/json")];
        let (status, body) = self.ask_with(method, &format!("/api/v1{path}"), &headers, body);
        (status, serde_json::from_str(&body).unwrap_or_else(|e| panic!("{path}: {e}: {body}")))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.json("GET", path, "")
    }

    pub(crate) fn delete(&self, path: &str) -> (u16, Value) {
        self.json("DELETE", path, "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.json("POST", path, &body.to_string())
    }

    /// Posts a request that must be accepted.
    pub(crate) fn done(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.post(path, body);
        assert!((200..300).contains(&status), "{path} {body}: {status} {answer}");
        answer
    }

    /// An agent named at the start.
    pub(crate) fn named(text: &Path, game: &str) -> Named {
        Named { text: text.display().to_string(), game: game.into(), best: false, values: true }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cancel.cancel();
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(ended, Some(Ok(()))), "the server stops by itself");
        }
    }
}

/// Joins a chunked body.
fn joined(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size @ 1..) = usize::from_str_radix(size.trim(), 16) else { break };
        text += &rest[..size.min(rest.len())];
        body = rest.get(size + 2..).unwrap_or("");
    }
    text
}
