//! The commands `list` and `runs list`.

use super::compare;
use crate::args::{ListArgs, Listing, RunsAction, RunsArgs};
use crate::output;
use crate::world;
use adept_arena::levels::Rung;
use adept_arena::naming::AGENTS;
use adept_game::laws::{Breach, Budget, Report};
use adept_game::{GameInfo, Named};
use adept_ground::files::Files;
use adept_ground::work;
use adept_lab::chart::{self, Axes, Legend, Mark};
use adept_lab::curves::{Show, canvas, curves, svg};
use adept_lab::gates::{self, CellMap};
use adept_lab::measure::ClassShares;
use adept_lab::{AnyGame, Catalogue};
use adept_model::device::devices;
use adept_model::{Architecture, ModelError};
use adept_trainer::config::Figure;
use adept_trainer::run::{RunSummary, list_runs};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Columns of the names in a list, beyond which the text starts right after the name.
const NAME: usize = 22;

/// Checks the laws of games.
fn check(games: &[Arc<dyn AnyGame>], as_json: bool) -> Result<()> {
    let what = "checking games";
    let check = |(i, game): (usize, &Arc<dyn AnyGame>)| {
        let report = game.check_laws(&Budget::default());
        work::share(what, (i + 1) as f64 / games.len() as f64);
        report
    };
    let reports: Vec<Report> = games.iter().enumerate().map(check).collect();
    if as_json {
        let breach = |b: &Breach| json!({ "law": b.law.about(), "seed": b.seed, "ply": b.ply, "position": b.position, "found": b.found });
        let entry = |r: &Report| {
            let breaches: Vec<Value> = r.breaches.iter().map(breach).collect();
            let ends = json!({ "games": r.ends.games, "wins": r.ends.shares(), "draws": r.ends.drawn(), "moves": r.ends.length() });
            json!({ "game": r.game, "games": r.games, "states": r.states, "ends": ends, "breaches": breaches })
        };
        output::json(&json!({ "checked": reports.iter().map(entry).collect::<Vec<_>>() }))?;
    } else {
        output::text(&reports.iter().map(|report| format!("{report}\n")).collect::<String>())?;
    }
    match reports.iter().filter(|report| !report.holds()).count() {
        0 => Ok(()),
        broken => bail!("games that break a law: {broken} of {}", reports.len()),
    }
}

