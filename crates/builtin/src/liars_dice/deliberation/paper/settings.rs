//! Settings of deliberating agents: parts and thresholds.

use serde::{Deserialize, Serialize};

/// Evaluation of bids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluateBy {
    /// P: by the binomial probability of success.
    Probability,
    /// E: by classes of the distance between the expected number and the bid.
    Expectation,
}

/// A symbolic preference by an expert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Heuristic {
    /// A challenge that cannot fail is best.
    H0,
    /// A challenge or pass is worst if some bid is at least as good, unless the round has no bid yet.
    H1,
    /// A pass is better than a challenge if it is at least as good.
    H2,
    /// A likely bid is better than a likely pass, so that the pass is saved for later.
    H3,
    /// A pass is worst at the start of a round.
    H4,
    /// Among bids without a push, a bid of the next player's last face is better than a bid of another face that is not
    /// better.
    H5,
    /// Same as H5, among bids with a push.
    H6,
    /// A bid that is likely without a push is better than any bid with a push.
    H7,
}

impl Heuristic {
    /// Its name.
    pub fn name(self) -> &'static str {
        ["H0", "H1", "H2", "H3", "H4", "H5", "H6", "H7"][self as usize]
    }
}

/// Settings of a deliberating agent. Deviations are in dice; all other numbers except the temperature are
/// probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeliberateSettings {
    /// P or E.
    pub evaluation: EvaluateBy,
    /// M: whether the dice of the last bidder are modelled.
    pub model: bool,
    /// H: the symbolic preferences.
    pub heuristics: Vec<Heuristic>,
    /// Temperature of the choice by probabilities, in units of the preference 2p − 1.
    pub temperature: f64,
    /// E: whether certain actions rank above safe ones. Otherwise they share a class.
    pub certain_first: bool,
    /// E: a bid is safe if the expected number exceeds it by more than this.
    pub bid_safe: f64,
    /// E: a bid is risky if the expected number exceeds it by at least this, otherwise very risky.
    pub bid_risky: f64,
    /// E: a challenge is safe if the expected number minus the bid is below this (a negative number).
    pub challenge_safe: f64,
    /// E: a challenge is risky if the expected number minus the bid is below this, otherwise very risky.
    pub challenge_risky: f64,
    /// E: an exact is risky if the expected number is closer to the bid than this, otherwise very risky.
    pub exact_risky: f64,
    /// M: the model never assumes dice whose probability is below this.
    pub model_unlikely: f64,
    /// M: dice explain a bid if they make it more likely than this.
    pub model_supports: f64,
    /// H3: threshold for likely.
    pub likely: f64,
    /// H7: threshold for likely without a push.
    pub likely_without_push: f64,
}

impl Default for DeliberateSettings {
    fn default() -> Self {
        Self {
            evaluation: EvaluateBy::Probability,
            model: false,
            heuristics: Vec::new(),
            temperature: 0.08,
            certain_first: true,
            bid_safe: 0.0,
            // The paper calls a bid with a deviation of −1 risky.
            bid_risky: -1.0,
            challenge_safe: -1.4,
            challenge_risky: -1.0,
            exact_risky: 0.4,
            model_unlikely: 0.16,
            model_supports: 0.60,
            likely: 0.8,
            likely_without_push: 0.75,
        }
    }
}

impl DeliberateSettings {
    /// Parses an agent's letters as in the paper: P or E, then M, H. H stands for H1, H2, H3, H5, H6 and H7; `H0` in
    /// place of `H` adds H0 and H4. A `+` after an agent with E selects other classes, calibrated in games of four so
    /// that E beats P and EM beats E, as in the paper.
    pub fn named(name: &str) -> Option<Self> {
        use Heuristic::{H0, H1, H2, H3, H4, H5, H6, H7};
        let mut settings = Self::default();
        let calibrated = name.strip_suffix('+').filter(|name| name.starts_with('E'));
        if calibrated.is_some() {
            settings = Self {
                bid_safe: -0.55,
                bid_risky: -0.75,
                challenge_safe: -1.0,
                challenge_risky: -0.2,
                exact_risky: 0.5,
                ..settings
            };
        }
        let name = calibrated.unwrap_or(name);
        let rest = match name.split_at_checked(1)? {
            ("P", rest) => rest,
            ("E", rest) => {
                settings.evaluation = EvaluateBy::Expectation;
                rest
            }
            _ => return None,
        };
        let rest = rest.strip_prefix('M').inspect(|_| settings.model = true).unwrap_or(rest);
        settings.heuristics = match rest {
            "" => Vec::new(),
            "H" => vec![H1, H2, H3, H5, H6, H7],
            "H0" => vec![H0, H1, H2, H3, H4, H5, H6, H7],
            _ => return None,
        };
        Some(settings)
    }

    /// A copy with changed settings. `changes` is an object, or null.
    ///
    /// # Errors
    /// An unknown setting or a wrong type.
    pub fn with(self, changes: &serde_json::Value) -> Result<Self, String> {
        let mut all = serde_json::to_value(&self).map_err(|e| e.to_string())?;
        match (changes, &mut all) {
            (serde_json::Value::Null, _) => return Ok(self),
            (serde_json::Value::Object(changes), serde_json::Value::Object(all)) => {
                all.extend(changes.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            (other, _) => return Err(format!("{other} is not a table of settings")),
        }
        serde_json::from_value(all).map_err(|e| e.to_string())
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The invalid setting and its allowed values.
    pub fn check(&self) -> Result<(), String> {
        let shares = [
            ("model_unlikely", self.model_unlikely),
            ("model_supports", self.model_supports),
            ("likely", self.likely),
            ("likely_without_push", self.likely_without_push),
        ];
        if let Some((name, value)) = shares.iter().find(|(_, v)| !(0.0..=1.0).contains(v)) {
            return Err(format!("{name} = {value}: must be a probability from 0 to 1"));
        }
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(format!("temperature = {}: must be above 0", self.temperature));
        }
        let ordered = [
            ("bid_risky", self.bid_risky, "bid_safe", self.bid_safe),
            ("challenge_safe", self.challenge_safe, "challenge_risky", self.challenge_risky),
        ];
        let bounds = ordered.iter().flat_map(|&(low, a, high, b)| [(low, a), (high, b)]);
        if let Some((name, value)) =
            bounds.chain([("exact_risky", self.exact_risky)]).find(|(_, value)| value.is_nan())
        {
            return Err(format!("{name} = {value}: must be a number"));
        }
        match ordered.iter().find(|(_, low, _, high)| low > high) {
            Some((low, a, high, b)) => {
                Err(format!("{low} = {a} is above {high} = {b}: classes would overlap"))
            }
            None => Ok(()),
        }
    }
}
