//! Errors against exact values, and the value lost by choices, compared with untrained baselines.

use adept_arena::{ByValuation, Decision, Evaluator, GameModel, MoveLoss, OpenError, move_loss};
use adept_game::{Afterstate, Kit, PositionClass, Valuation, distributions, stream};
use adept_ground::{limits, work};
use adept_trainer::config::{Config, Examples as From};
use adept_trainer::labels::examples_in;
use adept_trainer::positions::{Part, PositionErrors, Positions, oracle};
use adept_trainer::run::TrainError;
use rand::RngExt;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Errors of V on test positions, which are never used as examples.
#[derive(Clone, Debug, Serialize)]
pub struct RmsReport {
    /// Distribution of the top-level figures.
    pub distribution: String,
    /// Errors on this distribution.
    #[serde(flatten)]
    pub errors: PositionErrors,
    /// Half of the root mean square error: the error of the winning probability (1 + V)/2.
    pub rms_probability: f64,
    /// Number of distinct positions.
    pub distinct: u64,
    /// Whether test positions may overlap with examples. A small game may have too few positions for separate sets.
    pub overlap: bool,
    /// Errors on every distribution of the game, with those of the baselines.
    pub distributions: Vec<ErrorsOf>,
    /// Errors by class of position; see `class_positions`.
    pub classes: Vec<ErrorsOf>,
    /// Meaning of the classes.
    pub class: String,
    /// Description of the measured positions of a class.
    pub class_positions: String,
}

/// Errors on some positions, and those of baselines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorsOf {
    /// Name of the set of positions.
    pub name: String,
    /// Errors of the checkpoint.
    #[serde(flatten)]
    pub errors: PositionErrors,
    /// Root mean square errors of baselines by name; `constant` is the mean of the exact values.
    #[serde(deserialize_with = "numbers_or_nan")]
    pub baselines: Vec<(String, f64)>,
}

/// Deserialises named numbers, where JSON's null stands for NaN.
fn numbers_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, f64)>, D::Error> {
    let all = Vec::<(String, Option<f64>)>::deserialize(deserializer)?;
    Ok(all.into_iter().map(|(name, number)| (name, number.unwrap_or(f64::NAN))).collect())
}

/// Value lost by choices, measured with exact values.
#[derive(Clone, Debug, Serialize)]
pub struct MoveLossReport {
    /// Distribution of the positions before the roll.
    pub distribution: String,
    /// Value lost by the checkpoint.
    #[serde(flatten)]
    pub loss: MoveLoss,
    /// Value lost by baselines on the same decisions; `constant` chooses at random.
    pub baselines: Vec<(String, MoveLoss)>,
}

/// Errors on the rows of a file.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// Errors of the checkpoint.
    #[serde(flatten)]
    pub errors: PositionErrors,
    /// Number of rows in the training part, from which a run on this file learned.
    pub for_training: u64,
    /// Errors on the test part.
    pub test: PositionErrors,
    /// Root mean square errors of baselines on all rows.
    pub baselines: Vec<(String, f64)>,
}

/// A valuation by name.
pub(super) type Named<G> = (String, Arc<dyn Valuation<G>>);

/// The game's baselines: its valuations except exact values.
pub(super) fn baselines<G: Kit>(game: &G) -> Result<Vec<Named<G>>, OpenError> {
    let all = game.values().valuations;
    let names = all.names().iter().map(|v| &*v.name).filter(|name| !name.starts_with("oracle"));
    let open = |name: &str| {
        let found = all.open(name)?;
        Some(found.map(|v| (name.to_string(), v)).map_err(OpenError::from))
    };
    names.filter_map(open).collect()
}

/// The requested distribution, or the game's first.
pub(super) fn named<G: Kit>(game: &G, distribution: Option<&str>) -> String {
    let all = distributions(game);
    distribution.or(all.first().map(|d| &*d.name)).unwrap_or_default().into()
}

/// Test positions of a distribution, the same as in training.
pub(super) fn test_positions<G: Kit>(
    game: &G,
    distribution: &str,
    count: u64,
) -> Result<Vec<G::State>, OpenError> {
    let (positions, mut rng) = (Positions::new(game, Some(distribution))?, stream(0, "test positions", 0));
    Ok((0..count).map(|_| positions.of_part(game, Part::Test, &mut rng)).collect())
}

