//! How wrong models of the cube are in the bear-off, which knows the exact equities.

use super::super::{Precision, Settings, Table};
use super::{CubeEquities, CubeOwner, CubeTable, TableError, refused};
use crate::backgammon::cube::study::{
    self, Case, CaseKind, CubeStudy, Estimate, Estimator, ModelFigures, Solved, Study, Unit, Words,
};
use crate::backgammon::cube::{Chances, Efficiency};
use crate::bearoff::{DicePosition, Distribution, OneSided, Position, Roll, Side, rank};
use adept_game::stream;
use adept_ground::{jobs, work};
use rand::Rng;
use rayon::ThreadPool;
use xxhash_rust::xxh3::xxh3_64;

/// Settings of a study.
#[derive(Clone, Copy, Debug)]
pub struct StudySettings {
    /// Largest number of checkers per side.
    pub checkers: u8,
    /// Number of games, and of drawn decisions about moves.
    pub games: u64,
    /// Seed of the games and decisions.
    pub seed: u64,
    /// Number of threads; 0 means one per core. The result does not depend on it.
    pub threads: usize,
}

/// Upper limits of the classes but the last one: the smaller one of the mean numbers of rolls that both sides need.
const BANDS: [f64; 5] = [1.5, 2.0, 2.5, 3.5, 4.5];

/// Names of the classes of positions.
const CLASSES: [&str; BANDS.len() + 1] = ["< 1.5", "< 2", "< 2.5", "< 3.5", "< 4.5", "more"];

/// Most pairs on which efficiencies are chosen. They take 44 bytes each.
const MOST_FITTED: u64 = 5_000_000;

impl StudySettings {
    /// Solves the tables with and without the cube, chooses efficiencies on one half of all pairs, and measures all models on the other
    /// half and along games. Moves are those of drawn pairs. Reports progress.
    ///
    /// # Errors
    /// A number of checkers outside 1 to 15, too little memory, or a system error.
    pub fn run(self) -> Result<CubeStudy, TableError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|e| refused("starting threads")(e.into()))?;
        let exact = Exact::solve(self)?;
        exact.study(self, &pool)
    }
}

/// The exact equities of all pairs.
struct Exact {
    cube: CubeTable,
    cubeless: Table,
    one_sided: OneSided,
}

impl Solved for Exact {
    type Position = Position;
    type Error = TableError;
    const GAMES: &'static str = "games of a bear-off with the cube";

    fn equities(&self, position: Position) -> Result<CubeEquities, TableError> {
        self.cube.equities(position)
    }

    fn kind(&self, position: Position) -> CaseKind {
        let [own, other] =
            [position.own, position.opponent].map(|side| self.one_sided.mean(side).unwrap_or(0.0));
        let class = BANDS.iter().filter(|&&limit| own.min(other) >= limit).count() as u32;
        CaseKind { class, usual: Efficiency::default().bearoff as f32 }
    }

    fn is_over(&self, position: Position) -> bool {
        position.is_over()
    }

    fn after(&self, position: Position, roll: Roll) -> Vec<Position> {
        let decision = DicePosition { position, roll };
        let mut sides = Vec::new();
        decision.afterstates(&mut sides);
        sides.into_iter().map(|side| decision.after(side)).collect()
    }

    fn best(&self, position: Position, roll: Roll, owner: CubeOwner) -> Result<Option<Position>, TableError> {
        let decision = DicePosition { position, roll };
        Ok(self.cube.moves(decision, owner)?.first().map(|&(side, _)| decision.after(side)))
    }

    /// All checkers of both sides, each on any point.
    fn start(&self, rng: &mut dyn Rng) -> (Position, Option<Roll>) {
        (Distribution::Full.sample(self.cube.checkers(), rng), None)
    }
}

impl Exact {
    fn solve(settings: StudySettings) -> Result<Self, TableError> {
        let StudySettings { checkers, threads, .. } = settings;
        let what = format!("solving {checkers} checkers with the cube");
        let (cube, _) = CubeTable::solve(checkers, threads, &mut |p| work::share(&what, p.share))?;
        let what = format!("solving {checkers} checkers without the cube");
        let settings = Settings { precision: Precision::Bits32, threads, ..Settings::new(checkers) };
        let (cubeless, _) = Table::solve(settings, &mut |p| work::share(&what, p.share))?;
        Ok(Self { cube, cubeless, one_sided: OneSided::solve(checkers) })
    }

