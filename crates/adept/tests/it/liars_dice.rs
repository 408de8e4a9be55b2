//! Learning and playing liar's dice: rules, networks, opponents and tournaments, all reproducible to the bit.

use crate::common::{StopAt, at, finished, load_any, parse, state, tournament, train};
use adept::Builtin;
use adept_lab::files::Kind;
use adept_lab::tournament::{Seats, Standings, Tournament, TournamentEvent, TournamentOptions};
use adept_trainer::config::{Config, Source};
use adept_trainer::run::{Cancel, Silent, TrainOptions};
use std::path::{Path, PathBuf};

fn tracked(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/liars-dice").join(name)
}

fn config(name: &str, set: &[&str]) -> Config {
    let set = set.iter().map(|s| s.to_string()).collect();
    parse(&Source { set, ..Source::read(&tracked(name), &[]).unwrap() }).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn rules_made_by_deliberating_learn_to_beat_the_agent_they_play() {
    let folder = tempfile::tempdir().unwrap();
    let config = config("pm-0.toml", &["learn.games=4000", "evaluate.every=2000", "evaluate.games=400"]);
    let record = finished(&config, 1, &folder.path().join("run"));
    let points = record.r#final.and_then(|score| score.matches).expect("games are measured");
    assert!(points > 0.7, "{points}");
    let (_, _, metrics) = state(&folder.path().join("run"));
    let rules: Vec<u64> = metrics.iter().map(|line| line["entries"].as_u64().unwrap()).collect();
    assert!(rules.len() == 2 && rules[0] > 10_000 && rules[1] > rules[0], "{rules:?}");
}

/// Outcomes alone teach nothing while every game is lost, and the run reports it. Intermediate rewards teach from the
/// first game.
#[test]
fn play_that_collapses_is_reported_and_rewards_on_the_way_prevent_it() {
    let folder = tempfile::tempdir().unwrap();
    let set = [
        "learn.td.games=12000",
        "learn.td.field=[\"PMH\"]",
        "evaluate.every=12000",
        "evaluate.games=400",
        "evaluate.against=[\"PMH\"]",
        "architecture.mlp.hidden=[64,64]",
    ];
    let run = |name: &str, more: &[&str]| {
        let config = config("soar-net.toml", &[&set[..], more].concat());
        let cautions = config.cautions();
        finished(&config, 1, &folder.path().join(name));
        let last = state(&folder.path().join(name)).2.pop().unwrap();
        (cautions, last["matches"][0]["score"].as_f64().unwrap(), last["warnings"].clone())
    };
    let (cautions, score, warnings) = run("steps", &[]);
    assert!(cautions.is_empty() && score > 0.15 && warnings.is_null(), "{score} {warnings}");
    let outcome = ["learn.td.rewards=outcome", "architecture.mlp.output=tanh"];
    let (cautions, score, warnings) = run("outcome", &outcome);
    assert!(cautions.is_empty() && score < 0.01, "{score}");
    let said = warnings[0].as_str().unwrap();
    assert!(said.contains("against PMH it gets 0.") && said.contains("rewards = \"steps\""), "{said}");
    let bounded = config("soar-net.toml", &["architecture.mlp.output=tanh"]);
    assert!(bounded.cautions()[0].contains("output = \"linear\""));
}

/// The table of the post's game has as many entries as visited states and decisions, and beats its opponents.
#[test]
fn the_learner_of_the_post_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        config("post-q.toml", &["learn.td.games=3000", "evaluate.every=3000", "evaluate.games=1000"]);
    let record = finished(&config, 1, &folder.path().join("run"));
    let points = record.r#final.and_then(|score| score.matches).expect("games are measured");
    assert!(points > 0.7, "{points}");
    let entries = state(&folder.path().join("run")).2[0]["entries"].as_u64().unwrap();
    assert!((500..3 * 2772).contains(&entries), "{entries}");
}

