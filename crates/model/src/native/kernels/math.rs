//! Activations, their derivatives, and exp.

use crate::native::simd::{Chunk, Simd};
use crate::program::Activation;

/// eˣ with a relative error of about 2e-7; x is clamped to [−87, 88]. NaN stays NaN.
#[inline(always)]
pub(super) fn exp<S: Simd>(s: S, x: S::V) -> S::V {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to an integer, kept in the low bits
    let x = s.at_most(s.at_least(x, s.splat(-87.0)), s.splat(88.0));
    let shifted = s.fma(x, s.splat(std::f32::consts::LOG2_E), s.splat(MAGIC));
    let n = s.sub(shifted, s.splat(MAGIC));
    // r = x − n ln 2, with ln 2 in two parts so that the first product is exact.
    let r = s.fma(n, s.splat(-0.693_359_4), x);
    let r = s.fma(n, s.splat(2.121_944_4e-4), r);
    // The Taylor polynomial: |r| ≤ 0.347 leaves 4e-9.
    let mut p = s.splat(1.0 / 5040.0);
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = s.fma(p, r, s.splat(c));
    }
    s.mul(p, s.exp2_of_low_bits(shifted))
}

#[inline(always)]
pub(super) fn sigmoid<S: Simd>(s: S, z: S::V) -> S::V {
    let one = s.splat(1.0);
    s.div_near(one, s.add(one, exp(s, s.sub(s.splat(0.0), z))))
}

/// tanh with an error of 5e-7: x P(x²) / Q(x²), fitted on [−8.2, 8.2] for the least relative error (8e-9 before
/// rounding). P is scaled down by 2⁻²², so that rounding cannot exceed [−1, 1].
#[inline(always)]
fn tanh<S: Simd>(s: S, x: S::V) -> S::V {
    const END: f32 = 8.2;
    const DOWN: f64 = 1.0 - 1.0 / (1 << 22) as f64;
    const P: [f64; 5] = [1.0, 0.134_321_11, 0.003_556_672_5, 2.163_705_2e-5, 1.484_025_5e-8];
    const Q: [f32; 5] = [1.0, 0.467_654_38, 0.026_108_244, 3.386_418_7e-4, 8.370_479e-7];
    let x = s.at_most(s.at_least(x, s.splat(-END)), s.splat(END));
    let u = s.mul(x, x);
    let (mut p, mut q) = (s.splat((P[4] * DOWN) as f32), s.splat(Q[4]));
    for i in (0..4).rev() {
        p = s.fma(p, u, s.splat((P[i] * DOWN) as f32));
        q = s.fma(q, u, s.splat(Q[i]));
    }
    s.div_near(s.mul(x, p), q)
}

#[inline(always)]
pub(super) fn activate<S: Simd>(s: S, f: Activation, z: S::V) -> S::V {
    match f {
        Activation::Tanh => tanh(s, z),
        Activation::Sigmoid => sigmoid(s, z),
        Activation::Relu => s.at_least(z, s.splat(0.0)),
        Activation::Silu => s.mul(z, sigmoid(s, z)),
        Activation::Linear => z,
    }
}

/// Multiplies the adjoint `d` of y by f′, given y and z = β · net.
#[inline(always)]
pub(super) fn derive<S: Simd>(s: S, f: Activation, d: S::V, y: S::V, z: S::V) -> S::V {
    let one = s.splat(1.0);
    match f {
        Activation::Tanh => s.mul(d, s.sub(one, s.mul(y, y))),
        Activation::Sigmoid => s.mul(d, s.mul(y, s.sub(one, y))),
        Activation::Relu => s.where_positive(y, d),
        Activation::Silu => {
            let g = sigmoid(s, z);
            s.mul(d, s.mul(g, s.fma(z, s.sub(one, g), one)))
        }
        Activation::Linear => d,
    }
}

