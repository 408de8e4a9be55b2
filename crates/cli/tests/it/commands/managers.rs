//! Matches at a manager of general games: `serve ggp`.

use crate::common::Desk;
use adept_builtin::gdl::{Described, Steps};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running server and its place.
struct Server {
    child: Child,
    place: String,
}

impl Server {
    fn start(desk: &Desk, args: &[&str]) -> Self {
        let mut command = desk.command(&[&["serve", "ggp", "--listen", "127.0.0.1:0"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let place = ready.trim().strip_prefix("listening on ").unwrap().into();
        Self { child, place }
    }

    /// Status and body of the answer to a message, sent as ggp-base sends it.
    fn ask(&self, message: &str) -> (u16, String) {
        self.send(&format!(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\nReceiver: \r\nContent-Type: \
             text/acl\r\nContent-Length: {}\r\n\r\n{message}",
            message.len()
        ))
    }

    fn send(&self, request: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(&self.place).unwrap();
        // The server may answer before it has read all.
        let _ = socket.write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, body.into())
    }

    /// Asks the server to stop, and returns what it said.
    fn stop(self) -> String {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

fn rules(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../declared/games");
    fs::read_to_string(folder.join(format!("{name}.kif"))).unwrap()
}

/// Plays a match as a manager does, with other roles that take their moves in turn from the list. Returns the goal of the server's
/// role. Every answer must be legal.
fn play(server: &Server, id: &str, rules: &str, role: usize, clocks: (u64, u64)) -> Option<u8> {
    let game = Described::read("the match", rules).unwrap();
    let mut steps = Steps::new(&game);
    let roles = steps.roles();
    let text: String =
        rules.lines().map(|line| line.split(';').next().unwrap_or_default().to_string() + " ").collect();
    let start = format!("( START {id} {} ({text}) {} {})", roles[role], clocks.0, clocks.1);
    assert_eq!(server.ask(&start), (200, "ready".into()));
    let (mut last, mut count) = ("NIL".to_string(), 7);
    while !steps.is_over() {
        let (status, answer) = server.ask(&format!("( PLAY {id} {last} )"));
        assert_eq!(status, 200, "{answer}");
        let moves: Vec<u32> = (0..roles.len())
            .map(|of| {
                let legal = steps.legal(of);
                count += 5;
                match of == role {
                    true => steps
                        .find(role, &answer)
                        .filter(|found| legal.contains(found))
                        .unwrap_or_else(|| panic!("{answer}")),
                    false => legal[count % legal.len()],
                }
            })
            .collect();
        last =
            format!("({} )", moves.iter().map(|&number| steps.written(number)).collect::<Vec<_>>().join(" "));
        steps.step(&moves);
    }
    assert_eq!(server.ask(&format!("( STOP {id} {last} )")), (200, "done".into()));
    steps.goal(role)
}

#[test]
fn matches_are_played_to_their_end() {
    let desk = Desk::new();
    let server = Server::start(&desk, &["uct:100", "--log", "log.txt"]);
    let mut goals = Vec::new();
    for name in ["tic-tac-toe", "connect-four", "nim", "breakthrough"] {
        for role in [0, 1] {
            goals.push(play(&server, &format!("{name}.{role}"), &rules(name), role, (60, 60)).unwrap());
        }
    }
    // The other side plays any move.
    assert!(goals.iter().filter(|goal| **goal == 100).count() >= 6, "{goals:?}");
    // Choices at the same time, and a role that has none.
    let guess = "(role chooser) (role guesser) (role judge) (init (step 1)) (side left) (side right)
        (<= (legal ?r ?s) (role ?r) (distinct ?r judge) (side ?s)) (<= (legal judge watch) (role judge))
        (<= (next (took ?r ?s)) (does ?r ?s) (side ?s)) (<= terminal (true (took chooser ?s)))
        (<= same (true (took chooser ?s)) (true (took guesser ?s)))
        (<= (goal guesser 100) same) (<= (goal guesser 0) (not same)) (<= (goal chooser 0) same)
        (<= (goal chooser 100) (not same)) (goal judge 50)";
    for role in 0..3 {
        play(&server, &format!("guess.{role}"), guess, role, (60, 60)).unwrap();
    }
    let said = server.stop();
    assert!(said.contains("tic-tac-toe.0 as "), "{said}");
    let ends: Vec<&str> = said.lines().filter(|line| line.contains("decisions, ")).collect();
    assert!(ends.len() == 11 && ends.iter().all(|line| line.contains("decisions, 0 of them late")), "{said}");
    let log = fs::read_to_string(desk.path("log.txt")).unwrap();
    assert!(log.contains("from: ( PLAY nim.1 NIL )\nto: "), "{log}");
}

#[test]
fn words_of_the_rules_keep_their_capitals() {
    let desk = Desk::new();
    let server = Server::start(&desk, &["random"]);
    let rules = "(role White) (init (at Home)) (<= (legal White (goTo Town)) (true (at Home))) (<= (legal White (goTo Sea)) (true (at Home)))
        (<= (next (at ?p)) (does White (goTo ?p))) (<= terminal (not (true (at Home)))) (goal White 100)";
    assert_eq!(server.ask(&format!("( START m White ({rules}) 60 60 )")).0, 200);
    let (_, answer) = server.ask("( PLAY m NIL )");
    assert!(["( goTo Town )", "( goTo Sea )"].contains(&&*answer), "{answer}");
    server.stop();
}

#[test]
fn what_is_learned_in_the_start_clock_is_known_the_next_time() {
    let desk = Desk::new();
    let server = Server::start(&desk, &["--learn", "--margin", "100"]);
    play(&server, "first", &rules("tic-tac-toe"), 0, (9, 1)).unwrap();
    let said = server.stop();
    assert!(said.contains("learned from ") && said.contains("plays by checkpoints/runs/ggp-"), "{said}");
    // The rules in other letters. It goes on from there, and only if it is told to.
    let other = rules("tic-tac-toe").replace("noop", "NOOP");
    let server = Server::start(&desk, &["--learn", "--margin", "100"]);
    play(&server, "second", &other, 1, (3, 1)).unwrap();
    let said = server.stop();
    assert!(said.contains("plays by checkpoints/runs/ggp-"), "{said}");
    let server = Server::start(&desk, &["--margin", "100"]);
    play(&server, "third", &other, 1, (60, 1)).unwrap();
    let said = server.stop();
    assert!(!said.contains("plays by"), "{said}");
    // A run that has ended is taken without being told.
    fs::write(desk.path("own.kif"), &other).unwrap();
    let config = desk.text(&["config", "new", "file:own.kif"]);
    fs::write(desk.path("own.toml"), config).unwrap();
    let few = ["--set", "learn.td.games=200", "--set", "evaluate.every=200", "--set", "name=\"own\""];
    desk.text(&[&["train", "own.toml"], &few[..]].concat());
    let server = Server::start(&desk, &["--margin", "100"]);
    play(&server, "fourth", &other, 0, (60, 1)).unwrap();
    let said = server.stop();
    assert!(said.contains("plays by checkpoints/runs/own-1"), "{said}");
    // The run is one like any other.
    let runs = fs::read_dir(desk.path("checkpoints/runs")).unwrap().map(|run| run.unwrap().path());
    let learned: Vec<_> = runs.filter(|run| run.display().to_string().contains("/ggp-")).collect();
    desk.text(&["describe", &learned[0].display().to_string()]);
}

#[test]
fn what_is_no_message_is_answered_and_the_server_goes_on() {
    let desk = Desk::new();
    let server = Server::start(&desk, &[]);
    let game = rules("tic-tac-toe");
    let game: String =
        game.lines().filter(|line| !line.starts_with(';')).map(|line| line.to_string() + " ").collect();
    let start = |id: &str, role: &str, rules: &str| format!("( START {id} {role} ({rules}) 60 60 )");
    for (message, status, why) in [
        ("".to_string(), 400, "( INFO )"),
        ("( HELLO )".into(), 400, "`HELLO` is not INFO"),
        ("( PLAY nobody NIL )".into(), 400, "no match `nobody` is being played here"),
        ("( STOP nobody NIL )".into(), 400, "no match"),
        ("( ABORT nobody )".into(), 400, "no match"),
        (start("bad", "x", "(role x) (<= (legal x go)"), 400, "not closed"),
        (start("bad", "x", "(role x)"), 400, "match bad: "),
        (start("bad", "nobody", &game), 400, "`nobody` is not a role"),
        ("(".repeat(10_000_000), 413, "at most 4194304"),
        (start("m", game.split_whitespace().nth(1).unwrap().trim_end_matches(')'), &game), 200, "ready"),
        (start("m", "x", &game), 200, "busy"),
        ("( PLAY m ( (dance) noop ) )".into(), 400, "is not a legal move of"),
        ("( ABORT m )".into(), 200, "aborted"),
        ("( INFO )".into(), 200, "( ( name adept ) ( status available ) )"),
        ("( PREVIEW ( (role x) ) 5 )".into(), 200, "ready"),
    ] {
        let (found, body) = server.ask(&message);
        let short: String = message.chars().take(60).collect();
        assert!(found == status && body.contains(why), "{short}: {found} {body}");
    }
    let (status, body) = server.send("GET / HTTP/1.0\r\n\r\n");
    assert!(status == 405 && body.contains("POST"), "{body}");
    assert_eq!(server.send("hello\r\n\r\n").0, 400);
    assert_eq!(server.send("POST / HTTP/1.0\r\n\r\n").0, 411);
    play(&server, "clock", &rules("nim"), 0, (60, 1)).unwrap();
    server.stop();
    // Nothing is left of the clock.
    let server = Server::start(&desk, &["uct:100000000", "--margin", "2000", "--matches", "1"]);
    play(&server, "late", &rules("nim"), 0, (60, 1)).unwrap();
    let output = server.child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !said.contains(" 0 of them late"), "{said}");
    let said = desk.fails(&["serve", "ggp", "uct:x"], 1);
    assert!(said.contains("write uct:N"), "{said}");
}
