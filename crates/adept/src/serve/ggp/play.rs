//! A single match, and its thinking thread.

use super::chooser::{Chooser, Stop};
use super::learn;
use super::message::shown;
use adept_arena::Decision;
use adept_builtin::gdl::{Described, Steps};
use adept_console::output::say;
use adept_game::{Game, Stream, stream};
use adept_ground::limits;
use rand::RngExt;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Options of matches.
#[derive(Clone, Debug)]
pub(in crate::serve) struct Terms {
    /// The agent; none for tree search with the clock, or a network that knows these rules.
    pub(in crate::serve) agent: Option<String>,
    /// Whether a network learns during the start clock.
    pub(in crate::serve) learn: bool,
    /// Time reserved from each clock for communication.
    pub(in crate::serve) margin: Duration,
    pub(in crate::serve) seed: u64,
}

/// A decision request.
struct Job {
    number: u64,
    state: <Described as Game>::State,
    until: Instant,
}

/// A match whose rules have been read.
struct Ready {
    steps: Steps,
    role: usize,
    jobs: Sender<Job>,
    found: Receiver<(u64, u32)>,
}

/// A match.
pub(super) struct Match {
    /// The role that this player has.
    pub(super) role: String,
    play: Duration,
    terms: Terms,
    /// Words of the rules that contain capitals, by their lowercase form.
    spelling: HashMap<String, String>,
    coming: Receiver<Result<Ready, String>>,
    /// Signals the end of learning.
    learned: Receiver<()>,
    stop: Stop,
    ready: Option<Ready>,
    /// Joint moves that arrived before the rules had been read.
    behind: Vec<Vec<String>>,
    /// The last joint move.
    told: Option<Vec<String>>,
    /// Why the match cannot be played.
    fault: Option<String>,
    /// Time of the last message, and the silence after it that means the match is abandoned.
    pub(super) seen: Instant,
    pub(super) silence: Duration,
    rng: Stream,
    pub(super) decisions: u64,
    pub(super) late: u64,
}

/// Silence beyond its clocks after which a match counts as abandoned.
const GIVEN_UP: Duration = Duration::from_secs(60);

impl Match {
    /// Starts reading the rules, and learning if there is time. `alive` is held while any work is done for this match.
    pub(super) fn begin(
        number: u64,
        role: &str,
        rules: &str,
        clocks: (Duration, Duration),
        terms: &Terms,
        alive: Arc<()>,
    ) -> Self {
        let begun = Instant::now();
        let (found, coming) = channel();
        let (learns, learned) = channel();
        let stop = Stop::default();
        let mind = ThinkingThread {
            rules: rules.into(),
            role: role.into(),
            terms: terms.clone(),
            until: begun + clocks.0.saturating_sub(terms.margin),
            stop: stop.clone(),
            learns,
            alive,
        };
        // Reading deeply nested rules needs stack space.
        let thread = std::thread::Builder::new().name("match".into()).stack_size(16 << 20);
        let thread = thread.spawn(move || mind.run(number, &found));
        Self {
            role: role.into(),
            play: clocks.1,
            terms: terms.clone(),
            spelling: spelling(rules),
            coming,
            learned,
            stop,
            ready: None,
            behind: Vec::new(),
            told: None,
            fault: thread.err().map(|error| format!("no thread to think: {error}")),
            seen: begun,
            silence: clocks.0 + clocks.1 + GIVEN_UP,
            rng: stream(terms.seed, "late moves", number),
            decisions: 0,
            late: 0,
        }
    }

