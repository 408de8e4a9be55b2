//! `adept` trains, measures and plays evaluation functions for games. It is a library, and a command line for
//! the built-in games and your own.
//!
//! A program adds its own game to all commands in one line:
//!
//! ```no_run
//! # let nim = adept::game::tiny::Nim::default();
//! # let _ =
//! adept::main_with(&(adept::Builtin, adept::One(nim)));
//! ```
//!
//! [`prelude`] has the names that most programs need, [`game`] the traits for rules and encoders. Versions promise these, and
//! [`main_with`] and [`main_with_tools`], which adds commands of your own, a [`Tool`] each.
//!
//! The other crates are re-exported as modules: [`ground`] for limits and files, [`model`] for networks, [`arena`] for agents and
//! exact measures, [`trainer`] for experiments and runs, [`lab`] for the functions behind the commands, [`console`] for the command
//! line. They are internal, and may change in any version.

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
///
/// ```no_run
/// // `mine list games`, `mine train nim.toml`, …: every command, for one game and no other.
/// fn main() -> std::process::ExitCode {
///     adept::main_with(&adept::One(adept::game::tiny::Nim::default()))
/// }
/// ```
pub fn main_with(games: &dyn Catalogue) -> ExitCode {
    main_with_tools(games, &[])
}

/// Runs the command line of this process with these games and these commands besides.
///
/// ```no_run
/// use adept::{Catalogue, Tool};
///
/// struct Count;
/// impl Tool for Count {
///     fn command(&self) -> clap::Command {
///         clap::Command::new("count").about("Count the games of this program")
///     }
///     fn run(&self, games: &dyn Catalogue, _: &clap::ArgMatches, as_json: bool) -> anyhow::Result<()> {
///         let count = games.names().len();
///         if as_json { println!("{{\"games\":{count}}}") } else { println!("{count} games") }
///         Ok(())
///     }
/// }
///
/// fn main() -> std::process::ExitCode {
///     adept::main_with_tools(&adept::Builtin, &[&Count])
/// }
/// ```
pub fn main_with_tools(games: &dyn Catalogue, tools: &[&dyn Tool]) -> ExitCode {
    let mut all: Vec<&dyn Tool> = vec![&oracle::Oracle, &serve::Serve];
    all.extend(tools);
    adept_console::main_with(games, &all)
}
