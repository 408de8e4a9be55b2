//! Devices, end to end: available ones train, the others print a hint.

use crate::common::{Workspace, configs, number};

const KINDS: [(&str, bool); 4] = [
    ("flex", cfg!(feature = "flex")),
    ("ndarray", cfg!(feature = "ndarray")),
    ("wgpu", cfg!(feature = "wgpu")),
    ("cuda", cfg!(feature = "cuda")),
];

#[test]
fn every_device_learns_or_says_what_to_do() {
    let dir = Workspace::new();
    let config = configs().join("single-30.toml").to_string_lossy().into_owned();
    let listed = dir.json(&["list", "devices"]);
    let listed = listed["devices"].as_array().unwrap();
    assert!(listed[0]["name"] == "cpu" && listed[0]["usable"] == true);
    let text = dir.text(&["list", "devices"]);
    for (kind, compiled) in KINDS {
        let device =
            listed.iter().find(|d| d["name"] == kind).unwrap_or_else(|| panic!("no {kind}: {listed:?}"));
        let games = ["--set", "learn.games=200", "--set", "learn.batch=20"];
        let train = [&["train", &config, "--device", kind, "--out", kind][..], &games].concat();
        if device["usable"] == true {
            assert!(compiled);
            let result = dir.json(&train);
            assert_eq!((&result["engine"], &result["device"]), (&"burn".into(), &kind.into()));
            assert!(result["finished"] == true && number(&result["timing"]["samples_per_second"]) > 0.0);
            // The checkpoint plays on any machine.
            assert!(number(&dir.json(&["evaluate", kind])["equity"]["equity"]) < 1.0);
        } else {
            let hint = device["hint"].as_str().unwrap();
            // Long hints are wrapped.
            assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(hint));
            let error = dir.fails(&train, 1);
            assert!(
                error.contains(&format!("the device `{kind}` cannot be used")) && error.contains(hint),
                "{error}"
            );
            assert_eq!(hint.contains(&format!("--features {kind}")), !compiled, "{hint}");
        }
    }
    let burn = configs().join("single-80-burn.toml").to_string_lossy().into_owned();
    let native =
        dir.json(&["train", &burn, "--engine", "native", "--set", "learn.games=100", "--out", "native"]);
    assert_eq!((&native["engine"], &native["device"]), (&"native".into(), &"cpu".into()));
    let error = dir.fails(&["train", &config, "--device", "gpu"], 2);
    assert!(error.contains("unknown device `gpu`"), "{error}");
    let error = dir.fails(&["train", &config, "--engine", "native", "--device", "wgpu"], 1);
    assert!(error.contains("the native engine runs on the cpu"), "{error}");
}

#[test]
fn bench_speed_measures_the_grid() {
    let dir = Workspace::new();
    let result = dir.json(&["bench", "speed", "--device", "cpu", "--device", "flex", "--batch", "2"]);
    let cells = result["cells"].as_array().unwrap();
    // Seven networks: evaluation and training by the native engine, training by burn. Five have a layer that is large enough for
    // bfloat16.
    assert_eq!(cells.len(), 26);
    assert_eq!(cells.iter().filter(|cell| cell["operation"] == "bf16").count(), 5);
    for cell in cells {
        assert!(number(&cell["median_us"]) > 0.0 && cell["batch"] == 2 && cell["threads"] == 1, "{cell}");
    }
    assert!(
        number(&result["peak"]["multiply_adds"]) > 1e8 && number(&result["peak"]["read"]) > 1e8,
        "{result}"
    );
    assert!(
        ["avx512", "avx2", "portable"].contains(&result["machine"]["vectors"].as_str().unwrap()),
        "{result}"
    );
    std::fs::write(dir.path("before.json"), result.to_string()).unwrap();
    let again = [
        "bench",
        "speed",
        "--compare",
        "before.json",
        "--batch",
        "2",
        "--device",
        "cpu",
        "--network",
        "68-10-1",
    ];
    let table = dir.text(&again);
    assert!(table.contains("faster") && table.contains("68-10-1") && table.contains("before: "), "{table}");
    let other = ["bench", "speed", "--compare", "before.json", "--batch", "3", "--network", "68-10-1"];
    assert!(dir.fails(&other, 1).contains("batches 2"));
    std::fs::write(dir.path("else.json"), "{\"cells\": []}").unwrap();
    let other = ["bench", "speed", "--compare", "else.json"];
    assert!(dir.fails(&other, 1).contains("`adept bench speed --json`"));
    assert!(dir.fails(&["bench", "speed", "--compare", "none.json"], 1).contains("none.json"));
    assert!(dir.fails(&["bench", "speed", "--batch", "0"], 2).contains("1 to 1048576 rows"));
}

#[test]
fn a_profile_says_where_the_time_goes() {
    let dir = Workspace::new();
    let config = configs().join("single-30.toml").to_string_lossy().into_owned();
    let train = ["train", &config, "--set", "learn.td.games=20000", "--out"];
    let found = dir.json(&[&train[..], &["run", "--profile"]].concat());
    let profile = found["profile"].as_object().unwrap();
    assert!(!profile.is_empty(), "{found}");
    let names = ["games", "encoding", "forward", "backward", "optimiser", "learning", "measuring", "writing"];
    for (name, seconds) in profile {
        assert!(names.contains(&name.as_str()) && number(seconds) > 0.0, "{found}");
    }
    let record = std::fs::read_to_string(dir.path("run/run.json")).unwrap();
    assert!(record.contains("\"profile\""), "{record}");
    let text = dir.text(&[&train[..], &["run", "--resume", "--profile"]].concat());
    assert!(text.contains("work") && text.contains("share"), "{text}");
    assert!(dir.json(&[&train[..], &["plain"]].concat())["profile"].is_null());
    assert!(dir.fails(&["train", &config, "--profile", "--seeds", "2"], 2).contains("--seeds"));
}

/// The message on a machine without a driver, tested even where drivers exist.
#[test]
#[cfg(feature = "wgpu")]
fn a_machine_without_adapters_says_what_to_do() {
    let dir = Workspace::new();
    let config = configs().join("single-30.toml").to_string_lossy().into_owned();
    let hide = |args: &[&str]| {
        let mut command = dir.command(args);
        for driver in ["VK_ICD_FILENAMES", "VK_DRIVER_FILES", "__EGL_VENDOR_LIBRARY_FILENAMES"] {
            command.env(driver, "/nonexistent");
        }
        command.output().unwrap()
    };
    let output = hide(&["train", &config, "--device", "wgpu", "--out", "none"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("no adapter was found: install a driver"), "{error}");
    assert!(!dir.folder.path().join("none").exists());
    let output = hide(&["list", "devices"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("no adapter was found"));
}
