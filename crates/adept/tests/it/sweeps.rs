//! Sweeps and comparisons: runs, kept results, refusals and tables.

use crate::common::{BEAROFF_BY_SELF_PLAY, sweep, train_seeds};
use adept::{Builtin, Catalogue};
use adept_lab::compare::compare;
use adept_lab::publish::{PublishOptions, publish};
use adept_lab::report::{ReportOptions, experiments, report};
use adept_lab::seeds::Seeds;
use adept_lab::sweep::{
    Done, Grid, Row, Sweep, SweepError, SweepEvent, SweepOptions, SweepSpec, SweepWatch, Together, What,
    together,
};
use adept_trainer::config::{Config, Source};
use adept_trainer::run::{Cancel, Event, Observer, Record, Steering, TrainOptions};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Mutex;

const TEXT: &str = r#"
name = "test"
[game]
rules = "tictactoe"
[architecture.mlp]
hidden = [6]
output = "linear"
[learn]
rate = 0.01

[learn.td]
against = "ttt"
games = 300
"#;

fn grid_of(set: &[&str]) -> Result<Grid, SweepError> {
    let set = set.iter().map(|s| s.to_string()).collect();
    Grid::new(&Source { file: "test.toml".into(), text: TEXT.into(), set }, &Builtin)
}

fn grid(set: &[&str]) -> Grid {
    grid_of(set).unwrap_or_else(|e| panic!("{e}"))
}

fn seeds(count: u64) -> Seeds {
    Seeds { first: 5, count, threads: 2 }
}

fn at(path: &Path, resume: bool) -> SweepOptions {
    SweepOptions { out: Some(path.into()), resume }
}

