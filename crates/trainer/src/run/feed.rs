//! Samples for batches without games: examples, or positions backed up by expectation.

use super::games::{BatchError, Learned, Span};
use super::source::Source;
use super::steer::Pace;
use crate::config::{Config, ExpectationSettings, Method, MixedExamples, RareSettings};
use crate::positions::{Examples, Positions, With, digest, encode, hash, rare_positions, training_samples};
use crate::run::TrainError;
use crate::shards::Shards;
use adept_arena::{LearnerModel, OpenError, Screen, Successors};
use adept_game::{Encoder, Kit};
use adept_game::{Stream, Turn, stream};
use adept_ground::jobs;
use adept_ground::limits::Claim;
use adept_ground::profile::{self, Phase};
use adept_model::{Channel, ModelError, Samples};
use adept_ranks::{share, share_of};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::ThreadPool;
use std::sync::{Mutex, PoisonError};

/// Fewer examples are taken sooner than threads wake up.
const FEW: u64 = 256;

/// Source of samples for runs without games. The content of a shard of a batch depends only on the seed, the number of its
/// first sample and, for backups, the parameters. So checkpoints need not keep any state of it.
pub(super) struct Feed<'a, G: Kit> {
    game: &'a G,
    config: &'a Config,
    seed: u64,
    /// `None` before learning begins.
    supply: Option<Supply<'a, G>>,
    /// Samples of each shard of this rank.
    parts: Vec<Samples>,
}

enum Supply<'a, G: Kit> {
    Examples(Box<Examples<G>>),
    Backups(Box<Backups<'a, G>>),
}

/// One-step backups over all outcomes of chance.
struct Backups<'a, G: Kit> {
    settings: &'a ExpectationSettings,
    /// None if games begin as the rules say.
    positions: Option<Positions<G>>,
    /// None if no game begins at rare positions.
    rare: Option<Rare<G>>,
    /// None if all samples are targets of the run itself.
    labelled: Option<Labelled>,
    found: Successors<G>,
    /// None if the network of the run values all candidates.
    screen: Option<Screen<G>>,
    /// None until the first batch, or if one thread does everything.
    crew: Option<Crew<G>>,
    /// Samples of one step, of each shard of this rank.
    steps: Vec<Samples>,
}

/// Rare positions, at which some games begin.
struct Rare<G: Kit> {
    /// Share of the games.
    share: f64,
    drawn: Vec<Positions<G>>,
    /// Those of a file; empty without one.
    read: Vec<G::State>,
}

/// Labelled positions, from which a share of the samples is drawn.
struct Labelled {
    samples: Samples,
    share: f64,
    weight: f32,
}

/// Where positions come from: settings, the distribution of all games, rare positions, labelled ones, and how games are played.
struct From<'a, G: Kit> {
    settings: &'a ExpectationSettings,
    positions: Option<&'a Positions<G>>,
    rare: Option<&'a Rare<G>>,
    labelled: Option<&'a Labelled>,
    pace: Pace<'a>,
}

impl<G: Kit> Clone for From<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Kit> Copy for From<'_, G> {}

/// Copies of the learner, one a thread, which compute the targets of shards side by side.
struct Crew<G: Kit> {
    members: Vec<Member<G>>,
    flat: Vec<f32>,
    /// Memory of the copies.
    _claim: Claim,
}

/// A copy of the learner, room for what follows a position, and a copy of the screen.
type Member<G> = (LearnerModel<G>, Successors<G>, Option<Screen<G>>);

impl<'a, G: Kit> Feed<'a, G> {
    /// The feed for a config whose method learns from positions.
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        channels: &[Channel],
        shards: &Shards,
    ) -> Self {
        let parts = vec![Samples::new(channels); shards.mine().len()];
        Self { game, config, seed, supply: None, parts }
    }
}

