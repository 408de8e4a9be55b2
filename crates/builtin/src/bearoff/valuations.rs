//! The bear-off's valuations: the exact table and the estimates.

use super::estimates::{Kleinman, Normal, Rolls};
use super::halves::Pairs;
use super::rank;
use super::two_sided::{Precision, Settings, Source, Table, find, usual_file};
use super::{Bearoff, Estimate, MAX_CHECKERS, OneSided, Position, State};
use crate::shared::Shared;
use adept_game::{Afterstate, Found, GameError, Halves, Purpose, Reference, Valuation};
use adept_ground::{limits, places, work};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The valuations with one-line descriptions.
pub(super) const ALL: [(&str, &str); 5] = [
    (
        "oracle",
        "exact values; oracle:FILE reads a table file; default: datasets/bearoff-N.table, or solved in memory",
    ),
    ("oracle-32", "exact values in 32 bits, as measures of lost equity need them"),
    ("convolution", "from the exact distributions of each side's number of rolls"),
    ("normal", "normal distributions of the same means and variances"),
    ("kleinman", "Kleinman's formula from the pips"),
];

/// The default folder of table files.
const FOLDER: &str = "datasets";

/// V of the side to roll.
type Value = Box<dyn Fn(Position) -> f64 + Send + Sync>;

/// Prefetches the memory that a value will read.
type Fetch = Box<dyn Fn(Position) + Send + Sync>;

/// A function of positions with values for the side to roll.
struct RollerValuation {
    value: Value,
    /// Prefetches the memory that it reads.
    fetch: Option<Fetch>,
}

impl Valuation<Bearoff> for RollerValuation {
    fn value(&self, _: &Bearoff, after: Afterstate<'_, Bearoff>) -> f64 {
        let value = (self.value)(after.state.position());
        if after.player == after.state.player { value } else { -value }
    }

    fn fetch(&self, _: &Bearoff, after: Afterstate<'_, Bearoff>) {
        if let Some(fetch) = &self.fetch {
            fetch(after.state.position());
        }
    }
}

/// The valuation named `name` for positions of the game. None if the name is unknown.
pub(super) fn valuation(game: &Bearoff, name: &str) -> Found<Arc<dyn Valuation<Bearoff>>> {
    let (name, file) = match name.split_once(':') {
        Some((name, file)) => (name, Some(Path::new(file))),
        None => (name, None),
    };
    let settings = |precision| Settings { precision, ..Settings::new(game.checkers()) };
    let one_sided = || OneSided::shared(game.checkers());
    let estimate = |estimate: Box<dyn Estimate>| -> Value { Box::new(move |p| estimate.value(p)) };
    let (value, fetch): (Value, Option<Fetch>) = match (name, file) {
        ("oracle" | "oracle-32", file) => {
            let least = if name == "oracle" { Precision::Bits16 } else { Precision::Bits32 };
            match table(file, least, settings(least)) {
                Ok(table) => of_table(table),
                Err(error) => return Some(Err(error)),
            }
        }
        ("convolution", None) => {
            let (rolls, same) = (Rolls::shared(game.checkers()), Rolls::shared(game.checkers()));
            (Box::new(move |p| rolls.value(p)), Some(Box::new(move |p| same.fetch(p))))
        }
        ("normal", None) => (estimate(Box::new(Normal(one_sided()))), None),
        ("kleinman", None) => (estimate(Box::new(Kleinman)), None),
        _ => return None,
    };
    Some(Ok(Arc::new(RollerValuation { value, fetch })))
}

/// Values of a table that holds every position of the game and whose blocks have been checked.
fn of_table(table: Arc<Table>) -> (Value, Option<Fetch>) {
    let same = table.clone();
    let value: Value = Box::new(move |position| table.value(position).unwrap_or(f64::NAN));
    (value, Some(Box::new(move |position| same.fetch(position))))
}

/// The smallest table that holds these positions.
pub(super) fn for_positions(
    game: &Bearoff,
    states: &[State],
    purpose: Purpose,
) -> Result<Arc<dyn Valuation<Bearoff>>, GameError> {
    let most = states.iter().map(|state| state.position().checkers()).max();
    let of_none = if purpose == Purpose::Show { game.checkers() } else { 1 };
    let checkers = most.unwrap_or(of_none).clamp(1, game.checkers());
    let settings = match purpose {
        Purpose::Show => Settings::for_values(checkers, None),
        // A table that takes no time to solve is solved precisely.
        Purpose::Label if checkers <= QUICK => {
            Settings { precision: Precision::Bits32, ..Settings::new(checkers) }
        }
        Purpose::Label => Settings { precision: Precision::Bits16, ..Settings::new(checkers) },
    };
    // A file of 16 bits does for values to print.
    let least = if purpose == Purpose::Show { Precision::Bits16 } else { settings.precision };
    let (value, fetch) = of_table(table(None, least, settings)?);
    Ok(Arc::new(RollerValuation { value, fetch }))
}

