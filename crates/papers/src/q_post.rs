//! The figures of the post on Q-learning in liar's dice: win rates of the learner while learning and frozen, and of
//! simple rules in its place.

use crate::q_learner::{EPSILON, QAgent, QLearner, QTable, Reading};
use crate::report::{Paper, Report};
use crate::runs::{FIRST_SEED, pool, seeds};
use adept_arena::matches::compete;
use adept_arena::{Agent, Scripted};
use adept_builtin::liars_dice::LiarsDice;
use adept_lab::chart::{self, Axes, Legend};
use adept_lab::reproduction::ReproduceOptions;
use adept_lab::statistics::{Summary, mean_sd, plus_minus};
use adept_trainer::config::no_game;
use adept_trainer::run::{Cancel, TrainError};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

const GAME: &str = "liars-dice:r-post:4x6";

/// Scripts in the other three seats, and their names in the table.
const FIELDS: [(&str, &str); 2] = [("post-random", "3 random"), ("true-prob", "3 true.prob")];

/// Numbers of games after which the learner is frozen. The learning win rate covers the first of these.
const LENGTHS: [u64; 3] = [5_000, 50_000, 500_000];

/// Number of seeds for the longest runs.
const LONG_SEEDS: u64 = 3;

/// Games per measurement and seed: the standard error is at most .005.
const GAMES: u64 = 10_000;

/// Number of timed games.
const TIMED: u64 = 20_000;

/// Points per learning curve.
const POINTS: u64 = 100;

/// Values of ε for a frozen learner.
const EPSILONS: [f64; 2] = [EPSILON, 0.0];

/// Shares measured by another program, which follows the text of the post: per field, the share of the first
/// games, and for each length the shares with ε = .1 and ε = 0.
#[expect(clippy::approx_constant, reason = "a measured share that only looks like 1/π")]
const LEARNED: [(f64, [[f64; 2]; 3]); 2] = [
    (0.635, [[0.685, 0.718], [0.742, 0.785], [0.747, 0.790]]),
    (0.277, [[0.296, 0.318], [0.319, 0.350], [0.321, 0.341]]),
];

/// Scripts in the learner's seat: name of the agent, name in the table, and the share that the other program
/// measured in each field.
const RULES: [(&str, &str, [Option<f64>; 2]); 6] = [
    ("post-random", "random", [Some(0.249), None]),
    ("true-prob", "true.prob", [Some(0.455), None]),
    ("call-15", "call if P < .15, never bluff", [Some(0.896), Some(0.487)]),
    ("call-25", "call if P < .25, never bluff", [Some(0.879), Some(0.493)]),
    ("call-30", "call if P < .3, bluff half the time", [Some(0.807), Some(0.382)]),
    ("call-50", "call if P < .5, never bluff", [Some(0.759), Some(0.426)]),
];

/// Details that the post does not specify.
const NOTE: &str = "The post prints 3288 wins in its first 5,000 games, .658, and 65 in 100 games after them. It \
says that the state holds the probability of the current bid; this is the reading `text`. Its program counts the \
learner's matching dice only when the learner decides, and keeps this count when others bid other faces. The post's \
printed table of transitions shows it (592, then 589 when the learner calls, without a bid between them). This is \
the reading `r4`. The post was written when R made factors of texts: if the learner ends the first round of a game \
with a call, it learns calls as raises and raises as calls. This is the reading `r3`; its share of the first games \
is close to the share in the post if the program is run unchanged. The post does not say how often a true.prob \
player bluffs: half the time, here.";

/// A win rate in the first seat, compared with others' results.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct QPostRow {
    /// Description of the measurement.
    pub(crate) label: String,
    /// The reading of the post; `None` for scripts.
    pub(crate) reading: Option<Reading>,
    /// The script in the other seats.
    pub(crate) field: &'static str,
    /// Share in the post.
    pub(crate) post: Option<f64>,
    /// Share measured by another program.
    pub(crate) elsewhere: Option<f64>,
    /// Mean share of games won over the seeds.
    pub(crate) mean: f64,
    /// Standard deviation over the seeds.
    pub(crate) sd: f64,
    /// Seeds.
    pub(crate) seeds: usize,
    /// Games per seed.
    pub(crate) games: u64,
}