fn silent(_: SweepEvent<'_>) {}

fn whole(grid: &Grid, count: u64, path: &Path) -> Sweep {
    sweep(grid, seeds(count), &at(path, false), &silent, &Cancel::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn refusal(grid: &Grid, count: u64, options: &SweepOptions) -> String {
    sweep(grid, seeds(count), options, &silent, &Cancel::default()).unwrap_err().to_string()
}

/// The rows without values that depend on the clock and the folder.
fn figures(sweep: &Sweep) -> Vec<Value> {
    let row = |r: &Row| json!([r.settings, r.seeds, r.final_mean, r.final_sd, r.best_mean]);
    sweep.rows.iter().map(row).collect()
}

fn record(run: &Path) -> Record {
    serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap()
}

#[test]
fn a_grid_runs_and_is_ranked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep");
    let set =
        ["learn.rate=0.01,{from=0.02,to=0.001}", "architecture.mlp.hidden=[4],[6,3]", "learn.games=200"];
    let grid = grid(&set);
    let result = whole(&grid, 2, &path);
    assert!(result.finished && result.against.as_deref() == Some("ttt"));
    assert_eq!(result.rows.len(), 4);
    let means: Vec<f64> = result.rows.iter().map(|r| r.final_mean.unwrap()).collect();
    assert!(means.windows(2).all(|w| w[0] >= w[1] - 1e-9), "{means:?}");
    for row in &result.rows {
        let records: Vec<Record> = row.runs.iter().map(|run| record(run)).collect();
        assert_eq!(records.iter().map(|r| r.seed).collect::<Vec<_>>(), [5, 6]);
        let finals: Vec<f64> = records.iter().map(|r| r.r#final.as_ref().unwrap().figure()).collect();
        let mean = (finals[0] + finals[1]) / 2.0;
        assert!((row.final_mean.unwrap() - mean).abs() < 1e-12 && row.best_mean >= row.final_mean);
        // The row shows the settings of the runs.
        assert_eq!(
            json!(records[0].config.architecture)["mlp"]["hidden"],
            row.settings["architecture.mlp.hidden"]
        );
        assert_eq!(records[0].config.learn.length(), 200);
        assert!(!row.settings.contains_key("learn.games"), "constants are not columns");
    }
    let names: Vec<String> = grid.combinations.iter().map(|c| c.name.clone()).collect();
    assert_eq!(names[0], "1-rate-0.01_hidden-4");
    assert_eq!(names[3], "4-rate-from-0.02-to-0.001_hidden-6-3");
    assert!(path.join("4-rate-from-0.02-to-0.001_hidden-6-3-6/run.json").exists());
    let table = fs::read_to_string(path.join("sweep.md")).unwrap();
    assert!(table.contains("| learn.rate | architecture.mlp.hidden | final |"), "{table}");
    assert!(table.contains("{ from = 0.02, to = 0.001 }") && table.contains("--seed 7"), "{table}");

    // Results do not depend on threads, and a finished sweep returns its result again.
    let other = folder.path().join("other");
    let alone = Seeds { threads: 1, ..seeds(2) };
    let again = sweep(&grid, alone, &at(&other, true), &silent, &Cancel::default()).unwrap();
    assert_eq!(figures(&again), figures(&result));
    let none = |event: SweepEvent<'_>| assert!(matches!(event.what, What::Found), "{} ran again", event.run);
    for resume in [false, true] {
        let again = sweep(&grid, seeds(2), &at(&path, resume), &none, &Cancel::default()).unwrap();
        assert_eq!(json!(again), json!(result));
    }
}

#[test]
fn sweeps_run_together_and_take_more_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let grids = [grid(&["learn.rate=0.01,0.02"]), grid(&["architecture.mlp.hidden=[4]"])];
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let parts = [0, 1].map(|i| SweepSpec { grid: &grids[i], out: outs[i].clone() });
    let train = |config: &Config, seed: u64, options: &TrainOptions, observer: &dyn Observer| {
        Builtin.find(&config.game.rules)?.train(config, seed, options, observer, &Cancel::default())
    };
    let all = |seeds: &[u64], watch: &SweepWatch<'_>| -> Result<Vec<Done>, SweepError> {
        let how = Together { seeds, threads: 2, resume: true, other_seeds: true, train: &train };
        together(&Builtin, &parts, &how, watch, &Cancel::default())
    };
    let found = all(&[5, 6], &silent).unwrap();
    let alone = [0, 1].map(|i| whole(&grids[i], 2, &folder.path().join(format!("alone-{i}"))));
    assert!(found.iter().zip(&alone).all(|(one, alone)| figures(&one.table) == figures(alone)));
    let runs: Vec<(usize, u64, bool)> =
        found[0].runs.iter().map(|r| (r.combination, r.seed, r.finished)).collect();
    assert_eq!(runs, [(0, 5, true), (0, 6, true), (1, 5, true), (1, 6, true)]);

    // Only new runs start, and events name their sweep.
    let (started, begun) = (Mutex::new(Vec::new()), Mutex::new(None));
    let watch = |event: SweepEvent<'_>| match event.what {
        What::Run(Event::Started { .. }) => started.lock().unwrap().push((event.sweep, event.seed)),
        What::Begins { from, total } => *begun.lock().unwrap() = Some((from, total)),
        _ => {}
    };
    let more = all(&[9, 6], &watch).unwrap();
    let mut started = started.into_inner().unwrap();
    started.sort_unstable();
    assert_eq!((started, begun.into_inner().unwrap()), (vec![(0, 9), (0, 9), (1, 9)], Some((900, 1800))));
    assert!(more.iter().all(|one| one.table.finished && one.table.rows.iter().all(|row| row.seeds == 2)));
    // Only new seeds. The table in the folder has the runs of all calls, also after a call with fewer seeds.
    let other = all(&[21, 22], &silent).unwrap();
    assert!(other.iter().all(|one| one.table.finished && one.table.seeds == 2 && one.runs[0].seed == 21));
    let table = || fs::read_to_string(outs[0].join("sweep.md")).unwrap();
    let whole_table = table();
    assert!(whole_table.matches("| 5 |").count() == 2 && whole_table.contains("--seed 23"), "{whole_table}");
    // The command continues with its own seeds.
    let again = sweep(&grids[0], seeds(2), &at(&outs[0], false), &silent, &Cancel::default()).unwrap();
    assert_eq!(figures(&again), figures(&alone[0]));
    assert_eq!(table(), whole_table);
    let error = refusal(&grids[0], 3, &at(&outs[0], true));
    assert!(error.contains("combinations × seeds: 2 × 5, seeds 5–6, 9, 21–22)"), "{error}");
    // Also with individual seeds of studies.
    assert!(all(&[7], &silent).unwrap()[0].table.finished);
    assert!(whole(&grids[0], 3, &outs[0]).rows.iter().all(|row| row.seeds == 3));

    // Nothing starts if one of them cannot.
    fs::create_dir_all(folder.path().join("taken")).unwrap();
    fs::write(folder.path().join("taken/letter.txt"), "mine").unwrap();
    let parts = [
        SweepSpec { grid: &grids[0], out: folder.path().join("new") },
        SweepSpec { grid: &grids[1], out: folder.path().join("taken") },
    ];
    let how = Together { seeds: &[1], threads: 1, resume: true, other_seeds: true, train: &train };
    let refused = together(&Builtin, &parts, &how, &silent, &Cancel::default()).unwrap_err().to_string();
    assert!(refused.contains("letter.txt") && !folder.path().join("new").exists(), "{refused}");
}

