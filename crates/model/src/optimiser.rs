//! Optimisers: the update rules of the parameters.

use crate::native::StepRule;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// An optimiser and its settings, written as its name or as `{ adam = { beta2 = 0.99 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimiser {
    /// p ← (1 − rate · decay) p − rate · m with m ← momentum · m + gradient.
    Sgd(Sgd),
    /// Adam with decoupled weight decay (Kingma & Ba 2015, Loshchilov & Hutter 2019).
    Adam(Adam),
    /// Adam in the eigenbasis of each layer's gradients (SOAP, Vyas et al. 2024). Native engine only.
    Soap(Soap),
}

/// Settings of stochastic gradient descent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sgd {
    /// Momentum: the share of the last step that is repeated, in [0, 1).
    pub momentum: f32,
    /// Weight decay.
    pub decay: f32,
}

/// Settings of Adam.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adam {
    /// Decay rate β₁ of the mean gradient, in [0, 1).
    pub beta1: f32,
    /// Decay rate β₂ of the mean squared gradient, in [0, 1).
    pub beta2: f32,
    /// ε, added to the root of the mean squared gradient.
    pub epsilon: f32,
    /// Weight decay.
    pub decay: f32,
    /// Whether a step leaves out the weights of inputs without a gradient, such as those that are 0 in all its rows, in layers that
    /// read the position. What momentum and decaying moments do to them in the meantime is made up for when the input next has a
    /// gradient. Native engine only, and β₁² must be below β₂.
    pub sparse: bool,
    /// Rows that an expert gathers before it takes a step on the sum of their gradients, if rows select it. Steps then cost as
    /// much for many experts as for one. By default each expert takes a step in every batch of which it runs a row. Native engine
    /// only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_rows: Option<u64>,
}

/// Settings of SOAP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Soap {
    /// Decay rate β₁ of the mean gradient, in [0, 1).
    pub beta1: f32,
    /// Decay rate β₂ of the mean squared gradient and of the covariances, in [0, 1).
    pub beta2: f32,
    /// ε, added to the root of the mean squared gradient.
    pub epsilon: f32,
    /// Weight decay.
    pub decay: f32,
    /// Steps between two updates of the bases. The first ten steps always update them.
    pub every: u64,
    /// Longest step of a number, as a multiple of the longest one that moments of one sequence of gradients reach. A
    /// change of the bases produces longer ones, which can destroy a network; single networks learn a little faster
    /// with 10 to 30.
    pub limit: f32,
    /// Rows that an expert gathers before it takes a step on the sum of their gradients, if rows select it. Steps then cost as
    /// much for many experts as for one. By default each expert takes a step in every batch of which it runs a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_rows: Option<u64>,
}

impl Default for Soap {
    fn default() -> Self {
        Self {
            beta1: 0.95,
            beta2: 0.99,
            epsilon: 1e-8,
            decay: 0.0,
            every: 100,
            limit: 1.0,
            expert_rows: None,
        }
    }
}

impl Default for Adam {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.0, sparse: false, expert_rows: None }
    }
}

impl Default for Optimiser {
    fn default() -> Self {
        Self::Sgd(Sgd::default())
    }
}

