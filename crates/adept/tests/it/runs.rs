//! Runs: learning, exact resumption, independence of threads, and clear errors.

use crate::common::measure;
use crate::common::{
    BEAROFF_BY_SELF_PLAY, MLP, StopAt, at, config, finished, from, parse, state, train, train_seeds,
};
use adept_lab::seeds::Seeds;
use adept_trainer::config::{Config, Method, Source};
use adept_trainer::run::{Cancel, Event, Observer, Silent, TrainError, TrainOptions, list_runs};
use std::fs;
use std::path::{Path, PathBuf};

fn only(suite: measure::Suite) -> measure::EvaluateOptions {
    measure::EvaluateOptions { suites: vec![suite], ..Default::default() }
}

#[test]
fn a_network_learns_to_beat_ttt() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        config(MLP, "games = 60_000\nlambda = 0.5\nrate = { from = 0.02, to = 0.001 }\nexplore = 0.2");
    let record = finished(&config, 1, &folder.path().join("run"));
    let score = record.r#final.expect("a finished run has a final score");
    assert!(score.figure() > 0.4, "equity {}", score.figure());
    assert!(record.best.unwrap().figure() >= score.figure());
}

#[test]
fn online_traces_learn_too_and_tables_learn_fastest() {
    let folder = tempfile::tempdir().unwrap();
    let online = config(MLP, "games = 60_000\nlambda = 0.5\nrate = 0.01\nexplore = 0.2\ntraces = \"online\"");
    let table =
        config("lookup]\nby = \"position\"", "games = 60_000\nlambda = 0.5\nrate = 0.2\nexplore = 0.4");
    let table_online = config(
        "lookup]\nby = \"position\"",
        "games = 60_000\nrate = 0.2\nexplore = 0.4\ntraces = \"online\"",
    );
    for (name, config, least) in
        [("online", online, 0.35), ("table", table, 0.6), ("table-online", table_online, 0.55)]
    {
        let score = finished(&config, 1, &folder.path().join(name)).r#final.unwrap();
        assert!(score.figure() > least, "{name}: equity {}", score.figure());
    }
}

#[test]
fn self_play_learns_to_beat_a_random_player() {
    let folder = tempfile::tempdir().unwrap();
    for traces in ["backward", "online"] {
        let learn =
            format!("games = 40_000\nlambda = 0.5\nrate = 0.02\nexplore = 0.2\ntraces = \"{traces}\"");
        let mut config = config(MLP, &learn);
        if let Method::Td(td) = &mut config.learn.method {
            td.against = "self".into();
        }
        let mut untrained = config.clone();
        untrained.learn.set_length(1);
        let path = |name: &str| folder.path().join(format!("{name}-{traces}"));
        let before = finished(&untrained, 1, &path("untrained")).r#final.unwrap().figure();
        let after = finished(&config, 1, &path("run")).r#final.unwrap().figure();
        assert!(after > 0.8 && after > before + 0.2, "{traces}: {before} before, {after} after");
    }
}

