//! The command `train`.

use crate::args::TrainArgs;
use crate::interrupt::{SAVING, on_interrupt};
use crate::output;
use crate::program;
use crate::progress::Progress;
use crate::world::{self, Together};
use adept_game::Unit;
use adept_ground::profile::Phase;
use adept_ground::shown::shell_path;
use adept_lab::curves::{self, Point, References};
use adept_lab::files::{Placed, check_laws};
use adept_lab::measure::{Baseline, Kinds, Weakness};
use adept_lab::publish::shares;
use adept_lab::seeds::{SeedResult, Seeds, train_seeds};
use adept_lab::statistics::mean_sd;
use adept_lab::statistics::{Sample, welch};
use adept_lab::tournament;
use adept_lab::{AnyGame, Catalogue};
use adept_model::{ExpertUse, LIVE};
use adept_ranks::Ranks;
use adept_trainer::config::{self, Config, Figure, HeadName, MeasuredOn, Source};
use adept_trainer::run::{Host, OnRanks, Record, Score, Steering, TrainError, TrainOptions};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) fn train(games: &dyn Catalogue, args: &TrainArgs, as_json: bool) -> Result<()> {
    let source = Source::read(&args.config, &args.settings())?;
    let config = config::parse(&source, games)?;
    super::config::note_old_form(&args.config);
    super::config::note_paths::<Config>(&args.config, &args.settings(), games);
    config.cautions().iter().for_each(|caution| super::config::warn(&args.config, caution));
    let ranks = world::ranks();
    // Runs that cannot be divided are jobs, each for one rank.
    if args.seeds.is_some() && config.learn.shards == 1 {
        return world::with_jobs(games, args.threads, || {
            run(games, args, Read { source: &source, config: &config }, Ranks::default(), as_json)
        });
    }
    run(games, args, Read { source: &source, config: &config }, ranks, as_json)
}

/// A config, and the text that it was read from.
#[derive(Clone, Copy)]
struct Read<'a> {
    source: &'a Source,
    config: &'a Config,
}

impl Read<'_> {
    /// An error of a run, with the place of the setting to change if there is one.
    fn placed(self, error: TrainError) -> anyhow::Error {
        Placed::of_run(self.source, self.config, error).map_or_else(Into::into, Into::into)
    }
}

