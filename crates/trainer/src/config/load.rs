//! Reading and checking configs.

use super::{Config, ConfigError, SELF, Schedule, Shape, Suite, TraceKind};
use crate::names;
use adept_arena::AgentSpec;
use adept_model::{Architecture, ModelError};
use std::path::Path;
use toml_edit::{Document, DocumentMut, Item};

/// Where a config comes from: its text, and what the command line changes in it.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name for messages.
    pub file: String,
    /// TOML.
    pub text: String,
    /// `KEY=VALUE` with a dotted key and a TOML value (a bare word is taken as a string).
    pub set: Vec<String>,
}

/// Reads a file.
///
/// # Errors
/// A [`ConfigError`] with the place of the first fault.
pub fn load(path: &Path, set: &[String]) -> Result<Config, ConfigError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| ConfigError {
        file: file.clone(),
        place: None,
        line: None,
        message: match e.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no such file; `adept config new tictactoe` prints one to start from".into()
            }
            _ => format!("cannot be read: {e}"),
        },
    })?;
    parse(&Source { file, text, set: set.to_vec() })
}

/// Parses and checks a config.
///
/// # Errors
/// A [`ConfigError`] with the place of the first fault.
pub fn parse(source: &Source) -> Result<Config, ConfigError> {
    let (text, set_keys) = apply_set(source)?;
    let at = Located { file: &source.file, text: &text, set: &set_keys };
    // toml_edit first: it keeps the place of every key for the checks that follow parsing.
    let document = Document::parse(text.as_str()).map_err(|e| at.error(e.span(), one_line(e.message())))?;
    let config: Config = toml::from_str(&text).map_err(|e| at.error(e.span(), explain(e.message())))?;
    check(&config).map_err(|(path, message)| {
        at.error(
            span_of(document.as_item(), &path),
            if path.is_empty() { message } else { format!("`{path}`: {message}") },
        )
    })?;
    Ok(config)
}

/// The text with the changes of `--set`, and the keys that they touch.
fn apply_set(source: &Source) -> Result<(String, Vec<String>), ConfigError> {
    if source.set.is_empty() {
        return Ok((source.text.clone(), Vec::new()));
    }
    let at = Located { file: &source.file, text: &source.text, set: &[] };
    let mut document: DocumentMut =
        source.text.parse().map_err(|e: toml_edit::TomlError| at.error(e.span(), one_line(e.message())))?;
    let mut keys = Vec::new();
    for setting in &source.set {
        let fail = |message: String| ConfigError {
            file: format!("--set {setting}"),
            place: None,
            line: None,
            message,
        };
        let Some((key, value)) = setting.split_once('=') else {
            return Err(fail("write KEY=VALUE, such as learn.games=10000".into()));
        };
        let (key, value) = (key.trim(), value.trim());
        let value: toml_edit::Value = match value.parse() {
            Ok(value) => value,
            Err(_) if value.chars().all(|c| c.is_alphanumeric() || "-_./:".contains(c)) => value.into(),
            Err(e) => return Err(fail(one_line(&e.to_string()))),
        };
        let mut item = document.as_item_mut();
        for part in key.split('.') {
            if !(item.is_none() || item.is_table_like()) {
                return Err(fail(format!("`{key}` goes through a setting that is no table")));
            }
            item = &mut item[part];
        }
        *item = Item::Value(value);
        keys.push(key.to_string());
    }
    Ok((document.to_string(), keys))
}

/// Turns places in the text into lines and columns.
struct Located<'a> {
    file: &'a str,
    text: &'a str,
    set: &'a [String],
}

impl Located<'_> {
    fn error(&self, span: Option<std::ops::Range<usize>>, message: String) -> ConfigError {
        let place = span.map(|span| {
            let before = &self.text[..span.start.min(self.text.len())];
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
        });
        let line = place.and_then(|(line, _)| self.text.lines().nth(line - 1)).map(str::to_string);
        let message = match self.set {
            [] => message,
            set => format!("{message} (after --set {})", set.join(", ")),
        };
        ConfigError { file: self.file.into(), place, line, message }
    }
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', ", ")
}

/// Serde's message, with the nearest of the names that it lists.
fn explain(message: &str) -> String {
    let message = one_line(message);
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let [found, known @ ..] = &quoted[..] else { return message };
    let what = if message.starts_with("unknown field") {
        "unknown key"
    } else if message.starts_with("unknown variant") {
        "unknown name"
    } else {
        return message;
    };
    if known.is_empty() {
        return format!("{what} `{found}`; none is expected here");
    }
    format!("{what} `{found}`{}", names::suggest(found, known))
}

/// The place of the value at a dotted path, or of the nearest thing above it that the text has.
fn span_of(root: &Item, path: &str) -> Option<std::ops::Range<usize>> {
    let mut item = root;
    let mut span = None;
    for part in path.split('.').filter(|p| !p.is_empty()) {
        let next = match part.parse::<usize>() {
            Ok(i) => item.get(i),
            Err(_) => {
                if let Some((key, _)) = item.as_table_like().and_then(|t| t.get_key_value(part)) {
                    span = key.span().or(span);
                }
                item.get(part)
            }
        };
        let Some(next) = next else { break };
        item = next;
    }
    span.or_else(|| item.span())
}

type Fault = (String, String);