/// Rules added for all considered candidates do not change the games.
#[test]
fn rules_for_all_that_is_weighed_change_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let set = |add: &'static str| ["learn.games=400", "evaluate.every=200", "evaluate.games=100", add];
    let all = config("pm-0.toml", &set("architecture.lookup.add_weighed=true"));
    let learned = config("pm-0.toml", &set("architecture.lookup.add_weighed=false"));
    let scores = |config: &Config, name: &str| {
        finished(config, 1, &folder.path().join(name));
        let lines = state(&folder.path().join(name)).2;
        lines.iter().map(|line| (line["matches"].clone(), line["loss"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(scores(&all, "all"), scores(&learned, "learned"));
}

#[test]
fn stopped_runs_in_fields_go_on_to_the_same_bits() {
    let small = ["learn.games=600", "evaluate.every=300", "evaluate.games=60"];
    let net = ["architecture.mlp.hidden=[8]", "learn.batch=4"];
    for (name, set) in [
        (
            "pm-0.toml",
            [&small[..], &["architecture.lookup.initial_from=deliberated", "learn.next=chosen"]].concat(),
        ),
        ("soar-net.toml", [&small[..], &net].concat()),
        ("soar-meta-pi.toml", [&small[..], &net[1..]].concat()),
    ] {
        let config = config(name, &set);
        let folder = tempfile::tempdir().unwrap();
        let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
        finished(&config, 3, &whole);
        for stop in [100, 350, u64::MAX] {
            let cancel = Cancel::default();
            let options = TrainOptions { resume: true, ..at(&parts) };
            train(&config, 3, &options, &StopAt(stop, cancel.clone()), &cancel).expect("it goes on");
        }
        assert_eq!(state(&parts), state(&whole), "{name}");
        assert!(train(&config, 3, &at(&whole), &Silent, &Cancel::default()).unwrap().1.finished);
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let fault = |name: &str, set: &str| {
        let source = Source { set: vec![set.into()], ..Source::read(&tracked(name), &[]).unwrap() };
        parse(&source).expect_err(set).message
    };
    for (name, set, says) in [
        ("pm-0.toml", "learn.discount=1.5", "`learn.td.discount`: must lie in 0..1"),
        ("pm-0.toml", "learn.traces=online", "need returns computed backwards"),
        ("pm-0.toml", "learn.against=PMX", "`PMX` is not an agent of"),
        ("pm-0.toml", "learn.field=[\"P\"]", "leave `against` out"),
        ("pm-0.toml", "architecture.lookup.initial_from=rule", "no value channel `rule`"),
        ("pm-0.toml", "evaluate.games=0", "`evaluate.games`"),
        ("pm-0.toml", "evaluate.suites=[\"equity\"]", "equity"),
        ("soar-net.toml", "learn.field=[\"self\",\"Q\"]", "`learn.td.field.1`"),
        ("soar-net.toml", "learn.temperature=0.0", "`learn.td.temperature`"),
        ("soar-net.toml", "game.encoder=rules:XX", "game.encoder"),
    ] {
        let message = fault(name, set);
        assert!(message.contains(says), "{set}: {message}");
    }
}

// --------------------------------------------------------------------------------------------- tournaments

fn plan(text: &str) -> Result<Tournament, String> {
    let source = Source { file: "t.toml".into(), text: text.into(), set: vec![] };
    Tournament::parse(&source, &Builtin).map_err(|e| e.message)
}

fn play(plan: &Tournament, out: &Path, resume: bool, threads: usize, stop_after: usize) -> Standings {
    let options = TournamentOptions { out: out.into(), resume, threads, histories: 0 };
    let (cancel, seen) = (Cancel::default(), std::cell::Cell::new(0));
    let watch = |event: TournamentEvent<'_>| {
        seen.set(seen.get() + usize::from(matches!(event, TournamentEvent::Played(..))));
        if seen.get() >= stop_after {
            cancel.cancel();
        }
    };
    let mut table = tournament(plan, &options, &watch, &cancel).unwrap_or_else(|e| panic!("{e}"));
    // Times depend on the machine.
    table.seconds = 0.0;
    table.pairs.iter_mut().for_each(|p| p.games_per_second = 0.0);
    table
}

const THREE: &str = "name = \"t\"\ngame = \"liars-dice:soar:3x2\"\ngames = 60\nagents = [{ name = \"P\" }, { name = \"PMH\" }, \
    { name = \"bold\", agent = \"paper:E\", settings = { bid_risky = -1.4 } }]\n";

#[test]
fn tournaments_do_not_depend_on_threads_and_go_on_where_they_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(THREE).unwrap();
    let whole = play(&plan, &folder.path().join("whole"), false, 1, usize::MAX);
    assert!(whole.finished && whole.pairs.len() == 3 && whole.standings.len() == 3);
    assert_eq!(play(&plan, &folder.path().join("two"), false, 2, usize::MAX), whole);
    let parts = folder.path().join("parts");
    let stopped = play(&plan, &parts, false, 1, 1);
    assert!(!stopped.finished && stopped.pairs.len() == 1);
    let refused = TournamentOptions { out: parts.clone(), threads: 1, ..Default::default() };
    let error = tournament(&plan, &refused, &|_| {}, &Cancel::default()).expect_err("it was begun");
    assert!(error.to_string().contains("resume it"), "{error}");
    assert_eq!(play(&plan, &parts, true, 1, usize::MAX), whole);
    // A finished tournament is only read.
    assert_eq!(play(&plan, &parts, false, 1, usize::MAX), whole);
    let text = std::fs::read_to_string(parts.join("arena.md")).unwrap();
    assert!(text.contains("| P – PMH | 60 |"), "{text}");
    let other = Tournament { games: 61, ..plan };
    let error = tournament(&other, &refused, &|_| {}, &Cancel::default()).expect_err("another stands there");
    assert!(error.to_string().contains("another tournament"), "{error}");
}

/// Alternates learning with games of the frozen learner: the second block continues the first, and plays better.
#[test]
fn agents_learn_in_blocks_and_play_as_they_are_after_each() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("pm-0.toml");
    let text = std::fs::read_to_string(tracked("pm-0.toml")).unwrap();
    let text = text.replace("35_000", "3_000").replace("every   = 1_000", "every = 3_000");
    std::fs::write(&config, text.replace("games   = 1_000", "games = 10")).unwrap();
    let text = format!(
        "name = \"t\"\ngame = \"liars-dice:soar:2x5\"\ngames = 400\nagents = [{{ name = \"PM-0\", learns = \"{}\", blocks = 3 }}, \
         {{ name = \"PMH\", agent = \"paper:PMH\" }}]\n",
        config.display()
    );
    let whole = play(&plan(&text).unwrap(), &folder.path().join("whole"), false, 1, usize::MAX);
    let names: Vec<&str> = whole.pairs.iter().map(|p| p.a.as_str()).collect();
    assert!(whole.finished && names == ["PM-0@1000", "PM-0@2000", "PM-0@3000"], "{names:?}");
    let scores: Vec<f64> = whole.pairs.iter().map(|p| p.score).collect();
    assert!(scores[0] > 0.05 && scores[2] > scores[0] + 0.1, "{scores:?}");
    let parts = folder.path().join("parts");
    assert!(!play(&plan(&text).unwrap(), &parts, false, 1, 1).finished);
    assert_eq!(play(&plan(&text).unwrap(), &parts, true, 2, usize::MAX), whole);
    for (from, to, says) in [
        ("blocks = 3", "blocks = 7", "3000 games cannot be split into 7 blocks"),
        (
            "soar:2x5",
            "soar:3x5",
            "is for liars-dice:soar:2x5, but this tournament is for liars-dice:soar:3x5",
        ),
        ("\"PM-0\", learns", "\"PM 0\", learns", "names a folder"),
        ("\"PMH\", agent", "\"PMH\", blocks = 2, agent", "belongs to an agent that learns"),
        ("pm-0.toml", "pm-1.toml", "pm-1.toml"),
    ] {
        let message = plan(&text.replace(from, to)).expect_err(says);
        assert!(message.contains(says), "{message}");
    }
}

/// An agent has no advantage against itself; one of three seats wins a third by luck.
#[test]
fn seats_are_shared_out_fairly() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"t\"\ngame = \"liars-dice:soar:3x1\"\ngames = 6000\nagents = [{ name = \"a\", agent = \"random\" }, \
                { name = \"b\", agent = \"random\" }]\n";
    let half = plan(text).unwrap();
    let table = play(&half, &folder.path().join("half"), false, 1, usize::MAX);
    assert!((table.pairs[0].share - 0.5).abs() < 1e-12 && (table.pairs[0].score - 0.5).abs() < 0.03);
    let one = Tournament { seats: Seats::One, ..half };
    let table = play(&one, &folder.path().join("one"), false, 1, usize::MAX);
    assert_eq!(table.pairs.len(), 2);
    for pair in &table.pairs {
        assert!(
            (pair.share - 1.0 / 3.0).abs() < 1e-12 && (pair.score - pair.share).abs() < 0.03 && pair.p > 1e-4
        );
    }
    assert!(table.standings.iter().all(|s| s.rating.is_none()));
}

