//! Games that outlive the server.

use crate::client::{Server, options};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::holdem;
use adept_builtin::liars_dice::LiarsDice;
use adept_builtin::tictactoe::TicTacToe;
use adept_trainer::config::One;
use adept_web::ServeOptions;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn server(plays: &Path) -> Server {
    let of_match = Backgammon::named("backgammon:match-3").unwrap();
    let poker = holdem::named("holdem:limit:2").unwrap().unwrap();
    let dice = LiarsDice::named("liars-dice:soar:2x2").unwrap();
    let games = (((One(TicTacToe), One(Backgammon::default())), (One(of_match), One(poker))), One(dice));
    Server::serve(games, ServeOptions { plays: Some(plays.into()), ..options() })
}

/// What a killed server leaves: its files as they are at this moment.
fn killed(folder: &Path, name: &str) -> PathBuf {
    let copy = folder.with_file_name(name);
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    copy
}

fn path(play: &Value) -> String {
    format!("/plays/{}", play["id"].as_str().unwrap())
}

/// Moves in a game as long as it lasts, at most so often, each time differently.
fn go_on(server: &Server, mut play: Value, moves: usize) -> Value {
    for i in 0..moves {
        let legal = play["moves"].as_array().unwrap();
        let Some(chosen) = legal.get(i * 7 % legal.len().max(1)) else { break };
        play = server.done(&format!("{}/moves", path(&play)), &json!({ "move": chosen["move"] }));
    }
    play
}

const GAMES: [(&str, &str); 5] = [
    ("tictactoe", "random"),
    ("backgammon", "small-88-24"),
    ("backgammon:match-3", "random"),
    ("holdem:limit:2", "random"),
    ("liars-dice:soar:2x2", "random"),
];

#[test]
fn a_killed_server_loses_none_of_50_games() {
    let folder = tempfile::tempdir().unwrap();
    let plays = folder.path().join("plays");
    let first = server(&plays);
    let mut games: Vec<Value> = (0..50)
        .map(|i| {
            let (game, opponent) = GAMES[i % GAMES.len()];
            let begin = json!({ "game": game, "opponent": opponent, "seat": 1 + i % 2, "seed": i });
            let play = go_on(&first, first.done("/plays", &begin), i % 11);
            assert_eq!(play["stored"], true);
            match i % 4 {
                1 if play["can_undo"] == true => first.done(&format!("{}/undo", path(&play)), &json!({})),
                2 if play["resignations"] != json!([]) => {
                    first.done(&format!("{}/resign", path(&play)), &json!({}))
                }
                _ => play,
            }
        })
        .collect();
    assert!(games.iter().any(|play| play["over"] == true) && games.iter().any(|play| play["over"] == false));
    // Where it was killed, every game is as it was, down to its turn, its moves and what can be taken back.
    let second = server(&killed(&plays, "killed"));
    for play in &games {
        let (status, found) = second.get(&path(play));
        assert_eq!((status, &found), (200, play));
    }
    assert_eq!(second.get("/status").1["plays"], 50);
    // And goes on in the same way.
    for play in &mut games {
        let again = go_on(&second, play.clone(), 3);
        *play = go_on(&first, play.clone(), 3);
        assert_eq!(&again, play);
        while play["can_undo"] == true {
            *play = first.done(&format!("{}/undo", path(play)), &json!({}));
            assert_eq!(second.done(&format!("{}/undo", path(play)), &json!({})), *play);
        }
    }
    // A deleted game is gone for good.
    assert_eq!(first.delete(&path(&games[0])).0, 200);
    assert_eq!(first.get(&path(&games[0])).0, 404);
    assert_eq!(first.delete(&path(&games[0])).0, 404);
    drop((first, second));
    assert_eq!(server(&plays).get(&path(&games[0])).0, 404);
}

/// Changes the file of a game.
fn edited(folder: &Path, play: &Value, key: &str, value: Value) {
    let file = folder.join(format!("{}.json", play["id"].as_str().unwrap()));
    let mut record: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    record[key] = value;
    fs::write(file, record.to_string()).unwrap();
}

