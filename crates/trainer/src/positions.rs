//! Positions with exact values: examples for learning, and sets for measuring.
//!
//! A hash of its number assigns every position to one part: training, validation or test. So no measured
//! position is ever an example.

use crate::config::{Config, Examples as From};
use crate::label_file::{LabelFile, is_label_file};
use crate::run::TrainError;
pub use adept_arena::oracle;
use adept_arena::values::KnownRows;
use adept_arena::{Decision, GameModel, OpenError, Successors};
use adept_game::sheet::Sheet;
use adept_game::{
    Afterstate, Derived, Draw, Encoder, Example, GameError, Kit, ParsedPosition, Scale, Stream, Turn,
    Valuation, distributions, draw_of_play, files, is_solved, stream,
};
use adept_ground::profile::{self, Phase};
use adept_ground::{jobs, limits, work};
use adept_model::{Channel, Head, ModelError, Predictor, Rows, Samples};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::ThreadPool;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// What a position is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// For learning: eight of ten.
    Train,
    /// For choosing a checkpoint: one of ten.
    Validation,
    /// For measuring: one of ten.
    Test,
}

impl Part {
    /// The part of the position with this number.
    pub fn of(number: u64) -> Self {
        // The finaliser of SplitMix64.
        let x = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        match (x ^ (x >> 31)) % 10 {
            0 => Self::Test,
            1 => Self::Validation,
            _ => Self::Train,
        }
    }
}

/// Draws positions of a distribution, optionally of one part.
pub struct Positions<G: Kit> {
    /// None for positions of random games.
    draw: Option<Draw<G>>,
    /// What is drawn if nothing else is found.
    first: G::State,
    number: fn(&G::State) -> u64,
    /// Whether each part has positions; in a small game a part may be empty.
    there: [bool; 3],
}

/// Number of draws without a position of a part after which the part is considered empty.
const TRIES: usize = 100_000;

impl<G: Kit> Positions<G> {
    /// Positions of the named distribution, or of the game's first.
    pub fn new(game: &G, distribution: Option<&str>) -> Result<Self, OpenError> {
        let positions = game.positions();
        let all = distributions(game);
        let name = distribution.or(all.first().map(|d| &*d.name)).unwrap_or_default();
        let unknown = || {
            let names: Vec<&str> = all.iter().map(|d| &*d.name).collect();
            let there = if names.is_empty() {
                "there is none".into()
            } else {
                format!("there is {}", names.join(", "))
            };
            OpenError::Unknown(format!("{} has no distribution of positions `{name}`; {there}", game.name()))
        };
        let number = positions.number;
        let draw = match positions.draw(name) {
            None if !all.iter().any(|known| known.name == name) => return Err(unknown()),
            draw => draw,
        };
        let mut rng = stream(0, "parts of positions", 0);
        let first = match &draw {
            Some(draw) => Some(draw(&mut rng)).filter(|state| game.just_acted(state).is_some()),
            None => draw_of_play(game, &mut rng, &|_| true),
        };
        // Without it rows and labels would be for the wrong player half of the time, without a word.
        let untold = || {
            OpenError::Unknown(format!(
                "{} does not tell who acted last in positions of `{name}`: its `just_acted` must, since values are for \
                 that player",
                game.name()
            ))
        };
        Ok(Self::of(game, draw, number, first.ok_or_else(untold)?))
    }

    fn of(game: &G, draw: Option<Draw<G>>, number: fn(&G::State) -> u64, first: G::State) -> Self {
        let (mut there, mut rng) = ([false; 3], stream(0, "parts of positions", 0));
        let mut found = Self { draw, first, number, there };
        if found.draw.is_none() {
            let has = |part: &Part| {
                draw_of_play(game, &mut rng, &|state| Part::of(number(state)) == *part).is_some()
            };
            there = [Part::Train, Part::Validation, Part::Test].each_ref().map(has);
        }
        for _ in 0..TRIES {
            if found.draw.is_none() || there == [true; 3] {
                break;
            }
            there[Part::of(number(&found.any(game, &mut rng))) as usize] = true;
        }
        found.there = there;
        found
    }

    /// Whether no position can be both an example and a test position.
    pub fn are_apart(&self) -> bool {
        self.there == [true; 3]
    }

