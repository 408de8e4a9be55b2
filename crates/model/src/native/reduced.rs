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
    /// The chain of a plan; or one for each branch of its route, if it has one.
    Int8(Vec<Int8Steps>),
}

/// A chain of layers in place of the first `steps` of a plan or of a branch, which computes the value `out`.
#[derive(Clone, Debug)]
pub(crate) struct Int8Steps {
    pub(crate) layers: Int8Layers,
    pub(crate) steps: usize,
    pub(crate) out: ValueId,
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

    /// All layers in int8, packed for the instruction set `isa`. The plan must be a chain of these layers, or a route whose branches
    /// are such chains.
    pub(crate) fn int8(plan: &Plan, chains: Vec<Int8Chain>, isa: Int8Isa) -> Self {
        let of = |(chain, steps): (Int8Chain, &[Step])| {
            let last = steps.iter().enumerate().rev().find_map(|(at, step)| match step {
                Step::Dense(dense) => Some((at + 1, dense.out)),
                _ => None,
            });
            let (steps, out) = last.expect("a chain has layers");
            Int8Steps { layers: Int8Layers::new(Arc::new(chain), isa), steps, out }
        };
        let blocks = match plan.steps.first() {
            Some(Step::Route(route)) => route.branches.iter().map(|branch| &branch.steps[..]).collect(),
            _ => vec![&plan.steps[..]],
        };
        Self::Int8(chains.into_iter().zip(blocks).map(of).collect())
    }

    /// The same layers with buffers for another thread.
    pub(crate) fn copied(&self) -> Self {
        match self {
            Self::Bf16(layers) => Self::Bf16(layers.copied()),
            Self::Int8(chains) => Self::Int8(chains.clone()),
        }
    }
}
