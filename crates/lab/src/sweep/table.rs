//! The table of a sweep: one row per combination, best first.

use super::grid::{Grid, label};
use super::job::{Failure, Job, State};
use crate::catalogue::Catalogue;
use crate::checkpoints;
use crate::statistics::{Sample, Seeded, difference};
use adept_trainer::config::Figure;
use adept_trainer::run::{Score, TrainError, losses};
use adept_trainer::settings::show;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The result of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    /// Its folder.
    pub sweep: PathBuf,
    /// Name of the experiment.
    pub name: String,
    /// The figure that ranks the rows; `None` if the mean loss per sample over the games before the last measurement does.
    #[serde(rename = "metric", serialize_with = "metric")]
    pub figure: Option<Figure>,
    /// Opponent, if equity ranks.
    pub against: Option<String>,
    /// Whether all runs have ended.
    pub finished: bool,
    /// First seed.
    pub first_seed: u64,
    /// Seeds per combination.
    pub seeds: u64,
    /// One row per combination: complete ones best first, then those with unfinished runs, then those with a
    /// failed run.
    pub rows: Vec<Row>,
    /// The first seed after those of the sweep.
    #[serde(skip)]
    next_seed: u64,
    /// Keys with several values.
    #[serde(skip)]
    keys: Vec<String>,
}

/// One combination.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The varying keys, with their values.
    pub settings: Map<String, Value>,
    /// Number of finished runs; the figures are over these.
    pub seeds: usize,
    /// Mean metric at the end of a run.
    pub final_mean: Option<f64>,
    /// Standard deviation; `None` with fewer than two runs.
    pub final_sd: Option<f64>,
    /// Mean of the best metric in each run.
    pub best_mean: Option<f64>,
    /// Mean seconds per run.
    pub seconds: Option<f64>,
    /// Folders of the finished runs.
    pub runs: Vec<PathBuf>,
    /// Runs that failed.
    pub failed: Vec<Failure>,
    /// The metric at the end of each finished run.
    #[serde(skip)]
    finals: Vec<Seeded>,
    /// Number of parameters of the first run, which breaks ties.
    #[serde(skip)]
    parameters: usize,
}

