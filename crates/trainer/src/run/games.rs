//! Plays the games of a batch, by the learner itself or by workers with copies of it.
//!
//! Each worker has its own generator and a fixed share of every batch. Samples are joined in the order of the
//! workers, so results do not depend on threads. With overlap, the games of a batch are played while the
//! learner steps on the previous batch. They always use parameters that are exactly one step old.

use crate::config::{GapDiscount, Learn, Next, Rewards, SELF, TdSettings, TraceKind};
use crate::positions::{Examples, Positions};
use crate::td::{Bootstrap, GameStats, PlaySettings, Seats, TdPlayer};
use adept_arena::{Agent, GameModel, OpenError, open};
use adept_game::Kit;
use adept_game::limits::Claim;
use adept_game::{Stream, stream};
use adept_model::{Learner, ModelError, Samples, Tensor, TensorData};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// SelfPlay of a run by number.
pub(super) type Span = Range<u64>;

/// Plays the games of a run.
pub(super) struct SelfPlay<'a, G: Kit> {
    game: &'a G,
    learn: &'a Learn,
    td: &'a TdSettings,
    workers: Vec<Worker<G>>,
    /// Memory of the workers' copies.
    _claim: Claim,
    /// `None` if the learner itself plays.
    pool: Option<rayon::ThreadPool>,
    flat: Vec<f32>,
    /// A batch that was played but not yet learned from.
    ahead: Option<(Span, Samples)>,
    /// Examples shown between games.
    examples: Option<Examples<G>>,
    /// Starting positions; `None` if games start as the rules say.
    positions: Option<Positions<G>>,
}

struct Worker<G: Kit> {
    player: TdPlayer<G>,
    /// Opponents by number.
    agents: Vec<Box<dyn Agent<G>>>,
    /// Candidates for the other seats: an opponent, or the learner (`None`).
    field: Vec<Option<usize>>,
    /// The seats of a game.
    seats: Vec<Option<usize>>,
    rng: Stream,
    /// A copy of the learner; `None` if the learner itself plays.
    bound: Option<GameModel<G>>,
}

/// State for a checkpoint: generators, and the games played ahead.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SelfPlayState {
    pub(super) play: Vec<Stream>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ahead: Option<Span>,
}

/// Result of a batch.
pub(super) struct Learned {
    pub(super) loss: f64,
    pub(super) samples: u64,
    /// Seconds of the step, and of waiting for games before and after it; `None` if the learner itself plays.
    pub(super) seconds: Option<(f64, f64)>,
}

/// An error in a batch, and its game.
pub(super) type BatchError = (ModelError, u64);

impl<'a, G: Kit> SelfPlay<'a, G> {
    /// Creates the workers that the config asks for. They get the learner's parameters at the first
    /// [`Self::publish`].
    pub(super) fn new(
        game: &'a G,
        learn: &'a Learn,
        td: &'a TdSettings,
        seed: u64,
        bound: &mut GameModel<G>,
    ) -> Result<Self, OpenError> {
        let apart = td.workers > 1 || learn.overlaps();
        let copies = if apart { td.workers as u64 } else { 0 };
        // A copy has parameters and room for their gradient.
        let claim =
            Claim::new(8 * bound.learner.describe().parameters as u64 * copies).map_err(ModelError::from)?;
        let workers: Result<Vec<_>, OpenError> = (0..td.workers as u64)
            .map(|w| {
                let names = td.field.clone().unwrap_or_else(|| vec![td.against.clone()]);
                let (mut agents, mut field) = (Vec::new(), Vec::new());
                for name in &names {
                    field.push((name != SELF).then_some(agents.len()));
                    if name != SELF {
                        agents.push(open::agent(game, name)?);
                    }
                }
                Ok(Worker {
                    player: TdPlayer::new(game, &*bound.learner),
                    agents,
                    field,
                    seats: Vec::new(),
                    rng: stream(seed, "play", w),
                    bound: if apart { Some(bound.player(game)?) } else { None },
                })
            })
            .collect();
        // If the machine gives no threads, play on the current one.
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(td.workers).build().ok();
        Ok(Self {
            game,
            learn,
            td,
            workers: workers?,
            _claim: claim,
            pool: if apart { pool() } else { None },
            flat: Vec::new(),
            ahead: None,
            examples: None,
            positions: td.distribution.as_deref().map(|d| Positions::new(game, Some(d))).transpose()?,
        })
    }

    /// Also learns from these examples.
    pub(super) fn show(&mut self, examples: Examples<G>) {
        self.examples = Some(examples);
    }

