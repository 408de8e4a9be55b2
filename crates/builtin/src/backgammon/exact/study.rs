//! How wrong models of the cube are in backgammon with few checkers, whose exact equities are known.

use super::cubeful::CubefulTable;
use super::pool;
use crate::backgammon::cube::study::{
    CaseKind, CubeStudy, Estimate, Estimator, Solved, Study, Unit, Words, parts,
};
use crate::backgammon::cube::{Chances, Efficiency};
use crate::backgammon::kit::any_position;
use crate::backgammon::{Position, Side, moves};
use crate::dice::Roll;
use crate::doubling::{CubeEquities, CubeOwner};
use adept_game::{GameError, stream};
use adept_ground::{jobs, work};
use rand::Rng;
use xxhash_rust::xxh3::xxh3_64;

/// Settings of a study.
#[derive(Clone, Copy, Debug)]
pub struct StudySettings {
    /// Whether gammons count one point until the cube is turned.
    pub jacoby: bool,
    /// Number of positions on which efficiencies are chosen, and number of other ones on which models are measured. Each is drawn uniformly
    /// from its half of all positions.
    pub positions: u64,
    /// Number of games.
    pub games: u64,
    /// Seed of the positions and games.
    pub seed: u64,
    /// Number of threads; 0 means one per core. The result does not depend on it.
    pub threads: usize,
}

/// Names of the classes of positions. With contact: `off` if a side has borne off a checker; `back` if both sides have one in the other's home or on
/// the bar; else `contact`. Races are divided by the pips of the side that needs fewer.
const CLASSES: [&str; 6] = ["back", "contact", "off", "race", "race < 21", "race < 9"];

/// Positions whose estimates are computed at once.
const BLOCK: u64 = 256;

/// Purposes of the streams of drawn positions: to choose efficiencies, and to measure models.
const STREAMS: [&str; 2] = ["positions for the efficiency of the cube", "positions with the cube"];

impl StudySettings {
    /// Chooses efficiencies on drawn positions of one half, and measures all models on drawn positions of the other half and along games.
    /// Models use the exact chances, then each of `estimators`. Reports progress.
    ///
    /// # Errors
    /// If the system starts no threads, and those of estimators.
    pub fn run(
        self,
        table: &CubefulTable,
        estimators: Vec<Estimator<'_, Position, GameError>>,
    ) -> Result<CubeStudy, GameError> {
        let threads = pool(self.threads)?;
        let chances = table.chances(self.threads)?;
        let exact = |positions: &[Position]| -> Result<Vec<Chances>, GameError> {
            positions.iter().map(|&position| known(chances.chances(position), position)).collect()
        };
        let exact = Estimator { name: "exact".into(), estimate: Estimate::Chances(Box::new(exact)) };
        let solved = Exact { table, jacoby: self.jacoby };
        let mut study = Study {
            solved: &solved,
            pool: &threads,
            jacoby: self.jacoby,
            words: Words { classes: &CLASSES, by_class: "class", usual: "gnubg's x", usual_efficiency: None },
            estimators: [exact].into_iter().chain(estimators).collect(),
            models: Vec::new(),
        };

        let blocks = self.positions.div_ceil(BLOCK);
        let units = |half: u8, block: u64| -> Result<Vec<Unit<Position>>, GameError> {
            let numbers = block * BLOCK..self.positions.min((block + 1) * BLOCK);
            numbers.map(|number| solved.unit(self.draw(half, number, table.checkers()), half == 1)).collect()
        };
        let what = "looking up positions";
        let mut cases = Vec::new();
        for part in parts(0..blocks as usize, what) {
            let of_block = |block: usize| study.cases(&units(0, block as u64)?);
            cases.extend(jobs::try_all(Some(&threads), part, &of_block)?);
        }
        work::share(what, 1.0);
        let fitted = study.choose(cases);

        let of_block = |block: u64| study.measure(&units(1, block)?, true);
        let positions = study.samples("measuring positions", blocks, &of_block)?;
        let games = study.games(self.games, self.seed)?;
        Ok(study.finish(fitted, positions, games))
    }

    /// A position of a half, 0 or 1, and a roll.
    fn draw(self, half: u8, number: u64, checkers: u8) -> (Position, Roll) {
        let rng = &mut stream(self.seed, STREAMS[usize::from(half)], number);
        let mut position = any_position(checkers, rng).position();
        while self::half(position) != half {
            position = any_position(checkers, rng).position();
        }
        (position, Roll::throw(rng))
    }
}

/// The half of all positions to which a position belongs, 0 or 1.
fn half(Position { own, opponent }: Position) -> u8 {
    (xxh3_64(&[own.places(), opponent.places()].concat()) & 1) as u8
}

/// A number that tables have of a position.
fn known<T>(number: Option<T>, position: Position) -> Result<T, GameError> {
    number.ok_or_else(|| GameError::new(format!("{position}: the table does not have it")))
}

/// The exact equities of a game.
struct Exact<'a> {
    table: &'a CubefulTable,
    jacoby: bool,
}

impl Exact<'_> {
    /// A position for all owners of the cube, with or without the move of a roll.
    fn unit(&self, (position, roll): (Position, Roll), with_move: bool) -> Result<Unit<Position>, GameError> {
        let mut unit = Unit::default();
        unit.add(position, self.equities(position)?, &CubeOwner::ALL);
        if with_move {
            unit.add_move(self, position, roll, &CubeOwner::ALL)?;
        }
        Ok(unit)
    }
}

impl Solved for Exact<'_> {
    type Position = Position;
    type Error = GameError;
    const GAMES: &'static str = "games of backgammon with few checkers and the cube";

    fn equities(&self, position: Position) -> Result<CubeEquities, GameError> {
        known(self.table.equities(position, self.jacoby), position)
    }

    fn kind(&self, position: Position) -> CaseKind {
        let Position { own, opponent } = position;
        let is_back = |side: Side| side.reaches(19);
        let class = match position.has_contact() {
            true if own.off() + opponent.off() > 0 => 2,
            true if is_back(own) && is_back(opponent) => 0,
            true => 1,
            false => match own.pips().min(opponent.pips()) {
                0..9 => 5,
                9..21 => 4,
                _ => 3,
            },
        };
        CaseKind { class, usual: Efficiency::default().at(position) as f32 }
    }

    fn is_over(&self, position: Position) -> bool {
        position.is_over()
    }

    fn after(&self, position: Position, roll: Roll) -> Vec<Position> {
        let mut found: Vec<Position> = Vec::new();
        moves::results(position, roll, &mut found);
        found.into_iter().map(Position::swapped).collect()
    }

    fn best(&self, position: Position, roll: Roll, owner: CubeOwner) -> Result<Option<Position>, GameError> {
        let mut best: Option<(Position, f64)> = None;
        for after in self.after(position, roll) {
            let equity = self.equities(after)?.value(owner.swapped());
            if best.is_none_or(|(_, least)| equity < least) {
                best = Some((after, equity));
            }
        }
        Ok(best.map(|(after, _)| after))
    }

    /// The start position with the opening roll, which is not a double.
    fn start(&self, rng: &mut dyn Rng) -> (Position, Option<Roll>) {
        let mut roll = Roll::throw(rng);
        while roll.is_double() {
            roll = Roll::throw(rng);
        }
        (Position::start(self.table.checkers()), Some(roll))
    }
}

#[cfg(test)]
mod tests;
