//! `oracle … --game hypergammon`: exact tables of backgammon with few checkers.

use super::args::TableArgs;
use super::{Differences, cube, destination, line};
use adept_builtin::backgammon::exact::Table;
use adept_builtin::backgammon::exact::cubeful::CubefulTable;
use adept_builtin::backgammon::exact::with_cube::{cubeful_table, usual_cube_file};
use adept_builtin::backgammon::{
    Action, Backgammon, Position, Side, Stage, State, race_file, table, usual_file,
};
use adept_builtin::bearoff::one_sided::gnubg::GnubgOneSided;
use adept_builtin::bearoff::two_sided::CubeOwner;
use adept_builtin::dice::Roll;
use adept_console::output;
use adept_game::files::POSITION;
use adept_game::sheet::{Row, Sheet};
use adept_game::{Game, GameError, Kit, score_text, stream};
use adept_ground::files::{Files, replace_large};
use adept_ground::places;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The game with this name, if it has a table.
pub(super) fn named(name: &str) -> Result<Backgammon> {
    let game = Backgammon::named(name).filter(|game| game.checkers() <= Table::MOST && !game.has_cube());
    game.with_context(|| {
        format!("`{name}` has no exact table: there is bearoff, hypergammon, backgammon:1 and backgammon:2; --points builds tables of races")
    })
}

/// The table of `--table`, or the default one.
fn find(game: &Backgammon, args: &TableArgs) -> Result<Arc<Table>> {
    Ok(table(game, args.table.clone())?)
}

/// The table with the cube of `--table` or of the default file; of a small game, a new one.
pub(super) fn find_with_cube(game: &Backgammon, args: &TableArgs) -> Result<Arc<CubefulTable>> {
    Ok(cubeful_table(game, args.table.clone(), args.threads)?)
}

/// Equities for the side to roll, by position.
type Equities<'a> = dyn Fn(Position) -> Option<f64> + 'a;

/// Parses a position, which must not be over or before the opening roll.
fn parse(game: &Backgammon, text: &str) -> Result<State> {
    let (state, _) = game.parse_position(text)?;
    if state.stage == Stage::Opening {
        bail!("`{text}` is before the opening roll: write the position and, if you like, the roll");
    }
    Ok(state)
}

/// The results of a roll with the equity for the side that moves, best first.
fn ranked(game: &Backgammon, equities: &Equities<'_>, state: &State) -> Result<Vec<(Action, f64)>> {
    let mut actions = Vec::new();
    game.actions(state, &mut actions);
    let mut found = Vec::with_capacity(actions.len());
    for action in actions {
        let mut after = *state;
        game.apply(&mut after, &action);
        found.push((action, -equity(equities, &after)?));
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(found)
}

/// The equity for the side to roll.
fn equity(equities: &Equities<'_>, state: &State) -> Result<f64> {
    let position = state.position();
    equities(position).with_context(|| format!("{position}: the table does not have it"))
}

/// Equities without the cube, in points.
fn cubeless(table: &Table) -> impl Fn(Position) -> Option<f64> {
    |position| match position.opponent.is_done() {
        true => Some(-f64::from(Position::result(position.own).points())),
        false => table.value(position),
    }
}

/// The equities of a position by owner of the cube; with a roll, those of the best moves.
fn with_cube(game: &Backgammon, table: &CubefulTable, state: &State, jacoby: bool) -> Result<cube::Answer> {
    if !matches!(state.stage, Stage::Move(_)) {
        let position = state.position();
        let found = table.equities(position, jacoby);
        let found = found.with_context(|| format!("{position}: the table does not have it"))?;
        return Ok(cube::before_roll(&found, position.is_over()));
    }
    let (mut json, mut rows) = (Map::new(), Vec::new());
    for owner in CubeOwner::ALL {
        let moves = ranked(game, &after_move(table, owner, jacoby), state)?;
        let &(action, value) = moves.first().context("a roll can always be played")?;
        let play = game.action_text(state, &action);
        rows.push(vec![owner.to_string(), cube::signed(value), play.clone()]);
        json.insert(owner.to_string(), json!({ "value": value, "move": play }));
    }
    Ok(cube::Answer { json: json.into(), text: output::table(&["cube", "equity", "best move"], rows) })
}

/// Equities for the opponent after a move, by the owner of the cube that the side that moves sees.
fn after_move(table: &CubefulTable, owner: CubeOwner, jacoby: bool) -> impl Fn(Position) -> Option<f64> {
    move |position| table.equities(position, jacoby).map(|found| found.value(owner.swapped()))
}

/// The words of a note on the rules of a money game.
pub(super) fn rules(jacoby: bool) -> &'static str {
    if jacoby { "money play, by the Jacoby rule" } else { "money play, without the Jacoby rule" }
}

