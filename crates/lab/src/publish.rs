//! Publishes checkpoints: weights without the training state, and a card with documentation.

use crate::catalogue::Catalogue;
use crate::checkpoints;
use crate::compare::folders;
use crate::curves::References;
use crate::measure::{
    Described, ErrorsOf, EvaluateOptions, ExpertsReport, Kinds, Report, RmsReport, Suite, Weakness,
};
use crate::pack;
use crate::statistics::{mean_sd, plus_minus};
use adept_ground::{files::Files, limits, shown::printable};
use adept_model::checkpoint::{self, Manifest, Rival, Strength};
use adept_model::{Description, ExpertUse, ModelError};
use adept_trainer::config::{Config, Examples, Figure, MeasuredOn};
use adept_trainer::run::{Record, Score, TrainError, record_of};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Options of publishing.
#[derive(Clone, Debug, Default)]
pub struct PublishOptions {
    /// Use the checkpoint chosen by validation (or equity) instead of the last one.
    pub best: bool,
    /// Also measure the value lost by choices.
    pub move_loss: bool,
    /// Notes for users, shown with the figures.
    pub notes: Vec<String>,
    /// Finished runs of networks for comparison, such as a single network of the same cost: run folders or names.
    pub rivals: Vec<PathBuf>,
}

/// A published checkpoint.
#[derive(Debug, Serialize)]
pub struct Published {
    /// Its folder.
    pub path: PathBuf,
    /// The run that it comes from.
    pub run: PathBuf,
    /// Its card.
    pub card: PathBuf,
    /// Runs whose figures are on the card.
    pub runs: Vec<PathBuf>,
    /// Mean of their figures.
    pub mean: f64,
    /// Standard deviation of their figures.
    pub sd: f64,
    /// Positions on which a formula of the game is more accurate.
    pub weak: Vec<Weakness>,
}

/// File name of a card.
const CARD: &str = "card.md";

/// Publishes a finished run: copies its checkpoint without the training state, and writes a card beside it.
///
/// `given` is a run folder, or a name whose seeds are all on the card. The checkpoint then comes from the
/// lowest seed, so that it is not chosen for being lucky.
///
/// # Errors
/// If the run is missing or not finished, or the output folder already exists.
pub fn publish(
    games: &dyn Catalogue,
    given: &Path,
    out: &Path,
    options: &PublishOptions,
) -> Result<Published, TrainError> {
    let mut runs = finished(given)?;
    runs.sort_by_key(|(_, record)| record.seed);
    if let [(first, one), rest @ ..] = &runs[..]
        && let Some((path, other)) = rest.iter().find(|(_, r)| {
            let config = r.config_beside(&one.config, one.folder.as_deref());
            !Config { seed: one.seed, ..config }.same_experiment(&one.config)
                || r.extended != one.extended
                || r.changed != one.changed
        })
    {
        let of_one_seed = Config { seed: one.seed, ..other.config.clone() };
        let mut differences = one.config.differences(&of_one_seed);
        if differences.is_empty() {
            differences = match one.changed == other.changed {
                true => "made longer at other steps".into(),
                false => "with other settings changed while they learned".into(),
            };
        }
        let (first, path) = (first.display(), path.display());
        let message = format!(
            "holds runs of several experiments, {first} and {path} ({differences}): name one of them"
        );
        return Err(TrainError::Folder { path: given.into(), message });
    }
    let Some((run, record)) = runs.first() else {
        let message =
            "holds no finished run: give a run folder, or a name as `adept runs list` shows it".into();
        return Err(TrainError::Folder { path: given.into(), message });
    };
    if out.exists() {
        let message = "already exists: remove it, or choose another folder".into();
        return Err(TrainError::Folder { path: out.into(), message });
    }
    let mut checkpoint = checkpoint::read(&checkpoint::locate(run, options.best)?)?;
    for path in &options.rivals {
        checkpoint.manifest.rivals.push(rival(games, path, record, options.best)?);
    }
    let config = for_others(record, &mut checkpoint.manifest)?;
    pack::write(&Files::default(), out, checkpoint)?;
    let published = document(games, out, &runs, config, options);
    if published.is_err() {
        // Nothing is published without a card. The first error is the one to report.
        let _ = Files::default().remove(out);
    }
    published
}

