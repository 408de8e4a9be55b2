//! Exact values of money games with the cube and up to three checkers a side.

use super::Table;
use super::cubeful::CubefulTable;
use crate::backgammon::{Backgammon, Rules, Stage, State, usual_file};
use crate::doubling::CubeOwner;
use adept_game::{Afterstate, Game, GameError, Valuation};
use adept_ground::places;
use adept_ground::shared::Shared;
use std::path::PathBuf;
use std::sync::Arc;

impl Backgammon {
    /// Whether a table holds its exact values with the cube.
    pub(in crate::backgammon) fn has_cubeful_table(&self) -> bool {
        self.checkers() <= Table::MOST && matches!(self.rules(), Rules::Money { beavers: false, .. })
    }
}

/// The default file of the table with the cube of a game with as many checkers, by any rules.
pub fn usual_cube_file(game: &Backgammon) -> PathBuf {
    let plain = usual_file(&Backgammon::new(game.checkers()).unwrap_or(*game));
    let name = plain.file_stem().unwrap_or_default().display();
    plain.with_file_name(format!("{name}-cube.table"))
}

/// The table with the cube of a file, or of the default file; with one or two checkers a side, a new one.
///
/// # Errors
/// The system's reason, what is wrong with the file, that it is the table of another game, or that there is none.
pub fn cubeful_table(
    game: &Backgammon,
    file: Option<PathBuf>,
    threads: usize,
) -> Result<Arc<CubefulTable>, GameError> {
    static TABLES: Shared<(u8, Option<PathBuf>), CubefulTable> = Shared::new();
    let checkers = game.checkers();
    let file = file.or_else(|| places::find(&usual_cube_file(game)));
    TABLES.get((checkers, file.clone()), || {
        let Some(path) = file else {
            if checkers < Table::MOST {
                return CubefulTable::solve(checkers, CubefulTable::WIDTH, threads);
            }
            return Err(GameError::new(format!(
                "{}: there is no such table: `adept oracle build --game hypergammon --cube` solves it once",
                usual_cube_file(game).display(),
            )));
        };
        let table = CubefulTable::open(&path)?;
        match table.checkers() {
            found if found == checkers => Ok(table),
            found => Err(GameError::Table(format!(
                "{}: its sides have {found} checkers and not {checkers}",
                path.display()
            ))),
        }
    })
}

/// Exact values of all stages of a money game. The cube may be turned without limit in the tables.
pub(in crate::backgammon) struct CubefulExact(pub(in crate::backgammon) Arc<CubefulTable>);

impl Valuation<Backgammon> for CubefulExact {
    fn value(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>) -> f64 {
        let state: &State = after.state;
        let jacoby = matches!(game.rules(), Rules::Money { jacoby: true, .. });
        if game.turn(state) == adept_game::Turn::Over {
            return game.utility(state, after.player) / game.scale();
        }
        let owner = match state.stakes.owner() {
            None => CubeOwner::Centred,
            Some(owner) if owner == state.player => CubeOwner::Own,
            Some(_) => CubeOwner::Theirs,
        };
        let equity = match (self.0.equities(state.position(), jacoby), state.stage) {
            (Some(equities), Stage::Roll | Stage::Rolling) => equities.no_double(owner),
            (Some(equities), Stage::Cube) => equities.value(owner),
            (Some(equities), Stage::Doubled) => equities.double_take().min(1.0),
            // Nobody beavers in these rule sets, and nobody values a position before a move or the opening roll.
            _ => f64::NAN,
        };
        let points = equity * f64::from(state.stakes.cube()) / game.scale();
        if after.player == state.player { points } else { -points }
    }
}
