//! Checkpoints: round trips, detection of damage in every byte, refusal of newer formats.

use adept_ground::files::Files;
use adept_model::Head;
use adept_model::checkpoint::{FORMAT, Manifest, Origin, locate, read, write};
use adept_model::{Architecture, Channel, ChannelKind, Tensor};
use std::fs;
use std::path::{Path, PathBuf};

fn manifest() -> Manifest {
    let architecture: Architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [2] } }"#).unwrap();
    Manifest {
        strength: None,
        format: FORMAT,
        kind: "network".into(),
        game: "tictactoe".into(),
        encoder: "fields".into(),
        channels: vec![Channel::new("fields", ChannelKind::Dense(9))],
        architecture,
        head: Head::Value,
        config: serde_json::json!({ "name": "x", "rate": 0.1 }),
        seed: 1,
        step: 10,
        rivals: vec![],
        quantised: None,
        init: Vec::new(),
        revision: "abc".into(),
        metrics: serde_json::json!({ "equity": 0.123_456_789 }),
        training: Some(serde_json::json!({ "play": [{ "s": [1, 2, 3, u64::MAX] }] })),
        checksums: Default::default(),
        checksum: String::new(),
    }
}

fn tensors() -> Vec<Tensor> {
    vec![
        Tensor::f32("a", vec![2, 2], vec![1.0, -2.5, f32::MIN_POSITIVE, 0.1]),
        Tensor::u64("keys", vec![2], vec![u64::MAX, 0]),
        Tensor::f32("optimiser.first.a", vec![2, 2], vec![0.5; 4]),
    ]
}

fn written(folder: &Path) -> PathBuf {
    let path = folder.join("checkpoint");
    write(&Files::default(), &path, manifest(), &tensors()).unwrap();
    path
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = read(&written(folder.path())).unwrap();
    assert_eq!(checkpoint.tensors, tensors());
    let manifest = Manifest { checksums: Default::default(), checksum: String::new(), ..checkpoint.manifest };
    assert_eq!(manifest, self::manifest());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["checkpoint"], "nothing temporary stays behind");
}

#[test]
fn every_damaged_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    for entry in fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        let good = fs::read(&file).unwrap();
        for i in 0..good.len() {
            let mut bad = good.clone();
            bad[i] ^= 1 << (i % 8);
            fs::write(&file, &bad).unwrap();
            let error = read(&path).expect_err(&format!("byte {i} of {}", file.display())).to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
        fs::write(&file, &good[..good.len() - 1]).unwrap();
        assert!(read(&path).is_err(), "a byte is missing from {}", file.display());
        fs::write(&file, &good).unwrap();
    }
    read(&path).unwrap();
}

#[test]
fn a_newer_format_and_a_missing_file_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    let file = path.join("manifest.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"format\": 3", "\"format\": 4", 1)).unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("format 4") && error.contains("up to 3"), "{error}");
    fs::write(&file, text).unwrap();
    fs::remove_file(path.join("weights.safetensors")).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("weights.safetensors"));
}

#[test]
fn a_diverged_model_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let error = write(&Files::default(), &path, manifest(), &[Tensor::f32("a", vec![1], vec![f32::NAN])])
        .unwrap_err();
    assert!(error.to_string().contains("`a`") && !path.exists(), "{error}");
}

#[test]
fn a_path_that_is_neither_checkpoint_nor_run_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let error = locate(folder.path(), false).unwrap_err().to_string();
    assert!(error.contains("neither a checkpoint nor a run"), "{error}");
    let error = locate(&folder.path().join("nowhere"), false).unwrap_err().to_string();
    assert!(error.contains("does not exist"), "{error}");
}

/// Before format 3 the head was the key `output`, and only policies had it.
#[test]
fn heads_of_older_formats_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(written(folder.path()).join("manifest.json")).unwrap();
    let path = Path::new("manifest.json");
    let read = |output: &str| {
        let old = text.replacen("\"format\": 3", &format!("\"format\": 2{output}"), 1);
        adept_model::checkpoint::manifest_in(&old, path).unwrap().head
    };
    assert_eq!(read(""), Head::Value);
    assert_eq!(read(", \"output\": \"values\""), Head::Value);
    assert_eq!(read(", \"output\": \"logits\""), Head::Policy);
    let head = Head::Outcomes(adept_model::OutcomeClass::loss_draw_win());
    let new = text.replacen(
        "\"config\"",
        &format!("\"head\": {}, \"config\"", serde_json::to_string(&head).unwrap()),
        1,
    );
    assert_eq!(adept_model::checkpoint::manifest_in(&new, path).unwrap().head, head);
}

#[test]
fn an_origin_is_named_as_an_option() {
    let origin = |path: &str, part: Option<&str>| {
        let part = part.map(String::from);
        Origin { path: path.into(), checksum: String::new(), part, grown: None }
    };
    for (path, part, option, run) in [
        (
            "runs/small-1/checkpoints/000000400",
            None,
            "runs/small-1/checkpoints/000000400",
            Some("runs/small-1"),
        ),
        ("checkpoints/backgammon/a b", Some("expert.1"), "expert.1='checkpoints/backgammon/a b'", None),
        ("checkpoints/small", None, "checkpoints/small", None),
        ("nets/old", Some("modules a, b"), "nets/old", None),
    ] {
        let origin = origin(path, part);
        assert_eq!((&*origin.option(), origin.run()), (option, run.map(Path::new)));
    }
}
