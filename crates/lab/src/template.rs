//! Starter configs for `adept config new`.

use adept_game::{GameError, GameInfo, Suite};
use adept_ground::shown::shell;
use adept_model::Architecture;
use adept_trainer::config::{Games, SELF, Source, parse};
use std::path::Path;

/// The learning methods, by the name of their section in a config.
pub const METHODS: [&str; 4] = ["td", "expectation", "supervised", "regrets"];

/// Description of the data of each of the [`METHODS`], for the description of an experiment.
const BY: [&str; 4] = [", from its games", ", from expected values", ", from exact values", ", from regrets"];

/// A commented config for this game, with its usual method or one of [`METHODS`].
///
/// # Errors
/// If the game is unknown or does not support this method.
pub fn template(game: &str, method: Option<&str>, games: &dyn Games) -> Result<String, GameError> {
    let info = games.rules(game)?.info();
    let starter = games.rules(game)?.starter().unwrap_or_else(|| general(&info));
    let rest = match method {
        Some(method) if !starter.contains(&format!("[learn.{method}]")) => {
            with_method(&starter, method, &info)?
        }
        _ => starter,
    };
    // The name of a rule file without folders and suffix.
    let file = info.name.strip_prefix("file:").and_then(|path| Path::new(path).file_stem()?.to_str());
    let short = file.unwrap_or(&info.name);
    let name = short.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
    let name = name.strip_prefix("my-").unwrap_or(&name);
    let name = &name[name.len().saturating_sub(100)..];
    // Some systems refuse names that end with a dot, and `..` looks like a parent folder.
    let parts: Vec<&str> =
        name.split('.').map(|part| part.trim_matches('-')).filter(|part| !part.is_empty()).collect();
    let name = if parts.is_empty() { "game".into() } else { parts.join(".") };
    let name = method.map_or(name.clone(), |method| format!("{name}-{method}"));
    let by = METHODS.iter().zip(BY).find(|(method, _)| rest.contains(&format!("[learn.{method}]")));
    let about = format!("{short}, a first network{}", by.map_or("", |(_, by)| by));
    let (top, rest) =
        rest.split_at(if rest.starts_with("head") { rest.find("encoder").unwrap_or(0) } else { 0 });
    let text = format!(
        "name  = \"my-{name}\"\nabout = {}\n{top}\n[game]\nrules   = {}\n{rest}",
        toml::Value::from(about),
        toml::Value::from(&*info.name)
    );
    let text = for_terminals(text);
    let source = Source { file: format!("my-{name}.toml"), text: text.clone(), set: Vec::new() };
    match parse(&source, games) {
        Ok(_) => Ok(text),
        Err(e) => Err(GameError::new(match method {
            Some(method) => format!("{} has no config for the method `{method}`: {}", info.name, e.message),
            None => format!("the starter config of {} has a fault: {}", info.name, e.message),
        })),
    }
}

/// The architectures that a starter config can have, each by its kind, with its own among them. The experts of mixtures are networks like its
/// own.
pub fn architectures(text: &str, games: &dyn Games) -> Vec<(&'static str, String)> {
    let Some((own, section)) = network(text) else { return Vec::new() };
    let kinds = Architecture::KINDS.iter().map(|(kind, _)| *kind);
    let fits = |section: &String| {
        let text = text.replace(own, section);
        parse(&Source { file: "starter".into(), text, set: Vec::new() }, games).is_ok()
    };
    kinds
        .filter_map(|kind| match kind == section.kind {
            true => Some((kind, own.to_string())),
            false => Some((kind, section.of_kind(kind)?)).filter(|(_, text)| fits(text)),
        })
        .collect()
}

/// The network of a starter config, which another kind of architecture can replace.
struct Section<'a> {
    /// What comes before it, such as a prior that it corrects.
    before: &'a str,
    /// Its place in the config, such as `architecture.residual.net`.
    place: &'a str,
    kind: &'a str,
    /// Its settings.
    body: &'a str,
}

/// The text of the architecture in a starter config, and the last network in it.
fn network(text: &str) -> Option<(&str, Section<'_>)> {
    let begin = text.find("[architecture.")?;
    let own = text[begin..].split("[learn").next()?.trim_end();
    let (before, last) = own.split_at(own.rfind("[architecture.")?);
    let (head, body) = last.split_once(']')?;
    let (place, kind) = head.trim_start_matches('[').rsplit_once('.')?;
    Some((own, Section { before, place, kind, body }))
}

impl Section<'_> {
    /// The same section with another kind of network, if this kind can be written without knowing the encoder.
    fn of_kind(&self, kind: &str) -> Option<String> {
        let Self { before, place, body, .. } = self;
        let of_experts = || {
            let expert = format!("[{place}.{kind}.expert.{}]{body}", self.kind);
            format!("[{place}.{kind}]\nexperts = 4                  # number of experts\n\n{expert}")
        };
        Some(match kind {
            "hme" | "meta_pi" if self.kind == "mlp" => format!("{before}{}", of_experts()),
            "lookup" | "blind" => format!("{before}[{place}.{kind}]"),
            _ => return None,
        })
    }
}

/// Width of a terminal.
const COLUMNS: usize = 80;

/// Wraps long comments of a config to the width of a terminal.
fn for_terminals(text: String) -> String {
    let narrow = narrow(&text);
    // A `#` may be part of a string.
    let read = |text: &str| text.parse::<toml::Table>().ok();
    if read(&narrow) == read(&text) { narrow } else { text }
}

