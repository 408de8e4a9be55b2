//! Levinson, "General game-playing and reinforcement learning" (1996): the informed and the blind learner on declared
//! games, measured exactly. The paper's table values are not available, so there is no comparison.

use crate::MEASURING;
use crate::report::{Paper, Report};
use crate::runs::{self, FIRST_SEED, Run, interrupted};
use adept_arena::WinDrawLoss;
use adept_ground::{files::Files, work};
use adept_lab::Catalogue;
use adept_lab::checkpoints;
use adept_lab::measure::{EvaluateOptions, Suite};
use adept_lab::reproduction::Work;
use adept_lab::seeds::on_ranks;
use adept_model::ModelError;
use adept_trainer::config::{Config, Games};
use adept_trainer::run::{Init, TrainError, measurements};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

macro_rules! config {
    ($name:literal) => {
        include_str!(concat!("../configs/declared/", $name, ".toml"))
    };
}

const INFORMED: &str = config!("informed");
const BLIND: &str = config!("blind");
const TABLE: &str = config!("table");
const MLP: &str = config!("bits-mlp");

/// Settings of the informed learner in games that take more than 20,000 games.
const LARGE: [&str; 3] =
    ["architecture.modules.units=32", "architecture.modules.top=64", "learn.rate.to=0.0001"];
/// Settings for solitaires: shorter solutions are better, and there is no reply.
const ALONE: [&str; 4] = [
    "learn.td.along=\"own\"",
    "learn.td.discount=0.95",
    "learn.td.lambda=0.5",
    "evaluate.against=[\"random\"]",
];
/// If every position of optimal play is a draw, optimal values cannot tell which moves beat a weak opponent; values of
/// games with some random moves can.
const OWN: [&str; 1] = ["learn.td.along=\"own\""];

/// A planned row: a learner in a game.
struct Plan {
    game: String,
    /// Value of `game.rules`.
    rules: String,
    learner: &'static str,
    text: &'static str,
    games: u64,
    set: Vec<String>,
}

impl Plan {
    fn new(
        (game, rules): (&str, &str),
        (learner, text): (&'static str, &'static str),
        games: u64,
        set: &[&str],
    ) -> Self {
        let set = set.iter().map(|s| (*s).into()).collect();
        Self { game: game.into(), rules: rules.into(), learner, text, games, set }
    }

    /// The config of its runs.
    fn config(&self, games: &dyn Games, quick: bool) -> Result<Config, TrainError> {
        let plain = |text: &str| {
            text.chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect::<String>()
                .to_lowercase()
        };
        // Fifty measurements, or one every hundred games.
        let every = (self.games / 50).max(100);
        let mut set = vec![
            format!("name=\"{}-{}\"", plain(&self.game), plain(self.learner)),
            format!("game.rules={:?}", self.rules),
            format!("learn.td.games={}", self.games),
            format!("evaluate.every={every}"),
        ];
        set.extend(self.set.iter().cloned());
        runs::config_with("levinson", self.text, set, games, quick)
    }
}

const ALL_STAGES: (&str, &str) = ("blind, stages 1–5", BLIND);
const TWO_STAGES: (&str, &str) = ("blind, stages 1–2", BLIND);
/// Settings of the stages that the paper measured.
const STAGES_1_2: [&str; 4] = [
    "architecture.blind.variables=false",
    "architecture.blind.relations=false",
    "architecture.blind.tuples=false",
    "architecture.blind.parity=false",
];

