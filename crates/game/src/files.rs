//! Files of positions in a game's text form.

use crate::game::{Game, GameError, Turn};
use crate::results::Results;
use crate::sheet::{Row, Sheet, Values};
use crate::texts::Texts;
use adept_ground::limits;
use adept_rows::{OutcomeClass, OutcomeMask};
use std::fmt::Write;
use std::path::Path;

/// A parsed position, with the action that led to it if known.
pub type ParsedPosition<G> = (<G as Game>::State, Option<<G as Game>::Action>);

/// A labelled position of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Example<S> {
    /// The position, right after a move and before a chance event or the next player's move.
    pub state: S,
    /// Its value to the player who just acted, in [−1, 1].
    pub value: f64,
    /// The probability of each class of outcomes for that player; empty if only the value is known.
    pub outcomes: Vec<f64>,
    /// Its line in the file, from 1.
    pub line: u64,
}

/// Columns of positions in the game's text form, in the order of preference.
pub const POSITION: [&str; 5] = ["position", "position_id", "xgid", "gnubg_id", "gnubgid"];

/// Reads positions in the game's text form: one per line, or a column of a table.
///
/// ```
/// use adept_game::{Game, files, sheet::Sheet, tiny::Nim};
///
/// let game = Nim::default();
/// let sheet = Sheet::parse("positions.txt".as_ref(), "3 4 5 @1\n# later\n0 4 4 @2\n");
/// let positions = files::positions(&game, &sheet)?;
/// assert_eq!(game.position_text(&positions[1].0), "0 4 4 @2");
/// # Ok::<(), adept_game::GameError>(())
/// ```
///
/// # Errors
/// The line that is not a position.
pub fn positions<G: Game>(game: &G, sheet: &Sheet) -> Result<Vec<ParsedPosition<G>>, GameError> {
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
pub fn position<G: Game>(game: &G, row: &Row<'_>, column: usize) -> Result<ParsedPosition<G>, GameError> {
    game.parse_position(row.text(column)).map_err(|e| row.fault(&e.to_string()))
}

/// [`PositionFiles::read_examples`](crate::PositionFiles::read_examples) of the game's text form.
pub(crate) fn read_examples<G: Game>(
    game: &G,
    results: &Results<G>,
    path: &Path,
) -> Result<Vec<Example<G::State>>, GameError> {
    if let Some(why) = no_examples(game) {
        let what = format!("{} has no labelled positions: {why}", game.name());
        return Err(GameError::new(format!("{}: {what}", path.display())));
    }
    let sheet = Sheet::read(path)?;
    let classes = (results.classes)(game).unwrap_or_default();
    let (column, values) = (sheet.column(&POSITION)?, Values::of(&sheet)?);
    let outcomes = Outcomes::of(&sheet, &classes, values)?;
    let (Some(column), true) = (column, values.is_some() || outcomes.is_some()) else {
        let names = sheet.shown_names();
        let classes: Vec<&str> = classes.iter().map(|class| &*class.name).collect();
        let or = if classes.is_empty() { String::new() } else { format!(", or {}", classes.join(", ")) };
        return Err(sheet.fault(&format!(
            "the first line is `{names}`; it must name the columns position and value (or win{or})"
        )));
    };
    let of_outcomes = outcomes.iter().flat_map(|outcomes| outcomes.columns.iter().copied());
    let used: Vec<usize> =
        [column].into_iter().chain(values.iter().map(|values| values.column())).chain(of_outcomes).collect();
    sheet.note_ignored(&used);
    let example = |row: Result<Row<'_>, GameError>| {
        let row = row?;
        let (state, _) = position(game, &row, column)?;
        if game.turn(&state) == Turn::Over {
            return Err(row.fault("the game is over, so its value is known"));
        }
        let Some(acted) = game.just_acted(&state) else {
            return Err(row.fault("nobody has moved yet: give positions after a move"));
        };
        // In the file for the player to move.
        let possible = (results.possible)(game, &classes, &state, acted).mirrored(&classes);
        let outcomes = outcomes.as_ref().map(|outcomes| outcomes.of_row(&row, possible)).transpose()?;
        let value = match (&outcomes, values) {
            (_, Some(values)) if !values.is_probability() => values.of_row(&row)?,
            (Some(p), _) => p.iter().zip(&classes).map(|(p, class)| p * f64::from(class.utility)).sum(),
            (None, Some(values)) => values.of_row(&row)?,
            (None, None) => f64::NAN,
        };
        // Values in a file are for the player to move; examples are for the one who just acted.
        let mirrored = |p: Vec<f64>| classes.iter().map(|class| p[class.mirror]).collect();
        let outcomes = outcomes.map_or_else(Vec::new, mirrored);
        Ok(Example { state, value: -value, outcomes, line: row.line })
    };
    sheet.rows().map(example).collect()
}

