//! The commands `evaluate`, `value` and `describe`.

use super::games_with;
use super::play::game_of;
use crate::args::{CheckpointArgs, DescribeArgs, EvaluateArgs, MovesArgs, PublishArgs, ValueArgs};
use crate::output::{self, say};
use adept_arena::inspect::{Input, Numbers, PositionValue, Searched};
use adept_arena::naming::{self, AgentSpec, Play};
use adept_arena::open::Prior;
use adept_arena::{MoveLoss, OpenError, WinDrawLoss};
use adept_game::{Difference, Worth, score_text};
use adept_ground::{files::Files, limits};
use adept_lab::Catalogue;
use adept_lab::checkpoints;
use adept_lab::measure::{
    self, ClassErrors, DecisionsRow, EvaluateOptions, GradeReport, Kinds, OutcomesReport,
};
use adept_lab::publish::{self, PublishOptions, shares};
use adept_lab::tournament::{percent, shown};
use adept_model::checkpoint;
use adept_model::{Explanation, OutcomeClass};
use adept_trainer::config::Config;
use adept_trainer::positions::PositionErrors;
use adept_trainer::run::Match;
use anyhow::{Result, bail};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Compares an agent with recorded decisions.
fn recorded(games: &dyn Catalogue, args: &EvaluateArgs, file: &Path, as_json: bool) -> Result<()> {
    let agent = args.of.checkpoint.to_string_lossy();
    let found = checkpoints::recorded(games, args.game.as_deref(), &agent, file)?;
    if as_json {
        return output::json(&json!({ "agent": agent, "recorded": found }));
    }
    let mut text = format!(
        "{agent} agrees on {} of {} recorded decisions, {:.2} %\n",
        found.agree,
        found.rows,
        100.0 * found.share
    );
    if !found.differences.is_empty() {
        let row = |d: &Difference| {
            vec![d.line.to_string(), d.position.clone(), d.recorded.clone(), d.chosen.clone()]
        };
        let rows: Vec<Vec<String>> = found.differences.iter().map(row).collect();
        text.push('\n');
        text.push_str(&output::table(&["line", "position", "recorded", "agent"], &rows));
    }
    output::text(&text)
}