#[test]
fn a_stopped_sweep_goes_on_to_the_same_results() {
    let folder = tempfile::tempdir().unwrap();
    let grid = grid(&["learn.rate=0.01,0.02,0.03"]);
    let expected = figures(&whole(&grid, 2, &folder.path().join("whole")));
    let path = folder.path().join("parts");
    let alone = Seeds { threads: 1, ..seeds(2) };
    // Stopped in the middle of the fourth run.
    let cancel = Cancel::default();
    let stop = |event: SweepEvent<'_>| {
        if let What::Run(Event::Progress { step: 100.., .. }) = event.what
            && event.ended == 3
        {
            cancel.cancel();
        }
    };
    let part = sweep(&grid, alone, &at(&path, false), &stop, &cancel).unwrap();
    assert!(!part.finished && part.notes().iter().any(|n| n.contains("resume it")));
    let ended: usize = part.rows.iter().map(|r| r.seeds).sum();
    assert_eq!((ended, part.rows.len()), (3, 3));
    assert!(part.rows[0].seeds == 2 && part.rows[2].final_mean.is_none(), "complete rows come first");
    assert!(part.cells().1[1].last().unwrap() == "1 of 2");

    let error = refusal(&grid, 2, &at(&path, false));
    assert!(error.contains("stopped after 3 of 6 runs") && error.contains("resume it"), "{error}");
    assert!(error.contains("choose another"), "{error}");
    let started = Mutex::new(Vec::new());
    let watch = |event: SweepEvent<'_>| {
        if let What::Run(Event::Started { from, .. }) = event.what {
            started.lock().unwrap().push((event.run.to_string(), from));
        }
    };
    let resumed = sweep(&grid, alone, &at(&path, true), &watch, &Cancel::default()).unwrap();
    assert!(resumed.finished && figures(&resumed) == expected);
    let started = started.into_inner().unwrap();
    assert!(started.len() == 3 && started[0].1 >= 100 && started[1].1 == 0, "{started:?}");
}

#[test]
fn a_diverged_run_stands_at_the_end_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep");
    let grid = grid(&["learn.rate=1e6,0.01"]);
    let result = whole(&grid, 1, &path);
    assert!(result.finished);
    assert_eq!(result.rows[0].settings["learn.rate"], 0.01);
    let last = &result.rows[1];
    assert!(last.seeds == 0 && last.final_mean.is_none() && last.failed[0].diverged);
    assert!(last.failed[0].reason.contains("lower `learn.rate`"), "{}", last.failed[0].reason);
    let table = fs::read_to_string(path.join("sweep.md")).unwrap();
    assert!(table.contains("learn.rate=1000000, seed 5: diverged after"), "{table}");
    // It would diverge again, so it is not repeated.
    let none = |event: SweepEvent<'_>| assert!(matches!(event.what, What::Found), "{} ran again", event.run);
    let again = sweep(&grid, seeds(1), &at(&path, false), &none, &Cancel::default()).unwrap();
    assert_eq!(json!(again), json!(result));
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep");
    let mine = grid(&["learn.rate=0.01,0.02"]);
    whole(&mine, 1, &path);
    for (other, count) in [(grid(&["learn.rate=0.01,0.03"]), 1), (mine.clone(), 2)] {
        let error = refusal(&other, count, &at(&path, true));
        assert!(
            error.contains("holds another sweep (`test`, combinations × seeds: 2 × 1, from seed 5 on)"),
            "{error}"
        );
        assert!(error.contains("choose another"), "{error}");
    }
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "years of work").unwrap();
    let error = refusal(&mine, 1, &at(&foreign, true));
    assert!(error.contains("thesis.tex") && error.contains("choose another"), "{error}");
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1, "nothing was written");
}

