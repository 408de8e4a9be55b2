//! The config types behind `[architecture]`.
//!
//! Architectures nest to any depth: each expert of a mixture or of a symbolic gate is an architecture.

use crate::program::Activation;
use adept_rows::Channel;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// Declares the kinds of architectures: each with its documentation, its key in a config, and a line for `list architectures`.
macro_rules! architectures {
    ($($(#[$about:meta])* $kind:ident, $key:literal, $line:literal;)+) => {
        /// A function from rows to values, with parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Architecture {
            $($(#[$about])* $kind($kind),)+
        }

        impl Architecture {
            /// Name and one-line description of every architecture.
            pub const KINDS: [(&'static str, &'static str); [$($key),+].len()] = [$(($key, $line)),+];

            /// The architecture's key in a config: `mlp`, `hme`, …
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $key,)+
                }
            }
        }
    };
}

architectures! {
    /// A multi-layer perceptron.
    Mlp, "mlp", "multi-layer perceptron, any layers and activations, optional neuron sensitivities";
    /// A hierarchical mixture of experts: competing experts, trained by likelihood (Jordan & Jacobs).
    Hme, "hme", "hierarchical mixture of experts: competing experts, trained by likelihood";
    /// Meta-Pi: co-operating experts, trained by the squared error of their blend (Hampshire & Waibel).
    MetaPi, "meta_pi", "Meta-Pi: co-operating experts, trained by the squared error of their blend";
    /// An index channel of the encoder selects the expert.
    Symbolic, "symbolic", "an index channel of the encoder selects the expert";
    /// A table over two index channels selects the expert. The table is learned from the run's examples.
    Cells, "cells", "a table over two index channels, learned from examples, selects the expert";
    /// Layers that all experts of another architecture share.
    Shared, "shared", "layers that the networks of another architecture share, such as the experts of a mixture";
    /// A module for each channel, joined as the channels say what they are made of: the hierarchy that follows from the rules
    /// of a game.
    Modules, "modules", "a module for each channel, joined as the rules of a game say (encoder `rules`)";
    /// One value per position. At the top level: a table that adds an entry for each new position.
    Lookup, "lookup", "one value per position; at the top level a table that grows";
    /// Weights of sets of bits, found by the learner, which is told nothing about them. Only at the top level.
    Blind, "blind", "weights of sets of bits, found by the learner, which is told nothing about them";
    /// A value p from the encoder, corrected by a network: y = tanh(atanh(p) + z).
    Residual, "residual", "a value from a channel of the encoder, corrected by a network: tanh(atanh(p) + z)";
    /// A value from the encoder, unchanged: a frozen expert.
    Frozen, "frozen", "a value from a channel of the encoder, unchanged: an expert that does not learn";
}

/// How an architecture computes and learns at the top level.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// By a program, which [`lower`](crate::lower()) makes.
    Network,
    /// As a table that grows: [`Table`](crate::Table).
    Table(&'a Lookup),
    /// As the blind learner: [`BlindLearner`](crate::BlindLearner).
    Blind(&'a Blind),
}

/// A multi-layer perceptron: y = f(β ∘ (W x + b)) for each layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mlp {
    /// Input channels: dense, bits or value. Default: all dense and bits channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// Units of each hidden layer, first to last; may be empty.
    pub hidden: Vec<usize>,
    /// Activation of the hidden layers: one for all or one for each.
    #[serde(default = "tanh")]
    pub activation: OneOrEach<Activation>,
    /// Activation of the output layer. With `head = "outcomes"` it is linear, and a softmax follows.
    #[serde(default)]
    pub output: Activation,
    /// Neuron sensitivities β. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Initial weights and biases are uniform in ±init.
    #[serde(default)]
    pub init: InitScale,
    /// Factor on the run's learning rate for weights and biases.
    #[serde(default = "one")]
    pub rate: f32,
}

