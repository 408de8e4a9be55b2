//! The command `train`.

use crate::args::TrainArgs;
use crate::output;
use crate::progress::{Progress, on_interrupt};
use adept_lab::measure::Baseline;
use adept_lab::seeds::train_seeds;
use adept_lab::{AnyGame, Catalogue};
use adept_model::limits;
use adept_trainer::config::{self, Config, Suite};
use adept_trainer::run::{Host, Record, Score, Seeds, TrainOptions, mean_sd};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) fn train(games: &dyn Catalogue, args: &TrainArgs, as_json: bool) -> Result<()> {
    let config = config::load(&args.config, &args.settings(), games)?;
    super::config::note_old_form(&args.config);
    let game = games.find(&config.game.rules)?;
    let first = args.seed.unwrap_or(config.seed);
    let options = TrainOptions {
        out: args.out.clone(),
        resume: args.resume,
        init: args.init.clone(),
        max_seconds: args.max_seconds,
        host: Host::default(),
    };
    if args.estimate {
        return estimate(&*game, &config, first, &options, as_json);
    }
    if !as_json {
        let about = if config.about.is_empty() { "(no description)" } else { &config.about };
        output::say(format!("{}: {about}", config.name));
    }
    let cancel = on_interrupt();
    let progress = Progress::new(args.seeds.is_some());
    let results = match args.seeds {
        None => vec![(first, game.train(&config, first, &options, &progress, &cancel))],
        Some(count) => {
            let seeds = Seeds { first, count, threads: args.threads };
            train_seeds(&*game, &config, seeds, &options, &progress, &cancel)
        }
    };
    if !progress.began() && results.iter().all(|(_, result)| result.is_ok()) && !results.is_empty() {
        output::say("already finished: this is the earlier result, nothing was run");
    }
    let (mut runs, mut errors) = (Vec::new(), Vec::new());
    for (seed, result) in results {
        match result {
            Ok(run) => runs.push(run),
            Err(e) if args.seeds.is_some() => errors.push(format!("seed {seed}: {e}")),
            Err(e) => return Err(e.into()),
        }
    }
    let against = config.evaluate_against().into_iter().next();
    let baseline = against.as_ref().and_then(|against| game.baseline(against).ok());
    if as_json {
        output::json(&as_value(&runs, args.seeds.is_some(), against.as_deref(), baseline))?;
    } else {
        output::text(&as_text(&runs, against.as_deref(), baseline, &config)?)?;
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\n"));
    }
    if cancel.requested() && (runs.len() as u64) < args.seeds.unwrap_or(1)
        || runs.iter().any(|(_, r)| !r.finished && (cancel.requested() || args.max_seconds.is_none()))
    {
        bail!("stopped before the end: continue with --resume");
    }
    Ok(())
}

fn estimate(
    game: &dyn AnyGame,
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    as_json: bool,
) -> Result<()> {
    let e = game.estimate(config, seed, options, Duration::from_secs(2))?;
    if as_json {
        return output::json(&e);
    }
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let unit = config.learn.unit();
    output::text(&format!(
        "{} {unit}: about {:.0} s, including {:.0} s of measuring (from {} {unit} and one measurement)\n\
         disk: up to {}, {} per checkpoint; {} free\n",
        e.games,
        e.seconds,
        e.measuring,
        e.tried,
        megabytes(e.disk_bytes),
        megabytes(e.checkpoint_bytes),
        e.free_bytes.map_or("an unknown amount".into(), megabytes),
    ))
}

fn score(score: Option<&Score>) -> Value {
    score.map_or(Value::Null, |s| match s.rms {
        _ if s.exploitability.is_some() => json!({ "exploitability": s.exploitability, "step": s.step }),
        _ if s.matches.is_some() => json!({ "matches": s.matches, "step": s.step }),
        Some(errors) => json!({
            "rms": errors.rms,
            // The error of the winning probability (1 + V)/2.
            "rms_probability": errors.rms / 2.0,
            "mae": errors.mae,
            "max": errors.max,
            "rows": errors.rows,
            "validation": s.validation,
            "step": s.step,
        }),
        None => {
            json!({ "equity": s.equity, "first": s.seats.first(), "second": s.seats.last(), "step": s.step })
        }
    })
}

