//! Positions of games with the cube as text: an XGID, or a Position ID with a Match ID.

use super::cube::{Scoring, Terms};
use super::position::{self, Position};
use super::{Action, Backgammon, LONGEST_MATCH, MatchState, Offer, Rules, Stage, Stakes, State, Win};
use crate::dice::Roll;
use adept_game::{Game, GameError, Turn};

/// The word after the XGID of a position before the opening roll of a further game of a match.
const OPENING: &str = "opening";
/// The word after the XGID of a position in which the player to roll has decided about the cube.
const ROLL: &str = "roll";
/// The word after the XGID of a game that the opponent of the player has dropped.
const DROPPED: &str = "dropped";
/// The words after the XGID of a game that the opponent of the player has resigned.
const RESIGNED: [(&str, Win); 3] =
    [("resigned", Win::Single), ("resigned-gammon", Win::Gammon), ("resigned-backgammon", Win::Backgammon)];

/// What a word after a position means.
#[derive(Clone, Copy)]
enum Word {
    Opening,
    Roll,
    Dropped,
    Resigned(Win),
}

impl Word {
    fn parse(text: &str) -> Option<Self> {
        let resigned = || RESIGNED.iter().find(|(word, _)| *word == text);
        match text {
            OPENING => Some(Self::Opening),
            ROLL => Some(Self::Roll),
            DROPPED => Some(Self::Dropped),
            _ => resigned().map(|(_, win)| Self::Resigned(*win)),
        }
    }
}

/// A position as text.
pub(super) fn text(game: &Backgammon, state: &State) -> String {
    let xgid = || {
        let [capitals, lowercase] = state.sides.map(position::whole);
        match_state(game, state).xgid(&capitals, &lowercase)
    };
    match state.stage {
        Stage::Opening if *state == game.start() => "start".into(),
        Stage::Opening => format!("{} {OPENING}", xgid()),
        Stage::Rolling => format!("{} {ROLL}", xgid()),
        Stage::Dropped => format!("{} {DROPPED}", xgid()),
        Stage::Resigned(win) => {
            let word = RESIGNED.iter().find(|(_, size)| *size == win).map_or("", |(word, _)| word);
            format!("{} {word}", xgid())
        }
        Stage::Roll | Stage::Move(_) | Stage::Cube | Stage::Doubled | Stage::Beavered => xgid(),
    }
}

/// Cube, score, roll and offer of a state.
fn match_state(game: &Backgammon, state: &State) -> MatchState {
    let Rules::Match { length } = game.rules() else {
        let (jacoby, beavers) = match game.rules() {
            Rules::Money { jacoby, beavers } => (jacoby, beavers),
            _ => (false, false),
        };
        return MatchState { jacoby, beavers: Some(beavers), ..with_cube(state) };
    };
    let away = state.stakes.away().unwrap_or_default();
    MatchState {
        length: u32::from(length),
        scores: away.map(|away| u32::from(length.saturating_sub(away))),
        crawford: state.stakes.is_crawford(),
        ..with_cube(state)
    }
}

/// Cube, roll and offer of a state.
fn with_cube(state: &State) -> MatchState {
    MatchState {
        turn: state.player,
        cube: state.stakes.cube(),
        owner: state.stakes.owner(),
        roll: match state.stage {
            Stage::Move(roll) if !state.position().is_over() => Some(roll),
            _ => None,
        },
        offer: match state.stage {
            Stage::Doubled => Some(Offer::Double),
            Stage::Beavered => Some(Offer::Beaver),
            _ => None,
        },
        ..MatchState::default()
    }
}

impl Backgammon {
    /// The cube and the score of a state of a game with the cube, seen by the player to roll, also while a double waits for an answer.
    pub fn terms(&self, state: &State) -> Terms {
        let terms = match_state(self, state).terms();
        // Without a cube gammons count.
        let scoring = match terms.scoring {
            Scoring::Money { .. } if state.stakes.is_dead() => Scoring::Money { jacoby: false },
            scoring => scoring,
        };
        Terms { scoring, ..terms }
    }

    /// GNU Backgammon's Position ID and Match ID, such as `4HPwATDgc/ABMA:cAngACAAIAAE`. None where the opening roll is next or the game
    /// is over. They do not tell whether the player to roll has decided not to double.
    pub fn gnubg_id(&self, state: &State) -> Option<String> {
        let is_over = self.turn(state) == Turn::Over;
        let id = || format!("{}:{}", state.position().id(), match_state(self, state).match_id());
        (state.stage != Stage::Opening && !is_over).then(id)
    }
}

/// Reads a position of a game with the cube.
///
/// # Errors
/// What was found and what was expected.
pub(super) fn read(game: &Backgammon, text: &str) -> Result<(State, Option<Action>), GameError> {
    let fault = |why: String| GameError::new(format!("`{text}` is not a position of {}: {why}", game.name()));
    let said = text.rsplit_once(char::is_whitespace);
    let (id, word) = match said.and_then(|(id, word)| Some((id, Word::parse(word)?))) {
        Some((id, word)) => (id.trim_end(), Some(word)),
        None => (text, None),
    };
    let (position, roll) = Position::parse_waiting(id, game.checkers())?;
    position.check(game.checkers()).map_err(fault)?;
    let known = if Position::lists_places(id) { None } else { MatchState::parse_finished(id)? };
    let (player, stakes) = match known {
        Some(known) => (known.turn, stakes(game, &known).map_err(fault)?),
        None => (0, game.start().stakes),
    };
    let (own, other) = (position.own, position.opponent);
    let sides = if player == 0 { [own, other] } else { [other, own] };
    let state = State { sides, player, stage: Stage::Roll, stakes };
    let step = NextStep { word, roll, offer: known.and_then(|known| known.offer) };
    let state = match stage(game, &state, &step).map_err(fault)? {
        Stage::Opening if stakes == game.start().stakes => game.start(),
        stage => State { stage, ..state },
    };
    let last = if let Stage::Move(roll) = state.stage { Some(Action::Roll(roll)) } else { None };
    Ok((state, last))
}

