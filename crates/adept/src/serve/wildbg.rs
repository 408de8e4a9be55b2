//! Endpoints of wildbg's HTTP API, so that its clients work unchanged: `/move` and `/eval`.
//!
//! `p1` to `p24` are the points in the numbering of the side to move, its checkers positive and its opponent's
//! negative; `p25` is its bar and `p0` its opponent's. Missing checkers have been borne off.
//!
//! All probabilities are for the side to move, before its roll in `/eval` and after each of its moves in `/move`.
//! `double` says whether that side should double, and `accept` whether its opponent should take: in a money game with the cube
//! in the middle, or at the score and with the cube that optional parameters of `/eval` name.

use adept_arena::inspect::{MoveValue, PositionValue};
use adept_builtin::backgammon::cube::{CLASSES, Chances, CubeModel, CubeOwner, HIGHEST, Scoring, Terms};
use adept_builtin::backgammon::{self, Backgammon, LONGEST_MATCH, Stage, Stakes};
use adept_game::Game;
use adept_web::Extra;
use serde::Serialize;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ObjectBuilder, OpenApi as Document, Required, Type};
use utoipa::{IntoParams, OpenApi, ToSchema};

/// `/eval`: the probabilities of the side to roll, whether it doubles, and whether its opponent takes.
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

/// Converts the classes of a player to the chances of the same player.
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

/// The chances of the side to move. Wins include gammons, and gammons include backgammons, as in wildbg and gnubg.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Probabilities {
    /// Probability of winning.
    #[schema(minimum = 0, maximum = 1)]
    win: f32,
    /// Probability of winning a gammon or a backgammon.
    #[schema(minimum = 0, maximum = 1)]
    win_g: f32,
    /// Probability of winning a backgammon.
    #[schema(minimum = 0, maximum = 1)]
    win_bg: f32,
    /// Probability of losing a gammon or a backgammon.
    #[schema(minimum = 0, maximum = 1)]
    lose_g: f32,
    /// Probability of losing a backgammon.
    #[schema(minimum = 0, maximum = 1)]
    lose_bg: f32,
}

/// Advice for the cube.
#[derive(Serialize, ToSchema)]
struct CubeAdvice {
    /// Whether the side to move should double; false if it is too good to double, or may not double.
    double: bool,
    /// Whether its opponent should take; true if the side may not double.
    accept: bool,
}

/// The answer of `/eval`.
#[derive(Serialize, ToSchema)]
struct Evaluation {
    cube: CubeAdvice,
    probabilities: Probabilities,
}

impl Probabilities {
    fn new(value: &adept_arena::inspect::Chances) -> Self {
        let of = |wanted: &str| value.0.iter().find(|(name, _)| &**name == wanted).map_or(0.0, |(_, p)| *p);
        let (win_bg, lose_bg) = (of("win_backgammon"), of("loss_backgammon"));
        let win_g = of("win_gammon") + win_bg;
        Self { win: of("win") + win_g, win_g, win_bg, lose_g: of("loss_gammon") + lose_bg, lose_bg }
    }
}

/// A checker's move by one die. 25 is the bar, and 0 off.
#[derive(Serialize, ToSchema)]
struct Part {
    #[schema(minimum = 1, maximum = 25)]
    from: u8,
    #[schema(minimum = 0, maximum = 24)]
    to: u8,
}

/// A move, with the probabilities of the side that makes it.
#[derive(Serialize, ToSchema)]
struct Play {
    /// The moves by single die, in the order of play; empty if no move is possible.
    play: Vec<Part>,
    probabilities: Probabilities,
}

/// The answer of `/move`: all moves, best first.
#[derive(Serialize, ToSchema)]
struct Plays {
    moves: Vec<Play>,
}

/// The query parameters of a position.
struct Points;

impl IntoParams for Points {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let whole = |least: i32, most: i32| {
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least)).maximum(Some(most))
        };
        let start = [(1, -2), (6, 5), (8, 3), (12, -5), (13, 5), (17, -3), (19, -5), (24, 2)];
        let point = |point: i32| {
            let (schema, about) = match point {
                0 => (whole(-CHECKERS, 0), "Bar of the opponent: its checkers, negative"),
                25 => (whole(0, CHECKERS), "Bar of the side to move"),
                _ => (
                    whole(-CHECKERS, CHECKERS),
                    "Own checkers, or those of the opponent as a negative number",
                ),
            };
            let example = start.iter().find(|(at, _)| *at == point).map(|(_, checkers)| (*checkers).into());
            ParameterBuilder::new()
                .name(format!("p{point}"))
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(about))
                .schema(Some(schema))
                .example(example)
                .build()
        };
        (0..=25).map(point).collect()
    }
}

