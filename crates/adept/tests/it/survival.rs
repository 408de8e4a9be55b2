//! Runs under adverse conditions: crashes at any file operation, full disks, clock jumps, damaged and foreign
//! checkpoints, older formats.

use crate::common::measure;
use crate::common::{MLP, StopAt, at, config, estimate, finished, parse, state, train};
use adept_ground::files::{Files, Hook, Operation};
use adept_model::checkpoint::{self, Checkpoint};
use adept_model::{Tensor, TensorData};
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Clock, Event, Host, Init, Observer, Silent, TrainError, TrainOptions};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Fails from the k-th operation on, or only at that one.
struct FailAt {
    k: u64,
    only: bool,
    kind: ErrorKind,
    count: AtomicU64,
}

impl FailAt {
    fn new(k: u64, only: bool, kind: ErrorKind) -> Arc<Self> {
        Arc::new(Self { k, only, kind, count: AtomicU64::new(0) })
    }
}

impl Hook for FailAt {
    fn before(&self, _: Operation, _: &Path) -> io::Result<()> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        if number == self.k || (number > self.k && !self.only) {
            return Err(io::Error::from(self.kind));
        }
        Ok(())
    }
}

fn watched(path: &Path, hook: Arc<FailAt>) -> TrainOptions {
    let host = Host { files: Files::watched(hook), clock: Clock::default() };
    TrainOptions { host, resume: true, ..at(path) }
}

/// A short run that writes every kind of file: checkpoints, a best one, milestones, metrics.
fn eventful(architecture: &str, learn: &str) -> Config {
    let mut config = config(architecture, &format!("games = 60\nrate = 0.05\nlambda = 0.5\n{learn}"));
    config.evaluate.every = Some(20);
    config.evaluate.patience = Some(10);
    config.checkpoints.every = Some(15);
    config.checkpoints.milestones = Some(30);
    config
}

fn all_kinds() -> [Config; 4] {
    [
        eventful(MLP, "optimiser.adam = {}\nbatch = 4\nworkers = 2\noverlap = true"),
        eventful(
            "hme]\nexperts = 2\nexpert.mlp = { hidden = [3] }\nthreshold = 0.3",
            "optimiser.sgd = { momentum = 0.5 }",
        ),
        eventful("lookup]\nby = \"position\"", ""),
        eventful("modules]\nunits = 3\ntop = 4", "batch = 4"),
    ]
}

#[test]
fn a_run_that_dies_at_any_file_operation_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for (i, config) in all_kinds().into_iter().enumerate() {
        let whole = folder.path().join(format!("whole-{i}"));
        let count = FailAt::new(u64::MAX, false, ErrorKind::Other);
        train(&config, 1, &watched(&whole, count.clone()), &Silent, &Cancel::default()).unwrap();
        let (operations, expected) = (count.count.load(Ordering::Relaxed), state(&whole));
        assert!(operations > 60, "{operations} operations");
        for k in 0..operations {
            let run = folder.path().join(format!("dies-{i}-{k}"));
            // As in a killed process, nothing happens after that. Every other time it is killed twice.
            for k in [Some(k), (k % 2 == 1).then_some(k / 3)].into_iter().flatten() {
                let dies = watched(&run, FailAt::new(k, false, ErrorKind::Other));
                // The second time it may finish first.
                let _ = train(&config, 1, &dies, &Silent, &Cancel::default()).map_err(|e| e.to_string());
                // A reader meanwhile finds the last complete checkpoint, if there is one.
                if let Ok(latest) = checkpoint::locate(&run, false) {
                    checkpoint::read(&latest).unwrap_or_else(|e| panic!("operation {k}: {e}"));
                }
            }
            let resumed = TrainOptions { resume: true, ..at(&run) };
            let (_, record) = train(&config, 1, &resumed, &Silent, &Cancel::default())
                .unwrap_or_else(|e| panic!("operation {k}: {e}"));
            assert!(record.finished);
            assert!(state(&run) == expected, "architecture {i} went another way after operation {k}");
            assert_eq!(entries(&run), entries(&whole), "operation {k} left something behind");
            fs::remove_dir_all(&run).unwrap();
        }
    }
}

