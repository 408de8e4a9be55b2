//! What people read and type in a terminal.

use crate::common::Desk;
use std::fs;

/// A rule file without a board.
fn with_nim() -> Desk {
    let desk = Desk::new();
    let games = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../declared/games");
    fs::copy(games.join("nim.game"), desk.path("heaps.game")).unwrap();
    desk
}

#[test]
fn moves_can_be_typed_by_number() {
    let desk = with_nim();
    let play = ["play", "random", "--game", "file:heaps.game", "--seed", "1"];
    let said = String::from_utf8(desk.run_with(&play, "help\n99\n3\nquit\n").stdout).unwrap();
    assert!(said.contains("player 1 to move\n  holds   a 3, b 4, c 5\n"), "{said}");
    assert!(said.contains(" 3 leave(a,3,2) ") && said.contains("`99` is not one legal move"), "{said}");
    assert!(said.contains("  holds   a 2, b 4, c "), "move 3 is made: {said}");
    let lines = said.lines().map(|line| line.trim_start_matches("your move> "));
    assert!(lines.into_iter().all(|line| line.chars().count() <= 80), "{said}");
    // Where numbers are moves themselves, they stay so.
    let play = ["play", "ttt", "--seed", "1", "--json"];
    let output = desk.run_with(&play, "5\nquit\n");
    let played: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(played["moves"][0], "5", "{played}");
    // Square 2 is taken: it is not the second of the squares that are left.
    let play = ["play", "random", "--game", "tictactoe", "--from", "XOXOXO...", "--json"];
    let output = desk.run_with(&play, "2\n7\n");
    let played: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(played["moves"], serde_json::json!(["7"]), "{played}");
}

#[test]
fn boards_are_drawn_in_ascii_where_the_terminal_shows_nothing_else() {
    let desk = Desk::new();
    let drawn = |locale: &str, options: &[&str]| {
        let play = ["play", "tactical", "--game", "connect-four", "--seat", "2", "--seed", "1"];
        let output = desk.command(&[&play[..], options].concat()).env("LC_ALL", locale).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let widths = |text: &str| -> Vec<usize> { text.lines().map(|line| line.chars().count()).collect() };
    let unicode = drawn("C.UTF-8", &[]);
    assert!(unicode.contains("│(●)│") && unicode.contains("  ○ player 2\n"), "{unicode}");
    for plain in [drawn("C", &[]), drawn("C.UTF-8", &["--ascii"])] {
        assert!(plain.is_ascii() && plain.contains("|(X)|"), "{plain}");
        assert_eq!(widths(&plain), widths(&unicode));
    }
}

#[test]
fn a_finished_game_is_drawn_from_the_side_of_the_person() {
    let desk = Desk::new();
    for (seat, sign) in [("1", 'X'), ("2", 'O')] {
        let play = ["play", "random", "--game", "hypergammon", "--seat", seat, "--seed", "1", "--ascii"];
        let said = String::from_utf8(desk.run_with(&play, &"1\n".repeat(500)).stdout).unwrap();
        assert!(said.contains(" has won"), "{said}");
        // Whose pips stand beside the lower side of each board.
        let lines: Vec<&str> = said.lines().collect();
        let lower: Vec<&str> = lines.windows(2).filter(|w| w[1].contains("+12-11")).map(|w| w[0]).collect();
        assert!(lower.len() > 3 && lower.iter().all(|line| line.contains(&format!("|  {sign} "))), "{said}");
    }
}

#[test]
fn starters_of_rule_files_have_short_names_and_say_what_they_are() {
    let desk = with_nim();
    let config = desk.text(&["config", "new", "file:heaps.game"]);
    assert!(config.starts_with("name  = \"my-heaps\"\nabout = \"heaps, a first network"), "{config}");
    for (file, name) in [("x..game", "my-x"), ("..-a..b-.game", "my-a.b"), ("ö.game", "my-game")] {
        fs::copy(desk.path("heaps.game"), desk.path(file)).unwrap();
        let config = desk.text(&["config", "new", &format!("file:{file}")]);
        assert!(config.starts_with(&format!("name  = \"{name}\"\n")), "{file}: {config}");
    }
    let config = desk.text(&["config", "new", "bearoff"]);
    assert!(config.contains("about = \"bearoff, a first network, from exact values\""), "{config}");
}

#[test]
fn a_single_key_is_described() {
    let desk = Desk::new();
    let found = desk.text(&["config", "keys", "learn.td.lambda"]);
    assert!(found.starts_with("## `[learn.td]`\n") && found.contains("| `lambda` |"), "{found}");
    assert_eq!(found.lines().count(), 5, "{found}");
    let wrong = desk.fails(&["config", "keys", "learn.td.lamda"], 1);
    assert!(wrong.contains("did you mean `learn.td.lambda`?"), "{wrong}");
    assert!(desk.fails(&["list"], 2).contains("games, encoders, architectures, agents"));
}

#[test]
fn misspelt_encoders_and_scales_are_answered() {
    let desk = with_nim();
    let config = desk.text(&["config", "new", "bearoff"]);
    fs::write(desk.path("good.toml"), &config).unwrap();
    let set = |setting: &str| desk.fails(&["config", "check", "good.toml", "--set", setting], 1);
    for (encoder, hint) in [
        ("race+distributon:16", "no encoder `distributon:16`: did you mean `distribution`?"),
        ("rase+distribution:16", "no encoder `rase`: did you mean `race`?"),
    ] {
        let said = set(&format!("game.encoder={encoder}"));
        assert!(said.contains(hint), "{said}");
    }
    let nim = desk.text(&["config", "new", "file:heaps.game"]);
    fs::write(desk.path("nim.toml"), nim).unwrap();
    let said = desk.fails(&["config", "check", "nim.toml", "--set", "architecture.mlp.init=small"], 1);
    assert!(said.contains("expected a number or \"fan_in\", found the text \"small\""), "{said}");
}
