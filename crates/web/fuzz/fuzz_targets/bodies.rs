//! Sends arbitrary bodies to every route that takes one: the server must answer in JSON and keep running. From
//! `crates/web`:
//!
//! ```sh
//! cargo fuzz run --sanitizer none bodies -- -max_len=2000
//! ```

#![no_main]

use adept_builtin::tictactoe::TicTacToe;
use adept_trainer::config::One;
use adept_trainer::run::Cancel;
use adept_web::{ClientLimits, ServeOptions, serve};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{LazyLock, mpsc};

const PATHS: [&str; 8] = [
    "/evaluate",
    "/moves",
    "/plays",
    "/plays/none/moves",
    "/plays/none/resign",
    "/jobs",
    "/runs",
    "/runs/none/stop",
];

static SERVER: LazyLock<SocketAddr> = LazyLock::new(|| {
    let options = ServeOptions {
        listen: "127.0.0.1:0".into(),
        hosts: Vec::new(),
        token: None,
        agents: Vec::new(),
        published: Vec::new(),
        runs: "missing".into(),
        train: false,
        plays: None,
        extras: Vec::new(),
        client: ClientLimits::default(),
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let ready = |address, _: Option<&str>| sender.send(address).unwrap();
        serve(&One(TicTacToe), &options, &Cancel::default(), ready).unwrap();
    });
    receiver.recv().unwrap()
});

fuzz_target!(|data: &[u8]| {
    let Some((&first, body)) = data.split_first() else { return };
    let path = PATHS[usize::from(first) % PATHS.len()];
    let mut stream = TcpStream::connect(*SERVER).unwrap();
    let head = format!(
        "POST /api/v1{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        *SERVER,
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(status != 500 && serde_json::from_str::<Value>(body).is_ok(), "{status}: {body}");
});