/// Hierarchical mixture of experts: y = Σᵢ sᵢ yᵢ, trained to maximise ln P(d|x).
///
/// From Wiering & Kröse, "TD Learning of Game Evaluation Functions with Hierarchies of Adaptive Experts". The paper
/// does not number its equations; each line below names its section. Indices i and j run over the experts, x is the
/// row, d the target, yᵢ the output of expert i.
///
/// ```text
/// Gate, §2.1          aᵢ  linear in x, or a small network
///                     gᵢ = exp(aᵢ) / Σⱼ exp(aⱼ)
/// Threshold, §2.3     sᵢ = gᵢ if gᵢ > ST, otherwise 0; then sᵢ ← sᵢ / Σⱼ sⱼ
/// Output, §2.1        y  = Σᵢ sᵢ yᵢ
/// Log density         ℓᵢ = −(d − yᵢ)² / 2σ²
/// Likelihood, §2.1    P  = Σᵢ sᵢ exp(ℓᵢ),  L = ln P
/// Posterior           hᵢ = sᵢ exp(ℓᵢ) / P
/// Gradients of L      ∂L/∂ℓᵢ = ∂L/∂ln sᵢ = hᵢ
///                     ∂L/∂yᵢ = hᵢ (d − yᵢ) / σ²
///                     ∂L/∂aᵢ = hᵢ − sᵢ
/// ```
///
/// The paper prints the output, the likelihood with σ² = 1 and the step from gᵢ to sᵢ. The softmax and the posteriors
/// are those of Jordan & Jacobs; the gradients follow from L. Three rules are additions. The selected sᵢ are divided
/// by their sum. If no gate passes ST, the expert with the largest gate runs alone, the first of equals. If expert i is
/// an HME too, ℓᵢ is the L of that node, so its experts learn with the product of the posteriors on their path.
///
/// The native engine computes in logarithms: L = ln Σᵢ exp(ln sᵢ + ℓᵢ) and hᵢ = exp(ln sᵢ + ℓᵢ − L). It clamps hᵢ
/// below e⁻⁸⁷ to 0.
///
/// With `head = "outcomes"` the experts are categorical: expert i gives a distribution pᵢ over the classes k, a softmax of
/// its last layer zᵢ, and d is a target distribution t. Gate, threshold, likelihood and posteriors stay as they are.
///
/// ```text
/// Output              p  = Σᵢ sᵢ pᵢ
/// Log density         ℓᵢ = Σₖ tₖ ln pᵢₖ
/// Likelihood          P  = Σᵢ sᵢ Πₖ pᵢₖ^tₖ,  L = ln P
/// Posterior           hᵢ = sᵢ Πₖ pᵢₖ^tₖ / P
/// Gradients of L      ∂L/∂pᵢₖ = hᵢ tₖ / pᵢₖ
///                     ∂L/∂zᵢₖ = hᵢ (tₖ − pᵢₖ)
///                     ∂L/∂aᵢ  = hᵢ − sᵢ
/// ```
///
/// There is no variance σ².
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hme {
    /// The number of experts like `expert`, or a list of architectures.
    pub experts: Experts,
    /// The architecture of each expert when `experts` is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert: Option<Box<Architecture>>,
    /// The gating network.
    #[serde(default)]
    pub gate: Gate,
    /// Selection threshold ST in [0, 1). An expert runs only if gᵢ > ST.
    #[serde(default)]
    pub threshold: f32,
    /// Variance σ² of each expert's Gaussian; 1 in the paper.
    #[serde(default = "one")]
    pub variance: f32,
}

