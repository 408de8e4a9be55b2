//! Compiles, links and runs C programs, the examples as their first lines say.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the library, next to this test.
fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let name = format!("{}adept_embed{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    assert!(deps.join(&name).exists(), "{} holds no {name}", deps.display());
    deps
}

/// Compiles a C program with strict warnings.
fn compiled(source: &Path, headers: &Path, linked: &[&str], program: &Path) {
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg("-I")
        .arg(headers)
        .arg(source)
        .arg("-L")
        .arg(library())
        .args(linked)
        .arg("-o")
        .arg(program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

#[test]
fn the_examples_in_c_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let built = |example: &str, linked: &[&str]| {
        let program = folder.path().join(format!("{example}-{}", linked.len()));
        compiled(&root.join(format!("examples/{example}.c")), folder.path(), linked, &program);
        program
    };
    let program = built("best_move", &["-ladept_embed"]);
    let play = |program: &Path, checkpoint: &str, position: &str| -> Output {
        let path = match checkpoint.starts_with("search:") {
            true => checkpoint.into(),
            false => root.join("../../checkpoints").join(checkpoint),
        };
        Command::new(program)
            .arg(path)
            .arg(position)
            .env("LD_LIBRARY_PATH", &library)
            .env("DYLD_LIBRARY_PATH", &library)
            .output()
            .unwrap()
    };
    let decision = "0,0,0,0,1,1/0,0,0,0,0,2 65";
    let mut programs = vec![program.clone()];
    if cfg!(target_os = "linux") {
        programs.push(built("best_move", &["-l:libadept_embed.a", "-lm", "-lpthread", "-ldl"]));
    }
    for program in &programs {
        let text = String::from_utf8(play(program, "bearoff/residual-10", decision).stdout).unwrap();
        assert_eq!(
            text,
            "6/off 5/off leaves 0,0,0,0,0,2/0,0,0,0,0,0, worth +1.0000 (of the best move: +1.0000)\n"
        );
    }
    // A network with priors in its own folder, opened from another folder.
    let packed = Command::new(&program)
        .arg(root.join("tests/data/corrected"))
        .arg("1,1,0,0,0,0/0,0,0,1,0,0 65")
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", &library)
        .env("DYLD_LIBRARY_PATH", &library)
        .output()
        .unwrap();
    let text = String::from_utf8(packed.stdout).unwrap();
    assert!(text.starts_with("2/off 1/off leaves 0,0,0,1,0,0/0,0,0,0,0,0, worth +1.0000"), "{text}");
    // With a search, the value equals that of `adept value search:2:…`, which the test of the library checks.
    let ahead = format!("search:2:{}", root.join("../../checkpoints/bearoff/residual-10").display());
    let model = adept_embed::Model::open(ahead.as_ref()).unwrap();
    let decision_ahead = "1,1,0,0,0,1/0,0,0,0,0,2 65";
    let best = model.choose(decision_ahead).unwrap().unwrap();
    let text = String::from_utf8(play(&program, &ahead, decision_ahead).stdout).unwrap();
    let wanted = format!("{} leaves {}, worth {:+.4} ", best.action, best.after, best.value);
    assert!(text.starts_with(&wanted), "{text}");
    // A text of more than 64 bytes arrives complete.
    let hand = "rccccc/crccccrccccc/crccccrccccc/crccccrc:||Kd2d|||/2c7dTs/9c/3d";
    let text = String::from_utf8(play(&program, "holdem/limit-6", hand).stdout).unwrap();
    let after = "rccccc/crccccrccccc/crccccrccccc/crccccrcf:||Kd2d|||/2c7dTs/9c/3d";
    assert!(text.starts_with(&format!("fold leaves {after}, worth -0.0793 ")), "{text}");
    built("speed", &["-ladept_embed"]);
    let run = |checkpoint: &str, position: &str| play(&program, checkpoint, position);
    let refused = run("bearoff/residual-10", "0,0,0,0,1,1/0,0,0,0,0,2");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("roll"));
    assert_eq!(run("nothing", "0,0,0,0,1,1/0,0,0,0,0,2 65").status.code(), Some(1));
}

/// Prints the value, the probabilities and the indices of their names for each position, by the library and by an
/// exported header.
const OUTCOMES: &str = r#"
#include <stdio.h>

#include "adept.h"
#include "net.h"

