//! A player of general games: game managers send rules and moves over HTTP, and get moves (Love et al., "General Game Playing: Game
//! Description Language Specification", 2008, section 5).
//!
//! Every connection has a thread, and so has every match. An answer comes when its clock ends at the latest: where the agent is late,
//! a legal move at random.

mod chooser;
mod http;
mod learn;
mod message;
mod play;

use adept_console::output::say;
use adept_trainer::run::Cancel;
use anyhow::{Context, Result};
use chooser::Stop;
use message::{Message, shown};
use play::Match;
pub(in crate::serve) use play::Terms;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

/// Most matches at a time, and most connections.
const MATCHES: usize = 8;
const CONNECTIONS: usize = 64;
/// Faults in a row after which nobody can connect any more.
const FAULTS: usize = 100;

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
    matches: Mutex<HashMap<String, Playing>>,
    /// What the threads of each match hold. A match that is over counts until they have ended.
    alive: Mutex<Vec<Weak<()>>>,
    count: Mutex<Count>,
    connections: AtomicUsize,
    log: Option<Mutex<File>>,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A match, and what ends the work for it while it is locked.
#[derive(Clone)]
struct Playing {
    one: Arc<Mutex<Match>>,
    stop: Stop,
}

/// A connection that is counted while it is open.
struct Connection(Arc<Server>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    pub(super) fn new(terms: Terms, log: Option<File>) -> Arc<Self> {
        Arc::new(Self {
            terms,
            matches: Mutex::default(),
            alive: Mutex::default(),
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
        let mut faults = 0;
        while !cancel.requested() && !self.is_done(most) {
            match door.accept() {
                Ok((socket, _)) => {
                    let open = self.connections.fetch_add(1, Ordering::Relaxed);
                    faults = 0;
                    let connection = Connection(self.clone());
                    let work = move || match open < CONNECTIONS {
                        true => http::converse(socket, |body, came| connection.0.answer(body, came)),
                        false => http::refuse(socket),
                    };
                    // Without a thread the connection closes, and the manager plays for us.
                    let _ = std::thread::Builder::new().spawn(work);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                // One connection may have broken, or files may be short for a while.
                Err(_) if faults < FAULTS => {
                    faults += 1;
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(error) => return Err(error).context("nobody can connect any more"),
            }
        }
        Ok(*locked(&self.count))
    }

    fn is_done(&self, most: Option<u64>) -> bool {
        most.is_some_and(|most| locked(&self.count).matches >= most)
            && self.playing() == 0
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
                let status = if self.has_room(&mut locked(&self.alive)) { "available" } else { "busy" };
                Ok(format!("( ( name adept ) ( status {status} ) )"))
            }
            Message::Preview => Ok("ready".into()),
            Message::Start { id, role, rules, start, play } => {
                let clocks = (Duration::from_secs(start), Duration::from_secs(play));
                let Some((begun, number)) = self.begin(id, role, rules, clocks) else {
                    return Ok("busy".into());
                };
                let until = came + clocks.0.saturating_sub(self.terms.margin);
                match locked(&begun).wait(until) {
                    Ok(true) => say(format!("match {number}: {} as {}", shown(id), shown(role))),
                    Ok(false) => {
                        say(format!("match {number}: {}: the rules are still being read", shown(id)))
                    }
                    Err(why) => {
                        let mut matches = locked(&self.matches);
                        if matches.get(id).is_some_and(|known| Arc::ptr_eq(&known.one, &begun)) {
                            matches.remove(id);
                        }
                        return Err(format!("match {}: {why}", shown(id)));
                    }
                }
                locked(&begun).wait_to_learn(until);
                Ok("ready".into())
            }
            Message::Play { id, moves } => {
                let found = self.find(id)?;
                let mut found = locked(&found);
                found.seen = Instant::now();
                let before = (found.decisions, found.late);
                let answer = found.answer(&moves, came).map_err(|why| format!("match {}: {why}", shown(id)));
                let mut count = locked(&self.count);
                count.decisions += found.decisions - before.0;
                count.late += found.late - before.1;
                answer
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

    /// Number of matches that are played. Those of which nothing has been heard for long are given up.
    fn playing(&self) -> usize {
        let mut matches = locked(&self.matches);
        matches.retain(|id, playing| match playing.one.try_lock() {
            Ok(one) => {
                let goes_on = one.seen.elapsed() < one.silence;
                if !goes_on {
                    say(format!("{}: given up, the manager is silent", shown(id)));
                }
                goes_on
            }
            // It is being played now.
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Poisoned(_)) => false,
        });
        matches.len()
    }

    /// Whether one more match may begin, beside those whose threads these are.
    fn has_room(&self, alive: &mut Vec<Weak<()>>) -> bool {
        alive.retain(|alive| alive.strong_count() > 0);
        self.playing().max(alive.len()) < MATCHES
    }

    /// Begins a match, if there is room and none of this name.
    fn begin(
        &self,
        id: &str,
        role: &str,
        rules: &str,
        clocks: (Duration, Duration),
    ) -> Option<(Arc<Mutex<Match>>, u64)> {
        let mut alive = locked(&self.alive);
        if !self.has_room(&mut alive) {
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
        let threads = Arc::new(());
        alive.push(Arc::downgrade(&threads));
        let begun = Match::begin(number, role, rules, clocks, &self.terms, threads);
        let stop = begun.stop();
        let begun = Arc::new(Mutex::new(begun));
        matches.insert(id.into(), Playing { one: begun.clone(), stop });
        Some((begun, number))
    }

    fn find(&self, id: &str) -> Result<Arc<Mutex<Match>>, String> {
        let found = locked(&self.matches).get(id).map(|playing| playing.one.clone());
        found.ok_or_else(|| format!("no match `{}` is being played here", shown(id)))
    }

    /// Ends a match, by these moves if it was not broken off.
    fn forget(&self, id: &str, moves: Option<&[&str]>) {
        let Some(Playing { one: found, stop }) = locked(&self.matches).remove(id) else { return };
        stop.end();
        // An answer may still be on its way; nobody waits for it.
        let Ok(mut found) = found.try_lock() else {
            return say(format!("{}: ended before an answer", shown(id)));
        };
        let end = match moves {
            Some(moves) => found.end(moves).map_or("over".into(), |goal| format!("goal {goal}")),
            None => "broken off".into(),
        };
        let (decisions, late) = (found.decisions, found.late);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules that take a hundred million combinations to refuse, and little memory.
    fn rules() -> String {
        let numbers: String = (1..100).map(|n| format!("(succ {n} {})", n + 1)).collect();
        format!(
            "(role x)(legal x a)(legal x b)(goal x 0)(odd 0 0 0 0 0 0){numbers}
            (<= (less ?a ?b) (succ ?a ?b))(<= (less ?a ?c) (less ?a ?b) (succ ?b ?c))
            (<= terminal (less ?a ?b) (less ?b ?c) (less ?c ?d) (less ?d ?e) (less ?e ?f) (less ?f ?a) (not (odd ?a ?b ?c ?d ?e ?f)))"
        )
    }

    fn server() -> Arc<Server> {
        let terms = Terms { agent: None, learn: false, margin: Duration::from_millis(100), seed: 1 };
        Server::new(terms, None)
    }

    fn ask(server: &Server, text: &str) -> String {
        server.answer(text, Instant::now()).unwrap_or_else(|why| why)
    }

    /// Waits until something holds, which it does after a moment.
    fn wait_until(holds: impl Fn() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it never holds");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Matches that were broken off count until nothing more is done for them, which is soon: reading stops.
    #[test]
    fn a_match_counts_until_its_threads_have_ended() {
        let server = server();
        let begins = |name: &str| format!("( START {name} x ({}) 3000 3000 )", rules());
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..MATCHES)
                .map(|n| {
                    scope.spawn({
                        let server = &server;
                        let text = begins(&format!("m{n}"));
                        move || ask(server, &text)
                    })
                })
                .collect();
            wait_until(|| server.playing() == MATCHES);
            assert_eq!(ask(&server, &begins("ninth")), "busy");
            let threads: Vec<Weak<()>> = locked(&server.alive).clone();
            for n in 0..MATCHES {
                assert_eq!(ask(&server, &format!("( ABORT m{n} )")), "aborted");
            }
            // None of them is played, and yet there is only as much room as threads have ended.
            assert_eq!(server.playing(), 0);
            for answer in waiting {
                assert!(answer.join().unwrap().contains("stopped before the rules had been read"));
            }
            wait_until(|| threads.iter().all(|alive| alive.strong_count() == 0));
            assert_eq!(ask(&server, "( INFO )"), "( ( name adept ) ( status available ) )");
        });
    }

    /// A thread that still works for a match which is over takes a place.
    #[test]
    fn threads_that_still_work_leave_no_room() {
        let server = server();
        let threads: Vec<Arc<()>> = (0..MATCHES).map(|_| Arc::new(())).collect();
        locked(&server.alive).extend(threads.iter().map(Arc::downgrade));
        assert_eq!(ask(&server, "( INFO )"), "( ( name adept ) ( status busy ) )");
        assert_eq!(ask(&server, "( START m x ((role x)) 10 10 )"), "busy");
        drop(threads);
        assert_eq!(ask(&server, "( INFO )"), "( ( name adept ) ( status available ) )");
        let why = ask(&server, "( START m random ((role random) (role x)) 10 10 )");
        assert!(why.contains("the role `random` is chance in GDL-II"), "{why}");
    }
}
