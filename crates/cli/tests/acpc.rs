//! `serve acpc` against a small dealer of the Annual Computer Poker Competition's protocol.

mod common;

use adept::game::{Game, Turn, stream};
use adept::holdem::{self, Action, Holdem, State};
use common::Desk;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A connection to a player.
struct Player {
    lines: BufReader<TcpStream>,
    won: i64,
}

impl Player {
    fn accept(listener: &TcpListener) -> Self {
        let stream = listener.accept().unwrap().0;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut player = Self { lines: BufReader::new(stream), won: 0 };
        assert_eq!(player.line(), "VERSION:2.0.0");
        player
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(line.ends_with("\r\n"), "{line:?}");
        line.trim_end().into()
    }

    fn send(&mut self, line: &str) {
        self.lines.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }
}

fn seen(game: &Holdem, state: &State, seat: usize, hand: u64) -> String {
    format!("MATCHSTATE:{seat}:{hand}:{}", game.position_text(&game.shown_to(state, seat)))
}

/// Plays hands with a rotating button, as the competition's dealer does.
fn deal(game: &Holdem, players: &mut [Player], hands: u64) {
    let n = players.len();
    for player in &mut *players {
        player.send("# a comment of the dealer");
        player.send("; and another");
    }
    for hand in 0..hands {
        let mut dice = stream(7, "dealer", hand);
        let mut state = game.start();
        let at = |seat: usize| (seat + hand as usize) % n;
        loop {
            if game.turn(&state) == Turn::Chance {
                let action = game.sample(&state, &mut dice);
                game.apply(&mut state, &action);
                continue;
            }
            // Everyone sees every state, also those in which others act.
            for seat in 0..n {
                players[at(seat)].send(&seen(game, &state, seat, hand));
            }
            let Turn::Player(seat) = game.turn(&state) else { break };
            let answer = players[at(seat)].line();
            let sent = seen(game, &state, seat, hand);
            let letter = answer.strip_prefix(&sent).and_then(|rest| rest.strip_prefix(':'));
            let action = match letter {
                Some("f") => Action::Fold,
                Some("c") => Action::Call,
                Some("r") => Action::Raise,
                _ => panic!("`{answer}` does not answer `{sent}`"),
            };
            let mut legal = Vec::new();
            game.actions(&state, &mut legal);
            assert!(legal.contains(&action), "{answer}");
            game.apply(&mut state, &action);
        }
        let won = game.payoffs(&state);
        (0..n).for_each(|seat| players[at(seat)].won += won[seat]);
    }
}

fn start(desk: &Desk, port: u16, agent: &str, more: &[&str]) -> Child {
    let port = port.to_string();
    let args = [&["serve", "acpc", "127.0.0.1", &port, agent, "--json"], more].concat();
    let mut command: Command = desk.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn result(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[test]
fn whole_matches_are_played() {
    let desk = Desk::new();
    let definition = desk.text(&["serve", "gamedef", "holdem:limit:3:stack=60/90/200"]);
    std::fs::write(desk.path("short.game"), &definition).unwrap();
    assert_eq!(desk.text(&["serve", "gamedef", "short.game"]), "holdem:limit:3:stack=60/90/200\n");
    let short = ["--gamedef", "short.game", "--hands", "60"];
    let usual = ["--hands", "60"];
    for (name, agents, more) in [
        ("holdem:limit:2", &["soarbot", "random"][..], &usual[..]),
        ("holdem:limit:3:stack=60/90/200", &["equity:0.5", "random", "soarbot-2002"], &short),
    ] {
        let game = holdem::named(name).unwrap().unwrap();
        let doors: Vec<(TcpListener, u16)> = agents.iter().map(|_| listen()).collect();
        let calls = agents.iter().zip(&doors);
        let children: Vec<Child> = calls.map(|(agent, (_, port))| start(&desk, *port, agent, more)).collect();
        let mut players: Vec<Player> = doors.iter().map(|(door, _)| Player::accept(door)).collect();
        deal(&game, &mut players, 60);
        let won: Vec<i64> = players.iter().map(|player| player.won).collect();
        drop(players);
        for (child, won) in children.into_iter().zip(won) {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let found = result(&output);
            assert_eq!((&found["hands"], &found["chips"]), (&60.into(), &won.into()), "{name}");
            assert_eq!(found["game"], name);
        }
    }
}

/// What a dealer may do wrong ends with status 1 and a message that says where; the log keeps what was said.
#[test]
fn dealers_that_fail_are_reported() {
    let desk = Desk::new();
    let first = "MATCHSTATE:1:0::|AhKd";
    for (lines, hands, expected) in [
        (&[][..], None, "before the first hand: it went away"),
        (&[first], None, "in hand 0: it went away"),
        (&["MATCHSTATE:1:0:f:|AhKd"], Some("2"), "after 1 hands: it went away; 2 were to be played"),
        (&["hello"], None, "its line `hello` is wrong: expected MATCHSTATE"),
        (&["MATCHSTATE:2:0::|AhKd"], None, "position `2` is none of 0 to 1"),
        (&["MATCHSTATE:1:x::|AhKd"], None, "hand `x`: expected a number"),
        (&["MATCHSTATE:1:0::AhKd|"], None, "whose cards are missing"),
        (&["MATCHSTATE:1:0:cx:|AhKd"], None, "`x` is no move"),
        (&["MATCHSTATE:1:0::|AhKd|"], None, "cards of 3 seats instead of 2"),
    ] {
        let (door, port) = listen();
        let log = ["--log", "log.txt"];
        let more = hands.map_or(log.to_vec(), |hands| [&log[..], &["--hands", hands]].concat());
        let child = start(&desk, port, "always-call", &more);
        let mut player = Player::accept(&door);
        for line in lines {
            player.send(line);
        }
        if lines == [first] {
            assert_eq!(player.line(), format!("{first}:c"));
        }
        player.lines.get_mut().shutdown(std::net::Shutdown::Write).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{lines:?}");
        let found = result(&output);
        assert_eq!(found["error"]["kind"], "protocol", "{found}");
        let message = found["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected) && message.contains(&format!("127.0.0.1:{port}")), "{message}");
        let logged = std::fs::read_to_string(desk.path("log.txt")).unwrap();
        assert!(logged.starts_with("to: VERSION:2.0.0\n"), "{logged}");
        for line in lines {
            assert!(logged.contains(&format!("from: {line}\n")), "{logged}");
        }
    }
    let (door, port) = listen();
    let child = start(&desk, port, "always-call", &[]);
    let mut player = Player::accept(&door);
    // The player may have left before all of it is sent.
    let _ = player.lines.get_mut().write_all(&[b'x'; 10_000]);
    let output = child.wait_with_output().unwrap();
    assert!(result(&output)["error"]["message"].as_str().unwrap().contains("more than 4096 bytes"));
    drop(door);
    let nobody = start(&desk, port, "always-call", &[]).wait_with_output().unwrap();
    assert!(result(&nobody)["error"]["message"].as_str().unwrap().contains("start it before its players"));
}
