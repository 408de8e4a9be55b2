//! Incremental evaluation of a game from position to position.
//!
//! The [network](crate::net) is that of GDL games, which also handles recursive relations. Its outputs are legal moves,
//! outcomes of chance and endings, for each player. The methods of [`Game`] use it: each thread keeps networks of the
//! games that it played last, and moves them to the position of a call. A move changes few facts, and so does switching
//! to an alternative move. Distant positions, and all positions of very small games, are computed from scratch.

use super::declared::Declared;
use super::followed::Costs;
use super::state::{State, Status};
use crate::bits::each;
use crate::circuit::Cone;
use crate::net::Runner;
use crate::recent::Recent;
use adept_game::{Game, Turn};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Overhead of a call.
const CALL: u32 = 32;
/// Cost of propagating a change to a gate, relative to computing a gate in sequence.
const PROPAGATION: u64 = 2;
/// Required advantage of incremental evaluation over evaluation from scratch. The ratio depends strongly on the order
/// of positions.
const GAIN: u64 = 4;

impl Costs {
    /// Computes the costs from random games. None if evaluation from scratch is faster.
    pub(crate) fn new(game: &Declared, mut measure: Measure) -> Option<Self> {
        let rules = &game.rules;
        let from_scratch = |cone: &Cone| match cone.outputs().len() {
            0 => 0,
            outputs => cone.cost() + rules.facts.len() + outputs / 2,
        };
        let view = &rules.views[0];
        let [legal, chance, over] =
            [&view.legal, &view.chance, &view.over].map(|cone| from_scratch(cone) as u32);
        let status = legal + chance + over;
        let told = measure.session.runner.looks;
        let is_faster = measure.moves * u64::from(status.saturating_sub(CALL)) > GAIN * told;
        if measure.moves == 0 || !is_faster {
            return None;
        }
        let fact = measure.scatter(game);
        // The cones of a status share the values of the facts.
        let cones =
            [&view.legal, &view.chance, &view.over].iter().filter(|cone| !cone.outputs().is_empty()).count();
        let status = status - (cones as u32 - 1) * rules.facts.len() as u32;
        Some(Self { fact, legal: legal + status, chance: chance + status })
    }
}

/// Cost measurements of random games on a network.
pub(crate) struct Measure {
    session: Session,
    moves: u64,
    states: Vec<Facts>,
}

impl Measure {
    /// Largest number of kept states.
    const STATES: usize = 512;
    /// Number of jumps between kept states.
    const JUMPS: usize = 128;
    /// Limit on gates that receive changes: a tenth of a second.
    const PROPAGATION: u64 = 50_000_000;

    pub(crate) fn new(game: &Declared) -> Self {
        Self { session: Session::new(game), moves: 0, states: Vec::new() }
    }

    /// Moves to the start of a game.
    pub(crate) fn begin(&mut self, game: &Declared, state: &State) {
        let told = self.session.runner.looks;
        if told < Self::PROPAGATION {
            self.session.go(game, &state.facts);
            self.session.runner.looks = told;
        }
    }

    /// Moves to the state after a move.
    pub(crate) fn go(&mut self, game: &Declared, state: &State) {
        if self.session.runner.looks < Self::PROPAGATION {
            self.moves += 1;
            self.session.go(game, &state.facts);
            if self.states.len() < Self::STATES {
                self.states.push(SmallVec::from_slice(&state.facts));
            }
        }
    }

    /// Mean cost of a changed fact when jumping between states of any game.
    fn scatter(&mut self, game: &Declared) -> u32 {
        let (before, mut facts) = (self.session.runner.looks, 0);
        for jump in 0..Self::JUMPS {
            let state = &self.states[jump * 197 % self.states.len()];
            facts += u64::from(differing(&self.session.runner.facts, state));
            self.session.go(game, state);
            if self.session.runner.looks - before > Self::PROPAGATION {
                break;
            }
        }
        let told = self.session.runner.looks - before;
        u32::try_from((told * PROPAGATION).div_ceil(facts.max(1))).unwrap_or(u32::MAX)
    }
}

type Facts = SmallVec<[u64; 2]>;

