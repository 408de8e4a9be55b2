//! The levels of play: each has a measured result, and none is below the one before it.

use adept::{Builtin, Catalogue};
use adept_arena::Level;
use adept_arena::levels::{Mean, Rung};
use adept_model::checkpoint::{self, Manifest};
use adept_trainer::config::Games;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders below a folder.
fn folders(at: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
}

/// The best published network of each rule set.
fn best_networks() -> BTreeMap<String, (PathBuf, Manifest)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints");
    let mut all: BTreeMap<String, Vec<_>> = BTreeMap::new();
    let games = folders(&root).filter(|path| !path.ends_with("runs"));
    for path in games.flat_map(|game| folders(&game)).filter(|path| path.join("manifest.json").is_file()) {
        let manifest = checkpoint::manifest(&path).unwrap();
        all.entry(manifest.game.clone()).or_default().push((path, manifest));
    }
    let best = |mut found: Vec<_>| {
        checkpoint::rank(&mut found);
        found.swap_remove(0)
    };
    all.into_iter().map(|(game, found)| (game, best(found))).collect()
}

/// Every level is measured; where it is not above the one below it beyond their intervals, it says so, and it is never below it.
fn check(game: &str, rungs: &[Rung]) {
    let result =
        |rung: &Rung| rung.result.unwrap_or_else(|| panic!("{game}: {} is not measured", rung.level.name()));
    assert!(rungs.is_sorted_by(|a, b| a.level < b.level), "{game}: {rungs:?}");
    assert!(rungs.iter().any(|rung| rung.level == Level::Strong), "{game}: {rungs:?}");
    assert!(!rungs[0].about.contains("not measurably"), "{game}: {rungs:?}");
    for pair in rungs.windows(2) {
        let (below, own) = (result(&pair[0]), result(&pair[1]));
        assert!(!below.exceeds(own), "{game}: {pair:?}");
        let said = format!("; not measurably stronger than {}", pair[0].level.name());
        assert_eq!(pair[1].about.ends_with(&said), !own.exceeds(below), "{game}: {pair:?}");
    }
    for rung in rungs.iter().filter(|rung| rung.level != Level::Strong) {
        assert!(result(rung).ci95 > 0.0 && rung.about.contains("against strong"), "{game}: {rung:?}");
    }
}

#[test]
fn levels_of_the_best_networks_are_measured() {
    let all = best_networks();
    assert!(all.len() >= 10, "{:?}", all.keys());
    for (name, (path, manifest)) in all {
        assert!(manifest.strength.is_some(), "{}", path.display());
        let rungs = Builtin.find(&name).unwrap().levels(path.to_str()).unwrap();
        check(&name, &rungs);
    }
}

#[test]
fn levels_without_a_network_are_measured() {
    let networks = best_networks();
    let names = Builtin.names();
    let usual = names.iter().map(String::as_str).filter(|name| !networks.contains_key(*name));
    let games: Vec<&str> = usual.chain(["kuhn", "declared:pig"]).collect();
    assert!(games.len() >= 7, "{games:?}");
    for name in games {
        check(name, &Builtin.find(name).unwrap().levels(None).unwrap());
    }
}

/// Draws count half, and games in points have no share.
#[test]
fn results_are_told_in_the_unit_of_the_game() {
    let about = |game: &str, base: Option<&Path>, level: Level| {
        let rungs = Builtin.find(game).unwrap().levels(base.and_then(Path::to_str)).unwrap();
        rungs.into_iter().find(|rung| rung.level == level).unwrap().about
    };
    let easy = about("tictactoe", None, Level::Easy);
    assert!(easy.contains("; scores ") && easy.ends_with(" % against strong, a draw is half"), "{easy}");
    let networks = best_networks();
    let easy = about("bearoff", Some(&networks["bearoff"].0), Level::Easy);
    assert!(easy.contains("; wins ") && easy.ends_with(" % of games against strong"), "{easy}");
    let easy = about("hypergammon", Some(&networks["hypergammon"].0), Level::Easy);
    assert!(easy.contains("; -0.") && easy.ends_with(" points a game against strong"), "{easy}");
    // The figures of a network hold in the game that it was measured in.
    let cubed = about("backgammon:money", Some(&networks["backgammon"].0), Level::Easy);
    assert!(!cubed.contains("against strong"), "{cubed}");
    let (narrow, wide) = (Mean { value: 0.5, ci95: 0.0 }, Mean { value: 0.51, ci95: 0.02 });
    assert!(!wide.exceeds(narrow) && !narrow.exceeds(wide) && Mean { value: 0.53, ..wide }.exceeds(narrow));
}
