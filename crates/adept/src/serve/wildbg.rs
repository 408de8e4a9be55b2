//! The questions of wildbg's HTTP API, so that its clients work unchanged: `/move` and `/eval`.
//!
//! `p1` to `p24` are the points as the side to move numbers them, its checkers positive and those of its opponent negative; `p25`
//! is its bar and `p0` that of its opponent. What is not on the board has been borne off.

use adept_arena::inspect::PositionValue;
use adept_builtin::backgammon::cube::{Chances, Cube};
use adept_builtin::backgammon::{self, Action, Backgammon, Stage};
use adept_game::Game;
use adept_web::Extra;
use serde_json::{Value, json};

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

fn chances(value: &adept_arena::inspect::Chances) -> Result<Chances, String> {
    let of = |name: &str| value.0.iter().find(|(known, _)| known == name).map(|(_, p)| f64::from(*p));
    let names = ["win_backgammon", "win_gammon", "win", "loss", "loss_gammon", "loss_backgammon"];
    let all: Option<Vec<f64>> = names.into_iter().map(of).collect();
    match all.as_deref() {
        Some(&[wb, wg, w, l, lg, lb]) => Ok(Chances::of_classes([wb, wg, w, l, lg, lb])),
        _ => Err("the agent knows no chances of gammons: choose another one with agent=NAME".into()),
    }
}

/// Wins include gammons, and gammons backgammons, as in wildbg and gnubg.
fn shown(value: &adept_arena::inspect::Chances) -> Value {
    let of = |names: &[&str]| -> f32 {
        value.0.iter().filter(|(known, _)| names.contains(&&**known)).map(|(_, p)| p).sum()
    };
    json!({
        "win": of(&["win", "win_gammon", "win_backgammon"]),
        "winG": of(&["win_gammon", "win_backgammon"]),
        "winBg": of(&["win_backgammon"]),
        "loseG": of(&["loss_gammon", "loss_backgammon"]),
        "loseBg": of(&["loss_backgammon"]),
    })
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

    fn answer(&self, value: &PositionValue) -> Result<Value, String> {
        if value.to_move.is_none() {
            return Err("the game is over".into());
        }
        let chances = chances(&value.chances)?;
        Ok(json!({
            "cube": { "accept": chances.other().takes(), "double": chances.doubles(Cube::Centred, 1) },
            "probabilities": shown(&value.chances),
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

    fn answer(&self, value: &PositionValue) -> Result<Value, String> {
        let game = Backgammon::default();
        let (state, _) = game.parse_position(&value.position).map_err(|e| e.to_string())?;
        let Stage::Move(roll) = state.stage else { return Err("there is no roll".into()) };
        let moves = value.moves.iter().map(|found| {
            chances(&found.chances)?;
            let action = game.parse_action(&state, &found.action).map_err(|e| e.to_string())?;
            let Action::Move(after) = action else { return Err("it is not a move".to_string()) };
            let play: Vec<Value> =
                backgammon::die_by_die(state.position(), roll, after).split_whitespace().map(step).collect();
            Ok(json!({ "play": play, "probabilities": shown(&found.chances) }))
        });
        Ok(json!({ "moves": moves.collect::<Result<Vec<Value>, String>>()? }))
    }
}

/// A checker's move by one die, such as `bar/22` or `6/off`.
fn step(text: &str) -> Value {
    let place = |text: &str| match text.trim_end_matches('*') {
        "bar" => 25,
        "off" => 0,
        point => point.parse().unwrap_or(0),
    };
    let (from, to) = text.split_once('/').unwrap_or((text, "off"));
    json!({ "from": place(from), "to": place(to) })
}
