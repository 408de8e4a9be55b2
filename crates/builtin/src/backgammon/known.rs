//! Table valuations for some of the positions: races by one-sided tables, bear-offs by two-sided ones.

use super::race::{self, Races, Rolls, SideRolls};
use super::{Backgammon, Position, Side, Stage};
use crate::bearoff::one_sided::gnubg::{GnubgOneSided, ROLLS};
use crate::bearoff::two_sided::Table;
use crate::bearoff::{self, Bearoff};
use crate::shared::Kept;
use adept_game::{Afterstate, Found, Game, GameError, Named, Reference, Valuation};
use adept_ground::places;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the table of all races.
const RACE: &str = "race";

/// Numbers of points of race tables.
const POINTS: RangeInclusive<usize> = 6..=10;

/// Largest number of checkers a side of two-sided tables. With 15, gammons would be possible.
const MOST: u8 = 14;

/// Names and descriptions of the usual tables.
pub(super) fn names() -> Vec<Named> {
    let race = |points| {
        Named {
        name: format!("race-{points}").into(),
        about: format!(
            "races with all checkers on the first {points} points, gammons included, by each side's number of rolls; datasets/race-{points}.bd, or solved in memory"
        )
        .into(),
    }
    };
    let bearoff = |checkers| {
        Named {
        name: format!("bearoff-{checkers}").into(),
        about: format!(
            "exact bear-offs with at most {checkers} checkers a side, of which some are off; datasets/bearoff-{checkers}.table, or solved in memory"
        )
        .into(),
    }
    };
    let any = Named {
        name: RACE.into(),
        about: "all races of 15 checkers a side, by each side's number of rolls: a table with all checkers home, rolls followed near home, else a small network"
            .into(),
    };
    [6, 8, 10].map(race).into_iter().chain([6, 8, 10].map(bearoff)).chain([any]).collect()
}

/// The table of this name. Tables are cached for the lifetime of the process, because agents come and go.
pub(super) fn table(game: &Backgammon, name: &str) -> Found<Arc<dyn Valuation<Backgammon>>> {
    static TABLES: Kept<(u8, String), Arc<dyn Valuation<Backgammon>>> = Kept::new();
    let checkers = game.checkers();
    // The cube changes nothing in a table.
    TABLES.get((checkers, name.into()), || opened(&Backgammon::new(checkers).unwrap_or(*game), name))
}

/// Tables that are solved instantly, and larger ones whose files exist.
pub(super) fn references(game: &Backgammon) -> Result<Vec<Reference<Backgammon>>, GameError> {
    let has_file = |checkers: &u8| {
        let checkers = (*checkers).min(game.checkers());
        places::find(&Path::new("datasets").join(format!("bearoff-{checkers}.table"))).is_some()
    };
    let checkers = [MOST, 12, 10].into_iter().find(has_file).unwrap_or(8);
    let points =
        [10, 8].into_iter().find(|points| places::find(&race_file(game, *points)).is_some()).unwrap_or(6);
    let names = [format!("bearoff-{checkers}"), format!("race-{points}")];
    let opened = names.into_iter().filter_map(|name| {
        let found = table(game, &name)?;
        Some(found.map(|valuation| Reference { name: name.into(), valuation }))
    });
    opened.collect()
}

fn opened(game: &Backgammon, name: &str) -> Found<Arc<dyn Valuation<Backgammon>>> {
    if name == RACE {
        return Some(match game.checkers() {
            15 => near(game, *POINTS.start()).map(|table| Arc::new(TableValuation(Races::new(table))) as _),
            _ => Err(GameError::new(format!(
                "`{name}` is of 15 checkers a side: write race-8 for {}",
                game.name()
            ))),
        });
    }
    let (kind, number) = name.split_once('-')?;
    let wrong = |what: &str| Some(Err(GameError::new(format!("`{name}`: {what}"))));
    match (kind, number.parse::<u8>()) {
        ("race", Ok(points)) if POINTS.contains(&usize::from(points)) => Some(
            near(game, usize::from(points))
                .map(|table| Arc::new(TableValuation(Near { table, points })) as _),
        ),
        ("race", _) => wrong("write race-P with P points, 6 to 10, or race for all races"),
        ("bearoff", Ok(checkers)) if (1..=MOST).contains(&checkers) => {
            let checkers = checkers.min(game.checkers());
            let table = bearoff::exact_table(&Bearoff::new(checkers)?);
            Some(table.map(|table| Arc::new(TableValuation(Exact { table, checkers })) as _))
        }
        ("bearoff", _) => wrong("write bearoff-N with N checkers, 1 to 14"),
        _ => None,
    }
}

