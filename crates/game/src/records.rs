//! Whole games in the usual file format of a game.

use crate::game::{Game, GameError};
use crate::values::Found;
use std::path::Path;
use std::sync::Arc;

/// A whole game read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeGame<A> {
    /// The name of each player.
    pub names: Vec<String>,
    /// The position in which it begins, as [`Game::position_text`] writes it, if that is not the start: a game of a match may be read by
    /// itself.
    pub from: Option<String>,
    /// All moves and chance outcomes from there, each with the number that the file gives to the move, 0 if none. A game that was left
    /// or resigned ends before its end by the rules.
    pub actions: Vec<(u64, A)>,
    /// The utility of player 1, if the last position does not tell it: the game was ended early with a result, such as by a resignation,
    /// or it is a part of a longer game and this is its share.
    pub result: Option<f64>,
    /// What is wrong with the file where the game breaks off, with the line and the text; none if all of it was read.
    pub fault: Option<String>,
    /// The analysis by another program that the file holds, by ascending place.
    pub opinions: Vec<Opinion<A>>,
}

/// The analysis of one action by another program.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion<A> {
    /// The index of the action in [`WholeGame::actions`].
    pub place: usize,
    /// The judgement.
    pub says: Says<A>,
}

/// The judgement of an action by another program, in points as players of the game count them ([`Standard`]).
#[derive(Clone, Debug, PartialEq)]
pub enum Says<A> {
    /// The luck of a chance event for player 1.
    Luck(f64),
    /// The judgement of a decision.
    Decision {
        /// The program and its depth, such as `gnubg 2-ply`.
        judge: Arc<str>,
        /// The best action. It is legal.
        best: A,
        /// The value of the best action less that of the one that was played.
        lost: f64,
        /// The value of the best action less that of the worst one that the program names.
        behind: f64,
    },
}

/// The judgement of an action by an evaluator, to write down. Values are in units of utility.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement<A> {
    /// The index of the action in [`WholeGame::actions`].
    pub place: usize,
    /// The luck of a chance event for player 1.
    pub luck: Option<f64>,
    /// The actions of a decision that were considered, the best first; what was played is one of them.
    pub actions: Vec<JudgedAction<A>>,
}

/// An action of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedAction<A> {
    /// The action.
    pub action: A,
    /// Its value for the player.
    pub value: f64,
    /// The probability of each class of results after it for the player, as a network gives them; empty if they are not known.
    pub chances: Vec<f32>,
    /// The answers of the other player to a double and their values for that player; empty after other actions.
    pub answers: Vec<(A, f64)>,
}

/// A whole game with judgements, to write down.
#[derive(Clone, Copy, Debug)]
pub struct JudgedGame<'a, A> {
    /// The game.
    pub whole: &'a WholeGame<A>,
    /// The name of the evaluator.
    pub judge: &'a str,
    /// The judgements by ascending place.
    pub judgements: &'a [Judgement<A>],
}

/// A whole game to write down.
#[derive(Clone, Copy, Debug)]
pub struct GameRecord<'a, A> {
    /// Its number in the file, from 1.
    pub number: u64,
    /// The name of the agent in each seat.
    pub names: &'a [&'a str],
    /// The points that the player in each seat has won in the games before it in the file, in units of utility. Empty if it is the
    /// first. Formats without scores leave them out.
    pub scores: &'a [f64],
    /// All moves and chance outcomes from the start.
    pub actions: &'a [A],
    /// The utility of player 1, if a player gave the game up after these actions.
    pub resigned: Option<f64>,
}

/// A file of games after one more was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedGame {
    /// The new text of the file.
    pub text: String,
    /// The number of the game in it.
    pub number: u64,
}

/// The rule set that a file tells, if it tells one and the game has it, and its games.
pub type GamesAsPlayed<G> = (Option<G>, Vec<WholeGame<<G as Game>::Action>>);

/// The usual file format of whole games, such as `.mat` of backgammon.
///
/// `arena --histories` and `play --history` write such files; `review` reads them.
pub trait Records<G: Game>: Send + Sync {
    /// Suffix of the files, such as `phhs`, the hand histories of poker.
    fn suffix(&self) -> &'static str;

    /// A game as text. The texts of several games, one after another, are a file. None for a game that was given up, if the format has no
    /// such games.
    fn write(&self, game: &G, record: &GameRecord<'_, G::Action>) -> Found<String>;

    /// Adds a game, written as number 1, to the text of a file, which may be empty.
    ///
    /// # Errors
    /// If the text does not hold games in this format.
    fn add(&self, text: &str, written: &str) -> Result<AddedGame, GameError>;

    /// Reads a file. Every action is legal where it stands. A game that is wrong somewhere ends there, and says why; the others are read.
    /// None if files of this game are not read. An error is an I/O error, or what is wrong with the file outside of games.
    fn read(&self, _game: &G, _path: &Path) -> Found<Vec<WholeGame<G::Action>>> {
        None
    }

    /// As [`read`](Self::read), by the rule set that the file itself tells, such as the length of a match; and that rule set, if there is one
    /// and the game has it.
    fn read_as_played(&self, game: &G, path: &Path) -> Found<GamesAsPlayed<G>>
    where
        G: Sized,
    {
        Some(self.read(game, path)?.map(|games| (None, games)))
    }

    /// The text of a file of games with judgements, in a format in which another program shows them. None if there is no such format.
    fn write_judged(&self, _game: &G, _games: &[JudgedGame<'_, G::Action>]) -> Found<String> {
        None
    }

    /// Whether a file in a folder is one of these: by default, whether it has the suffix.
    fn holds_games(&self, path: &Path) -> bool {
        path.extension().is_some_and(|end| end.eq_ignore_ascii_case(self.suffix()))
    }

    /// The date of the games of a file, such as `2024-01-05`. None if the file does not tell it.
    fn date(&self, _path: &Path) -> Option<String> {
        None
    }

    /// How players of the game count errors in a state. None if they have no customs.
    fn standard(&self, _game: &G, _state: &G::State) -> Option<Standard> {
        None
    }

    /// What players call an error other than a move, such as `missed double`, from the action that was played, the best one, and the
    /// utility of that one for the player. None if it has no name.
    fn error_name(
        &self,
        _game: &G,
        _state: &G::State,
        _played: &G::Action,
        _best: (&G::Action, f64),
    ) -> Option<&'static str> {
        None
    }
}

/// How players of a game count the error of a decision, or the luck of a chance event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// The kind of decision.
    pub kind: DecisionKind,
    /// The utility of a point: errors are counted in points.
    pub point: f64,
}

/// Kinds of decisions whose errors are counted apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DecisionKind {
    /// A move.
    Move,
    /// Whether to double the stakes. If it is not an error, it counts only where the best action is better than a double by less than these
    /// points: by the custom of GNU Backgammon, and, where a double may not be much better either, by that of eXtreme Gammon.
    Double {
        /// The two limits.
        close: [f64; 2],
    },
    /// The answer to a double.
    Answer,
}
