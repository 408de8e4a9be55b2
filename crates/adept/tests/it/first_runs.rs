//! Runs that end before they start: what they leave behind, and what may follow them.

use crate::common::{
    MLP, StopAt, at, config, finished, from, load_any, parse, state, sweep, train, train_seeds,
};
use adept::{Builtin, One};
use adept_builtin::bearoff::{Bearoff, Distribution, labelled, two_sided};
use adept_game::{Afterstate, Channel, ChannelKind, EncoderFn, Encoders, Game, GameError, Kit, RowMut, Turn};
use adept_lab::files::check_any;
use adept_lab::seeds::Seeds;
use adept_lab::sweep::{Grid, SweepError, SweepOptions};
use adept_trainer::config::{Config, Source};
use adept_trainer::run::{Cancel, Remedy, Silent, TrainError, TrainOptions, lock_of, record_of, setting_of};
use std::fs;
use std::path::Path;

/// A config that learns from the positions of a file.
fn of_file(file: &Path, rate: &str) -> String {
    format!(
        "name = \"test\"\ngame = {{ rules = \"bearoff:4\", encoder = \"one-sided\" }}\n[architecture.mlp]\nhidden = [3]\n\
         output = \"linear\"\n[learn]\nrate = {rate}\n[learn.supervised]\nsamples = 400\nexamples = {:?}\n",
        file.display().to_string()
    )
}

fn parsed(text: String) -> Config {
    parse(&Source { file: "test.toml".into(), text, set: vec![] }).unwrap_or_else(|e| panic!("{e}"))
}

/// Labelled positions of the bear-off with four checkers.
fn write_examples(file: &Path) {
    let (table, _) = two_sided::Table::solve(two_sided::Settings::new(4), &mut |_| {}).unwrap();
    labelled::write_samples(&table, Distribution::Checkers, 4, 300, 1, file).unwrap();
}

fn fails(config: &Config, options: &TrainOptions) -> TrainError {
    train(config, 1, options, &Silent, &Cancel::default()).expect_err("it cannot run")
}

#[test]
fn what_cannot_be_read_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (folder.path().join("rows.csv"), folder.path().join("run"));
    let config = parsed(of_file(&file, "0.01"));
    let error = fails(&config, &at(&run));
    assert!(matches!(&error, TrainError::Game(e) if e.to_string().contains("rows.csv")), "{error:?}");
    assert_eq!(setting_of(&config, &error), Some("learn.supervised.examples"));
    assert!(!run.exists());

    // A bad row, and too few rows for the test part.
    let header = labelled::COLUMNS.join(",");
    fs::write(&file, format!("{header}\n1,0,0,0,0,0,1,0,0,0,0,0,1\n1,0,0,0,0,0,x,0,0,0,0,0,1\n")).unwrap();
    let error = fails(&config, &at(&run)).to_string();
    assert!(error.contains("line 3, column opp1"), "{error}");
    fs::write(&file, format!("{header}\n1,0,0,0,0,0,1,0,0,0,0,0,1\n")).unwrap();
    assert!(fails(&config, &at(&run)).to_string().contains("none of its 1 rows"));
    assert!(!run.exists());

    let seeds = Seeds { first: 1, count: 3, threads: 2 };
    let all = TrainOptions { out: Some(folder.path().join("seeds")), ..TrainOptions::default() };
    let results = train_seeds(&config, seeds, &all, &Silent, &Cancel::default());
    assert!(results.len() == 3 && results.iter().all(|(_, result)| result.is_err()));
    assert!(!folder.path().join("seeds").exists());

    write_examples(&file);
    assert!(finished(&config, 1, &run).finished);
}

#[test]
fn a_run_without_a_checkpoint_makes_way() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (folder.path().join("rows.csv"), folder.path().join("run"));
    write_examples(&file);
    let (wild, tame) = (parsed(of_file(&file, "1e9")), parsed(of_file(&file, "0.01")));
    assert!(matches!(fails(&wild, &at(&run)), TrainError::Diverged { .. }));
    let record = record_of(&run).unwrap().unwrap();
    assert!(record.latest.is_none() && !record.finished);
    // Leftovers of other failures: pictures, a checkpoint without a record, a truncated file.
    for name in ["curve.svg", "references.json", ".run.json.123"] {
        fs::write(run.join(name), "old").unwrap();
    }
    fs::create_dir_all(run.join("checkpoints/000000000100")).unwrap();

    // Another process working in the folder and its run are not disturbed.
    let lock = lock_of(&run).unwrap();
    for fresh in [false, true] {
        let error = fails(&tame, &TrainOptions { fresh, ..at(&run) }).to_string();
        assert!(error.contains("another process is using this run"), "{error}");
    }
    assert_eq!(record_of(&run).unwrap().unwrap(), record);
    drop(lock);

    finished(&tame, 1, &run);
    let clean = folder.path().join("clean");
    finished(&tame, 1, &clean);
    assert!(state(&run) == state(&clean));
    let names = |folder: &Path| -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&run), names(&clean));
    assert_eq!(names(&run.join("checkpoints")), names(&clean.join("checkpoints")));
    assert_ne!(fs::read_to_string(run.join("references.json")).unwrap_or_default(), "old");
}

