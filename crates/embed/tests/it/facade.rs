//! Tests the Rust facade and the C interface with published checkpoints.

use adept_arena::{inspect, naming};
use adept_builtin::bearoff::Bearoff;
use adept_builtin::tictactoe::TicTacToe;
use adept_embed::{Error, Model, PositionValue, ffi};
use adept_game::Kit;
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr;

fn published(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/bearoff").join(name)
}

const POSITIONS: [&str; 4] = [
    "1,1,1,1,1,1/0,0,0,0,0,2",
    "0,2,0,0,0,0/3,0,0,0,0,0",
    "5,0,0,0,0,0/2,0,2,1,0,0",
    "2,2,2,2,3,3/0,0,0,4,5,5",
];
const DECISION: &str = "1,1,1,1,1,1/0,0,0,0,0,2 65";

#[test]
fn a_model_says_what_it_is() {
    let model = Model::open(&published("residual-10")).unwrap();
    let d = model.describe();
    assert_eq!((d.game.as_str(), d.experiment.as_str(), d.index_width), ("bearoff", "residual-10", 0));
    let names: Vec<&str> = d.channels.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["one_sided", "distribution", "counts", "haste", "prior"]);
    let last = d.channels.last().unwrap();
    assert_eq!((last.kind, last.first + last.width), ("value", d.dense_width));
    assert!(d.channels.iter().all(|c| !c.about.is_empty()));
}

/// Experts' values are in the same unit as the whole network's.
#[test]
fn experts_speak_in_the_unit_of_the_game() {
    let checkpoints = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints");
    for (name, position, scale) in [
        ("backgammon/pips-256-16x32", "8:5 6:5 13:3 24:2/8:5 6:5 13:3 24:2 31", 3.0),
        ("bearoff/hme-4x16", DECISION, 1.0),
        ("bearoff/meta-pi-4x16", DECISION, 1.0),
    ] {
        let model = Model::open(&checkpoints.join(name)).unwrap();
        let value = serde_json::to_value(model.explain(position).unwrap()).unwrap();
        let mut experts = 0;
        for one in value["moves"].as_array().unwrap() {
            let (equity, gates) = (one["equity"].as_f64().unwrap(), one["gates"].as_array());
            assert!((equity - scale * one["value"].as_f64().unwrap()).abs() < 1e-5);
            let Some(gates) = gates else { continue };
            let mut blend = 0.0;
            for (gate, expert) in gates.iter().zip(one["experts"].as_array().unwrap()) {
                let Some(own) = expert["equity"].as_f64() else { continue };
                assert!((own - scale * expert["value"].as_f64().unwrap()).abs() < 1e-5, "{expert}");
                blend += gate.as_f64().unwrap() * own;
                experts += 1;
            }
            assert!((blend - equity).abs() < 1e-3, "{name}: {blend} {equity}");
        }
        assert!(experts > 0, "{name}");
    }
}

/// Unbounded values are not described as bounded, and published networks stay in their ranges.
#[test]
fn values_lie_in_the_range_that_the_description_names() {
    let of = |game: &str, name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints").join(game).join(name);
        Model::open(&path).unwrap()
    };
    for (game, name, range, scale) in [
        ("bearoff", "residual-10", Some([-1.0, 1.0]), 1.0),
        ("bearoff", "hme-4x16", Some([-1.0, 1.0]), 1.0),
        ("bearoff", "cells-16x8", Some([-1.0, 1.0]), 1.0),
        ("liars-dice", "soar-net", None, 1.0),
        ("liars-dice", "post-net", Some([-1.0, 1.0]), 1.0),
        ("holdem", "limit-2", None, 240.0),
        ("holdem", "limit-2-rules", None, 240.0),
    ] {
        let model = of(game, name);
        let d = model.describe();
        assert_eq!((d.range, d.scale), (range, scale), "{name}");
        // Rows far from those of positions.
        let (n, size) = (200, |i: usize| if i.is_multiple_of(2) { 3.0 } else { -3.0 });
        let dense = (0..n * d.dense_width).map(|i| size(i / d.dense_width + i)).collect();
        let rows = model.rows(n, dense, vec![0; n * d.index_width]).unwrap();
        let values = model.evaluate(&rows).unwrap();
        if let Some([low, high]) = d.range {
            assert!(values.iter().all(|v| (low..=high).contains(v)), "{name}: {values:?}");
        } else if name.ends_with("net") {
            assert!(values.iter().any(|v| v.abs() > 1.0), "{name}: {values:?}");
        }
    }
}

