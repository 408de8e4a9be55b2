//! GNU Backgammon as an external player, reached after its command `external HOST:PORT`.

use super::{Action, Backgammon, Stage, State, fibs, notation};
use adept_game::{GameError, Peer};
use adept_ground::limits;
use adept_ground::shown::clipped;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// Timeout for connecting to gnubg.
const PATIENCE: Duration = Duration::from_secs(10);
/// Timeout for an answer about a move.
const WAIT: Duration = Duration::from_secs(300);
/// Pause before reconnecting: gnubg does not listen for a moment between two connections.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSES: u32 = 10;
/// Largest number of characters of an answer that an error shows.
const SHOWN: usize = 200;

/// A shared connection, if open.
type Line = Arc<Mutex<Option<BufReader<TcpStream>>>>;

/// Open connections by address. gnubg serves one at a time, so all agents of this process share it.
static LINES: Mutex<Vec<(String, Line)>> = Mutex::new(Vec::new());

/// A connection to a running GNU Backgammon.
#[derive(Debug)]
pub(super) struct Gnubg {
    place: String,
    line: Line,
    wait: Duration,
}

impl Gnubg {
    /// Connects to the instance that listens at `HOST:PORT`.
    ///
    /// # Errors
    /// If nothing listens there.
    pub(super) fn open(place: &str) -> Result<Self, GameError> {
        if place.is_empty() {
            return Err(GameError::new("write gnubg:HOST:PORT, such as gnubg:127.0.0.1:4321"));
        }
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        let line = match lines.iter().find(|(known, _)| known == place) {
            Some((_, line)) => line.clone(),
            None => {
                let line = Line::default();
                lines.push((place.into(), line.clone()));
                line
            }
        };
        drop(lines);
        let mut gnubg = Self { place: place.into(), line, wait: WAIT };
        gnubg.talk(|_| Ok(()))?;
        Ok(gnubg)
    }

    /// Runs an exchange on the connection, which is opened if necessary and dropped after an error: a late answer would
    /// be mistaken for the answer to the next question.
    fn talk<T>(
        &mut self,
        say: impl FnOnce(&mut BufReader<TcpStream>) -> io::Result<T>,
    ) -> Result<T, GameError> {
        let fault = |what: String| GameError::Peer(format!("gnubg at {}: {what}", self.place));
        let mut held = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = match held.take() {
            Some(line) => line,
            None => BufReader::new(connect(&self.place).map_err(|e| {
                fault(format!("{e}; start it with the command `external {}`, one for each user", self.place))
            })?),
        };
        let said = line.get_ref().set_read_timeout(Some(self.wait)).and_then(|()| say(&mut line));
        let said = said.map_err(|e| match e.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                fault(format!("no answer within {} s", self.wait.as_secs_f64()))
            }
            _ => fault(e.to_string()),
        })?;
        *held = Some(line);
        Ok(said)
    }
}

/// Connects, and retries while gnubg is between two connections.
fn connect(place: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "no such host");
    for pause in 0..PAUSES {
        if pause > 0 {
            sleep(PAUSE);
        }
        for address in place.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(line) => {
                    // Each short line waits for the previous one, so disable Nagle's algorithm.
                    line.set_nodelay(true)?;
                    return Ok(line);
                }
                Err(error) => last = error,
            }
        }
        if last.kind() != ErrorKind::ConnectionRefused {
            break;
        }
    }
    Err(last)
}