    /// The examples shown between games.
    pub(super) fn examples(&self) -> Option<&Examples<G>> {
        self.examples.as_ref()
    }

    /// State for a checkpoint.
    pub(super) fn state(&self) -> (SelfPlayState, Vec<Tensor>) {
        let play = self.workers.iter().map(|w| w.rng.clone()).collect();
        let Some((span, samples)) = &self.ahead else {
            return (SelfPlayState { play, ahead: None }, Vec::new());
        };
        let (n, rows) = (samples.len(), &samples.rows);
        let tensors = vec![
            Tensor::f32("ahead.dense", vec![n, rows.dense_width()], rows.dense.clone()),
            Tensor::u64("ahead.index", vec![n, rows.index_width()], rows.index.clone()),
            Tensor::f32("ahead.targets", vec![n], samples.targets.clone()),
            Tensor::f32("ahead.weights", vec![n], samples.weights.clone()),
        ];
        (SelfPlayState { play, ahead: Some(span.clone()) }, tensors)
    }

    /// Drops games played ahead, when the run is over.
    pub(super) fn forget(&mut self) {
        self.ahead = None;
    }

    /// Restores the state from a checkpoint.
    pub(super) fn restore(
        &mut self,
        state: SelfPlayState,
        tensors: &[Tensor],
        learner: &dyn Learner,
    ) -> Result<(), String> {
        let (found, expected) = (state.play.len(), self.workers.len());
        if found != expected {
            return Err(format!("it has {found} generators for {expected} workers"));
        }
        for (worker, rng) in self.workers.iter_mut().zip(state.play) {
            worker.rng = rng;
        }
        self.ahead = None;
        if let Some(span) = state.ahead {
            let mut samples = Samples::new(learner.channels());
            let floats = |name: &str| match tensors.iter().find(|t| t.name == name).map(|t| &t.data) {
                Some(TensorData::F32(data)) => Ok(data.clone()),
                _ => Err(format!("it has no float tensor `{name}`")),
            };
            let index = match tensors.iter().find(|t| t.name == "ahead.index").map(|t| &t.data) {
                Some(TensorData::U64(data)) => data.clone(),
                _ => return Err("it has no integer tensor `ahead.index`".into()),
            };
            (samples.targets, samples.weights) = (floats("ahead.targets")?, floats("ahead.weights")?);
            samples
                .rows
                .fill(samples.weights.len(), floats("ahead.dense")?, index)
                .map_err(|e| e.to_string())?;
            samples.rows.check(learner.channels()).map_err(|e| e.to_string())?;
            if samples.targets.len() != samples.weights.len() {
                return Err("its games played ahead have unequal numbers of targets and weights".into());
            }
            self.ahead = Some((span, samples));
        }
        Ok(())
    }

    /// Copies the learner's parameters to the workers.
    pub(super) fn publish(&mut self, learner: &mut dyn Learner) -> Result<(), ModelError> {
        if self.workers.iter().all(|w| w.bound.is_none()) {
            return Ok(());
        }
        learner.weights(&mut self.flat)?;
        for bound in self.workers.iter_mut().filter_map(|w| w.bound.as_mut()) {
            bound.learner.adopt(&self.flat)?;
        }
        Ok(())
    }

