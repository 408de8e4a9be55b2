//! Checks that the parser cannot make: settings that cannot work together. Each section checks itself.

use super::fault::{Fault, NOT_SMALL, fault};
use super::learn::td::SEARCH;
use super::{Config, Games, HeadName, Method, Rewards, Rules, SCREEN, SELF, Suite, TraceKind};
use adept_arena::{AgentSpec, Resolved, Survey};
use adept_game::{GameInfo, OutcomeClass};
use adept_ground::limits;
use adept_model::{Channel, Form, Head, ModelError};

/// Checks the name and seed, which every kind of config file has.
pub fn name_and_seed(name: &str, seed: u64) -> Result<(), Fault> {
    if let Err(why) = folder_name(name) {
        return fault("name", why);
    }
    if seed > limits::SEED {
        return fault("seed", format!("must be at most {}, found {seed}", limits::SEED));
    }
    Ok(())
}

/// Names that devices have on Windows, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks a name that becomes the name of a folder, on any system and in any command.
///
/// # Errors
/// What is wrong with it.
pub fn folder_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(['.', '-']) || name.ends_with('.') {
        return Err("a name consists of letters, digits, `-`, `_` and `.`, begins with a letter, a digit or `_`, and does not end \
                    with a dot"
            .into());
    }
    if name.len() > limits::NAME_LETTERS {
        let (most, found) = (limits::NAME_LETTERS, name.len());
        return Err(format!(
            "a name has at most {most} letters, because it becomes the name of a folder; found {found}"
        ));
    }
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_port =
        |kind| stem.strip_prefix(kind).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    if DEVICES.contains(&&*stem) || is_port("com") || is_port("lpt") {
        return Err(format!(
            "`{name}` is the name of a device on Windows, where it cannot be the name of a folder"
        ));
    }
    Ok(())
}

/// Finds the first setting that cannot work.
pub(super) fn check(config: &Config, games: &dyn Games) -> Result<(), Fault> {
    name_and_seed(&config.name, config.seed)?;
    let rules = games.rules(&config.game.rules).map_err(|e| ("game.rules".to_string(), e.to_string()))?;
    let game = &rules.info();
    let channels = channels(config, &*rules).map_err(|m| ("game.encoder".to_string(), m))?;
    let opponents = opponents(config, game, &*rules)?;
    let head = check_head(config, game)?;
    config.learn.check(config, game)?;
    if let Method::Td(td) = &config.learn.method
        && td.search.is_some()
    {
        rules.fits_search().map_err(|e| (SEARCH.to_string(), e.to_string()))?;
    }
    config.evaluate.check(config, game)?;
    check_exact(config, game, &*rules, &opponents)?;
    config.checkpoints.check()?;
    let outcome = match config.architecture.form() {
        Form::Table(lookup) => {
            adept_model::Table::new(lookup, &channels, &head, config.learn.optimiser).map(|_| ())
        }
        Form::Blind(blind) => {
            adept_model::BlindLearner::new(blind, &channels, &head, config.learn.optimiser).map(|_| ())
        }
        Form::Network => adept_model::lower(&config.architecture, &channels, &head).map(|_| ()),
    };
    match outcome {
        Ok(())
            if config.architecture.reassigns(&channels) > 0
                && !matches!(config.learn.method, Method::Supervised(_)) =>
        {
            let what = "`reassign` compares experts on exact examples: it needs `[learn.supervised]`";
            fault("architecture", what)
        }
        Ok(()) => Ok(()),
        Err(ModelError::Architecture { path, message }) => fault(&format!("architecture.{path}"), message),
        Err(other) => fault("architecture", other.to_string()),
    }
}

/// An opponent of a config: the path of its setting, its text, and what it stands for.
type Opponent<'a> = (String, &'a str, Resolved);

