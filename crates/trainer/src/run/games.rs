//! Plays the games of a batch, by the learner itself or by workers with copies of it.
//!
//! Each worker has its own generator and a fixed share of every batch. Samples are joined in the order of the
//! workers, so results do not depend on threads. With overlap, the games of a batch are played while the
//! learner steps on the previous batch. They always use parameters that are exactly one step old.
//!
//! Where batches are cut into shards, each worker belongs to one of them, and plays on the rank that has the shard.

use super::error::TrainError;
use super::plan::Span;
use super::source::{BatchError, BatchTime, Learned, Snapshot, Source, SourceState, Step};
use super::steer::Pace;
use crate::config::{Config, GapDiscount, Next, Rewards, SELF, TdSettings, TraceKind};
use crate::positions::{Examples, Positions, With};
use crate::shards::{MOST_BYTES, Shards};
use crate::td::{Bootstrap, GameStats, PlaySettings, Seats, TdPlayer};
use adept_arena::{Agent, LearnerModel, OpenError, open};
use adept_game::Kit;
use adept_game::{Stream, stream};
use adept_ground::jobs;
use adept_ground::limits::Claim;
use adept_ground::profile::{self, Phase};
use adept_model::{Engine, Learner, ModelError, Rows, Samples, Tensor, TensorData};
use adept_ranks::{Ranks, share, share_of};
use rand::RngExt;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Range;

/// Plays the games of a run.
pub(super) struct SelfPlay<'a, G: Kit> {
    game: &'a G,
    config: &'a Config,
    td: &'a TdSettings,
    seed: u64,
    /// The workers of this rank.
    workers: Vec<Worker<G>>,
    /// The number of the first of them.
    first: usize,
    /// Whether they have copies of the learner.
    apart: bool,
    /// Whether each worker belongs to a shard, so that ranks have their own.
    spread: bool,
    /// Memory of the workers' copies.
    _claim: Claim,
    /// Threads that play beside the one that learns, which plays too when it has learned. `None` if there are none.
    pool: Option<ThreadPool>,
    flat: Vec<f32>,
    /// No rows, of the learner's channels.
    channels: Rows,
    /// A batch that was played but not yet learned from.
    ahead: Option<(Span, Played)>,
    /// Examples shown between games.
    examples: Option<Examples<G>>,
    /// Starting positions; `None` if games start as the rules say.
    positions: Option<Positions<G>>,
}

/// Samples of the games of a batch.
struct Played {
    /// The samples of each shard of this rank; or of the whole batch, if workers do not belong to shards.
    parts: Vec<Samples>,
    /// Number of samples on all ranks.
    total: u64,
}

pub(super) struct Worker<G: Kit> {
    pub(super) player: TdPlayer<G>,
    /// Opponents by number.
    agents: Vec<Box<dyn Agent<G>>>,
    /// Candidates for the other seats: an opponent, or the learner (`None`).
    field: Vec<Option<usize>>,
    /// The seats of a game.
    seats: Vec<Option<usize>>,
    pub(super) rng: Stream,
    /// A copy of the learner; `None` if the learner itself plays.
    bound: Option<LearnerModel<G>>,
}

/// How many threads play beside the one that learns. More than there are cores would keep that one waiting; on a device it needs none.
pub(super) fn players(engine: Engine) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match engine {
        Engine::Native => cores - 1,
        Engine::Burn => cores,
    }
}

