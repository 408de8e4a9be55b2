//! Names of agents have the same meaning in every command and config: a folder with a checkpoint or a run, then an
//! agent of the game, then a run or a published checkpoint of this name.

use crate::common::{Workspace, copy, published};
use std::fs;
use std::path::Path;
use std::process::Output;

const TICTACTOE: &str = "name = \"ttt-net\"\ngame = { rules = \"tictactoe\" }\narchitecture.mlp = { hidden = [2] }\n\
     learn = { batch = 4, rate = 0.01, td = { games = 8 } }\nevaluate = { every = 8 }\n";

/// A network of the small bear-off, with these settings of `[learn.td]` and `[evaluate]`.
fn bearoff(name: &str, td: &str, evaluate: &str) -> String {
    format!(
        "name = \"{name}\"\ngame = {{ rules = \"bearoff:3\", encoder = \"one-sided\" }}\narchitecture.mlp = {{ hidden = [2] }}\n\
         learn = {{ batch = 8, rate = 0.01, td = {{ games = 32{td} }} }}\n\
         evaluate = {{ every = 32, games = 4, suites = [\"matches\"]{evaluate} }}\n"
    )
}

fn write(dir: &Workspace, file: &str, text: &str) {
    fs::write(dir.path(file), text).unwrap();
}

