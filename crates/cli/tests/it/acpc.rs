//! Tests `serve acpc` with a small dealer of the Annual Computer Poker Competition's protocol.

use crate::common::Workspace;
use adept::game::{Game, Turn, stream};
use adept::holdem::{self, Action, Holdem, State};
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
            // All players see every state, also those in which others act.
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

fn start(dir: &Workspace, port: u16, agent: &str, more: &[&str]) -> Child {
    let port = port.to_string();
    let args = [&["serve", "acpc", "127.0.0.1", &port, agent, "--json"], more].concat();
    let mut command: Command = dir.command(&args);
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
    let dir = Workspace::new();
    let definition = dir.text(&["serve", "gamedef", "holdem:limit:3:stack=60/90/200"]);
    std::fs::write(dir.path("short.game"), &definition).unwrap();
    assert_eq!(dir.text(&["serve", "gamedef", "short.game"]), "holdem:limit:3:stack=60/90/200\n");
    let short = ["--gamedef", "short.game", "--hands", "60"];
    let usual = ["--hands", "60"];
    for (name, agents, more) in [
        ("holdem:limit:2", &["soarbot", "random"][..], &usual[..]),
        ("holdem:limit:3:stack=60/90/200", &["equity:0.5", "random", "soarbot-2002"], &short),
    ] {
        let game = holdem::named(name).unwrap().unwrap();
        let doors: Vec<(TcpListener, u16)> = agents.iter().map(|_| listen()).collect();
        let calls = agents.iter().zip(&doors);
        let children: Vec<Child> = calls.map(|(agent, (_, port))| start(&dir, *port, agent, more)).collect();
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

/// Faults of a dealer end with status 1 and a message with the place; the log keeps all lines.
#[test]
fn dealers_that_fail_are_reported() {
    let dir = Workspace::new();
    let first = "MATCHSTATE:1:0::|AhKd";
    for (lines, hands, expected) in [
        (&[][..], None, "before the first hand: it went away"),
        (&[first], None, "in hand 0: it went away"),
        (&["MATCHSTATE:1:0:f:|AhKd"], Some("2"), "after 1 hand: it went away; 2 were to be played"),
        (&["hello"], None, "its line `hello` is wrong: expected MATCHSTATE"),
        (&["MATCHSTATE:2:0::|AhKd"], None, "position `2` is not a number from 0 to 1"),
        (&["MATCHSTATE:1:x::|AhKd"], None, "hand `x`: expected a number"),
        (&["MATCHSTATE:1:0::AhKd|"], None, "whose cards are missing"),
        (&["MATCHSTATE:1:0:cx:|AhKd"], None, "`x` is not a move"),
        (&["MATCHSTATE:1:0::|AhKd|"], None, "cards of 3 seats instead of 2"),
    ] {
        let (door, port) = listen();
        let log = ["--log", "log.txt"];
        let more = hands.map_or(log.to_vec(), |hands| [&log[..], &["--hands", hands]].concat());
        let child = start(&dir, port, "always-call", &more);
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
        let logged = std::fs::read_to_string(dir.path("log.txt")).unwrap();
        assert!(logged.starts_with("to: VERSION:2.0.0\n"), "{logged}");
        for line in lines {
            assert!(logged.contains(&format!("from: {line}\n")), "{logged}");
        }
    }
    let (door, port) = listen();
    let child = start(&dir, port, "always-call", &[]);
    let mut player = Player::accept(&door);
    // The player may have disconnected before everything is sent.
    let _ = player.lines.get_mut().write_all(&[b'x'; 10_000]);
    let output = child.wait_with_output().unwrap();
    assert!(result(&output)["error"]["message"].as_str().unwrap().contains("more than 4096 bytes"));
    drop(door);
    let nobody = start(&dir, port, "always-call", &[]).wait_with_output().unwrap();
    assert!(result(&nobody)["error"]["message"].as_str().unwrap().contains("start it before its players"));
}

/// A scripted dealer: lines that are sent in order, and `=LINE` for the player's expected answer before the next one.
/// Then the dealer disconnects. Returns the player's output.
fn scripted(dir: &Workspace, more: &[&str], script: &[&str]) -> Output {
    let (door, port) = listen();
    let child = start(dir, port, "always-raise", more);
    let mut player = Player::accept(&door);
    for line in script {
        match line.strip_prefix('=') {
            Some(expected) => assert_eq!(player.line(), expected),
            // The player may have disconnected after a fault.
            None => drop(player.lines.get_mut().write_all(format!("{line}\r\n").as_bytes())),
        }
    }
    drop(player);
    child.wait_with_output().unwrap()
}

const FIRST: [&str; 4] = [
    "MATCHSTATE:1:0::|AhKd",
    "=MATCHSTATE:1:0::|AhKd:r",
    "MATCHSTATE:1:0:r:|AhKd",
    "MATCHSTATE:1:0:rf:|AhKd",
];

/// Allowed behaviour of dealers: comments, empty lines, a match that begins in mid-hand, repeated or skipped states,
/// any seats, skipped numbers.
#[test]
fn dealers_may_say_things_twice_and_leave_things_out() {
    let dir = Workspace::new();
    let script = [
        "# a comment",
        "; another",
        "",
        "MATCHSTATE:0:41:rrc/r:AhKd|/2c8c3h",
        "MATCHSTATE:0:41:rrc/rf:AhKd|/2c8c3h",
        "MATCHSTATE:0:41:rrc/rf:AhKd|/2c8c3h",
        "MATCHSTATE:0:42:c:KdAh|",
        "=MATCHSTATE:0:42:c:KdAh|:r",
        "MATCHSTATE:0:42:c:KdAh|",
        "=MATCHSTATE:0:42:c:KdAh|:r",
        "# the answer is there twice; the first counts",
        "MATCHSTATE:0:42:crf:KdAh|",
        "MATCHSTATE:0:45:f:2c2d|",
    ];
    let output = scripted(&dir, &["--hands", "3"], &script);
    assert!(output.status.success(), "{output:?}");
    let found = result(&output);
    // Three bets before the flop, one, and a small blind.
    assert_eq!((&found["hands"], &found["chips"]), (&3.into(), &(30 + 10 + 5).into()), "{found}");
    assert_eq!(found["error"], Value::Null);
}

/// Impossible states end with status 1, the fault, and the winnings so far.
#[test]
fn dealers_that_change_the_past_are_reported() {
    let dir = Workspace::new();
    for (lines, expected) in [
        (&["MATCHSTATE:0:1:c:KdAh|", "MATCHSTATE:1:2::|2c2d"][..], "hand 2 begins, but hand 1 is not over"),
        (&["MATCHSTATE:1:0:r:|AhKd"], "the moves became shorter: `rf` before, `r` now"),
        (&["MATCHSTATE:0:5:f:AhKd|", "MATCHSTATE:0:4::2c2d|"], "hand 4 comes after hand 5"),
        (&["MATCHSTATE:0:1:r:KdAh|", "MATCHSTATE:0:1:c:KdAh|"], "the moves changed: `r` before, `c` now"),
        (&["MATCHSTATE:0:1:r:KdAh|", "MATCHSTATE:1:1:rr:|2c2d"], "position 0 became 1 within the hand"),
        (&["MATCHSTATE:0:1:r:KdAh|", "MATCHSTATE:0:1:rr:KdAs|"], "the cards of position 0 changed"),
        (
            &["MATCHSTATE:0:1:c:KdAh|", "MATCHSTATE:0:1:cc/:KdAh|/2c8c3h"],
            "the answer was `r`, and it plays `c`",
        ),
    ] {
        let output = scripted(&dir, &[], &[&FIRST, lines].concat());
        assert_eq!(output.status.code(), Some(1), "{lines:?}");
        let found = result(&output);
        let message = found["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{message}");
        assert_eq!(found["error"]["kind"], "protocol");
        let won = (&found["hands"], &found["chips"]);
        let both = lines.iter().any(|line| line.contains(":5:f:"));
        assert_eq!(won, (&(1 + u64::from(both)).into(), &(10 + 5 * i64::from(both)).into()), "{found}");
    }
}

/// A connection reset in mid-line is a fault, also after the last hand.
#[test]
fn a_reset_in_mid_line_is_a_fault() {
    let dir = Workspace::new();
    let (door, port) = listen();
    let child = start(&dir, port, "always-raise", &[]);
    let mut player = Player::accept(&door);
    // A connection that is closed while an answer is unread is reset.
    [FIRST[0], FIRST[2], FIRST[3]].iter().for_each(|line| player.send(line));
    player.lines.get_mut().write_all(b"MATCHSTATE:0:1::Kd").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(player);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let found = result(&output);
    assert!(found["error"]["message"].as_str().unwrap().contains("within a line"), "{found}");
    assert_eq!((&found["hands"], &found["chips"]), (&1.into(), &10.into()));
}

/// A dealer that is silent, or repeats itself, is abandoned after `--timeout`; Ctrl-C ends a match immediately. Both
/// report the winnings.
#[cfg(unix)]
#[test]
fn waiting_ends_and_the_tally_stays() {
    let dir = Workspace::new();
    for (timeout, expected) in [("1", "protocol"), ("0", "interrupted")] {
        let (door, port) = listen();
        let child = start(&dir, port, "always-raise", &["--timeout", timeout]);
        let mut player = Player::accept(&door);
        player.send(FIRST[0]);
        assert_eq!(player.line(), &FIRST[1][1..]);
        FIRST[2..].iter().for_each(|line| player.send(line));
        player.send("MATCHSTATE:0:1:c:KdAh|");
        assert_eq!(player.line(), "MATCHSTATE:0:1:c:KdAh|:r");
        if expected == "interrupted" {
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        }
        // Repeating a state is an answer, but no progress.
        for _ in 0..1200 {
            if player.lines.get_mut().write_all(b"# busy\r\nMATCHSTATE:0:1:c:KdAh|\r\n").is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(player);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let found = result(&output);
        assert_eq!(found["error"]["kind"], expected, "{found}");
        assert!(found["error"]["message"].as_str().unwrap().contains("in hand 1"), "{found}");
        assert_eq!((&found["hands"], &found["chips"]), (&1.into(), &10.into()), "{found}");
    }
}
