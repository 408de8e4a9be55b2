//! Layers in numbers of reduced precision, for evaluation.

use super::aligned::Aligned;
use super::int8::{Int8Chain, Int8Layers};
use super::kernels::{
    Bf16Buffers, Bf16Unit, Bf16Weights, Int8Isa, Layer, Matrix, bf16_forward, by_differences, suits_bf16,
};
use super::plan::{Plan, Step};
use super::simd::Isa;
use crate::bf16::Bf16Lane;
use crate::program::ValueId;
use std::sync::Arc;

/// The layers of a workspace that are evaluated in a number format of reduced precision.
#[derive(Debug)]
pub(crate) enum Reduced {
    /// Each large layer on its own, with floats between them.
    Bf16(Bf16Layers),
    /// All steps up to the last layer, as one.
    Int8(Int8Steps),
}

impl Reduced {
    /// Layers in bfloat16. The weights of [suitable](suits_bf16) layers must be such numbers.
    pub(crate) fn bf16(plan: &Plan, isa: Isa) -> Self {
        let unit = match isa == Isa::detect() {
            true => Bf16Unit::available()[0],
            false => Bf16Unit::Floats,
        };
        Self::Bf16(Bf16Layers::new(unit, plan.widths.len()))
    }

    /// Layers in int8, packed for the instruction set `isa`. The plan must be a chain of these layers.
    pub(crate) fn int8(plan: &Plan, chain: Arc<Int8Chain>, isa: Int8Isa) -> Self {
        let last = plan.steps.iter().enumerate().rev();
        let mut last = last.filter_map(|(at, step)| match step {
            Step::Dense(dense) => Some((at + 1, dense.out)),
            _ => None,
        });
        let (steps, out) = last.next().expect("a chain has layers");
        Self::Int8(Int8Steps { layers: Int8Layers::new(chain, isa), steps, out })
    }

    /// The same layers with buffers for another thread.
    pub(crate) fn copied(&self) -> Self {
        match self {
            Self::Bf16(layers) => Self::Bf16(Bf16Layers::new(layers.unit, layers.packed.len())),
            Self::Int8(steps) => Self::Int8(steps.clone()),
        }
    }

    /// Forgets copies of learned parameters.
    pub(crate) fn forget(&mut self) {
        if let Self::Bf16(layers) = self {
            layers.packed.iter_mut().for_each(Vec::clear);
        }
    }
}

/// Layers in bfloat16 with the buffers of one thread.
#[derive(Debug)]
pub(crate) struct Bf16Layers {
    unit: Bf16Unit,
    /// Weights of layers as the unit reads them, by the layer's value; empty if the parameters have changed.
    packed: Vec<Vec<Bf16Lane>>,
    buffers: Bf16Buffers,
}

impl Bf16Layers {
    fn new(unit: Bf16Unit, values: usize) -> Self {
        Self { unit, packed: vec![Vec::new(); values], buffers: Bf16Buffers::default() }
    }

    /// Whether a layer for these rows is evaluated in bfloat16: it is large, and its rows are not computed from the rows before.
    pub(crate) fn suits(n: usize, layer: Layer<'_>, x: Matrix<'_>) -> bool {
        suits_bf16(layer.inputs, layer.outputs) && !by_differences(n, layer.inputs, x)
    }

    /// y = f(β ∘ (x W + b)) for `n` rows of the layer with the value `out`.
    pub(crate) fn forward(
        &mut self,
        isa: Isa,
        n: usize,
        (layer, out): (Layer<'_>, ValueId),
        x: Matrix<'_>,
        panels: &mut Aligned,
        y: &mut [f32],
    ) {
        let weights = Bf16Weights { packed: &mut self.packed[out], panels };
        bf16_forward(isa, n, layer, (self.unit, weights), x, &mut self.buffers, y);
    }
}

/// An int8 chain in place of the first steps of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Int8Steps {
    pub(crate) layers: Int8Layers,
    /// Number of steps that it replaces.
    pub(crate) steps: usize,
    /// The value that it computes.
    pub(crate) out: ValueId,
}
