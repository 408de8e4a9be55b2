//! Errors over all positions of a game whose positions are pairs of halves.

use adept_arena::values::KnownRows;
use adept_arena::{GameModel, open};
use adept_game::{Afterstate, Factors, GameError, Halves, Kit, Named, Valuation, stream};
use adept_ground::jobs;
use adept_model::{ModelError, PairErrors, PairProducts, PairValues, Pairwise, Rows, TILE, TileRow};
use adept_trainer::positions::PositionErrors;
use adept_trainer::run::TrainError;
use rand::RngExt;
use serde::Serialize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Errors of V over all positions.
#[derive(Clone, Debug, Serialize)]
pub struct ExhaustiveReport {
    /// Errors of the checkpoint.
    #[serde(flatten)]
    pub errors: PositionErrors,
    /// Half of the root mean square error: the error of the winning probability (1 + V)/2.
    pub rms_probability: f64,
    /// Errors of untrained baselines that are fast enough for all positions.
    pub baselines: Vec<(String, PositionErrors)>,
    /// Whether the first layer was computed once per half instead of once per position.
    pub by_halves: bool,
    /// If so, nanoseconds per value on one thread, without the prior: the median of several passes.
    pub nanoseconds: Option<f64>,
    /// Seconds to open the exact values.
    pub opening_seconds: f64,
    /// Seconds for the rest.
    pub seconds: f64,
}

/// Receives the finished share, in [0, 1].
pub(super) type Share<'a> = &'a (dyn Fn(f64) + Sync);

/// Movers per tile, so that a tile's data stays in the caches.
const MOVERS: usize = 32;

/// Largest number of movers in a timed pass of values by halves, and number of passes.
const PASS: usize = 8192;
const PASSES: usize = 31;

/// Number of random positions on which values by halves are verified against the ordinary network.
const TRIALS: usize = 1000;

/// Largest difference, relative to 1 + |V|, explained by rounding, even with large corrections of a prior.
const ROUNDING: f32 = 1e-4;