/// The cube and the score, if they are possible and belong to the rule set.
fn stakes(game: &Backgammon, known: &MatchState) -> Result<Stakes, String> {
    let MatchState { length, scores, .. } = *known;
    let rules = match u8::try_from(length) {
        Ok(0) => {
            let beavers = known.beavers.unwrap_or(game.allows_beavers());
            Rules::Money { jacoby: known.jacoby, beavers }
        }
        Ok(length @ 1..=LONGEST_MATCH) => Rules::Match { length },
        _ => return Err(format!("it is of a match to {length} points, and matches go to {LONGEST_MATCH}")),
    };
    if rules != game.rules() {
        let other = Backgammon::with_rules(game.checkers(), rules);
        return Err(format!("it is one of {}", other.as_ref().map_or("another game", |game| game.name())));
    }
    // Scores of a money session do not matter to a game.
    let away = if length == 0 { [Some(0); 2] } else { scores.map(|score| length.checked_sub(score)) };
    match away {
        [Some(0), Some(0)] if length > 0 => Err("a match has one winner".into()),
        [Some(first), Some(second)] => {
            Stakes::new(known.cube, known.owner, [first as u8, second as u8], known.crawford)
        }
        _ => Err(format!("a score is above {length}, the length of the match")),
    }
}

/// What a text says about the next step besides cube and score.
struct NextStep {
    word: Option<Word>,
    roll: Option<Roll>,
    offer: Option<Offer>,
}

/// The stage of a position that is complete but for it.
fn stage(game: &Backgammon, state: &State, step: &NextStep) -> Result<Stage, String> {
    let State { player, stakes, .. } = *state;
    let (position, is_match) = (state.position(), matches!(game.rules(), Rules::Match { .. }));
    // What a beaver leads to.
    let may_be_beavered = game.allows_beavers() && stakes.owner() == Some(1 - player);
    if step.roll.is_some() && (step.word.is_some() || step.offer.is_some()) {
        return Err("it has a roll, but no roll is to be played".into());
    }
    if step.word.is_some() && step.offer.is_some() {
        return Err("an offered double is answered before anything else".into());
    }
    let ended = state.sides.iter().position(|side| side.is_done());
    if ended.is_some() || stakes.winner().is_some() {
        return match (ended, stakes.winner()) {
            _ if step.roll.is_some() => Err("the game is over, so there is no roll to play".into()),
            _ if step.word.is_some() || step.offer.is_some() => {
                Err("the game is over, so there is nothing to decide".into())
            }
            (Some(_), None) if is_match => {
                Err("the game is over, and the match goes on with the next one".into())
            }
            (Some(winner), won) if !is_match || won == Some(winner) => Ok(Stage::Roll),
            _ => Err("the match is over, but its winner has not borne off all checkers".into()),
        };
    }
    match (step.word, step.offer) {
        (Some(Word::Opening), _) => {
            match position == Position::start(game.checkers()) && stakes.cube() == 1 {
                true if is_match => Ok(Stage::Opening),
                true => Err("a money game has one opening roll: write `start`".into()),
                false => Err("the opening roll is at the start, with the cube in the middle".into()),
            }
        }
        (Some(Word::Dropped | Word::Resigned(_)), _) if is_match => {
            Err("the match goes on with the next game".into())
        }
        (Some(Word::Resigned(win)), _) => Ok(Stage::Resigned(win)),
        (Some(Word::Dropped), _) if stakes.may_double(player) => Ok(Stage::Dropped),
        (Some(Word::Dropped), _) => Err("the player whose opponent has dropped could not double".into()),
        (Some(Word::Roll), _) => {
            let wrong = "the player to roll has nothing to decide about the cube: leave out `roll`";
            let has_decided = stakes.may_double(player) || may_be_beavered;
            if has_decided { Ok(Stage::Rolling) } else { Err(wrong.into()) }
        }
        (None, Some(Offer::Double)) if stakes.may_double(player) => Ok(Stage::Doubled),
        (None, Some(Offer::Double)) => Err("the player who has doubled may not turn the cube".into()),
        (None, Some(Offer::Beaver)) if may_be_beavered && stakes.can_turn(1) => Ok(Stage::Beavered),
        (None, Some(Offer::Beaver)) => Err("a beaver is not possible here".into()),
        (None, Some(Offer::Raccoon)) => Err("there are no raccoons".into()),
        (None, Some(Offer::Resignation { .. })) => {
            Err("a resignation waits for an answer, but here a resignation ends the game at once".into())
        }
        (None, None) => Ok(match step.roll {
            Some(roll) => Stage::Move(roll),
            None if stakes.may_double(player) => Stage::Cube,
            None => Stage::Roll,
        }),
    }
}