    /// Any position.
    pub fn any(&self, game: &G, rng: &mut Stream) -> G::State {
        match &self.draw {
            Some(draw) => draw(rng),
            None => self.of_play(game, rng, &|_| true),
        }
    }

    /// A position of this part, or any position if the part is empty; see [`Self::are_apart`].
    pub fn of_part(&self, game: &G, part: Part, rng: &mut Stream) -> G::State {
        let fits = |state: &G::State| !self.there[part as usize] || Part::of((self.number)(state)) == part;
        let Some(draw) = &self.draw else { return self.of_play(game, rng, &fits) };
        let mut state = draw(rng);
        while !fits(&state) {
            state = draw(rng);
        }
        state
    }

    fn of_play(&self, game: &G, rng: &mut Stream, wanted: &dyn Fn(&G::State) -> bool) -> G::State {
        draw_of_play(game, rng, wanted).unwrap_or_else(|| self.first.clone())
    }
}

/// The hash FNV-1a, word by word.
pub(crate) fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The exact values of positions right after a move, to the player who just acted, as [`Values::exact`](adept_game::Values::exact) gives them, or in a small game
/// the solver; none if the game has none.
pub(crate) fn exact_values<G: Kit>(game: &G, states: &[G::State]) -> Option<Result<Vec<f64>, OpenError>> {
    let own = game.values().exact(game, states).map(|found| found.map_err(OpenError::from));
    own.or_else(|| {
        let value = |oracle: Arc<dyn Valuation<G>>| {
            let of = |state| {
                oracle.value(
                    game,
                    Afterstate { state, action: None, player: game.just_acted(state).unwrap_or(0) },
                )
            };
            states.iter().map(of).collect()
        };
        is_solved(game).then(|| oracle(game).map(value))
    })
}

/// Encodes a position from the view of the player who acted last, and returns how the value follows from the output for its row: it is the
/// output for most encoders. None, and no row, if its value follows from those of other positions.
pub fn encode<G: Kit>(
    game: &G,
    encoder: &dyn Encoder<G>,
    state: &G::State,
    samples: &mut Samples,
) -> Option<Scale> {
    let after = Afterstate { state, action: None, player: game.just_acted(state).unwrap_or(0) };
    let derived = if encoder.derives() { encoder.derived(game, after) } else { None };
    match derived {
        None => {
            encoder.encode(game, after, samples.rows.push());
            Some(Scale::ONE)
        }
        Some(Derived { state, scale, .. }) => {
            let scale = scale?;
            encoder.encode(game, Afterstate { state: &state, ..after }, samples.rows.push());
            Some(scale)
        }
    }
}

/// How the value of an afterstate follows from the output for its row. None if it follows from those of other states.
fn scale<G: Kit>(game: &G, encoder: &dyn Encoder<G>, after: Afterstate<'_, G>) -> Option<Scale> {
    if !encoder.derives() {
        return Some(Scale::ONE);
    }
    encoder.derived(game, after).map_or(Some(Scale::ONE), |derived| derived.scale)
}

/// What encodes the positions of a run, and what their targets are for.
pub struct With<'a, G: Kit> {
    /// The encoder.
    pub encoder: &'a dyn Encoder<G>,
    /// Its channels.
    pub channels: &'a [Channel],
    /// What the model gives.
    pub head: &'a Head,
}

impl<G: Kit> Clone for With<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Kit> Copy for With<'_, G> {}

impl<'a, G: Kit> With<'a, G> {
    /// Those of a model.
    pub fn of<M: Predictor + ?Sized>(bound: &'a GameModel<G, M>) -> Self {
        let model = &*bound.model;
        Self { encoder: &**bound.encoder(), channels: model.channels(), head: model.head() }
    }
}

/// The target of a position with this value, and these probabilities of outcomes if they are known.
fn target(head: &Head, value: f32, outcomes: &[f64]) -> Option<Vec<f32>> {
    match (head, outcomes) {
        (Head::Value | Head::Policy, _) => Some(vec![value]),
        (Head::Outcomes(_), []) => head.target_of(value),
        (Head::Outcomes(_), known) => Some(known.iter().map(|p| *p as f32).collect()),
    }
}