/// The rows of the main table.
fn plans(files: &Path) -> Vec<Plan> {
    let mut plans = Vec::new();
    let two_players = [
        ("tic-tac-toe", "declared:tic-tac-toe", 2_000, 20_000),
        ("hexapawn 3×3, stuck draws", "declared:hexapawn-3x3", 20_000, 20_000),
        ("hexapawn 3×3, stuck loses", "declared:hexapawn-3x3-loss", 20_000, 20_000),
        ("hexapawn 4×4, stuck draws", "declared:hexapawn-4x4", 100_000, 50_000),
        ("hexapawn 4×4, stuck loses", "declared:hexapawn-4x4-loss", 100_000, 50_000),
        ("pennies 15", "declared:pennies", 20_000, 20_000),
        ("nim 3-4-5", "declared:nim", 100_000, 20_000),
        ("birthday, 8 seats", "declared:birthday", 50_000, 20_000),
        ("nim on the lines of tic-tac-toe", "declared:nim-lines", 50_000, 40_000),
    ];
    for (game, rules, informed, blind) in two_players {
        let large = if informed > 20_000 { &LARGE[..] } else { &[] };
        let own = if rules == "declared:hexapawn-3x3" { &OWN[..] } else { &[] };
        plans.push(Plan::new((game, rules), ("informed", INFORMED), informed, large));
        plans.push(Plan::new((game, rules), ALL_STAGES, blind, own));
        plans.push(Plan::new((game, rules), TWO_STAGES, blind, &[own, &STAGES_1_2].concat()));
        plans.push(Plan::new((game, rules), ("table", TABLE), 100_000, own));
        plans.push(Plan::new((game, rules), ("64 units on the bits", MLP), 100_000, own));
    }
    for (shape, least) in [("path", 2), ("cycle", 3)] {
        for nodes in least..=8_usize {
            let rules = format!("file:{}", file_of(files, shape, nodes).display());
            let game = format!("nim on a {shape} of {nodes}");
            let large = if nodes > 5 { &LARGE[..] } else { &[] };
            let games = if nodes > 5 { 100_000 } else { 20_000 };
            plans.push(Plan::new((&game, &rules), ("informed", INFORMED), games, large));
            plans.push(Plan::new((&game, &rules), ALL_STAGES, 40_000, &[]));
        }
    }
    for (game, rules) in [("towers of Hanoi, 3 disks", "declared:hanoi"), ("Merlin", "declared:merlin")] {
        plans.push(Plan::new((game, rules), ("informed", INFORMED), 5_000, &ALONE));
        plans.push(Plan::new((game, rules), ALL_STAGES, 5_000, &ALONE));
        plans.push(Plan::new((game, rules), TWO_STAGES, 5_000, &[&ALONE[..], &STAGES_1_2].concat()));
        let parity = [&ALONE[..], &STAGES_1_2[..3], &["architecture.blind.sets=0"]].concat();
        plans.push(Plan::new((game, rules), ("blind, bits and parity sets", BLIND), 5_000, &parity));
        plans.push(Plan::new((game, rules), ("table", TABLE), 5_000, &ALONE));
    }
    plans
}

/// The stages of the blind learner in tic-tac-toe.
fn stages() -> Vec<Plan> {
    let game = ("tic-tac-toe, stages", "declared:tic-tac-toe");
    let off = |keys: &[&str]| -> Vec<String> {
        keys.iter().map(|key| format!("architecture.blind.{key}")).collect()
    };
    let all = [
        (
            "stage 1: bits",
            off(&["parity=false", "sets=0", "variables=false", "relations=false", "tuples=false"]),
        ),
        (
            "stages 1–2: and random sets",
            off(&["parity=false", "variables=false", "relations=false", "tuples=false"]),
        ),
        ("stages 1–3: and variables", off(&["parity=false", "relations=false", "tuples=false"])),
        ("stages 1–4: and relations", off(&["parity=false", "tuples=false"])),
        ("stages 1–5: and tuples", off(&["parity=false"])),
    ];
    let plan = |(learner, set): (&'static str, Vec<String>)| {
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        Plan::new(game, (learner, BLIND), 20_000, &set)
    };
    all.into_iter().map(plan).collect()
}

/// The informed learner, trained by games against fixed opponents as in the paper.
fn opponents() -> Vec<Plan> {
    let games = [
        ("tic-tac-toe, opponents", "declared:tic-tac-toe", 2_000),
        ("hexapawn 3×3, opponents", "declared:hexapawn-3x3", 5_000),
        ("hexapawn 4×4, opponents", "declared:hexapawn-4x4", 20_000),
        ("pennies 15, opponents", "declared:pennies", 5_000),
        ("nim 3-4-5, opponents", "declared:nim", 20_000),
    ];
    let plan = |(game, rules, count): (&'static str, &'static str, u64)| {
        [("against itself", "self"), ("against random play", "random"), ("against greedy play", "greedy")]
            .map(|(learner, against)| {
                let against = format!("learn.td.against=\"{against}\"");
                let own = if learner == "against itself" { &[][..] } else { &[OWN[0], &against] };
                Plan::new((game, rules), (learner, INFORMED), count, own)
            })
    };
    games.into_iter().flat_map(plan).collect()
}

