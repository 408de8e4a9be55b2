//! A player for dealers of the Annual Computer Poker Competition, protocol 2.0.0.
//!
//! After every move, the dealer sends the state of the hand from this player's view. On this player's turn, the answer
//! is the same line with the move appended. Input from the dealer is not trusted: [`sequence`] checks the order of
//! states.

mod sequence;

use super::lines::{self, LOOK, SHOWN};
use adept_arena::matches::Tally;
use adept_arena::{Agent, Decision, Scratch};
use adept_builtin::holdem::Holdem;
use adept_game::{Game, Turn, stream};
use adept_ground::files::Files;
use adept_ground::shown::clipped;
use adept_trainer::run::Cancel;
use anyhow::{Context, Result};
use sequence::{SentState, Sequence, Update, letter};
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

/// The first line of a player.
const VERSION: &str = "VERSION:2.0.0";
/// Timeout for connecting to the dealer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Address of the dealer.
pub(super) struct Place<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
}

/// The dealer disconnected or sent something invalid.
#[derive(Debug, thiserror::Error)]
#[error("the dealer at {place}, {after}: {what}")]
pub(super) struct DealerError {
    place: String,
    /// Progress of the match.
    after: String,
    what: String,
}

/// Ctrl-C ended the match.
#[derive(Debug, thiserror::Error)]
#[error("stopped {after}")]
pub(super) struct Stopped {
    after: String,
}

/// Result of all finished hands.
#[derive(Debug, Default, Serialize)]
pub(super) struct Match {
    /// Rule set.
    game: String,
    /// Number of hands.
    hands: u64,
    /// Chips won.
    chips: i64,
    /// Winnings per hand, in thousandths of a small bet.
    mbb: f64,
    /// Its 95 % interval; none with fewer than two hands.
    ci95: Option<[f64; 2]>,
    #[serde(skip)]
    tally: Tally,
}

impl Match {
    fn add(&mut self, game: &Holdem, won: i64) {
        let unit = game.counting().unit();
        self.hands += 1;
        self.chips += won;
        self.tally.net.add(won as f64);
        self.mbb = self.tally.score(unit.as_ref());
        self.ci95 = (self.hands > 1).then(|| self.tally.uncertainty(unit.as_ref(), game.scale(), 0.5).ci95);
    }

    /// The result as one line.
    pub(super) fn text(&self, agent: &str) -> String {
        if self.hands == 0 {
            return format!("{agent} has played no hand of {} to its end", self.game);
        }
        let about =
            self.ci95.map_or(String::new(), |[low, high]| format!(" ± {:.0} (95 %)", (high - low) / 2.0));
        let hands = if self.hands == 1 { "hand" } else { "hands" };
        format!(
            "{agent} won {:+} chips in {} {hands} of {}: {:+.0}{about} mbb a hand",
            self.chips, self.hands, self.game, self.mbb
        )
    }
}

/// Options of a match.
pub(super) struct Terms<'a> {
    /// Number of hands of the match, if known.
    pub(super) hands: Option<u64>,
    /// Seed of the agent's draws.
    pub(super) seed: u64,
    /// Timeout for a new state; `None` for no timeout.
    pub(super) timeout: Option<Duration>,
    /// Log file for all lines.
    pub(super) log: Option<&'a Path>,
}

/// Plays until the dealer disconnects or `cancel` is requested. Returns the result, and the error that ended the match.
///
/// # Errors
/// If the dealer cannot be reached or the log cannot be written.
pub(super) fn play(
    game: &Holdem,
    agent: Box<dyn Agent<Holdem>>,
    place: &Place<'_>,
    terms: &Terms<'_>,
    cancel: &Cancel,
) -> Result<(Match, Result<()>)> {
    if let Some(path) = terms.log {
        Files::default().try_file(path)?;
    }
    let dealer = connect(place)?;
    // Created only now, so that the log of an earlier match survives a missing dealer.
    let log = match terms.log {
        Some(path) => Some(File::create(path).with_context(|| path.display().to_string())?),
        None => None,
    };
    let result = Match { game: game.name().into(), ..Match::default() };
    let sequence = Sequence::default();
    let mut player = Player { game, agent, dealer, log, terms, cancel, result, sequence };
    let end = player.play().map_err(|e| {
        let after = match (player.sequence.open(game), player.result.hands) {
            (Some(hand), _) => format!("in hand {hand}"),
            (None, 0) => "before the first hand".into(),
            (None, 1) => "after 1 hand".into(),
            (None, done) => format!("after {done} hands"),
        };
        match e {
            Fault::Dealer(what) => {
                DealerError { place: format!("{}:{}", place.host, place.port), after, what }.into()
            }
            Fault::Stopped => Stopped { after }.into(),
            Fault::Log(error) => anyhow::Error::new(error).context("the log cannot be written"),
        }
    });
    Ok((player.result, end))
}

fn connect(place: &Place<'_>) -> Result<TcpStream> {
    let Place { host, port } = place;
    let unreachable = |what: String| DealerError {
        place: format!("{host}:{port}"),
        after: "when called".into(),
        what: format!("{what}; start it before its players, and give each the port that it prints"),
    };
    let addresses = (*host, *port).to_socket_addrs().map_err(|e| unreachable(e.to_string()))?;
    let mut last = "no such host".to_string();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(dealer) => {
                // Each short line waits for the previous one, so disable Nagle's algorithm.
                dealer.set_nodelay(true).map_err(|e| unreachable(e.to_string()))?;
                return Ok(dealer);
            }
            Err(error) => last = error.to_string(),
        }
    }
    Err(unreachable(last).into())
}

