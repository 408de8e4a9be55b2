//! Kernels of optimiser steps and traces, on spans of parameters padded to whole chunks.

use super::BesideExt;
use super::{chunks, chunks_mut};
use crate::native::simd::{Chunk, LANES, Simd};

/// Settings of one optimiser step on one span of parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepRule {
    Sgd {
        rate: f32,
        decay: f32,
    },
    Momentum {
        rate: f32,
        decay: f32,
        momentum: f32,
    },
    /// `rate` and `epsilon` include the bias corrections.
    Adam {
        rate: f32,
        decay: f32,
        beta1: f32,
        beta2: f32,
        epsilon: f32,
    },
}

impl StepRule {
    /// The share of the parameters that decays in this step.
    pub(crate) fn decay(&self) -> f32 {
        match *self {
            Self::Sgd { rate, decay } | Self::Momentum { rate, decay, .. } => rate * decay,
            Self::Adam { decay, .. } => decay,
        }
    }

    /// The same rule without weight decay.
    pub(crate) fn without_decay(mut self) -> Self {
        let (Self::Sgd { decay, .. } | Self::Momentum { decay, .. } | Self::Adam { decay, .. }) = &mut self;
        *decay = 0.0;
        self
    }
}

dispatched! {
    /// One optimiser step on a span. Sets the gradient to 0. `first` and `second` are the moments of the rule; empty if
    /// it has none.
    fn step(
        rule: StepRule, params: &mut [f32], grad: &mut [f32], first: &mut [f32], second: &mut [f32],
    ) = step_body;
}

dispatched! {
    /// a = scale · a + b.
    fn scale_add(scale: f32, a: &mut [f32], b: &[f32]) = scale_add_body;
}

dispatched! {
    /// a = a + scale · b.
    fn add_scaled(scale: f32, a: &mut [f32], b: &[f32]) = add_scaled_body;
}

#[inline(always)]
fn step_body<S: Simd>(
    s: S,
    rule: StepRule,
    params: &mut [f32],
    grad: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let (params, grad) = (chunks_whole(params), chunks_whole(grad));
    let (first, second) = (chunks_whole(first), chunks_whole(second));
    // Of the same length, so that the loops need one check a step.
    let n = params.len();
    let grad = &mut grad[..n];
    let zero = s.splat(0.0);
    match rule {
        StepRule::Sgd { rate, decay } => {
            let (rate, keep) = (s.splat(-rate), s.splat(1.0 - rate * decay));
            for i in 0..n {
                let (p, g) = (&mut params[i], &mut grad[i]);
                s.store(p, s.fma(rate, s.load(g), s.mul(keep, s.load(p))));
                s.store(g, zero);
            }
        }
        StepRule::Momentum { rate, decay, momentum } => {
            let (rate, keep, momentum) = (s.splat(-rate), s.splat(1.0 - rate * decay), s.splat(momentum));
            let first = &mut first[..n];
            for i in 0..n {
                let (p, g, m) = (&mut params[i], &mut grad[i], &mut first[i]);
                let moved = s.flush(s.fma(momentum, s.load(m), s.load(g)));
                s.store(m, moved);
                s.store(p, s.fma(rate, moved, s.mul(keep, s.load(p))));
                s.store(g, zero);
            }
        }
        StepRule::Adam { rate, decay, beta1, beta2, epsilon } => {
            let (rate, keep, epsilon) = (s.splat(-rate), s.splat(1.0 - decay), s.splat(epsilon));
            let (b1, c1) = (s.splat(beta1), s.splat(1.0 - beta1));
            let (b2, c2) = (s.splat(beta2), s.splat(1.0 - beta2));
            let decays = decay != 0.0;
            let (first, second) = (&mut first[..n], &mut second[..n]);
            for i in 0..n {
                let (p, g, m, v) = (&mut params[i], &mut grad[i], &mut first[i], &mut second[i]);
                let gradient = s.load(g);
                let mean = s.flush(s.fma(b1, s.load(m), s.mul(c1, gradient)));
                let square = s.flush(s.fma(b2, s.load(v), s.mul(c2, s.mul(gradient, gradient))));
                s.store(m, mean);
                s.store(v, square);
                let step = s.div_near(mean, s.add(s.sqrt(square), epsilon));
                let before = s.load(p);
                s.store(p, s.fma(rate, step, if decays { s.mul(keep, before) } else { before }));
                s.store(g, zero);
            }
        }
    }
}

#[inline(always)]
fn scale_add_body<S: Simd>(s: S, scale: f32, a: &mut [f32], b: &[f32]) {
    let scale = s.splat(scale);
    for (a, b) in chunks_whole(a).iter_mut().beside(chunks(b)) {
        s.store(a, s.flush(s.fma(scale, s.load(a), s.load(b))));
    }
}

#[inline(always)]
fn add_scaled_body<S: Simd>(s: S, scale: f32, a: &mut [f32], b: &[f32]) {
    let scale = s.splat(scale);
    for (a, b) in chunks_whole(a).iter_mut().beside(chunks(b)) {
        s.store(a, s.fma(scale, s.load(b), s.load(a)));
    }
}

/// The chunks of a padded span of parameters.
#[inline(always)]
fn chunks_whole(data: &mut [f32]) -> &mut [Chunk] {
    assert_eq!(data.len() % LANES, 0);
    chunks_mut(data)
}
