//! The op program: the intermediate form that every engine runs.
//!
//! An [`Architecture`](crate::Architecture) is lowered once to a [`Program`]: the channels it reads, its parameters,
//! and a block of ops in order of execution. A value is a matrix `[rows, width]`. Engines do not know architectures:
//! a new architecture needs a lowering, a new op needs one match arm in each engine.
//!
//! The program computes its output y and the log density L of a target d given the row, up to a constant. The loss is
//! −L. For one Gaussian with σ² = 1 the loss is the squared error ½(d − y)². For a hierarchical mixture of experts it
//! is −ln Σᵢ sᵢ exp(−(d − yᵢ)² / 2σ²) (Wiering & Kröse, §2.1), with [`Op::LogMix`] at every mixture node. With the head
//! [`Outcomes`](Head::Outcomes) the output of every node is a distribution p over classes, d is a target distribution t,
//! and [`Op::Categorical`] gives Σₖ tₖ ln pₖ in place of the Gaussian: the loss is the cross entropy. The adjoints of `LogMix` are the posteriors hᵢ of the experts, so nested mixtures need no separate backward pass.
//! [`Hme`](crate::architecture::Hme) lists all equations.

use crate::head::{Head, Tilt};
use adept_rows::{Channel, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::head::PRIOR_LIMIT;

/// Index of a value in [`Program::widths`].
pub type ValueId = usize;
/// Index of a parameter in [`Program::params`].
pub type ParamId = usize;

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

impl Activation {
    /// The interval of its values; ends are infinite if nothing bounds them.
    pub fn range(self) -> (f32, f32) {
        match self {
            Self::Tanh => (-1.0, 1.0),
            Self::Sigmoid => (0.0, 1.0),
            Self::Relu => (0.0, f32::INFINITY),
            // The least value of x / (1 + e⁻ˣ) is −0.278.
            Self::Silu => (-0.279, f32::INFINITY),
            Self::Linear => (f32::NEG_INFINITY, f32::INFINITY),
        }
    }

    /// f(x).
    pub(crate) fn of(self, x: f32) -> f32 {
        match self {
            Self::Tanh => x.tanh(),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Relu => x.max(0.0),
            Self::Silu => x / (1.0 + (-x).exp()),
            Self::Linear => x,
        }
    }

    /// Whether its values lie in a bounded interval.
    pub fn is_bounded(self) -> bool {
        let (low, high) = self.range();
        low.is_finite() && high.is_finite()
    }
}

/// Distribution of the initial values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Init {
    /// The same value for every entry.
    Constant(f32),
    /// Uniform in ±a.
    Uniform(f32),
    /// Uniform among the whole numbers 0..n.
    Below(u32),
    /// For a square table: this value in entry (k, k), 0 elsewhere.
    Diagonal(f32),
}

/// A parameter tensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Param {
    /// Unique dotted name, such as `expert.0.layer.1.weight`.
    pub name: String,
    /// `[inputs, outputs]` of a weight, `[n]` of a bias or of sensitivities, `[entries, width]` of a table.
    pub shape: Vec<usize>,
    /// Initial values.
    pub init: Init,
    /// Index in [`Program::groups`].
    pub group: usize,
    /// Lower bound that updates must not cross.
    pub min: Option<f32>,
    /// Whether it is constant while the network learns, such as the table of a [`CellGate`].
    pub fixed: bool,
    /// Position of the first entry in the flat parameter vector.
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

/// A group of parameters with a common learning-rate factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Display name: `weights`, `gate`, `sensitivity`, …
    pub name: String,
    /// Factor on the run's learning rate.
    pub rate: f32,
}

/// Rule of an [`Op::Route`] that selects the branches for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Selector {
    /// Every branch.
    All,
    /// Branch i if column i of this value (log weights) is above −∞.
    Mask(ValueId),
    /// The branch whose number is in this index channel.
    Index(usize),
    /// The branch that a table over two index channels names.
    Cells(CellGate),
}

/// A gate that is a table over two index channels: branch T\[c₀\[i₀\]\]\[c₁\[i₁\]\]. All entries are whole
/// numbers below the number of classes or branches; [`Program`] refuses other ones in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CellGate {
    /// The index channels i₀, i₁.
    pub channels: [usize; 2],
    /// c₀, c₁: the class of each value of a channel, `[values]`.
    pub classes: [ParamId; 2],
    /// T, `[classes of c₀, classes of c₁]`.
    pub table: ParamId,
}