/// Measures the packed checkpoint and writes its card.
fn document(
    games: &dyn Catalogue,
    out: &Path,
    runs: &[(PathBuf, Record)],
    config: Config,
    options: &PublishOptions,
) -> Result<Published, TrainError> {
    let (run, record) = &runs[0];
    // Measure the checkpoint itself. Results of games against opponents come from the runs.
    let main = record.config.figure().filter(|figure| figure.measured_on() != MeasuredOn::Games);
    let mut suites: Vec<Suite> = main.map(Figure::suite).into_iter().collect();
    suites.extend(options.move_loss.then_some(Suite::MoveLoss));
    suites.push(Suite::Speed);
    let measure = |suites: Vec<Suite>| {
        let options = EvaluateOptions { suites, outcomes: true, ..Default::default() };
        checkpoints::evaluate(games, out, false, &options)
    };
    let report = match measure(suites.clone()) {
        // The game has no exact values, but the run measured a file of them.
        Err(_) if suites.contains(&Suite::Rms) && of_file(record) => {
            suites.retain(|suite| *suite != Suite::Rms);
            measure(suites)
        }
        other => other,
    }?;
    let described = checkpoints::describe(games, out, false)?;
    let summary = mean_sd(&figures_of(runs, options.best));
    let manifest = checkpoint::manifest(out)?;
    // The manifest has the names of packed files.
    let game = Config::from_saved(manifest.config.clone()).map_or(config.game, |packed| packed.game);
    let measured = Measured { report: &report, described: &described, manifest: &manifest };
    let text = card(runs, options, measured, &Config { game, ..config })?;
    let kinds = kinds_of(report.rms.as_ref());
    if let Some(kinds) = &kinds {
        kinds.write(&Files::default(), out)?;
    }
    let card = out.join(CARD);
    // Cards are also read in terminals, and names and notes are untrusted text.
    Files::default().replace(&card, printable(&text).as_bytes())?;
    Ok(Published {
        path: out.into(),
        run: run.clone(),
        card,
        mean: summary.mean,
        sd: summary.sd,
        weak: kinds.map_or_else(Vec::new, |kinds| kinds.weaknesses()),
        runs: runs.iter().map(|(path, _)| path.clone()).collect(),
    })
}

/// The config of a run for other users, with paths relative to the current folder. The manifest receives it too, and
/// origins without this machine's paths.
fn for_others(record: &Record, manifest: &mut Manifest) -> Result<Config, TrainError> {
    let here = std::env::current_dir().map_err(ModelError::io(Path::new(".")))?;
    let config = record.config.for_others(&here, record.folder.as_deref().unwrap_or(Path::new("")));
    manifest.config = serde_json::to_value(&config).map_err(ModelError::from)?;
    for origin in manifest.init.iter_mut().filter(|origin| origin.path.is_absolute()) {
        let path = match (origin.path.strip_prefix(&here), origin.run().and_then(Path::parent)) {
            (Ok(below), _) => below,
            (_, Some(runs)) => origin.path.strip_prefix(runs).unwrap_or(&origin.path),
            (_, None) => origin.path.file_name().map_or(&*origin.path, Path::new),
        };
        origin.path = path.to_path_buf();
    }
    Ok(config)
}

/// Whether a run learns from a file of examples.
fn of_file(record: &Record) -> bool {
    matches!(record.config.learn.examples(), Some(Examples::File(_)))
}