/// Why values alone are no targets for a head.
fn no_distribution(head: &Head) -> String {
    let Some(classes) = head.classes() else {
        return "the encoder has no row for some of these positions, such as those before a decision about the cube: leave them out".into();
    };
    let names: Vec<&str> = classes.iter().map(|class| &*class.name).collect();
    format!(
        "the values of these positions do not say how probable {} are: give examples in a file with a column for each, or \
         take `head = \"value\"`",
        names.join(", ")
    )
}

/// The value of a position for the player who acted last.
fn label<G: Kit>(game: &G, oracle: &dyn Valuation<G>, state: &G::State) -> f32 {
    let player = game.just_acted(state).unwrap_or(0);
    oracle.value(game, Afterstate { state, action: None, player }) as f32
}

/// Positions with their values and rows.
#[derive(Debug, Default)]
pub struct Set {
    /// Rows, targets for the head of the run, weights 1. Without targets if one of the values does not say how probable the
    /// outcomes are.
    pub samples: Samples,
    /// Exact values.
    pub values: Vec<f32>,
    /// What is known of the rows without the model.
    known: KnownRows,
    /// Number of distinct positions.
    pub distinct: usize,
}

impl Set {
    /// Draws this many positions of a part and looks up their values.
    pub fn draw<G: Kit>(
        game: &G,
        with: With<'_, G>,
        positions: &Positions<G>,
        oracle: &dyn Valuation<G>,
        part: Part,
        count: u64,
        mut rng: Stream,
    ) -> Self {
        let what = format!("drawing {count} positions with their values");
        let states = (0..count).map(|i| {
            if (i + 1) % 64 == 0 || i + 1 == count {
                work::share(&what, (i + 1) as f64 / count as f64);
            }
            positions.of_part(game, part, &mut rng)
        });
        let labelled = states.map(|state| {
            let value = label(game, oracle, &state);
            (state, value, Vec::new())
        });
        Self::of(game, with, labelled)
    }

    fn of<G: Kit>(
        game: &G,
        with: With<'_, G>,
        labelled: impl Iterator<Item = (G::State, f32, Vec<f64>)>,
    ) -> Self {
        let With { encoder, channels, head } = with;
        let (mut numbers, number) = (FxHashSet::default(), game.positions().number);
        let (mut samples, mut values, mut complete) = (Samples::new(channels), Vec::new(), true);
        let mut known = KnownRows::default();
        for (state, value, outcomes) in labelled {
            numbers.insert(number(&state));
            let after =
                Afterstate { state: &state, action: None, player: game.just_acted(&state).unwrap_or(0) };
            known.add(&mut samples.rows, head, encoder, game, after);
            values.push(value);
            match (target(head, value, &outcomes), scale(game, encoder, after)) {
                (Some(target), Some(scale)) => {
                    samples.targets.extend(target.iter().map(|t| scale.output(*t)));
                }
                _ => complete = false,
            }
            samples.weights.push(1.0);
        }
        if !complete {
            samples.targets.clear();
        }
        Self { samples, values, known, distinct: numbers.len() }
    }

    /// Reads one part of a file of examples; of a binary file at most so many rows, evenly spread.
    ///
    /// # Errors
    /// The file cannot be read, a row is not valid, or the part has no rows.
    fn read<G: Kit>(
        game: &G,
        with: With<'_, G>,
        path: &Path,
        part: Part,
        most: u64,
    ) -> Result<Self, OpenError> {
        let known = |example: Example<G::State>| (example.state, example.value as f32, example.outcomes);
        let (rows, these) = if is_label_file(path) {
            let file = LabelFile::read(game, path)?;
            let rows = file.of_part(part);
            (
                file.len() as usize,
                file.spread(game, rows.len() as u64, |i| u64::from(rows[i as usize]), most)?,
            )
        } else {
            limits::check_lasting(path).map_err(GameError::file(path))?;
            let mut all = game.files().read_examples(game, path)?;
            let (rows, number) = (all.len(), game.positions().number);
            all.retain(|example| Part::of(number(&example.state)) == part);
            (rows, all)
        };
        let set = Self::of(game, with, these.into_iter().map(known));
        if set.samples.is_empty() {
            return Err(lacks(path, rows, part).into());
        }
        Ok(set)
    }

