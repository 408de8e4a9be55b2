//! A grid of settings, with the experiment of each combination.

use super::SweepError;
use super::axis::Axis;
use crate::catalogue::Catalogue;
use adept_ground::limits;
use adept_trainer::config::{Config, Examples, Figure, MeasuredOn, Source, parse};
use adept_trainer::settings::{show, value_of};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// All combinations of settings, each a valid experiment.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Name of the first experiment, and of the sweep.
    pub name: String,
    /// Seed of the config.
    pub seed: u64,
    /// Keys with several values, as given.
    pub keys: Vec<String>,
    /// All combinations; the last key changes fastest.
    pub combinations: Vec<Combination>,
    /// Opponent of the ranking measurements; `None` if equity is not measured and the loss ranks.
    pub against: Option<String>,
    /// Figure that ranks; `None` if the loss ranks.
    pub figure: Option<Figure>,
}

/// One combination of the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Combination {
    /// Name of its run folders, without the seed.
    pub name: String,
    /// The varying keys, with their values.
    pub settings: Map<String, Value>,
    /// The experiment. Its seed is not used; each run has its own.
    #[serde(deserialize_with = "saved")]
    pub config: Config,
}

/// Deserialises a config saved by any version of this program.
fn saved<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Config, D::Error> {
    Config::from_saved(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl Grid {
    /// Builds the grid of a config and settings `KEY=V1,V2,…`; a single value is a constant.
    ///
    /// # Errors
    /// [`SweepError`] that names the faulty setting or combination. Also if two combinations are the same
    /// experiment, or cannot be ranked against each other.
    pub fn new(source: &Source, games: &dyn Catalogue) -> Result<Self, SweepError> {
        let axes = source.set.iter().map(|s| Axis::read(s)).collect::<Result<Vec<_>, _>>()?;
        check(&axes)?;
        let product = axes.iter().try_fold(1, |n: u64, a| n.checked_mul(a.values.len() as u64));
        let count = product.filter(|n| *n <= limits::COMBINATIONS).ok_or_else(|| {
            let most = limits::COMBINATIONS;
            SweepError::Grid(format!("the grid has more than {most} combinations: use fewer values"))
        })?;
        let width = count.to_string().len();
        let mut seed = None;
        let mut combinations = Vec::new();
        for number in 0..count {
            let chosen = choose(number, &axes);
            let set = chosen.iter().map(|(axis, value)| format!("{}={value}", axis.key)).collect();
            let varying = chosen.iter().filter(|(axis, _)| axis.values.len() > 1);
            let settings: Map<_, _> = varying.map(|(a, v)| (a.key.clone(), value_of(v))).collect();
            let mut config = parse(&Source { set, ..source.clone() }, games).map_err(|fault| {
                // A fault with a place is in the file and independent of the settings.
                if fault.place.is_some() || settings.is_empty() {
                    return fault.into();
                }
                SweepError::Combination { combination: label(&settings), source: fault }
            })?;
            seed.get_or_insert(config.seed);
            config.seed = 1;
            let name = match settings.is_empty() {
                true => config.name.clone(),
                false => format!("{:0width$}-{}", number + 1, slug(&settings)),
            };
            combinations.push(Combination { name, settings, config });
        }
        different(&combinations)?;
        let (against, figure) = rankable(&combinations)?;
        Ok(Self {
            name: combinations[0].config.name.clone(),
            seed: seed.unwrap_or(1),
            keys: combinations[0].settings.keys().cloned().collect(),
            against,
            figure,
            combinations,
        })
    }
}

/// Formats settings in one line.
pub(super) fn label(settings: &Map<String, Value>) -> String {
    let pairs: Vec<String> = settings.iter().map(|(k, v)| format!("{k}={}", show(Some(v)))).collect();
    pairs.join(", ")
}

fn check(axes: &[Axis]) -> Result<(), SweepError> {
    for (i, axis) in axes.iter().enumerate() {
        if axes[..i].iter().any(|a| a.key == axis.key) {
            let message = format!("`{}` is set twice: list all its values at once", axis.key);
            return Err(SweepError::Grid(message));
        }
        if axis.key == "seed" && axis.values.len() > 1 {
            let message = "seeds are not part of the grid: a sweep sets them separately";
            return Err(SweepError::Grid(message.into()));
        }
    }
    Ok(())
}

/// The values of one combination: the digits of its index in mixed radix.
fn choose(mut number: u64, axes: &[Axis]) -> Vec<(&Axis, &str)> {
    let mut chosen: Vec<(&Axis, &str)> = axes
        .iter()
        .rev()
        .map(|axis| {
            let length = axis.values.len() as u64;
            let value = &axis.values[(number % length) as usize];
            number /= length;
            (axis, value.as_str())
        })
        .collect();
    chosen.reverse();
    chosen
}

/// A combination's settings as part of a file name, such as `rate-0.01_against-ttt`. It need not be unique, because an
/// index precedes it.
fn slug(settings: &Map<String, Value>) -> String {
    const LONGEST: usize = 80;
    let parts: Vec<String> = settings
        .iter()
        .map(|(key, value)| {
            let text = format!("{} {}", key.rsplit('.').next().unwrap_or(key), show(Some(value)));
            let safe = text.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '.'), " ");
            safe.split_whitespace().collect::<Vec<_>>().join("-")
        })
        .collect();
    parts.join("_").chars().take(LONGEST).collect()
}

