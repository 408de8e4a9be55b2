//! Faults of settings, and the checks that several sections share.

use super::schedule::{Schedule, Shape};
use adept_game::GameInfo;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The dotted path of a setting, and what is wrong with it.
pub type Fault = (String, String);

/// A fault of the setting at `path`.
pub(super) fn fault<T>(path: &str, message: impl Into<String>) -> Result<T, Fault> {
    Err((path.to_string(), message.into()))
}

/// The first of these faults of the setting at `path` that there is.
pub(super) fn first_of(path: &str, faults: &[(bool, &str)]) -> Result<(), Fault> {
    faults.iter().find(|(is_there, _)| *is_there).map_or(Ok(()), |(_, message)| fault(path, *message))
}

/// Checks that a number lies in a range.
pub(super) fn check_range<T: PartialOrd + Display>(
    path: &str,
    found: T,
    range: RangeInclusive<T>,
) -> Result<(), Fault> {
    let (low, high) = (range.start(), range.end());
    let outside = || fault(path, format!("must lie in {low}..{high}, found {found}"));
    if range.contains(&found) { Ok(()) } else { outside() }
}

/// Said of a game whose states cannot all be searched.
pub(super) const NOT_SMALL: &str = "is too large for that (`is_small` is false)";

/// Checks that the game has the distribution `name`, if one is named.
pub(super) fn check_distribution(path: &str, name: Option<&str>, game: &GameInfo) -> Result<(), Fault> {
    let known: Vec<&str> = game.distributions.iter().map(|d| &*d.name).collect();
    match name {
        Some(name) if !known.contains(&name) => {
            let there = match known[..] {
                [] => ", or any other: every game starts from the same position".into(),
                _ => adept_model::names::suggest(name, &known),
            };
            fault(path, format!("{} has no distribution of positions `{name}`{there}", game.name))
        }
        _ => Ok(()),
    }
}

/// Checks that positions have values to learn from: those of a file, or exact ones.
pub(super) fn check_values(path: &str, from_file: bool, game: &GameInfo) -> Result<(), Fault> {
    if from_file || game.has_exact_values() {
        return Ok(());
    }
    let message = format!(
        "{} has no exact values: give a file of labelled positions as `examples`, such as `adept data build` writes, or use [learn.td]",
        game.name
    );
    fault(path, message)
}

/// Checks that the values of a schedule lie within these bounds.
pub(super) fn check_schedule(path: &str, schedule: &Schedule, low: f64, high: f64) -> Result<(), Fault> {
    let (least, most) = schedule.range();
    if !(schedule.from.is_finite() && schedule.to.is_finite()) {
        return fault(path, "is not a finite number");
    }
    if least < low || most > high {
        let found = if least < low { least } else { most };
        return fault(path, format!("must lie in {low}..{high}, found {found:?}"));
    }
    if schedule.shape == Shape::Exponential && least <= 0.0 {
        return fault(path, "an exponential schedule needs both ends above 0");
    }
    Ok(())
}