#[test]
fn a_game_that_cannot_go_on_says_why_and_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let plays = folder.path().join("plays");
    let first = server(&plays);
    let games: Vec<Value> = (0..7)
        .map(|seed| {
            let begin = json!({ "game": "backgammon", "opponent": "small-88-24", "seed": seed });
            go_on(&first, first.done("/plays", &begin), 2)
        })
        .collect();
    drop(first);
    edited(&plays, &games[0], "opponent", json!("nobody"));
    edited(&plays, &games[1], "position", games[2]["position"].clone());
    edited(&plays, &games[2], "actions", json!(["24/1"]));
    edited(&plays, &games[3], "format", json!("adept-game-9"));
    edited(&plays, &games[4], "surprise", json!(1));
    // Another opponent plays on from there.
    edited(&plays, &games[5], "opponent", json!("pubeval"));
    let second = server(&plays);
    let reasons = ["nobody", "another position", "not legal", "another version", "damaged"];
    for (play, reason) in games.iter().zip(reasons) {
        let (status, found) = second.get(&path(play));
        let message = found["error"]["message"].as_str().unwrap();
        assert!(status == 410 && message.contains(reason), "{status}: {message}");
        assert_eq!(second.post(&format!("{}/undo", path(play)), &json!({})).0, 410);
    }
    let found = second.get(&path(&games[5])).1;
    assert_eq!((&found["opponent"], &found["events"]), (&json!("pubeval"), &games[5]["events"]));
    assert_eq!(second.get(&path(&games[6])), (200, games[6].clone()));
    // A good copy replaces a damaged file, under the same address.
    let copy = json!({ "record": games[4]["record"], "id": games[4]["id"] });
    assert_eq!(second.done("/plays", &copy), games[4]);
    assert_eq!(second.delete(&path(&games[3])).0, 200);
    assert_eq!(second.get(&path(&games[3])).0, 404);
}

#[test]
fn a_browser_restores_a_game_that_the_server_has_lost() {
    let server = Server::start();
    let begin = json!({ "game": "backgammon", "opponent": "small-88-24", "seat": 2, "seed": 8 });
    let play = go_on(&server, server.done("/plays", &begin), 4);
    assert_eq!(play["stored"], false, "this server has no folder of games");
    let copy = json!({ "record": play["record"], "id": play["id"] });
    let (status, refused) = server.post("/plays", &copy);
    assert_eq!((status, &refused["error"]["kind"]), (409, &json!("game")));
    assert_eq!(server.get(&format!("{}/record", path(&play))).1, play["record"]);
    server.delete(&path(&play));
    assert_eq!(server.post("/plays", &copy), (201, play.clone()));
    assert_eq!(server.get(&path(&play)), (200, play.clone()));
    // A later copy replaces the game, as after a failure of the machine; an earlier one and that of another game do not.
    let later = go_on(&server, play.clone(), 2);
    assert_eq!(server.post("/plays", &copy).0, 409);
    server.delete(&path(&play));
    server.done("/plays", &copy);
    let mut other = later["record"].clone();
    other["seed"] = json!(9);
    assert_eq!(server.post("/plays", &json!({ "record": other, "id": play["id"] })).0, 409);
    let copy = json!({ "record": later["record"], "id": play["id"] });
    assert_eq!(server.post("/plays", &copy), (201, later.clone()));
    assert_eq!(server.get(&path(&play)), (200, later));
    // Without an address it is another game.
    let other = server.done("/plays", &json!({ "record": play["record"] }));
    assert_ne!(other["id"], play["id"]);
    let refused = |key: &str, value: Value, status: u16| {
        let mut record = play["record"].clone();
        record[key] = value;
        let (found, answer) = server.post("/plays", &json!({ "record": record }));
        assert_eq!(found, status, "{key}: {answer}");
    };
    refused("actions", json!([]), 422);
    refused("actions", json!(["x".repeat(5000)]), 400);
    refused("seat", json!(0), 422);
    refused("seat", json!(3), 422);
    refused("seed", json!(-1), 400);
    refused("resigned", json!("win"), 422);
    refused("game", json!("chess"), 404);
    refused("opponent", json!("nobody"), 404);
    for body in [
        json!({ "record": play["record"], "id": "../../etc/passwd" }),
        json!({ "record": play["record"], "game": "backgammon" }),
        json!({ "record": play["record"], "from": play["begin"] }),
        json!({ "game": "backgammon", "opponent": "random", "id": play["id"] }),
        json!({ "game": "backgammon" }),
    ] {
        assert_eq!(server.post("/plays", &body).0, 400, "{body}");
    }
}