/// Measures errors over all positions.
pub(super) fn exhaustive<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    progress: Share<'_>,
) -> Result<ExhaustiveReport, TrainError> {
    let none = || {
        let message = format!("the positions of {} cannot be enumerated: measure a suite", game.name());
        TrainError::Suite(message)
    };
    let start = Instant::now();
    let values = game.values();
    let halves = values.halves.as_ref().ok_or_else(none)?()?;
    let (opening_seconds, start) = (start.elapsed().as_secs_f64(), Instant::now());
    let bilinear = |known: &Named| Some((known.name.to_string(), products(halves.factors(&known.name)?)));
    let baselines: Vec<(String, PairProducts)> =
        values.valuations.names().iter().filter_map(bilinear).collect();
    let all = All { game, halves: &*halves, baselines: &baselines };
    let (model, by_halves, nanoseconds) = match Split::new(&all, bound)? {
        Some(split) => {
            let nanoseconds = split.nanoseconds(halves.count());
            (Model::Split(split), true, nanoseconds)
        }
        None => (Model::plain(game, bound)?, false, None),
    };
    let (strips, done) = (halves.strips(TILE), AtomicUsize::new(0));
    let of_strip = |rollers: &Range<usize>| -> Result<Vec<PairErrors>, TrainError> {
        let sums = all.strip(&model, rollers.clone())?;
        let done = done.fetch_add(rollers.len(), Ordering::Relaxed) + rollers.len();
        progress(done as f64 / halves.count() as f64);
        Ok(sums)
    };
    let sums = jobs::try_all(None, &strips, &of_strip)?;
    // Summed in the order of the strips, whichever thread computed them.
    let mut total = vec![PairErrors::default(); 1 + baselines.len()];
    for strip in sums {
        total.iter_mut().zip(strip).for_each(|(total, sums)| total.add(&sums));
    }
    let errors = position_errors(&total[0]);
    let names = baselines.into_iter().map(|(name, _)| name);
    Ok(ExhaustiveReport {
        errors,
        rms_probability: errors.rms / 2.0,
        baselines: names.zip(total[1..].iter().map(position_errors)).collect(),
        by_halves,
        nanoseconds,
        opening_seconds,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Nanoseconds per value over pairs of halves, with the first layer computed once per half, without priors. `None` if
/// the game or the network does not have this form.
pub(super) fn nanoseconds_by_halves<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
) -> Result<Option<f64>, TrainError> {
    if Pairwise::of_model(&*bound.model).is_none() {
        return Ok(None);
    }
    let Some(halves) = game.values().halves else { return Ok(None) };
    let halves = halves()?;
    let all = All { game, halves: &*halves, baselines: &[] };
    Ok(Split::new(&all, bound)?.and_then(|split| split.nanoseconds(halves.count())))
}

fn position_errors(errors: &PairErrors) -> PositionErrors {
    PositionErrors { rms: errors.rms(), mae: errors.mae(), max: errors.max(), rows: errors.pairs() }
}

fn products(factors: Factors) -> PairProducts {
    PairProducts::new(factors.terms, factors.movers, &factors.rollers)
}

/// All positions, and their values by baselines.
struct All<'a, G: Kit> {
    game: &'a G,
    halves: &'a dyn Halves<G>,
    baselines: &'a [(String, PairProducts)],
}

impl<G: Kit> All<'_, G> {
    /// The errors on all positions with these rollers: first the model's, then the baselines'.
    fn strip(&self, model: &Model<G>, rollers: Range<usize>) -> Result<Vec<PairErrors>, GameError> {
        let mut sums = vec![PairErrors::default(); 1 + self.baselines.len()];
        let mut exact = [[0.0; TILE]; MOVERS];
        let mut found = [[0.0; TILE]; MOVERS];
        let mut known = vec![[[0.0; TILE]; MOVERS]; self.baselines.len()];
        for first in (0..self.halves.count()).step_by(MOVERS) {
            let movers = first..self.halves.count().min(first + MOVERS);
            let n = movers.len();
            self.halves.exact(movers.clone(), rollers.clone(), TILE, exact[..n].as_flattened_mut())?;
            for ((_, products), known) in self.baselines.iter().zip(&mut known) {
                products.tile(movers.clone(), rollers.start, &mut known[..n]);
            }
            let (found, tile) = (&mut found[..n], Tile { movers, rollers: rollers.clone() });
            match model {
                Model::Split(split) => split.tile(self, tile, &known, found),
                Model::Plain(players) => {
                    let player = players.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let mut player = player.expect("as many players as threads");
                    self.rows(&mut player, tile, found);
                    players.lock().unwrap_or_else(PoisonError::into_inner).push(player);
                }
            }
            sums[0].add_tile(found, &exact, rollers.len());
            for (sums, known) in sums[1..].iter_mut().zip(&known) {
                sums.add_tile(&known[..n], &exact, rollers.len());
            }
        }
        Ok(sums)
    }

    /// The values of a model that is evaluated row by row.
    fn rows(&self, player: &mut Player<G>, tile: Tile, values: &mut [TileRow]) {
        let Tile { movers, rollers } = tile;
        let Player { bound, rows, known, values: found, outcomes } = player;
        rows.clear();
        known.clear();
        for mover in movers {
            for roller in rollers.clone() {
                let state = &self.halves.state(mover, roller);
                let after =
                    Afterstate { state, action: None, player: self.game.just_acted(state).unwrap_or(0) };
                known.add(rows, bound.model.head(), &**bound.encoder(), self.game, after);
            }
        }
        known.evaluate(&mut *bound.model, rows, found, outcomes);
        for (to, values) in values.iter_mut().zip(found.chunks(rollers.len())) {
            to[..values.len()].copy_from_slice(values);
        }
    }

    fn encode(&self, bound: &GameModel<G>, mover: usize, roller: usize, rows: &mut Rows) {
        let state = &self.halves.state(mover, roller);
        let player = self.game.just_acted(state).unwrap_or(0);
        bound.encoder().encode(self.game, Afterstate { state, action: None, player }, rows.push());
    }

    fn valuation(&self, valuation: &dyn Valuation<G>, mover: usize, roller: usize) -> f32 {
        let state = &self.halves.state(mover, roller);
        let player = self.game.just_acted(state).unwrap_or(0);
        valuation.value(self.game, Afterstate { state, action: None, player }) as f32
    }
}

/// Movers and rollers of a tile.
#[derive(Clone)]
struct Tile {
    movers: Range<usize>,
    rollers: Range<usize>,
}

/// Method of computing a checkpoint's values.
enum Model<G: Kit> {
    /// By halves.
    Split(Split<G>),
    /// Row by row, with a copy for each thread.
    Plain(Mutex<Vec<Player<G>>>),
}

impl<G: Kit> Model<G> {
    fn plain(game: &G, bound: &mut GameModel<G>) -> Result<Self, ModelError> {
        let player = |_| Ok(Player::new(bound.player(game)?));
        let players: Result<_, ModelError> = (0..rayon::current_num_threads()).map(player).collect();
        Ok(Self::Plain(Mutex::new(players?)))
    }
}

/// A copy of a checkpoint with its buffers.
struct Player<G: Kit> {
    bound: GameModel<G>,
    rows: Rows,
    known: KnownRows,
    values: Vec<f32>,
    outcomes: Vec<f32>,
}

impl<G: Kit> Player<G> {
    fn new(bound: GameModel<G>) -> Self {
        let rows = Rows::new(bound.model.channels());
        Self { rows, known: KnownRows::default(), values: Vec::new(), outcomes: Vec::new(), bound }
    }
}

/// A network whose rows are sums of contributions from two halves.
struct Split<G: Kit> {
    values: PairValues,
    prior: Prior<G>,
}

/// The prior that a network corrects.
enum Prior<G: Kit> {
    None,
    /// The baseline with this number.
    Baseline(usize),
    /// Evaluated position by position.
    Valuation(Arc<dyn Valuation<G>>),
}