/// A game whose start cannot be enumerated is trained without equity: no checkpoint is best, and the latest is used.
#[test]
fn self_play_learns_the_bear_off_without_equity() {
    let folder = tempfile::tempdir().unwrap();
    let text = BEAROFF_BY_SELF_PLAY.to_string();
    let set =
        ["learn.games=6000", "evaluate.every=2000", "evaluate.suites=[]", "architecture.mlp.hidden=[10]"]
            .map(String::from);
    let config = parse(&Source { file: "test.toml".into(), text, set: set.into() }).unwrap();
    let whole = folder.path().join("whole");
    let record = finished(&config, 1, &whole);
    assert!(record.finished && record.best.is_none() && record.r#final.is_none());
    let losses: Vec<f64> = state(&whole).2.iter().map(|line| line["loss"].as_f64().unwrap()).collect();
    assert!(losses.len() == 3 && losses[2] < losses[0], "{losses:?}");
    assert!(measure::evaluate(&whole, true, &only(measure::Suite::Speed)).is_err(), "none is best");

    // One checker each on the ace point: the player to roll wins. The value is for the player to roll.
    let sure = measure::value(&whole, false, &["1,0,0,0,0,0/1,0,0,0,0,0".into()], None).unwrap().remove(0);
    let thinks = sure.after.expect("the other has just moved").value;
    assert!(sure.value > 0.3 && thinks == -sure.value && sure.to_move == Some(1), "{}", sure.value);
    // After the roll the value is exact, and no player has acted last.
    let won = measure::value(&whole, false, &["1,0,0,0,0,0/1,0,0,0,0,0 65".into()], None).unwrap().remove(0);
    assert!(won.value == 1.0 && won.after.is_none() && won.moves[0].action == "1/off");

    let stopped = folder.path().join("stopped");
    let cancel = Cancel::default();
    train(&config, 1, &at(&stopped), &StopAt(2500, cancel.clone()), &cancel).unwrap();
    let resume = TrainOptions { resume: true, ..at(&stopped) };
    assert!(train(&config, 1, &resume, &Silent, &Cancel::default()).unwrap().1.finished);
    assert_eq!(state(&stopped), state(&whole));
}

#[test]
fn a_stopped_run_goes_on_to_the_same_bits() {
    let architectures = [
        MLP,
        "hme]\nexperts = 2\nexpert.mlp = { hidden = [8], sensitivity = 3.0 }\nthreshold = 0.3",
        "lookup]\nby = \"position\"",
    ];
    for (i, architecture) in architectures.iter().enumerate() {
        let learn = ["average = 0.99\n", "average = 0.9\noptimiser.adam = { decay = 0.01 }\n", ""][i];
        let config = config(architecture, &format!("{learn}games = 5_000\nrate = 0.01\nbatch = 3"));
        let folder = tempfile::tempdir().unwrap();
        let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
        finished(&config, 7, &whole);
        for stop in [700, 2_100, 2_105, u64::MAX] {
            let cancel = Cancel::default();
            let options = TrainOptions { resume: true, ..at(&parts) };
            let (_, record) = train(&config, 7, &options, &StopAt(stop, cancel.clone()), &cancel).unwrap();
            assert_eq!(record.finished, stop == u64::MAX);
        }
        // Not assert_eq, which would print two pages of weights.
        assert!(state(&whole) == state(&parts), "architecture {i} went another way");
    }
}

/// Trains on a device while the next games are played, with an interruption.
#[test]
#[cfg(feature = "flex")]
fn the_burn_engine_learns_too_and_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let learn = "games = 30_000\nlambda = 0.5\nrate = { from = 0.02, to = 0.001 }\nexplore = 0.2\nbatch = 16";
    let native = finished(&config(MLP, learn), 1, &folder.path().join("native"));
    let config = config(MLP, &format!("{learn}\nengine = \"burn\"\nworkers = 2"));
    let whole = folder.path().join("burn");
    let record = finished(&config, 1, &whole);
    let (burn, native) = (record.r#final.unwrap().figure(), native.r#final.unwrap().figure());
    assert!(burn > 0.35 && native > 0.35, "equity {burn}, native {native}");
    let timing = record.timing.expect("games and steps side by side are timed");
    assert!(timing.samples > 60_000 && timing.samples_per_second() > 0.0 && timing.share_waited() < 1.0);

    let parts = folder.path().join("parts");
    for stop in [5_000, 5_016, u64::MAX] {
        let cancel = Cancel::default();
        let options = TrainOptions { resume: true, ..at(&parts) };
        train(&config, 1, &options, &StopAt(stop, cancel.clone()), &cancel).unwrap();
    }
    assert!(state(&whole) == state(&parts));
    // Play does not need the device.
    assert!(measure::evaluate(&whole, false, &only(measure::Suite::Equity)).is_ok());
}

#[test]
fn workers_and_overlap_change_the_way_and_threads_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &str| {
        let path = folder.path().join(name);
        finished(&config(MLP, &format!("games = 2_000\nrate = 0.01\nbatch = 10\n{more}")), 1, &path);
        state(&path).0
    };
    let plain = run("plain", "");
    // One worker without overlap is the learner itself.
    assert!(plain == run("one", "workers = 1\noverlap = false"));
    let (three, ahead) = (run("three", "workers = 3"), run("ahead", "overlap = true"));
    assert!(three != plain && ahead != plain && three != ahead);
    // Inside a pool of one thread, where workers take turns.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(three == pool.install(|| run("alone", "workers = 3")));
}

/// Records when each run is active.
#[derive(Default)]
struct Order(std::sync::Mutex<Vec<(u64, bool)>>);

impl Observer for Order {
    fn event(&self, seed: u64, event: Event<'_>) {
        match event {
            Event::Started { .. } => self.0.lock().unwrap().push((seed, true)),
            Event::Ended(_) => self.0.lock().unwrap().push((seed, false)),
            _ => {}
        }
    }
}