/// All files and folders under a run.
fn entries(run: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = [run.to_path_buf(), run.join("checkpoints")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path().strip_prefix(run).unwrap().to_path_buf())
        .collect();
    found.sort();
    found
}

#[test]
fn a_full_disk_and_a_folder_that_cannot_be_written_are_named_and_leave_the_run_whole() {
    let folder = tempfile::tempdir().unwrap();
    let [config, ..] = all_kinds();
    let whole = folder.path().join("whole");
    finished(&config, 1, &whole);
    let expected = state(&whole);
    for (kind, hint) in [
        (ErrorKind::StorageFull, "free some space, then resume it"),
        (ErrorKind::ReadOnlyFilesystem, "make the folder writable"),
        (ErrorKind::PermissionDenied, "make the folder writable"),
    ] {
        let mut failures = 0;
        for k in (0..).step_by(3) {
            let run = folder.path().join(format!("{kind:?}-{k}"));
            let once = watched(&run, FailAt::new(k, true, kind));
            let outcome = train(&config, 1, &once, &Silent, &Cancel::default());
            let Err(error) = outcome else { break };
            failures += 1;
            let text = error.to_string();
            assert!(matches!(error, TrainError::Disk { .. }), "operation {k}: {text}");
            assert!(text.contains(hint) && text.contains(&run.display().to_string()), "{text}");
            let resumed = TrainOptions { resume: true, ..at(&run) };
            assert!(train(&config, 1, &resumed, &Silent, &Cancel::default()).unwrap().1.finished);
            assert!(state(&run) == expected, "went another way after operation {k}");
        }
        assert!(failures > 20, "{kind:?} met {failures} operations");
    }
}

#[test]
fn a_clock_that_jumps_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(MLP, "games = 3000\nrate = 0.01");
    config.evaluate.every = Some(1000);
    let whole = folder.path().join("whole");
    finished(&config, 1, &whole);
    let jumps = AtomicU64::new(0);
    // Every reading shows another hour, forwards or backwards.
    let clock = Clock::new(move || {
        let n = jumps.fetch_add(1, Ordering::Relaxed);
        Duration::from_secs(3600 * (n * 7919 % 101))
    });
    let run = folder.path().join("run");
    let host = Host { clock, ..Host::default() };
    let (_, record) =
        train(&config, 1, &TrainOptions { host, ..at(&run) }, &Silent, &Cancel::default()).unwrap();
    assert!(record.finished && record.seconds >= 0.0 && record.seconds.is_finite());
    assert!(state(&run) == state(&whole));
}

/// A short run of a network, and its latest checkpoint.
fn trained(folder: &Path) -> (PathBuf, PathBuf) {
    let run = folder.join("run");
    finished(&config(MLP, "games = 300\nrate = 0.01\noptimiser.adam = {}"), 1, &run);
    let latest = checkpoint::locate(&run, false).unwrap();
    (run, latest)
}

#[test]
fn a_thousand_random_damages_of_a_byte_are_all_found() {
    let folder = tempfile::tempdir().unwrap();
    let (_, latest) = trained(folder.path());
    let files: Vec<PathBuf> = fs::read_dir(&latest).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 3);
    let good: Vec<Vec<u8>> = files.iter().map(|f| fs::read(f).unwrap()).collect();
    let (all, mut rng) = (good.iter().map(Vec::len).sum::<usize>(), Xoshiro256PlusPlus::seed_from_u64(1));
    let mut found = 0;
    for _ in 0..1000 {
        // Change any byte of the checkpoint.
        let mut at = rng.random_range(0..all);
        let f = good
            .iter()
            .position(|bytes| {
                at < bytes.len() || {
                    at -= bytes.len();
                    false
                }
            })
            .unwrap();
        let mut bad = good[f].clone();
        bad[at] ^= rng.random_range(1..=255u8);
        fs::write(&files[f], &bad).unwrap();
        let error = checkpoint::read(&latest).err().map(|e| e.to_string());
        found += u64::from(error.is_some_and(|e| e.contains(&latest.display().to_string())));
        fs::write(&files[f], &good[f]).unwrap();
    }
    assert_eq!(found, 1000);
    checkpoint::read(&latest).unwrap();
}