/// A perfect player loses no game from the start, but some after random moves.
#[test]
fn random_moves_open_the_games_of_a_tournament() {
    let folder = tempfile::tempdir().unwrap();
    let text = |plies: &str| {
        format!(
            "name = \"t\"\ngame = \"tictactoe\"\ngames = 200\n{plies}agents = [{{ name = \"a\", agent = \"minimax\" }}, \
             {{ name = \"b\", agent = \"ttt\" }}]\n"
        )
    };
    let played = |plies: &str, name: &str| {
        let table = play(&plan(&text(plies)).unwrap(), &folder.path().join(name), false, 1, usize::MAX);
        (table.pairs[0].losses, table.markdown())
    };
    let (none, usual) = played("", "usual");
    let (opened, markdown) = played("random_plies = 3\n", "opened");
    assert!(none == 0 && opened > 20, "{none} {opened}");
    assert!(markdown.contains("after 3 random moves") && !usual.contains("random"), "{markdown}");
    let error = plan(&text("random_plies = 1001\n")).unwrap_err().to_string();
    assert!(error.contains("`random_plies`: must lie in 0..1000, found 1001"), "{error}");
}

/// Two deterministic agents play one game per order, unless it opens with random moves.
#[test]
fn agents_that_repeat_themselves_get_random_openings() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("tiny.toml");
    let tiny = "name = \"tiny\"\n[game]\nrules = \"tictactoe\"\nencoder = \"fields\"\n[architecture.mlp]\nhidden = [4]\n[learn]\nrate = 0.01\n[learn.td]\n\
                games = 64\nlambda = 0.5\n[evaluate]\nevery = 64\n";
    std::fs::write(&config, tiny).unwrap();
    let played = |plies: &str, games: u64| {
        // The same seed gives both the same network.
        let text = format!(
            "name = \"t\"\ngame = \"tictactoe\"\ngames = {games}\n{plies}agents = [{{ name = \"a\", learns = \"{0}\" }}, \
             {{ name = \"b\", learns = \"{0}\" }}]\n",
            config.display()
        );
        let out = folder.path().join(format!("{}-{games}", plies.len()));
        play(&plan(&text).unwrap(), &out, false, 1, usize::MAX)
    };
    // 72 openings of two moves, in two orders; few values are equal.
    let opened = played("", 400);
    let pair = &opened.pairs[0];
    assert!(opened.random_plies == Some(2) && !pair.repeated, "{pair:?}");
    assert!((60..=160).contains(&pair.distinct.unwrap()), "{pair:?}");
    // They play identically, so each opening gives both the same result.
    assert!((pair.score, pair.p) == (0.5, 1.0) && pair.wins == pair.losses && pair.wins > 0, "{pair:?}");
    let same = played("random_plies = 0\n", 400);
    let pair = &same.pairs[0];
    assert_eq!((pair.distinct, pair.repeated, pair.p, pair.errors), (Some(2), true, 1.0, Some(0.0)));
    assert!(same.markdown().contains("the games repeat"), "{}", same.markdown());
    // Agents that do not learn may be gated.
    let gate = |mut table: Standings| {
        table.tournament.agents.iter_mut().for_each(|agent| agent.learns = None);
        table.wins_of("a").map_err(|error| error.to_string())
    };
    assert_eq!(gate(opened), Ok(vec![("b".to_string(), 0.0)]));
    let error = gate(same).unwrap_err();
    assert!(error.contains("only 2 of 400 games of a and b differ"), "{error}");
    assert!(error.contains("`random_plies` to 1 or more"), "{error}");
    // A table from before default random openings continues without them.
    let path = folder.path().join("0-400/arena.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("  \"random_plies\": 2,\n", "");
    std::fs::write(&path, text).unwrap();
    assert_eq!(played("", 400).random_plies, Some(0));
}

