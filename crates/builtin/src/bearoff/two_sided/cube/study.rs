//! How wrong models of the cube are in the bear-off, which knows the exact equities.

use super::super::{Precision, Settings, Table};
use super::{CubeAction, CubeEquities, CubeOwner, CubeTable, TableError, refused};
use crate::backgammon::cube::study::{After, Case, Criterion, Depends, Efficiencies, Figures, fit};
use crate::backgammon::cube::{Chances, Efficiency};
use crate::bearoff::{DicePosition, Distribution, OneSided, Position, Roll, Side, rank};
use adept_game::stream;
use adept_ground::{jobs, work};
use rayon::ThreadPool;
use std::ops::Range;
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

/// A model of the cube: E = (1 − x) · dead + x · live.
#[derive(Clone, Debug)]
pub struct StudyModel {
    /// A short name.
    pub name: &'static str,
    /// The efficiency x by class and owner.
    pub efficiencies: Efficiencies,
    /// What it costs over pairs of sides, by [`CubeOwner`]. Moves are those of drawn pairs.
    pub pairs: [Figures; 3],
    /// What it costs at the positions and moves of games with the best decisions.
    pub games: [Figures; 3],
}

/// Models of the cube, measured against exact equities.
#[derive(Debug)]
pub struct CubeStudy {
    /// Number of pairs on which efficiencies were chosen. The figures are those of other pairs.
    pub fitted: u64,
    /// The models.
    pub models: Vec<StudyModel>,
}

/// Upper limits of the classes but the last one: the smaller one of the mean numbers of rolls that both sides need.
const BANDS: [f64; 5] = [1.5, 2.0, 2.5, 3.5, 4.5];

/// Most pairs on which efficiencies are chosen. They take 40 bytes each.
const MOST_FITTED: u64 = 5_000_000;

/// Parts of the pairs and of the games after which progress is reported.
const PARTS: usize = 64;

impl CubeStudy {
    /// Names of the classes of positions.
    pub const CLASSES: [&str; BANDS.len() + 1] = ["< 1.5", "< 2", "< 2.5", "< 3.5", "< 4.5", "more"];

    /// Solves the tables with and without the cube, chooses efficiencies on one half of all pairs, and measures all models on the other
    /// half and along games. Reports progress.
    ///
    /// # Errors
    /// A number of checkers outside 1 to 15, too little memory, or a system error.
    pub fn run(settings: StudySettings) -> Result<Self, TableError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
        let pool = pool.map_err(|e| refused("starting threads")(e.into()))?;
        let exact = Exact::solve(settings)?;
        exact.study(settings, &pool)
    }
}

/// The exact equities of all pairs.
struct Exact {
    cube: CubeTable,
    cubeless: Table,
    one_sided: OneSided,
}

/// A place of a game: before the roll, or with a roll and the cube decided. The side to roll sees the cube at `owner`.
struct Visit {
    position: Position,
    roll: Option<Roll>,
    owner: CubeOwner,
}