fn file_of(folder: &Path, shape: &str, nodes: usize) -> PathBuf {
    folder.join(format!("nim-{shape}-{nodes}.game"))
}

/// Writes rule files of nim on paths and cycles of other sizes.
fn write_rules(folder: &Path) -> Result<(), TrainError> {
    std::fs::create_dir_all(folder).map_err(ModelError::io(folder))?;
    for (shape, least) in [("path", 2), ("cycle", 3)] {
        let source = source_of(&format!("nim-{shape}"));
        for nodes in least..=8 {
            let text = source.replace("objects node = 1..8", &format!("objects node = 1..{nodes}"));
            Files::default().replace(&file_of(folder, shape, nodes), text.as_bytes())?;
        }
    }
    Ok(())
}

fn source_of(name: &str) -> &'static str {
    adept_declared::SHIPPED.iter().find(|(shipped, _)| *shipped == name).map_or("", |(_, source)| source)
}

/// A row: a learner in a game, over several seeds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LevinsonRow {
    /// Game and learner.
    pub(crate) name: String,
    /// The game.
    pub(crate) game: String,
    /// The learner.
    pub(crate) learner: String,
    /// Games that each run learns from.
    pub(crate) games: u64,
    /// For each seed, the first measurement at which greedy play was optimal in both seats, or at which the shortest solution
    /// was found.
    pub(crate) optimal_from: Vec<Option<u64>>,
    /// Games between two measurements.
    pub(crate) every: u64,
    /// Seeds whose final policy is optimal.
    pub(crate) optimal: usize,
    /// Shares of wins, draws and losses against random play, over both seats: mean of the seeds.
    pub(crate) random: Option<WinDrawLoss>,
    /// Mean utility against greedy play, over both seats.
    pub(crate) greedy: Option<f64>,
    /// Equity against a best response, as player 1 and 2: mean of the seeds.
    pub(crate) best_response: Option<[f64; 2]>,
    /// Mean share of states with a correct move.
    pub(crate) correct: Option<f64>,
    /// Solitaires: share solved, mean moves, least moves.
    pub(crate) alone: Option<[f64; 3]>,
    /// Mean seconds per run.
    pub(crate) seconds: f64,
}

/// Learning with and without modules of a smaller game.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Transfer {
    /// Source and target game.
    pub(crate) name: String,
    /// Games of each measurement.
    pub(crate) steps: Vec<u64>,
    /// Mean equity against random play at each, from new weights.
    pub(crate) fresh: Vec<f64>,
    /// The same with the modules of the smaller game.
    pub(crate) transferred: Vec<f64>,
    /// Seeds that reached optimal play: from new weights, and with the modules.
    pub(crate) optimal: [usize; 2],
}

/// The whole reproduction.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LevinsonStudy {
    /// Both learners in all games, and a table and a network on the bits for comparison.
    pub(crate) rows: Vec<LevinsonRow>,
    /// The stages of the blind learner.
    pub(crate) stages: Vec<LevinsonRow>,
    /// The informed learner against fixed opponents.
    pub(crate) opponents: Vec<LevinsonRow>,
    /// Modules of smaller games.
    pub(crate) transfers: Vec<Transfer>,
}

/// Both learners as a reproduction.
pub(crate) const LEVINSON: Paper = Paper {
    name: "levinson",
    about: "Levinson: a learner that is told the rules and a blind one, in games from rule files (two minutes a seed)",
    runs: |seeds| {
        let plans = [plans(Path::new("")), stages(), opponents()];
        // A transfer has three runs: the smaller game, and the larger one with and without modules.
        seeds * (plans.iter().map(|plans| plans.len() as u64).sum::<u64>() + 3 * TRANSFERS.len() as u64)
    },
    make: |work| levinson(work)?.made(),
};