/// Whether the match is to one point, so that only the probability of winning counts. wildbg supports this and money
/// games.
fn is_for_one_point(query: &[(String, String)]) -> Result<bool, String> {
    let away = |name: &str| query.iter().find(|(key, _)| key == name).map_or("0", |(_, points)| points);
    match [away("x_away"), away("o_away")] {
        ["0", "0"] => Ok(false),
        ["1", "1"] => Ok(true),
        [x, o] => Err(format!(
            "x_away={x} and o_away={o}: only money games, 0 and 0, and games for one point, 1 and 1, are answered"
        )),
    }
}

/// The cube and the score of a query, seen by the side to move. By default a money game without the Jacoby rule, with the cube in the
/// middle.
fn terms(query: &[(String, String)]) -> Result<Terms, String> {
    let text = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str());
    let number = |name: &str, usual: u8, most: u8| match text(name) {
        None => Ok(usual),
        Some(text) => {
            let number = text.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| format!("{name}={text}: write a whole number up to {most}"))
        }
    };
    let flag = |name: &str| match text(name) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(text) => Err(format!("{name}={text}: write true or false")),
    };
    let (player, owner) = match text("cube_owner") {
        None => (None, CubeOwner::Centred),
        Some("x") => (Some(0), CubeOwner::Own),
        Some("o") => (Some(1), CubeOwner::Theirs),
        Some(text) => {
            return Err(format!("cube_owner={text}: write x for the side to move, or o for its opponent"));
        }
    };
    let away = [number("x_away", 0, LONGEST_MATCH)?, number("o_away", 0, LONGEST_MATCH)?];
    let (crawford, jacoby) = (flag("crawford")?, flag("jacoby")?);
    match away {
        [0, 0] if crawford => return Err("crawford=true: money games have no Crawford game".into()),
        [0, 0] => {}
        [0, _] | [_, 0] => {
            let [x, o] = away;
            return Err(format!(
                "x_away={x} and o_away={o}: in a match both sides need a point at least; a money game has 0 and 0"
            ));
        }
        _ if jacoby => return Err("jacoby=true: the Jacoby rule is for money games".into()),
        _ => {}
    }
    let stakes = Stakes::new(number("cube", 1, HIGHEST as u8)?.into(), player, away, crawford)?;
    let scoring = match stakes.away() {
        None => Scoring::Money { jacoby },
        Some(away) => Scoring::Match { away: away.map(u32::from), crawford: stakes.is_crawford() },
    };
    Ok(Terms { cube: stakes.cube(), owner, scoring })
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
        terms(query)?;
        position(query)
    }

    fn document(&self) -> Document {
        #[derive(OpenApi)]
        #[openapi(paths(evaluation))]
        struct Described;
        Described::openapi()
    }

    fn answer(&self, query: &[(String, String)], value: &PositionValue) -> Result<Vec<u8>, String> {
        written(&evaluation(value, terms(query)?)?)
    }
}

/// Returns the probabilities of the side to roll, and cube advice, in wildbg's format. The first backgammon network on
/// the list answers, or the one that `agent` names. The advice is for a money game with the cube in the middle, unless
/// parameters name a score or a cube, which wildbg does not have. Impossible ones are refused.
#[utoipa::path(get, path = "/eval",
    params(
        Points,
        ("x_away" = Option<u8>, Query, maximum = 25, description = "Points that the side to move needs to win the match; 0, the default, for money"),
        ("o_away" = Option<u8>, Query, maximum = 25, description = "Points that its opponent needs: the same"),
        ("cube" = Option<u8>, Query, minimum = 1, maximum = 64, description = "Value of the cube, a power of 2; 1 by default"),
        ("cube_owner" = Option<String>, Query, description = "Owner of a cube above 1: x for the side to move, o for its opponent"),
        ("crawford" = Option<bool>, Query, description = "Whether this is the Crawford game of a match; false by default: the game is before or after it"),
        ("jacoby" = Option<bool>, Query, description = "Whether gammons of a money game count 1 point while the cube is in the middle; false by default"),
        ("agent" = Option<String>, Query, description = "An agent that gives chances of gammons"),
    ),
    responses((status = 200, description = "Probabilities, and what to do with the cube", body = Evaluation)))]
