//! Mutated input: no text or file may make the program panic, hang or use unbounded memory.
//!
//! A seeded mutator changes valid input. `ADEPT_FUZZ=1000000 cargo test -p adept-games --test it fuzz` runs more
//! rounds.

use crate::common::{load_any, parse};
use adept::bearoff::two_sided::{Settings, Table};
use adept::bearoff::{Position, Roll, Situation};
use adept::game::{Game, GameRecord, Kit, Stream, Turn, stream};
use adept::holdem::Holdem;
use adept::liars_dice::LiarsDice;
use adept::model::checkpoint;
use adept::{Builtin, Catalogue};
use adept_trainer::config::Source;
use rand::RngExt;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Rounds of each test.
fn rounds(usual: u64) -> u64 {
    std::env::var("ADEPT_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn shared(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Fragments that have broken parsers before.
const PIECES: [&str; 20] = [
    "0",
    "-1",
    "1e400",
    "nan",
    "18446744073709551615",
    "18446744073709551616",
    "-0.0",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "é",
    "\u{0}",
    "99999999999999999999999999",
    "/",
];

/// Mutates a few places: bytes, fragments, repetitions, removals, or a part of another text.
fn mutated(text: &[u8], other: &[u8], rng: &mut Stream) -> Vec<u8> {
    let mut out = text.to_vec();
    for _ in 0..rng.random_range(1..=4) {
        if out.is_empty() {
            break;
        }
        let at = rng.random_range(0..out.len());
        let end = (at + rng.random_range(1..=24)).min(out.len());
        match rng.random_range(0..6) {
            0 => out[at] ^= 1 << rng.random_range(0..8),
            1 => drop(out.drain(at..end)),
            2 => {
                let piece = PIECES[rng.random_range(0..PIECES.len())];
                out.splice(at..at, piece.bytes());
            }
            3 => {
                let part = out[at..end].to_vec();
                let times = rng.random_range(1..=40);
                out.splice(at..at, part.repeat(times));
            }
            4 if !other.is_empty() => {
                let from = rng.random_range(0..other.len());
                let part = other[from..(from + 40).min(other.len())].to_vec();
                out.splice(at..end, part);
            }
            _ => {
                // Another number.
                let is_digit = |b: &u8| b.is_ascii_digit();
                if let Some(first) = out[at..].iter().position(is_digit).map(|i| at + i) {
                    let last =
                        out[first..].iter().position(|b| !is_digit(b)).map_or(out.len(), |i| first + i);
                    let number = ["0", "1", "65536", "4294967296", "1000000000000"][rng.random_range(0..5)];
                    out.splice(first..last, number.bytes());
                }
            }
        }
    }
    out
}

#[test]
fn configs() {
    let folders = ["tictactoe", "bearoff", "liars-dice", "liars-dice/arena", "holdem"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(shared("configs").join(folder)).unwrap());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    // The order of a folder is up to the file system.
    paths.sort();
    let texts: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    let (mut rng, folder) = (stream(1, "fuzz configs", 0), tempfile::tempdir().unwrap());
    let file = folder.path().join("a.toml");
    let mut good = 0;
    for round in 0..rounds(1600) {
        let text = &texts[rng.random_range(0..texts.len())];
        let other = &texts[rng.random_range(0..texts.len())];
        let text = mutated(text, other, &mut rng);
        // Files of another kind, and text that is not UTF-8.
        if round % 16 == 0 {
            fs::write(&file, &text).unwrap();
            let _ = load_any(&file, &[]);
            continue;
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let source = Source { file: "a.toml".into(), text, set: Vec::new() };
        match parse(&source) {
            // Sizes are checked before anything is built from them.
            Ok(config) => {
                good += 1;
                let _ = Builtin.find(&config.game.rules).unwrap().describe_config(&config);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(good > 0, "some changes do no harm");
}

#[test]
fn positions_and_ids() {
    let mut rng = stream(1, "fuzz positions", 0);
    let texts =
        ["1,1,1,1,1,1/0,0,0,0,0,2", "4HPwATDgc/ABMA", "XGID=-a-B--C-dE---eE---c-e----B-:0:0:1:00:0:0:0:0:10"];
    let rolls = ["65", "11", "6-5", "0", "66"];
    for _ in 0..rounds(40_000) {
        let text = texts[rng.random_range(0..texts.len())];
        let text = mutated(text.as_bytes(), rolls[0].as_bytes(), &mut rng);
        let text = String::from_utf8_lossy(&text);
        if let Ok(position) = text.parse::<Position>() {
            // Accepted input is written and read again.
            assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
            if !position.own.is_empty() && !position.opponent.is_empty() {
                assert_eq!(position.id().parse::<Position>().unwrap(), position, "{text}");
            }
        }
        let _ = text.parse::<Situation>();
        let roll = mutated(rolls[rng.random_range(0..rolls.len())].as_bytes(), b"65", &mut rng);
        let _ = String::from_utf8_lossy(&roll).parse::<Roll>();
    }
    for (name, text) in [("tictactoe", "X...O...."), ("connect-four", "44352"), ("bearoff", texts[0])] {
        let game = Builtin.find(name).unwrap();
        let checkpoint = shared("checkpoints/bearoff/plain-10");
        if name != "bearoff" {
            continue;
        }
        for _ in 0..rounds(40_000) / 400 {
            let text = mutated(text.as_bytes(), b"4HPwATDgc/ABMA 65", &mut rng);
            let text = String::from_utf8_lossy(&text).into_owned();
            let _ = game.value(checkpoint::read(&checkpoint).unwrap(), &[text], None, true);
        }
    }
}

#[test]
fn bids_and_positions_of_liars_dice() {
    let mut rng = stream(1, "fuzz bids", 0);
    for name in
        ["liars-dice:soar:2x5", "liars-dice:soar:4x5", "liars-dice:r-post:4x6", "liars-dice:openspiel:1-1:6"]
    {
        let game = LiarsDice::named(name).unwrap();
        let mut state = game.start();
        for _ in 0..rounds(6000) {
            let mut actions = Vec::new();
            match game.turn(&state) {
                Turn::Over => {
                    state = game.start();
                    continue;
                }
                Turn::Chance => {
                    let action = game.sample(&state, &mut rng);
                    game.apply(&mut state, &action);
                    continue;
                }
                Turn::Player(_) => game.actions(&state, &mut actions),
            }
            let text = game.action_text(&state, &actions[rng.random_range(0..actions.len())]);
            let wrong = mutated(text.as_bytes(), b"3x4 liar! exact pass push 12", &mut rng);
            // Accepted actions are legal.
            if let Ok(action) = game.parse_action(&state, &String::from_utf8_lossy(&wrong)) {
                assert!(actions.contains(&action), "{name}: {:?}", String::from_utf8_lossy(&wrong));
            }
            let place = game.position_text(&state);
            let wrong = mutated(place.as_bytes(), text.as_bytes(), &mut rng);
            if let Ok((read, _)) = game.parse_position(&String::from_utf8_lossy(&wrong))
                && let Turn::Player(_) = game.turn(&read)
            {
                game.actions(&read, &mut actions);
                assert!(!actions.is_empty(), "{name}: {:?}", String::from_utf8_lossy(&wrong));
            }
            let action = game.parse_action(&state, &text).unwrap();
            game.apply(&mut state, &action);
        }
    }
}

#[test]
fn manifests_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = stream(1, "fuzz manifests", 0);
    let names = ["bearoff/plain-10", "bearoff/hme-4x16", "liars-dice/regrets-f6"];
    for name in names {
        let from = shared("checkpoints").join(name);
        let manifest = fs::read_to_string(from.join("manifest.json")).unwrap();
        let weights = fs::read(from.join("weights.safetensors")).unwrap();
        let read = checkpoint::read(&from).unwrap().manifest;
        let game = Builtin.find(&read.game).unwrap();
        for round in 0..rounds(600) {
            let mut text = manifest.clone();
            let mut bytes = weights.clone();
            if round % 2 == 0 {
                text = String::from_utf8_lossy(&mutated(manifest.as_bytes(), b"\"hidden\":[]", &mut rng))
                    .into_owned();
            } else {
                // The header contains lengths and shapes.
                let head = weights.len().min(600);
                let mut changed = mutated(&weights[..head], b"\"shape\":[1]", &mut rng);
                changed.extend(&weights[head..]);
                bytes = changed;
                text = text.replace(&read.checksums["weights.safetensors"], &hex(&bytes));
            }
            fs::write(folder.path().join("manifest.json"), signed(&text, &read.checksum)).unwrap();
            fs::write(folder.path().join("weights.safetensors"), &bytes).unwrap();
            if let Ok(checkpoint) = checkpoint::read(folder.path()) {
                let _ = game.describe(checkpoint);
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The manifest with a matching checksum, so that its content is trusted.
fn signed(text: &str, sum: &str) -> String {
    let blank = text.replace(sum, &"0".repeat(64));
    blank.replace(&"0".repeat(64), &hex(blank.as_bytes()))
}

#[test]
fn headers_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bearoff-3.table");
    let (table, _) = Table::solve(Settings::new(3), &mut |_| {}).unwrap();
    table.save(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut rng = stream(1, "fuzz tables", 0);
    let position: Position = "1,0,0,0,0,1/0,0,1,0,0,0".parse().unwrap();
    for _ in 0..rounds(3000) {
        let head = whole.len().min(256);
        let mut bytes = mutated(&whole[..head], b"\x01\x02\xff\xff", &mut rng);
        bytes.extend(&whole[head..]);
        if rng.random_range(0..4) == 0 {
            bytes.truncate(rng.random_range(0..=bytes.len()));
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok(table) = Table::open(&path) {
            let _ = (table.verify(), table.value(position));
        }
    }
}

/// Hand histories, game definitions, rule files and positions of hold'em, which come from other programs.
#[test]
fn files_of_poker_programs() {
    let (mut rng, folder) = (stream(1, "fuzz poker", 0), tempfile::tempdir().unwrap());
    let game = adept::holdem::named("holdem:limit:3:stack=200/90/60").unwrap().unwrap();
    let mut hands = String::new();
    for number in 1..=4 {
        let (mut state, mut actions, mut legal) = (game.start(), Vec::new(), Vec::new());
        while game.turn(&state) != Turn::Over {
            let action = match game.turn(&state) {
                Turn::Chance => game.sample(&state, &mut rng),
                _ => {
                    game.actions(&state, &mut legal);
                    legal[rng.random_range(0..legal.len())]
                }
            };
            game.apply(&mut state, &action);
            actions.push(action);
        }
        let record =
            GameRecord { number, names: &["a", "b", "c"], scores: &[], actions: &actions, resigned: None };
        hands += &game.records().write(&game, &record).unwrap().unwrap();
    }
    let (definition, rules) =
        (game.definition(), fs::read(shared("crates/builtin/src/holdem/soarbot/soarbot.toml")));
    let (rules, position) = (rules.unwrap(), "crc/r:AhKd|QsQc|2h2d/2c7dTs");
    let [phh, toml] = ["a.phhs", "a.toml"].map(|name| folder.path().join(name));
    fs::write(&phh, &hands).unwrap();
    assert!(!game.files().read(&game, &phh).unwrap().is_empty());
    let mut good = 0;
    for round in 0..rounds(4000) {
        fs::write(&phh, mutated(hands.as_bytes(), position.as_bytes(), &mut rng)).unwrap();
        good += u64::from(game.files().read(&game, &phh).is_ok());
        let text = mutated(definition.as_bytes(), hands.as_bytes(), &mut rng);
        if let Ok(other) = Holdem::of_definition(&String::from_utf8_lossy(&text)) {
            // Accepted input is written and read again.
            assert_eq!(Holdem::of_definition(&other.definition()).unwrap(), other);
        }
        let text = mutated(position.as_bytes(), hands.as_bytes(), &mut rng);
        if let Ok((state, _)) = game.parse_position(&String::from_utf8_lossy(&text)) {
            assert_eq!(game.parse_position(&game.position_text(&state)).unwrap().0, state);
        }
        // A rule file is large, so it is read less often.
        if round % 8 == 0 {
            fs::write(&toml, mutated(&rules, hands.as_bytes(), &mut rng)).unwrap();
            let _ = game.agents().deliberators.open(&format!("rules:{}", toml.display()));
        }
    }
    assert!(good > 0, "some changes do no harm");
}
