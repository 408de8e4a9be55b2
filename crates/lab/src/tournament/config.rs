//! The config file of a tournament.

use crate::catalogue::{AnyGame, Catalogue};
use adept_arena::matches;
use adept_arena::naming::map_path;
use adept_game::{GameInfo, Unit};
use adept_ground::limits;
use adept_trainer::config::{
    Config, ConfigError, Fault, Games, Place, Source, Spot, To, Written, folder_name, is_same_file,
    name_and_seed, parse, parse_as,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A tournament in which every pair of agents plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tournament {
    /// Name of the tournament and of its folder.
    pub name: String,
    /// Description in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Seed of all random draws.
    #[serde(default = "one")]
    pub seed: u64,
    /// Name of the rule set; `adept list games` shows all.
    pub game: String,
    /// Games per pair.
    pub games: u64,
    /// The first decisions of each game that are drawn at random, the same in every order of the seats. Default: none where games differ
    /// by chance or by an agent's own draws; else as many as lead to 200 openings, at most a third of a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_plies: Option<u32>,
    /// The agent whose values tell the luck of each game: a checkpoint or a valuation. Results are then shown with and without
    /// luck, for two-player zero-sum games with chance. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck: Option<String>,
    /// How a pair shares the seats.
    #[serde(default)]
    pub seats: Seats,
    /// Orders in which a pair takes the seats in turn, such as `["XXYY", "YYXX"]`. Default: all distinct ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<Vec<String>>,
    /// The agents.
    pub agents: Vec<Entrant>,
}

/// How a pair of agents shares the seats of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seats {
    /// Half the seats each. If their number is odd, the agents take the extra seat in turn.
    #[default]
    Half,
    /// One seat for the first agent of a pair, all others for the second; every pair plays both ways.
    One,
}

/// An agent of a tournament.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entrant {
    /// Name in the table.
    pub name: String,
    /// The agent: one of the game, or a checkpoint. Default: the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Config of an experiment, instead of `agent`. The agent learns first, with the seed of the tournament. It
    /// then plays in its state after each block of learning, frozen during play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learns: Option<PathBuf>,
    /// Number of equal blocks of learning. Default: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Settings of a deliberating agent that differ from its defaults.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub settings: toml::Table,
}

impl Entrant {
    /// The agent.
    pub fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or(&self.name)
    }

    /// Its settings as an object; null if there are none.
    pub(crate) fn changes(&self) -> serde_json::Value {
        match serde_json::to_value(&self.settings) {
            Ok(settings) if !self.settings.is_empty() => settings,
            _ => serde_json::Value::Null,
        }
    }
}

fn one() -> u64 {
    1
}

/// Another path for one that is written, or none. It is told whether a name is that of an agent of the game.
type Change<'a> = dyn FnMut(Spot<'_>, &dyn Fn(&str) -> bool) -> Option<String> + 'a;

impl Tournament {
    /// Replaces each path for which `change` has another. What an agent of the game has as its name is not a path.
    fn change_paths(&mut self, games: &dyn Games, change: &mut Change<'_>) {
        if let Some(path) = self.game.strip_prefix("file:")
            && let Some(path) = change(Spot { key: "game", path, to: To::File }, &|_| false)
        {
            self.game = format!("file:{path}");
        }
        let is_agent = |name: &str| games.rules(&self.game).is_ok_and(|game| game.is_agent(name));
        if let Some(luck) = &mut self.luck {
            let text = map_path(luck, &mut |path, is_file| {
                change(Spot { key: "luck", path, to: To::of_agent(is_file) }, &is_agent)
            });
            *luck = text;
        }
        for (i, entrant) in self.agents.iter_mut().enumerate() {
            if let Some(learns) = &mut entrant.learns {
                let spot = Spot {
                    key: &format!("agents.{i}.learns"),
                    path: &learns.to_string_lossy(),
                    to: To::File,
                };
                if let Some(path) = change(spot, &|_| false) {
                    *learns = path.into();
                }
                continue;
            }
            let text = map_path(entrant.agent(), &mut |path, is_file| {
                let key = &format!("agents.{i}.agent");
                change(Spot { key, path, to: To::of_agent(is_file) }, &is_agent)
            });
            if text != entrant.agent() {
                entrant.agent = Some(text);
            }
        }
    }