/// A sweep without any checkpoint gives way to another one; the user's files next to its runs stay, and so does a table
/// of results.
#[test]
fn another_sweep_removes_only_what_a_run_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep");
    let [first, second] = [grid(&["learn.rate=0.01,0.02"]), grid(&["learn.rate=0.03,0.04"])];
    whole(&first, 1, &path);
    let kept = fs::read_to_string(path.join("sweep.md")).unwrap();
    // Both runs lose their checkpoints, as if they had been stopped immediately.
    let names = ["1-rate-0.01-5", "2-rate-0.02-5"].map(|name| path.join(name));
    let begun = |run: &Path| {
        let mut record = serde_json::to_value(record(run)).unwrap();
        record["latest"] = Value::Null;
        record["finished"] = false.into();
        fs::write(run.join("run.json"), record.to_string()).unwrap();
    };
    names.iter().for_each(|run| begun(run));
    for name in ["notes.txt", "run.json.bak", "checkpoints/mine"] {
        fs::write(names[0].join(name), "years of work").unwrap();
    }
    let error = refusal(&second, 1, &at(&path, true));
    assert!(error.contains("sweep.md has results of missing runs"), "{error}");
    let error = refusal(&first, 1, &at(&path, true));
    assert!(error.contains("sweep.md has results of missing runs"), "{error}");
    assert_eq!(fs::read_to_string(path.join("sweep.md")).unwrap(), kept);

    fs::remove_file(path.join("sweep.md")).unwrap();
    assert!(whole(&second, 1, &path).finished);
    let mut left: Vec<String> = fs::read_dir(&names[0])
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["checkpoints", "notes.txt", "run.json.bak"]);
    assert_eq!(fs::read_dir(names[0].join("checkpoints")).unwrap().count(), 1);
    assert!(!names[1].exists());
}

#[test]
fn faults_of_the_grid_are_named_before_anything_runs() {
    for (set, parts) in [
        (
            &["learn.rate=0.01,0.02", "learn.against=ttt,tttt"][..],
            &["learn.rate=0.01, learn.against=tttt: ", "`tttt`"][..],
        ),
        (&["learn.rate=0.01,fast"], &["learn.rate=fast: --set learn.rate=fast", "a number"]),
        (&["learn.rate=0.01,1e-2"], &["are the same experiment"]),
        (&["learn.rate=0.01", "learn.rate=0.02"], &["`learn.rate` is set twice"]),
        (&["seed=1,2"], &["not part of the grid"]),
        (&["learn.against=ttt,self"], &["against ttt", "against random", "'evaluate.against="]),
        (&["game.rules=tictactoe,bearoff", "evaluate.suites=[]"], &["game.rules=tictactoe: ", "equity"]),
        (&["learn.rat=1"], &["--set learn.rat=1", "did you mean `rate`"]),
        (&["learn.rate=0.01,"], &["a value is missing"]),
    ] {
        let error = grid_of(set).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{set:?}: {error}");
    }
    let named = grid(&["learn.against=ttt,self", "evaluate.against=[\"random\"]"]);
    assert_eq!(named.against.as_deref(), Some("random"));
}

#[test]
fn without_equity_the_loss_ranks() {
    let text = BEAROFF_BY_SELF_PLAY.to_string();
    let set =
        ["learn.games=60", "architecture.mlp.hidden=[4],[5]", "evaluate.every=20", "evaluate.suites=[]"]
            .map(String::from);
    let grid = Grid::new(&Source { file: "test.toml".into(), text, set: set.into() }, &Builtin).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let result = whole(&grid, 1, folder.path());
    assert!(json!(result)["metric"] == "loss" && result.against.is_none());
    let figures: Vec<(f64, f64)> =
        result.rows.iter().map(|r| (r.final_mean.unwrap(), r.best_mean.unwrap())).collect();
    assert!(figures[0].0 <= figures[1].0 && figures.iter().all(|(last, best)| best <= last), "{figures:?}");
    assert!(result.rows[0].final_sd.is_none(), "one seed has no deviation");
}