#[test]
fn an_opponent_that_learned_here_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let start = || {
        let plays = Some(folder.path().join("plays"));
        Server::serve(One(TicTacToe), ServeOptions { runs: runs.clone(), plays, train: true, ..options() })
    };
    let first = start();
    let settings = json!({ "learn.td.games": 200, "evaluate.every": 200 });
    let run = first.done("/runs", &json!({ "game": "tictactoe", "method": "td", "settings": settings }));
    let id = run["id"].as_str().unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while first.get(&format!("/runs/{id}")).1["status"] != "finished" {
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    first.done(&format!("/runs/{id}/play"), &json!({}));
    let games = [id.to_string(), format!("search:2:{id}"), format!("epsilon:0.1:{id}")].map(|opponent| {
        let begin = json!({ "game": "tictactoe", "opponent": opponent, "seed": 3 });
        go_on(&first, first.done("/plays", &begin), 1)
    });
    drop(first);
    // As if it had been stopped before its end.
    let file = runs.join(id).join("run.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(record["finished"], true);
    record["finished"] = json!(false);
    fs::write(file, record.to_string()).unwrap();
    for play in &games {
        assert_eq!(start().get(&path(play)), (200, play.clone()));
    }
}

#[test]
fn what_a_game_hides_stays_in_the_server_until_it_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    for (game, suffix) in [("holdem:limit:2", json!("phhs")), ("liars-dice:soar:2x2", json!("games"))] {
        let begin = json!({ "game": game, "opponent": "random", "seed": 5 });
        let mut play = server.done("/plays", &begin);
        while play["over"] == false {
            assert_eq!([&play["record"], &play["history"], &play["seed"]], [&Value::Null; 3]);
            for end in ["record", "history"] {
                let (status, refused) = server.get(&format!("{}/{end}", path(&play)));
                assert_eq!(status, 422, "{refused}");
            }
            play = go_on(&server, play, 1);
        }
        assert_eq!((play["record"]["over"].clone(), &play["history"]), (json!(true), &suffix));
        assert_eq!(server.get(&format!("{}/record", path(&play))).1, play["record"]);
        let (status, history) = server.get(&format!("{}/history", path(&play)));
        assert_eq!((status, &history["suffix"]), (200, &suffix));
        // Who has seen all takes nothing back.
        assert_eq!((&play["can_undo"], &play["seed"]), (&json!(false), &json!(5)));
        assert_eq!(server.post(&format!("{}/undo", path(&play)), &json!({})).0, 422);
    }
}

#[test]
fn games_are_had_as_files_of_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    for (game, opponent, head) in
        [("backgammon", "small-88-24", " Game 1"), ("backgammon:match-3", "random", " 3 point match")]
    {
        let begin = json!({ "game": game, "opponent": opponent, "seed": 5 });
        let play = go_on(&server, server.done("/plays", &begin), 3);
        let (status, history) = server.get(&format!("{}/history", path(&play)));
        assert_eq!((status, &history["suffix"], &play["history"]), (200, &json!("mat"), &json!("mat")));
        let text = history["text"].as_str().unwrap();
        assert!(text.contains(head) && text.contains(opponent), "{text}");
    }
    // Games without a format of their own are lines of JSON.
    let play = server.done("/plays", &json!({ "game": "tictactoe", "opponent": "random" }));
    let (status, history) = server.get(&format!("{}/history", path(&play)));
    assert_eq!((status, &history["suffix"], &play["history"]), (200, &json!("games"), &json!("games")));
    // A format holds whole games.
    let begin = json!({ "game": "tictactoe", "opponent": "random", "from": "X...O...." });
    let play = server.done("/plays", &begin);
    assert_eq!(play["history"], Value::Null);
    assert_eq!(server.get(&format!("{}/history", path(&play))).0, 422);
}
