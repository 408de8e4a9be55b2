//! The command `rollout`.

use super::play::game_of;
use crate::args::RolloutArgs;
use crate::interrupt::on_interrupt;
use crate::output;
use adept_game::{Reduction, score_text};
use adept_ground::order::sort_by_highest;
use adept_lab::Catalogue;
use adept_lab::rollouts::{Rollout, RolloutOptions};
use anyhow::{Result, bail};
use std::fmt::Write;

/// What is said at Ctrl-C.
const STOPPING: &str = "\nstopping, with the games played so far (again to stop at once)";

pub(crate) fn run(games: &dyn Catalogue, args: &RolloutArgs, as_json: bool) -> Result<()> {
    let options = RolloutOptions {
        agent: args.by.with.clone(),
        best: args.by.best,
        positions: args.positions.clone(),
        trials: args.trials,
        truncate: args.by.truncate,
        without: Reduction { without_cube: args.cubeless, one_game: args.one_game },
        candidates: args.candidates.map(usize::from),
        seed: args.by.seed,
        threads: args.by.threads,
        out: args.out.clone(),
        resume: args.resume,
    };
    let game = game_of(games, &args.by.with, args.by.game.as_deref(), args.by.best)?;
    let found = game.roll_out(&options, &on_interrupt(STOPPING), &|_| ())?;
    output::show(as_json, || &found, || texts(&found.rollouts))?;
    match &args.out {
        _ if found.finished => Ok(()),
        Some(out) => bail!("stopped before the end: continue with --out {} --resume", out.display()),
        None => bail!("stopped before the end; with --out FILE, rollouts can be continued"),
    }
}

/// The results, for people. Candidates of a position stand in one table.
fn texts(all: &[Rollout]) -> String {
    let of_position = |group: &[Rollout]| match group.iter().all(|found| found.candidate.is_some()) {
        true => candidates(group),
        false => group.iter().map(text).collect::<Vec<_>>().join("\n"),
    };
    let groups = all.chunk_by(|a, b| a.candidate.is_some() && a.position == b.position);
    groups.map(of_position).collect::<Vec<_>>().join("\n")
}

/// The candidates of a position, the best first.
fn candidates(group: &[Rollout]) -> String {
    let mut order: Vec<&Rollout> = group.iter().collect();
    sort_by_highest(&mut order, &|found| found.equity);
    let number = |value: f64| score_text(value, 4);
    let row = |found: &&Rollout| {
        let candidate = found.candidate.as_ref()?;
        let [low, high] = candidate.beyond_choice_ci95.map(number);
        Some(vec![
            candidate.action.clone(),
            number(found.equity),
            number(candidate.beyond_choice),
            format!("{low} to {high}"),
        ])
    };
    let rows: Vec<Vec<String>> = order.iter().filter_map(row).collect();
    let Some(first) = group.first() else { return String::new() };
    let unit = first.unit.as_ref().map_or_else(|| "equity".into(), |unit| unit.to_string());
    format!(
        "{}\n  for player {}, {} games each, all with the same dice\n\n{}beyond: less {}, the agent's choice\n",
        first.position,
        first.to_move,
        first.trials,
        output::table(&["action", &unit, "beyond", "95 %"], rows),
        first.candidate.as_ref().map_or("", |candidate| &candidate.action)
    )
}

/// The result of a position, for people.
fn text(found: &Rollout) -> String {
    let unit = found.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
    let shown = |what: &str, equity: f64, ci95: [f64; 2]| {
        let [equity, low, high] = [equity, ci95[0], ci95[1]].map(|v| score_text(v, 4));
        format!("{equity}{unit}{what}, 95 % {low} to {high}")
    };
    let mut text = format!(
        "{}\n  {}, {} games\n  with luck {}\n",
        found.position,
        shown(&format!(" for player {}", found.to_move), found.equity, found.ci95),
        found.trials,
        shown("", found.raw, found.raw_ci95)
    );
    let percent = |p: f64| format!("{:.2}", 100.0 * p);
    let row = |((name, p), (_, ci95)): (&(String, f64), &(String, [f64; 2]))| {
        vec![name.clone(), percent(*p), format!("{} to {}", percent(ci95[0]), percent(ci95[1]))]
    };
    if !found.classes.0.is_empty() {
        let rows = found.classes.0.iter().zip(&found.classes_ci95.0).map(row);
        let _ = write!(text, "\n{}", output::table(&["outcome", "%", "95 %"], rows));
    }
    text
}