/// Positions with their values by the checkpoint, the oracle and baselines.
pub(super) struct ComparedPositions<G: Kit> {
    states: Vec<G::State>,
    exact: Vec<f64>,
    found: Vec<f32>,
    known: Vec<(String, Vec<f64>)>,
}

impl<G: Kit> ComparedPositions<G> {
    pub(super) fn new(
        game: &G,
        bound: &mut GameModel<G>,
        baselines: &[Named<G>],
        states: Vec<G::State>,
        exact: Vec<f64>,
    ) -> Self {
        let mut found = Vec::new();
        bound.afterstates(game, &states, &mut found, &mut Vec::new());
        let known = baselines.iter().map(|(name, v)| (name.clone(), values(game, &**v, &states))).collect();
        Self { states, exact, found, known }
    }

    /// The errors on the positions that satisfy `of`.
    pub(super) fn errors(&self, name: &str, of: &dyn Fn(usize) -> bool) -> ErrorsOf {
        errors_of(name, &self.exact, &self.found, &self.known, of)
    }
}

/// The errors of values against known ones, on the positions that satisfy `of`. Compiled once for all games.
fn errors_of(
    name: &str,
    exact: &[f64],
    found: &[f32],
    known: &[(String, Vec<f64>)],
    of: &dyn Fn(usize) -> bool,
) -> ErrorsOf {
    let these: Vec<usize> = (0..exact.len()).filter(|&i| of(i)).collect();
    let rms = |value: &dyn Fn(usize) -> f64| PositionErrors::of(these.iter().map(|&i| value(i) - exact[i]));
    let mean = these.iter().map(|&i| exact[i]).sum::<f64>() / these.len().max(1) as f64;
    let mut baselines = vec![("constant".to_string(), rms(&|_| mean).rms)];
    baselines.extend(known.iter().map(|(name, values)| (name.clone(), rms(&|i| values[i]).rms)));
    ErrorsOf { name: name.into(), errors: rms(&|i| f64::from(found[i])), baselines }
}

/// The values of states by a valuation, for the player who acted last.
pub(super) fn values<G: Kit>(game: &G, valuation: &dyn Valuation<G>, states: &[G::State]) -> Vec<f64> {
    let value = |state: &G::State| {
        let player = game.just_acted(state).unwrap_or(0);
        valuation.value(game, Afterstate { state, action: None, player })
    };
    let what = format!("valuing {} positions", states.len());
    let valued = reported(&what, states.iter(), states.len()).map(value).collect();
    work::share(&what, 1.0);
    valued
}

/// Reports the share of items taken so far.
fn reported<'a, T: 'a>(
    what: &'a str,
    items: impl Iterator<Item = T> + 'a,
    count: usize,
) -> impl Iterator<Item = T> + 'a {
    items.enumerate().map(move |(i, item)| {
        if i % 64 == 63 {
            work::share(what, i as f64 / count as f64);
        }
        item
    })
}

/// Distribution of positions over the classes of a game.
#[derive(Clone, Debug, Serialize)]
pub struct ClassShares {
    /// The distribution.
    pub distribution: String,
    /// Each class with its share of the positions, in [0, 1], ascending; empty classes are omitted.
    pub shares: Vec<(u64, f64)>,
}

/// Number of positions that estimate shares: within .3 % of the positions.
const SHARED: u32 = 100_000;

/// Meaning of a game's classes, and their shares in each of its distributions, from fixed random positions.
///
/// # Errors
/// If the game's positions do not determine who acted last.
pub(crate) fn class_shares_of<G: Kit>(game: &G) -> Result<(String, Vec<ClassShares>), OpenError> {
    let all = game.positions();
    let shares = |distribution: Cow<'static, str>| -> Result<ClassShares, OpenError> {
        let (positions, mut rng) =
            (Positions::new(game, Some(&distribution))?, stream(0, "shares of classes", 0));
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        (0..SHARED)
            .for_each(|_| *counts.entry((all.class)(&positions.any(game, &mut rng))).or_default() += 1);
        let shares = counts.into_iter().map(|(class, n)| (class, f64::from(n) / f64::from(SHARED))).collect();
        Ok(ClassShares { distribution: distribution.into_owned(), shares })
    };
    let shares = distributions(game).into_iter().map(|d| shares(d.name)).collect::<Result<_, _>>()?;
    Ok((all.class_name.into(), shares))
}