#[test]
fn two_experiments_are_compared_by_settings_and_by_their_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep");
    let result = whole(&grid(&["learn.rate=0.01,0.02"]), 3, &path);
    // Folder names without seeds name the experiments.
    let found = compare(&path.join("1-rate-0.01"), &path.join("2-rate-0.02")).unwrap();
    let keys: Vec<&str> = found.config.iter().map(|d| d.key.as_str()).collect();
    assert_eq!(keys, ["learn.rate"]);
    assert_eq!((&found.config[0].a, &found.config[0].b), (&Some(json!(0.01)), &Some(json!(0.02))));
    let names: Vec<&str> = found.metrics.iter().map(|m| m.metric.as_str()).collect();
    assert_eq!(names, ["final_equity", "best_equity", "loss", "seconds", "games"]);
    let equity = &found.metrics[0];
    let row = |rate: f64| result.rows.iter().find(|r| r.settings["learn.rate"] == rate).unwrap();
    assert_eq!((equity.a.mean, equity.a.sd, equity.a.n), (row(0.01).final_mean, row(0.01).final_sd, 3));
    let difference = equity.difference.unwrap();
    assert!((difference - row(0.02).final_mean.unwrap() + row(0.01).final_mean.unwrap()).abs() < 1e-12);
    let [low, high] = equity.ci95.unwrap();
    assert!(low <= difference && difference <= high && (0.0..=1.0).contains(&equity.p.unwrap()));
    // All runs have the same number of games: no test, and no NaN.
    let games = &found.metrics[4];
    assert!(games.a.sd == Some(0.0) && games.difference == Some(0.0));
    assert!(games.ci95.is_none() && games.p.is_none());

    // One run against several, and a folder of several experiments.
    let one = compare(&path.join("1-rate-0.01-5"), &path.join("2-rate-0.02")).unwrap();
    assert!(one.metrics[0].p.is_none() && one.metrics[0].a.sd.is_none());
    assert!(one.notes.iter().any(|n| n.contains("side a has one seed")), "{:?}", one.notes);
    let error = compare(&path, &path.join("2-rate-0.02")).unwrap_err().to_string();
    assert!(error.contains("several experiments: `learn.rate` is 0.01"), "{error}");
    let error = compare(&path.join("3-rate"), &path).unwrap_err().to_string();
    assert!(error.contains("names no runs"), "{error}");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let runs = |name: &str, set: &[&str], cancel_at: Option<usize>| {
        let config = grid(set).combinations.remove(0).config;
        let path = folder.path().join(name);
        let options = TrainOptions { out: Some(path.clone()), ..Default::default() };
        let cancel = Cancel::default();
        let stop = StopIn(cancel_at, Default::default(), cancel.clone());
        train_seeds(&config, Seeds { threads: 1, ..seeds(3) }, &options, &stop, &cancel);
        path
    };
    let ttt = runs("ttt", &[], None);
    let random = runs("random", &["evaluate.against=[\"random\"]"], None);
    let found = compare(&ttt, &random).unwrap();
    assert!(found.notes[0].contains("not comparable") && found.notes[0].contains("tictactoe against ttt"));
    let equity = &found.metrics[0];
    assert!(equity.a.n == 3 && equity.difference.is_none() && equity.p.is_none());
    assert!(found.metrics[2].difference.is_some());

    let part = runs("part", &["learn.rate=0.02"], Some(3));
    let found = compare(&ttt, &part).unwrap();
    assert_eq!((found.runs.b.len(), &found.unfinished.b), (2, &vec![part.join("test-7")]));
    let begun = runs("begun", &["learn.rate=0.03"], Some(1));
    let error = compare(&begun, &ttt).unwrap_err().to_string();
    assert!(error.contains("has no finished run") && error.contains("test-5"), "{error}");
}

/// Stops in the middle of this run, counted from 1.
struct StopIn(Option<usize>, std::sync::atomic::AtomicUsize, Cancel);