fn run(games: &dyn Catalogue, args: &TrainArgs, read: Read<'_>, ranks: Ranks, as_json: bool) -> Result<()> {
    let Read { source, config } = read;
    let game = games.find(&config.game.rules)?;
    if !args.resume
        && let Some(caution) = check_laws(source, config, &*game)?
    {
        output::say(format!("warning: {caution}"));
    }
    let first = args.seed.unwrap_or(config.seed);
    let options = TrainOptions {
        out: args.out.clone(),
        resume: args.resume,
        extend: args.resume,
        fresh: args.fresh,
        init: args.init.clone(),
        is_alone: args.seeds.is_none(),
        max_seconds: args.max_seconds,
        tensorboard: args.tensorboard,
        profile: args.profile,
        threads: args.threads,
        ranks: ranks.clone(),
        host: Host::default(),
        steering: Steering::default(),
    };
    if args.estimate {
        return estimate(&*game, read, first, &options, as_json);
    }
    if let Some(caution) = idle(config, &ranks) {
        output::say(format!("warning: {caution}"));
    }
    if !as_json {
        let about = if config.about.is_empty() { "(no description)" } else { &config.about };
        output::say(format!("{}: {about}", config.name));
        if let Some(places) = world::places().filter(|_| ranks.are_several()) {
            output::say(format!("{places}; batches in {} shards", config.learn.shards));
        }
    }
    let cancel = on_interrupt(SAVING);
    let progress = Progress::new(args.seeds.is_some());
    let results = match args.seeds {
        None => vec![(first, game.train(config, first, &options, &progress, &cancel))],
        Some(count) => {
            let seeds = Seeds { first, count, threads: args.threads };
            train_seeds(&*game, config, seeds, &options, &progress, &cancel)
        }
    };
    // Before anything is printed: the reader may be gone, and the others wait.
    let unfinished = |(_, result): &SeedResult| {
        let record = result.as_ref().ok().map(|(_, record)| record);
        record.is_some_and(|r| !r.finished && (cancel.requested() || args.max_seconds.is_none()))
    };
    let stopped = cancel.requested() && (results.len() as u64) < args.seeds.unwrap_or(1)
        || results.iter().any(unfinished);
    let alone = results.iter().any(|(_, result)| result.as_ref().is_err_and(|error| !error.is_of_all()));
    let stopped = if alone { stopped } else { ranks.any(u8::from(stopped)) > 0 };
    if !ranks.is_first() {
        return followed(results, stopped);
    }
    if !progress.began() && results.iter().all(|(_, result)| result.is_ok()) && !results.is_empty() {
        output::say("already finished: this is the earlier result, nothing was run");
    }
    let (mut runs, mut errors) = (Vec::new(), Vec::new());
    for (seed, result) in results {
        match result {
            Ok(run) => runs.push(run),
            Err(e) if args.seeds.is_some() => errors.push((seed, read.placed(e))),
            Err(e) => return Err(read.placed(e)),
        }
    }
    if runs.is_empty() && !errors.is_empty() {
        return Err(of_seeds(errors, !progress.began()));
    }
    let against = config.evaluate_against().into_iter().next();
    // It takes a while in larger games.
    let baseline = || against.as_ref().and_then(|against| game.baseline(against).ok());
    let references = runs.first().and_then(|(path, _)| References::read(path));
    // The results stand without it, in a folder that is read-only by now for example.
    let mean = || curves::write_mean(&options.host.files, &runs).ok().flatten();
    let drawn = if runs.len() > 1 { mean() } else { None };
    if as_json {
        let mut value = as_value(&runs, args.seeds.is_some(), against.as_deref(), baseline());
        value["references"] = json!(references);
        value["weak"] = json!(weaknesses(&runs));
        if args.seeds.is_some() {
            value["curve"] = json!(drawn);
        }
        output::json(&value)?;
    } else {
        let unit = game.info().unit;
        let mut text = as_text(&runs, references.as_ref(), config, unit.as_ref());
        if let Some(path) = &drawn {
            text.push_str(&format!("mean curve:  {}\n", path.display()));
        }
        output::text(&text)?;
    }
    if !errors.is_empty() {
        return Err(of_seeds(errors, false));
    }
    if stopped {
        let text =
            format!("stopped before the end{}", if args.resume { "" } else { ": continue with --resume" });
        return Err(Together(text).into());
    }
    Ok(())
}

/// Says so if some ranks have nothing of their own to compute.
fn idle(config: &Config, ranks: &Ranks) -> Option<String> {
    let shards = config.learn.shards;
    (shards < ranks.size()).then(|| {
        format!(
            "{} of {} ranks compute what others compute too: batches are cut into {shards}, so set `learn.shards` to a multiple \
             of the number of ranks",
            ranks.size() - shards,
            ranks.size()
        )
    })
}

/// The result of the command on a rank that is not the first.
fn followed(results: Vec<SeedResult>, stopped: bool) -> Result<()> {
    for (_, result) in results {
        result?;
    }
    if stopped { Err(Together("stopped before the end".into()).into()) } else { Ok(()) }
}

/// The errors of several seeds as one, of the kind of the first.
fn of_seeds(errors: Vec<(u64, anyhow::Error)>, nothing_ran: bool) -> anyhow::Error {
    let mut lines: Vec<String> = errors.iter().map(|(seed, e)| format!("seed {seed}: {e}")).collect();
    // What is wrong with all of them, such as a missing file, is said once.
    if let [(first, error), .., (last, _)] = &errors[..]
        && errors.iter().all(|(_, other)| other.to_string() == error.to_string())
    {
        lines = vec![format!("seeds {first} to {last}: {error}")];
    }
    lines.extend(nothing_ran.then(|| "nothing was run".to_string()));
    let text = lines.join("\n");
    match errors.into_iter().next() {
        Some((_, first)) => first.context(text),
        None => anyhow::Error::msg(text),
    }
}

