//! Backgammon as a game: an opening roll, then the players roll and move in turn. Without the cube.

use super::state::{Action, Stage, State};
use super::{Position, Side, board, moves, notation};
use crate::dice::{MIXED, ROLLS, Roll};
use adept_game::{Counting, Game, GameError, Texts, Turn, Unit};
use rand::{Rng, RngExt};
use std::borrow::Cow;

/// The rules. A win counts one point, a gammon two, a backgammon three. The opening roll is never a double, and decides who begins
/// with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backgammon {
    checkers: u8,
}

impl Default for Backgammon {
    /// 15 checkers a side.
    fn default() -> Self {
        Self { checkers: 15 }
    }
}

/// Example moves for messages.
const EXAMPLE_MOVES: &str = "24/18 13/11, bar/22, 6/off or 8/5(2)";

/// Names of the rule sets by number of checkers.
const NAMES: [(u8, &str); 6] = [
    (15, "backgammon"),
    (3, "hypergammon"),
    (1, "backgammon:1"),
    (2, "backgammon:2"),
    (4, "backgammon:4"),
    (5, "backgammon:5"),
];

impl Backgammon {
    /// The game with this many checkers a side. None unless it is 15, or 1 to 5.
    pub fn new(checkers: u8) -> Option<Self> {
        NAMES.iter().any(|(n, _)| *n == checkers).then_some(Self { checkers })
    }

    /// The game named `backgammon`, `hypergammon` (3 checkers), or `backgammon:K`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "backgammon:15" => Some(Self::default()),
            "backgammon:3" => Self::new(3),
            _ => NAMES.iter().find(|(_, known)| *known == name).map(|&(checkers, _)| Self { checkers }),
        }
    }

    /// Number of checkers a side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }
}

impl Game for Backgammon {
    type State = State;
    type Action = Action;
    type Info = State;

    fn name(&self) -> &str {
        NAMES.iter().find(|(n, _)| *n == self.checkers).map_or("backgammon", |(_, name)| name)
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> State {
        State { stage: Stage::Opening, ..State::to_roll(Position::start(self.checkers)) }
    }

    #[inline]
    fn turn(&self, state: &State) -> Turn {
        match state.stage {
            _ if state.position().is_over() => Turn::Over,
            Stage::Opening | Stage::Roll => Turn::Chance,
            Stage::Move(_) => Turn::Player(state.player),
        }
    }

    /// The distinct results of the roll. A player who cannot move has one action, which changes nothing.
    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.clear();
        let Stage::Move(roll) = state.stage else { return };
        let position = state.position();
        if !position.is_over() {
            moves::results(position, roll, actions);
        }
    }

    #[inline]
    fn apply(&self, state: &mut State, action: &Action) {
        match *action {
            Action::Opening(player, roll) => {
                state.player = player;
                state.stage = Stage::Move(roll);
            }
            Action::Roll(roll) => state.stage = Stage::Move(roll),
            Action::Move(Position { own, opponent }) => {
                state.sides[state.player] = own;
                state.player = 1 - state.player;
                state.sides[state.player] = opponent;
                state.stage = Stage::Roll;
            }
        }
    }

    /// The 21 rolls; at the start, the 15 that are not doubles, for each player who may begin.
    fn outcomes(&self, state: &State, outcomes: &mut Vec<(Action, f64)>) -> bool {
        outcomes.clear();
        match (self.turn(state), state.stage) {
            (Turn::Chance, Stage::Opening) => {
                let begins = |player| {
                    ROLLS[..MIXED].iter().map(move |&roll| (Action::Opening(player, roll), 1.0 / 30.0))
                };
                outcomes.extend((0..2).flat_map(begins));
            }
            (Turn::Chance, _) => {
                outcomes.extend(ROLLS.map(|roll| (Action::Roll(roll), f64::from(roll.ways()) / 36.0)));
            }
            _ => {}
        }
        true
    }

    fn sample(&self, state: &State, rng: &mut dyn Rng) -> Action {
        if state.stage == Stage::Opening {
            let throw = rng.random_range(0..2 * MIXED);
            return Action::Opening(throw % 2, ROLLS[throw / 2]);
        }
        Action::Roll(Roll::throw(rng))
    }

    #[inline]
    fn utility(&self, state: &State, player: usize) -> f64 {
        let points = |loser: usize| f64::from(Position::result(state.sides[loser]).points());
        match state.sides.map(Side::is_done) {
            [false, false] => 0.0,
            [first, _] if first == (player == 0) => points(1 - player),
            _ => -points(player),
        }
    }

    fn scale(&self) -> f64 {
        3.0
    }

