//! The native engine: forward, backward and optimiser steps on one core. After warm-up it does not allocate.

mod aligned;
mod exec;
mod explain;
mod forward;
pub(crate) mod int8;
pub(crate) mod kernels;
mod plan;
mod reduced;
mod selected;
mod simd;
mod soap;

pub(crate) use aligned::Aligned;
pub(crate) use exec::Derivative;
pub(crate) use forward::Forward;
pub(crate) use kernels::int8::Int8Isa;
pub(crate) use kernels::{
    Columns, Errors, Gated, Head, Unit, gated_values, pair_errors, pair_products, pair_values, suits_bf16,
};
pub(crate) use kernels::{
    SparseStep, StepRule, add_scaled, fma_loop, read_loop, scale_add, step, step_inputs,
};
pub use kernels::{TILE, TileRow};
pub(crate) use plan::Plan;
pub(crate) use reduced::Reduced;
pub use simd::Isa;
pub(crate) use simd::LANES;
pub(crate) use soap::{Bases, WIDEST, affine_layers};
