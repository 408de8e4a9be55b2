//! One match: what is known of it, and the thread that thinks.

use super::learn;
use super::message::shown;
use adept_arena::naming::{self, AnySearch};
use adept_arena::{Agent, Decision, Evaluator, PlayoutAgent, Playouts};
use adept_builtin::gdl::{Described, Steps};
use adept_console::output::say;
use adept_game::{Game, GameError, Stream, stream};
use adept_ground::limits;
use rand::RngExt;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How matches are played.
#[derive(Clone, Debug)]
pub(in crate::serve) struct Terms {
    /// The agent; none for tree search by the clock, or a network that knows these rules.
    pub(in crate::serve) agent: Option<String>,
    /// Whether a network learns during the start clock.
    pub(in crate::serve) learn: bool,
    /// What is left of each clock for the way there and back.
    pub(in crate::serve) margin: Duration,
    pub(in crate::serve) seed: u64,
}

/// What chooses moves.
pub(super) enum Chooser {
    /// Random games until the time is over.
    Clock(PlayoutAgent<Described>),
    /// Looks ahead until the time is over.
    Search(Box<AnySearch<Described>>),
    /// Any other agent. It does not know the clock.
    Other(Box<dyn Agent<Described>>),
}

impl Chooser {
    /// Tree search by the clock.
    pub(super) fn clock(game: &Described) -> Result<Self, String> {
        Playouts::until_stopped().open(game).map(Self::Clock).map_err(|e| e.to_string())
    }

    /// The agent of this name. A search by a network, `search:clock:NAME`, thinks as long as there is time.
    pub(super) fn named(game: &Described, name: &str) -> Result<Self, String> {
        let by_clock =
            name.strip_prefix("search:clock:").map(|of| format!("search:{}ms:{of}", limits::SEARCH_MS));
        let found =
            naming::resolve(game, by_clock.as_deref().unwrap_or(name), &[]).map_err(|e| e.to_string())?;
        if by_clock.is_some()
            && let Some(search) = naming::evaluator(game, &found, false).map_err(|e| e.to_string())?
        {
            return Ok(Self::Search(Box::new(search)));
        }
        naming::build(game, &found, false).map(Self::Other).map_err(|e| e.to_string())
    }

    fn choose(
        &mut self,
        at: Decision<'_, Described>,
        until: Instant,
        rng: &mut Stream,
    ) -> Result<u32, GameError> {
        let mut scratch = adept_arena::Scratch::default();
        match self {
            Self::Clock(agent) => {
                agent.until = Some(until);
                agent.choose(at, &mut scratch, rng)
            }
            Self::Search(search) => {
                search.until = Some(until);
                let (mut actions, mut values) = (Vec::new(), Vec::new());
                search.weigh(at, &mut actions, &mut values);
                let best = values.iter().zip(&actions).max_by(|a, b| a.0.total_cmp(b.0));
                best.map(|(_, action)| *action)
                    .ok_or_else(|| adept_game::no_action(at.game, at.state, at.player))
            }
            Self::Other(agent) => agent.choose(at, &mut scratch, rng),
        }
    }
}

/// A decision to think about.
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
    /// The role that is played.
    pub(super) role: String,
    play: Duration,
    terms: Terms,
    /// Words of the rules that have capitals, by themselves in small letters.
    spelling: HashMap<String, String>,
    coming: Receiver<Result<Ready, String>>,
    ready: Option<Ready>,
    /// Joint moves that came before the rules had been read.
    behind: Vec<Vec<String>>,
    /// Why the match cannot be played.
    fault: Option<String>,
    /// When the last message came, and how long after it no other one will come.
    pub(super) seen: Instant,
    pub(super) silence: Duration,
    rng: Stream,
    pub(super) decisions: u64,
    pub(super) late: u64,
}

/// Silence after which a match is taken to be given up, beyond its clocks.
const GIVEN_UP: Duration = Duration::from_secs(60);

impl Match {
    /// Begins to read the rules, and to learn if there is time.
    pub(super) fn begin(
        number: u64,
        role: &str,
        rules: &str,
        clocks: (Duration, Duration),
        terms: &Terms,
    ) -> Self {
        let begun = Instant::now();
        let (found, coming) = channel();
        let (text, wanted, own, start) = (rules.to_string(), role.to_string(), terms.clone(), clocks.0);
        let work = move || {
            let (jobs, todo) = channel::<Job>();
            let (answers, answered) = channel();
            let until = begun + start.saturating_sub(own.margin);
            let made = prepare(&text, &wanted, &own, until);
            let (game, role, mut chooser) = match made {
                Ok((steps, role, chooser)) => {
                    let game = steps.game().clone();
                    let ready = Ready { steps, role, jobs, found: answered };
                    if found.send(Ok(ready)).is_err() {
                        return;
                    }
                    (game, role, chooser)
                }
                Err(why) => return drop(found.send(Err(why))),
            };
            let mut rng = stream(own.seed, "choices at a manager", number);
            // Until the match is over and forgotten.
            for job in todo {
                let at = Decision::new(&game, &job.state, role);
                let choice = chooser.choose(at, job.until, &mut rng);
                match choice {
                    Ok(action) => drop(answers.send((job.number, action))),
                    Err(error) => say(format!("the agent has no move: {error}")),
                }
            }
        };
        // Reading deep rules takes stack.
        let thread = std::thread::Builder::new().name("match".into()).stack_size(16 << 20).spawn(work);
        Self {
            role: role.into(),
            play: clocks.1,
            terms: terms.clone(),
            spelling: spelling(rules),
            coming,
            ready: None,
            behind: Vec::new(),
            fault: thread.err().map(|error| format!("no thread to think: {error}")),
            seen: begun,
            silence: clocks.0 + clocks.1 + GIVEN_UP,
            rng: stream(terms.seed, "late moves", number),
            decisions: 0,
            late: 0,
        }
    }

