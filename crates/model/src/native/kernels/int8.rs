//! Kernels of int8 layers, with the same bits on every instruction set.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The number of units is padded to a multiple of this, so that all loops run over whole registers.
pub(crate) const UNITS: usize = 64;
/// The number of outputs of a product is padded to a multiple of this.
pub(crate) const OUTPUTS: usize = 16;
/// Number of pieces of a curve.
pub(crate) const PIECES: usize = 64;

/// Instruction sets with versions of these kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Int8Isa {
    /// Plain Rust, for any machine.
    Portable,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with BW, DQ, VL and VNNI.
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Int8Isa {
    /// All instruction sets of this machine, best first.
    pub(crate) fn available() -> Vec<Self> {
        let mut all = vec![];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni")
            {
                all.push(Self::Vnni);
            }
            all.push(Self::Avx2);
        }
        all.push(Self::Portable);
        all
    }
}

/// The line that an activation follows far from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asymptote {
    /// 0: the activation is bounded.
    None,
    /// max(0, z).
    Relu,
    /// z.
    Identity,
}

/// An activation on 16-bit integers: its asymptote, plus 64 linear pieces over −2ᵈ … 2ᵈ.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    asymptote: Asymptote,
    /// Whether all pieces are 0.
    straight: bool,
    /// Values at the starts of the pieces.
    start: [i16; PIECES],
    /// Differences of the values at the two ends of each piece.
    rise: [i16; PIECES],
    /// Binary logarithm of the width of a piece.
    shift: u32,
}

impl Curve {
    /// An asymptote and a curve through these values, with net inputs in units of 2⁻ᵐ and ends at ±2ᵈ.
    ///
    /// `None` unless 5 ≤ m + d ≤ 15.
    pub(crate) fn new(asymptote: Asymptote, values: &[i16; PIECES + 1], m: u32, d: u32) -> Option<Self> {
        let shift = (m + d).checked_sub(PIECES.ilog2() - 1).filter(|_| m + d <= 15)?;
        let start = std::array::from_fn(|i| values[i]);
        let rise = std::array::from_fn(|i| values[i + 1].wrapping_sub(values[i]));
        Some(Self { asymptote, straight: values.iter().all(|v| *v == 0), start, rise, shift })
    }

    /// Lowest net input of the first piece, and highest of the last.
    fn ends(&self) -> (i16, i16) {
        let end = (PIECES as i32 / 2) << self.shift;
        ((-end).max(i32::from(i16::MIN)) as i16, (end - 1) as i16)
    }

    /// The value at z, with the [`ends`](Self::ends).
    #[inline(always)]
    fn at(&self, z: i16, (low, high): (i16, i16)) -> i16 {
        let line = match self.asymptote {
            Asymptote::None => 0,
            Asymptote::Relu => z.max(0),
            Asymptote::Identity => z,
        };
        if self.straight {
            return line;
        }
        let z = i32::from(z.clamp(low, high));
        let piece = ((z >> self.shift) + PIECES as i32 / 2) as usize % PIECES;
        let rest = (z & ((1 << self.shift) - 1)) << (15 - self.shift);
        line.saturating_add(self.start[piece].wrapping_add(mul_rounded(self.rise[piece], rest as i16)))
    }
}

/// a b / 2¹⁵, rounded: the instruction `pmulhrsw`.
#[inline(always)]
pub(crate) fn mul_rounded(a: i16, b: i16) -> i16 {
    ((((i32::from(a) * i32::from(b)) >> 14) + 1) >> 1) as i16
}

/// The nearest integer, limited to ±32767; 0 for NaN.
#[inline(always)]
pub(crate) fn nearest(x: f32) -> i16 {
    let x = x.clamp(-32_767.0, 32_767.0).round_ties_even();
    // SAFETY: within the limits, or NaN, which is replaced.
    unsafe { if x.is_nan() { 0.0 } else { x }.to_int_unchecked::<i32>() as i16 }
}