/// The figures of each model, by owner.
type All = Vec<[Figures; 3]>;

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

    fn class(&self, position: Position) -> u32 {
        let [own, other] =
            [position.own, position.opponent].map(|side| self.one_sided.mean(side).unwrap_or(0.0));
        BANDS.iter().filter(|&&limit| own.min(other) >= limit).count() as u32
    }

    fn case(&self, position: Position, exact: &CubeEquities) -> Result<Case, TableError> {
        let chances = Chances::of_equity(self.cubeless.value(position)?);
        Ok(Case::new(exact, chances, false, self.class(position)))
    }

    /// The positions after each move.
    fn after(&self, decision: DicePosition) -> Result<Vec<After>, TableError> {
        let mut sides = Vec::new();
        decision.afterstates(&mut sides);
        let after = |&side: &Side| {
            let position = decision.after(side);
            Ok(match position.is_over() {
                true => After::Over(1.0),
                false => After::Before(self.case(position, &self.cube.equities(position)?)?),
            })
        };
        sides.iter().map(after).collect()
    }

    /// Calls `each` with the cases of the pairs for which `is_wanted` is true, and the result of the side to roll.
    fn pairs<T: Default + Send>(
        &self,
        what: &str,
        pool: &ThreadPool,
        is_wanted: impl Fn(u64) -> bool + Sync,
        each: impl Fn(&mut T, Case) + Sync,
    ) -> Result<Vec<T>, TableError> {
        let sides = rank::sides(self.cube.checkers());
        let of_side = |own: usize| {
            let mut result = T::default();
            let afterstates = self.cube.afterstates(Side::of_rank(own))?;
            for opponent in (1..sides).filter(|&opponent| is_wanted(hash(own, opponent))) {
                let position = Position { own: Side::of_rank(own), opponent: Side::of_rank(opponent) };
                let exact = self.cube.rolled(&afterstates, self.cube.row(position.opponent)?);
                each(&mut result, self.case(position, &exact)?);
            }
            Ok(result)
        };
        let mut results = Vec::with_capacity(sides);
        for part in parts(1..sides, what) {
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
        let is_fitted = |hash: u64| hash & 1 == 1 && hash <= most;
        let cases: Vec<Vec<Case>> =
            self.pairs("looking up pairs", pool, is_fitted, |cases: &mut Vec<Case>, case| cases.push(case))?;
        let mut models = models(&cases, pool);
        let fitted = cases.iter().map(|cases| cases.len() as u64).sum();
        drop(cases);

        let efficiencies: Vec<Efficiencies> = models.iter().map(|model| model.efficiencies.clone()).collect();
        let is_measured = |hash: u64| hash & 1 == 0;
        let by_side = self.pairs("measuring pairs", pool, is_measured, |figures: &mut All, case| {
            figures.resize(efficiencies.len(), Default::default());
            for (figures, model) in figures.iter_mut().zip(&efficiencies) {
                for (figures, owner) in figures.iter_mut().zip(CubeOwner::ALL) {
                    figures.add(&case, model, owner);
                }
            }
        })?;
        let drawn = |index: u64| {
            let rng = &mut stream(settings.seed, "moves of a bear-off with the cube", index);
            let position = Distribution::Table.sample(settings.checkers, rng);
            let after = self.after(DicePosition { position, roll: Roll::throw(rng) })?;
            let figures = |model| {
                CubeOwner::ALL.map(|owner| {
                    let mut figures = Figures::default();
                    figures.add_move(&after, model, owner);
                    figures
                })
            };
            Ok(efficiencies.iter().map(figures).collect())
        };
        let played = |index: u64| {
            let mut figures: All = vec![Default::default(); efficiencies.len()];
            for Visit { position, roll, owner } in self.game(settings, index)? {
                let at = owner as usize;
                match roll {
                    None => {
                        let case = self.case(position, &self.cube.equities(position)?)?;
                        for (figures, model) in figures.iter_mut().zip(&efficiencies) {
                            figures[at].add(&case, model, owner);
                        }
                    }
                    Some(roll) => {
                        let after = self.after(DicePosition { position, roll })?;
                        for (figures, model) in figures.iter_mut().zip(&efficiencies) {
                            figures[at].add_move(&after, model, owner);
                        }
                    }
                }
            }
            Ok(figures)
        };
        let moves = samples("measuring moves", settings.games, pool, &drawn)?;
        let games = samples("measuring games", settings.games, pool, &played)?;
        let pairs = sum(by_side.into_iter().chain([moves]));
        for (model, (pairs, games)) in models.iter_mut().zip(pairs.into_iter().zip(games)) {
            (model.pairs, model.games) = (pairs, games);
        }
        Ok(CubeStudy { fitted, models })
    }

    /// The places of a game with the best decisions: from sides of all checkers, each on any point, with the cube in the middle, to its end or
    /// to a pass.
    fn game(&self, settings: StudySettings, index: u64) -> Result<Vec<Visit>, TableError> {
        let rng = &mut stream(settings.seed, "games of a bear-off with the cube", index);
        let mut position = Distribution::Full.sample(settings.checkers, rng);
        let mut owner = CubeOwner::Centred;
        let mut visits = Vec::new();
        while !position.is_over() {
            visits.push(Visit { position, roll: None, owner });
            match self.cube.equities(position)?.action(owner) {
                Some(CubeAction::DoublePass) => break,
                Some(CubeAction::DoubleTake) => owner = CubeOwner::Theirs,
                Some(CubeAction::NoDouble | CubeAction::TooGood) | None => {}
            }
            let decision = DicePosition { position, roll: Roll::throw(rng) };
            visits.push(Visit { position, roll: Some(decision.roll), owner });
            let Some(&(side, _)) = self.cube.moves(decision, owner)?.first() else { break };
            (position, owner) = (decision.after(side), owner.swapped());
        }
        Ok(visits)
    }
}

