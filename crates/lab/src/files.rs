//! Loads config files of experiments and tournaments.

use crate::catalogue::{AnyGame, Catalogue};
use crate::tournament::Tournament;
use adept_game::laws::Law;
use adept_trainer::config::{Config, ConfigError, Source, error_at, parse};
use adept_trainer::run::{TrainError, Unusable, of_breach, setting_of};
use std::fmt;
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

/// Reads, parses and checks a config file: with a list of `agents` it is a tournament, otherwise an experiment.
///
/// # Errors
/// A [`ConfigError`] with the place of the first fault.
pub fn load_any(path: &Path, set: &[String], games: &dyn Catalogue) -> Result<Kind, ConfigError> {
    parse_any(&Source::read(path, set)?, games)
}

fn parse_any(source: &Source, games: &dyn Catalogue) -> Result<Kind, ConfigError> {
    let is_tournament = toml::from_str::<toml::Table>(&source.text).is_ok_and(|t| t.contains_key("agents"));
    Ok(if is_tournament {
        Kind::Tournament(Box::new(Tournament::parse(source, games)?))
    } else {
        Kind::Experiment(Box::new(parse(source, games)?))
    })
}

/// A fault in a config, or in a file that it names.
#[derive(Debug)]
pub struct Placed {
    /// The place in the config and its fault.
    pub at: ConfigError,
    /// The fault in a file.
    pub cause: Option<Box<TrainError>>,
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

impl std::error::Error for Placed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Some(cause) => Some(&**cause),
            None => Some(&self.at),
        }
    }
}

impl From<ConfigError> for Placed {
    fn from(at: ConfigError) -> Self {
        Self { at, cause: None }
    }
}

impl Placed {
    fn new(source: &Source, Unusable { key, error }: Unusable) -> Self {
        Self { at: error_at::<Config>(source, &key, &error.to_string()), cause: Some(error) }
    }

    /// Adds the place in the config to an error of its run, if a setting causes it.
    ///
    /// # Errors
    /// The error itself otherwise.
    pub fn of_run(source: &Source, config: &Config, error: TrainError) -> Result<Self, TrainError> {
        match setting_of(config, &error) {
            Some(key) => Ok(Self::new(source, Unusable { key: key.into(), error: Box::new(error) })),
            None => Err(error),
        }
    }
}

/// [`load_any`], plus opening the files that the config names: examples, rule files, and the learners of a tournament.
///
/// # Errors
/// The first fault.
pub fn check_any(path: &Path, set: &[String], games: &dyn Catalogue) -> Result<Kind, Placed> {
    let source = Source::read(path, set)?;
    let kind = parse_any(&source, games)?;
    match &kind {
        Kind::Experiment(config) => check_files(&source, config, games)?,
        Kind::Tournament(tournament) => {
            for (i, learns) in
                tournament.agents.iter().enumerate().filter_map(|(i, a)| Some((i, a.learns.as_ref()?)))
            {
                let own = Source::read(learns, &[])?;
                check_files(&own, &parse(&own, games)?, games).map_err(|fault| Placed {
                    at: error_at::<Tournament>(&source, &format!("agents.{i}.learns"), &fault.to_string()),
                    ..fault
                })?;
            }
        }
    }
    Ok(kind)
}

/// Checks the laws of games along a few games of a config. Returns a warning if random games do not end, because games
/// of a network may end.
///
/// # Errors
/// The first violated law.
pub fn check_laws(source: &Source, config: &Config, game: &dyn AnyGame) -> Result<Option<String>, Placed> {
    match game.broken_law(config) {
        Some(breach) if breach.law == Law::Ends => Ok(Some(breach.to_string())),
        Some(breach) => Err(Placed::new(source, of_breach(&game.info().name, &breach))),
        None => Ok(None),
    }
}

/// Opens the files that the config of an experiment names.
///
/// # Errors
/// The first setting that cannot be used.
pub fn check_files(source: &Source, config: &Config, games: &dyn Catalogue) -> Result<(), Placed> {
    let unknown = |error: TrainError| Unusable { key: "game.rules".into(), error: Box::new(error) };
    let game = games.find(&config.game.rules).map_err(|e| Placed::new(source, unknown(e.into())))?;
    game.check_files(config).map_err(|fault| Placed::new(source, fault))
}
