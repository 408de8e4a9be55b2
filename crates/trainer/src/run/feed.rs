//! Samples for batches without games: examples, or positions backed up by expectation.

use super::plan::Span;
use super::source::{BatchError, BatchTime, Learned, Source, Step};
use super::steer::Pace;
use crate::config::{Config, ExpectationSettings, Method, MixedExamples, RareSettings};
use crate::positions::{Examples, Labelled, Positions, With, encode, hash, rare_positions};
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

/// Games in a row without a sample after which positions are taken to have none. Some games end before one: by a dropped double after the
/// first move.
const BARREN: u32 = 10_000;

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
    source: PositionSource<'a, G>,
    found: Successors<G>,
    /// None if the network of the run values all candidates.
    screen: Option<Screen<G>>,
    /// None until the first batch, or if one thread does everything.
    replicas: Option<Replicas<G>>,
    /// Samples of one step, of each shard of this rank.
    steps: Vec<Samples>,
}

/// Where positions come from: games of the learner with itself, a distribution, rare positions and labelled ones.
struct PositionSource<'a, G: Kit> {
    game: &'a G,
    seed: u64,
    settings: &'a ExpectationSettings,
    /// None if games begin as the rules say.
    positions: Option<Positions<G>>,
    /// None if no game begins at rare positions.
    rare: Option<Rare<G>>,
    /// None if all samples are targets of the run itself.
    labelled: Option<Mixed>,
}

/// Rare positions, at which some games begin.
struct Rare<G: Kit> {
    /// Share of the games.
    share: f64,
    drawn: Vec<Positions<G>>,
    /// Positions of a file; empty without one.
    read: Vec<G::State>,
}

/// Labelled positions, from which a share of the samples is drawn.
struct Mixed {
    rows: Labelled,
    share: f64,
    weight: f32,
}

/// Copies of the learner, one a thread, which compute the targets of shards side by side.
struct Replicas<G: Kit> {
    all: Vec<Replica<G>>,
    flat: Vec<f32>,
    /// Memory of the copies.
    _claim: Claim,
}

/// A copy of the learner, room for what follows a position, and a copy of the screen.
struct Replica<G: Kit> {
    bound: LearnerModel<G>,
    found: Successors<G>,
    screen: Option<Screen<G>>,
}

