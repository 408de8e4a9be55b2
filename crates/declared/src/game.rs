//! A declared game as a [`Game`].

use crate::batch::{Batch, LONGEST};
use crate::declaration::ONE;
use crate::declared::Declared;
use crate::followed::Pace;
use crate::ground::Rules;
use crate::monitor::Measure;
use crate::state::{<<<---NONE|||Measure===Costs--->>>, <<<---State, Status|||Pace===Measure--->>>};
use crate::structure::Structure;
use crate::text;
use adept_game::{Game, GameError, Stream, Turn, Unit, stream};
use adept_ground::notes;
use rand::RngExt;
use smallvec::SmallVec;
use std::sync::Arc;

<<<---|||/// A game from a rule file. Copies share the compiled rules.
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

===/// A game from a rule file. Copies share the compiled rules.
#[derive(Clone, Debug)]
pub struct Declared {
    name: Arc<str>,
    pub(crate) rules: Arc<Rules>,
    start: State,
    pub(crate) facts: Arc<Facts>,
    /// Cost of following a state incrementally. None if recomputing it is faster.
    pub(crate) costs: Option<Costs>,
}

/// Data that is computed once, on demand.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Number of states, if the game is small.
    pub(crate) states: OnceLock<Option<usize>>,
    /// Input of the encoder `rules`.
    pub(crate) structure: OnceLock<Result<Arc<Structure>, String>>,
    /// Input of the encoder `indices`.
    pub(crate) indices: OnceLock<Arc<Indices>>,
    /// Idle batches for random games.
    pub(crate) batches: Pool<Batch>,
}

/// A position: the facts that hold, the player to move, and the number of moves if the game limits them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Bit f: fact f holds.
    pub(crate) facts: SmallVec<[u64; 2]>,
    pub(crate) mover: u8,
    /// The player who moved last, in games with chance or repeated turns, where the turn does not determine it.
    /// [`NONE`] at the start and after chance. If chance ends a game, the player whose turn it was.
    pub(crate) last: u8,
    pub(crate) status: Status,
    /// Number of the players' moves.
    pub(crate) moves: u32,
}

impl Clone for State {
    #[inline]
    fn clone(&self) -> Self {
        // A derived clone would copy word by word.
        Self { facts: SmallVec::from_slice(&self.facts), ..*self }
    }
}

/// No player.
pub(crate) const NONE: u8 = u8::MAX;

/// Whether the game continues; otherwise who won or lost, and the amount in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    Going,
    /// The game continues with an outcome of chance.
    Chance,
    Won(u8, u16),
    Lost(u8, u16),
    Drawn,
}

impl Status {
    /// The status after a result of `player`.
    #[inline]
    pub(crate) fn from_grade((ending, amount): Grade, player: u8) -> Self {
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

--->>>/// Number of random games that a new game must finish.
const TRIALS: u64 = 8;
/// Limit on gates read before a game is used: a fraction of a second.
pub(crate) const WORK: usize = 100_000_000;
/// Most consecutive outcomes of chance in a random game.
const OUTCOMES: usize = 1_000;
<<<---|||/// Moves in which a random game must end if the rules give no limit.
pub(crate) const LONGEST: usize = 20_000;
===/// Longest random game, if the rules give no limit.
pub(crate) const LONGEST: usize = 20_000;
--->>>
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

<<<---|||    /// Gates and facts that a move reads.
    pub(crate) fn cost(&self) -> usize {
        let view = &self.rules.views[0];
        let moves = view.legal.outputs().len() + view.chance.outputs().len();
        view.legal.cost() + view.chance.cost() + view.over.cost() + moves + self.rules.facts.len()
    }

===    /// Number of gates and facts that a move reads.
    pub(crate) fn cost(&self) -> usize {
        let view = &self.rules.views[0];
        let moves = view.legal.outputs().len() + view.chance.outputs().len();
        view.legal.cost() + view.chance.cost() + view.over.cost() + moves + self.rules.facts.len()
    }

--->>>    /// Plays a few random games, which must end, and measures the cost of following them.
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

    /// The structure of the rules, made when it is first asked for. Or why there is none.
    pub(crate) fn structure(&self) -> &Result<Arc<Structure>, String> {
        self.facts.structure.get_or_init(|| {
            Structure::of(&self.rules).map(Arc::new).map_err(|e| format!(<<<---"|||Status::of(view.results[output], last));
                    true
                });
                if let Some(status) = status ===Status::from_grade(view.results[output], last));
                    true
                });
                if let Some(status) = status --->>>{}: {e}", self.name())<<<---||| => Status::of(rules.declaration.stuck, state.mover=== => Status::from_grade(rules.declaration.stuck, state.mover--->>>)
        })
    }
}