/// The variance-reduced score has the unit of the score, points or the game's unit, and varies less.
#[test]
fn luck_is_taken_from_the_results_of_a_tournament() {
    let folder = tempfile::tempdir().unwrap();
    let text = |game: &str, luck: &str| {
        format!(
            "name = \"t\"\ngame = \"{game}\"\ngames = 600\nluck = \"{luck}\"\nagents = [{{ name = \"perfect\", agent = \"oracle\" }}, \
             {{ name = \"a\", agent = \"epsilon:0.2:oracle\" }}]\n"
        )
    };
    for (game, unit) in [("backgammon:1", " points"), ("bearoff:4", "")] {
        let plan = plan(&text(game, "oracle")).unwrap();
        let table = play(&plan, &folder.path().join(format!("{game}-1")), false, 1, usize::MAX);
        assert_eq!(table, play(&plan, &folder.path().join(format!("{game}-3")), false, 3, usize::MAX));
        let pair = &table.pairs[0];
        let (score, [low, high]) = (pair.adjusted.unwrap(), pair.adjusted_ci95.unwrap());
        assert!(low < score && score < high && high - low < 0.9 * (pair.ci95[1] - pair.ci95[0]), "{pair:?}");
        assert!((score - pair.score).abs() < pair.ci95[1] - pair.ci95[0], "{pair:?}");
        let markdown = table.markdown();
        assert!(
            markdown.contains("Less the luck of each game, as `oracle` values it") && markdown.contains(unit)
        );
        let without = Tournament { luck: None, ..plan };
        let raw = play(&without, &folder.path().join(format!("{game}-raw")), false, 1, usize::MAX);
        assert_eq!((raw.pairs[0].score, raw.pairs[0].adjusted), (pair.score, None));
    }
    let refusal = |game: &str, luck: &str| plan(&text(game, luck)).unwrap_err();
    assert!(refusal("bearoff:4", "random").contains("`luck`: `random` is an agent without values"));
    assert!(refusal("bearoff:4", "oracel").contains("`luck`: `oracel` is not an agent of bearoff:4"));
}

