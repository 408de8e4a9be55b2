//! A GDL game as a [`Game`].
//!
//! The state determines who moves: a role with more than one legal move. If several roles have a choice, they choose
//! one after the other without seeing each other's choices. A step without any choice belongs to the one role whose
//! only move is sometimes one of several; if there is no such role, or more than one, the step is merged into the
//! previous one.

use super::batch::Batch;
use super::compiled::Compiled;
use super::effects::Facts;
use super::kif::{expressions, written};
use super::session::{FORCED, Fault, Info, NONE, Session, State, Trials};
use crate::bits::holds;
use crate::counting::{LONGEST, visits_all};
use crate::kit::Words;
use crate::recent::Recent;
use crate::ruled::{OnDemand, Ruled};
use crate::text::{entries, find_action, list};
use adept_game::{Counting, Game, GameError, Stream, Texts, Turn, Unit, stream};
use adept_ground::notes;
use rand::RngExt;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::xxh3_128;

/// A game described in GDL. Copies share the compiled rules.
#[derive(Clone, Debug)]
pub struct Described {
    name: Arc<str>,
    pub(super) rules: Arc<Compiled>,
    pub(super) tried: Arc<Trials>,
    pub(super) source: Arc<str>,
    /// Fingerprint of the rules.
    pub(super) print: Arc<str>,
    start: State,
    /// Whether the goals of two roles always have the same sum.
    pub(super) sum: Sum,
    pub(super) on_demand: Arc<OnDemand>,
    /// Parallel random games, created on demand if the circuit is not too large.
    pub(super) batch: Arc<OnceLock<Option<Batch>>>,
    /// Facts by their texts.
    names: Arc<OnceLock<FxHashMap<String, u32>>>,
}

/// Sums of all goals at the ends of a two-player game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sum {
    /// There are not two roles, or a constant sum was not proved.
    #[default]
    Unknown,
    /// Constant: one role gains what the other loses.
    Constant,
    /// Different at different ends.
    Different,
}

/// Number of random games that a new game must finish.
const TRIALS: u64 = 8;
/// Limit on circuit nodes visited in random games: about a second.
const WORK: u64 = 60_000_000;
/// Limit on gates and listed moves in random games: a few seconds.
const LOOKS: u64 = 500_000_000;
thread_local! {
    /// Sessions of the games that this thread played last.
    static SESSIONS: RefCell<Recent<Session, 4>> = const { RefCell::new(Recent::new()) };
}

/// Hash of the rules, ignoring comments, white space and case.
fn fingerprint(source: &str) -> String {
    let rules = expressions(source).unwrap_or_default();
    let rules: Vec<String> = rules.iter().map(written).collect();
    format!("{:032x}", xxh3_128(rules.join("\n").as_bytes()))
}

impl Described {
    /// Compiles the rules in `source`. `name` is the value of `game.rules` in a config.
    ///
    /// # Errors
    /// The first error of the file, with its place; or a fault in random games: an unfinished state without a legal
    /// move, two goals of a role at once, or a game that may never end.
    pub fn read(name: &str, source: &str) -> Result<Self, GameError> {
        Self::read_until(name, source, &Arc::default())
    }

    /// Like [`read`](Self::read), until `stop` is set.
    ///
    /// # Errors
    /// As for [`read`](Self::read), or that it was stopped.
    pub fn read_until(name: &str, source: &str, stop: &Arc<AtomicBool>) -> Result<Self, GameError> {
        let rules = Compiled::read(source, stop).map_err(|e| GameError::new(format!("{name}: {e}")))?;
        let facts = rules.start.clone();
        let start = State { facts, chosen: SmallVec::new(), mover: 0, last: NONE, is_over: false };
        let mut game = Self {
            name: name.into(),
            rules: Arc::new(rules),
            tried: Arc::default(),
            source: source.into(),
            print: fingerprint(source).into(),
            start,
            sum: Sum::default(),
            on_demand: Arc::default(),
            batch: Arc::default(),
            names: Arc::default(),
        };
        for note in &game.rules.notes {
            notes::note(&format!("{name}: {note}"));
        }
        game.try_out(stop)?;
        Ok(game)
    }

    /// The state of a session in which `role` has a choice.
    pub(super) fn state_at(&self, session: &Session, role: usize, last: Option<usize>) -> State {
        let last = last.filter(|_| self.players() > 1).map_or(NONE, |role| role as u8);
        State {
            facts: session.runner.facts.clone(),
            chosen: SmallVec::new(),
            mover: role as u8,
            last,
            is_over: false,
        }
    }

