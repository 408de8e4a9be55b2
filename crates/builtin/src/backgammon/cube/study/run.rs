//! Runs a study in a game whose exact equities are known.

use super::{After, Case, CaseKind, Criterion, Depends, Efficiencies, Figures, fit};
use crate::backgammon::cube::Chances;
use crate::dice::Roll;
use crate::doubling::{CubeAction, CubeEquities, CubeOwner};
use adept_game::stream;
use adept_ground::{jobs, work};
use rand::Rng;
use rayon::ThreadPool;
use std::ops::Range;

/// A game with known exact equities.
pub trait Solved: Sync {
    /// A position before the roll.
    type Position: Copy + Send + Sync;
    /// A fault of the exact values.
    type Error: Send;
    /// Name of the streams of random numbers of games.
    const GAMES: &'static str;

    /// The exact equities of a position for the side to roll, also of a finished game.
    ///
    /// # Errors
    /// A position that is not of this game.
    fn equities(&self, position: Self::Position) -> Result<CubeEquities, Self::Error>;

    /// The class and the usual efficiency of a position.
    fn kind(&self, position: Self::Position) -> CaseKind;

    /// Whether the game is over.
    fn is_over(&self, position: Self::Position) -> bool;

    /// The positions after each move.
    fn after(&self, position: Self::Position, roll: Roll) -> Vec<Self::Position>;

    /// The position after the best move of a side that sees the cube at `owner`.
    ///
    /// # Errors
    /// A position that is not of this game.
    fn best(
        &self,
        position: Self::Position,
        roll: Roll,
        owner: CubeOwner,
    ) -> Result<Option<Self::Position>, Self::Error>;

    /// The start of a game, and the first roll if it is made before anybody may double.
    fn start(&self, rng: &mut dyn Rng) -> (Self::Position, Option<Roll>);
}

/// Computes a number of each of some positions at once.
pub type Batch<'a, P, T, E> = Box<dyn Fn(&[P]) -> Result<Vec<T>, E> + Sync + 'a>;

/// Estimates of positions for the side to roll.
pub enum Estimate<'a, P, E> {
    /// Chances without a cube, by which models give equities.
    Chances(Batch<'a, P, Chances, E>),
    /// Equities without a double for all owners of the cube.
    Equities(Batch<'a, P, CubeEquities, E>),
}

/// A source of estimates, such as a network.
pub struct Estimator<'a, P, E> {
    /// A short name.
    pub name: String,
    /// The estimates.
    pub estimate: Estimate<'a, P, E>,
}

/// A model of the cube.
#[derive(Clone, Debug)]
pub struct StudyModel {
    /// A short name.
    pub name: String,
    /// The number of its estimator.
    estimator: usize,
    /// The efficiency x by class and owner. None if it is that of GNU Backgammon at each position, or if equities are estimated without it.
    pub efficiencies: Option<Efficiencies>,
    /// Whether its efficiencies were chosen in this study.
    pub is_fitted: bool,
    /// What it costs over all or drawn positions, by [`CubeOwner`].
    pub positions: [Figures; 3],
    /// What it costs at the positions and moves of games with the best decisions.
    pub games: [Figures; 3],
}

/// Models of the cube, measured against exact equities.
#[derive(Debug)]
pub struct CubeStudy {
    /// Number of positions on which efficiencies were chosen. The figures are those of others.
    pub fitted: u64,
    /// Names of the classes of positions.
    pub classes: &'static [&'static str],
    /// The models.
    pub models: Vec<StudyModel>,
}

/// The figures of each model, by owner of the cube.
pub type ModelFigures = Vec<[Figures; 3]>;

/// What follows a move.
enum Next {
    /// The game is over, with the points of [`After::Over`].
    Over([f64; 3]),
    /// The opponent is to roll, at the position with this number.
    Before(usize),
}

/// Decisions that are sampled together, such as those of a game, and the positions that they need.
pub struct Unit<P> {
    positions: Vec<P>,
    exact: Vec<CubeEquities>,
    /// Numbers of positions before a roll, with the owner of the cube.
    rolls: Vec<(usize, CubeOwner)>,
    /// What follows each move, with the owners of the cube as the side that moves sees them.
    moves: Vec<(Vec<Next>, Vec<CubeOwner>)>,
}

