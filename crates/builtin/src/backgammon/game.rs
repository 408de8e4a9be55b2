//! Backgammon as a game: an opening roll, then the players roll and move in turn, in some rule sets with the cube.

use super::cube::HIGHEST;
use super::state::{Action, Stage, State};
use super::{LONGEST_MATCH, Position, Rules, Side, Stakes, Win, board, moves, notation, written};
use crate::dice::{MIXED, ROLLS, Roll};
use adept_game::{Counting, Game, GameError, Plain, Reduction, Texts, Turn, Unit};
use rand::{Rng, RngExt};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The rules. A win counts one point, a gammon two, a backgammon three. The opening roll is never a double, and decides who begins
/// with it.
///
/// With the cube, a money game counts these points times the cube, and a match is a game of games, which its winner wins. Before a roll
/// the player who may double decides whether to, and its opponent takes or drops. Either may resign at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backgammon {
    pub(super) checkers: u8,
    pub(super) rules: Rules,
}

impl Default for Backgammon {
    /// 15 checkers a side, without the cube.
    fn default() -> Self {
        Self { checkers: 15, rules: Rules::Cubeless }
    }
}

/// Example moves for messages.
const EXAMPLE_MOVES: &str = "24/18 13/11, bar/22, 6/off or 8/5(2)";

/// Names of the rule sets without the cube by number of checkers.
const NAMES: [(u8, &str); 6] = [
    (15, "backgammon"),
    (3, "hypergammon"),
    (1, "backgammon:1"),
    (2, "backgammon:2"),
    (4, "backgammon:4"),
    (5, "backgammon:5"),
];

/// The rule sets with the cube, and their names.
static WITH_CUBE: LazyLock<Vec<(Backgammon, String)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for &(checkers, base) in &NAMES[..2] {
        let mut add =
            |rules, name: String| all.push((Backgammon { checkers, rules }, format!("{base}:{name}")));
        for (jacoby, beavers, name) in [
            (true, false, "money"),
            (true, true, "money-beavers"),
            (false, false, "money-no-jacoby"),
            (false, true, "money-no-jacoby-beavers"),
        ] {
            add(Rules::Money { jacoby, beavers }, name.into());
        }
        for length in 1..=LONGEST_MATCH {
            add(Rules::Match { length }, format!("match-{length}"));
        }
    }
    all
});

impl Backgammon {
    /// The game with this many checkers a side, without the cube. None unless it is 15, or 1 to 5.
    pub fn new(checkers: u8) -> Option<Self> {
        Self::with_rules(checkers, Rules::Cubeless)
    }

    /// The game with this many checkers a side, played by these rules. None unless it is 15 or 3, or 1 to 5 without the cube, and a
    /// match has 1 to [`LONGEST_MATCH`] points.
    pub fn with_rules(checkers: u8, rules: Rules) -> Option<Self> {
        let game = Self { checkers, rules };
        let is_known = match rules {
            Rules::Cubeless => NAMES.iter().any(|(n, _)| *n == checkers),
            _ => WITH_CUBE.iter().any(|(known, _)| *known == game),
        };
        is_known.then_some(game)
    }

