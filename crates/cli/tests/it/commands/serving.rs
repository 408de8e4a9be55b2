//! Games for other programs: `serve gnubg` and `serve ubgi`.

use crate::common::Desk;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// A cube question of gnubg 1.07.001 to player 1.
const CUBE: &str = "board:gnubg:root:5:0:1:0:-1:-1:0:0:0:5:0:3:0:0:0:-4:5:-1:0:0:-3:0:-5:0:0:0:0:2:0:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";

#[test]
fn sessions_of_gnubg_follow_each_other_and_are_logged() {
    let desk = Desk::new();
    let mut command = desk.command(&[
        "serve",
        "gnubg",
        "random",
        "--listen",
        "127.0.0.1:0",
        "--sessions",
        "2",
        "--log",
        "log.txt",
    ]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let place = ready.trim().strip_prefix("listening on ").unwrap();
    for (question, expected) in [(CUBE, "roll\n"), (&CUBE[..40], "Error (14 fields instead of 53)\n")] {
        let mut line = BufReader::new(TcpStream::connect(place).unwrap());
        line.get_mut().write_all(format!("{question}\n\0").as_bytes()).unwrap();
        let mut answer = String::new();
        line.read_line(&mut answer).unwrap();
        assert_eq!(answer, expected);
    }
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let ends = "0 moves, 1 cube questions, 0 errors; gnubg ended the connection";
    assert!(said.contains(&format!("session 1: {ends}")) && said.contains("session 2: 0 moves"), "{said}");
    let log = fs::read_to_string(desk.path("log.txt")).unwrap();
    assert!(
        log.contains(&format!("1 from: {CUBE}\n1 to: roll\n")) && log.contains("2 session: from 127.0.0.1:"),
        "{log}"
    );
    let said = desk.fails(&["serve", "gnubg", "random", "--listen", "nowhere"], 1);
    assert!(said.contains("nowhere: write an address of this machine"), "{said}");
}

#[test]
fn an_engine_of_ubgi_reads_standard_input() {
    let desk = Desk::new();
    let commands = "isready\nposition gnubgid VQUAgKoCAAAAAA\ndice 6 6\ngo role turn\nquit\n";
    let output = desk.run_with(&["serve", "ubgi", "random"], commands);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "readyok\nbestturn cube=nodouble move=6/off 5/off 4/off 3/off\n");
    assert!(desk.fails(&["serve", "ubgi", "random", "--json"], 1).contains("leave --json out"));
}