/// Makes the tables.
///
/// # Errors
/// [`TrainError`] of the first run that fails.
fn levinson(work: Work<'_>) -> Result<Report<LevinsonStudy>, TrainError> {
    let Work { games, options, .. } = work;
    let started = Instant::now();
    let files = options.out.join("rules");
    runs::check_folder(options)?;
    write_rules(&files)?;
    let plans = [plans(&files), stages(), opponents()];
    let mut configs = Vec::new();
    for plan in plans.iter().flatten() {
        configs.push(plan.config(games, options.quick)?);
    }
    let all = runs::all(&configs, runs::seeds(options), work)?;
    let transfers = TRANSFERS.iter().map(|transfer| transferred(transfer, &files, work));
    let transfers = transfers.collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for (i, (plan, (config, runs))) in plans.iter().flatten().zip(configs.iter().zip(&all)).enumerate() {
        if work.cancel.requested() {
            return Err(interrupted(options));
        }
        work::share(MEASURING, i as f64 / configs.len() as f64);
        rows.push(row(games, plan, config, runs)?);
    }
    work::share(MEASURING, 1.0);
    let opponents = rows.split_off(plans[0].len() + plans[1].len());
    let stages = rows.split_off(plans[0].len());
    let study = LevinsonStudy { rows, stages, opponents, transfers };
    let study = Report::new(LEVINSON.name, options, started, study);
    let text = markdown(&study);
    study.publish(options, vec![("levinson.md".into(), text)])
}

fn row(games: &dyn Catalogue, plan: &Plan, config: &Config, runs: &[Run]) -> Result<LevinsonRow, TrainError> {
    let n = runs.len() as f64;
    let (mut random, mut best, mut correct) = (Vec::new(), [0.0; 2], 0.0);
    let (mut alone, mut greedy, mut optimal) = ([0.0; 3], 0.0, 0);
    let mut optimal_from = Vec::new();
    for (path, record) in runs {
        let options = EvaluateOptions { suites: vec![Suite::Grade], ..EvaluateOptions::default() };
        let grade = checkpoints::evaluate(games, path, false, &options)?.grade.unwrap_or_default();
        if let Some(grade) = &grade.grade {
            random.push(WinDrawLoss::mean(&grade.random));
            (0..2).for_each(|seat| best[seat] += grade.best_response.seats[seat] / n);
            correct += grade.correct / n;
            optimal += usize::from(grade.best_response.optimal);
            optimal_from.push(record.optimal);
        }
        if let Some(found) = &grade.alone {
            let shortest = found.solved == 1.0 && found.moves == found.optimum as f64;
            optimal += usize::from(shortest);
            alone[0] += found.solved / n;
            alone[1] += found.moves / n;
            alone[2] = found.optimum as f64;
            let solved = |line: &serde_json::Value| {
                let alone = &line["alone"];
                alone["solved"] == 1.0 && alone["moves"].as_f64() == alone["optimum"].as_f64()
            };
            let lines = measurements(path, record)?;
            optimal_from.push(lines.iter().find(|line| solved(line)).and_then(|line| line["step"].as_u64()));
        }
        if let Some(last) = measurements(path, record)?.last() {
            let mut against = last["equity"].as_array().into_iter().flatten();
            let found = against.find(|e| e[0] == "greedy").and_then(|e| e[1]["equity"].as_f64());
            greedy += found.unwrap_or(f64::NAN) / n;
        }
    }
    let two = !random.is_empty();
    Ok(LevinsonRow {
        name: config.name.clone(),
        game: plan.game.clone(),
        learner: plan.learner.into(),
        games: config.learn.length(),
        every: config.evaluate_every(),
        optimal_from,
        optimal,
        random: two.then(|| WinDrawLoss::mean(&random)),
        greedy: (two && greedy.is_finite()).then_some(greedy),
        best_response: two.then_some(best),
        correct: two.then_some(correct),
        alone: (!two).then_some(alone),
        seconds: runs::mean_seconds(runs),
    })
}

