//! `train`.

use crate::args::TrainArgs;
use crate::output;
use crate::progress::{Progress, on_interrupt};
use adept_trainer::config::{self, Config};
use adept_trainer::measure::{Baseline, baseline};
use adept_trainer::run::{self, Host, Record, Score, Seeds, TrainOptions, mean_sd, train_seeds};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) fn train(args: &TrainArgs, as_json: bool) -> Result<()> {
    let config = config::load(&args.config, &args.settings())?;
    let first = args.seed.unwrap_or(config.seed);
    let options = TrainOptions {
        out: args.out.clone(),
        resume: args.resume,
        init: args.init.clone(),
        max_seconds: args.max_seconds,
        host: Host::default(),
    };
    if args.estimate {
        return estimate(&config, first, &options, as_json);
    }
    if !as_json {
        let about = if config.about.is_empty() { "(no description)" } else { &config.about };
        output::say(format!("{}: {about}", config.name));
    }
    let cancel = on_interrupt();
    let progress = Progress::new(args.seeds.is_some());
    let results = match args.seeds {
        None => vec![(first, run::train(&config, first, &options, &progress, &cancel))],
        Some(count) => {
            let seeds = Seeds { first, count, threads: args.threads };
            train_seeds(&config, seeds, &options, &progress, &cancel)
        }
    };
    if !progress.began() && results.iter().all(|(_, result)| result.is_ok()) && !results.is_empty() {
        output::say("finished before: this is the result, nothing was run");
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
    let baseline = against.as_ref().and_then(|against| baseline(&config.game.rules, against).ok());
    if as_json {
        output::json(&as_value(&runs, args.seeds.is_some(), against.as_deref(), baseline))?;
    } else {
        output::text(&as_text(&runs, against.as_deref(), baseline, config.learn.games)?)?;
    }
    if !errors.is_empty() {
        bail!("{}", errors.join("\n"));
    }
    if cancel.requested() && (runs.len() as u64) < args.seeds.unwrap_or(1)
        || runs.iter().any(|(_, r)| !r.finished && (cancel.requested() || args.max_seconds.is_none()))
    {
        bail!("stopped before the end: go on with --resume");
    }
    Ok(())
}

fn estimate(config: &Config, seed: u64, options: &TrainOptions, as_json: bool) -> Result<()> {
    let e = run::estimate(config, seed, options, Duration::from_secs(2))?;
    if as_json {
        return output::json(&e);
    }
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    output::text(&format!(
        "{} games: about {:.0} s, {:.0} s of them measuring (from {} games and one measurement)\n\
         disk: up to {}, {} a checkpoint; {} free\n",
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
    score.map_or(
        Value::Null,
        |s| json!({ "equity": s.equity, "first": s.seats.first(), "second": s.seats.last(), "step": s.step }),
    )
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
            let equities = |f: fn(&Record) -> Option<&Score>| {
                let values: Vec<f64> = runs.iter().filter_map(|(_, r)| f(r)).map(|s| s.equity).collect();
                let summary = mean_sd(&values);
                json!({ "equity": summary.mean, "mean": summary.mean, "sd": summary.sd, "runs": values.len() })
            };
            json!({
                "runs": runs.iter().map(|(path, record)| one(path, record)).collect::<Vec<_>>(),
                "steps": runs.iter().map(|(_, r)| r.step).sum::<u64>(),
                "seconds": runs.iter().map(|(_, r)| r.seconds).sum::<f64>(),
                "final": equities(|r| r.r#final.as_ref()),
                "best": equities(|r| r.best.as_ref()),
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
    games: u64,
) -> Result<String> {
    let mut text = String::new();
    if let ([(path, _)], Some(against)) = (runs, against) {
        text.push_str(&curve(path, against)?);
    }
    let header = ["run", "games", "seconds", "final", "first", "second", "best", "at game"];
    let number = |v: Option<f64>| v.map_or_else(|| "–".to_string(), |v| format!("{v:+.4}"));
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|(path, r)| {
            let (last, best) = (r.r#final.as_ref(), r.best.as_ref());
            vec![
                path.display().to_string(),
                r.step.to_string(),
                format!("{:.1}", r.seconds),
                number(last.map(|s| s.equity)),
                number(last.and_then(|s| s.seats.first().copied())),
                number(last.and_then(|s| s.seats.last().copied())),
                number(best.map(|s| s.equity)),
                best.map_or_else(|| "–".to_string(), |s| s.step.to_string()),
            ]
        })
        .collect();
    text.push_str(&output::table(&header, &rows));
    let equities = |f: fn(&Record) -> Option<&Score>| -> Vec<f64> {
        runs.iter().filter_map(|(_, r)| f(r)).map(|s| s.equity).collect()
    };
    if runs.len() > 1 {
        for (name, values) in
            [("final", equities(|r| r.r#final.as_ref())), ("best", equities(|r| r.best.as_ref()))]
        {
            if !values.is_empty() {
                let s = mean_sd(&values);
                text.push_str(&format!("{name}: {:+.4} ± {:.4} over {} seeds\n", s.mean, s.sd, values.len()));
            }
        }
    }
    if let (Some(against), Some(b)) = (against, baseline) {
        text.push_str(&format!(
            "\nexact match equity against {against}, (wins − losses) / games; random play {:+.4}, best possible {:+.4}\n",
            b.random, b.optimal
        ));
    }
    if let [(path, record)] = runs {
        if let Some(t) = record.timing {
            let learn = &record.config.learn;
            text.push_str(&format!(
                "{} on {}: {:.0} samples/s, waiting for games {:.0} % of the time\n",
                learn.engine,
                learn.device,
                t.samples_per_second(),
                100.0 * t.share_waited()
            ));
        }
        if let Some(early) = &record.early {
            text.push_str(&format!("ended after {} of {games} games: {early}\n", record.step));
        }
        for origin in &record.init {
            let part = origin.part.as_deref().unwrap_or("all");
            text.push_str(&format!("began with the weights of {} ({part})\n", origin.path.display()));
        }
        let path = path.display();
        text.push_str(&if record.finished {
            format!("play against it: adept play {path} --hints\n")
        } else {
            format!("stopped after {} of {games} games: go on with --resume\n", record.step)
        });
    }
    Ok(text)
}

/// The curve of a run, about twenty lines of it.
fn curve(run: &Path, against: &str) -> Result<String> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl"))?;
    let points: Vec<(u64, f64, Option<f64>)> = text
        .lines()
        .filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let mut opponents = line["equity"].as_array()?.iter();
            let equity = opponents.find(|e| e[0] == against)?[1]["equity"].as_f64()?;
            Some((line["step"].as_u64()?, equity, line["loss"].as_f64()))
        })
        .collect();
    let every = points.len().div_ceil(20).max(1);
    let shown = points.iter().enumerate().filter(|(i, _)| (i + 1) % every == 0 || i + 1 == points.len());
    let rows: Vec<Vec<String>> = shown
        .map(|(_, (step, equity, loss))| {
            // −1 … 1 over forty places.
            let places = ((equity + 1.0) * 20.0).round().clamp(0.0, 40.0) as usize;
            vec![
                step.to_string(),
                format!("{equity:+.4}"),
                loss.map_or_else(|| "–".into(), |loss| format!("{loss:.4}")),
                format!("{:<40}", "▪".repeat(places)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(String::new());
    }
    Ok(output::table(&["games", "equity", "loss", "−1 … equity … 1"], &rows) + "\n")
}
