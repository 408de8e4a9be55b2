//! The command `evaluate`.

use super::games_with;
use crate::args::EvaluateArgs;
use crate::output;
use adept_arena::naming::{AgentSpec, Play};
use adept_arena::search::SearchOptions;
use adept_arena::{MoveLoss, OpenError, WinDrawLoss};
use adept_game::{Difference, Suite};
use adept_ground::files::Files;
use adept_lab::Catalogue;
use adept_lab::checkpoints;
use adept_lab::measure::{
    ClassErrors, DecisionsReport, DecisionsRow, EquityReport, EvaluateOptions, ExhaustiveReport,
    ExpertsReport, ExploitabilityReport, FileReport, GradeReport, MatchesReport, MoveLossReport,
    OutcomesReport, Report, RmsReport, SpeedCell, Valued,
};
use adept_lab::publish::shares;
use adept_lab::tournament::{percent, shown};
use adept_model::checkpoint;
use adept_trainer::positions::PositionErrors;
use adept_trainer::run::Match;
use anyhow::{Result, bail};
use serde_json::json;
use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};

/// The subject of a measurement: a checkpoint, or a search over it.
struct Measured {
    path: PathBuf,
    search: Option<SearchOptions>,
}

pub(crate) fn evaluate(games: &dyn Catalogue, args: &EvaluateArgs, as_json: bool) -> Result<()> {
    let Measured { path, search } = measured(args)?;
    if args.game.is_some() && args.recorded.is_none() {
        bail!("a checkpoint is measured in its own game: --game goes with --recorded");
    }
    if args.recorded.is_none()
        && search.is_none()
        && checkpoint::named(&args.of.checkpoint)?.is_none()
        && let Some(name) = args.of.checkpoint.to_str()
        && let Some(game) = games_with(games, name).first()
    {
        let message = format!(
            "`{name}` is an agent of {}, not a checkpoint: `adept arena` measures agents against each other",
            game.info().name
        );
        return Err(OpenError::Unknown(message).into());
    }
    if let Some(file) = &args.recorded {
        return recorded(games, args, file, as_json);
    }
    let options = EvaluateOptions {
        suites: args.suites.clone(),
        against: args.against.clone(),
        distribution: args.distribution.clone(),
        samples: args.samples,
        positions: args.positions.clone(),
        out: args.out.clone(),
        decisions: args.decisions.clone(),
        peers: args.peers.clone(),
        exhaustive: args.exhaustive,
        search,
        ..EvaluateOptions::default()
    };
    let report = checkpoints::evaluate(games, &path, args.of.best, &options)?;
    if let Some(file) = &args.calibration {
        let Some(outcomes) = &report.outcomes else {
            bail!(
                "--calibration is for networks with `head = \"outcomes\"`: this one gives no probabilities of outcomes"
            );
        };
        Files::default().replace(file, outcomes.svg().as_bytes())?;
    }
    output::show(as_json, || &report, || report_text(&report, options.search.as_ref()))
}

/// The checkpoint that the arguments name, and the search over it.
fn measured(args: &EvaluateArgs) -> Result<Measured> {
    let shown = args.of.checkpoint.display();
    let refused = match args.of.checkpoint.to_str().map(AgentSpec::parse) {
        Some(Ok(AgentSpec::Model {
            play: Play::Greedy,
            search: Some(options),
            screen: None,
            tables: None,
            name,
        })) => return Ok(Measured { path: PathBuf::from(name), search: Some(options) }),
        Some(Ok(AgentSpec::Model { play: Play::Epsilon(_) | Play::Boltzmann(_), .. })) => format!(
            "`{shown}` varies its play: `evaluate` measures checkpoints and searches such as `search:4:NAME`, and \
             `adept arena` agents against each other"
        ),
        Some(Ok(AgentSpec::Model { tables: Some(_), .. } | AgentSpec::Model { screen: Some(_), .. })) => {
            format!(
                "`{shown}` plays by more than its checkpoint: `adept arena` measures it against other agents"
            )
        }
        Some(Err(why)) => why,
        _ => return Ok(Measured { path: args.of.checkpoint.clone(), search: None }),
    };
    Err(OpenError::Unknown(refused).into())
}

