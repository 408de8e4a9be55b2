//! The command `review`.

use super::play::game_of;
use crate::args::ReviewArgs;
use crate::interrupt::on_interrupt;
use crate::output;
use adept_ground::shown::clipped;
use adept_lab::Catalogue;
use adept_lab::review::{Decisions, PlayerReview, Review, ReviewOptions, Worst};
use anyhow::{Result, bail};
use std::borrow::Cow;
use std::path::Path;

/// What is said at Ctrl-C.
const STOPPING: &str = "\nstopping, with the games reviewed so far (again to stop at once)";

pub(crate) fn run(games: &dyn Catalogue, args: &ReviewArgs, as_json: bool) -> Result<()> {
    let options = ReviewOptions {
        files: args.files.clone(),
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

/// Faults that are listed.
const FAULTS: usize = 10;

/// Letters of a name of a player or a file.
const NAME: usize = 24;

/// The name of a file without its folders.
fn name_of(file: &Path) -> Cow<'_, str> {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    match name {
        Cow::Borrowed(name) => clipped(name, NAME),
        Cow::Owned(name) => clipped(&name, NAME).into_owned().into(),
    }
}

/// Half the width of a 95 % interval behind a number.
fn error(ci95: Option<f64>, digits: usize) -> String {
    ci95.map_or_else(String::new, |half| format!(" ±{half:.digits$}"))
}

/// The review for people.
fn text(found: &Review) -> String {
    let unit = found.unit.as_deref().unwrap_or("utility");
    let decisions = |all: &Decisions| {
        let Decisions { decisions, loss_per_decision, loss_ci95, wrong_share, .. } = all;
        let loss = format!("{loss_per_decision:.4}{}", error(*loss_ci95, 4));
        [decisions.to_string(), loss, format!("{:.1}", 100.0 * wrong_share)]
    };
    let row = |player: &PlayerReview| {
        let own = decisions(&player.decisions);
        let mut cells = vec![clipped(&player.name, NAME).into_owned(), player.games.to_string()];
        cells.extend(own);
        cells.push(format!("{:+.2}{}", player.luck, error(player.luck_ci95, 2)));
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
        match found.files.len() {
            1 => found.file.display().to_string(),
            files => format!("{files} files"),
        },
        match &found.references[..] {
            [] => found.by.clone(),
            all => format!("{} and, where they know the value, {}", found.by, all.join(", ")),
        }
    ));
    text.push_str(&format!("\n{}", output::table(&header, &rows)));
    if found.players.iter().any(|player| player.results < player.games) {
        text.push_str("games without a result count as luck alone\n");
    }
    if !found.faults.is_empty() {
        let many = if found.faults.len() == 1 { "fault" } else { "faults" };
        text.push_str(&format!("\n{} {many}: each game was read up to its fault\n", found.faults.len()));
        for fault in found.faults.iter().take(FAULTS) {
            // A file that could not be read at all is named already.
            let why = match fault.game {
                Some(_) => format!("{}: {}", name_of(&fault.file), fault.why),
                None => fault.why.clone(),
            };
            text.push_str(&output::entry("  ", 2, &why));
        }
        if found.faults.len() > FAULTS {
            text.push_str(&format!("  … and {} more, with --json\n", found.faults.len() - FAULTS));
        }
    }
    if found.total.undecided_share > 0.0 {
        text.push_str(&output::wrapped(&format!(
            "{:.1} % of the decisions are undecided: their loss lies within the error of the estimates (95 %), and is not counted",
            100.0 * found.total.undecided_share
        )));
    }
    if !found.worst.is_empty() {
        text.push_str("\nworst moves\n");
    }
    for Worst { file, game, number, player, position, played, best, loss, loss_ci95 } in &found.worst {
        let file = match found.files.len() {
            1 => String::new(),
            _ => format!("{}, ", name_of(file)),
        };
        let place = format!("{file}game {game}, move {number}, {}: {position}", clipped(player, NAME));
        text.push_str(&output::entry(&format!("  {loss:.3}"), INDENT, &place));
        let error = loss_ci95.map_or_else(String::new, |half| format!(", loss ±{half:.3}"));
        text.push_str(&output::entry("", INDENT, &format!("played {played}, best {best}{error}")));
    }
    text
}