/// A thread that waits for the workers of its run must not start another run meanwhile.
#[test]
fn one_thread_runs_one_seed_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(MLP, "games = 400\nrate = 0.01\nbatch = 10\nworkers = 2\noverlap = true");
    let order = Order::default();
    let seeds = Seeds { first: 1, count: 4, threads: 1 };
    let runs = train_seeds(&config, seeds, &at(folder.path()), &order, &Cancel::default());
    assert!(runs.iter().all(|(_, run)| run.is_ok()));
    let expected: Vec<(u64, bool)> = (1..=4).flat_map(|seed| [(seed, true), (seed, false)]).collect();
    assert_eq!(*order.0.lock().unwrap(), expected);
}

/// Initial weights that were recorded but not yet used must be given again.
#[test]
fn a_start_that_got_lost_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first");
    let config = config(MLP, "games = 300\nrate = 0.01");
    finished(&config, 1, &first);
    let run = folder.path().join("run");
    let options = TrainOptions { init: from(&first), ..at(&run) };
    train(&config, 2, &options, &Silent, &Cancel::default()).unwrap();
    // As after a crash before the first checkpoint.
    let record = fs::read_to_string(run.join("run.json")).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&record).unwrap();
    record["latest"] = serde_json::Value::Null;
    record["finished"] = false.into();
    record["step"] = 0.into();
    record["metrics_bytes"] = 0.into();
    fs::write(run.join("run.json"), record.to_string()).unwrap();
    let resume = TrainOptions { resume: true, ..at(&run) };
    let error = train(&config, 2, &resume, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("give them again") && error.contains(&first.display().to_string()), "{error}");
    let again = TrainOptions { resume: true, ..options };
    assert!(train(&config, 2, &again, &Silent, &Cancel::default()).unwrap().1.finished);
}

#[test]
fn results_do_not_depend_on_threads() {
    let config = config(MLP, "games = 3_000\nrate = 0.01");
    let folder = tempfile::tempdir().unwrap();
    let run = |threads: usize| {
        let out = folder.path().join(threads.to_string());
        let seeds = Seeds { first: 3, count: 4, threads };
        let runs = train_seeds(&config, seeds, &at(&out), &Silent, &Cancel::default());
        runs.into_iter().map(|(_, run)| state(&run.unwrap().0)).collect::<Vec<_>>()
    };
    let one = run(1);
    assert!(one == run(3));
    assert!(one.windows(2).all(|w| w[0].0 != w[1].0), "seeds differ");
    assert_eq!(list_runs(folder.path()).unwrap().len(), 8);
}

#[test]
fn divergence_names_the_step_and_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let config = config("mlp]\nhidden = [20]\noutput = \"linear\"", "games = 5_000\nrate = 1e6");
    let error = train(&config, 1, &at(folder.path().join("run")), &Silent, &Cancel::default()).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("test, seed 1: diverged after") && text.contains("lower `learn.rate` (now 1000000)"),
        "{text}"
    );
}

#[test]
fn a_taken_folder_is_refused_and_a_finished_run_returns_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let short = config(MLP, "games = 300\nrate = 0.01");
    let record = finished(&short, 1, &run);
    assert_eq!(finished(&short, 1, &run), record);

    let refusal = |config: &Config, path: &Path| {
        train(config, 1, &at(path), &Silent, &Cancel::default()).unwrap_err().to_string()
    };
    let other = config(MLP, "games = 301\nrate = 0.01");
    let error = refusal(&other, &run);
    assert!(error.contains("of another config") && error.contains("choose another"), "{error}");

    let stopped = folder.path().join("stopped");
    let cancel = Cancel::default();
    train(&short, 1, &at(&stopped), &StopAt(100, cancel.clone()), &cancel).unwrap();
    let error = refusal(&short, &stopped);
    assert!(error.contains("stopped after 100 of 300 games") && error.contains("resume it"), "{error}");

    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "years of work").unwrap();
    let error = refusal(&short, &foreign);
    assert!(error.contains("thesis.tex") && error.contains("choose another"), "{error}");
    assert_eq!(fs::read_to_string(foreign.join("thesis.tex")).unwrap(), "years of work");
}