/// The formulas of a game: its inexact valuations.
pub(super) struct Formulas<G: Kit> {
    known: Vec<Named<G>>,
    oracle: Arc<dyn Valuation<G>>,
}

impl<G: Kit> Formulas<G> {
    pub(super) fn open(game: &G) -> Result<Self, OpenError> {
        Ok(Self { known: baselines(game)?, oracle: oracle(game)? })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn judge(&self, game: &G, bound: &mut GameModel<G>, states: Vec<G::State>) -> ComparedPositions<G> {
        let exact = values(game, &*self.oracle, &states);
        ComparedPositions::new(game, bound, &self.known, states, exact)
    }
}

/// Errors on this many test positions of each distribution.
pub(super) fn errors_by_distribution<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    formulas: &Formulas<G>,
    count: u64,
) -> Result<Vec<ErrorsOf>, OpenError> {
    let names = distributions(game).into_iter().map(|d| d.name);
    names
        .map(|name| {
            let states = test_positions(game, &name, count)?;
            Ok(formulas.judge(game, bound, states).errors(&name, &|_| true))
        })
        .collect()
}

/// Errors on the positions of each class: all of them, or `count` distinct random ones. None if the game does not list
/// its classes.
pub(super) fn errors_by_class<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    formulas: &Formulas<G>,
    count: u64,
) -> Result<Option<Vec<ErrorsOf>>, OpenError> {
    let classes = game.positions().classes;
    if classes.is_empty() {
        return Ok(None);
    }
    let errors = |class: PositionClass<G>| {
        let states = if class.count <= count {
            (0..class.count).map(|number| (class.position)(number)).collect()
        } else {
            let mut rng = stream(0, "positions of a class", class.class);
            (0..count).map(|_| (class.position)(rng.random_range(0..class.count))).collect()
        };
        formulas.judge(game, bound, states).errors(&class.class.to_string(), &|_| true)
    };
    Ok(Some(classes.into_iter().map(errors).collect()))
}

/// The most accurate formula on the test positions of a run, with its root mean square error against their labels; none
/// if the game has no formula.
pub(crate) fn best_formula<G: Kit>(game: &G, config: &Config) -> Result<Option<(String, f64)>, TrainError> {
    let known = baselines(game)?;
    if known.is_empty() {
        return Ok(None);
    }
    let (states, labels): (Vec<G::State>, Vec<f64>) = if let Some(From::File(path)) = config.learn.examples()
    {
        let all = examples_in(game, path, limits::EXAMPLES)?.into_iter();
        let number = game.positions().number;
        let test = all.filter(|example| Part::of(number(&example.state)) == Part::Test);
        test.map(|example| (example.state, example.value)).unzip()
    } else {
        let distribution = config.evaluate.distribution.as_deref().or(config.learn.distribution());
        let states = test_positions(game, &named(game, distribution), config.evaluate.positions)?;
        let exact = values(game, &*oracle(game)?, &states);
        (states, exact)
    };
    let errors = known.into_iter().map(|(name, valuation)| {
        let found = values(game, &*valuation, &states);
        (name, PositionErrors::of(found.iter().zip(&labels).map(|(v, d)| v - d)).rms)
    });
    Ok(errors.min_by(|a, b| a.1.total_cmp(&b.1)))
}

