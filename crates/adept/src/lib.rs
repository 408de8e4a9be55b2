//! `adept` trains, measures and plays evaluation functions for games. It is a library, and a command line for
//! the built-in games and your own.
//!
//! A program adds its own game to all commands in one line:
//!
//! ```no_run
//! # use adept::tictactoe::TicTacToe as Nim;
//! # let nim = Nim;
//! # let _ =
//! adept::main_with(&(adept::Builtin, adept::One(nim)));
//! ```
//!
//! [`prelude`] has the names that most programs need. The other crates are re-exported as modules: [`game`] for
//! rules and encoders, [`ground`] for limits and files, [`model`] for networks, [`arena`] for agents and exact measures, [`trainer`] for
//! experiments and runs, [`lab`] for the functions behind the commands, [`console`] for commands of your
//! own: a [`Tool`], given to [`main_with_tools`].

mod oracle;
pub mod prelude;
mod serve;

pub use adept_arena as arena;
pub use adept_builtin::{backgammon, bearoff, connect_four, dice, holdem, liars_dice, tictactoe};
pub use adept_catalogue::Builtin;
pub use adept_console as console;
pub use adept_console::{Reproduce, Tool};
pub use adept_game as game;
pub use adept_ground as ground;
pub use adept_lab as lab;
pub use adept_lab::{AnyGame, Catalogue, One};
pub use adept_model as model;
pub use adept_trainer as trainer;

use std::process::ExitCode;

/// Runs the command line of this process with these games.
pub fn main_with(games: &dyn Catalogue) -> ExitCode {
    main_with_tools(games, &[])
}

/// Runs the command line of this process with these games and additional commands.
pub fn main_with_tools(games: &dyn Catalogue, tools: &[&dyn Tool]) -> ExitCode {
    let mut all: Vec<&dyn Tool> = vec![&oracle::Oracle, &serve::Serve];
    all.extend(tools);
    adept_console::main_with(games, &all)
}