    /// Waits until the rules have been read, until this time at the latest. Whether they have been.
    pub(super) fn wait(&mut self, until: Instant) -> Result<bool, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if self.ready.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            match self.coming.recv_timeout(left) {
                Ok(Ok(ready)) => self.ready = Some(ready),
                Ok(Err(why)) => return Err(self.fault.insert(why).clone()),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => return Ok(false),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(self.fault.insert("the rules could not be read".into()).clone());
                }
            }
        }
        Ok(true)
    }

    /// The move that answers a message which came at this time.
    pub(super) fn answer(&mut self, moves: &[&str], came: Instant) -> Result<String, String> {
        let until = came + self.play.saturating_sub(self.terms.margin);
        self.take(moves);
        if !self.wait(until)? {
            // Nothing is known of the rules yet. The manager moves for us.
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
                    // A little more than the agent has been told to take.
                    match found.recv_timeout(left + self.terms.margin / 4) {
                        Ok((number, choice)) if number == self.decisions => break Some(choice),
                        // The answer to a question of before.
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

    /// Keeps the moves of a step.
    fn take(&mut self, moves: &[&str]) {
        if !moves.is_empty() {
            self.behind.push(moves.iter().map(|text| text.to_string()).collect());
        }
    }

    /// Makes the moves that have been told.
    fn catch_up(&mut self) -> Result<(), String> {
        let Some(Ready { steps, .. }) = &mut self.ready else { return Ok(()) };
        for moves in std::mem::take(&mut self.behind) {
            let roles = steps.roles();
            if moves.len() != roles.len() {
                let why = format!("{} moves for the roles {}", moves.len(), roles.join(", "));
                return Err(self.fault.insert(why).clone());
            }
            let mut numbers = Vec::new();
            for (role, text) in moves.iter().enumerate() {
                match steps.find(role, text).filter(|number| steps.legal(role).contains(number)) {
                    Some(number) => numbers.push(number),
                    None => {
                        let why = format!("`{}` is not a legal move of {}", shown(text), roles[role]);
                        return Err(self.fault.insert(why).clone());
                    }
                }
            }
            steps.step(&numbers);
        }
        Ok(())
    }

    /// Makes the last moves of a match. The goal of the role that was played, if it has been reached.
    pub(super) fn end(&mut self, moves: &[&str]) -> Option<u8> {
        self.take(moves);
        self.wait(Instant::now()).ok().filter(|ready| *ready)?;
        self.catch_up().ok()?;
        let Ready { steps, role, .. } = self.ready.as_ref()?;
        steps.is_over().then(|| steps.goal(*role)).flatten()
    }
}

/// Reads the rules, finds the role and opens the agent.
fn prepare(
    rules: &str,
    role: &str,
    terms: &Terms,
    until: Instant,
) -> Result<(Steps, usize, Chooser), String> {
    if rules.len() as u64 > limits::CONFIG_BYTES {
        return Err(format!("rules of {} bytes; at most {} are read", rules.len(), limits::CONFIG_BYTES));
    }
    let game = Described::read("the rules", rules).map_err(|e| e.to_string())?;
    let steps = Steps::new(&game);
    let roles = steps.roles();
    let place = roles.iter().position(|known| known.eq_ignore_ascii_case(role));
    let place = place.ok_or_else(|| format!("`{}` is not a role: {}", shown(role), roles.join(", ")))?;
    let chooser = match &terms.agent {
        Some(name) => Chooser::named(&game, name)?,
        None => learn::best(&game, rules, terms, until)?,
    };
    Ok((steps, place, chooser))
}

/// Words of rules that have capitals, by themselves in small letters. Managers compare moves letter by letter.
fn spelling(rules: &str) -> HashMap<String, String> {
    let words = rules.split(|c: char| c.is_whitespace() || "()".contains(c));
    let with_capitals = words.filter(|word| word.chars().any(char::is_uppercase));
    with_capitals.map(|word| (word.to_lowercase(), word.to_string())).collect()
}

/// A move in the letters of the rules.
fn respelled(text: &str, spelling: &HashMap<String, String>) -> String {
    let spaced = text.replace('(', "( ").replace(')', " )");
    let words = spaced.split(' ').map(|word| spelling.get(word).map_or(word, String::as_str));
    words.collect::<Vec<_>>().join(" ")
}
