//! The op program: the one form in which every engine sees a model.
//!
//! An [`Architecture`](crate::Architecture) is lowered once to a [`Program`]: the channels it reads,
//! its parameters, and a block of ops in order of execution. A value is a matrix `[rows, width]`.
//! No engine knows an architecture; a new one needs a lowering, a new op one arm in each engine.
//!
//! The program computes two things: its `output`, and the log density of a target `d` given the row
//! (up to a constant), whose negative is the loss. For one Gaussian of variance 1 that is the squared
//! error ½(d − y)²; for a hierarchical mixture of experts it is −ln Σ gᵢ exp(−(d − yᵢ)²/2σ²)
//! (Wiering & Kröse, section 2.1), with [`Op::LogMix`] at every mixture node. The posterior
//! responsibilities of the experts are the adjoint of `LogMix`, so nested mixtures need no backward
//! pass of their own.

use crate::clusters::Clusters;
use adept_rows::{Channel, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Index of a value in [`Program::widths`].
pub type ValueId = usize;
/// Index of a parameter in [`Program::params`].
pub type ParamId = usize;

/// Largest size of a prior in an [`Op::Residual`], 1 − 10⁻⁶: at 1 no finite z would move it.
pub const PRIOR_LIMIT: f32 = 1.0 - 1e-6;

/// Elementwise activation f.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// tanh(x), in (−1, 1).
    #[default]
    Tanh,
    /// 1 / (1 + e⁻ˣ), in (0, 1).
    Sigmoid,
    /// max(0, x).
    Relu,
    /// x / (1 + e⁻ˣ).
    Silu,
    /// x.
    Linear,
}

/// Distribution from which a parameter is first drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Init {
    /// Every entry the same.
    Constant(f32),
    /// Uniform in ±a.
    Uniform(f32),
}

/// A parameter tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Unique dotted name, such as `expert.0.layer.1.weight`.
    pub name: String,
    /// `[inputs, outputs]` of a weight, `[n]` of a bias or of sensitivities, `[entries, width]` of a table.
    pub shape: Vec<usize>,
    /// First values.
    pub init: Init,
    /// Index in [`Program::groups`].
    pub group: usize,
    /// Lower bound that updates must not cross.
    pub min: Option<f32>,
    /// First entry in the flat parameter vector.
    pub offset: usize,
}

impl Param {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Parameters that learn at a rate of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name shown to people: `weights`, `gate`, `sensitivity`, …
    pub name: String,
    /// Factor on the learning rate of the run.
    pub rate: f32,
}

/// Which branches of a [`Op::Route`] a row runs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// All of them.
    All,
    /// Branch i if column i of this value (log weights) is above −∞.
    Mask(ValueId),
    /// The branch whose number stands in this index channel.
    Index(usize),
}

