//! A declared game as a [`Game`].

use crate::batch::Batch;
use crate::declaration::Ending;
use crate::ground::Rules;
use crate::lanes::Pool;
use crate::monitor::Net;
use crate::structure::Structure;
use crate::text;
use adept_game::{Game, GameError, Stream, Turn, Unit, stream};
use rand::RngExt;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// A game from a rule file. Copies share the compiled rules.
#[derive(Clone, Debug)]
pub struct Declared {
    name: Arc<str>,
    pub(crate) rules: Arc<Rules>,
    start: State,
    pub(crate) facts: Arc<Facts>,
}

/// What is computed once, when a command asks for it.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Whether the game has few states.
    pub(crate) small: OnceLock<bool>,
    /// The circuit of a [`Monitor`](crate::Monitor).
    pub(crate) net: OnceLock<Arc<Net>>,
    /// What the encoder `rules` reads.
    pub(crate) structure: OnceLock<Result<Arc<Structure>, String>>,
    /// Batches that wait for random games to play.
    pub(crate) batches: Pool<Batch>,
}

/// A position: which facts hold, who is to move, and how many moves were made if the game limits them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Bit f: fact f holds.
    pub(crate) facts: SmallVec<[u64; 2]>,
    pub(crate) mover: u8,
    pub(crate) status: Status,
    pub(crate) moves: u32,
}

/// Whether the game goes on, and if not, who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    Going,
    Won(u8),
    Lost(u8),
    Drawn,
}

/// Random games that a new game must end.
const TRIALS: u64 = 8;
/// Gates that may be read before a game is used: a fraction of a second.
pub(crate) const WORK: usize = 100_000_000;
/// Moves in which a random game must end if the rules give no limit.
pub(crate) const LONGEST: usize = 20_000;

impl Declared {
    /// Compiles the rules in `source`. `name` is what `game.rules` of a config says.
    ///
    /// # Errors
    /// The first fault of the file, with its place; or that the game may never end.
    pub fn read(name: &str, source: &str) -> Result<Self, GameError> {
        let rules = Rules::read(source).map_err(|e| GameError::new(format!("{name}: {e}")))?;
        let mut start = State {
            facts: SmallVec::from_elem(0, rules.facts.len().div_ceil(64).max(1)),
            mover: 0,
            status: Status::Going,
            moves: 0,
        };
        for &fact in &rules.start {
            start.facts[fact as usize / 64] |= 1 << (fact % 64);
        }
        let game = Self { name: name.into(), rules: Arc::new(rules), start, facts: Arc::default() };
        if game.status_of(&game.start, None) != Status::Going {
            return Err(GameError::new(format!("{name}: no operator is legal at the start")));
        }
        let before = if game.players() == 2 { 1 } else { 0 };
        if game.status_of(&game.start, Some(before)) != Status::Going {
            return Err(GameError::new(format!("{name}: a condition that ends the game holds at the start")));
        }
        game.try_out()?;
        Ok(game)
    }

    /// Gates and facts that a move reads.
    pub(crate) fn cost(&self) -> usize {
        let view = &self.rules.views[0];
        view.legal.len() + view.over.len() + view.legal.outputs().len() + self.rules.facts.len()
    }

    /// Plays a few random games, which must end.
    fn try_out(&self) -> Result<(), GameError> {
        let mut actions = Vec::new();
        let mut left = WORK / self.cost();
        for trial in 0..TRIALS {
            let (mut rng, mut state): (Stream, _) = (stream(0, "trial games", trial), self.start());
            let mut moves = 0;
            while self.turn(&state) != Turn::Over {
                self.actions(&state, &mut actions);
                let action = actions[rng.random_range(0..actions.len())];
                self.apply(&mut state, &action);
                moves += 1;
                left = left.saturating_sub(1);
                if left == 0 {
                    return Ok(());
                }
                if moves > LONGEST {
                    return Err(GameError::new(format!(
                        "{}: a random game did not end in {LONGEST} moves; add a line such as `limit 200`, the most moves of a \
                         game",
                        self.name
                    )));
                }
            }
        }
        Ok(())
    }

    /// The status of a position after a move of `last`.
    pub(crate) fn status_of(&self, state: &State, last: Option<u8>) -> Status {
        let (rules, mover) = (&self.rules, state.mover);
        let result = |ending, player: u8| match ending {
            Ending::Win => Status::Won(player),
            Ending::Lose => Status::Lost(player),
            Ending::Draw => Status::Drawn,
        };
        if let Some(last) = last {
            let view = &rules.views[usize::from(last)];
            let mut status = None;
            view.over.find(&state.facts, |output| {
                status = Some(result(view.results[output], last));
                true
            });
            if let Some(status) = status {
                return status;
            }
        }
        if rules.declaration.limit.is_some_and(|limit| state.moves >= limit) {
            return if rules.declaration.players == 1 { Status::Lost(0) } else { Status::Drawn };
        }
        match rules.views[usize::from(mover)].legal.find(&state.facts, |_| true) {
            true => Status::Going,
            false => result(rules.declaration.stuck, mover),
        }
    }

