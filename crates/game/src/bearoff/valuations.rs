//! What is known of the bear-off without learning, as evaluators of the game: the exact table, and estimates.

use super::estimates::{Convolution, Kleinman, Normal};
use super::two_sided::{Settings, Table, find};
use super::{Bearoff, Estimate, OneSided, Position};
use crate::encoder::Afterstate;
use crate::game::GameError;
use crate::registry::{FoundValuation, Valuation};
use std::path::Path;
use std::sync::Arc;

/// The valuations of the game, with a line about each.
pub(super) const ALL: [(&str, &str); 4] = [
    (
        "oracle",
        "exact values; oracle:FILE for a table file, else datasets/bearoff-N.table or solved in memory",
    ),
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
    let one_sided = || Arc::new(OneSided::solve(game.checkers()));
    let estimate = |estimate: Box<dyn Estimate>| -> Value { Box::new(move |p| estimate.value(p)) };
    let value = match (name, file) {
        ("oracle", file) => match table(game, file) {
            // All that can be asked is in the table, whose blocks are whole.
            Ok(table) => Box::new(move |position| table.value(position).unwrap_or(f64::NAN)),
            Err(error) => return Some(Err(error)),
        },
        ("convolution", None) => estimate(Box::new(Convolution(one_sided()))),
        ("normal", None) => estimate(Box::new(Normal(one_sided()))),
        ("kleinman", None) => estimate(Box::new(Kleinman)),
        _ => return None,
    };
    Some(Ok(Arc::new(OfRoller(value))))
}

fn table(game: &Bearoff, file: Option<&Path>) -> Result<Table, GameError> {
    let settings = Settings::new(game.checkers());
    let found = find(file, Path::new(FOLDER), settings.precision, settings, || {}, &mut |_| {});
    let checked = found.and_then(|(table, _)| table.verify().map(|()| table));
    checked.map_err(|error| GameError(error.to_string()))
}