    /// Standard deviation of the exact values: the error of always answering with their mean.
    pub fn spread(&self) -> f64 {
        let targets = || self.values.iter().map(|t| f64::from(*t));
        let mean = targets().sum::<f64>() / self.samples.len().max(1) as f64;
        PositionErrors::of(targets().map(|t| t - mean)).rms
    }

    /// The errors of a model on this set.
    pub fn errors(&self, model: &mut dyn Predictor, values: &mut Vec<f32>) -> PositionErrors {
        self.known.evaluate(model, &self.samples.rows, values, &mut Vec::new());
        PositionErrors::of(values.iter().zip(&self.values).map(|(v, d)| f64::from(*v) - f64::from(*d)))
    }
}

/// Labelled positions to learn from.
pub(crate) enum Labelled {
    /// Rows that are encoded once, with targets for the head of a run.
    Encoded(Samples),
    /// Rows of a binary file, which are encoded each time.
    Stored { file: LabelFile, rows: Vec<u32> },
}

impl Labelled {
    /// The rows of a file that are for learning.
    ///
    /// # Errors
    /// The file cannot be read, a row is not valid, the part has no rows, or values do not say how probable the classes of the head are.
    pub(crate) fn read<G: Kit>(game: &G, with: With<'_, G>, path: &Path) -> Result<Self, OpenError> {
        if is_label_file(path) {
            let file = LabelFile::read(game, path)?;
            let rows = file.of_part(Part::Train);
            let Some(&first) = rows.first() else {
                return Err(lacks(path, file.len() as usize, Part::Train).into());
            };
            let Example { value, outcomes, .. } = file.example(game, u64::from(first))?;
            return match target(with.head, value as f32, &outcomes) {
                Some(_) => Ok(Self::Stored { file, rows }),
                None => {
                    Err(OpenError::Unknown(format!("{}: {}", path.display(), no_distribution(with.head))))
                }
            };
        }
        let set = Set::read(game, with, path, Part::Train, u64::MAX)?;
        match set.samples.targets.is_empty() {
            false => Ok(Self::Encoded(set.samples)),
            true => Err(OpenError::Unknown(format!("{}: {}", path.display(), no_distribution(with.head)))),
        }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Encoded(samples) => samples.len(),
            Self::Stored { rows, .. } => rows.len(),
        }
    }

    /// Appends a row with this weight.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] for a row of a binary file that is no position.
    pub(crate) fn push<G: Kit>(
        &self,
        game: &G,
        With { encoder, head, .. }: With<'_, G>,
        row: usize,
        weight: f32,
        to: &mut Samples,
    ) -> Result<(), ModelError> {
        match self {
            Self::Encoded(from) => {
                let width = from.outputs();
                to.rows.push_from(&from.rows, row);
                to.targets.extend_from_slice(&from.targets[row * width..][..width]);
            }
            Self::Stored { file, rows } => {
                let fault = |e: GameError| ModelError::Unsupported(e.to_string());
                let example = file.example(game, u64::from(rows[row])).map_err(fault)?;
                let target = target(head, example.value as f32, &example.outcomes);
                let _encoding = profile::span(Phase::Encoding);
                let scale = encode(game, encoder, &example.state, to);
                let (Some(target), Some(scale)) = (target, scale) else {
                    return Err(ModelError::Unsupported(no_distribution(head)));
                };
                to.targets.extend(target.iter().map(|t| scale.output(*t)));
            }
        }
        to.weights.push(weight);
        Ok(())
    }

    /// A hash of the rows.
    pub(crate) fn digest(&self) -> u64 {
        match self {
            Self::Encoded(samples) => digest(samples),
            Self::Stored { file, .. } => file.checksum(),
        }
    }
}

/// A hash of these samples.
fn digest(samples: &Samples) -> u64 {
    let Samples { rows, targets, .. } = samples;
    let floats = rows.dense.iter().chain(targets).map(|x| u64::from(x.to_bits()));
    hash(floats.chain(rows.index.iter().copied()))
}