/// If the latest checkpoint is damaged or missing, a run resumes from the previous one, with the same bits.
#[test]
fn a_run_goes_on_from_an_older_checkpoint_if_it_must() {
    struct Warned(std::sync::Mutex<Vec<(u64, String)>>);
    impl Observer for Warned {
        fn event(&self, _: u64, event: Event<'_>) {
            if let Event::SetBack { why, step } = event {
                self.0.lock().unwrap().push((step, why.to_string()));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    for (i, config) in all_kinds().into_iter().enumerate() {
        let whole = folder.path().join(format!("whole-{i}"));
        finished(&config, 1, &whole);
        for gone in [false, true] {
            let run = folder.path().join(format!("run-{i}-{gone}"));
            let cancel = Cancel::default();
            train(&config, 1, &at(&run), &StopAt(50, cancel.clone()), &cancel).unwrap();
            let latest = checkpoint::locate(&run, false).unwrap();
            if gone {
                fs::remove_dir_all(&latest).unwrap();
            } else {
                fs::write(latest.join("weights.safetensors"), "damaged").unwrap();
            }
            let (resumed, warned) = (TrainOptions { resume: true, ..at(&run) }, Warned(Default::default()));
            train(&config, 1, &resumed, &warned, &Cancel::default()).unwrap();
            let warned = warned.0.into_inner().unwrap();
            assert!(warned.len() == 1 && warned[0].0 < 50, "{warned:?}");
            assert!(warned[0].1.contains(&latest.display().to_string()), "{warned:?}");
            assert!(state(&run) == state(&whole), "architecture {i} went another way");
            assert_eq!(entries(&run), entries(&whole));
        }
    }
}

/// A checkpoint from a newer program is not lost: the run does not fall back, and nothing is removed.
#[test]
fn a_run_does_not_go_back_behind_a_checkpoint_that_is_only_newer() {
    let folder = tempfile::tempdir().unwrap();
    let [config, ..] = all_kinds();
    let run = folder.path().join("run");
    let cancel = Cancel::default();
    train(&config, 1, &at(&run), &StopAt(50, cancel.clone()), &cancel).unwrap();
    let latest = checkpoint::locate(&run, false).unwrap();
    let manifest = fs::read_to_string(latest.join("manifest.json")).unwrap();
    let written = format!("\"format\": {}", checkpoint::FORMAT);
    let newer = manifest.replacen(&written, &format!("\"format\": {}", checkpoint::FORMAT + 1), 1);
    assert_ne!(newer, manifest);
    fs::write(latest.join("manifest.json"), &newer).unwrap();
    let resume = TrainOptions { resume: true, ..at(&run) };
    let error = train(&config, 1, &resume, &Silent, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("use a newer adept"), "{error}");
    assert_eq!(checkpoint::locate(&run, false).unwrap(), latest);
    fs::write(latest.join("manifest.json"), manifest).unwrap();
    assert!(train(&config, 1, &resume, &Silent, &Cancel::default()).unwrap().1.finished);
}

/// Changes the latest checkpoint and updates its checksum, as another program might.
fn forged(folder: &Path, name: &str, change: impl FnOnce(&mut Checkpoint)) -> PathBuf {
    let mut checkpoint = checkpoint::read(&checkpoint::locate(&folder.join("run"), false).unwrap()).unwrap();
    change(&mut checkpoint);
    let path = folder.join(name);
    checkpoint::write(&Files::default(), &path, checkpoint.manifest, &checkpoint.tensors).unwrap();
    path
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    trained(folder);
    let refused = |path: &Path, reason: &str| {
        let error = measure::value(path, false, &["X...O....".into()], None).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(&path.display().to_string()), "{error}");
    };
    refused(&forged(folder, "game", |c| c.manifest.game = "bearoff".into()), "has no encoder `fields`");
    refused(&forged(folder, "unknown", |c| c.manifest.game = "go".into()), "no game named `go`");
    refused(&forged(folder, "encoder", |c| c.manifest.encoder = "canonical".into()), "other channels");
    refused(
        &forged(folder, "width", |c| {
            let tensor = &mut c.tensors[0];
            tensor.shape[0] += 1;
            let columns = tensor.shape.get(1).copied().unwrap_or(1);
            if let TensorData::F32(data) = &mut tensor.data {
                data.extend(std::iter::repeat_n(0.0, columns));
            }
        }),
        "has shape",
    );
    refused(
        &forged(folder, "architecture", |c| {
            c.manifest.architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [3, 3] } }"#).unwrap();
        }),
        "does not match its own architecture",
    );
    refused(
        &forged(folder, "extra", |c| c.tensors.push(Tensor::f32("z", vec![1], vec![0.0]))),
        "does not belong",
    );
    // Our writer refuses non-finite numbers. The reader must also detect them in the bytes.
    let path = forged(folder, "nan", |_| ());
    let error = forge_nan(&path);
    assert!(error.contains("not a finite number") || error.contains("not finite"), "{error}");
}

