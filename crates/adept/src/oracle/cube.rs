//! `oracle value --cube` and `oracle moves --cube`: the bear-off with the doubling cube, in money play and at scores of a match.

use super::args::TableArgs;
use super::check_decision;
use adept_builtin::backgammon::cube::{CubeModel, Scoring, Terms};
use adept_builtin::bearoff::two_sided::gnubg::GnubgTable;
use adept_builtin::bearoff::two_sided::{
    CubeEquities, CubeOwner, CubeTable, ScoreEquities, ScoreTables, ScoreView, TableError, TableErrors,
    Timings,
};
use adept_builtin::bearoff::{DicePosition, Position, Roll, Situation};
use adept_console::output::{self, say};
use adept_ground::{limits, work};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

/// Solves the tables for sides with this many checkers.
fn solve(checkers: u8, threads: usize) -> Result<CubeTable> {
    let checkers = checkers.max(1);
    let memory = limits::size(CubeTable::bytes(checkers));
    let what = format!("solving the tables of {checkers} checkers with the cube, {memory} of memory");
    work::share(&what, 0.0);
    let (table, timings) =
        CubeTable::solve(checkers, threads, &mut |progress| work::share(&what, progress.share))?;
    let Timings { moves, memory, solve } = timings;
    say(format!("solved with the cube in {:.2} s", moves.wall + memory.wall + solve.wall));
    Ok(table)
}

/// Formats an equity with the digits that the tables support.
pub(super) fn signed(value: f64) -> String {
    format!("{value:+.6}")
}

/// The equities of a position with the cube.
pub(super) struct Answer {
    pub(super) json: Value,
    pub(super) text: String,
}

/// A note below all answers.
pub(super) const NOTE: &str =
    "equity: for the side to roll, per unit of the cube; money play without gammons\n";

/// The equities of positions by owner of the cube. With a roll, those of the best moves.
pub(super) fn answers(positions: &[Situation], threads: usize) -> Result<Vec<Answer>> {
    let checkers = positions.iter().map(|p| p.position.checkers()).max().unwrap_or(1);
    let table = solve(checkers, threads)?;
    let answer = |&situation: &Situation| {
        let Situation { position, roll } = situation;
        let Answer { json, text } = match roll {
            Some(roll) => after_roll(&table, DicePosition { position, roll })?,
            None => before_roll(&table.equities(position)?, position.is_over()),
        };
        Ok(Answer { json, text: format!("\n{situation}\n{text}") })
    };
    positions.iter().map(answer).collect()
}

/// The equities of a position before the roll, and the right decisions unless the game is over.
pub(super) fn before_roll(equities: &CubeEquities, is_over: bool) -> Answer {
    let (mut json, mut rows) = (Map::new(), Vec::new());
    for owner in CubeOwner::ALL {
        let value = equities.value(owner);
        let mut object = json!({ "value": value });
        let mut row = vec![owner.to_string(), signed(value)];
        if let Some(action) = equities.action(owner).filter(|_| !is_over) {
            let (no_double, double_take) = (equities.no_double(owner), equities.double_take());
            object["no_double"] = no_double.into();
            object["double_take"] = double_take.into();
            object["double_pass"] = CubeEquities::DOUBLE_PASS.into();
            object["action"] = action.to_string().into();
            row.extend([no_double, double_take, CubeEquities::DOUBLE_PASS].map(signed));
            row.push(action.to_string());
        } else {
            row.extend(["-"; 4].map(String::from));
        }
        json.insert(owner.to_string(), object);
        rows.push(row);
    }
    let header = ["cube", "equity", "no double", "double/take", "double/pass", "best"];
    Answer { json: json.into(), text: output::table(&header, rows) }
}

/// Solves the tables of a cube at a score.
fn solve_match(checkers: u8, terms: Terms, threads: usize) -> Result<ScoreTables> {
    let steps = CubeModel::usual().equities.cube_steps(terms).context("a match has a score")?;
    let owner = match terms.owner {
        CubeOwner::Centred => None,
        CubeOwner::Own => Some(0),
        CubeOwner::Theirs => Some(1),
    };
    let what = format!("solving the tables of {checkers} checkers with the cube at a score");
    work::share(&what, 0.0);
    let (table, timings) =
        ScoreTables::solve(checkers.max(1), threads, steps, owner, &mut |share| work::share(&what, share))?;
    let Timings { moves, memory, solve } = timings;
    say(format!("solved with the cube at a score in {:.2} s", moves.wall + memory.wall + solve.wall));
    Ok(table)
}

