//! A declared game as a [`Game`].

use crate::batch::Batch;
use crate::circuit::with_values;
use crate::declaration::{Ending, Grade, ONE};
use crate::ground::Rules;
use crate::indices::Indices;
use crate::lanes::Pool;
use crate::monitor::{Measure, Pace};
use crate::structure::Structure;
use crate::text;
use adept_game::{Counting, Game, GameError, Stream, Texts, Turn, Unit, stream};
use adept_ground::notes;
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
    /// What it costs to follow a state. None if it is faster to compute all anew.
    pub(crate) pace: Option<Pace>,
}

/// What is computed once, when a command asks for it.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Whether the game has few states.
    pub(crate) states: OnceLock<Option<usize>>,
    /// What the encoder `rules` reads.
    pub(crate) structure: OnceLock<Result<Arc<Structure>, String>>,
    /// What the encoder `indices` reads.
    pub(crate) indices: OnceLock<Arc<Indices>>,
    /// Batches that wait for random games to play.
    pub(crate) batches: Pool<Batch>,
}

/// A position: which facts hold, whose turn it is, and how many moves were made if the game limits them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Bit f: fact f holds.
    pub(crate) facts: SmallVec<[u64; 2]>,
    pub(crate) mover: u8,
    /// Who moved last, where that does not follow from whose turn it is: in games with chance or more than one move in a row. [`NONE`]
    /// at the start and after chance. If chance ends a game, the player whose turn it was.
    pub(crate) last: u8,
    pub(crate) status: Status,
    /// Moves of players.
    pub(crate) moves: u32,
}

impl Clone for State {
    #[inline]
    fn clone(&self) -> Self {
        // A derived clone would copy word by word.
        Self { facts: SmallVec::from_slice(&self.facts), ..*self }
    }
}

/// Nobody.
pub(crate) const NONE: u8 = u8::MAX;

/// Whether the game goes on, and if not, who won or lost, and how much in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    Going,
    /// It goes on with an outcome of chance.
    Chance,
    Won(u8, u16),
    Lost(u8, u16),
    Drawn,
}

impl Status {
    /// A result of a player.
    #[inline]
    pub(crate) fn of((ending, amount): Grade, player: u8) -> Self {
        match ending {
            Ending::Win => Self::Won(player, amount),
            Ending::Lose => Self::Lost(player, amount),
            Ending::Draw => Self::Drawn,
        }
    }

    #[inline]
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Going | Self::Chance)
    }
}