#[test]
fn rows_positions_and_moves_agree() {
    for name in ["residual-10", "plain-10", "hme-4x16", "cells-64x8"] {
        let model = Model::open(&published(name)).unwrap();
        let values = model.values(&POSITIONS).unwrap();
        let rows = model.encode(&POSITIONS).unwrap();
        let direct = model.evaluate(&rows).unwrap();
        // A row is for the player who just moved; a value is for the player to roll.
        assert!(values.iter().zip(&direct).all(|(v, d)| *v == -*d), "{name}: {values:?} {direct:?}");
        let moves = model.moves(DECISION).unwrap();
        assert!(moves.len() > 1 && moves.is_sorted_by(|a, b| a.value >= b.value), "{name}: {moves:?}");
        assert_eq!(model.values(&[DECISION]).unwrap(), [moves[0].value], "{name}");
        for choice in &moves {
            assert_eq!(model.values(&[&choice.after]).unwrap(), [-choice.value], "{name}: {choice:?}");
        }
        let explained = model.explain(DECISION).unwrap();
        assert!((explained.value - moves[0].value).abs() < 1e-6);
        assert_eq!(explained.moves.len(), moves.len());
    }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &target),
            false => assert!(std::fs::copy(&path, &target).is_ok()),
        }
    }
}

/// Quantised checkpoints open like others, from Rust and C.
#[test]
fn quantised_networks_are_opened_from_rust_and_c() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/plain-10-i8");
    let (floats, whole) = (Model::open(&published("plain-10")).unwrap(), Model::open(&folder).unwrap());
    let wanted = floats.values(&POSITIONS).unwrap();
    for (position, (wanted, found)) in
        POSITIONS.iter().zip(wanted.iter().zip(whole.values(&POSITIONS).unwrap()))
    {
        assert!((wanted - found).abs() < 0.03, "{position}: {wanted} {found}");
    }
    assert_eq!(whole.moves(DECISION).unwrap().len(), floats.moves(DECISION).unwrap().len());
    // Integer networks have no program parameters.
    assert!(whole.network().unwrap().is_none() && whole.describe().range == floats.describe().range);

    let path = CString::new(folder.to_str().unwrap()).unwrap();
    let position = CString::new(POSITIONS[0]).unwrap();
    let mut value = 0.0;
    // SAFETY: the texts end with zero, and the value is one float.
    unsafe {
        let mut model = ptr::null_mut();
        assert_eq!(ffi::adept_open(path.as_ptr(), &mut model), 0, "{}", last_error());
        assert_eq!(ffi::adept_values(model, &position.as_ptr(), 1, &mut value), 0, "{}", last_error());
        ffi::adept_close(model);
    }
    assert_eq!(value.to_bits(), whole.values(&POSITIONS[..1]).unwrap()[0].to_bits());
}

/// A chain of networks that correct each other, as packed by `adept publish`, opens wherever its folder is.
#[test]
fn a_published_network_has_its_priors_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a+b, c/net");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corrected"), &path);
    let model = Model::open(&path).unwrap();
    let values = model.values(&["1,1,0,0,0,0/0,0,0,1,0,0", "0,0,0,0,0,3/0,0,0,0,1,1"]).unwrap();
    for (value, expected) in values.iter().zip([0.841_723_3, -0.071_121_04]) {
        assert!((value - expected).abs() < 1e-6_f32, "{values:?}");
    }
    assert!(model.describe().encoder.starts_with("one-sided+prior:parts/second@"));
    std::fs::remove_dir_all(path.join("parts/second/parts")).unwrap();
    let refused = Model::open(&path).unwrap_err().to_string();
    assert!(refused.contains("has no prior `parts/first`"), "{refused}");
}

#[test]
fn ids_of_gnubg_and_xgids_are_positions() {
    let model = Model::open(&published("residual-10")).unwrap();
    let xgid = "XGID=-AAAAAA------------b------:0:0:1:65:0:0:0:0:10";
    let texts = ["1,1,1,1,1,1/0,0,0,0,0,2", "YAAAqCoAAAAAAA", DECISION, xgid, "YAAAqCoAAAAAAA:cAkXAAAAAAAE"];
    let values = model.values(&texts).unwrap();
    assert!(values[0] == values[1] && values[2] == values[3] && values[2] == values[4], "{values:?}");
    assert_eq!(model.moves(xgid).unwrap(), model.moves(DECISION).unwrap());
    assert_eq!(model.encode(&texts[..1]).unwrap().dense, model.encode(&texts[1..2]).unwrap().dense);
    let error = model.moves("4HPwATDgc/ABMA").unwrap_err().to_string();
    assert!(error.contains("on point 8"), "{error}");
}