fn estimate(
    game: &dyn AnyGame,
    read: Read<'_>,
    seed: u64,
    options: &TrainOptions,
    as_json: bool,
) -> Result<()> {
    let config = read.config;
    let e = game.estimate(config, seed, options, Duration::from_secs(2));
    let e = e.map_err(|e| read.placed(e))?;
    if as_json {
        return output::json(&e);
    }
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let unit = config.learn.unit();
    output::text(&format!(
        "{} {unit}: about {:.0} s, including {:.0} s of preparing and {:.0} s of measuring\n\
         measured: {} {unit} and one measurement\n\
         disk: up to {}, {} per checkpoint; {} free\n",
        e.games,
        e.seconds,
        e.preparing,
        e.measuring,
        e.tried,
        megabytes(e.disk_bytes),
        megabytes(e.checkpoint_bytes),
        e.free_bytes.map_or("an unknown amount".into(), megabytes),
    ))?;
    if e.ranks.is_empty() {
        return Ok(());
    }
    let header = ["ranks", "seconds", "learning is faster", ""];
    let row = |on: &OnRanks| {
        let label = if on.measured { "measured here" } else { "extrapolated" };
        let (seconds, speedup) = (format!("{:.0}", on.seconds), format!("{:.2} times", on.speedup));
        vec![on.ranks.to_string(), seconds, speedup, label.into()]
    };
    let free = match options.ranks.are_several() {
        true => "with the latency and bandwidth measured between these ranks",
        false => "with free communication: start the estimate on two ranks, and it is measured too",
    };
    output::text(&format!(
        "\n{}\nby a cost model, {free}; each rank with as many threads as here\n",
        output::table(&header, e.ranks.iter().map(row))
    ))
}

fn score(score: Option<&Score>) -> Value {
    let mut found = figures(score);
    if let (Some(object), Some(score)) = (found.as_object_mut(), score) {
        object.extend(score.grade.as_ref().map(|grade| ("grade".into(), json!(grade))));
        object.extend(score.alone.as_ref().map(|alone| ("alone".into(), json!(alone))));
    }
    found
}