/// Refuses an encoder whose positions a screen cannot pick.
pub(super) fn check_screened<G: Kit>(encoder: &dyn Encoder<G>) -> Result<(), OpenError> {
    match encoder.needs_action() {
        false => Ok(()),
        true => Err(OpenError::Unknown(format!(
            "`learn.expectation.screen`: the encoder `{}` sees moves, and a screen picks positions: leave it out, or take another encoder",
            encoder.name()
        ))),
    }
}

impl<G: Kit> Source<G> for Feed<'_, G> {
    fn prepare(&mut self, bound: &LearnerModel<G>) -> Result<(), TrainError> {
        let (game, config, seed) = (self.game, self.config, self.seed);
        self.supply = Some(match &config.learn.method {
            Method::Expectation(settings) => {
                let drawn = settings.draws(!game.positions().names().is_empty());
                let positions =
                    drawn.then(|| Positions::new(game, settings.distribution.as_deref())).transpose()?;
                let first = begin(game, positions.as_ref(), None, &mut stream(seed, "positions", 0));
                let listed = game.turn(&first) != Turn::Chance || game.outcomes(&first, &mut Vec::new());
                if !listed || !game.zero_sum() {
                    return Err(OpenError::Unknown(format!(
                        "{}: [learn.expectation] is for zero-sum games whose chance can be listed: take [learn.td]",
                        game.name()
                    ))
                    .into());
                }
                let screen = settings.screen.as_ref();
                if screen.is_some() {
                    check_screened(&**bound.encoder())?;
                }
                let screen =
                    screen.map(|screen| Screen::open(game, &screen.checkpoint, screen.keep as usize));
                Supply::Backups(Box::new(Backups {
                    settings,
                    positions,
                    rare: settings.rare.as_ref().map(|rare| Rare::new(game, rare)).transpose()?,
                    labelled: settings
                        .examples
                        .as_ref()
                        .map(|mixed| Labelled::read(game, mixed, With::of(bound)))
                        .transpose()?,
                    found: Successors::new(game, &*bound.model),
                    screen: screen.transpose()?,
                    crew: None,
                    steps: Vec::new(),
                }))
            }
            _ => Supply::Examples(Box::new(Examples::new(game, config, seed, With::of(bound))?)),
        });
        Ok(())
    }

    fn digest(&self) -> Option<u64> {
        match self.supply.as_ref()? {
            Supply::Examples(examples) => examples.digest(self.config),
            Supply::Backups(backups) => {
                let rare = backups.rare.as_ref().and_then(|rare| rare.digest(self.game));
                let labelled = backups.labelled.as_ref().map(|labelled| digest(&labelled.samples));
                match (rare, labelled) {
                    (Some(rare), Some(labelled)) => Some(hash([rare, labelled].into_iter())),
                    (one, other) => one.or(other),
                }
            }
        }
    }

    fn is_divided(&self) -> bool {
        true
    }

    fn batch(
        &mut self,
        bound: &mut LearnerModel<G>,
        span: Span,
        _: Span,
        shards: &mut Shards,
        pace: Pace<'_>,
        clock: &dyn Fn() -> f64,
    ) -> Result<Learned, BatchError> {
        let Some(supply) = &mut self.supply else { unreachable!("learning begins with `prepare`") };
        let (start, n) = (clock(), span.end - span.start);
        let how = (self.game, self.seed);
        let pieces: Vec<Span> = shards.mine().map(|shard| share_of(&span, shards.count(), shard)).collect();
        match supply {
            Supply::Examples(examples) => {
                self.parts.iter_mut().for_each(Samples::clear);
                let pool = if n < FEW { None } else { shards.pool().map_err(|e| (e, span.start))? };
                let filled = examples.fill_all(how.0, &**bound.encoder(), &pieces, &mut self.parts, pool);
                filled.map_err(|e| (e, span.start))?;
            }
            Supply::Backups(backups) => {
                let pool = shards.pool().map_err(|e| (e, span.start))?;
                let filled = backups.fill((how, pace), bound, &pieces, &mut self.parts, pool);
                filled.map_err(|e| (e, span.start))?;
            }
        }
        let steps = matches!(supply, Supply::Backups(backups) if backups.takes_steps());
        if !steps {
            let all = self.parts.iter_mut().flat_map(|samples| &mut samples.weights);
            all.for_each(|weight| *weight /= n as f32);
        }
        let (collected, rate) = (clock(), pace.rate(span.start));
        let mean = match supply {
            Supply::Backups(backups) if steps => {
                backups.learn(self.seed, bound, &span, &pieces, &self.parts, shards, rate)
            }
            _ => shards.update_parts(&mut *bound.model, &self.parts, rate),
        };
        let mean = mean.map_err(|e| (e, span.start))?;
        let seconds = ((clock() - collected).max(0.0), (collected - start).max(0.0));
        Ok(Learned { loss: mean * n as f64, samples: n, seconds: Some(seconds) })
    }
}