#[test]
fn a_finished_game_is_exact() {
    let model = Model::open(&published("plain-10")).unwrap();
    assert_eq!(model.values(&["0,0,0,0,0,0/1,0,0,0,0,0", "1,0,0,0,0,0/1,0,0,0,0,0 65"]).unwrap(), [1.0, 1.0]);
}

#[test]
fn threads_share_a_model_and_get_the_same_values() {
    for name in ["meta-pi-4x16", "residual-10"] {
        let open = Open::new(name);
        let model = Model::open(&published(name)).unwrap();
        let ask = || {
            let rows = model.encode(&POSITIONS).unwrap();
            let values = (model.values(&POSITIONS).unwrap(), model.evaluate(&rows).unwrap());
            let explained = serde_json::to_string(&model.explain(DECISION).unwrap()).unwrap();
            (values, rows, explained, model.moves(DECISION).unwrap(), open.values(&POSITIONS))
        };
        let alone = ask();
        assert_eq!(alone.0.0, alone.4);
        std::thread::scope(|scope| {
            let many = || (0..100).all(|_| ask() == alone);
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(many)).collect();
            assert!(threads.into_iter().all(|t| t.join().unwrap()), "{name}");
        });
    }
}

#[test]
fn a_move_is_worth_what_the_position_after_it_costs() {
    // The only game whose text has the last move, and in which either side may win.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small");
    tictactoe(&path);
    let model = Model::open(&path).unwrap();
    for position in ["XX.OO....", "XX.OO...X@9", "X...O....", ".........", "XO.......@2"] {
        for choice in model.moves(position).unwrap() {
            let over = model.encode(&[&choice.after]).is_err();
            // If the game ends or a move follows at once, the value of the position differs from its row's.
            if over {
                assert_eq!(model.values(&[&choice.after]).unwrap(), [-choice.value], "{choice:?}");
            } else {
                let rows = model.encode(&[&choice.after]).unwrap();
                assert_eq!(model.evaluate(&rows).unwrap(), [choice.value], "{choice:?}");
            }
        }
    }
    assert_eq!(model.moves("XX.OO....").unwrap()[0].after, "XXXOO....@3");
    assert_eq!(model.moves("XX.OO...X@9").unwrap()[0].value, 1.0);
}

/// The output of `adept value AGENT POSITION`.
fn by_command<G: Kit>(game: &G, agent: &str, position: &str) -> PositionValue {
    let found = naming::resolve(game, agent, &[]).unwrap();
    let mut search = naming::evaluator(game, &found, false).unwrap().unwrap();
    let read = inspect::read(game, &[position]).unwrap();
    inspect::inspect_by(game, &mut search, &read[0], position.into(), true).unwrap()
}

#[test]
fn a_model_looks_ahead_as_the_commands_do() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    tictactoe(&small);
    let (small, large) = (small.display(), published("residual-10").display().to_string());
    let bearoff = Bearoff::default();
    for (agent, position) in [
        (format!("search:4:{small}"), "XX.OO...X@9"),
        (format!("search:3:{small}"), "X...O...."),
        (format!("search:500n:{small}"), "........."),
        (format!("search:2,keep=2,margin=0:{large}"), "1,1,0,0,0,1/0,0,0,0,0,2 65"),
        (format!("search:2,threads=2:{large}"), "1,1,0,0,0,1/0,0,0,0,0,2 65"),
        (format!("search:1:{large}"), "1,1,0,0,0,1/0,0,0,0,0,2 65"),
    ] {
        let model = Model::open(agent.as_ref()).unwrap();
        let wanted = match position.contains(',') {
            true => by_command(&bearoff, &agent, position),
            false => by_command(&TicTacToe, &agent, position),
        };
        let explained = model.explain(position).unwrap();
        let json = |value| serde_json::to_value(value).unwrap();
        assert_eq!(json(&explained), json(&wanted), "{agent}");
        let ply = agent.starts_with("search:1:");
        assert!(ply || explained.search.as_ref().is_some_and(|s| s.plies > 1 && s.nodes > 1), "{agent}");
        let found: Vec<_> =
            wanted.moves.iter().map(|m| (&m.action, &m.afterstate, m.explanation.value)).collect();
        let moves = model.moves(position).unwrap();
        assert_eq!(moves.iter().map(|m| (&m.action, &m.after, m.value)).collect::<Vec<_>>(), found);
        assert_eq!(model.values(&[position]).unwrap(), [wanted.value]);
        let best = model.choose(position).unwrap().unwrap();
        // With a limit on positions, a search for one move may go deeper.
        assert!(agent.contains('n') && !position.contains('@') || best.value == wanted.value, "{best:?}");
        assert!(moves.iter().any(|m| (&m.action, &m.after) == (&best.action, &best.after)), "{best:?}");
        let open = Open::at(agent.as_ref());
        assert_eq!(open.values(&[position]), [wanted.value]);
        assert_eq!(open.choose(position), (best.action, best.after, best.value));
    }
    // Before a roll, and after the end, the value is for the next player.
    let model = Model::open(format!("search:2:{large}").as_ref()).unwrap();
    let before = "1,1,0,0,0,1/0,0,0,0,0,2";
    let wanted = by_command(&bearoff, &format!("search:2:{large}"), before).value;
    let values = model.values(&[before, "1,0,0,0,0,0/0,0,0,0,0,0"]).unwrap();
    assert_eq!(values, [wanted, -1.0]);
    assert_ne!(values[..1], Model::open(large.as_ref()).unwrap().values(&[before]).unwrap());
    assert_eq!(model.describe().search.as_deref(), Some("2"));
    // Rows only use the network.
    let rows = model.encode(&[before]).unwrap();
    let plain = Model::open(large.as_ref()).unwrap();
    assert_eq!(model.evaluate(&rows).unwrap(), plain.evaluate(&rows).unwrap());
    let refused = model.moves(before).unwrap_err().to_string();
    assert!(refused.contains("the roll may be missing"), "{refused}");
}