    /// The state before any role has chosen in its step.
    pub(super) fn without_choices(&self, state: &State) -> State {
        let mut before = state.clone();
        // If the trial games had no simultaneous choices, a later role sees an earlier one's choice.
        if self.hides() && !state.is_over {
            before.chosen.clear();
            self.with(|rules, session| {
                session.go(rules, &state.facts);
                let first = (0..rules.roles.len()).find(|&role| session.choices(rules, role) > 1);
                before.mover = first.map_or(state.mover, |role| role as u8);
            });
        }
        before
    }

    /// Describes the turn order in a few words.
    pub(super) fn turns(&self) -> &'static str {
        match (self.players(), self.tried.hides, self.tried.alternates) {
            (1, ..) => "one role",
            (_, true, _) => {
                "several roles at once in some states: one after the other, hidden from each other"
            }
            (_, false, true) => "the roles in turn",
            (_, false, false) => "one role at a time, sometimes several times in a row",
        }
    }

    /// Describes the sum of two roles' goals in a few words.
    pub(super) fn sums(&self) -> &'static str {
        match self.sum {
            Sum::Constant => "always the same: zero-sum",
            Sum::Different => "not always the same: each role plays for its own goal",
            Sum::Unknown => "not shown to be always the same: each role plays for its own goal",
        }
    }

    /// Runs `work` with a session of this thread.
    #[inline]
    fn with<R>(&self, work: impl FnOnce(&Compiled, &mut Session) -> R) -> R {
        SESSIONS.with_borrow_mut(|sessions| {
            let make = || Session::fast(&self.rules, &self.tried);
            work(&self.rules, sessions.get(|session| session.is_of(&self.rules), make))
        })
    }

    fn shown(&self, facts: &Facts) -> String {
        let holding = (0..self.rules.facts.len()).filter(|&fact| holds(facts, fact));
        let words: Vec<String> = holding.map(|fact| self.rules.terms.shown(self.rules.facts[fact])).collect();
        words.join(" ")
    }

    fn fault(&self, fault: &Fault, facts: &Facts) -> GameError {
        let role = |role: &usize| self.rules.terms.shown(self.rules.roles[*role]);
        let mut shown = self.shown(facts);
        if shown.chars().count() > 400 {
            shown = shown.chars().take(400).collect::<String>() + " …";
        }
        let what = match fault {
            Fault::Stuck(of) => format!("{} has no legal move and the game is not over", role(of)),
            Fault::Goals(of) => format!("the game ends with more than one `goal` of {}", role(of)),
        };
        GameError::new(format!("{}: {what}, at `{shown}`; change the rules", self.name))
    }

    /// Plays a few random games, which must end, and stores the results.
    fn try_out(&mut self, stop: &AtomicBool) -> Result<(), GameError> {
        let rules = self.rules.clone();
        let roles = rules.roles.len();
        let mut tried =
            Trials { active: vec![false; rules.moves.len()], alternates: roles == 2, ..Trials::default() };
        let mut session = Session::new(&rules);
        let lean = rules.lean.as_ref();
        tried.is_lean = lean.is_some();
        let mut has_choice = false;
        let mut without_goal = None;
        let mut listed = 0;
        // Forced steps are merged until it is known whose they are.
        let blank = Trials::default();
        let mut moves: SmallVec<[u32; 4]> = SmallVec::new();
        let mut all_steps = 0;
        for trial in 0..TRIALS {
            let mut rng: Stream = stream(0, "trial games", trial);
            let (mut state, mut last) = (self.start.clone(), None);
            session.go(&rules, &state.facts);
            let mut steps = 0;
            loop {
                session
                    .arrive(&rules, &blank, &mut state)
                    .map_err(|fault| self.fault(&fault, &state.facts))?;
                if session.is_terminal(&rules) {
                    break;
                }
                if state.is_over || steps > LONGEST {
                    let what = format!(
                        "{}: a random game did not end in {} steps; count the steps in a fact that makes it terminal",
                        self.name,
                        if state.is_over { FORCED } else { LONGEST }
                    );
                    return Err(GameError::new(what));
                }
                moves.clear();
                let mut choosers = 0;
                for role in 0..roles {
                    let mut legal: SmallVec<[u32; 64]> = SmallVec::new();
                    session.each(&rules, role, |number| legal.push(number));
                    listed += legal.len() as u64;
                    if legal.len() > 1 {
                        choosers += 1;
                        has_choice = true;
                        legal.iter().for_each(|&number| tried.active[number as usize] = true);
                        tried.alternates &= last != Some(role);
                        last = Some(role);
                    }
                    moves.push(legal[rng.random_range(0..legal.len())]);
                }
                tried.hides |= choosers > 1;
                tried.is_lean &= lean.is_some_and(|lean| lean.folder.effects(&moves).is_some());
                session.step(&rules, &moves);
                steps += 1;
                all_steps += 1;
                if stop.load(Ordering::Relaxed) {
                    return Err(GameError::new(format!("{}: stopped before it had been tried", self.name)));
                }
                if session.runner.work > WORK || session.runner.looks + listed > LOOKS {
                    break;
                }
            }
            if !session.is_terminal(&rules) {
                break;
            }
            let goal = |role: usize| session.goals(&rules, role).next().unwrap_or(0);
            if roles == 2 {
                tried.is_graded |= !matches!(i32::from(goal(0)) - i32::from(goal(1)), -100 | 0 | 100);
                tried.sums.insert(u16::from(goal(0)) + u16::from(goal(1)));
            }
            for role in 0..roles {
                match session.goals(&rules, role).count() {
                    0 => without_goal = without_goal.or(Some(role)),
                    1 => {}
                    _ => return Err(self.fault(&Fault::Goals(role), &session.runner.facts)),
                }
            }
        }
        tried.work = session.runner.work / all_steps.max(1);
        if !has_choice {
            // All steps are forced: they belong to the first role.
            let (begin, end) = rules.ranges[0];
            tried.active[begin as usize..end as usize].fill(true);
        }
        tried.lacks_goals = without_goal.is_some();
        if let Some(role) = without_goal {
            notes::warn(&format!(
                "{}: games can end without a `goal` of {}, which then counts 0",
                self.name,
                rules.terms.shown(rules.roles[role])
            ));
        }
        tried.alternates &= !tried.hides;
        self.tried = Arc::new(tried);
        let mut start = self.start.clone();
        session.go(&rules, &start.facts);
        let _ = session.arrive(&rules, &self.tried, &mut start);
        if start.is_over {
            return Err(GameError::new(format!("{}: the game is over before anybody can move", self.name)));
        }
        self.start = start;
        drop(rules);
        if let Some(rules) = Arc::get_mut(&mut self.rules).filter(|_| !self.tried.is_lean) {
            // The lean circuit would never be used.
            rules.lean = None;
        }
        if roles == 2 {
            self.sum = self.sum_of_goals();
        }
        Ok(())
    }

    /// Whether the goals of two roles always have the same sum: from the trial games, the circuit, or all ends of a
    /// small game.
    fn sum_of_goals(&self) -> Sum {
        let mut sums = self.tried.sums.clone();
        if sums.len() > 1 {
            return Sum::Different;
        }
        if !self.tried.lacks_goals
            && let Some(possible) = &self.rules.sums
            && sums.union(possible).count() < 2
        {
            return Sum::Constant;
        }
        let walked = visits_all(self, self.cost(), |end| {
            sums.insert((0..2).map(|role| u16::from(self.goal(end, role))).sum());
            sums.len() < 2
        });
        match (sums.len(), walked) {
            (2.., _) => Sum::Different,
            (_, true) => Sum::Constant,
            _ => Sum::Unknown,
        }
    }

    /// The goal of a role at an end; 0 if it has none.
    fn goal(&self, state: &State, role: usize) -> u8 {
        self.with(|rules, session| {
            session.go(rules, &state.facts);
            session.goals(rules, role).next().unwrap_or(0)
        })
    }

    /// Completes the state of a session.
    fn arrived(&self, session: &mut Session, state: &mut State) {
        // Beyond the trial games, a state without moves ends the game.
        if session.arrive(&self.rules, &self.tried, state).is_err() {
            (state.is_over, state.mover) = (true, 0);
        }
    }
}