/// Puts a NaN among the weights, with correct checksums.
fn forge_nan(path: &Path) -> String {
    let mut c = checkpoint::read(path).unwrap();
    if let TensorData::F32(data) = &mut c.tensors[0].data {
        data[0] = f32::NAN;
    }
    let refused = checkpoint::write(&Files::default(), path, c.manifest.clone(), &c.tensors).unwrap_err();
    let channels = c.manifest.channels.clone();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut learner = adept_model::build(
        &c.manifest.architecture,
        &channels,
        &adept_model::Head::Value,
        Default::default(),
        &mut rng,
    )
    .unwrap();
    format!("{refused}; {}", learner.restore(&c.tensors).unwrap_err())
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1").join(name)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|e| (e.path(), e.file_name())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// Files of the first version of this program: an HME after 20 games, and a table after 1 of 60 games, compared with
/// uninterrupted runs.
#[test]
fn the_first_format_is_read_and_gone_on_from() {
    let values = measure::value(&data("network"), false, &["X...O....".into()], None).unwrap();
    assert!((values[0].value - 0.547_426_8).abs() < 1e-5, "{}", values[0].value);

    let folder = tempfile::tempdir().unwrap();
    let (stopped, whole) = (folder.path().join("stopped"), data("finished"));
    copy(&data("stopped"), &stopped);
    let text = fs::read_to_string(whole.join("config.toml")).unwrap().replace("checkpoint = 1\n", "");
    let source = adept_trainer::config::Source {
        file: "old.toml".into(),
        text,
        set: vec!["checkpoints.every=1".into()],
    };
    let config = parse(&source).unwrap();
    let options = TrainOptions { resume: true, ..at(&stopped) };
    assert!(train(&config, 1, &options, &Silent, &Cancel::default()).unwrap().1.finished);
    let (found, expected) = (state(&stopped), state(&whole));
    assert!(found.0 == expected.0 && found.2 == expected.2);
    assert_eq!(found.1["play"], expected.1["play"]);
}

/// An HME with SOAP in format 2, stopped after 1 of 400 games, with its expected final weights now that experts learn
/// only from rows that ran through them. Its gate started with random weights, and the steps of SOAP had no limit.
#[test]
fn the_second_format_goes_on_by_its_own_rules() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-2");
    let folder = tempfile::tempdir().unwrap();
    copy(&data.join("stopped"), folder.path());
    let text = fs::read_to_string(data.join("config.toml")).unwrap();
    let go_on = |set: Vec<String>| {
        let source = adept_trainer::config::Source { file: "old.toml".into(), text: text.clone(), set };
        let options = TrainOptions { resume: true, ..at(folder.path()) };
        train(&parse(&source).unwrap(), 1, &options, &Silent, &Cancel::default())
    };
    let error = go_on(vec![]).unwrap_err().to_string();
    assert!(error.contains("gate.clusters") && error.contains("soap.limit"), "{error}");
    let old = ["architecture.hme.gate.clusters=0", "learn.optimiser={soap={limit=1e9}}"];
    assert!(go_on(old.map(String::from).to_vec()).unwrap().1.finished);
    let read = |path: &Path| checkpoint::read(path).unwrap().tensors;
    let (found, expected) =
        (read(&folder.path().join("checkpoints/000000000400")), read(&data.join("finished")));
    for (a, b) in found.iter().zip(&expected).filter(|(a, _)| !checkpoint::is_of_training(&a.name)) {
        let (TensorData::F32(x), TensorData::F32(y)) = (&a.data, &b.data) else { panic!("{}", a.name) };
        assert!(a.name == b.name && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= 1e-5), "{}", a.name);
    }
}

