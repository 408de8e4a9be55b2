//! What the server refuses, and that it goes on.

use crate::client::{Server, options};
use adept_trainer::run::Cancel;
use adept_web::{ClientLimits, ServeError, ServeOptions, serve};
use proptest::prelude::*;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn other_hosts_and_origins_are_refused() {
    let server = Server::start();
    for (name, value) in [("Host", "evil.example"), ("Origin", "http://evil.example"), ("Origin", "null")] {
        let (status, body) = server.ask_with("GET", "/api/v1/status", &[(name, value)], "");
        assert_eq!(status, 403, "{name}: {value}: {body}");
        assert!(body.contains("forbidden"));
    }
}

#[test]
fn beyond_this_machine_a_token_is_needed() {
    let server = Server::with(ServeOptions { listen: "0.0.0.0:0".into(), ..options() });
    let host = format!("127.0.0.1:{}", server.address.port());
    let token = server.token.clone().unwrap();
    let with = |bearer: &str| {
        let bearer = format!("Bearer {bearer}");
        server.ask_with("GET", "/api/v1/status", &[("Host", &host), ("Authorization", &bearer)], "").0
    };
    assert_eq!((with(&token), with("wrong"), with("")), (200, 401, 401));
    assert_eq!(server.ask_with("GET", "/", &[("Host", &host)], "").0, 200);
}

