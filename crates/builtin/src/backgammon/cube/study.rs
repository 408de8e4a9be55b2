//! Measures models of the cube in money play against exact equities.
//!
//! A model gives E = (1 − x) · dead + x · live from the chances of a game without a cube. Its efficiency x may depend on the owner of the cube
//! and on a class of positions. [`fit`] chooses x on some [cases](Case), and [`Figures`] say what a model costs on others.
//!
//! [`Study`] measures such models, and [estimators](Estimator) such as networks, in any game whose exact equities are [known](Solved).

mod run;

pub use run::{
    Batch, CubeStudy, Estimate, Estimator, ModelFigures, Solved, Study, StudyModel, Unit, Visit, Words, add,
    game, parts,
};

use super::{Chances, CubeModel, CubeValues, Terms};
use crate::doubling::{CubeEquities, CubeOwner};
use rayon::prelude::*;

/// A decision is close if its two actions differ by less, in points for each unit of the cube.
pub const CLOSE: f64 = 0.16;

/// Smaller differences are rounding: then both actions are right. Exact equities are within 1e-6.
const TIE: f64 = 2e-6;

/// The efficiency by class of positions and, in the order of [`CubeOwner::ALL`], by owner of the cube as the side to roll sees it.
pub type Efficiencies = Vec<[f64; 3]>;

/// A position before the roll: its exact equities, and its equities with a dead and with a live cube. All are those of the side to roll
/// without a double, by owner of the cube.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    exact: [f32; 3],
    dead: [f32; 3],
    live: [f32; 3],
    kind: CaseKind,
}

/// What the efficiency of a position depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaseKind {
    /// The class, counted from 0.
    pub class: u32,
    /// The efficiency that GNU Backgammon uses.
    pub usual: f32,
}

impl Case {
    /// Takes the exact equities of a position, its chances without a cube, the rule for gammons, and its kind.
    pub fn new(exact: &CubeEquities, chances: Chances, jacoby: bool, kind: CaseKind) -> Self {
        let equity = |x| {
            CubeOwner::ALL.map(|owner| {
                let terms = Terms { owner, ..Terms::money(jacoby) };
                CubeModel::usual().equity(x, chances, terms) as f32
            })
        };
        Self { exact: rolled(exact), dead: equity(0.0), live: equity(1.0), kind }
    }

    /// Takes the exact equities of a position and estimates of them, which each model then gives.
    pub fn estimated(exact: &CubeEquities, estimates: &CubeEquities, kind: CaseKind) -> Self {
        let [dead, live] = [rolled(estimates); 2];
        Self { exact: rolled(exact), dead, live, kind: CaseKind { usual: 0.0, ..kind } }
    }

    /// The exact equities.
    fn exact(&self) -> CubeEquities {
        CubeEquities::new(self.exact.map(f64::from))
    }

    /// The equities of a model. Without efficiencies, it has that of GNU Backgammon.
    fn modelled(&self, model: Option<&Efficiencies>) -> CubeEquities {
        let x = model.map_or([self.kind.usual.into(); 3], |model| model[self.kind.class as usize]);
        CubeEquities::new(std::array::from_fn(|o| {
            (1.0 - x[o]) * f64::from(self.dead[o]) + x[o] * f64::from(self.live[o])
        }))
    }
}

/// The equities without a double.
fn rolled(equities: &CubeEquities) -> [f32; 3] {
    CubeOwner::ALL.map(|owner| equities.no_double(owner) as f32)
}

/// A position after a move.
#[derive(Clone, Copy, Debug)]
pub enum After {
    /// The game is over. The points of the side that moved, for each unit of the cube, by the owner that it sees: under the Jacoby rule, gammons
    /// do not count with a centred cube.
    Over([f64; 3]),
    /// The opponent is to roll.
    Before(Case),
}

impl After {
    /// The equity for the side that moved, which sees the cube at `owner`, by the equities of a position.
    fn value(&self, owner: CubeOwner, equities: impl Fn(&Case) -> CubeEquities) -> f64 {
        match self {
            Self::Over(points) => points[owner as usize],
            Self::Before(case) => -equities(case).value(owner.swapped()),
        }
    }
}

