//! Cube and score: checkpoints of backgammon open for the rule sets with the doubling cube. The figures are those of
//! `adept value --game`.

use adept_embed::{Error, Model, Reading, ffi};
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr;

fn network() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24")
}

fn open(game: &str) -> Model {
    Model::open_as(game, &network()).unwrap()
}

/// A match to 7 at 2 to 4, before the roll of the player with 2 points, with the cube in the middle.
const MATCH: &str = "XGID=-aA-CCC-B---cC----b-dc-b--:0:0:1:00:2:4:0:7:10";
/// The same position at 4 to 2.
const LEADING: &str = "XGID=-aA-CCC-B---cC----b-dc-b--:0:0:1:00:4:2:0:7:10";
/// The same position in a money game, in which the side to roll owns a cube of 2.
const MONEY: &str = "XGID=-aA-CCC-B---cC----b-dc-b--:1:1:1:00:0:0:1:0:10";

/// The names of all figures, as in the header, and those of these positions; NaN where there is none.
const NAMES: [&str; 8] = [
    "cubeless",
    "no double",
    "double, take",
    "double, pass",
    "win the game",
    "win the match",
    "double from",
    "pass from",
];
const OF_MATCH: [f64; 8] = [0.69572, 0.92767, 1.35220, 1.0, 0.79576, 0.4285, 0.63842, 0.72817];
const OF_LEADING: [f64; 8] = [0.75428, 0.93417, 1.25816, 1.0, 0.79576, 0.74359, 0.69413, 0.75349];
const OF_MONEY: [f64; 8] = [0.72612, 0.93653, 1.31335, 1.0, 0.79576, f64::NAN, 0.67692, 0.73697];

fn assert_figures(found: [f64; 8], expected: [f64; 8], position: &str) {
    let is_near = |(a, b): (f64, f64)| if b.is_nan() { a.is_nan() } else { (a - b).abs() < 1e-4 };
    assert!(found.into_iter().zip(expected).all(is_near), "{position}: {found:?} {expected:?}");
}

fn figures(reading: &Reading) -> [f64; 8] {
    assert!(reading.figures.iter().all(|(name, _)| NAMES.contains(name)), "{reading:?}");
    let figure = |name| reading.figures.iter().find(|(known, _)| *known == name);
    NAMES.map(|name| figure(name).map_or(f64::NAN, |(_, figure)| *figure))
}

#[test]
fn positions_have_the_figures_of_the_cube_at_the_score() {
    for (game, position, expected) in [
        ("backgammon:match-7", MATCH, OF_MATCH),
        ("backgammon:match-7", LEADING, OF_LEADING),
        // The same as the first: player 2 rolls, and gnubg's Position ID and Match ID, which may name either player.
        ("backgammon:match-7", "XGID=--B-CD-B----cC---b-ccc-aA-:0:0:-1:00:4:2:0:7:10", OF_MATCH),
        ("backgammon:match-7", "5p6BAyBydwYHAA:MAHgACAAIAAA", OF_MATCH),
        ("backgammon:match-7", "5p6BAyBydwYHAA:cAngAEAAEAAA", OF_MATCH),
        ("backgammon:money", MONEY, OF_MONEY),
        ("backgammon:money", "5p6BAyBydwYHAA:AQEAAAAAAAAA", OF_MONEY),
    ] {
        let model = open(game);
        assert_eq!(model.describe().game, game);
        let reading = model.explain(position).unwrap().reading.unwrap();
        assert_figures(figures(&reading), expected, position);
        assert_eq!(reading.advice, "double, pass", "{position}");
        assert_eq!(model.choose(position).unwrap().unwrap().action, "double", "{position}");
    }
    // The opponent owns the cube: nothing to decide.
    let theirs =
        open("backgammon:money").explain(&MONEY.replace(":1:1:1:", ":1:-1:1:")).unwrap().reading.unwrap();
    let [none, of] = [f64::NAN, 0.72612];
    assert_figures(figures(&theirs), [of, 0.65667, none, none, 0.79576, none, none, none], "opponent's cube");
    assert_eq!(theirs.advice, "roll");
}

