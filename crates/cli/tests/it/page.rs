//! `serve http`.

use crate::common::Workspace;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn browsers_and_clients_are_answered_until_it_is_stopped() {
    let dir = Workspace::new();
    let mut command = dir.command(&["serve", "http", "pubeval", "--listen", "127.0.0.1:0"]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let place = ready.trim().strip_prefix("listening on ").unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(place).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = get("/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>adept</title>"), "{page}");
    // Every file that the page names exists.
    for name in page.split("\"/page/").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(get(&format!("/page/{name}")).starts_with("HTTP/1.1 200"), "{name}");
    }
    assert!(get("/api/v1/agents?game=backgammon").contains("\"id\":\"pubeval\""));
    // Clients of wildbg get values of a network, for which this game is won.
    let won = get("/eval?p1=1&p2=-8");
    assert!(won.starts_with("HTTP/1.1 200") && won.contains("\"win\":1.0"), "{won}");
    let refused = get("/eval?p1=1&p2=-8&agent=pubeval");
    assert!(refused.starts_with("HTTP/1.1 422") && refused.contains("without values"), "{refused}");
    let second = dir.fails(&["serve", "http", "--listen", place], 1);
    assert!(second.contains(place) && second.contains("free port"), "{second}");
    Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(dir.fails(&["serve", "http", "nobody"], 1).contains("nobody"));
}

#[test]
fn a_game_survives_a_killed_server() {
    let dir = Workspace::new();
    let start = |more: &[&str]| {
        let mut command = dir.command(&[&["serve", "http", "--listen", "127.0.0.1:0"][..], more].concat());
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let place = ready.trim().strip_prefix("listening on ").unwrap().to_string();
        (server, place)
    };
    let ask = |place: &str, what: &str, body: &str| {
        let mut stream = TcpStream::connect(place).unwrap();
        let head = format!("Host: {place}\r\nConnection: close\r\nContent-Type: application/json");
        write!(stream, "{what} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_string()
    };
    let (mut server, place) = start(&[]);
    let begin = r#"{"game":"tictactoe","opponent":"random","seat":2,"seed":1}"#;
    let begun = ask(&place, "POST /api/v1/plays", begin);
    let id = begun.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_string();
    assert!(Path::new(&dir.path(&format!("checkpoints/plays/{id}.json"))).is_file());
    let look = format!("GET /api/v1/plays/{id}");
    for (more, is_there) in [(&[][..], true), (&["--forget"][..], false)] {
        server.kill().unwrap();
        server.wait().unwrap();
        let place;
        (server, place) = start(more);
        assert_eq!(ask(&place, &look, "") == begun, is_there, "{more:?}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
}
