//! Reads, completes and checks config files.

use super::check::check;
use super::fault::Fault;
use super::learn::migrate;
use super::paths::Place;
use super::{Config, ConfigError, Games, Method, Suite};
use adept_ground::limits;
use adept_model::names;
use serde::de::DeserializeOwned;
use std::path::Path;
use toml_edit::{Document, DocumentMut, Item, TomlError};

/// A config file: its text, and the changes from the command line.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name for messages. Paths in the file are relative to its folder.
    pub file: String,
    /// The TOML text.
    pub text: String,
    /// `KEY=VALUE` with a dotted key and a TOML value; a bare word is read as a string.
    pub set: Vec<String>,
}

impl Source {
    /// Reads a file. `set` holds the changes.
    ///
    /// # Errors
    /// A [`ConfigError`] if it cannot be read.
    pub fn read(path: &Path, set: &[String]) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let unread = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound => match path.with_extension("toml") {
                near if near != path && near.exists() => {
                    format!("file not found: did you mean `{}`?", near.display())
                }
                _ => "file not found; `adept config new GAME` prints the config of an experiment, and \
                      `adept arena --help` shows one of a tournament"
                    .into(),
            },
            std::io::ErrorKind::IsADirectory => {
                let own = path.join("config.toml");
                match own.is_file() {
                    true => format!("is the folder of a run; its config is `{}`", own.display()),
                    false => "is a folder, not a config: name a file".into(),
                }
            }
            _ => format!("cannot be read: {e}"),
        };
        let text = limits::read_text(path, limits::CONFIG_BYTES);
        let text = text.map_err(|e| ConfigError::of(&*file, unread(e)))?;
        if text.trim_start().starts_with('{') {
            let message = "is JSON, the record of a run or of another command, not a config; the config of a run is the file \
                           config.toml in its folder";
            return Err(ConfigError::of(file, message));
        }
        Ok(Self { file, text, set: set.to_vec() })
    }
}

/// A kind of config file: experiment or tournament.
pub trait Written: DeserializeOwned {
    /// What names in the file are looked up in.
    type Known<'k>: ?Sized;