/// A transfer: name, rules and games of the smaller game, rules and games of the larger one. If the
/// rules are a number, they are nim on a path of that many nodes.
type TransferPlan = (&'static str, (&'static str, u64), (&'static str, u64));

const TRANSFERS: [TransferPlan; 2] = [
    ("hexapawn 3×3 to 4×4", ("declared:hexapawn-3x3", 20_000), ("declared:hexapawn-4x4", 10_000)),
    ("nim on a path of 3 to one of 8", ("3", 5_000), ("8", 20_000)),
];

fn transferred(
    &(name, small, large): &TransferPlan,
    files: &Path,
    work: Work<'_>,
) -> Result<Transfer, TrainError> {
    let Work { games, options, .. } = work;
    let plan = |what: &'static str, (rules, count): (&str, u64)| {
        let rules = match rules.parse() {
            Ok(nodes) => format!("file:{}", file_of(files, "path", nodes).display()),
            Err(_) => rules.to_string(),
        };
        Plan::new((name, &rules), (what, INFORMED), count, &[]).config(games, options.quick)
    };
    let (small, large, again) = (plan("small", small)?, plan("fresh", large)?, plan("with modules", large)?);
    let seeds: Vec<u64> = runs::seeds(options).collect();
    let results = on_ranks(&seeds, options.threads, |&seed| {
        let first = runs::one(&small, seed, Vec::new(), work)?;
        let fresh = runs::one(&large, seed, Vec::new(), work)?;
        let init = vec![Init { part: None, path: first.0 }];
        Ok([fresh, runs::one(&again, seed, init, work)?])
    });
    let runs: Vec<[Run; 2]> = results.into_iter().collect::<Result<_, TrainError>>()?;
    let curve = |k: usize| {
        runs::mean_curve(runs.iter().map(|run| run[k].0.as_path()), |line| {
            line["equity"][0][1]["equity"].as_f64()
        })
    };
    let [fresh, with] = [curve(0)?, curve(1)?];
    // Ten points outline the curve.
    let pick = |curve: &[(f64, f64)]| -> Vec<(u64, f64)> {
        let every = curve.len().div_ceil(10).max(1);
        curve.iter().skip(every - 1).step_by(every).map(|(step, v)| (*step as u64, *v)).collect()
    };
    let (fresh, with) = (pick(&fresh), pick(&with));
    Ok(Transfer {
        name: name.into(),
        steps: fresh.iter().map(|point| point.0).collect(),
        fresh: fresh.iter().map(|point| point.1).collect(),
        transferred: with.iter().map(|point| point.1).collect(),
        optimal: [0, 1].map(|k| runs.iter().filter(|run| run[k].1.optimal.is_some()).count()),
    })
}

/// The reproduction as Markdown.
fn markdown(study: &Report<LevinsonStudy>) -> String {
    let mut text = format!(
        "# Levinson: an informed and a blind learner\n\n{} seeds per row{}, from {FIRST_SEED} on; settings were chosen on \
         seeds 1 to 10. Two-player figures are exact; one-player games are played 100 times, with ties broken at random. The paper reports both learners against random and greedy opponents, but the \
         numbers of its tables are missing in our copy of it, so nothing here is matched against them. Its first two stages of \
         the blind learner are measured there; stages 3 to 5 and parity sets are proposed.\n\n\
         *Optimal from*: games after which greedy play was first optimal in both seats (a best response gets no more than the \
         value of the game), median of the seeds that got there, and how many did. It is measured fifty times in a run, or every 100 games; ≤ marks the first \
         measurement. In hexapawn 3×3 with draws all but the informed learner, and all learners against fixed opponents, learn along \
         their own decisions (`along = \"own\"`), the others along both players'. *At the end*: seeds whose last policy is \
         optimal. *Best response*: utility as player 1 and as player 2 against it.\n",
        study.seeds,
        if study.quick { ", a twentieth of the games (--quick)" } else { "" },
    );
    let (two, one): (Vec<&LevinsonRow>, Vec<&LevinsonRow>) =
        study.body.rows.iter().partition(|r| r.alone.is_none());
    let _ = write!(text, "\n## Two players\n\n{}", table(&two));
    let _ = write!(text, "\n## One player\n\n{}", table_alone(&one));
    let stages: Vec<&LevinsonRow> = study.body.stages.iter().collect();
    let _ = write!(text, "\n## The blind learner, stage by stage, in tic-tac-toe\n\n{}", table(&stages));
    let opponents: Vec<&LevinsonRow> = study.body.opponents.iter().collect();
    let _ = write!(
        text,
        "\n## The informed learner, trained against different opponents\n\n{}",
        table(&opponents)
    );
    text.push_str(
        "\n## Modules of a smaller game\n\nMean equity against random play after so many games, from new weights and with \
         the modules of the smaller game that read the same.\n",
    );
    for transfer in &study.body.transfers {
        let line = |name: &str, values: &[f64]| {
            let cells: Vec<String> = values.iter().map(|v| format!("{v:+.3}")).collect();
            format!("| {name} | {} |\n", cells.join(" | "))
        };
        let steps: Vec<String> = transfer.steps.iter().map(u64::to_string).collect();
        let _ = write!(
            text,
            "\n**{}**; optimal play was reached by {} and {} of {} seeds.\n\n| games | {} |\n|---|{}\n{}{}",
            transfer.name,
            transfer.optimal[0],
            transfer.optimal[1],
            study.seeds,
            steps.join(" | "),
            "---|".repeat(steps.len()),
            line("new weights", &transfer.fresh),
            line("with modules", &transfer.transferred)
        );
    }
    text
}