/// Compares an agent with recorded decisions.
fn recorded(games: &dyn Catalogue, args: &EvaluateArgs, file: &Path, as_json: bool) -> Result<()> {
    let agent = args.of.checkpoint.to_string_lossy();
    let found = checkpoints::recorded(games, args.game.as_deref(), &agent, file)?;
    if as_json {
        return output::json(&json!({ "agent": agent, "recorded": found }));
    }
    let (agree, rows, share) = (found.agree, found.rows, 100.0 * found.share);
    let mut text = format!("{agent} agrees on {agree} of {rows} recorded decisions, {share:.2} %\n");
    if !found.differences.is_empty() {
        let row = |d: &Difference| {
            vec![d.line.to_string(), d.position.clone(), d.recorded.clone(), d.chosen.clone()]
        };
        let header = ["line", "position", "recorded", "agent"];
        text.push_str(&format!("\n{}", output::table(&header, found.differences.iter().map(row))));
    }
    output::text(&text)
}

/// All measurements of a report, each in a paragraph of its own.
fn report_text(report: &Report, search: Option<&SearchOptions>) -> String {
    let ahead = search.map_or_else(String::new, |search| format!("search:{search}:"));
    let of = report.checkpoint.display();
    let mut text = format!("{ahead}{of} ({}, {} {})\n", report.game, report.step, report.unit);
    let of_suite = |(suite, _)| match suite {
        Suite::Equity => report.equity.as_ref().map(equity_text),
        Suite::Grade => report.grade.as_ref().map(|found| format!("\n{}", grades(found))),
        Suite::Rms => report.rms.as_ref().map(rms_text),
        Suite::MoveLoss => report.move_loss.as_ref().map(move_loss_text),
        Suite::Matches => report.matches.as_ref().map(matches_text),
        Suite::Exploitability => report.exploitability.as_ref().map(exploitability_text),
        // At the end.
        Suite::Speed => None,
    };
    let others = [
        report.positions.as_ref().map(file_text),
        report.valued.as_ref().map(valued_text),
        report.decisions.as_ref().map(decisions_text),
        report.exhaustive.as_ref().map(exhaustive_text),
        report.outcomes.as_ref().map(calibration),
        report.experts.as_ref().map(experts_text),
        report.speed.as_deref().map(speed_text),
    ];
    text.extend(Suite::ALL.into_iter().filter_map(of_suite));
    text.extend(others.into_iter().flatten());
    text
}

/// A paragraph: a table, and a line on it.
fn paragraph(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, note: impl Display) -> String {
    format!("\n{}{note}\n", output::table(header, rows))
}

/// Exact equity against each opponent.
fn equity_text(equity: &EquityReport) -> String {
    let rows = equity.opponents.iter().map(|(name, e)| {
        let figures = [e.equity, e.seats[0], e.seats[e.seats.len() - 1]].map(|v| format!("{v:+.6}"));
        [vec![name.clone()], figures.to_vec()].concat()
    });
    let note = format!(
        "against {}: random play {:+.6}, best possible {:+.6}",
        equity.against, equity.baseline.random, equity.baseline.optimal
    );
    let mut text = paragraph(&["exact equity against", "equity", "as first", "as second"], rows, note);
    if let Some(usage) = &equity.usage {
        let shares: Vec<String> = usage.share.iter().map(|s| format!("{:.1} %", 100.0 * s)).collect();
        let _ = writeln!(text, "experts run on {} of {} evaluations", shares.join(", "), usage.rows);
    }
    text
}