/// Decimal places of an equity: the table has 32-bit floats.
const DIGITS: usize = 6;

/// Shows the values of positions; if `jacoby` is given, also those with the cube, by this rule or without it.
pub(super) fn value(
    game: &Backgammon,
    positions: &[String],
    jacoby: Option<bool>,
    args: &TableArgs,
    as_json: bool,
) -> Result<()> {
    let states: Vec<State> = positions.iter().map(|text| parse(game, text)).collect::<Result<_>>()?;
    let cube =
        jacoby.map(|jacoby| Ok::<_, anyhow::Error>((find_with_cube(game, args)?, jacoby))).transpose()?;
    let equities: Box<Equities<'_>> = match &cube {
        Some((table, _)) => Box::new(|position| table.cubeless(position)),
        None => {
            let table = find(game, args)?;
            Box::new(move |position| cubeless(&table)(position))
        }
    };
    let (mut values, mut rows, mut sections) = (Vec::new(), Vec::new(), String::new());
    for state in &states {
        let text = game.position_text(state);
        let best = match state.stage {
            Stage::Move(_) => ranked(game, &equities, state)?.into_iter().next(),
            _ => None,
        };
        let value = best.map_or_else(|| equity(&equities, state), |(_, value)| Ok(value))?;
        let mut object = json!({ "position": text, "value": value, "equity": value, "unit": "points" });
        let mut shown = text;
        if let Some((action, _)) = best {
            let play = game.action_text(state, &action);
            shown = format!("{shown}: {play}");
            object["move"] = play.into();
        }
        if let Some((table, jacoby)) = &cube {
            let cube::Answer { json, text } = with_cube(game, table, state, *jacoby)?;
            (object["cube"], object["jacoby"]) = (json, (*jacoby).into());
            sections.push_str(&format!("\n{}\n{text}", game.position_text(state)));
        }
        values.push(object);
        rows.push(vec![shown, score_text(value, DIGITS)]);
    }
    if as_json {
        return output::json(&json!({ "values": values }));
    }
    let mut note = "points for the side to roll or to move, without the cube\n".to_string();
    if states.iter().any(|state| matches!(state.stage, Stage::Move(_))) {
        note.push_str("with a roll: after the best move, which stands beside the position\n");
    }
    if let Some((_, jacoby)) = cube {
        let rules = rules(jacoby);
        sections.push_str(&format!("equity: for the side to roll, per unit of the cube\n{rules}\n"));
    }
    output::text(&(output::table(&["position (own to roll)", "points"], rows) + &note + &sections))
}

/// How to list moves.
#[derive(Clone, Copy)]
pub(super) struct Listing {
    /// Without values.
    pub(super) legal: bool,
    /// With the cube, by its owner.
    pub(super) cube: Option<CubeOwner>,
    /// By the Jacoby rule.
    pub(super) jacoby: bool,
}

pub(super) fn moves(
    game: &Backgammon,
    position: &str,
    dice: Option<Roll>,
    listing: Listing,
    args: &TableArgs,
    as_json: bool,
) -> Result<()> {
    let Listing { legal, cube, jacoby } = listing;
    let mut state = parse(game, position)?;
    if let Some(roll) = dice {
        if let Stage::Move(other) = state.stage
            && other != roll
        {
            bail!("`{position}` has the roll {other}, and {roll} is given beside it: leave one out");
        }
        state.stage = Stage::Move(roll);
    }
    if state.position().is_over() {
        bail!("{}: the game is over, so there are no moves", game.position_text(&state));
    }
    if state.stage == Stage::Roll {
        bail!("{}: which roll? Write it after the position, such as 65", game.position_text(&state));
    }
    let after_text = |action: &Action| {
        let mut after = state;
        game.apply(&mut after, action);
        game.position_text(&State { stage: Stage::Roll, ..after })
    };
    if legal {
        let mut actions = Vec::new();
        game.actions(&state, &mut actions);
        let moves = actions.iter().map(|a| (game.action_text(&state, a), after_text(a)));
        if as_json {
            let moves = moves.map(|(play, after)| json!({ "afterstate": after, "play": play }));
            return output::json(&json!({ "moves": moves.collect::<Vec<Value>>() }));
        }
        let rows = moves.map(|(play, after)| vec![play, after]);
        return output::text(&output::table(&["play", "afterstate (opponent to roll)"], rows));
    }
    let found = match cube {
        Some(owner) => ranked(game, &after_move(&*find_with_cube(game, args)?, owner, jacoby), &state)?,
        None => ranked(game, &cubeless(&*find(game, args)?), &state)?,
    };
    let best = found.first().map_or(0.0, |(_, value)| *value);
    if as_json {
        let moves = found.iter().map(|(action, value)| {
            json!({
                "afterstate": after_text(action),
                "play": game.action_text(&state, action),
                "value": value,
                "equity": value,
            })
        });
        let mut object = json!({ "moves": moves.collect::<Vec<Value>>(), "unit": "points" });
        if let Some(owner) = cube {
            (object["cube"], object["jacoby"]) = (owner.to_string().into(), jacoby.into());
        }
        return output::json(&object);
    }
    let rows = found.iter().map(|(action, value)| {
        let loss = format!("{:.DIGITS$}", best - value);
        vec![game.action_text(&state, action), score_text(*value, DIGITS), loss]
    });
    let (points, note) = match cube {
        None => ("points", "points of the side that moves, without the cube".to_string()),
        Some(owner) => {
            let rules = rules(jacoby);
            ("equity", format!("equity: of the side that moves, per unit of the cube ({owner})\n{rules}"))
        }
    };
    output::text(&format!(
        "{}{note}; loss against the best move\n",
        output::table(&["play", points, "loss"], rows)
    ))
}

