//! The built-in games.
//!
//! A game is a folder here and one line in the list below. To add one, copy `tictactoe/`, rename it, write the rules, the
//! encoders and the [`Kit`], record golden trajectories and rows in its tests, and add its line.

mod memory;
mod shared;

use adept_game::{Found, GameError, Kit, Visitor};

/// How a built-in game is found: what its folder implements beside [`Kit`].
trait Family: Kit {
    /// Name of the rule set that lists show.
    const USUAL: &str;

    /// The rule set of that name; none if the name is not one of this game, an error if its parameters are wrong.
    fn named(name: &str) -> Found<Self>;
}

/// Declares the folder of each game and looks names up in all of them.
macro_rules! games {
    ($($folder:ident::$game:ident,)+) => {
        $(pub mod $folder;)+

        /// Calls the visitor with the rule set of that name; none if no game has it.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<Result<V::Output, GameError>> {
            $(if let Some(found) = <$folder::$game as Family>::named(name) {
                return Some(found.map(|game| visitor.visit(game)));
            })+
            None
        }

        /// Names of the usual rule set of each game, in the order of the list.
        pub fn names() -> Vec<String> {
            vec![$(<$folder::$game as Family>::USUAL.to_string(),)+]
        }
    };
}

games! {
    tictactoe::TicTacToe,
    connect_four::ConnectFour,
    bearoff::Bearoff,
    liars_dice::LiarsDice,
}