    fn chances(&self, position: Position) -> Result<Chances, TableError> {
        Ok(Chances::of_equity(self.cubeless.value(position)?))
    }

    /// A study of the models, before they are chosen.
    fn begin<'a>(&'a self, pool: &'a ThreadPool) -> Study<'a, Self> {
        let chances = |positions: &[Position]| -> Result<Vec<Chances>, TableError> {
            positions.iter().map(|&position| self.chances(position)).collect()
        };
        Study {
            solved: self,
            pool,
            jacoby: false,
            words: Words {
                classes: &CLASSES,
                by_class: "rolls",
                usual: "gnubg, x = .6",
                usual_efficiency: Some(Efficiency::default().bearoff),
            },
            estimators: vec![Estimator {
                name: "exact".into(),
                estimate: Estimate::Chances(Box::new(chances)),
            }],
            models: Vec::new(),
        }
    }

    /// Calls `of` for each side with the pairs in which it is to roll and for which `is_wanted` is true.
    fn pairs<T: Send>(
        &self,
        what: &str,
        pool: &ThreadPool,
        is_wanted: impl Fn(u64) -> bool + Sync,
        of: impl Fn(Unit<Position>) -> Result<T, TableError> + Sync,
    ) -> Result<Vec<T>, TableError> {
        let sides = rank::sides(self.cube.checkers());
        let of_side = |own: usize| {
            let mut unit = Unit::default();
            let afterstates = self.cube.grids.afterstates(Side::of_rank(own))?;
            for opponent in (1..sides).filter(|&opponent| is_wanted(hash(own, opponent))) {
                let position = Position { own: Side::of_rank(own), opponent: Side::of_rank(opponent) };
                let exact = self.cube.rolled(&afterstates, self.cube.grids.row(position.opponent)?);
                unit.add(position, exact, &CubeOwner::ALL);
            }
            of(unit)
        };
        let mut results = Vec::with_capacity(sides);
        for part in study::parts(1..sides, what) {
            results.extend(jobs::try_all(Some(pool), part, &of_side)?);
        }
        work::share(what, 1.0);
        Ok(results)
    }

    fn study(&self, settings: StudySettings, pool: &ThreadPool) -> Result<CubeStudy, TableError> {
        // One half by the lowest bit of the hash; of this half, no more than are allowed by the others.
        let half = self.cubeless.pairs() / 2;
        let most = if half > MOST_FITTED {
            (u64::MAX as f64 * (MOST_FITTED as f64 / half as f64)) as u64
        } else {
            u64::MAX
        };
        let mut study = self.begin(pool);
        let is_fitted = |hash: u64| hash & 1 == 1 && hash <= most;
        let cases: Vec<Vec<Vec<Case>>> =
            self.pairs("looking up pairs", pool, is_fitted, |unit| study.cases(&[unit]))?;
        let fitted = study.choose(cases);

        let is_measured = |hash: u64| hash & 1 == 0;
        let by_side =
            self.pairs("measuring pairs", pool, is_measured, |unit| study.measure(&[unit], false))?;
        let moves = study.samples("measuring moves", settings.games, &|index| {
            let rng = &mut stream(settings.seed, "moves of a bear-off with the cube", index);
            let position = Distribution::Table.sample(settings.checkers, rng);
            let mut unit = Unit::default();
            unit.add_move(self, position, Roll::throw(rng), &CubeOwner::ALL)?;
            study.measure(&[unit], true)
        })?;
        let mut pairs: ModelFigures = vec![Default::default(); study.models.len()];
        by_side.iter().chain([&moves]).for_each(|figures| study::add(&mut pairs, figures));
        let games = study.games(settings.games, settings.seed)?;
        Ok(study.finish(fitted, pairs, games))
    }
}

/// A number for a pair of ranks that looks random.
fn hash(own: usize, opponent: usize) -> u64 {
    xxh3_64(&((own as u64) << 32 | opponent as u64).to_le_bytes())
}

#[cfg(test)]
mod tests;
