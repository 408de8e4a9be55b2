//! Whole games in the usual file format of a game.

use crate::game::{Game, GameError};
use crate::values::Found;
use std::path::Path;

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
}
