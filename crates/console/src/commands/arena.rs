//! The command `arena`.

use crate::args::ArenaArgs;
use crate::interrupt::{SAVING, on_interrupt};
use crate::output::{self, say};
use adept_lab::Catalogue;
use adept_lab::tournament::{Tournament, TournamentEvent, TournamentOptions, p_text, shown, tournament};
use adept_trainer::config::Source;
use anyhow::{Result, bail};
use std::path::Path;

/// Standard errors by which a newcomer must win.
const GATE: f64 = 2.0;

pub(crate) fn run(games: &dyn Catalogue, args: &ArenaArgs, as_json: bool) -> Result<()> {
    super::config::note_paths::<Tournament>(&args.config, &args.set, games);
    let config = Tournament::parse(&Source::read(&args.config, &args.set)?, games)?;
    if let Some(name) = &args.gate {
        config.check_gate(name)?;
    }
    let folder = || Path::new("checkpoints/runs").join(format!("arena-{}", config.name));
    let options = TournamentOptions {
        out: args.out.clone().unwrap_or_else(folder),
        resume: args.resume,
        threads: args.threads,
        histories: args.histories,
    };
    let watch = |event: TournamentEvent<'_>| match event {
        TournamentEvent::Learns(name) => say(format!("{name} learns")),
        TournamentEvent::Opens(plies) => say(format!(
            "agents repeat the same game: each opens with random moves, {plies} of them (`random_plies`)"
        )),
        TournamentEvent::Played(pair, unit) => say(format!(
            "{} – {}: {} of {} games, p {}{}",
            pair.a,
            pair.b,
            match unit {
                Some(unit) => format!("{} {unit} a game", shown(pair.score, true)),
                None => shown(pair.score, false),
            },
            pair.games,
            p_text(pair.p),
            pair.adjusted
                .map_or_else(String::new, |score| format!("; less luck {}", shown(score, unit.is_some())))
        )),
    };
    let played = std::cell::Cell::new(false);
    let watch = |event: TournamentEvent<'_>| {
        played.set(true);
        watch(event);
    };
    let table = tournament(games, &config, &options, &watch, &on_interrupt(SAVING))?;
    if table.finished && !played.get() {
        say("already finished: this is the earlier result, nothing was played");
    }
    if as_json {
        output::json(&table)?;
    } else {
        output::text(&table.markdown())?;
        say(format!("{:.0} s; written: {}", table.seconds, options.out.join("arena.md").display()));
        if options.histories > 0 && table.finished {
            say(format!("games: {}", options.out.join("histories").display()));
        }
    }
    if !table.finished {
        bail!("stopped before the end: continue with --resume");
    }
    if let Some(name) = &args.gate {
        let wins = table.wins_of(name)?;
        let shown: Vec<String> = wins
            .iter()
            .map(|(other, errors)| format!("{errors:+.1} standard errors against {other}"))
            .collect();
        let shown = shown.join(", ");
        match wins.iter().all(|(_, errors)| *errors >= GATE) {
            true => say(format!("{name} is accepted: {shown}")),
            false => bail!("{name} is not accepted: {shown}; it must win by {GATE}"),
        }
    }
    Ok(())
}