#[test]
fn a_fresh_start_replaces_what_is_unfinished_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (run, clean) = (folder.path().join("run"), folder.path().join("clean"));
    let (old, new) = (config(MLP, "games = 300\nrate = 0.01"), config(MLP, "games = 200\nrate = 0.02"));
    let cancel = Cancel::default();
    train(&old, 1, &at(&run), &StopAt(100, cancel.clone()), &cancel).unwrap();
    let remedies = |error: TrainError| match error {
        TrainError::Taken { remedies, .. } => remedies,
        other => panic!("{other}"),
    };
    let error = fails(&new, &at(&run));
    let text = error.to_string();
    assert!(text.contains("stopped after 100 of 300 games: start anew in its place"), "{text}");
    assert_eq!(remedies(error), [Remedy::Fresh, Remedy::Init]);
    assert_eq!(remedies(fails(&old, &at(&run))), [Remedy::Resume, Remedy::Fresh]);

    let fresh = |path: &Path| TrainOptions { fresh: true, ..at(path) };
    train(&new, 1, &fresh(&run), &Silent, &Cancel::default()).unwrap();
    finished(&new, 1, &clean);
    assert!(state(&run) == state(&clean));
    // A finished run stays in any case.
    let record = record_of(&run).unwrap();
    for config in [&new, &old] {
        assert_eq!(remedies(fails(config, &fresh(&run))), [Remedy::Init]);
    }
    assert_eq!(record_of(&run).unwrap(), record);
    // Foreign files stay too.
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "years of work").unwrap();
    assert!(fails(&new, &fresh(&foreign)).to_string().contains("thesis.tex"));
}

#[test]
fn initial_weights_are_not_forgotten_by_resuming() {
    let folder = tempfile::tempdir().unwrap();
    let (first, run) = (folder.path().join("first"), folder.path().join("run"));
    let learned = config(MLP, "games = 100\nrate = 0.01");
    finished(&learned, 1, &first);
    let wild = config("mlp]\nhidden = [20]\nsensitivity = 3.0", "games = 50\nrate = 0.01");
    // Stopped before anything was saved, as after a kill.
    let begun = TrainOptions { init: from(&first), ..at(&run) };
    train(&wild, 1, &begun, &Silent, &Cancel::default()).unwrap();
    let path = run.join("run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    (record["finished"], record["latest"], record["step"]) =
        (false.into(), serde_json::Value::Null, 0.into());
    fs::write(&path, record.to_string()).unwrap();
    let error = fails(&wild, &TrainOptions { resume: true, ..at(&run) }).to_string();
    assert!(error.contains("which began with the weights of") && error.contains("start anew"), "{error}");
    train(&wild, 1, &TrainOptions { resume: true, ..begun }, &Silent, &Cancel::default()).unwrap();
}

#[test]
fn a_sweep_of_which_nothing_is_left_makes_way() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rows.csv"), folder.path().join("sweep"));
    write_examples(&file);
    let grid = |rates: &str| {
        let source = Source {
            file: "test.toml".into(),
            text: of_file(&file, "0.01"),
            set: vec![format!("learn.rate={rates}")],
        };
        Grid::new(&source, &Builtin).unwrap()
    };
    let options = SweepOptions { out: Some(out.clone()), resume: false };
    let seeds = Seeds { first: 1, count: 1, threads: 1 };
    let run = |rates: &str| sweep(&grid(rates), seeds, &options, &|_| {}, &Cancel::default());
    let diverged = run("1e9,9e8").unwrap();
    assert!(diverged.rows.iter().all(|row| row.seeds == 0));
    let before: Vec<_> = diverged.rows.iter().flat_map(|row| &row.failed).map(|f| f.run.clone()).collect();
    assert!(before.len() == 2 && before.iter().all(|run| run.exists()));
    let good = run("0.01,0.02").unwrap();
    assert!(good.rows.iter().all(|row| row.seeds == 1));
    assert!(before.iter().all(|run| !run.exists()));
    // A sweep with results stays.
    assert!(matches!(run("0.03,0.04"), Err(SweepError::Folder { .. })));
}

/// A player who throws a one wins; with `endless`, a player may also pass the die on.
#[derive(Clone)]
struct Dice {
    endless: bool,
}

impl Game for Dice {
    type State = (usize, u8);
    type Action = u8;
    type Info = Self::State;

