//! A declared game as a [`Game`].

use crate::batch::{Batch, LONGEST};
use crate::declaration::ONE;
use crate::declared::Declared;
use crate::followed::Costs;
use crate::ground::Rules;
use crate::monitor::Measure;
use crate::state::{NONE, State, Status};
use crate::structure::Structure;
use crate::text;
use adept_game::{Counting, Game, GameError, Stream, Texts, Turn, Unit, stream};
use adept_ground::notes;
use rand::RngExt;
use smallvec::SmallVec;
use std::sync::Arc;

/// Number of random games that a new game must finish.
const TRIALS: u64 = 8;
/// Limit on gates read before a game is used: a fraction of a second.
pub(crate) const WORK: usize = 100_000_000;
/// Most consecutive outcomes of chance in a random game.
const OUTCOMES: usize = 1_000;

impl Declared {
    /// Compiles the rules in `source`. `name` is the value of `game.rules` in a config.
    ///
    /// # Errors
    /// The first error of the file, with its place; or that the game may never end.
    pub fn read(name: &str, source: &str) -> Result<Self, GameError> {
        let rules = Rules::read(source).map_err(|e| GameError::new(format!("{name}: {e}")))?;
        let mut start = State {
            facts: SmallVec::from_elem(0, rules.facts.len().div_ceil(64).max(1)),
            mover: 0,
            last: NONE,
            status: Status::Going,
            moves: 0,
        };
        for &fact in &rules.start {
            start.facts[fact as usize / 64] |= 1 << (fact % 64);
        }
        let mut game =
            Self { name: name.into(), rules: Arc::new(rules), start, facts: Arc::default(), costs: None };
        game.start.status = game.status_of(&game.start, None);
        if !game.start.status.goes_on() {
            return Err(GameError::new(format!("{name}: no operator is legal at the start")));
        }
        let before = game.players() as u8 - 1;
        if !game.status_of(&game.start, Some(before)).goes_on() {
            return Err(GameError::new(format!("{name}: a condition that ends the game holds at the start")));
        }
        let mut measure = Measure::new(&game);
        game.try_out(&mut measure)?;
        game.costs = Costs::new(&game, measure);
        // Only such relations distinguish the players.
        if game.rules.declaration.relations.iter().any(|relation| relation.is_fixed)
            && let Some(found) = game.asymmetry(TRIALS, WORK / game.cost())
        {
            notes::note(&format!("{name}: the players do not play the same game: {found}"));
        }
        Ok(game)
    }

    /// Plays a few random games, which must end, and measures the cost of following them.
    fn try_out(&self, measure: &mut Measure) -> Result<(), GameError> {
        let mut actions = Vec::new();
        let mut left = WORK / self.cost();
        for trial in 0..TRIALS {
            let (mut rng, mut state): (Stream, _) = (stream(0, "trial games", trial), self.start());
            let (mut moves, mut in_a_row) = (0, 0);
            measure.begin(self, &state);
            loop {
                let action = match self.turn(&state) {
                    Turn::Over => break,
                    Turn::Chance => {
                        in_a_row += 1;
                        self.sample(&state, &mut rng)
                    }
                    Turn::Player(_) => {
                        in_a_row = 0;
                        self.actions(&state, &mut actions);
                        actions[rng.random_range(0..actions.len())]
                    }
                };
                self.apply(&mut state, &action);
                measure.go(self, &state);
                moves += 1;
                left = left.saturating_sub(1);
                if left == 0 {
                    return Ok(());
                }
                if in_a_row > OUTCOMES {
                    return Err(GameError::new(format!(
                        "{}: chance came {OUTCOMES} times in a row in a random game; let its outcomes change what their conditions ask for",
                        self.name
                    )));
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

    /// The structure of the rules, computed on demand, or why there is none.
    pub(crate) fn structure(&self) -> &Result<Arc<Structure>, String> {
        self.facts.structure.get_or_init(|| {
            Structure::new(&self.rules).map(Arc::new).map_err(|e| format!("{}: {e}", self.name()))
        })
    }
}

impl Batch {
    /// Starts games with a random generator.
    ///
    /// # Errors
    /// If the game has chance or more than two players; [`Monitor`](crate::Monitor) and the methods of [`Game`] can
    /// play such games.
    pub fn new(game: &Declared, rng: &mut Stream) -> Result<Self, GameError> {
        Self::fits(game)?;
        let mut batch = Self::blank(&game.rules);
        batch.begin(&game.rules, &game.start(), u64::MAX, rng);
        Ok(batch)
    }

    /// Checks that lanes can play a game.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(crate) fn fits(game: &Declared) -> Result<(), GameError> {
        if game.has_chance() || game.players() > 2 {
            let what = if game.has_chance() { "chance" } else { "more than two players" };
            return Err(GameError::new(format!(
                "{}: a game with {what} cannot be played in lanes; play its games one by one",
                game.name()
            )));
        }
        Ok(())
    }
}

impl Game for Declared {
    type State = State;
    /// Index of an operator or an outcome of chance with its arguments, in the notation of the player to move.
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
            Status::Chance => Turn::Chance,
            _ => Turn::Over,
        }
    }

    fn actions(&self, state: &State, actions: &mut Vec<u32>) {
        actions.clear();
        if state.status == Status::Going {
            self.each_legal(state, |number| actions.push(number as u32));
        }
    }

    fn apply(&self, state: &mut State, &action: &u32) {
        let player = self.change(state, action);
        let status = self.status_after(state, player);
        self.arrive(state, player, status);
    }

    fn outcomes(&self, state: &State, outcomes: &mut Vec<(u32, f64)>) -> bool {
        let mut places: SmallVec<[usize; 64]> = SmallVec::new();
        if state.status == Status::Chance {
            self.each_chance(state, |place| places.push(place));
        }
        self.shares(places.into_iter(), outcomes);
        true
    }

    /// The other players share the loss of a winner equally, and the gain of a loser.
    fn utility(&self, state: &State, player: usize) -> f64 {
        let (of, amount, sign) = match state.status {
            Status::Won(of, amount) => (of, amount, 1.0),
            Status::Lost(of, amount) => (of, amount, -1.0),
            Status::Going | Status::Chance | Status::Drawn => return 0.0,
        };
        let own = sign * f64::from(amount) / f64::from(ONE);
        if usize::from(of) == player { own } else { -own / (self.players() as f64 - 1.0) }
    }

    fn scale(&self) -> f64 {
        f64::from(self.rules.amounts.last().copied().unwrap_or(ONE)) / f64::from(ONE)
    }

    /// The unit is points for a solitaire, or if some results count more than others.
    fn counting(&self) -> Counting {
        let is_counted = self.players() == 1 || self.rules.amounts.len() > 1;
        match is_counted {
            true => Counting::Unit(Unit { name: "points".into(), size: 1.0 }),
            false => Counting::Points,
        }
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        match self.stores_last() {
            true => (state.last != NONE).then_some(state.last.into()),
            false => (*state != self.start).then(|| self.before(state.mover).into()),
        }
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

    /// Parses a move: as printed, its words without signs, or only its first arguments if they are unique among the
    /// legal moves.
    fn parse_action(&self, state: &State, text: &str) -> Result<u32, GameError> {
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        text::find_action(text, &actions, |action| self.action_text(state, action))
    }
}

/// A declared game in words and pictures.
pub(super) struct Words;

impl Texts<Declared> for Words {
    fn rules(&self, game: &Declared) -> Option<String> {
        Some(text::rules(game))
    }

    fn board(&self, game: &Declared, state: &State, marks: &[(u32, String)], _: usize) -> String {
        text::board(game, state, marks)
    }
}