#[test]
fn a_search_that_is_not_possible_is_refused() {
    let path = |game: &str, name: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints").join(game).join(name)
    };
    let of = |budget: &str, path: &Path| {
        let text = format!("search:{budget}:{}", path.display());
        let Err(error) = Model::open(text.as_ref()) else { panic!("{text} opens") };
        error
    };
    for (game, name) in [("liars-dice", "soar-net"), ("holdem", "limit-2")] {
        let error = of("2", &path(game, name));
        assert!(matches!(&error, Error::Search(m) if m.contains("hides information")), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    tictactoe(&folder.path().join("small"));
    let error = of("3,threads=2", &folder.path().join("small"));
    assert!(matches!(&error, Error::Search(m) if m.contains("alpha-beta runs on one thread")), "{error}");
    let error = of("two", &published("residual-10"));
    assert!(matches!(&error, Error::Search(m) if m.contains("write `search:4:AGENT`")), "{error}");
    let error = of("2", &published("nothing"));
    assert!(matches!(&error, Error::Missing(m) if m.contains("nothing")), "{error}");
}

/// An untrained tic-tac-toe network whose rows need the last move.
fn tictactoe(path: &Path) {
    use adept_ground::files::Files;
    use adept_model::checkpoint::{Manifest, write};
    use adept_model::{Architecture, Optimiser};
    let architecture: Architecture = serde_json::from_value(serde_json::json!({
        "symbolic": { "by": "square", "expert": { "mlp": { "hidden": [3] } } }
    }))
    .unwrap();
    let encoder = adept_arena::open::encoder(&adept_builtin::tictactoe::TicTacToe, Some("fields")).unwrap();
    let channels = encoder.channels().to_vec();
    let mut rng = adept_game::stream(1, "init", 0);
    let mut learner = adept_model::build(
        &architecture,
        &channels,
        &adept_model::Head::Value,
        Optimiser::default(),
        &mut rng,
    )
    .unwrap();
    let manifest = Manifest::new("tictactoe", "fields", channels, &architecture);
    write(&Files::default(), path, manifest, &learner.tensors().unwrap()).unwrap();
}

#[test]
fn errors_name_what_is_wrong() {
    let missing = Model::open(Path::new("nowhere")).unwrap_err();
    assert!(matches!(&missing, Error::Missing(m) if m.contains("nowhere")), "{missing}");
    let other = Model::open_for(TicTacToe, &published("plain-10")).unwrap_err();
    assert!(matches!(&other, Error::Game(m) if m.contains("expected `tictactoe`")), "{other}");
    let model = Model::open(&published("plain-10")).unwrap();
    let text = model.values(&[POSITIONS[0], "nonsense"]).unwrap_err();
    assert!(matches!(&text, Error::Position(m) if m.contains("nonsense")), "{text}");
    let roll = model.moves(POSITIONS[0]).unwrap_err();
    assert!(matches!(&roll, Error::State(m) if m.contains("roll")), "{roll}");
    let rows = model.rows(2, vec![0.0; 3], vec![]).unwrap_err();
    assert!(matches!(&rows, Error::Rows(m) if m.contains("found 3")), "{rows}");
    assert!(matches!(model.rows(usize::MAX, vec![], vec![]), Err(Error::Rows(_))));
    let mut rows = model.encode(&POSITIONS).unwrap();
    let width = rows.dense_width();
    rows.dense[width + 7] = f32::NAN;
    let nan = model.evaluate(&rows).unwrap_err();
    assert!(matches!(&nan, Error::Rows(m) if m.contains("row 1: column 7")), "{nan}");
    let others = Model::open(&published("hme-4x16")).unwrap().encode(&POSITIONS).unwrap();
    assert!(matches!(model.evaluate(&others), Err(Error::Rows(_))));
    assert!(Model::open_best(&published("plain-10")).is_ok());
    let over = model.encode(&["0,0,0,0,0,0/1,0,0,0,0,0"]).unwrap_err();
    assert!(matches!(&over, Error::State(m) if m.contains("over")), "{over}");
}

/// A handle of the C interface, closed at the end.
struct Open(*mut ffi::Handle);

impl Open {
    fn new(name: &str) -> Self {
        Self::at(&published(name))
    }

    fn at(path: &Path) -> Self {
        let path = CString::new(path.to_str().unwrap()).unwrap();
        let mut handle = ptr::null_mut();
        // SAFETY: a text that ends in a zero byte, and a place for the handle.
        assert_eq!(unsafe { ffi::adept_open(path.as_ptr(), &mut handle) }, 0, "{}", last_error());
        Self(handle)
    }
}

impl Open {
    fn values(&self, positions: &[&str]) -> Vec<f32> {
        let texts: Vec<CString> = positions.iter().map(|p| CString::new(*p).unwrap()).collect();
        let pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
        let mut values = vec![0.0; positions.len()];
        // SAFETY: arrays of that length, an open model.
        let code =
            unsafe { ffi::adept_values(self.0, pointers.as_ptr(), pointers.len(), values.as_mut_ptr()) };
        assert_eq!(code, 0, "{}", last_error());
        values
    }

    /// The best move, the position after it and its value, with buffers of the announced sizes.
    fn choose(&self, position: &str) -> (String, String, f32) {
        let position = CString::new(position).unwrap();
        let (mut action_size, mut after_size, mut value) = (0, 0, 0.0);
        // SAFETY: an open model, and places for the sizes.
        let code =
            unsafe { ffi::adept_choose_sizes(self.0, position.as_ptr(), &mut action_size, &mut after_size) };
        assert_eq!(code, 0, "{}", last_error());
        let (mut action, mut after) = (vec![1; action_size], vec![1; after_size]);
        let (a, b) = (action.as_mut_ptr(), after.as_mut_ptr());
        // SAFETY: an open model, and buffers of the sizes that are passed.
        let code = unsafe {
            ffi::adept_choose(self.0, position.as_ptr(), a, action_size, b, after_size, &mut value)
        };
        assert_eq!(code, 0, "{}", last_error());
        // SAFETY: every buffer ends in a zero byte after a call.
        let read = |text: &[c_char]| unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap().to_string();
        (read(&action), read(&after), value)
    }
}

// SAFETY: the header promises this, and the test of threads relies on it.
unsafe impl Sync for Open {}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: it was opened above and is not used any more.
        unsafe { ffi::adept_close(self.0) };
    }
}