/// A workspace with the runs `ttt-net-1`, of another game, and `net-1` of the small bear-off.
fn workspace() -> Workspace {
    let dir = Workspace::new();
    write(&dir, "ttt.toml", TICTACTOE);
    write(&dir, "net.toml", &bearoff("net", "", ""));
    dir.text(&["train", "ttt.toml"]);
    dir.text(&["train", "net.toml"]);
    dir
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

/// Every command that takes the name of an agent, with its output. Each uses `NAME` as an opponent.
fn commands(dir: &Workspace, name: &str) -> Vec<(&'static str, Output)> {
    write(dir, "against.toml", &bearoff("against", &format!(", against = \"{name}\""), ""));
    write(dir, "field.toml", &bearoff("field", &format!(", field = [\"self\", \"{name}\"]"), ""));
    write(dir, "judge.toml", &bearoff("judge", "", &format!(", against = [\"random\", \"{name}\"]")));
    write(
        dir,
        "arena.toml",
        &format!(
            "name = \"a\"\ngame = \"bearoff:3\"\ngames = 4\nagents = [{{ name = \"{name}\" }}, {{ name = \"other\", agent = \"random\" }}]\n"
        ),
    );
    let out = |name: &str| dir.path(&format!("out-{name}"));
    let _ = fs::remove_dir_all(out("1"));
    let _ = fs::remove_dir_all(out("2"));
    vec![
        ("play", dir.run_with(&["play", "--game", "bearoff:3", name], "quit\n")),
        ("arena", dir.run(&["arena", "arena.toml", "--out", &out("1")])),
        (
            "evaluate",
            dir.run(&["evaluate", "net", "--suite", "matches", "--samples", "4", "--against", name]),
        ),
        ("against", dir.run(&["config", "check", "against.toml"])),
        ("field", dir.run(&["config", "check", "field.toml"])),
        ("judge", dir.run(&["config", "check", "judge.toml"])),
        ("train", dir.run(&["train", "against.toml", "--out", &out("2")])),
        (
            "sweep",
            dir.run(&[
                "sweep",
                "against.toml",
                "--set",
                "learn.rate=0.1,0.2",
                "--seeds",
                "1",
                "--out",
                &out("3"),
            ]),
        ),
    ]
}

#[test]
fn a_folder_goes_before_an_agent_and_an_agent_before_a_run() {
    let dir = workspace();
    let of_another_game = "is a checkpoint for game `tictactoe`";
    // The formula takes precedence over a run with its name.
    copy(
        Path::new(&dir.path("checkpoints/runs/ttt-net-1")),
        Path::new(&dir.path("checkpoints/runs/kleinman")),
    );
    fs::create_dir(dir.path("kleinman")).unwrap();
    for (command, output) in commands(&dir, "kleinman") {
        assert!(output.status.success(), "{command}: {}", text(&output));
        let _ = fs::remove_dir_all(dir.path("out-3"));
    }
    // The checkpoint in the folder.
    copy(Path::new(&dir.path("checkpoints/runs/ttt-net-1")), Path::new(&dir.path("kleinman")));
    for (command, output) in commands(&dir, "kleinman") {
        let said = text(&output);
        assert!(!output.status.success() && said.contains(of_another_game), "{command}: {said}");
        // Other agents of the game are not affected.
        let _ = fs::remove_dir_all(dir.path("out-3"));
    }
    for name in ["random", "oracle", "greedy:normal", "epsilon:0.5:oracle", "net", "boltzmann:0.1:net-1"] {
        for (command, output) in commands(&dir, name) {
            assert!(output.status.success(), "{command} {name}: {}", text(&output));
            let _ = fs::remove_dir_all(dir.path("out-3"));
        }
    }
    // Without a game, `play` takes the game of the folder.
    let played = dir.run_with(&["play", "kleinman"], "quit\n");
    assert!(text(&played).contains("tictactoe: you are player 1"), "{}", text(&played));
}

#[test]
fn commands_for_other_games_have_the_same_order() {
    let dir = workspace();
    let solve = ["solve", "kuhn", "--iterations", "4", "--agent", "always-call"];
    let serve = ["serve", "acpc", "127.0.0.1", "1", "always-call", "--game", "holdem:limit:2"];
    assert!(dir.text(&solve).contains("always-call"));
    let agent = text(&dir.run(&serve));
    assert!(!agent.contains("is a checkpoint for game"), "{agent}");
    copy(Path::new(&dir.path("checkpoints/runs/ttt-net-1")), Path::new(&dir.path("always-call")));
    for command in [&solve[..], &serve] {
        let said = text(&dir.run(command));
        assert!(said.contains("is a checkpoint for game `tictactoe`"), "{command:?}: {said}");
    }
    let said = text(&dir.run(&serve[..5]));
    assert!(said.contains("`tictactoe`: poker dealers play hold'em"), "{said}");
}

#[test]
fn what_is_not_an_agent_is_answered_with_the_nearest_name() {
    let dir = workspace();
    for (command, output) in commands(&dir, "kleinmann") {
        let said = text(&output);
        assert!(!output.status.success() && said.contains("did you mean `kleinman`?"), "{command}: {said}");
    }
    for (command, output) in commands(&dir, "net-2") {
        assert!(text(&output).contains("did you mean `net-1`?"), "{command}: {}", text(&output));
    }
    let all = "agents are oracle, oracle-32, convolution, normal, kleinman, random, playouts:N, uct:N and any checkpoint folder";
    assert!(text(&commands(&dir, "xyzzy-xyzzy").remove(1).1).contains(all));
}

#[test]
fn checkpoints_in_a_config_are_beside_it_and_noted_by_their_checksum() {
    let dir = workspace();
    fs::create_dir(dir.path("configs")).unwrap();
    copy(Path::new(&dir.path("checkpoints/runs/net-1")), Path::new(&dir.path("configs/rival")));
    let against = "[\"greedy:rival\", \"kleinman\"]";
    let config = bearoff("long", ", against = \"rival\"", &format!(", against = {against}"))
        .replace("games = 32,", "games = 3200000,");
    write(&dir, "configs/long.toml", &config);
    dir.run(&["train", "configs/long.toml", "--out", "run", "--max-seconds", "0.000001"]);
    let record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path("run/run.json")).unwrap()).unwrap();
    let noted = record["opponents"].as_array().unwrap();
    let settings: Vec<&str> = noted.iter().map(|o| o["setting"].as_str().unwrap()).collect();
    assert_eq!(settings, ["learn.td.against", "evaluate.against.0"]);
    assert!(noted.iter().all(|o| o["checksum"].as_str().unwrap().len() == 64));
    assert_eq!(noted[1]["agent"], "greedy:configs/rival");
    // The run's config names it from its own folder.
    let own = fs::read_to_string(dir.path("run/config.toml")).unwrap();
    assert!(own.contains("\"greedy:../configs/rival\""), "{own}");
    dir.text(&["config", "check", "run/config.toml"]);

    // Another network in its place.
    let resume = ["train", "configs/long.toml", "--out", "run", "--resume", "--max-seconds", "0.000001"];
    fs::rename(dir.path("configs/rival"), dir.path("kept")).unwrap();
    write(&dir, "other.toml", &bearoff("other", "", ""));
    dir.text(&["train", "other.toml", "--seed", "2", "--out", "configs/rival"]);
    let said = text(&dir.run(&resume));
    assert!(said.contains("whose opponent `learn.td.against` was") && said.contains("put it back"), "{said}");
    fs::remove_dir_all(dir.path("configs/rival")).unwrap();
    let said = text(&dir.run(&resume));
    assert!(said.contains("`rival` is not an agent of bearoff:3 and not a checkpoint"), "{said}");
    fs::rename(dir.path("kept"), dir.path("configs/rival")).unwrap();
    let said = text(&dir.run(&resume));
    assert!(!said.contains("put it back") && said.contains("--resume"), "{said}");
}