/// Applies the activation to net inputs in one chunk of y.
// A function, because closures cannot be forced to inline, and code that is not inlined misses the instruction set.
#[inline(always)]
pub(super) fn finish<S: Simd>(
    s: S,
    f: Activation,
    beta: Option<S::V>,
    kept: Option<&mut Chunk>,
    y: &mut Chunk,
) {
    let net = s.load(y);
    let Some(beta) = beta else {
        if f == Activation::Silu {
            let g = sigmoid(s, net);
            let a = s.mul(net, g);
            if let Some(kept) = kept {
                // f′ = g + z g (1 − g).
                s.store(kept, s.fma(a, s.sub(s.splat(1.0), g), g));
            }
            s.store(y, a);
        } else {
            s.store(y, activate(s, f, net));
        }
        return;
    };
    if let Some(kept) = kept {
        s.store(kept, net);
    }
    s.store(y, activate(s, f, s.mul(net, beta)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::kernels::ZipInlineExt;
    use crate::native::kernels::chunks;
    use crate::native::simd::{Chunk, Isa, LANES};

    dispatched! {
        /// y = f(x), elementwise.
        fn activate_all(f: Activation, x: &[Chunk], y: &mut [Chunk]) = activate_all_body;
    }

    fn activate_all_body<S: Simd>(s: S, f: Activation, x: &[Chunk], y: &mut [Chunk]) {
        for (x, y) in x.iter().zip_inline(y) {
            s.store(y, activate(s, f, s.load(x)));
        }
    }

    /// Compares every instruction set with f64, over the working range of units and beyond.
    #[test]
    fn activations_are_close_to_exact() {
        use Activation::*;
        let x: Vec<f32> = (-4096..4096).map(|i| i as f32 * 0.02).collect();
        for isa in Isa::available() {
            for f in [Tanh, Sigmoid, Relu, Silu, Linear] {
                let mut y = vec![[0.0; LANES]; x.len() / LANES];
                activate_all(isa, f, chunks(&x), &mut y);
                for (x, y) in x.iter().zip_inline(y.as_flattened()) {
                    let z = f64::from(*x);
                    let exact = match f {
                        Tanh => z.tanh(),
                        Sigmoid => 1.0 / (1.0 + (-z).exp()),
                        Relu => z.max(0.0),
                        Silu => z / (1.0 + (-z).exp()),
                        Linear => z,
                    };
                    let error = (f64::from(*y) - exact).abs();
                    let bounded = f != Tanh || y.abs() <= 1.0;
                    assert!(
                        bounded && error <= 3e-7 * (1.0 + exact.abs()),
                        "{isa:?} {f:?}({x}) = {y}, exactly {exact}"
                    );
                }
            }
        }
    }

    dispatched! {
        /// y = eˣ, elementwise.
        fn exp_all(x: &[Chunk], y: &mut [Chunk]) = exp_all_body;
    }

    fn exp_all_body<S: Simd>(s: S, x: &[Chunk], y: &mut [Chunk]) {
        for (x, y) in x.iter().zip_inline(y) {
            s.store(y, exp(s, s.load(x)));
        }
    }

    #[test]
    fn exp_is_close_to_exact() {
        for isa in Isa::available() {
            let x: Vec<f32> = (-4096..4096).map(|i| i as f32 * 0.02).collect();
            let mut y = vec![[0.0; LANES]; x.len() / LANES];
            exp_all(isa, chunks(&x), &mut y);
            for (x, y) in x.iter().zip_inline(y.as_flattened()) {
                let exact = f64::from(*x).exp();
                assert!(
                    (f64::from(*y) - exact).abs() <= 4e-7 * exact,
                    "{isa:?}: exp({x}) = {y}, exactly {exact}"
                );
            }
        }
    }

    #[test]
    fn nan_survives_every_activation() {
        use Activation::*;
        for isa in Isa::available() {
            for f in [Tanh, Sigmoid, Relu, Silu, Linear] {
                let mut y = [[0.0; LANES]];
                activate_all(isa, f, &[[f32::NAN; LANES]], &mut y);
                assert!(y[0].iter().all(|v| v.is_nan()), "{isa:?} {f:?}");
            }
        }
    }
}