    /// The paths by key, as they are written.
    fn paths(&self, games: &dyn Games) -> HashMap<String, String> {
        let mut all = HashMap::new();
        self.clone().change_paths(games, &mut |spot, is_name| {
            if spot.to == To::File || !is_name(spot.path) {
                all.insert(spot.key.into(), spot.path.into());
            }
            None
        });
        all
    }

    /// The current folder, if a path in this tournament is relative to it and exists.
    pub(super) fn folder_of_paths(&self, games: &dyn Games) -> Option<PathBuf> {
        let is_relative = |path: &String| Path::new(path).is_relative() && Path::new(path).exists();
        self.paths(games).values().any(is_relative).then(|| std::env::current_dir().ok())?
    }

    /// This tournament, whose paths are relative to `base`, with each path written as in `other` where both lead to the same file.
    pub(super) fn with_paths_of(&self, base: &Path, other: &Self, games: &dyn Games) -> Self {
        let (mut same, others) = (self.clone(), other.paths(games));
        same.change_paths(games, &mut |spot, _| {
            let path = others.get(spot.key)?;
            is_same_file(&base.join(spot.path), Path::new(path)).then(|| path.clone())
        });
        // An agent may be left out where it has the name of the entrant.
        for (own, other) in same.agents.iter_mut().zip(&other.agents).filter(|(a, b)| a.agent() == b.agent())
        {
            own.agent.clone_from(&other.agent);
        }
        same
    }

    /// Parses and checks a tournament file.
    ///
    /// # Errors
    /// The place of the first fault.
    pub fn parse(source: &Source, games: &dyn Catalogue) -> Result<Self, ConfigError> {
        parse_as(source, games)
    }
}

impl Written for Tournament {
    type Known<'k> = dyn Catalogue + 'k;

    fn other_kind(has: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        let is_experiment = has("learn") || has("architecture");
        is_experiment.then_some("is an experiment, for `adept train`, not a tournament")
    }

