//! The bear-off as a game: chance draws a position, then the players roll and move in turn.

use super::{
    DicePosition, Distribution, MAX_CHECKERS, Moves, Position, ROLLS, Roll, Side, Situation, USUAL_CHECKERS,
    board, notation,
};
use adept_game::{Counting, Game, GameError, Texts, Turn};
use rand::Rng;

/// The rules. The first player without checkers wins: +1 against −1. Chance draws the start position uniformly from all
/// pairs of nonempty sides with at most the given number of checkers. Player 0 rolls first.
///
/// With at most 14 checkers, one has been borne off, so no gammon is possible. In the game of 15 checkers a gammon counts as a
/// simple win: values are those of winning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bearoff {
    checkers: u8,
}

/// The next step of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Chance draws the start position.
    Setup,
    /// The player rolls.
    Roll,
    /// The player moves.
    Move(Roll),
}

/// Both sides, the player to roll or move, and the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The sides of players 0 and 1. Empty before chance draws the start position.
    pub sides: [Side; 2],
    /// The player to roll or to move, 0 or 1.
    pub player: usize,
    /// The next step, unless the game is over.
    pub stage: Stage,
}

impl State {
    /// A position with player 0 to roll.
    pub fn to_roll(position: Position) -> Self {
        Self { sides: [position.own, position.opponent], player: 0, stage: Stage::Roll }
    }

    /// The position from the view of the player to roll or to move.
    pub fn position(&self) -> Position {
        Position { own: self.sides[self.player], opponent: self.sides[1 - self.player] }
    }

    /// Whether a player has borne off the last checker.
    pub fn is_over(&self) -> bool {
        self.stage != Stage::Setup && self.position().is_over()
    }
}

/// A chance outcome or a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The start position. `own` is the side of player 0.
    Setup(Position),
    /// A roll of the dice.
    Roll(Roll),
    /// A move to this side.
    Move(Side),
}

impl Default for Bearoff {
    /// 14 checkers a side.
    fn default() -> Self {
        Self { checkers: USUAL_CHECKERS }
    }
}

impl Bearoff {
    /// Largest number of checkers per side in any game.
    pub const MOST_CHECKERS: u8 = MAX_CHECKERS;

    /// The game with at most `checkers` checkers per side. None unless this is 1 to 15.
    pub fn new(checkers: u8) -> Option<Self> {
        (1..=Self::MOST_CHECKERS).contains(&checkers).then_some(Self { checkers })
    }

    /// The game named `bearoff`, or `bearoff:N` with at most N checkers per side. `bearoff` is `bearoff:14`.
    pub fn named(name: &str) -> Option<Self> {
        if name == "bearoff:14" {
            return Some(Self::default());
        }
        let place = NAMES.iter().position(|n| *n == name)?;
        Self::new(place as u8 + 1)
    }

    /// Largest number of checkers per side. A checker that is not on the board counts as borne off.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// Why a position does not belong to this game.
    pub(super) fn check(&self, position: Position) -> Result<(), String> {
        if position.own.is_empty() && position.opponent.is_empty() {
            return Err("both sides are empty".into());
        }
        let (found, most) = (position.checkers(), self.checkers);
        if found > most {
            let other = Self { checkers: found.max(USUAL_CHECKERS) };
            return Err(format!(
                "a side has {found} checkers, and `{}` at most {most}: `{}` is the game for it, with networks of its own",
                self.name(),
                other.name()
            ));
        }
        Ok(())
    }

    fn parse_move(&self, state: &State, roll: Roll, text: &str) -> Result<Side, GameError> {
        let side = state.sides[state.player];
        if !text.contains(',') {
            return notation::parse(side, roll, text).map_err(GameError::new);
        }
        let after: Side = text.parse()?;
        let mut afterstates = Vec::new();
        DicePosition { position: state.position(), roll }.afterstates(&mut afterstates);
        if afterstates.contains(&after) {
            return Ok(after);
        }
        Err(GameError::new(format!("no legal move with {roll} leads from {side} to {after}")))
    }
}