/// All figures.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct QPost {
    /// The rows.
    pub(crate) rows: Vec<QPostRow>,
    /// Games per second while learning against random players, on one core.
    pub(crate) games_per_second: f64,
    /// Note on the results.
    pub(crate) note: &'static str,
}

/// A learner to train.
#[derive(Clone, Copy)]
struct Job {
    reading: Reading,
    field: usize,
    seed: u64,
    /// Number of lengths to train through.
    lengths: usize,
}

/// Result of a job.
struct Learned {
    job: Job,
    /// Wins among the first games, at each point of the curve.
    wins: Vec<u64>,
    /// The table after each length.
    tables: Vec<Arc<QTable>>,
}

struct Lab<'a> {
    game: LiarsDice,
    options: &'a ReproduceOptions,
    cancel: &'a Cancel,
}

/// The figures of the post as a reproduction.
pub(crate) const POST: Paper = Paper {
    name: "q-post",
    about: "the Q-learner of a post in R: liar's dice of four players, six dice each",
    runs: |_| 0,
    make: |work| q_post(work.options, work.cancel)?.made(),
};

/// Makes the figures: a table, and the learning curves of the first games as SVG.
///
/// # Errors
/// [`TrainError::Folder`] if interrupted, or if a file cannot be written.
pub(crate) fn q_post(options: &ReproduceOptions, cancel: &Cancel) -> Result<Report<QPost>, TrainError> {
    let started = Instant::now();
    let game = LiarsDice::named(GAME).ok_or_else(|| TrainError::Game(no_game(GAME, &[])))?;
    let lab = Lab { game, options, cancel };
    let games_per_second = lab.speed()?;
    let pool = pool(options)?;
    let learned: Result<Vec<Learned>, TrainError> =
        pool.install(|| lab.jobs().into_par_iter().with_max_len(1).map(|job| lab.train(job)).collect());
    let learned = learned?;
    let rows = pool.install(|| lab.rows(&learned))?;
    let figures = QPost { rows, games_per_second, note: NOTE };
    let figures = Report::new(POST.name, options, started, figures);
    let text = markdown(&figures);
    figures.publish(options, vec![("q-post.md".into(), text), ("q-post.svg".into(), lab.chart(&learned))])
}

