//! Answers of the API.

use crate::client::{Server, options, published};
use crate::schema::{doubled, faults};
use adept_arena::{inspect, open};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::declared::Declared;
use adept_trainer::config::One;
use adept_web::ServeOptions;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

const OPENING: &str = "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31";

#[test]
fn games_and_agents_are_listed() {
    let server = Server::start();
    let (_, games) = server.get("/games");
    let names: Vec<&str> =
        games["games"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect();
    for name in ["tictactoe", "backgammon", "connect-four", "holdem:limit:2"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let backgammon = games["games"].as_array().unwrap().iter().find(|g| g["name"] == "backgammon").unwrap();
    assert_eq!(backgammon["classes"].as_array().unwrap().len(), 6);
    assert_eq!((&backgammon["scale"], &backgammon["unit"]), (&json!(3.0), &json!("points")));
    let (_, agents) = server.get("/agents?game=backgammon");
    let ids: Vec<&str> =
        agents["agents"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    // The levels first, then the networks by their measured strength.
    let first = [
        "strong",
        "strongest",
        "medium",
        "easy",
        "expert-512-64",
        "small-88-24",
        "pips-256-16x32",
        "single-256-32",
    ];
    assert_eq!(ids[..first.len()], first);
    for id in ["small-88-24", "expert-512-64", "pubeval", "random"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    assert!(!ids.contains(&"minimax"));
    assert!(server.get("/agents?game=chess").0 == 404);
}

#[test]
fn values_are_those_of_the_library() {
    let server = Server::start();
    let game = Backgammon::default();
    let (mut bound, _) = open::open(&game, &published().join("backgammon/small-88-24"), false).unwrap();
    let at = inspect::read(&game, &[OPENING]).unwrap().pop().unwrap();
    let wanted =
        inspect::inspect(&game, &mut bound, &at, OPENING.into(), inspect::Detail::default()).unwrap();
    // 32-bit numbers in text are parsed as 64-bit ones.
    let wanted: Value = serde_json::from_str(&serde_json::to_string(&wanted).unwrap()).unwrap();
    let found = server.done("/evaluate", &json!({ "agent": "small-88-24", "positions": [OPENING, OPENING] }));
    assert_eq!(found["values"], json!([wanted, wanted]));
    let with_dice = json!({ "agent": "small-88-24", "position": "4HPwATDgc/ABMA", "dice": "31" });
    let moves = server.done("/moves", &with_dice);
    assert_eq!(moves["moves"], wanted["moves"]);
    assert_eq!(moves["moves"][0]["move"], "8/5 6/5");
    let deeper = json!({ "agent": "search:2,root=3,keep=1,margin=0:small-88-24", "position": OPENING });
    assert_eq!(server.done("/moves", &deeper)["moves"][0]["move"], "8/5 6/5");
}

/// Positions that one roll decides, with their points for the side to roll: a side that bears off its last checker
/// wins, and wins a gammon if the opponent has borne off none.
const DECIDED: [(&str, &str, f64); 4] = [
    ("1:1 off:14/1:15", "win_gammon", 2.0),
    ("10:15/1:1 off:14", "loss_gammon", -2.0),
    ("1:1 off:14/3:5 off:10", "win", 1.0),
    ("3:5 off:10/1:1 off:14", "loss", -1.0),
];

#[test]
fn values_and_classes_are_those_of_the_player_to_move() {
    let server = Server::start();
    for agent in ["small-88-24", "search:2,root=2,keep=1,margin=0:small-88-24"] {
        for (position, class, points) in DECIDED {
            let found = server.done("/evaluate", &json!({ "agent": agent, "positions": [position] }));
            let value = &found["values"][0];
            let of = |name: &str| value[name].as_f64().unwrap();
            assert!(
                (of("equity") - points).abs() < 0.15 && (of("value") - points / 3.0).abs() < 0.05,
                "{value}"
            );
            assert_eq!(value["to_move"], 1);
            if !agent.starts_with("search") {
                assert!(value["classes"][class].as_f64().unwrap() > 0.9, "{position}: {value}");
                // The row is for the opponent.
                assert!((value["after"]["value"].as_f64().unwrap() + of("value")).abs() < 1e-6, "{value}");
            }
            // A winning roll has exactly the value of the win, and a losing one has no better move.
            let found = server.done("/moves", &json!({ "agent": agent, "position": position, "dice": "21" }));
            let near = if points > 0.0 { 1e-6 } else { 0.15 };
            for one in found["moves"].as_array().unwrap() {
                assert!((one["equity"].as_f64().unwrap() - points).abs() < near, "{position}: {one}");
                if !agent.starts_with("search") {
                    assert!(one["classes"][class].as_f64().unwrap() > 0.9, "{position}: {one}");
                }
            }
        }
    }
    // A rollout from there: the mean and the classes are for the same side.
    for (position, class, points) in DECIDED {
        let job = json!({ "kind": "rollout", "agent": "small-88-24", "position": position, "trials": 36 });
        let id = server.done("/jobs", &job)["id"].as_str().unwrap().to_string();
        server.ask_with("GET", &format!("/api/v1/jobs/{id}/events"), &[], "");
        let found = server.get(&format!("/jobs/{id}")).1;
        let of = &found["result"]["rollouts"][0];
        assert!((of["raw"].as_f64().unwrap() - points).abs() < 0.3, "{position}: {found}");
        assert!((of["equity"].as_f64().unwrap() - points).abs() < 0.3, "{position}: {found}");
        assert!(of["classes"][class].as_f64().unwrap() > 0.8, "{position}: {found}");
    }
}

/// The person sees its own side's numbers in both seats: a won race is won for the person, whether or not it is player
/// 1.
#[test]
fn plays_show_the_side_of_the_person_in_both_seats() {
    let server = Server::start();
    for seat in [1, 2] {
        // The side that comes first is to roll, and is player 1.
        let from = "1:2 off:13/6:15";
        let begin =
            json!({ "game": "backgammon", "opponent": "small-88-24", "seat": seat, "seed": 4, "from": from });
        let mut play = server.done("/plays", &begin);
        let path = format!("/plays/{}", play["id"].as_str().unwrap());
        while play["over"] == false {
            let hints = server.get(&format!("{path}/hints")).1;
            let equity = hints["value"]["equity"].as_f64().unwrap();
            assert_eq!(
                (equity > 0.0, hints["value"]["to_move"].as_u64()),
                (seat == 1, Some(seat)),
                "{hints}"
            );
            let action = hints["value"]["moves"][0]["move"].clone();
            play = server.done(&format!("{path}/moves"), &json!({ "move": action }));
        }
        // Any roll bears off two checkers on the ace point, and the opponent has borne off none.
        let expected = if seat == 1 { 2.0 } else { -2.0 };
        assert_eq!(play["outcome"]["utility"], expected, "{play}");
        let analysis = server.get(&format!("{path}/analysis")).1;
        let rolls = analysis["steps"].as_array().unwrap().iter().filter(|step| step["kind"] == "chance");
        for roll in rolls {
            // A point is a third of the largest utility.
            let luck = roll["luck"].as_f64().unwrap() / analysis["unit_size"].as_f64().unwrap();
            assert!(luck.abs() < 0.3, "no roll changes what is certain: {analysis}");
        }
        assert_eq!(analysis["result"], 2.0, "{analysis}");
    }
}

#[test]
fn a_game_is_played_to_its_end() {
    let server = Server::start();
    let begin = json!({ "game": "tictactoe", "opponent": "minimax", "seat": 2, "seed": 5 });
    let mut play = server.done("/plays", &begin);
    let path = format!("/plays/{}", play["id"].as_str().unwrap());
    assert_eq!((play["events"].as_array().unwrap().len(), &play["your_turn"]), (1, &json!(true)));
    let first = play["position"].clone();
    while play["over"] == false {
        let (turn, action) = (play["turn"].clone(), play["moves"][0]["move"].clone());
        let next = server.done(&format!("{path}/moves"), &json!({ "move": action, "turn": turn }));
        let (status, refused) =
            server.post(&format!("{path}/moves"), &json!({ "move": action, "turn": turn }));
        assert_eq!((status, &refused["error"]["kind"]), (409, &json!("game")));
        play = next;
    }
    assert!(play["outcome"]["utility"].as_f64().unwrap() <= 0.0, "{play}");
    assert_eq!(server.get(&path), (200, play.clone()));
    while play["can_undo"] == true {
        play = server.done(&format!("{path}/undo"), &json!({}));
    }
    assert_eq!(play["position"], first);
    // The same moves lead to the same answers.
    let again = server.done(&format!("{path}/moves"), &json!({ "move": play["moves"][0]["move"] }));
    assert_eq!(again["events"][0], play["events"][0]);
    assert_eq!(server.post(&format!("{path}/moves"), &json!({ "move": "11" })).0, 422);
    assert_eq!(server.done(&format!("{path}/resign"), &json!({}))["over"], true);
    assert_eq!(server.delete(&path).0, 200);
    assert_eq!(server.get(&path).0, 404);
}

#[test]
fn a_finished_game_is_analysed() {
    let server = Server::start();
    let begin = json!({ "game": "backgammon", "opponent": "small-88-24", "seed": 3 });
    let mut play = server.done("/plays", &begin);
    let path = format!("/plays/{}", play["id"].as_str().unwrap());
    let hints = server.get(&format!("{path}/hints")).1;
    assert_eq!(hints["value"]["moves"].as_array().unwrap().len(), play["moves"].as_array().unwrap().len());
    assert_eq!(server.get(&format!("{path}/analysis")).0, 422, "the game is not over");
    let mut moves = 0;
    while play["over"] == false {
        let best = &server.get(&format!("{path}/hints")).1["value"]["moves"][0]["move"];
        play = server.done(&format!("{path}/moves"), &json!({ "move": best }));
        moves += 1;
    }
    // The network with the best match results analyses by default, not the opponent.
    let (status, analysis) = server.get(&format!("{path}/analysis"));
    assert_eq!((status, &analysis["by"]), (200, &json!("expert-512-64")), "{analysis}");
    let (status, analysis) = server.get(&format!("{path}/analysis?by=small-88-24"));
    assert_eq!(status, 200, "{analysis}");
    // An opponent that plays the analyst's best moves loses nothing, until tables know better.
    assert_eq!(analysis["references"].as_array().unwrap().len(), 2, "{analysis}");
    let steps = analysis["steps"].as_array().unwrap();
    assert!(
        steps.iter().filter_map(|one| one["loss"].as_f64()).take(10).all(|loss| loss == 0.0),
        "{analysis}"
    );
    assert!(analysis["players"].as_array().unwrap().iter().all(|one| one["undecided"] == 0), "{analysis}");
    assert!(analysis["players"][0]["decisions"].as_u64().unwrap() <= moves);
    let luck: f64 = steps.iter().filter_map(|step| step["luck"].as_f64()).sum();
    let size = analysis["unit_size"].as_f64().unwrap();
    assert!((luck / size - analysis["players"][0]["luck"].as_f64().unwrap()).abs() < 1e-3);
    assert_eq!(steps.len(), play["events"].as_array().unwrap().len());
}

#[test]
fn a_file_is_reviewed() {
    let server = Server::start();
    let host = server.address.to_string();
    let send = |query: &str, kind: &str, body: &str| {
        let headers = [("Host", &*host), ("Content-Type", kind)];
        let (status, answer) = server.ask_with("POST", &format!("/api/v1/reviews?{query}"), &headers, body);
        (status, serde_json::from_str::<Value>(&answer).unwrap())
    };
    let octets = "application/octet-stream";
    let reviewed = |query: &str, body: &str| {
        let (status, begun) = send(query, octets, body);
        assert_eq!(status, 202, "{begun}");
        let path = format!("/jobs/{}", begun["id"].as_str().unwrap());
        loop {
            let job = server.get(&path).1;
            if job["state"] != "waiting" && job["state"] != "running" {
                return job;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let text =
        " 3 point match\n\n Game 1\n Ann : 0  Bo : 0\n  1) 31: 24/23 13/10  42: 8/4 6/4\n  2) 65: 24/13\n";
    let job = reviewed("name=..%2Fmy.MAT&by=expert-512-64", text);
    assert_eq!(job["state"], "done", "{job}");
    let found = &job["result"];
    assert_eq!((&found["by"], &found["files"]), (&json!("expert-512-64"), &json!(["my.MAT"])), "{found}");
    let steps = found["played"][0]["steps"].as_array().unwrap();
    let played: Vec<&Value> = steps.iter().filter(|step| step["player"].is_u64()).collect();
    assert!(played.iter().any(|step| step["candidates"][0]["action"].is_string()), "{found}");
    let lines = r#"{"game":"tictactoe","players":["Ann","Bo"],"actions":["5","2","1"]}"#;
    let job = reviewed("name=a.games", lines);
    assert_eq!((&job["state"], &job["result"]["game"]), (&json!("done"), &json!("tictactoe")), "{job}");
    // Errors name the file as the client does.
    let job = reviewed("name=bad.mat&by=expert-512-64", "no match\n");
    let why = job["error"]["message"].as_str().unwrap();
    assert!(job["state"] == "failed" && !why.contains("adept-review-") && why.contains("bad.mat"), "{job}");
    assert_eq!(send("name=a.exe", octets, "").0, 400);
    assert_eq!(send("name=a.mat", "text/plain", "").0, 415);
    assert_eq!(send("name=a.mat&by=nobody", octets, "").0, 404);
    let large = "x".repeat((4 << 20) + 1);
    assert_eq!(send("name=a.mat", octets, &large).0, 413);
}

#[test]
fn hidden_cards_stay_hidden() {
    let server = Server::start();
    // The hands of both seats follow the colon, and an unknown one is empty: `r:8dKh|`.
    let seen_by = |seat: usize| {
        let begin = json!({ "game": "holdem:limit:2", "opponent": "limit-2", "seed": 1, "seat": seat });
        let play = server.done("/plays", &begin);
        let hints = server.get(&format!("/plays/{}/hints", play["id"].as_str().unwrap())).1;
        let position = play["position"].as_str().unwrap().to_string();
        let hands = position.split(':').nth(1).unwrap().split('/').next().unwrap();
        let hands: Vec<String> = hands.split('|').map(String::from).collect();
        (hands, json!([play, hints]).to_string())
    };
    for (seat, other) in [(1, 2), (2, 1)] {
        let (mine, told) = seen_by(seat);
        // A showdown may follow a call.
        assert!(!told.contains("rc:") && !told.contains("cc:"), "positions after moves are told in {told}");
        assert_eq!((mine[seat - 1].len(), mine[other - 1].len()), (4, 0), "{mine:?}");
        let theirs = seen_by(other).0[other - 1].clone();
        let spaced = format!("{} {}", &theirs[..2], &theirs[2..]);
        assert!(!told.contains(&theirs) && !told.contains(&spaced), "{theirs} is told in {told}");
    }
}

#[test]
fn earlier_positions_of_poker_have_their_amounts() {
    let server = Server::start();
    let begin = json!({ "game": "holdem:limit:2", "opponent": "limit-2", "seed": 1, "seat": 2 });
    let mut play = server.done("/plays", &begin);
    assert_eq!(play["begin_board"], "no cards are dealt yet\n");
    let path = format!("/plays/{}", play["id"].as_str().unwrap());
    while play["over"] == false {
        // The last listed move puts most into the pot.
        let action = play["moves"].as_array().unwrap().last().unwrap()["move"].clone();
        play = server.done(&format!("{path}/moves"), &json!({ "move": action }));
    }
    let boards: Vec<&str> =
        play["events"].as_array().unwrap().iter().map(|event| event["board"].as_str().unwrap()).collect();
    let pot = |board: &str| -> u32 {
        let (_, rest) = board.split_once("; pot ").unwrap_or_else(|| panic!("{board}"));
        rest.lines().next().unwrap().parse().unwrap()
    };
    let pots: Vec<u32> = boards.iter().map(|board| pot(board)).collect();
    assert!(pots[0] == 15 && pots.is_sorted() && pots[pots.len() - 1] > 20, "{pots:?}");
    assert_eq!(play["board"], boards[boards.len() - 1]);
    // The opponent's cards stay hidden until the end.
    assert!(boards[..boards.len() - 1].iter().all(|board| board.contains(": ? ?, has paid")), "{boards:?}");
    // Moves read as verbs.
    let said = play["events"].to_string();
    assert!(
        ["It calls.", "It raises.", "It bets.", "It checks.", "It folds."].iter().any(|s| said.contains(s)),
        "{said}"
    );
    assert!(!said.contains("It moves") && !said.contains("You move"), "{said}");
    // Other games are drawn from their texts.
    let play = server.done("/plays", &json!({ "game": "tictactoe", "opponent": "random", "seat": 2 }));
    assert!(play["events"][0]["board"].is_null() && play["begin_board"].is_null(), "{play}");
}

#[test]
fn a_finished_game_is_drawn_from_the_side_of_the_person() {
    let server = Server::start();
    for (seat, sign) in [(1, '●'), (2, '○')] {
        let begin = json!({ "game": "backgammon", "opponent": "random", "seat": seat, "seed": 3 });
        let mut play = server.done("/plays", &begin);
        let path = format!("/plays/{}", play["id"].as_str().unwrap());
        // The player whose pips are at the lower side.
        let lowest = |play: &Value| {
            let board = play["board"].as_str().unwrap();
            board.lines().rfind(|line| line.ends_with(" off")).unwrap().to_string()
        };
        while play["over"] == false {
            assert!(lowest(&play).contains(&format!("│  {sign} ")), "{}", play["board"]);
            play = server.done(&format!("{path}/moves"), &json!({ "move": play["moves"][0]["move"] }));
        }
        assert!(lowest(&play).contains(&format!("│  {sign} ")), "{}", play["board"]);
    }
}

#[test]
fn rule_files_are_named_without_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    let rules = secret.join("heaps.game");
    let nim = concat!(env!("CARGO_MANIFEST_DIR"), "/../declared/games/nim.game");
    std::fs::copy(nim, &rules).unwrap();
    let game = Declared::named(&format!("file:{}", rules.display())).unwrap().unwrap();
    let options =
        ServeOptions { runs: folder.path().join("runs"), published: Vec::new(), train: true, ..options() };
    let server = Server::serve(One(game), options);
    let is_told = |answer: &Value| answer.to_string().contains("secret");
    let ask = |path: &str| {
        let (status, answer) = server.get(path);
        assert!(!is_told(&answer), "{path}: {answer}");
        (status, answer)
    };
    let name = "file:heaps.game";
    assert_eq!(ask("/games").1["games"][0]["name"], name);
    assert_eq!(ask("/agents").1["agents"][0]["game"], name);
    assert_eq!(ask("/starters").1["starters"][0]["game"], name);

    // A network learns these rules, and plays.
    let settings = json!({ "learn.td.games": 200, "evaluate.every": 200 });
    let run = server.done("/runs", &json!({ "game": name, "method": "td", "seed": 1, "settings": settings }));
    let run = format!("/runs/{}", run["id"].as_str().unwrap());
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let is_done = |run: &Value| run["status"] == "finished" && run["here"] == false;
    while !is_done(&ask(&run).1) {
        assert!(std::time::Instant::now() < until, "{}", ask(&run).1);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let agents = ask(&format!("/agents?game={name}")).1;
    let agent = agents["agents"].as_array().unwrap().iter().find(|agent| agent["kind"] == "checkpoint");
    let id = agent.unwrap_or_else(|| panic!("{agents}"))["id"].clone();
    let play = server.done("/plays", &json!({ "game": name, "opponent": id, "seed": 1 }));
    assert!(play["game"] == name && !is_told(&play), "{play}");
    let path = format!("/plays/{}", play["id"].as_str().unwrap());
    assert_eq!(ask(&format!("{path}/hints")).0, 200);
    let mut play = server.done(&format!("{path}/moves"), &json!({ "move": play["moves"][0]["move"] }));
    while play["over"] == false {
        play = server.done(&format!("{path}/moves"), &json!({ "move": play["moves"][0]["move"] }));
    }
    assert_eq!(ask(&format!("{path}/analysis")).0, 200);
    let found = server.done("/moves", &json!({ "agent": id, "position": play["begin"] }));
    assert!(!is_told(&found), "{found}");

    // Errors name it in the same way, and the path is not a valid name.
    let many = json!({ "game": name, "opponent": "random", "seat": 3 });
    let (status, refused) = server.post("/plays", &many);
    assert!(status == 422 && refused.to_string().contains(name) && !is_told(&refused), "{refused}");
    let path = format!("file:{}", rules.display());
    assert_eq!(server.post("/plays", &json!({ "game": path, "opponent": "random" })).0, 404);
}

#[test]
fn jobs_run_to_their_end_or_are_stopped() {
    let server = Server::start();
    let job = json!({ "kind": "rollout", "agent": "small-88-24", "position": OPENING, "trials": 36, "truncate": 3 });
    let id = server.done("/jobs", &job)["id"].as_str().unwrap().to_string();
    let (status, events) = server.ask_with("GET", &format!("/api/v1/jobs/{id}/events"), &[], "");
    assert_eq!(status, 200);
    let last = events.rsplit("data: ").next().unwrap().trim();
    let last: Value = serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {events}"));
    assert!(events.contains("event: end"), "{events}");
    assert_eq!((&last["state"], &last["result"]["rollouts"][0]["trials"]), (&json!("done"), &json!(36)));
    assert_eq!(server.get(&format!("/jobs/{id}")).1, last);
    let long = json!({ "kind": "rollout", "agent": "expert-512-64", "position": OPENING, "trials": 100_000 });
    let id = server.done("/jobs", &long)["id"].as_str().unwrap().to_string();
    // A waiting job stops immediately.
    let waiting = server.done("/jobs", &long)["id"].as_str().unwrap().to_string();
    for id in [waiting, id] {
        assert_eq!(server.delete(&format!("/jobs/{id}")).0, 200);
        let (_, events) = server.ask_with("GET", &format!("/api/v1/jobs/{id}/events"), &[], "");
        assert!(events.contains("stopped"), "{events}");
    }
    let search = json!({ "kind": "search", "agent": "small-88-24", "position": OPENING, "plies": 2 });
    let id = server.done("/jobs", &search)["id"].as_str().unwrap().to_string();
    server.ask_with("GET", &format!("/api/v1/jobs/{id}/events"), &[], "");
    let (_, found) = server.get(&format!("/jobs/{id}"));
    assert_eq!((&found["state"], &found["result"]["plies"]), (&json!("done"), &json!(2)), "{found}");
    for (faulty, status) in [
        (json!({ "kind": "rollout", "agent": "nobody", "position": OPENING, "trials": 36 }), 404),
        (
            json!({ "kind": "rollout", "agent": "search:2:small-88-24", "position": OPENING, "trials": 36 }),
            400,
        ),
        (json!({ "kind": "search", "agent": "small-88-24", "position": OPENING, "plies": 4 }), 400),
        (json!({ "kind": "search", "agent": "small-88-24", "position": OPENING, "plies": 0 }), 400),
    ] {
        assert_eq!(server.post("/jobs", &faulty).0, status, "{faulty}");
    }
    let faulty = json!({ "kind": "rollout", "agent": "small-88-24", "position": "nowhere", "trials": 36 });
    let id = server.done("/jobs", &faulty)["id"].as_str().unwrap().to_string();
    server.ask_with("GET", &format!("/api/v1/jobs/{id}/events"), &[], "");
    let (_, found) = server.get(&format!("/jobs/{id}"));
    assert_eq!((&found["state"], &found["error"]["kind"]), (&json!("failed"), &json!("game")), "{found}");
}

#[test]
fn named_agents_stand_on_the_shelf() {
    let path = published().join("backgammon/single-256-32");
    let agents = vec![Server::named(&path, "backgammon")];
    let server = Server::with(adept_web::ServeOptions { agents, published: Vec::new(), ..options() });
    let (_, found) = server.get("/agents?game=backgammon");
    assert_eq!(found["agents"][0]["id"], "single-256-32");
    assert!(!found.to_string().contains("checkpoints"), "no path is told: {found}");
    server.done("/moves", &json!({ "agent": "single-256-32", "position": OPENING }));
    // Neither side loses a gammon once it has borne off a checker.
    let position = "bar:1 6:4 5:4 off:6/6:4 5:4 4:2 off:5 31";
    let told = server.done("/moves", &json!({ "agent": "single-256-32", "position": position }));
    let whole = server.done("/evaluate", &json!({ "agent": "single-256-32", "positions": [position] }));
    for found in [&whole["values"][0]["classes"], &told["moves"][0]["classes"]] {
        let none = ["loss_backgammon", "loss_gammon", "win_gammon", "win_backgammon"]
            .map(|name| found[name].as_f64());
        assert_eq!(none, [Some(0.0); 4], "{told}");
        let sum = found["loss"].as_f64().unwrap() + found["win"].as_f64().unwrap();
        assert!((sum - 1.0).abs() < 1e-5, "{told}");
    }
    let both = json!({ "agent": "search:2:screen:4:single-256-32:single-256-32", "position": OPENING });
    server.done("/moves", &both);
}

#[test]
fn the_document_names_all_methods_of_all_paths() {
    let server = Server::start();
    let (_, document) = server.get("/openapi.json");
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.values().flat_map(|path| path.as_object().unwrap().values());
    let ids: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len(), "{ids:?}");
    for (path, operations) in paths {
        let asked = path.replace("{id}", "nothing").replace("{order}", "stop");
        let answer = server.raw(&format!("PATCH {asked}"));
        assert!(answer.starts_with("HTTP/1.1 405"), "{path}: {answer}");
        let allowed = answer.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap();
        let mut allowed: Vec<String> = allowed
            .split(',')
            .map(|method| method.trim().to_lowercase())
            .filter(|method| method != "head")
            .collect();
        // Runs and orders to them share a route.
        if path.starts_with("/api/v1/runs/{id}") {
            let own = if path.ends_with("{order}") { "post" } else { "get" };
            allowed.retain(|method| method == own);
        }
        allowed.sort();
        let mut documented: Vec<&String> = operations.as_object().unwrap().keys().collect();
        documented.sort();
        assert_eq!(documented, allowed.iter().collect::<Vec<_>>(), "{path}");
    }
}

#[test]
fn answers_are_what_the_document_says() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::with(ServeOptions { runs: folder.path().into(), train: true, ..options() });
    let (_, document) = server.get("/openapi.json");
    // `path` in the request and `route` in the document.
    let checked = |method: &str, path: &str, route: &str, body: Value| -> Value {
        let headers = [("Content-Type", "application/json")];
        let asked = if body.is_null() { String::new() } else { body.to_string() };
        let (status, text) =
            server.ask_with(&method.to_uppercase(), &format!("/api/v1{path}"), &headers, &asked);
        let found: Value = serde_json::from_str(&text).unwrap();
        let route = format!("/api/v1{route}");
        let faults = faults(&document, (method, &route, status), &found);
        assert!(faults.is_empty(), "{method} {path} {body}: {faults:?} in {found}");
        assert_eq!(doubled(&text), [""; 0], "{text}");
        found
    };
    let get = |path: &str, route: &str| checked("get", path, route, Value::Null);
    for path in ["/status", "/games", "/agents", "/starters", "/runs"] {
        get(path, path);
    }
    get("/agents/pips-256-16x32/cells", "/agents/{id}/cells");
    get("/agents/nobody/cells", "/agents/{id}/cells");
    let to_roll = "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5";
    for agent in ["small-88-24", "pips-256-16x32", "search:2,root=2,keep=1,margin=0:small-88-24"] {
        checked(
            "post",
            "/evaluate",
            "/evaluate",
            json!({ "agent": agent, "positions": [OPENING, to_roll, "1:1/off:15"] }),
        );
        checked("post", "/moves", "/moves", json!({ "agent": agent, "position": OPENING }));
        checked("post", "/moves", "/moves", json!({ "agent": agent, "positions": [OPENING], "count": 2 }));
    }
    checked("post", "/moves", "/moves", json!({ "agent": "small-88-24", "position": "nowhere" }));
    // A game with hidden cards and one with dice, played to their ends.
    for (game, opponent) in
        [("holdem:limit:2", "limit-2"), ("backgammon", "small-88-24"), ("tictactoe", "minimax")]
    {
        let begin = json!({ "game": game, "opponent": opponent, "seed": 3 });
        let mut play = checked("post", "/plays", "/plays", begin);
        let path = format!("/plays/{}", play["id"].as_str().unwrap());
        let at = |end: &str| (format!("{path}{end}"), format!("/plays/{{id}}{end}"));
        for end in ["", "/record", "/history"] {
            get(&at(end).0, &at(end).1);
        }
        checked("post", "/plays", "/plays", json!({ "record": play["record"], "id": play["id"] }));
        if play["your_turn"] == true {
            get(&at("/hints").0, &at("/hints").1);
        }
        while play["over"] == false {
            let action = play["moves"].as_array().unwrap().last().unwrap()["move"].clone();
            play = checked("post", &at("/moves").0, &at("/moves").1, json!({ "move": action }));
        }
        checked("post", &at("/moves").0, &at("/moves").1, json!({ "move": "nothing" }));
        let record = get(&at("/record").0, &at("/record").1);
        get(&at("/history").0, &at("/history").1);
        checked("post", "/plays", "/plays", json!({ "record": record }));
        if game != "holdem:limit:2" {
            get(&at("/analysis").0, &at("/analysis").1);
        }
        checked("post", &at("/undo").0, &at("/undo").1, json!({}));
        checked("post", &at("/resign").0, &at("/resign").1, json!({}));
        checked("delete", &path, "/plays/{id}", Value::Null);
        checked("get", &path, "/plays/{id}", Value::Null);
    }
    for job in [
        json!({ "kind": "rollout", "agent": "small-88-24", "position": OPENING, "trials": 36, "truncate": 3 }),
        json!({ "kind": "search", "agent": "small-88-24", "position": OPENING, "plies": 1 }),
        json!({ "kind": "rollout", "agent": "small-88-24", "position": "nowhere", "trials": 36 }),
    ] {
        let id = checked("post", "/jobs", "/jobs", job)["id"].as_str().unwrap().to_string();
        server.ask_with("GET", &format!("/api/v1/jobs/{id}/events"), &[], "");
        get(&format!("/jobs/{id}"), "/jobs/{id}");
        checked("delete", &format!("/jobs/{id}"), "/jobs/{id}", Value::Null);
    }
    let settings = json!({ "learn.td.games": 2000, "evaluate.every": 500, "architecture.mlp.hidden": [4] });
    let run = json!({ "game": "tictactoe", "method": "td", "seed": 3, "settings": settings });
    let id = checked("post", "/runs", "/runs", run)["id"].as_str().unwrap().to_string();
    while get(&format!("/runs/{id}"), "/runs/{id}")["here"] == true {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    get("/runs", "/runs");
    get("/runs/nothing", "/runs/{id}");
    checked("post", &format!("/runs/{id}/stop"), "/runs/{id}/{order}", json!({}));
}

#[test]
fn opponents_that_choose_by_chance_explain_themselves() {
    let server = Server::start();
    for opponent in ["epsilon:0.1:small-88-24", "random", "search:2,root=2,keep=1,margin=0:small-88-24"] {
        let play = server.done("/plays", &json!({ "game": "backgammon", "opponent": opponent, "seed": 2 }));
        let hints = server.get(&format!("/plays/{}/hints", play["id"].as_str().unwrap())).1;
        assert!(hints["value"].is_object() || hints["text"].is_string(), "{opponent}: {hints}");
    }
}

#[test]
fn many_positions_are_decided_at_a_time() {
    let server = Server::start();
    let one = server.done("/moves", &json!({ "agent": "small-88-24", "position": OPENING }));
    let asked = json!({ "agent": "small-88-24", "positions": [OPENING, "4HPwATDgc/ABMA 31"], "count": 2 });
    let decisions = server.done("/moves", &asked)["decisions"].as_array().unwrap().clone();
    assert_eq!(decisions.len(), 2);
    for decision in decisions {
        assert_eq!(decision["moves"].as_array().unwrap().len(), 2);
        for (short, told) in
            decision["moves"].as_array().unwrap().iter().zip(one["moves"].as_array().unwrap())
        {
            for key in ["move", "afterstate", "value", "equity", "outcomes"] {
                assert_eq!(short[key], told[key]);
            }
        }
    }
    // Gates are included for a single position, on request.
    let cells = json!({ "agent": "pips-256-16x32", "position": OPENING });
    let with = server.done("/moves", &cells);
    assert_eq!(with["moves"][0]["gates"].as_array().unwrap().len(), 16);
    let without = json!({ "agent": "pips-256-16x32", "position": OPENING, "experts": false });
    let without = server.done("/moves", &without);
    assert_eq!(without["moves"][0]["gates"], Value::Null);
    let value = |moves: &Value| moves["moves"][0]["value"].as_f64().unwrap();
    assert!((value(&with) - value(&without)).abs() < 1e-6);
    let both = json!({ "agent": "small-88-24", "position": OPENING, "positions": [OPENING] });
    assert_eq!(server.post("/moves", &both).0, 400);
    let many = json!({ "agent": "small-88-24", "positions": vec![OPENING; 257] });
    assert_eq!(server.post("/moves", &many).0, 400);
}

#[test]
fn learned_cells_have_a_map() {
    let server = Server::start();
    let (_, agents) = server.get("/agents?game=backgammon");
    let with_cells = |agent: &&Value| agent["cells"] == true;
    let ids: Vec<&Value> =
        agents["agents"].as_array().unwrap().iter().filter(with_cells).map(|agent| &agent["id"]).collect();
    assert_eq!(ids, ["pips-256-16x32", "pips-512-64", "pips-88-24"]);
    let map = &server.get("/agents/pips-256-16x32/cells").1["maps"][0];
    let (down, across) = (map["cells"].as_array().unwrap().len(), map["cells"][0].as_array().unwrap().len());
    assert_eq!((&map["experts"], &map["channels"]), (&json!(16), &json!(["pips_own", "pips_opponent"])));
    let found = server.done("/moves", &json!({ "agent": "pips-256-16x32", "position": OPENING }));
    for candidate in found["moves"].as_array().unwrap() {
        let cell: Vec<usize> = serde_json::from_value(candidate["cell"].clone()).unwrap();
        assert!(cell[0] < down && cell[1] < across);
        let expert = map["cells"][cell[0]][cell[1]].as_u64().unwrap() as usize;
        assert_eq!(candidate["gates"][expert], 1.0, "{candidate}");
    }
    assert_eq!(server.get("/agents/small-88-24/cells").0, 404);
    assert_eq!(server.get("/agents/%2Fetc%2Fpasswd/cells").0, 404);
}

#[test]
fn games_without_chance_are_judged_exactly() {
    let server = Server::start();
    let begin = json!({ "game": "tictactoe", "opponent": "minimax", "seat": 1, "seed": 2 });
    let mut play = server.done("/plays", &begin);
    let path = format!("/plays/{}", play["id"].as_str().unwrap());
    while play["over"] == false {
        play = server.done(&format!("{path}/moves"), &json!({ "move": play["moves"][0]["move"] }));
    }
    let (status, analysis) = server.get(&format!("{path}/analysis"));
    assert_eq!((status, &analysis["by"], &analysis["exact"]), (200, &json!("minimax"), &json!(true)));
    assert_eq!(analysis["players"][1]["loss"], 0.0);
    let lost = analysis["players"][0]["loss"].as_f64().unwrap();
    assert!((-lost - play["outcome"]["utility"].as_f64().unwrap()).abs() < 1e-6, "{analysis}");
}

#[test]
fn runs_learn_here_and_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let kept = tempfile::tempdir().unwrap();
    let plays = Some(kept.path().into());
    let options = ServeOptions { runs: folder.path().into(), plays, train: true, ..options() };
    let server = Server::with(options.clone());
    let (_, starters) = server.get("/starters");
    assert_eq!(starters["may_train"], true);
    let all = starters["starters"].as_array().unwrap();
    let own = all.iter().find(|s| s["game"] == "tictactoe" && s["method"] == "td").unwrap();
    assert_eq!((&own["key"], &own["learns"]), (&json!("learn.td.games"), &json!(400_000)));

    let run =
        |settings: Value| json!({ "game": "tictactoe", "method": "td", "seed": 3, "settings": settings });
    let with_key = |settings: Value| {
        let mut body = run(settings);
        body["key"] = "a".into();
        body
    };
    let quick = json!({ "learn.td.games": 2000, "evaluate.every": 500, "architecture.mlp.hidden": [4] });
    let (status, begun) = server.post("/runs", &with_key(quick.clone()));
    assert_eq!((status, &begun["id"]), (202, &json!("my-tictactoe-td-3")));
    // A request that is repeated after a lost answer does not start another run.
    assert_eq!(server.post("/runs", &with_key(quick)).1, begun);
    let look = |id: &str| server.get(&format!("/runs/{id}")).1;
    let wait = |id: &str, state: &str| {
        for _ in 0..600 {
            let found = look(id);
            if found["here"] == false && found["status"] == state {
                return found;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{id} is not {state}: {}", look(id));
    };
    let done = wait("my-tictactoe-td-3", "finished");
    assert_eq!(done["curve"].as_array().unwrap().len(), 4);
    // The list calls the figure as the run does.
    assert_eq!(done["measure"], "equity against ttt");
    assert_eq!(server.get("/runs").1["runs"][0]["measure"], done["measure"]);
    assert_eq!((&done["is_error"], &done["intervals"]), (&json!(false), &json!([])));
    assert_eq!(done["marks"][0]["name"], "random play");
    assert_eq!(done["group"], "my-tictactoe-td");
    assert!(done["config"].as_str().unwrap().contains("hidden = [4]"), "{}", done["config"]);
    // It plays at once.
    let play = json!({ "game": "tictactoe", "opponent": "my-tictactoe-td-3", "seat": 1, "seed": 1 });
    let play = server.done("/plays", &play);
    assert_eq!(play["stored"], true);

    let (_, long) = server.post("/runs", &run(json!({ "learn.td.games": 100_000_000 })));
    assert_eq!(long["id"], "my-tictactoe-td.2-3");
    let id = long["id"].as_str().unwrap();
    // It is listed before, while and after it gets a folder.
    for _ in 0..100 {
        assert_eq!(server.get(&format!("/runs/{id}")).0, 200);
    }
    // It moves, and has references, before its first checkpoint.
    let moves = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let found = look(id);
        found["step"].as_u64() > Some(0)
            && found["latest"].is_number()
            && found["curve"][0][1].is_number()
            && found["marks"][0]["name"] == "random play"
    });
    assert!(moves, "{}", look(id));
    assert_eq!(server.post(&format!("/runs/{id}/resume"), &json!({})).0, 503);
    assert_eq!(server.post(&format!("/runs/{id}/stop"), &json!({})).0, 202);
    let stopped = wait(id, "stopped");
    assert_eq!(stopped["can_resume"], true);
    // Its latest checkpoint plays, though it has not ended.
    let stand = json!({ "game": stopped["game"], "opponent": id, "seat": 1, "seed": 1 });
    assert_eq!(server.post("/plays", &stand).0, 404);
    assert_eq!(server.post(&format!("/runs/{id}/play"), &json!({})).0, 202);
    assert_eq!(server.post("/plays", &stand).0, 201);
    assert_eq!(server.post(&format!("/runs/{id}/resume"), &json!({})).0, 202);
    assert_eq!(server.post(&format!("/runs/{id}/stop"), &json!({})).0, 202);
    wait(id, "stopped");

    for (settings, part) in [
        (json!({ "game.encoder": 1 }), "allowed settings"),
        (json!({ "learn.td.against": "file:/etc/passwd" }), "allowed settings"),
        (json!({ "learn.td.games": { "a": 1 } }), "allowed settings"),
        (json!({ "learn.td.games=1\nabout": 1 }), "allowed settings"),
        (json!({ "learn.td.games": -4 }), "games"),
        (json!({ "learn.speed": 1 }), "allowed settings"),
        (json!({ "learn.td.workers": 1000 }), "allowed settings"),
        (json!({ "architecture.mlp.speed": 1 }), "speed"),
        (json!({ "architecture.mlp.hidden": [1_000_000] }), "allowed settings"),
        (json!({ "architecture.mlp.hidden": [2000, 2000, 2000] }), "product"),
        (json!({ "learn.td.games": 1_000_000, "evaluate.every": 1 }), "measurements"),
    ] {
        let (status, refused) = server.post("/runs", &run(settings));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!((400..500).contains(&status) && message.contains(part), "{status}: {message}");
    }
    // Another architecture of those that the starter can have.
    let kinds: Vec<&str> =
        own["architectures"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"mlp") && kinds.contains(&"hme") && kinds.contains(&"meta_pi"), "{kinds:?}");
    let mut mixture = run(json!({ "learn.td.games": 500, "architecture.hme.experts": 3 }));
    mixture["architecture"] = "hme".into();
    let id = server.done("/runs", &mixture)["id"].as_str().unwrap().to_string();
    let mixture = wait(&id, "finished");
    assert!(mixture["config"].as_str().unwrap().contains("experts = 3"), "{}", mixture["config"]);
    assert_eq!(mixture["shares"][0][1].as_array().unwrap().len(), 3);
    let mut unknown = run(json!({}));
    unknown["architecture"] = "file".into();
    let (status, refused) = server.post("/runs", &unknown);
    assert!(status == 400 && refused.to_string().contains("choose one of mlp, hme"), "{refused}");

    let seed = json!({ "game": "tictactoe", "seed": u64::MAX });
    assert_eq!(server.post("/runs", &seed).0, 422);
    let file = json!({ "game": "file:/etc/passwd" });
    assert_eq!(server.post("/runs", &file).0, 404);
    assert_eq!(server.post("/runs/..%2F..%2Fetc/stop", &json!({})).0, 404);
    // A learning run is saved when the server stops.
    server.post(&format!("/runs/{id}/resume"), &json!({}));
    drop(server);
    let runs = adept_trainer::run::list_runs(folder.path()).unwrap();
    let mut states: Vec<&str> = runs.iter().map(|run| &*run.status).collect();
    states.sort_unstable();
    assert_eq!(states, ["finished", "finished", "stopped"]);
    // The next server goes on with the game against the run.
    assert_eq!(Server::with(options).get(&format!("/plays/{}", play["id"].as_str().unwrap())), (200, play));
}

/// The head of an answer as a person reads it, and its body as bytes.
fn whole(server: &Server, path: &str, headers: &[(&str, &str)]) -> (String, Vec<u8>) {
    let mut request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", server.address);
    headers.iter().for_each(|(name, value)| request += &format!("{name}: {value}\r\n"));
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(format!("{request}\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
    (String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase(), answer[end + 4..].to_vec())
}

#[test]
fn files_are_compressed_and_sent_once() {
    let server = Server::start();
    let gzip = ("Accept-Encoding", "deflate, gzip;q=0.9, br");
    let tag_of = |head: &str| head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_string();
    for path in ["/", "/page/runs.js"] {
        let (plain_head, plain) = whole(&server, path, &[]);
        let (head, packed) = whole(&server, path, &[gzip]);
        assert!(head.contains("content-encoding: gzip") && head.contains("vary: accept-encoding"), "{head}");
        assert!(!plain_head.contains("content-encoding") && packed.len() < plain.len() / 2, "{path}");
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut text).unwrap();
        assert!(text == plain, "{path}");
        let tag = tag_of(&head);
        assert_ne!(tag, tag_of(&plain_head));
        let (again, nothing) = whole(&server, path, &[gzip, ("If-None-Match", &tag)]);
        assert!(again.starts_with("http/1.1 304") && nothing.is_empty() && tag_of(&again) == tag, "{again}");
        assert!(whole(&server, path, &[gzip, ("If-None-Match", "\"other\"")]).0.starts_with("http/1.1 200"));
        assert!(!whole(&server, path, &[("Accept-Encoding", "gzip;q=0")]).0.contains("content-encoding"));
    }
    // Answers: large ones only.
    let (head, packed) = whole(&server, "/api/v1/openapi.json", &[gzip]);
    assert!(head.contains("content-encoding: gzip"), "{head}");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), server.get("/openapi.json").1);
    assert!(!whole(&server, "/api/v1/status", &[gzip]).0.contains("content-encoding"));
}

#[test]
fn the_page_has_the_list_of_games_unless_a_token_is_needed() {
    let held = |server: &Server| {
        let page = server.raw("GET /");
        let (_, rest) = page.split_once("id=\"games\">").unwrap();
        rest.split_once("</script>").unwrap().0.replace("\\u003c", "<")
    };
    let server = Server::start();
    assert_eq!(serde_json::from_str::<Value>(&held(&server)).unwrap(), server.get("/games").1);
    // The policy allows what is in it by hashes.
    let page = server.raw("GET /");
    assert!(page.contains("script-src 'self' 'sha256-") && page.contains("style-src 'sha256-"));
    assert_eq!(held(&Server::with(ServeOptions { token: Some("secret".into()), ..options() })), "");
}

#[test]
fn a_server_may_not_train() {
    let server = Server::start();
    assert_eq!(server.get("/starters").1["may_train"], false);
    let (status, refused) = server.post("/runs", &json!({ "game": "tictactoe" }));
    assert_eq!((status, &refused["error"]["kind"]), (403, &json!("forbidden")));
}
