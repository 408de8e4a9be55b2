//! The section `[learn]`: settings shared by all methods, and one section for the method.

mod expectation;
pub(super) mod migrate;
mod regrets;
mod supervised;
pub(super) mod td;

pub use expectation::{
    EXAMPLES_FILE, ExpectationSettings, MixedExamples, RARE_FILE, RareSettings, SCREEN, ScreenSettings,
    Starts,
};
pub(super) use regrets::NO_PUBLIC_TREE;
pub use regrets::RegretSettings;
pub use supervised::{Examples, SupervisedSettings};
pub use td::{Along, GapDiscount, Next, Rewards, SELF, TdSettings, TraceKind};

use super::fault::{Fault, check_range, check_schedule, fault, first_of};
use super::{Config, Schedule, is_one, u64_of, usize_of};
use adept_game::GameInfo;
use adept_ground::limits;
use adept_model::optimiser::Optimiser;
use adept_model::{Compute, DeviceName, Engine, Form};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How a model learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Section", into = "Section")]
#[schemars(with = "Section")]
pub struct Learn {
    /// Learning rate. The architecture may multiply it by a factor for some parameters.
    pub rate: Schedule,
    /// Games, or samples, between two optimiser steps. Gradients are summed over games and averaged over
    /// samples.
    pub batch: u64,
    /// Parts of equal size into which a batch is cut. Threads and ranks compute their gradients side by side.
    pub shards: usize,
    /// Optimiser.
    pub optimiser: Optimiser,
    /// d in [0, 1): the weights after each step are averaged, those k steps ago with weight dᵏ. The mean is measured and saved.
    pub average: Option<f64>,
    /// Engine that runs the optimiser steps.
    pub engine: Engine,
    /// Device of the burn engine.
    pub device: DeviceName,
    /// Where targets come from.
    pub method: Method,
}

/// Where targets come from, with the settings of this method.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Temporal differences, TD(λ), along games.
    Td(Box<TdSettings>),
    /// One-step temporal differences with exact expectations over chance.
    Expectation(ExpectationSettings),
    /// Exact values of positions.
    Supervised(SupervisedSettings),
    /// Counterfactual regrets.
    Regrets(Box<RegretSettings>),
}

/// The section as written in a file: shared settings, and exactly one section for the method.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Learn")]
struct Section {
    /// Learning rate. The architecture may multiply it by a factor for some parameters.
    rate: Schedule,
    /// Games, or samples, between two optimiser steps. Gradients are summed over games and averaged over
    /// samples.
    #[serde(default = "u64_of::<1>")]
    batch: u64,
    /// Parts of equal size into which a batch is cut, whose gradients threads and the ranks of MPI compute side by side.
    /// Results depend on this number in the last bits, but not on the number of threads and ranks. Default: 1.
    #[serde(default = "usize_of::<1>", skip_serializing_if = "is_one")]
    shards: usize,
    /// Optimiser.
    #[serde(default)]
    optimiser: Optimiser,
    /// The network that is measured and saved has the mean of the weights after each step, those k steps ago with weight dᵏ.
    /// This is d, in \[0, 1), such as 0.999; learning goes on with the last weights. Default: the last weights are saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    average: Option<f64>,
    /// Engine that runs the optimiser steps: `native` on the CPU, or `burn` on any device.
    #[serde(default)]
    engine: Engine,
    /// Device of the burn engine; `adept list devices` shows the available ones.
    #[serde(default)]
    device: DeviceName,
    /// Temporal differences, TD(λ), along games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    td: Option<Box<TdSettings>>,
    /// One-step temporal differences whose target is the exact expectation over chance outcomes. Positions come
    /// from self-play and from a distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expectation: Option<ExpectationSettings>,
    /// Exact values of positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    supervised: Option<SupervisedSettings>,
    /// Counterfactual regrets, in small games with hidden information. One network learns the regrets; the
    /// network of the run learns the average policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    regrets: Option<Box<RegretSettings>>,
}

impl TryFrom<Section> for Learn {
    type Error = String;

    fn try_from(section: Section) -> Result<Self, String> {
        let Section {
            rate,
            batch,
            shards,
            optimiser,
            average,
            engine,
            device,
            td,
            expectation,
            supervised,
            regrets,
        } = section;
        let mut given = [
            td.map(Method::Td),
            expectation.map(Method::Expectation),
            supervised.map(Method::Supervised),
            regrets.map(Method::Regrets),
        ]
        .into_iter()
        .flatten();
        let choice = "[learn.td], [learn.expectation], [learn.supervised] or [learn.regrets]";
        match (given.next(), given.next()) {
            (Some(method), None) => {
                Ok(Self { rate, batch, shards, optimiser, average, engine, device, method })
            }
            (None, _) => Err(format!("the method is missing: add one section {choice}")),
            (Some(one), Some(other)) => {
                Err(format!("a run has one method: keep [learn.{}] or [learn.{}]", one.name(), other.name()))
            }
        }
    }
}