/// What no parser can see: settings that cannot work, alone or together.
fn check(config: &Config) -> Result<(), Fault> {
    let fail = |path: &str, message: String| Err((path.to_string(), message));
    let named = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if config.name.is_empty() || config.name.starts_with('.') || !config.name.chars().all(named) {
        return fail(
            "name",
            "a name consists of letters, digits, `-`, `_` and `.`, and does not start with a dot".into(),
        );
    }
    let games = adept_game::games();
    let Some(game) = games.iter().find(|g| g.name == config.game.rules) else {
        let known: Vec<&str> = games.iter().map(|g| g.name).collect();
        return fail(
            "game.rules",
            format!("there is no game `{}`{}", config.game.rules, names::suggest(&config.game.rules, &known)),
        );
    };
    let encoder = match &config.game.encoder {
        None => &game.encoders[0],
        Some(name) => match game.encoders.iter().find(|e| e.0 == name) {
            Some(encoder) => encoder,
            None => {
                let known: Vec<&str> = game.encoders.iter().map(|e| e.0).collect();
                return fail(
                    "game.encoder",
                    format!("{} has no encoder `{name}`{}", game.name, names::suggest(name, &known)),
                );
            }
        },
    };
    let learn = &config.learn;
    let agents: Vec<&str> =
        game.scripts.iter().map(|s| s.0).chain(["random", "minimax", "optimal:…"]).collect();
    let known_agent = |text: &str| -> Result<(), String> {
        let mut spec = AgentSpec::parse(text)?;
        while let AgentSpec::Optimal(inner) = spec {
            spec = *inner;
        }
        match spec {
            AgentSpec::Random | AgentSpec::Minimax => Ok(()),
            AgentSpec::Named(name) if game.scripts.iter().any(|s| s.0 == name) => Ok(()),
            _ => Err(format!("{} has no agent `{text}`{}", game.name, names::suggest(text, &agents))),
        }
    };
    if learn.against != SELF {
        known_agent(&learn.against).map_err(|m| ("learn.against".to_string(), m))?;
    }
    for (i, agent) in config.evaluate.against.iter().flatten().enumerate() {
        known_agent(agent).map_err(|m| (format!("evaluate.against.{i}"), m))?;
    }
    if config.evaluate.against.as_ref().is_some_and(Vec::is_empty) {
        return fail("evaluate.against", "name at least one opponent, or leave it out".into());
    }
    for (path, count) in [
        ("learn.games", Some(learn.games)),
        ("learn.batch", Some(learn.batch)),
        ("evaluate.every", config.evaluate.every),
        ("evaluate.checkpoint", config.evaluate.checkpoint),
    ] {
        if count == Some(0) {
            return fail(path, "must be at least 1".into());
        }
    }
    if config.evaluate.suites.iter().enumerate().any(|(i, s)| config.evaluate.suites[..i].contains(s)) {
        return fail("evaluate.suites", "names a suite twice".into());
    }
    if !config.evaluate.suites.contains(&Suite::Equity) {
        return fail("evaluate.suites", "needs `equity`, which decides what checkpoint is best".into());
    }
    schedule("learn.lambda", &learn.lambda, 0.0, 1.0)?;
    schedule("learn.explore", &learn.explore, 0.0, 1.0)?;
    schedule("learn.rate", &learn.rate, 0.0, f64::MAX)?;
    if learn.rate.range().1 == 0.0 {
        return fail("learn.rate", "is 0 throughout: nothing would be learned".into());
    }
    learn.optimiser.check().map_err(|(key, m)| (format!("learn.optimiser.{key}"), m))?;
    if learn.traces == TraceKind::Online {
        if matches!(config.architecture, Architecture::Hme(_)) {
            return fail("learn.traces", "online traces follow the gradient of the value, an HME learns by its likelihood: write `backward`, or take `meta_pi`".into());
        }
        if learn.batch > 1 {
            return fail("learn.batch", "online traces step at every move: leave `batch` out".into());
        }
        if learn.optimiser != adept_model::Optimiser::default() {
            return fail("learn.optimiser", "online traces take plain steps: leave `optimiser` out".into());
        }
    }
    let channels = adept_arena::model_channels(encoder.2);
    let outcome = match &config.architecture {
        Architecture::Lookup(lookup) => {
            adept_model::Table::new(lookup, &channels, learn.optimiser).map(|_| ())
        }
        network => adept_model::lower(network, &channels, 1).map(|_| ()),
    };
    match outcome {
        Ok(()) => Ok(()),
        Err(ModelError::Architecture { path, message }) => fail(&format!("architecture.{path}"), message),
        Err(other) => fail("architecture", other.to_string()),
    }
}

fn schedule(path: &str, schedule: &Schedule, low: f64, high: f64) -> Result<(), Fault> {
    let fail = |message: String| Err((path.to_string(), message));
    let (least, most) = schedule.range();
    if !(schedule.from.is_finite() && schedule.to.is_finite()) {
        return fail("is not a finite number".into());
    }
    if least < low || most > high {
        return fail(match high {
            f64::MAX => format!("must be at least {low}, found {least}"),
            _ => format!("lies in {low}..{high}, found {}", if least < low { least } else { most }),
        });
    }
    if schedule.shape == Shape::Exponential && least <= 0.0 {
        return fail("an exponential schedule needs both ends above 0".into());
    }
    Ok(())
}
