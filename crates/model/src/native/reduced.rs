//! Layers in numbers of reduced precision, for evaluation.

use super::int8::{Int8Chain, Int8Layers};
use super::kernels::{Bf16Layers, Bf16Unit, Int8Isa};
use super::plan::{Plan, Step};
use super::simd::Isa;
use crate::program::ValueId;
use std::sync::Arc;

/// The layers of a workspace that are evaluated in a number format of reduced precision.
#[derive(Debug)]
pub(crate) enum Reduced {
    /// Each large layer on its own, with floats between them.
    Bf16(Bf16Layers),
    /// A chain of layers in place of the first `steps` of a plan, which computes the value `out`.
    Int8 { layers: Int8Layers, steps: usize, out: ValueId },
}

impl Reduced {
    /// Large layers in bfloat16. Their weights must be such numbers.
    pub(crate) fn bf16(plan: &Plan, isa: Isa) -> Self {
        let unit = match isa == Isa::detect() {
            true => Bf16Unit::available()[0],
            false => Bf16Unit::Floats,
        };
        Self::Bf16(Bf16Layers::new(unit, plan.widths.len()))
    }

    /// All layers in int8, packed for the instruction set `isa`. The plan must be a chain of these layers.
    pub(crate) fn int8(plan: &Plan, chain: Arc<Int8Chain>, isa: Int8Isa) -> Self {
        let last = plan.steps.iter().enumerate().rev().find_map(|(at, step)| match step {
            Step::Dense(dense) => Some((at + 1, dense.out)),
            _ => None,
        });
        let (steps, out) = last.expect("a chain has layers");
        Self::Int8 { layers: Int8Layers::new(chain, isa), steps, out }
    }

    /// The same layers with buffers for another thread.
    pub(crate) fn copied(&self) -> Self {
        match self {
            Self::Bf16(layers) => Self::Bf16(layers.copied()),
            Self::Int8 { layers, steps, out } => {
                Self::Int8 { layers: layers.clone(), steps: *steps, out: *out }
            }
        }
    }
}
