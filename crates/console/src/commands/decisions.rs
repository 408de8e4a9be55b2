//! The command `decisions`.

use super::play::game_of;
use crate::args::{
    BuildDecisionsArgs, DecisionsAction, DecisionsArgs, RunDecisionsArgs, ScreenDecisionsArgs,
};
use crate::interrupt::on_interrupt;
use crate::output;
use adept_game::score_text;
use adept_lab::Catalogue;
use adept_lab::decisions::{BuildOptions, Graded};
use adept_lab::screening::{Kept, Screening, ScreeningOptions};
use anyhow::{Result, bail};
use serde_json::json;

pub(crate) fn run(games: &dyn Catalogue, args: &DecisionsArgs, as_json: bool) -> Result<()> {
    match &args.action {
        DecisionsAction::Build(args) => build(games, args, as_json),
        DecisionsAction::Run(args) => grade(games, args, as_json),
        DecisionsAction::Screen(args) => screen(games, args, as_json),
    }
}

fn build(games: &dyn Catalogue, args: &BuildDecisionsArgs, as_json: bool) -> Result<()> {
    if !(args.gap >= 0.0 && args.gap.is_finite()) {
        bail!("--gap {}: write a number of 0 or more", args.gap);
    }
    let options = BuildOptions {
        agent: args.by.with.clone(),
        best: args.by.best,
        count: args.count as usize,
        games: args.games,
        moves: args.moves as usize,
        gap: args.gap,
        trials: args.trials,
        truncate: args.by.truncate,
        seed: args.by.seed,
        threads: args.by.threads,
        from: args.from.clone(),
        out: args.out.clone(),
        resume: args.resume,
    };
    let game = game_of(games, &args.by.with, args.by.game.as_deref(), args.by.best)?;
    let stopping = "\nstopping, with the decisions finished so far (again to stop at once)";
    let built = game.build_decisions(&options, &on_interrupt(stopping))?;
    output::show(
        as_json,
        || &built,
        || {
            let rows = built.kinds.iter().map(|(kind, count)| vec![kind.clone(), count.to_string()]);
            format!("{}{}\n", output::table(&["kind", "decisions"], rows), built.path.display())
        },
    )?;
    if built.finished && !built.short.is_empty() {
        output::say(format!(
            "fewer than {} decisions of {}: raise --games or --gap",
            args.count,
            built.short.join(", ")
        ));
    }
    match built.finished {
        true => Ok(()),
        false => bail!("stopped before the end: continue with --out {} --resume", built.path.display()),
    }
}

fn grade(games: &dyn Catalogue, args: &RunDecisionsArgs, as_json: bool) -> Result<()> {
    let game = game_of(games, &args.agents[0], args.game.as_deref(), false)?;
    let cancel = on_interrupt("\nstopping (again to stop at once)");
    let mut all = Vec::with_capacity(args.agents.len());
    for agent in &args.agents {
        all.push(game.grade_decisions(&args.file, agent, args.seed, args.threads, &cancel)?);
    }
    output::show(
        as_json,
        || json!({ "file": args.file.display().to_string(), "agents": all }),
        || all.iter().map(text).collect::<Vec<_>>().join("\n"),
    )
}

fn screen(games: &dyn Catalogue, args: &ScreenDecisionsArgs, as_json: bool) -> Result<()> {
    let mut keep: Vec<usize> = args.keep.iter().map(|&keep| keep as usize).collect();
    if keep.is_empty() {
        keep = vec![2, 3, 5, 8];
    }
    let ScreenDecisionsArgs { small, large, count, seed, .. } = args;
    let options =
        ScreeningOptions { small: small.clone(), large: large.clone(), count: *count, keep, seed: *seed };
    let game = game_of(games, large, args.game.as_deref(), false)?;
    let found = game.screening(&options, &on_interrupt("\nstopping (again to stop at once)"))?;
    if as_json {
        return output::json(&found);
    }
    let Screening { small, large, games, decisions, moves, keep, unit } = found;
    let unit = unit.map_or_else(|| "loss".into(), |unit| format!("{unit} lost"));
    let row = |Kept { keep, found, loss, ci95: [low, high] }: &Kept| {
        let range = format!("{} to {}", lost_text(low.max(0.0)), lost_text(*high));
        vec![keep.to_string(), format!("{:.2}", 100.0 * found), lost_text(*loss), range]
    };
    output::text(&format!(
        "{}{}",
        output::wrapped(&format!(
            "{small} picks moves for {large}: {decisions} decisions of {games} games, {moves:.1} moves each"
        )),
        output::table(&["kept", "best kept %", &unit, "95 %"], keep.iter().map(row))
    ))
}

/// A loss, without a sign.
fn lost_text(loss: f64) -> String {
    score_text(loss, 4).trim_start_matches('+').to_string()
}

/// The losses of an agent, for people.
fn text(graded: &Graded) -> String {
    let unit = graded.unit.as_ref().map_or_else(|| "loss".into(), |unit| format!("{unit} lost"));
    let range = |[low, high]: [f64; 2]| format!("{} to {}", lost_text(low), lost_text(high));
    let rows = graded.kinds.iter().map(|lost| {
        let (count, ci95) = (lost.decisions.to_string(), lost.ci95.map_or_else(|| "–".into(), range));
        vec![lost.kind.clone(), count, lost_text(lost.loss), ci95, format!("{:.1}", 100.0 * lost.wrong)]
    });
    format!("{}\n{}", graded.agent, output::table(&["kind", "decisions", &unit, "95 %", "wrong %"], rows))
}