fn figures(score: Option<&Score>) -> Value {
    let order: [Figure; Figure::COUNT] =
        [Figure::Exploitability, Figure::Matches, Figure::Rms, Figure::Equity];
    score.map_or(Value::Null, |s| {
        match order.into_iter().find(|figure| s.value(*figure).is_some()).unwrap_or(Figure::Equity) {
            Figure::Exploitability => json!({ "exploitability": s.exploitability, "step": s.step }),
            Figure::Matches if s.unit.is_some() => {
                json!({ "matches": s.matches, "unit": s.unit, "step": s.step })
            }
            Figure::Matches => json!({ "matches": s.matches, "step": s.step }),
            Figure::Rms => s.rms.map_or(Value::Null, |errors| {
                json!({
                    "rms": errors.rms,
                    // The error of the winning probability (1 + V)/2.
                    "rms_probability": errors.rms / 2.0,
                    "mae": errors.mae,
                    "max": errors.max,
                    "rows": errors.rows,
                    "validation": s.validation,
                    "step": s.step,
                })
            }),
            Figure::Equity => json!({
                "equity": s.equity, "first": s.seats.first(), "second": s.seats.last(), "step": s.step
            }),
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
        "optimal": record.optimal,
        "engine": record.config.learn.engine,
        "device": record.config.learn.device,
        "timing": record.timing.map(|t| json!({
            "samples": t.samples,
            "learning": t.learning,
            "waiting": t.waiting,
            "samples_per_second": t.samples_per_second(),
            "share_waited": t.share_waited(),
        })),
        "profile": (!record.profile.is_empty()).then_some(&record.profile),
        "steps": record.step,
        "seconds": record.seconds,
        "final": score(record.r#final.as_ref()),
        "best": score(record.best.as_ref()),
        "experts": record.r#final.as_ref().and_then(|score| score.experts.as_ref()),
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
            let name = runs.iter().find_map(|(_, r)| r.config.figure()).map_or("equity", Figure::name);
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

/// The results of runs, for people.
fn as_text(
    runs: &[(PathBuf, Record)],
    references: Option<&References>,
    config: &Config,
    unit_of_game: Option<&Unit>,
) -> String {
    let figure = config.figure();
    let in_units = unit_of_game.is_some() && config.measured_on() == Some(MeasuredOn::Games);
    let mut text = String::new();
    if let ([(path, record)], Some(figure)) = (runs, figure) {
        let points = curves::points(path, record).unwrap_or_default();
        text.push_str(&curve(&points, figure, in_units, references, config.learn.unit()));
        let loss = match config.head {
            HeadName::Value => "mean squared error",
            HeadName::Outcomes => "mean cross entropy",
        };
        text.push_str(&format!("loss: {loss} of the targets since the measurement before\n\n"));
    }
    text.push_str(&results(runs, config, in_units));
    for (path, r) in runs {
        if let Some(alone) = r.r#final.as_ref().and_then(|score| score.alone) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            text.push_str(&format!(
                "{name}: solves the game in {:.0} % of games, in {:.1} moves; the shortest solution has {}\n",
                100.0 * alone.solved,
                alone.moves,
                alone.optimum
            ));
        }
    }
    text.push('\n');
    if runs.len() > 1 {
        text.push_str(&summary(runs, references, config, in_units));
    }
    text.push_str(&meaning(runs, references, config, unit_of_game));
    text.push_str(&experts(runs));
    text.push_str(&warned(runs, references));
    if let [(path, record)] = runs {
        text.push_str(&about_run(path, record, config));
    }
    text
}

/// A table with a row for each run.
fn results(runs: &[(PathBuf, Record)], config: &Config, in_units: bool) -> String {
    let (figure, unit) = (config.figure(), config.learn.unit());
    type Detail = (&'static str, fn(&Score) -> Option<f64>);
    let details: &[Detail] = match figure {
        Some(Figure::Rms) => {
            &[("mean abs.", |s| s.rms.map(|e| e.mae)), ("largest", |s| s.rms.map(|e| e.max))]
        }
        Some(Figure::Equity) => {
            &[("as first", |s| s.seats.first().copied()), ("as second", |s| s.seats.last().copied())]
        }
        Some(Figure::Exploitability | Figure::Matches) | None => &[],
    };
    // Without exact values to choose by, no checkpoint is the best.
    let has_best = runs.iter().any(|(_, r)| r.best.is_some());
    let at = format!("at {}", unit.trim_end_matches('s'));
    let mut header = vec!["run", unit, "seconds", "final"];
    header.extend(details.iter().map(|(name, _)| name));
    if has_best {
        header.extend(["best", &at]);
    }
    let graded = runs.iter().any(|(_, r)| r.r#final.as_ref().is_some_and(|f| f.grade.is_some()));
    if graded {
        header.push("optimal from");
    }
    let number = |v: Option<f64>| v.map_or_else(|| "–".to_string(), |v| shown(figure, in_units, v));
    let row = |path: &Path, r: &Record| {
        let (last, best) = (r.r#final.as_ref(), r.best.as_ref());
        let mut row = vec![
            // The whole path stands below, or is where runs usually are.
            path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            r.step.to_string(),
            format!("{:.1}", r.seconds),
            number(last.map(Score::figure)),
        ];
        row.extend(details.iter().map(|(_, of)| number(last.and_then(of))));
        if has_best {
            row.push(number(best.map(Score::figure)));
            row.push(best.map_or_else(|| "–".to_string(), |s| s.step.to_string()));
        }
        if graded {
            let at_end = last.and_then(|s| s.grade.as_ref()).is_some_and(|grade| grade.optimal);
            row.push(match r.optimal {
                Some(step) if at_end => step.to_string(),
                Some(step) => format!("{step}, not at end"),
                None => "–".to_string(),
            });
        }
        row
    };
    output::table(&header, runs.iter().map(|(path, r)| row(path, r)))
}

/// The meaning of the figure, and of the best checkpoint.
fn meaning(
    runs: &[(PathBuf, Record)],
    references: Option<&References>,
    config: &Config,
    unit_of_game: Option<&Unit>,
) -> String {
    let figure = config.figure();
    let mut text = String::new();
    let compared = references.map_or_else(String::new, |r| {
        let naive = r.naive.iter().map(|naive| format!("; {naive}")).collect::<String>();
        format!("{naive}; {}, {}", r.baseline, r.best)
    });
    let meaning = match figure {
        Some(Figure::Equity) => "exact, (wins − losses) / games".to_string(),
        Some(Figure::Matches) => {
            let points = "1 for a win, ½ for a draw, a share for a shared win";
            let meaning = unit_of_game.map_or(points, |unit| &*unit.name);
            format!("{meaning}, {} games per measurement", config.evaluate.games)
        }
        Some(Figure::Exploitability) => "(br₀ + br₁) / 2 in units of utility, lower is better".into(),
        Some(Figure::Rms) => {
            let tests = |r: &Record| r.r#final.as_ref().and_then(|f| f.rms);
            match runs.iter().find_map(|(_, r)| tests(r)) {
                Some(errors) => {
                    format!("root mean square, V from −1 to 1, on {} test positions", errors.rows)
                }
                None => "root mean square, V from −1 to 1, on test positions".into(),
            }
        }
        None => String::new(),
    };
    if !meaning.is_empty() {
        text.push_str(&format!("{}: {meaning}{compared}\n", curves::label(config)));
    }
    text.push_str(match config.measured_on() {
        Some(MeasuredOn::Positions) if config.learn.shows_examples() => {
            "best: the lowest error on validation positions\n"
        }
        Some(MeasuredOn::Positions | MeasuredOn::BestResponses) => {
            "best: none, because exact values may measure a run but not choose its checkpoint\n"
        }
        Some(MeasuredOn::Opponent | MeasuredOn::Games) | None => "",
    });
    text
}

/// Where the time of a run went, how it began and ended, and what can be done with it.
fn about_run(path: &Path, record: &Record, config: &Config) -> String {
    let (games, unit) = (config.learn.length(), config.learn.unit());
    let mut text = String::new();
    if let Some(t) = record.timing {
        let learn = &record.config.learn;
        text.push_str(&format!(
            "{} on {}: {:.0} % of the time learning from samples, {:.0} % getting them\n",
            learn.engine,
            learn.device,
            100.0 * (1.0 - t.share_waited()),
            100.0 * t.share_waited()
        ));
    }
    text.push_str(&profile(record));
    if let Some(early) = &record.early {
        text.push_str(&format!("ended after {} of {games} {unit}: {early}\n", record.step));
    }
    for origin in &record.init {
        text.push_str(&format!("started from the weights of {origin}\n"));
    }
    let shown = path.display();
    if !record.finished {
        text.push_str(&format!("stopped after {} of {games} {unit}: continue with --resume\n", record.step));
    }
    if path.join("curve.svg").exists() {
        text.push_str(&format!("curve:            {shown}/curve.svg\n"));
    }
    if record.finished {
        let word = shell_path(path);
        text.push_str(&format!("play against it:  {} play {word} --hints\n", program::name()));
    }
    text
}

/// Where the time went, if that was asked for.
fn profile(record: &Record) -> String {
    let total: f64 = record.profile.values().sum();
    let named = Phase::ALL.into_iter().filter_map(|phase| record.profile.get_key_value(phase.name()));
    let rows = named.map(|(name, seconds)| {
        vec![name.clone(), format!("{seconds:.2}"), format!("{:.0} %", 100.0 * seconds / total)]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() { String::new() } else { output::table(&["work", "seconds", "share"], rows) + "\n" }
}

/// Where formulas of the game are clearly more accurate than the first run.
fn weaknesses(runs: &[(PathBuf, Record)]) -> Vec<Weakness> {
    let finished = runs.first().filter(|(_, record)| record.finished);
    finished.and_then(|(path, _)| Kinds::beside(path)).map_or_else(Vec::new, |kinds| kinds.clear_weaknesses())
}

/// A warning if a formula of the game is more accurate than the runs.
fn warned(runs: &[(PathBuf, Record)], references: Option<&References>) -> String {
    let weak = weaknesses(runs);
    let line = |w: &Weakness| {
        let [own, other] = [w.rms, w.formula_rms].map(output::short);
        format!("  {}: error {own}, {} {other}\n", w.positions, w.formula)
    };
    let known = references.filter(|r| r.naive.is_some()).map(|r| &r.baseline);
    let last = runs.first().and_then(|(_, r)| r.r#final.as_ref()).map(Score::figure);
    match (known, last) {
        _ if !weak.is_empty() => format!(
            "warning: what is known without learning is more accurate than this network on\n{}",
            weak.iter().map(line).collect::<String>()
        ),
        (Some(known), Some(last)) if last > known.value && runs[0].1.finished => {
            format!("warning: {} is more accurate than this network\n", known.name)
        }
        _ => String::new(),
    }
}

/// How the experts of a mixture share positions, and a warning if some hardly run.
fn experts(runs: &[(PathBuf, Record)]) -> String {
    let used: Vec<&ExpertUse> =
        runs.iter().filter_map(|(_, r)| r.r#final.as_ref()?.experts.as_ref()).collect();
    let mut text = match &used[..] {
        [] => return String::new(),
        [one] => format!(
            "experts: {} of {} live, of {} positions they win {}\n",
            one.live,
            one.shares.len(),
            one.rows,
            shares(one)
        ),
        [first, ..] => {
            let live: Vec<String> = used.iter().map(|used| used.live.to_string()).collect();
            format!("live experts of {}: {}\n", first.shares.len(), live.join(", "))
        }
    };
    // With many experts a fair share is small itself.
    let idle = |used: &&ExpertUse| {
        let least = LIVE.min(0.1 / used.shares.len() as f64);
        used.shares.iter().any(|share| *share < least)
    };
    if used.iter().any(idle) {
        text.push_str(
            "warning: some experts win hardly any position: fewer would do as well, or the gate should begin as \
             clusters or learn more slowly; see docs/experts.md\n",
        );
    }
    text
}

/// A figure with its usual digits.
fn shown(figure: Option<Figure>, in_units: bool, v: f64) -> String {
    match figure {
        Some(figure) if figure.is_error() => output::short(v),
        Some(_) if in_units => tournament::shown(v, true),
        figure => figure.unwrap_or(Figure::Equity).text(v),
    }
}

/// The mean and spread of several seeds, and a test against the baseline.
fn summary(
    runs: &[(PathBuf, Record)],
    references: Option<&References>,
    config: &Config,
    in_units: bool,
) -> String {
    let figure = config.figure();
    let finals: Vec<(f64, u64)> =
        runs.iter().filter_map(|(_, r)| Some((r.r#final.as_ref()?.figure(), r.seed))).collect();
    let values: Vec<f64> = finals.iter().map(|(v, _)| *v).collect();
    let sample = Sample::new(&values);
    let (Some(mean), Some(sd)) = (sample.mean, sample.sd) else { return String::new() };
    let merit = |v: f64| figure.map_or(v, |figure| figure.merit(v));
    let best = finals.iter().max_by(|a, b| merit(a.0).total_cmp(&merit(b.0)));
    let mut text = format!(
        "{} seeds: {} ± {}",
        sample.n,
        shown(figure, in_units, mean),
        shown(figure, in_units, sd).replace('+', "")
    );
    // The baseline of matches is itself an estimate.
    let test = references.filter(|_| config.measured_on() != Some(MeasuredOn::Games)).and_then(|r| {
        let known = Sample { mean: Some(r.baseline.value), sd: Some(0.0), n: 2 };
        Some((r, welch(known, sample)?))
    });
    if let Some((references, test)) = test {
        let name = &references.baseline.name;
        let better = merit(mean) > merit(references.baseline.value);
        let p = match (better, test.p) {
            (true, p) if p < 1e-4 => format!("better than {name} (p < 0.0001)"),
            (true, p) if p < 0.05 => format!("better than {name} (p = {p:.4})"),
            (false, p) if p < 0.05 => format!("worse than {name} (p = {p:.4})"),
            (_, p) => format!("not significantly different from {name} (p = {p:.2})"),
        };
        text.push_str(&format!(", {p}"));
    }
    if let Some((value, seed)) = best {
        text.push_str(&format!("; best: seed {seed} with {}", shown(figure, in_units, *value)));
    }
    text + "\n"
}

/// Columns of the longest bar.
const BAR: usize = 40;

/// Draws the curve of a run in about twenty lines.
fn curve(
    points: &[Point],
    figure: Figure,
    in_units: bool,
    references: Option<&References>,
    unit: &str,
) -> String {
    let every = points.len().div_ceil(20).max(1);
    let taken = points.iter().enumerate().filter(|(i, _)| (i + 1) % every == 0 || i + 1 == points.len());
    let (error, name) = (figure.is_error(), figure.short());
    // A bar runs from the baseline to the best possible value, or has ten columns for each factor of ten. In units there is
    // no best possible value: the highest one takes its place.
    let all = points.iter().map(|point| point.value);
    let (lowest, highest) =
        (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max));
    let (from, to) = match references {
        Some(r) if in_units => (r.baseline.value.min(lowest).min(0.0), highest),
        Some(r) => (r.first().value, r.best.value),
        None => (1.0, 1.0),
    };
    let length = |value: f64| match error {
        true => (from / value).log10() * 10.0,
        false => (value - from) / (to - from) * BAR as f64,
    };
    // The place of a formula of the game on an axis that begins at less.
    let formula = references.filter(|r| r.naive.is_some() && error).map(|r| &r.baseline);
    let mark = formula.map(|r| length(r.value).round().max(0.0) as usize).filter(|place| *place < BAR);
    let rows: Vec<Vec<String>> = taken
        .map(|(_, point)| {
            let length = if references.is_some() { length(point.value).round() } else { 0.0 };
            // NaN and negative lengths become 0.
            let bar = "▪".repeat((length.max(0.0) as usize).min(BAR));
            let bar = match mark {
                Some(place) if place >= bar.chars().count() => format!("{bar:<place$}│"),
                Some(place) => {
                    bar.chars().enumerate().map(|(i, c)| if i == place { '│' } else { c }).collect()
                }
                None => bar,
            };
            let loss = point.loss.map_or_else(|| "–".into(), output::short);
            let value = shown(Some(figure), in_units, point.value);
            vec![point.step.to_string(), value, loss, format!("{bar:<BAR$}")]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let scale = match references {
        None => String::new(),
        _ if error => format!("ten ▪ are a factor of 10, from {}", output::short(from)),
        Some(_) if in_units => {
            let (low, high) =
                (tournament::shown(from, true), format!("highest {}", tournament::shown(to, true)));
            format!("{low}{high:>width$}", width = BAR - low.chars().count())
        }
        Some(r) => {
            let (low, high) = (r.baseline.to_string(), r.best.to_string());
            format!("{low}{high:>width$}", width = BAR.saturating_sub(low.chars().count()).max(1))
        }
    };
    let noted = formula.filter(|_| mark.is_some()).map_or_else(String::new, |r| format!("│ is {r}\n"));
    output::table(&[unit, name, "loss", &format!("{scale:<BAR$}")], rows) + &noted
}