fn last_error() -> String {
    // SAFETY: never null, and ends in a zero byte.
    unsafe { CStr::from_ptr(ffi::adept_last_error()) }.to_str().unwrap().into()
}

#[test]
fn the_c_interface_answers_as_the_facade_does() {
    let (model, open) = (Model::open(&published("residual-10")).unwrap(), Open::new("residual-10"));
    let texts: Vec<CString> = POSITIONS.iter().map(|p| CString::new(*p).unwrap()).collect();
    let pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
    // SAFETY: arrays of the lengths that are passed, an open model.
    unsafe {
        let described = CStr::from_ptr(ffi::adept_describe(open.0)).to_str().unwrap();
        assert_eq!(described, serde_json::to_string(model.describe()).unwrap());
        let (dense, index) = (ffi::adept_dense_width(open.0), ffi::adept_index_width(open.0));
        assert_eq!((dense, index), (model.describe().dense_width, 0));
        let mut values = [0.0; 4];
        assert_eq!(ffi::adept_values(open.0, pointers.as_ptr(), 4, values.as_mut_ptr()), 0);
        assert_eq!(values.to_vec(), model.values(&POSITIONS).unwrap());
        let mut rows = vec![0.0; 4 * dense];
        assert_eq!(ffi::adept_encode(open.0, pointers.as_ptr(), 4, rows.as_mut_ptr(), ptr::null_mut()), 0);
        assert_eq!(rows, model.encode(&POSITIONS).unwrap().dense);
        let mut direct = [0.0; 4];
        assert_eq!(ffi::adept_evaluate(open.0, rows.as_ptr(), ptr::null(), 4, direct.as_mut_ptr()), 0);
        assert_eq!(direct.map(|v| -v), values);
        let (decision, mut value) = (CString::new(DECISION).unwrap(), 0.0);
        let (mut action, mut after) = ([0; 64], [0; 64]);
        let (a, b) = (action.as_mut_ptr(), after.as_mut_ptr());
        assert_eq!(ffi::adept_choose(open.0, decision.as_ptr(), a, 64, b, 64, &mut value), 0);
        let best = &model.moves(DECISION).unwrap()[0];
        let read = |text: &[c_char]| CStr::from_ptr(text.as_ptr()).to_str().unwrap().to_string();
        assert_eq!(
            (read(&action), read(&after), value),
            (best.action.clone(), best.after.clone(), best.value)
        );
        let mut json = ptr::null_mut();
        assert_eq!(ffi::adept_moves(open.0, decision.as_ptr(), &mut json), 0);
        let moves: serde_json::Value = serde_json::from_slice(CStr::from_ptr(json).to_bytes()).unwrap();
        assert_eq!(moves[0]["action"], best.action.as_str());
        ffi::adept_free(json);
        assert_eq!(ffi::adept_explain(open.0, decision.as_ptr(), &mut json), 0);
        ffi::adept_free(json);
    }
}