/// Decisions of one kind between acting (to double, to take) and not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decisions {
    /// Their number.
    pub all: u64,
    /// Number of close or wrong decisions: their actions differ by less than [`CLOSE`], but do differ, or the model is wrong.
    pub close: u64,
    /// The sum of what is lost, in points for each unit of the cube.
    pub lost: f64,
    /// The largest loss.
    pub worst: f64,
    /// Number of wrong actions: doubles, takes.
    pub wrong: u64,
    /// Number of actions that are missed: rolls in place of doubles, passes in place of takes.
    pub missed: u64,
    /// What the errors of means follow from, if the decisions are sampled.
    spread: Spread,
}

/// Sums over units of a sample, such as games. A unit has a number of decisions, and loses a sum with a model and another sum with the usual one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spread {
    /// Number of units.
    units: u64,
    /// Sums of number².
    numbers: f64,
    /// Sums of lost², lost · number.
    lost: [f64; 2],
    /// The same of lost − lost with the usual model, and the sum of this difference.
    more: [f64; 3],
}

/// A mean of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % interval.
    pub half: f64,
}

impl Sampled {
    /// The interval.
    pub fn ci95(self) -> [f64; 2] {
        [self.mean - self.half, self.mean + self.half]
    }
}

impl Decisions {
    /// Ends a unit of a sample: all decisions so far. `usual` are those of the usual model in the same unit.
    fn end_unit(&mut self, usual: &Self) {
        let (number, lost, more) = (self.all as f64, self.lost, self.lost - usual.lost);
        self.spread = Spread {
            units: u64::from(self.all > 0),
            numbers: number * number,
            lost: [lost * lost, lost * number],
            more: [more * more, more * number, more],
        };
    }

    /// The ratio of a sum over units to the number of decisions. Its variance is that of what each unit adds to sum − ratio · number.
    fn ratio(&self, sum: f64, [squares, products]: [f64; 2]) -> Option<Sampled> {
        let Spread { units, numbers, .. } = self.spread;
        if units < 2 {
            return None;
        }
        let (all, count) = (self.all as f64, units as f64);
        let mean = sum / all;
        let residual = (squares - 2.0 * mean * products + mean * mean * numbers).max(0.0);
        Some(Sampled { mean, half: 1.96 * (residual * count / (count - 1.0)).sqrt() / all })
    }

    /// The mean loss with its interval. None without a sample.
    pub fn sampled_loss(&self) -> Option<Sampled> {
        self.ratio(self.lost, self.spread.lost)
    }

    /// The mean loss less that of the usual model in the same decisions. None without a sample.
    pub fn sampled_excess(&self) -> Option<Sampled> {
        let [squares, products, sum] = self.spread.more;
        self.ratio(sum, [squares, products])
    }

    /// Adds a decision in which acting gains `gain`.
    fn add(&mut self, acts: bool, gain: f64) {
        self.all += 1;
        let loss = if acts { -gain } else { gain };
        if loss > TIE {
            self.close += 1;
            self.lost += loss;
            self.worst = self.worst.max(loss);
            *(if acts { &mut self.wrong } else { &mut self.missed }) += 1;
        } else if (TIE..CLOSE).contains(&gain.abs()) {
            self.close += 1;
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            close: self.close + other.close,
            lost: self.lost + other.lost,
            worst: self.worst.max(other.worst),
            wrong: self.wrong + other.wrong,
            missed: self.missed + other.missed,
            spread: self.spread.and(other.spread),
        }
    }

    /// The mean loss of all decisions; 0 without any.
    pub fn loss(&self) -> f64 {
        mean(self.lost, self.all)
    }

    /// The mean loss of the close or wrong decisions.
    pub fn close_loss(&self) -> f64 {
        mean(self.lost, self.close)
    }
}

impl Spread {
    fn and(self, other: Self) -> Self {
        Self {
            units: self.units + other.units,
            numbers: self.numbers + other.numbers,
            lost: std::array::from_fn(|k| self.lost[k] + other.lost[k]),
            more: std::array::from_fn(|k| self.more[k] + other.more[k]),
        }
    }
}

/// A sum divided by a number; 0 without any.
fn mean(sum: f64, number: u64) -> f64 {
    if number == 0 { 0.0 } else { sum / number as f64 }
}

/// What a model costs with one owner of the cube.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Number of positions.
    pub positions: u64,
    /// The sum of the squared errors of the equity without a double.
    squares: f64,
    /// Whether to double.
    pub doubles: Decisions,
    /// Whether the opponent takes, where a double is right or loses less than [`CLOSE`].
    pub takes: Decisions,
    /// Moves, where there is a choice. Those that lose are `wrong`.
    pub moves: Decisions,
}

