//! The command `review`.

use super::play::game_of;
use crate::args::ReviewArgs;
use crate::output;
use crate::progress::on_interrupt;
use adept_lab::Catalogue;
use adept_lab::review::{Decisions, PlayerReview, Review, ReviewOptions, Worst};
use anyhow::{Result, bail};

/// What is said at Ctrl-C.
const STOPPING: &str = "\nstopping, with the games reviewed so far (again to stop at once)";

pub(crate) fn run(games: &dyn Catalogue, args: &ReviewArgs, as_json: bool) -> Result<()> {
    let options = ReviewOptions {
        file: args.file.clone(),
        agent: args.by.clone(),
        best: args.best,
        player: args.player.clone(),
        worst: args.worst as usize,
        threads: args.threads,
    };
    let game = game_of(games, &args.by, args.game.as_deref(), args.best)?;
    let found = game.review(&options, &on_interrupt(STOPPING))?;
    if as_json {
        output::json(&found)?;
    } else {
        output::text(&text(&found))?;
    }
    if !found.finished {
        bail!("stopped before the end: these are {} of the games", found.games);
    }
    Ok(())
}

/// Columns before what is said of a move.
const INDENT: usize = 9;

/// The review for people.
fn text(found: &Review) -> String {
    let unit = found.unit.as_deref().unwrap_or("utility");
    let decisions = |all: &Decisions| {
        let Decisions { decisions, loss_per_decision, wrong_share } = all;
        [decisions.to_string(), format!("{loss_per_decision:.4}"), format!("{:.1}", 100.0 * wrong_share)]
    };
    let row = |player: &PlayerReview| {
        let own = decisions(&player.decisions);
        let mut cells = vec![player.name.clone(), player.games.to_string()];
        cells.extend(own);
        cells.push(format!("{:+.2}", player.luck));
        cells.extend(match player.results {
            0 => ["–".to_string(), "–".to_string()],
            _ => [player.result, player.adjusted].map(|sum| format!("{sum:+.2}")),
        });
        cells
    };
    let mut rows: Vec<Vec<String>> = found.players.iter().map(row).collect();
    if rows.len() > 1 {
        let [count, loss, wrong] = decisions(&found.total);
        let empty = [(); 3].map(|()| String::new());
        rows.push([vec!["all".into(), found.games.to_string(), count, loss, wrong], empty.to_vec()].concat());
    }
    let header =
        ["player", "games", "decisions", "loss per decision", "wrong %", "luck", "result", "less luck"];
    let mut text = output::wrapped(&format!(
        "{} game{} of {}, in {unit}, by {}",
        found.games,
        if found.games == 1 { "" } else { "s" },
        found.file.display(),
        found.by
    ));
    text.push_str(&format!("\n{}", output::table(&header, &rows)));
    if found.players.iter().any(|player| player.results < player.games) {
        text.push_str("games without a result count as luck alone\n");
    }
    if !found.worst.is_empty() {
        text.push_str("\nworst moves\n");
    }
    for Worst { game, number, player, position, played, best, loss } in &found.worst {
        let place = format!("game {game}, move {number}, {player}: {position}");
        text.push_str(&output::entry(&format!("  {loss:.3}"), INDENT, &place));
        text.push_str(&output::entry("", INDENT, &format!("played {played}, best {best}")));
    }
    text
}