impl<'de> Deserialize<'de> for Optimiser {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            Sgd,
            Adam,
            Soap,
        }
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Optimiser;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"sgd\", \"adam\", \"soap\", or one of them with settings")
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Optimiser, E> {
                match v {
                    "sgd" => Ok(Optimiser::Sgd(Sgd::default())),
                    "adam" => Ok(Optimiser::Adam(Adam::default())),
                    "soap" => Ok(Optimiser::Soap(Soap::default())),
                    other => Err(E::unknown_variant(other, &["sgd", "adam", "soap"])),
                }
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Optimiser, A::Error> {
                // Not a derived enum: that would read the first entry and ignore the others.
                let optimiser = match map.next_key()? {
                    Some(Kind::Sgd) => Optimiser::Sgd(map.next_value()?),
                    Some(Kind::Adam) => Optimiser::Adam(map.next_value()?),
                    Some(Kind::Soap) => Optimiser::Soap(map.next_value()?),
                    None => return Err(de::Error::custom("name an optimiser, `sgd`, `adam` or `soap`")),
                };
                match map.next_key::<de::IgnoredAny>()? {
                    None => Ok(optimiser),
                    Some(_) => Err(de::Error::custom("name one optimiser, `sgd`, `adam` or `soap`")),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Optimiser {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Optimiser".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = |name: &str, settings: schemars::Schema| {
            schemars::json_schema!({
                "type": "object",
                "properties": { name: settings },
                "required": [name],
                "additionalProperties": false
            })
        };
        let (sgd, adam) = (generator.subschema_for::<Sgd>(), generator.subschema_for::<Adam>());
        let soap = generator.subschema_for::<Soap>();
        schemars::json_schema!({
            "description": "An optimiser, by its name or with its settings.",
            "anyOf": [{ "enum": ["sgd", "adam", "soap"] }, one("sgd", sgd), one("adam", adam), one("soap", soap)]
        })
    }
}

impl Optimiser {
    /// Why the burn engine refuses this optimiser, if it does.
    pub fn native_only(&self) -> Option<&'static str> {
        match self {
            Self::Soap(_) => {
                Some("`soap` runs on the native engine only: write `engine = \"native\"`, or use `adam`")
            }
            Self::Adam(Adam { sparse: true, .. }) => Some(
                "`adam.sparse` runs on the native engine only: write `engine = \"native\"`, or leave it out",
            ),
            Self::Adam(Adam { expert_rows: Some(_), .. }) => Some(
                "`adam.expert_rows` runs on the native engine only: write `engine = \"native\"`, or leave it out",
            ),
            _ => None,
        }
    }

    /// The first invalid setting: key and message.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let unit = |key, v: f32| {
            if (0.0..1.0).contains(&v) {
                Ok(())
            } else {
                Err((key, format!("must lie in 0..1 (1 excluded), found {v:?}")))
            }
        };
        let positive = |key, v: f32| {
            if v >= 0.0 && v.is_finite() {
                Ok(())
            } else {
                Err((key, format!("must be at least 0, found {v}")))
            }
        };
        if self.expert_rows() == Some(0) {
            let key = if matches!(self, Self::Adam(_)) { "adam.expert_rows" } else { "soap.expert_rows" };
            return Err((key, "must be at least 1".into()));
        }
        match *self {
            Self::Sgd(Sgd { momentum, decay }) => {
                unit("sgd.momentum", momentum)?;
                positive("sgd.decay", decay)
            }
            Self::Adam(Adam { beta1, beta2, epsilon, decay, sparse, .. }) => {
                unit("adam.beta1", beta1)?;
                unit("adam.beta2", beta2)?;
                if sparse && f64::from(beta1) * f64::from(beta1) >= f64::from(beta2) {
                    // Else steps grow while there is no gradient.
                    let what =
                        format!("needs a square of `beta1` below `beta2`, found {beta1:?} and {beta2:?}");
                    return Err(("adam.sparse", what));
                }
                if !(epsilon > 0.0 && epsilon.is_finite()) {
                    // Avoids 0/0 if a gradient has always been 0.
                    return Err(("adam.epsilon", format!("must be above 0, found {epsilon}")));
                }
                positive("adam.decay", decay)
            }
            Self::Soap(Soap { beta1, beta2, epsilon, decay, every, limit, .. }) => {
                if !(limit > 0.0 && limit.is_finite()) {
                    return Err(("soap.limit", format!("must be above 0, found {limit}")));
                }
                unit("soap.beta1", beta1)?;
                unit("soap.beta2", beta2)?;
                if !(epsilon > 0.0 && epsilon.is_finite()) {
                    return Err(("soap.epsilon", format!("must be above 0, found {epsilon}")));
                }
                if every == 0 {
                    return Err(("soap.every", "must be at least 1".into()));
                }
                positive("soap.decay", decay)
            }
        }
    }

    /// Tensor names of the moment vectors.
    pub(crate) fn moments(&self) -> &'static [&'static str] {
        match self {
            Self::Sgd(Sgd { momentum, .. }) if *momentum == 0.0 => &[],
            Self::Sgd(_) => &["momentum"],
            Self::Adam(_) => &["first", "second"],
            Self::Soap(_) => &["turned_first", "turned_second"],
        }
    }

    /// Whether steps leave weights of inputs out that are 0.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self, Self::Adam(Adam { sparse: true, .. }))
    }

    /// Rows that an expert gathers before it takes a step; none if it takes one in every batch.
    pub(crate) fn expert_rows(&self) -> Option<u64> {
        match self {
            Self::Sgd(_) => None,
            Self::Adam(Adam { expert_rows, .. }) | Self::Soap(Soap { expert_rows, .. }) => *expert_rows,
        }
    }

    /// The share of the parameters that decays in a step at learning rate `rate`.
    pub(crate) fn decay(&self, rate: f32) -> f32 {
        let (Self::Sgd(Sgd { decay, .. }) | Self::Adam(Adam { decay, .. }) | Self::Soap(Soap { decay, .. })) =
            self;
        rate * decay
    }

    /// The rule of step number `step`, from 1, at learning rate `rate`.
    pub(crate) fn rule(&self, rate: f32, step: u64) -> StepRule {
        match *self {
            Self::Sgd(Sgd { momentum: 0.0, decay }) => StepRule::Sgd { rate, decay },
            Self::Sgd(Sgd { momentum, decay }) => StepRule::Momentum { rate, decay, momentum },
            Self::Adam(adam) => adam.rule(rate, step),
            Self::Soap(Soap { beta1, beta2, epsilon, decay, .. }) => {
                Adam { beta1, beta2, epsilon, decay, ..Adam::default() }.rule(rate, step)
            }
        }
    }
}