impl<G: Kit> Rare<G> {
    fn new(game: &G, settings: &RareSettings) -> Result<Self, TrainError> {
        let drawn = settings.distributions.iter().map(|name| Positions::new(game, Some(name)));
        let read = settings.file.as_deref().map(|path| rare_positions(game, path)).transpose()?;
        Ok(Self {
            share: settings.share,
            drawn: drawn.collect::<Result<_, _>>()?,
            read: read.unwrap_or_default(),
        })
    }

    /// A hash of the positions of the file.
    fn digest(&self, game: &G) -> Option<u64> {
        let texts = self.read.iter().map(|state| game.position_text(state) + "\n");
        (!self.read.is_empty()).then(|| hash(texts.flat_map(String::into_bytes).map(u64::from)))
    }

    fn any(&self, game: &G, rng: &mut Stream) -> G::State {
        let sources = self.drawn.len() + usize::from(!self.read.is_empty());
        match self.drawn.get(rng.random_range(0..sources)) {
            Some(positions) => positions.any(game, rng),
            None => self.read[rng.random_range(0..self.read.len())].clone(),
        }
    }
}

/// A position to begin with: a rare one, one of a distribution, or that of the rules.
fn begin<G: Kit>(
    game: &G,
    positions: Option<&Positions<G>>,
    rare: Option<&Rare<G>>,
    rng: &mut Stream,
) -> G::State {
    if let Some(rare) = rare
        && rng.random::<f64>() < rare.share
    {
        return rare.any(game, rng);
    }
    positions.map_or_else(|| game.start(), |positions| positions.any(game, rng))
}

impl Labelled {
    fn read<G: Kit>(game: &G, mixed: &MixedExamples, with: With<'_, G>) -> Result<Self, TrainError> {
        let samples = training_samples(game, with, &mixed.file)?;
        Ok(Self { samples, share: mixed.share, weight: mixed.weight as f32 })
    }
}