pub(crate) fn evaluate(games: &dyn Catalogue, args: &EvaluateArgs, as_json: bool) -> Result<()> {
    let (path, search) = match args.of.checkpoint.to_str().map(AgentSpec::parse) {
        Some(Ok(AgentSpec::Model {
            play: Play::Greedy,
            search: Some(options),
            screen: None,
            tables: None,
            name,
        })) => (PathBuf::from(name), Some(options)),
        Some(Ok(AgentSpec::Model { play: Play::Epsilon(_) | Play::Boltzmann(_), .. })) => {
            let message = format!(
                "`{}` varies its play: `evaluate` measures checkpoints and searches such as `search:4:NAME`, and \
                 `adept arena` agents against each other",
                args.of.checkpoint.display()
            );
            return Err(OpenError::Unknown(message).into());
        }
        Some(Ok(AgentSpec::Model { tables: Some(_), .. } | AgentSpec::Model { screen: Some(_), .. })) => {
            let message = format!(
                "`{}` plays by more than its checkpoint: `adept arena` measures it against other agents",
                args.of.checkpoint.display()
            );
            return Err(OpenError::Unknown(message).into());
        }
        Some(Err(why)) => return Err(OpenError::Unknown(why).into()),
        _ => (args.of.checkpoint.clone(), None),
    };
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
    if as_json {
        return output::json(&report);
    }
    let ahead = options.search.as_ref().map_or_else(String::new, |search| format!("search:{search}:"));
    let of = report.checkpoint.display();
    let mut text = format!("{ahead}{of} ({}, {} {})\n", report.game, report.step, report.unit);
    if let Some(equity) = &report.equity {
        let rows: Vec<Vec<String>> = equity
            .opponents
            .iter()
            .map(|(name, e)| {
                let (first, last) = (e.seats[0], e.seats[e.seats.len() - 1]);
                vec![name.clone(), format!("{:+.6}", e.equity), format!("{first:+.6}"), format!("{last:+.6}")]
            })
            .collect();
        text.push('\n');
        text.push_str(&output::table(&["exact equity against", "equity", "as first", "as second"], &rows));
        let _ = writeln!(
            text,
            "against {}: random play {:+.6}, best possible {:+.6}",
            equity.against, equity.baseline.random, equity.baseline.optimal
        );
        if let Some(usage) = &equity.usage {
            let shares: Vec<String> = usage.share.iter().map(|s| format!("{:.1} %", 100.0 * s)).collect();
            let _ = writeln!(text, "experts run on {} of {} evaluations", shares.join(", "), usage.rows);
        }
    }
    if let Some(found) = &report.grade {
        text.push('\n');
        text.push_str(&grades(found));
    }
    if let Some(rms) = &report.rms {
        let _ = writeln!(
            text,
            "\n{}: RMS error of V {:.6}, of the probability to win {:.6}; {} test positions, {} of them distinct{}",
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
            let rows: Vec<Vec<String>> =
                list.iter().map(|e| errors(&e.name, &e.errors, &e.baselines)).collect();
            text.push('\n');
            text.push_str(&output::table(&header, &rows));
        }
        let _ = writeln!(text, "of each class: {}", rms.class_positions);
        text.push_str("columns after the largest error: RMS errors of baselines that do not learn\n");
    }
    if let Some(moves) = &report.move_loss {
        let row = |name: &str, loss: &MoveLoss| {
            vec![
                name.to_string(),
                format!("{:.3e}", loss.loss_per_decision),
                format!("{:.4} %", 100.0 * loss.wrong_share),
            ]
        };
        let mut rows = vec![row("this checkpoint", &moves.loss)];
        rows.extend(moves.baselines.iter().map(|(name, loss)| row(name, loss)));
        text.push('\n');
        text.push_str(&output::table(&["choices by", "value lost per decision", "wrong"], &rows));
        let _ = writeln!(
            text,
            "{} unforced decisions, all rolls of positions of the distribution {}, weighted by their probability",
            moves.loss.decisions, moves.distribution
        );
    }
    if let Some(matches) = &report.matches {
        let unit = matches.first.unit.as_deref();
        let row = |m: &Match| {
            let [score, low, high] = [m.score, m.ci95[0], m.ci95[1]].map(|v| shown(v, unit.is_some()));
            let differ = m.distinct.map_or_else(String::new, |distinct| distinct.to_string());
            vec![m.against.clone(), m.games.to_string(), differ, score, format!("{low} … {high}")]
        };
        let rows: Vec<Vec<String>> = matches.opponents.iter().map(row).collect();
        text.push('\n');
        let what = unit.map_or("points per game".into(), |unit| format!("{unit} per game"));
        text.push_str(&output::table(&["against", "games", "differ", &what, "95 %"], &rows));
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
        let rows: Vec<Vec<String>> = ended.clone().map(of).collect();
        if let Some(first) = ended.clone().next() {
            let names: Vec<String> = first.classes.0.iter().map(|(name, _)| name.replace('_', " ")).collect();
            let header: Vec<&str> =
                ["against, %"].into_iter().chain(names.iter().map(String::as_str)).collect();
            text.push_str(&format!("\n{}\n", output::table(&header, &rows)));
        }
        text.push_str(match unit {
            Some(_) => "opponents take all other seats; every deal is played in each seat\n",
            None => {
                "opponents take all other seats; 1 point for a win, ½ for a draw, a share for a shared win\n"
            }
        });
    }
    if let Some(found) = &report.exploitability {
        let _ = writeln!(
            text,
            "\nexploitability, (br₀ + br₁) / 2 in units of utility: {:.6}; of random play {:.6}\n\
             value for the first player if it plays itself: {:+.6}; {} decisions",
            found.exploitability, found.random, found.value, found.decisions
        );
    }
    if let Some(file) = &report.positions {
        let names: Vec<&str> = file.baselines.iter().map(|b| b.0.as_str()).collect();
        let header = [&["rows", "positions", "RMS error", "mean abs.", "largest"], &names[..]].concat();
        let none: Vec<(String, f64)> = names.iter().map(|name| ((*name).into(), f64::NAN)).collect();
        let rows = [errors("all", &file.errors, &file.baselines), errors("for testing", &file.test, &none)];
        text.push('\n');
        text.push_str(&output::table(&header, &rows));
        let _ = writeln!(
            text,
            "{} of the rows are used for training if a run learns from this file",
            file.for_training
        );
    }
    if let Some(valued) = &report.valued {
        let _ = writeln!(
            text,
            "\n{} positions with their values, on average {:+.4}{} for the player to move: {}",
            valued.rows,
            valued.mean,
            valued.mean_win_probability.map_or_else(String::new, |p| format!(" (P(win) {p:.4})")),
            valued.path.display()
        );
    }
    if let Some(found) = &report.decisions {
        let row = |row: &DecisionsRow| {
            vec![
                row.name.clone(),
                format!("{:.6}", row.rms),
                format!("{:.3e}", row.loss_per_decision),
                format!("{:.4} %", 100.0 * row.wrong_share),
            ]
        };
        let rows: Vec<Vec<String>> = found.rows.iter().map(row).collect();
        text.push('\n');
        text.push_str(&output::table(
            &["values by", "RMS error of V", "value lost per decision", "wrong"],
            &rows,
        ));
        let _ = writeln!(
            text,
            "{} positions and all their rolls: {} unforced decisions, weighted by their probability",
            found.positions, found.decisions
        );
    }
    if let Some(all) = &report.exhaustive {
        let row = |name: &str, errors: &PositionErrors| {
            let figures = [errors.rms, errors.mae, errors.max].map(|v| format!("{v:.7}"));
            [name.to_string()].into_iter().chain(figures).collect::<Vec<_>>()
        };
        let mut rows = vec![row("this checkpoint", &all.errors)];
        rows.extend(all.baselines.iter().map(|(name, errors)| row(name, errors)));
        text.push('\n');
        text.push_str(&output::table(&["all positions", "RMS error", "mean abs.", "largest"], &rows));
        let _ = writeln!(
            text,
            "{} positions in {:.1} s, {}{}; exact values opened in {:.1} s",
            all.errors.rows,
            all.seconds,
            if all.by_halves { "first layer computed once per side" } else { "computed one by one" },
            all.nanoseconds.map_or_else(String::new, |ns| format!(" ({ns:.2} ns per value on one thread)")),
            all.opening_seconds
        );
    }
    if let Some(outcomes) = &report.outcomes {
        text.push_str(&calibration(outcomes));
    }
    if let Some(experts) = &report.experts {
        let used = &experts.used;
        let _ = writeln!(
            text,
            "\nexperts: {} of {} live, of {} positions of {} they win {}",
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
    }
    if let Some(speed) = &report.speed {
        let rows: Vec<Vec<String>> = speed
            .iter()
            .map(|c| {
                let million = |v: f64| format!("{:.2}", v / 1e6);
                vec![
                    c.batch.to_string(),
                    million(c.evaluations_per_second),
                    million(c.range.0),
                    million(c.range.1),
                ]
            })
            .collect();
        text.push('\n');
        text.push_str(&output::table(&["rows per call", "M evaluations/s", "slowest", "fastest"], &rows));
    }
    output::text(&text)
}

fn errors(name: &str, errors: &PositionErrors, baselines: &[(String, f64)]) -> Vec<String> {
    let PositionErrors { rms, mae, max, rows } = *errors;
    let figures = [rms, mae, max]
        .into_iter()
        .chain(baselines.iter().map(|b| b.1))
        .map(|v| if v.is_nan() { "–".into() } else { format!("{v:.5}") });
    [name.to_string(), rows.to_string()].into_iter().chain(figures).collect()
}

pub(crate) fn publish(games: &dyn Catalogue, args: &PublishArgs, as_json: bool) -> Result<()> {
    let options = PublishOptions {
        best: args.best,
        move_loss: args.move_loss,
        notes: args.note.clone(),
        rivals: args.rival.clone(),
    };
    let (run, out) = match (&args.refresh, &args.run, &args.out) {
        (None, Some(run), Some(out)) => (run, out),
        (folder, ..) => {
            let folder = folder.clone().unwrap_or_default();
            let card = match &args.strength {
                Some(strength) => publish::note_strength(&folder, strength)?,
                None => publish::refresh(games, &folder)?,
            };
            if as_json {
                let weak = Kinds::beside(&folder).map_or_else(Vec::new, |kinds| kinds.weaknesses());
                return output::json(&json!({ "path": folder, "weak": weak }));
            }
            return output::file(&card);
        }
    };
    let published = publish::publish(games, run, out, &options)?;
    if as_json {
        output::json(&published)?;
    } else {
        output::file(&limits::read_text(&published.card, limits::CONFIG_BYTES)?)?;
        say(format!("published: {}", published.path.display()));
    }
    if !published.weak.is_empty() {
        let places: Vec<&str> = published.weak.iter().map(|w| w.positions.as_str()).collect();
        say(format!(
            "warning: a formula of the game is more accurate on {}: its card says so first, and its name should not promise more",
            places.join(" and ")
        ));
    }
    Ok(())
}

pub(crate) fn value(games: &dyn Catalogue, args: &ValueArgs, as_json: bool) -> Result<()> {
    let read = (&args.positions[..], args.file.as_deref());
    let values = values_of(games, &args.of, args.game.as_deref(), read, args.inputs)?;
    if as_json {
        return output::json(&json!({ "values": values }));
    }
    output::text(&values.iter().map(value_text).collect::<Vec<_>>().join("\n"))
}

pub(crate) fn moves(games: &dyn Catalogue, args: &MovesArgs, as_json: bool) -> Result<()> {
    let position = match &args.dice {
        Some(dice) => format!("{} {dice}", args.position.trim()),
        None => args.position.clone(),
    };
    let values = values_of(games, &args.of, args.game.as_deref(), (&[position], None), false)?;
    let Some(found) = values.first() else { bail!("there is no position") };
    if found.moves.is_empty() {
        match (&found.next, found.to_move) {
            (_, None) => bail!("{}: the game is over, so there are no moves", found.position),
            (Some(next), _) => bail!(
                "{}: a chance event comes first, such as a roll: write it after the position, as in \"{next}\"",
                found.position
            ),
            (None, _) => {
                bail!("{}: a chance event comes first: give a position with a player to move", found.position)
            }
        }
    }
    if as_json {
        return output::json(
            &json!({ "position": found.position, "to_move": found.to_move, "moves": found.moves }),
        );
    }
    output::text(&value_text(found))
}

/// What a checkpoint or an agent thinks of positions, given as texts and in a file.
fn values_of(
    games: &dyn Catalogue,
    of: &CheckpointArgs,
    game: Option<&str>,
    (positions, file): (&[String], Option<&Path>),
    inputs: bool,
) -> Result<Vec<PositionValue>> {
    let agent = of.checkpoint.to_string_lossy();
    if is_checkpoint(games, &agent)? {
        return Ok(checkpoints::value(games, &of.checkpoint, of.best, positions, file, inputs)?);
    }
    if inputs {
        bail!("`{agent}` is not a checkpoint: leave out --inputs");
    }
    Ok(game_of(games, &agent, game, of.best)?.value_by(&agent, of.best, positions, file)?)
}

/// Whether a name stands for a checkpoint itself, or for nothing: then the error is about a checkpoint.
fn is_checkpoint(games: &dyn Catalogue, name: &str) -> Result<bool> {
    let spec = AgentSpec::parse(name).map_err(OpenError::Unknown)?;
    let is_own = |name: &str| !games_with(games, name).is_empty();
    Ok(matches!(spec, AgentSpec::Named(_)) && (naming::folder_of(name, is_own)?.is_some() || !is_own(name)))
}

/// A value of a position and its moves, for people.
fn value_text(value: &PositionValue) -> String {
    let (v, p) = (value.value, value.worth.after_comma(4));
    let said = match value.to_move {
        None => format!("over, {v:+.3} for player 1{p}"),
        Some(player) if value.moves.iter().any(|m| m.probability.is_some()) => {
            format!("player {player} to move; logits and probabilities")
        }
        Some(player) if value.moves.is_empty() => format!("{v:+.4} for player {player}{p}"),
        Some(player) => format!("{v:+.4} for player {player}, to move{p}: the best of the moves below"),
    };
    let said = match &value.search {
        Some(search) => format!("{said}\n  {}", searched(search)),
        None => said,
    };
    // A long position has a line of its own.
    let mut text = format!("{}: {said}\n", value.position);
    if text.trim_end().chars().count() > output::COLUMNS {
        text = format!("{}:\n  {said}\n", value.position);
    }
    if let Some(next) = &value.next {
        let _ = writeln!(
            text,
            "  a chance event comes first; for moves, value what follows it, such as\n  \"{next}\""
        );
    }
    let term = value.worth.unit.clone();
    // Without experts, before a chance event, this is the same number with the other sign.
    if let Some(after) = &value.after
        && (!value.moves.is_empty() || !after.gates.is_empty() || !after.outcomes.is_empty())
    {
        let _ = write!(
            text,
            "  the network's value of the position itself, for the player who just moved: {:+.4}{}",
            after.value,
            score(after.score, term.as_deref())
        );
        // Many classes take lines of their own.
        let (classes, outcomes) = (&value.classes, &after.outcomes);
        let (line, indent) = if classes.len() > NAMED { (NAMED, "\n  ") } else { (NAMED, "") };
        for (classes, outcomes) in classes.chunks(line).zip(outcomes.chunks(line)) {
            let _ = write!(text, "{indent}{}", outcomes_text(classes, outcomes));
        }
        text.push('\n');
        experts(after, (2, term.as_deref()), &mut text);
    }
    if !value.inputs.is_empty() {
        text.push_str("  the row of the position itself, for the player who just moved\n");
        inputs_text(&value.inputs, &mut text);
    }
    let unit = term;
    let width = value.moves.iter().map(|m| m.action.chars().count()).max().unwrap_or(0).max(6);
    // Names stand beside few probabilities, above many.
    let above = value.classes.len() > NAMED && value.moves.iter().any(|m| !m.explanation.outcomes.is_empty());
    let columns = if above { Heading::of(&value.classes) } else { Heading::default() };
    let term = value.moves.first().and_then(|m| match &m.worth {
        Worth { win_probability: Some(_), .. } => Some("P(win)"),
        Worth { unit, .. } => unit.as_deref(),
    });
    let score_width = term.map_or(0, |term| if term == "P(win)" { 6 } else { term.chars().count().max(7) });
    if above || term.is_some() {
        let indent = 2 + width + 1 + term.map_or(7, |_| 9 + score_width);
        columns.write(indent, &mut text);
        let term = term.map_or_else(String::new, |term| format!("  {term:>score_width$}"));
        let _ = writeln!(text, "  {:<width$}       V{term}{}", "move", columns.last());
    }
    for m in &value.moves {
        let share = m.probability.map_or(String::new(), |p| format!("  {:.1} %", 100.0 * p));
        let won = match (m.worth.win_probability, m.worth.score) {
            (Some(p), _) => format!("  {p:>score_width$.4}"),
            (None, Some(score)) if score.abs() < 10.0 => format!("  {score:>+score_width$.4}"),
            (None, Some(score)) => format!("  {score:>+score_width$.0}"),
            (None, None) => String::new(),
        };
        let outcomes = match above {
            true => columns.percentages(&m.explanation.outcomes),
            false => outcomes_text(&value.classes, &m.explanation.outcomes),
        };
        let error = m.ci95.map_or_else(String::new, |half| format!("  ±{half:.4}"));
        let _ =
            writeln!(text, "  {:<width$} {:+.4}{won}{error}{share}{outcomes}", m.action, m.explanation.value);
        experts(&m.explanation, (2, unit.as_deref()), &mut text);
        if !m.inputs.is_empty() {
            inputs_text(&m.inputs, &mut text);
        }
    }
    text
}

/// What a search did, for people.
fn searched(search: &Searched) -> String {
    let Searched { plies, nodes, solved, line, shortfall, .. } = search;
    let depth = match shortfall {
        Some(why) => why.clone(),
        None if *solved => "searched to the end".into(),
        None => format!("{plies} plies deep"),
    };
    let line = if line.len() > 1 { format!("; expects {}", line.join(", ")) } else { String::new() };
    format!("{depth}, {nodes} positions valued{line}")
}

/// Classes that are named beside each of their probabilities, at most.
const NAMED: usize = 3;

/// The names of classes above columns of probabilities, a word a line.
#[derive(Default)]
struct Heading {
    /// The words of each class, from the last.
    words: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Heading {
    fn of(classes: &[String]) -> Self {
        let words = |name: &String| name.rsplit('_').map(String::from).collect::<Vec<_>>();
        let words: Vec<Vec<String>> = classes.iter().map(words).collect();
        let width = |words: &Vec<String>| words.iter().map(|word| word.chars().count()).fold(5, usize::max);
        Self { widths: words.iter().map(width).collect(), words }
    }

    /// A line of the heading, counted from the last.
    fn line(&self, line: usize) -> String {
        let cell = |(words, width): (&Vec<String>, &usize)| {
            format!(" {:>width$}", words.get(line).map_or("", |word| word))
        };
        self.words.iter().zip(&self.widths).map(cell).collect()
    }

    /// Writes all lines but the last.
    fn write(&self, indent: usize, text: &mut String) {
        let lines = self.words.iter().map(Vec::len).max().unwrap_or(0);
        for line in (1..lines).rev() {
            let _ = writeln!(text, "{:indent$}{}", "", self.line(line));
        }
    }

    fn last(&self) -> String {
        self.line(0)
    }

    /// Probabilities in per cent.
    fn percentages(&self, outcomes: &[f32]) -> String {
        let cell = |(p, width): (&f32, &usize)| format!(" {:>width$.2}", 100.0 * p);
        outcomes.iter().zip(&self.widths).map(cell).collect()
    }
}

/// The probability of each class of outcomes.
fn outcomes_text(classes: &[String], outcomes: &[f32]) -> String {
    let share = |(class, p): (&String, &f32)| format!("  {class} {:.2} %", 100.0 * p);
    classes.iter().zip(outcomes).map(share).collect()
}

/// The numbers of a row by channel, eight a line, each line with the place of its first number in the channel.
fn inputs_text(inputs: &[Input], text: &mut String) {
    const NUMBERS: usize = 8;
    let short = |v: &f32| match v.abs() {
        whole if whole.fract() == 0.0 => v.to_string(),
        tiny if tiny < 5e-4 => format!("{v:.0e}"),
        _ => format!("{v:.4}"),
    };
    for input in inputs {
        let numbers: Vec<String> = match &input.values {
            Numbers::Real(values) => values.iter().map(short).collect(),
            Numbers::Whole(values) => values.iter().map(u64::to_string).collect(),
        };
        let meaning = input.text.as_ref().map_or(String::new(), |text| format!(": {text}"));
        let _ = writeln!(text, "    {} ({}){meaning}", input.name, input.kind);
        for (i, line) in numbers.chunks(NUMBERS).enumerate() {
            let cells: Vec<String> = line.iter().map(|number| format!("{number:>7}")).collect();
            let _ = writeln!(text, "    {:>4}: {}", i * NUMBERS, cells.join(" ").trim_end());
        }
    }
}

/// Log loss and calibration of the probabilities of outcomes.
fn calibration(found: &OutcomesReport) -> String {
    let mut text = format!("\noutcomes, by {} positions: {}\n", found.rows, found.from);
    let _ = writeln!(
        text,
        "log loss {:.4}; {:.4} by always the same probabilities, at least {:.4}",
        found.log_loss, found.log_loss_constant, found.log_loss_least
    );
    let row = |class: &ClassErrors| {
        let numbers = [class.predicted, class.observed, class.rms, class.log_loss];
        [class.name.clone()].into_iter().chain(numbers.map(|v| format!("{v:.4}"))).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = found.classes.iter().map(row).collect();
    text.push_str(&output::table(&["outcome", "predicted", "observed", "RMS error", "log loss"], &rows));
    let mut rows = Vec::new();
    for class in &found.classes {
        for bin in &class.calibration {
            rows.push(vec![
                class.name.clone(),
                format!("{:.1} to {:.1}", bin.from, bin.to),
                bin.rows.to_string(),
                format!("{:.4}", bin.predicted),
                format!("{:.4}", bin.observed),
            ]);
        }
    }
    text.push('\n');
    text.push_str(&output::table(&["outcome", "calibration", "positions", "predicted", "observed"], &rows));
    text
}

/// The exact grades of greedy play.
fn grades(found: &GradeReport) -> String {
    let mut text = String::new();
    let sure = |seats: &[f64]| format!("{:+.3} as player 1, {:+.3} as player 2", seats[0], seats[1]);
    if let Some(grade) = &found.grade {
        let row = |name: &str, seats: &[WinDrawLoss]| {
            let percent = |share: f64| format!("{:.2}", 100.0 * share);
            let shares = seats.iter().copied().chain([WinDrawLoss::mean(seats)]);
            let cells = shares.map(|s| [s.win, s.draw, s.loss].map(percent).join("/"));
            [name.to_string()].into_iter().chain(cells).collect::<Vec<_>>()
        };
        let rows = [row("against random", &grade.random), row("against perfect", &grade.perfect)];
        let header = ["win/draw/loss, %", "as player 1", "as player 2", "both"];
        text.push_str(&output::table(&header, &rows));
        let worst = &grade.best_response;
        let _ = writeln!(
            text,
            "against a best response: {}; perfect play {}{}",
            sure(&worst.seats),
            sure(&worst.best),
            if worst.optimal { ": optimal" } else { ": not optimal" }
        );
        let _ = writeln!(text, "a correct move in {:.2} % of {} states", 100.0 * grade.correct, grade.states);
    }
    if let Some(seats) = &found.sure {
        let _ = writeln!(text, "against a best response: {}", sure(seats));
    }
    if let Some(alone) = &found.alone {
        let moves = match alone.solved > 0.0 {
            true => format!(" in {:.1} moves", alone.moves),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "solves the game from its start in {:.0} % of games{moves}; the shortest solution has {} moves",
            100.0 * alone.solved,
            alone.optimum
        );
    }
    text
}

/// A value in the unit of the game, beside the value itself.
fn score(score: Option<f64>, unit: Option<&str>) -> String {
    let text = |(score, unit): (f64, &str)| format!(", {} {unit}", score_text(score, 4));
    score.zip(unit).map_or_else(String::new, text)
}

/// The experts of a node, with their values in this unit too.
fn experts(explanation: &Explanation, (depth, unit): (usize, Option<&str>), text: &mut String) {
    for (i, (gate, expert)) in explanation.gates.iter().zip(&explanation.experts).enumerate() {
        let indent = "  ".repeat(depth);
        let number = i + 1;
        let module = expert.as_ref().and_then(|e| e.name.as_ref());
        let named = module.map_or_else(|| format!("expert {number}"), |name| format!("module {name}"));
        match expert {
            Some(e) => {
                let score = score(e.score, unit);
                let _ = writeln!(text, "{indent}  {named}: weight {gate:.3}, value {:+.4}{score}", e.value);
                experts(e, (depth + 1, unit), text);
            }
            // If a rule picks one of nine experts, lines for the eight idle ones are not useful.
            None if explanation.gates.len() <= 4 => {
                let _ = writeln!(text, "{indent}  expert {number}: idle");
            }
            None => {}
        }
    }
}

pub(crate) fn describe(games: &dyn Catalogue, args: &DescribeArgs, as_json: bool) -> Result<()> {
    if let Some(count) = args.rules {
        let rules = checkpoints::rules(games, &args.checkpoint, args.best, count)?;
        if as_json {
            return output::json(&serde_json::json!({ "rules": rules }));
        }
        let sentence = |rule: &measure::Rule| {
            format!("{}\n  then create a numeric preference of {:.4}\n", rule.text, rule.value)
        };
        return output::text(&rules.iter().map(sentence).collect::<String>());
    }
    if args.checkpoint.extension().is_some_and(|extension| extension == "toml") {
        super::config::note_paths::<Config>(&args.checkpoint, &[], games);
    }
    let d = checkpoints::describe(games, &args.checkpoint, args.best)?;
    if as_json {
        return output::json(&d);
    }
    let mut text = match &d.checkpoint {
        Some(path) => format!(
            "{}, {} {}, seed {}, by revision {}\n{}\n",
            d.name,
            d.step,
            d.unit,
            d.seed,
            d.revision,
            path.display()
        ),
        None => format!("{}, not trained\n", d.name),
    };
    let _ = writeln!(text, "\ngame {}, encoder {}", d.game, d.encoder);
    for channel in &d.channels {
        text.push_str(&output::channel(&channel.name, &channel.kind.to_string(), &channel.about));
    }
    if let Some(classes) = d.head.classes() {
        let class = |class: &OutcomeClass| format!("{} ({:+})", class.name, class.utility);
        let classes: Vec<String> = classes.iter().map(class).collect();
        text.push_str(&output::entry("outcomes", 9, &classes.join(", ")));
    }
    if let Some(quantised) = &d.quantised {
        let of = Prior::pin(&quantised.of);
        let text_of =
            format!("{} from the checkpoint {of}: {}", quantised.scheme, output::quantised(quantised));
        text.push_str(&output::entry("quantised", 9, &text_of));
    }
    let s = &d.size;
    let adds = if s.multiply_adds == s.multiply_adds_least {
        s.multiply_adds.to_string()
    } else {
        format!("{} to {}", s.multiply_adds_least, s.multiply_adds)
    };
    let _ = writeln!(
        text,
        "\n{} parameters, {} bytes, {adds} multiply-adds per evaluation\n",
        s.parameters, s.bytes
    );
    let rows: Vec<Vec<String>> = s
        .tensors
        .iter()
        .map(|t| vec![t.name.clone(), format!("{:?}", t.shape), t.group.clone(), format!("{}", t.rate)])
        .collect();
    text.push_str(&output::table(&["tensor", "shape", "group", "rate ×"], &rows));
    let _ = writeln!(text, "\n{}", s.ops.join("\n"));
    output::text(&text)
}