/// One operation. Shapes are `[rows, width]`; `log` values are natural logarithms.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// out = the dense-like channels of these numbers side by side.
    Input {
        /// Channel numbers.
        channels: Vec<usize>,
        /// Result.
        out: ValueId,
    },
    /// out = x · weight + bias.
    Affine {
        /// `[rows, inputs]`.
        x: ValueId,
        /// `[inputs, outputs]`.
        weight: ParamId,
        /// `[outputs]`.
        bias: ParamId,
        /// `[rows, outputs]`.
        out: ValueId,
    },
    /// out = β ∘ x, the neuron sensitivities of extended back-propagation (Sperduti 1992).
    Scale {
        /// Net inputs.
        x: ValueId,
        /// `[width]`, kept positive.
        beta: ParamId,
        /// Result.
        out: ValueId,
    },
    /// out = f(x).
    Activation {
        /// Argument.
        x: ValueId,
        /// f.
        f: Activation,
        /// Result.
        out: ValueId,
    },
    /// out = x − ln Σ eˣ: the logarithm of the gates gᵢ.
    LogSoftmax {
        /// Net inputs of the gates.
        x: ValueId,
        /// ln gᵢ.
        out: ValueId,
    },
    /// Selection threshold: sᵢ = gᵢ if gᵢ > ST, else 0, divided by Σs; if none passes, the largest gate
    /// alone (the first of equals). The mask is constant for gradients.
    Threshold {
        /// ln gᵢ.
        x: ValueId,
        /// ST, in [0, 1).
        threshold: f32,
        /// ln sᵢ, −∞ where the expert is not selected.
        out: ValueId,
    },
    /// out = Σᵢ sᵢ yᵢ (a propagate node).
    Blend {
        /// ln sᵢ, `[rows, experts]`.
        log_weights: ValueId,
        /// Outputs of the experts side by side, `[rows, experts · width]`.
        y: ValueId,
        /// `[rows, width]`.
        out: ValueId,
    },
    /// out = −|d − y|² / 2σ², the log density of the target d up to a constant.
    Density {
        /// Output of an expert.
        y: ValueId,
        /// σ².
        variance: f32,
        /// `[rows, 1]`.
        out: ValueId,
    },
    /// out = ln Σᵢ sᵢ exp(ℓᵢ), the log density of a mixture.
    LogMix {
        /// ln sᵢ, `[rows, experts]`.
        log_weights: ValueId,
        /// ℓᵢ, `[rows, experts]`.
        densities: ValueId,
        /// `[rows, 1]`.
        out: ValueId,
    },
    /// Runs each branch on the rows that select it. With [`Selector::Index`] result k is result k of the
    /// one branch taken; otherwise the results of all branches side by side, 0 where one was not run.
    Route {
        /// Who runs where.
        select: Selector,
        /// Subprograms. They read channels and parameters, no value of the blocks around them.
        branches: Vec<Block>,
        /// One value for each result of a branch.
        out: Vec<ValueId>,
    },
    /// out = `table[index]`.
    Gather {
        /// `[entries, width]`.
        table: ParamId,
        /// Number of an index channel with as many entries.
        channel: usize,
        /// Result.
        out: ValueId,
    },
    /// out = tanh(atanh(p) + x) = (p + t) / (1 + p t) with t = tanh(x), where p is a prior, brought within
    /// ±[`PRIOR_LIMIT`]: the same for all columns, and constant for gradients. ∂out/∂x = 1 − out².
    Residual {
        /// Number of the value channel that holds p.
        prior: usize,
        /// The correction.
        x: ValueId,
        /// Result, in [−1, 1].
        out: ValueId,
    },
}

/// Ops in order, and the values they are run for: the output, then the log density if it has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Ops; each value is written before it is read.
    pub ops: Vec<Op>,
    /// Result values.
    pub results: Vec<ValueId>,
}

/// A lowered architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Channels of the rows, all of those the encoder declares.
    pub channels: Vec<Channel>,
    /// Where they lie in a row.
    pub layout: Layout,
    /// Parameters, in the order of their offsets in the flat vector.
    pub params: Vec<Param>,
    /// Learning-rate groups.
    pub groups: Vec<Group>,
    /// Width of each value.
    pub widths: Vec<usize>,
    /// The ops; its results are the output `[rows, outputs]` and the log density `[rows, 1]`.
    pub body: Block,
    /// Gates that begin as clusters of rows.
    pub clusters: Vec<Clusters>,
    /// Whether the density is a mixture's, so that the gradient of the output alone does not serve it.
    pub mixture_density: bool,
}

impl Program {
    /// Length of the flat parameter vector.
    pub fn parameters(&self) -> usize {
        self.params.iter().map(Param::len).sum()
    }

    /// Width of the output.
    pub fn outputs(&self) -> usize {
        self.widths[self.body.results[0]]
    }

    /// The value with the output.
    pub fn output(&self) -> ValueId {
        self.body.results[0]
    }

    /// The value with the log density of the target.
    pub fn density(&self) -> ValueId {
        self.body.results[1]
    }
}
