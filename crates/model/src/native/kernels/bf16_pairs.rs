//! Layers in bfloat16 by the instruction that multiplies pairs, of AVX-512 BF16.
//!
//! To each of sixteen sums it adds the product of the odd numbers of a pair, then that of the even ones, each sum rounded as a float
//! (Intel, Software Developer's Manual 2, VDPBF16PS). Pairs hold an even input in the odd place, so that sums have the order, and the
//! bits, of those of floats.

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::Pairs;

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use none::Pairs;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::bf16_floats::{Bf16Buffers, Bf16Weights, by_floats};
    use super::super::dense::{Layer, Matrix, in_blocks, in_tiles, panels, spans};
    use super::super::forward::{biases, finish_span, write};
    use super::super::sparse::is_sparse;
    use super::super::{ZipInlineExt, stride};
    use crate::bf16::{Bf16Lane, CacheLine, PER_LANE, to_bf16};
    use crate::native::simd::{Avx512, LANES, Simd};
    use std::arch::x86_64::*;
    use std::mem::transmute;
    use std::ops::Range;

    /// Fewer rows go through the layer one by one, with more sums at a time for each.
    const FEW: usize = 3;

    /// A machine with AVX-512 BF16, and all that [`Avx512`] needs.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Pairs(());

    impl Pairs {
        /// The instruction of this machine, if it has it.
        pub(crate) fn detect() -> Option<Self> {
            let found = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bf16")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("bmi1");
            found.then_some(Self(()))
        }

        /// y = f(β ∘ (x W + b)) for `n` rows.
        pub(crate) fn forward(
            self,
            n: usize,
            layer: Layer<'_>,
            weights: Bf16Weights<'_>,
            x: Matrix<'_>,
            room: &mut Bf16Buffers,
            y: &mut [f32],
        ) {
            // SAFETY: the token proves the instruction sets.
            unsafe { forward(self, n, layer, weights, x, room, y) };
        }

        /// sums + a₁ b₁ + a₀ b₀.
        #[inline(always)]
        fn add_products(self, sums: __m512, a: __m512i, b: __m512i) -> __m512 {
            // SAFETY: the token proves the instruction set, and registers have the same size.
            unsafe {
                let a = transmute::<__m512i, __m512bh>(a);
                _mm512_dpbf16_ps(sums, a, transmute::<__m512i, __m512bh>(b))
            }
        }

        #[inline(always)]
        fn load(self, CacheLine(from): &Bf16Lane) -> __m512i {
            // SAFETY: a line fills a register.
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }

        /// Sixteen times the same pair.
        #[inline(always)]
        fn splat(self, [even, odd]: [u16; 2]) -> __m512i {
            // SAFETY: the token proves the instruction set.
            unsafe { _mm512_set1_epi32((u32::from(odd) << 16 | u32::from(even)) as i32) }
        }

        /// The [nearest](to_bf16) numbers, those of each pair exchanged.
        #[inline(always)]
        fn round(self, from: &[f32; PER_LANE], CacheLine(to): &mut Bf16Lane) {
            // SAFETY: the token proves the instruction sets; all 32 numbers are read and written.
            unsafe {
                let (low, high) = (_mm512_loadu_ps(from.as_ptr()), _mm512_loadu_ps(from[LANES..].as_ptr()));
                let halves = transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low));
                _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_rol_epi32::<16>(halves));
            }
        }
    }

    /// A weight in the order in which [`Pairs::forward`] reads it: the [`panels`] one after the other; in each, lines of two inputs by
    /// sixteen columns. Missing inputs are 0.
    fn packed<S: Simd>(s: S, layer: Layer<'_>) -> Vec<Bf16Lane> {
        let (depth, width) = (layer.inputs.div_ceil(2), stride(layer.outputs) / LANES);
        let mut all = Vec::with_capacity(depth * width);
        for (first, block) in panels(s, width) {
            for (pair, c) in (0..depth).flat_map(|pair| (first..first + block).map(move |c| (pair, c))) {
                let mut line = CacheLine([0; PER_LANE]);
                for (i, to) in line.0.iter_mut().enumerate() {
                    let (input, column) = (2 * pair + 1 - i % 2, c * LANES + i / 2);
                    if input < layer.inputs {
                        *to = to_bf16(layer.weight[input * width * LANES + column]);
                    }
                }
                all.push(line);
            }
        }
        all
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512bf16,avx2,fma,popcnt,bmi1")]
    fn forward(
        pairs: Pairs,
        n: usize,
        layer: Layer<'_>,
        Bf16Weights { packed: weight, panels }: Bf16Weights<'_>,
        x: Matrix<'_>,
        room: &mut Bf16Buffers,
        y: &mut [f32],
    ) {
        type S = Avx512;
        // SAFETY: these are the features of this function.
        let s = unsafe { Avx512::new() };
        // Floats give the same bits.
        if is_sparse(s, n, layer.inputs, x) {
            return by_floats(s, n, layer, panels, x, room, y);
        }
        if weight.is_empty() {
            *weight = packed(s, layer);
        }
        let (lines, width) = (layer.inputs.div_ceil(PER_LANE), stride(layer.outputs) / LANES);
        for rows in spans(0..n) {
            let rounded = &mut room.rows;
            rounded.resize(rounded.len().max(rows.len() * lines), CacheLine([0; PER_LANE]));
            for (r, to) in rows.clone().zip_inline(rounded.chunks_exact_mut(lines)) {
                let (whole, rest) = x.row(r)[..layer.inputs].as_chunks::<PER_LANE>();
                for (from, to) in whole.iter().zip_inline(to.iter_mut()) {
                    pairs.round(from, to);
                }
                if !rest.is_empty() {
                    let mut last = [0.0; PER_LANE];
                    last[..rest.len()].copy_from_slice(rest);
                    pairs.round(&last, &mut to[whole.len()]);
                }
            }
            let y = &mut y[rows.start * width * LANES..rows.end * width * LANES];
            let (rows, product) = (0..rows.len(), Product { pairs, layer, weight, x: rounded });
            if rows.len() < FEW {
                for r in rows.clone() {
                    one_row(s, r, product, y);
                }
            } else {
                in_blocks!(tall, width, |c| columns(s, rows.clone(), c, product, y));
            }
            finish_span(s, rows, layer, &mut [], y);
        }
    }

    /// A product of rounded rows and a weight.
    #[derive(Clone, Copy)]
    struct Product<'a> {
        pairs: Pairs,
        layer: Layer<'a>,
        /// As [`packed`] writes it.
        weight: &'a [Bf16Lane],
        /// Whole lines a row.
        x: &'a [Bf16Lane],
    }

    /// All chunks of one row, those of four panels at a time.
    #[inline(always)]
    fn one_row<S: Simd<V = __m512>>(s: S, r: usize, product: Product<'_>, y: &mut [f32]) {
        let width = stride(product.layer.outputs) / LANES;
        let (mut c, mut left) = (0, width.div_ceil(S::TALL));
        while left > 0 {
            let block = (width - c).div_ceil(left);
            // Only the last blocks are smaller than three chunks.
            let four = left >= 4 && (width - c - 3 * block).div_ceil(left - 3) == block;
            match (block, four) {
                (3, true) => tile::<S, 1, 3, 4>(s, r, c, product, y),
                (3, _) => tile::<S, 1, 3, 1>(s, r, c, product, y),
                (2, _) => tile::<S, 1, 2, 1>(s, r, c, product, y),
                _ => tile::<S, 1, 1, 1>(s, r, c, product, y),
            }
            let panels = if four { 4 } else { 1 };
            (c, left) = (c + panels * block, left - panels);
        }
    }

    /// Chunks `c..c + C` of some rows. As in `per_width!`, a function of its own.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512dq,avx512bf16,avx2,fma,popcnt,bmi1")]
    fn columns<S: Simd<V = __m512>, const C: usize>(
        s: S,
        rows: Range<usize>,
        c: usize,
        product: Product<'_>,
        y: &mut [f32],
    ) {
        in_tiles!(rows, |r| one_panel::<C>(s, r, c, product, y));
    }

    #[inline(always)]
    fn one_panel<S: Simd<V = __m512>, const R: usize, const C: usize>(
        s: S,
        r: usize,
        c: usize,
        product: Product<'_>,
        y: &mut [f32],
    ) {
        tile::<S, R, C, 1>(s, r, c, product, y);
    }

    /// P blocks of C chunks of rows `r..r + R`, from chunk `c` on.
    #[inline(always)]
    fn tile<S: Simd<V = __m512>, const R: usize, const C: usize, const P: usize>(
        s: S,
        r: usize,
        c: usize,
        Product { pairs, layer, weight, x }: Product<'_>,
        y: &mut [f32],
    ) {
        let (depth, lines) = (layer.inputs.div_ceil(2), layer.inputs.div_ceil(PER_LANE));
        let mut panels: [&[[Bf16Lane; C]]; P] = [&[]; P];
        for (p, panel) in panels.iter_mut().enumerate() {
            *panel = weight[(c + p * C) * depth..][..C * depth].as_chunks().0;
        }
        let mut inputs: [&[[u16; 2]]; R] = [&[]; R];
        for (i, inputs) in inputs.iter_mut().enumerate() {
            *inputs = &numbers(&x[(r + i) * lines..][..lines]).as_chunks().0[..depth];
        }
        let mut sums = [[[s.splat(0.0); C]; R]; P];
        for (p, sums) in sums.iter_mut().enumerate() {
            *sums = [biases::<S, C>(s, c + p * C, layer); R];
        }
        for k in 0..depth {
            let mut b = [[pairs.splat([0; 2]); C]; P];
            for p in 0..P {
                for j in 0..C {
                    b[p][j] = pairs.load(&panels[p][k][j]);
                }
            }
            for i in 0..R {
                let a = pairs.splat(inputs[i][k]);
                for p in 0..P {
                    for j in 0..C {
                        sums[p][i][j] = pairs.add_products(sums[p][i][j], a, b[p][j]);
                    }
                }
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            write(s, r, c + p * C, layer, sums, y);
        }
    }

    /// The numbers of some lines.
    #[inline(always)]
    fn numbers(lines: &[Bf16Lane]) -> &[u16] {
        // SAFETY: lines are arrays of numbers without padding.
        unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * PER_LANE) }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod none {
    use super::super::bf16_floats::{Bf16Buffers, Bf16Weights};
    use super::super::dense::{Layer, Matrix};

    /// No machine of this kind.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Pairs {}

    impl Pairs {
        pub(crate) fn detect() -> Option<Self> {
            None
        }

        pub(crate) fn forward(
            self,
            _: usize,
            _: Layer<'_>,
            _: Bf16Weights<'_>,
            _: Matrix<'_>,
            _: &mut Bf16Buffers,
            _: &mut [f32],
        ) {
            match self {}
        }
    }
}