/// Looks up the opponents of a config, and checks that they can play.
fn opponents<'a>(config: &'a Config, game: &GameInfo, rules: &dyn Rules) -> Result<Vec<Opponent<'a>>, Fault> {
    let look_up = |(path, text): (String, &'a str)| {
        let more = if path == "learn.td.against" { &[SELF][..] } else { &[] };
        let found = rules.resolve(text, more).map_err(|e| (path.clone(), e.to_string()))?;
        if found.searches_all() && !game.is_small {
            let message = format!(
                "`{text}` must search the whole game, and {} {NOT_SMALL}; there is {}",
                game.name,
                [more, &game.agents().iter().map(String::as_str).collect::<Vec<_>>()].concat().join(", ")
            );
            return fault(&path, message);
        }
        if path == SCREEN && (found.folder().is_none() || found.spec != AgentSpec::Named(text.into())) {
            return fault(
                &path,
                format!("`{text}` is not a checkpoint or run, whose network picks the candidates"),
            );
        }
        Ok((path, text, found))
    };
    config.opponents().into_iter().map(look_up).collect()
}

/// Checks that the game has what the head needs, and that the method learns distributions.
fn check_head(config: &Config, game: &GameInfo) -> Result<Head, Fault> {
    if config.head == HeadName::Outcomes && matches!(config.learn.method, Method::Regrets(_)) {
        return fault("head", "the method `regrets` learns a policy, not outcomes: leave it out");
    }
    let head = config.head_of(game.outcomes.clone()).map_err(|e| ("head".to_string(), e.to_string()))?;
    let Some(classes) = head.classes() else { return Ok(head) };
    if let Err(message) = OutcomeClass::check(classes) {
        return fault("head", format!("{}: {message}", game.name));
    }
    let Some(td) = config.learn.td() else { return Ok(head) };
    if td.rewards != Rewards::Outcome {
        let message =
            "rewards on the way belong to no class of outcomes: leave it out, or take `head = \"value\"`";
        return fault("learn.td.rewards", message);
    }
    if td.discount != 1.0 || td.gap_discount.is_some() {
        let key = if td.gap_discount.is_some() { "learn.td.gap_discount" } else { "learn.td.discount" };
        let message =
            "a discounted distribution does not add up to 1: leave it out, or take `head = \"value\"`";
        return fault(key, message);
    }
    if td.clip.is_some() {
        let message = "targets of `head = \"outcomes\"` are distributions, whose softmax is never saturated: leave it out";
        return fault("learn.td.clip", message);
    }
    if td.traces == TraceKind::Online {
        let message = "online traces follow the gradient of one number, and `head = \"outcomes\"` gives several: write \
                       `backward`";
        return fault("learn.td.traces", message);
    }
    Ok(head)
}

/// Checks that what is computed over all states of the game can be.
fn check_exact(
    config: &Config,
    game: &GameInfo,
    rules: &dyn Rules,
    opponents: &[Opponent<'_>],
) -> Result<(), Fault> {
    let measured = config.measures(Suite::Equity) || config.measures(Suite::Grade);
    let solvers: Vec<&Opponent<'_>> = opponents.iter().filter(|(.., found)| found.searches_all()).collect();
    // A game for one player may come back to a state: its shortest solution is looked for.
    if !game.is_small || game.players == 1 || !measured && solvers.is_empty() {
        return Ok(());
    }
    let (found, name) = (rules.survey(), &game.name);
    if let Some((path, text, _)) = solvers.iter().find(|(.., agent)| agent.is_minimax() && found.chance) {
        let message = format!(
            "`{text}` needs a game without chance, and {name} has chance: write `random`, `optimal:random` or an agent of the game"
        );
        return fault(path, message);
    }
    let why = match found {
        Survey { sampled: true, .. } => "has chance that can only be sampled",
        Survey { endless: true, .. } => "can come back to a position or go on for thousands of moves",
        _ => return Ok(()),
    };
    if let Some((path, text, _)) = solvers.first() {
        return fault(
            path,
            format!("`{text}` must search the whole game, and {name} {why}: name another agent"),
        );
    }
    let message = format!(
        "play cannot be measured exactly, because {name} {why}: write `suites = [\"matches\"]`, or limit the moves in the rules"
    );
    fault("evaluate.suites", message)
}

/// The channels of the encoder that a config names.
fn channels(config: &Config, rules: &dyn Rules) -> Result<Vec<Channel>, String> {
    rules.channels(config.game.encoder.as_deref()).map_err(|error| error.to_string())
}