impl Lab<'_> {
    /// The number of games, or a twentieth of it with `quick`.
    fn part(&self, games: u64) -> u64 {
        if self.options.quick { games / 20 } else { games }
    }

    fn uninterrupted(&self) -> Result<(), TrainError> {
        if !self.cancel.requested() {
            return Ok(());
        }
        let message = "was interrupted, and keeps nothing because it takes only minutes: start again";
        Err(TrainError::Interrupted { path: self.options.out.clone(), message: message.into() })
    }

    /// Games per second on this thread.
    fn speed(&self) -> Result<f64, TrainError> {
        let mut learner = QLearner::new(&self.game, Reading::Text, FIELDS[0].0, FIRST_SEED)?;
        let (start, games) = (Instant::now(), self.part(TIMED));
        (0..games).for_each(|_| {
            learner.play();
        });
        Ok(games as f64 / start.elapsed().as_secs_f64())
    }

    /// The longest jobs first, so that none of them runs alone at the end.
    fn jobs(&self) -> Vec<Job> {
        let lengths = |seed| if seed < FIRST_SEED + LONG_SEEDS { LENGTHS.len() } else { LENGTHS.len() - 1 };
        seeds(self.options)
            .flat_map(|seed| Reading::ALL.map(|reading| (seed, reading)))
            .flat_map(|(seed, reading)| {
                (0..FIELDS.len()).map(move |field| Job { reading, field, seed, lengths: lengths(seed) })
            })
            .collect()
    }

    fn train(&self, job: Job) -> Result<Learned, TrainError> {
        let mut learner = QLearner::new(&self.game, job.reading, FIELDS[job.field].0, job.seed)?;
        let (mut wins, mut tables, mut won) = (Vec::new(), Vec::new(), 0);
        let first = self.part(LENGTHS[0]);
        for length in LENGTHS[..job.lengths].iter().map(|length| self.part(*length)) {
            for game in learner.table().games + 1..=length {
                won += u64::from(learner.play());
                if game <= first && game % (first / POINTS).max(1) == 0 {
                    wins.push(won);
                }
                if game % 1000 == 0 {
                    self.uninterrupted()?;
                }
            }
            tables.push(learner.table().clone());
        }
        Ok(Learned { job, wins, tables })
    }

    /// Share of games that an agent wins in the first seat.
    fn share<A: Agent<LiarsDice> + 'static>(
        &self,
        agent: impl Fn() -> Result<A, TrainError> + Sync,
        field: usize,
        seed: u64,
    ) -> Result<f64, TrainError> {
        let make = || -> Result<Vec<Box<dyn Agent<LiarsDice>>>, TrainError> {
            Ok(vec![Box::new(agent()?), Box::new(self.script(FIELDS[field].0)?)])
        };
        let games = self.part(GAMES);
        let order = [vec![0, 1, 1, 1]];
        let tally = compete(&self.game, make, &order, games, seed, || self.cancel.requested())?;
        self.uninterrupted()?;
        Ok(tally.wins[0] as f64 / games as f64)
    }

    fn script(&self, name: &str) -> Result<Scripted<LiarsDice>, TrainError> {
        let script = Scripted::new(&self.game, name);
        script.ok_or_else(|| TrainError::Suite(format!("no script named `{name}`")))
    }

    fn rows(&self, learned: &[Learned]) -> Result<Vec<QPostRow>, TrainError> {
        let mut rows = Vec::new();
        for reading in Reading::ALL {
            // The other program follows the text of the post.
            let elsewhere = |share: f64| (reading == Reading::Text).then_some(share);
            let of = |field| -> Vec<&Learned> {
                learned.iter().filter(|l| l.job.reading == reading && l.job.field == field).collect()
            };
            let first = self.part(LENGTHS[0]);
            for (field, (during, _)) in LEARNED.iter().enumerate() {
                let share = |l: &&Learned| l.wins.last().map_or(f64::NAN, |won| *won as f64 / first as f64);
                let shares: Vec<f64> = of(field).iter().map(share).collect();
                let row = row(format!("first {first} games"), field, first, &shares);
                let post = (field == 0).then_some(0.658);
                rows.push(QPostRow { reading: Some(reading), post, elsewhere: elsewhere(*during), ..row });
            }
            for (i, length) in LENGTHS.iter().enumerate() {
                for (e, epsilon) in EPSILONS.into_iter().enumerate() {
                    for (field, (_, frozen)) in LEARNED.iter().enumerate() {
                        let tables =
                            of(field).into_iter().filter_map(|l| Some((l.job.seed, l.tables.get(i)?)));
                        let shares: Result<Vec<f64>, TrainError> = tables
                            .map(|(seed, table)| {
                                let agent = || QAgent::new(&self.game, table.clone(), epsilon);
                                self.share(agent, field, seed)
                            })
                            .collect();
                        let label = format!("frozen after {}, ε = {epsilon}", self.part(*length));
                        let row = row(label, field, self.part(GAMES), &shares?);
                        let post = (field == 0 && i == 0 && e == 0).then_some(0.65);
                        let elsewhere = elsewhere(frozen[i][e]);
                        rows.push(QPostRow { reading: Some(reading), post, elsewhere, ..row });
                    }
                }
            }
        }
        for (script, label, elsewhere) in RULES {
            for (field, elsewhere) in elsewhere.into_iter().enumerate().filter(|(_, e)| e.is_some()) {
                let shares: Result<Vec<f64>, TrainError> =
                    seeds(self.options).map(|seed| self.share(|| self.script(script), field, seed)).collect();
                rows.push(QPostRow { elsewhere, ..row(label.into(), field, self.part(GAMES), &shares?) });
            }
        }
        Ok(rows)
    }

    /// Share of games won so far, as the post plots it, averaged over the seeds.
    fn chart(&self, learned: &[Learned]) -> String {
        let first = self.part(LENGTHS[0]);
        let step = (first / POINTS).max(1);
        let mut lines = Vec::new();
        for (field, (_, name)) in FIELDS.iter().enumerate() {
            for reading in Reading::ALL {
                let all: Vec<&Learned> =
                    learned.iter().filter(|l| l.job.reading == reading && l.job.field == field).collect();
                let point = |i: u64| {
                    let games = (i + 1) * step;
                    let won: u64 = all.iter().map(|l| l.wins[i as usize]).sum();
                    (games as f64, won as f64 / (games * all.len() as u64) as f64)
                };
                // The first shares are noise.
                let points = (POINTS / 20..first / step).map(point).collect();
                lines.push((format!("{name}, {}", name_of(reading)), points));
            }
        }
        let title = "Q-learning in liar's dice: share of the games won so far, mean of the seeds";
        chart::lines(title, Axes { x: "games", y: "share won" }, Legend::Below, &lines)
    }
}