impl From<Learn> for Section {
    fn from(learn: Learn) -> Self {
        let Learn { rate, batch, shards, optimiser, average, engine, device, method } = learn;
        let (mut td, mut expectation, mut supervised, mut regrets) = (None, None, None, None);
        match method {
            Method::Td(settings) => td = Some(settings),
            Method::Expectation(settings) => expectation = Some(settings),
            Method::Supervised(settings) => supervised = Some(settings),
            Method::Regrets(settings) => regrets = Some(settings),
        }
        Self { rate, batch, shards, optimiser, average, engine, device, td, expectation, supervised, regrets }
    }
}

impl Method {
    /// Name of the method and of its section.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Td(_) => "td",
            Self::Expectation(_) => "expectation",
            Self::Supervised(_) => "supervised",
            Self::Regrets(_) => "regrets",
        }
    }
}

impl Learn {
    /// Engine and device.
    pub fn compute(&self) -> Compute {
        Compute { engine: self.engine, device: self.device }
    }

    /// The settings of the method `td`, if this is the method.
    pub fn td(&self) -> Option<&TdSettings> {
        match &self.method {
            Method::Td(td) => Some(td),
            _ => None,
        }
    }

    /// Length of the run in games, samples or iterations.
    #[inline]
    pub fn length(&self) -> u64 {
        match &self.method {
            Method::Td(td) => td.games,
            Method::Expectation(expectation) => expectation.samples,
            Method::Supervised(supervised) => supervised.samples,
            Method::Regrets(regrets) => regrets.iterations,
        }
    }

    /// Sets the length of the run.
    pub fn set_length(&mut self, length: u64) {
        match &mut self.method {
            Method::Td(td) => td.games = length,
            Method::Expectation(expectation) => expectation.samples = length,
            Method::Supervised(supervised) => supervised.samples = length,
            Method::Regrets(regrets) => regrets.iterations = length,
        }
    }