impl<P> Default for Unit<P> {
    fn default() -> Self {
        Self { positions: Vec::new(), exact: Vec::new(), rolls: Vec::new(), moves: Vec::new() }
    }
}

impl<P: Copy> Unit<P> {
    /// Adds a position and returns its number.
    fn number(&mut self, position: P, exact: CubeEquities) -> usize {
        self.positions.push(position);
        self.exact.push(exact);
        self.positions.len() - 1
    }

    /// Adds a position before the roll, with these owners of the cube.
    pub fn add(&mut self, position: P, exact: CubeEquities, owners: &[CubeOwner]) {
        let number = self.number(position, exact);
        self.rolls.extend(owners.iter().map(|&owner| (number, owner)));
    }

    /// Adds a decision between moves, with these owners of the cube.
    ///
    /// # Errors
    /// As [`Solved::equities`].
    pub fn add_move<S: Solved<Position = P>>(
        &mut self,
        solved: &S,
        position: P,
        roll: Roll,
        owners: &[CubeOwner],
    ) -> Result<(), S::Error> {
        let after = solved.after(position, roll);
        // A single move is no decision.
        if after.len() < 2 {
            return Ok(());
        }
        let mut next = Vec::with_capacity(after.len());
        for after in after {
            let exact = solved.equities(after)?;
            next.push(match solved.is_over(after) {
                true => Next::Over(CubeOwner::ALL.map(|owner| -exact.no_double(owner.swapped()))),
                false => Next::Before(self.number(after, exact)),
            });
        }
        self.moves.push((next, owners.to_vec()));
        Ok(())
    }

    /// The figures of a model, by the cases of the positions.
    fn figures(&self, cases: &[Case], model: Option<&Efficiencies>) -> [Figures; 3] {
        let mut figures = [Figures::default(); 3];
        for &(number, owner) in &self.rolls {
            figures[owner as usize].add(&cases[number], model, owner);
        }
        let mut after = Vec::new();
        for (next, owners) in &self.moves {
            after.clear();
            after.extend(next.iter().map(|next| match next {
                Next::Over(points) => After::Over(*points),
                Next::Before(number) => After::Before(cases[*number]),
            }));
            for &owner in owners {
                figures[owner as usize].add_move(&after, model, owner);
            }
        }
        figures
    }
}

/// The words of a game for models.
#[derive(Clone, Debug)]
pub struct Words {
    /// Names of the classes of positions.
    pub classes: &'static [&'static str],
    /// The name of models by class.
    pub by_class: &'static str,
    /// The name of the usual model.
    pub usual: &'static str,
    /// The efficiency of the usual model if it is the same everywhere.
    pub usual_efficiency: Option<f64>,
}

/// A study in progress: first [cases](Self::cases) for [`choose`](Self::choose), then figures for [`finish`](Self::finish).
pub struct Study<'a, S: Solved> {
    /// The game.
    pub solved: &'a S,
    /// The threads.
    pub pool: &'a ThreadPool,
    /// Whether gammons count one point until the cube is turned.
    pub jacoby: bool,
    /// The words of the game.
    pub words: Words,
    /// The first one gives the exact chances.
    pub estimators: Vec<Estimator<'a, S::Position, S::Error>>,
    /// The models, once they are chosen.
    pub models: Vec<StudyModel>,
}

/// The number of the usual model.
const USUAL: usize = 2;

/// Parts of some work after which progress is reported.
const PARTS: usize = 64;