/// The error for a file of this many rows without any of a part.
fn lacks(path: &Path, rows: usize, part: Part) -> GameError {
    let what = match part {
        Part::Train => "training, eight of ten",
        Part::Validation => "validation, one of ten",
        Part::Test => "testing, one of ten",
    };
    GameError::data(
        path,
        format!(
            "none of its {rows} rows belongs to the part for {what}, by position: add more rows of other positions"
        ),
    )
}

/// Reads a file of examples, and checks that it has rows to learn from, and to measure with if errors are measured.
///
/// # Errors
/// The file cannot be read, a row is not valid, or a part has no rows.
pub(crate) fn check_examples<G: Kit>(game: &G, path: &Path, measured: bool) -> Result<(), GameError> {
    let needed: &[Part] = match measured {
        true => &[Part::Train, Part::Validation, Part::Test],
        false => &[Part::Train],
    };
    if is_label_file(path) {
        let file = LabelFile::read(game, path)?;
        let lacking = needed.iter().find(|part| file.of_part(**part).is_empty());
        return lacking.map_or(Ok(()), |part| Err(lacks(path, file.len() as usize, *part)));
    }
    limits::check_lasting(path).map_err(GameError::file(path))?;
    let all = game.files().read_examples(game, path)?;
    let number = game.positions().number;
    let has = |part: &Part| all.iter().any(|example| Part::of(number(&example.state)) == *part);
    needed.iter().find(|part| !has(part)).map_or(Ok(()), |part| Err(lacks(path, all.len(), *part)))
}

/// Positions before a roll or a decision, one a line or in a column of a table: what games may begin at.
///
/// # Errors
/// The file cannot be read, is empty, or a position of it is over, or nobody has moved before it.
pub(crate) fn rare_positions<G: Kit>(game: &G, path: &Path) -> Result<Vec<G::State>, GameError> {
    limits::check_lasting(path).map_err(GameError::file(path))?;
    let all = files::positions(game, &Sheet::read(path)?)?;
    if all.is_empty() {
        return Err(GameError::data(path, "has no positions"));
    }
    let usable = |(number, (state, _)): (usize, ParsedPosition<G>)| {
        let why = match game.turn(&state) {
            Turn::Over => "is over",
            _ if game.just_acted(&state).is_none() => "does not tell who moved last: leave out the roll",
            _ => return Ok(state),
        };
        let text = game.position_text(&state);
        Err(GameError::data(path, format!("position {} `{text}` {why}", number + 1)))
    };
    all.into_iter().enumerate().map(usable).collect()
}

/// Errors of V over positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositionErrors {
    /// Root mean square error of V, whose range is [−1, 1].
    #[serde(deserialize_with = "number_or_nan")]
    pub rms: f64,
    /// Mean absolute error.
    #[serde(deserialize_with = "number_or_nan")]
    pub mae: f64,
    /// Largest absolute error.
    #[serde(deserialize_with = "number_or_nan")]
    pub max: f64,
    /// Positions.
    pub rows: u64,
}

/// Reads a number that may not be one: JSON writes NaN as null.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl PositionErrors {
    /// Summarises these errors.
    pub fn of(errors: impl Iterator<Item = f64>) -> Self {
        let (mut squares, mut sum, mut max, mut rows) = (0.0, 0.0, 0.0f64, 0u64);
        for error in errors {
            squares += error * error;
            sum += error.abs();
            max = if error.abs() > max || error.is_nan() { error.abs() } else { max };
            rows += 1;
        }
        let n = rows.max(1) as f64;
        Self { rms: (squares / n).sqrt(), mae: sum / n, max, rows }
    }
}

/// The sets on which a run is measured. They are the same for all seeds, unless examples come from a file.
#[derive(Debug)]
pub struct Tests {
    /// For choosing a checkpoint.
    pub validation: Set,
    /// For reporting.
    pub test: Set,
    /// Whether no position in these sets can be an example.
    pub apart: bool,
}