/// Meta-Pi: y = Σᵢ sᵢ yᵢ, trained to minimise E = ½(d − y)² (Wiering & Kröse, §2.2).
///
/// Gates gᵢ and weights sᵢ are those of [`Hme`]. Gate and experts learn jointly:
/// −∂E/∂yᵢ = sᵢ (d − y) and −∂E/∂aᵢ = sᵢ (yᵢ − y) (d − y).
///
/// With `head = "outcomes"` the experts' distributions are blended, p = Σᵢ sᵢ pᵢ, and E is the cross entropy −Σₖ tₖ ln pₖ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetaPi {
    /// The number of experts like `expert`, or a list of architectures.
    pub experts: Experts,
    /// The architecture of each expert when `experts` is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert: Option<Box<Architecture>>,
    /// The gating network.
    #[serde(default)]
    pub gate: Gate,
    /// Selection threshold ST in [0, 1). An expert runs only if gᵢ > ST.
    #[serde(default)]
    pub threshold: f32,
}

/// One expert for each value of an index channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Symbolic {
    /// The index channel that holds the expert's number.
    pub by: String,
    /// The architecture of every expert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert: Option<Box<Architecture>>,
    /// One architecture for each value of the channel, instead of `expert`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts: Option<Vec<Architecture>>,
}

/// Learned cells: a table over two index channels selects the expert, T\[c₀(i₀)\]\[c₁(i₁)\].
///
/// A gate as cheap as a rule: three table reads, whatever the number of experts. It is found once, at the start of a
/// run, from examples of the run:
///
/// 1. The values of each channel are split into `classes` of equal frequency, in the order of their numbers. A class
///    has a place on its axis: the mean number of its examples.
/// 2. A small network (8 units) learns from `probe` examples. Its mean squared error eₖ is measured in each cell k, a
///    pair of classes, on half as many fresh examples.
/// 3. k-means splits the plane of cells into one region per expert. A cell counts with weight eₖ^γ, so that regions
///    are small where the small network errs.
///
/// With the method `expectation` the positions are those of own games. A network that has learned before (`--init`) takes the place of
/// the small one: eₖ is its error against its one-step targets. Otherwise, and with other methods than `supervised`, every cell counts
/// the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// The two index channels, such as one for each player. Neighbouring numbers should mean similar positions.
    pub by: [String; 2],
    /// Number of experts.
    pub experts: usize,
    /// The architecture of every expert.
    pub expert: Box<Architecture>,
    /// Classes of each channel, at most 256. A channel with fewer values has a class for each.
    #[serde(default = "usize_of::<64>")]
    pub classes: usize,
    /// γ, from 0 (regions of equal size) to about 1.
    #[serde(default = "gamma")]
    pub gamma: f32,
    /// Examples that the small network learns from.
    #[serde(default = "u64_of::<2000000>")]
    pub probe: u64,
    /// How often, in the first half of the run, each cell goes to the expert that errs least in it. Default: 0, never.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reassign: u64,
}

/// Layers h that the networks above share: y = top(h), h = f(x W + b) for each layer.
///
/// Networks and gates in `top` read h unless they name `inputs`. So the experts of a mixture may have a first layer in common,
/// which is computed once, and in play from that of the position before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Input channels: dense, bits or value. Default: all dense and bits channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// Units of each shared layer, first to last.
    pub hidden: Vec<usize>,
    /// Activation of the shared layers: one for all or one for each.
    #[serde(default = "tanh")]
    pub activation: OneOrEach<Activation>,
    /// Initial weights and biases are uniform in ±init.
    #[serde(default)]
    pub init: InitScale,
    /// Factor on the run's learning rate for the weights and biases of the shared layers.
    #[serde(default = "one")]
    pub rate: f32,
    /// The architecture that reads them, such as a mixture.
    pub top: Box<Architecture>,
}