impl<S: Solved> Study<'_, S> {
    /// The cases of all positions of some units, by estimator.
    ///
    /// # Errors
    /// Those of estimators.
    pub fn cases(&self, units: &[Unit<S::Position>]) -> Result<Vec<Vec<Case>>, S::Error> {
        let positions: Vec<S::Position> = units.iter().flat_map(|unit| &unit.positions).copied().collect();
        let exact = || units.iter().flat_map(|unit| &unit.exact);
        let kinds: Vec<CaseKind> = positions.iter().map(|&position| self.solved.kind(position)).collect();
        let cases = |estimator: &Estimator<'_, S::Position, S::Error>| {
            let known = exact().zip(&kinds);
            Ok(match &estimator.estimate {
                Estimate::Chances(of) => of(&positions)?
                    .into_iter()
                    .zip(known)
                    .map(|(chances, (exact, &kind))| Case::new(exact, chances, self.jacoby, kind))
                    .collect(),
                Estimate::Equities(of) => of(&positions)?
                    .iter()
                    .zip(known)
                    .map(|(found, (exact, &kind))| Case::estimated(exact, found, kind))
                    .collect(),
            })
        };
        self.estimators.iter().map(cases).collect()
    }

    /// Chooses the efficiencies of all models on these cases, by job and estimator. Returns the number of cases of an estimator.
    pub fn choose(&mut self, jobs: Vec<Vec<Vec<Case>>>) -> u64 {
        let mut cases: Vec<Vec<Vec<Case>>> = self.estimators.iter().map(|_| Vec::new()).collect();
        for job in jobs {
            for (cases, found) in cases.iter_mut().zip(job) {
                cases.push(found);
            }
        }
        let what = "choosing efficiencies";
        work::share(what, 0.0);
        let plans = self.plans();
        let classes = self.words.classes.len();
        for Plan { name, estimator, efficiency } in work::each(what, &plans) {
            let cases = &cases[*estimator];
            let efficiencies = match *efficiency {
                Planned::Usual => None,
                Planned::Fixed(x) => Some(vec![[x; 3]; classes]),
                Planned::Fitted(depends, criterion) => {
                    Some(self.pool.install(|| fit(cases, classes, depends, criterion)))
                }
            };
            self.models.push(StudyModel {
                name: name.clone(),
                estimator: *estimator,
                efficiencies,
                is_fitted: matches!(efficiency, Planned::Fitted(..)),
                positions: Default::default(),
                games: Default::default(),
            });
        }
        cases.first().map_or(0, |cases| cases.iter().map(|cases| cases.len() as u64).sum())
    }

    /// The models of all estimators.
    fn plans(&self) -> Vec<Plan> {
        use {Criterion::*, Depends::*, Planned::*};
        let Words { by_class, usual, usual_efficiency, .. } = self.words;
        let by_class = |criterion: &str| format!("{by_class}, {criterion}");
        let usual_x = usual_efficiency.map_or(Usual, Fixed);
        let exact = [
            ("dead, x = 0".into(), Fixed(0.0)),
            ("live, x = 1".into(), Fixed(1.0)),
            (usual.into(), usual_x),
            ("x, least RMS".into(), Fitted(Constant, Error)),
            ("x, least loss".into(), Fitted(Constant, Loss)),
            ("owner, RMS".into(), Fitted(Owner, Error)),
            ("owner, loss".into(), Fitted(Owner, Loss)),
            (by_class("RMS"), Fitted(Class, Error)),
            (by_class("loss"), Fitted(Class, Loss)),
        ];
        let plan = |estimator| move |(name, efficiency)| Plan { name, estimator, efficiency };
        let mut plans: Vec<Plan> = exact.into_iter().map(plan(0)).collect();
        for (number, Estimator { name, estimate }) in self.estimators.iter().enumerate().skip(1) {
            match estimate {
                Estimate::Chances(_) => {
                    let models = [
                        (format!("{usual}, {name}"), usual_x),
                        (format!("{}, {name}", by_class("RMS")), Fitted(Class, Error)),
                        (format!("{}, {name}", by_class("loss")), Fitted(Class, Loss)),
                    ];
                    plans.extend(models.into_iter().map(plan(number)));
                }
                Estimate::Equities(_) => plans.push(plan(number)((name.clone(), Usual))),
            }
        }
        plans
    }

    /// What all models cost in these units. With `are_sampled`, each unit is a draw by itself, from which errors of means follow.
    ///
    /// # Errors
    /// Those of estimators.
    pub fn measure(&self, units: &[Unit<S::Position>], are_sampled: bool) -> Result<ModelFigures, S::Error> {
        let cases = self.cases(units)?;
        let mut all: ModelFigures = vec![Default::default(); self.models.len()];
        let mut first = 0;
        for unit in units {
            let range = first..first + unit.positions.len();
            first = range.end;
            let figures = |model: &StudyModel| {
                unit.figures(&cases[model.estimator][range.clone()], model.efficiencies.as_ref())
            };
            let mut found: ModelFigures = self.models.iter().map(figures).collect();
            if are_sampled {
                let usual = found[USUAL];
                for figures in &mut found {
                    figures.iter_mut().zip(&usual).for_each(|(figures, usual)| figures.end_unit(usual));
                }
            }
            add(&mut all, &found);
        }
        Ok(all)
    }

    /// The sum of the figures of `of` with each number below `count`.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn samples(
        &self,
        what: &str,
        count: u64,
        of: &(dyn Fn(u64) -> Result<ModelFigures, S::Error> + Sync),
    ) -> Result<ModelFigures, S::Error> {
        let mut all: ModelFigures = vec![Default::default(); self.models.len()];
        for part in parts(0..count as usize, what) {
            for found in jobs::try_all(Some(self.pool), part.map(|index| index as u64), of)? {
                add(&mut all, &found);
            }
        }
        work::share(what, 1.0);
        Ok(all)
    }

    /// What all models cost in games with the best decisions of both sides. A game is a unit of the sample.
    ///
    /// # Errors
    /// Those of estimators and of exact values.
    pub fn games(&self, games: u64, seed: u64) -> Result<ModelFigures, S::Error> {
        self.samples("measuring games", games, &|index| {
            let mut unit = Unit::default();
            for Visit { position, roll, owner } in game(self.solved, seed, index)? {
                match roll {
                    None => unit.add(position, self.solved.equities(position)?, &[owner]),
                    Some(roll) => unit.add_move(self.solved, position, roll, &[owner])?,
                }
            }
            self.measure(&[unit], true)
        })
    }

    /// Ends the study with these figures and the number of cases on which efficiencies were chosen.
    pub fn finish(self, fitted: u64, positions: ModelFigures, games: ModelFigures) -> CubeStudy {
        let mut models = self.models;
        for (model, (positions, games)) in models.iter_mut().zip(positions.into_iter().zip(games)) {
            (model.positions, model.games) = (positions, games);
        }
        CubeStudy { fitted, classes: self.words.classes, models }
    }
}