impl<'a, G: Kit> SelfPlay<'a, G> {
    /// Creates the workers that the config asks for. They get the learner's parameters at the first
    /// [`Source::publish`].
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        td: &'a TdSettings,
        seed: u64,
        bound: &mut LearnerModel<G>,
        shards: &Shards,
    ) -> Result<Self, OpenError> {
        let apart = td.workers > 1 || config.learn.overlaps();
        let spread = shards.count() > 1 && td.workers >= shards.count();
        let mine = if spread { workers_of(td.workers, shards) } else { 0..td.workers };
        let copies = if apart { mine.len() as u64 } else { 0 };
        // A copy has parameters and room for their gradient.
        let claim =
            Claim::new(8 * bound.model.describe().parameters as u64 * copies).map_err(ModelError::from)?;
        let workers: Result<Vec<_>, OpenError> = mine
            .clone()
            .map(|w| {
                let copy = if apart { Some(bound.worker(game)?) } else { None };
                Worker::new(game, td, seed, w as u64, &*bound.model, copy)
            })
            .collect();
        // If the machine gives no threads, play on the current one.
        let pool = || match mine.len().min(players(config.learn.engine)) {
            0 => None,
            threads => ThreadPoolBuilder::new().num_threads(threads).build().ok(),
        };
        Ok(Self {
            game,
            config,
            td,
            seed,
            workers: workers?,
            first: mine.start,
            apart,
            spread,
            _claim: claim,
            pool: if apart { pool() } else { None },
            flat: Vec::new(),
            channels: Rows::new(bound.model.channels()),
            ahead: None,
            examples: None,
            positions: td.distribution.as_deref().map(|d| Positions::new(game, Some(d))).transpose()?,
        })
    }

    /// The samples of all shards of all ranks, and how many each shard has.
    fn joined(&self, parts: &[Samples], ranks: &Ranks) -> (Samples, Vec<usize>) {
        let mut whole = Samples { rows: self.channels.clone(), ..Samples::default() };
        parts.iter().for_each(|part| whole.append(part));
        if !self.spread {
            return (whole, Vec::new());
        }
        let counts: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
        if !ranks.are_several() {
            return (whole, counts.into_iter().map(|n| n as usize).collect());
        }
        let bytes = |bytes: &[u8]| ranks.collect(bytes).concat();
        let floats = |mine: &[f32]| bytemuck::pod_collect_to_vec(&bytes(bytemuck::cast_slice(mine)));
        let words =
            |mine: &[u64]| bytemuck::pod_collect_to_vec::<u8, u64>(&bytes(bytemuck::cast_slice(mine)));
        let counts: Vec<usize> = words(&counts).into_iter().map(|n| n as usize).collect();
        let (dense, index) = (floats(&whole.rows.dense), words(&whole.rows.index));
        whole.targets = floats(&whole.targets);
        whole.weights = floats(&whole.weights);
        whole.rows.fill(counts.iter().sum(), dense, index).expect("ranks have rows of the same channels");
        (whole, counts)
    }

    /// Plays games on all workers of this rank while the learner waits.
    fn play_apart(&mut self, span: &Span, pace: Pace<'_>) -> Vec<Result<GameStats, BatchError>> {
        let (game, td) = (self.game, self.td);
        let shares = shares(span, td.workers).into_iter().skip(self.first);
        let (jobs, begins) = (self.workers.iter_mut().zip(shares), self.positions.as_ref());
        let play = |(worker, share): (&mut Worker<G>, Span)| worker.play(game, None, share, pace, td, begins);
        let _waits = profile::pause();
        jobs::all_beside(self.pool.as_ref(), jobs, &play, || ()).1
    }

    /// Joins the samples of the workers in order, by shard where workers belong to shards. The first error of any rank becomes
    /// that of all.
    fn collect(
        &mut self,
        outcomes: Vec<Result<GameStats, BatchError>>,
        shards: &Shards,
    ) -> Result<Played, BatchError> {
        let failed = outcomes.into_iter().find_map(Result::err);
        let (first, total) = (self.first, self.td.workers);
        let mut parts = Vec::new();
        let groups = if self.spread { shards.mine() } else { 0..1 };
        let count = if self.spread { shards.count() } else { 1 };
        for group in groups.map(|shard| workers_of_shard(total, count, shard)) {
            let mut workers = self.workers[group.start - first..group.end - first].iter_mut();
            let one = workers.next().map(|w| w.player.samples.take()).unwrap_or_default();
            parts.push(workers.fold(one, |mut all, worker| {
                all.append(&worker.player.samples);
                worker.player.samples.clear();
                all
            }));
        }
        let mine = parts.iter().map(|part| part.len() as u64).sum();
        let total =
            if self.spread { agreed(shards.ranks(), failed, mine)? } else { failed.map_or(Ok(mine), Err)? };
        // A checkpoint collects this from all ranks, if the next batch is played ahead.
        let row = 8 + 4 * self.channels.dense_width() as u64 + 8 * self.channels.index_width() as u64;
        if shards.ranks().are_several() && total.saturating_mul(row) > MOST_BYTES as u64 {
            let message = format!(
                "the games of a batch have {total} samples, {} MB, too many for ranks to exchange: lower `learn.batch`",
                total.saturating_mul(row) / 1_000_000
            );
            return Err(BatchError { error: ModelError::Unsupported(message), step: 0 });
        }
        Ok(Played { parts, total })
    }
}