impl adept_trainer::run::Observer for StopIn {
    fn event(&self, _: u64, event: Event<'_>) {
        use std::sync::atomic::Ordering::Relaxed;
        match event {
            Event::Started { .. } => {
                self.1.fetch_add(1, Relaxed);
            }
            Event::Progress { step: 100.., .. } if Some(self.1.load(Relaxed)) == self.0 => self.2.cancel(),
            _ => {}
        }
    }
}

/// Changes the rate after the measurements at these steps, and records messages.
struct Steers<'a>(&'a [u64], Steering, &'a Config, Mutex<Vec<String>>);

impl Observer for Steers<'_> {
    fn event(&self, _: u64, event: Event<'_>) {
        match event {
            Event::Evaluated(evaluation) if self.0.contains(&evaluation.step) => {
                self.1.change(self.2, "learn.rate", Some(0.5 / evaluation.step as f64)).unwrap();
            }
            Event::Preparing(what) => self.3.lock().unwrap().push(what.into()),
            _ => {}
        }
    }
}

/// Runs with changed settings differ from their config, and all outputs say so.
#[test]
fn steered_runs_are_told_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let config = grid(&["evaluate.every=100", "learn.games=200"]).combinations.remove(0).config;
    let train = |seed: u64, steps: &[u64]| {
        let path = folder.path().join(format!("test-{seed}"));
        let options = TrainOptions { out: Some(path), ..Default::default() };
        let observer = Steers(steps, options.steering.clone(), &config, Mutex::default());
        let game = Builtin.find("tictactoe").unwrap();
        let (_, record) = game.train(&config, seed, &options, &observer, &Cancel::default()).unwrap();
        (record, observer.3.into_inner().unwrap())
    };
    // An answer to the last measurement has no effect.
    let plain = train(6, &[200]).0;
    assert!(plain.finished && plain.changed.is_empty());
    let (steered, said) = train(5, &[100, 200]);
    assert_eq!((steered.changes(), said.len()), ("learn.rate = 0.005 from step 100 on".into(), 0));
    let said = train(5, &[]).1;
    assert!(
        said[0].contains("`test` (seed 5) were changed") && said[0].contains(&steered.changes()),
        "{said:?}"
    );
    assert!(train(6, &[]).1.is_empty());

    let published = |name: &str| {
        let (given, out) = (folder.path().join(name), folder.path().join("out").join(name));
        let done = publish(&Builtin, &given, &out, &PublishOptions::default()).map_err(|e| e.to_string())?;
        Ok::<_, String>(fs::read_to_string(done.card).unwrap())
    };
    let error = published("test").unwrap_err();
    assert!(error.contains("with other settings changed while they learned"), "{error}");
    let card = published("test-5").unwrap();
    assert!(card.contains(&steered.changes()) && !card.contains("same bits"), "{card}");
    assert!(published("test-6").unwrap().contains("same bits"));

    let (given, out) = ([folder.path().join("test")], folder.path().join("report.html"));
    report(&Builtin, &experiments(&given).unwrap(), &ReportOptions::default(), &out).unwrap();
    let page = fs::read_to_string(out).unwrap();
    assert!(page.contains(&format!(r#""changed":["seed 5: {}"]"#, steered.changes())));
}

/// A plan saved by an earlier version, with the settings of all methods side by side, continues.
#[test]
fn plans_of_earlier_versions_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep");
    let grid = grid(&["learn.rate=0.01,0.02"]);
    let before = whole(&grid, 1, &path);
    let file = path.join("sweep.json");
    let mut plan: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for combination in plan["combinations"].as_array_mut().unwrap() {
        let learn = combination["config"]["learn"].as_object_mut().unwrap();
        let td = learn.remove("td").expect("the form of today");
        learn.extend(td.as_object().unwrap().clone());
        learn.insert("method".into(), "td".into());
    }
    fs::write(&file, plan.to_string()).unwrap();
    let after = whole(&grid, 1, &path);
    let figures = |sweep: &Sweep| sweep.rows.iter().map(|row| row.final_mean).collect::<Vec<_>>();
    assert_eq!(figures(&after), figures(&before));
}