    fn counting(&self) -> Counting {
        Counting::Unit(Unit { name: Cow::Borrowed("points"), size: 1.0 })
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

    /// `place:checkers` of the side to roll or to move, `/`, the same of its opponent, then the roll if the player is to move:
    /// `24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31`. `start` before the opening roll.
    fn position_text(&self, state: &State) -> String {
        match state.stage {
            Stage::Opening => "start".into(),
            Stage::Move(roll) if !state.position().is_over() => format!("{} {roll}", state.position()),
            Stage::Roll | Stage::Move(_) => state.position().to_string(),
        }
    }

    /// Reads the format of [`Game::position_text`], with player 0 to roll or to move, and gnubg Position IDs and XGIDs, with a
    /// roll after them. The dice of an XGID or of a Match ID are the roll.
    fn parse_position(&self, text: &str) -> Result<(State, Option<Action>), GameError> {
        let text = text.trim();
        if text == "start" {
            return Ok((self.start(), None));
        }
        let fault =
            |why: &str| GameError::new(format!("`{text}` is not a position of {}: {why}", self.name()));
        let (position, roll) = Position::parse(text, self.checkers)?;
        position.check(self.checkers).map_err(|why| fault(&why))?;
        let state = State::to_roll(position);
        match roll {
            None => Ok((state, None)),
            Some(_) if position.is_over() => Err(fault("the game is over, so there is no roll to play")),
            Some(roll) => Ok((State { stage: Stage::Move(roll), ..state }, Some(Action::Roll(roll)))),
        }
    }

    /// A roll as `65`, a move as `24/18 13/11*`: see [`Backgammon::parse_action`](Game::parse_action).
    fn action_text(&self, state: &State, action: &Action) -> String {
        match (*action, state.stage) {
            (Action::Opening(player, roll), _) => format!("{} {roll}", player + 1),
            (Action::Roll(roll), _) => roll.to_string(),
            (Action::Move(after), Stage::Move(roll)) => {
                notation::text(state.position(), roll, after).unwrap_or_else(|| after.to_string())
            }
            (Action::Move(after), _) => after.to_string(),
        }
    }

    /// Reads a move checker by checker in any order, such as `24/18 13/11`. `bar/22` enters, `6/off` bears off, `8/5(2)` is two
    /// alike, `24/18/16` one checker with both dice; a `*` after a hit may be left out. `pass` is no move. A roll is `65`, an
    /// opening `1 65`: the number of the player who begins, and the roll.
    fn parse_action(&self, state: &State, text: &str) -> Result<Action, GameError> {
        let text = text.trim();
        match state.stage {
            _ if state.position().is_over() => Err(GameError::new("the game is over")),
            Stage::Move(roll) => notation::parse(state.position(), roll, text, EXAMPLE_MOVES)
                .map(Action::Move)
                .map_err(GameError::new),
            Stage::Roll => text.parse().map(Action::Roll),
            Stage::Opening => {
                let wrong = || {
                    GameError::new(format!(
                        "`{text}` is not an opening: write who begins, 1 or 2, and a roll without a double, such as 1 31"
                    ))
                };
                let (who, roll) = text.split_once(' ').ok_or_else(wrong)?;
                let player = match who {
                    "1" => 0,
                    "2" => 1,
                    _ => return Err(wrong()),
                };
                let roll: Roll = roll.trim().parse()?;
                if roll.is_double() { Err(wrong()) } else { Ok(Action::Opening(player, roll)) }
            }
        }
    }
}

/// Backgammon in words and pictures.
pub(super) struct Words;

impl Texts<Backgammon> for Words {
    fn rules(&self, game: &Backgammon) -> Option<String> {
        let start = if game.checkers == 15 {
            ""
        } else {
            "This game has fewer checkers, which begin on the points from 24 down.\n"
        };
        Some(format!(
            "{start}You move from point 24 down to 1, then off. Each die moves a checker by its number;\n\
             doubles are played four times. A point with two opposing checkers is blocked; a single\n\
             one is hit and goes to the bar, from where it must enter before anything else moves.\n\
             Once all your checkers are on 1 to 6, they may be borne off. If only one die can be\n\
             played, it is the larger one that can. A win counts 1, a gammon (the loser has borne off\n\
             none) 2, a backgammon (and has a checker on the bar or on your points 1 to 6) 3.\n\n\
             How to write a move: `24/18 13/11`, one part for each die. `bar/22` enters, `6/off` bears\n\
             off, `8/5(2)` moves two alike, `24/18/16` one checker by both dice. A `*` marks a hit and\n\
             may be left out. `pass` where nothing can move."
        ))
    }

    fn board(&self, game: &Backgammon, state: &State, marks: &[(Action, String)], seat: usize) -> String {
        let mut text = board::draw(state, seat);
        let actions: Vec<Action> = marks.iter().map(|(action, _)| *action).collect();
        let names = self.actions(game, state, &actions);
        let width = names.iter().map(String::len).max().unwrap_or(0);
        for (name, (_, mark)) in names.iter().zip(marks) {
            text.push_str(&format!("  {name:<width$}  {mark}\n"));
        }
        text
    }

    fn actions(&self, game: &Backgammon, state: &State, actions: &[Action]) -> Vec<String> {
        let afters: Vec<Position> = actions
            .iter()
            .filter_map(|action| if let Action::Move(after) = action { Some(*after) } else { None })
            .collect();
        match state.stage {
            // Formatting all moves at once takes as long as formatting one.
            Stage::Move(roll) if afters.len() == actions.len() => {
                let texts = notation::texts(state.position(), roll, &afters).into_iter().zip(afters);
                texts.map(|(text, after)| text.unwrap_or_else(|| after.to_string())).collect()
            }
            _ => actions.iter().map(|action| game.action_text(state, action)).collect(),
        }
    }

    fn chance(&self, game: &Backgammon, state: &State, action: &Action, seat: usize) -> String {
        let who = |player: usize, you: &str, it: &str| {
            if player == seat { you.to_string() } else { it.to_string() }
        };
        match action {
            Action::Opening(player, roll) => {
                format!("{} {roll:?}.", who(*player, "You begin with", "It begins with"))
            }
            Action::Roll(roll) => format!("{} {roll:?}.", who(state.player, "You roll", "It rolls")),
            Action::Move(_) => game.action_text(state, action),
        }
    }

    /// The Position ID and the roll, for 15 checkers a side.
    fn short(&self, game: &Backgammon, state: &State) -> String {
        match (game.checkers(), state.stage) {
            (15, Stage::Move(roll)) => format!("{} {roll}", state.position().id()),
            (15, Stage::Roll) => state.position().id(),
            _ => game.position_text(state),
        }
    }
}