impl<G: Kit> Backups<'_, G> {
    /// Whether a batch is learned from in several steps.
    fn takes_steps(&self) -> bool {
        self.settings.uses > 1 || self.settings.step.is_some()
    }

    /// Replaces each of `parts` by the samples with the numbers of its piece.
    fn fill(
        &mut self,
        (how, pace): ((&G, u64), Pace<'_>),
        bound: &mut LearnerModel<G>,
        pieces: &[Span],
        parts: &mut [Samples],
        pool: Option<&ThreadPool>,
    ) -> Result<(), ModelError> {
        let from = From {
            settings: self.settings,
            positions: self.positions.as_ref(),
            rare: self.rare.as_ref(),
            labelled: self.labelled.as_ref(),
            pace,
        };
        if let (Some(pool), None) = (pool, &self.crew) {
            self.crew = Some(Crew::new(how.0, bound, self.screen.as_mut(), pool.current_num_threads())?);
        }
        let Some(crew) = &mut self.crew else {
            let mut jobs = pieces.iter().zip(parts);
            return jobs.try_for_each(|(piece, samples)| {
                let by = (&mut *bound, &mut self.found, self.screen.as_mut());
                fill(how, from, by, piece.clone(), samples)
            });
        };
        bound.model.weights(&mut crew.flat)?;
        for (member, ..) in &mut crew.members {
            member.model.adopt(&crew.flat)?;
        }
        // Pieces take unequal time, so members take the next one when they are done.
        let jobs = Mutex::new(pieces.iter().zip(parts));
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |(member, found, screen): &mut Member<G>| -> Result<(), ModelError> {
            while let Some((piece, samples)) = next() {
                let by = (&mut *member, &mut *found, screen.as_mut());
                fill(how, from, by, piece.clone(), samples)?;
            }
            Ok(())
        };
        let _waits = profile::pause();
        jobs::try_all(pool, &mut crew.members, &work).map(|_| ())
    }

    /// Takes steps on parts of the samples, as often as the settings say. Returns the mean loss.
    #[expect(clippy::too_many_arguments, reason = "what a batch is made of")]
    fn learn(
        &mut self,
        seed: u64,
        bound: &mut LearnerModel<G>,
        span: &Span,
        pieces: &[Span],
        parts: &[Samples],
        shards: &mut Shards,
        rate: f32,
    ) -> Result<f64, ModelError> {
        let (n, uses) = (span.end - span.start, self.settings.uses);
        let step = self.settings.step.unwrap_or(n);
        let steps = (n * uses).div_ceil(step) as usize;
        // Every shard gives each step its share, whichever rank has it.
        let orders: Vec<Vec<u32>> = pieces
            .iter()
            .map(|piece| {
                let mut rng = stream(seed, "order of samples", piece.start);
                let once: Vec<u32> = (0..(piece.end - piece.start) as u32).collect();
                let mut order = Vec::with_capacity(once.len() * uses as usize);
                for _ in 0..uses {
                    let first = order.len();
                    order.extend_from_slice(&once);
                    order[first..].shuffle(&mut rng);
                }
                order
            })
            .collect();
        self.steps.resize_with(parts.len(), || Samples::new(bound.model.channels()));
        let outputs = parts.first().map_or(1, Samples::outputs);
        let mut loss = 0.0;
        for number in 0..steps {
            let share = |n: usize| {
                let range = share(n as u64, steps, number);
                range.start as usize..range.end as usize
            };
            // The same on every rank.
            let count: usize = (0..shards.count())
                .map(|shard| {
                    let piece = share_of(span, shards.count(), shard);
                    share(((piece.end - piece.start) * uses) as usize).len()
                })
                .sum();
            for ((to, from), order) in self.steps.iter_mut().zip(parts).zip(&orders) {
                to.clear();
                for &at in &order[share(order.len())] {
                    let at = at as usize;
                    to.rows.push_from(&from.rows, at);
                    to.targets.extend_from_slice(&from.targets[at * outputs..][..outputs]);
                    to.weights.push(from.weights[at] / count as f32);
                }
            }
            loss += shards.update_parts(&mut *bound.model, &self.steps, rate)?;
        }
        Ok(loss / steps as f64)
    }
}

impl<G: Kit> Crew<G> {
    fn new(
        game: &G,
        bound: &mut LearnerModel<G>,
        mut screen: Option<&mut Screen<G>>,
        threads: usize,
    ) -> Result<Self, ModelError> {
        let of_screen = screen.as_ref().map_or(0, |screen| screen.parameters());
        let parameters = (bound.model.describe().parameters + of_screen) as u64;
        // A copy has parameters and room for their gradient.
        let claim = Claim::new(8 * parameters * threads as u64)?;
        let mut member = |_| {
            let copy = bound.worker(game)?;
            let found = Successors::new(game, &*copy.model);
            let screen = screen.as_mut().map(|screen| screen.copied(game)).transpose()?;
            Ok((copy, found, screen))
        };
        let members = (0..threads).map(&mut member).collect::<Result<_, ModelError>>()?;
        Ok(Self { members, flat: Vec::new(), _claim: claim })
    }
}

