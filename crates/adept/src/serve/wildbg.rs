//! The questions of wildbg's HTTP API, so that its clients work unchanged: `/move` and `/eval`.
//!
//! `p1` to `p24` are the points as the side to move numbers them, its checkers positive and those of its opponent negative; `p25`
//! is its bar and `p0` that of its opponent. What is not on the board has been borne off.

use adept_arena::inspect::{MoveValue, PositionValue};
use adept_builtin::backgammon::cube::{CLASSES, Chances, Cube};
use adept_builtin::backgammon::{self, Backgammon, Stage};
use adept_game::Game;
use adept_web::Extra;
use serde::Serialize;
use serde_json::json;

/// `/eval`: the chances of the side that rolls next, and the cube.
pub(super) struct Eval;

/// `/move`: all moves of a roll, best first.
pub(super) struct Moves;

/// Checkers of a side.
const CHECKERS: i32 = 15;

fn position(query: &[(String, String)]) -> Result<String, String> {
    let mut sides = [String::new(), String::new()];
    let mut left = [CHECKERS; 2];
    for (key, text) in query {
        let Some(point) = key.strip_prefix('p').and_then(|point| point.parse::<i32>().ok()) else { continue };
        let count: i32 = text.parse().map_err(|_| format!("{key}={text}: write a whole number"))?;
        let is_place = (0..=25).contains(&point) && (-CHECKERS..=CHECKERS).contains(&count);
        let (side, own) = if count > 0 { (0, point) } else { (1, 25 - if is_place { point } else { 0 }) };
        if !is_place || (count != 0 && own == 0) {
            return Err(format!(
                "{key}={text}: points are p1 to p24, p25 the bar of the side to move, p0 that of its opponent, with at most 15 \
                 checkers"
            ));
        }
        if count == 0 {
            continue;
        }
        left[side] -= count.abs();
        let place = if own == 25 { "bar".to_string() } else { own.to_string() };
        sides[side] += &format!("{place}:{} ", count.abs());
    }
    match left.iter().any(|left| *left < 0) {
        true => Err("a side has 15 checkers".into()),
        false => Ok(format!("{}/{}", sides[0].trim(), sides[1].trim())),
    }
}

/// The chances of the player whom these classes are told to.
fn chances(value: &adept_arena::inspect::Chances) -> Result<Chances, String> {
    let mut classes = [0.0; CLASSES.len()];
    for (p, name) in classes.iter_mut().zip(CLASSES) {
        let found = value.0.iter().find(|(known, _)| &**known == name);
        let (_, found) =
            found.ok_or("the agent knows no chances of gammons: choose another one with agent=NAME")?;
        *p = f64::from(*found);
    }
    Ok(Chances::of_classes(classes))
}

/// The chances of the player who is asked for. Wins include gammons, and gammons backgammons, as in wildbg and gnubg.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Probabilities {
    win: f32,
    win_g: f32,
    win_bg: f32,
    lose_g: f32,
    lose_bg: f32,
}

impl Probabilities {
    fn of(value: &adept_arena::inspect::Chances) -> Self {
        let of = |wanted: &str| value.0.iter().find(|(name, _)| &**name == wanted).map_or(0.0, |(_, p)| *p);
        let (win_bg, lose_bg) = (of("win_backgammon"), of("loss_backgammon"));
        let win_g = of("win_gammon") + win_bg;
        Self { win: of("win") + win_g, win_g, win_bg, lose_g: of("loss_gammon") + lose_bg, lose_bg }
    }
}

/// A checker's move by one die. 25 is the bar, and 0 off.
#[derive(Serialize)]
struct Part {
    from: u8,
    to: u8,
}

#[derive(Serialize)]
struct Move {
    play: Vec<Part>,
    probabilities: Probabilities,
}

#[derive(Serialize)]
struct Answer {
    moves: Vec<Move>,
}

fn written(answer: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(answer).map_err(|error| error.to_string())
}

impl Extra for Eval {
    fn path(&self) -> &'static str {
        "/eval"
    }

    fn game(&self) -> &'static str {
        "backgammon"
    }

    fn position(&self, query: &[(String, String)]) -> Result<String, String> {
        position(query)
    }

    fn answer(&self, value: &PositionValue) -> Result<Vec<u8>, String> {
        if value.to_move.is_none() {
            return Err("the game is over".into());
        }
        let chances = chances(&value.chances)?;
        written(&json!({
            "cube": { "accept": chances.other().takes(), "double": chances.doubles(Cube::Centred, 1) },
            "probabilities": Probabilities::of(&value.chances),
        }))
    }
}

