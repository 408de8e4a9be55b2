//! Error messages of commands, and their hints.

use crate::common::{Workspace, configs, published};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

const HEADER: &str = "own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6,value";

/// The error object of a failing command, and its stderr.
fn failure(dir: &Workspace, args: &[&str]) -> (Value, String) {
    let output = dir.run(&[args, &["--json"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
    let object: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}"));
    (object["error"].clone(), said)
}

fn write_config(dir: &Workspace, examples: &str) {
    let text = format!(
        "name = \"my\"\n[game]\nrules = \"bearoff:4\"\nencoder = \"one-sided\"\n[architecture.mlp]\nhidden = [3]\n[learn]\n\
         rate = 0.01\n[learn.supervised]\nsamples = 400\nexamples = \"{examples}\"\n"
    );
    fs::write(dir.path("my.toml"), text).unwrap();
}

/// A missing file and one with a bad row have the same error kind in every command.
#[test]
fn faults_of_data_files_have_one_kind() {
    let dir = Workspace::new();
    fs::write(dir.path("bad.csv"), format!("{HEADER}\n1,0,0,0,0,0,x,0,0,0,0,0,1\n")).unwrap();
    fs::write(dir.path("bad.txt"), "nonsense\n").unwrap();
    fs::write(dir.path("words.csv"), "a,b\nc,d\n").unwrap();
    let network = published("plain-10");
    for (file, kind) in [("no.csv", "io"), ("bad.csv", "data"), ("bad.txt", "data"), (".", "io")] {
        write_config(&dir, file);
        let mut all = vec![
            vec!["train", "my.toml"],
            vec!["train", "my.toml", "--seeds", "2"],
            vec!["train", "my.toml", "--estimate"],
            vec!["sweep", "my.toml", "--seeds", "1"],
            vec!["evaluate", &network, "--positions", file],
            vec!["evaluate", &network, "--decisions", file],
            vec!["value", &network, "--positions", file],
            vec!["oracle", "verify", "--csv", file],
        ];
        all.extend((file != "bad.txt").then(|| vec!["evaluate", "soarbot-2002", "--recorded", file]));
        for args in &all {
            let (error, _) = failure(&dir, args);
            assert_eq!(error["kind"], kind, "{args:?}: {error}");
            assert!(error["message"].as_str().unwrap().contains(file), "{args:?}: {error}");
        }
    }
    assert!(!dir.folder.path().join("checkpoints").exists());
    // Files that make up rules.
    let dealer = ["serve", "acpc", "127.0.0.1", "1", "soarbot", "--gamedef", "no.game"];
    for args in [&dealer[..], &["serve", "gamedef", "no.game"]] {
        let (error, _) = failure(&dir, args);
        assert_eq!(error["kind"], "io");
        assert!(error["message"].as_str().unwrap().contains("no.game: No such file"), "{error}");
    }
}

/// `config check` and `train` report the same error about a file that the config names.
#[test]
fn checks_open_the_files_of_a_config() {
    let dir = Workspace::new();
    write_config(&dir, "no.csv");
    let said = dir.fails(&["config", "check", "my.toml"], 1);
    let place = "my.toml:11:1: `learn.supervised.examples`: no.csv: No such file";
    assert!(said.contains(place), "{said}");
    assert!(dir.fails(&["train", "my.toml"], 1).contains(place));
    let output = dir.run(&["config", "check", "my.toml", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = &found["files"][0];
    assert_eq!((&file["ok"], &file["line"], &file["kind"]), (&false.into(), &11.into(), &"io".into()));
    fs::write(dir.path("no.csv"), "own1\n").unwrap();
    let output = dir.run(&["config", "check", "my.toml", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["files"][0]["kind"], "data");
    // Several seeds with the same error report it once, and leave nothing behind.
    let said = dir.fails(&["train", "my.toml", "--seeds", "3"], 1);
    assert!(said.contains("seeds 1 to 3: my.toml:11:1:") && said.contains("nothing was run"), "{said}");
    assert_eq!(said.matches("no.csv").count(), 2, "{said}");
    assert!(!dir.folder.path().join("checkpoints").exists());
}

/// Each refusal of a run's folder names the relevant options.
#[test]
fn what_helps_against_a_taken_folder_is_named() {
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let run = |more: &[&'static str]| -> Vec<String> {
        let all = [&["train", &*config, "--out", "run"], more].concat();
        all.into_iter().map(String::from).collect()
    };
    let fails = |args: &[String]| dir.fails(&args.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    let text = |args: &[String]| dir.text(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let stopped =
        dir.run(&["train", &config, "--out", "run", "--set", "learn.games=100000", "--max-seconds", "0.2"]);
    assert!(stopped.status.success());
    let said = fails(&run(&["--set", "learn.games=200", "--set", "learn.rate=0.5"]));
    for word in ["--fresh starts anew", "--init run --out ANOTHER starts from its weights", "--out chooses"] {
        assert!(said.contains(word), "{said}");
    }
    assert!(!said.contains("--resume"), "{said}");
    let said = fails(&run(&["--set", "learn.games=100000"]));
    assert!(said.contains("--resume continues it") && said.contains("--fresh"), "{said}");
    let short = ["--set", "learn.games=200", "--set", "evaluate.every=100", "--fresh"];
    assert!(text(&run(&short)).contains("equity"));
    let said = fails(&run(&short));
    assert!(said.contains("finished run") && !said.contains("--fresh"), "{said}");
    // After divergence the hint can be followed.
    let wild =
        ["train", &config, "--out", "wild", "--set", "learn.games=2000", "--set", "checkpoints.every=1"];
    let said = dir.fails(&[&wild[..], &["--set", "learn.rate=1e9"]].concat(), 1);
    assert!(said.contains("diverged") && said.contains("hint: --fresh starts anew"), "{said}");
    dir.text(&[&wild[..], &["--set", "learn.rate=0.01", "--fresh"]].concat());
}

/// Names of tensors that PyTorch writes for wrapped models.
#[test]
fn prefixes_of_wrapped_models_are_named_and_stripped() {
    let dir = Workspace::new();
    let network = published("plain-10");
    dir.text(&["export", &network, "--format", "safetensors", "--out", "plain.safetensors"]);
    let bytes = fs::read(dir.path("plain.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let write = |name: &str, entries: serde_json::Map<String, Value>| {
        let text = serde_json::to_string(&entries).unwrap();
        let file = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &bytes[8 + length..]].concat();
        fs::write(dir.path(name), file).unwrap();
    };
    let tensors = || header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__");
    let prefixed = tensors().map(|(name, entry)| (format!("module._orig_mod.{name}"), entry.clone()));
    write("wrapped.safetensors", prefixed.collect());
    let import = ["import", "wrapped.safetensors", "--like", &network, "--out", "new"];
    let said = dir.fails(&import, 1);
    assert!(said.contains("is missing; all names begin with `module._orig_mod.`"), "{said}");
    assert!(said.contains("--strip module._orig_mod. leaves it out") && !said.contains("--like"), "{said}");
    let said = dir.fails(&[&import[..], &["--strip", "net."]].concat(), 1);
    assert!(said.contains("no name of a tensor begins with `net.`"), "{said}");
    dir.text(&[&import[..], &["--strip", "module._orig_mod."]].concat());
    let values = |path: &str| dir.json(&["value", path, "1,1,1,1,1,1/2,2,0,0,0,1"])["values"].clone();
    assert_eq!(values("new"), values(&network));
    // One tensor by another name.
    let renamed = tensors().map(|(name, entry)| (name.replace("bias", "offset"), entry.clone()));
    write("renamed.safetensors", renamed.collect());
    let said = dir.fails(&["import", "renamed.safetensors", "--like", &network, "--out", "other"], 1);
    assert!(said.contains("bias` is missing; it has ") && said.contains("offset"), "{said}");
}

/// A full disk behind a redirection is reported.
#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_named() {
    let dir = Workspace::new();
    for json in [&[][..], &["--json"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = dir.command(&[&["list", "games"][..], json].concat());
        let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("error: stdout: No space left on device") && !said.contains("hint"), "{said}");
    }
}

/// A second Ctrl-C ends the process immediately, and its object is still printed.
#[test]
#[cfg(unix)]
fn a_second_interrupt_leaves_an_object() {
    use std::io::{BufRead, BufReader};
    use std::process::Command;
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let long = ["--set", "learn.games=100000000", "--json"];
    for args in [
        &["train", &*config, "--seeds", "2", "--out", "seeds"][..],
        &["sweep", &config, "--seeds", "2", "--out", "sweep"],
    ] {
        let mut command = dir.command(&[args, &long].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let interrupt = || Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(said.by_ref().any(|line| line.unwrap().contains("left")));
        // Whatever comes first, the end or the second signal, there is one object.
        interrupt();
        interrupt();
        let rest: Vec<String> = said.map(Result::unwrap).collect();
        let output = child.wait_with_output().unwrap();
        let object: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {rest:?}"));
        assert!(object.is_object() && !output.status.success(), "{object}");
    }
}

/// Windows editors write a byte order mark, or UTF-16.
#[test]
fn texts_of_other_editors_are_read_or_named() {
    let dir = Workspace::new();
    let rules = include_str!("../../../../declared/games/nim.game");
    fs::write(dir.path("nim.game"), format!("\u{feff}{}", rules.replace('\n', "\r\n"))).unwrap();
    let game = "file:nim.game";
    assert!(dir.text(&["list", "encoders", "--game", game]).contains("bits"));
    fs::write(dir.path("my.toml"), format!("\u{feff}{}", dir.text(&["config", "new", game]))).unwrap();
    dir.text(&["config", "check", "my.toml"]);
    let wide =
        |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
    fs::write(dir.path("nim.game"), wide(&format!("\u{feff}{rules}"), u16::to_le_bytes)).unwrap();
    assert!(dir.text(&["list", "encoders", "--game", game]).contains("bits"));
    fs::write(dir.path("nim.game"), wide(&format!("\u{feff}{rules}"), u16::to_be_bytes)).unwrap();
    let said = dir.fails(&["list", "encoders", "--game", game], 1);
    assert!(said.contains("nim.game: is a text in big-endian UTF-16: save it as UTF-8"), "{said}");
}

/// A file with values is compared, so there is nothing to write: the hint must not contradict this.
#[test]
fn a_hint_does_not_contradict_its_error() {
    let dir = Workspace::new();
    fs::write(dir.path("rows.csv"), format!("{HEADER}\n1,0,0,0,0,0,1,0,0,0,0,0,1\n")).unwrap();
    let said =
        dir.fails(&["evaluate", &published("plain-10"), "--positions", "rows.csv", "--out", "x.csv"], 1);
    assert!(said.contains("nothing is written") && !said.contains("hint"), "{said}");
}

/// An unreadable folder differs from an empty one.
#[test]
#[cfg(unix)]
fn folders_without_permission_are_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let short = ["--set", "learn.games=100", "--set", "evaluate.every=100"];
    dir.text(&[&["train", &config][..], &short].concat());
    let run = dir.path("checkpoints/runs/single-80-1");
    let allow = |mode: u32| fs::set_permissions(&run, fs::Permissions::from_mode(mode)).unwrap();
    allow(0);
    // The superuser can read everything, so the program runs as nobody, from a place that everybody can read.
    let as_root = fs::read_dir(&run).is_ok();
    let program = dir.path("adept");
    if as_root {
        fs::set_permissions(dir.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_adept"), &program).unwrap();
    }
    let call = |args: &[&str]| {
        let mut command = match as_root {
            true => Command::new(&program),
            false => Command::new(env!("CARGO_BIN_EXE_adept")),
        };
        if as_root {
            command.uid(65534).gid(65534);
        }
        let output = command.args(args).arg("--json").current_dir(dir.folder.path()).output();
        let output = output.unwrap_or_else(|e| panic!("the program does not start as another user: {e}"));
        serde_json::from_slice::<serde_json::Value>(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
    };
    let error = call(&["evaluate", "checkpoints/runs/single-80-1"]);
    assert_eq!(error["error"]["kind"], "io", "{error}");
    assert!(error["error"]["message"].as_str().unwrap().contains("Permission denied"), "{error}");
    let runs = call(&["runs", "list"]);
    assert!(runs["runs"][0]["status"].as_str().unwrap().contains("Permission denied"), "{runs}");
    allow(0o755);
}

/// An invalid answer of gnubg ends a match, and a missing gnubg prevents it. Both are reported.
#[test]
fn a_gnubg_that_fails_is_named() {
    let dir = Workspace::new();
    let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
    let (door, closed) = (listen(), listen());
    let [place, nowhere] = [&door, &closed].map(|door| door.local_addr().unwrap().to_string());
    drop(closed);
    std::thread::spawn(move || {
        for stream in door.incoming() {
            let mut lines = BufReader::new(stream.unwrap());
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                assert!(line.starts_with("board:"), "{line}");
                lines.get_mut().write_all(b"25/1 25/1\n").unwrap();
                line.clear();
            }
        }
    });
    for (place, kind, what) in [
        (&place, "protocol", format!("gnubg at {place} answers `25/1 25/1` to ")),
        (&nowhere, "config", format!("start it with the command `external {nowhere}`")),
    ] {
        let text = format!(
            "name = \"my\"\ngame = \"backgammon\"\ngames = 4\nagents = [{{ name = \"random\" }}, {{ name = \"gnubg:{place}\" }}]\n"
        );
        fs::write(dir.path("my.toml"), text).unwrap();
        let (error, _) = failure(&dir, &["arena", "my.toml"]);
        assert_eq!(error["kind"], kind, "{error}");
        assert!(error["message"].as_str().unwrap().contains(&what), "{error}");
    }
    let said = dir.fails(&["play", "gnubg:127.0.0.1:1", "--game", "hypergammon"], 1);
    assert!(said.contains("is not an agent of hypergammon"), "{said}");
}

/// Names of files are bytes on Unix.
#[cfg(unix)]
#[test]
fn folders_may_have_any_name() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Workspace::new();
    let name = std::ffi::OsStr::from_bytes(b"m\xff");
    for (more, expected) in [(&[][..], "written: "), (&["--json"], "\"adept.1\"")] {
        let output = dir.command(&["man", "--out"]).arg(name).args(more).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(expected), "{output:?}");
        assert!(dir.folder.path().join(name).join("adept.1").exists());
    }
}