/// Errors on the test positions, by distribution and class.
fn rms_text(rms: &RmsReport) -> String {
    let mut text = format!(
        "\n{}: RMS error of V {:.6}, of the probability to win {:.6}; {} test positions, {} of them distinct{}\n",
        rms.distribution,
        rms.errors.rms,
        rms.rms_probability,
        rms.errors.rows,
        rms.distinct,
        if rms.overlap { "; some may also be examples, because the game is so small" } else { "" }
    );
    let names =
        rms.distributions.first().map_or(vec![], |e| e.baselines.iter().map(|b| b.0.as_str()).collect());
    for (what, list) in [("distribution", &rms.distributions), (rms.class.as_str(), &rms.classes)] {
        let header = [&[what, "positions", "RMS error", "mean abs.", "largest"], &names[..]].concat();
        let rows = list.iter().map(|e| errors(&e.name, &e.errors, &e.baselines));
        text.push_str(&format!("\n{}", output::table(&header, rows)));
    }
    let _ = writeln!(text, "of each class: {}", rms.class_positions);
    text.push_str("columns after the largest error: RMS errors of baselines that do not learn\n");
    text
}

/// The value that choices lose.
fn move_loss_text(moves: &MoveLossReport) -> String {
    let row = |name: &str, loss: &MoveLoss| {
        let wrong = format!("{:.4} %", 100.0 * loss.wrong_share);
        vec![name.to_string(), format!("{:.3e}", loss.loss_per_decision), wrong]
    };
    let baselines = moves.baselines.iter().map(|(name, loss)| row(name, loss));
    let rows = [row("this checkpoint", &moves.loss)].into_iter().chain(baselines);
    let note = format!(
        "{} unforced decisions, all rolls of positions of the distribution {}, weighted by their probability",
        moves.loss.decisions, moves.distribution
    );
    paragraph(&["choices by", "value lost per decision", "wrong"], rows, note)
}

/// Results against each opponent, and how games ended.
fn matches_text(matches: &MatchesReport) -> String {
    let unit = matches.first.unit.as_deref();
    let row = |m: &Match| {
        let [score, low, high] = [m.score, m.ci95[0], m.ci95[1]].map(|v| shown(v, unit.is_some()));
        let differ = m.distinct.map_or_else(String::new, |distinct| distinct.to_string());
        vec![m.against.clone(), m.games.to_string(), differ, score, format!("{low} … {high}")]
    };
    let what = unit.map_or("points per game".into(), |unit| format!("{unit} per game"));
    let header = ["against", "games", "differ", &*what, "95 %"];
    let mut text = format!("\n{}", output::table(&header, matches.opponents.iter().map(row)));
    for m in matches.opponents.iter().filter(|m| m.random_plies > 0) {
        let _ = writeln!(
            text,
            "games against {} open with random moves, {} of them: without, they repeat each other",
            m.against, m.random_plies
        );
    }
    let of = |m: &Match| {
        let shares = m.classes.0.iter().map(|(_, share)| percent(*share));
        [m.against.clone()].into_iter().chain(shares).collect()
    };
    let ended = matches.opponents.iter().filter(|m| !m.classes.is_empty());
    if let Some(first) = ended.clone().next() {
        let names: Vec<String> = first.classes.0.iter().map(|(name, _)| name.replace('_', " ")).collect();
        let header: Vec<&str> = ["against, %"].into_iter().chain(names.iter().map(String::as_str)).collect();
        text.push_str(&format!("\n{}\n", output::table(&header, ended.clone().map(of))));
    }
    text.push_str(match unit {
        Some(_) => "opponents take all other seats; every deal is played in each seat\n",
        None => "opponents take all other seats; 1 point for a win, ½ for a draw, a share for a shared win\n",
    });
    text
}

/// The win of a best response.
fn exploitability_text(found: &ExploitabilityReport) -> String {
    format!(
        "\nexploitability, (br₀ + br₁) / 2 in units of utility: {:.6}; of random play {:.6}\n\
         value for the first player if it plays itself: {:+.6}; {} decisions\n",
        found.exploitability, found.random, found.value, found.decisions
    )
}