    /// Plays the games `span` and learns from them; with overlap, plays `next` at the same time.
    pub(super) fn batch(
        &mut self,
        bound: &mut GameModel<G>,
        span: Span,
        next: Span,
        clock: impl Fn() -> f64,
    ) -> Result<Learned, BatchError> {
        let (game, learn, td) = (self.game, self.learn, self.td);
        let rate = learn.rate_at(span.start);
        if self.workers[0].bound.is_none() {
            let begins = self.positions.as_ref();
            let stats = self.workers[0].play(game, Some(bound), span.clone(), (learn, td), begins)?;
            let samples = &mut self.workers[0].player.samples;
            if let Some(examples) = &mut self.examples {
                examples.fill(game, &**bound.encoder(), td.examples_due(&span), samples);
            }
            let mut learned = Learned { loss: stats.loss, samples: stats.samples, seconds: None };
            if td.traces == TraceKind::Backward && !samples.is_empty() {
                learned.loss += bound.learner.update(samples, rate).map_err(|e| (e, span.start))?;
                learned.samples += samples.len() as u64;
                samples.clear();
            }
            return Ok(learned);
        }
        let start = clock();
        let mut samples = match self.ahead.take() {
            Some((played, samples)) if played == span => samples,
            _ => self.play_apart(&span)?,
        };
        if let Some(examples) = &mut self.examples {
            examples.fill(game, &**bound.encoder(), td.examples_due(&span), &mut samples);
        }
        let begins = self.positions.as_ref();
        let played = clock();
        let (update, stepped);
        if learn.overlaps() && !next.is_empty() {
            let mut outcomes: Vec<Option<Result<GameStats, BatchError>>> = Vec::new();
            outcomes.resize_with(self.workers.len(), || None);
            let shares = shares(&next, self.workers.len());
            let jobs = self.workers.iter_mut().zip(&mut outcomes).zip(shares);
            let mut step = || {
                let update = bound.learner.update(&samples, rate);
                (update, clock())
            };
            (update, stepped) = match &self.pool {
                // Step on this thread: devices work best with one thread at a time.
                Some(pool) => pool.in_place_scope(|scope| {
                    for ((worker, outcome), share) in jobs {
                        scope.spawn(move |_| {
                            *outcome = Some(worker.play(game, None, share, (learn, td), begins))
                        });
                    }
                    step()
                }),
                None => {
                    jobs.for_each(|((w, o), share)| {
                        *o = Some(w.play(game, None, share, (learn, td), begins))
                    });
                    step()
                }
            };
            for outcome in outcomes.into_iter().flatten() {
                outcome?;
            }
            self.ahead = Some((next, self.collect()));
        } else {
            update = bound.learner.update(&samples, rate);
            stepped = clock();
        }
        let loss = update.map_err(|e| (e, span.start))?;
        self.publish(&mut *bound.learner).map_err(|e| (e, span.start))?;
        let end = clock();
        Ok(Learned {
            loss,
            samples: samples.len() as u64,
            // A clock may be set back.
            seconds: Some((
                (stepped - played).max(0.0),
                (played - start).max(0.0) + (end - stepped).max(0.0),
            )),
        })
    }

    /// Plays games on all workers while the learner waits.
    fn play_apart(&mut self, span: &Span) -> Result<Samples, BatchError> {
        let (game, how, shares) = (self.game, (self.learn, self.td), shares(span, self.workers.len()));
        let (jobs, begins) = (self.workers.iter_mut().zip(shares), self.positions.as_ref());
        let play = |(worker, share): (&mut Worker<G>, Span)| worker.play(game, None, share, how, begins);
        let outcomes: Vec<_> = match &self.pool {
            Some(pool) => {
                let jobs: Vec<_> = jobs.collect();
                pool.install(|| jobs.into_par_iter().with_max_len(1).map(play).collect())
            }
            None => jobs.map(play).collect(),
        };
        outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(self.collect())
    }

    /// Joins the samples of all workers in order.
    fn collect(&mut self) -> Samples {
        let mut workers = self.workers.iter_mut();
        let first = workers.next().map(|w| w.player.samples.take()).unwrap_or_default();
        workers.fold(first, |mut all, worker| {
            all.append(&worker.player.samples);
            worker.player.samples.clear();
            all
        })
    }
}

/// Splits games into this many parts; earlier parts are at least as large as later ones.
fn shares(span: &Span, parts: usize) -> Vec<Span> {
    let (parts, n) = (parts as u64, span.end - span.start);
    let at = |part: u64| span.start + part * (n / parts) + part.min(n % parts);
    (0..parts).map(|part| at(part)..at(part + 1)).collect()
}

impl<G: Kit> Worker<G> {
    /// Plays games with the worker's own copy of the learner, or with the learner.
    fn play(
        &mut self,
        game: &G,
        learner: Option<&mut GameModel<G>>,
        span: Span,
        (learn, td): (&Learn, &TdSettings),
        begins: Option<&Positions<G>>,
    ) -> Result<GameStats, BatchError> {
        let mut total = GameStats::default();
        let settings = td.settings(learn, span.start);
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
            let settings = PlaySettings { explore: td.explore.at(learn.share(g)), ..settings };
            let start = begins.map_or_else(|| game.start(), |positions| positions.any(&mut self.rng));
            let play = self.player.play(game, bound, start, seats, settings, &mut self.rng);
            let stats = play.map_err(|e| (e, g))?;
            total.loss += stats.loss;
            total.samples += stats.samples;
        }
        Ok(total)
    }
}

impl TdSettings {
    /// PlaySettings of a batch that starts with this game.
    fn settings(&self, learn: &Learn, game: u64) -> PlaySettings {
        let share = learn.share(game);
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
            explore: self.explore.at(share),
            temperature: self.temperature.map(|t| t.at(share)),
            rewards: (self.rewards == Rewards::Steps).then_some(to_reward),
            rate: learn.rate_at(game),
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