    fn complete(&mut self, _: &(dyn Catalogue + '_)) {}

    fn place(&mut self, games: &(dyn Catalogue + '_), place: &mut Place<'_>) {
        self.change_paths(games, &mut |spot, is_name| place.find(spot, is_name));
    }

    fn check(&self, games: &(dyn Catalogue + '_)) -> Result<(), Fault> {
        let fail = |path: &str, message: String| Err((path.to_string(), message));
        name_and_seed(&self.name, self.seed)?;
        let game = games.find(&self.game).map_err(|e| ("game".to_string(), e.to_string()))?;
        if !(1..=limits::GAMES).contains(&self.games) {
            return fail("games", format!("must lie in 1..{}, found {}", limits::GAMES, self.games));
        }
        if let Some(found) = self.random_plies.filter(|plies| *plies > limits::RANDOM_PLIES) {
            return fail("random_plies", format!("must lie in 0..{}, found {found}", limits::RANDOM_PLIES));
        }
        if self.orders.as_ref().is_some_and(Vec::is_empty) {
            return fail("orders", "name at least one order, or leave it out for all distinct ones".into());
        }
        if self.agents.len() < 2 {
            return fail("agents", "a tournament needs at least two agents".into());
        }
        if self.agents.len() > limits::AGENTS {
            let (most, found) = (limits::AGENTS, self.agents.len());
            return fail("agents", format!("a tournament has at most {most} agents, found {found}"));
        }
        for (i, entrant) in self.agents.iter().enumerate() {
            if self.agents[..i].iter().any(|other| other.name == entrant.name) {
                return fail(&format!("agents.{i}.name"), format!("`{}` is already defined", entrant.name));
            }
        }
        check(&*game, self, games)
    }
}

/// The experiment of an agent that learns.
pub(super) fn experiment(path: &Path, games: &dyn Games) -> Result<Config, String> {
    Source::read(path, &[]).and_then(|source| parse(&source, games)).map_err(|e| e.to_string())
}

/// Checks an agent that learns.
fn learner(entrant: &Entrant, path: &Path, game: &str, games: &dyn Games) -> Result<(), Fault> {
    let fail = |key: &str, message: String| Err((key.to_string(), message));
    if let Err(why) = folder_name(&entrant.name) {
        return fail("name", format!("names a folder, as this agent learns: {why}"));
    }
    if entrant.agent.is_some() || !entrant.settings.is_empty() {
        return fail("learns", "replaces `agent` and `settings`: leave them out".into());
    }
    let config = experiment(path, games).map_err(|m| ("learns".to_string(), m))?;
    if config.game.rules != game {
        return fail(
            "learns",
            format!("{} is for {}, but this tournament is for {game}", path.display(), config.game.rules),
        );
    }
    if config.evaluate.patience.is_some() {
        return fail(
            "learns",
            format!("{} may end before its last block: leave `evaluate.patience` out of it", path.display()),
        );
    }
    let (blocks, length) = (entrant.blocks.unwrap_or(1), config.learn.length());
    if blocks == 0 || length % blocks != 0 {
        let unit = config.learn.unit();
        return fail(
            "blocks",
            format!("{length} {unit} cannot be split into {blocks} blocks of the same length"),
        );
    }
    if length / blocks % config.learn.batch != 0 {
        let batch = config.learn.batch;
        return fail(
            "blocks",
            format!("{} per block are not a multiple of the batch {batch}", length / blocks),
        );
    }
    Ok(())
}

/// Finds the first entrant or order of a tournament of this game that cannot play.
fn check(game: &dyn AnyGame, tournament: &Tournament, games: &dyn Games) -> Result<(), Fault> {
    let GameInfo { players, unit, .. } = game.info();
    for (i, entrant) in tournament.agents.iter().enumerate() {
        if let Some(path) = &entrant.learns {
            learner(entrant, path, &tournament.game, games)
                .map_err(|(key, m)| (format!("agents.{i}.{key}"), m))?;
            continue;
        }
        if entrant.blocks.is_some() {
            let message = "belongs to an agent that learns: leave it out, or name its config in `learns`";
            return Err((format!("agents.{i}.blocks"), message.into()));
        }
        let opened = game.check_agent(entrant.agent(), &entrant.changes());
        opened.map_err(|e| (format!("agents.{i}"), e.to_string()))?;
    }
    if let Some(luck) = &tournament.luck {
        game.check_luck(luck).map_err(|e| ("luck".to_string(), e.to_string()))?;
    }
    let all = super::shares(tournament.seats, players);
    let all = all.iter().map(|share| matches::count_orders(share)).fold(0, u64::saturating_add);
    let listed = tournament.orders.as_ref().map_or(all, |orders| orders.len() as u64);
    if listed > limits::ORDERS {
        let message = match tournament.orders {
            Some(_) => format!("lists {listed} orders; at most {} are allowed", limits::ORDERS),
            None => format!(
                "{players} players can sit in {listed} orders, but at most {} are played: list some here, such as \
                 \"XYXY…\", or write `seats = \"one\"`",
                limits::ORDERS
            ),
        };
        return Err(("orders".into(), message));
    }
    let least = Unit::least_games(listed);
    if unit.is_some() && tournament.games < least {
        let message = format!("must be at least {least}, two deals in each of {listed} orders of the seats");
        return Err(("games".into(), message));
    }
    for (i, order) in tournament.orders.iter().flatten().enumerate() {
        let both = order.contains('X') && order.contains('Y');
        if order.len() != players || !both || order.chars().any(|c| c != 'X' && c != 'Y') {
            let message = format!("`{order}` is not an order of X and Y over {players} seats");
            return Err((format!("orders.{i}"), message));
        }
    }
    Ok(())
}