/// Median over the successful seeds, and their number.
fn optimal_from(row: &LevinsonRow) -> String {
    let mut reached: Vec<u64> = row.optimal_from.iter().flatten().copied().collect();
    reached.sort_unstable();
    match reached.len() {
        0 => format!("– (0 of {})", row.optimal_from.len()),
        n => {
            let median = u64::midpoint(reached[(n - 1) / 2], reached[n / 2]);
            // If the first measurement is already optimal, it is only an upper bound.
            let most = if median == row.every { "≤ " } else { "" };
            format!("{most}{median} ({n} of {})", row.optimal_from.len())
        }
    }
}

fn table(rows: &[&LevinsonRow]) -> String {
    let mut text = String::from(
        "| game | learner | games | optimal from | at the end | win / draw / loss in % against random | equity against greedy | best \
         response | correct moves | seconds |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut before = "";
    for row in rows {
        let (random, best) = (row.random.unwrap_or_default(), row.best_response.unwrap_or_default());
        let game = if row.game == before { "" } else { &row.game };
        before = &row.game;
        let _ = writeln!(
            text,
            "| {game} | {} | {} | {} | {} | {:.1} / {:.1} / {:.1} | {} | {:+.2} / {:+.2} | {:.1} % | {:.1} |",
            row.learner,
            row.games,
            optimal_from(row),
            row.optimal,
            100.0 * random.win,
            100.0 * random.draw,
            100.0 * random.loss,
            row.greedy.map_or("–".into(), |greedy| format!("{greedy:+.3}")),
            best[0],
            best[1],
            100.0 * row.correct.unwrap_or_default(),
            row.seconds
        );
    }
    text
}

fn table_alone(rows: &[&LevinsonRow]) -> String {
    let mut text = String::from(
        "| game | learner | games | shortest solution from | at the end | solved | mean moves | least moves | seconds |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let [solved, moves, least] = row.alone.unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:.0} % | {moves:.1} | {least:.0} | {:.1} |",
            row.game,
            row.learner,
            row.games,
            optimal_from(row),
            row.optimal,
            100.0 * solved,
            row.seconds
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_declared::Declared;
    use adept_lab::One;

    /// Every row has a valid config under a name of its own.
    #[test]
    fn all_configs_are_valid() {
        let folder = tempfile::tempdir().unwrap();
        write_rules(folder.path()).unwrap();
        let five = std::fs::read_to_string(file_of(folder.path(), "cycle", 5)).unwrap();
        assert!(five.contains("objects node = 1..5"), "{five}");
        let mut names = std::collections::BTreeSet::new();
        for plan in [plans(folder.path()), stages(), opponents()].iter().flatten() {
            let game = Declared::named(&plan.rules).unwrap().unwrap();
            let config = plan.config(&One(game), false).unwrap_or_else(|e| panic!("{}: {e}", plan.game));
            assert!(names.insert(config.name.clone()), "{} twice", config.name);
        }
        assert!(names.len() > 60);
    }
}
