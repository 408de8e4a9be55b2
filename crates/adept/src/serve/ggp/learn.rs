//! What plays a game that has just been told: a run that knows its rules, a network that learns them now, or random games.

use super::chooser::{Chooser, Stop};
use adept_builtin::gdl::Described;
use adept_console::output::say;
use adept_game::Game;
use adept_ground::files::{FileError, Files};
use adept_lab::template::template;
use adept_trainer::config::{One, Source, parse};
use adept_trainer::run::{Record, Silent, TrainOptions, record_of, train};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Where rules are kept for runs that learned them.
const RULES: &str = "checkpoints/ggp";
/// Where runs are.
const RUNS: &str = "checkpoints/runs";
/// Seconds of the start clock without which nothing is learned.
const LEAST: f64 = 2.0;
/// Share of the time that is left for learning: the rest is for the last checkpoint.
const SHARE: f64 = 0.85;
/// Seconds of learning, over all matches, from which a network that still learns goes before random games.
const ENOUGH: f64 = 5.0;
/// What differs from the starter config. How many games there will be is not known, so nothing changes along the run, and nothing is
/// measured before its end.
const SETTINGS: [&str; 5] = [
    "learn.td.games=100_000_000",
    "learn.td.explore=0.2",
    "evaluate.every=100_000_000",
    "evaluate.suites=[\"matches\"]",
    "evaluate.games=2",
];

/// The best that there is for a game whose rules have just been read: the run that has learned these rules longest, with `learn` until
/// `until`. Without `learn` only runs that have ended count: a network of few seconds plays worse than tree search. None if random games
/// are the best.
pub(super) fn best(
    game: &Described,
    rules: &str,
    (learn, seed): (bool, u64),
    until: Instant,
    stop: &Stop,
) -> Option<Chooser> {
    let print = adept_game::fingerprint(game).unwrap_or_default();
    let left = until.saturating_duration_since(Instant::now()).as_secs_f64() * SHARE;
    if learn && left >= LEAST {
        match learned(&print, rules, seed, left, stop) {
            Ok(record) => {
                let run = record.0.display();
                say(format!("learned from {} games in {:.0} s: {run}", record.1.step, record.1.seconds));
            }
            Err(why) => say(format!("nothing was learned: {why}")),
        }
    }
    if stop.thought.load(Ordering::Relaxed) {
        return None;
    }
    // The one that has learned longest comes first; one that cannot be opened is no reason to lose a match.
    known(&print, learn).into_iter().find_map(|(run, record)| match by_run(&record, rules, &run, stop) {
        Ok(chooser) => {
            say(format!("plays by {}, which knows these rules", run.display()));
            Some(chooser)
        }
        Err(why) => {
            say(format!("{}: {why}", run.display()));
            None
        }
    })
}

/// The runs that learned these rules, the one that learned longest first; with `learn`, those that still learn too.
fn known(print: &str, learn: bool) -> Vec<(PathBuf, Record)> {
    let runs = std::fs::read_dir(RUNS).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut runs: Vec<(PathBuf, Record)> = runs
        .filter_map(|run| {
            let record = record_of(&run).ok()??;
            let knows = record.rules.as_deref() == Some(print) && record.latest.is_some();
            let is_fit = record.finished || learn && record.seconds >= ENOUGH;
            (knows && is_fit).then_some((run, record))
        })
        .collect();
    runs.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then_with(|| a.0.cmp(&b.0)));
    runs
}

/// Looks ahead by the network of a run, or plays by it where one cannot look ahead.
fn by_run(record: &Record, rules: &str, run: &Path, stop: &Stop) -> Result<Chooser, String> {
    // Checkpoints are opened by the name that the game has in their run.
    let game =
        Described::read_until(&record.config.game.rules, rules, &stop.thought).map_err(|e| e.to_string())?;
    let run = run.display().to_string();
    let looks_ahead = !game.hides() && (game.zero_sum() || game.players() == 1);
    Chooser::named(&game, &format!("{}{run}", if looks_ahead { "search:clock:" } else { "" }))
}

/// Learns for so many seconds, and goes on with what was learned before.
fn learned(
    print: &str,
    rules: &str,
    seed: u64,
    seconds: f64,
    stop: &Stop,
) -> Result<(PathBuf, Record), String> {
    let short = &print[..print.len().min(12)];
    let path = format!("{RULES}/{short}.kif");
    keep(Path::new(&path), rules).map_err(|e| e.to_string())?;
    let name = format!("file:{path}");
    let games = One(Described::read_until(&name, rules, &stop.thought).map_err(|e| e.to_string())?);
    let text = template(&name, None, &games).map_err(|e| e.to_string())?;
    let mut settings: Vec<String> = SETTINGS.iter().map(|set| set.to_string()).collect();
    settings.push(format!("name=\"ggp-{short}\""));
    if text.contains("optimiser") {
        settings.push("learn.rate=0.002".into());
    }
    if games.0.players() > 1 {
        settings.push("evaluate.against=[\"random\"]".into());
    }
    let source = Source { file: "the config of the run".into(), text, set: settings };
    let config = parse(&source, &games).map_err(|e| e.to_string())?;
    let options = TrainOptions { max_seconds: Some(seconds), resume: true, ..TrainOptions::default() };
    train(&games.0, &config, seed, &options, &Silent, &stop.learning).map_err(|e| e.to_string())
}

/// Writes rules to a file, in a folder that need not exist yet.
fn keep(path: &Path, rules: &str) -> Result<(), FileError> {
    let files = Files::default();
    if let Some(folder) = path.parent() {
        files.create_folder(folder)?;
    }
    files.replace(path, rules.as_bytes())
}