#[test]
fn weights_of_another_run_can_be_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let long = config(MLP, "games = 30_000\nlambda = 0.5\nrate = 0.02\nexplore = 0.2");
    let first = folder.path().join("first");
    let equity = finished(&long, 1, &first).r#final.unwrap().figure();
    let go_on = config(MLP, "games = 10\nrate = 1e-9");
    let options = TrainOptions { init: from(&first), ..at(folder.path().join("second")) };
    let (_, record) = train(&go_on, 2, &options, &Silent, &Cancel::default()).unwrap();
    assert_eq!(record.r#final.unwrap().figure(), equity);

    let other = config("mlp]\nhidden = [19]\nsensitivity = 3.0", "games = 10\nrate = 0.01");
    let options = TrainOptions { init: from(&first), ..at(folder.path().join("third")) };
    let error = train(&other, 2, &options, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(
        error.contains("cannot start this architecture") && error.contains("[19] cannot hold"),
        "{error}"
    );
}

/// A network grows to a larger one, or to all experts of a mixture, and plays as before.
#[test]
fn a_network_grows_and_plays_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first");
    let small = config("mlp]\nhidden = [40]\nsensitivity = 3.0", "games = 3_000\nrate = 0.02\nexplore = 0.2");
    let figure = finished(&small, 1, &first).r#final.unwrap().figure();
    let grow = |architecture: &str, part: &str| {
        let init = format!("{part}{}", first.display()).parse().unwrap();
        let out = tempfile::tempdir().unwrap();
        let options = TrainOptions { init: vec![init], ..at(out.path().join("run")) };
        let config = config(architecture, "games = 10\nrate = 1e-9");
        train(&config, 2, &options, &Silent, &Cancel::default()).map(|(_, record)| record)
    };
    let experts = "hme]\nexperts = 3\nexpert.mlp = { hidden = [50], sensitivity = 3.0 }";
    for (architecture, part, grown) in [
        ("mlp]\nhidden = [80]\nsensitivity = 3.0", "", "[40] → [80]"),
        ("mlp]\nhidden = [80, 16]\nactivation = ['tanh', 'relu']\nsensitivity = 3.0", "", "[40] → [80, 16]"),
        (experts, "expert.*=", "[40] → [50]"),
    ] {
        let record = grow(architecture, part).unwrap();
        assert_eq!(record.r#final.unwrap().figure(), figure, "{architecture}");
        let parts: Vec<_> = record.init.iter().map(|origin| origin.part.as_deref()).collect();
        let expected: &[_] =
            if part.is_empty() { &[None] } else { &[Some("expert.0"), Some("expert.1"), Some("expert.2")] };
        assert_eq!(parts, expected);
        assert!(record.init.iter().all(|origin| origin.grown.as_deref() == Some(grown)));
    }
    for (architecture, part, why) in [
        (
            experts,
            "expert.*.expert.*=",
            "it has no part `expert.*.expert.*`; there is expert.0, expert.1, expert.2",
        ),
        (experts, "", "none of its parts fits either"),
        ("mlp]\nhidden = [60]", "", "the checkpoint has one"),
    ] {
        let error = grow(architecture, part).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Learning and its samples are the same with and without averaged weights, which are used for play.
#[test]
fn the_mean_of_the_weights_is_saved_and_learning_goes_on_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let learn = "games = 3_000\nrate = 0.02\nbatch = 3\noptimiser = \"adam\"\nexplore = 0.2\n";
    let (plain, mean) = (folder.path().join("plain"), folder.path().join("mean"));
    let last = finished(&config(MLP, learn), 1, &plain).r#final.unwrap().figure();
    let figure =
        finished(&config(MLP, &format!("{learn}average = 0.999")), 1, &mean).r#final.unwrap().figure();
    assert_ne!(last, figure);
    let (plain, kept) = (state(&plain).0, state(&mean).0);
    for tensor in plain {
        let of = |name: &str| kept.iter().find(|t| t.name == name).map(|t| &t.data);
        match adept_model::checkpoint::is_of_training(&tensor.name) {
            true => assert_eq!(of(&tensor.name), Some(&tensor.data)),
            false => {
                assert_eq!(of(&format!("raw.{}", tensor.name)), Some(&tensor.data));
                assert_ne!(of(&tensor.name), Some(&tensor.data));
            }
        }
    }
    let options = TrainOptions { init: from(&mean), ..at(folder.path().join("next")) };
    let go_on = config(MLP, "games = 10\nrate = 1e-9");
    let (_, record) = train(&go_on, 2, &options, &Silent, &Cancel::default()).unwrap();
    assert_eq!(record.r#final.unwrap().figure(), figure);
}

#[test]
fn nothing_of_anybody_elses_is_overwritten_or_removed() {
    let short = config(MLP, "games = 300\nrate = 0.01");
    let folder = tempfile::tempdir().unwrap();
    // The files of a run without its record.
    let run = folder.path().join("run");
    fs::create_dir_all(run.join("checkpoints/precious")).unwrap();
    fs::write(run.join("config.toml"), "mine").unwrap();
    let error = train(&short, 1, &at(&run), &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("cannot be used as a run folder"), "{error}");
    assert_eq!(fs::read_to_string(run.join("config.toml")).unwrap(), "mine");

    // A foreign file among a run's checkpoints.
    let other = folder.path().join("other");
    let cancel = Cancel::default();
    train(&short, 1, &at(&other), &StopAt(100, cancel.clone()), &cancel).unwrap();
    fs::create_dir(other.join("checkpoints/precious")).unwrap();
    let options = TrainOptions { resume: true, ..at(&other) };
    assert!(train(&short, 1, &options, &Silent, &Cancel::default()).unwrap().1.finished);
    assert!(other.join("checkpoints/precious").exists());
}

/// Starts another run in the same folder as soon as the first has begun.
struct Intruder<'a>(&'a Config, PathBuf, std::sync::Mutex<Option<String>>);

impl Observer for Intruder<'_> {
    fn event(&self, _: u64, event: Event<'_>) {
        if let Event::Started { .. } = event {
            let options = TrainOptions { resume: true, ..at(&self.1) };
            let outcome = train(self.0, 1, &options, &Silent, &Cancel::default());
            *self.2.lock().unwrap() = Some(outcome.unwrap_err().to_string());
        }
    }
}

#[test]
fn two_cannot_work_on_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let config = config(MLP, "games = 300\nrate = 0.01");
    let intruder = Intruder(&config, run.clone(), Default::default());
    assert!(train(&config, 1, &at(&run), &intruder, &Cancel::default()).unwrap().1.finished);
    let error = intruder.2.into_inner().unwrap().unwrap();
    assert!(error.contains("another process is using"), "{error}");
}