    /// Unit of the length of a run.
    pub fn unit(&self) -> &'static str {
        match self.method {
            Method::Td(_) => "games",
            Method::Expectation(_) | Method::Supervised(_) => "samples",
            Method::Regrets(_) => "iterations",
        }
    }

    /// The share of the run that is done before this game, sample or iteration.
    #[inline]
    pub fn share(&self, step: u64) -> f64 {
        step as f64 / self.length() as f64
    }

    /// The learning rate at this game, sample or iteration.
    #[inline]
    pub fn rate_at(&self, step: u64) -> f32 {
        self.rate.at(self.share(step)) as f32
    }

    /// ε of ε-greedy play, where games are played.
    pub fn explore(&self) -> Option<&Schedule> {
        match &self.method {
            Method::Td(td) => Some(&td.explore),
            Method::Expectation(expectation) => Some(&expectation.explore),
            Method::Supervised(_) | Method::Regrets(_) => None,
        }
    }

    /// The opponent in training; [`SELF`] for self-play and for methods without an opponent.
    pub fn against(&self) -> &str {
        self.td().map_or(SELF, |td| &td.against)
    }

    /// The settings of the method `expectation`, if this is the method.
    pub fn expectation(&self) -> Option<&ExpectationSettings> {
        match &self.method {
            Method::Expectation(expectation) => Some(expectation),
            _ => None,
        }
    }

    /// Distribution of examples and starting positions, if one is named.
    pub fn distribution(&self) -> Option<&str> {
        match &self.method {
            Method::Td(td) => td.distribution.as_deref(),
            Method::Expectation(expectation) => expectation.distribution.as_deref(),
            Method::Supervised(supervised) => supervised.distribution.as_deref(),
            Method::Regrets(_) => None,
        }
    }

    /// The fixed set of examples, if one is named.
    pub fn examples(&self) -> Option<&Examples> {
        match &self.method {
            Method::Td(td) => td.examples.as_ref(),
            Method::Supervised(supervised) => supervised.examples.as_ref(),
            Method::Expectation(_) | Method::Regrets(_) => None,
        }
    }

    /// The files of positions that the run reads, examples and rare starts, and their settings.
    pub fn files(&self) -> Vec<(&'static str, &Path)> {
        fn named<'a>(
            key: &'static str,
            examples: &'a Option<Examples>,
        ) -> impl Iterator<Item = (&'static str, &'a Path)> {
            examples.iter().filter_map(move |examples| Some((key, examples.file()?)))
        }
        match &self.method {
            Method::Td(td) => named("learn.td.examples", &td.examples).collect(),
            Method::Supervised(supervised) => {
                named("learn.supervised.examples", &supervised.examples).collect()
            }
            Method::Expectation(expectation) => {
                let rare =
                    expectation.rare.as_ref().and_then(|rare| Some((RARE_FILE, rare.file.as_deref()?)));
                let examples = expectation.examples.as_ref().map(|mixed| (EXAMPLES_FILE, &*mixed.file));
                rare.into_iter().chain(examples).collect()
            }
            Method::Regrets(_) => Vec::new(),
        }
    }

    /// Temperature of Boltzmann play at this share of the run; `None` for greedy play.
    pub fn plays_at(&self, share: f64) -> Option<f64> {
        match &self.method {
            Method::Regrets(_) => Some(1.0),
            Method::Td(td) => td.temperature.map(|t| t.at(share)),
            Method::Expectation(_) | Method::Supervised(_) => None,
        }
    }

    /// Whether learning uses exact values.
    pub fn shows_examples(&self) -> bool {
        matches!(self.method, Method::Supervised(_)) || self.examples().is_some()
    }

    /// Whether the games of the next batch are played while the model learns from this one.
    pub fn overlaps(&self) -> bool {
        self.td().is_some_and(|td| td.overlap.unwrap_or(self.engine == Engine::Burn))
    }

    /// Finds the first setting that cannot work.
    pub(super) fn check(&self, config: &Config, game: &GameInfo) -> Result<(), Fault> {
        check_range("learn.batch", self.batch, 1..=limits::BATCH)?;
        let path = format!("learn.{}.{}", self.method.name(), self.unit());
        check_range(&path, self.length(), 1..=limits::LENGTH)?;
        match &self.method {
            Method::Td(td) => td.check(config, game),
            Method::Expectation(expectation) => expectation.check(self, game),
            Method::Supervised(supervised) => supervised.check(game),
            Method::Regrets(regrets) => regrets.check(config, game),
        }?;
        let is_blind = matches!(config.architecture.form(), Form::Blind(_)) && self.td().is_none();
        let why = "learns from games, by the choices in them: write `[learn.td]`";
        first_of("architecture.blind", &[(is_blind, why)])?;
        let table = config.architecture.grows();
        self.check_shards(table)?;
        self.check_average(table)?;
        let one_by_one = table && self.td().is_none() && self.batch > 1;
        let why = "a table learns entry by entry, and the blind learner too: leave `batch` out";
        first_of("learn.batch", &[(one_by_one, why)])?;
        check_schedule("learn.rate", &self.rate, 0.0, 1e9)?;
        let learns_nothing = self.rate.range().1 == 0.0;
        first_of("learn.rate", &[(learns_nothing, "is 0 throughout: nothing would be learned")])?;
        self.optimiser.check().map_err(|(key, m)| (format!("learn.optimiser.{key}"), m))?;
        let plain = table && self.optimiser != Optimiser::default();
        let why = "a table learns by plain steps, and the blind learner too: leave `optimiser` out";
        first_of("learn.optimiser", &[(plain, why)])?;
        self.compute().check().map_err(|m| ("learn.device".to_string(), m))?;
        if self.engine == Engine::Burn {
            let why = "tables and the blind learner do not learn with tensors: leave `engine` out";
            first_of("learn.engine", &[(table, why)])?;
            if let Some(why) = self.optimiser.native_only() {
                return fault("learn.optimiser", why);
            }
        }
        Ok(())
    }

    fn check_average(&self, table: bool) -> Result<(), Fault> {
        let path = "learn.average";
        match self.average {
            None => Ok(()),
            Some(d) if !(0.0..1.0).contains(&d) => {
                fault(path, format!("must be at least 0 and below 1, such as 0.999, found {d}"))
            }
            Some(_) if table => {
                fault(path, "a table has no fixed weights, and the blind learner neither: leave this out")
            }
            Some(_) if self.td().is_some_and(|td| td.traces == TraceKind::Online) => {
                fault(path, "online traces step at every move, not by batches: leave one of the two out")
            }
            Some(_) => Ok(()),
        }
    }

    fn check_shards(&self, table: bool) -> Result<(), Fault> {
        let path = "learn.shards";
        check_range(path, self.shards, 1..=limits::SHARDS)?;
        if self.shards == 1 {
            return Ok(());
        }
        if table {
            return fault(path, "a table learns entry by entry, and the blind learner too: leave this out");
        }
        let Some(td) = self.td() else {
            let fits = self.shards as u64 <= self.batch || matches!(self.method, Method::Regrets(_));
            let message =
                format!("{} shards share a batch of {}: raise `learn.batch`", self.shards, self.batch);
            return if fits { Ok(()) } else { fault(path, message) };
        };
        if td.traces == TraceKind::Online {
            return fault(path, "online traces step at every move: leave this out");
        }
        if td.workers > 1 && td.workers < self.shards {
            let message = format!(
                "each shard needs a worker of its own, and there are {}: raise `learn.td.workers`",
                td.workers
            );
            return fault(path, message);
        }
        Ok(())
    }
}