/// Errors on the positions of a file.
fn file_text(file: &FileReport) -> String {
    let names: Vec<&str> = file.baselines.iter().map(|b| b.0.as_str()).collect();
    let header = [&["rows", "positions", "RMS error", "mean abs.", "largest"], &names[..]].concat();
    let none: Vec<(String, f64)> = names.iter().map(|name| ((*name).into(), f64::NAN)).collect();
    let rows = [errors("all", &file.errors, &file.baselines), errors("for testing", &file.test, &none)];
    let note =
        format!("{} of the rows are used for training if a run learns from this file", file.for_training);
    paragraph(&header, rows, note)
}

/// The file of positions with their values.
fn valued_text(valued: &Valued) -> String {
    format!(
        "\n{} positions with their values, on average {:+.4}{} for the player to move: {}\n",
        valued.rows,
        valued.mean,
        valued.mean_win_probability.map_or_else(String::new, |p| format!(" (P(win) {p:.4})")),
        valued.path.display()
    )
}

/// Errors and lost value on the positions of a file of decisions.
fn decisions_text(found: &DecisionsReport) -> String {
    let row = |row: &DecisionsRow| {
        let (rms, loss) = (format!("{:.6}", row.rms), format!("{:.3e}", row.loss_per_decision));
        vec![row.name.clone(), rms, loss, format!("{:.4} %", 100.0 * row.wrong_share)]
    };
    let note = format!(
        "{} positions and all their rolls: {} unforced decisions, weighted by their probability",
        found.positions, found.decisions
    );
    let header = ["values by", "RMS error of V", "value lost per decision", "wrong"];
    paragraph(&header, found.rows.iter().map(row), note)
}

/// Errors over all positions.
fn exhaustive_text(all: &ExhaustiveReport) -> String {
    let row = |name: &str, errors: &PositionErrors| {
        let figures = [errors.rms, errors.mae, errors.max].map(|v| format!("{v:.7}"));
        [name.to_string()].into_iter().chain(figures).collect::<Vec<_>>()
    };
    let baselines = all.baselines.iter().map(|(name, errors)| row(name, errors));
    let rows = [row("this checkpoint", &all.errors)].into_iter().chain(baselines);
    let note = format!(
        "{} positions in {:.1} s, {}{}; exact values opened in {:.1} s",
        all.errors.rows,
        all.seconds,
        if all.by_halves { "first layer computed once per side" } else { "computed one by one" },
        all.nanoseconds.map_or_else(String::new, |ns| format!(" ({ns:.2} ns per value on one thread)")),
        all.opening_seconds
    );
    paragraph(&["all positions", "RMS error", "mean abs.", "largest"], rows, note)
}

/// How a mixture uses its experts.
fn experts_text(experts: &ExpertsReport) -> String {
    let used = &experts.used;
    let mut text = format!(
        "\nexperts: {} of {} live, of {} positions of {} they win {}\n",
        used.live,
        used.shares.len(),
        used.rows,
        experts.positions,
        shares(used)
    );
    let rows = [
        (used.multiply_adds.round() as usize, "multiply-adds a row", &experts.single),
        (experts.parameters, "parameters", &experts.single_of_equal_parameters),
    ];
    for (count, unit, single) in rows {
        let reached = single.trained.as_ref().map_or_else(String::new, |t| {
            let [mean, sd] = [t.rms, t.sd].map(output::short);
            format!(": {mean} ± {sd} over {} seeds of {}", t.seeds, t.name)
        });
        let _ = writeln!(
            text,
            "{count} {unit}, like a single network of {} hidden units{reached}",
            single.hidden
        );
    }
    text
}

