//! A declared game as a [`Game`].

use super::batch::Batch;
use super::declaration::ONE;
use super::declared::Declared;
use super::followed::Costs;
use super::ground::Rules;
use super::monitor::Measure;
use super::state::{NONE, State, Status};
use super::text;
use crate::counting::{LONGEST, WORK};
use crate::kit::{Parallel, Words, kit};
use crate::lanes::{BYTES, Wide};
use crate::modules::Structure;
use crate::names::{SHIPPED, USUAL, is_gdl, source_of};
use crate::ruled::{OnDemand, Ruled};
use crate::text::find_action;
use adept_game::{
    Afterstate, Audit, Channel, ChannelKind, Counting, Game, GameError, OutcomeClass, RandomPlay, RuleText,
    Stream, Texts, Turn, Unit, stream,
};
use adept_ground::notes;
use rand::RngExt;
use smallvec::SmallVec;
use std::path::Path;
use std::sync::Arc;

/// Number of random games that a new game must finish.
const TRIALS: u64 = 8;
/// Games that take as long side by side as one by one.
const FEW: usize = 4;
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
        let mut game = Self {
            name: name.into(),
            rules: Arc::new(rules),
            start,
            on_demand: Arc::default(),
            batches: Arc::default(),
            costs: None,
        };
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

    /// The game that `name` names: `file:PATH` for a rule file, `declared:NAME` for one that comes with adept. None if the name
    /// has another form; names that end in `.kif` are those of [`Described`](crate::Described).
    pub fn named(name: &str) -> Option<Result<Self, GameError>> {
        let source = if is_gdl(name) { None } else { source_of(name) }?;
        Some(source.and_then(|source| {
            check_format(name, &source)?;
            Self::read(name, &source)
        }))
    }
}

/// Refuses a file in another language.
fn check_format(name: &str, source: &str) -> Result<(), GameError> {
    let Some(path) = name.strip_prefix("file:") else { return Ok(()) };
    let ending = Path::new(path).extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let format = match &ending[..] {
        "efg" => "a game tree in the format of Gambit",
        "nfg" | "agg" | "bagg" => "a game in a matrix form of Gambit",
        "lud" => "a game in the language of Ludii",
        "zrf" => "a game for Zillions of Games",
        "rbg" => "a game in Regular Boardgames",
        _ if source.trim_start().starts_with(['(', ';']) => {
            return Err(GameError::new(format!(
                "{name}: this looks like GDL, which is read from files that end in `.kif`: rename it"
            )));
        }
        _ => return Ok(()),
    };
    Err(GameError::new(format!(
        "{name}: a file `.{ending}` is {format}, which adept does not read; it reads rules in its own form, which begin with \
         `game \"NAME\"`, and GDL-I in files that end in `.kif`"
    )))
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
        batch.begin(&game.start(), u64::MAX, rng);
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
        find_action(self, state, text)
    }
}

impl Texts<Declared> for Words {
    fn rules(&self, game: &Declared) -> Option<String> {
        Some(text::rules(game))
    }

    fn board(&self, game: &Declared, state: &State, marks: &[(u32, String)], _: usize) -> String {
        text::board(game, state, marks)
    }
}

kit!(Declared);

impl Ruled for Declared {
    const BITS: &'static str =
        "a bit for every fact, as the player who moved sees it; a key of all for tables";

    type Seen<'a> = SmallVec<[u64; 2]>;

    fn on_demand(&self) -> &OnDemand {
        &self.on_demand
    }

    fn cost(&self) -> usize {
        self.rules.cost()
    }

    fn about(&self) -> String {
        let declaration = &self.rules.declaration;
        let about = declaration.about.clone().unwrap_or_else(|| declaration.name.clone());
        if self.name() != USUAL {
            return about;
        }
        let others: Vec<&str> =
            SHIPPED.iter().map(|(name, _)| *name).filter(|name| !USUAL.ends_with(name)).collect();
        format!("{about}; file:PATH for a rule file of your own, declared:NAME for {}", others.join(", "))
    }