#[test]
fn what_the_config_asks_to_keep_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(MLP, "games = 1000\nrate = 0.01");
    config.evaluate.every = Some(1000);
    config.checkpoints.every = Some(100);
    config.checkpoints.keep = 3;
    config.checkpoints.milestones = Some(250);
    let run = folder.path().join("run");
    let record = finished(&config, 1, &run);
    let steps = |entries: Vec<PathBuf>| -> Vec<u64> {
        let names = entries.iter().filter_map(|e| e.strip_prefix("checkpoints").ok());
        names.filter_map(|n| n.to_str()?.parse().ok()).collect()
    };
    assert_eq!(steps(entries(&run)), [250, 500, 750, 800, 900, 1000]);
    assert_eq!(record.milestones.len(), 4);
}

#[test]
fn a_run_without_progress_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    // A rate without effect: no measurement after the first is better.
    let mut config = config(MLP, "games = 2000\nrate = 1e-12");
    config.evaluate.every = Some(100);
    config.evaluate.patience = Some(3);
    let run = folder.path().join("run");
    let record = finished(&config, 1, &run);
    assert!(record.finished && record.step == 400, "{}", record.step);
    assert_eq!(record.early.as_deref(), Some("no better measurement in 3"));
    assert_eq!(record.r#final.as_ref().unwrap().step, 400);
    // An interruption does not extend its patience.
    let broken = folder.path().join("broken");
    let cancel = Cancel::default();
    train(&config, 1, &at(&broken), &StopAt(250, cancel.clone()), &cancel).unwrap();
    let resume = TrainOptions { resume: true, ..at(&broken) };
    assert_eq!(train(&config, 1, &resume, &Silent, &Cancel::default()).unwrap().1.step, 400);
    assert!(state(&broken) == state(&run));
}

#[test]
fn an_estimate_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(MLP, "games = 100_000\nrate = 0.01");
    let run = folder.path().join("run");
    let e = estimate(&config, 1, &at(&run), Duration::from_millis(50)).unwrap();
    assert!(!run.exists());
    assert!(e.games == 100_000 && e.tried > 0 && e.seconds > e.measuring && e.measuring > 0.0, "{e:?}");
    // 242 parameters and the texts around them: three checkpoints and the best.
    assert!((4 * 242..20_000).contains(&e.checkpoint_bytes) && e.disk_bytes > 3 * e.checkpoint_bytes);
}