enum Fault {
    Dealer(String),
    Log(std::io::Error),
    Stopped,
}

struct Player<'a> {
    game: &'a Holdem,
    agent: Box<dyn Agent<Holdem>>,
    dealer: TcpStream,
    log: Option<File>,
    terms: &'a Terms<'a>,
    cancel: &'a Cancel,
    result: Match,
    sequence: Sequence,
}

impl Player<'_> {
    fn play(&mut self) -> Result<(), Fault> {
        let mut lines = BufReader::new(self.dealer.try_clone().map_err(broken)?);
        lines.get_ref().set_read_timeout(Some(LOOK)).map_err(broken)?;
        self.dealer.set_write_timeout(self.terms.timeout).map_err(broken)?;
        self.send(VERSION)?;
        let mut scratch = Scratch::default();
        let mut line = Vec::new();
        let mut last_news = Instant::now();
        loop {
            let since = self.terms.timeout.map(|most| (last_news, most));
            lines::read(&mut lines, &mut line, since, self.cancel)?;
            if line.is_empty() {
                return self.gone();
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            self.note("from", text)?;
            if text.is_empty() || text.starts_with(['#', ';']) {
                continue;
            }
            let wrong = |what| Fault::Dealer(format!("its line `{}` is wrong: {what}", clipped(text, SHOWN)));
            let news = self.accept(text).map_err(wrong)?;
            if let Some(letter) = self.answer(&mut scratch).map_err(wrong)? {
                self.send(&format!("{text}:{letter}"))?;
            }
            // Comments and repeated states do not count as progress, so that a stalled hand times out.
            if news == Update::More {
                last_news = Instant::now();
            }
            if self.sequence.open(self.game).is_none() && Some(self.result.hands) == self.terms.hands {
                return Ok(());
            }
        }
    }

    /// Whether the dealer may disconnect now.
    fn gone(&self) -> Result<(), Fault> {
        let done = self.result.hands;
        match self.terms.hands {
            _ if self.sequence.open(self.game).is_some() => Err(Fault::Dealer("it went away".into())),
            Some(hands) if done < hands => {
                Err(Fault::Dealer(format!("it went away; {hands} were to be played")))
            }
            None if done == 0 => Err(Fault::Dealer("it went away".into())),
            _ => Ok(()),
        }
    }

    fn send(&mut self, line: &str) -> Result<(), Fault> {
        self.note("to", line)?;
        let sent = self.dealer.write_all(format!("{line}\r\n").as_bytes());
        sent.map_err(|e| Fault::Dealer(format!("it takes no more lines: {e}")))
    }

    fn note(&mut self, direction: &str, line: &str) -> Result<(), Fault> {
        match &mut self.log {
            Some(log) => log.write_all(format!("{direction}: {line}\n").as_bytes()).map_err(Fault::Log),
            None => Ok(()),
        }
    }

    /// Accepts a state, and adds the winnings at the end of a hand.
    fn accept(&mut self, line: &str) -> Result<Update, String> {
        let expected = "expected MATCHSTATE:POSITION:HAND:BETTING:CARDS";
        let rest = line.strip_prefix("MATCHSTATE:").ok_or(expected)?;
        let mut parts = rest.splitn(3, ':');
        let mut next = || parts.next().ok_or(expected);
        let (seat, hand, position) = (next()?, next()?, next()?);
        let players = self.game.players();
        let seat: usize = seat.parse().ok().filter(|seat| *seat < players).ok_or_else(|| {
            format!(
                "position `{seat}` is not a number from 0 to {}; is this the game of the dealer?",
                players - 1
            )
        })?;
        let hand: u64 = hand.parse().map_err(|_| format!("hand `{hand}`: expected a number"))?;
        let (state, _) = self.game.parse_position(position).map_err(|e| e.to_string())?;
        let won = (self.game.turn(&state) == Turn::Over).then(|| self.game.payoffs(&state)[seat]);
        let news = self.sequence.next(self.game, SentState { hand, seat, state })?;
        if let (Some(won), Update::More) = (won, news) {
            self.result.add(self.game, won);
        }
        Ok(news)
    }

    /// The letter that answers the latest state; `None` if no answer is due.
    fn answer(&mut self, scratch: &mut Scratch<Holdem>) -> Result<Option<char>, String> {
        let Some(SentState { hand, seat, state }) = self.sequence.latest() else { return Ok(None) };
        if self.game.turn(state) != Turn::Player(*seat) {
            return Ok(None);
        }
        if state.hole(*seat).is_none() {
            return Err(format!("it is the turn of position {seat}, whose cards are missing"));
        }
        // Draws depend only on the seed, the hand and the place in it, so that a repeated state gets the same answer.
        let place = (hand << 8) | state.history().entries().count() as u64 & 0xff;
        let mut rng = stream(self.terms.seed, "acpc choices", place);
        // An interrupt waits for the move.
        let _saving = self.cancel.saving();
        let action = self.agent.choose(Decision::new(self.game, state, *seat), scratch, &mut rng);
        let action = action.map_err(|e| e.to_string())?;
        self.sequence.answered(action);
        Ok(Some(letter(action)))
    }
}

fn broken(error: std::io::Error) -> Fault {
    lines::broken(error).into()
}

impl From<lines::ReadError> for Fault {
    fn from(lost: lines::ReadError) -> Self {
        match lost {
            lines::ReadError::Stopped => Self::Stopped,
            lines::ReadError::Silent(most) => Self::Dealer(format!(
                "it sent nothing new for {} s; --timeout says how long to wait, 0 for ever",
                most.as_secs()
            )),
            lines::ReadError::Broken(what) => Self::Dealer(what),
        }
    }
}