impl<G: Kit> Source<G> for SelfPlay<'_, G> {
    fn prepare(&mut self, bound: &LearnerModel<G>) -> Result<(), TrainError> {
        if self.config.learn.shows_examples() {
            self.examples = Some(Examples::new(self.game, self.config, self.seed, With::of(bound))?);
        }
        Ok(())
    }

    fn digest(&self) -> Option<u64> {
        self.examples.as_ref()?.digest(self.config)
    }

    fn state(&mut self, ranks: &Ranks) -> Result<Snapshot, ModelError> {
        let mut play: Vec<Stream> = self.workers.iter().map(|w| w.rng.clone()).collect();
        if self.spread && ranks.are_several() {
            let mine = serde_json::to_vec(&play)?;
            let all: Result<Vec<Vec<Stream>>, _> =
                ranks.collect(&mine).iter().map(|bytes| serde_json::from_slice(bytes)).collect();
            play = all?.concat();
        }
        let Some((span, played)) = &self.ahead else {
            let state = SourceState { play, ..SourceState::default() };
            return Ok(Snapshot { state, tensors: Vec::new() });
        };
        let (samples, shards) = self.joined(&played.parts, ranks);
        let (n, rows, outputs) = (samples.len(), &samples.rows, samples.outputs());
        let shape = if outputs == 1 { vec![n] } else { vec![n, outputs] };
        let tensors = vec![
            Tensor::f32("ahead.dense", vec![n, rows.dense_width()], rows.dense.clone()),
            Tensor::u64("ahead.index", vec![n, rows.index_width()], rows.index.clone()),
            Tensor::f32("ahead.targets", shape, samples.targets),
            Tensor::f32("ahead.weights", vec![n], samples.weights),
        ];
        Ok(Snapshot { state: SourceState { play, ahead: Some(span.clone()), shards }, tensors })
    }

    fn is_divided(&self) -> bool {
        self.spread
    }

    fn forget(&mut self) {
        self.ahead = None;
    }

    fn restore(
        &mut self,
        state: SourceState,
        tensors: &[Tensor],
        learner: &dyn Learner,
        shards: &Shards,
    ) -> Result<(), String> {
        let (found, expected) = (state.play.len(), self.td.workers);
        if found != expected {
            return Err(format!("it has {found} generators for {expected} workers"));
        }
        for (worker, rng) in self.workers.iter_mut().zip(state.play.into_iter().skip(self.first)) {
            worker.rng = rng;
        }
        self.ahead = None;
        if let Some(span) = state.ahead {
            let samples = samples_of(tensors, learner)?;
            let total = samples.len() as u64;
            let parts = if self.spread { parts_of(&samples, &state.shards, shards)? } else { vec![samples] };
            self.ahead = Some((span, Played { parts, total }));
        }
        Ok(())
    }

    fn publish(&mut self, learner: &mut dyn Learner) -> Result<(), ModelError> {
        if !self.apart {
            return Ok(());
        }
        learner.weights(&mut self.flat)?;
        for bound in self.workers.iter_mut().filter_map(|w| w.bound.as_mut()) {
            bound.model.adopt(&self.flat)?;
        }
        Ok(())
    }

    /// Plays the games of a batch and learns from them; with overlap, plays the next ones at the same time.
    fn learn(&mut self, step: Step<'_, G>) -> Result<Learned, BatchError> {
        match self.apart {
            true => self.learn_apart(step),
            false => self.learn_alone(step),
        }
    }
}