impl Tests {
    /// The sets that a config asks for.
    pub fn new<G: Kit>(game: &G, config: &Config, with: With<'_, G>) -> Result<Self, TrainError> {
        let evaluate = &config.evaluate;
        if let Some(From::File(path)) = config.learn.examples() {
            let read = |part, most| Set::read(game, with, path, part, most);
            let validation = read(Part::Validation, evaluate.validation)?;
            return Ok(Self { validation, test: read(Part::Test, evaluate.positions)?, apart: true });
        }
        let distribution = evaluate.distribution.as_deref().or(config.learn.distribution());
        let (positions, oracle) = (Positions::new(game, distribution)?, oracle(game)?);
        let draw = |part, count, purpose| {
            Set::draw(game, with, &positions, &*oracle, part, count, stream(0, purpose, 0))
        };
        Ok(Self {
            validation: draw(Part::Validation, evaluate.validation, "validation positions"),
            test: draw(Part::Test, evaluate.positions, "test positions"),
            apart: positions.are_apart(),
        })
    }
}

/// Examples for learning, shown one after the other.
pub(crate) enum Examples<G: Kit> {
    /// A fixed set, shown repeatedly, in a new order each time.
    Fixed {
        rows: Box<Labelled>,
        head: Head,
        seed: u64,
        /// The epochs that were needed last, and the order of the set in each.
        epochs: Range<u64>,
        orders: Vec<Vec<u32>>,
    },
    /// A new position each time.
    Fresh {
        positions: Positions<G>,
        oracle: Arc<dyn Valuation<G>>,
        head: Head,
        seed: u64,
        /// Buffers, one for each piece that is filled at once.
        states: Vec<Vec<G::State>>,
    },
}

impl<G: Kit> Examples<G> {
    /// The examples that a config asks for.
    pub(crate) fn new(game: &G, config: &Config, seed: u64, with: With<'_, G>) -> Result<Self, TrainError> {
        let learn = &config.learn;
        let fixed = |rows: Labelled| {
            let (rows, head) = (Box::new(rows), with.head.clone());
            Self::Fixed { rows, head, seed, epochs: 0..0, orders: Vec::new() }
        };
        let count = match learn.examples() {
            Some(From::File(path)) => return Ok(fixed(Labelled::read(game, with, path)?)),
            Some(From::Drawn(count)) => Some(*count),
            None => None,
        };
        let positions = Positions::new(game, learn.distribution())?;
        let oracle = oracle(game)?;
        match count {
            Some(count) => {
                let rng = stream(seed, "examples", 0);
                let set = Set::draw(game, with, &positions, &*oracle, Part::Train, count, rng);
                match set.samples.targets.is_empty() {
                    false => Ok(fixed(Labelled::Encoded(set.samples))),
                    true => Err(OpenError::Unknown(no_distribution(with.head)).into()),
                }
            }
            None => {
                let head = with.head.clone();
                Ok(Self::Fresh { positions, oracle, head, seed, states: Vec::new() })
            }
        }
    }

    /// A hash of the examples of a file; `None` if the examples follow from the seed.
    pub(crate) fn digest(&self, config: &Config) -> Option<u64> {
        let (Self::Fixed { rows, .. }, Some(From::File(_))) = (self, config.learn.examples()) else {
            return None;
        };
        Some(rows.digest())
    }

    /// Appends the examples with these numbers, counted from the start of the run.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if a value does not say how probable the outcomes are.
    pub(crate) fn fill(
        &mut self,
        game: &G,
        encoder: &dyn Encoder<G>,
        span: Range<u64>,
        samples: &mut Samples,
    ) -> Result<(), ModelError> {
        self.fill_all(game, encoder, &[span], std::slice::from_mut(samples), None)
    }

