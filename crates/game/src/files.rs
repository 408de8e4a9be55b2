//! Files of positions in a game's text form.

use crate::game::{Game, GameError, Turn};
use crate::kit::{Example, Kit, Read};
use crate::sheet::{Row, Sheet, Values};
use adept_rows::limits;
use std::fmt::Write;
use std::path::Path;

/// Columns of positions in the game's text form, in the order of preference.
pub const POSITION: [&str; 5] = ["position", "position_id", "xgid", "gnubg_id", "gnubgid"];

/// Reads positions in the game's text form: one per line, or a column of a table.
///
/// # Errors
/// The line that is not a position.
pub fn positions<G: Game>(game: &G, sheet: &Sheet) -> Result<Vec<Read<G>>, GameError> {
    let Some(column) = sheet.column(&POSITION)? else {
        let read = |(number, line)| {
            let fault = |e: GameError| sheet.fault(&format!("line {number}: {e}"));
            game.parse_position(line).map_err(fault)
        };
        return sheet.lines().map(read).collect();
    };
    let values = Values::of(sheet)?.map(Values::column);
    sheet.note_ignored(&[[column].as_slice(), values.as_slice()].concat());
    sheet.rows().map(|row| position(game, &row?, column)).collect()
}

/// The position in a column of a row.
///
/// # Errors
/// Why its text is not a position.
pub fn position<G: Game>(game: &G, row: &Row<'_>, column: usize) -> Result<Read<G>, GameError> {
    game.parse_position(row.text(column)).map_err(|e| row.fault(&e.to_string()))
}

/// Reads a table with a column of positions in the game's text form, and a column of values for the player to move.
///
/// # Errors
/// The line of a position that is not right after a move or has no value, or a game where such a value says nothing about the
/// player who just acted.
pub fn examples<G: Kit>(game: &G, path: &Path) -> Result<Vec<Example<G::State>>, GameError> {
    if let Some(why) = no_examples(game) {
        let what = format!("{} has no labelled positions: {why}", game.name());
        return Err(GameError::new(format!("{}: {what}", path.display())));
    }
    let sheet = Sheet::read(path)?;
    let (Some(column), Some(values)) = (sheet.column(&POSITION)?, Values::of(&sheet)?) else {
        let names = sheet.names().join(",");
        return Err(sheet.fault(&format!(
            "the first line is `{names}`; it must name the columns position and value (or win)"
        )));
    };
    sheet.note_ignored(&[column, values.column()]);
    let example = |row: Result<Row<'_>, GameError>| {
        let row = row?;
        let (state, _) = position(game, &row, column)?;
        let value = values.of_row(&row)?;
        if game.turn(&state) == Turn::Over {
            return Err(row.fault("the game is over, so its value is known"));
        }
        if game.just_acted(&state).is_none() {
            return Err(row.fault("nobody has moved yet: give positions after a move"));
        }
        // Values in a file are for the player to move; examples are for the one who just acted.
        Ok(Example { state, value: -value, line: row.line })
    };
    sheet.rows().map(example).collect()
}

/// Why a game has no files of labelled positions by default.
fn no_examples<G: Kit>(game: &G) -> Option<&'static str> {
    if game.hides() {
        Some("information is hidden")
    } else if !game.zero_sum() || game.players() != 2 {
        Some("it is not a zero-sum game of two players")
    } else if game.distributions().is_empty() {
        Some("it has no distribution of positions")
    } else {
        None
    }
}

/// Whether a file is a table with a column of positions and one of values.
///
/// # Errors
/// An I/O error, or a pipe, which could not be read again.
pub fn has_values<G: Kit>(game: &G, path: &Path) -> Result<bool, GameError> {
    limits::check_lasting(path).map_err(GameError::file(path))?;
    if no_examples(game).is_some() {
        return Ok(false);
    }
    let sheet = Sheet::read(path)?;
    Ok(sheet.column(&POSITION)?.is_some() && Values::of(&sheet)?.is_some())
}

/// Writes positions in the game's text form with their values as CSV.
pub fn texts_with_values<G: Game>(game: &G, positions: &[Read<G>], values: &[f32]) -> String {
    let mut text = String::from("position,value\n");
    for ((state, action), value) in positions.iter().zip(values) {
        let _ = writeln!(text, "\"{}\",{value:.9}", game.afterstate_text(state, action.as_ref()));
    }
    text
}