impl Extra for Moves {
    fn path(&self) -> &'static str {
        "/move"
    }

    fn game(&self) -> &'static str {
        "backgammon"
    }

    fn position(&self, query: &[(String, String)]) -> Result<String, String> {
        let die = |name: &str| {
            let die = query.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str());
            die.filter(|die| matches!(die, &"1" | &"2" | &"3" | &"4" | &"5" | &"6"))
                .ok_or_else(|| format!("{name}: write a die, 1 to 6"))
        };
        Ok(format!("{} {}{}", position(query)?, die("die1")?, die("die2")?))
    }

    fn answer(&self, value: &PositionValue) -> Result<Vec<u8>, String> {
        let game = Backgammon::default();
        let read = |text: &str| game.parse_position(text).map(|(state, _)| state).map_err(|e| e.to_string());
        let state = read(&value.position)?;
        let Stage::Move(roll) = state.stage else { return Err("there is no roll".into()) };
        // The text of a position after a move shows the other side first, which rolls next.
        let after = |found: &MoveValue| Ok(read(&found.afterstate)?.position().swapped());
        let afters = value.moves.iter().map(after).collect::<Result<Vec<_>, String>>()?;
        let plays = backgammon::parts(state.position(), roll, &afters);
        let told = |(found, parts): (&MoveValue, Vec<(u8, u8)>)| {
            chances(&found.chances)?;
            let play = parts.into_iter().map(|(from, to)| Part { from, to }).collect();
            Ok(Move { play, probabilities: Probabilities::of(&found.chances) })
        };
        let moves = value.moves.iter().zip(plays).map(told).collect::<Result<Vec<_>, String>>()?;
        written(&Answer { moves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_arena::{inspect, open};
    use serde_json::Value;
    use std::path::Path;

    const OPENING: &str = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2";

    fn query(text: &str) -> Vec<(String, String)> {
        let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (key.into(), value.into()));
        text.split('&').filter_map(pair).collect()
    }

    fn answer(extra: &dyn Extra, value: &PositionValue) -> Result<Value, String> {
        Ok(serde_json::from_slice(&extra.answer(value)?).unwrap())
    }

    /// What `small-88-24` thinks of the position that a query describes.
    fn thought(text: String) -> PositionValue {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24");
        let game = Backgammon::default();
        let (mut bound, _) = open::open(&game, &folder, false).unwrap();
        let at = inspect::read(&game, &[&text]).unwrap().pop().unwrap();
        inspect::inspect(&game, &mut bound, &at, text, inspect::Detail::default()).unwrap()
    }

    #[test]
    fn queries_are_positions() {
        let game = Backgammon::default();
        let read = |text: &str| game.parse_position(text).unwrap().0;
        let opening = Moves.position(&query(&format!("die1=3&die2=1&{OPENING}"))).unwrap();
        assert_eq!(read(&opening), read("24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31"));
        let bars = Eval.position(&query("p25=1&p2=3&p0=-2&p24=-1&other=4")).unwrap();
        assert_eq!(read(&bars), read("bar:1 2:3/bar:2 1:1"));
        for (faulty, part) in [
            ("p26=1", "p1 to p24"),
            ("p0=1", "p1 to p24"),
            ("p25=-1", "p1 to p24"),
            ("p3=-2147483648", "p1 to p24"),
            ("p3=two", "whole number"),
            ("p3=9&p4=7", "15 checkers"),
        ] {
            let error = Eval.position(&query(faulty)).unwrap_err();
            assert!(error.contains(part), "{faulty}: {error}");
        }
        assert!(Moves.position(&query(&format!("die1=7&die2=1&{OPENING}"))).unwrap_err().contains("die1"));
        assert!(Moves.position(&query(OPENING)).unwrap_err().contains("die1"));
    }

    #[test]
    fn moves_are_told_die_by_die_with_chances_that_include_gammons() {
        let value = thought(Moves.position(&query(&format!("die1=3&die2=1&{OPENING}"))).unwrap());
        let answer = answer(&Moves, &value).unwrap();
        assert_eq!(answer["moves"].as_array().unwrap().len(), 16);
        let best = &answer["moves"][0];
        assert_eq!(best["play"], json!([{ "from": 8, "to": 5 }, { "from": 6, "to": 5 }]));
        let of = |name: &str| best["probabilities"][name].as_f64().unwrap();
        assert!(of("win") > of("winG") && of("winG") > of("winBg") && of("loseG") > of("loseBg"));
        let worth = 2.0 * of("win") - 1.0 + of("winG") + of("winBg") - of("loseG") - of("loseBg");
        assert!((worth - value.moves[0].equity.unwrap()).abs() < 1e-5, "{worth}");
    }

    #[test]
    fn bars_and_checkers_that_leave_have_their_numbers() {
        let played = |text: &str| {
            let answer = answer(&Moves, &thought(Moves.position(&query(text)).unwrap())).unwrap();
            answer["moves"][0]["play"].clone()
        };
        assert_eq!(
            played("die1=6&die2=5&p6=1&p5=1&p24=-2"),
            json!([{ "from": 6, "to": 0 }, { "from": 5, "to": 0 }])
        );
        // The first die enters, and nothing else can move.
        assert_eq!(played("die1=6&die2=6&p25=1&p13=-2&p7=-2"), json!([{ "from": 25, "to": 19 }]));
        assert_eq!(played("die1=6&die2=6&p25=1&p19=-2"), json!([]));
    }

    /// Positions whose result is certain, or nearly so, by the number of rolls that each side needs.
    #[test]
    fn the_side_to_move_is_told_its_own_chances_and_its_opponent_whether_to_take() {
        let ask = |_: &Eval, text: &str| answer(&Eval, &thought(Eval.position(&query(text)).unwrap()));
        // What the side to roll does in the opening, where both are equal.
        let opening = ask(&Eval, OPENING).unwrap();
        assert_eq!(opening["cube"], json!({ "accept": true, "double": false }));
        for (text, win, win_g, lose_g, accept) in [
            // One checker on the ace point: the side to roll bears it off. Its opponent has borne off none.
            ("p1=1&p24=-15", 1.0, 1.0, 0.0, false),
            // The same, and its opponent has borne off ten.
            ("p1=1&p24=-5", 1.0, 0.0, 0.0, false),
            // The opponent has one checker on its ace point and bears it off after this roll, which takes home none of ours.
            ("p13=15&p24=-1", 0.0, 0.0, 1.0, true),
            // The same, but ours are home: this roll bears off at least two.
            ("p1=15&p24=-1", 0.0, 0.0, 0.0, true),
            // 9 pips against 185: the opponent cannot even bring its checkers home in time.
            ("p1=5&p2=2&p13=-10&p12=-5", 1.0, 1.0, 0.0, false),
        ] {
            let answer = ask(&Eval, text).unwrap();
            for (name, expected) in [("win", win), ("winG", win_g), ("loseG", lose_g)] {
                let found = answer["probabilities"][name].as_f64().unwrap();
                assert!((found - expected).abs() < 0.1, "{text}: {name} {answer}");
            }
            // Who is sure of a gammon plays on for it, and who loses does not double.
            let sure = json!({ "accept": accept, "double": false });
            if win_g + lose_g > 0.0 || win == 0.0 {
                assert_eq!(answer["cube"], sure, "{text}: {answer}");
            }
            assert_eq!(answer["cube"]["accept"], accept, "{text}: {answer}");
        }
        assert!(ask(&Eval, "p24=-1").unwrap_err().contains("over"));
    }

    /// The classes themselves, without a network.
    #[test]
    fn the_cube_is_turned_by_the_chances_of_the_side_to_move() {
        let told = |classes: [f32; 6]| {
            let mut value = thought(Eval.position(&query(OPENING)).unwrap());
            let named = CLASSES.into_iter().zip(classes).map(|(name, p)| (name.into(), p));
            value.chances = adept_arena::inspect::Chances(named.collect());
            let answer: Value = serde_json::from_slice(&Eval.answer(&value).unwrap()).unwrap();
            answer["cube"].clone()
        };
        for (classes, double, accept) in [
            // A certain single win leaves nothing to gain and is never taken.
            ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0], false, false),
            // A strong threat, just below the point at which the opponent drops.
            ([0.0, 0.0, 0.25, 0.75, 0.0, 0.0], true, true),
            // A few gammons more: drop.
            ([0.0, 0.0, 0.28, 0.5, 0.22, 0.0], true, false),
            // Too good to double.
            ([0.0, 0.0, 0.05, 0.15, 0.7, 0.1], false, false),
            // The mirror images of the last three: the side to move is behind, and a double of its own would be taken.
            ([0.0, 0.0, 0.75, 0.25, 0.0, 0.0], false, true),
            ([0.0, 0.22, 0.5, 0.28, 0.0, 0.0], false, true),
            ([0.1, 0.7, 0.15, 0.05, 0.0, 0.0], false, true),
        ] {
            assert_eq!(told(classes), json!({ "accept": accept, "double": double }), "{classes:?}");
        }
    }
}