#[test]
fn metrics_that_lost_their_end_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let config = config(MLP, "games = 300\nrate = 0.01");
    let cancel = Cancel::default();
    train(&config, 1, &at(&run), &StopAt(100, cancel.clone()), &cancel).unwrap();
    fs::write(run.join("metrics.jsonl"), "").unwrap();
    let options = TrainOptions { resume: true, ..at(&run) };
    let error = train(&config, 1, &options, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("metrics.jsonl") && error.contains("has 0 bytes"), "{error}");
}

/// Number of complete records of an event file.
fn events(run: &Path) -> usize {
    let bytes = fs::read(run.join("events.out.tfevents.adept")).unwrap();
    let (mut at, mut records) = (0, 0);
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        (at, records) = (at + 8 + 4 + length as usize + 4, records + 1);
    }
    assert_eq!(at, bytes.len());
    records
}

#[test]
fn an_event_file_has_all_measurements_also_after_a_stop_and_of_a_finished_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let config = config(MLP, "games = 300\nrate = 0.01");
    let lines = || fs::read_to_string(run.join("metrics.jsonl")).unwrap().lines().count();
    let cancel = Cancel::default();
    let options = TrainOptions { tensorboard: true, resume: true, ..at(&run) };
    train(&config, 1, &options, &StopAt(100, cancel.clone()), &cancel).unwrap();
    // The first record holds the version.
    assert!(lines() > 0 && events(&run) == lines() + 1);
    let stopped = lines();
    let before = fs::read(run.join("events.out.tfevents.adept")).unwrap();
    // Bytes that a killed process wrote after its checkpoint.
    let beyond = [&before[..], &before[..30]].concat();
    fs::write(run.join("events.out.tfevents.adept"), beyond).unwrap();
    let kept = TrainOptions { tensorboard: false, ..options.clone() };
    train(&config, 1, &kept, &Silent, &Cancel::default()).unwrap();
    assert!(lines() > stopped && events(&run) == lines() + 1);
    assert!(fs::read(run.join("events.out.tfevents.adept")).unwrap().starts_with(&before));
    fs::remove_file(run.join("events.out.tfevents.adept")).unwrap();
    train(&config, 1, &options, &Silent, &Cancel::default()).unwrap();
    assert_eq!(events(&run), lines() + 1);
}