/// [`PositionFiles::has_values`](crate::PositionFiles::has_values) of the game's text form.
pub(crate) fn has_values<G: Game>(game: &G, results: &Results<G>, path: &Path) -> Result<bool, GameError> {
    limits::check_lasting(path).map_err(GameError::file(path))?;
    if no_examples(game).is_some() {
        return Ok(false);
    }
    let sheet = Sheet::read(path)?;
    let classes = (results.classes)(game).unwrap_or_default();
    let values = Values::of(&sheet)?;
    let labelled = values.is_some() || Outcomes::of(&sheet, &classes, None)?.is_some();
    Ok(sheet.column(&POSITION)?.is_some() && labelled)
}

/// [`PositionFiles::write`](crate::PositionFiles::write) of the game's text form.
pub(crate) fn write<G: Game>(
    game: &G,
    texts: &dyn Texts<G>,
    positions: &[ParsedPosition<G>],
    values: &[f32],
) -> String {
    let mut text = String::from("position,value\n");
    for ((state, action), value) in positions.iter().zip(values) {
        let _ = writeln!(text, "\"{}\",{value:.9}", texts.afterstate(game, state, action.as_ref()));
    }
    text
}

/// Columns with the probability of each class of outcomes, for the player to move.
struct Outcomes {
    columns: Vec<usize>,
}

impl Outcomes {
    /// The columns, if the table has one for every class.
    ///
    /// # Errors
    /// A column that is named twice, or a table that has columns for some classes only and no values.
    fn of(
        sheet: &Sheet,
        classes: &[OutcomeClass],
        values: Option<Values>,
    ) -> Result<Option<Self>, GameError> {
        let mut columns = Vec::with_capacity(classes.len());
        let mut lacks = None;
        for class in classes {
            // A column `win` alone is a probability of winning, as in files without classes.
            match sheet.column(&[&*class.name])? {
                Some(column) => columns.push(column),
                None => lacks = Some(&class.name),
            }
        }
        let named = columns.iter().filter(|&&column| sheet.names()[column] != "win").count();
        match lacks {
            None if !columns.is_empty() => Ok(Some(Self { columns })),
            // Beside values, they are columns for people.
            Some(lacks) if named > 0 && values.is_none_or(Values::is_probability) => {
                Err(sheet.fault(&format!("it has columns for some outcomes, and none for `{lacks}`")))
            }
            _ => Ok(None),
        }
    }

    /// The probabilities in a row, shared out among the possible classes.
    ///
    /// # Errors
    /// A number outside 0..1, a sum that is not 1, or no probability for the possible classes.
    fn of_row(&self, row: &Row<'_>, possible: OutcomeMask) -> Result<Vec<f64>, GameError> {
        let number = |&column: &usize| {
            let text = row.text(column);
            let p = text.trim().parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
            p.ok_or_else(|| row.fault(&format!("`{text}` is not a probability from 0 to 1")))
        };
        let mut all: Vec<f64> = self.columns.iter().map(number).collect::<Result<_, _>>()?;
        let sum: f64 = all.iter().sum();
        if (sum - 1.0).abs() > 1e-3 {
            return Err(row.fault(&format!("the probabilities of its outcomes add up to {sum}, expected 1")));
        }
        all.iter_mut().enumerate().filter(|(k, _)| !possible.allows(*k)).for_each(|(_, p)| *p = 0.0);
        let sum: f64 = all.iter().sum();
        if sum == 0.0 {
            return Err(row.fault("its outcomes are impossible in this position"));
        }
        Ok(all.iter().map(|p| p / sum).collect())
    }
}

/// Why a game has no files of labelled positions by default.
///
/// ```
/// use adept_game::{files, tiny::{Bluff, Nim}};
///
/// assert_eq!(files::no_examples(&Nim::default()), None);
/// assert_eq!(files::no_examples(&Bluff), Some("information is hidden"));
/// ```
pub fn no_examples<G: Game>(game: &G) -> Option<&'static str> {
    if game.hides() {
        Some("information is hidden")
    } else if !game.zero_sum() || game.players() != 2 {
        Some("it is not a zero-sum game of two players")
    } else {
        None
    }
}
