//! A player of GNU Backgammon: gnubg connects after `set player 0 external HOST:PORT`, sends a line for each decision, and reads one.
//!
//! An answer that is not legal forfeits the turn, and one that gnubg cannot read ends it; so a line that cannot be read is answered by
//! `Error (…)`, which gnubg shows to its user.

use super::bot::{Bot, needed};
use super::lines::{self, LOOK, Lost, SHOWN};
use adept_builtin::backgammon::cube::{Chances, Cube};
use adept_builtin::backgammon::fibs::{Line, Player};
use adept_console::output::say;
use adept_ground::shown::clipped;
use adept_trainer::run::Cancel;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;

/// What was answered.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Count {
    /// Connections.
    pub(super) sessions: u64,
    /// Rolls that were played.
    pub(super) moves: u64,
    /// Questions whether to double, and whether to take.
    pub(super) cubes: u64,
    /// Doubles offered.
    pub(super) doubles: u64,
    /// Lines that were no question, or had no answer.
    pub(super) errors: u64,
}

/// Serves.
pub(super) struct Server<'a> {
    pub(super) bot: Bot,
    pub(super) log: Option<File>,
    pub(super) cancel: &'a Cancel,
    pub(super) count: Count,
}

impl Server<'_> {
    /// Serves one connection after another, `most` of them if that is given, until Ctrl-C.
    ///
    /// # Errors
    /// If nobody can connect any more, or the log cannot be written.
    pub(super) fn serve(&mut self, door: &TcpListener, most: Option<u64>) -> Result<()> {
        door.set_nonblocking(true)?;
        while !self.cancel.requested() && most.is_none_or(|most| self.count.sessions < most) {
            match door.accept() {
                Ok((line, from)) => {
                    self.count.sessions += 1;
                    let before = self.count;
                    self.note("session", &format!("{} from {from}", self.count.sessions))?;
                    let end = self.session(line)?;
                    self.note("end", &end)?;
                    let Count { moves, cubes, errors, .. } = self.count;
                    say(format!(
                        "session {}: {} moves, {} cube questions, {} errors; {end}",
                        self.count.sessions,
                        moves - before.moves,
                        cubes - before.cubes,
                        errors - before.errors,
                    ));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(LOOK),
                Err(error) => return Err(error).context("nobody can connect any more"),
            }
        }
        Ok(())
    }

    /// Serves a connection to its end. Returns how it ended.
    fn session(&mut self, socket: TcpStream) -> Result<String> {
        let prepared = socket
            .set_nonblocking(false)
            .and_then(|()| socket.set_nodelay(true))
            .and_then(|()| socket.set_read_timeout(Some(LOOK)));
        if let Err(error) = prepared {
            return Ok(format!("the connection broke: {error}"));
        }
        let (mut lines, mut line, mut seat) = (BufReader::new(socket), Vec::new(), None);
        loop {
            match lines::read(&mut lines, &mut line, None, self.cancel) {
                Ok(()) if line.is_empty() => return Ok("gnubg ended the connection".into()),
                Ok(()) => {}
                Err(Lost::Stopped) => return Ok("stopped".into()),
                Err(Lost::Broken(what)) => return Ok(what),
                Err(Lost::Silent(_)) => return Ok("gnubg is silent".into()),
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_string();
            self.note("from", &text)?;
            // Ctrl-C waits for the move.
            let _saving = self.cancel.saving();
            let answer = self.answer(&text, &mut seat).unwrap_or_else(|why| {
                self.count.errors += 1;
                format!("Error ({})", clipped(&why.replace(['\n', '\r'], " "), SHOWN))
            });
            self.note("to", &answer)?;
            if let Err(error) = lines.get_mut().write_all(format!("{answer}\n").as_bytes()) {
                return Ok(format!("gnubg takes no more lines: {error}"));
            }
        }
    }

    /// The answer to a line. `seat` is the player that this bot is, once that is known.
    fn answer(&mut self, text: &str, seat: &mut Option<Player>) -> Result<String, String> {
        let line = Line::parse(text)?;
        // A player is asked at its own turn, and answers a double at the other's. Only after a beaver it answers one at its own turn, and
        // it has doubled before.
        let me = *seat.get_or_insert(if line.doubled { line.turn.other() } else { line.turn });
        if !line.doubled && line.turn != me {
            return Err("it is the other player's turn".into());
        }
        let position = line.position(me);
        if let Some(roll) = line.roll {
            self.count.moves += 1;
            return self.bot.play(position, roll).map(|(text, _)| text).map_err(|e| e.to_string());
        }
        self.count.cubes += 1;
        // Player 0 comes first at the own turn, and player 1 where a double is offered.
        let own = usize::from((me == Player::One) != line.doubled);
        let away = (line.length > 0).then(|| [own, 1 - own].map(|one| needed(line.length, line.scores[one])));
        if !line.doubled {
            let cube = if line.may_double[1] { Cube::Centred } else { Cube::Own };
            let doubles = line.may_double[0] && self.bot.doubles(position, (cube, line.cube), away);
            self.count.doubles += u64::from(doubles);
            return Ok(if doubles { "double" } else { "roll" }.into());
        }
        // After a beaver this side is to roll, and the cube is the other's.
        let takes = match line.turn == me {
            true => self.bot.chances(position).is_none_or(Chances::takes_beaver),
            false => self.bot.takes(position.swapped(), line.cube, away),
        };
        Ok(if takes { "take" } else { "drop" }.into())
    }

    fn note(&mut self, what: &str, line: &str) -> Result<()> {
        match &mut self.log {
            Some(log) => log.write_all(format!("{what}: {line}\n").as_bytes()).context("the log"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bot::tests::bot;
    use super::*;
    use std::io::BufRead;

    /// Decisions of a player 0 and of a player 1 in gnubg 1.07.001, and which answers may be given.
    const MOVE: &str = "board:gnubg:root:0:0:0:0:0:0:0:-2:0:5:3:3:0:0:0:-4:3:-1:0:0:-3:1:-5:0:0:0:0:0:0:-1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
    const CUBE: &str = "board:gnubg:root:0:0:0:0:0:0:0:-2:0:5:3:3:0:0:0:-4:3:-1:0:0:-3:1:-5:0:0:0:0:0:0:-1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
    const OFFERED: &str = "board:root:gnubg:0:0:0:0:0:-1:0:-2:-1:5:3:3:0:0:0:-2:3:-1:0:0:-2:-1:-5:0:0:0:0:0:1:1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1";
    const NOTHING: &str = "board:gnubg:root:0:0:0:0:-3:0:0:0:0:0:14:0:0:0:0:0:0:0:0:0:0:0:-2:-2:-2:-2:-2:-2:1:1:6:5:6:5:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";

    /// What the server answers to these lines, each connection in turn.
    fn talk(connections: &[&[&str]]) -> (Vec<Vec<String>>, Count) {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = door.local_addr().unwrap();
        let cancel = Cancel::default();
        let count = Count::default();
        let mut server = Server { bot: bot(), log: None, cancel: &cancel, count };
        let answers = std::thread::scope(|scope| {
            let asking = scope.spawn(move || {
                let ask = |questions: &&[&str]| {
                    let mut lines = BufReader::new(TcpStream::connect(place).unwrap());
                    let ask = |question: &&str| {
                        lines.get_mut().write_all(format!("{question}\n\0").as_bytes()).unwrap();
                        let mut answer = String::new();
                        lines.read_line(&mut answer).unwrap();
                        answer
                    };
                    questions.iter().map(ask).collect()
                };
                connections.iter().map(ask).collect()
            });
            server.serve(&door, Some(connections.len() as u64)).unwrap();
            asking.join().unwrap()
        });
        (answers, server.count)
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
        // A line that is cut in half, and an empty one.
        assert_eq!(first[3], "Error (28 fields instead of 53)\n");
        assert_eq!(first[4], "Error (the line does not begin with `board:`)\n");
        // Nothing can move.
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
