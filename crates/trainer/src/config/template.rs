//! A config to start from, for `adept config new`.

use super::Games;
use adept_game::{GameError, GameInfo};

/// A commented config for this game.
///
/// # Errors
/// If the game is unknown.
pub fn template(game: &str, games: &dyn Games) -> Result<String, GameError> {
    let rules = games.rules(game)?;
    let info = rules.info();
    let rest = rules.starter().unwrap_or_else(|| general(&info));
    Ok(format!(
        "name  = \"my-{}\"\nabout = \"what this experiment is for\"\n\n[game]\nrules   = \"{}\"\n{rest}",
        info.name.replace(':', "-"),
        info.name
    ))
}

/// The template for games without their own.
fn general(info: &GameInfo) -> String {
    let encoders: Vec<&str> = info.encoders.iter().map(|e| &*e.name).collect();
    let against = info.scripts.first().map_or(super::SELF, |script| &*script.name);
    let suites: Vec<String> = info.usual_suites.iter().map(|suite| format!("{:?}", suite.name())).collect();
    format!(
        r#"encoder = "{}"    # one of: {}

[architecture.mlp]           # or hme, meta_pi, symbolic, lookup, residual: adept list architectures
hidden = [80]

[learn]
rate = {{ from = 0.01, to = 0.0001 }}   # linear over the run

[learn.td]                   # TD(λ) along games
against = "{against}"           # an opponent, or "self": adept list agents
games   = 100_000
lambda  = 0.7
explore = {{ from = 0.2, to = 0.02 }}   # ε of ε-greedy play

[evaluate]
every  = 5_000
suites = [{}]
"#,
        encoders.first().copied().unwrap_or_default(),
        encoders.join(", "),
        suites.join(", "),
    )
}