/// A module for each dense channel, in a hierarchy that the encoder declares: each channel names the channels that it is made
/// of (encoder `rules` of games from rule files: facts, then relations, operators, endings).
///
/// ```text
/// units of module m    hₘ = tanh(Wₘ [xₘ, hₚ for each part p of m] + bₘ)
/// its estimate         yₘ = tanh(vₘ · hₘ + cₘ)
/// the top module       h₀ = tanh(W₀ [h₁, …, hₖ] + b₀),  y₀ = tanh(v₀ · h₀ + c₀)
/// weights              s = softmax(A [h₁, …, hₖ] + a)
/// output               y = Σₘ sₘ yₘ + s₀ y₀
/// ```
///
/// Modules and weights learn jointly from the squared error of y, so a module that was right where it counted gets more
/// weight there. Levinson ("General game-playing and reinforcement learning", 1996) describes modules that combine the
/// recommendations of their parts, non-linearly and by their past accuracy, but prints no equation: these are our reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Modules {
    /// Units hₘ of each module.
    #[serde(default = "usize_of::<16>")]
    pub units: usize,
    /// Units h₀ of the top module.
    #[serde(default = "usize_of::<32>")]
    pub top: usize,
    /// Channels to use, with those that they are made of. Default: all dense and bits channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// Initial weights and biases are uniform in ±init.
    #[serde(default)]
    pub init: InitScale,
    /// Factor on the run's learning rate.
    #[serde(default = "one")]
    pub rate: f32,
}

/// A table with one value per position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// The channel that identifies the position: an index channel, or at the top level also a key channel.
    /// Default: the only such channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Value of a position without an entry, in [−1, 1].
    #[serde(default)]
    pub initial: f32,
    /// A value channel to use instead of `initial` for a position without an entry. Top level only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_from: Option<String>,
    /// Whether training adds an entry for every position that it evaluates, or only for those that it learns from.
    /// Top level only. Values do not depend on this setting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub add_weighed: bool,
    /// Factor on the run's learning rate.
    #[serde(default = "one")]
    pub rate: f32,
}

/// The blind learner: V = tanh(Σ w), the sum of the weights of all sets of literals that hold in a position. It is handed bits
/// without meaning and the choices of each decision.
///
/// Levinson, "General game-playing and reinforcement learning" (1996), "Blind learning". The paper measured the first two
/// stages; the others are proposed there and not measured. What stands in parentheses is our reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blind {
    /// The bits channel that it sees. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Stage 1: a weight for each bit.
    #[serde(default = "yes")]
    pub bits: bool,
    /// Stage 2: at most so many random sets of two to four bits that are on together.
    #[serde(default = "usize_of::<64>")]
    pub sets: usize,
    /// Stage 3: variables, sets of bits of which one is on at any time (or at most one; that none is on is then a new
    /// literal). Not looked for among more than 512 bits.
    #[serde(default = "yes")]
    pub variables: bool,
    /// Stage 4: pairs of literals (those whose mean error is surely not 0), and relations: pairs of two variables with
    /// similar weights of their bits and a similar weight of the pair, which share a weight.
    #[serde(default = "yes")]
    pub relations: bool,
    /// Stage 5: sets found so far serve as new bits (so that larger sets are found in the same way).
    #[serde(default = "yes")]
    pub tuples: bool,
    /// Parity sets: sets of bits whose parity one operator changes (and no other; an operator is known by the bits that it
    /// changes).
    #[serde(default = "yes")]
    pub parity: bool,
    /// Sets with a weight above which no further ones are added.
    #[serde(default = "usize_of::<4000>")]
    pub most: usize,
    /// Factor on the run's learning rate.
    #[serde(default = "one")]
    pub rate: f32,
}

/// A prior p from a value channel, corrected by the output z of a network: y = tanh(atanh(p) + z). It is not a skip
/// connection between layers.
///
/// p is clamped to ±(1 − 10⁻⁶), so that any z can still change it. If z is 0, y equals p, so a network with small
/// initial weights starts close to the prior. The network learns from the squared error of y. For a mixture, z is the
/// blended output. p does not learn.
///
/// With `head = "outcomes"` z corrects the logits of the distribution of the greatest entropy whose value is p:
/// softmax(λ(p) u + z), see [`Tilt`](crate::Tilt). Of loss and win it is (1 ∓ p)/2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Residual {
    /// Value channel that holds p. Default: the only value channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The architecture whose output is z. Usually a perceptron with `output = "linear"`, because the default tanh
    /// limits z to ±1.
    pub net: Box<Architecture>,
}