/// Number of facts that differ between two states.
#[inline]
fn differing(one: &[u64], other: &[u64]) -> u32 {
    one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum()
}

/// A network at some position.
#[derive(Clone, Debug)]
struct Session {
    runner: Runner,
    /// Padding bits of the last word.
    rest: u64,
    /// The last position evaluated from scratch.
    from_scratch: Facts,
    /// Accumulated cost of evaluating nearby positions from scratch.
    spent: u32,
}

thread_local! {
    /// Sessions of the games that this thread played last.
    static SESSIONS: RefCell<Recent<Session, 4>> = const { RefCell::new(Recent::new()) };
}

impl Session {
    fn new(game: &Declared) -> Self {
        let followed = &game.rules.followed;
        let count = game.rules.facts.len();
        Self {
            runner: Runner::new(&followed.net, count),
            from_scratch: SmallVec::from_elem(0, count.div_ceil(64).max(1)),
            rest: if count > 0 && count.is_multiple_of(64) { 0 } else { !0 << (count % 64) },
            spent: 0,
        }
    }

    #[inline]
    fn go(&mut self, game: &Declared, facts: &[u64]) {
        self.runner.go(&game.rules.followed.net, facts);
    }

    /// Moves to a position unless evaluating it from scratch is cheaper. Returns whether it moved there.
    #[inline]
    fn reach(&mut self, game: &Declared, costs: &Costs, facts: &[u64], from_scratch: u32) -> bool {
        let different = differing(&self.runner.facts, facts);
        if different == 0 {
            return true;
        }
        // A state of another game does not fit this network.
        if facts.len() != self.runner.facts.len() || facts.last().is_some_and(|last| last & self.rest != 0) {
            return false;
        }
        let far = |different: u32| different.saturating_mul(costs.fact).saturating_add(CALL);
        let way = far(different);
        // Distant positions are evaluated from scratch. If several in a row are close to each other, moving there soon
        // pays off.
        let mut goes = way <= from_scratch;
        if !goes && far(differing(&self.from_scratch, facts)) <= from_scratch {
            goes = way <= from_scratch.saturating_add(self.spent);
            self.spent = self.spent.saturating_add(from_scratch / 2);
        } else {
            self.spent = 0;
        }
        if goes {
            self.go(game, facts);
            self.spent = 0;
            return true;
        }
        self.from_scratch.copy_from_slice(facts);
        false
    }

    #[inline]
    fn legal(&self, game: &Declared, player: u8) -> &[u64] {
        let first = game.rules.followed.legal[usize::from(player)] as usize;
        &self.runner.outputs[first..][..game.rules.acts.div_ceil(64)]
    }

    #[inline]
    fn chance(&self, game: &Declared, player: u8) -> &[u64] {
        let first = game.rules.followed.chance[usize::from(player)] as usize;
        let rules = &game.rules;
        &self.runner.outputs[first..][..(rules.moves.len() - rules.acts).div_ceil(64)]
    }

    /// The status of a position after a move in the turn of `last`.
    #[inline]
    fn status(&self, game: &Declared, state: &State, last: u8) -> Status {
        let endings = &game.rules.declaration.endings;
        let first = game.rules.followed.over[usize::from(last)] as usize;
        for (w, &word) in self.runner.outputs[first..][..endings.len().div_ceil(64)].iter().enumerate() {
            if word != 0 {
                return Status::from_grade(endings[w * 64 + word.trailing_zeros() as usize].0, last);
            }
        }
        let any = |words: &[u64]| words.iter().any(|&word| word != 0);
        match game.at_limit(state.moves) {
            Some(status) => status,
            None if any(self.chance(game, state.mover)) => Status::Chance,
            None if any(self.legal(game, state.mover)) => Status::Going,
            None => Status::from_grade(game.rules.declaration.stuck, state.mover),
        }
    }
}

impl Declared {
    /// Runs `work` with a network of this thread at the position with these facts, unless evaluation from scratch, at
    /// cost `from_scratch`, is cheaper.
    #[inline]
    fn follow<R>(
        &self,
        facts: &[u64],
        from_scratch: impl FnOnce(&Costs) -> u32,
        work: impl FnOnce(&Session) -> R,
    ) -> Option<R> {
        let costs = self.costs.as_ref()?;
        SESSIONS.with_borrow_mut(|sessions| {
            let net = &self.rules.followed.net;
            let session = sessions.get(|session| session.runner.is_of(net), || Session::new(self));
            session.reach(self, costs, facts, from_scratch(costs)).then(|| work(session))
        })
    }