/// Names of the games by number of checkers, from 1.
const NAMES: [&str; Bearoff::MOST_CHECKERS as usize] = [
    "bearoff:1",
    "bearoff:2",
    "bearoff:3",
    "bearoff:4",
    "bearoff:5",
    "bearoff:6",
    "bearoff:7",
    "bearoff:8",
    "bearoff:9",
    "bearoff:10",
    "bearoff:11",
    "bearoff:12",
    "bearoff:13",
    "bearoff",
    "bearoff:15",
];

/// Reads `own/opponent`, with the checkers on points 1 to 6 of each side.
fn parse_sides(text: &str) -> Result<Position, String> {
    let (own, opponent) = text.split_once('/').ok_or("missing `/` between the two sides")?;
    let side = |text: &str| text.trim().parse::<Side>().map_err(|e| e.to_string());
    Ok(Position { own: side(own)?, opponent: side(opponent)? })
}

impl Game for Bearoff {
    type State = State;
    type Action = Action;
    type Info = State;

    fn name(&self) -> &str {
        NAMES[usize::from(self.checkers) - 1]
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> State {
        State { sides: [Side::EMPTY; 2], player: 0, stage: Stage::Setup }
    }

    #[inline]
    fn turn(&self, state: &State) -> Turn {
        match state.stage {
            _ if state.is_over() => Turn::Over,
            Stage::Setup | Stage::Roll => Turn::Chance,
            Stage::Move(_) => Turn::Player(state.player),
        }
    }

    /// Moves in ascending order of the resulting side.
    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.clear();
        let Stage::Move(roll) = state.stage else { return };
        if !state.is_over() {
            let (moves, Position { own, opponent }) = (Moves::shared(self.checkers), state.position());
            actions.extend(moves.afterstates(own.rank(), roll).map(Action::Move));
            // The next decision is usually the opponent's.
            moves.fetch(opponent.rank());
        }
    }

    #[inline]
    fn apply(&self, state: &mut State, action: &Action) {
        match *action {
            Action::Setup(position) => *state = State::to_roll(position),
            Action::Roll(roll) => state.stage = Stage::Move(roll),
            Action::Move(side) => {
                state.sides[state.player] = side;
                state.player = 1 - state.player;
                state.stage = Stage::Roll;
            }
        }
    }

    /// The 21 rolls. Start positions can only be sampled: there are 38,759² for 14 checkers.
    fn outcomes(&self, state: &State, outcomes: &mut Vec<(Action, f64)>) -> bool {
        outcomes.clear();
        if self.turn(state) == Turn::Chance && state.stage == Stage::Roll {
            outcomes.extend(ROLLS.map(|roll| (Action::Roll(roll), f64::from(roll.ways()) / 36.0)));
        }
        state.stage != Stage::Setup
    }

    fn sample(&self, state: &State, rng: &mut dyn Rng) -> Action {
        if state.stage == Stage::Setup {
            return Action::Setup(Distribution::Table.sample(self.checkers, rng));
        }
        Action::Roll(Roll::throw(rng))
    }

    #[inline]
    fn utility(&self, state: &State, player: usize) -> f64 {
        match state.sides.map(Side::is_empty) {
            // Without a start position, no player has won.
            [true, true] | [false, false] => 0.0,
            [first, _] if first == (player == 0) => 1.0,
            _ => -1.0,
        }
    }

    fn counting(&self) -> Counting {
        Counting::Wins
    }

    fn zero_sum(&self) -> bool {
        true
    }

    fn info(&self, state: &State, _player: usize) -> State {
        *state
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        (state.stage == Stage::Roll).then_some(1 - state.player)
    }

    /// `own/opponent` with the checkers on points 1 to 6, then the roll if the player is to move. `own` is the side of
    /// the player to roll or to move. `start` if the start position is not drawn yet.
    fn position_text(&self, state: &State) -> String {
        match state.stage {
            Stage::Setup => "start".into(),
            Stage::Move(roll) if !state.is_over() => format!("{} {roll}", state.position()),
            Stage::Roll | Stage::Move(_) => state.position().to_string(),
        }
    }