pub(crate) fn run(games: &dyn Catalogue, args: &ListArgs, as_json: bool) -> Result<()> {
    if args.game.is_some() && matches!(args.what, Listing::Architectures | Listing::Devices) {
        bail!("--game is for games, encoders, agents and distributions");
    }
    let names = args.game.clone().map_or_else(|| games.names(), |name| vec![name]);
    let found: Result<Vec<_>, _> = names.iter().map(|name| games.find(name)).collect();
    let found = found?;
    if args.check {
        if args.what != Listing::Games {
            bail!("--check is for games: `adept list games --check`");
        }
        return check(&found, as_json);
    }
    let games: Vec<GameInfo> = found.iter().map(|game| game.info()).collect();
    let Listed { key, entries } = listed(args.what, &found, &games)?;
    if let Some(out) = &args.out {
        if args.what != Listing::Distributions {
            bail!("--out draws distributions: `adept list distributions --game RULES --out FILE.svg`");
        }
        check_svg(out)?;
    }
    // One rule set that was asked for.
    let (class, shares) = match &found[..] {
        [game] if args.game.is_some() && args.what == Listing::Distributions => game.class_shares()?,
        _ => (String::new(), Vec::new()),
    };
    if let Some(out) = &args.out {
        let percent = |share: &(u64, f64)| (share.0 as f64, 100.0 * share.1);
        let line = |s: &ClassShares| (s.distribution.clone(), s.shares.iter().map(percent).collect());
        let lines: Vec<(String, Vec<(f64, f64)>)> = shares.iter().map(line).collect();
        let svg =
            chart::lines("Share of positions", Axes { x: &class, y: "share, %" }, Legend::Above, &lines);
        Files::default().replace(out, svg.as_bytes())?;
    }
    let ranks = matches!(args.what, Listing::Devices).then(|| {
        let alone = match cfg!(feature = "mpi") {
            true => "one rank: `mpirun -n N adept …` starts several",
            false => "one process: built without MPI (`--features mpi`)",
        };
        world::places().unwrap_or_else(|| alone.to_string())
    });
    // Those of one game alone: the levels of all games are its agents many times over.
    let levels = match &found[..] {
        [game] if args.game.is_some() && args.what == Listing::Agents => game.levels(None)?,
        _ => Vec::new(),
    };
    if as_json {
        let mut value = json!({ key: entries });
        if !levels.is_empty() {
            let entry = |l: &Rung| json!({ "level": l.level.name(), "agent": l.agent, "about": l.about });
            value["levels"] = levels.iter().map(entry).collect();
        }
        if let Some(ranks) = ranks {
            value["ranks"] = ranks.into();
        }
        if !shares.is_empty() {
            (value["class"], value["shares"]) = (json!(class), json!(shares));
        }
        return output::json(&value);
    }
    let indent = indent_of(&entries);
    let mut text = entries_text(&entries, indent);
    if entries.is_empty() {
        let games: Vec<&str> = games.iter().map(|game| &*game.name).collect();
        text = format!("no {key}: {}\n", games.join(", "));
    }
    if let Some(ranks) = ranks {
        text.push_str(&output::entry("ranks", indent, &ranks));
    }
    if !levels.is_empty() {
        text.push_str("\nlevels of `play`\n");
        for level in &levels {
            text.push_str(&output::entry(level.level.name(), indent, &level.about));
        }
    }
    if !shares.is_empty() {
        text.push_str(&format!("\n{}", share_table(&class, &shares)));
    }
    if let Some(out) = &args.out {
        text.push_str(&format!("written: {}\n", out.display()));
    }
    output::text(&text)
}

/// The entries of a list, and their key in JSON.
struct Listed {
    key: &'static str,
    entries: Vec<Value>,
}

/// The entries of a list. `found` are the games that it is about, and `games` what they say of themselves.
fn listed(what: Listing, found: &[Arc<dyn AnyGame>], games: &[GameInfo]) -> Result<Listed> {
    let entry = |name: &str, about: &str| json!({ "name": name, "about": about });
    let (key, entries) = match what {
        Listing::Games => ("games", games.iter().map(|g| entry(&g.name, &g.about)).collect()),
        Listing::Encoders => {
            let all =
                found.iter().zip(games).flat_map(|(game, g)| g.encoders.iter().map(move |e| (game, g, e)));
            let describe = |(game, info, encoder): (&Arc<dyn AnyGame>, &GameInfo, &Named)| {
                let channels = game.channels(Some(&encoder.name)).unwrap_or_default();
                let channels: Vec<Value> = channels
                    .iter()
                    .map(|c| json!({ "name": c.name, "kind": format!("{:?}", c.kind), "about": c.about }))
                    .collect();
                json!({ "name": encoder.name, "game": info.name, "about": encoder.about, "channels": channels })
            };
            ("encoders", all.map(describe).collect())
        }
        Listing::Architectures => {
            ("architectures", Architecture::KINDS.iter().map(|(name, about)| entry(name, about)).collect())
        }
        Listing::Agents => {
            let scripts = games.iter().flat_map(|g| {
                g.scripts
                    .iter()
                    .chain(&g.valuations)
                    .chain(&g.deliberators)
                    .chain(&g.peers)
                    .map(|agent| json!({ "name": agent.name, "game": g.name, "about": agent.about }))
            });
            let solved = games.iter().any(|g| g.is_small && !g.hides);
            let open = games.iter().any(|g| g.is_open);
            let fits = |name: &str| match name {
                "minimax" | "optimal:AGENT" => solved,
                "playouts:N" | "uct:N" => open,
                _ => true,
            };
            let of_all = AGENTS.iter().filter(|(name, _)| fits(name)).map(|(name, about)| entry(name, about));
            ("agents", scripts.chain(of_all).collect())
        }
        Listing::Distributions => {
            let of = |g: &GameInfo, d: &Named| json!({ "name": d.name, "game": g.name, "about": d.about });
            let all = games.iter().flat_map(|g| g.distributions.iter().map(move |d| of(g, d)));
            ("distributions", all.collect())
        }
        Listing::Devices => {
            let all: Result<Vec<Value>, _> = devices().iter().map(serde_json::to_value).collect();
            ("devices", all?)
        }
    };
    Ok(Listed { key, entries })
}