/// Evaluations per second.
fn speed_text(speed: &[SpeedCell]) -> String {
    let rows = speed.iter().map(|c| {
        let rates = [c.evaluations_per_second, c.range.0, c.range.1].map(|v| format!("{:.2}", v / 1e6));
        [vec![c.batch.to_string()], rates.to_vec()].concat()
    });
    format!("\n{}", output::table(&["rows per call", "M evaluations/s", "slowest", "fastest"], rows))
}

/// A row of errors.
fn errors(name: &str, errors: &PositionErrors, baselines: &[(String, f64)]) -> Vec<String> {
    let PositionErrors { rms, mae, max, rows } = *errors;
    let figures = [rms, mae, max]
        .into_iter()
        .chain(baselines.iter().map(|b| b.1))
        .map(|v| if v.is_nan() { "–".into() } else { format!("{v:.5}") });
    [name.to_string(), rows.to_string()].into_iter().chain(figures).collect()
}

/// Log loss and calibration of the probabilities of outcomes.
fn calibration(found: &OutcomesReport) -> String {
    let mut text = format!(
        "\noutcomes, by {} positions: {}\nlog loss {:.4}; {:.4} by always the same probabilities, at least {:.4}\n",
        found.rows, found.from, found.log_loss, found.log_loss_constant, found.log_loss_least
    );
    let row = |class: &ClassErrors| {
        let numbers = [class.predicted, class.observed, class.rms, class.log_loss];
        [class.name.clone()].into_iter().chain(numbers.map(|v| format!("{v:.4}"))).collect::<Vec<_>>()
    };
    let header = ["outcome", "predicted", "observed", "RMS error", "log loss"];
    text.push_str(&output::table(&header, found.classes.iter().map(row)));
    let bins = found.classes.iter().flat_map(|class| class.calibration.iter().map(move |bin| (class, bin)));
    let rows = bins.map(|(class, bin)| {
        let [predicted, observed] = [bin.predicted, bin.observed].map(|share| format!("{share:.4}"));
        let range = format!("{:.1} to {:.1}", bin.from, bin.to);
        vec![class.name.clone(), range, bin.rows.to_string(), predicted, observed]
    });
    let header = ["outcome", "calibration", "positions", "predicted", "observed"];
    text + "\n" + &output::table(&header, rows)
}

/// The exact grades of greedy play.
fn grades(found: &GradeReport) -> String {
    let mut text = String::new();
    let by_seat = |seats: &[f64]| format!("{:+.3} as player 1, {:+.3} as player 2", seats[0], seats[1]);
    if let Some(grade) = &found.grade {
        let row = |name: &str, seats: &[WinDrawLoss]| {
            let percent = |share: f64| format!("{:.2}", 100.0 * share);
            let shares = seats.iter().copied().chain([WinDrawLoss::mean(seats)]);
            let cells = shares.map(|s| [s.win, s.draw, s.loss].map(percent).join("/"));
            [name.to_string()].into_iter().chain(cells).collect::<Vec<_>>()
        };
        let rows = [row("against random", &grade.random), row("against perfect", &grade.perfect)];
        let header = ["win/draw/loss, %", "as player 1", "as player 2", "both"];
        text.push_str(&output::table(&header, rows));
        let worst = &grade.best_response;
        let _ = writeln!(
            text,
            "against a best response: {}; perfect play {}{}",
            by_seat(&worst.seats),
            by_seat(&worst.best),
            if worst.optimal { ": optimal" } else { ": not optimal" }
        );
        let _ = writeln!(text, "a correct move in {:.2} % of {} states", 100.0 * grade.correct, grade.states);
    }
    if let Some(seats) = &found.sure {
        let _ = writeln!(text, "against a best response: {}", by_seat(seats));
    }
    if let Some(alone) = &found.alone {
        let moves = if alone.solved > 0.0 { format!(" in {:.1} moves", alone.moves) } else { String::new() };
        let _ = writeln!(
            text,
            "solves the game from its start in {:.0} % of games{moves}; the shortest solution has {} moves",
            100.0 * alone.solved,
            alone.optimum
        );
    }
    text
}