fn one(path: &Path, record: &Record) -> Value {
    json!({
        "run": path,
        "name": record.name,
        "seed": record.seed,
        "finished": record.finished,
        "early": record.early,
        "engine": record.config.learn.engine,
        "device": record.config.learn.device,
        "timing": record.timing.map(|t| json!({
            "samples": t.samples,
            "learning": t.learning,
            "waiting": t.waiting,
            "samples_per_second": t.samples_per_second(),
            "share_waited": t.share_waited(),
        })),
        "steps": record.step,
        "seconds": record.seconds,
        "final": score(record.r#final.as_ref()),
        "best": score(record.best.as_ref()),
    })
}

fn as_value(
    runs: &[(PathBuf, Record)],
    several: bool,
    against: Option<&str>,
    baseline: Option<Baseline>,
) -> Value {
    let mut value = match runs {
        [(path, record)] if !several => one(path, record),
        runs => {
            let name = runs.iter().find_map(|(_, r)| r.config.figure()).map_or("equity", Suite::name);
            let figures = |f: fn(&Record) -> Option<&Score>| {
                let values: Vec<f64> = runs.iter().filter_map(|(_, r)| f(r)).map(Score::figure).collect();
                let summary = mean_sd(&values);
                json!({ name: summary.mean, "mean": summary.mean, "sd": summary.sd, "runs": values.len() })
            };
            json!({
                "runs": runs.iter().map(|(path, record)| one(path, record)).collect::<Vec<_>>(),
                "steps": runs.iter().map(|(_, r)| r.step).sum::<u64>(),
                "seconds": runs.iter().map(|(_, r)| r.seconds).sum::<f64>(),
                "final": figures(|r| r.r#final.as_ref()),
                "best": figures(|r| r.best.as_ref()),
            })
        }
    };
    value["against"] = json!(against);
    value["baseline"] = json!(baseline);
    value
}

fn as_text(
    runs: &[(PathBuf, Record)],
    against: Option<&str>,
    baseline: Option<Baseline>,
    config: &Config,
) -> Result<String> {
    let (mut text, games, unit) = (String::new(), config.learn.length(), config.learn.unit());
    let figure = config.figure();
    if let ([(path, _)], Some(figure)) = (runs, figure) {
        text.push_str(&curve(path, figure, against, unit)?);
    }
    let [first, second] = match figure {
        Some(Suite::Rms) => ["mean abs.", "largest"],
        _ => ["first", "second"],
    };
    let at = format!("at {}", unit.trim_end_matches('s'));
    let header = ["run", unit, "seconds", "final", first, second, "best", &at];
    let shown = |v: f64| match figure {
        Some(Suite::Rms | Suite::Exploitability) => format!("{v:.5}"),
        Some(Suite::Matches) => format!("{v:.4}"),
        _ => format!("{v:+.4}"),
    };
    let number = |v: Option<f64>| v.map_or_else(|| "–".to_string(), shown);
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|(path, r)| {
            let (last, best) = (r.r#final.as_ref(), r.best.as_ref());
            vec![
                path.display().to_string(),
                r.step.to_string(),
                format!("{:.1}", r.seconds),
                number(last.map(Score::figure)),
                number(last.and_then(|s| s.rms.map(|e| e.mae).or(s.seats.first().copied()))),
                number(last.and_then(|s| s.rms.map(|e| e.max).or(s.seats.last().copied()))),
                number(best.map(Score::figure)),
                best.map_or_else(|| "–".to_string(), |s| s.step.to_string()),
            ]
        })
        .collect();
    text.push_str(&output::table(&header, &rows));
    let figures = |f: fn(&Record) -> Option<&Score>| -> Vec<f64> {
        runs.iter().filter_map(|(_, r)| f(r)).map(Score::figure).collect()
    };
    if runs.len() > 1 {
        for (name, values) in
            [("final", figures(|r| r.r#final.as_ref())), ("best", figures(|r| r.best.as_ref()))]
        {
            if !values.is_empty() {
                let s = mean_sd(&values);
                let (mean, sd) = (shown(s.mean), shown(s.sd).replace('+', ""));
                text.push_str(&format!("{name}: {mean} ± {sd} over {} seeds\n", values.len()));
            }
        }
    }
    if let (Some(against), Some(b)) = (against, baseline) {
        text.push_str(&format!(
            "\nexact match equity against {against}, (wins − losses) / games; random play {:+.4}, best possible \
             {:+.4}\n",
            b.random, b.optimal
        ));
    }
    if let (Some(Suite::Matches), Some(against)) = (figure, config.evaluate_against().first()) {
        text.push_str(&format!(
            "\npoints per game against {against}, {} games per measurement: 1 for a win, less for a shared win\n",
            config.evaluate.games
        ));
    }
    if figure == Some(Suite::Exploitability) {
        text.push_str(
            "\nexploitability, (br₀ + br₁) / 2 in units of utility, 0 in an equilibrium; it is only measured, so no \
             checkpoint is the best\n",
        );
    }
    if figure == Some(Suite::Rms) {
        let best = match config.learn.shows_examples() {
            true => "; best: the lowest on validation positions",
            false => "; exact values are only measured, so no checkpoint is the best",
        };
        let rows =
            runs.iter().find_map(|(_, r)| r.r#final.as_ref().and_then(|f| f.rms)).map_or(0, |e| e.rows);
        text.push_str(&format!("\nroot mean square error of V, −1 to 1, on {rows} test positions{best}\n"));
    }
    if let [(path, record)] = runs {
        if let Some(t) = record.timing {
            let learn = &record.config.learn;
            text.push_str(&format!(
                "{} on {}: {:.0} samples/s, waiting for samples {:.0} % of the time\n",
                learn.engine,
                learn.device,
                t.samples_per_second(),
                100.0 * t.share_waited()
            ));
        }
        if let Some(early) = &record.early {
            text.push_str(&format!("ended after {} of {games} {unit}: {early}\n", record.step));
        }
        for origin in &record.init {
            let part = origin.part.as_deref().unwrap_or("all");
            text.push_str(&format!("started from the weights of {} ({part})\n", origin.path.display()));
        }
        let path = path.display();
        text.push_str(&if record.finished {
            format!("play against it: adept play {path} --hints\n")
        } else {
            format!("stopped after {} of {games} {unit}: continue with --resume\n", record.step)
        });
    }
    Ok(text)
}

/// Draws the curve of a run in about twenty lines.
fn curve(run: &Path, figure: Suite, against: Option<&str>, unit: &str) -> Result<String> {
    let text = limits::read_text(&run.join("metrics.jsonl"), limits::LIST_BYTES)?;
    let points: Vec<(u64, f64, Option<f64>)> = text
        .lines()
        .filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let value = match figure {
                Suite::Equity => {
                    let mut opponents = line["equity"].as_array()?.iter();
                    opponents.find(|e| e[0].as_str().is_some_and(|name| Some(name) == against))?[1]["equity"]
                        .as_f64()?
                }
                Suite::Rms => line["rms"]["rms"].as_f64()?,
                Suite::Matches => line["matches"][0]["score"].as_f64()?,
                Suite::Exploitability => line["exploitability"].as_f64()?,
                Suite::MoveLoss | Suite::Speed => return None,
            };
            Some((line["step"].as_u64()?, value, line["loss"].as_f64()))
        })
        .collect();
    let every = points.len().div_ceil(20).max(1);
    let shown = points.iter().enumerate().filter(|(i, _)| (i + 1) % every == 0 || i + 1 == points.len());
    let rows: Vec<Vec<String>> = shown
        .map(|(_, (step, value, loss))| {
            let (value, places, digits) = match figure {
                // −1 … 1 over forty columns.
                Suite::Equity => (format!("{value:+.4}"), (value + 1.0) * 20.0, 4),
                Suite::Matches => (format!("{value:.4}"), value * 40.0, 4),
                // .0001 … 1, with ten columns per factor of ten.
                Suite::Rms => (format!("{value:.5}"), value.log10() * 10.0 + 40.0, 7),
                _ => (format!("{value:.5}"), value.log10() * 10.0 + 40.0, 5),
            };
            vec![
                step.to_string(),
                value,
                loss.map_or_else(|| "–".into(), |loss| format!("{loss:.digits$}")),
                format!("{:<40}", "▪".repeat(places.round().clamp(0.0, 40.0) as usize)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(String::new());
    }
    let [name, scale] = match figure {
        Suite::Equity => ["equity", "−1 … equity … 1"],
        Suite::Matches => ["points", "0 … points per game … 1"],
        Suite::Rms => ["RMS error", ".0001 … .001 … .01 … .1 … 1"],
        _ => ["exploitability", ".0001 … .001 … .01 … .1 … 1"],
    };
    Ok(output::table(&[unit, name, "loss", scale], &rows) + "\n")
}