/// A text of JSON; empty for anything else.
fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// The column at which descriptions begin.
fn indent_of(entries: &[Value]) -> usize {
    let widths = entries.iter().map(|e| text_of(&e["name"]).chars().count());
    widths.max().unwrap_or(0).min(NAME) + 2
}

/// Entries for people, by game.
fn entries_text(entries: &[Value], indent: usize) -> String {
    let (mut text, mut game) = (String::new(), Value::Null);
    for e in entries {
        // Entries of one game follow one another.
        if e["game"] != game {
            game = e["game"].clone();
            let of = game.as_str().unwrap_or("all games");
            text.push_str(&format!("{}{of}\n", if text.is_empty() { "" } else { "\n" }));
        }
        text.push_str(&output::entry(&text_of(&e["name"]), indent, &text_of(&e["about"])));
        for c in e["channels"].as_array().into_iter().flatten() {
            let (name, kind, about) = (text_of(&c["name"]), text_of(&c["kind"]), text_of(&c["about"]));
            text.push_str(&output::channel(&name, &kind, &about));
        }
        if let Some(hint) = e["hint"].as_str() {
            text.push_str(&output::entry("", indent, hint));
        }
    }
    text
}

/// A row for each class, a column for each distribution, in percent. The meaning of the numbers of classes, as in `phase: 0 bear-off,
/// 1 race`, is above the table.
fn share_table(class: &str, shares: &[ClassShares]) -> String {
    let (class, meaning) = match class.split_once(": ") {
        Some((name, _)) => (name, output::wrapped(class)),
        None => (class, String::new()),
    };
    let classes: BTreeSet<u64> =
        shares.iter().flat_map(|s| s.shares.iter().map(|(class, _)| *class)).collect();
    let header: Vec<&str> =
        [class].into_iter().chain(shares.iter().map(|s| s.distribution.as_str())).collect();
    let cell = |s: &ClassShares, class: u64| {
        let share = s.shares.iter().find(|(other, _)| *other == class);
        share.map_or_else(String::new, |(_, share)| format!("{:.1} %", 100.0 * share))
    };
    let row = |class: u64| {
        [class.to_string()].into_iter().chain(shares.iter().map(|s| cell(s, class))).collect::<Vec<_>>()
    };
    meaning + &output::table(&header, classes.into_iter().map(row))
}

