//! A player at a dealer of the Annual Computer Poker Competition, protocol 2.0.0.
//!
//! The dealer sends the state of the hand as this player sees it after every move. When it is this player's turn, the answer
//! is the same line with the move appended.

use adept_arena::matches::Tally;
use adept_arena::{Agent, Scratch};
use adept_builtin::holdem::{Action, Holdem, State};
use adept_game::{Game, Turn, stream};
use adept_model::files::Files;
use adept_model::limits;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

/// The first line of a player.
const VERSION: &str = "VERSION:2.0.0";
/// Time to reach the dealer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the dealer listens.
pub(super) struct Place<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
}

/// The dealer went away or sent something that cannot be.
#[derive(Debug, thiserror::Error)]
#[error("the dealer at {place}, {after}: {what}")]
pub(super) struct Lost {
    place: String,
    /// How far the match was.
    after: String,
    what: String,
}

/// What was won in the hands that were played to their end.
#[derive(Debug, Default, Serialize)]
pub(super) struct Match {
    /// Rule set.
    game: String,
    /// Hands.
    hands: u64,
    /// Chips won.
    chips: i64,
    /// The same per hand, in thousandths of a small bet.
    mbb: f64,
    /// Its 95 % interval; none with fewer than two hands.
    ci95: Option<[f64; 2]>,
    #[serde(skip)]
    tally: Tally,
}

impl Match {
    fn add(&mut self, game: &Holdem, won: i64) {
        let unit = game.unit();
        self.hands += 1;
        self.chips += won;
        self.tally.net.add(won as f64);
        self.mbb = self.tally.score(unit.as_ref());
        self.ci95 = (self.hands > 1).then(|| self.tally.ci95(unit.as_ref()));
    }

    /// As a line.
    pub(super) fn text(&self, agent: &str) -> String {
        let about =
            self.ci95.map_or(String::new(), |[low, high]| format!(" ± {:.0} (95 %)", (high - low) / 2.0));
        format!(
            "{agent} won {:+} chips in {} hands of {}: {:+.0}{about} mbb a hand",
            self.chips, self.hands, self.game, self.mbb
        )
    }
}

/// Plays until the dealer ends the connection. Returns what was won, and the fault that ended the match.
///
/// # Errors
/// If the dealer cannot be reached or the log cannot be written.
pub(super) fn play(
    game: &Holdem,
    agent: Box<dyn Agent<Holdem>>,
    place: &Place<'_>,
    hands: Option<u64>,
    seed: u64,
    log: Option<&Path>,
) -> Result<(Match, Result<()>)> {
    if let Some(path) = log {
        Files::default().try_file(path)?;
    }
    let dealer = connect(place)?;
    // Only now: the log of an earlier match stays if there is no dealer.
    let log = match log {
        Some(path) => Some(File::create(path).with_context(|| path.display().to_string())?),
        None => None,
    };
    let result = Match { game: game.name().into(), ..Match::default() };
    let mut player = Player { game, agent, dealer, log, seed, result, hand: None, last: None };
    let end = player.play(hands).map_err(|e| match e {
        Fault::Dealer(what) => {
            let after = match (player.hand, player.result.hands) {
                (Some(hand), _) => format!("in hand {hand}"),
                (None, 0) => "before the first hand".into(),
                (None, done) => format!("after {done} hands"),
            };
            Lost { place: format!("{}:{}", place.host, place.port), after, what }.into()
        }
        Fault::Log(error) => anyhow::Error::new(error).context("the log cannot be written"),
    });
    Ok((player.result, end))
}

fn connect(place: &Place<'_>) -> Result<TcpStream> {
    let Place { host, port } = place;
    let unreachable = |what: String| Lost {
        place: format!("{host}:{port}"),
        after: "when called".into(),
        what: format!("{what}; start it before its players, and give each the port that it prints"),
    };
    let addresses = (*host, *port).to_socket_addrs().map_err(|e| unreachable(e.to_string()))?;
    let mut last = "no such host".to_string();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(dealer) => {
                // Lines are short and each waits for the one before.
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
}

struct Player<'a> {
    game: &'a Holdem,
    agent: Box<dyn Agent<Holdem>>,
    dealer: TcpStream,
    log: Option<File>,
    seed: u64,
    result: Match,
    /// The hand that is being played, by the dealer's number.
    hand: Option<u64>,
    /// The last hand that is over.
    last: Option<u64>,
}