impl<G: Kit> SelfPlay<'_, G> {
    /// The learner itself plays games, and learns from them.
    fn learn_alone(&mut self, step: Step<'_, G>) -> Result<Learned, BatchError> {
        let Step { bound, batch, shards, pace, .. } = step;
        let span = &batch.span;
        let (game, td, begins) = (self.game, self.td, self.positions.as_ref());
        let fail = BatchError::at(span.start);
        let worker = &mut self.workers[0];
        let stats = worker.play(game, Some(bound), span.clone(), pace, td, begins)?;
        let samples = &mut worker.player.samples;
        if let Some(examples) = &mut self.examples {
            examples.fill(game, &**bound.encoder(), td.examples_due(span), samples).map_err(&fail)?;
        }
        let mut learned = Learned { loss: stats.loss, samples: stats.samples, time: None };
        if td.traces == TraceKind::Backward && !samples.is_empty() {
            let update = shards.update(&mut *bound.model, samples, pace.rate(span.start));
            learned.loss += update.map_err(&fail)?;
            learned.samples += samples.len() as u64;
            samples.clear();
        }
        Ok(learned)
    }

    /// Workers play games, unless they did so ahead. The learner steps on their samples.
    fn learn_apart(&mut self, step: Step<'_, G>) -> Result<Learned, BatchError> {
        let Step { bound, batch, shards, pace, clock } = step;
        let (game, td, span) = (self.game, self.td, &batch.span);
        let fail = BatchError::at(span.start);
        let begin = clock();
        let mut samples = match self.ahead.take() {
            Some((played, samples)) if played == *span => samples,
            _ => {
                let outcomes = self.play_apart(span, pace);
                self.collect(outcomes, shards)?
            }
        };
        if let Some(examples) = &mut self.examples {
            let due = td.examples_due(span);
            samples.total += due.end - due.start;
            let mine = if self.spread { shards.mine() } else { 0..1 };
            let count = if self.spread { shards.count() } else { 1 };
            for (shard, part) in mine.zip(&mut samples.parts) {
                let share = share_of(&due, count, shard);
                examples.fill(game, &**bound.encoder(), share, part).map_err(&fail)?;
            }
        }
        let (begins, spread, rate) = (self.positions.as_ref(), self.spread, pace.rate(span.start));
        let played = clock();
        let mut step = || {
            let update = match &samples.parts[..] {
                _ if samples.total == 0 => Ok(0.0),
                [whole] if !spread => shards.update(&mut *bound.model, whole, rate),
                parts => shards.update_parts(&mut *bound.model, parts, rate),
            };
            (update, clock())
        };
        let (update, stepped);
        let mut ahead = None;
        if self.config.learn.overlaps() && !batch.next.is_empty() {
            let _waits = profile::pause();
            let shares = shares(&batch.next, td.workers).into_iter().skip(self.first);
            let jobs = self.workers.iter_mut().zip(shares);
            let play =
                |(worker, share): (&mut Worker<G>, Span)| worker.play(game, None, share, pace, td, begins);
            // Step on this thread: devices work best with one thread at a time.
            let (found, outcomes) = jobs::all_beside(self.pool.as_ref(), jobs, &play, step);
            ((update, stepped), ahead) = (found, Some(outcomes));
        } else {
            (update, stepped) = step();
        }
        let loss = update.map_err(&fail)?;
        if let Some(outcomes) = ahead {
            self.ahead = Some((batch.next.clone(), self.collect(outcomes, shards)?));
        }
        self.publish(&mut *bound.model).map_err(&fail)?;
        // A clock may be set back.
        let learning = (stepped - played).max(0.0);
        let waiting = (played - begin).max(0.0) + (clock() - stepped).max(0.0);
        Ok(Learned { loss, samples: samples.total, time: Some(BatchTime { learning, waiting }) })
    }
}