/// A number for a pair of ranks that looks random.
fn hash(own: usize, opponent: usize) -> u64 {
    xxh3_64(&((own as u64) << 32 | opponent as u64).to_le_bytes())
}

/// Parts of a range, in order. Reports progress.
fn parts(range: Range<usize>, what: &str) -> impl Iterator<Item = Range<usize>> {
    work::share(what, 0.0);
    let at = move |part: usize| range.start + range.len() * part / PARTS;
    (0..PARTS).map(move |part| {
        work::share(what, part as f64 / PARTS as f64);
        at(part)..at(part + 1)
    })
}

/// The sum of the results of `work` with each number below `count`.
fn samples(
    what: &str,
    count: u64,
    pool: &ThreadPool,
    of: &(dyn Fn(u64) -> Result<All, TableError> + Sync),
) -> Result<All, TableError> {
    let mut all = All::new();
    for part in parts(0..count as usize, what) {
        let results = jobs::try_all(Some(pool), part.map(|index| index as u64), of)?;
        all = sum([all].into_iter().chain(results));
    }
    work::share(what, 1.0);
    Ok(all)
}

/// The sums by model and owner. Parts without figures are empty.
fn sum(parts: impl Iterator<Item = All>) -> All {
    parts
        .filter(|part| !part.is_empty())
        .reduce(|mut all, part| {
            for (all, part) in all.as_flattened_mut().iter_mut().zip(part.as_flattened()) {
                *all = all.and(*part);
            }
            all
        })
        .unwrap_or_default()
}

/// All models, without figures.
fn models(cases: &[Vec<Case>], pool: &ThreadPool) -> Vec<StudyModel> {
    let classes = CubeStudy::CLASSES.len();
    let fixed = |x| vec![[x; 3]; classes];
    let what = "choosing efficiencies";
    work::share(what, 0.0);
    let chosen = [
        ("x, least RMS", Depends::Constant, Criterion::Error),
        ("x, least loss", Depends::Constant, Criterion::Loss),
        ("owner, RMS", Depends::Owner, Criterion::Error),
        ("owner, loss", Depends::Owner, Criterion::Loss),
        ("rolls, RMS", Depends::Class, Criterion::Error),
        ("rolls, loss", Depends::Class, Criterion::Loss),
    ];
    let mut models = vec![
        ("dead, x = 0", fixed(0.0)),
        ("live, x = 1", fixed(1.0)),
        ("gnubg, x = .6", fixed(Efficiency::default().bearoff)),
    ];
    for (name, depends, criterion) in work::each(what, &chosen) {
        models.push((name, pool.install(|| fit(cases, classes, *depends, *criterion))));
    }
    let model = |(name, efficiencies)| StudyModel {
        name,
        efficiencies,
        pairs: Default::default(),
        games: Default::default(),
    };
    models.into_iter().map(model).collect()
}

#[cfg(test)]
mod tests;