    /// The game named `backgammon`, `hypergammon` (3 checkers) or `backgammon:K`, or, with the cube, `backgammon:money`,
    /// `backgammon:match-7` and the like.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "backgammon:15" => return Some(Self::default()),
            "backgammon:3" => return Self::new(3),
            _ => {}
        }
        if let Some(&(checkers, _)) = NAMES.iter().find(|(_, known)| *known == name) {
            return Self::new(checkers);
        }
        WITH_CUBE.iter().find(|(_, known)| known == name).map(|(game, _)| *game)
    }

    /// Number of checkers a side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// What is played for.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Whether the game is played with the cube.
    pub fn has_cube(&self) -> bool {
        !matches!(self.rules, Rules::Cubeless)
    }

    /// Name of the game with as many checkers and without the cube.
    pub(super) fn without_cube(&self) -> &'static str {
        NAMES.iter().find(|(n, _)| *n == self.checkers).map_or("backgammon", |(_, name)| name)
    }

    /// Whether the player who takes a double may beaver.
    pub(super) fn allows_beavers(&self) -> bool {
        matches!(self.rules, Rules::Money { beavers: true, .. })
    }

    /// What is played for at the start.
    fn starting_stakes(&self) -> Stakes {
        Stakes::start(if let Rules::Match { length } = self.rules { length } else { 0 })
    }

    /// The winner of a game that has ended, and its points without the cube. None while it goes on.
    fn result(&self, state: &State) -> Option<(usize, u8)> {
        let (winner, win) = match state.stage {
            Stage::Dropped => (state.player, Win::Single),
            Stage::Resigned(win) => (state.player, win),
            _ => {
                let winner = state.sides.iter().position(|side| side.is_done())?;
                (winner, Position::result(state.sides[1 - winner]))
            }
        };
        let is_single = matches!(self.rules, Rules::Money { jacoby: true, .. })
            && state.stakes.owner().is_none()
            && !state.stakes.is_dead();
        Some((winner, if is_single { 1 } else { win.points() }))
    }

    /// The winner of the game that an action ends, and its points, cube included; of a match, one of its games. None if it goes on.
    pub(super) fn won_by(&self, state: &State, action: &Action) -> Option<(usize, u32)> {
        // A game of a match is a money game without the Jacoby rule, and stays where it ends.
        let single = match self.rules {
            Rules::Match { .. } => Self { rules: Rules::Money { jacoby: false, beavers: false }, ..*self },
            _ => *self,
        };
        let mut after = *state;
        single.apply(&mut after, action);
        let (winner, points) = single.result(&after)?;
        Some((winner, u32::from(points) * after.stakes.cube()))
    }

    /// The utility of a finished game with the cube for a player.
    fn utility_with_cube(&self, state: &State, player: usize) -> f64 {
        let won = match self.rules {
            Rules::Match { .. } if state.stakes.is_last() && self.turn(state) == Turn::Over => {
                // Published tables are not quite those of a zero-sum game.
                let value = state.stakes.match_value(self.checkers, 0);
                return if player == 0 { value } else { -value };
            }
            Rules::Match { .. } => state.stakes.winner().map(|winner| (winner, 1.0)),
            _ => self
                .result(state)
                .map(|(winner, points)| (winner, f64::from(points) * f64::from(state.stakes.cube()))),
        };
        won.map_or(0.0, |(winner, points)| if winner == player { points } else { -points })
    }

    /// What follows a move, a drop or a resignation in a game with the cube: the next game of a match, a decision to double, or nothing.
    fn proceed(&self, state: &mut State) {
        match (self.result(state), self.rules) {
            (Some((winner, points)), Rules::Match { .. }) => {
                state.stakes = state.stakes.after_game(winner, u32::from(points) * state.stakes.cube());
                if state.stakes.winner().is_none() && !state.stakes.is_last() {
                    let Position { own, opponent } = Position::start(self.checkers);
                    state.sides = [own, opponent];
                    state.stage = Stage::Opening;
                }
            }
            (Some(_), _) => {}
            (None, _) if state.stakes.may_double(state.player) => state.stage = Stage::Cube,
            (None, _) => {}
        }
    }

    /// A state in which nobody turns the cube any more, or in which a match is valued by its score after the present game.
    ///
    /// # Errors
    /// If there is no cube or no match, or a double waits for an answer.
    pub(super) fn reduced(&self, state: &State, reduction: Reduction) -> Result<State, GameError> {
        let Reduction { without_cube, one_game } = reduction;
        let fault = |why: &str| Err(GameError::new(format!("{}: {why}", self.name())));
        let waits = matches!(state.stage, Stage::Doubled | Stage::Beavered);
        match self.rules {
            Rules::Cubeless if without_cube => return fault("there is no cube to leave out"),
            Rules::Cubeless | Rules::Money { .. } if one_game => return fault("it is one game anyway"),
            _ if without_cube && waits => {
                return fault("a double waits for an answer, which the cube cannot be left out of");
            }
            _ => {}
        }
        let decides = matches!(state.stage, Stage::Cube | Stage::Rolling);
        let stage = if without_cube && decides { Stage::Roll } else { state.stage };
        Ok(State { stage, stakes: state.stakes.reduced(without_cube, one_game), ..*state })
    }

    /// The resignations of a player, the smallest loss first. None without the cube, where the classes of results say what a game is lost by.
    pub(super) fn resignations(&self, player: usize) -> Vec<Action> {
        let all = Win::ALL.map(|win| Action::Resign(player, win));
        if self.has_cube() { all.to_vec() } else { Vec::new() }
    }

    /// Reads a resignation of the player who decides or rolls.
    fn parse_resignation(&self, state: &State, text: &str) -> Option<Action> {
        let is_meant =
            |action: &Action| action.word().is_some_and(|word| word.split(' ').eq(text.split_whitespace()));
        self.resignations(state.actor()).into_iter().find(is_meant)
    }
}