#[test]
fn a_network_becomes_an_expert() {
    let folder = tempfile::tempdir().unwrap();
    let (run, _) = trained(folder.path());
    let alone = |action: &str| -> f32 {
        let value = measure::value(&run, false, &["X...O....".into()], None).unwrap().remove(0);
        value.moves.iter().find(|m| m.action == action).unwrap().explanation.value
    };
    let hierarchy = "hme]\nexperts = 3\nexpert.mlp = { hidden = [20], sensitivity = 1.0 }";
    let start = |name: &str, architecture: &str, init: &[&str]| {
        let init = init.iter().map(|part| format!("{part}{}", run.display()).parse().unwrap()).collect();
        let path = folder.path().join(name);
        let config = config(architecture, "games = 1\nrate = 1e-12");
        train(&config, 2, &TrainOptions { init, ..at(&path) }, &Silent, &Cancel::default())
    };
    let experts_of = |run: &Path| -> (String, Vec<f32>) {
        let value = measure::value(run, false, &["X...O....".into()], None).unwrap().remove(0);
        let best = &value.moves[0];
        (best.action.clone(), best.explanation.experts.iter().map(|e| e.as_ref().unwrap().value).collect())
    };
    // Without a part name, the first part that fits.
    let (first, record) = start("first", hierarchy, &[""]).unwrap();
    assert_eq!(record.init[0].part.as_deref(), Some("expert.0"));
    let (action, values) = experts_of(&first);
    assert!((values[0] - alone(&action)).abs() < 1e-6 && (values[1] - values[0]).abs() > 1e-4, "{values:?}");
    // Several weights in turn, each in a free part.
    let (_, record) = start("both", hierarchy, &["", ""]).unwrap();
    assert_eq!(record.init[1].part.as_deref(), Some("expert.1"));
    let error = start("full", hierarchy, &["expert.0=", "expert.0="]).unwrap_err().to_string();
    assert!(error.contains("another start already fills its part `expert.0`"), "{error}");
    // By name, and twice.
    let (named, record) = start("named", hierarchy, &["expert.1=", "expert.2="]).unwrap();
    assert_eq!(record.init.len(), 2);
    let (action, values) = experts_of(&named);
    assert!((values[1] - alone(&action)).abs() < 1e-6 && values[1] == values[2] && values[0] != values[1]);
    // A nested part.
    let nested = "meta_pi]\nexperts = 2\nexpert.hme = { experts = 2, expert.mlp = { hidden = [20], sensitivity = 1.0 } }";
    let (_, record) = start("nested", nested, &["expert.1.expert.0="]).unwrap();
    assert_eq!(record.init[0].part.as_deref(), Some("expert.1.expert.0"));
    // Another network is refused with a message about the difference.
    for (architecture, init, reason) in [
        ("mlp]\nhidden = [19]\nsensitivity = 1.0", "", "[19] cannot hold those of the checkpoint, [20]"),
        ("mlp]\nhidden = [20]\nsensitivity = 1.0\nactivation = \"relu\"", "", "and the same activation"),
        ("mlp]\nhidden = [20]", "", "it has no `sensitivity`, the checkpoint has one"),
        (hierarchy, "expert.3=", "no part `expert.3`; there is expert.0, expert.1, expert.2"),
        (
            "hme]\nexperts = 2\nexpert.mlp = { hidden = [8] }",
            "",
            "none of its parts fits either: expert.0, expert.1",
        ),
        (
            "hme]\nexperts = 2\nexpert.mlp = { hidden = [8] }",
            "expert.1=",
            "its part `expert.1` is another network",
        ),
    ] {
        let error = start("refused", architecture, &[init]).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(&run.display().to_string()), "{error}");
    }
    assert_eq!(
        "expert.1=x".parse::<Init>().unwrap(),
        Init { part: Some("expert.1".into()), path: "x".into() }
    );
    assert_eq!("net=x".parse::<Init>().unwrap(), Init { part: Some("net".into()), path: "x".into() });
    assert_eq!("network=x".parse::<Init>().unwrap(), Init { part: None, path: "network=x".into() });
    assert_eq!("a=b".parse::<Init>().unwrap(), Init { part: None, path: "a=b".into() });
}