/// One operation. Shapes are `[rows, width]`; `log` values are natural logarithms.
///
/// Scale, Activation and Threshold directly follow the operation whose value they read: engines fuse them. Each of
/// several readers of a value reads it through a [`Op::Concat`] of its own, which adds up their gradients.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "op")]
pub enum Op {
    /// out = these values, concatenated.
    Concat {
        /// `[rows, widths]`, in order.
        xs: Vec<ValueId>,
        /// `[rows, Σ widths]`.
        out: ValueId,
    },
    /// out = these dense, bits or value channels, concatenated.
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
    /// out = β ∘ x: neuron sensitivities of extended back-propagation (Sperduti 1992; Wiering & Kröse, §4.1.1).
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
    /// out = ln gᵢ = aᵢ − ln Σⱼ exp(aⱼ): the log gates.
    LogSoftmax {
        /// Net inputs aᵢ of the gates.
        x: ValueId,
        /// ln gᵢ.
        out: ValueId,
    },
    /// Selection threshold (Wiering & Kröse, §2.3): sᵢ = gᵢ if gᵢ > ST, otherwise 0; then sᵢ ← sᵢ / Σⱼ sⱼ. If no gate
    /// passes, s = 1 for the largest gate, the first of equals. Gradients treat the mask as constant.
    Threshold {
        /// ln gᵢ.
        x: ValueId,
        /// ST, in [0, 1).
        threshold: f32,
        /// ln sᵢ, −∞ where the expert is not selected.
        out: ValueId,
    },
    /// out = y = Σᵢ sᵢ yᵢ: a propagate node (Wiering & Kröse, §2.1).
    Blend {
        /// ln sᵢ, `[rows, experts]`.
        log_weights: ValueId,
        /// Outputs yᵢ of the experts, concatenated, `[rows, experts · width]`.
        y: ValueId,
        /// `[rows, width]`.
        out: ValueId,
    },
    /// out = ℓ = −|d − y|² / 2σ²: the log density of the target d, up to a constant. ∂ℓ/∂y = (d − y) / σ².
    Density {
        /// Output y of an expert.
        y: ValueId,
        /// σ².
        variance: f32,
        /// `[rows, 1]`.
        out: ValueId,
    },
    /// out = L = ln Σᵢ sᵢ exp(ℓᵢ): the log likelihood ln P(d|x) of a mixture (Wiering & Kröse, §2.1).
    ///
    /// ∂L/∂ln sᵢ = ∂L/∂ℓᵢ = hᵢ = sᵢ exp(ℓᵢ) / Σⱼ sⱼ exp(ℓⱼ): the posterior of expert i.
    LogMix {
        /// ln sᵢ, `[rows, experts]`.
        log_weights: ValueId,
        /// ℓᵢ, `[rows, experts]`.
        densities: ValueId,
        /// `[rows, 1]`.
        out: ValueId,
    },
    /// out = pₖ = exp(xₖ) / Σⱼ exp(xⱼ): a distribution over classes of outcomes.
    Softmax {
        /// Logits.
        x: ValueId,
        /// The distribution.
        out: ValueId,
    },
    /// out = ℓ = Σₖ tₖ ln pₖ: the log likelihood of the target distribution t, the negated cross entropy. A probability
    /// below [`LEAST_PROBABILITY`](crate::LEAST_PROBABILITY) counts as that one. ∂ℓ/∂pₖ = tₖ / pₖ.
    Categorical {
        /// The distribution p.
        p: ValueId,
        /// `[rows, 1]`.
        out: ValueId,
    },
    /// out = xₖ + λ(p) uₖ: the logits of a prior value p over classes of outcomes, corrected by x. See [`Tilt`]. The prior is
    /// clamped to ±[`PRIOR_LIMIT`], and constant for gradients. ∂out/∂x = 1.
    PriorLogits {
        /// Number of the value channel that holds p.
        prior: usize,
        /// The correction; none for the prior alone.
        x: Option<ValueId>,
        /// λ as a function of p.
        tilt: Tilt,
        /// The utilities u of the classes.
        utilities: Vec<f32>,
        /// The logits.
        out: ValueId,
    },
    /// out = x of the enclosing block, at the rows of this branch. The first op of a branch, if it is there.
    Outer {
        /// A value of the enclosing block.
        x: ValueId,
        /// The same value here.
        out: ValueId,
    },
    /// Runs each branch on the rows that select it. With [`Selector::Index`], result k is result k of the selected
    /// branch. Otherwise it is the concatenation over all branches, with 0 where a branch did not run.
    Route {
        /// Rule that selects the branches for each row.
        select: Selector,
        /// Subprograms. They read channels, parameters and, by [`Op::Outer`], values of the enclosing block.
        branches: Vec<Block>,
        /// One value for each result of a branch.
        out: Vec<ValueId>,
    },
    /// out = `table[index]`.
    Gather {
        /// `[entries, width]`.
        table: ParamId,
        /// Number of an index channel with the same number of entries.
        channel: usize,
        /// Result.
        out: ValueId,
    },
    /// out = tanh(atanh(p) + x) = (p + t) / (1 + p t) with t = tanh(x). The prior p is clamped to ±[`PRIOR_LIMIT`], the
    /// same for all columns, and constant for gradients. ∂out/∂x = 1 − out².
    Residual {
        /// Number of the value channel that holds p.
        prior: usize,
        /// The correction.
        x: ValueId,
        /// Result, in [−1, 1].
        out: ValueId,
    },
}