    /// Handle that stops the work for this match.
    pub(super) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Waits for the end of learning, at most until a deadline, which ends it.
    pub(super) fn wait_to_learn(&mut self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        if self.learned.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            self.stop.learning.cancel();
        }
    }

    /// Waits until the rules have been read, at most until a deadline. Returns whether they have.
    pub(super) fn wait(&mut self, until: Instant) -> Result<bool, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if self.ready.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            match self.coming.recv_timeout(left) {
                Ok(Ok(ready)) => self.ready = Some(ready),
                Ok(Err(why)) => return Err(self.fault.insert(why).clone()),
                Err(RecvTimeoutError::Timeout) => return Ok(false),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.fault.insert("the rules could not be read".into()).clone());
                }
            }
        }
        Ok(true)
    }

    /// The move that answers a message which arrived at time `came`.
    pub(super) fn answer(&mut self, moves: &[&str], came: Instant) -> Result<String, String> {
        let until = came + self.play.saturating_sub(self.terms.margin);
        self.take(moves);
        if !self.wait(until)? {
            // The rules are not read yet, so the manager chooses our move.
            self.late += 1;
            return Ok("nil".into());
        }
        self.catch_up()?;
        let Some(Ready { steps, role, jobs, found }) = &mut self.ready else {
            return Err("the rules have not been read".into());
        };
        let legal = steps.legal(*role);
        let number = match legal[..] {
            [] if steps.is_over() => return Err("the match is over".into()),
            [] => return Err(format!("{} has no legal move, and the match is not over", self.role)),
            [one] => one,
            _ => {
                self.decisions += 1;
                let job = Job { number: self.decisions, state: steps.state(*role), until };
                let sent = jobs.send(job).is_ok();
                let choice = loop {
                    let left = until.saturating_duration_since(Instant::now());
                    // Slightly longer than the agent's own limit.
                    match found.recv_timeout(left + self.terms.margin / 4) {
                        Ok((number, choice)) if number == self.decisions => break Some(choice),
                        // A late answer to an earlier question.
                        Ok(_) => {}
                        Err(_) => break None,
                    }
                };
                match choice.filter(|choice| sent && legal.contains(choice)) {
                    Some(choice) => choice,
                    None => {
                        self.late += 1;
                        legal[self.rng.random_range(0..legal.len())]
                    }
                }
            }
        };
        Ok(respelled(&steps.written(number), &self.spelling))
    }

    /// Stores the moves of a step.
    fn take(&mut self, moves: &[&str]) {
        if !moves.is_empty() {
            self.behind.push(moves.iter().map(|text| text.to_string()).collect());
        }
    }

    /// Applies the stored moves.
    fn catch_up(&mut self) -> Result<(), String> {
        let Some(Ready { steps, .. }) = &mut self.ready else { return Ok(()) };
        'steps: for moves in std::mem::take(&mut self.behind) {
            let roles = steps.roles();
            let is_told_again = self.told.as_ref() == Some(&moves);
            if moves.len() != roles.len() {
                let why = format!("{} moves for the roles {}", moves.len(), roles.join(", "));
                return Err(self.fault.insert(why).clone());
            }
            let mut numbers = Vec::new();
            for (role, text) in moves.iter().enumerate() {
                match steps.find(role, text).filter(|number| steps.legal(role).contains(number)) {
                    Some(number) => numbers.push(number),
                    // A manager that assigns two roles to this server sends every step twice.
                    None if is_told_again => continue 'steps,
                    None => {
                        let why = format!("`{}` is not a legal move of {}", shown(text), roles[role]);
                        return Err(self.fault.insert(why).clone());
                    }
                }
            }
            steps.step(&numbers);
            self.told = Some(moves);
        }
        Ok(())
    }

    /// Applies the last moves of a match. Returns the goal of our role, if it has been reached.
    pub(super) fn end(&mut self, moves: &[&str]) -> Option<u8> {
        self.take(moves);
        self.wait(Instant::now()).ok().filter(|ready| *ready)?;
        self.catch_up().ok()?;
        let Ready { steps, role, .. } = self.ready.as_ref()?;
        steps.is_over().then(|| steps.goal(*role)).flatten()
    }
}

impl Drop for Match {
    fn drop(&mut self) {
        self.stop.end();
    }
}

/// The thinking thread of a match.
struct ThinkingThread {
    rules: String,
    role: String,
    terms: Terms,
    /// End of the start clock.
    until: Instant,
    stop: Stop,
    learns: Sender<()>,
    alive: Arc<()>,
}

