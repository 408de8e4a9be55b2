//! Absurd input ends in a clear error before memory is allocated for it.

use crate::common::{Workspace, configs, published};
use std::fs;
use std::path::Path;

/// Runs a command, with at most 8 GB of address space where the system can limit it. Returns the exit code and stderr.
fn limited(dir: &Workspace, args: &[&str]) -> (Option<i32>, String) {
    let output = if cfg!(target_os = "linux") {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -v 8000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_adept")]);
        shell.args(args).current_dir(dir.folder.path()).output().unwrap()
    } else {
        dir.run(args)
    };
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn check(dir: &Workspace, cases: &[(&[&str], i32, &str)]) {
    for (args, code, text) in cases {
        let (found, said) = limited(dir, args);
        assert!(found == Some(*code) && said.contains(text), "{args:?}: {found:?}\n{said}");
    }
}

#[test]
fn numbers_have_limits() {
    let dir = Workspace::new();
    let config = |name: &str| configs().join(name).to_string_lossy().into_owned();
    let (single, regrets) = (config("single-30.toml"), config("../liars-dice/regrets-f4.toml"));
    let huge = u64::MAX.to_string();
    let threads = ["--threads", huge.as_str()];
    for command in [
        &["train", &single][..],
        &["sweep", &single],
        &["arena", "arena.toml"],
        &["reproduce", "soar-figure2"],
        &["reproduce", "q-post"],
        &["oracle", "build", "--checkers", "3"],
    ] {
        check(&dir, &[(&[command, &threads].concat(), 2, "1024 threads")]);
    }
    let seeds = ["train", &single, "--seeds", "2", "--seed"];
    check(
        &dir,
        &[
            (&[&seeds[..], &["9223372036854775807"]].concat(), 2, "--seed"),
            (&["train", &single, "--seeds", "10001"], 2, "--seeds"),
            (&["train", &single, "--set", "seed=9223372036854775807"], 1, "`seed`: must be at most"),
            (
                &["train", &single, "--set", "learn.batch=1000000000"],
                1,
                "`learn.batch`: must lie in 1..1048576",
            ),
            (&["train", &single, "--set", "learn.games=1000000000000"], 1, "must lie in 1..999999999999"),
            (
                &["train", &regrets, "--set", "learn.regrets.rows=100000000"],
                1,
                "`learn.regrets.rows`: must lie",
            ),
            (
                &["train", &regrets, "--set", "learn.regrets.batch=100000000"],
                1,
                "`learn.regrets.batch`: must lie",
            ),
            (&["bench", "speed", "--batch", "100000000"], 2, "1048576 rows"),
            (&["evaluate", "x", "--samples", &huge], 2, "--samples"),
            (&["solve", "liars-dice:openspiel:1-1:6", "--iterations", &huge], 2, "--iterations"),
        ],
    );
}

#[test]
fn tournaments_and_agents_have_limits() {
    let dir = Workspace::new();
    let tournament = |game: &str, rest: &str| {
        format!(
            "name = \"t\"\ngame = \"{game}\"\ngames = 100\nagents = [{{ name = \"P\" }}, {{ name = \"E\" }}]\n{rest}"
        )
    };
    fs::write(dir.path("wide.toml"), tournament("liars-dice:soar:62x1", "")).unwrap();
    let deep = format!("{}random", "optimal:".repeat(12_000));
    fs::write(
        dir.path("deep.toml"),
        format!("name = \"t\"\ngame = \"tictactoe\"\ngames = 100\nagents = [{{ name = \"random\" }}, {{ name = \"d\", agent = \"{deep}\" }}]"),
    )
    .unwrap();
    let crowd: Vec<String> = (0..300).map(|i| format!("{{ name = \"a{i}\", agent = \"random\" }}")).collect();
    let crowd = format!("name = \"t\"\ngame = \"tictactoe\"\ngames = 100\nagents = [{}]", crowd.join(", "));
    fs::write(dir.path("crowd.toml"), crowd).unwrap();
    let single = configs().join("single-30.toml").to_string_lossy().into_owned();
    let values: Vec<String> = (1..=5000).map(|n| n.to_string()).collect();
    let values = format!("learn.td.games={}", values.join(","));
    check(
        &dir,
        &[
            (&["arena", "crowd.toml"], 1, "a tournament has at most 256 agents, found 300"),
            (&["arena", "no/such.toml"], 1, "`adept arena --help` shows"),
            (&["sweep", &single, "--set", &values], 1, "more than 4096 combinations"),
            (&["arena", "wide.toml"], 1, "62 players can sit in"),
            (&["arena", "deep.toml"], 1, "12000 times `optimal:`"),
            (&["play", &deep, "--game", "tictactoe"], 1, "12000 times `optimal:`"),
            (
                &["train", &single, "--set", &format!("learn.td.against=\"{deep}\"")],
                1,
                "12000 times `optimal:`",
            ),
        ],
    );
}

#[test]
#[cfg(unix)]
fn files_are_not_read_without_end() {
    let dir = Workspace::new();
    let checkpoint = published("residual-10");
    for (name, file) in [("bad-manifest", "manifest.json"), ("bad-weights", "weights.safetensors")] {
        fs::create_dir(dir.path(name)).unwrap();
        for entry in fs::read_dir(&checkpoint).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), Path::new(&dir.path(name)).join(entry.file_name())).unwrap();
        }
        let at = Path::new(&dir.path(name)).join(file);
        fs::remove_file(&at).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &at).unwrap();
    }
    fs::create_dir(dir.path("run")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path("run/run.json")).unwrap();
    let large = "is larger than 64 MiB";
    check(
        &dir,
        &[
            (&["train", "/dev/zero"], 1, "is larger than 1 MiB"),
            (&["config", "check", "/dev/zero"], 1, "is larger than 1 MiB"),
            (&["config", "migrate", "/dev/zero"], 1, "is larger than 1 MiB"),
            (&["arena", "/dev/zero"], 1, "is larger than 1 MiB"),
            (&["describe", "bad-manifest"], 1, "is larger than 4 MiB"),
            (&["describe", "bad-weights"], 1, large),
            (&["train", &configs().join("single-30.toml").to_string_lossy(), "--out", "run"], 1, large),
            (&["evaluate", &checkpoint, "--positions", "/dev/zero"], 1, "is a pipe or a device"),
            (&["import", "/dev/zero", "--like", &checkpoint, "--out", "new"], 1, large),
            (&["oracle", "verify", "--csv", "/dev/zero"], 1, large),
        ],
    );
}