/// Moves comments of lines that are too wide for a terminal above their lines.
fn narrow(text: &str) -> String {
    let mut narrow = String::with_capacity(text.len());
    for line in text.lines() {
        let comment = line.match_indices('#').map(|(at, _)| at).find(|at| {
            // Not inside a string.
            line[..*at].matches('"').count() % 2 == 0
        });
        match comment {
            Some(at) if line.chars().count() > COLUMNS => {
                let options = textwrap::Options::new(COLUMNS).subsequent_indent("# ").break_words(false);
                // A command stays on one line.
                let whole = line[at..].replace("adept list ", "adept\u{a0}list\u{a0}");
                narrow.push_str(&textwrap::fill(&whole, options).replace('\u{a0}', " "));
                narrow.push('\n');
                let rest = line[..at].trim_end();
                if !rest.is_empty() {
                    narrow.push_str(rest);
                    narrow.push('\n');
                }
            }
            _ => {
                narrow.push_str(line);
                narrow.push('\n');
            }
        }
    }
    narrow
}

/// The section of a method.
fn section(method: &str, info: &GameInfo) -> Result<String, GameError> {
    let against = info.scripts.first().map_or(SELF, |script| &*script.name);
    Ok(match method {
        "td" if info.usual_suites.contains(&Suite::Exploitability) => format!(
            "# TD finds no equilibrium: who always plays the best action can be exploited.\n\
             # `adept config new {} --method regrets` does.\n{}",
            shell(&info.name),
            include_str!("templates/td.toml").replace("{against}", against)
        ),
        "td" => include_str!("templates/td.toml").replace("{against}", against),
        "expectation" => include_str!("templates/expectation.toml").into(),
        "supervised" => include_str!("templates/supervised.toml").into(),
        "regrets" => include_str!("templates/regrets.toml").into(),
        _ => return Err(GameError::new(format!("no method `{method}`; there is {}", METHODS.join(", ")))),
    })
}

/// A game's starter config with another method. The encoder, the architecture and the measurements stay.
fn with_method(starter: &str, method: &str, info: &GameInfo) -> Result<String, GameError> {
    // Comments of the starter may describe its own method.
    let bare = |line: &str| format!("{}\n", line.split('#').next().unwrap_or_default().trim_end());
    let head: String = starter.lines().take_while(|line| !line.starts_with("[learn")).map(bare).collect();
    let measured = match method {
        "supervised" => "suites    = [\"rms\"]          # errors against exact values\n\
                         positions = 10_000           # test positions, which are never examples\n"
            .into(),
        "regrets" => "suites = [\"exploitability\"]  # exact: what a best response wins\n".into(),
        _ => {
            let lines = starter.split("[evaluate]").nth(1).unwrap_or_default().lines();
            // The measurement interval depends on the length of the run.
            let kept = lines.filter(|line| !line.is_empty() && !line.trim_start().starts_with("every"));
            kept.map(|line| format!("{line}\n")).collect::<String>()
        }
    };
    Ok(format!("{head}{}\n[evaluate]\n{measured}", section(method, info)?))
}

/// The template for games without a starter config.
fn general(info: &GameInfo) -> String {
    let encoders: Vec<&str> = info.encoders.iter().map(|e| &*e.name).collect();
    let suites: Vec<String> = info.usual_suites.iter().map(|suite| format!("{:?}", suite.name())).collect();
    format!(
        r#"encoder = "{}"    # one of: {}

[architecture.mlp]           # or hme, meta_pi, symbolic, lookup, residual: adept list architectures
hidden = [80]                # units of each hidden layer

{}
[evaluate]
every  = 1_000               # games between two measurements
suites = [{}]
"#,
        encoders.first().copied().unwrap_or_default(),
        encoders.join(", "),
        section("td", info).unwrap_or_default(),
        suites.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixtures_have_experts_like_the_own_network() {
        let text = "[game]\n\n[architecture.residual]\non = \"p\"\n\n[architecture.residual.net.mlp]\nhidden = [8]\n\n[learn]\n";
        let (own, section) = network(text).unwrap();
        assert!(own.starts_with("[architecture.residual]") && own.ends_with("[8]"), "{own}");
        let hme = section.of_kind("hme").unwrap();
        let table: toml::Table = hme.parse().unwrap();
        let residual = &table["architecture"]["residual"];
        assert_eq!(residual["on"].as_str(), Some("p"));
        assert_eq!(residual["net"]["hme"]["experts"].as_integer(), Some(4));
        assert_eq!(residual["net"]["hme"]["expert"]["mlp"]["hidden"][0].as_integer(), Some(8));
        assert!(section.of_kind("cells").is_none() && network("[learn]").is_none());
    }

    #[test]
    fn wide_comments_go_above_their_lines() {
        let wide = "w".repeat(30);
        let text = format!(
            "a = 1    # short\nb = \"#{wide}\"    # {wide} {wide}\n# {wide} {wide} {wide}\nc = [\"{wide}{wide}{wide}\"]\n"
        );
        let expected = format!(
            "a = 1    # short\n# {wide} {wide}\nb = \"#{wide}\"\n# {wide} {wide}\n# {wide}\nc = [\"{wide}{wide}{wide}\"]\n"
        );
        assert_eq!(narrow(&text), expected);
        assert_eq!(for_terminals(text), expected);
        for text in [
            format!("a = 'variant # {wide} {wide} {wide}'\n"),
            format!("a = \"say \\\"# {wide} {wide} {wide}\"\n"),
        ] {
            assert_eq!(for_terminals(text.clone()), text);
        }
        let command = format!("d = 1    # {wide} {wide} w adept list encoders\n");
        assert_eq!(narrow(&command), format!("# {wide} {wide} w\n# adept list encoders\nd = 1\n"));
    }
}