impl Batch {
    /// Games from <<<---the|||whose===before--->>> <<<---start,|||turn===this--->>> <<<---drawn|||is===one--->>> <<<---by|||before that of===in turn order--->>><<<---generator|||one===--->>>.
    ///
    /// # <<<---Errors|||a state tells who moved last.
    pub(crate) fn tells_last(&self) -> bool {
        self.players() > 1 && !self.rules.alternates
    }
===states store who moved last.
    pub(crate) fn stores_last(&self) -> bool {
        self.players() > 1 && !self.rules.alternates
    }
--->>>
    /// <<<---That|||Notes===Advances--->>> <<<---the|||that===the turn after--->>> game has<<<---chance|||was===--->>><<<---or|||made===--->>> more than two players; [`Monitor`<<<---|||, before the status is found.
    #[inline===, before the status is computed.
    #[inline--->>>](crate::Monitor) and <<<---the|||self.tells_last()===self.stores_last()--->>> <<<---methods|||{
            state.last = if by_chance { NONE } else { state.mover };
        }
        if !stays {
            state.mover = self.rules.next(state.mover);
        }
        if !by_chance && self.rules.declaration.limit.is_some() {
            state.moves += 1;
        }
    }

    /// Makes a move, or has an outcome==={
            state.last = if by_chance { NONE } else { state.mover };
        }
        if !stays {
            state.mover = self.rules.next(state.mover);
        }
        if !by_chance && self.rules.declaration.limit.is_some() {
            state.moves += 1;
        }
    }

    /// Applies a move or an outcome--->>> of [`Game`] <<<---play|||but does not say how the game stands then. Returns whose turn===without computing the status. Returns whose turn--->>> it.
    pub fn new(game: &Declared, rng: &mut Stream) -> Result<Self, GameError> {
        Self::fits(game)?;
<<<---|||        // Conditions are those of the state before the move.
===        // Conditions refer to the state before the move.
--->>>        let mut batch = Self::blank(&game.rules);
        batch.begin(&game.rules, &game.start(), u64::MAX, rng);
        Ok(batch)
    }

    /// <<<---Whether|||Notes===Stores--->>><<<---games|||how===--->>> can <<<---be|||game===status--->>><<<---played|||stands after a move=== after a move--->>> in lanes.
    ///
    /// # <<<---Errors|||arrive(&self, state: &mut State, player: u8, status: Status) {
        state.status = status;
        if !status.goes_on() && self.tells_last() {
            state.last = player;
        }
    }
===arrive(&self, state: &mut State, player: u8, status: Status) {
        state.status = status;
        if !status.goes_on() && self.stores_last() {
            state.last = player;
        }
    }
--->>>
    /// <<<---As|||The===Adds the--->>> <<<---[`new`](Self::new)|||outcomes of chance with these places among them, whose probabilities are their shares of the weight of all===outcomes of chance with these indices; probabilities are shares of the total weight--->>>.
    pub(crate) fn fits(game: &Declared) -> Result<(), GameError> {
        if game.has_chance() || game.players() <<<---|||weight)| *weight /= all);
    }

    /// Facts as another player sees them.
    pub(crate) fn seen_by(&self, state: &State, player: usize) -===weight)| *weight /= all);
    }

    /// The facts from another player's view.
    pub(crate) fn seen_by(&self, state: &State, player: usize) ---->>>> 2 {
            let what = if game.has_chance() <<<---{|||What===Undoing--->>> "chance" } else { <<<---"more|||make===equals--->>> <<<---than|||of===applying--->>> <<<---two|||a===the--->>> <<<---|||fact is undone by the turns that are left of a round.
        let turned = &self.rules.turned[self.===remaining turns of a round.
        let turned = &self.rules.turned[self.--->>>players" };
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
    fn unit(&self) -> Option<Unit> {
        let is_counted = self.players() == 1 || self.rules.amounts.len() > 1;
        is_counted.then_some(Unit { name: "points".into(), size: 1.0 })
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

    fn rules_text(&self) -> Option<String> {
        Some(text::rules(self))
    }

    fn board(&self, state: &State, marks: &[(u32, String)]) -> String {
        text::board(self, state, marks)
    }
}