/// The exact values of positions with few checkers, and of all if there is a table file.
pub(super) fn references(game: &Bearoff) -> Result<Vec<Reference<Bearoff>>, GameError> {
    let checkers = game.checkers().min(QUICK);
    let table = |game: &Bearoff, name: &str| valuation(game, name).transpose();
    let few = Bearoff::new(checkers).map(|few| table(&few, "oracle-32")).transpose()?.flatten();
    let mut all = Vec::new();
    all.extend(few.map(|valuation| Reference {
        name: format!("exact values up to {checkers} checkers").into(),
        valuation,
    }));
    let has_file =
        (game.checkers()..=MAX_CHECKERS).any(|n| places::find(&usual_file(Path::new(FOLDER), n)).is_some());
    if game.checkers() > QUICK && has_file {
        all.extend(table(game, "oracle")?.map(|valuation| Reference { name: "oracle".into(), valuation }));
    }
    Ok(all)
}

/// All positions of the game with the values of the oracle.
pub(super) fn halves(game: &Bearoff) -> Result<Box<dyn Halves<Bearoff>>, GameError> {
    Ok(Box::new(Pairs::new(game, exact_table(game)?)))
}

/// Describes the time and memory that solving a table takes.
pub fn solving(settings: Settings) -> String {
    let Settings { checkers, precision, .. } = settings;
    let bytes = precision.bytes(rank::sides(checkers));
    let memory = limits::size(bytes as u64);
    let what = format!("solving the table of {checkers} checkers in {} bits", precision.bits());
    // The memory of a small table is not worth mentioning.
    if bytes < 1_000_000 { what } else { format!("{what}, {memory} of memory") }
}

/// Checkers up to which a table takes less than a tenth of a second to solve.
const QUICK: u8 = 8;

/// Checkers from which a table takes long to solve.
const LARGE: u8 = 12;

/// Says how to store a table that takes long to solve.
fn keep(checkers: u8, least: Precision) -> String {
    // A table that is built without the option has 16 bits, so one of 32 bits would be solved again each time.
    let bits = if least == Precision::Bits32 { " --bits 32" } else { "" };
    match checkers {
        LARGE.. => format!("; `adept oracle build --checkers {checkers}{bits}` keeps it for all commands"),
        _ => String::new(),
    }
}

/// The exact table of a game: from the default file, or solved in memory.
pub(crate) fn exact_table(game: &Bearoff) -> Result<Arc<Table>, GameError> {
    table(None, Precision::Bits16, Settings::new(game.checkers()))
}

/// The table of a file, of a default file with at least this precision, or solved with these settings.
fn table(file: Option<&Path>, least: Precision, settings: Settings) -> Result<Arc<Table>, GameError> {
    static TABLES: Shared<(u8, Option<PathBuf>, Precision, Precision), Table> = Shared::new();
    let checkers = settings.checkers;
    TABLES.get((checkers, file.map(Path::to_path_buf), least, settings.precision), || {
        let why = if least == Precision::Bits32 && checkers >= LARGE {
            "; 16 bits are too coarse for lost values"
        } else {
            ""
        };
        let what = solving(settings) + why + &keep(checkers, least);
        // A table that is solved instantly needs no message.
        let share = |share| {
            if checkers > QUICK {
                work::share(&what, share);
            }
        };
        let begin = || share(0.0);
        if file.is_none() && settings.precision == Precision::Bits64 {
            // Solving a small table takes less time than checking a file.
            return Ok(Table::solve(settings, &mut |_| ())?.0);
        }
        let found = find(file, Path::new(FOLDER), least, settings, begin, &mut |p| share(p.share));
        let checked = found.and_then(|(table, source)| {
            let Source::File(path) = source else { return Ok(table) };
            let what = format!("checking {}", path.display());
            work::share(&what, 0.0);
            let checked = table.verify();
            work::share(&what, 1.0);
            checked.map(|()| table)
        });
        checked.map_err(GameError::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_is_kept_is_precise_enough() {
        assert!(keep(14, Precision::Bits16).contains("`adept oracle build --checkers 14`"));
        assert!(keep(14, Precision::Bits32).contains("`adept oracle build --checkers 14 --bits 32`"));
        assert!(keep(6, Precision::Bits32).is_empty());
    }
}
