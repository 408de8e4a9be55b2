//! A player of general games: game managers send rules and moves over HTTP, and get moves (Love et al., "General Game Playing: Game
//! Description Language Specification", 2008, section 5).
//!
//! Every connection has a thread, and so has every match. An answer comes when its clock ends at the latest: where the agent is late,
//! a legal move at random.

mod http;
mod learn;
mod message;
mod play;

use adept_console::output::say;
use adept_trainer::run::Cancel;
use anyhow::{Context, Result};
use message::{Message, shown};
use play::Match;
pub(in crate::serve) use play::Terms;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most matches at a time, and most connections.
const MATCHES: usize = 8;
const CONNECTIONS: usize = 64;

/// What was answered.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Count {
    /// Matches that were begun.
    pub(super) matches: u64,
    /// Decisions between several moves.
    pub(super) decisions: u64,
    /// Decisions for which the agent took too long.
    pub(super) late: u64,
    /// Messages that could not be answered.
    pub(super) errors: u64,
}

/// Serves game managers.
pub(super) struct Server {
    terms: Terms,
    matches: Mutex<HashMap<String, Arc<Mutex<Match>>>>,
    count: Mutex<Count>,
    connections: AtomicUsize,
    log: Option<Mutex<File>>,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    pub(super) fn new(terms: Terms, log: Option<File>) -> Arc<Self> {
        Arc::new(Self {
            terms,
            matches: Mutex::default(),
            count: Mutex::default(),
            connections: AtomicUsize::new(0),
            log: log.map(Mutex::new),
        })
    }

    /// Serves until Ctrl-C, or until so many matches have ended.
    ///
    /// # Errors
    /// If nobody can connect any more.
    pub(super) fn serve(
        self: &Arc<Self>,
        door: &TcpListener,
        most: Option<u64>,
        cancel: &Cancel,
    ) -> Result<Count> {
        door.set_nonblocking(true)?;
        while !cancel.requested() && !self.is_done(most) {
            match door.accept() {
                Ok((socket, _)) => {
                    let open = self.connections.fetch_add(1, Ordering::Relaxed);
                    let server = self.clone();
                    let work = move || {
                        match open < CONNECTIONS {
                            true => http::converse(socket, |body, came| server.answer(body, came)),
                            false => http::refuse(socket),
                        }
                        server.connections.fetch_sub(1, Ordering::Relaxed);
                    };
                    if std::thread::Builder::new().spawn(work).is_err() {
                        self.connections.fetch_sub(1, Ordering::Relaxed);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(5))
                }
                Err(error) => return Err(error).context("nobody can connect any more"),
            }
        }
        Ok(*locked(&self.count))
    }

    fn is_done(&self, most: Option<u64>) -> bool {
        most.is_some_and(|most| locked(&self.count).matches >= most)
            && locked(&self.matches).is_empty()
            && self.connections.load(Ordering::Relaxed) == 0
    }

    /// The answer to a message that came at this time.
    fn answer(&self, body: &str, came: Instant) -> Result<String, String> {
        self.note("from", body);
        let answer = Message::read(body).and_then(|message| self.act(message, came));
        if let Err(why) = &answer {
            locked(&self.count).errors += 1;
            say(format!("no answer: {why}"));
        }
        let (Ok(text) | Err(text)) = &answer;
        self.note("to", text);
        answer
    }

    fn act(&self, message: Message<'_>, came: Instant) -> Result<String, String> {
        match message {
            Message::Info => {
                let status = if self.has_room() { "available" } else { "busy" };
                Ok(format!("( ( name adept ) ( status {status} ) )"))
            }
            Message::Preview => Ok("ready".into()),
            Message::Start { id, role, rules, start, play } => {
                let clocks = (Duration::from_secs(start), Duration::from_secs(play));
                let Some((begun, number)) = self.begin(id, role, rules, clocks) else {
                    return Ok("busy".into());
                };
                let until = came + clocks.0.saturating_sub(self.terms.margin);
                let seen = locked(&begun).wait(until);
                match seen {
                    Ok(true) => say(format!("match {number}: {id} as {role}")),
                    Ok(false) => {
                        say(format!("match {number}: {id} as {role}; the rules are still being read"))
                    }
                    Err(why) => {
                        locked(&self.matches).remove(id);
                        return Err(format!("match {}: {why}", shown(id)));
                    }
                }
                Ok("ready".into())
            }
            Message::Play { id, moves } => {
                let found = self.find(id)?;
                let mut found = locked(&found);
                found.seen = Instant::now();
                found.answer(&moves, came).map_err(|why| format!("match {}: {why}", shown(id)))
            }
            Message::Stop { id, moves } => {
                self.find(id)?;
                self.forget(id, Some(&moves));
                Ok("done".into())
            }
            Message::Abort { id } => {
                self.find(id)?;
                self.forget(id, None);
                Ok("aborted".into())
            }
        }
    }

    fn has_room(&self) -> bool {
        let mut matches = locked(&self.matches);
        // A match that is being played now is locked.
        matches.retain(|_, one| {
            one.try_lock().is_ok_and(|one| one.seen.elapsed() < one.silence) || one.try_lock().is_err()
        });
        matches.len() < MATCHES
    }

    /// Begins a match, if there is room and none of this name.
    fn begin(
        &self,
        id: &str,
        role: &str,
        rules: &str,
        clocks: (Duration, Duration),
    ) -> Option<(Arc<Mutex<Match>>, u64)> {
        if !self.has_room() {
            return None;
        }
        let mut matches = locked(&self.matches);
        if matches.contains_key(id) {
            return None;
        }
        let number = {
            let mut count = locked(&self.count);
            count.matches += 1;
            count.matches
        };
        let begun = Arc::new(Mutex::new(Match::begin(number, role, rules, clocks, &self.terms)));
        matches.insert(id.into(), begun.clone());
        Some((begun, number))
    }

    fn find(&self, id: &str) -> Result<Arc<Mutex<Match>>, String> {
        let found = locked(&self.matches).get(id).cloned();
        found.ok_or_else(|| format!("no match `{}` is being played here", shown(id)))
    }

    /// Ends a match, by these moves if it was not broken off.
    fn forget(&self, id: &str, moves: Option<&[&str]>) {
        let Some(found) = locked(&self.matches).remove(id) else { return };
        // An answer may still be on its way.
        let Ok(mut found) = found.try_lock() else { return };
        let end = match moves {
            Some(moves) => found.end(moves).map_or("over".into(), |goal| format!("goal {goal}")),
            None => "broken off".into(),
        };
        let (decisions, late) = (found.decisions, found.late);
        {
            let mut count = locked(&self.count);
            count.decisions += decisions;
            count.late += late;
        }
        let role = shown(&found.role);
        say(format!("{} as {role}: {end}; {decisions} decisions, {late} of them late", shown(id)));
    }

    fn note(&self, what: &str, text: &str) {
        if let Some(log) = &self.log {
            // The match goes on without a log.
            let _ =
                locked(log).write_all(format!("{what}: {}\n", text.replace(['\n', '\r'], " ")).as_bytes());
        }
    }
}