#[test]
fn faults_are_answered_in_json() {
    let server = Server::start();
    let json = ("Content-Type", "application/json");
    let position = r#"{"agent": "small-88-24", "position": "24:2/24:2 31"}"#;
    for (method, path, headers, body, status) in [
        ("GET", "/api/v1/nowhere", &[][..], "", 404),
        ("GET", "/nowhere", &[], "", 404),
        ("PUT", "/api/v1/games", &[], "", 405),
        ("POST", "/api/v1/moves", &[], position, 415),
        ("POST", "/api/v1/moves", &[("Content-Type", "text/plain")], position, 415),
        ("POST", "/api/v1/moves", &[json], "", 400),
        ("POST", "/api/v1/moves", &[json], "{", 400),
        ("POST", "/api/v1/moves", &[json], "[]", 400),
        ("POST", "/api/v1/moves", &[json], r#"{"agent": 1, "position": "start"}"#, 400),
        ("POST", "/api/v1/moves", &[json], r#"{"agent": "small-88-24", "position": "x", "deep": 1}"#, 400),
        ("POST", "/api/v1/moves", &[json], r#"{"agent": "small-88-24", "position": "nowhere"}"#, 422),
        ("POST", "/api/v1/moves", &[json], r#"{"agent": "small-88-24", "position": "6:15/6:15"}"#, 422),
        ("POST", "/api/v1/moves", &[json], r#"{"agent": "nobody", "position": "start"}"#, 404),
        (
            "POST",
            "/api/v1/moves",
            &[json],
            r#"{"agent": "../../etc", "game": "backgammon", "position": "start"}"#,
            404,
        ),
        (
            "POST",
            "/api/v1/moves",
            &[json],
            r#"{"agent": "pubeval", "game": "tictactoe", "position": "........."}"#,
            404,
        ),
        (
            "POST",
            "/api/v1/moves",
            &[json],
            r#"{"agent": "random", "game": "tictactoe", "position": "........."}"#,
            422,
        ),
        ("POST", "/api/v1/moves", &[json], r#"{"agent": "search:9:small-88-24", "position": "start"}"#, 400),
        (
            "POST",
            "/api/v1/moves",
            &[json],
            r#"{"agent": "optimal:random", "game": "tictactoe", "position": "........."}"#,
            400,
        ),
        (
            "POST",
            "/api/v1/moves",
            &[json],
            r#"{"agent": "known:race-8:small-88-24", "position": "start"}"#,
            400,
        ),
        (
            "POST",
            "/api/v1/moves",
            &[json],
            r#"{"agent": "screen:3:pubeval:small-88-24", "position": "start"}"#,
            404,
        ),
        (
            "POST",
            "/api/v1/moves",
            &[json],
            r#"{"agent": "epsilon:0.1:search:2:small-88-24", "position": "start"}"#,
            400,
        ),
        ("GET", "/api/v1/agents?game=file:/etc/passwd", &[], "", 404),
        ("GET", "/api/v1/agents?game=a&game=b", &[], "", 400),
        ("GET", "/api/v1/plays/%ff", &[], "", 400),
        ("GET", "/api/v1/games", &[("Sec-Fetch-Site", "cross-site")], "", 403),
        ("POST", "/api/v1/plays", &[json], r#"{"game": "file:/etc/passwd", "opponent": "random"}"#, 404),
        ("POST", "/api/v1/plays", &[json], r#"{"game": "tictactoe", "opponent": "random", "seat": 0}"#, 400),
        ("POST", "/api/v1/plays", &[json], r#"{"game": "tictactoe", "opponent": "random", "seat": 3}"#, 422),
        (
            "POST",
            "/api/v1/plays",
            &[json],
            r#"{"game": "tictactoe", "opponent": "random", "from": "XXX......"}"#,
            422,
        ),
        ("GET", "/api/v1/plays/abc", &[], "", 404),
        ("GET", "/api/v1/jobs/abc", &[], "", 404),
        ("GET", "/api/v1/runs/../../Cargo.toml", &[], "", 404),
        ("GET", "/api/v1/runs/%2e%2e%2fmanifest", &[], "", 404),
        ("GET", "/page/..%2f..%2fCargo.toml", &[], "", 404),
    ] {
        let (found, answer) = server.ask_with(method, path, headers, body);
        assert_eq!(found, status, "{method} {path} {body}: {answer}");
        let answer: serde_json::Value =
            serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{path}: {e}: {answer}"));
        assert!(answer["error"]["message"].as_str().is_some_and(|m| !m.is_empty()), "{path}: {answer}");
    }
    assert_eq!(server.get("/status").0, 200);
}

#[test]
fn large_bodies_are_refused_before_they_are_read() {
    let server = Server::start();
    let mut request = format!(
        "POST /api/v1/moves HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n",
        server.address
    )
    .into_bytes();
    request.extend(vec![b' '; 1 << 20]);
    let (status, _) = server.send(&request);
    assert_eq!(status, 413);
    let header = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", server.address, "x".repeat(1 << 20));
    assert!([0, 431].contains(&server.send(header.as_bytes()).0));
    assert_eq!(server.get("/status").0, 200);
}

#[test]
fn clients_that_say_nothing_or_vanish_harm_nobody() {
    let server = Server::start();
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(b"POST /api/v1/moves HTTP/1.1\r\nHost: localhost\r\nContent-").unwrap();
    }
    assert_eq!(server.get("/status").0, 200);
    drop(silent);
}

#[test]
fn connections_of_one_address_are_limited() {
    let client = ClientLimits { connections: 8, ..ClientLimits::default() };
    let server = Server::with(ServeOptions { client, ..options() });
    let request =
        format!("GET /api/v1/status HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    let mut silent: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    // One more is closed without an answer.
    assert_eq!(server.send(request.as_bytes()).0, 0);
    // A connection that is closed makes room, as soon as the server has seen it.
    silent.pop();
    while server.send(request.as_bytes()).0 != 200 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    drop(silent);
}

/// An open stream of a job's events, with its first bytes read.
fn stream(server: &Server, id: &str, from: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let request = format!(
        "GET /api/v1/jobs/{id}/events HTTP/1.1\r\nHost: {}\r\nX-Forwarded-For: {from}\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    (stream, String::from_utf8_lossy(&head).into_owned())
}

#[test]
fn one_client_holds_a_part_of_the_server_and_others_are_answered() {
    let client = ClientLimits { plays: 2, streams: 4, jobs: 2, ..ClientLimits::default() };
    let server = Server::with(ServeOptions { client, ..options() });
    let json = ("Content-Type", "application/json");
    let post = |path: &str, from: &str, body: &serde_json::Value| {
        let headers = [json, ("X-Forwarded-For", from)];
        let (status, answer) =
            server.ask_with("POST", &format!("/api/v1{path}"), &headers, &body.to_string());
        (status, serde_json::from_str::<serde_json::Value>(&answer).unwrap())
    };
    let (one, two) = ("10.0.0.1", "10.0.0.2");
    // Games.
    let begin = json!({ "game": "tictactoe", "opponent": "random" });
    let statuses: Vec<u16> = (0..3).map(|_| post("/plays", one, &begin).0).collect();
    assert_eq!(statuses, [201, 201, 429]);
    let (_, refused) = post("/plays", one, &begin);
    assert_eq!(refused["error"]["kind"], "busy");
    assert!(refused["error"]["message"].as_str().unwrap().contains("the most for one client"), "{refused}");
    assert_eq!(post("/plays", two, &begin).0, 201);
    // Jobs that would take very long.
    let position = "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31";
    let job = json!({ "kind": "rollout", "agent": "expert-512-64", "position": position, "trials": 100_000 });
    let ids: Vec<String> =
        (0..2).map(|_| post("/jobs", one, &job).1["id"].as_str().unwrap().to_string()).collect();
    assert_eq!((post("/jobs", one, &job).0, post("/jobs", two, &job).0), (429, 202));
    // Streams: two of a job, four of a client.
    let open: Vec<(TcpStream, String)> =
        ids.iter().flat_map(|id| [id, id]).map(|id| stream(&server, id, one)).collect();
    assert!(open.iter().all(|(_, head)| head == "HTTP/1.1 200"));
    let refused = || {
        let path = format!("/api/v1/jobs/{}/events", ids[0]);
        server.ask_with("GET", &path, &[("X-Forwarded-For", one)], "")
    };
    let (status, answer) = refused();
    assert!(status == 429 && answer.contains("streams of events are open"), "{status}: {answer}");
    assert_eq!(server.get("/status").0, 200);
    // A stream that is closed makes room, as soon as the server has seen it.
    drop(open);
    while stream(&server, &ids[0], one).1 != "HTTP/1.1 200" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    ids.iter().for_each(|id| assert_eq!(server.delete(&format!("/jobs/{id}")).0, 200));
}

#[test]
fn a_second_server_on_a_port_says_so() {
    let server = Server::start();
    let options = ServeOptions { listen: server.address.to_string(), ..options() };
    let games = adept_trainer::config::One(adept_builtin::tictactoe::TicTacToe);
    let error = serve(&games, &options, &Cancel::default(), |_, _| panic!("it is not ready")).unwrap_err();
    assert!(matches!(error, ServeError::Listen { .. }));
    assert!(error.to_string().starts_with(&server.address.to_string()), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the fields hold, an answer comes, and it is no fault of the server.
    #[test]
    fn any_fields_are_answered(texts in prop::collection::vec(("[a-z:0-9/ ,.*-]{0,20}", any::<u64>()), 30)) {
        let server = Server::start();
        for (text, number) in &texts {
            for (path, body) in [
                ("/moves", json!({ "agent": text, "game": "backgammon", "position": "start" })),
                ("/moves", json!({ "agent": "small-88-24", "position": text, "dice": (number % 100).to_string() })),
                ("/moves", json!({ "agent": format!("search:{text}:small-88-24"), "position": "start" })),
                ("/plays", json!({ "game": text, "opponent": "random", "seat": number })),
                ("/plays", json!({ "game": "connect-four", "opponent": "random", "from": text, "seed": number })),
                ("/jobs", json!({ "kind": text, "agent": "small-88-24", "position": "start" })),
            ] {
                let (status, answer) = server.post(path, &body);
                prop_assert!((200..500).contains(&status), "{path} {body}: {status} {answer}");
            }
        }
    }
}