fn row(label: String, field: usize, games: u64, shares: &[f64]) -> QPostRow {
    let Summary { mean, sd } = mean_sd(shares);
    QPostRow {
        label,
        reading: None,
        field: FIELDS[field].0,
        post: None,
        elsewhere: None,
        mean,
        sd,
        seeds: shares.len(),
        games,
    }
}

fn name_of(reading: Reading) -> &'static str {
    match reading {
        Reading::Text => "text",
        Reading::R4 => "r4",
        Reading::R3 => "r3",
    }
}

/// The table as Markdown.
fn markdown(figures: &Report<QPost>) -> String {
    let mut text = format!(
        "# Q-learning in liar's dice (Oehm 2018)\n\nShare of games won in the first seat, four players with six dice \
         each; a quarter is even. {} seeds{} from {FIRST_SEED} on, at most {LONG_SEEDS} for the longest runs. The \
         learner trains against the field that measures it. Elsewhere: another program, which follows the text of \
         the post. Learning: {:.0} games per second on one core.\n\n| reading | measured | against | ours | \
         elsewhere | the post |\n|---|---|---|---:|---:|---:|\n",
        figures.seeds,
        if figures.quick { ", a twentieth of the games (--quick)," } else { "" },
        figures.body.games_per_second,
    );
    let share = |share: Option<f64>| share.map_or_else(|| "–".into(), |s| format!("{s:.3}"));
    for row in &figures.body.rows {
        let field = FIELDS.iter().find(|(script, _)| *script == row.field).map_or("", |(_, name)| name);
        let _ = writeln!(
            text,
            "| {} | {} | {field} | {} | {} | {} |",
            row.reading.map_or("", name_of),
            row.label,
            plus_minus(row.mean, row.sd, row.seeds, 3),
            share(row.elsewhere),
            share(row.post),
        );
    }
    let _ = writeln!(text, "\n{}", figures.body.note);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A twentieth of the games covers all rows, and everything that does not depend on the number of games.
    #[test]
    fn all_rows_are_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let options =
            ReproduceOptions { seeds: 1, quick: true, out: folder.path().into(), threads: 2, resume: false };
        let figures = q_post(&options, &Cancel::default()).expect("a disk");
        assert_eq!(figures.body.rows.len(), Reading::ALL.len() * 14 + 10);
        assert!(figures.body.rows.iter().all(|r| (0.0..=1.0).contains(&r.mean) && r.seeds == 1));
        let of =
            |label: &str| figures.body.rows.iter().find(|r| r.label.starts_with(label)).expect(label).mean;
        assert!(of("call if P < .15") > of("true.prob") && of("true.prob") > of("random"));
        assert!(figures.files.iter().all(|file| file.exists()));
        let cancel = Cancel::default();
        cancel.cancel();
        assert!(q_post(&options, &cancel).is_err());
    }
}