int main(int argc, char **argv)
{
    const char *positions[] = {"X........@1", "X...O....@5", "XOX.O....@5"};
    float dense[64], values[3], outcomes[9], own[3];
    uint64_t index[16];
    adept_model *model, *plain;
    net_inputs in;
    size_t width;
    int i, k;

    if (argc != 3 || adept_open(argv[1], &model) != ADEPT_OK || adept_open(argv[2], &plain) != ADEPT_OK) return 1;
    width = adept_dense_width(model);
    if (adept_classes(model) != 3 || adept_classes(plain) != 0 || adept_classes(NULL) != 0) return 2;
    if (3 * width > 64 || 3 * adept_index_width(model) > 16) return 3;
    if (adept_encode(model, positions, 3, dense, index) != ADEPT_OK) return 4;
    if (adept_evaluate(model, dense, index, 3, values) != ADEPT_OK) return 5;
    if (adept_outcomes(model, dense, index, 3, outcomes) != ADEPT_OK) return 6;
    for (i = 0; i < 3; i++) {
        for (k = 0; k < 9; k++) in.fields[k] = dense[i * width + FIRST + k];
        net_outcomes(&in, own);
        printf("%.9g %.9g %.9g %.9g ", values[i], outcomes[3 * i], outcomes[3 * i + 1], outcomes[3 * i + 2]);
        printf("%.9g %.9g %.9g %.9g\n", net_value(&in), own[NET_LOSS], own[NET_DRAW], own[NET_WIN]);
    }
    /* What fails names a code. */
    if (adept_outcomes(plain, dense, index, 3, outcomes) != ADEPT_ROWS) return 7;
    fprintf(stderr, "%s\n", adept_last_error());
    if (adept_outcomes(NULL, dense, index, 3, outcomes) != ADEPT_ARGUMENT) return 8;
    if (adept_outcomes(model, NULL, index, 3, outcomes) != ADEPT_ARGUMENT) return 9;
    if (adept_outcomes(model, dense, index, 3, NULL) != ADEPT_ARGUMENT) return 10;
    if (adept_outcomes(model, NULL, NULL, 0, NULL) != ADEPT_OK) return 11;
    dense[0] = dense[0] / 0.0f;
    if (adept_outcomes(model, dense, index, 3, outcomes) != ADEPT_ROWS) return 12;
    adept_close(model);
    adept_close(plain);
    return 0;
}
"#;

#[test]
fn probabilities_of_outcomes_reach_programs_in_c() {
    use adept_ground::files::Files;
    use adept_model::checkpoint::{Manifest, read, write};
    use adept_model::export::{About, c};
    use adept_model::{Architecture, Head, Optimiser, lower};
    let folder = tempfile::tempdir().unwrap();
    let game = adept_builtin::tictactoe::TicTacToe;
    let channels = adept_arena::open::encoder(&game, Some("fields")).unwrap().channels().to_vec();
    let architecture = serde_json::json!({ "mlp": { "hidden": [7], "inputs": ["fields"] } });
    let architecture: Architecture = serde_json::from_value(architecture).unwrap();
    let classes = adept_game::outcome_classes(&game).unwrap();
    let head = Head::Outcomes(classes.clone());
    let made = |name: &str, head: &Head| {
        let mut rng = adept_game::stream(1, "init", 0);
        let mut learner =
            adept_model::build(&architecture, &channels, head, Optimiser::default(), &mut rng).unwrap();
        let manifest = Manifest {
            head: head.clone(),
            ..Manifest::new("tictactoe", "fields", channels.clone(), &architecture)
        };
        let path = folder.path().join(name);
        write(&Files::default(), &path, manifest, &learner.tensors().unwrap()).unwrap();
        path
    };
    let (path, plain) = (made("outcomes", &head), made("plain", &Head::Value));
    let program = lower(&architecture, &channels, &head).unwrap();
    let params = program.parameters_in(&read(&path).unwrap().tensors).unwrap();
    let at = |file: &str| folder.path().join(file);
    std::fs::write(at("net.h"), c(&program, &params, &About::default(), "net").unwrap()).unwrap();
    let model = adept_embed::Model::open(&path).unwrap();
    let first = model.describe().channels.iter().find(|channel| channel.name == "fields").unwrap().first;
    std::fs::write(at("main.c"), OUTCOMES.replace("FIRST", &first.to_string())).unwrap();
    compiled(&at("main.c"), folder.path(), &["-ladept_embed", "-lm"], &at("main"));
    let done = Command::new(at("main"))
        .args([&path, &plain])
        .env("LD_LIBRARY_PATH", library())
        .env("DYLD_LIBRARY_PATH", library())
        .output()
        .unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert_eq!(said, "the model gives one number a row, not probabilities of outcomes\n");

    let rows = model.encode(&["X........@1", "X...O....@5", "XOX.O....@5"]).unwrap();
    let (values, outcomes) =
        (model.evaluate(&rows).unwrap(), model.outcomes(3, &rows.dense, &rows.index).unwrap());
    let printed = String::from_utf8(done.stdout).unwrap();
    let lines: Vec<Vec<f32>> =
        printed.lines().map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect()).collect();
    assert_eq!(lines.len(), 3, "{printed}");
    for ((line, value), p) in lines.iter().zip(&values).zip(outcomes.chunks(3)) {
        assert_eq!((line[0], &line[1..4]), (*value, p), "{printed}");
        assert!(line[..4].iter().zip(&line[4..]).all(|(a, b)| (a - b).abs() < 1e-6), "{printed}");
        let worth: f32 = p.iter().zip(&classes).map(|(p, class)| p * class.utility).sum();
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-6 && (worth - value).abs() < 1e-6, "{printed}");
    }
    // The indices match the names in the description, and the rows differ.
    let names: Vec<&str> = classes.iter().map(|class| &*class.name).collect();
    assert_eq!(names, ["loss", "draw", "win"]);
    assert!(lines[0][1] != lines[1][1], "{printed}");
}

