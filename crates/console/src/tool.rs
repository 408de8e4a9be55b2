//! Commands that a program adds to its command line.

use adept_lab::Catalogue;
use anyhow::Result;
use clap::ArgMatches;
use std::error::Error;

/// What the ranks of MPI do with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRanks {
    /// The first one runs it, and the others are not needed.
    First,
    /// The first one runs it, and the others do its jobs, on so many threads each; 0 for one per core.
    Jobs(usize),
    /// All run it together, with [`ranks`](crate::ranks).
    Together,
}

/// A command beside those that work for every game, such as the table of exact values of one game.
pub trait Tool: Sync {
    /// Its name, options and help.
    fn command(&self) -> clap::Command;

    /// Runs it with the games of the program. With `as_json` it prints exactly one JSON object.
    ///
    /// # Errors
    /// Whatever ends it; the message goes to stderr, and the process exits with 1.
    fn run(&self, games: &dyn Catalogue, matches: &ArgMatches, as_json: bool) -> Result<()>;

    /// What ranks of MPI do with it, if there are several.
    fn on_ranks(&self, _matches: &ArgMatches) -> OnRanks {
        OnRanks::First
    }

    /// Whether it waits for other programs, so that its silence means nothing.
    fn waits(&self) -> bool {
        false
    }

    /// The kind of an error of its own, for the JSON object of an error.
    fn kind(&self, _cause: &(dyn Error + 'static)) -> Option<&'static str> {
        None
    }
}