/// A hold'em position exceeds 64 bytes; the announced sizes are exactly sufficient.
#[test]
fn the_c_interface_names_the_sizes_of_texts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/holdem/limit-6");
    let open = Open::at(&path);
    let hand = "rccccc/crccccrccccc/crccccrccccc/crccccrc:||Kd2d|||/2c7dTs/9c/3d";
    let best = Model::open(&path).unwrap().moves(hand).unwrap().swap_remove(0);
    let hand = CString::new(hand).unwrap();
    let choose = |action: &mut [c_char], after: &mut [c_char]| {
        let ((a, n), (b, m)) = ((action.as_mut_ptr(), action.len()), (after.as_mut_ptr(), after.len()));
        // SAFETY: an open model, and buffers of the sizes that are passed.
        unsafe { ffi::adept_choose(open.0, hand.as_ptr(), a, n, b, m, ptr::null_mut()) }
    };
    // SAFETY: every buffer ends in a zero byte after a call.
    let read = |text: &[c_char]| unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap().to_string();
    let (mut action_size, mut after_size) = (0, 0);
    // SAFETY: an open model, and places for the sizes; either may be null.
    unsafe {
        assert_eq!(ffi::adept_choose_sizes(open.0, hand.as_ptr(), &mut action_size, ptr::null_mut()), 0);
        assert_eq!(ffi::adept_choose_sizes(open.0, hand.as_ptr(), ptr::null_mut(), &mut after_size), 0);
        let bad = CString::new("nonsense").unwrap();
        assert_eq!(ffi::adept_choose_sizes(open.0, bad.as_ptr(), &mut action_size, &mut after_size), 3);
        assert_eq!(ffi::adept_choose_sizes(ptr::null(), hand.as_ptr(), &mut action_size, &mut after_size), 1);
    }
    assert_eq!((action_size, after_size), (best.action.len() + 1, best.after.len() + 1));
    assert!(after_size > 64);

    let (mut action, mut after) = (vec![1; action_size], vec![1; after_size]);
    assert_eq!(choose(&mut action, &mut after), 0);
    assert_eq!((read(&action), read(&after)), (best.action.clone(), best.after.clone()));
    // One byte less is too small, but the other text is complete.
    assert_eq!(choose(&mut action, &mut after[1..]), 5);
    assert!(last_error().contains(&format!("needs {after_size} bytes")), "{}", last_error());
    assert_eq!((read(&action), read(&after[1..])), (best.action, best.after[..after_size - 2].to_string()));
}