/// Prints the figures of the cube in a position of a rule set, each with its name, and the best move.
const CUBE: &str = r#"
#include <math.h>
#include <stdio.h>

#include "adept.h"

int main(int argc, char **argv)
{
    double figures[ADEPT_FIGURES];
    char advice[32], move[64];
    float value;
    adept_model *model;
    size_t i;

    if (argc != 4 || adept_open_as(argv[1], argv[2], &model) != ADEPT_OK) {
        fprintf(stderr, "%s\n", adept_last_error());
        return 1;
    }
    if (adept_reading(model, argv[3], figures, ADEPT_FIGURES, advice, sizeof advice) != ADEPT_OK) return 2;
    if (adept_choose(model, argv[3], move, sizeof move, NULL, 0, &value) != ADEPT_OK) return 3;
    if (isnan(figures[ADEPT_NO_DOUBLE]) || figures[ADEPT_DOUBLE_PASS] != 1.0) return 4;
    printf("%s; %s %+.4f\n", advice, move, value);
    for (i = 0; i < ADEPT_FIGURES; i++)
        if (!isnan(figures[i])) printf("%s %.4f\n", adept_figure_name(i), figures[i]);
    adept_close(model);
    return 0;
}
"#;

/// The numbers are those of `adept value --game`.
#[test]
fn cube_and_score_reach_programs_in_c() {
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let [source, program] = ["cube.c", "cube"].map(|name| folder.path().join(name));
    std::fs::write(&source, CUBE).unwrap();
    compiled(&source, folder.path(), &["-ladept_embed", "-lm"], &program);
    let network = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24");
    let run = |game: &str, position: &str| {
        Command::new(&program)
            .arg(&network)
            .args([game, position])
            .env("LD_LIBRARY_PATH", &library)
            .env("DYLD_LIBRARY_PATH", &library)
            .output()
            .unwrap()
    };
    let board = "XGID=-aA-CCC-B---cC----b-dc-b--";
    for (game, rest, expected) in [
        (
            "backgammon:match-7",
            ":0:0:1:00:2:4:0:7:10",
            "double, pass; double -0.1430\ncubeless 0.6957\nno double 0.9277\ndouble, take 1.3522\ndouble, pass 1.0000\n\
             win the game 0.7958\nwin the match 0.4285\ndouble from 0.6384\npass from 0.7282\n",
        ),
        (
            "backgammon:money",
            ":1:1:1:00:0:0:1:0:10",
            "double, pass; double +0.0104\ncubeless 0.7261\nno double 0.9365\ndouble, take 1.3133\ndouble, pass 1.0000\n\
             win the game 0.7958\ndouble from 0.6769\npass from 0.7370\n",
        ),
    ] {
        let done = run(game, &format!("{board}{rest}"));
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(String::from_utf8(done.stdout).unwrap(), expected);
    }
    let refused = run("backgammon:match-99", board);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("match to 1 to 25 points"));
}
