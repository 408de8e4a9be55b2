//! Settings that are changed from outside while a run learns.

use crate::config::{Config, Learn, Method};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Changes of a run, at most. Each is a line of its record.
pub const CHANGES: usize = 100_000;

/// How many settings may be changed.
const SETTINGS: usize = 4;

/// A setting that may be changed while a run learns, by its key in the config.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Setting {
    /// The learning rate.
    #[serde(rename = "learn.rate")]
    Rate,
    /// ε of the games of the method `td`.
    #[serde(rename = "learn.td.explore")]
    Explore,
    /// ε of the games of the method `expectation`.
    #[serde(rename = "learn.expectation.explore")]
    ExploreExpectation,
    /// Temperature of the games of the method `td`.
    #[serde(rename = "learn.td.temperature")]
    Temperature,
}

impl Setting {
    const ALL: [Self; SETTINGS] = [Self::Rate, Self::Explore, Self::ExploreExpectation, Self::Temperature];

    /// Its key in the config.
    pub fn key(self) -> &'static str {
        match self {
            Self::Rate => "learn.rate",
            Self::Explore => "learn.td.explore",
            Self::ExploreExpectation => "learn.expectation.explore",
            Self::Temperature => "learn.td.temperature",
        }
    }

    /// Whether runs of this config have it. Play does not become Boltzmann play on the way.
    fn is_in(self, learn: &Learn) -> bool {
        match (self, &learn.method) {
            (Self::Rate, _) | (Self::Explore, Method::Td(_)) => true,
            (Self::ExploreExpectation, Method::Expectation(_)) => true,
            (Self::Temperature, Method::Td(td)) => td.temperature.is_some(),
            _ => false,
        }
    }

    /// The least and the largest value, as in configs.
    fn range(self) -> (f64, f64) {
        match self {
            Self::Rate => (0.0, 1e9),
            Self::Explore | Self::ExploreExpectation => (0.0, 1.0),
            Self::Temperature => (1e-6, 1e6),
        }
    }

    /// Whether it concerns games, which may be played a batch ahead.
    fn is_of_games(self) -> bool {
        self != Self::Rate
    }
}

/// A change of a run while it learned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// Games learned from when it was made, or samples. The rate holds from there on, and so do the others, except for games that
    /// were played ahead (`overlap`).
    pub step: u64,
    /// The setting.
    pub key: Setting,
    /// Its value from then on; `None` for the schedule of the config.
    pub value: Option<f64>,
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, key, value } = self;
        match value {
            Some(value) => write!(f, "{} = {value} from step {step} on", key.key()),
            None => write!(f, "{} by its schedule from step {step} on", key.key()),
        }
    }
}

/// A request to a run to go on with other settings. It is granted after the batch that the run is at.
///
/// A run on several ranks refuses it.
#[derive(Clone, Debug, Default)]
pub struct Steering(Arc<Mutex<Requests>>);

#[derive(Debug, Default)]
struct Requests {
    open: Vec<(Setting, Option<f64>)>,
    are_refused: bool,
}

/// Why requests are refused.
pub(super) const ON_RANKS: &str =
    "settings cannot be changed while a run on several ranks learns: train on one rank";

impl Steering {
    /// Requests another value of the setting with this key; `None` for the schedule of the config.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn change(&self, config: &Config, key: &str, value: Option<f64>) -> Result<(), String> {
        let learn = &config.learn;
        let Some(setting) = Setting::ALL.into_iter().find(|s| s.key() == key && s.is_in(learn)) else {
            let known: Vec<&str> =
                Setting::ALL.into_iter().filter(|s| s.is_in(learn)).map(Setting::key).collect();
            return Err(format!("`{key}` cannot be changed while this run learns; {} can", known.join(", ")));
        };
        let (least, most) = setting.range();
        if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
            return Err(format!("{key}: must lie in {least}..{most}, found {value}"));
        }
        let mut requests = self.lock();
        if requests.are_refused {
            return Err(ON_RANKS.into());
        }
        requests.open.push((setting, value));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run begins. From now on it refuses requests if it is on several ranks, each of which would hear something else. Returns
    /// whether it has to refuse one that was made before.
    pub(super) fn begin(&self, on_several: bool) -> bool {
        let mut requests = self.lock();
        requests.are_refused = on_several;
        on_several && !std::mem::take(&mut requests.open).is_empty()
    }

    /// The requests since the last call.
    pub(super) fn take(&self) -> Vec<(Setting, Option<f64>)> {
        std::mem::take(&mut self.lock().open)
    }
}

/// The changes of a run by setting, in the order of their steps, so that what holds at a step is found at once.
#[derive(Debug, Default)]
pub(super) struct Changes([Vec<(u64, Option<f64>)>; SETTINGS]);

static NO_CHANGES: Changes = Changes([const { Vec::new() }; SETTINGS]);

impl Changes {
    /// The changes of a record.
    pub(super) fn of(all: &[Changed]) -> Self {
        let mut changes = Self::default();
        all.iter().for_each(|c| changes.0[c.key as usize].push((c.step, c.value)));
        changes
    }

