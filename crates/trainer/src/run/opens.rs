//! Opens what a config names, without learning.

use super::error::TrainError;
use super::feed::check_screened;
use crate::config::{Config, EXAMPLES_FILE, HeadName, Method, RARE_FILE, SCREEN, Suite};
use crate::positions::{check_examples, rare_positions};
use adept_arena::{OpenError, Screen, naming, open};
use adept_game::laws::{self, Breach, Budget, Law};
use adept_game::{Encoder, GameError, Kit};
use std::sync::Arc;

/// A setting of a config whose file or agent cannot be used.
#[derive(Debug)]
pub struct Unusable {
    /// Dotted path of the setting.
    pub key: String,
    /// The fault.
    pub error: Box<TrainError>,
}

/// The first of the [laws] that matter to a run which the game breaks in a few random games.
pub fn broken_law<G: Kit>(game: &G, config: &Config) -> Option<Breach> {
    let usual = game.encoders().names().first().map_or(String::new(), |first| first.name.to_string());
    let encoder = config.game.encoder.clone().unwrap_or(usual);
    let report = laws::check_with(game, &Budget::short(), &|name| name == encoder);
    let matters = |breach: &Breach| breach.law != Law::Classes || config.head == HeadName::Outcomes;
    report.breaches.into_iter().find(matters)
}

/// A law that a game breaks as a fault of its setting.
pub fn of_breach(game: &str, breach: &Breach) -> Unusable {
    let error = GameError::new(format!("{game} breaks a law of games: {breach}"));
    Unusable { key: "game.rules".into(), error: Box::new(error.into()) }
}

/// Opens the files and agents that a config names, as a run would: examples, checkpoints and rule files of agents; not what takes
/// long, such as exact values. The encoder with its prior and experts is opened when the config is checked. Before, the laws of games
/// are checked: see [`broken_law`].
///
/// # Errors
/// The first setting that cannot be used.
pub fn check_files<G: Kit>(game: &G, config: &Config) -> Result<(), Unusable> {
    if let Some(breach) = broken_law(game, config) {
        return Err(of_breach(game.name(), &breach));
    }
    encoder_of(game, config)
        .map_err(|e| Unusable { key: "game.encoder".into(), error: Box::new(e.into()) })?;
    for (key, agent) in config.opponents() {
        let tried = match key.as_str() {
            SCREEN => Screen::open(game, agent, 1).and_then(|_| {
                let encoder = open::encoder(game, config.game.encoder.as_deref())?;
                check_screened(&*encoder)
            }),
            _ => naming::resolve(game, agent, &[]).and_then(|found| naming::try_out(game, &found)),
        };
        tried.map_err(|e| Unusable { key, error: Box::new(e.into()) })?;
    }
    for (key, path) in config.learn.files() {
        let read = match key {
            RARE_FILE => rare_positions(game, path).map(drop),
            EXAMPLES_FILE => check_examples(game, path, false),
            _ => check_examples(game, path, config.measures(Suite::Rms)),
        };
        read.map_err(|e| Unusable { key: key.into(), error: Box::new(e.into()) })?;
    }
    Ok(())
}

/// Opens the encoder of a run, whose method and head must suit an encoder whose outputs are no values of positions.
pub(super) fn encoder_of<G: Kit>(game: &G, config: &Config) -> Result<Arc<dyn Encoder<G>>, OpenError> {
    let encoder = open::encoder(game, config.game.encoder.as_deref())?;
    let is_learned = match config.learn.method {
        Method::Expectation(_) | Method::Supervised(_) => config.head == HeadName::Value,
        Method::Td(_) | Method::Regrets(_) => false,
    };
    match encoder.derives() && !is_learned {
        false => Ok(encoder),
        true => Err(OpenError::Unknown(format!(
            "the outputs of networks with the encoder `{}` are no values of positions: take [learn.expectation] or [learn.supervised], and \
             `head = \"value\"`",
            encoder.name()
        ))),
    }
}

/// The setting that an error of a run is about, if one is to be changed.
pub fn setting_of(config: &Config, error: &TrainError) -> Option<&'static str> {
    let (TrainError::Game(cause) | TrainError::Open(OpenError::Game(cause))) = error else {
        return matches!(error, TrainError::Exact(_)).then_some("evaluate.suites");
    };
    let (GameError::File { path, .. } | GameError::Data { path, .. }) = cause else { return None };
    config.learn.files().into_iter().find(|(_, file)| file == path).map(|(key, _)| key)
}