impl Player<'_> {
    fn play(&mut self, hands: Option<u64>) -> Result<(), Fault> {
        let broken = |e: std::io::Error| Fault::Dealer(format!("the connection broke: {e}"));
        let mut lines = BufReader::new(self.dealer.try_clone().map_err(broken)?);
        self.send(VERSION)?;
        let mut scratch = Scratch::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let limit = limits::LINE_BYTES as u64 + 1;
            match lines.by_ref().take(limit).read_until(b'\n', &mut line) {
                Ok(_) => {}
                // The dealer may end without reading our last line.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => line.clear(),
                Err(error) => return Err(broken(error)),
            }
            if line.is_empty() {
                return self.gone(hands);
            }
            if line.last() != Some(&b'\n') {
                return Err(Fault::Dealer(match line.len() > limits::LINE_BYTES {
                    true => format!("it sends a line of more than {} bytes", limits::LINE_BYTES),
                    false => "it went away within a line".into(),
                }));
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            self.note("from", text)?;
            if text.is_empty() || text.starts_with(['#', ';']) {
                continue;
            }
            let answer = self
                .answer(text, &mut scratch)
                .map_err(|what| Fault::Dealer(format!("its line `{text}` is wrong: {what}")))?;
            if let Some(letter) = answer {
                self.send(&format!("{text}:{letter}"))?;
            }
            if self.hand.is_none() && Some(self.result.hands) == hands {
                return Ok(());
            }
        }
    }

    /// Whether the dealer may end the connection now.
    fn gone(&self, hands: Option<u64>) -> Result<(), Fault> {
        let done = self.result.hands;
        match hands {
            _ if self.hand.is_some() => Err(Fault::Dealer("it went away".into())),
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

    /// The letter to answer a state with; `None` if nothing is to be said.
    fn answer(&mut self, line: &str, scratch: &mut Scratch<Holdem>) -> Result<Option<char>, String> {
        let expected = "expected MATCHSTATE:POSITION:HAND:BETTING:CARDS";
        let rest = line.strip_prefix("MATCHSTATE:").ok_or(expected)?;
        let mut parts = rest.splitn(3, ':');
        let mut next = || parts.next().ok_or(expected);
        let (seat, hand, position) = (next()?, next()?, next()?);
        let players = self.game.players();
        let seat: usize = seat.parse().ok().filter(|seat| *seat < players).ok_or_else(|| {
            format!("position `{seat}` is none of 0 to {}; is this the game of the dealer?", players - 1)
        })?;
        let hand: u64 = hand.parse().map_err(|_| format!("hand `{hand}`: expected a number"))?;
        let (state, _) = self.game.parse_position(position).map_err(|e| e.to_string())?;
        let turn = self.game.turn(&state);
        if turn == Turn::Over {
            self.hand = None;
            if self.last.replace(hand) == Some(hand) {
                return Ok(None);
            }
            self.result.add(self.game, self.game.payoffs(&state)[seat]);
            return Ok(None);
        }
        self.hand = Some(hand);
        if turn != Turn::Player(seat) {
            return Ok(None);
        }
        if state.hole(seat).is_none() {
            return Err(format!("it is the turn of position {seat}, whose cards are missing"));
        }
        Ok(Some(self.choose(&state, seat, hand, scratch)))
    }

    fn choose(&mut self, state: &State, seat: usize, hand: u64, scratch: &mut Scratch<Holdem>) -> char {
        // Draws depend on the seed, the hand and the place in it alone.
        let place = (hand << 8) | state.history().entries().count() as u64 & 0xff;
        let mut rng = stream(self.seed, "acpc choices", place);
        match self.agent.choose(self.game, state, seat, scratch, &mut rng) {
            Action::Fold => 'f',
            Action::Raise => 'r',
            Action::Call | Action::Deal(_) => 'c',
        }
    }
}