impl Game for Described {
    type State = State;
    /// Index of a move.
    type Action = u32;
    type Info = Info;

    fn name(&self) -> &str {
        &self.name
    }

    fn players(&self) -> usize {
        self.rules.roles.len()
    }

    fn start(&self) -> State {
        self.start.clone()
    }

    fn turn(&self, state: &State) -> Turn {
        if state.is_over { Turn::Over } else { Turn::Player(state.mover.into()) }
    }

    fn actions(&self, state: &State, actions: &mut Vec<u32>) {
        actions.clear();
        if !state.is_over {
            self.with(|rules, session| {
                session.go(rules, &state.facts);
                session.each(rules, state.mover.into(), |number| actions.push(number));
            });
        }
    }

    fn apply(&self, state: &mut State, &action: &u32) {
        self.with(|rules, session| {
            session.go(rules, &state.facts);
            let roles = rules.roles.len();
            if let Some(next) = session.next_chooser(rules, state) {
                state.chosen.push(action);
                (state.last, state.mover) = (state.mover, next as u8);
                return;
            }
            let mut moves: SmallVec<[u32; 4]> = (0..roles).map(|role| session.first(rules, role)).collect();
            for &number in state.chosen.iter().chain([&action]) {
                moves[usize::from(rules.moves[number as usize].0)] = number;
            }
            session.step(rules, &moves);
            state.last = if roles > 1 { state.mover } else { NONE };
            self.arrived(session, state);
        });
    }