/// Values positions by what follows them.
struct Valuer<'m, G: Kit> {
    bound: &'m mut LearnerModel<G>,
    found: &'m mut Successors<G>,
    screen: Option<&'m mut Screen<G>>,
}

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
                Supply::Backups(Box::new(Backups::new(game, settings, seed, bound)?))
            }
            _ => Supply::Examples(Box::new(Examples::new(game, config, seed, With::of(bound))?)),
        });
        Ok(())
    }

    fn digest(&self) -> Option<u64> {
        match self.supply.as_ref()? {
            Supply::Examples(examples) => examples.digest(self.config),
            Supply::Backups(backups) => {
                let rare = backups.source.rare.as_ref().and_then(|rare| rare.digest(self.game));
                let labelled = backups.source.labelled.as_ref().map(|labelled| labelled.rows.digest());
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

    fn learn(&mut self, step: Step<'_, G>) -> Result<Learned, BatchError> {
        let Step { bound, batch, shards, pace, clock } = step;
        let Some(supply) = &mut self.supply else { unreachable!("learning begins with `prepare`") };
        let (span, n, parts) = (&batch.span, batch.len(), &mut self.parts);
        let fail = BatchError::at(span.start);
        let begin = clock();
        let pieces: Vec<Span> = shards.mine().map(|shard| share_of(span, shards.count(), shard)).collect();
        match supply {
            Supply::Examples(examples) => {
                parts.iter_mut().for_each(Samples::clear);
                let pool = if n < FEW { None } else { shards.pool().map_err(&fail)? };
                examples.fill_all(self.game, &**bound.encoder(), &pieces, parts, pool).map_err(&fail)?;
            }
            Supply::Backups(backups) => {
                let pool = shards.pool().map_err(&fail)?;
                backups.fill(bound, pace, &pieces, parts, pool).map_err(&fail)?;
            }
        }
        let steps = match supply {
            Supply::Backups(backups) if backups.takes_steps() => Some(backups),
            _ => None,
        };
        if steps.is_none() {
            let all = parts.iter_mut().flat_map(|samples| &mut samples.weights);
            all.for_each(|weight| *weight /= n as f32);
        }
        let (collected, rate) = (clock(), pace.rate(span.start));
        let mean = match steps {
            Some(backups) => backups.take_steps(bound, span, parts, shards, rate),
            None => shards.update_parts(&mut *bound.model, parts, rate),
        };
        let mean = mean.map_err(&fail)?;
        let time =
            BatchTime { learning: (clock() - collected).max(0.0), waiting: (collected - begin).max(0.0) };
        Ok(Learned { loss: mean * n as f64, samples: n, time: Some(time) })
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

impl Mixed {
    /// Appends the share of the samples with these numbers.
    fn add<G: Kit>(
        &self,
        game: &G,
        with: With<'_, G>,
        span: &Span,
        rng: &mut Stream,
        samples: &mut Samples,
    ) -> Result<(), ModelError> {
        // By the numbers of the samples, so that shards and batches do not round the share.
        let until = |number: u64| (self.share * number as f64) as u64;
        (until(span.start)..until(span.end)).try_for_each(|_| {
            self.rows.push(game, with, rng.random_range(0..self.rows.len()), self.weight, samples)
        })
    }

    fn read<G: Kit>(game: &G, mixed: &MixedExamples, with: With<'_, G>) -> Result<Self, TrainError> {
        let rows = Labelled::read(game, with, &mixed.file)?;
        Ok(Self { rows, share: mixed.share, weight: mixed.weight as f32 })
    }
}

impl<'a, G: Kit> Backups<'a, G> {
    fn new(
        game: &'a G,
        settings: &'a ExpectationSettings,
        seed: u64,
        bound: &LearnerModel<G>,
    ) -> Result<Self, TrainError> {
        let mut source = PositionSource::new(game, settings, seed)?;
        let first = source.begin(false, &mut stream(seed, "positions", 0));
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
        let screen = screen.map(|screen| Screen::open(game, &screen.checkpoint, screen.keep as usize));
        source.rare = settings.rare.as_ref().map(|rare| Rare::new(game, rare)).transpose()?;
        let mixed = settings.examples.as_ref();
        source.labelled = mixed.map(|mixed| Mixed::read(game, mixed, With::of(bound))).transpose()?;
        Ok(Self {
            source,
            found: Successors::new(game, &*bound.model),
            screen: screen.transpose()?,
            replicas: None,
            steps: Vec::new(),
        })
    }

    /// Whether a batch is learned from in several steps.
    fn takes_steps(&self) -> bool {
        self.source.settings.uses > 1 || self.source.settings.step.is_some()
    }

    /// Replaces each of `parts` by the samples with the numbers of its piece.
    fn fill(
        &mut self,
        bound: &mut LearnerModel<G>,
        pace: Pace<'_>,
        pieces: &[Span],
        parts: &mut [Samples],
        pool: Option<&ThreadPool>,
    ) -> Result<(), ModelError> {
        let source = &self.source;
        if let (Some(pool), None) = (pool, &self.replicas) {
            let threads = pool.current_num_threads();
            self.replicas = Some(Replicas::new(source.game, bound, self.screen.as_mut(), threads)?);
        }
        let Some(replicas) = &mut self.replicas else {
            let mut valuer = Valuer { bound, found: &mut self.found, screen: self.screen.as_mut() };
            let mut jobs = pieces.iter().zip(parts);
            return jobs.try_for_each(|(piece, samples)| source.fill(&mut valuer, pace, piece, samples));
        };
        bound.model.weights(&mut replicas.flat)?;
        for replica in &mut replicas.all {
            replica.bound.model.adopt(&replicas.flat)?;
        }
        // Pieces take unequal time, so replicas take the next one when they are done.
        let jobs = Mutex::new(pieces.iter().zip(parts));
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |replica: &mut Replica<G>| -> Result<(), ModelError> {
            let mut valuer = replica.valuer();
            while let Some((piece, samples)) = next() {
                source.fill(&mut valuer, pace, piece, samples)?;
            }
            Ok(())
        };
        let _waits = profile::pause();
        jobs::try_all(pool, &mut replicas.all, &work).map(|_| ())
    }

    /// Takes steps on parts of the samples of a batch, as often as the settings say. Returns the mean loss.
    fn take_steps(
        &mut self,
        bound: &mut LearnerModel<G>,
        span: &Span,
        parts: &[Samples],
        shards: &mut Shards,
        rate: f32,
    ) -> Result<f64, ModelError> {
        let (n, uses) = (span.end - span.start, self.source.settings.uses);
        let step = self.source.settings.step.unwrap_or(n);
        let steps = (n * uses).div_ceil(step) as usize;
        let piece_of = |shard| share_of(span, shards.count(), shard);
        // Every shard gives each step its share, whichever rank has it.
        let orders: Vec<Vec<u32>> =
            shards.mine().map(|shard| order_of(&piece_of(shard), uses, self.source.seed)).collect();
        let lengths: Vec<u64> = (0..shards.count())
            .map(|shard| {
                let piece = piece_of(shard);
                (piece.end - piece.start) * uses
            })
            .collect();
        self.steps.resize_with(parts.len(), || Samples::new(bound.model.channels()));
        let outputs = parts.first().map_or(1, Samples::outputs);
        let mut loss = 0.0;
        for number in 0..steps {
            let share = |n: u64| {
                let range = share(n, steps, number);
                range.start as usize..range.end as usize
            };
            // The same on every rank.
            let count: usize = lengths.iter().map(|&length| share(length).len()).sum();
            for ((to, from), order) in self.steps.iter_mut().zip(parts).zip(&orders) {
                to.clear();
                for &at in &order[share(order.len() as u64)] {
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

/// The order in which the samples of a piece are used: all of them `uses` times, each time shuffled.
fn order_of(piece: &Span, uses: u64, seed: u64) -> Vec<u32> {
    let mut rng = stream(seed, "order of samples", piece.start);
    let once: Vec<u32> = (0..(piece.end - piece.start) as u32).collect();
    let mut order = Vec::with_capacity(once.len() * uses as usize);
    for _ in 0..uses {
        let first = order.len();
        order.extend_from_slice(&once);
        order[first..].shuffle(&mut rng);
    }
    order
}

impl<G: Kit> Replicas<G> {
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
        let mut replica = |_| {
            let copy = bound.worker(game)?;
            let found = Successors::new(game, &*copy.model);
            let screen = screen.as_mut().map(|screen| screen.copied(game)).transpose()?;
            Ok(Replica { bound: copy, found, screen })
        };
        let all = (0..threads).map(&mut replica).collect::<Result<_, ModelError>>()?;
        Ok(Self { all, flat: Vec::new(), _claim: claim })
    }
}

impl<G: Kit> Replica<G> {
    fn valuer(&mut self) -> Valuer<'_, G> {
        Valuer { bound: &mut self.bound, found: &mut self.found, screen: self.screen.as_mut() }
    }
}

/// Positions of games that the learner plays with itself, with its own one-step targets.
pub(super) struct OwnGames<'a, G: Kit> {
    source: PositionSource<'a, G>,
    pace: Pace<'a>,
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
        let source = PositionSource::new(game, settings, seed)?;
        let found = Successors::new(game, &*bound.model);
        Ok(Some(Self { source, pace: Pace::of(&config.learn), found }))
    }

    /// Replaces `samples` by those with the numbers `span`.
    pub(super) fn fill(
        &mut self,
        bound: &mut LearnerModel<G>,
        span: &Span,
        samples: &mut Samples,
    ) -> Result<(), ModelError> {
        let mut valuer = Valuer { bound, found: &mut self.found, screen: None };
        self.source.fill(&mut valuer, self.pace, span, samples)
    }
}

impl<'a, G: Kit> PositionSource<'a, G> {
    /// Games and the distribution of the settings, without rare and labelled positions.
    fn new(game: &'a G, settings: &'a ExpectationSettings, seed: u64) -> Result<Self, OpenError> {
        let drawn = settings.draws(!game.positions().names().is_empty());
        let positions = drawn.then(|| Positions::new(game, settings.distribution.as_deref())).transpose()?;
        Ok(Self { game, seed, settings, positions, rare: None, labelled: None })
    }

    /// A position to begin with: a rare one, if that is allowed, one of a distribution, or that of the rules.
    fn begin(&self, allows_rare: bool, rng: &mut Stream) -> G::State {
        if let Some(rare) = self.rare.as_ref().filter(|_| allows_rare)
            && rng.random::<f64>() < rare.share
        {
            return rare.any(self.game, rng);
        }
        self.positions.as_ref().map_or_else(|| self.game.start(), |positions| positions.any(self.game, rng))
    }

    /// Replaces `samples` by those with the numbers `span`.
    fn fill(
        &self,
        valuer: &mut Valuer<'_, G>,
        pace: Pace<'_>,
        span: &Span,
        samples: &mut Samples,
    ) -> Result<(), ModelError> {
        let _games = profile::span(Phase::Games);
        samples.clear();
        let n = (span.end - span.start) as usize;
        if let Some(labelled) = &self.labelled {
            let mut rng = stream(self.seed, "labelled positions", span.start);
            labelled.add(self.game, With::of(valuer.bound), span, &mut rng, samples)?;
        }
        let given = samples.rows.len();
        let played = match self.positions {
            Some(_) => given + (self.settings.self_play * (n - given) as f64).round() as usize,
            None => n,
        };
        let explore = pace.explore(span.start).unwrap_or(0.0);
        let mut rng = stream(self.seed, "positions", span.start);
        let mut barren = 0;
        while samples.rows.len() < n {
            let before = samples.rows.len();
            // Only games begin at rare positions.
            let mut state = self.begin(before < played, &mut rng);
            // A game of self-play, or a single position.
            loop {
                valuer.add(self.game, &state, samples)?;
                if samples.rows.len() >= played {
                    break;
                }
                match valuer.found.draw(explore, &mut rng) {
                    Some(next) => state.clone_from(next),
                    None => break,
                }
            }
            barren = if samples.rows.len() == before { barren + 1 } else { 0 };
            if barren == BARREN {
                return Err(ModelError::Unsupported(format!(
                    "{}: no position of a game tells who acted last: its `just_acted` must, since values are for that player",
                    self.game.name()
                )));
            }
        }
        Ok(())
    }
}

impl<G: Kit> Valuer<'_, G> {
    /// Appends a position with its one-step target, unless no move has led to it or its value follows from those of other positions.
    #[inline]
    fn add(&mut self, game: &G, state: &G::State, samples: &mut Samples) -> Result<(), ModelError> {
        let Self { bound, found, screen } = self;
        found.expand_behind(screen.as_deref_mut(), game, &**bound.encoder(), state)?;
        found.evaluate(&mut *bound.model);
        // Nobody is to value a position that no move has led to, such as the one before the opening roll.
        if game.just_acted(state).is_some() {
            let encoding = profile::span(Phase::Encoding);
            let scale = encode(game, &**bound.encoder(), state, samples);
            drop(encoding);
            if let Some(scale) = scale {
                let first = samples.targets.len();
                found.expectation(&mut samples.targets);
                samples.targets[first..].iter_mut().for_each(|target| *target = scale.output(*target));
                samples.weights.push(1.0);
            }
        }
        Ok(())
    }
}