#[test]
fn faults_in_tournaments_are_named() {
    for (text, says) in [
        (THREE.replace("PMH", "PMX"), "`agents.1`: `PMX` is not an agent"),
        (THREE.replace("PMH", "P"), "`agents.1.name`: `P` is already defined"),
        (THREE.replace("bid_risky", "bid_risk"), "unknown field `bid_risk`"),
        (THREE.replace("games = 60", "games = 0"), "`games`"),
        (THREE.replace("games = 60", "games = 9_000_000_000_000"), "`games`: must lie in 1..1000000000"),
        (format!("orders = []\n{THREE}"), "`orders`: name at least one order"),
        (THREE.replace("soar:3x2", "poker"), "write liars-dice:soar:PxD"),
        (THREE.replace("liars-dice:soar:3x2", "poker"), "no game named `poker`"),
        (
            format!("orders = [\"XXYY\"]\n{THREE}"),
            "`orders.0`: `XXYY` is not an order of X and Y over 3 seats",
        ),
        (THREE.replace("agents =", "agent ="), "unknown key `agent`"),
        (
            THREE.replace("{ name = \"PMH\" }, ", "").replace(", { name = \"bold\"", "]#"),
            "at least two agents",
        ),
    ] {
        let message = plan(&text).expect_err(says);
        assert!(message.contains(says), "{message}");
    }
    assert!(matches!(load_any(&tracked("arena/soar-four.toml"), &[]), Ok(Kind::Tournament(_))));
}
