//! The command `rules`.

use crate::args::RulesArgs;
use crate::output;
use adept_game::TraceStep;
use adept_lab::Catalogue;
use anyhow::{Result, bail};
use serde_json::{Value, json};

pub(crate) fn run(games: &dyn Catalogue, args: &RulesArgs, as_json: bool) -> Result<()> {
    let game = games.find(&args.game)?;
    if let Some(seed) = args.trace {
        let Some(steps) = game.trace(seed) else { bail!(other(&args.game)) };
        if as_json {
            return output::json(&json!({ "positions": steps.iter().map(line).collect::<Vec<_>>() }));
        }
        return output::text(&steps.iter().map(|step| format!("{}\n", line(step))).collect::<String>());
    }
    let Some(audit) = game.audit(args.games) else { bail!(other(&args.game)) };
    if as_json {
        let facts: serde_json::Map<String, Value> =
            audit.facts.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        return output::json(&json!({ "game": args.game, "found": facts, "notes": audit.notes }));
    }
    let wide = audit.facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text: String =
        audit.facts.iter().map(|(name, value)| format!("{name:<wide$}  {value}\n")).collect();
    match audit.notes.len() {
        0 => text.push_str("\nnothing to note\n"),
        _ => text.push_str(&audit.notes.iter().map(|note| format!("\n- {note}")).collect::<String>()),
    }
    output::text(&(text.trim_end().to_string() + "\n"))
}

fn other(game: &str) -> String {
    format!(
        "{game} is not in GDL or has no rule file; `adept list games --game {game} --check` checks any game, and traces are of GDL alone"
    )
}

fn line(step: &TraceStep) -> Value {
    json!({
        "facts": step.facts, "legal": step.legal, "moves": step.moves, "over": step.is_over, "goals": step.goals,
    })
}