impl Sweep {
    pub(super) fn new(
        games: &dyn Catalogue,
        path: &Path,
        grid: &Grid,
        seeds: &[u64],
        all: &[(&Job<'_>, &State)],
    ) -> Result<Self, TrainError> {
        // The jobs of a combination are adjacent.
        let groups = all.chunk_by(|a, b| std::ptr::eq(a.0.combination, b.0.combination));
        let mut rows =
            groups.map(|runs| Row::new(games, runs, grid.figure)).collect::<Result<Vec<_>, _>>()?;
        // A stable sort keeps equal rows in the order of the grid.
        rows.sort_by(|a, b| {
            let [a, b] = [a, b].map(|row| row.rank(grid.figure, seeds.len() as u64));
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        });
        Ok(Self {
            sweep: path.into(),
            name: grid.name.clone(),
            figure: grid.figure,
            against: grid.against.clone(),
            finished: !all.iter().any(|(_, s)| s.is_open() || s.failed_for_now()),
            first_seed: seeds.first().copied().unwrap_or(grid.seed),
            seeds: seeds.len() as u64,
            next_seed: seeds.iter().max().map_or(1, |last| last.saturating_add(1)),
            rows,
            keys: grid.keys.clone(),
        })
    }

    /// The table as text: column names and cells.
    pub fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let text = |v: f64| self.figure.map_or_else(|| format!("{v:.5}"), |figure| figure.text(v));
        let number = |v: Option<f64>| v.map_or_else(|| "–".to_string(), text);
        let header = self.keys.iter().map(String::as_str).chain(["final", "best", "seconds", "seeds"]);
        let row = |row: &Row| {
            let spread = row
                .final_sd
                .map_or_else(String::new, |sd| format!(" ± {}", text(sd).trim_start_matches('+')));
            let seeds = match row.seeds as u64 == self.seeds {
                true => row.seeds.to_string(),
                false => format!("{} of {}", row.seeds, self.seeds),
            };
            let settings = self.keys.iter().map(|key| show(row.settings.get(key)));
            let figures = [
                number(row.final_mean) + &spread,
                number(row.best_mean),
                row.seconds.map_or_else(|| "–".into(), |s| format!("{s:.1}")),
                seeds,
            ];
            settings.chain(figures).collect()
        };
        (header.map(String::from).collect(), self.rows.iter().map(row).collect())
    }

    /// The best combination, its lead over the next, and whether that is significant. `None` unless two combinations
    /// are complete. Losses are not compared: they depend on the samples of each run.
    fn verdict(&self) -> Option<String> {
        let [best, next] = [self.rows.first()?, self.rows.get(1)?];
        let is_whole = |row: &Row| row.failed.is_empty() && row.seeds as u64 == self.seeds;
        if !is_whole(best) || !is_whole(next) || self.figure.is_none() {
            return None;
        }
        let by = (best.final_mean? - next.final_mean?).abs();
        let names = [best, next].map(|row| label(&row.settings));
        if by < 1e-9 {
            return Some(format!("best: {} and {} are equal", names[0], names[1]));
        }
        let number = |v: f64| if v < 1e-3 { format!("{v:.2e}") } else { format!("{v:.4}") };
        let sure = match difference(&best.finals, &next.finals).map(|test| test.p) {
            None if self.seeds < 2 => "one seed each, so not tested".to_string(),
            None => "the difference does not vary over the seeds, so not tested".into(),
            Some(p) if p < 1e-4 => "significant, p < 0.0001".into(),
            Some(p) if p < 0.05 => format!("significant, p = {p:.4}"),
            Some(p) => format!("not significant, p = {p:.2}"),
        };
        Some(format!("best: {}, by {} before {} ({sure})", names[0], number(by), names[1]))
    }

    /// Notes below the table, one per line.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.verdict().into_iter().collect();
        let against = self.against.as_deref().unwrap_or_default();
        notes.push(match self.figure {
            Some(Figure::Matches) => {
                format!("points per game against {against}: mean ± sd over the seeds")
            }
            Some(Figure::Equity) => {
                format!("exact match equity against {against}, (wins − losses) / games: mean ± sd over the seeds")
            }
            Some(Figure::Exploitability) => {
                "exploitability, (br₀ + br₁) / 2, lower is better: mean ± sd over the seeds".into()
            }
            Some(Figure::Rms) => {
                "root mean square error of V on the test positions, lower is better: mean ± sd over the seeds".into()
            }
            None => "mean loss of a sample before the last measurement, lower is better: mean ± sd over the seeds; \
                     each run has its own samples, so the loss says little across settings that change them"
                .into(),
        });
        for row in &self.rows {
            if let Some(first) = row.failed.first() {
                let settings = if row.settings.is_empty() { &self.name } else { &label(&row.settings) };
                let seeds: Vec<String> = row.failed.iter().map(|f| f.seed.to_string()).collect();
                let which = if seeds.len() > 1 { "the first " } else { "" };
                notes.push(format!("{settings}, seed {}: {which}{}", seeds.join(", "), first.reason));
            }
        }
        let ranked = self.rows.iter().filter(|row| row.seeds > 0).count();
        if ranked > 1 {
            notes.push(format!(
                "the best of {ranked} is selected on these seeds, so its figure is optimistic: confirm it on new ones, \
                 with its settings alone, `--seed {}` and another folder (`--out`)",
                self.next_seed
            ));
        }
        if !self.finished {
            notes.push("stopped before the end: resume it".into());
        }
        notes
    }

    /// The table as a Markdown document.
    pub(super) fn markdown(&self) -> String {
        let (header, rows) = self.cells();
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("# Sweep of {}\n\n", self.name) + &line(&header);
        text += &line(&vec!["---".to_string(); header.len()]);
        text.extend(rows.iter().map(|row| line(row)));
        text.push('\n');
        text.extend(self.notes().iter().map(|note| format!("- {note}\n")));
        text
    }
}

/// The name of what ranks the rows.
fn metric<S: Serializer>(figure: &Option<Figure>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(figure.map_or("loss", Figure::name))
}

/// Whether the text of a table has a row with a finished run.
pub(super) fn shows_results(markdown: &str) -> bool {
    let rows = markdown.lines().filter(|line| line.starts_with("| ")).skip(2);
    // The last column counts runs: `2`, or `1 of 2`.
    let count =
        |row: &str| row.trim_end_matches([' ', '|']).rsplit("| ").next().unwrap_or_default().to_string();
    rows.map(count).any(|count| !count.starts_with("0 of "))
}