/// Agents with a search work in every command, and `value` and `evaluate` accept them.
#[test]
fn searches_are_agents() {
    let dir = workspace();
    for (command, output) in commands(&dir, "search:2:net") {
        assert!(output.status.success(), "{command}: {}", text(&output));
    }
    let value = dir.text(&["value", "search:3:ttt-net", "XX.OO...."]);
    assert!(value.contains("plies deep") && value.contains("3      +1.0000"), "{value}");
    let value = dir.text(&["value", "search:2:oracle", "1,0,0,0,0,0/0,0,0,0,0,1", "--game", "bearoff:3"]);
    assert!(value.contains("+1.0000 for player 1"), "{value}");
    // Searches to the end of the game, whatever the network's values: at least a draw.
    let equity = dir.text(&["evaluate", "search:9:ttt-net", "--suite", "equity", "--against", "minimax"]);
    assert!(equity.contains("search:9:") && equity.contains("minimax"), "{equity}");
    assert!(equity.lines().any(|line| line.starts_with("minimax") && line.contains("+0.000000")), "{equity}");
}

#[test]
fn searches_that_cannot_be_are_refused_with_the_reason() {
    let dir = workspace();
    let net = format!("search:2:{}", published("../liars-dice/soar-net"));
    for (args, why) in [
        (&["value", "search:2:search:2:net", "1,0,0,0,0,0/1,0,0,0,0,0"][..], "not `search:`"),
        (&["value", "search:99:net", "1,0,0,0,0,0/1,0,0,0,0,0"], "1 to 64 plies"),
        (&["play", "search:2:minimax", "--game", "tictactoe"], "`minimax` is an agent that has no values"),
        (&["play", "search:2:equity", "--game", "liars-dice"], "what has values: any checkpoint folder"),
        (&["play", &net], "hides information"),
        (&["evaluate", "search:2:net", "--suite", "rms"], "leave out `search:`"),
        (&["value", "hold-20", "x"], "hold-20"),
    ] {
        let output = dir.run_with(args, "quit\n");
        assert!(!output.status.success() && text(&output).contains(why), "{args:?}: {}", text(&output));
    }
}