impl Figures {
    /// Adds a position before the roll.
    pub fn add(&mut self, case: &Case, model: Option<&Efficiencies>, owner: CubeOwner) {
        let (exact, found) = (case.exact(), case.modelled(model));
        self.positions += 1;
        self.squares += (found.no_double(owner) - exact.no_double(owner)).powi(2);
        if owner == CubeOwner::Theirs {
            return;
        }
        let found = CubeValues::new(0.0, found.no_double(owner), Some(found.double_take()));
        let gain = exact.double_take().min(CubeEquities::DOUBLE_PASS) - exact.no_double(owner);
        self.doubles.add(found.doubles(), gain);
        if gain > -CLOSE {
            // The opponent decides: the smaller equity is better.
            self.takes.add(found.takes(), CubeEquities::DOUBLE_PASS - exact.double_take());
        }
    }

    /// Adds a move. The side that moves sees the cube at `owner`.
    pub fn add_move(&mut self, moves: &[After], model: Option<&Efficiencies>, owner: CubeOwner) {
        if moves.len() < 2 {
            return;
        }
        let (mut best, mut chosen, mut highest) = (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY);
        for after in moves {
            let exact = after.value(owner, Case::exact);
            let found = after.value(owner, |case| case.modelled(model));
            best = best.max(exact);
            if found > highest {
                (highest, chosen) = (found, exact);
            }
        }
        self.moves.add(true, chosen - best);
    }

    /// Ends a unit of a sample: all that was added so far. `usual` are the figures of the usual model in the same unit.
    fn end_unit(&mut self, usual: &Self) {
        self.doubles.end_unit(&usual.doubles);
        self.takes.end_unit(&usual.takes);
        self.moves.end_unit(&usual.moves);
    }

    /// Combines figures of different positions.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            positions: self.positions + other.positions,
            squares: self.squares + other.squares,
            doubles: self.doubles.and(other.doubles),
            takes: self.takes.and(other.takes),
            moves: self.moves.and(other.moves),
        }
    }

    /// The RMS error of the equity without a double.
    pub fn rms(&self) -> f64 {
        mean(self.squares, self.positions).sqrt()
    }
}

/// What the efficiency may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depends {
    /// Nothing.
    Constant,
    /// The owner of the cube.
    Owner,
    /// The owner of the cube and the class of the position.
    Class,
}

/// What the efficiency is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The least squared error of the equity, for each owner of the cube.
    Error,
    /// The least loss of doubles and takes, with a centred and with an own cube.
    Loss,
}

/// Efficiencies that are tried: 0, .01, … 1.
const GRID: usize = 101;

/// The loss of a class by efficiency, with a centred and with an own cube.
type Losses = [[f64; GRID]; 2];

/// Chooses the efficiencies in [0, 1] that suit the cases best. They come in pieces, which threads share. `classes` is the number of
/// classes.
pub fn fit(jobs: &[Vec<Case>], classes: usize, depends: Depends, criterion: Criterion) -> Efficiencies {
    let mut model = fit_errors(jobs, classes, depends);
    match (criterion, depends) {
        (Criterion::Error, _) => {}
        (Criterion::Loss, Depends::Constant) => {
            let free = Free { own: true, theirs: true };
            let losses = pooled(losses(jobs, &model, free), depends);
            choose(&mut model, losses, free);
        }
        // The efficiency of the opponent's cube decides about takes, and the others follow it: each in turn.
        (Criterion::Loss, _) => {
            for step in 0..6 {
                let free = Free { own: step % 2 == 1, theirs: step % 2 == 0 };
                let losses = pooled(losses(jobs, &model, free), depends);
                choose(&mut model, losses, free);
            }
        }
    }
    model
}

/// The efficiencies of least squared error: Σ (live − dead)(exact − dead) / Σ (live − dead)².
fn fit_errors(jobs: &[Vec<Case>], classes: usize, depends: Depends) -> Efficiencies {
    let sums = |cases: &Vec<Case>| {
        let mut sums = vec![[[0.0; 2]; 3]; classes];
        for case in cases {
            for (o, sums) in sums[case.kind.class as usize].iter_mut().enumerate() {
                let [exact, dead, live] = [case.exact[o], case.dead[o], case.live[o]].map(f64::from);
                sums[0] += (live - dead) * (exact - dead);
                sums[1] += (live - dead).powi(2);
            }
        }
        sums
    };
    let sums = summed(jobs.par_iter().map(sums).collect(), classes);
    let of = |sum: [f64; 2]| if sum[1] > 0.0 { (sum[0] / sum[1]).clamp(0.0, 1.0) } else { 0.0 };
    let total =
        |sums: &mut dyn Iterator<Item = [f64; 2]>| sums.fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    match depends {
        Depends::Class => sums.iter().map(|sums| sums.map(of)).collect(),
        Depends::Owner => {
            vec![std::array::from_fn(|o| of(total(&mut sums.iter().map(|sums| sums[o])))); classes]
        }
        Depends::Constant => vec![[of(total(&mut sums.iter().flatten().copied())); 3]; classes],
    }
}