/// Ops in order, and their results: the output, then the log density if the block has one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Block {
    /// The ops. Each value is written before it is read.
    pub ops: Vec<Op>,
    /// The result values.
    pub results: Vec<ValueId>,
}

/// A gate to initialise from clusters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Clusters {
    /// Its weights `[inputs, experts]`. The bias is the next parameter.
    pub weight: ParamId,
    /// κ, the factor of the logits: the larger it is, the closer each gate is to 0 or 1. None for equal clusters.
    pub sharpness: Option<f32>,
}

/// The tables of a [`CellGate`] as whole numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellTables {
    /// The class of each value, for both channels.
    pub classes: [Vec<u32>; 2],
    /// The branch of each pair of classes, row by row.
    pub table: Vec<u32>,
    /// Classes of the second channel.
    pub columns: usize,
}

impl CellTables {
    /// The cell of two values, an index of [`table`](Self::table).
    pub fn cell(&self, values: [u64; 2]) -> usize {
        let [a, b] = [0, 1].map(|k| self.classes[k][values[k] as usize] as usize);
        a * self.columns + b
    }
}

/// A lowered architecture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Program {
    /// All channels that the encoder declares.
    pub channels: Vec<Channel>,
    /// Meaning of the output.
    pub head: Head,
    /// Positions of the channels in a row.
    pub layout: Layout,
    /// Parameters, ordered by their offsets in the flat vector.
    pub params: Vec<Param>,
    /// Learning-rate groups.
    pub groups: Vec<Group>,
    /// Width of each value.
    pub widths: Vec<usize>,
    /// The ops. The results are the output `[rows, outputs]` and the log density `[rows, 1]`.
    pub body: Block,
    /// Names of the modules whose estimates the output blends, if the architecture has modules at the top.
    pub modules: Vec<String>,
    /// Gates that are initialised from clusters of rows.
    pub clusters: Vec<Clusters>,
    /// Whether the density is that of a mixture. Its gradient does not follow from the gradient of the output.
    pub mixture_density: bool,
}

impl Program {
    /// Columns of these channels in the dense part of the rows: (first, number); adjacent ones are merged.
    pub(crate) fn columns(&self, channels: &[usize]) -> Vec<(usize, usize)> {
        let mut pieces: Vec<(usize, usize)> = Vec::new();
        for &c in channels {
            let (first, n) = (self.layout.offsets[c], self.channels[c].kind.dense_width());
            match pieces.last_mut() {
                Some((start, len)) if *start + *len == first => *len += n,
                _ => pieces.push((first, n)),
            }
        }
        pieces
    }

    /// Length of the flat parameter vector.
    pub fn parameters(&self) -> usize {
        self.params.iter().map(Param::len).sum()
    }

    /// The tables of a cell gate, from flat parameters.
    pub fn cells(&self, gate: &CellGate, flat: &[f32]) -> CellTables {
        let whole = |id: ParamId| {
            let param = &self.params[id];
            flat[param.offset..][..param.len()].iter().map(|&v| v as u32).collect()
        };
        let columns = self.params[gate.table].shape[1];
        CellTables { classes: gate.classes.map(whole), table: whole(gate.table), columns }
    }

    /// The node of a cell gate with this table, by the prefix of its tensor names; empty at the top.
    pub fn node_of_cells(&self, table: ParamId) -> &str {
        let name = &self.params[table].name;
        name.strip_suffix("gate.table").unwrap_or(name).trim_end_matches('.')
    }

    /// Width of the output.
    pub fn outputs(&self) -> usize {
        self.widths[self.body.results[0]]
    }

    /// The value that holds the output.
    pub fn output(&self) -> ValueId {
        self.body.results[0]
    }

    /// The value that holds the log density of the target.
    pub fn density(&self) -> ValueId {
        self.body.results[1]
    }
}