/// The default file of a race table.
pub fn race_file(game: &Backgammon, points: usize) -> PathBuf {
    let name = match game.checkers() {
        15 => format!("race-{points}.bd"),
        _ => format!("{}-race-{points}.bd", game.name().replace(':', "-")),
    };
    Path::new("datasets").join(name)
}

/// A race table from the default file, or solved in memory.
fn near(game: &Backgammon, points: usize) -> Result<GnubgOneSided, GameError> {
    let checkers = game.checkers();
    let Some(path) = places::find(&race_file(game, points)) else {
        return Ok(GnubgOneSided::solve(points, checkers));
    };
    let table = GnubgOneSided::open(&path)?;
    let fault = |what: String| Err(GameError::Table(format!("{}: {what}", path.display())));
    if (table.points(), table.checkers()) != (points, checkers) {
        return fault(format!(
            "has {} points and {} checkers; {points} and {checkers} are needed",
            table.points(),
            table.checkers()
        ));
    }
    if !table.has_gammons() {
        return fault("has no distributions for gammons: build it with `adept oracle build`".into());
    }
    table.check()?;
    Ok(table)
}

/// The chances of the side to roll.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Chances {
    win: f64,
    win_gammon: f64,
    loss_gammon: f64,
    win_backgammon: f64,
    loss_backgammon: f64,
}

impl Chances {
    /// Points.
    fn equity(self) -> f64 {
        let gammons = self.win_gammon + self.win_backgammon - self.loss_gammon - self.loss_backgammon;
        2.0 * self.win - 1.0 + gammons
    }

    /// The classes of results from loss_backgammon to win_backgammon.
    fn classes(self) -> [f64; 6] {
        let Self { win, win_gammon, loss_gammon, win_backgammon, loss_backgammon } = self;
        [
            loss_backgammon,
            loss_gammon - loss_backgammon,
            1.0 - win - loss_gammon,
            win - win_gammon,
            win_gammon - win_backgammon,
            win_backgammon,
        ]
    }
}

/// Gives the chances of the side to roll.
trait ChanceSource: Send + Sync {
    /// None if unknown.
    fn chances(&self, to_roll: Position) -> Option<Chances>;
}

/// Valuation by a table.
struct TableValuation<T>(T);

impl<T: ChanceSource> Valuation<Backgammon> for TableValuation<T> {
    fn value(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>) -> f64 {
        self.tell(game, after, &mut Vec::new()).unwrap_or(f64::NAN)
    }

    fn tell(
        &self,
        game: &Backgammon,
        after: Afterstate<'_, Backgammon>,
        outcomes: &mut Vec<f32>,
    ) -> Option<f64> {
        let position = after.state.position();
        let has_ended =
            matches!(after.state.stage, Stage::Dropped | Stage::Resigned(_)) || position.is_over();
        if has_ended || matches!(after.state.stage, Stage::Opening | Stage::Move(_)) {
            return None;
        }
        let chances = self.0.chances(position)?;
        let (mut classes, mut equity) = (chances.classes(), chances.equity());
        if after.player != after.state.player {
            classes.reverse();
            equity = -equity;
        }
        outcomes.extend(classes.map(|p| p as f32));
        Some(equity / game.scale())
    }
}

/// Distributions of the number of rolls that both sides of a race need. A side wins if it needs no more rolls than its
/// opponent; it wins a gammon if the opponent has not borne off a checker by then, and a backgammon if the opponent
/// still has a checker in the side's home. Each distribution assumes that a side ignores its opponent, so chances are
/// close to exact.
trait Race: Send + Sync {
    /// The rolls of a side; none if unknown.
    fn side(&self, side: Side) -> Option<SideRolls>;
}

/// Table of sides on the first points.
struct Near {
    table: GnubgOneSided,
    points: u8,
}