impl Row {
    /// The row of a combination's runs, at least one.
    fn new(
        games: &dyn Catalogue,
        runs: &[(&Job<'_>, &State)],
        ranks: Option<Figure>,
    ) -> Result<Self, TrainError> {
        let (mut finals, mut bests, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
        let (mut paths, mut failed) = (Vec::new(), Vec::new());
        for (job, state) in runs {
            match state {
                State::Open => {}
                State::Failed(failure) => failed.push(failure.clone()),
                State::Finished(record) => {
                    let figure = |score: &Option<Score>| score.as_ref().map(Score::figure);
                    let (last, best) = match ranks {
                        Some(_) => (figure(&record.r#final), figure(&record.best)),
                        None => losses(&job.path, record).ok().flatten().unzip(),
                    };
                    finals.extend(last.map(|last| (record.seed, last)));
                    bests.extend(best);
                    seconds.push(record.seconds);
                    paths.push(job.path.clone());
                }
            }
        }
        let parameters = match paths.first() {
            // Only breaks ties.
            Some(run) => checkpoints::describe(games, run, false).map_or(0, |d| d.size.parameters),
            None => 0,
        };
        let last = Sample::new(&finals.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        Ok(Self {
            settings: runs.first().map(|(job, _)| job.combination.settings.clone()).unwrap_or_default(),
            seeds: paths.len(),
            final_mean: last.mean,
            final_sd: last.sd,
            best_mean: Sample::new(&bests).mean,
            seconds: Sample::new(&seconds).mean,
            runs: paths,
            failed,
            finals,
            parameters,
        })
    }

    /// Sort key: smaller is better.
    fn rank(&self, figure: Option<Figure>, seeds: u64) -> (u8, f64, usize) {
        let class = match () {
            () if !self.failed.is_empty() => 2,
            () if (self.seeds as u64) < seeds => 1,
            () => 0,
        };
        let loss = |mean: f64| figure.map_or(mean, |figure| -figure.merit(mean));
        let score = self.final_mean.map_or(f64::INFINITY, loss);
        // Sums in another order differ in their last bits, which must not affect the ranking.
        (class, (score * 1e9).round(), self.parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, seeds: usize, mean: Option<f64>, parameters: usize, fails: bool) -> Row {
        let failure = || Failure { run: "run".into(), seed: 1, reason: "diverged".into(), diverged: true };
        Row {
            settings: Map::from_iter([("key".to_string(), Value::from(name))]),
            seeds,
            final_mean: mean,
            final_sd: None,
            best_mean: mean,
            seconds: None,
            runs: Vec::new(),
            finals: Vec::new(),
            failed: fails.then(failure).into_iter().collect(),
            parameters,
        }
    }

    #[test]
    fn a_table_without_finished_runs_is_known() {
        let table = |seeds: usize| Sweep {
            sweep: "sweep".into(),
            name: "test".into(),
            figure: Some(Figure::Equity),
            against: None,
            finished: false,
            first_seed: 1,
            seeds: 2,
            next_seed: 3,
            rows: vec![row("a | b", seeds, None, 1, false), row("b", 0, None, 1, true)],
            keys: vec!["key".into()],
        };
        assert_eq!([0, 1, 2].map(|n| shows_results(&table(n).markdown())), [false, true, true]);
        assert!(!shows_results(""));
    }

    #[test]
    fn rows_rank_by_end_then_metric_then_size() {
        let rows = [
            row("failed", 1, Some(0.9), 1, true),
            row("stopped", 1, Some(0.8), 1, false),
            row("large", 2, Some(0.5), 90, false),
            row("small", 2, Some(0.5 - 1e-15), 10, false),
            row("worst", 2, Some(0.4), 1, false),
            row("nothing yet", 0, None, 0, false),
        ];
        let order = |figure| {
            let mut order: Vec<&Row> = rows.iter().collect();
            order.sort_by(|a, b| a.rank(figure, 2).partial_cmp(&b.rank(figure, 2)).unwrap());
            order.iter().map(|r| r.settings["key"].as_str().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(
            order(Some(Figure::Equity)),
            ["small", "large", "worst", "stopped", "nothing yet", "failed"]
        );
        assert_eq!(order(None)[..3], ["worst", "small", "large"]);
    }
}