pub(crate) fn runs(args: &RunsArgs, as_json: bool) -> Result<()> {
    let folder = match &args.action {
        RunsAction::List { folder } => folder,
        RunsAction::Compare { a, b, bootstrap } => return compare::run(a, b, *bootstrap, as_json),
        RunsAction::Plot { runs, gates, values, loss, mark, out } => {
            if let Some(out) = out {
                check_svg(out)?;
            }
            return match gates {
                true => plot_gates(runs, out.as_deref(), as_json),
                false => {
                    let show = match (values, loss) {
                        (true, _) => Show::Values,
                        (_, true) => Show::Loss,
                        _ => Show::Distance,
                    };
                    plot(runs, show, mark, out.as_deref(), as_json)
                }
            };
        }
    };
    // The usual folder comes with the first run; another one must be there.
    if folder != Path::new("checkpoints/runs") {
        std::fs::metadata(folder).map_err(ModelError::io(folder))?;
    }
    let runs = list_runs(folder)?;
    if as_json {
        return output::json(&json!({ "runs": runs }));
    }
    if runs.is_empty() {
        return output::text(&format!("no runs under {}\n", folder.display()));
    }
    let number = |r: &RunSummary, v: Option<f64>| match (v, r.figure) {
        (None, _) => "–".to_string(),
        (Some(v), Some(figure)) if !figure.is_error() => figure.text(v),
        (Some(v), _) => output::short(v),
    };
    let measure = |r: &RunSummary| r.figure.map_or("–", |figure| figure.short()).to_string();
    let rows = runs.iter().map(|r| {
        let step = if r.step == r.games { r.step.to_string() } else { format!("{}/{}", r.step, r.games) };
        let (run, seconds) = (inside(folder, &r.run).display().to_string(), format!("{:.1}", r.seconds));
        vec![run, r.status.clone(), step, seconds, measure(r), number(r, r.r#final), number(r, r.best)]
    });
    let header = ["run", "status", "games or samples", "seconds", "measure", "final", "best"];
    output::text(&output::table(&header, rows))
}

/// The path of a run in the folder that is listed; the whole path if that is the run itself.
fn inside<'p>(folder: &Path, run: &'p Path) -> &'p Path {
    run.strip_prefix(folder).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(run)
}

/// Refuses names of other kinds of files.
fn check_svg(out: &Path) -> Result<()> {
    match out.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("svg") => {
            bail!("{}: drawings are written as SVG: end the name in .svg", out.display())
        }
        _ => Ok(()),
    }
}

/// Draws maps of learned cells into a file or the terminal.
fn plot_gates(paths: &[PathBuf], out: Option<&Path>, as_json: bool) -> Result<()> {
    let found: Result<Vec<Vec<CellMap>>, _> = paths.iter().map(|path| gates::cell_maps(path)).collect();
    let maps: Vec<CellMap> = found?.into_iter().flatten().collect();
    if let Some(out) = out {
        Files::default().replace(out, gates::svg(&maps).as_bytes())?;
    }
    output::show(
        as_json,
        || json!({ "path": out.map(|out| out.display().to_string()), "maps": maps }),
        || match out {
            Some(out) => format!("written: {}\n", out.display()),
            None => maps.iter().map(CellMap::text).collect::<Vec<_>>().join("\n"),
        },
    )
}

/// Draws curves into a file or the terminal.
fn plot(runs: &[PathBuf], show: Show, marks: &[Mark], out: Option<&Path>, as_json: bool) -> Result<()> {
    let files = Files::default();
    let found = curves(runs, show)?;
    if let Some(out) = out {
        files.replace(out, svg(&found, show, marks).as_bytes())?;
    }
    if as_json {
        let all: Vec<Value> = found
            .iter()
            .map(|curve| {
                let points =
                    curve.points.iter().map(|p| json!({ "step": p.step, "mean": p.mean, "sd": p.sd }));
                json!({
                    "name": curve.name,
                    "figure": curve.figure.map_or("loss", Figure::name),
                    "runs": curve.runs,
                    "references": curve.references,
                    "points": points.collect::<Vec<_>>(),
                })
            })
            .collect();
        return output::json(&json!({ "path": out, "curves": all }));
    }
    match out {
        Some(out) => output::text(&format!("written: {}\n", out.display())),
        None => output::text(&canvas(&found, show, marks)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_of_classes_is_above_their_table() {
        let shares = [ClassShares { distribution: "prime".into(), shares: vec![(0, 0.25), (3, 0.75)] }];
        let table = share_table("phase: 0 bear-off, 1 race, 2 crashed, 3 contact, 4 back game", &shares);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "phase: 0 bear-off, 1 race, 2 crashed, 3 contact, 4 back game");
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["phase", "prime"]);
        assert_eq!(lines[3].split_whitespace().collect::<Vec<_>>(), ["3", "75.0", "%"]);
        assert!(share_table("stones on the board", &shares).starts_with("stones on the board"), "{table}");
    }
}
