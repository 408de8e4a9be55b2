//! Architectures as values: what a user writes under `[architecture]`.
//!
//! They nest to any depth: an expert of a mixture, or of a symbolic gate, is again an architecture.

use crate::program::Activation;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// A function from rows to values, with parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// A multi-layer perceptron.
    Mlp(Mlp),
    /// A hierarchical mixture of experts: competing experts, trained by likelihood (Jordan & Jacobs).
    Hme(Hme),
    /// Meta-Pi: co-operating experts, trained by the squared error of their blend (Hampshire & Waibel).
    MetaPi(MetaPi),
    /// A rule picks the expert: an index channel of the encoder.
    Symbolic(Symbolic),
    /// One value a position. At the top a table that grows with the positions met.
    Lookup(Lookup),
    /// A correction of a value that is known from elsewhere: y = tanh(atanh(p) + z).
    Residual(Residual),
    /// A value that is known from elsewhere, as it is: a frozen expert.
    Frozen(Frozen),
}

/// y = f(β ∘ (W x + b)), layer by layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mlp {
    /// Channels it reads: dense, bits or value; all dense and bits channels if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// Units of each hidden layer, first to last; may be empty.
    pub hidden: Vec<usize>,
    /// Activation of the hidden layers: one for all or one for each.
    #[serde(default = "tanh")]
    pub activation: OneOrEach<Activation>,
    /// Activation of the output layer.
    #[serde(default)]
    pub output: Activation,
    /// Neuron sensitivities β; none if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Weights and biases are first drawn uniformly from ±init.
    #[serde(default)]
    pub init: InitScale,
    /// Factor on the learning rate of the run for weights and biases.
    #[serde(default = "one")]
    pub rate: f32,
}

/// Hierarchical mixture of experts: y = Σ sᵢ yᵢ, trained to maximise ln Σ sᵢ exp(−(d − yᵢ)²/2σ²).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hme {
    /// How many experts like `expert`, or a list of architectures.
    pub experts: Experts,
    /// The architecture of each expert when `experts` is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert: Option<Box<Architecture>>,
    /// The gating network.
    #[serde(default)]
    pub gate: Gate,
    /// Selection threshold ST in [0, 1): experts whose gate is not above it are not run.
    #[serde(default)]
    pub threshold: f32,
    /// σ² of each expert's Gaussian.
    #[serde(default = "one")]
    pub variance: f32,
}

/// Meta-Pi: y = Σ sᵢ yᵢ, trained on ½(d − y)², gate and experts jointly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetaPi {
    /// How many experts like `expert`, or a list of architectures.
    pub experts: Experts,
    /// The architecture of each expert when `experts` is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert: Option<Box<Architecture>>,
    /// The gating network.
    #[serde(default)]
    pub gate: Gate,
    /// Selection threshold ST in [0, 1): experts whose gate is not above it are not run.
    #[serde(default)]
    pub threshold: f32,
}

/// An expert for each value of an index channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Symbolic {
    /// Index channel that holds the number of the expert.
    pub by: String,
    /// The architecture of every expert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert: Option<Box<Architecture>>,
    /// One architecture for each value of the channel, instead of `expert`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts: Option<Vec<Architecture>>,
}

/// One value a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// Index channel that identifies the position, at the top also a key channel; the only one there is if
    /// left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Value of a position not yet met, in [−1, 1].
    #[serde(default)]
    pub initial: f32,
    /// Value channel that gives the value of a position not yet met in its place; only at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_from: Option<String>,
    /// Whether an entry is made for every position that is weighed in training, and not only for those learned; only at the
    /// top. Values do not depend on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub add_weighed: bool,
    /// Factor on the learning rate of the run.
    #[serde(default = "one")]
    pub rate: f32,
}

/// y = tanh(atanh(p) + z): a prior p from a value channel, corrected by the output z of a network.
///
/// p is taken as at most 1 − 10⁻⁶ in size, so that any z can still move it. Where z is 0, y is p: a network that
/// begins with small weights begins with the prior. It learns by the squared error of y, whatever it is; a mixture
/// is its blended output. p itself learns nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Residual {
    /// Value channel that holds p; the only one there is if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The architecture whose output is z. Usually a perceptron with `output = "linear"`: tanh, its output
    /// otherwise, keeps z within ±1.
    pub net: Box<Architecture>,
}

/// y = p: a value channel as it is, such as a frozen expert's. It learns nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// Value channel that holds p; the only one there is if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
}

/// A gating network: softmax over the experts of a linear map or of a small network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Channels it reads: dense, bits or value; all dense and bits channels if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// Index channel, such as a phase of the game, that the gate goes by in their place: a weight for each expert and value
    /// of the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Units of each hidden layer; none makes the gate linear.
    #[serde(default)]
    pub hidden: Vec<usize>,
    /// A linear gate begins as clusters (k-means) of positions, each with an expert of its own, with that sharpness: about 1
    /// to 10, at which neighbours share less and less. They are positions of the distribution of the run, or of random
    /// games where the game has none. Drawn from ±init if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<f32>,
    /// Activation of the hidden layers.
    #[serde(default = "tanh")]
    pub activation: OneOrEach<Activation>,
    /// Weights and biases are first drawn uniformly from ±init.
    #[serde(default)]
    pub init: InitScale,
    /// Factor on the learning rate of the run.
    #[serde(default = "one")]
    pub rate: f32,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            inputs: None,
            by: None,
            hidden: Vec::new(),
            clusters: None,
            activation: tanh(),
            init: InitScale::default(),
            rate: 1.0,
        }
    }
}