    fn classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        match self.players() {
            1 => Err(GameError::new(format!("{}: a game for one has no winner", self.name()))),
            2 => Ok(classes(&self.rules.amounts)),
            n => Err(GameError::new(format!("{}: a game for {n} has no classes of results", self.name()))),
        }
    }

    /// Moves are in the notation of the player to move.
    fn acts(&self) -> usize {
        self.rules.acts
    }

    fn named_facts(&self) -> Vec<(String, Vec<String>)> {
        let declaration = &self.rules.declaration;
        let fact = |(relation, tuple): &(usize, Vec<u16>)| {
            let args = tuple.iter().map(|&object| declaration.objects[usize::from(object)].clone());
            (declaration.relations[*relation].name.clone(), args.collect())
        };
        self.rules.facts.iter().map(fact).collect()
    }

    fn modules(&self) -> Result<Structure, String> {
        self.rules.structure()
    }

    fn seen(&self, state: &State, player: usize) -> SmallVec<[u64; 2]> {
        state.seen_by(&self.rules, player)
    }

    fn further_channels(&self) -> Vec<Channel> {
        let position = match self.stores_last() {
            false => "hash of all facts, as the player who moved sees them",
            true => "hash of all facts, as the player who moved sees them, and of whose turn is next",
        };
        let key = Channel::fixed("position", ChannelKind::Key, position);
        self.turn_channel().into_iter().chain([key]).collect()
    }

    /// Whose turn is next, counted from the player who moved, unless that follows from who moved.
    fn marks(&self, after: Afterstate<'_, Self>) -> SmallVec<[usize; 2]> {
        let players = self.players();
        let next = (usize::from(after.state.mover) + players - after.player) % players;
        self.stores_last().then_some(next).into_iter().collect()
    }

    fn key(&self, after: Afterstate<'_, Self>) -> SmallVec<[u64; 2]> {
        let moves = u64::from(after.state.moves);
        [moves].into_iter().chain(self.marks(after).into_iter().map(|mark| mark as u64)).collect()
    }

    /// A name in a rule file has no `-`.
    fn turn_channel(&self) -> Option<Channel> {
        let about = "whose turn is next, counted from the player who moved; it may begin with chance";
        let channel = Channel::fixed("whose-turn", ChannelKind::Bits(self.players()), about);
        self.stores_last().then_some(channel)
    }

    /// A game with chance and without a limit may come back to a state.
    fn may_return(&self) -> bool {
        self.has_chance() && self.rules.declaration.limit.is_none()
    }

    fn has_perfect_play(&self) -> bool {
        !self.has_chance() && self.players() <= 2
    }
}

impl RuleText for Declared {
    fn audit(&self, games: u64) -> Option<Audit> {
        Some(self.audited(games))
    }
}

impl RandomPlay<Declared> for Parallel {
    /// None for games that cannot be played in lanes, for so few games that they are played as fast one by one, if the values of a batch
    /// would take more than 32 MiB, or if games do not end in 20,000 moves.
    fn games(&self, game: &Declared, state: &State, games: usize, rng: &mut Stream) -> Option<Vec<f64>> {
        if games < FEW || game.cost() > BYTES / size_of::<Wide>() || Batch::fits(game).is_err() {
            return None;
        }
        // A batch counts wins, not what they are worth.
        if game.rules.amounts.len() > 1 {
            return None;
        }
        let play = |batch: &mut Batch| batch.games(state, games as u64, rng);
        let sum = game.batches.with(|| Batch::blank(&game.rules), play)?.sum() * game.scale();
        Some(if game.players() == 1 { vec![sum] } else { vec![sum, -sum] })
    }
}

/// The classes of results of two players if wins and losses count this much, in hundredths.
fn classes(amounts: &[u16]) -> Vec<OutcomeClass> {
    let Some(&most) = amounts.last().filter(|_| amounts != [ONE]) else {
        return OutcomeClass::loss_draw_win();
    };
    let name = |word: &str, amount: u16| match (amount / ONE, amount % ONE) {
        (1, 0) => word.to_string(),
        (whole, 0) => format!("{word}_{whole}"),
        (whole, rest) => format!("{word}_{whole}_{rest:02}"),
    };
    let count = amounts.len();
    let worth = |amount: u16| f32::from(amount) / f32::from(most);
    let losses = amounts.iter().rev().enumerate();
    let losses =
        losses.map(|(i, &amount)| OutcomeClass::new(name("loss", amount), -worth(amount), 2 * count - i));
    let wins = amounts.iter().enumerate();
    let wins = wins.map(|(i, &amount)| OutcomeClass::new(name("win", amount), worth(amount), count - 1 - i));
    losses.chain([OutcomeClass::new("draw", 0.0, count)]).chain(wins).collect()
}