    /// Goal / 50 − 1. For two roles with a constant sum of goals, the difference of their goals / 100.
    fn utility(&self, state: &State, player: usize) -> f64 {
        if !state.is_over {
            return 0.0;
        }
        self.with(|rules, session| {
            session.go(rules, &state.facts);
            let goal = |role: usize| f64::from(session.goals(rules, role).next().unwrap_or(0));
            match self.sum {
                Sum::Constant => (goal(player) - goal(1 - player)) / 100.0,
                _ => goal(player) / 50.0 - 1.0,
            }
        })
    }

    fn zero_sum(&self) -> bool {
        self.sum == Sum::Constant
    }

    /// A solitaire has no winner but a score.
    fn counting(&self) -> Counting {
        match self.players() {
            1 => Counting::Unit(Unit { name: "points".into(), size: 1.0 }),
            _ => Counting::Points,
        }
    }

    fn hides(&self) -> bool {
        self.tried.hides
    }

    fn shown_to(&self, state: &State, player: usize) -> State {
        let mut shown = state.clone();
        shown.chosen.retain(|number| usize::from(self.rules.moves[*number as usize].0) == player);
        shown
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        match self.players() {
            1 => (*state != self.start).then_some(0),
            _ => (state.last != NONE).then_some(state.last.into()),
        }
    }

    fn info(&self, state: &State, player: usize) -> Info {
        let own = state
            .chosen
            .iter()
            .copied()
            .find(|&number| usize::from(self.rules.moves[number as usize].0) == player);
        Info { facts: state.facts.clone(), own, mover: state.mover, is_over: state.is_over }
    }

    fn position_text(&self, state: &State) -> String {
        let mut text = match (self.players(), state.last) {
            (1, _) => String::new(),
            (_, NONE) => format!("{} ", state.mover + 1),
            (_, last) => format!("{}/{} ", state.mover + 1, last + 1),
        };
        text.push_str(&self.shown(&state.facts));
        for &number in &state.chosen {
            let (role, what) = self.rules.moves[number as usize];
            text.push_str(&format!(" +{}:{}", role + 1, self.rules.terms.shown(what)));
        }
        if text.trim().is_empty() { "-".into() } else { text.trim_end().into() }
    }