/// Positions of games that the learner plays with itself, with its own one-step targets.
pub(super) struct OwnGames<'a, G: Kit> {
    game: &'a G,
    config: &'a Config,
    settings: &'a ExpectationSettings,
    seed: u64,
    positions: Option<Positions<G>>,
    found: Successors<G>,
}

impl<'a, G: Kit> OwnGames<'a, G> {
    /// The positions of the run's method; none if it is another method than `expectation`.
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        bound: &LearnerModel<G>,
    ) -> Result<Option<Self>, OpenError> {
        let Method::Expectation(settings) = &config.learn.method else { return Ok(None) };
        let drawn = settings.draws(!game.positions().names().is_empty());
        let positions = drawn.then(|| Positions::new(game, settings.distribution.as_deref())).transpose()?;
        let found = Successors::new(game, &*bound.model);
        Ok(Some(Self { game, config, settings, seed, positions, found }))
    }

    /// Replaces `samples` by those with the numbers `span`.
    pub(super) fn fill(
        &mut self,
        bound: &mut LearnerModel<G>,
        span: Span,
        samples: &mut Samples,
    ) -> Result<(), ModelError> {
        let (settings, positions) = (self.settings, self.positions.as_ref());
        let pace = Pace::of(&self.config.learn);
        let from = From { settings, positions, rare: None, labelled: None, pace };
        fill((self.game, self.seed), from, (bound, &mut self.found, None), span, samples)
    }
}

/// Replaces `samples` by those with the numbers `span`.
fn fill<G: Kit>(
    (game, seed): (&G, u64),
    From { settings, positions, rare, labelled, pace }: From<'_, G>,
    (bound, found, mut screen): (&mut LearnerModel<G>, &mut Successors<G>, Option<&mut Screen<G>>),
    span: Span,
    samples: &mut Samples,
) -> Result<(), ModelError> {
    let _games = profile::span(Phase::Games);
    samples.clear();
    let n = (span.end - span.start) as usize;
    if let Some(labelled) = labelled {
        let (mut rng, from) = (stream(seed, "labelled positions", span.start), &labelled.samples);
        // By the numbers of the samples, so that shards and batches do not round the share.
        let until = |number: u64| (labelled.share * number as f64) as u64;
        for _ in until(span.start)..until(span.end) {
            let row = rng.random_range(0..from.len());
            samples.rows.push_from(&from.rows, row);
            samples.targets.extend_from_slice(&from.targets[row * from.outputs()..][..from.outputs()]);
            samples.weights.push(labelled.weight);
        }
    }
    let given = samples.rows.len();
    let played = match positions {
        Some(_) => given + (settings.self_play * (n - given) as f64).round() as usize,
        None => n,
    };
    let explore = pace.explore(span.start).unwrap_or(0.0);
    let mut rng = stream(seed, "positions", span.start);
    while samples.rows.len() < n {
        let before = samples.rows.len();
        // Only games begin at rare positions.
        let mut state = begin(game, positions, rare.filter(|_| before < played), &mut rng);
        // A game of self-play, or a single position.
        loop {
            found.expand_behind(screen.as_deref_mut(), game, &**bound.encoder(), &state)?;
            found.evaluate(&mut *bound.model);
            // Nobody is to value a position that no move has led to, such as the one before the opening roll.
            if game.just_acted(&state).is_some() {
                found.expectation(&mut samples.targets);
                let encoding = profile::span(Phase::Encoding);
                encode(game, &**bound.encoder(), &state, samples);
                drop(encoding);
                samples.weights.push(1.0);
            }
            if samples.rows.len() >= played {
                break;
            }
            match found.draw(explore, &mut rng) {
                Some(next) => state.clone_from(next),
                None => break,
            }
        }
        if samples.rows.len() == before {
            return Err(ModelError::Unsupported(format!(
                "{}: no position of a game tells who acted last: its `just_acted` must, since values are for that player",
                game.name()
            )));
        }
    }
    Ok(())
}