/// A note below all answers in a match, for the `viewer`, such as the side to roll.
pub(super) fn match_note(terms: &Terms, viewer: &str) -> String {
    let Scoring::Match { away: [own, other], crawford } = terms.scoring else { return NOTE.into() };
    let game = match (own, other) {
        _ if crawford => ", in the Crawford game",
        (1, _) | (_, 1) => ", after the Crawford game",
        _ => "",
    };
    format!(
        "the {viewer} needs {own} and its opponent {other} points{game}\n\
         EMG: for the {viewer}, per unit of the cube of {}: a won single game is 1\n\
         match: chance of the {viewer} to win the match; without gammons\n",
        terms.cube
    )
}

/// The points that the side to roll and its opponent need, and the cube.
pub(super) fn match_json(terms: &Terms) -> Value {
    match terms.scoring {
        Scoring::Match { away, crawford } => {
            json!({ "away": away, "crawford": crawford, "cube": terms.cube })
        }
        Scoring::Money { .. } => Value::Null,
    }
}

/// The equities of positions at a score by owner of the cube. With a roll, those of the best moves.
pub(super) fn match_answers(positions: &[Situation], terms: &[Terms], threads: usize) -> Result<Vec<Answer>> {
    let checkers = positions.iter().map(|p| p.position.checkers()).max().unwrap_or(1);
    let (mut json, mut rows) = (vec![Map::new(); positions.len()], vec![Vec::new(); positions.len()]);
    for &terms in terms {
        let tables = solve_match(checkers, terms, threads)?;
        let place = tables.start();
        let view = tables.view(place, 0).context("tables have the cube as it is")?;
        for ((&situation, json), rows) in positions.iter().zip(&mut json).zip(&mut rows) {
            let (object, lines) = match situation.roll {
                Some(roll) => at_score_after_roll(&view, situation.position, roll)?,
                None => at_score(&view, situation.position)?,
            };
            json.insert(terms.owner.to_string(), object);
            let name = |line: usize| if line == 0 { terms.owner.to_string() } else { String::new() };
            rows.extend((0..).zip(lines).map(|(at, line)| [vec![name(at)], line].concat()));
        }
    }
    let mut answers = Vec::with_capacity(positions.len());
    for ((situation, json), rows) in positions.iter().zip(json).zip(rows) {
        let header: &[&str] = match situation.roll {
            Some(_) => &["cube", "", "value", "best move"],
            None => &["cube", "", "value", "no double", "double/take", "double/pass", "best"],
        };
        let text = format!("\n{situation}\n{}", output::table(header, rows));
        answers.push(Answer { json: json.into(), text });
    }
    Ok(answers)
}

/// Formats a chance with the digits that the tables support.
fn chance(p: f64) -> String {
    format!("{p:.6}")
}

/// The equities and match winning chances before the roll, and a line of each.
fn at_score(view: &ScoreView<'_>, position: Position) -> Result<(Value, [Vec<String>; 2])> {
    let found = view.equities(position)?;
    let (value, won) = (found.value(), |equity: f64| view.match_chance(equity));
    let mut object = json!({ "value": value });
    let mut chances = json!({ "value": won(value) });
    let mut lines = [vec!["EMG".to_string(), signed(value)], vec!["match".to_string(), chance(won(value))]];
    let action = found.action().map_or_else(|| "-".to_string(), |action| action.to_string());
    let pass = found.double_take.map(|_| ScoreEquities::DOUBLE_PASS);
    let no_double = (!position.is_over()).then_some(found.no_double);
    for (name, equity) in
        [("no_double", no_double), ("double_take", found.double_take), ("double_pass", pass)]
    {
        let [emg, mwc] = &mut lines;
        emg.push(equity.map_or_else(|| "-".to_string(), signed));
        mwc.push(equity.map_or_else(|| "-".to_string(), |equity| chance(won(equity))));
        if let Some(equity) = equity {
            object[name] = equity.into();
            chances[name] = won(equity).into();
        }
    }
    if found.double_take.is_some() {
        object["action"] = action.clone().into();
    }
    lines[0].push(action);
    lines[1].push(String::new());
    object["match_chance"] = chances;
    Ok((object, lines))
}

/// The equity and match winning chance of the best move, and a line of each.
fn at_score_after_roll(
    view: &ScoreView<'_>,
    position: Position,
    roll: Roll,
) -> Result<(Value, [Vec<String>; 2])> {
    let decision = DicePosition { position, roll };
    let moves = view.moves(decision)?;
    let &(after, value) = moves.first().context("a roll can always be played")?;
    let (play, won) = (decision.notation(after), view.match_chance(value));
    let lines = [
        vec!["EMG".to_string(), signed(value), play.clone()],
        vec!["match".to_string(), chance(won), String::new()],
    ];
    Ok((json!({ "value": value, "match_chance": won, "move": play }), lines))
}