/// Writes `x[k] · scale[k]` as integers, limited to ±32767.
pub(crate) fn quantise(isa: Int8Isa, x: &[f32], scale: &[f32], to: &mut [i16]) {
    #[inline(always)]
    fn body(x: &[f32], scale: &[f32], to: &mut [i16]) {
        for ((to, x), scale) in to.iter_mut().zip(x).zip(scale) {
            *to = nearest(x * scale);
        }
    }
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
        fn wide(x: &[f32], scale: &[f32], to: &mut [i16]) {
            body(x, scale, to);
        }
        #[target_feature(enable = "avx2")]
        fn avx2(x: &[f32], scale: &[f32], to: &mut [i16]) {
            body(x, scale, to);
        }
        match isa {
            // SAFETY: only detected instruction sets are used.
            Int8Isa::Vnni => return unsafe { wide(x, scale, to) },
            // SAFETY: see above.
            Int8Isa::Avx2 => return unsafe { avx2(x, scale, to) },
            Int8Isa::Portable => {}
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let Int8Isa::Portable = isa;
    body(x, scale, to);
}

/// An input that differs from the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) input: u32,
    pub(crate) from: i16,
    pub(crate) to: i16,
}

/// Replaces `row` with `x[k] · scale[k]` as integers, as [`quantise`] does, and `changes` with the inputs that changed, in order.
pub(crate) fn requantise(isa: Int8Isa, x: &[f32], scale: &[f32], row: &mut [i16], changes: &mut Vec<Change>) {
    changes.clear();
    changes.reserve(row.len());
    #[inline(always)]
    fn rest(first: usize, x: &[f32], scale: &[f32], row: &mut [i16], changes: &mut Vec<Change>) {
        for (k, ((row, x), scale)) in row.iter_mut().zip(x).zip(scale).enumerate() {
            let to = nearest(x * scale);
            if to != *row {
                changes.push(Change { input: (first + k) as u32, from: *row, to });
                *row = to;
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    if isa == Int8Isa::Vnni {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
        fn wide(x: &[f32], scale: &[f32], row: &mut [i16], changes: &mut Vec<Change>) {
            let (low, high) = (_mm512_set1_ps(-32_767.0), _mm512_set1_ps(32_767.0));
            // A word of differences at a time, so that there are few loops whose ends cannot be foreseen.
            let (x_words, scale_words) = (x.as_chunks::<64>().0, scale.as_chunks::<64>().0);
            let (row_words, last) = row.as_chunks_mut::<64>();
            let mut word = |first: usize, x: &[f32], scale: &[f32], row: &mut [i16]| {
                let (mut now, mut differ) = ([0_i16; 64], 0_u64);
                let blocks = x.as_chunks::<16>().0.iter().zip(scale.as_chunks::<16>().0);
                for (b, ((x, scale), row)) in blocks.zip(row.as_chunks::<16>().0).enumerate() {
                    // SAFETY: all are blocks of sixteen numbers, of which there are at most four.
                    unsafe {
                        let scaled =
                            _mm512_mul_ps(_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(scale.as_ptr()));
                        // NaN stays, and becomes 0 below.
                        let limited = _mm512_min_ps(high, _mm512_max_ps(low, scaled));
                        let whole = _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(limited));
                        let before = _mm256_loadu_si256(row.as_ptr().cast());
                        differ |= u64::from(_mm256_cmpneq_epi16_mask(whole, before)) << (16 * b);
                        _mm256_storeu_si256(now[16 * (b % 4)..].as_mut_ptr().cast(), whole);
                    }
                }
                while differ != 0 {
                    let k = differ.trailing_zeros() as usize;
                    let Some(row) = row.get_mut(k) else { break };
                    changes.push(Change { input: (first + k) as u32, from: *row, to: now[k % 64] });
                    *row = now[k % 64];
                    differ &= differ - 1;
                }
            };
            for (w, ((x, scale), row)) in x_words.iter().zip(scale_words).zip(row_words).enumerate() {
                word(64 * w, x, scale, row);
            }
            let done = x_words.len() * 64;
            let (x, scale, blocks) = (&x[done..], &scale[done..], last.len() / 16 * 16);
            word(done, &x[..blocks], &scale[..blocks], &mut last[..blocks]);
            rest(done + blocks, &x[blocks..], &scale[blocks..], &mut last[blocks..], changes);
        }
        // SAFETY: the instruction set was detected.
        return unsafe { wide(x, scale, row, changes) };
    }
    let _ = isa;
    rest(0, x, scale, row, changes);
}

/// Adds `w x′ − w x` of some inputs to the sums of all units, which wrap around. `weight` has a row of `sums.len()` units for each input.
///
/// # Panics
/// If an input has no row of weights.
pub(crate) fn accumulate(isa: Int8Isa, sums: &mut [i16], weight: &[i16], changes: &[Change]) {
    let units = sums.len();
    assert!(units.is_multiple_of(UNITS));
    assert!(changes.iter().all(|change| (change.input as usize + 1) * units <= weight.len()));
    #[cfg(target_arch = "x86_64")]
    {
        // Blocks of units whose sums stay in registers.
        #[target_feature(enable = "avx512f,avx512bw")]
        fn block<const R: usize>(first: usize, sums: &mut [i16], weight: &[i16], changes: &[Change]) {
            let units = sums.len();
            assert!(first + R * 32 <= units);
            let to = sums[first..].as_mut_ptr();
            // SAFETY: the assertions here and above.
            unsafe {
                let mut sum: [__m512i; R] =
                    std::array::from_fn(|i| _mm512_loadu_si512(to.add(i * 32).cast()));
                for change in changes {
                    let from = weight.as_ptr().add(change.input as usize * units + first);
                    let (new, old) = (_mm512_set1_epi16(change.to), _mm512_set1_epi16(change.from));
                    let w: [__m512i; R] =
                        std::array::from_fn(|i| _mm512_loadu_si512(from.add(i * 32).cast()));
                    if change.to != 0 {
                        for i in 0..R {
                            sum[i] = _mm512_add_epi16(sum[i], _mm512_mulhrs_epi16(w[i], new));
                        }
                    }
                    if change.from != 0 {
                        for i in 0..R {
                            sum[i] = _mm512_sub_epi16(sum[i], _mm512_mulhrs_epi16(w[i], old));
                        }
                    }
                }
                for (i, sum) in sum.iter().enumerate() {
                    _mm512_storeu_si512(to.add(i * 32).cast(), *sum);
                }
            }
        }
        #[target_feature(enable = "avx512f,avx512bw")]
        fn wide(sums: &mut [i16], weight: &[i16], changes: &[Change]) {
            let (mut first, units) = (0, sums.len());
            while units - first >= 256 {
                block::<8>(first, sums, weight, changes);
                first += 256;
            }
            while first < units {
                block::<2>(first, sums, weight, changes);
                first += 64;
            }
        }
        #[target_feature(enable = "avx2")]
        fn avx2(sums: &mut [i16], weight: &[i16], changes: &[Change]) {
            let units = sums.len();
            for first in (0..units).step_by(UNITS) {
                let to = sums[first..][..UNITS].as_mut_ptr();
                // SAFETY: the assertions above.
                unsafe {
                    let mut sum: [__m256i; 4] =
                        std::array::from_fn(|i| _mm256_loadu_si256(to.add(i * 16).cast()));
                    for change in changes {
                        let from = weight.as_ptr().add(change.input as usize * units + first);
                        let (new, old) = (_mm256_set1_epi16(change.to), _mm256_set1_epi16(change.from));
                        for (i, sum) in sum.iter_mut().enumerate() {
                            let w = _mm256_loadu_si256(from.add(i * 16).cast());
                            *sum = _mm256_add_epi16(*sum, _mm256_mulhrs_epi16(w, new));
                            *sum = _mm256_sub_epi16(*sum, _mm256_mulhrs_epi16(w, old));
                        }
                    }
                    for (i, sum) in sum.iter().enumerate() {
                        _mm256_storeu_si256(to.add(i * 16).cast(), *sum);
                    }
                }
            }
        }
        match isa {
            // SAFETY: only detected instruction sets are used.
            Int8Isa::Vnni => return unsafe { wide(sums, weight, changes) },
            // SAFETY: see above.
            Int8Isa::Avx2 => return unsafe { avx2(sums, weight, changes) },
            Int8Isa::Portable => {}
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let Int8Isa::Portable = isa;
    for change in changes {
        let weight = &weight[change.input as usize * units..][..units];
        for (sum, &w) in sums.iter_mut().zip(weight) {
            *sum = sum.wrapping_add(mul_rounded(w, change.to)).wrapping_sub(mul_rounded(w, change.from));
        }
    }
}

/// The activations of net inputs, as numbers from 0 to 255: the curve times `gain`, plus `zero`. All slices have the same length.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn activate(isa: Int8Isa, curve: &Curve, z: &[i16], gain: &[i16], zero: &[i16], to: &mut [u8]) {
    let units = to.len();
    assert!(units.is_multiple_of(UNITS) && [z.len(), gain.len(), zero.len()] == [units; 3]);
    let (low, high) = curve.ends();
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw")]
        fn wide(
            curve: &Curve,
            (low, high): (i16, i16),
            z: &[i16],
            gain: &[i16],
            zero: &[i16],
            to: &mut [u8],
        ) {
            // SAFETY: tables are 128 bytes; the slices are multiples of 64 numbers.
            unsafe {
                let load = |from: &[i16], at: usize| _mm512_loadu_si512(from.as_ptr().add(at).cast());
                let (start, rise) = (
                    [load(&curve.start, 0), load(&curve.start, 32)],
                    [load(&curve.rise, 0), load(&curve.rise, 32)],
                );
                let (low, high) = (_mm512_set1_epi16(low), _mm512_set1_epi16(high));
                let half = _mm512_set1_epi16(PIECES as i16 / 2);
                let rest = _mm512_set1_epi16(((1_i32 << curve.shift) - 1) as i16);
                let (right, left) =
                    (_mm_cvtsi32_si128(curve.shift as i32), _mm_cvtsi32_si128(15 - curve.shift as i32));
                let none = _mm512_setzero_si512();
                for at in (0..to.len()).step_by(32) {
                    let net = load(z, at);
                    let line = match curve.asymptote {
                        Asymptote::None => none,
                        Asymptote::Relu => _mm512_max_epi16(net, none),
                        Asymptote::Identity => net,
                    };
                    let y = if curve.straight {
                        line
                    } else {
                        let z = _mm512_min_epi16(_mm512_max_epi16(net, low), high);
                        let piece = _mm512_add_epi16(_mm512_sra_epi16(z, right), half);
                        let rest = _mm512_sll_epi16(_mm512_and_si512(z, rest), left);
                        let rise = _mm512_permutex2var_epi16(rise[0], piece, rise[1]);
                        let start = _mm512_permutex2var_epi16(start[0], piece, start[1]);
                        _mm512_adds_epi16(line, _mm512_add_epi16(start, _mm512_mulhrs_epi16(rise, rest)))
                    };
                    let y = _mm512_adds_epi16(_mm512_mulhrs_epi16(y, load(gain, at)), load(zero, at));
                    let y = _mm512_cvtusepi16_epi8(_mm512_max_epi16(y, none));
                    _mm256_storeu_si256(to.as_mut_ptr().add(at).cast(), y);
                }
            }
        }
        if isa == Int8Isa::Vnni {
            // SAFETY: the instruction set was detected.
            return unsafe { wide(curve, (low, high), z, gain, zero, to) };
        }
    }
    let _ = isa;
    for (((to, z), gain), zero) in to.iter_mut().zip(z).zip(gain).zip(zero) {
        *to = mul_rounded(curve.at(*z, (low, high)), *gain).saturating_add(*zero).clamp(0, 255) as u8;
    }
}

/// Weights of a product, laid out for an instruction set.
#[derive(Clone, Debug)]
pub(crate) enum PackedWeights {
    /// Pairs of inputs, `[inputs / 2, outputs, 2]`.
    Pairs(Vec<i16>),
    /// Fours of inputs, `[inputs / 4, outputs, 4]`.
    #[cfg(target_arch = "x86_64")]
    Fours(Vec<i8>),
}

impl PackedWeights {
    /// Packs `[inputs, outputs]`, padded with zeros to `rows` inputs, a multiple of [`UNITS`], and `width` outputs, a multiple of [`OUTPUTS`].
    pub(crate) fn new(isa: Int8Isa, weight: &[i8], outputs: usize, rows: usize, width: usize) -> Self {
        let entry = |i: usize, o: usize| {
            if o < outputs { weight.get(i * outputs + o).copied().unwrap_or(0) } else { 0 }
        };
        let laid = |by: usize| {
            (0..rows / by)
                .flat_map(move |g| (0..width).flat_map(move |o| (0..by).map(move |k| entry(g * by + k, o))))
        };
        match isa {
            #[cfg(target_arch = "x86_64")]
            Int8Isa::Vnni => Self::Fours(laid(4).collect()),
            _ => Self::Pairs(laid(2).map(i16::from).collect()),
        }
    }
}

/// y = (u W) · scale + bias, where `u` has rows of `inputs` numbers, and y rows of `scale.len()` numbers.
///
/// # Panics
/// If the lengths do not fit.
pub(crate) fn product(
    isa: Int8Isa,
    (u, inputs): (&[u8], usize),
    weight: &PackedWeights,
    (scale, bias): (&[f32], &[f32]),
    y: &mut [f32],
) {
    let width = scale.len();
    let rows = y.len() / width;
    assert!(width.is_multiple_of(OUTPUTS) && inputs.is_multiple_of(UNITS) && bias.len() == width);
    assert!(rows * width == y.len() && u.len() >= rows * inputs);
    match weight {
        #[cfg(target_arch = "x86_64")]
        PackedWeights::Fours(weight) => {
            assert!(isa == Int8Isa::Vnni && weight.len() == inputs * width);
            // SAFETY: the instruction set was detected.
            unsafe { fours((u, inputs), weight, (scale, bias), y) }
        }
        PackedWeights::Pairs(weight) => {
            assert!(weight.len() == inputs * width);
            #[cfg(target_arch = "x86_64")]
            if isa == Int8Isa::Avx2 {
                // SAFETY: the instruction set was detected.
                return unsafe { pairs((u, inputs), weight, (scale, bias), y) };
            }
            let _ = isa;
            let mut sums = vec![0_i32; width];
            for (u, y) in u.chunks_exact(inputs).zip(y.chunks_exact_mut(width)) {
                sums.fill(0);
                for (u, w) in u.chunks_exact(2).zip(weight.chunks_exact(2 * width)) {
                    let (a, b) = (i32::from(u[0]), i32::from(u[1]));
                    for (sum, w) in sums.iter_mut().zip(w.as_chunks::<2>().0) {
                        *sum += a * i32::from(w[0]) + b * i32::from(w[1]);
                    }
                }
                for (((y, sum), scale), bias) in y.iter_mut().zip(&sums).zip(scale).zip(bias) {
                    *y = *sum as f32 * scale + bias;
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn fours((u, inputs): (&[u8], usize), weight: &[i8], (scale, bias): (&[f32], &[f32]), y: &mut [f32]) {
    /// `R` rows from `r` on, `C` registers of outputs from `c` on.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    #[expect(
        clippy::needless_range_loop,
        reason = "steps of iterators may stay calls without link-time optimisation"
    )]
    fn tile<const R: usize, const C: usize>(
        (r, c): (usize, usize),
        (u, inputs): (&[u8], usize),
        weight: &[i8],
        (scale, bias): (&[f32], &[f32]),
        y: &mut [f32],
    ) {
        let width = scale.len();
        assert!((r + R) * width <= y.len() && (r + R) * inputs <= u.len() && (c + C) * OUTPUTS <= width);
        // SAFETY: the assertions here and in `product`.
        unsafe {
            let mut sums = [[_mm512_setzero_si512(); C]; R];
            for four in 0..inputs / 4 {
                let from = weight.as_ptr().add((four * width + c * OUTPUTS) * 4);
                let w: [__m512i; C] = std::array::from_fn(|j| _mm512_loadu_si512(from.add(j * 64).cast()));
                for i in 0..R {
                    let x = u.as_ptr().add((r + i) * inputs + four * 4).cast::<i32>().read_unaligned();
                    let x = _mm512_set1_epi32(x);
                    for j in 0..C {
                        sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], x, w[j]);
                    }
                }
            }
            for i in 0..R {
                for j in 0..C {
                    let at = (c + j) * OUTPUTS;
                    let (scale, bias) =
                        (_mm512_loadu_ps(scale.as_ptr().add(at)), _mm512_loadu_ps(bias.as_ptr().add(at)));
                    // Not fused, as on other processors.
                    let sum = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[i][j]), scale), bias);
                    _mm512_storeu_ps(y.as_mut_ptr().add((r + i) * width + at), sum);
                }
            }
        }
    }
    let (width, rows) = (scale.len(), y.len() / scale.len());
    let mut c = 0;
    while c < width / OUTPUTS {
        let wide = width / OUTPUTS - c >= 4;
        let mut r = 0;
        while r < rows {
            let at = (r, c);
            match (wide, rows - r >= 4) {
                (true, true) => tile::<4, 4>(at, (u, inputs), weight, (scale, bias), y),
                (true, false) => tile::<1, 4>(at, (u, inputs), weight, (scale, bias), y),
                (false, true) => tile::<4, 1>(at, (u, inputs), weight, (scale, bias), y),
                (false, false) => tile::<1, 1>(at, (u, inputs), weight, (scale, bias), y),
            }
            r += if rows - r >= 4 { 4 } else { 1 };
        }
        c += if wide { 4 } else { 1 };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pairs((u, inputs): (&[u8], usize), weight: &[i16], (scale, bias): (&[f32], &[f32]), y: &mut [f32]) {
    let (width, rows) = (scale.len(), y.len() / scale.len());
    for c in (0..width).step_by(OUTPUTS) {
        for r in 0..rows {
            // SAFETY: the assertions in `product`.
            unsafe {
                let mut sums = [_mm256_setzero_si256(); 2];
                for pair in 0..inputs / 2 {
                    let x = u.as_ptr().add(r * inputs + pair * 2);
                    let x = _mm256_set1_epi32(i32::from(*x) | i32::from(*x.add(1)) << 16);
                    let from = weight.as_ptr().add((pair * width + c) * 2);
                    for (j, sum) in sums.iter_mut().enumerate() {
                        let w = _mm256_loadu_si256(from.add(j * 16).cast());
                        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(x, w));
                    }
                }
                for (j, sum) in sums.iter().enumerate() {
                    let at = c + j * 8;
                    let (scale, bias) =
                        (_mm256_loadu_ps(scale.as_ptr().add(at)), _mm256_loadu_ps(bias.as_ptr().add(at)));
                    let sum = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(*sum), scale), bias);
                    _mm256_storeu_ps(y.as_mut_ptr().add(r * width + at), sum);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(i: usize) -> i32 {
        ((i * 7919 + 13) % 65_521) as i32
    }

    #[test]
    fn sums_are_the_same_numbers_on_every_instruction_set() {
        for units in [64, 320, 576] {
            let weight: Vec<i16> = (0..50 * units).map(|i| number(i) as i16).collect();
            let changes: Vec<Change> = (0..20)
                .map(|i| Change {
                    input: (i * 13 % 50) as u32,
                    from: [0, number(i) as i16][i % 2],
                    to: number(i + 9) as i16,
                })
                .collect();
            let run = |isa| {
                let mut sums: Vec<i16> = (0..units).map(|i| number(i * 3) as i16).collect();
                accumulate(isa, &mut sums, &weight, &changes);
                sums
            };
            let expected = run(Int8Isa::Portable);
            Int8Isa::available()
                .into_iter()
                .for_each(|isa| assert_eq!(run(isa), expected, "{isa:?}, {units}"));
            // What is taken back leaves nothing.
            let mut sums = expected.clone();
            let back: Vec<Change> = changes.iter().map(|c| Change { from: c.to, to: c.from, ..*c }).collect();
            accumulate(Int8Isa::available()[0], &mut sums, &weight, &back);
            assert!(sums.iter().enumerate().all(|(i, &sum)| sum == number(i * 3) as i16));
        }
    }

    #[test]
    fn curves_are_the_same_numbers_for_every_net_input() {
        let z: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let lines = [Asymptote::None, Asymptote::Relu, Asymptote::Identity];
        let forms = [(8, 3), (2, 3), (12, 3), (10, 5), (4, 1)];
        for ((m, d), line) in forms.into_iter().flat_map(|form| lines.map(|line| (form, line))) {
            let values = std::array::from_fn(|i| (((i as f64 - 32.0) / 8.0).tanh() * 16_384.0) as i16);
            let curve = Curve::new(line, &values, m, d).unwrap();
            let gain: Vec<i16> = (0..z.len()).map(|i| number(i / 7) as i16).collect();
            let zero: Vec<i16> = (0..z.len()).map(|i| number(i / 3) as i16).collect();
            let run = |isa| {
                let mut to = vec![0; z.len()];
                activate(isa, &curve, &z, &gain, &zero, &mut to);
                to
            };
            let expected = run(Int8Isa::Portable);
            assert!(expected.iter().any(|u| *u > 0 && *u < 255));
            Int8Isa::available()
                .into_iter()
                .for_each(|isa| assert_eq!(run(isa), expected, "{isa:?} {m} {d}"));
            if line != Asymptote::None {
                let flat = Curve::new(line, &[0; 65], m, d).unwrap();
                assert_eq!(flat.at(-300, flat.ends()), if line == Asymptote::Identity { -300 } else { 0 });
                assert_eq!(flat.at(31_000, flat.ends()), 31_000);
                continue;
            }
            // Ends and middle.
            let of = |z: i32| curve.at(z.clamp(-32768, 32767) as i16, curve.ends());
            assert_eq!(of(-(1 << (m + d))), values[0]);
            assert_eq!(of(0), values[32]);
            assert!(
                (i32::from(of((1 << (m + d)) - 1)) - i32::from(values[64])).abs()
                    <= 1 + (1 << 12) / (1 << (m + d - 5))
            );
        }
        let new = |m| Curve::new(Asymptote::None, &[0; 65], m, 3);
        assert!(new(1).is_none() && new(13).is_none());
    }

    #[test]
    fn products_are_the_same_numbers_on_every_instruction_set() {
        for (inputs, outputs, rows) in [(64, 6, 1), (512, 64, 7), (128, 33, 9), (64, 150, 4)] {
            let weight: Vec<i8> = (0..inputs * outputs).map(|i| number(i) as i8).collect();
            let u: Vec<u8> = (0..rows * inputs).map(|i| number(i * 5) as u8).collect();
            let width = outputs.next_multiple_of(OUTPUTS);
            let scale: Vec<f32> = (0..width).map(|i| 1e-3 * (1.0 + i as f32)).collect();
            let bias: Vec<f32> = (0..width).map(|i| i as f32 - 7.3).collect();
            for isa in Int8Isa::available() {
                let packed = PackedWeights::new(isa, &weight, outputs, inputs, width);
                let mut y = vec![0.0; rows * width];
                product(isa, (&u, inputs), &packed, (&scale, &bias), &mut y);
                for (at, y) in y.iter().enumerate() {
                    let (r, o) = (at / width, at % width);
                    let terms = (0..inputs).map(|i| match o < outputs {
                        true => i32::from(u[r * inputs + i]) * i32::from(weight[i * outputs + o]),
                        false => 0,
                    });
                    let expected = terms.sum::<i32>() as f32 * scale[o] + bias[o];
                    assert_eq!(*y, expected, "{isa:?}, row {r}, output {o}");
                }
            }
        }
    }

    #[test]
    fn rows_become_integers_and_their_changes_are_found() {
        let mut x: Vec<f32> = (0..101).map(|i| (i as f32 - 50.0) / 3.0).collect();
        for first in [7, 97] {
            x[first..][..4].copy_from_slice(&[f32::NAN, f32::INFINITY, -0.0, f32::NEG_INFINITY]);
        }
        let scale: Vec<f32> = (0..101).map(|i| 100.0 * (i as f32 + 0.5)).collect();
        for isa in Int8Isa::available() {
            let mut to = vec![0; 101];
            quantise(isa, &x, &scale, &mut to);
            for ((to, x), scale) in to.iter().zip(&x).zip(&scale) {
                let wanted = (x * scale).round_ties_even().clamp(-32767.0, 32767.0);
                assert_eq!(f32::from(*to), if x.is_nan() { 0.0 } else { wanted });
            }
            let mut row = to.clone();
            [3, 7, 8, 40, 64, 97, 100].iter().for_each(|&i: &usize| row[i] = row[i].wrapping_add(1));
            let mut found = Vec::new();
            requantise(isa, &x, &scale, &mut row, &mut found);
            assert_eq!(row, to, "{isa:?}");
            let at = |i: usize| Change { input: i as u32, from: to[i].wrapping_add(1), to: to[i] };
            assert_eq!(found, [3, 7, 8, 40, 64, 97, 100].map(at), "{isa:?}");
        }
    }
}