impl Soap {
    /// `limit` times the largest |m̂| / √v̂ that a sequence of gradients can reach: by Cauchy–Schwarz
    /// (1 − β₁) / √((1 − β₂)(1 − β₁²/β₂)). Infinite unless β₁² < β₂.
    ///
    /// A step beyond it comes from moments that do not belong together: a new basis turns m exactly, but v cannot be
    /// turned. Without a limit such steps destroyed two networks of five.
    pub(crate) fn longest(&self) -> f32 {
        let (b1, b2) = (f64::from(self.beta1), f64::from(self.beta2));
        match b1 * b1 < b2 {
            true => self.limit * ((1.0 - b1) / ((1.0 - b2) * (1.0 - b1 * b1 / b2)).sqrt()) as f32,
            false => f32::INFINITY,
        }
    }
}

impl Adam {
    /// m̂ / (√v̂ + ε) with m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ), the corrections moved out of the loop.
    // Never inlined, so that only Adam's branch computes the powers.
    #[inline(never)]
    pub(crate) fn rule(&self, rate: f32, step: u64) -> StepRule {
        let [c1, c2] = self.corrections(step);
        let scaled = f64::from(rate) * c2;
        StepRule::Adam {
            // c1 is soon 1, and a division takes as long as a step on some weights.
            rate: (if c1 < 1.0 { scaled / c1 } else { scaled }) as f32,
            decay: rate * self.decay,
            beta1: self.beta1,
            beta2: self.beta2,
            epsilon: (f64::from(self.epsilon) * c2) as f32,
        }
    }

    /// 1 − β₁ᵗ and √(1 − β₂ᵗ).
    #[inline(always)]
    fn corrections(&self, step: u64) -> [f64; 2] {
        let t = step.min(i32::MAX as u64) as u32;
        // Where βᵗ < e⁻⁴⁰ this is 1 to the bit, and powers cost as much as a layer of a small network.
        let rest = |beta: f32| match (1.0 - f64::from(beta)) * f64::from(t) < 40.0 {
            true => 1.0 - power(f64::from(beta), t),
            false => 1.0,
        };
        let [rest1, rest2] = [rest(self.beta1), rest(self.beta2)];
        [rest1, if rest2 < 1.0 { rest2.sqrt() } else { 1.0 }]
    }

    /// The numbers that depend on a number of steps.
    pub(crate) fn counted(&self, n: u64) -> Counted {
        let [c1, c2] = self.corrections(n);
        let n = n.min(i32::MAX as u64) as u32;
        let (b1, b2) = (f64::from(self.beta1), f64::from(self.beta2));
        let ratio = b1 / b2.sqrt();
        Counted {
            decay1: power(b1, n) as f32,
            decay2: power(b2, n) as f32,
            moves: (ratio * (1.0 - power(ratio, n)) / (1.0 - ratio)) as f32,
            rate: (c2 / c1) as f32,
            epsilon: c2 as f32,
        }
    }
}

/// Numbers of Adam that depend on a number of steps n.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// β₁ⁿ, what n steps with a gradient of 0 leave of the mean.
    pub(crate) decay1: f32,
    /// β₂ⁿ, what they leave of the mean square.
    pub(crate) decay2: f32,
    /// Σ (β₁ / √β₂)ᵏ over k = 1 … n: how many times the last step these steps move, if the bias corrections are constant and ε is
    /// small.
    pub(crate) moves: f32,
    /// The bias correction √(1 − β₂ⁿ) / (1 − β₁ⁿ) of the rate in step n.
    pub(crate) rate: f32,
    /// The bias correction √(1 − β₂ⁿ) of ε in step n.
    pub(crate) epsilon: f32,
}

/// The same bits as [`f64::powi`], without its branches, half of which processors predict wrongly.
fn power(base: f64, n: u32) -> f64 {
    let (mut power, mut result, mut left) = (base, 1.0, n);
    while left > 0 {
        result *= if left % 2 == 1 { power } else { 1.0 };
        power *= power;
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_have_the_bits_of_the_library() {
        for base in [0.0, 0.9, 0.999, f64::from(0.9_f32), f64::from(0.999_f32), 0.999_999] {
            for n in (0..2_000).chain((2_000..500_000).step_by(997)).chain([1 << 30, (1 << 30) + 7]) {
                assert_eq!(power(base, n).to_bits(), base.powi(n as i32).to_bits(), "{base}, {n}");
            }
        }
    }

    /// Powers that no longer change a correction are not computed, and it is the same to the bit.
    #[test]
    fn corrections_end_at_one() {
        for adam in [Adam::default(), Adam { beta1: 0.0, beta2: 0.99, ..Adam::default() }] {
            for t in [1, 39, 399, 400, 401, 3_999, 4_001, 39_000, 40_100, 5_000_000_000] {
                let rest = |beta: f32| 1.0 - f64::from(beta).powi(t.min(i32::MAX as u64) as i32);
                let (c1, c2) = (rest(adam.beta1), rest(adam.beta2).sqrt());
                let StepRule::Adam { rate, epsilon, .. } = adam.rule(0.01, t) else { panic!("another rule") };
                assert_eq!(rate.to_bits(), ((f64::from(0.01_f32) * c2 / c1) as f32).to_bits(), "{t}");
                assert_eq!(epsilon.to_bits(), ((f64::from(adam.epsilon) * c2) as f32).to_bits(), "{t}");
            }
        }
    }
}