fn after_roll(table: &CubeTable, decision: DicePosition) -> Result<Answer> {
    let (mut json, mut rows) = (Map::new(), Vec::new());
    for owner in CubeOwner::ALL {
        let moves = table.moves(decision, owner)?;
        let &(after, value) = moves.first().context("a roll can always be played")?;
        let play = decision.notation(after);
        rows.push(vec![owner.to_string(), signed(value), play.clone()]);
        json.insert(owner.to_string(), json!({ "value": value, "move": play }));
    }
    Ok(Answer { json: json.into(), text: output::table(&["cube", "equity", "best move"], rows) })
}

/// Shows the moves of a roll with their equities for an owner of the cube, in money play, or at a score that has this owner.
pub(super) fn moves(
    decision: DicePosition,
    owner: CubeOwner,
    terms: Option<Terms>,
    args: &TableArgs,
    as_json: bool,
) -> Result<()> {
    check_decision(decision)?;
    if args.table.is_some() || args.bits.is_some() {
        bail!("--table and --bits are of tables without the cube: leave out --cube, or these");
    }
    let checkers = decision.position.checkers();
    // The chance to win the match after each move; empty in money play.
    let mut chances = Vec::new();
    let moves = match terms {
        None => solve(checkers, args.threads)?.moves(decision, owner)?,
        Some(terms) => {
            let tables = solve_match(checkers, terms, args.threads)?;
            let view = tables.view(tables.start(), 0).context("tables have the cube as it is")?;
            let moves = view.moves(decision)?;
            chances.extend(moves.iter().map(|&(_, value)| view.match_chance(value)));
            moves
        }
    };
    let best = moves.first().map_or(0.0, |&(_, value)| value);
    let text = |own| Position { own, ..decision.position }.to_string();
    if as_json {
        let moves = moves.iter().enumerate().map(|(at, &(side, value))| {
            let mut found =
                json!({ "afterstate": text(side), "play": decision.notation(side), "value": value });
            if let Some(&chance) = chances.get(at) {
                found["match_chance"] = chance.into();
            }
            found
        });
        let mut object = json!({ "moves": moves.collect::<Vec<Value>>(), "cube": owner.to_string() });
        if let Some(terms) = &terms {
            object["match"] = match_json(terms);
        }
        return output::json(&object);
    }
    let row = |(at, &(side, value)): (usize, &(_, f64))| {
        let mut row = vec![decision.notation(side), text(side), signed(value)];
        row.extend(chances.get(at).map(|&won| chance(won)));
        row.push(signed(best - value)[1..].to_string());
        row
    };
    let rows = moves.iter().enumerate().map(row);
    let (header, note): (&[&str], String) = match &terms {
        None => (
            &["play", "afterstate", "equity", "loss"],
            format!("equity: of the side that moves, per unit of the cube ({owner}), in money play\n"),
        ),
        Some(terms) => (
            &["play", "afterstate", "EMG", "match", "loss"],
            format!("{}loss: in EMG ({owner})\n", match_note(terms, "side that moves")),
        ),
    };
    output::text(&(output::table(header, rows) + &note))
}

/// Compares the equities without a double of a gnubg file, by owner of the cube. None if the file has none, or if there
/// is no memory to solve them.
pub(super) fn compare_with_gnubg(file: &GnubgTable, threads: usize) -> Result<Option<[TableErrors; 3]>> {
    if !file.has_cube() {
        return Ok(None);
    }
    match solve(file.checkers(), threads) {
        Ok(table) => Ok(table.compare_with_gnubg(file)?),
        Err(error) if matches!(error.downcast_ref(), Some(TableError::CubeMemory { .. })) => {
            say(format!("the numbers with the cube are not compared: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Differences by owner of the cube.
pub(super) fn errors_json(errors: [TableErrors; 3]) -> Value {
    let json = |errors: TableErrors| json!({ "max_abs_error": errors.max, "rms_error": errors.rms() });
    CubeOwner::ALL.into_iter().zip(errors).map(|(owner, e)| (owner.to_string(), json(e))).collect()
}

/// Differences by owner of the cube, a line each.
pub(super) fn errors_text(errors: [TableErrors; 3]) -> String {
    let line = |(owner, e): (CubeOwner, TableErrors)| {
        format!("cube {owner}, no double: largest difference {:.3e}, rms {:.3e}\n", e.max, e.rms())
    };
    CubeOwner::ALL.into_iter().zip(errors).map(line).collect()
}
