//! The built-in games.
//!
//! Each game is a folder here and one line in the list below. To add a game, copy `tictactoe/` and rename it. Write the
//! rules, the encoders and the [`Kit`]. Record golden trajectories and rows in its tests. Then add its line to the
//! list.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

pub mod dice;
pub mod doubling;
mod lines;
mod memory;

use adept_game::{Found, GameError, Kit, Visitor};
use adept_ground::shared;
use std::any::Any;

/// Looks up a built-in game by name. Each game implements this besides [`Kit`].
trait Family: Kit + Clone {
    /// Name of the default rule set, for lists.
    const USUAL: &str;

    /// Names of other rule sets without parameters, for messages about unknown names.
    const OTHERS: &[&str] = &[];

    /// The rule set named `name`. None if the name belongs to another game; an error if its parameters are wrong.
    fn named(name: &str) -> Found<Self>;
}

/// Declares the module of each game and looks up names in all of them.
macro_rules! games {
    ($($folder:ident::$game:ident,)+) => {
        $(pub mod $folder;)+

        /// Calls the visitor with the rule set named `name`. None if no game has this name.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<Result<V::Output, GameError>> {
            $(if let Some(found) = <$folder::$game as Family>::named(name) {
                return Some(found.map(|game| visitor.visit(game)));
            })+
            None
        }

        /// Calls the visitor with a copy of a game whose type is erased. None if it is not a built-in game.
        pub fn visit_erased<V: Visitor>(game: &dyn Any, visitor: V) -> Option<V::Output> {
            $(if let Some(game) = game.downcast_ref::<$folder::$game>() {
                return Some(visitor.visit(Clone::clone(game)));
            })+
            None
        }

        /// Names of rule sets that the list leaves out, for messages about unknown names.
        pub fn others() -> Vec<&'static str> {
            [$(<$folder::$game as Family>::OTHERS,)+].concat()
        }

        /// Names of the default rule set of each game, in the order of the list.
        pub fn names() -> Vec<String> {
            vec![$(<$folder::$game as Family>::USUAL.to_string(),)+]
        }
    };
}

games! {
    tictactoe::TicTacToe,
    connect_four::ConnectFour,
    bearoff::Bearoff,
    backgammon::Backgammon,
    liars_dice::LiarsDice,
    small_poker::SmallPoker,
    holdem::Holdem,
    declared::Declared,
    gdl::Described,
}