    /// Reads the format of [`Game::position_text`], with player 0 to roll or to move, and gnubg Position IDs and XGIDs: see
    /// [`Situation`]. The roll is the action that led to the decision.
    fn parse_position(&self, text: &str) -> Result<(State, Option<Action>), GameError> {
        let text = text.trim();
        if text == "start" {
            return Ok((self.start(), None));
        }
        let Situation { position, roll } = text.parse().map_err(|error: GameError| {
            // Errors of one side show only that side's text.
            let message = error.to_string();
            if message.contains(text) { error } else { GameError::new(format!("`{text}`: {message}")) }
        })?;
        let fault =
            |why: &str| GameError::new(format!("`{text}` is not a position of {}: {why}", self.name()));
        self.check(position).map_err(|why| fault(&why))?;
        let state = State::to_roll(position);
        match roll {
            None => Ok((state, None)),
            Some(_) if position.is_over() => Err(fault("the game is over, so there is no roll to play")),
            Some(roll) => Ok((State { stage: Stage::Move(roll), ..state }, Some(Action::Roll(roll)))),
        }
    }

    /// A roll as `65`, a move as `6/off 5/4`: see [`Bearoff::parse_action`](Game::parse_action).
    fn action_text(&self, state: &State, action: &Action) -> String {
        match (*action, state.stage) {
            (Action::Setup(position), _) => position.to_string(),
            (Action::Roll(roll), _) => roll.to_string(),
            (Action::Move(after), Stage::Move(roll)) => {
                let side = state.sides[state.player];
                notation::text(side, roll, after)
            }
            (Action::Move(after), _) => after.to_string(),
        }
    }

    /// Reads a move checker by checker, such as `6/off 5/4`, in any order. One checker moved by several dice is `6/off`
    /// or `6/4/off`; equal moves are `2/off(2)`. The resulting side, `0,1,2,0,0,0`, also names a move. A roll is `65`.
    /// A start position is `own/opponent`.
    fn parse_action(&self, state: &State, text: &str) -> Result<Action, GameError> {
        let text = text.trim();
        match state.stage {
            _ if state.is_over() => Err(GameError::new("the game is over")),
            Stage::Move(roll) => self.parse_move(state, roll, text).map(Action::Move),
            Stage::Roll => text.parse().map(Action::Roll),
            Stage::Setup => {
                let position = parse_sides(text).map_err(GameError::new)?;
                self.check(position).map_err(GameError::new)?;
                if position.is_over() {
                    return Err(GameError::new("a start position needs checkers on both sides"));
                }
                Ok(Action::Setup(position))
            }
        }
    }
}

/// The bear-off in words and pictures.
pub(super) struct Words;

impl Texts<Bearoff> for Words {
    fn rules(&self, _: &Bearoff) -> Option<String> {
        Some(
            "The end of a game of backgammon: all checkers are on the own points 1 to 6. Each die\n\
             moves one checker down by its number or takes it off from exactly that point; a larger\n\
             number takes off from the highest point that is left. Doubles are played four times.\n\
             Who is first to have no checkers wins.\n\n\
             How to write a move: `6/off 5/4`, one part for each die; `2/off(2)` for two alike."
                .into(),
        )
    }

    /// Draws both home boards with checkers as columns. Columns that are too high show their number. Marked moves
    /// follow below with their marks.
    fn board(&self, game: &Bearoff, state: &State, marks: &[(Action, String)], _: usize) -> String {
        let mut text = board::draw(game, state);
        let names: Vec<String> = marks.iter().map(|(action, _)| game.action_text(state, action)).collect();
        let width = names.iter().map(String::len).max().unwrap_or(0);
        for (name, (_, mark)) in names.iter().zip(marks) {
            text.push_str(&format!("  {name:<width$}  {mark}\n"));
        }
        text
    }

    fn chance(&self, game: &Bearoff, state: &State, action: &Action, seat: usize) -> String {
        match action {
            Action::Roll(roll) if state.player == seat => format!("You roll {roll:?}."),
            Action::Roll(roll) => format!("It rolls {roll:?}."),
            Action::Setup(_) | Action::Move(_) => {
                format!("The game begins with {}.", game.action_text(state, action))
            }
        }
    }
}