impl Race for Near {
    fn side(&self, side: Side) -> Option<SideRolls> {
        if side.reaches(self.points + 1) {
            return None;
        }
        let places = side.places();
        // Opening the file checked the entries.
        let (all, first) = self.table.rolls(&places[1..=usize::from(self.points)]).ok()??;
        let longer = |rolls: [f64; ROLLS]| std::array::from_fn(|k| rolls.get(k).copied().unwrap_or(0.0));
        Some(SideRolls::new([longer(all), longer(first?), race::none()]))
    }
}

impl Race for Races {
    fn side(&self, side: Side) -> Option<SideRolls> {
        Some(self.side(side))
    }
}

impl<R: Race> ChanceSource for R {
    fn chances(&self, position: Position) -> Option<Chances> {
        if position.has_contact() {
            return None;
        }
        let (own, other) = (self.side(position.own)?, self.side(position.opponent)?);
        // After this side's k-th roll, the opponent has rolled k − 1 times.
        let before = |left: &Rolls| sum_of_products(&own.all[1..], &left[1..]);
        let after = |left: &Rolls| sum_of_products(&other.all[1..race::MOST - 1], &left[2..]);
        let win = before(&other.all_left).min(1.0);
        let win_gammon = before(&other.first_left).min(win);
        let loss_gammon = after(&own.first_left).min(1.0 - win);
        let win_backgammon = before(&other.out_left).min(win_gammon);
        let loss_backgammon = after(&own.out_left).min(loss_gammon);
        Some(Chances { win, win_gammon, loss_gammon, win_backgammon, loss_backgammon })
    }
}

/// Dot product Σ a b of two slices of the same length.
fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        (0..LANES).for_each(|k| sums[k] += a[k] * b[k]);
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// The bear-off that a position is, if each side has at most so many checkers left and has borne off one.
pub(super) fn bearoff_of(position: Position, checkers: u8) -> Option<bearoff::Position> {
    let half = |side: Side| {
        if side.reaches(7) || side.off() == 0 {
            return None;
        }
        let places = side.places();
        let left: u8 = places[1..].iter().sum();
        (left <= checkers).then(|| bearoff::Side::new(std::array::from_fn(|k| places[k + 1]))).flatten()
    };
    Some(bearoff::Position { own: half(position.own)?, opponent: half(position.opponent)? })
}

/// A two-sided table. It covers positions where each side has borne off a checker, so that no gammon is possible.
struct Exact {
    table: Arc<Table>,
    checkers: u8,
}