    /// Like [`Self::fill`], the pieces of a span one after the other, each to its own samples; on the threads of a pool, if there is one.
    ///
    /// # Errors
    /// As [`Self::fill`].
    pub(crate) fn fill_all(
        &mut self,
        game: &G,
        encoder: &dyn Encoder<G>,
        pieces: &[Range<u64>],
        parts: &mut [Samples],
        pool: Option<&ThreadPool>,
    ) -> Result<(), ModelError> {
        let _waits = pool.map(|_| profile::pause());
        match self {
            Self::Fixed { rows, head, seed, epochs, orders } => {
                let n = rows.len() as u64;
                let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Ok(()) };
                let needed = first.start / n..last.end.div_ceil(n);
                if *epochs != needed {
                    let before = std::mem::replace(epochs, needed.clone());
                    let mut known = std::mem::take(orders);
                    orders.extend(needed.map(|epoch| match before.contains(&epoch) {
                        true => std::mem::take(&mut known[(epoch - before.start) as usize]),
                        false => {
                            let mut order: Vec<u32> = (0..n as u32).collect();
                            order.shuffle(&mut stream(*seed, "epoch", epoch));
                            order
                        }
                    }));
                }
                let (from, orders, first) = (&**rows, &*orders, epochs.start);
                let with = With { encoder, channels: &[], head: &*head };
                each_on(pool, pieces.iter().zip(parts), &|(piece, to): (&Range<u64>, &mut Samples)| {
                    let _games = profile::span(Phase::Games);
                    piece.clone().try_for_each(|number| {
                        let row = orders[(number / n - first) as usize][(number % n) as usize] as usize;
                        from.push(game, with, row, 1.0, to)
                    })
                })?;
            }
            Self::Fresh { positions, oracle, head, seed, states } => {
                states.resize_with(states.len().max(pieces.len()), Vec::new);
                let (positions, oracle, head, seed) = (&*positions, &**oracle, &*head, *seed);
                let items = pieces.iter().zip(parts).zip(states);
                each_on(pool, items, &|((piece, to), states): (
                    (&Range<u64>, &mut Samples),
                    &mut Vec<_>,
                )| {
                    let _games = profile::span(Phase::Games);
                    let mut rng = stream(seed, "examples", piece.start);
                    states.clear();
                    states.extend(piece.clone().map(|_| positions.of_part(game, Part::Train, &mut rng)));
                    for state in &*states {
                        let after =
                            Afterstate { state, action: None, player: game.just_acted(state).unwrap_or(0) };
                        oracle.fetch(game, after);
                        encoder.fetch(game, after);
                    }
                    for state in &*states {
                        let target = target(head, label(game, oracle, state), &[]);
                        let target = target.ok_or_else(|| ModelError::Unsupported(no_distribution(head)))?;
                        to.targets.extend(target);
                    }
                    let _encoding = profile::span(Phase::Encoding);
                    let width = head.outputs();
                    for state in states {
                        let scale = encode(game, encoder, state, to).ok_or_else(|| {
                            let text = game.position_text(state);
                            ModelError::Unsupported(format!(
                                "the encoder has no row for the position `{text}`"
                            ))
                        })?;
                        let targets = &mut to.targets[(to.rows.len() - 1) * width..][..width];
                        targets.iter_mut().for_each(|target| *target = scale.output(*target));
                        to.weights.push(1.0);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

/// Calls `work` with each item, on the threads of a pool, if there is one.
fn each_on<I: Send>(
    pool: Option<&ThreadPool>,
    items: impl IntoIterator<Item = I>,
    work: &(dyn Fn(I) -> Result<(), ModelError> + Sync),
) -> Result<(), ModelError> {
    match pool {
        Some(_) => jobs::try_all(pool, items, work).map(|_| ()),
        None => items.into_iter().try_for_each(work),
    }
}

/// Rows of the candidates that players of random games choose, `count` of them, or fewer in a game where almost every
/// move is the last: at most `10 × count` moves are made and games played.
pub fn rows_of_random_games<G: Kit, M: Predictor + ?Sized>(
    game: &G,
    bound: &GameModel<G, M>,
    count: usize,
    rng: &mut Stream,
) -> Rows {
    let mut found = Successors::new(game, &*bound.model);
    rows_of_games(game, Rows::new(bound.model.channels()), count, rng, |at, rng, rows| {
        found.clear();
        found.list(&**bound.encoder(), at);
        take(&found, rng.random_range(0..found.actions.len()), rows)
    })
}

/// Share of random moves in games of a network with itself.
const EXPLORED: f64 = 0.1;

/// Rows of the candidates that a network chooses in games with itself, with one move of ten at random, `count` of them,
/// or fewer in a game where almost every move is the last.
pub fn rows_of_own_games<G: Kit, M: Predictor + ?Sized>(
    game: &G,
    bound: &mut GameModel<G, M>,
    count: usize,
    rng: &mut Stream,
) -> Rows {
    rows_of_games(game, Rows::new(bound.model.channels()), count, rng, |at, rng, rows| {
        let found = bound.weighed(at);
        let value = |i: &usize| found.values[*i];
        let best = (0..found.values.len()).max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(0);
        let any = rng.random_range(0..found.actions.len());
        take(found, if rng.random_bool(EXPLORED) { any } else { best }, rows)
    })
}

/// The action of a candidate, whose row is appended.
fn take<G: Kit>(found: &Successors<G>, choice: usize, rows: &mut Rows) -> G::Action {
    if let Some(row) = found.row_of[choice] {
        rows.push_from(&found.rows, row as usize);
    }
    found.actions[choice].clone()
}

/// Plays games by `choose`, which appends the rows of its choices, until there are `count` rows or `10 × count` moves and games.
fn rows_of_games<G: Kit>(
    game: &G,
    mut rows: Rows,
    count: usize,
    rng: &mut Stream,
    mut choose: impl FnMut(Decision<'_, G>, &mut Stream, &mut Rows) -> G::Action,
) -> Rows {
    let (mut state, mut moves) = (game.start(), 0);
    while rows.len() < count && moves < 10 * count {
        let turn = game.turn(&state);
        moves += usize::from(turn != Turn::Chance);
        let action = match turn {
            Turn::Over => {
                state = game.start();
                continue;
            }
            Turn::Chance => game.sample(&state, rng),
            Turn::Player(player) => choose(Decision::new(game, &state, player), rng, &mut rows),
        };
        game.apply(&mut state, &action);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_of_ten_positions_are_for_training() {
        let mut counts = [0i32; 3];
        for number in 0..100_000 {
            counts[Part::of(number) as usize] += 1;
        }
        assert!(counts.iter().zip([80_000, 10_000, 10_000]).all(|(n, e)| (*n - e).abs() < 500), "{counts:?}");
    }

    /// In a game with few positions some parts are empty. Draws then return other positions, and `are_apart` is
    /// false.
    #[test]
    fn empty_parts_are_found() {
        use adept_builtin::bearoff::{Bearoff, State};
        let game = Bearoff::new(3).unwrap();
        let all = Positions::new(&game, None).unwrap();
        assert!(all.are_apart());
        let mut rng = stream(1, "test", 0);
        for part in [Part::Train, Part::Validation, Part::Test] {
            assert!((0..50).all(|_| Part::of((all.number)(&all.of_part(&game, part, &mut rng))) == part));
        }
        let one: State = all.of_part(&game, Part::Train, &mut rng);
        let single = Positions::of(&game, Some(Box::new(move |_| one)), all.number, one);
        assert!(!single.are_apart() && single.of_part(&game, Part::Test, &mut rng) == one);
    }

    /// A game without distributions has positions of random games, whose exact values its solver knows.
    #[test]
    fn positions_of_random_games_have_exact_values() {
        use adept_builtin::tictactoe::TicTacToe;
        use adept_game::Game;
        let game = TicTacToe;
        let all = Positions::new(&game, None).unwrap();
        assert!(all.are_apart() && Positions::new(&game, Some("other")).is_err());
        let (oracle, mut rng) = (oracle(&game).unwrap(), stream(1, "test", 0));
        let mut found = FxHashSet::default();
        for _ in 0..100 {
            for part in [Part::Train, Part::Validation, Part::Test] {
                let state = all.of_part(&game, part, &mut rng);
                assert_eq!(Part::of((all.number)(&state)), part);
                let player = game.just_acted(&state).unwrap();
                let exact = adept_arena::optimal_value(&game, &state).unwrap();
                let exact = if player == 0 { exact } else { -exact };
                assert_eq!(oracle.value(&game, Afterstate { state: &state, action: None, player }), exact);
                found.insert((all.number)(&state));
            }
        }
        assert!(found.len() > 150, "{}", found.len());
    }

    #[test]
    fn errors_are_summed_up() {
        let errors = PositionErrors::of([3.0, -4.0].into_iter());
        assert_eq!((errors.mae, errors.max, errors.rows), (3.5, 4.0, 2));
        assert!((errors.rms - 12.5f64.sqrt()).abs() < 1e-12);
        let nan = PositionErrors::of([f64::NAN, 1.0].into_iter());
        assert!(nan.rms.is_nan());
    }
}