#[test]
fn values_and_moves_count_cube_and_score() {
    let (of_match, of_money) = (open("backgammon:match-7"), open("backgammon:money"));
    let of_value = |model: &Model, position: &str| model.values(&[position]).unwrap()[0];
    // Chances to win the match on a scale from −1 to 1; points as a share of three times a cube of 64.
    assert_eq!((of_match.describe().scale, of_money.describe().scale), (1.0, 192.0));
    for (model, position, value) in [
        (&of_match, MATCH.into(), 2.0 * 0.4285 - 1.0),
        (&of_match, LEADING.into(), 2.0 * 0.74359 - 1.0),
        (&of_match, MATCH.replace(":00:", ":31:"), -0.146_848),
        (&of_match, LEADING.replace(":00:", ":31:"), 0.486_087),
        // A cash of a cube of 2.
        (&of_money, MONEY.into(), 2.0 / 192.0),
        (&of_money, MONEY.replace(":00:", ":42:"), 0.009_500_72),
    ] {
        let found = of_value(model, &position);
        assert!((found - value).abs() < 1e-5, "{position}: {found}");
        let moves = model.moves(&position).unwrap();
        assert!((moves[0].value - found).abs() < 1e-6, "{position}: {moves:?}");
        if moves[0].action == "double" {
            // The opponent answers.
            let after = of_value(model, &moves[0].after);
            assert!((after + found).abs() < 1e-5, "{position}: {after} {found}");
        }
    }
    let action = |text: &str| of_match.moves(&MATCH.replace(":00:", text)).unwrap()[0].action.clone();
    assert_eq!([action(":31:"), action(":D:")], ["4/1 2/1*", "drop"]);
    let answer = of_match.explain(&MATCH.replace(":00:", ":D:")).unwrap();
    assert_eq!((answer.to_move, answer.reading.unwrap().advice), (Some(2), "pass"));
}

/// Rows are those of the network without the cube, for the opponent of the side to roll, also while a double waits for its answer.
#[test]
fn rows_are_without_the_cube() {
    let (with, without) = (open("backgammon:match-7"), Model::open(&network()).unwrap());
    let wanted = without.encode(&["5p6BAyBydwYHAA"]).unwrap();
    for position in [MATCH.into(), LEADING.into(), MATCH.replace(":00:", ":D:"), format!("{MATCH} roll")] {
        let rows = with.encode(&[&position]).unwrap();
        assert_eq!(rows.dense, wanted.dense, "{position}");
        assert_eq!(with.evaluate(&rows).unwrap(), without.evaluate(&wanted).unwrap());
    }
}

#[test]
fn a_search_plays_with_the_cube_and_has_no_reading() {
    let name = format!("search:2:{}", network().display());
    let model = Model::open_as("backgammon:match-7", name.as_ref()).unwrap();
    assert_eq!(model.describe().search.as_deref(), Some("2"));
    let told = model.explain(MATCH).unwrap();
    assert!(told.reading.is_none() && told.search.is_some_and(|search| search.plies == 2));
    assert_eq!(told.moves[0].action, "double");
}

#[test]
fn rule_sets_that_a_checkpoint_does_not_play_are_refused() {
    let bearoff = network().join("../../bearoff/plain-10");
    for (game, path, part) in [
        ("backgammon:match-99", network(), "match to 1 to 25 points"),
        ("chess", network(), "no built-in game named `chess`"),
        ("tictactoe", network(), "expected `tictactoe`"),
        ("hypergammon:money", network(), "expected `hypergammon:money`"),
        ("backgammon:money", bearoff, "expected `backgammon:money`"),
        // It gives values alone.
        ("hypergammon:match-5", network().join("../../hypergammon/td-128-32"), "no probabilities of results"),
    ] {
        let error = Model::open_as(game, &path).unwrap_err();
        assert!(matches!(&error, Error::Game(message) if message.contains(part)), "{game}: {error}");
    }
    // Its own rule set is one of them.
    assert_eq!(open("backgammon").describe(), Model::open(&network()).unwrap().describe());
    let other = open("backgammon:match-7").values(&[MONEY]).unwrap_err();
    assert!(matches!(&other, Error::Position(message) if message.contains("backgammon:money")), "{other}");
}

/// A model of the C interface.
struct Opened(*mut ffi::Handle);

