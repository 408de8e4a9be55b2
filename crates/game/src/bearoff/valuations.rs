//! What is known of the bear-off without learning, as evaluators of the game: the exact table, and estimates.

use super::estimates::{Convolution, Kleinman, Normal};
use super::two_sided::{Precision, Settings, Table, find};
use super::{Bearoff, Estimate, OneSided, Position};
use crate::encoder::Afterstate;
use crate::game::GameError;
use crate::registry::{FoundValuation, Valuation};
use crate::shared::Shared;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The valuations of the game, with a line about each.
pub(super) const ALL: [(&str, &str); 5] = [
    (
        "oracle",
        "exact values; oracle:FILE for a table file, else datasets/bearoff-N.table or solved in memory",
    ),
    ("oracle-32", "the same to 32 bits, as measures of lost equity need them"),
    ("convolution", "each side rolls for itself: the exact distributions of its number of rolls"),
    ("normal", "normal distributions of the same means and variances"),
    ("kleinman", "Kleinman's formula from the pips"),
];

/// The folder of table files where no file is named.
const FOLDER: &str = "datasets";

/// V of the side to roll.
type Value = Box<dyn Fn(Position) -> f64 + Send + Sync>;

/// A function of positions, with the side to roll as its perspective.
struct OfRoller(Value);

impl Valuation<Bearoff> for OfRoller {
    fn value(&self, _: &Bearoff, after: Afterstate<'_, Bearoff>) -> f64 {
        let value = (self.0)(after.state.position());
        if after.player == after.state.player { value } else { -value }
    }
}

/// The valuation of that name for positions of the game; none if there is none.
pub(super) fn valuation(game: &Bearoff, name: &str) -> FoundValuation<Bearoff> {
    let (name, file) = match name.split_once(':') {
        Some((name, file)) => (name, Some(Path::new(file))),
        None => (name, None),
    };
    let one_sided = || OneSided::shared(game.checkers());
    let estimate = |estimate: Box<dyn Estimate>| -> Value { Box::new(move |p| estimate.value(p)) };
    let value = match (name, file) {
        ("oracle" | "oracle-32", file) => {
            let least = if name == "oracle" { Precision::Bits16 } else { Precision::Bits32 };
            match table(game, file, least) {
                // All that can be asked is in the table, whose blocks are whole.
                Ok(table) => Box::new(move |position| table.value(position).unwrap_or(f64::NAN)),
                Err(error) => return Some(Err(error)),
            }
        }
        ("convolution", None) => estimate(Box::new(Convolution(one_sided()))),
        ("normal", None) => estimate(Box::new(Normal(one_sided()))),
        ("kleinman", None) => estimate(Box::new(Kleinman)),
        _ => return None,
    };
    Some(Ok(Arc::new(OfRoller(value))))
}

fn table(game: &Bearoff, file: Option<&Path>, least: Precision) -> Result<Arc<Table>, GameError> {
    static TABLES: Shared<(u8, Option<PathBuf>, Precision), Table> = Shared::new();
    TABLES.get((game.checkers(), file.map(Path::to_path_buf), least), || {
        let settings = Settings { precision: least, ..Settings::new(game.checkers()) };
        let found = find(file, Path::new(FOLDER), least, settings, || {}, &mut |_| {});
        let checked = found.and_then(|(table, _)| table.verify().map(|()| table));
        checked.map_err(|error| GameError(error.to_string()))
    })
}
