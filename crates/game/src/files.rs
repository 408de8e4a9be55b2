//! Files of positions in a game's text form.

use crate::game::{Game, GameError};
use crate::kit::Read;
use adept_rows::limits;
use std::fmt::Write;
use std::path::Path;

/// Reads positions in the game's text form: one per line, or the column `position` of a CSV file.
pub fn lines_of_positions<G: Game>(game: &G, path: &Path) -> Result<Vec<Read<G>>, GameError> {
    let fault = |what: String| GameError::data(path, what);
    let text = limits::read_list(path).map_err(GameError::file(path))?;
    let text = text.trim_start_matches('\u{feff}');
    if text.lines().next().is_some_and(|first| first.split(',').next() == Some("position")) {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let read = |record: csv::Result<csv::StringRecord>| {
            let record = record.map_err(|e| fault(e.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            game.parse_position(record.get(0).unwrap_or("")).map_err(|e| fault(format!("line {line}: {e}")))
        };
        return reader.records().map(read).collect();
    }
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(number, line)| game.parse_position(line).map_err(|e| fault(format!("line {number}: {e}")));
    lines.map(read).collect()
}

/// Writes positions in the game's text form with their values as CSV.
pub fn texts_with_values<G: Game>(game: &G, positions: &[Read<G>], values: &[f32]) -> String {
    let mut text = String::from("position,value\n");
    for ((state, action), value) in positions.iter().zip(values) {
        let _ = writeln!(text, "\"{}\",{value:.9}", game.afterstate_text(state, action.as_ref()));
    }
    text
}
