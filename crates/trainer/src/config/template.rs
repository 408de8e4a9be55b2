//! A config to start from.

/// A commented config for that game; none if there is no such game.
pub fn template(game: &str) -> Option<String> {
    let info = adept_game::info(game)?;
    let encoders: Vec<&str> = info.encoders.iter().map(|e| e.0).collect();
    // Scripts of a game whose agents deliberate are for some of its rule sets only.
    let script = info.scripts.first().filter(|_| info.deliberators.is_empty());
    let against = script.map_or(super::SELF, |s| s.0);
    let other = if against == super::SELF { "" } else { r#""self", "# };
    let suites = match info.start_is_listed {
        true => r#"["equity"]"#,
        false if info.distributions.is_empty() => r#"["matches"]         # games against random play"#,
        false => r#"["rms"]             # error against exact values"#,
    };
    Some(format!(
        r#"name  = "my-{}"
about = "what this experiment is for"

[game]
rules   = "{game}"
encoder = "{}"    # one of: {}

[architecture.mlp]           # or hme, meta_pi, symbolic, lookup, residual: adept list architectures
hidden      = [80]
sensitivity = 3.0            # first slope of the hidden units; leave out for plain units

[learn]
method  = "td"
against = "{against}"              # or {other}"random", …: adept list agents
games   = 200_000
lambda  = 0.8
rate    = {{ from = 0.02, to = 0.0002 }}
explore = {{ from = 0.4, to = 0.05 }}

[evaluate]
every  = 10_000
suites = {suites}
"#,
        game.replace(':', "-"),
        encoders[0],
        encoders.join(", "),
    ))
}