/// A record or manifest is checked before it is trusted.
#[test]
fn records_do_not_lead_out_of_their_folder() {
    let dir = Workspace::new();
    let run = dir.trained("single-30.toml", 2_000);
    let record = Path::new(&run).join("run.json");
    let text = fs::read_to_string(&record).unwrap();
    let latest = serde_json::from_str::<serde_json::Value>(&text).unwrap()["latest"].clone();
    let elsewhere = text.replace(latest.as_str().unwrap(), "../../../elsewhere");
    fs::write(&record, elsewhere).unwrap();
    check(&dir, &[(&["describe", &run], 1, "`../../../elsewhere` is not the name of a checkpoint")]);
    let config = configs().join("single-30.toml").to_string_lossy().into_owned();
    let again = ["train", &config, "--set", "learn.games=2000", "--out", &run, "--resume"];
    check(&dir, &[(&again, 1, "is not the name of a checkpoint")]);
}

/// Deep keys, experts without parameters, and long lines.
#[test]
fn texts_and_architectures_have_limits() {
    let dir = Workspace::new();
    let single = configs().join("single-30.toml").to_string_lossy().into_owned();
    let deep = format!("{}b=1", "a.".repeat(10_000));
    let frozen = "architecture.hme={experts=4096,expert={hme={experts=4096,expert={frozen={}}}}}";
    let bearoff = configs().join("../bearoff/residual-10.toml").to_string_lossy().into_owned();
    fs::write(dir.folder.path().join("zeros.toml"), vec![0; 100_000]).unwrap();
    check(
        &dir,
        &[
            (&["config", "check", &single, "--set", &deep], 1, "at most 64"),
            (&["config", "check", &bearoff, "--set", frozen, "--set", "architecture.residual=1"], 1, "error"),
            (&["config", "check", "zeros.toml"], 1, "zeros.toml:1:1"),
        ],
    );
}

/// Only regular files are replaced.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced() {
    let dir = Workspace::new();
    let folder = dir.folder.path();
    fs::write(folder.join("file"), "kept").unwrap();
    std::os::unix::fs::symlink("file", folder.join("link")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    let checkpoint = published("plain-10");
    let export = |out: &str| limited(&dir, &["export", &checkpoint, "--format", "onnx", "--out", out]);
    for (out, why) in [("pipe", "a device or a pipe"), ("link", "this is a link")] {
        let (code, said) = export(out);
        assert!(code == Some(1) && said.contains(why), "{out}: {code:?}\n{said}");
    }
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "kept");
    assert!(!folder.join("pipe").is_file());
}

/// Arguments that are not UTF-8 are refused like other invalid ones.
#[cfg(unix)]
#[test]
fn arguments_may_be_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = Workspace::new();
    let name = OsStr::from_bytes(b"\xff");
    for (args, code) in [(vec![OsStr::new("describe"), name], 1), (vec![name], 2)] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_adept"));
        let output = command.args(&args).arg("--json").current_dir(dir.folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("\"error\""), "{args:?}: {text}");
    }
}

/// The copies of workers and the bases of SOAP count, and `ulimit -v` counts too.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_refused_before_it_is_taken() {
    let dir = Workspace::new();
    let single = configs().join("single-30.toml").to_string_lossy().into_owned();
    let wide = |units: usize| format!("architecture.mlp.hidden=[{units},{units}]");
    let (one, workers) = (wide(30_000), wide(6000));
    let soap = ["--set", "learn.optimiser=\"soap\""];
    let deep = format!("architecture.mlp.hidden=[{}]", ["2000"; 60].join(","));
    let short = "of memory, but only";
    check(
        &dir,
        &[
            (&["train", &single, "--set", &one], 1, short),
            (
                &["oracle", "value", "15,0,0,0,0,0/1,0,0,0,0,0", "--cube"],
                1,
                "tables of 15 checkers with the cube need",
            ),
            (
                &[
                    "train",
                    &single,
                    "--set",
                    &workers,
                    "--set",
                    "learn.td.workers=64",
                    "--set",
                    "learn.batch=64",
                ],
                1,
                short,
            ),
            (&[&["train", &single, "--set", &deep], &soap[..]].concat(), 1, short),
        ],
    );
}

#[test]
#[cfg(unix)]
fn what_is_no_list_or_no_weights_is_told_by_its_beginning() {
    let dir = Workspace::new();
    let checkpoint = published("residual-10");
    // A gigabyte that occupies no disk space.
    let junk = fs::File::create(dir.path("junk")).unwrap();
    junk.set_len(1 << 30).unwrap();
    let long = "line 1 is longer than 4096 bytes";
    check(
        &dir,
        &[
            (&["evaluate", &checkpoint, "--positions", "junk"], 1, long),
            (&["oracle", "verify", "--csv", "junk"], 1, long),
            (&["import", "junk", "--like", &checkpoint, "--out", "new"], 1, "is not a safetensors file"),
        ],
    );
}