    fn parse_position(&self, text: &str) -> Result<(State, Option<u32>), GameError> {
        let rules = &*self.rules;
        let fail = |why: String| {
            let example = self.position_text(&self.start);
            GameError::new(format!("`{text}` is not a position: {why}; the game begins with `{example}`"))
        };
        let mut state = self.start.clone();
        // Facts that always hold may be omitted.
        state.facts.clone_from(&rules.fixed);
        let mut words = text.split_whitespace().peekable();
        let mut said = None;
        if self.players() > 1
            && let Some(word) = words.next_if(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        {
            let roles = 1..=self.players();
            let role = |word: &str| {
                word.parse().ok().filter(|role| roles.contains(role)).map(|role: usize| role as u8 - 1)
            };
            let (mover, last) =
                word.split_once('/').map_or((word, None), |(mover, last)| (mover, Some(last)));
            let players =
                || fail(format!("`{word}` is not a player to move, or two players with `/` between them"));
            said = Some(role(mover).ok_or_else(players)?);
            state.last = last.map_or(Ok(NONE), |last| role(last).ok_or_else(players))?;
        }
        let mut chosen: SmallVec<[u32; 2]> = SmallVec::new();
        let known = self.names.get_or_init(|| {
            let names = rules.facts.iter().map(|&fact| rules.terms.shown(fact));
            names.zip(0..).collect()
        });
        let is_empty = text.trim() == "-";
        for word in words.filter(|_| !is_empty) {
            if let Some(&fact) = known.get(word) {
                state.facts[fact as usize / 64] |= 1 << (fact % 64);
                continue;
            }
            let Some(found) = word.strip_prefix('+') else {
                return Err(fail(format!("`{word}` is not a fact of the game")));
            };
            let is_found =
                |&(role, what): &(u8, _)| format!("{}:{}", role + 1, rules.terms.shown(what)) == found;
            let number = rules.moves.iter().position(is_found);
            chosen.push(number.ok_or_else(|| fail(format!("`{word}` is not a move")))? as u32);
        }
        self.with(|rules, session| {
            session.go(rules, &state.facts);
            self.arrived(session, &mut state);
        });
        for number in chosen {
            let mut actions = Vec::new();
            self.actions(&state, &mut actions);
            if !actions.contains(&number) {
                return Err(fail(format!(
                    "`{}` is not legal there",
                    rules.terms.shown(rules.moves[number as usize].1)
                )));
            }
            self.apply(&mut state, &number);
        }
        match said.filter(|&said| said != state.mover && !state.is_over) {
            Some(said) => Err(fail(format!(
                "by its facts player {} is to move, not player {}; in a step in which several choose, a position holds the choices \
                 made so far, such as `+1:heads`",
                state.mover + 1,
                said + 1
            ))),
            None => {
                if let Some(mover) = said.filter(|_| state.is_over) {
                    state.mover = mover;
                }
                Ok((state, None))
            }
        }
    }

    fn action_text(&self, _state: &State, &action: &u32) -> String {
        self.rules.terms.shown(self.rules.moves[action as usize].1)
    }

    /// Parses a move: as printed, its words without signs, or only its first arguments if they are unique among the
    /// legal moves.
    fn parse_action(&self, state: &State, text: &str) -> Result<u32, GameError> {
        find_action(self, state, text)
    }
}

impl Texts<Described> for Words {
    /// The facts that hold, one relation per line, and the marked moves.
    fn board(&self, game: &Described, state: &State, marks: &[(u32, String)], _: usize) -> String {
        let rules = &*game.rules;
        let mut text = String::new();
        if !state.is_over && rules.roles.len() > 1 {
            let role = rules.terms.shown(rules.roles[usize::from(state.mover)]);
            let _ = writeln!(text, "player {} ({role}) to move", state.mover + 1);
        }
        let holding = rules.facts.iter().enumerate().filter(|(fact, _)| holds(&state.facts, *fact));
        let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
        for (_, &term) in holding {
            let name = rules.terms.name(rules.terms.head(term));
            let args: Vec<String> =
                rules.terms.args(term).iter().map(|&arg| rules.terms.shown(arg)).collect();
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(args.join(" ")),
                None => lines.push((name, vec![args.join(" ")])),
            }
        }
        let wide = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, all) in lines {
            list(&mut text, &format!("  {name:<wide$}  "), &all);
        }
        entries(&mut text, marks, |one| game.action_text(state, &one));
        text
    }

    fn told(&self, game: &Described, state: &State, action: &u32, who: &str, you: bool) -> String {
        match (self.is_secret(game, state, action), you) {
            (true, false) => format!("{who} has chosen."),
            (true, true) => format!("You choose {}.", game.action_text(state, action)),
            (false, _) => {
                format!("{who} {} {}.", if you { "move" } else { "moves" }, game.action_text(state, action))
            }
        }
    }

    /// Choices of a step in which several roles had one, once all have chosen.
    fn event(&self, game: &Described, state: &State, action: &u32, _seat: usize) -> Option<String> {
        if state.chosen.is_empty() || self.is_secret(game, state, action) {
            return None;
        }
        let shown = state.chosen.iter().chain([action]).map(|&number| {
            let (role, what) = game.rules.moves[number as usize];
            let role = game.rules.terms.shown(game.rules.roles[usize::from(role)]);
            format!("{role}: {}", game.rules.terms.shown(what))
        });
        Some(format!("All have chosen: {}.", shown.collect::<Vec<_>>().join(", ")))
    }

    fn is_secret(&self, game: &Described, state: &State, _action: &u32) -> bool {
        game.with(|rules, session| {
            session.go(rules, &state.facts);
            session.next_chooser(rules, state).is_some()
        })
    }
}