fn score(record: &Record, best: bool) -> Option<&Score> {
    if best { record.best.as_ref() } else { record.r#final.as_ref() }
}

/// The figures of runs, at their end or of their best checkpoints.
fn figures_of(runs: &[(PathBuf, Record)], best: bool) -> Vec<f64> {
    runs.iter().filter_map(|(_, r)| score(r, best)).map(Score::figure).collect()
}

/// The finished runs of a folder or name.
fn finished(given: &Path) -> Result<Vec<(PathBuf, Record)>, TrainError> {
    let mut runs = Vec::new();
    for path in folders(given)? {
        runs.extend(record_of(&path)?.filter(|record| record.finished).map(|record| (path, record)));
    }
    Ok(runs)
}

/// What was measured, what the network is, and what its manifest says.
#[derive(Clone, Copy)]
struct Measured<'a> {
    report: &'a Report,
    described: &'a Described,
    manifest: &'a Manifest,
}

/// The card of a network.
fn card(
    runs: &[(PathBuf, Record)],
    options: &PublishOptions,
    measured: Measured<'_>,
    config: &Config,
) -> Result<String, TrainError> {
    let Measured { report, described, manifest } = measured;
    let (_, record) = &runs[0];
    let mut text = format!("# {}\n\n{}\n\n", config.name, config.about);
    text.push_str(&facts(runs, options, measured, config));
    text.push('\n');
    text.push_str(&kinds_of(report.rms.as_ref()).map_or_else(String::new, |kinds| not_for(&kinds)));
    text.push_str("## Figures\n\n");
    text.push_str(&figures(record, options.best, report));
    text.push_str(&results(runs, options.best, config));
    text.push_str(&beside(runs, options.best, report.experts.as_ref(), &described.size, &manifest.rivals));
    if let Some(speed) = &report.speed {
        let rates: Vec<String> = speed
            .iter()
            .map(|c| format!("{:.2} million at {}", c.evaluations_per_second / 1e6, c.batch))
            .collect();
        let _ = writeln!(
            text,
            "Evaluations a second on one core of the machine that published it, by rows per call: {}.\n",
            rates.join(", ")
        );
    }
    let weak = text.len();
    text.extend(report.rms.as_ref().and_then(|rms| worst(&rms.distributions)));
    options.notes.iter().for_each(|note| {
        let _ = writeln!(text, "- {note}");
    });
    if text.len() > weak {
        text.insert_str(weak, "## Known weaknesses\n\n");
    }
    text.push_str(&to_repeat(runs, manifest, config)?);
    Ok(text)
}

/// The facts at the head of a card.
fn facts(
    runs: &[(PathBuf, Record)],
    options: &PublishOptions,
    measured: Measured<'_>,
    config: &Config,
) -> String {
    let Measured { report, described, manifest } = measured;
    let ((_, record), size, unit) = (&runs[0], &described.size, config.learn.unit());
    let mut text = String::new();
    let step = score(record, options.best).map_or(record.step, |s| s.step);
    let chosen = match (options.best, config.measured_on()) {
        (true, Some(MeasuredOn::Positions)) => "lowest error on validation positions".into(),
        (true, Some(MeasuredOn::Opponent | MeasuredOn::Games | MeasuredOn::BestResponses) | None) => {
            "best measurement".into()
        }
        (false, _) => format!("the last, after {step} {unit}"),
    };
    let _ = writeln!(
        text,
        "- {} parameters, {} bytes of weights, {} multiply-adds per evaluation\n\
         - game `{}`, inputs `{}`\n\
         - {}; checkpoint: {chosen}\n\
         - trained in {:.0} s by revision {}",
        size.parameters,
        size.bytes,
        if size.multiply_adds == size.multiply_adds_least {
            size.multiply_adds.to_string()
        } else {
            format!("{} to {}", size.multiply_adds_least, size.multiply_adds)
        },
        if config.game.rules.starts_with("file:") { &config.game.rules } else { &report.game },
        config.game.encoder.as_deref().unwrap_or("the game's first encoder"),
        match runs {
            [_] => format!("seed {}, one run", record.seed),
            _ => format!("seed {} of {}", record.seed, seeds(runs)),
        },
        record.seconds,
        described.revision,
    );
    if let Some(classes) = described.head.classes() {
        let classes: Vec<String> =
            classes.iter().map(|class| format!("{} ({:+})", class.name, class.utility)).collect();
        let _ = writeln!(text, "- gives the probabilities of outcomes: {}", classes.join(", "));
    }
    for origin in &manifest.init {
        let _ = writeln!(text, "- began with the weights of {origin}");
    }
    text
}