    /// Calls `visit` with each legal move of the player to move.
    #[inline]
    pub(crate) fn each_legal(&self, state: &State, mut visit: impl FnMut(usize)) {
        let read = |session: &Session| each(session.legal(self, state.mover), &mut visit);
        if self.follow(&state.facts, |costs| costs.legal, read).is_none() {
            self.rules.views[usize::from(state.mover)].legal.each(&state.facts, visit);
        }
    }

    /// Calls `visit` with the index of each outcome of chance.
    #[inline]
    pub(crate) fn each_chance(&self, state: &State, mut visit: impl FnMut(usize)) {
        let read = |session: &Session| each(session.chance(self, state.mover), &mut visit);
        if self.follow(&state.facts, |costs| costs.chance, read).is_none() {
            self.rules.views[usize::from(state.mover)].chance.each(&state.facts, visit);
        }
    }

    /// The status of a position after a move in the turn of `last`.
    #[inline]
    pub(crate) fn status_after(&self, state: &State, last: u8) -> Status {
        let read = |session: &Session| session.status(self, state, last);
        let status = self.follow(&state.facts, |costs| costs.legal, read);
        status.unwrap_or_else(|| self.status_of(state, Some(last)))
    }
}

/// A game at a position that is evaluated incrementally.
#[derive(Clone, Debug)]
pub struct Monitor {
    game: Declared,
    session: Session,
    state: State,
    past: Vec<State>,
}

impl Monitor {
    /// A game at its start.
    pub fn new(game: &Declared) -> Self {
        let mut session = Session::new(game);
        let state = game.start();
        session.go(game, &state.facts);
        Self { game: game.clone(), session, state, past: Vec::new() }
    }

    /// The position.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns to the start and clears the undo history.
    pub fn restart(&mut self) {
        self.state = self.game.start();
        self.past.clear();
        self.session.go(&self.game, &self.state.facts);
    }

    /// Whose turn it is.
    pub fn turn(&self) -> Turn {
        self.game.turn(&self.state)
    }

    fn legal_words(&self) -> &[u64] {
        match self.state.status {
            Status::Going => self.session.legal(&self.game, self.state.mover),
            _ => &[],
        }
    }

    /// Number of legal moves; 0 if the game is over or chance is to move.
    #[inline]
    pub fn count(&self) -> usize {
        self.legal_words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The legal move with this index in ascending order, from 0. None if there are fewer.
    #[inline]
    pub fn legal(&self, mut place: usize) -> Option<u32> {
        for (w, &word) in self.legal_words().iter().enumerate() {
            let here = word.count_ones() as usize;
            if place < here {
                let mut word = word;
                for _ in 0..place {
                    word &= word - 1;
                }
                return Some(w as u32 * 64 + word.trailing_zeros());
            }
            place -= here;
        }
        None
    }

    /// Replaces `outcomes` by the outcomes of chance with their probabilities; there are none if chance is not to move.
    pub fn outcomes(&self, outcomes: &mut Vec<(u32, f64)>) {
        let is_chance = self.state.status == Status::Chance;
        let words = if is_chance { self.session.chance(&self.game, self.state.mover) } else { &[] };
        let mut places: SmallVec<[usize; 64]> = SmallVec::new();
        each(words, |place| places.push(place));
        self.game.shares(places.into_iter(), outcomes);
    }

    /// Applies a legal move or an outcome of chance.
    pub fn apply(&mut self, action: u32) {
        self.past.push(self.state.clone());
        let player = self.game.change(&mut self.state, action);
        self.session.go(&self.game, &self.state.facts);
        let status = self.session.status(&self.game, &self.state, player);
        self.game.arrive(&mut self.state, player, status);
    }

    /// Takes the last move back. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(state) = self.past.pop() else { return false };
        self.state = state;
        self.session.go(&self.game, &self.state.facts);
        true
    }
}