    /// The last value that was asked for.
    fn last(&self, key: Setting) -> Option<f64> {
        self.0[key as usize].last()?.1
    }

    /// Adds a change to these and to those of the record, none of which comes later. Of several at one step, the last counts; one
    /// that changes nothing is not kept. Returns whether there was room.
    pub(super) fn add(&mut self, record: &mut Vec<Changed>, change: Changed) -> bool {
        let Changed { step, key, value } = change;
        let here = record.partition_point(|c| c.step < step);
        if let Some(at) = record[here..].iter().position(|c| c.key == key) {
            record.remove(here + at);
            self.0[key as usize].pop();
        }
        if self.last(key) == value {
            return true;
        }
        if record.len() >= CHANGES {
            return false;
        }
        record.push(change);
        self.0[key as usize].push((step, value));
        true
    }
}

/// The settings of a run that are changed while it learns.
pub(super) struct Steered {
    requests: Steering,
    /// The changes of the record.
    changes: Changes,
    /// Whether the run has warned that its record has no room for more changes.
    warned_full: bool,
}

impl Steered {
    /// Nothing was changed yet.
    pub(super) fn new(requests: Steering) -> Self {
        Self { requests, changes: Changes::default(), warned_full: false }
    }

    /// Takes up the changes of a record.
    pub(super) fn restore(&mut self, changed: &[Changed]) {
        self.changes = Changes::of(changed);
    }

    /// The schedules of the run, with its changes.
    pub(super) fn pace<'a>(&'a self, learn: &'a Learn) -> Pace<'a> {
        Pace::new(learn, &self.changes)
    }

    /// Grants what was requested until this step: adds it to the record. A run that is `over` has nothing left to change. Returns a
    /// warning the first time that the record is full.
    pub(super) fn grant(&mut self, record: &mut Vec<Changed>, step: u64, over: bool) -> Option<String> {
        let mut warning = None;
        for (key, value) in self.requests.take().into_iter().filter(|_| !over) {
            let has_room = self.changes.add(record, Changed { step, key, value });
            if !has_room && !std::mem::replace(&mut self.warned_full, true) {
                warning = Some(format!(
                    "warning: its settings were changed {CHANGES} times, and a record has no more: they stay as they are from \
                     step {step} on"
                ));
            }
        }
        warning
    }
}

/// The schedules of a run, with what was changed while it learned. What holds at a step follows from the step alone, so a resumed
/// run goes on in the same way.
#[derive(Clone, Copy)]
pub(super) struct Pace<'a> {
    pub(super) learn: &'a Learn,
    changes: &'a Changes,
}

impl<'a> Pace<'a> {
    /// The schedules of a config, with changes.
    pub(super) fn new(learn: &'a Learn, changes: &'a Changes) -> Self {
        Self { learn, changes }
    }

    /// The schedules of a config.
    pub(super) fn of(learn: &'a Learn) -> Self {
        Self::new(learn, &NO_CHANGES)
    }

    /// The value of a setting that was changed, at this game, sample or iteration.
    fn changed(&self, key: Setting, step: u64) -> Option<f64> {
        // The games of the batch after a change were played while the batch before it was learned from.
        let ahead = if key.is_of_games() && self.learn.overlaps() { self.learn.batch } else { 0 };
        let first = |at: u64| if at == 0 { 0 } else { at.saturating_add(ahead) };
        let all = &self.changes.0[key as usize];
        let until = all.partition_point(|(at, _)| first(*at) <= step);
        all[..until].last()?.1
    }

    /// The learning rate.
    pub(super) fn rate(&self, step: u64) -> f32 {
        self.changed(Setting::Rate, step).map_or_else(|| self.learn.rate_at(step), |rate| rate as f32)
    }

    /// ε, where games are played.
    pub(super) fn explore(&self, step: u64) -> Option<f64> {
        let schedule = self.learn.explore()?;
        let key = match self.learn.method {
            Method::Expectation(_) => Setting::ExploreExpectation,
            _ => Setting::Explore,
        };
        Some(self.changed(key, step).unwrap_or_else(|| schedule.at(self.learn.share(step))))
    }

    /// Temperature of Boltzmann play; `None` for greedy play.
    pub(super) fn temperature(&self, step: u64) -> Option<f64> {
        let usual = self.learn.plays_at(self.learn.share(step))?;
        Some(self.changed(Setting::Temperature, step).unwrap_or(usual))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};

    fn config(learn: serde_json::Value) -> Config {
        let game = json!({ "rules": "tictactoe" });
        let architecture = json!({ "mlp": { "hidden": [4] } });
        from_value(json!({ "name": "test", "game": game, "architecture": architecture, "learn": learn }))
            .unwrap()
    }

    fn td(overlap: bool) -> Config {
        let td =
            json!({ "games": 100, "workers": 2, "overlap": overlap, "explore": { "from": 0.5, "to": 0.0 } });
        config(json!({ "rate": { "from": 0.1, "to": 0.0 }, "batch": 10, "td": td }))
    }