/// The efficiencies that are chosen: those of a centred and of an own cube, and that of the opponent's cube.
#[derive(Clone, Copy)]
struct Free {
    own: bool,
    theirs: bool,
}

/// The losses by class if the free efficiencies of a model have each value of the grid.
fn losses(jobs: &[Vec<Case>], model: &Efficiencies, free: Free) -> Vec<Losses> {
    let grid: [f64; GRID] = std::array::from_fn(|g| g as f64 / (GRID - 1) as f64);
    let part = |cases: &Vec<Case>| {
        let mut losses = vec![[[0.0; GRID]; 2]; model.len()];
        for case in cases {
            let class = case.kind.class as usize;
            let [centred, own, theirs] = model[class];
            // The equity at 0, and how much it rises to 1.
            let line = |o: usize, is_free: bool, x: f64| {
                let [dead, live] = [case.dead[o], case.live[o]].map(f64::from);
                if is_free { (dead, live - dead) } else { (dead + x * (live - dead), 0.0) }
            };
            let exact = case.exact();
            let take = exact.double_take() - CubeEquities::DOUBLE_PASS;
            let taken = line(2, free.theirs, theirs);
            for (o, x) in [centred, own].into_iter().enumerate() {
                let gain = take.min(0.0) + CubeEquities::DOUBLE_PASS - exact.no_double(CubeOwner::ALL[o]);
                let rolled = line(o, free.own, x);
                let [doubles, rolls] = [(-gain).max(0.0), gain.max(0.0)];
                let [takes, passes] =
                    if gain > -CLOSE { [take.max(0.0), (-take).max(0.0)] } else { [0.0; 2] };
                for (loss, x) in losses[class][o].iter_mut().zip(grid) {
                    let double_take = 2.0 * (taken.0 + x * taken.1);
                    let no_double = rolled.0 + x * rolled.1;
                    let doubled =
                        if double_take.min(CubeEquities::DOUBLE_PASS) > no_double { doubles } else { rolls };
                    *loss += doubled + if double_take <= CubeEquities::DOUBLE_PASS { takes } else { passes };
                }
            }
        }
        losses
    };
    summed(jobs.par_iter().map(part).collect(), model.len())
}

/// Adds the sums of the jobs, by class. Their order does not depend on threads.
fn summed<const N: usize, const M: usize>(
    jobs: Vec<Vec<[[f64; N]; M]>>,
    classes: usize,
) -> Vec<[[f64; N]; M]> {
    let mut all = vec![[[0.0; N]; M]; classes];
    for job in jobs {
        for (sum, part) in
            all.as_flattened_mut().as_flattened_mut().iter_mut().zip(job.as_flattened().as_flattened())
        {
            *sum += part;
        }
    }
    all
}

/// Adds the losses of what shares an efficiency.
fn pooled(mut losses: Vec<Losses>, depends: Depends) -> Vec<Losses> {
    if depends != Depends::Class {
        let sum = |o: usize, g: usize| losses.iter().map(|losses| losses[o][g]).sum();
        let all: Losses = std::array::from_fn(|o| std::array::from_fn(|g| sum(o, g)));
        losses.fill(all);
    }
    losses
}

/// Gives the free efficiencies the values of the least losses.
fn choose(model: &mut Efficiencies, losses: Vec<Losses>, free: Free) {
    let least = |loss: &dyn Fn(usize) -> f64| {
        let best = (0..GRID).min_by(|&a, &b| loss(a).total_cmp(&loss(b)));
        best.unwrap_or(0) as f64 / (GRID - 1) as f64
    };
    for (x, [centred, own]) in model.iter_mut().zip(losses) {
        if free.theirs {
            let all = least(&|g| centred[g] + own[g]);
            *x = if free.own { [all; 3] } else { [x[0], x[1], all] };
        } else {
            *x = [least(&|g| centred[g]), least(&|g| own[g]), x[2]];
        }
    }
}

#[cfg(test)]
mod tests;
