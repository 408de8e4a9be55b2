//! Commands that a program adds to its command line.

use adept_lab::Catalogue;
use anyhow::Result;
use clap::ArgMatches;
use std::error::Error;

/// A command beside those that work for every game, such as the table of exact values of one game.
pub trait Tool: Sync {
    /// Its name, options and help.
    fn command(&self) -> clap::Command;

    /// Runs it with the games of the program. With `as_json` it prints exactly one JSON object.
    ///
    /// # Errors
    /// Whatever ends it; the message goes to stderr, and the process exits with 1.
    fn run(&self, games: &dyn Catalogue, matches: &ArgMatches, as_json: bool) -> Result<()>;

    /// The kind of an error of its own, for the JSON object of an error.
    fn kind(&self, _cause: &(dyn Error + 'static)) -> Option<&'static str> {
        None
    }
}