fn evaluation(value: &PositionValue, terms: Terms) -> Result<Evaluation, String> {
    if value.to_move.is_none() {
        return Err("the game is over".into());
    }
    let position =
        Backgammon::default().parse_position(&value.position).map_err(|e| e.to_string())?.0.position();
    let values = CubeModel::usual().values(position, chances(&value.chances)?, terms);
    Ok(Evaluation {
        cube: CubeAdvice { double: values.doubles(), accept: values.takes() },
        probabilities: Probabilities::new(&value.chances),
    })
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
        is_for_one_point(query)?;
        Ok(format!("{} {}{}", position(query)?, die("die1")?, die("die2")?))
    }

    fn document(&self) -> Document {
        #[derive(OpenApi)]
        #[openapi(paths(plays))]
        struct Described;
        Described::openapi()
    }

    fn answer(&self, query: &[(String, String)], value: &PositionValue) -> Result<Vec<u8>, String> {
        written(&plays(value, is_for_one_point(query)?)?)
    }
}

/// Returns all moves of a roll, best first, in wildbg's format. The first backgammon network on the list answers, or
/// the one that `agent` names. In a match to one point, moves are ordered by the probability of winning, in money games
/// by points.
#[utoipa::path(get, path = "/move",
    params(
        ("die1" = u8, Query, minimum = 1, maximum = 6, example = 3),
        ("die2" = u8, Query, minimum = 1, maximum = 6, example = 1),
        ("x_away" = Option<u8>, Query, maximum = 1, description = "Points that the side to move needs: 1 in a game for one point, 0 for money"),
        ("o_away" = Option<u8>, Query, maximum = 1, description = "Points that its opponent needs: the same"),
        Points,
        ("agent" = Option<String>, Query, description = "An agent that gives chances of gammons"),
    ),
    responses((status = 200, description = "The moves", body = Plays)))]
fn plays(value: &PositionValue, for_one_point: bool) -> Result<Plays, String> {
    let game = Backgammon::default();
    let read = |text: &str| game.parse_position(text).map(|(state, _)| state).map_err(|e| e.to_string());
    let state = read(&value.position)?;
    let Stage::Move(roll) = state.stage else { return Err("there is no roll".into()) };
    // The text of a position after a move shows the opponent first, who rolls next.
    let after = |found: &MoveValue| Ok(read(&found.afterstate)?.position().swapped());
    let afters = value.moves.iter().map(after).collect::<Result<Vec<_>, String>>()?;
    let plays = backgammon::parts(state.position(), roll, &afters);
    let told = |(found, parts): (&MoveValue, Vec<(u8, u8)>)| {
        chances(&found.chances)?;
        let play = parts.into_iter().map(|(from, to)| Part { from, to }).collect();
        Ok(Play { play, probabilities: Probabilities::new(&found.chances) })
    };
    let mut moves = value.moves.iter().zip(plays).map(told).collect::<Result<Vec<_>, String>>()?;
    if for_one_point {
        moves.sort_by(|a, b| b.probabilities.win.total_cmp(&a.probabilities.win));
    }
    Ok(Plays { moves })
}

#[cfg(test)]
#[path = "../../../web/tests/it/schema.rs"]
mod schema;

#[cfg(test)]
mod tests {
    use super::*;
    use adept_arena::{inspect, open};
    use serde_json::{Value, json};
    use std::path::Path;

    const OPENING: &str = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2";