#[test]
fn a_start_must_be_of_the_same_encoder_and_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let table = config("lookup]\nby = \"position\"", "games = 300\nrate = 0.1");
    let first = folder.path().join("first");
    finished(&table, 1, &first);
    let mut canonical = table.clone();
    canonical.game.encoder = Some("canonical".into());
    let options = |name: &str| TrainOptions { init: from(&first), ..at(folder.path().join(name)) };
    let error =
        train(&canonical, 1, &options("second"), &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("its weights would mean something else"), "{error}");
    let (path, record) = train(&table, 2, &options("third"), &Silent, &Cancel::default()).unwrap();
    assert_eq!(record.init.len(), 1);
    // The same weights give the same result; other weights mean another run.
    train(&table, 2, &options("third"), &Silent, &Cancel::default()).unwrap();
    let other = TrainOptions { init: from(&path), ..at(&path) };
    let error = train(&table, 2, &other, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("which started from other weights"), "{error}");
}

/// A perceptron that grows to experts on shared layers has no gates: their cells are initialised from data.
#[test]
fn cells_are_found_for_a_network_that_grows_to_experts() {
    let folder = tempfile::tempdir().unwrap();
    let config = |encoder: &str, architecture: &str| {
        let text = format!(
            "name = \"x\"\ngame = {{ rules = \"hypergammon\", encoder = \"{encoder}\" }}\n{architecture}\n[learn]\nrate = 0.01\nbatch = \
             512\n[learn.expectation]\nsamples = 512\nstarts = \"rules\"\n[evaluate]\nsuites = []\n"
        );
        parse(&Source { file: "x.toml".into(), text, set: vec![] }).unwrap()
    };
    let small = folder.path().join("small");
    let mlp = config("points", "architecture.mlp = { hidden = [8, 4], activation = \"tanh\" }");
    train(&mlp, 1, &at(&small), &Silent, &Cancel::default()).unwrap();
    for (name, top, changes) in [
        ("cells", "cells = { by = [\"pips_own\", \"pips_opponent\"], classes = 4, experts = 16", true),
        ("rule", "meta_pi = { gate = { by = \"phase\", rule = 5.0, rate = 0.001 }, experts = 5", false),
    ] {
        let text = format!(
            "[architecture.shared]\nhidden = [8]\nactivation = \"tanh\"\n[architecture.shared.top]\n{top}, expert.mlp = {{ hidden = [4] }} }}"
        );
        let options = TrainOptions { init: from(&small), ..at(folder.path().join(name)) };
        let (path, _) =
            train(&config("points+classes", &text), 1, &options, &Silent, &Cancel::default()).unwrap();
        let latest = adept_model::checkpoint::locate(&path, false).unwrap();
        let found = adept_model::checkpoint::read(&latest).unwrap();
        let tensor = |name: &str| {
            let tensor = found.tensors.iter().find(|tensor| tensor.name == name).unwrap();
            let adept_model::TensorData::F32(data) = &tensor.data else { panic!("{name} has no floats") };
            data.clone()
        };
        if changes {
            // More pips, a higher class: 4 of equal frequency.
            let classes = tensor("top.gate.classes.0");
            assert!(classes.is_sorted() && classes.first() == Some(&0.0) && classes.last() == Some(&3.0));
            let mut experts = tensor("top.gate.table");
            experts.sort_by(f32::total_cmp);
            experts.dedup();
            assert_eq!(experts.len(), 16);
        } else {
            let gate = tensor("top.gate.table");
            assert!((0..25usize).all(|i| (gate[i] > 4.5) == i.is_multiple_of(6)), "{gate:?}");
        }
    }
}

/// Channels with the same form can have other meanings.
#[test]
fn weights_do_not_go_to_another_prior() {
    let folder = tempfile::tempdir().unwrap();
    let mut plain = config("mlp]\nhidden = [4]", "games = 20\nrate = 0.01");
    plain.game.encoder = Some("stones".into());
    for (name, seed) in [("a", 1), ("b", 2)] {
        finished(&plain, seed, &folder.path().join(name));
    }
    let with = |name: &str| {
        let mut config = plain.clone();
        config.game.encoder = Some(format!("stones+prior:{}", folder.path().join(name).display()));
        config
    };
    finished(&with("a"), 1, &folder.path().join("on-a"));
    let options = TrainOptions { init: from(&folder.path().join("on-a")), ..at(folder.path().join("on-b")) };
    let error = train(&with("b"), 1, &options, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("its weights would mean something else"), "{error}");
}

#[test]
fn divergence_is_named_also_when_a_measurement_meets_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut config =
        config("mlp]\nhidden = [4]\nactivation = \"linear\"\noutput = \"linear\"", "games = 50\nrate = 1e9");
    config.evaluate.every = Some(1);
    let error = train(&config, 1, &at(folder.path().join("run")), &Silent, &Cancel::default()).unwrap_err();
    assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
}
