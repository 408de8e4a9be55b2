//! Loads config files of either kind: experiment or tournament.

use crate::catalogue::Catalogue;
use crate::tournament::Tournament;
use adept_trainer::config::{Config, ConfigError, Source, parse};
use std::path::Path;

/// A config file by kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An experiment.
    Experiment(Box<Config>),
    /// A tournament.
    Tournament(Box<Tournament>),
}

impl Kind {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Experiment(config) => &config.name,
            Self::Tournament(tournament) => &tournament.name,
        }
    }
}

/// Reads, parses and checks a file of any kind: with a list of `agents` it is a tournament, else an experiment.
///
/// # Errors
/// A [`ConfigError`] with the place of the first fault.
pub fn load_any(path: &Path, set: &[String], games: &dyn Catalogue) -> Result<Kind, ConfigError> {
    let source = Source::read(path, set)?;
    let is_tournament = toml::from_str::<toml::Table>(&source.text).is_ok_and(|t| t.contains_key("agents"));
    Ok(if is_tournament {
        Kind::Tournament(Box::new(Tournament::parse(&source, games)?))
    } else {
        Kind::Experiment(Box::new(parse(&source, games)?))
    })
}