/// Figures that were measured when the network was published.
fn figures(record: &Record, best: bool, report: &Report) -> String {
    let mut text = String::new();
    if let Some(equity) = &report.equity {
        let _ = writeln!(text, "Exact match equity against {}: {:+.6}.\n", equity.against, equity.equity);
    }
    if let Some(rms) = &report.rms {
        text.push_str(&errors(rms));
    } else if let (true, Some(Score { rms: Some(rms), spread, .. })) = (of_file(record), score(record, best))
    {
        let mean =
            spread.map_or_else(String::new, |spread| format!("; of always the mean value {spread:.5}"));
        let _ = writeln!(
            text,
            "Root mean square error of V, −1 to 1, on {} positions of its file for testing: {:.5}{mean}.\n",
            rms.rows, rms.rms
        );
    }
    if let Some(found) = &report.outcomes {
        let _ = writeln!(
            text,
            "Log loss of outcomes, by {}: {:.4}; {:.4} by always the same probabilities, at least {:.4}.\n",
            found.from, found.log_loss, found.log_loss_constant, found.log_loss_least
        );
        text.push_str("| outcome | predicted | observed | RMS error | log loss |\n|---|---|---|---|---|\n");
        for class in &found.classes {
            let _ = writeln!(
                text,
                "| {} | {:.4} | {:.4} | {:.4} | {:.4} |",
                class.name, class.predicted, class.observed, class.rms, class.log_loss
            );
        }
        text.push('\n');
    }
    if let Some(found) = &report.exploitability {
        let _ = writeln!(
            text,
            "Exploitability, (br₀ + br₁) / 2 in units of utility: {:.5}; of uniformly random play {:.5}. Value for \
             the first player if it plays itself: {:+.5}.\n",
            found.exploitability, found.random, found.value
        );
    }
    if let Some(moves) = &report.move_loss {
        let _ = writeln!(
            text,
            "Value lost by an unforced decision: {:.2e}, {:.3} % wrong ({} decisions of `{}`, all rolls weighted by \
             their probability).",
            moves.loss.loss_per_decision,
            100.0 * moves.loss.wrong_share,
            moves.loss.decisions,
            moves.distribution
        );
        for (name, loss) in &moves.baselines {
            let _ = writeln!(
                text,
                "- {name}: {:.2e}, {:.3} % wrong",
                loss.loss_per_decision,
                100.0 * loss.wrong_share
            );
        }
        text.push('\n');
    }
    text
}