    /// Fills in defaults that depend on other settings.
    fn complete(&mut self, known: &Self::Known<'_>);

    /// What the file is instead, if it is of another kind. `has` says whether it has a key at its top.
    fn other_kind(has: &dyn Fn(&str) -> bool) -> Option<&'static str>;

    /// Converts an older form of the file to the current form. Returns whether anything changed.
    fn renew(_document: &mut DocumentMut) -> bool {
        false
    }

    /// The full dotted key for the key that `--set` gives.
    fn whole_key(key: &str, _document: &DocumentMut) -> String {
        key.into()
    }

    /// Turns paths that are relative to the file into paths from the current folder.
    fn place(&mut self, known: &Self::Known<'_>, place: &mut Place<'_>);

    /// Finds the first setting that cannot work.
    ///
    /// # Errors
    /// The dotted path of the setting, and what is wrong with it.
    fn check(&self, known: &Self::Known<'_>) -> Result<(), Fault>;
}

impl Written for Config {
    type Known<'k> = dyn Games + 'k;

    fn complete(&mut self, games: &(dyn Games + '_)) {
        if self.evaluate.suites.is_none() {
            self.evaluate.suites = usual_suites(&self.game.rules, &self.learn.method, games);
        }
    }

    fn other_kind(has: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        has("agents").then_some("is a tournament, for `adept arena`, not an experiment")
    }

    fn renew(document: &mut DocumentMut) -> bool {
        migrate::document(document)
    }

    fn whole_key(key: &str, document: &DocumentMut) -> String {
        migrate::whole_key(key, document)
    }

    fn place(&mut self, games: &(dyn Games + '_), place: &mut Place<'_>) {
        let mut rules = self.game.rules.clone();
        self.change_paths(&mut |spot| {
            let found = place.find(spot, |name| games.rules(&rules).is_ok_and(|rules| rules.is_agent(name)));
            // It comes first. The names of the others are those of this game.
            if let (Some(path), "game.rules") = (&found, spot.key) {
                rules = format!("file:{path}");
            }
            found
        });
    }

    fn check(&self, games: &(dyn Games + '_)) -> Result<(), Fault> {
        check(self, games)
    }
}

/// Reads, parses and checks a config file.
///
/// # Errors
/// A [`ConfigError`] with the place of the first fault.
pub fn load(path: &Path, set: &[String], games: &dyn Games) -> Result<Config, ConfigError> {
    parse(&Source::read(path, set)?, games)
}

/// Parses and checks a config.
///
/// # Errors
/// A [`ConfigError`] with the place of the first fault, or with the first `--set` that caused a fault.
pub fn parse(source: &Source, games: &dyn Games) -> Result<Config, ConfigError> {
    parse_as(source, games)
}

/// The error for a setting that was parsed and checked but cannot be used, with its place.
pub fn error_at<C: Written>(source: &Source, path: &str, message: &str) -> ConfigError {
    let message = format!("`{path}`: {message}");
    let Ok(mut document) = source.text.parse::<DocumentMut>() else {
        return ConfigError::of(&*source.file, message);
    };
    let renewed = C::renew(&mut document);
    let sets = |setting: &&String| {
        let key = setting.split('=').next().unwrap_or_default().trim();
        let key = C::whole_key(key, &document);
        path.strip_prefix(&*key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(setting) = source.set.iter().rev().find(sets) {
        return ConfigError::of(format!("--set {setting}"), message);
    }
    let text = if renewed { document.to_string() } else { source.text.clone() };
    let original = renewed.then_some(&*source.text);
    match Document::parse(text.as_str()) {
        Ok(document) => {
            let at = Located { file: &source.file, text: &text, original };
            at.error(span_of(document.as_item(), path), message)
        }
        Err(_) => ConfigError::of(&*source.file, message),
    }
}

/// The text of a config in its current form; `None` if it has that already. In the older form the settings of all methods
/// stand side by side in `[learn]`. Comments stay.
///
/// # Errors
/// If the text is not TOML, or names an unknown method.
pub fn in_present_form(text: &str) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text.parse().map_err(|e: TomlError| one_line(e.message()))?;
    if migrate::document(&mut document) {
        return Ok(Some(document.to_string()));
    }
    match document.get("learn").and_then(|learn| learn.get("method")) {
        Some(method) => Err(format!("`learn.method` names no method: {}", method.to_string().trim())),
        None => Ok(None),
    }
}

/// Parses and checks a file of any kind.
///
/// # Errors
/// As [`parse`].
pub fn parse_as<C: Written>(source: &Source, known: &C::Known<'_>) -> Result<C, ConfigError> {
    let all = source.set.len();
    let whole = parse_with(source, all, known);
    let Err(fault) = whole else { return whole };
    // Nobody has a file with the changed text, so its line numbers would mislead. Blame the last setting after
    // which every result is a fault.
    let mut good = all;
    while let Some(fewer) = good.checked_sub(1) {
        good = fewer;
        if parse_with::<C>(source, good, known).is_ok() {
            let message = parse_with::<C>(source, good + 1, known).err().map_or(fault.message, |e| e.message);
            return Err(ConfigError::of(format!("--set {}", source.set[good]), message));
        }
    }
    match parse_with::<C>(source, 0, known) {
        Err(own) if own.message == fault.message => Err(own),
        _ => {
            let message = format!("{} (with --set {})", fault.message, source.set.join(" --set "));
            Err(ConfigError::of(fault.file, message))
        }
    }
}

/// The paths of a file that lead to the current folder, because there is nothing beside the file: a sentence for each.
pub fn paths_found_here<C: Written>(source: &Source, known: &C::Known<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    // A fault is reported where the file is parsed.
    let _ = placed::<C>(source, source.set.len(), known, &mut notes);
    notes
}

/// Parses and checks a config with its first `settings` changes.
fn parse_with<C: Written>(source: &Source, settings: usize, known: &C::Known<'_>) -> Result<C, ConfigError> {
    let (mut config, text, renewed) = placed::<C>(source, settings, known, &mut Vec::new())?;
    let original = renewed.then_some(&*source.text);
    let at = Located { file: &source.file, text: &text, original };
    // toml_edit: it keeps the place of every key.
    let document = Document::parse(text.as_str()).map_err(|e| at.syntax(e.span(), e.message()))?;
    config.complete(known);
    config.check(known).map_err(|(path, message)| {
        at.error(
            span_of(document.as_item(), &path),
            if path.is_empty() { message } else { format!("`{path}`: {message}") },
        )
    })?;
    Ok(config)
}

/// Parses a config with its first `settings` changes, and finds its files. Returns also its changed text, and whether it had an
/// older form.
fn placed<C: Written>(
    source: &Source,
    settings: usize,
    known: &C::Known<'_>,
    notes: &mut Vec<String>,
) -> Result<(C, String, bool), ConfigError> {
    let at = Located { file: &source.file, text: &source.text, original: None };
    let mut document: DocumentMut =
        source.text.parse().map_err(|e: TomlError| at.syntax(e.span(), e.message()))?;
    if let Some(kind) = C::other_kind(&|key| document.contains_key(key)) {
        return Err(ConfigError::of(&*source.file, kind));
    }
    let renewed = C::renew(&mut document);
    let mut given = Vec::new();
    for setting in &source.set[..settings] {
        given.push(apply_set::<C>(&mut document, setting)?);
    }
    let text = if renewed || settings > 0 { document.to_string() } else { source.text.clone() };
    let at = Located { text: &text, original: renewed.then_some(&*source.text), ..at };
    let mut config: C = toml::from_str(&text).map_err(|e| at.serde(e.span(), e.message()))?;
    let mut place = Place::new(&source.file, &given);
    config.place(known, &mut place);
    *notes = place.into_notes();
    Ok((config, text, renewed))
}

/// The default suites of a game. `None` if the game is unknown, which the check reports.
fn usual_suites(game: &str, method: &Method, games: &dyn Games) -> Option<Vec<Suite>> {
    if matches!(method, Method::Regrets(_)) {
        return Some(vec![Suite::Exploitability]);
    }
    games.rules(game).ok().map(|rules| rules.info().usual_suites)
}

/// Applies one `--set`; returns its whole key.
fn apply_set<C: Written>(document: &mut DocumentMut, setting: &str) -> Result<String, ConfigError> {
    let fail = |message: String| Err(ConfigError::of(format!("--set {setting}"), message));
    let (key, value) = match setting.split_once('=') {
        Some((key, value)) if key.split('.').all(|part| !part.trim().is_empty()) => {
            (key.trim(), value.trim())
        }
        _ => return fail("write KEY=VALUE, such as learn.td.games=10000".into()),
    };
    let parts = key.split('.').count();
    if parts > limits::KEY_PARTS {
        let message = format!("the key has {parts} parts; at most {} are allowed", limits::KEY_PARTS);
        return Err(ConfigError::of("--set", message));
    }
    let value: toml_edit::Value = match value.parse() {
        Ok(value) => value,
        Err(_) if value.chars().all(|c| c.is_alphanumeric() || "-_./:+".contains(c)) => value.into(),
        Err(_)
            if value.split(',').all(|part| !part.is_empty() && part.parse::<toml_edit::Value>().is_ok()) =>
        {
            return fail("takes one value; `adept sweep` tries several".into());
        }
        Err(e) => return fail(syntax(value, e.span(), e.message())),
    };
    let key = C::whole_key(key, document);
    let mut item = document.as_item_mut();
    for part in key.split('.') {
        if !(item.is_none() || item.is_table_like()) {
            return fail(format!("`{key}` goes through a setting that is not a table"));
        }
        item = &mut item[part];
    }
    *item = Item::Value(value);
    Ok(key)
}

/// Converts offsets in the text to lines and columns.
struct Located<'a> {
    file: &'a str,
    text: &'a str,
    /// The text before conversion to the current form. Places refer to this text.
    original: Option<&'a str>,
}

impl Located<'_> {
    fn error(&self, span: Option<Span>, message: String) -> ConfigError {
        let place = span.map(|span| {
            let before = &self.text[..span.start.min(self.text.len())];
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
        });
        let line = place.and_then(|(line, _)| self.text.lines().nth(line - 1)).map(str::to_string);
        let place = match (self.original, place, &line) {
            (None, ..) | (_, None, _) | (.., None) => place,
            (Some(original), Some((_, column)), Some(line)) => {
                let mut same = original.lines().enumerate().filter(|(_, other)| other == line);
                same.next().filter(|_| same.next().is_none()).map(|(i, _)| (i + 1, column))
            }
        };
        ConfigError { file: self.file.into(), place, line, message }
    }

    fn syntax(&self, span: Option<Span>, message: &str) -> ConfigError {
        self.error(span.clone(), syntax(self.text, span, message))
    }

    fn serde(&self, span: Option<Span>, message: &str) -> ConfigError {
        if let Some(key) = message.strip_prefix("missing field `").and_then(|m| m.split('`').next()) {
            return match missing(key) {
                Missing::AtTheTop(message) => self.error(None, message),
                Missing::Here(message) => self.error(span, message),
            };
        }
        let double = span.as_ref().and_then(|s| self.text.get(s.start..)?.strip_prefix("[["));
        if let Some(name) = double.and_then(|t| t.split(']').next()).filter(|_| message.contains("type: map"))
        {
            return self.error(span, format!("write `[{name}]`: double brackets make a list"));
        }
        self.error(span, explain(message))
    }
}

type Span = std::ops::Range<usize>;

fn one_line(message: &str) -> String {
    message.trim().replace('\n', ", ")
}

/// The parser's message on invalid TOML, with a correction where it is clear.
fn syntax(text: &str, span: Option<Span>, message: &str) -> String {
    let rest = span.and_then(|s| text.get(s.start..)).unwrap_or_default();
    let rest = rest.lines().next().unwrap_or_default().split('#').next().unwrap_or_default().trim_end();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_./: ".contains(c))).unwrap_or(rest.len());
    let word = rest[..end].trim_end();
    let value = ["literal string", "invalid boolean", "must be quoted"].iter().any(|m| message.contains(m));
    match rest.trim_start().chars().next() {
        _ if message == "duplicate key" => format!("`{word}` is already defined"),
        None | Some('}' | ',') if value => "a value is missing here".into(),
        Some(c) if value && c.is_alphabetic() => {
            format!("text needs quotes: write \"{word}\"")
        }
        Some('.') if message.contains("mantissa") => format!("a number begins with a digit: write 0{word}"),
        _ => one_line(message),
    }
}

/// Where a missing key belongs, and what to write.
enum Missing {
    AtTheTop(String),
    Here(String),
}

fn missing(key: &str) -> Missing {
    let example = match key {
        "name" => r#"name = "my-experiment""#,
        "game" => "[game]",
        "architecture" => "[architecture.mlp]",
        "learn" => "[learn]",
        "rules" => r#"rules = "tictactoe""#,
        "games" => "games = 200_000",
        "samples" => "samples = 1_000_000",
        "iterations" => "iterations = 300",
        "rate" => "rate = { from = 0.02, to = 0.0002 }",
        "hidden" => "hidden = [80]",
        "experts" => "experts = 2",
        "by" => r#"by = "square""#,
        _ => return Missing::Here(format!("`{key}` is missing here")),
    };
    let message = format!("`{key}` is missing: write `{example}`");
    match key {
        "name" | "game" | "architecture" | "learn" => Missing::AtTheTop(format!(
            "{message}, or start from the config that `adept config new GAME` prints"
        )),
        _ => Missing::Here(message),
    }
}

/// Rewords serde's message for config files: suggests the nearest known name, and mentions no Rust types.
fn explain(message: &str) -> String {
    let message = one_line(message);
    if message.contains("recursion limit") {
        return "nested too deeply: use fewer levels".into();
    }
    if message.starts_with("wanted exactly 1 element") {
        return "exactly one kind is expected here, such as `[architecture.mlp]` or `expert.mlp`, with its \
                settings below it"
            .into();
    }
    if message.ends_with("expected newtype variant") {
        return "expected a kind with its settings below it, such as `[architecture.mlp]` or \
                `expert.mlp = { hidden = [40] }`, found a name alone"
            .into();
    }
    if message == "wanted string or table" {
        return "expected a name in quotes".into();
    }
    let mistyped = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = mistyped.and_then(|m| m.split_once(", expected ")) {
        let found = match found.split_once(' ') {
            Some(("string", text)) => format!("the text {text}"),
            Some(("integer" | "boolean", value)) => value.replace('`', ""),
            Some(("floating", value)) => value.replace("point ", "").replace('`', ""),
            _ => found.replace("sequence", "a list").replace("map", "a table"),
        };
        let expected = match expected {
            "u64" | "usize" => "a whole number, at least 0",
            "f32" | "f64" => "a number",
            "a string" => "text in quotes",
            "a sequence" => "a list in brackets",
            table if table.starts_with("struct ") => "a table",
            other => other,
        };
        return format!("expected {expected}, found {found}");
    }
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let [found, known @ ..] = &quoted[..] else { return message };
    let what = if message.starts_with("unknown field") {
        "unknown key"
    } else if message.starts_with("unknown variant") {
        "unknown name"
    } else {
        return message;
    };
    if *found == "checkpoint" && known.contains(&"patience") {
        return "unknown key `checkpoint`: it is `every` in the section [checkpoints]".into();
    }
    if what == "unknown key"
        && is_learning(known)
        && let Some(message) = migrate::elsewhere(found, known)
    {
        return message;
    }
    if known.is_empty() {
        return format!("{what} `{found}`; none is expected here");
    }
    format!("{what} `{found}`{}", names::suggest(found, known))
}

/// Whether these are the keys of `[learn]` or of a method's section.
fn is_learning(keys: &[&str]) -> bool {
    ["td", "lambda", "self_play", "samples", "iterations"].iter().any(|key| keys.contains(key))
}

/// The place of the value at a dotted path, or of its nearest parent in the text.
fn span_of(root: &Item, path: &str) -> Option<Span> {
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
