//! An external player for GNU Backgammon: gnubg connects after `set player 0 external HOST:PORT`, sends a line for each
//! decision, and reads one.
//!
//! An illegal answer forfeits the turn, and an unreadable one ends it; so an unreadable line is answered by `Error
//! (…)`, which gnubg shows to its user.

use super::bot::Bot;
use super::lines::{self, LOOK, ReadError, SHOWN};
use adept_builtin::backgammon::cube::{Scoring, Terms};
use adept_builtin::backgammon::fibs::{Line, Player};
use adept_console::output::say;
use adept_ground::shown::clipped;
use adept_trainer::run::Cancel;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// Statistics of the server.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Count {
    /// Connections.
    pub(super) sessions: u64,
    /// Number of rolls played.
    pub(super) moves: u64,
    /// Number of cube decisions.
    pub(super) cubes: u64,
    /// Number of doubles offered.
    pub(super) doubles: u64,
    /// Lines that were invalid or had no answer.
    pub(super) errors: u64,
}

impl Count {
    /// Adds the difference since the last count of a connection.
    fn add(&mut self, now: Self, before: Self) {
        self.moves += now.moves - before.moves;
        self.cubes += now.cubes - before.cubes;
        self.doubles += now.doubles - before.doubles;
        self.errors += now.errors - before.errors;
    }
}

/// A server for several connections of gnubg at a time. They share the bot and wait only for each other's moves, not
/// for silent clients.
pub(super) struct Server<'a> {
    pub(super) bot: Mutex<Bot>,
    pub(super) log: Option<Mutex<File>>,
    pub(super) cancel: &'a Cancel,
    pub(super) count: Mutex<Count>,
    /// Whether money games are played by the Jacoby rule, which lines do not say.
    pub(super) jacoby: bool,
}

/// Largest number of simultaneous connections.
const CONNECTIONS: usize = 64;

/// Largest number of errors in a row after which new connections are still accepted.
const FAULTS: u32 = 100;

/// A client that reads no answer for this long is disconnected.
const UNREAD: Duration = Duration::from_secs(5);

impl Server<'_> {
    /// The cube and the score of a line, seen by a player.
    fn terms(&self, line: &Line, player: Player) -> Terms {
        match line.terms(player) {
            terms @ Terms { scoring: Scoring::Money { .. }, .. } => {
                Terms { scoring: Scoring::Money { jacoby: self.jacoby }, ..terms }
            }
            terms => terms,
        }
    }

    /// Serves connections, at most `most` if given, until interrupted.
    ///
    /// # Errors
    /// If the listener keeps failing, or the log cannot be written.
    pub(super) fn serve(&self, door: &TcpListener, most: Option<u64>) -> Result<()> {
        door.set_nonblocking(true)?;
        let (mut number, mut faults) = (0, 0);
        let (open, failed) = (AtomicUsize::new(0), Mutex::new(None));
        std::thread::scope(|scope| {
            while !self.cancel.requested() && most.is_none_or(|most| number < most) && held(&failed).is_none()
            {
                match door.accept() {
                    Ok((mut line, _)) if open.load(Ordering::Relaxed) >= CONNECTIONS => {
                        let full =
                            format!("Error (there are {CONNECTIONS} connections, the most possible)\n");
                        let _ = line.write_all(full.as_bytes());
                    }
                    Ok((line, from)) => {
                        (number, faults) = (number + 1, 0);
                        open.fetch_add(1, Ordering::Relaxed);
                        let (open, failed) = (&open, &failed);
                        scope.spawn(move || {
                            if let Err(error) = self.connection(number, line, from) {
                                *held(failed) = Some(error);
                            }
                            open.fetch_sub(1, Ordering::Relaxed);
                        });
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(LOOK),
                    // A connection may have broken, or file descriptors may be temporarily exhausted.
                    Err(_) if faults < FAULTS => {
                        faults += 1;
                        sleep(LOOK);
                    }
                    Err(error) => return Err(error).context("nobody can connect any more"),
                }
            }
            Ok(())
        })?;
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Serves one connection, and reports how it ended.
    fn connection(&self, number: u64, line: TcpStream, from: SocketAddr) -> Result<()> {
        let mut session = Session { server: self, number, seat: None, count: Count::default() };
        held(&self.count).sessions += 1;
        session.note("session", &format!("from {from}"))?;
        let end = session.run(line)?;
        session.note("end", &end)?;
        let Count { moves, cubes, errors, .. } = session.count;
        say(format!("session {number}: {moves} moves, {cubes} cube questions, {errors} errors; {end}"));
        Ok(())
    }
}

/// Locks a mutex, ignoring poisoning.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection.
struct Session<'a> {
    server: &'a Server<'a>,
    number: u64,
    /// The player that this bot represents, once known.
    seat: Option<Player>,
    count: Count,
}