    fn query(text: &str) -> Vec<(String, String)> {
        let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (key.into(), value.into()));
        text.split('&').filter_map(pair).collect()
    }

    /// The answer to a query with the values of `small-88-24`.
    fn ask(extra: &dyn Extra, text: &str) -> Result<Value, String> {
        let query = query(text);
        let value = thought(extra.position(&query)?);
        Ok(serde_json::from_slice(&extra.answer(&query, &value)?).unwrap())
    }

    /// The values of `small-88-24` for the position of a query.
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
        let text = format!("die1=3&die2=1&{OPENING}");
        let value = thought(Moves.position(&query(&text)).unwrap());
        let answer = ask(&Moves, &text).unwrap();
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
        let played = |text: &str| ask(&Moves, text).unwrap()["moves"][0]["play"].clone();
        assert_eq!(
            played("die1=6&die2=5&p6=1&p5=1&p24=-2"),
            json!([{ "from": 6, "to": 0 }, { "from": 5, "to": 0 }])
        );
        // The first die enters, and no other move is possible.
        assert_eq!(played("die1=6&die2=6&p25=1&p13=-2&p7=-2"), json!([{ "from": 25, "to": 19 }]));
        assert_eq!(played("die1=6&die2=6&p25=1&p19=-2"), json!([]));
    }

    /// Positions with a certain or nearly certain result, by the number of rolls that each side needs.
    #[test]
    fn the_side_to_move_is_told_its_own_chances_and_its_opponent_whether_to_take() {
        // The opening, where both sides are equal.
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
            // A side with a certain gammon plays on for it, and a losing side does not double.
            let sure = json!({ "accept": accept, "double": false });
            if win_g + lose_g > 0.0 || win == 0.0 {
                assert_eq!(answer["cube"], sure, "{text}: {answer}");
            }
            assert_eq!(answer["cube"]["accept"], accept, "{text}: {answer}");
        }
        assert!(ask(&Eval, "p24=-1").unwrap_err().contains("over"));
    }

    /// Cube advice at the opening from given classes, without a network.
    fn told(classes: [f32; 6], parameters: &str) -> Value {
        let mut value = thought(Eval.position(&query(OPENING)).unwrap());
        let named = CLASSES.into_iter().zip(classes).map(|(name, p)| (name.into(), p));
        value.chances = adept_arena::inspect::Chances(named.collect());
        let answer = Eval.answer(&query(parameters), &value).unwrap();
        serde_json::from_slice::<Value>(&answer).unwrap()["cube"].clone()
    }

    #[test]
    fn the_cube_is_turned_by_the_chances_of_the_side_to_move() {
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
            assert_eq!(told(classes, ""), json!({ "accept": accept, "double": double }), "{classes:?}");
        }
        // Under the Jacoby rule gammons count after a double only: reasons to double, and not to play on.
        for (classes, accept, without) in [
            ([0.0, 0.1, 0.26, 0.44, 0.2, 0.0], true, false),
            ([0.0, 0.0, 0.2, 0.45, 0.35, 0.0], false, false),
        ] {
            let advice = |double: bool| json!({ "accept": accept, "double": double });
            assert_eq!(told(classes, "jacoby=true"), advice(true), "{classes:?}");
            assert_eq!(told(classes, "jacoby=false"), advice(without), "{classes:?}");
            // Not where the cube has been turned.
            let turned = "jacoby=true&cube=2&cube_owner=x";
            assert_eq!(told(classes, turned), told(classes, "cube=2&cube_owner=x"), "{classes:?}");
        }
    }

    /// The side to move wins 56 % of games. What is right at 4 to 2 is wrong at 2 to 4, and so on.
    #[test]
    fn the_cube_is_turned_by_the_score() {
        let position = "p24=2&p19=-5&p17=-3&p13=4&p12=-5&p10=2&p8=3&p6=4&p1=-2";
        for (parameters, double, accept) in [
            ("", false, true),
            ("x_away=0&o_away=0", false, true),
            ("x_away=4&o_away=2", true, true),
            ("x_away=2&o_away=4", false, true),
            // After the Crawford game the trailer doubles, and this would be dropped.
            ("x_away=4&o_away=1", true, false),
            ("x_away=1&o_away=4", false, true),
            ("x_away=4&o_away=1&crawford=true", false, true),
            ("x_away=1&o_away=4&crawford=true", false, true),
            ("x_away=5&o_away=3&cube=2&cube_owner=x", true, true),
            ("x_away=3&o_away=5&cube=2&cube_owner=x", false, true),
            ("x_away=5&o_away=2&cube=2&cube_owner=x", true, false),
            // A side that wins the match with the cube as it is, and one that does not own it.
            ("x_away=2&o_away=5&cube=2&cube_owner=x", false, true),
            ("x_away=5&o_away=2&cube=2&cube_owner=o", false, true),
            ("cube=64&cube_owner=x", false, true),
        ] {
            let answer = ask(&Eval, &format!("{position}&{parameters}")).unwrap();
            assert_eq!(answer["cube"], json!({ "accept": accept, "double": double }), "{parameters}");
            let win = answer["probabilities"]["win"].as_f64().unwrap();
            assert!((win - 0.5597).abs() < 1e-3, "{answer}");
        }
        // Without gammons the opponent drops from 73.2 % on at 2 to 5, and from 82.8 % on at 5 to 2.
        let single = [0.0, 0.0, 0.22, 0.78, 0.0, 0.0];
        let accepts = |parameters| told(single, parameters)["accept"].clone();
        assert_eq!([accepts("x_away=2&o_away=5"), accepts("x_away=5&o_away=2")], [false, true]);
    }

    #[test]
    fn impossible_scores_and_cubes_are_refused() {
        for (faulty, part) in [
            ("x_away=3", "x_away=3 and o_away=0"),
            ("x_away=0&o_away=2", "a money game has 0 and 0"),
            ("x_away=26&o_away=2", "x_away=26: write a whole number up to 25"),
            ("x_away=-1&o_away=2", "x_away=-1"),
            ("x_away=two&o_away=2", "x_away=two"),
            ("x_away=3&o_away=5&crawford=true", "exactly one point"),
            ("crawford=true", "no Crawford game"),
            ("x_away=1&o_away=5&crawford=true&cube=2&cube_owner=o", "nobody doubles in the Crawford game"),
            ("x_away=3&o_away=5&jacoby=true", "money games"),
            ("jacoby=yes", "true or false"),
            ("cube=2", "no owner"),
            ("cube=1&cube_owner=x", "nobody has turned"),
            ("cube=3&cube_owner=x", "not a power of 2"),
            ("cube=0", "not a power of 2"),
            ("cube=128&cube_owner=x", "cube=128"),
            ("cube=2&cube_owner=me", "cube_owner=me"),
        ] {
            let error = Eval.position(&query(&format!("{OPENING}&{faulty}"))).unwrap_err();
            assert!(error.contains(part), "{faulty}: {error}");
        }
    }

    #[test]
    fn moves_are_valued_for_the_side_that_makes_them() {
        // The last two checkers leave, and the opponent has borne off none; from the ten points, none does.
        let won = ask(&Moves, "die1=2&die2=1&p2=1&p1=1&p24=-15").unwrap();
        let certain = json!({ "win": 1.0, "winG": 1.0, "winBg": 0.0, "loseG": 0.0, "loseBg": 0.0 });
        assert_eq!(won["moves"][0]["probabilities"], certain);
        let lost = ask(&Moves, "die1=2&die2=1&p10=15&p24=-1").unwrap();
        for found in lost["moves"].as_array().unwrap() {
            let of = |name: &str| found["probabilities"][name].as_f64().unwrap();
            assert!(of("win") < 0.05 && of("winG") < 0.05 && of("loseG") > 0.9, "{found}");
        }
    }

    #[test]
    fn the_document_tells_what_is_asked_and_answered() {
        for (extra, path, text) in [
            (
                &Eval as &dyn Extra,
                "/eval",
                format!("{OPENING}&x_away=5&o_away=3&cube=2&cube_owner=o&crawford=false&jacoby=false"),
            ),
            (&Moves, "/move", format!("die1=3&die2=1&{OPENING}")),
        ] {
            let document = serde_json::to_value(extra.document()).unwrap();
            let answer = ask(extra, &text).unwrap();
            assert_eq!(schema::faults(&document, ("get", path, 200), &answer), [""; 0], "{path}");
            let names = document["paths"][path]["get"]["parameters"].as_array().unwrap();
            let names: Vec<&str> =
                names.iter().map(|parameter| parameter["name"].as_str().unwrap()).collect();
            for (name, _) in query(&text) {
                assert!(names.contains(&&*name), "{path}: {name} of {names:?}");
            }
            assert_eq!(schema::doubled(&answer.to_string()), [""; 0]);
        }
    }

    #[test]
    fn games_for_one_point_are_played_to_win() {
        let roll = "die1=6&die2=4&p24=1&p13=4&p8=3&p6=5&p4=1&p3=1&p2=-1&p5=-1&p12=-4&p17=-4&p19=-5";
        let wins = |text: &str| {
            let answer = ask(&Moves, text).unwrap();
            let win = |found: &Value| found["probabilities"]["win"].as_f64().unwrap();
            answer["moves"].as_array().unwrap().iter().map(win).collect::<Vec<_>>()
        };
        assert!(wins(&format!("{roll}&x_away=1&o_away=1")).is_sorted_by(|a, b| a >= b));
        assert_eq!(wins(roll), wins(&format!("{roll}&x_away=0&o_away=0")));
        assert!(!wins(roll).is_sorted_by(|a, b| a >= b), "gammons count in money games");
        assert!(ask(&Moves, &format!("{roll}&x_away=3&o_away=1")).unwrap_err().contains("x_away=3"));
    }
}
