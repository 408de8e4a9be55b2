//! Kernels of optimiser steps and traces, on spans of parameters padded to whole chunks.

use super::ZipInlineExt;
use super::{chunks, chunks_mut};
use crate::native::simd::{Chunk, LANES, Simd};
use crate::optimiser::{Adam, Counted};

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

/// A step of Adam on the weights of inputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseStep<'a> {
    pub(crate) adam: Adam,
    pub(crate) rate: f32,
    /// Its number, from 1.
    pub(crate) step: u64,
    /// [`Adam::counted`] of 0 steps, 1 step and so on.
    pub(crate) counted: &'a [Counted],
}

impl SparseStep<'_> {
    #[inline(always)]
    fn counted(&self, n: u64) -> Counted {
        self.counted.get(n as usize).copied().unwrap_or_else(|| self.adam.counted(n))
    }
}

/// Momentum moves the weights for some ten steps. The bias corrections of this one stand for all of them.
const MIDDLE: u64 = 5;

dispatched! {
    /// One step of Adam on the weights of some inputs, `[inputs, whole chunks]`. Those of an input whose gradient is 0 keep their
    /// moments, and their values but for their decay, until it has one. `last` is the last step of each input, 0 before the first.
    /// Sets the gradient to 0.
    fn step_inputs(
        sparse: SparseStep<'_>, last: &mut [u64], params: &mut [f32], grad: &mut [f32], first: &mut [f32], second: &mut [f32],
    ) = step_inputs_body;
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
        // Without decay, a product with 1 would take a tenth of the time.
        StepRule::Adam { decay: 0.0, .. } => adam::<S, false>(s, rule, params, grad, first, second),
        StepRule::Adam { .. } => adam::<S, true>(s, rule, params, grad, first, second),
    }
}

/// A step of Adam, whose weights decay if `DECAYS`.
#[inline(always)]
fn adam<S: Simd, const DECAYS: bool>(
    s: S,
    rule: StepRule,
    params: &mut [Chunk],
    grad: &mut [Chunk],
    first: &mut [Chunk],
    second: &mut [Chunk],
) {
    let StepRule::Adam { rate, decay, beta1, beta2, epsilon } = rule else { return };
    let (rate, keep, epsilon) = (s.splat(-rate), s.splat(1.0 - decay), s.splat(epsilon));
    let (b1, c1) = (s.splat(beta1), s.splat(1.0 - beta1));
    let (b2, c2) = (s.splat(beta2), s.splat(1.0 - beta2));
    let n = params.len();
    let (grad, first, second) = (&mut grad[..n], &mut first[..n], &mut second[..n]);
    for i in 0..n {
        let (p, g, m, v) = (&mut params[i], &mut grad[i], &mut first[i], &mut second[i]);
        let gradient = s.load(g);
        let mean = s.flush(s.fma(b1, s.load(m), s.mul(c1, gradient)));
        let square = s.flush(s.fma(b2, s.load(v), s.mul(c2, s.mul(gradient, gradient))));
        s.store(m, mean);
        s.store(v, square);
        let step = s.div_near(mean, s.add(s.sqrt(square), epsilon));
        let before = s.load(p);
        s.store(p, s.fma(rate, step, if DECAYS { s.mul(keep, before) } else { before }));
        s.store(g, s.splat(0.0));
    }
}

#[inline(always)]
fn step_inputs_body<S: Simd>(
    s: S,
    sparse: SparseStep<'_>,
    last: &mut [u64],
    params: &mut [f32],
    grad: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let SparseStep { adam, rate, step, .. } = sparse;
    let width = params.len() / last.len().max(1);
    let (rule, keep) = (adam.rule(rate, step), 1.0 - rate * adam.decay);
    let rows = params.chunks_exact_mut(width).zip_inline(grad.chunks_exact_mut(width));
    let moments = first.chunks_exact_mut(width).zip_inline(second.chunks_exact_mut(width));
    for ((last, (params, grad)), (first, second)) in last.iter_mut().zip_inline(rows).zip_inline(moments) {
        if is_zero(s, grad) {
            if keep < 1.0 {
                params.iter_mut().for_each(|p| *p *= keep);
            }
            continue;
        }
        let paused = step.saturating_sub(*last).saturating_sub(1);
        // Before the first step there is no momentum.
        if paused > 0 && *last > 0 {
            let middle = sparse.counted(*last + paused.min(MIDDLE));
            make_up(
                s,
                (rate * middle.rate, adam.epsilon * middle.epsilon),
                sparse.counted(paused),
                params,
                first,
                second,
            );
        }
        *last = step;
        step_body(s, rule, params, grad, first, second);
    }
}

/// The effect of several steps of Adam without a gradient.
#[inline(always)]
fn make_up<S: Simd>(
    s: S,
    (rate, epsilon): (f32, f32),
    Counted { decay1, decay2, moves, .. }: Counted,
    params: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let (rate, epsilon) = (s.splat(-rate * moves), s.splat(epsilon));
    let (decay1, decay2) = (s.splat(decay1), s.splat(decay2));
    let moments = chunks_whole(first).iter_mut().zip_inline(chunks_whole(second));
    for (p, (m, v)) in chunks_whole(params).iter_mut().zip_inline(moments) {
        let (mean, square) = (s.load(m), s.load(v));
        let step = s.div_near(mean, s.add(s.sqrt(square), epsilon));
        s.store(p, s.fma(rate, step, s.load(p)));
        s.store(m, s.flush(s.mul(decay1, mean)));
        s.store(v, s.flush(s.mul(decay2, square)));
    }
}

/// Whether no number of some chunks differs from 0. NaN does.
#[inline(always)]
fn is_zero<S: Simd>(s: S, span: &[f32]) -> bool {
    for chunk in chunks(span) {
        if s.differ(s.load(chunk), s.splat(0.0)) != 0 {
            return false;
        }
    }
    true
}

#[inline(always)]
fn scale_add_body<S: Simd>(s: S, scale: f32, a: &mut [f32], b: &[f32]) {
    let scale = s.splat(scale);
    for (a, b) in chunks_whole(a).iter_mut().zip_inline(chunks(b)) {
        s.store(a, s.flush(s.fma(scale, s.load(a), s.load(b))));
    }
}

#[inline(always)]
fn add_scaled_body<S: Simd>(s: S, scale: f32, a: &mut [f32], b: &[f32]) {
    let scale = s.splat(scale);
    for (a, b) in chunks_whole(a).iter_mut().zip_inline(chunks(b)) {
        s.store(a, s.fma(scale, s.load(b), s.load(a)));
    }
}

/// The chunks of a padded span of parameters.
#[inline(always)]
fn chunks_whole(data: &mut [f32]) -> &mut [Chunk] {
    assert_eq!(data.len() % LANES, 0);
    chunks_mut(data)
}