/// Scale of the first weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum InitScale {
    /// Uniform in ± this number.
    Uniform(f32),
    /// `"fan_in"`: uniform in ±1/√inputs of the layer.
    Named(InitName),
}

/// Scales of first weights that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitName {
    /// ±1/√inputs.
    FanIn,
}

impl Default for InitScale {
    fn default() -> Self {
        Self::Uniform(0.4)
    }
}

/// Neuron sensitivities β of a perceptron: activation = f(β · net), β learned.
///
/// Written as a number (hidden layers; the output starts at 1), as a list with one number a layer,
/// output last, or as `{ initial = …, rate = … }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// First value: of the hidden layers, or of each layer, output last.
    pub initial: OneOrEach<f32>,
    /// Factor on the learning rate of the run: one for all layers or one for each, output last.
    pub rate: OneOrEach<f32>,
}

/// One value for all layers, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrEach<T> {
    /// The same for all.
    One(T),
    /// In order.
    Each(Vec<T>),
}

/// How many experts, or which.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Experts {
    /// That many like `expert`.
    Count(usize),
    /// These.
    List(Vec<Architecture>),
}

fn one() -> f32 {
    1.0
}

fn tanh() -> OneOrEach<Activation> {
    OneOrEach::One(Activation::Tanh)
}

/// Accepts what `$visit` names and says `$expected` otherwise: untagged enums of serde answer with
/// "did not match any variant", which helps nobody.
macro_rules! number_visits {
    ($value:ty, $make:expr) => {
        fn visit_f64<E: de::Error>(self, v: f64) -> Result<$value, E> {
            Ok($make(v as f32))
        }
        fn visit_i64<E: de::Error>(self, v: i64) -> Result<$value, E> {
            Ok($make(v as f32))
        }
        fn visit_u64<E: de::Error>(self, v: u64) -> Result<$value, E> {
            Ok($make(v as f32))
        }
    };
}

impl<'de> Deserialize<'de> for OneOrEach<f32> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = OneOrEach<f32>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            number_visits!(Self::Value, OneOrEach::One);
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut each = Vec::new();
                while let Some(v) = seq.next_element()? {
                    each.push(v);
                }
                Ok(OneOrEach::Each(each))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for OneOrEach<Activation> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = OneOrEach<Activation>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an activation or a list of names")
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
                Activation::deserialize(de::value::StrDeserializer::new(v)).map(OneOrEach::One)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut each = Vec::new();
                while let Some(v) = seq.next_element()? {
                    each.push(v);
                }
                Ok(OneOrEach::Each(each))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for Experts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Experts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of experts or a list of architectures")
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
                let count =
                    usize::try_from(v).map_err(|_| E::invalid_value(de::Unexpected::Signed(v), &self))?;
                Ok(Experts::Count(count))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
                Ok(Experts::Count(v as usize))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(v) = seq.next_element()? {
                    list.push(v);
                }
                Ok(Experts::List(list))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for InitScale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = InitScale;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or \"fan_in\"")
            }
            number_visits!(Self::Value, InitScale::Uniform);
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
                InitName::deserialize(de::value::StrDeserializer::new(v)).map(InitScale::Named)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for Sensitivity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            initial: OneOrEach<f32>,
            #[serde(default = "full_rate")]
            rate: OneOrEach<f32>,
        }
        fn full_rate() -> OneOrEach<f32> {
            OneOrEach::One(SENSITIVITY_RATE)
        }
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Sensitivity;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a list of numbers, or { initial = …, rate = … }")
            }
            number_visits!(Self::Value, |v| Sensitivity { initial: OneOrEach::One(v), rate: full_rate() });
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut each = Vec::new();
                while let Some(v) = seq.next_element()? {
                    each.push(v);
                }
                Ok(Sensitivity { initial: OneOrEach::Each(each), rate: full_rate() })
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let Table { initial, rate } = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Sensitivity { initial, rate })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Sensitivity {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sensitivity".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let each = generator.subschema_for::<OneOrEach<f32>>();
        schemars::json_schema!({
            "description": "First values: a number (hidden layers; the output starts at 1), a list with one number \
                            a layer, output last, or a table with the factor on the learning rate beside them.",
            "anyOf": [
                { "type": "number" },
                { "type": "array", "items": { "type": "number" } },
                {
                    "type": "object",
                    "properties": { "initial": each, "rate": each },
                    "required": ["initial"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

/// Sensitivities learn at this share of the learning rate unless the config says otherwise.
pub const SENSITIVITY_RATE: f32 = 0.2;
/// Sensitivities are kept at or above this.
pub const SENSITIVITY_MIN: f32 = 1e-3;

impl Architecture {
    /// The key under which it is written: `mlp`, `hme`, …
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Mlp(_) => "mlp",
            Self::Hme(_) => "hme",
            Self::MetaPi(_) => "meta_pi",
            Self::Symbolic(_) => "symbolic",
            Self::Lookup(_) => "lookup",
            Self::Residual(_) => "residual",
            Self::Frozen(_) => "frozen",
        }
    }

    /// Name and one line about every architecture.
    pub const KINDS: [(&'static str, &'static str); 7] = [
        ("mlp", "multi-layer perceptron, any layers and activations, optional neuron sensitivities"),
        ("hme", "hierarchical mixture of experts: competing experts, trained by likelihood"),
        ("meta_pi", "Meta-Pi: co-operating experts, trained by the squared error of their blend"),
        ("symbolic", "a rule of the encoder picks the expert"),
        ("lookup", "one value a position; at the top a table that grows"),
        ("residual", "a value from a channel of the encoder, corrected by a network: tanh(atanh(p) + z)"),
        ("frozen", "a value from a channel of the encoder as it is: an expert that does not learn"),
    ];
}