    fn name(&self) -> &str {
        if self.endless { "passing" } else { "dice" }
    }
    fn players(&self) -> usize {
        2
    }
    fn start(&self) -> Self::State {
        (0, 0)
    }
    /// Stages: 0 the player's move, 1 the throw, 2 lost, 3 won by the last player.
    fn turn(&self, (player, stage): &Self::State) -> Turn {
        match stage {
            0 => Turn::Player(*player),
            1 => Turn::Chance,
            _ => Turn::Over,
        }
    }
    fn actions(&self, _: &Self::State, actions: &mut Vec<u8>) {
        actions.clear();
        actions.extend(if self.endless { 0..2 } else { 1..2 });
    }
    fn apply(&self, (player, stage): &mut Self::State, action: &u8) {
        match (*stage, *action) {
            (0, 0) => *player = 1 - *player,
            (0, _) => *stage = 1,
            (_, outcome) => *stage = 2 + outcome,
        }
    }
    fn outcomes(&self, _: &Self::State, outcomes: &mut Vec<(u8, f64)>) -> bool {
        outcomes.clear();
        outcomes.extend([(0, 5.0 / 6.0), (1, 1.0 / 6.0)]);
        true
    }
    fn utility(&self, (last, stage): &Self::State, player: usize) -> f64 {
        if (player == *last) == (*stage == 3) { 1.0 } else { -1.0 }
    }
    fn info(&self, state: &Self::State, _: usize) -> Self::Info {
        *state
    }
    fn position_text(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
    fn parse_position(&self, text: &str) -> Result<(Self::State, Option<u8>), GameError> {
        Err(GameError::new(text))
    }
    fn action_text(&self, _: &Self::State, action: &u8) -> String {
        action.to_string()
    }
}

impl Kit for Dice {
    fn encoders(&self) -> Encoders<'_, Self> {
        let channel = Channel::fixed("stage", ChannelKind::Bits(4), "the stage");
        let write = |_: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| {
            row.dense[usize::from(after.state.1)] = 1.0;
        };
        EncoderFn::new("stage", vec![channel], write).listed("the stage")
    }
    fn is_small(&self) -> bool {
        true
    }
}

/// Failures of the first measurement are found in advance, with the line and the setting to change.
#[test]
fn checks_refuse_what_a_run_cannot_measure() {
    let check = |endless: bool, against: &str, suites: &str| {
        let game = Dice { endless };
        let text = format!(
            "name = \"t\"\n[game]\nrules = \"{}\"\n[architecture.mlp]\nhidden = [2]\n[learn]\nrate = 0.01\n[learn.td]\n\
             games = 100\nagainst = \"{against}\"\n[evaluate]\nsuites = [{suites}]\n",
            game.name()
        );
        let source = Source { file: "t.toml".into(), text, set: vec![] };
        adept_trainer::config::parse(&source, &One(game)).map(drop).map_err(|e| e.to_string())
    };
    assert_eq!(check(false, "random", "\"equity\""), Ok(()));
    assert_eq!(check(false, "optimal:random", "\"equity\""), Ok(()));
    assert_eq!(check(true, "random", "\"matches\""), Ok(()));
    for (endless, against, suites, place, what) in [
        (
            false,
            "minimax",
            "\"equity\"",
            "t.toml:10:",
            "`learn.td.against`: `minimax` needs a game without chance",
        ),
        (false, "optimal:minimax", "\"matches\"", "t.toml:10:", "needs a game without chance"),
        (true, "optimal:random", "\"matches\"", "t.toml:10:", "can come back to a position"),
        (true, "random", "\"equity\"", "t.toml:12:", "`evaluate.suites`: play cannot be measured exactly"),
        (true, "random", "\"grade\", \"matches\"", "t.toml:12:", "can come back to a position"),
    ] {
        let error = check(endless, against, suites).unwrap_err();
        assert!(error.starts_with(place) && error.contains(what), "{error}");
    }
}

#[test]
fn a_check_opens_what_the_config_names() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, toml) = (folder.path().join("rows.csv"), folder.path().join("a.toml"));
    fs::write(&toml, of_file(&rows, "0.01")).unwrap();
    assert!(load_any(&toml, &[]).is_ok());
    let error = check_any(&toml, &[], &Builtin).unwrap_err();
    assert_eq!(error.at.place, Some((10, 1)), "{error}");
    assert!(error.to_string().contains("`learn.supervised.examples`") && error.cause.is_some(), "{error}");
    fs::write(&rows, format!("{}\n1,2\n", labelled::COLUMNS.join(","))).unwrap();
    let error = check_any(&toml, &[], &Builtin).unwrap_err();
    assert!(error.at.place.is_some() && error.to_string().contains("rows.csv"), "{error}");
    // The error names the command line setting if it names the file.
    let set = ["learn.supervised.examples=\"gone.csv\"".to_string()];
    let error = check_any(&toml, &set, &Builtin).unwrap_err().to_string();
    assert!(error.starts_with("--set learn.supervised.examples") && error.contains("gone.csv"), "{error}");
    write_examples(&rows);
    check_any(&toml, &[], &Builtin).unwrap();
    // Learners of a tournament too.
    fs::write(&rows, "").unwrap();
    let cup = folder.path().join("cup.toml");
    let text = format!(
        "name = \"cup\"\ngame = \"bearoff:4\"\ngames = 10\n[[agents]]\nname = \"random\"\n[[agents]]\nname = \"l\"\nlearns = {:?}\n",
        toml.display().to_string()
    );
    fs::write(&cup, text).unwrap();
    let error = check_any(&cup, &[], &Builtin).unwrap_err();
    assert_eq!(error.at.place, Some((8, 1)), "{error}");
    let game = Bearoff::named("bearoff:4").unwrap();
    assert!(game.files().has_values(&game, &rows).is_ok_and(|has| !has));
}