/// Checks that no two combinations are the same experiment, such as `0.01` and `1e-2`.
fn different(combinations: &[Combination]) -> Result<(), SweepError> {
    let mut seen = HashMap::new();
    for combination in combinations {
        // Ignore the name, which would hide equal experiments.
        let bare = Config { name: String::new(), about: String::new(), ..combination.config.clone() };
        let text = serde_json::to_string(&bare).map_err(|e| SweepError::Grid(e.to_string()))?;
        if let Some(other) = seen.insert(text, combination) {
            let (a, b) = (label(&other.settings), label(&combination.settings));
            return Err(SweepError::Grid(format!("{a} and {b} are the same experiment: leave one out")));
        }
    }
    Ok(())
}

/// The opponent and figure that rank the combinations. Equities against several opponents or in several games are not
/// comparable.
fn rankable(combinations: &[Combination]) -> Result<(Option<String>, Option<Figure>), SweepError> {
    let first = &combinations[0];
    let against = |c: &Combination| c.config.evaluate_against().into_iter().next();
    let positions = |c: &Combination| {
        let (learn, evaluate) = (&c.config.learn, &c.config.evaluate);
        let file = learn.examples().cloned().filter(|e| matches!(e, Examples::File(_)));
        (evaluate.distribution.clone().or(learn.distribution().map(String::from)), evaluate.positions, file)
    };
    let figure = first.config.figure();
    for other in combinations {
        if other.config.game.rules != first.config.game.rules {
            return Err(SweepError::Grid(
                "combinations of several games cannot be ranked: sweep each game separately".into(),
            ));
        }
        let on_positions = first.config.measured_on() == Some(MeasuredOn::Positions);
        let elsewhere = on_positions && positions(other) != positions(first);
        if other.config.figure() != figure || elsewhere {
            return Err(SweepError::Grid(format!(
                "{} and {} are measured on different positions or by different suites, so they cannot be ranked: set \
                 `evaluate.suites`, `evaluate.distribution` and `evaluate.positions` for all",
                label(&first.settings),
                label(&other.settings),
            )));
        }
        if against(other) != against(first) {
            let measured = |c| against(c).map_or_else(|| "not at all".into(), |a| format!("against {a}"));
            return Err(SweepError::Grid(format!(
                "equity is measured {} at {}, but {} at {}, so they cannot be ranked: name one opponent for all, \
                 such as 'evaluate.against=[\"random\"]'",
                measured(first),
                label(&first.settings),
                measured(other),
                label(&other.settings),
            )));
        }
    }
    Ok((against(first), figure))
}