    /// Facts as another player sees them.
    pub(crate) fn seen_by(&self, state: &State, player: usize) -> SmallVec<[u64; 2]> {
        if player == 0 {
            return state.facts.clone();
        }
        let mut seen = SmallVec::from_elem(0, state.facts.len());
        for (word, &bits) in state.facts.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let flipped = self.rules.flip[word * 64 + bits.trailing_zeros() as usize] as usize;
                seen[flipped / 64] |= 1 << (flipped % 64);
                bits &= bits - 1;
            }
        }
        seen
    }
}

impl State {
    pub(crate) fn holds(&self, fact: usize) -> bool {
        self.facts[fact / 64] >> (fact % 64) & 1 == 1
    }

    pub(crate) fn write(&mut self, fact: u32, holds: bool) {
        let (word, bit) = (&mut self.facts[fact as usize / 64], 1 << (fact % 64));
        if holds {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }
}

impl Game for Declared {
    type State = State;
    /// Number of an operator with its arguments, as the player to move has them.
    type Action = u32;
    type Info = State;

    fn name(&self) -> &str {
        &self.name
    }

    fn players(&self) -> usize {
        self.rules.declaration.players
    }

    fn start(&self) -> State {
        self.start.clone()
    }

    fn turn(&self, state: &State) -> Turn {
        match state.status {
            Status::Going => Turn::Player(state.mover.into()),
            _ => Turn::Over,
        }
    }

    fn actions(&self, state: &State, actions: &mut Vec<u32>) {
        actions.clear();
        if state.status == Status::Going {
            self.rules.views[usize::from(state.mover)].legal.find(&state.facts, |number| {
                actions.push(number as u32);
                false
            });
        }
    }

    fn apply(&self, state: &mut State, &action: &u32) {
        let last = state.mover;
        let effects = &self.rules.views[usize::from(last)].effects[action as usize];
        // Conditions are those of the state before the move.
        let mut changes: SmallVec<[(u32, bool); 8]> = SmallVec::new();
        if let Some((cone, changed)) = &effects.conditional {
            cone.find(&state.facts, |output| {
                changes.push(changed[output]);
                false
            });
        }
        effects.clear.iter().for_each(|&fact| state.write(fact, false));
        changes.iter().filter(|(_, adds)| !adds).for_each(|&(fact, _)| state.write(fact, false));
        effects.set.iter().for_each(|&fact| state.write(fact, true));
        changes.iter().filter(|(_, adds)| *adds).for_each(|&(fact, _)| state.write(fact, true));
        if self.players() == 2 {
            state.mover = 1 - last;
        }
        if self.rules.declaration.limit.is_some() {
            state.moves += 1;
        }
        state.status = self.status_of(state, Some(last));
    }

    fn utility(&self, state: &State, player: usize) -> f64 {
        match state.status {
            Status::Won(winner) if usize::from(winner) == player => 1.0,
            Status::Lost(loser) if usize::from(loser) != player => 1.0,
            Status::Going | Status::Drawn => 0.0,
            Status::Won(_) | Status::Lost(_) => -1.0,
        }
    }

    /// Alone, a game has no winner but a result.
    fn unit(&self) -> Option<Unit> {
        (self.players() == 1).then_some(Unit { name: "points".into(), size: 1.0 })
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        (*state != self.start).then(|| if self.players() == 2 { 1 - usize::from(state.mover) } else { 0 })
    }

    fn info(&self, state: &State, _player: usize) -> State {
        state.clone()
    }

    fn position_text(&self, state: &State) -> String {
        text::position(self, state)
    }

    fn parse_position(&self, text: &str) -> Result<(State, Option<u32>), GameError> {
        Ok((text::parse(self, text)?, None))
    }

    fn action_text(&self, state: &State, &action: &u32) -> String {
        text::action(self, usize::from(state.mover), action)
    }

    /// Takes a move as it is printed, its words without signs, or only its first arguments if no other legal move has them.
    fn parse_action(&self, state: &State, text: &str) -> Result<u32, GameError> {
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        text::find_action(text, &actions, |action| self.action_text(state, action))
    }

    fn board(&self, state: &State, marks: &[(u32, String)]) -> String {
        text::board(self, state, marks)
    }
}