/// The columns of a file with positions and equities.
enum Columns {
    /// The points of the checkers of each side, and the equity in points.
    Sides { own: usize, opponent: usize, equity: usize },
    /// A position as text, and the value from −1 to 1.
    Text { position: usize, value: usize },
}

impl Columns {
    fn find(sheet: &Sheet) -> Result<Self, GameError> {
        let column = |names: &[&str]| sheet.column(names);
        match (column(&["own"])?, column(&["opponent"])?, column(&["equity"])?) {
            (Some(own), Some(opponent), Some(equity)) => return Ok(Self::Sides { own, opponent, equity }),
            (None, None, _) => {}
            _ => return Err(sheet.fault("needs the three columns own, opponent and equity")),
        }
        match (column(&POSITION)?, column(&["value"])?) {
            (Some(position), Some(value)) => Ok(Self::Text { position, value }),
            _ => Err(sheet.fault(&format!(
                "needs the columns own, opponent and equity, or position and value, found {}",
                sheet.shown_names()
            ))),
        }
    }

    /// The position of a row, and its equity in points.
    fn read(&self, game: &Backgammon, row: &Row<'_>) -> Result<(Position, f64), GameError> {
        let number = |column: usize, most: f64| {
            let number = row.number(column).filter(|n| n.abs() <= most);
            number.ok_or_else(|| row.fault_at(column, &format!("not a number from −{most} to {most}")))
        };
        match *self {
            Self::Sides { own, opponent, equity } => {
                let position = Position { own: side(game, row, own)?, opponent: side(game, row, opponent)? };
                position.check(game.checkers()).map_err(|why| row.fault(&why))?;
                Ok((position, number(equity, game.scale())?))
            }
            Self::Text { position, value } => {
                let text = row.text(position);
                let (state, _) =
                    game.parse_position(text).map_err(|e| row.fault_at(position, &e.to_string()))?;
                if state.stage != Stage::Roll {
                    return Err(row.fault_at(position, "values are those of positions before the roll"));
                }
                Ok((state.position(), game.scale() * number(value, 1.0)?))
            }
        }
    }
}

/// Parses a side from a list of its checkers' places, such as `24 23 0`: 25 is the bar, 0 off.
fn side(game: &Backgammon, row: &Row<'_>, column: usize) -> Result<Side, GameError> {
    let (mut places, mut count, most) = ([0; 26], 0, usize::from(game.checkers()));
    for word in row.text(column).split_whitespace() {
        let place = word.parse::<usize>().ok().filter(|&place| place < 26);
        let Some(place) = place else {
            return Err(row.fault_at(column, &format!("`{word}` is not a place from 0 to 25")));
        };
        count += 1;
        if count <= most {
            places[place] += 1;
        }
    }
    if count != most {
        let message = format!("a side of {} has {most} checkers, found {count}", game.name());
        return Err(row.fault_at(column, &message));
    }
    Ok(Side::new(places))
}

/// Default tolerance in points.
const TOLERANCE: f64 = 1e-6;