impl Game for Backgammon {
    type State = State;
    type Action = Action;
    type Info = State;

    fn name(&self) -> &str {
        let named = match self.rules {
            Rules::Cubeless => Some(self.without_cube()),
            _ => WITH_CUBE.iter().find(|(game, _)| game == self).map(|(_, name)| &**name),
        };
        named.unwrap_or("backgammon")
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> State {
        State {
            stage: Stage::Opening,
            stakes: self.starting_stakes(),
            ..State::to_roll(Position::start(self.checkers))
        }
    }

    #[inline]
    fn turn(&self, state: &State) -> Turn {
        match state.stage {
            _ if state.position().is_over() => Turn::Over,
            Stage::Opening | Stage::Roll | Stage::Rolling => Turn::Chance,
            Stage::Move(_) | Stage::Cube | Stage::Beavered => Turn::Player(state.player),
            Stage::Doubled => Turn::Player(1 - state.player),
            Stage::Dropped | Stage::Resigned(_) => Turn::Over,
        }
    }

    /// The distinct results of the roll. A player who cannot move has one action, which changes nothing. Before a roll, whether to
    /// double; after a double, the answers to it.
    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.clear();
        let position = state.position();
        match state.stage {
            _ if position.is_over() => {}
            Stage::Move(roll) => moves::results(position, roll, actions),
            Stage::Cube => actions.extend([Action::NoDouble, Action::Double]),
            Stage::Doubled => {
                actions.extend([Action::Take, Action::Drop]);
                let may_beaver = self.allows_beavers() && state.stakes.can_turn(2);
                actions.extend(may_beaver.then_some(Action::Beaver));
            }
            Stage::Beavered => actions.extend([Action::Take, Action::Drop]),
            Stage::Opening | Stage::Roll | Stage::Rolling | Stage::Dropped | Stage::Resigned(_) => {}
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
                if self.has_cube() {
                    self.proceed(state);
                }
            }
            Action::NoDouble => state.stage = Stage::Rolling,
            Action::Double => state.stage = Stage::Doubled,
            Action::Take => {
                state.stakes = state.stakes.turned_to(1 - state.player);
                state.stage = if state.stage == Stage::Doubled { Stage::Roll } else { Stage::Rolling };
            }
            Action::Beaver => {
                state.stakes = state.stakes.turned_to(1 - state.player);
                state.stage = Stage::Beavered;
            }
            Action::Drop => {
                state.player = 1 - state.actor();
                state.stage = Stage::Dropped;
                self.proceed(state);
            }
            Action::Resign(player, win) => {
                state.player = 1 - player;
                state.stage = Stage::Resigned(win);
                self.proceed(state);
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
        if self.has_cube() {
            return self.utility_with_cube(state, player);
        }
        let points = |loser: usize| f64::from(Position::result(state.sides[loser]).points());
        match state.sides.map(Side::is_done) {
            [false, false] => 0.0,
            [first, _] if first == (player == 0) => points(1 - player),
            _ => -points(player),
        }
    }

    fn scale(&self) -> f64 {
        match self.rules {
            Rules::Cubeless => 3.0,
            Rules::Money { .. } => 3.0 * f64::from(HIGHEST),
            Rules::Match { .. } => 1.0,
        }
    }

    fn usual_result(&self) -> f64 {
        if matches!(self.rules, Rules::Money { .. }) { 3.0 } else { self.scale() }
    }

    fn counting(&self) -> Counting {
        match self.rules {
            Rules::Match { .. } => Counting::Wins,
            _ => Counting::Unit(Unit { name: Cow::Borrowed("points"), size: 1.0 }),
        }
    }

    fn zero_sum(&self) -> bool {
        true
    }

    fn info(&self, state: &State, _player: usize) -> State {
        *state
    }

    /// Moves count, and decisions about the cube do not.
    fn counts_as_ply(&self, state: &State) -> bool {
        matches!(state.stage, Stage::Move(_))
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        match state.stage {
            Stage::Move(_) => None,
            // Between the games of a match.
            Stage::Opening => (state.stakes != self.starting_stakes()).then_some(1 - state.player),
            Stage::Roll | Stage::Cube | Stage::Beavered | Stage::Dropped | Stage::Resigned(_) => {
                Some(1 - state.player)
            }
            Stage::Rolling | Stage::Doubled => Some(state.player),
        }
    }

    /// `place:checkers` of the side to roll or to move, `/`, the same of its opponent, then the roll if the player is to move:
    /// `24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31`. `start` before the opening roll. With the cube, an XGID in which player 0 has the
    /// capital letters, and after it `opening` before the opening roll of a further game of a match, `roll` if the player to roll has
    /// decided about the cube, `dropped` if its opponent has dropped and the game is over, `resigned`, `resigned-gammon` or
    /// `resigned-backgammon` if its opponent has resigned.
    fn position_text(&self, state: &State) -> String {
        match state.stage {
            _ if self.has_cube() => written::text(self, state),
            Stage::Opening => "start".into(),
            Stage::Move(roll) if !state.position().is_over() => format!("{} {roll}", state.position()),
            _ => state.position().to_string(),
        }
    }

    /// Reads the format of [`Game::position_text`], with player 0 to roll or to move, and gnubg Position IDs and XGIDs, with a
    /// roll after them. The dice of an XGID or of a Match ID are the roll. Games with the cube also read cube and score; without an ID
    /// that has them, the cube is in the middle and a match at its start.
    fn parse_position(&self, text: &str) -> Result<(State, Option<Action>), GameError> {
        let text = text.trim();
        if text == "start" {
            return Ok((self.start(), None));
        }
        if self.has_cube() {
            return written::read(self, text);
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

    /// A roll as `65`, a move as `24/18 13/11*`: see [`Backgammon::parse_action`](Game::parse_action). Decisions about the cube are
    /// `roll` and `double`, and `take`, `drop` and `beaver`. `resign`, `resign gammon` and `resign backgammon` are of the player who decides or
    /// rolls; those of its opponent are not read, and are written with its number, as `2 resign`.
    fn action_text(&self, state: &State, action: &Action) -> String {
        match (*action, state.stage) {
            (Action::Opening(player, roll), _) => format!("{} {roll}", player + 1),
            (Action::Roll(roll), _) => roll.to_string(),
            (Action::Move(after), Stage::Move(roll)) => {
                notation::text(state.position(), roll, after).unwrap_or_else(|| after.to_string())
            }
            (Action::Move(after), _) => after.to_string(),
            (Action::Resign(player, _), _) if player != state.actor() => {
                format!("{} {}", player + 1, action.word().unwrap_or_default())
            }
            (other, _) => other.word().unwrap_or_default().into(),
        }
    }

    /// Reads a move checker by checker in any order, such as `24/18 13/11`. `bar/22` enters, `6/off` bears off, `8/5(2)` is two
    /// alike, `24/18/16` one checker with both dice; a `*` after a hit may be left out. `pass` is no move. A roll is `65`, an
    /// opening `1 65`: the number of the player who begins, and the roll.
    fn parse_action(&self, state: &State, text: &str) -> Result<Action, GameError> {
        let text = text.trim();
        match state.stage {
            _ if self.turn(state) == Turn::Over => Err(GameError::new("the game is over")),
            _ if let Some(resignation) = self.parse_resignation(state, text) => Ok(resignation),
            Stage::Move(roll) => notation::parse(state.position(), roll, text, EXAMPLE_MOVES)
                .map(Action::Move)
                .map_err(GameError::new),
            Stage::Roll | Stage::Rolling => text.parse().map(Action::Roll),
            Stage::Dropped | Stage::Resigned(_) => Err(GameError::new("the game is over")),
            Stage::Cube | Stage::Doubled | Stage::Beavered => {
                let word = match text {
                    "no double" => "roll",
                    "redouble" => "double",
                    "pass" => "drop",
                    other => other,
                };
                let mut actions = Vec::new();
                self.actions(state, &mut actions);
                actions.iter().find(|action| action.word() == Some(word)).copied().ok_or_else(|| {
                    let known: Vec<&str> = actions.iter().filter_map(|action| action.word()).collect();
                    GameError::new(format!("`{text}` is not possible here: write {}", known.join(" or ")))
                })
            }
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

/// How to give a game up.
const RESIGNING: &str = "You may resign at any time: `resign`, `resign gammon` or `resign backgammon` loses 1, 2 or 3\ntimes the cube.";

/// Backgammon in words and pictures.
pub(super) struct Words;

impl Texts<Backgammon> for Words {
    fn rules(&self, game: &Backgammon) -> Option<String> {
        let start = if game.checkers == 15 {
            ""
        } else {
            "This game has fewer checkers, which begin on the points from 24 down.\n"
        };
        let cube = match game.rules {
            Rules::Cubeless => String::new(),
            Rules::Money { jacoby, beavers } => {
                let jacoby = match jacoby {
                    true => " While nobody has doubled, gammons and\nbackgammons count 1 (Jacoby).",
                    false => "",
                };
                let beavers = match beavers {
                    true => " Who takes may beaver: turn\nthe cube once more and keep it.",
                    false => "",
                };
                format!(
                    "\n\nBefore your roll you may double the value of the game, if nobody has done so or you took the\n\
                     last double. Your opponent takes, or drops and loses the value before it. The cube goes to\n\
                     64.{jacoby}{beavers} Write `roll` or `double`, and `take` or `drop`{}.\n{RESIGNING}",
                    if beavers.is_empty() { "" } else { " or `beaver`" }
                )
            }
            Rules::Match { length } => format!(
                "\n\nThe match goes to {length} points. Before your roll you may double what the game counts, if nobody\n\
                 has done so or you took the last double. Your opponent takes, or drops and loses the points\n\
                 before it. In the first game after a player comes within 1 point nobody doubles (Crawford), and\n\
                 nobody whom the game brings the match anyway. Write `roll` or `double`, and `take` or `drop`.\n\
                 {RESIGNING}"
            ),
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
             may be left out. `pass` where nothing can move.{cube}"
        ))
    }

    fn board(&self, game: &Backgammon, state: &State, marks: &[(Action, String)], seat: usize) -> String {
        let mut text = board::draw(game, state, seat);
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

    fn told(&self, game: &Backgammon, state: &State, action: &Action, who: &str, you: bool) -> String {
        let verb = |verb: &str| if you { verb.to_string() } else { format!("{verb}s") };
        let cube = state.stakes.cube();
        match action {
            Action::NoDouble => format!("{who} {} not double.", if you { "do" } else { "does" }),
            Action::Double => format!("{who} {} to {}.", verb("double"), 2 * cube),
            Action::Take => format!("{who} {} the cube at {}.", verb("take"), 2 * cube),
            Action::Drop => {
                let points = if cube == 1 { "point" } else { "points" };
                format!("{who} {} and {} {cube} {points}.", verb("drop"), verb("lose"))
            }
            Action::Beaver => format!("{who} {} to {}.", verb("beaver"), 4 * cube),
            Action::Resign(_, win) => {
                let points = match game.won_by(state, action) {
                    Some((_, 1)) => "1 point".into(),
                    Some((_, points)) => format!("{points} points"),
                    None => String::new(),
                };
                let what = match win {
                    Win::Single => "",
                    Win::Gammon => " a gammon",
                    Win::Backgammon => " a backgammon",
                };
                format!("{who} {}{what} and {} {points}.", verb("resign"), verb("lose"))
            }
            Action::Opening(..) | Action::Roll(_) | Action::Move(_) => {
                Plain.told(game, state, action, who, you)
            }
        }
    }

    /// The score after a game of a match that goes on.
    fn event(&self, game: &Backgammon, state: &State, action: &Action, seat: usize) -> Option<String> {
        let Rules::Match { length } = game.rules else { return None };
        let mut after = *state;
        game.apply(&mut after, action);
        let away = after.stakes.away().filter(|_| after.stage == Stage::Opening)?;
        let score = |player: usize| length - away[player];
        let (own, other) = (score(seat.min(1)), score(1 - seat.min(1)));
        let crawford = if after.stakes.is_crawford() { " The Crawford game follows." } else { "" };
        Some(format!("The score is {own} to {other} of {length}, yours first.{crawford}"))
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
            _ => game.action_text(state, action),
        }
    }

    /// The Position ID and the roll, for 15 checkers a side without the cube.
    fn short(&self, game: &Backgammon, state: &State) -> String {
        match (game.checkers(), state.stage) {
            _ if game.has_cube() => game.position_text(state),
            (15, Stage::Move(roll)) => format!("{} {roll}", state.position().id()),
            (15, Stage::Roll) => state.position().id(),
            _ => game.position_text(state),
        }
    }
}