/// Measures errors on every distribution, and by class.
pub(super) fn rms<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    distribution: Option<&str>,
    count: u64,
) -> Result<RmsReport, TrainError> {
    let (formulas, main) = (Formulas::open(game)?, named(game, distribution));
    let judged = formulas.judge(game, bound, test_positions(game, &main, count)?);
    let mut distributions = vec![judged.errors(&main, &|_| true)];
    for other in adept_game::distributions(game).iter().filter(|other| other.name != main) {
        let states = test_positions(game, &other.name, count)?;
        distributions.push(formulas.judge(game, bound, states).errors(&other.name, &|_| true));
    }
    let listed = errors_by_class(game, bound, &formulas, count)?;
    let (classes, class_positions) = match listed {
        Some(classes) => (classes, format!("all positions, or {count} drawn from them")),
        None => {
            let class_of: Vec<u64> = judged.states.iter().map(game.positions().class).collect();
            let classes: BTreeSet<u64> = class_of.iter().copied().collect();
            let errors = |class: &u64| judged.errors(&class.to_string(), &|i| class_of[i] == *class);
            (classes.iter().map(errors).collect(), main.clone())
        }
    };
    let distinct: FxHashSet<u64> = judged.states.iter().map(game.positions().number).collect();
    let overlap = !Positions::new(game, Some(&main))?.are_apart();
    let errors = distributions[0].errors;
    Ok(RmsReport {
        distribution: main,
        errors,
        rms_probability: errors.rms / 2.0,
        distinct: distinct.len() as u64,
        overlap,
        classes,
        distributions,
        class: game.positions().class_name.into(),
        class_positions,
    })
}

/// A valuation that gives every state the same value.
struct Constant;

impl<G: Kit> Evaluator<G> for Constant {
    fn values(&mut self, _: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        values.clear();
        values.resize(actions.len(), 0.0);
    }
}

/// Exact values, precise enough to measure lost value.
pub(super) fn fine_oracle<G: Kit>(game: &G) -> Result<Arc<dyn Valuation<G>>, OpenError> {
    let values = game.values();
    match values.valuations.open(values.judge) {
        Some(own) => own.map_err(OpenError::from),
        None => oracle(game),
    }
}

/// Value lost by the choices of a checkpoint, of a constant, of baselines, and of others.
pub(super) fn losses<G: Kit>(
    game: &G,
    truth: &dyn Valuation<G>,
    bound: &mut dyn Evaluator<G>,
    known: &[Named<G>],
    others: &mut [impl Evaluator<G>],
    states: impl Iterator<Item = G::State>,
) -> Vec<MoveLoss> {
    let mut evaluators: Vec<ByValuation<G>> = known.iter().map(|(_, v)| ByValuation(v.clone())).collect();
    let mut constant = Constant;
    let mut all: Vec<&mut dyn Evaluator<G>> = vec![bound, &mut constant];
    all.extend(evaluators.iter_mut().map(|e| e as &mut dyn Evaluator<G>));
    all.extend(others.iter_mut().map(|e| e as &mut dyn Evaluator<G>));
    move_loss(game, truth, &mut all, states)
}

/// Measures the value lost on `count` test positions before the roll.
pub(super) fn moves<G: Kit>(
    game: &G,
    bound: &mut dyn Evaluator<G>,
    distribution: Option<&str>,
    count: u64,
) -> Result<MoveLossReport, TrainError> {
    let distribution = named(game, distribution);
    let states = test_positions(game, &distribution, count)?;
    let (truth, known) = (fine_oracle(game)?, baselines(game)?);
    let what = "measuring choices";
    let (n, states) = (states.len(), states.into_iter());
    let losses = losses(game, &*truth, bound, &known, &mut [Constant; 0], reported(what, states, n));
    work::share(what, 1.0);
    let names = ["constant".to_string()].into_iter().chain(known.into_iter().map(|(name, _)| name));
    Ok(MoveLossReport {
        distribution,
        loss: losses[0],
        baselines: names.zip(losses[1..].iter().copied()).collect(),
    })
}

/// Measures errors on the rows of a file.
pub(super) fn file<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    path: &Path,
) -> Result<FileReport, TrainError> {
    let examples = examples_in(game, path, limits::POSITIONS)?;
    let (states, exact): (Vec<G::State>, Vec<f64>) =
        examples.into_iter().map(|example| (example.state, example.value)).unzip();
    let judged = ComparedPositions::new(game, bound, &baselines(game)?, states, exact);
    let number = game.positions().number;
    let part = |i: usize| Part::of(number(&judged.states[i]));
    let all = judged.errors("all", &|_| true);
    Ok(FileReport {
        errors: all.errors,
        for_training: (0..judged.exact.len()).filter(|&i| part(i) == Part::Train).count() as u64,
        test: judged.errors("test", &|i| part(i) == Part::Test).errors,
        baselines: all.baselines,
    })
}