#[test]
fn the_c_interface_answers_faults_with_codes() {
    let open = Open::new("plain-10");
    let (good, bad) = (CString::new(DECISION).unwrap(), CString::new("nonsense").unwrap());
    // SAFETY: the test passes null pointers and short buffers; everything else is as declared.
    unsafe {
        let mut handle = ptr::null_mut();
        assert_eq!(ffi::adept_open(bad.as_ptr(), &mut handle), 2);
        assert!(handle.is_null() && last_error().contains("nonsense"));
        assert_eq!(ffi::adept_open(ptr::null(), &mut handle), 1);
        assert_eq!(ffi::adept_open(good.as_ptr(), ptr::null_mut()), 1);
        let mut value = 0.0;
        assert_eq!(ffi::adept_values(ptr::null(), &good.as_ptr(), 1, &mut value), 1);
        assert_eq!(ffi::adept_values(open.0, ptr::null(), 1, &mut value), 1);
        assert_eq!(ffi::adept_values(open.0, &bad.as_ptr(), 1, &mut value), 3);
        assert!(last_error().contains("nonsense"));
        assert_eq!(ffi::adept_values(open.0, &good.as_ptr(), 1, ptr::null_mut()), 1);
        assert_eq!(ffi::adept_values(open.0, ptr::null(), 0, ptr::null_mut()), 0);
        let latin = [0xe9u8, 0];
        let latin: *const c_char = latin.as_ptr().cast();
        assert_eq!(ffi::adept_values(open.0, &latin, 1, &mut value), 1);
        let mut short = [1; 4];
        let code = ffi::adept_choose(
            open.0,
            good.as_ptr(),
            short.as_mut_ptr(),
            4,
            ptr::null_mut(),
            0,
            ptr::null_mut(),
        );
        assert_eq!((code, short[3]), (5, 0));
        assert!(last_error().contains("buffer"));
        assert_eq!(ffi::adept_evaluate(open.0, ptr::null(), ptr::null(), usize::MAX, &mut value), 1);
        assert_eq!(ffi::adept_values(open.0, &good.as_ptr(), usize::MAX, &mut value), 1);
        assert_eq!(ffi::adept_moves(open.0, good.as_ptr(), ptr::null_mut()), 1);
        let mut json = short.as_mut_ptr();
        assert_eq!(ffi::adept_moves(open.0, bad.as_ptr(), &mut json), 3);
        assert!(json.is_null());
        let best = CString::new(published("plain-10").to_str().unwrap()).unwrap();
        assert_eq!(ffi::adept_open_best(best.as_ptr(), &mut handle), 0);
        ffi::adept_close(handle);
        ffi::adept_close(ptr::null_mut());
        ffi::adept_free(ptr::null_mut());
        assert!(ffi::adept_describe(ptr::null()).is_null());
        assert_eq!(ffi::adept_dense_width(ptr::null()), 0);
    }
}

/// A side that has borne off a checker loses no gammon: in explanations, and in values of positions and moves.
#[test]
fn impossible_outcomes_have_no_probability() {
    let path = published("../backgammon/small-88-24");
    let text = "6:4 5:2 3:1 off:8/10:3 6:10 2:2 31";
    for agent in [path.display().to_string(), format!("search:2:{}", path.display())] {
        let model = Model::open(agent.as_ref()).unwrap();
        let told = model.explain(text).unwrap();
        let moves = model.moves(text).unwrap();
        // The same through C.
        let (open, position) = (Open::at(agent.as_ref()), CString::new(text).unwrap());
        let mut json = ptr::null_mut();
        // SAFETY: a handle that is open, a text that ends in a zero byte, and a place for the text, which is freed.
        let found: serde_json::Value = unsafe {
            assert_eq!(ffi::adept_explain(open.0, position.as_ptr(), &mut json), 0, "{}", last_error());
            let found = serde_json::from_slice(CStr::from_ptr(json).to_bytes()).unwrap();
            ffi::adept_free(json);
            found
        };
        let none =
            ["loss_backgammon", "loss_gammon", "win_backgammon"].map(|name| found["classes"][name].as_f64());
        assert_eq!(none, [Some(0.0); 3], "{found}");
        assert!((moves[0].value - told.value).abs() < 1e-6);
        assert!((model.values(&[text]).unwrap()[0] - told.value).abs() < 1e-6);
        for (chances, value) in told.moves.iter().map(|m| (&m.chances, m.explanation.value)) {
            let p: Vec<f32> = chances.0.iter().map(|(_, p)| *p).collect();
            assert_eq!([p[0], p[1], p[5]], [0.0; 3], "{agent}: {p:?}");
            assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{agent}: {p:?}");
            let worth = (p[3] - p[2] + 2.0 * p[4]) / 3.0;
            assert!((worth - value).abs() < 1e-5, "{agent}: {p:?} {value}");
        }
    }
}
/// Positions that one roll decides, with their points for the side to roll: a side that bears off its last checker
/// wins, and wins a gammon if the opponent has borne off none.
const DECIDED: [(&str, usize, f32); 4] = [
    ("1:1 off:14/1:15", 4, 2.0),
    ("10:15/1:1 off:14", 1, -2.0),
    ("1:1 off:14/3:5 off:10", 3, 1.0),
    ("3:5 off:10/1:1 off:14", 2, -1.0),
];