impl ThinkingThread {
    /// Reads the rules, and makes decisions until the match is dropped.
    fn run(self, number: u64, found: &Sender<Result<Ready, String>>) {
        let (jobs, todo) = channel::<Job>();
        let (answers, answered) = channel();
        let made = self.prepare();
        let (steps, role, chooser) = match made {
            Ok(made) => made,
            Err(why) => return drop(found.send(Err(why))),
        };
        let game = steps.game().clone();
        if found.send(Ok(Ready { steps, role, jobs, found: answered })).is_err() {
            return;
        }
        let Self { rules, terms, until, stop, learns, alive, .. } = self;
        let (better, found) = channel();
        let mut chooser = match chooser {
            Some(chooser) => {
                // There is nothing to learn.
                drop(learns);
                chooser
            }
            None => {
                let (told, seed) = (game.clone(), terms.seed);
                let (learn, stop, alive) = (terms.learn, stop.clone(), alive.clone());
                let work = move || {
                    let _alive = alive;
                    if let Some(chooser) = learn::best(&told, &rules, (learn, seed), until, &stop) {
                        // The match may be over.
                        let _ = better.send(chooser);
                    }
                    drop(learns);
                };
                if let Err(error) = std::thread::Builder::new().name("learning".into()).spawn(work) {
                    say(format!("no thread to learn: {error}"));
                }
                match Chooser::clock(&game) {
                    Ok(chooser) => chooser,
                    Err(why) => return say(why),
                }
            }
        };
        let mut rng = stream(terms.seed, "choices at a manager", number);
        while let Ok(mut job) = todo.recv() {
            // Only the last question still awaits an answer.
            while let Ok(newer) = todo.try_recv() {
                job = newer;
            }
            if let Ok(learned) = found.try_recv() {
                chooser = learned;
            }
            match &mut chooser {
                Chooser::Clock(agent) => agent.stop = stop.thought.clone(),
                Chooser::Search(search) => search.stop = stop.thought.clone(),
                Chooser::Other(_) => {}
            }
            let at = Decision::new(&game, &job.state, role);
            match chooser.choose(at, job.until, &mut rng) {
                Ok(action) => drop(answers.send((job.number, action))),
                Err(error) => say(format!("the agent has no move: {error}")),
            }
        }
    }

    /// Reads the rules, finds the role and opens the named agent.
    fn prepare(&self) -> Result<(Steps, usize, Option<Chooser>), String> {
        if self.rules.len() as u64 > limits::CONFIG_BYTES {
            let most = limits::CONFIG_BYTES;
            return Err(format!("rules of {} bytes; at most {most} are read", self.rules.len()));
        }
        let game =
            Described::read_until("the rules", &self.rules, &self.stop.thought).map_err(|e| e.to_string())?;
        let steps = Steps::new(&game);
        let roles = steps.roles();
        let place = roles.iter().position(|known| *known == self.role.to_lowercase());
        let place =
            place.ok_or_else(|| format!("`{}` is not a role: {}", shown(&self.role), roles.join(", ")))?;
        let chooser = self.terms.agent.as_ref().map(|name| Chooser::named(&game, name)).transpose()?;
        Ok((steps, place, chooser))
    }
}

/// Words of the rules that contain capitals, by their lowercase form. Managers compare moves byte by byte.
fn spelling(rules: &str) -> HashMap<String, String> {
    let words = rules.split(|c: char| c.is_whitespace() || "()".contains(c));
    let with_capitals = words.filter(|word| word.chars().any(char::is_uppercase));
    with_capitals.map(|word| (word.to_lowercase(), word.to_string())).collect()
}

/// A move in the case of the rules.
fn respelled(text: &str, spelling: &HashMap<String, String>) -> String {
    let spaced = text.replace('(', "( ").replace(')', " )");
    let words = spaced.split(' ').map(|word| spelling.get(word).map_or(word, String::as_str));
    words.collect::<Vec<_>>().join(" ")
}