/// A value channel as output: y = p, such as the value of a frozen expert. It does not learn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// Value channel that holds p. Default: the only value channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
}

/// A gating network: gᵢ = softmax over the experts of a linear map or of a small network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Input channels: dense, bits or value. Default: all dense and bits channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// An index channel, such as a phase of the game, to use instead of `inputs`. The gate then has one weight for each
    /// expert and each value of the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Begins as a rule by the channel `by`: the k-th value prefers the k-th expert by this logit, such as 4, above 0. The channel has
    /// as many values as there are experts. Default: weights from ±init.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<f32>,
    /// Units of each hidden layer; none makes the gate linear.
    #[serde(default)]
    pub hidden: Vec<usize>,
    /// Initialises a linear gate from k-means clusters of positions, one expert per cluster. The number is the
    /// sharpness, about 1 to 10: the higher, the less neighbouring clusters share; 0 for weights from ±init instead. The
    /// positions come from the run's distribution, or from random games if the game has none. Default: for a linear
    /// gate on `inputs`, clusters with the same mean weight each, of a sharpness of 2 or more; otherwise 0. A gate
    /// with random weights mostly picks the same expert, and an expert that hardly runs hardly learns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<f32>,
    /// Activation of the hidden layers.
    #[serde(default = "tanh")]
    pub activation: OneOrEach<Activation>,
    /// Initial weights and biases are uniform in ±init.
    #[serde(default)]
    pub init: InitScale,
    /// Factor on the run's learning rate.
    #[serde(default = "one")]
    pub rate: f32,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            inputs: None,
            by: None,
            rule: None,
            hidden: Vec::new(),
            clusters: None,
            activation: tanh(),
            init: InitScale::default(),
            rate: 1.0,
        }
    }
}

/// Scale of the initial weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum InitScale {
    /// Uniform in ±(this number).
    Uniform(f32),
    /// `"fan_in"`: uniform in ±1/√inputs of the layer.
    Named(InitName),
}

/// Named scales of the initial weights.
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

/// Learned neuron sensitivities β of a perceptron: activation = f(β · net) (Sperduti 1992; Wiering & Kröse, §4.1.1).
///
/// Written as a number (hidden layers; the output layer starts at 1), as a list with one number per layer,
/// output last, or as `{ initial = …, rate = … }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Initial value of the hidden layers, or of each layer, output last.
    pub initial: OneOrEach<f32>,
    /// Factor on the run's learning rate: one for all layers or one per layer, output last.
    pub rate: OneOrEach<f32>,
}

/// One value for all layers, or one per layer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrEach<T> {
    /// The same value for all layers.
    One(T),
    /// One value per layer, in order.
    Each(Vec<T>),
}

/// The number of experts, or the experts themselves.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Experts {
    /// A number of experts like `expert`.
    Count(usize),
    /// The architecture of each expert.
    List(Vec<Architecture>),
}

fn one() -> f32 {
    1.0
}

fn gamma() -> f32 {
    0.5
}

/// The default N of a setting, for serde.
fn usize_of<const N: usize>() -> usize {
    N
}