/// A model before its efficiency is known.
struct Plan {
    name: String,
    estimator: usize,
    efficiency: Planned,
}

/// How a model gets its efficiency.
#[derive(Clone, Copy)]
enum Planned {
    Usual,
    Fixed(f64),
    Fitted(Depends, Criterion),
}

/// A place of a game: before the roll, or with a roll and the cube decided. The side to roll sees the cube at `owner`.
pub struct Visit<P> {
    /// The position.
    pub position: P,
    /// The roll, if the dice have fallen.
    pub roll: Option<Roll>,
    /// The owner of the cube.
    pub owner: CubeOwner,
}

/// The places of a game with the best decisions, with the cube in the middle at first, to its end or to a pass.
///
/// # Errors
/// As [`Solved::equities`].
pub fn game<S: Solved>(solved: &S, seed: u64, index: u64) -> Result<Vec<Visit<S::Position>>, S::Error> {
    let rng = &mut stream(seed, S::GAMES, index);
    let (mut position, mut first) = solved.start(rng);
    let mut owner = CubeOwner::Centred;
    let mut visits = Vec::new();
    while !solved.is_over(position) {
        if first.is_none() {
            visits.push(Visit { position, roll: None, owner });
            match solved.equities(position)?.action(owner) {
                Some(CubeAction::DoublePass) => break,
                Some(CubeAction::DoubleTake) => owner = CubeOwner::Theirs,
                Some(CubeAction::NoDouble | CubeAction::TooGood) | None => {}
            }
        }
        let roll = first.take().unwrap_or_else(|| Roll::throw(rng));
        visits.push(Visit { position, roll: Some(roll), owner });
        let Some(after) = solved.best(position, roll, owner)? else { break };
        (position, owner) = (after, owner.swapped());
    }
    Ok(visits)
}

/// Parts of a range, in order. Reports progress.
pub fn parts(range: Range<usize>, what: &str) -> impl Iterator<Item = Range<usize>> {
    work::share(what, 0.0);
    let at = move |part: usize| range.start + range.len() * part / PARTS;
    (0..PARTS).map(move |part| {
        work::share(what, part as f64 / PARTS as f64);
        at(part)..at(part + 1)
    })
}

/// Adds figures of the same models.
pub fn add(all: &mut ModelFigures, more: &ModelFigures) {
    for (all, more) in all.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
        *all = all.and(*more);
    }
}