impl Peer<Backgammon> for Gnubg {
    fn ask(&mut self, _: &Backgammon, state: &State, _: usize) -> Result<Action, GameError> {
        let Stage::Move(roll) = state.stage else {
            return Err(GameError::new("gnubg is asked for moves, and no roll is to be played"));
        };
        let position = state.position();
        let question = fibs::question(position, roll);
        let answer = self.talk(|line| {
            line.get_mut().write_all(format!("{question}\n").as_bytes())?;
            let mut answer = Vec::new();
            line.take(limits::LINE_BYTES as u64).read_until(b'\n', &mut answer)?;
            match answer.pop() {
                Some(b'\n') => Ok(String::from_utf8_lossy(&answer).trim().to_string()),
                Some(_) => Err(io::Error::other("it breaks off within a line, or the line has no end")),
                None => Err(io::Error::other("it went away")),
            }
        })?;
        notation::parse(position, roll, &answer, "8/5 6/5").map(Action::Move).map_err(|why| {
            let (place, answer) = (&self.place, clipped(&answer, SHOWN));
            GameError::Peer(format!("gnubg at {place} answers `{answer}` to {position} {roll}: {why}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::Game;
    use std::net::TcpListener;
    use std::thread::{JoinHandle, spawn};

    const START: &str = "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31";

    /// Positions, the fields of their lines, and gnubg 1.07.001's 0-ply answers as lines and as moves.
    const RECORDED: [(&str, &str, &str, &str); 6] = [
        (
            START,
            "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0",
            "8/5 6/5 \n",
            "8/5 6/5",
        ),
        (
            "bar:1 24:1 13:5 8:3 6:5/bar:1 24:1 13:5 8:3 6:5 42",
            "-1:-1:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:1:1:1:4:2:4:2:1:1:1:0:1:-1:0:25:0:0:1:1",
            "25/21 13/11 \n",
            "bar/21 13/11",
        ),
        (
            "24:2 13:5 8:3 6:5/21:1 20:1 13:5 6:4 5:4 42",
            "0:0:0:0:-1:-1:5:0:3:0:0:0:-5:5:0:0:0:0:0:-4:-4:0:0:0:2:0:1:4:2:4:2:1:1:1:0:1:-1:0:25:0:0:0:0",
            "8/4* 6/4 \n",
            "8/4 6/4*",
        ),
        (
            "13:3 9:2 8:3 6:3 4:4/bar:2 20:2 13:3 8:3 6:5 33",
            "-2:0:0:0:4:-2:3:0:3:2:0:0:-3:3:0:0:0:-3:0:-5:0:0:0:0:0:0:1:3:3:3:3:1:1:1:0:1:-1:0:25:0:0:0:2",
            "13/10 10/7 4/1 4/1\n",
            "13/7 4/1(2)",
        ),
        (
            "6:3 5:3 4:3 3:2 off:4/3:4 2:2 off:9 66",
            "0:0:0:2:3:3:3:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-4:-2:0:0:1:6:6:6:6:1:1:1:0:1:-1:0:25:4:9:0:0",
            "6/0 6/0 6/0 5/0\n",
            "6/off(3) 5/off",
        ),
        (
            "13:1 2:1 off:13/24:1 1:2 off:12 61",
            "0:-1:1:0:0:0:0:0:0:0:0:0:0:1:0:0:0:0:0:0:0:0:0:0:-2:0:1:6:1:6:1:1:1:1:0:1:-1:0:25:13:12:0:0",
            "13/7 2/1* \n",
            "13/7 2/1*",
        ),
    ];

    /// Starts a server that reads one line from each connection, sends its answer and closes the connection. Returns
    /// the lines.
    fn server(answers: &[&'static str]) -> (String, JoinHandle<Vec<String>>) {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = door.local_addr().unwrap().to_string();
        let answers = answers.to_vec();
        let serve = move |answer: &&str| {
            let (mut line, mut question) = (BufReader::new(door.accept().unwrap().0), String::new());
            line.read_line(&mut question).unwrap();
            line.get_mut().write_all(answer.as_bytes()).unwrap();
            question
        };
        (place, spawn(move || answers.iter().map(serve).collect()))
    }

    fn ask(gnubg: &mut Gnubg, position: &str) -> Result<String, String> {
        let game = Backgammon::default();
        let state = game.parse_position(position).unwrap().0;
        let answer = gnubg.ask(&game, &state, 0).map_err(|e| e.to_string())?;
        Ok(game.action_text(&state, &answer))
    }

    #[test]
    fn answers_are_moves() {
        let (place, server) = server(&RECORDED.map(|(_, _, answer, _)| answer));
        let mut gnubg = Gnubg::open(&place).unwrap();
        for (position, _, _, action) in RECORDED {
            assert_eq!(ask(&mut gnubg, position).unwrap(), action);
            // The server closes each connection.
            *gnubg.line.lock().unwrap() = None;
        }
        for (asked, (position, fields, ..)) in server.join().unwrap().iter().zip(RECORDED) {
            assert_eq!(*asked, format!("board:adept:gnubg:0:0:0:{fields}:0:0:0:0\n"), "{position}");
        }
    }

    #[test]
    fn what_is_no_answer_is_an_error_and_the_next_question_goes_out_on_a_new_connection() {
        let (place, server) = server(&["", "8/5 6/", "Error: no\n", "\n", "8/4 6/5\n", "8/5 6/5 \n"]);
        let mut gnubg = Gnubg::open(&place).unwrap();
        for expected in [
            "it went away",
            "it breaks off within a line",
            "answers `Error: no` to 24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31: `Error:` is not a checker move",
            "answers `` to 24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31: the move is empty",
            "answers `8/4 6/5`",
        ] {
            let error = ask(&mut gnubg, START).unwrap_err();
            assert!(error.contains(&place) && error.contains(expected), "{error}");
            // The server closes each connection.
            *gnubg.line.lock().unwrap() = None;
        }
        assert_eq!(ask(&mut gnubg, START).unwrap(), "8/5 6/5");
        assert_eq!(server.join().unwrap().len(), 6);
    }

    #[test]
    fn one_that_is_silent_or_missing_is_named() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = door.local_addr().unwrap().to_string();
        let mut gnubg = Gnubg::open(&place).unwrap();
        gnubg.wait = Duration::from_millis(1);
        let error = ask(&mut gnubg, START).unwrap_err();
        assert_eq!(error, format!("gnubg at {place}: no answer within 0.001 s"));
        drop(door);
        let error = Gnubg::open(&place).unwrap_err().to_string();
        assert!(error.contains(&format!("start it with the command `external {place}`")), "{error}");
        assert!(Gnubg::open("").unwrap_err().to_string().contains("write gnubg:HOST:PORT"));
    }
}