impl Session<'_> {
    /// Answers lines to the end of the connection. Returns how it ended.
    fn run(&mut self, socket: TcpStream) -> Result<String> {
        let prepared = socket
            .set_nonblocking(false)
            .and_then(|()| socket.set_nodelay(true))
            .and_then(|()| socket.set_read_timeout(Some(LOOK)))
            .and_then(|()| socket.set_write_timeout(Some(UNREAD)));
        if let Err(error) = prepared {
            return Ok(format!("the connection broke: {error}"));
        }
        let (mut lines, mut line) = (BufReader::new(socket), Vec::new());
        loop {
            match lines::read(&mut lines, &mut line, None, self.server.cancel) {
                Ok(()) if line.is_empty() => return Ok("gnubg ended the connection".into()),
                Ok(()) => {}
                Err(ReadError::Stopped) => return Ok("stopped".into()),
                Err(ReadError::Broken(what)) => return Ok(what),
                Err(ReadError::Silent(_)) => return Ok("gnubg is silent".into()),
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_string();
            self.note("from", &text)?;
            // An interrupt waits for the move.
            let _saving = self.server.cancel.saving();
            let before = self.count;
            let answer = self.answer(&text).unwrap_or_else(|why| {
                self.count.errors += 1;
                format!("Error ({})", clipped(&why.replace(['\n', '\r'], " "), SHOWN))
            });
            held(&self.server.count).add(self.count, before);
            self.note("to", &answer)?;
            if let Err(error) = lines.get_mut().write_all(format!("{answer}\n").as_bytes()) {
                return Ok(format!("gnubg takes no more lines: {error}"));
            }
        }
    }

    /// Answers a line.
    fn answer(&mut self, text: &str) -> Result<String, String> {
        let line = Line::parse(text)?;
        // A player is asked at its own turn, and answers a double at the opponent's. Only after a beaver does it answer
        // one at its own turn, and it has doubled before.
        let me = *self.seat.get_or_insert(if line.doubled { line.turn.other() } else { line.turn });
        if !line.doubled && line.turn != me {
            return Err("it is the other player's turn".into());
        }
        let position = line.position(me);
        let mut bot = held(&self.server.bot);
        if let Some(roll) = line.roll {
            self.count.moves += 1;
            let terms = self.server.terms(&line, me);
            return bot.play(position, roll, terms).map(|(text, _)| text).map_err(|e| e.to_string());
        }
        self.count.cubes += 1;
        if !line.doubled {
            let doubles = bot.doubles(position, self.server.terms(&line, me));
            self.count.doubles += u64::from(doubles);
            return Ok(if doubles { "double" } else { "roll" }.into());
        }
        // After a beaver, this side is to roll and the opponent owns the cube.
        let takes = match line.turn == me {
            true => bot.takes_beaver(position),
            false => bot.takes(position.swapped(), self.server.terms(&line, me.other())),
        };
        Ok(if takes { "take" } else { "drop" }.into())
    }

    /// Logs a line with the number of the connection.
    fn note(&self, what: &str, line: &str) -> Result<()> {
        match &self.server.log {
            Some(log) => {
                let line = format!("{} {what}: {line}\n", self.number);
                held(log).write_all(line.as_bytes()).context("the log")
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bot::tests::bot;
    use super::*;
    use std::io::BufRead;

    /// Decisions of player 0 and player 1 in gnubg 1.07.001, with the allowed answers.
    const MOVE: &str = "board:gnubg:root:0:0:0:0:0:0:0:-2:0:5:3:3:0:0:0:-4:3:-1:0:0:-3:1:-5:0:0:0:0:0:0:-1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
    const CUBE: &str = "board:gnubg:root:0:0:0:0:0:0:0:-2:0:5:3:3:0:0:0:-4:3:-1:0:0:-3:1:-5:0:0:0:0:0:0:-1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
    const OFFERED: &str = "board:root:gnubg:0:0:0:0:0:-1:0:-2:-1:5:3:3:0:0:0:-2:3:-1:0:0:-2:-1:-5:0:0:0:0:0:1:1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1";
    const NOTHING: &str = "board:gnubg:root:0:0:0:0:-3:0:0:0:0:0:14:0:0:0:0:0:0:0:0:0:0:0:-2:-2:-2:-2:-2:-2:1:1:6:5:6:5:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";

    /// Sends a line and reads the answer.
    fn ask(lines: &mut BufReader<TcpStream>, question: &str) -> String {
        lines.get_mut().write_all(format!("{question}\n\0").as_bytes()).unwrap();
        let mut answer = String::new();
        lines.read_line(&mut answer).unwrap();
        answer
    }

    /// Serves a number of connections of a client.
    fn served<T: Send>(
        bot: Bot,
        connections: usize,
        client: impl FnOnce(&dyn Fn() -> BufReader<TcpStream>) -> T + Send,
    ) -> (T, Count) {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = door.local_addr().unwrap();
        let cancel = Cancel::default();
        let count = Mutex::new(Count::default());
        let server = Server { bot: Mutex::new(bot), log: None, cancel: &cancel, count, jacoby: false };
        let found = std::thread::scope(|scope| {
            let asking = scope.spawn(move || client(&|| BufReader::new(TcpStream::connect(place).unwrap())));
            server.serve(&door, Some(connections as u64)).unwrap();
            asking.join().unwrap()
        });
        (found, *held(&server.count))
    }

    /// The server's answers to these lines, each connection in turn.
    fn talk(connections: &[&[&str]]) -> (Vec<Vec<String>>, Count) {
        served(bot(), connections.len(), |connect| {
            let asked = |questions: &&[&str]| {
                let mut line = connect();
                questions.iter().map(|question| ask(&mut line, question)).collect()
            };
            connections.iter().map(asked).collect()
        })
    }

    #[test]
    fn silent_connections_keep_nobody_waiting() {
        // Two clients stay silent, one stops within a line, and all three stay connected while others are answered.
        let (answers, count) = served(bot(), 5, |connect| {
            let (_first, _second, mut broken) = (connect(), connect(), connect());
            broken.get_mut().write_all(b"board:gnu").unwrap();
            let (mut one, mut two) = (connect(), connect());
            [ask(&mut one, MOVE), ask(&mut two, OFFERED), ask(&mut one, CUBE)]
        });
        assert!(
            !answers[0].starts_with("Error") && ["take\n", "drop\n"].contains(&&*answers[1]),
            "{answers:?}"
        );
        assert!(["roll\n", "double\n"].contains(&&*answers[2]), "{answers:?}");
        assert_eq!((count.sessions, count.moves, count.cubes, count.errors), (5, 1, 2, 0));
    }

    /// Positions that one roll decides, asked of both players: each must answer for its own side.
    #[test]
    fn each_player_decides_for_its_own_side() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24");
        let game = adept_builtin::backgammon::Backgammon::default();
        let open = || adept_arena::open::open(&game, &folder, false).unwrap().0;
        let bot = Bot::new(Box::new(adept_arena::Greedy::new(open())), Some(open()), 1);
        // The board of player 1: its checkers are positive, from its opponent's bar over the points to its own bar. Player 1 has one checker
        // on its ace point, player 0 five at home; and the same with the players changed.
        let line = |checkers: &[(usize, i32)], turn: i32, may_double: &str, doubled: u8| {
            let mut board = [0; 26];
            checkers.iter().for_each(|&(place, count)| board[place] = count);
            let board = board.map(|count: i32| count.to_string()).join(":");
            format!(
                "board:a:b:0:0:0:{board}:{turn}:0:0:0:0:2:{may_double}:{doubled}:1:-1:0:25:0:0:0:0:0:0:0:1"
            )
        };
        let (one_wins, zero_wins) = ([(1, 1), (22, -5)], [(24, -1), (3, 5)]);
        // Owner of the cube: player 1, or player 0. A double gains nothing in a certain single win; a strong
        // race is doubled.
        let race_of_one = [(6, 4), (20, -7), (19, -2)];
        let race_of_zero = [(19, -4), (5, 7), (6, 2)];
        let questions = [
            (line(&one_wins, 1, "1:1", 1), "drop\n"),
            (line(&zero_wins, -1, "1:1", 1), "drop\n"),
            (line(&race_of_one, 1, "1:0", 0), "double\n"),
            (line(&race_of_zero, -1, "0:1", 0), "double\n"),
            (line(&race_of_one, -1, "0:1", 0), "roll\n"),
            (line(&race_of_zero, 1, "1:0", 0), "roll\n"),
            // The cube is the other's.
            (line(&race_of_one, 1, "0:1", 0), "roll\n"),
            (line(&race_of_zero, -1, "1:0", 0), "roll\n"),
            // The player who is ahead is offered a double.
            (line(&race_of_one, -1, "1:1", 1), "take\n"),
            (line(&race_of_zero, 1, "1:1", 1), "take\n"),
        ];
        let asked = questions.clone();
        let (answers, _) = served(bot, asked.len(), move |connect| {
            asked.iter().map(|(question, _)| ask(&mut connect(), question)).collect::<Vec<_>>()
        });
        for ((question, expected), answer) in questions.iter().zip(answers) {
            assert_eq!(answer, *expected, "{question}");
        }
    }

    #[test]
    fn a_dialogue_is_answered_line_by_line() {
        let offer_first = [OFFERED, CUBE];
        let (answers, count) =
            talk(&[&[MOVE, CUBE, OFFERED, &MOVE[..70], "", MOVE], &offer_first, &[NOTHING]]);
        let legal = |answer: &str| {
            let line = Line::parse(MOVE).unwrap();
            let text = format!("{} {}", line.position(Player::Zero), line.roll.unwrap());
            let game = adept_builtin::backgammon::Backgammon::default();
            let state = adept_game::Game::parse_position(&game, &text).unwrap().0;
            adept_game::Game::parse_action(&game, &state, answer.trim()).unwrap();
        };
        let [first, second, third] = &answers[..] else { panic!("{answers:?}") };
        legal(&first[0]);
        legal(&first[5]);
        for cube in [&first[1], &second[1]] {
            assert!(["roll\n", "double\n"].contains(&&**cube), "{cube}");
        }
        for offered in [&first[2], &second[0]] {
            assert!(["take\n", "drop\n"].contains(&&**offered), "{offered}");
        }
        // A truncated line, and an empty one.
        assert_eq!(first[3], "Error (28 fields instead of 53)\n");
        assert_eq!(first[4], "Error (the line does not begin with `board:`)\n");
        // No move is possible.
        assert_eq!(third[0], "\n");
        assert_eq!((count.sessions, count.moves, count.cubes, count.errors), (3, 3, 4, 2));
    }

    #[test]
    fn another_ones_turn_is_an_error() {
        let other = CUBE.replacen(":-1:0:0:0:0:", ":1:0:0:0:0:", 1);
        let (answers, count) = talk(&[&[CUBE, &other]]);
        assert_eq!(answers[0][1], "Error (it is the other player's turn)\n");
        assert_eq!(count.errors, 1);
    }
}