impl ChanceSource for Exact {
    fn chances(&self, position: Position) -> Option<Chances> {
        let position = bearoff_of(position, self.checkers)?;
        // Opening the table checked its blocks.
        let value = self.table.value(position).ok()?;
        Some(Chances { win: (1.0 + value) / 2.0, ..Chances::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::State;
    use adept_game::Kit;

    fn chances(game: &Backgammon, name: &str, text: &str) -> Option<[f32; 6]> {
        let (state, _) = game.parse_position(text).unwrap();
        let table = game.values().tables.open(name).unwrap().unwrap();
        let after = Afterstate { state: &state, action: None, player: 0 };
        let mut classes = Vec::new();
        let told = table.tell(game, after, &mut classes);
        assert_eq!(told.is_some(), !table.value(game, after).is_nan());
        if let Some(value) = told {
            assert_eq!(value, table.value(game, after));
            let points: f32 = classes.iter().zip([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]).map(|(p, w)| p * w).sum();
            assert!((f64::from(points) - value * 3.0).abs() < 1e-6);
            // The other player sees the mirror image.
            let other = Afterstate { player: 1, ..after };
            let mut mirrored = Vec::new();
            assert_eq!(table.tell(game, other, &mut mirrored), Some(-value));
            mirrored.reverse();
            assert_eq!(mirrored, classes);
        }
        told.map(|_| classes.try_into().unwrap())
    }

    #[test]
    fn gammons_of_races_are_those_of_the_first_checker() {
        let game = Backgammon::default();
        // One checker each: the side to roll wins immediately.
        assert_eq!(chances(&game, "race-6", "1:1/1:1"), Some([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]));
        // The opponent has all its checkers on its ace point and never rolls: a gammon.
        assert_eq!(chances(&game, "race-6", "1:1/1:15"), Some([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]));
        // The opponent rolls first, so the roles swap.
        let found = chances(&game, "race-6", "1:15/1:1").unwrap();
        assert_eq!(
            found,
            [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            "one roll bears off a checker and saves the gammon"
        );
        // 12 of the 36 throws bear off no checker: 11, 21, 22, 31, 33, 42, 43 and 44. The next roll ends the game.
        let found = chances(&game, "race-6", "5:15/1:1").unwrap();
        assert!((found[1] - 12.0 / 36.0).abs() < 1e-4, "{found:?}");
        // By enumeration. The home has gaps, so that where its checkers stand counts.
        let found = chances(&game, "race", "1:3/7:1 6:1 1:13").unwrap();
        assert!((found[4] - 0.352).abs() < 5e-3, "{found:?}");
        // The last checker comes home and off with 5-5 or 6-6.
        let found = chances(&game, "race", "20:1/1:1").unwrap();
        assert!((found[3] - 2.0 / 36.0).abs() < 1e-4, "{found:?}");
        assert_eq!(chances(&game, "race-6", "7:1/1:1"), None, "a point outside");
        assert_eq!(chances(&game, "race-6", "6:1/20:1"), None, "the other side is not home");
        assert_eq!(chances(&game, "race-6", "6:1/1:1 31"), None, "before a move");
    }

    #[test]
    fn two_sided_tables_know_no_gammons() {
        let game = Backgammon::default();
        let exact = chances(&game, "bearoff-4", "6:2/6:2").unwrap();
        let race = chances(&game, "race-6", "6:2/6:2").unwrap();
        assert!((exact[3] - race[3]).abs() < 1e-3, "{exact:?} {race:?}");
        assert_eq!(chances(&game, "bearoff-4", "6:5/6:2"), None);
        assert_eq!(chances(&game, "bearoff-4", "1:4/1:15"), None, "a gammon");
    }

    /// With one checker, a side has only one way to play, and the table is exact.
    #[test]
    fn tables_of_races_have_the_exact_values_of_one_checker() {
        let game = Backgammon::new(1).unwrap();
        let oracle = game.values().valuations.open("oracle").unwrap().unwrap();
        let race = game.values().tables.open("race-8").unwrap().unwrap();
        let mut gammons = 0;
        for (a, b) in (1..=8).flat_map(|a| (1..=8).map(move |b| (a, b))) {
            let side = |at: usize| Side::new(std::array::from_fn(|place| u8::from(place == at)));
            let state = State::to_roll(Position { own: side(a), opponent: side(b) });
            let after = Afterstate { state: &state, action: None, player: 0 };
            let (exact, found) = (oracle.value(&game, after), race.value(&game, after));
            assert!(3.0 * (exact - found).abs() < 1e-4, "{a} {b}: {exact} {found}");
            gammons += usize::from(3.0 * exact > 1.0);
        }
        assert!(gammons > 40);
    }

    /// Positions of games, and their equities by GNU Backgammon at 2 ply: bear-offs, races, gammons and backgammons.
    #[test]
    fn usual_tables_agree_with_gnu_backgammon() {
        let game = Backgammon::default();
        let names = game.values().usual_tables.unwrap().split('+');
        let tables: Vec<_> = names.map(|name| game.values().tables.open(name).unwrap().unwrap()).collect();
        let text = include_str!("../../../../datasets/backgammon-gnubg.csv");
        for (kind, most, count) in [("bear-off,", 0.002, 200), ("race,", 0.01, 400)] {
            let (mut squares, mut rows) = (0.0, 0);
            for (position, equity) in text.lines().filter_map(|line| line.strip_prefix(kind)?.split_once(','))
            {
                let (state, _) = game.parse_position(position).unwrap();
                let after = Afterstate { state: &state, action: None, player: 0 };
                let value =
                    tables.iter().find_map(|table| table.tell(&game, after, &mut Vec::new())).unwrap();
                squares += (3.0 * value - equity.parse::<f64>().unwrap()).powi(2);
                rows += 1;
            }
            let rms = (squares / f64::from(rows)).sqrt();
            assert!(rows == count && rms <= most, "{kind} {rows} {rms}");
        }
    }

    #[test]
    fn wrong_names_are_answered() {
        let game = Backgammon::default();
        let error =
            |name: &str| game.values().tables.open(name).map(|found| found.err().unwrap().to_string());
        assert!(error("race-11").unwrap().contains("race-P with P points, 6 to 10"));
        assert!(error("bearoff-15").unwrap().contains("1 to 14"));
        assert!(game.values().tables.open("nothing").is_none());
    }
}