/// Random games that a new game must end.
const TRIALS: u64 = 8;
/// Gates that may be read before a game is used: a fraction of a second.
pub(crate) const WORK: usize = 100_000_000;
/// Most outcomes of chance in a row in a random game.
const OUTCOMES: usize = 1_000;
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
            last: NONE,
            status: Status::Going,
            moves: 0,
        };
        for &fact in &rules.start {
            start.facts[fact as usize / 64] |= 1 << (fact % 64);
        }
        let mut game =
            Self { name: name.into(), rules: Arc::new(rules), start, facts: Arc::default(), pace: None };
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
        game.pace = Pace::of(&game, measure);
        // Nothing but such relations tells the players apart.
        if game.rules.declaration.relations.iter().any(|relation| relation.is_fixed)
            && let Some(found) = game.asymmetry(TRIALS, WORK / game.cost())
        {
            notes::note(&format!("{name}: the players do not play the same game: {found}"));
        }
        Ok(game)
    }

    /// Gates and facts that a move reads.
    pub(crate) fn cost(&self) -> usize {
        let view = &self.rules.views[0];
        let moves = view.legal.outputs().len() + view.chance.outputs().len();
        view.legal.cost() + view.chance.cost() + view.over.cost() + moves + self.rules.facts.len()
    }

    /// Plays a few random games, which must end, and measures what it costs to follow them.
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

    /// The status of a position after a move of `last`, or after chance in the turn of `last`.
    pub(crate) fn status_of(&self, state: &State, last: Option<u8>) -> Status {
        let rules = &self.rules;
        with_values(&state.facts, rules.facts.len(), |values| {
            if let Some(last) = last {
                let view = &rules.views[usize::from(last)];
                let mut status = None;
                view.over.find_by(values, |output| {
                    status = Some(Status::of(view.results[output], last));
                    true
                });
                if let Some(status) = status {
                    return status;
                }
            }
            let view = &rules.views[usize::from(state.mover)];
            if let Some(status) = self.at_limit(state.moves) {
                return status;
            }
            match () {
                () if view.chance.find_by(values, |_| true) => Status::Chance,
                () if view.legal.find_by(values, |_| true) => Status::Going,
                () => Status::of(rules.declaration.stuck, state.mover),
            }
        })
    }

    /// The result of a game that has reached its limit of moves.
    #[inline]
    pub(crate) fn at_limit(&self, moves: u32) -> Option<Status> {
        let declaration = &self.rules.declaration;
        let is_reached = declaration.limit.is_some_and(|limit| moves >= limit);
        is_reached.then_some(if declaration.players == 1 { Status::Lost(0, ONE) } else { Status::Drawn })
    }

    /// The player whose turn is before that of this one.
    pub(crate) fn before(&self, player: u8) -> u8 {
        player.checked_sub(1).unwrap_or(self.players() as u8 - 1)
    }

    /// Whether a state tells who moved last.
    pub(crate) fn tells_last(&self) -> bool {
        self.players() > 1 && !self.rules.alternates
    }

    /// Notes that a move was made in the turn of `last`, before the status is found.
    #[inline]
    pub(crate) fn pass_turn(&self, state: &mut State, by_chance: bool, stays: bool) {
        if self.tells_last() {
            state.last = if by_chance { NONE } else { state.mover };
        }
        if !stays {
            state.mover = self.rules.next(state.mover);
        }
        if !by_chance && self.rules.declaration.limit.is_some() {
            state.moves += 1;
        }
    }

    /// Makes a move, or has an outcome of chance, but does not say how the game stands then. Returns whose turn it was.
    #[inline]
    pub(crate) fn change(&self, state: &mut State, action: u32) -> u8 {
        let player = state.mover;
        let effects = &self.rules.views[usize::from(player)].effects[action as usize];
        // Conditions are those of the state before the move.
        let mut changes: SmallVec<[(u32, bool); 8]> = SmallVec::new();
        let mut asked = false;
        if let Some((cone, changed)) = &effects.conditional {
            cone.find(&state.facts, |output| {
                match changed.get(output) {
                    Some(&change) => changes.push(change),
                    None => asked = true,
                }
                false
            });
        }
        effects.clear.iter().for_each(|&fact| state.write(fact, false));
        changes.iter().filter(|(_, adds)| !adds).for_each(|&(fact, _)| state.write(fact, false));
        effects.set.iter().for_each(|&fact| state.write(fact, true));
        changes.iter().filter(|(_, adds)| *adds).for_each(|&(fact, _)| state.write(fact, true));
        self.pass_turn(state, self.rules.is_chance(action), effects.keeps_turn(|| asked));
        player
    }

    /// Notes how the game stands after a move in the turn of `player`.
    #[inline]
    pub(crate) fn arrive(&self, state: &mut State, player: u8, status: Status) {
        state.status = status;
        if !status.goes_on() && self.tells_last() {
            state.last = player;
        }
    }

    /// The outcomes of chance with these places among them, whose probabilities are their shares of the weight of all.
    pub(crate) fn shares(&self, places: impl Iterator<Item = usize>, outcomes: &mut Vec<(u32, f64)>) {
        outcomes.clear();
        outcomes.extend(places.map(|place| {
            let number = self.rules.acts + place;
            (number as u32, f64::from(self.rules.moves[number].weight))
        }));
        let all: f64 = outcomes.iter().map(|(_, weight)| weight).sum();
        outcomes.iter_mut().for_each(|(_, weight)| *weight /= all);
    }

    /// Facts as another player sees them.
    pub(crate) fn seen_by(&self, state: &State, player: usize) -> SmallVec<[u64; 2]> {
        if player == 0 {
            return state.facts.clone();
        }
        // What the other players' turns make of a fact is undone by the turns that are left of a round.
        let turned = &self.rules.turned[self.players() - player];
        let mut seen = SmallVec::from_elem(0, state.facts.len());
        for (word, &bits) in state.facts.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let fact = turned[word * 64 + bits.trailing_zeros() as usize] as usize;
                seen[fact / 64] |= 1 << (fact % 64);
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
    /// Number of an operator or an outcome of chance with its arguments, as the player to move has them.
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

    /// What one player wins, the others pay in equal parts, and the other way round.
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

    /// Results are points if a game is played alone, or counts more than others.
    fn counting(&self) -> Counting {
        let is_counted = self.players() == 1 || self.rules.amounts.len() > 1;
        match is_counted {
            true => Counting::Unit(Unit { name: "points".into(), size: 1.0 }),
            false => Counting::Points,
        }
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        match self.tells_last() {
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

    /// Takes a move as it is printed, its words without signs, or only its first arguments if no other legal move has them.
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