/// The samples of games played ahead, from the tensors of a checkpoint.
fn samples_of(tensors: &[Tensor], learner: &dyn Learner) -> Result<Samples, String> {
    let data = |name: &str| tensors.iter().find(|t| t.name == name).map(|t| &t.data);
    let floats = |name: &str| match data(name) {
        Some(TensorData::F32(data)) => Ok(data.clone()),
        _ => Err(format!("it has no float tensor `{name}`")),
    };
    let index = match data("ahead.index") {
        Some(TensorData::U64(data)) => data.clone(),
        _ => return Err("it has no integer tensor `ahead.index`".into()),
    };
    let mut samples = Samples::new(learner.channels());
    (samples.targets, samples.weights) = (floats("ahead.targets")?, floats("ahead.weights")?);
    samples.rows.fill(samples.weights.len(), floats("ahead.dense")?, index).map_err(|e| e.to_string())?;
    samples.rows.check(learner.channels()).map_err(|e| e.to_string())?;
    if samples.targets.len() != samples.weights.len() * learner.head().outputs() {
        return Err("its games played ahead have unequal numbers of targets and weights".into());
    }
    Ok(samples)
}

/// The number of samples on all ranks, or the first error of any.
fn agreed(ranks: &Ranks, failed: Option<BatchError>, samples: u64) -> Result<u64, BatchError> {
    if !ranks.are_several() {
        return failed.map_or(Ok(samples), Err);
    }
    // The text says "what diverged" for errors of that kind.
    let said = match &failed {
        None => (samples, None),
        Some(BatchError { error: ModelError::Diverged { what }, step }) => {
            (*step, Some((true, what.clone())))
        }
        Some(BatchError { error, step }) => (*step, Some((false, error.to_string()))),
    };
    let mine = serde_json::to_vec(&said).expect("numbers and texts");
    let mut total = 0;
    for (rank, bytes) in ranks.collect(&mine).iter().enumerate() {
        let heard = serde_json::from_slice(bytes).map_err(ModelError::from).map_err(BatchError::at(0))?;
        let (number, error): (u64, Option<(bool, String)>) = heard;
        match error {
            None => total += number,
            Some((true, what)) => return Err(BatchError::at(number)(ModelError::Diverged { what })),
            Some((false, text)) => {
                return Err(BatchError::at(number)(ModelError::Unsupported(format!("rank {rank}: {text}"))));
            }
        }
    }
    Ok(total)
}

/// The workers of the shards of this rank.
fn workers_of(workers: usize, shards: &Shards) -> Range<usize> {
    let start = |shard| workers_of_shard(workers, shards.count(), shard).start;
    start(shards.mine().start)..start(shards.mine().end)
}

fn workers_of_shard(workers: usize, shards: usize, shard: usize) -> Range<usize> {
    let share = share(workers as u64, shards, shard);
    share.start as usize..share.end as usize
}

/// The samples of the shards of this rank, from those of all shards and their numbers.
fn parts_of(whole: &Samples, counts: &[usize], shards: &Shards) -> Result<Vec<Samples>, String> {
    let all = counts.iter().try_fold(0usize, |all, n| all.checked_add(*n));
    if counts.len() != shards.count() || all != Some(whole.len()) {
        return Err("its games played ahead are cut into other shards".into());
    }
    let mut at = 0;
    let all = counts.iter().map(|n| {
        at += n;
        at - n..at
    });
    let ranges: Vec<Range<usize>> = all.collect();
    let part = |range: &Range<usize>| {
        let mut part = Samples { rows: whole.rows.empty(), ..Samples::default() };
        part.copy_range(whole, range.clone());
        part
    };
    Ok(ranges[shards.mine()].iter().map(part).collect())
}