#[test]
fn numbers_of_backgammon_are_those_of_the_right_side() {
    let name = "../backgammon/small-88-24";
    let (model, open) = (Model::open(&published(name)).unwrap(), Open::new(name));
    let scale = model.describe().scale as f32;
    let classes = model.describe().head.classes().unwrap().to_vec();
    for (position, class, points) in DECIDED {
        let value = model.values(&[position]).unwrap()[0];
        assert!((scale * value - points).abs() < 0.15, "{position}: {value}");
        assert_eq!(open.values(&[position]), [value]);
        // Rows are for the player who moved last, so the classes are mirrored.
        let rows = model.encode(&[position]).unwrap();
        // The network's values are close to the table's.
        let alone = model.evaluate(&rows).unwrap()[0];
        assert!((scale * alone + points).abs() < 0.15, "{position}: {alone}");
        let p = model.outcomes(1, &rows.dense, &rows.index).unwrap();
        assert!(p[classes[class].mirror] > 0.9, "{position}: {p:?}");
        let mut of_c = vec![0.0; classes.len()];
        let (dense, index) = (rows.dense.as_ptr(), rows.index.as_ptr());
        // SAFETY: a row of the model, an open model, and a place for its classes.
        let code = unsafe { ffi::adept_outcomes(open.0, dense, index, 1, of_c.as_mut_ptr()) };
        assert_eq!((code, &of_c), (0, &p));
        // With names, they are for the player to move.
        let told = model.explain(position).unwrap();
        let (named, share) = told.chances.0.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!((&**named, told.to_move), (&*classes[class].name, Some(1)));
        assert!(*share > 0.9, "{told:?}");
        // Moves have their value for the player who makes them, and the position after them for the opponent.
        let moves = model.moves(&format!("{position} 21")).unwrap();
        assert!((scale * moves[0].value - points).abs() < 0.15, "{position}: {moves:?}");
        let after = model.values(&[&moves[0].after]).unwrap()[0];
        assert!((after + moves[0].value).abs() < 1e-5, "{position}: {after} {moves:?}");
        if points > 0.0 {
            assert_eq!(scale * moves[0].value, points, "it ends the game");
        }
        assert_eq!(open.choose(&format!("{position} 21")).2, moves[0].value);
    }
}

/// The header promises that 64 bytes hold every backgammon move and 160 every position.
#[test]
fn texts_of_backgammon_have_the_promised_sizes() {
    use adept_builtin::backgammon::Backgammon;
    use adept_game::{Game, Turn};
    let (game, mut rng) = (Backgammon::default(), adept_game::stream(7, "sizes", 0));
    let (mut state, mut actions, mut longest) = (game.start(), Vec::new(), [0; 2]);
    for step in 0..20_000 {
        match game.turn(&state) {
            Turn::Over => state = game.start(),
            Turn::Chance => {
                let chance = game.sample(&state, &mut rng);
                game.apply(&mut state, &chance);
            }
            Turn::Player(_) => {
                game.actions(&state, &mut actions);
                let action = actions[step * 31 % actions.len()];
                let text = game.action_text(&state, &action);
                game.apply(&mut state, &action);
                let after = game.texts().afterstate(&game, &state, Some(&action));
                longest = [longest[0].max(text.len()), longest[1].max(after.len())];
            }
        }
    }
    assert!(longest[0] < 64 && longest[1] < 160, "{longest:?}");
    // The longest texts: all checkers on different points, and four hitting moves.
    let apart = "bar:1 24:1 22:1 20:1 18:1 16:1 14:1 12:1 10:1 8:1 6:1 4:1 3:1 2:1 1:1";
    let position =
        game.position_text(&game.parse_position(&format!("{apart}/{}", "bar:2 off:13")).unwrap().0);
    assert!(2 * position.split('/').next().unwrap().len() + 2 <= 160, "{position}");
    assert!("bar/24* 24/23* 23/22* 22/21*".len() < 64);
}