pub(super) fn verify(
    game: &Backgammon,
    csv: Option<&Path>,
    tolerance: Option<f64>,
    args: &TableArgs,
    as_json: bool,
) -> Result<()> {
    let Some(csv) = csv else {
        let path = args
            .table
            .clone()
            .or_else(|| places::find(&usual_file(game)))
            .unwrap_or_else(|| usual_file(game));
        if !path.exists() {
            bail!(
                "{}: there is no such table: build one with `adept oracle build --game {}`, or give values to compare with (--csv)",
                path.display(),
                game.name()
            );
        }
        let table = table(game, Some(path))?;
        if as_json {
            let rows = table.positions();
            return output::json(&json!({ "rows": rows, "max_abs_error": 0.0, "rms_error": 0.0 }));
        }
        return output::text(&format!("the table is intact: {} positions\n", table.positions()));
    };
    let sheet = Sheet::read(csv)?;
    let columns = Columns::find(&sheet)?;
    let mut rows = Vec::new();
    for row in sheet.rows() {
        let row = row?;
        rows.push((row.line, columns.read(game, &row)?));
    }
    if rows.is_empty() {
        return Err(GameError::data(csv, "has no rows").into());
    }
    let table = find(game, args)?;
    let mut found = Differences::default();
    for (line, (position, given)) in rows {
        found.add(line, &position, given, equity(&cubeless(&table), &State::to_roll(position))?);
    }
    let (most, rms, tolerance) = (found.all.max, found.all.rms(), tolerance.unwrap_or(TOLERANCE));
    if as_json {
        output::json(&json!({
            "rows": found.all.rows,
            "max_abs_error": most,
            "rms_error": rms,
            "tolerance": tolerance,
            "worst": found.json(),
        }))?;
    } else {
        let text = format!(
            "{} equities: largest difference {most:.3e} points, rms {rms:.3e}, tolerance {tolerance:.1e}\n",
            found.all.rows
        );
        output::text(&(text + &found.text(|points| format!("{points:+.9}"))))?;
    }
    if most > tolerance {
        bail!("the largest difference {most:.3e} is above the tolerance {tolerance:.1e}");
    }
    Ok(())
}

pub(super) fn sample(
    game: &Backgammon,
    count: u64,
    seed: u64,
    out: &Path,
    args: &TableArgs,
    as_json: bool,
) -> Result<()> {
    Files::default().try_file(out)?;
    let table = find(game, args)?;
    let draw = game.positions().draw("all").context("the game has no positions to draw")?;
    let mut rng = stream(seed, "positions of a game", 0);
    replace_large(out, |file| {
        let mut file = BufWriter::new(file);
        writeln!(file, "position,value")?;
        for _ in 0..count {
            let state = draw(&mut rng);
            let equity = table.value(state.position()).unwrap_or(f64::NAN);
            writeln!(file, "{},{:.9}", game.position_text(&state), equity / game.scale())?;
        }
        file.flush()
    })
    .with_context(|| out.display().to_string())?;
    if as_json {
        return output::json(&json!({
            "rows": count, "path": out, "distribution": "all", "game": game.name(), "seed": seed,
        }));
    }
    output::text(&format!("{count} positions of {}: {}\n", game.name(), out.display()))
}

/// Solves the race table of a game and writes it.
pub(super) fn build_race(
    name: &str,
    points: usize,
    out: Option<&Path>,
    no_file: bool,
    as_json: bool,
) -> Result<()> {
    let game = Backgammon::named(name)
        .filter(|game| !game.has_cube())
        .with_context(|| format!("`{name}` has no races: write backgammon, hypergammon or backgammon:K"))?;
    let usual = race_file(&game, points);
    let path = destination(out, &usual, no_file)?;
    let began = Instant::now();
    let table = GnubgOneSided::solve(points, game.checkers());
    let seconds = began.elapsed().as_secs_f64();
    if let Some(path) = path {
        table.save(path)?;
    }
    let (sides, checkers) = (table.sides(), table.checkers());
    if as_json {
        return output::json(&json!({
            "game": name, "points": points, "checkers": checkers, "sides": sides, "seconds": seconds, "path": path,
        }));
    }
    let text =
        format!("{sides} sides of at most {checkers} checkers on {points} points, in {seconds:.1} s\n");
    output::text(&(text + &line(path)))
}

pub(super) fn build(
    name: &str,
    cube: bool,
    out: Option<&Path>,
    no_file: bool,
    threads: usize,
    as_json: bool,
) -> Result<()> {
    let game = named(name)?;
    let usual = if cube { usual_cube_file(&game) } else { usual_file(&game) };
    let path = destination(out, &usual, no_file)?;
    let began = Instant::now();
    let (positions, bound, seconds) = if cube {
        let table = CubefulTable::solve(game.checkers(), CubefulTable::WIDTH, threads)?;
        let seconds = began.elapsed().as_secs_f64();
        path.map(|path| table.save(path)).transpose()?;
        (table.positions(), table.bound(), seconds)
    } else {
        let table = Table::solve(game.checkers(), Table::CHANGE, threads)?;
        let seconds = began.elapsed().as_secs_f64();
        path.map(|path| table.save(path)).transpose()?;
        (table.positions(), table.bound(), seconds)
    };
    if as_json {
        return output::json(&json!({
            "game": name,
            "positions": positions,
            "bound": bound,
            "seconds": seconds,
            "path": path,
        }));
    }
    let text = format!(
        "{name}: {positions} positions, in {seconds:.1} s; all equities are within {bound:.1e} points, as proved\n"
    );
    output::text(&(text + &line(path)))
}