/// Splits games into this many parts; earlier parts are at least as large as later ones.
fn shares(span: &Span, parts: usize) -> Vec<Span> {
    (0..parts).map(|part| share_of(span, parts, part)).collect()
}

impl<G: Kit> Worker<G> {
    /// The worker with this number of a run with this seed. It plays with `copy`, if there is one.
    pub(super) fn new(
        game: &G,
        td: &TdSettings,
        seed: u64,
        number: u64,
        learner: &dyn Learner,
        copy: Option<LearnerModel<G>>,
    ) -> Result<Self, OpenError> {
        let names = td.field.clone().unwrap_or_else(|| vec![td.against.clone()]);
        let (mut agents, mut field) = (Vec::new(), Vec::new());
        for name in &names {
            field.push((name != SELF).then_some(agents.len()));
            if name != SELF {
                agents.push(open::agent(game, name)?);
            }
        }
        Ok(Self {
            player: TdPlayer::new(game, learner, td.search_options()),
            agents,
            field,
            seats: Vec::new(),
            rng: stream(seed, "play", number),
            bound: copy,
        })
    }

    /// Plays games with the worker's own copy of the learner, or with the learner.
    pub(super) fn play(
        &mut self,
        game: &G,
        learner: Option<&mut LearnerModel<G>>,
        span: Span,
        pace: Pace<'_>,
        td: &TdSettings,
        begins: Option<&Positions<G>>,
    ) -> Result<GameStats, BatchError> {
        let _games = profile::span(Phase::Games);
        let mut total = GameStats::default();
        let settings = td.settings(pace, span.start);
        let Some(bound) = learner.or(self.bound.as_mut()) else { return Ok(total) };
        for g in span {
            let seat = (g % game.players() as u64) as usize;
            self.seats.clear();
            for other in 0..game.players() {
                let drawn = match self.field[..] {
                    _ if other == seat => None,
                    [one] => one,
                    _ => self.field[self.rng.random_range(0..self.field.len())],
                };
                self.seats.push(drawn);
            }
            let seats = Seats { agents: &mut self.agents, by_seat: &self.seats };
            let settings = PlaySettings { explore: pace.explore(g).unwrap_or(0.0), ..settings };
            let start = begins.map_or_else(|| game.start(), |positions| positions.any(game, &mut self.rng));
            let play = self.player.play(game, bound, start, seats, settings, &mut self.rng);
            let stats = play.map_err(BatchError::at(g))?;
            total.loss += stats.loss;
            total.samples += stats.samples;
        }
        Ok(total)
    }
}

impl TdSettings {
    /// The settings of a batch that starts with this game, from the schedules.
    pub(super) fn settings(&self, pace: Pace<'_>, game: u64) -> PlaySettings {
        let share = pace.learn.share(game);
        let gap = |internal: fn(&GapDiscount) -> u32| {
            self.gap_discount.as_ref().map_or(0, internal).try_into().unwrap_or(i32::MAX)
        };
        let to_next = self.discount * self.discount.powi(gap(|gap| gap.turn));
        let to_reward = self.discount.powi(gap(|gap| gap.reward)) as f32;
        let bootstrap = Bootstrap {
            lambda: self.lambda.at(share) as f32,
            discount: to_next as f32,
            chosen: self.next == Next::Chosen,
            clip: self.clip.map_or(f32::INFINITY, |clip| clip as f32),
        };
        PlaySettings {
            bootstrap,
            explore: pace.explore(game).unwrap_or(0.0),
            temperature: pace.temperature(game),
            rewards: (self.rewards == Rewards::Steps).then_some(to_reward),
            rate: pace.rate(game),
            traces: self.traces,
            along: self.along,
        }
    }

    /// Numbers of the examples that accompany these games.
    fn examples_due(&self, games: &Span) -> Span {
        let until = |game: u64| (game as f64 * self.examples_per_game.unwrap_or(0.0)) as u64;
        until(games.start)..until(games.end)
    }
}
