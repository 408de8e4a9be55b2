//! `oracle value --cube` and `oracle moves --cube`: the bear-off with the doubling cube.

use super::args::TableArgs;
use super::check_decision;
use adept_builtin::bearoff::two_sided::gnubg::GnubgTable;
use adept_builtin::bearoff::two_sided::{
    CubeEquities, CubeOwner, CubeTable, TableError, TableErrors, Timings,
};
use adept_builtin::bearoff::{DicePosition, Position, Situation};
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
    Answer { json: json.into(), text: output::table(&header, &rows) }
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
    Ok(Answer { json: json.into(), text: output::table(&["cube", "equity", "best move"], &rows) })
}

pub(super) fn moves(decision: DicePosition, owner: CubeOwner, args: &TableArgs, as_json: bool) -> Result<()> {
    check_decision(decision)?;
    if args.table.is_some() || args.bits.is_some() {
        bail!("--table and --bits are of tables without the cube: leave out --cube, or these");
    }
    let table = solve(decision.position.checkers(), args.threads)?;
    let moves = table.moves(decision, owner)?;
    let best = moves.first().map_or(0.0, |&(_, value)| value);
    let text = |own| Position { own, ..decision.position }.to_string();
    if as_json {
        let moves = moves.iter().map(
            |&(s, value)| json!({ "afterstate": text(s), "play": decision.notation(s), "value": value }),
        );
        return output::json(&json!({ "moves": moves.collect::<Vec<Value>>(), "cube": owner.to_string() }));
    }
    let rows: Vec<Vec<String>> = moves
        .iter()
        .map(|&(s, value)| {
            vec![decision.notation(s), text(s), signed(value), signed(best - value)[1..].to_string()]
        })
        .collect();
    let note = format!("equity: of the side that moves, per unit of the cube ({owner}), in money play\n");
    output::text(&(output::table(&["play", "afterstate", "equity", "loss"], &rows) + &note))
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