/// A command in an empty folder of a user with only the program installed.
fn alone(dir: &Workspace, args: &[&str]) -> Output {
    let mut command = dir.command(args);
    command.env_remove("ADEPT_HOME").env_remove("XDG_DATA_HOME").env("HOME", dir.folder.path());
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

#[test]
fn every_game_is_played_with_the_program_alone() {
    let dir = Workspace::new();
    let listed = dir.json(&["list", "games"]);
    let games: Vec<&str> =
        listed["games"].as_array().unwrap().iter().map(|game| game["name"].as_str().unwrap()).collect();
    let others = [
        "hypergammon",
        "holdem:limit:6",
        "liars-dice:soar:2x5",
        "liars-dice:soar:3x5",
        "holdem",
        "liars-dice",
    ];
    for game in games.into_iter().chain(others) {
        let output = alone(&dir, &["play", game, "--seed", "1", "--json"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("strong: "), "{game}: {said}");
        let played: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let opponent = played["opponent"].as_str().unwrap();
        let wanted = match game {
            "tictactoe" | "declared:hexapawn-3x3" => "minimax",
            "connect-four" => "uct:1000",
            "leduc" => "always-raise",
            "bearoff" => "built-in:bearoff/residual-16-8",
            "backgammon" => "built-in:backgammon/small-88-24",
            "hypergammon" => "built-in:hypergammon/exact-256-64",
            "holdem" | "holdem:limit:2" => "built-in:holdem/limit-2-meta-pi",
            "holdem:limit:6" => "built-in:holdem/limit-6",
            "liars-dice" | "liars-dice:soar:4x5" => "built-in:liars-dice/soar-net-four",
            "liars-dice:soar:2x5" => "built-in:liars-dice/soar-net",
            "liars-dice:soar:3x5" => "PMH",
            _ => opponent,
        };
        assert_eq!(opponent, wanted, "{game}");
    }
    for (level, agent) in [
        ("easy", "epsilon:0.3:"),
        ("medium", "epsilon:0.1:"),
        ("strong", ""),
        ("strongest", "search:2,root=6,keep=1,margin=0:"),
    ] {
        let output = alone(&dir, &["play", "backgammon", "--level", level, "--seed", "1", "--json"]);
        let played: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            played["opponent"],
            format!("{agent}built-in:backgammon/small-88-24"),
            "{}",
            text(&output)
        );
        let said = text(&output);
        let banner = said.lines().skip_while(|line| !line.starts_with("backgammon:")).take(3);
        assert!(
            banner.clone().count() == 3 && banner.clone().all(|line| line.chars().count() <= 80),
            "{said}"
        );
    }
    let refused = text(&alone(&dir, &["play", "backgammon", "--level", "hard"]));
    assert!(refused.lines().all(|line| line.chars().count() <= 80), "{refused}");
    assert!(refused.contains("easy, medium, strong, strongest"), "{refused}");
    // An unknown network is reported with the places that were searched.
    for args in
        [&["play", "nosuch"][..], &["play", "search:2:nosuch"], &["review", "x.mat", "--by", "nosuch"]]
    {
        let refused = text(&alone(&dir, args));
        for place in ["`checkpoints/runs`", "ADEPT_HOME", "backgammon/small-88-24"] {
            assert!(refused.contains(place), "{args:?}: {refused}");
        }
    }
    assert!(text(&alone(&dir, &["play", "leduc", "--level", "strongest"])).contains("it has easy, strong"));
    assert!(text(&alone(&dir, &["play", "ttt", "--level", "easy"])).contains("`ttt` plays at one level"));
}

#[test]
fn published_networks_are_found_in_other_places() {
    let dir = Workspace::new();
    let home = dir.folder.path().join("home");
    copy(Path::new(&published("residual-10")), &home.join("checkpoints/bearoff/mine"));
    let position = "1,1,0,0,0,0/0,0,1,0,0,1";
    for name in ["bearoff/mine", "checkpoints/bearoff/mine", "mine"] {
        let mut command = dir.command(&["value", name, position]);
        let output = command.env("ADEPT_HOME", &home).output().unwrap();
        assert!(output.status.success(), "{name}: {}", text(&output));
        let refused = text(&alone(&dir, &["value", name, position]));
        for place in [
            "the working folder (checkpoints)",
            "ADEPT_HOME (not set)",
            "adept/checkpoints",
            "inside the program",
        ] {
            assert!(refused.contains(place), "{refused}");
        }
    }
    // A folder with that name and other content does not hide a game.
    fs::create_dir(dir.path("bearoff")).unwrap();
    assert!(alone(&dir, &["value", "bearoff", position]).status.success());
}

#[test]
fn exact_values_come_from_the_smallest_table() {
    let dir = Workspace::new();
    let position = "1,0,0,0,0,2/0,1,0,1,0,0";
    let exact = dir.json(&["oracle", "value", position])["values"][0]["value"].as_f64().unwrap();
    let output = alone(&dir, &["value", "oracle", position, "--game", "bearoff", "--json"]);
    assert!(!text(&output).contains("14 checkers"), "{}", text(&output));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((found["values"][0]["equity"].as_f64().unwrap() - exact).abs() < 1e-6, "{found} {exact}");
    // A backgammon network also has these values, because its tables replace it.
    let output = alone(&dir, &["value", "backgammon/small-88-24", "6:2 1:1/4:1 2:1", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((found["values"][0]["equity"].as_f64().unwrap() - exact).abs() < 2e-4, "{found} {exact}");
}