impl Opened {
    fn new(path: &Path, game: &str) -> Result<Self, i32> {
        let [path, game] = [path.to_str().unwrap(), game].map(|text| CString::new(text).unwrap());
        let mut handle = ptr::null_mut();
        // SAFETY: texts that end in a zero byte, and a place for the handle.
        match unsafe { ffi::adept_open_as(path.as_ptr(), game.as_ptr(), &mut handle) } {
            0 => Ok(Self(handle)),
            code => Err(code),
        }
    }

    fn reading(&self, position: &str) -> Result<([f64; 8], String), i32> {
        let (position, mut figures, mut advice) = (CString::new(position).unwrap(), [0.0; 8], [1; 32]);
        let (to, text) = (figures.as_mut_ptr(), advice.as_mut_ptr());
        // SAFETY: an open model, a text that ends in a zero byte, and buffers of the sizes that are passed.
        let code = unsafe { ffi::adept_reading(self.0, position.as_ptr(), to, 8, text, 32) };
        if code != 0 {
            return Err(code);
        }
        // SAFETY: the buffer ends in a zero byte after the call.
        Ok((figures, unsafe { CStr::from_ptr(text) }.to_str().unwrap().into()))
    }
}

impl Drop for Opened {
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
fn programs_in_c_get_the_same_figures() {
    for (place, name) in NAMES.into_iter().enumerate() {
        // SAFETY: names live as long as the program.
        assert_eq!(unsafe { CStr::from_ptr(ffi::adept_figure_name(place)) }.to_str(), Ok(name));
    }
    assert!(ffi::adept_figure_name(NAMES.len()).is_null());
    for (game, position, expected) in [
        ("backgammon:match-7", MATCH, OF_MATCH),
        ("backgammon:match-7", LEADING, OF_LEADING),
        ("backgammon:money", MONEY, OF_MONEY),
    ] {
        let (model, wanted) = (Opened::new(&network(), game).unwrap(), open(game));
        let (found, advice) = model.reading(position).unwrap();
        assert_figures(found, expected, position);
        let reading = wanted.explain(position).unwrap().reading.unwrap();
        assert_figures(found, figures(&reading), position);
        assert_eq!(advice, reading.advice);
        // Without a text, and the first figures alone.
        let (text, mut first) = (CString::new(position).unwrap(), [7.0; 3]);
        // SAFETY: room for two figures, and no room for a text.
        let code =
            unsafe { ffi::adept_reading(model.0, text.as_ptr(), first.as_mut_ptr(), 2, ptr::null_mut(), 0) };
        assert_eq!((code, first[..2].to_vec(), first[2]), (0, found[..2].to_vec(), 7.0));
        // A roll is to be played: moves have values, and the cube has none.
        assert_eq!(model.reading(&position.replace(":00:", ":31:")), Err(3));
        assert!(last_error().contains("before a roll"), "{}", last_error());
        let mut short: [c_char; 4] = [1; 4];
        // SAFETY: a text buffer of the size that is passed, and room for no figures.
        let code =
            unsafe { ffi::adept_reading(model.0, text.as_ptr(), ptr::null_mut(), 0, short.as_mut_ptr(), 4) };
        assert_eq!((code, short[3]), (5, 0));
    }
    assert_eq!(Opened::new(&network(), "tictactoe").err(), Some(2));
    assert!(last_error().contains("expected `tictactoe`"), "{}", last_error());
    // Without the cube there are no figures of it.
    assert_eq!(Opened::new(&network(), "backgammon").unwrap().reading("5p6BAyBydwYHAA"), Err(3));
    let (path, mut handle) = (CString::new(network().to_str().unwrap()).unwrap(), ptr::null_mut());
    let position = CString::new(MATCH).unwrap();
    // SAFETY: null pointers are detected.
    unsafe {
        assert_eq!(ffi::adept_open_as(path.as_ptr(), ptr::null(), &mut handle), 1);
        assert!(handle.is_null());
        let mut figure = 0.0;
        let code = ffi::adept_reading(ptr::null(), position.as_ptr(), &mut figure, 1, ptr::null_mut(), 0);
        assert_eq!(code, 1);
    }
}