/// Figures that the runs measured.
fn results(runs: &[(PathBuf, Record)], best: bool, config: &Config) -> String {
    let (_, record) = &runs[0];
    let is_played = config.measured_on() == Some(MeasuredOn::Games);
    let mut text = String::new();
    if let (true, Some(against)) = (config.measures(Suite::Matches), config.evaluate_against().first()) {
        let in_unit = runs.iter().find_map(|(_, r)| r.r#final.as_ref()?.unit.as_deref());
        let what = in_unit.map_or("Points per game".into(), |unit| format!("{unit} per game and seat"));
        if is_played {
            let references = References::read(&runs[0].0);
            let beside = references.map_or_else(String::new, |r| format!("; {}", r.baseline));
            let _ = writeln!(
                text,
                "{what} against {against}, {} games per measurement{beside}:\n",
                config.evaluate.games
            );
        } else if let Some(found) = score(record, best).and_then(|score| score.matches) {
            // This figure follows below, after another one.
            let games = config.evaluate.games;
            let _ = writeln!(text, "{what} against {against}, {games} games: {found:+.4}.\n");
        }
    }
    if runs.len() > 1 || is_played {
        for (name, best) in [("At the end of the run", false), ("Chosen during the run", true)] {
            let figures = figures_of(runs, best);
            if !figures.is_empty() {
                let summary = mean_sd(&figures);
                let digits = if summary.mean.abs() > 10.0 { 1 } else { 6 };
                let each: Vec<String> = figures.iter().map(|f| format!("{f:.digits$}")).collect();
                let _ = match &each[..] {
                    [one] => writeln!(text, "{name}, seed {}: {one}.\n", seeds(runs)),
                    each => writeln!(
                        text,
                        "{name}, seeds {}: {:.digits$} ± {:.digits$} ({}).\n",
                        seeds(runs),
                        summary.mean,
                        summary.sd,
                        each.join(", ")
                    ),
                };
            }
        }
    }
    text
}

/// How the runs are repeated.
fn to_repeat(runs: &[(PathBuf, Record)], manifest: &Manifest, config: &Config) -> Result<String, TrainError> {
    let ((_, record), unit) = (&runs[0], config.learn.unit());
    let mut text = String::new();
    let toml = toml::to_string(config).map_err(|e| ModelError::Unsupported(e.to_string()))?;
    // Each run may have started from its own weights.
    let alike = runs.iter().all(|(_, other)| other.init == record.init);
    let seeds = if runs.len() > 1 && alike { format!(" --seeds {}", runs.len()) } else { String::new() };
    let from: String = manifest.init.iter().map(|origin| format!(" --init {}", origin.option())).collect();
    let same = match (&record.extended[..], &record.changed[..]) {
        ([], []) => "gives the same bits on the same kind of machine".into(),
        (steps, []) => {
            format!("is similar: this run was made longer at {unit} {steps:?}, so its bits differ")
        }
        (steps, _) => {
            let longer = match steps {
                [] => String::new(),
                steps => format!("this run was made longer at {unit} {steps:?}, and "),
            };
            let changes = record.changes();
            format!("gives another network: {longer}settings were changed while this run learned ({changes})")
        }
    };
    let _ = write!(
        text,
        "\n## To repeat\n\n`adept train config.toml --seed {}{seeds}{from}` with this config {same}:\n\n```toml\n{}\n```\n",
        record.seed,
        toml.trim_end()
    );
    Ok(text)
}

/// The context of a config's figures besides the game.
fn measured_on(config: &Config) -> (Option<String>, Vec<String>) {
    let distribution = config.evaluate.distribution.as_deref().or(config.learn.distribution());
    (distribution.map(String::from), config.evaluate_against())
}

/// Results of finished runs of another network.
fn rival(games: &dyn Catalogue, given: &Path, record: &Record, best: bool) -> Result<Rival, TrainError> {
    let runs = finished(given)?;
    let refused = |message: &str| TrainError::Folder { path: given.into(), message: message.into() };
    let Some((path, first)) = runs.first() else {
        return Err(refused("holds no finished run to compare with"));
    };
    let (config, own) = (&first.config_beside(&record.config, record.folder.as_deref()), &record.config);
    if config.game.rules != own.game.rules
        || config.figure() != own.figure()
        || measured_on(config) != measured_on(own)
    {
        return Err(refused("was measured on another game, figure or distribution: it cannot be compared"));
    }
    let figures = figures_of(&runs, best);
    if figures.is_empty() {
        return Err(refused("has no figure to compare"));
    }
    let (summary, described) = (mean_sd(&figures), checkpoints::describe(games, path, best)?);
    let used = score(first, best).and_then(|score| score.experts.as_ref());
    Ok(Rival {
        name: config.name.clone(),
        about: config.about.clone(),
        multiply_adds: used.map_or(described.size.multiply_adds as f64, |used| used.multiply_adds),
        parameters: described.size.parameters,
        experts: used.map_or(1, |used| used.shares.len()),
        figure: summary.mean,
        sd: summary.sd,
        seeds: figures.len(),
    })
}

/// The section on the use of experts and on rivals.
fn beside(
    runs: &[(PathBuf, Record)],
    best: bool,
    experts: Option<&ExpertsReport>,
    size: &Description,
    rivals: &[Rival],
) -> String {
    let mut text = String::new();
    if let Some(experts) = experts {
        let used = &experts.used;
        let _ = writeln!(
            text,
            "Experts: {} of {} are live (they win at least 1 % of {} positions of `{}`): {}.\n",
            used.live,
            used.shares.len(),
            used.rows,
            experts.positions,
            shares(used)
        );
        let [cost, parameters] = [&experts.single, &experts.single_of_equal_parameters];
        let _ = writeln!(
            text,
            "A row executes {:.0} multiply-adds, as many as a single network of {} hidden units. A single network of {} \
             hidden units has as many parameters.\n",
            used.multiply_adds, cost.hidden, parameters.hidden
        );
    }
    if rivals.is_empty() {
        return text;
    }
    let figures = figures_of(runs, best);
    let (summary, seeds) = (mean_sd(&figures), figures.len());
    text.push_str("Beside other networks, measured in the same way:\n\n");
    text.push_str(
        "| network | multiply-adds | parameters | figure, mean ± sd | seeds |\n|---|---|---|---|---|\n",
    );
    let cost = experts.map_or(size.multiply_adds as f64, |experts| experts.used.multiply_adds);
    let mut row = |name: &str, cost: f64, parameters: usize, mean: f64, sd: f64, seeds: usize| {
        let _ = writeln!(
            text,
            "| {name} | {cost:.0} | {parameters} | {} | {seeds} |",
            plus_minus(mean, sd, seeds, 6)
        );
    };
    row("this", cost, size.parameters, summary.mean, summary.sd, seeds);
    for r in rivals {
        row(&format!("`{}`", r.name), r.multiply_adds, r.parameters, r.figure, r.sd, r.seeds);
    }
    text.push('\n');
    text
}

/// The shares of experts as text, largest first; the middle is omitted if there are many.
pub fn shares(used: &ExpertUse) -> String {
    let mut shares = used.shares.clone();
    shares.sort_by(|a, b| b.total_cmp(a));
    let percent = |share: &f64| match 100.0 * share {
        0.0 => "0".to_string(),
        p if p < 10.0 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    };
    let all: Vec<String> = shares.iter().map(percent).collect();
    match &all[..] {
        all if all.len() <= 16 => format!("{} %", all.join(", ")),
        all => format!("{}, … {} %", all[..8].join(", "), all[all.len() - 4..].join(", ")),
    }
}

/// The card's line on the distribution with the largest error.
fn worst(list: &[ErrorsOf]) -> Option<String> {
    let worst = list.iter().max_by(|a, b| a.errors.rms.total_cmp(&b.errors.rms))?;
    Some(format!(
        "{WORST}{}` the error is {:.5}, the largest seen {:.3}.\n",
        worst.name, worst.errors.rms, worst.errors.max
    ))
}

/// Prefixes of card sections that are measured again when a card is refreshed.
const WORST: &str = "- On the distribution `";
const ERRORS: &str = "Root mean square error of V";
const NOT_FOR: &str = "## Not for\n";

/// Start of a line in the section on weaknesses.
const LEAD: &str = "What the game knows without learning is more accurate on";
const EVERYWHERE: &str =
    "That is every distribution: where values are wanted, take the formula, or a network that corrects it.";
const OF_SEVERAL: &str =
    "Of several classes, the figures are those of the class with the largest difference.";

/// The errors on all kinds of positions, as stored next to the card.
fn kinds_of(rms: Option<&RmsReport>) -> Option<Kinds> {
    let RmsReport { distributions, classes, class, .. } = rms?.clone();
    Some(Kinds { distributions, classes, class })
}

/// The section on positions where a formula of the game is more accurate; empty if there are none.
fn not_for(kinds: &Kinds) -> String {
    let weak = kinds.weaknesses();
    if weak.is_empty() {
        return String::new();
    }
    let everywhere = weak.iter().filter(|w| w.positions.starts_with("the distribution")).count();
    let mut text = format!("{NOT_FOR}\n{LEAD}\n\n");
    for w in &weak {
        let _ = writeln!(text, "- {}: error {:.5}, `{}` {:.5}", w.positions, w.rms, w.formula, w.formula_rms);
    }
    if everywhere == kinds.distributions.len() {
        text.push_str(&format!("\n{EVERYWHERE}\n"));
    }
    if weak.len() > everywhere {
        text.push_str(&format!("\n{OF_SEVERAL}\n"));
    }
    text + "\n"
}

/// The tables of errors.
fn errors(rms: &RmsReport) -> String {
    let mut text = format!(
        "{ERRORS}, −1 to 1, on {} test positions of each distribution, with that of baselines that do not learn:\n\n",
        rms.errors.rows
    );
    text.push_str(&table("distribution", &rms.distributions));
    let _ = writeln!(text, "\nBy {} ({}):\n", rms.class, rms.class_positions);
    text.push_str(&table("class", &rms.classes));
    text.push('\n');
    text
}

/// Measures the errors of a published checkpoint again, on all kinds of positions that this version knows, and updates
/// its card and `errors.json`. The checkpoint is unchanged. Returns the new card.
///
/// # Errors
/// If there is no checkpoint with a card of errors at this path.
pub fn refresh(games: &dyn Catalogue, folder: &Path) -> Result<String, TrainError> {
    let path = folder.join(CARD);
    let refused = |message: &str| TrainError::Folder { path: path.clone(), message: message.into() };
    let old = limits::read_text(&path, limits::CONFIG_BYTES).map_err(ModelError::io(&path))?;
    let options = EvaluateOptions { suites: vec![Suite::Rms], ..Default::default() };
    let report = checkpoints::evaluate(games, folder, false, &options)?;
    let (Some(rms), Some(kinds)) = (&report.rms, kinds_of(report.rms.as_ref())) else {
        return Err(refused("its game has no exact values to measure"));
    };
    let card = refreshed(&old, rms, &kinds).ok_or_else(|| refused("has no errors to measure again"))?;
    kinds.write(&Files::default(), folder)?;
    Files::default().replace(&path, card.as_bytes())?;
    Ok(card)
}

/// Prefix of the card's line with the measured strength.
const STRENGTH: &str = "- strength: ";

/// Records the measured strength of a published checkpoint in its manifest and on its card, replacing an earlier one
/// except for its levels. Returns the new card.
///
/// # Errors
/// If there is no complete checkpoint with a card in this folder, or it cannot be written.
pub fn note_strength(folder: &Path, strength: &Strength) -> Result<String, TrainError> {
    let path = folder.join(CARD);
    let old = limits::read_text(&path, limits::CONFIG_BYTES).map_err(ModelError::io(&path))?;
    let levels = checkpoint::manifest(folder)?.strength.map_or_else(Vec::new, |before| before.levels);
    let card = with_strength(&old, strength).ok_or_else(|| TrainError::Folder {
        path: path.clone(),
        message: "has no list at its head for the strength".into(),
    })?;
    checkpoint::note_strength(folder, &Strength { levels, ..strength.clone() })?;
    Files::default().replace(&path, printable(&card).as_bytes())?;
    Ok(card)
}

/// The card with this strength as the last line of its first list; none without a list.
fn with_strength(old: &str, strength: &Strength) -> Option<String> {
    let kept: String = old.split_inclusive('\n').filter(|line| !line.starts_with(STRENGTH)).collect();
    let list = kept.find("\n- ")? + 1;
    let end = list + kept[list..].find("\n\n")? + 1;
    Some(format!("{}{STRENGTH}{}\n{}", &kept[..end], strength.text(), &kept[end..]))
}

/// The card with new errors; none if it has no errors.
fn refreshed(old: &str, rms: &RmsReport, kinds: &Kinds) -> Option<String> {
    let (mut text, mut own) = (old.to_string(), String::new());
    if let Some(start) = text.find(NOT_FOR) {
        let inner = start + NOT_FOR.len();
        let end = text[inner..].find("\n## ").map_or(text.len(), |more| inner + more + 1);
        own = written_by_hand(&text[inner..end]);
        text.replace_range(start..end, "");
    }
    let start = text.find(ERRORS)?;
    // The block ends with the second of its two tables.
    let mut end = start;
    for _ in 0..2 {
        let table = end + text[end..].find("\n|")? + 1;
        end = text[table..].find("\n\n").map_or(text.len(), |more| table + more + 2);
    }
    text.replace_range(start..end, &errors(rms));
    if let Some((start, line)) =
        text.find(WORST).map(|start| (start, worst(&rms.distributions).unwrap_or_default()))
    {
        let end = text[start..].find('\n').map_or(text.len(), |more| start + more + 1);
        text.replace_range(start..end, &line);
    }
    let figures = text.find("## Figures")?;
    let section = match (not_for(kinds), own) {
        (measured, own) if own.is_empty() => measured,
        (measured, own) if measured.is_empty() => format!("{NOT_FOR}\n{own}\n\n"),
        (measured, own) => format!("{measured}{own}\n\n"),
    };
    text.insert_str(figures, &section);
    Some(text)
}

/// Lines of the section on weaknesses that people wrote: all but those of [`not_for`].
fn written_by_hand(section: &str) -> String {
    let is_figure = |line: &str| {
        let parts = line.strip_prefix("- ").and_then(|rest| rest.split_once(": error "));
        parts.and_then(|(_, figures)| figures.split_once(", `")).is_some_and(|(rms, formula)| {
            let formula = formula.rsplit_once("` ").map_or("", |(_, rms)| rms);
            rms.parse::<f64>().is_ok() && formula.parse::<f64>().is_ok()
        })
    };
    let own =
        section.lines().filter(|line| ![LEAD, EVERYWHERE, OF_SEVERAL].contains(line) && !is_figure(line));
    let mut text = String::new();
    for line in own {
        // Where lines were removed, one empty line is enough.
        if !(line.is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.trim_end().into()
}

fn table(what: &str, list: &[ErrorsOf]) -> String {
    let names = list.first().map_or(vec![], |e| e.baselines.iter().map(|b| b.0.as_str()).collect());
    let mut text = format!("| {what} | positions | this | largest | {} |\n", names.join(" | "));
    text.push_str(&format!("|{}\n", "---|".repeat(names.len() + 4)));
    for e in list {
        let baselines: Vec<String> = e.baselines.iter().map(|(_, v)| format!("{v:.5}")).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {:.5} | {:.4} | {} |",
            e.name,
            e.errors.rows,
            e.errors.rms,
            e.errors.max,
            baselines.join(" | ")
        );
    }
    text
}

fn seeds(runs: &[(PathBuf, Record)]) -> String {
    match runs {
        [(_, one)] => one.seed.to_string(),
        [(_, first), .., (_, last)] => format!("{} to {}", first.seed, last.seed),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_one_strength() {
        let strength = |text: &str| text.parse::<Strength>().unwrap();
        let card = "# net\n\nabout\n\n- 9 parameters\n- game `x`\n\n## Figures\n";
        let first = with_strength(card, &strength("1 points, against a")).unwrap();
        assert_eq!(first, card.replace("`x`\n", "`x`\n- strength: 1 points, against a\n"));
        let second = with_strength(&first, &strength("2 points, against a")).unwrap();
        assert_eq!(second, first.replace("1 points", "2 points"));
        assert_eq!(with_strength("# net\n", &strength("1 points, against a")), None);
    }

    #[test]
    fn what_people_wrote_on_weaknesses_is_known() {
        let measured = format!(
            "\n{LEAD}\n\n- checkers 1 to 3: error 0.00342, `convolution` 0.00158\n\n{EVERYWHERE}\n\n{OF_SEVERAL}\n\n"
        );
        assert_eq!(written_by_hand(&measured), "");
        let own = "Matches for money.\n\n- endgames: error 3 of 10, `mine`\n- cubes";
        assert_eq!(written_by_hand(&format!("{measured}{own}\n\n")), own);
        assert_eq!(written_by_hand(&format!("\n{own}\n{measured}")), own);
        assert_eq!(
            written_by_hand(&measured.replace("\n- checkers", "\nA remark.\n- checkers")),
            "A remark."
        );
    }
}