/// As [`usize_of`].
fn u64_of<const N: u64>() -> u64 {
    N
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn yes() -> bool {
    true
}

fn tanh() -> OneOrEach<Activation> {
    OneOrEach::One(Activation::Tanh)
}

/// Visitor methods that accept any number. Serde's untagged enums would only report "did not match any variant".
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
            fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(OneOrEach::Each)
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
            fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(OneOrEach::Each)
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
            fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Experts::List)
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
                let named = InitName::deserialize(de::value::StrDeserializer::<E>::new(v));
                named.map(InitScale::Named).map_err(|_| E::invalid_value(de::Unexpected::Str(v), &self))
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
        let mut each = |description: &str| {
            let mut schema = OneOrEach::<f32>::json_schema(generator);
            schema.insert("description".into(), description.into());
            schema
        };
        let (initial, rate) = (
            each("Initial value of the hidden layers, or of each layer, output last."),
            each(
                "Factor on the run's learning rate: one for all layers or one per layer, output last. Default: 0.2.",
            ),
        );
        schemars::json_schema!({
            "description": "Initial values: a number (hidden layers; the output layer starts at 1), a list with one \
                            number per layer, output last, or a table that also sets the learning-rate factor.",
            "anyOf": [
                { "type": "number" },
                { "type": "array", "items": { "type": "number" } },
                {
                    "type": "object",
                    "properties": { "initial": initial, "rate": rate },
                    "required": ["initial"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

/// Sharpness of the clusters of a linear gate under a threshold by default, until saved configs had format 4.
const CLUSTERS_BEFORE: f32 = 2.0;
/// Format of saved configs from which on gates begin as equal clusters by default.
const GATES_FORMAT: u32 = 4;
/// Variance of an HME below which experts are mostly lost.
const LEAST_VARIANCE: f32 = 1e-3;
/// Default factor on the learning rate of sensitivities.
pub const SENSITIVITY_RATE: f32 = 0.2;
/// Lower bound of sensitivities.
pub const SENSITIVITY_MIN: f32 = 1e-3;

/// Initial state of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateStart {
    /// With random weights, or as the rule `by` a channel.
    Drawn,
    /// As clusters of this sharpness.
    Clusters(f32),
    /// As clusters of equal size.
    EqualClusters,
}

impl Gate {
    /// Its initial state, if it does not read shared layers.
    pub fn start(&self) -> GateStart {
        match self.clusters {
            Some(0.0) => GateStart::Drawn,
            Some(sharpness) => GateStart::Clusters(sharpness),
            None if self.hidden.is_empty() && self.by.is_none() => GateStart::EqualClusters,
            None => GateStart::Drawn,
        }
    }
}

impl Architecture {
    /// Gives all gates that do not set `clusters` what was the default in saved configs of an earlier format: random weights; from
    /// format 3 on, clusters under a threshold.
    pub fn keep_gates_of(&mut self, format: u32) {
        if format < GATES_FORMAT {
            self.keep_gates(format >= 3, false);
        }
    }

    /// `clusters` says whether gates under a threshold began as clusters, `shares` whether this node reads shared layers, where none
    /// did.
    fn keep_gates(&mut self, clusters: bool, shares: bool) {
        if let Self::Hme(Hme { gate, threshold, .. }) | Self::MetaPi(MetaPi { gate, threshold, .. }) = self
            && gate.start() == GateStart::EqualClusters
        {
            let began = clusters && *threshold > 0.0 && !(shares && gate.inputs.is_none());
            gate.clusters = Some(if began { CLUSTERS_BEFORE } else { 0.0 });
        }
        let shares = shares || matches!(self, Self::Shared(_));
        self.children().into_iter().for_each(|node| node.keep_gates(clusters, shares));
    }

    /// Number of times that learned cells are reassigned, the most of all nodes.
    pub fn reassigns(&self, channels: &[Channel]) -> u64 {
        let own = if let Self::Cells(cells) = self { cells.reassign } else { 0 };
        let below = self.below(channels).into_iter().map(|(_, node)| node.reassigns(channels));
        below.max().unwrap_or(0).max(own)
    }

    /// How it computes and learns at the top level.
    pub fn form(&self) -> Form<'_> {
        match self {
            Self::Lookup(lookup) => Form::Table(lookup),
            Self::Blind(blind) => Form::Blind(blind),
            Self::Mlp(_)
            | Self::Hme(_)
            | Self::MetaPi(_)
            | Self::Symbolic(_)
            | Self::Cells(_)
            | Self::Shared(_)
            | Self::Modules(_)
            | Self::Residual(_)
            | Self::Frozen(_) => Form::Network,
        }
    }

    /// Whether it grows while it learns, and so has no program: a table, or the blind learner.
    pub fn grows(&self) -> bool {
        !matches!(self.form(), Form::Network)
    }

    /// Whether it maximises a likelihood, rather than minimising the error of its output.
    pub fn learns_by_likelihood(&self) -> bool {
        match self {
            Self::Hme(_) => true,
            Self::Mlp(_)
            | Self::MetaPi(_)
            | Self::Symbolic(_)
            | Self::Cells(_)
            | Self::Shared(_)
            | Self::Modules(_)
            | Self::Lookup(_)
            | Self::Blind(_)
            | Self::Residual(_)
            | Self::Frozen(_) => false,
        }
    }

    /// Settings that work but hardly ever learn well, each as a sentence with its path in the config.
    pub fn cautions(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.caution(&format!("architecture.{}", self.kind()), false, &mut found);
        found
    }

    /// `shares` says whether it reads shared layers.
    fn caution(&self, path: &str, shares: bool, found: &mut Vec<String>) {
        let below = |node: &Self, key: String, found: &mut Vec<String>| {
            let shares = shares || matches!(self, Self::Shared(_));
            node.caution(&format!("{path}.{key}.{}", node.kind()), shares, found);
        };
        let list = |nodes: &[Self], found: &mut Vec<String>| {
            nodes.iter().enumerate().for_each(|(i, node)| below(node, format!("experts.{i}"), found));
        };
        match self {
            Self::Hme(Hme { experts, expert, gate, threshold, .. })
            | Self::MetaPi(MetaPi { experts, expert, gate, threshold }) => {
                let n = match experts {
                    Experts::Count(n) => *n,
                    Experts::List(nodes) => nodes.len(),
                };
                // On shared layers there are no clusters.
                let reads_shared = shares && gate.inputs.is_none();
                let random = gate.by.is_none() && (reads_shared || gate.start() == GateStart::Drawn);
                if random && n > 1 {
                    // Each of these alone keeps the weights random.
                    let remedies = [
                        (reads_shared, "name its `inputs`"),
                        (!gate.hidden.is_empty(), "leave out `hidden`"),
                        (gate.clusters == Some(0.0), "leave out `clusters = 0`"),
                    ];
                    let remedies = remedies.iter().filter(|(applies, _)| *applies).map(|(_, remedy)| *remedy);
                    let remedy = remedies.collect::<Vec<_>>().join(", ");
                    let lone = *threshold >= 1.0 / n as f32;
                    found.push(match lone {
                        true => format!(
                            "{path}.threshold: {threshold} is at least 1/{n}, so with a random gate mostly one expert runs \
                             and the others never learn: let the gate begin as clusters ({remedy}), or lower the threshold"
                        ),
                        false => format!(
                            "{path}.gate: begins with random weights, so mostly one or two of the {n} experts take all \
                             positions: let it begin as clusters ({remedy})"
                        ),
                    });
                }
                if let Self::Hme(Hme { variance, .. }) = self
                    && n > 1
                    && *variance < LEAST_VARIANCE
                {
                    found.push(format!(
                        "{path}.variance: {variance} is so small that experts are lost: write {LEAST_VARIANCE} or more"
                    ));
                }
                match (experts, expert) {
                    (Experts::List(nodes), _) => list(nodes, found),
                    (_, Some(expert)) => below(expert, "expert".into(), found),
                    (_, None) => {}
                }
            }
            Self::Symbolic(symbolic) => {
                list(symbolic.experts.as_deref().unwrap_or(&[]), found);
                symbolic.expert.iter().for_each(|expert| below(expert, "expert".into(), found));
            }
            Self::Cells(cells) => below(&cells.expert, "expert".into(), found),
            Self::Residual(residual) => below(&residual.net, "net".into(), found),
            Self::Shared(shared) => below(&shared.top, "top".into(), found),
            Self::Mlp(_) | Self::Modules(_) | Self::Lookup(_) | Self::Blind(_) | Self::Frozen(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn architecture(text: &str) -> Architecture {
        serde_json::from_str(text).expect("a valid architecture")
    }

    /// `clusters` of the outer gate and of the gate of its first expert, in configs saved in a format.
    fn clusters_in(format: u32, text: &str) -> Vec<Option<f32>> {
        let mut node = architecture(text);
        node.keep_gates_of(format);
        let mut found = Vec::new();
        let mut next = Some(&node);
        while let Some(node) = next {
            next = match node {
                Architecture::Hme(Hme { gate, expert, .. })
                | Architecture::MetaPi(MetaPi { gate, expert, .. }) => {
                    found.push(gate.clusters);
                    expert.as_deref()
                }
                Architecture::Shared(shared) => Some(&shared.top),
                _ => None,
            };
        }
        found
    }

    #[test]
    fn gates_of_saved_configs_stay_as_they_were() {
        let expert = r#""expert": { "mlp": { "hidden": [2] } }"#;
        let inner = format!(r#"{{ "hme": {{ "experts": 2, {expert} }} }}"#);
        let nested = format!(r#"{{ "meta_pi": {{ "experts": 2, "threshold": 0.3, "expert": {inner} }} }}"#);
        for (format, expected) in
            [(2, [Some(0.0), Some(0.0)]), (3, [Some(2.0), Some(0.0)]), (4, [None, None])]
        {
            assert_eq!(clusters_in(format, &nested), expected, "format {format}");
        }
        let shared = format!(r#"{{ "shared": {{ "hidden": [3], "top": {nested} }} }}"#);
        assert_eq!(clusters_in(3, &shared), [Some(0.0), Some(0.0)]);
        let told = format!(r#"{{ "hme": {{ "experts": 2, {expert}, "gate": {{ "clusters": 5.0 }} }} }}"#);
        assert_eq!(clusters_in(1, &told), [Some(5.0)]);
    }

    #[test]
    fn mixtures_that_will_not_live_are_warned_of() {
        let cautions = |settings: &str| {
            let text = format!(
                r#"{{ "hme": {{ "experts": 4, "expert": {{ "mlp": {{ "hidden": [2] }} }} {settings} }} }}"#
            );
            architecture(&text).cautions()
        };
        assert_eq!(cautions(""), Vec::<String>::new());
        for (settings, words) in [
            (
                r#", "gate": { "clusters": 0 }"#,
                ["architecture.hme.gate: begins with random", "leave out `clusters = 0`"],
            ),
            (
                r#", "gate": { "hidden": [3] }"#,
                ["architecture.hme.gate: begins with random", "leave out `hidden`"],
            ),
            (
                r#", "gate": { "clusters": 0 }, "threshold": 0.3"#,
                ["architecture.hme.threshold: 0.3", "at least 1/4"],
            ),
            (r#", "variance": 0.0001"#, ["architecture.hme.variance: 0.0001", "write 0.001"]),
        ] {
            let found = cautions(settings);
            assert!(found.len() == 1 && words.iter().all(|word| found[0].contains(word)), "{found:?}");
        }
        assert!(cautions(r#", "gate": { "by": "phase" }"#).is_empty());
        // On shared layers too, the words name all that has to change.
        for (gate, remedy) in [
            ("{}", "(name its `inputs`)"),
            (r#"{ "hidden": [3] }"#, "(name its `inputs`, leave out `hidden`)"),
            (
                r#"{ "hidden": [3], "clusters": 0 }"#,
                "(name its `inputs`, leave out `hidden`, leave out `clusters = 0`)",
            ),
            (r#"{ "inputs": ["x"], "hidden": [3] }"#, "(leave out `hidden`)"),
        ] {
            let hme = format!(
                r#"{{ "hme": {{ "experts": 4, "expert": {{ "mlp": {{ "hidden": [2] }} }}, "gate": {gate} }} }}"#
            );
            let found =
                architecture(&format!(r#"{{ "shared": {{ "hidden": [3], "top": {hme} }} }}"#)).cautions();
            assert!(found.len() == 1 && found[0].contains(remedy), "{found:?}");
        }
    }
}