    #[test]
    fn a_change_holds_from_its_step_to_the_next() {
        let changed = |step, key, value| Changed { step, key, value };
        let changes = [
            changed(20, Setting::Rate, Some(0.5)),
            changed(20, Setting::Explore, Some(0.9)),
            changed(60, Setting::Rate, None),
        ];
        let changes = Changes::of(&changes);
        let config = td(false);
        let pace = Pace::new(&config.learn, &changes);
        assert_eq!([0, 19, 20, 59].map(|step| pace.rate(step)), [0.1, config.learn.rate_at(19), 0.5, 0.5]);
        assert_eq!(pace.rate(60), config.learn.rate_at(60));
        assert_eq!([0, 20, 99].map(|step| pace.explore(step)), [Some(0.5), Some(0.9), Some(0.9)]);
        assert_eq!((changes.last(Setting::Rate), changes.last(Setting::Explore)), (None, Some(0.9)));
        // The games of the next batch were played before the change; those of the first were not.
        let config = td(true);
        let pace = Pace::new(&config.learn, &changes);
        assert_eq!((pace.rate(20), pace.explore(29), pace.explore(30)), (0.5, Some(0.5 * 0.71), Some(0.9)));
        let first = Changes::of(&[changed(0, Setting::Explore, Some(0.25))]);
        assert_eq!(Pace::new(&config.learn, &first).explore(0), Some(0.25));
    }

    #[test]
    fn of_changes_at_one_step_the_last_counts_and_void_ones_are_not_kept() {
        let changed = |step, key, value| Changed { step, key, value };
        let (mut changes, mut record) = (Changes::default(), Vec::new());
        let mut add = |change| assert!(changes.add(&mut record, change));
        add(changed(10, Setting::Rate, None));
        add(changed(10, Setting::Rate, Some(0.5)));
        add(changed(10, Setting::Explore, Some(0.25)));
        add(changed(10, Setting::Rate, None));
        add(changed(20, Setting::Explore, Some(0.5)));
        add(changed(20, Setting::Rate, Some(0.1)));
        add(changed(20, Setting::Explore, Some(0.25)));
        add(changed(30, Setting::Rate, Some(0.1)));
        let kept = [changed(10, Setting::Explore, Some(0.25)), changed(20, Setting::Rate, Some(0.1))];
        assert_eq!(record, kept);
        assert_eq!(changes.0, Changes::of(&kept).0);
        // A full record takes no more, but those that it has may be replaced.
        let many = (0..CHANGES as u64).map(|step| changed(step, Setting::Rate, Some(step as f64)));
        let mut record: Vec<Changed> = many.collect();
        let (mut changes, last) = (Changes::of(&record), CHANGES as u64 - 1);
        assert!(!changes.add(&mut record, changed(last, Setting::Explore, Some(0.5))));
        assert!(changes.add(&mut record, changed(last, Setting::Rate, Some(0.5))));
        assert_eq!((record.len(), changes.last(Setting::Rate)), (CHANGES, Some(0.5)));
    }

    #[test]
    fn only_settings_of_the_run_in_their_range_are_changed() {
        let (steering, config) = (Steering::default(), td(false));
        let refusal = |key: &str, value: f64| steering.change(&config, key, Some(value)).unwrap_err();
        assert!(refusal("learn.rat", 0.1).ends_with("learn.rate, learn.td.explore can"));
        assert!(refusal("learn.td.temperature", 0.1).contains("cannot be changed"));
        assert!(refusal("learn.rate", f64::NAN).contains("found NaN"));
        assert!(refusal("learn.td.explore", 1.5).contains("must lie in 0..1"));
        assert!(steering.take().is_empty());
        steering.change(&config, "learn.rate", Some(0.2)).unwrap();
        steering.change(&config, "learn.rate", None).unwrap();
        assert_eq!(steering.take(), [(Setting::Rate, Some(0.2)), (Setting::Rate, None)]);
        let warm = self::config(json!({ "rate": 0.1, "td": { "games": 9, "temperature": 1.0 } }));
        assert!(Steering::default().change(&warm, "learn.td.temperature", Some(0.5)).is_ok());
    }

    #[test]
    fn several_ranks_refuse_requests() {
        let (steering, config) = (Steering::default(), td(false));
        steering.change(&config, "learn.rate", Some(0.2)).unwrap();
        assert!(!steering.begin(false) && steering.begin(true) && steering.take().is_empty());
        assert_eq!(steering.change(&config, "learn.rate", Some(0.2)).unwrap_err(), ON_RANKS);
        assert!(!steering.begin(false) && steering.change(&config, "learn.rate", Some(0.2)).is_ok());
    }

    #[test]
    fn keys_are_those_of_configs() {
        for setting in Setting::ALL {
            assert_eq!(to_value(setting).unwrap(), setting.key());
        }
    }
}