impl<G: Kit> Split<G> {
    /// Splits the network into halves; `None` if it has another form, or its rows are not sums over halves.
    fn new(all: &All<'_, G>, bound: &mut GameModel<G>) -> Result<Option<Self>, TrainError> {
        let Some(form) = Pairwise::of_model(&*bound.model) else { return Ok(None) };
        let encoder = bound.encoder().clone();
        let prior = match open::prior(encoder.name()).ok().flatten() {
            _ if !form.corrects() => Prior::None,
            None => return Ok(None),
            Some(prior) => match all.baselines.iter().position(|(known, _)| *known == prior.name) {
                Some(number) => Prior::Baseline(number),
                None => {
                    match all.game.values().valuations.open(&prior.name).filter(|_| prior.pinned.is_none()) {
                        Some(Ok(valuation)) => Prior::Valuation(valuation),
                        _ => return Ok(None),
                    }
                }
            },
        };
        let rows = |pair: &dyn Fn(usize) -> (usize, usize)| {
            let mut rows = Rows::new(bound.model.channels());
            for half in 0..all.halves.count() {
                let (mover, roller) = pair(half);
                all.encode(bound, mover, roller, &mut rows);
            }
            rows
        };
        let mut pair = |mover, roller| {
            let mut rows = Rows::new(bound.model.channels());
            all.encode(bound, mover, roller, &mut rows);
            rows
        };
        let (movers, rollers) = (rows(&|mover| (mover, 0)), rows(&|roller| (0, roller)));
        let Some(values) = form.prepare(&movers, &rollers, &mut pair) else { return Ok(None) };
        let split = Self { values, prior };
        Ok(split.agrees(all, bound)?.then_some(split))
    }

    /// Whether random positions have the same values as with row-by-row evaluation.
    fn agrees(&self, all: &All<'_, G>, bound: &mut GameModel<G>) -> Result<bool, TrainError> {
        let mut player = Player::new(bound.player(all.game)?);
        let (mut rng, halves) = (stream(0, "pairs", 0), all.halves.count());
        let mut known = vec![[[0.0; TILE]; MOVERS]; all.baselines.len()];
        let (mut by_halves, mut by_rows) = ([[0.0; TILE]], [[0.0; TILE]]);
        Ok((0..TRIALS).all(|_| {
            let (mover, roller) = (rng.random_range(0..halves), rng.random_range(0..halves));
            let tile = Tile { movers: mover..mover + 1, rollers: roller..roller + 1 };
            for ((_, products), known) in all.baselines.iter().zip(&mut known) {
                products.tile(mover..mover + 1, roller, &mut known[..1]);
            }
            self.tile(all, tile.clone(), &known, &mut by_halves);
            all.rows(&mut player, tile, &mut by_rows);
            let (found, expected) = (by_halves[0][0], by_rows[0][0]);
            // The ordinary network handles non-finite values.
            (found - expected).abs() <= ROUNDING * (1.0 + expected.abs())
        }))
    }

    /// Nanoseconds per value on one thread, given the priors, with tiles in their usual order: the median of several
    /// passes.
    fn nanoseconds(&self, count: usize) -> Option<f64> {
        let blocks = count.min(PASS) / MOVERS;
        if blocks == 0 || count < TILE {
            return None;
        }
        let priors: &[TileRow] = if matches!(self.prior, Prior::None) { &[] } else { &[[0.0; TILE]; MOVERS] };
        let mut values = [[0.0; TILE]; MOVERS];
        let mut times: Vec<f64> = (0..PASSES)
            .map(|pass| {
                let (start, first) = (Instant::now(), pass * TILE % (count - TILE + 1));
                for block in 0..blocks {
                    let movers = block * MOVERS..(block + 1) * MOVERS;
                    self.values.tile(movers, first, priors, &mut values);
                    std::hint::black_box(&values);
                }
                start.elapsed().as_secs_f64() * 1e9 / (blocks * MOVERS * TILE) as f64
            })
            .collect();
        times.sort_by(f64::total_cmp);
        Some(times[PASSES / 2])
    }

    /// The values of a tile, given the values of the baselines.
    fn tile(&self, all: &All<'_, G>, tile: Tile, known: &[[TileRow; MOVERS]], values: &mut [TileRow]) {
        let Tile { movers, rollers } = tile;
        let mut computed;
        let priors = match &self.prior {
            Prior::None => &[][..],
            Prior::Baseline(number) => &known[*number][..movers.len()],
            Prior::Valuation(valuation) => {
                computed = [[0.0; TILE]; MOVERS];
                for (to, mover) in computed.iter_mut().zip(movers.clone()) {
                    for (to, roller) in to.iter_mut().zip(rollers.clone()) {
                        *to = all.valuation(&**valuation, mover, roller);
                    }
                }
                &computed[..movers.len()]
            }
        };
        self.values.tile(movers, rollers.start, priors, values);
    }
}

#[cfg(test)]
mod tests;
