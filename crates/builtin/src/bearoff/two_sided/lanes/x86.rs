//! Line operations on AVX-512 and AVX2.

use super::{Block, LANES, Lanes, Line, THROW, Weights};
use std::arch::x86_64::*;

/// Token: the machine has AVX-512 F and BW.
#[derive(Clone, Copy)]
pub(in crate::bearoff::two_sided) struct Avx512(());

/// Token: the machine has AVX2.
#[derive(Clone, Copy)]
pub(in crate::bearoff::two_sided) struct Avx2(());

impl Avx512 {
    /// # Safety
    /// The machine has AVX-512 F and BW.
    #[inline(always)]
    pub(in crate::bearoff::two_sided) unsafe fn new() -> Self {
        Self(())
    }
}

impl Avx2 {
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    pub(in crate::bearoff::two_sided) unsafe fn new() -> Self {
        Self(())
    }
}

/// Defines one method of a token from its arguments and intrinsics.
macro_rules! methods {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($arg: $type),*) -> $out {
                // SAFETY: the token proves the instruction set; lines are aligned to 64 bytes.
                unsafe { $body }
            }
        )*
    };
}

impl Lanes for Avx512 {
    type V = __m512i;
    // The order after unpacking: columns 8k .. 8k + 4 of every eight in the first, the others in the second.
    type Sums = (__m512i, __m512i);
    type Flags = __m512i;

    methods! {
        load(from: &Line) -> __m512i = _mm512_load_si512(std::ptr::from_ref(from).cast());
        store(to: &mut Line, v: __m512i) -> () = _mm512_store_si512(std::ptr::from_mut(to).cast(), v);
        zero() -> __m512i = _mm512_setzero_si512();
        max(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epi16(a, b);
        no_sums() -> (__m512i, __m512i) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        add(sums: (__m512i, __m512i), a: __m512i, b: __m512i, weights: Weights) -> (__m512i, __m512i) = {
            let w = _mm512_set1_epi32(weights.0);
            let low = _mm512_madd_epi16(_mm512_unpacklo_epi16(a, b), w);
            let high = _mm512_madd_epi16(_mm512_unpackhi_epi16(a, b), w);
            (_mm512_add_epi32(sums.0, low), _mm512_add_epi32(sums.1, high))
        };
        negated_mean(sums: (__m512i, __m512i)) -> __m512i = {
            let throw = _mm512_set1_ps(THROW);
            let low = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sums.0), throw));
            let high = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sums.1), throw));
            _mm512_sub_epi16(_mm512_setzero_si512(), _mm512_packs_epi32(low, high))
        };
        no_flags() -> __m512i = _mm512_setzero_si512();
        // The maximum of saturated differences is positive in a column if any difference was.
        flag_above(flags: __m512i, a: __m512i, b: __m512i) -> __m512i =
            _mm512_max_epi16(flags, _mm512_subs_epi16(a, b));
        any(flags: __m512i) -> bool = _mm512_cmpgt_epi16_mask(flags, _mm512_setzero_si512()) != 0;
        prefetch(line: *const Line) -> () = _mm_prefetch::<_MM_HINT_T1>(line.cast());
    }

    #[inline(always)]
    unsafe fn transpose(self, block: &Block, to: *mut Line, stride: usize) {
        // SAFETY: the token proves the instruction set; the caller guarantees the lines, which are whole aligned
        // registers. The lines are not read again soon, so the writes bypass the caches.
        unsafe {
            let put = |line: usize, v| _mm512_stream_si512(to.add(line * stride).cast(), v);
            // Loops instead of `array::from_fn` and `map`, whose closures are not inlined into code with these features.
            // Transpose 8 × 8 within each 128 bits: eights[g][k] has column 8q + k of rows 8g .. 8g + 8 in lane q.
            let mut eights = [[_mm512_setzero_si512(); 8]; 4];
            for (g, eight) in eights.iter_mut().enumerate() {
                let mut r = [_mm512_setzero_si512(); 8];
                for (k, r) in r.iter_mut().enumerate() {
                    *r = self.load(&block.0[8 * g + k]);
                }
                let mut pairs = [_mm512_setzero_si512(); 8];
                for (k, pair) in pairs.iter_mut().enumerate() {
                    let (a, b) = (r[k & !1], r[k | 1]);
                    *pair =
                        if k & 1 == 0 { _mm512_unpacklo_epi16(a, b) } else { _mm512_unpackhi_epi16(a, b) };
                }
                // pairs[2p] holds columns 0..4 of rows 2p, 2p + 1; pairs[2p + 1] columns 4..8.
                let mut fours = [_mm512_setzero_si512(); 8];
                for (k, four) in fours.iter_mut().enumerate() {
                    let (half, column, high) = (k / 4, k / 2 % 2, k & 1);
                    let (a, b) = (pairs[4 * half + column], pairs[4 * half + 2 + column]);
                    *four = if high == 0 { _mm512_unpacklo_epi32(a, b) } else { _mm512_unpackhi_epi32(a, b) };
                }
                // fours[4h + 2c + d] holds columns 4c + 2d, 4c + 2d + 1 of rows 4h .. 4h + 4.
                for (k, eight) in eight.iter_mut().enumerate() {
                    let (a, b) = (fours[k / 2], fours[4 + k / 2]);
                    *eight =
                        if k & 1 == 0 { _mm512_unpacklo_epi64(a, b) } else { _mm512_unpackhi_epi64(a, b) };
                }
            }
            // Then transpose the 128-bit lanes 4 × 4.
            let [first, second, third, fourth] = &eights;
            for (k, &a) in first.iter().enumerate() {
                let (b, c, d) = (second[k], third[k], fourth[k]);
                let low = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0x44>(c, d));
                let high = (_mm512_shuffle_i32x4::<0xEE>(a, b), _mm512_shuffle_i32x4::<0xEE>(c, d));
                put(k, _mm512_shuffle_i32x4::<0x88>(low.0, low.1));
                put(8 + k, _mm512_shuffle_i32x4::<0xDD>(low.0, low.1));
                put(16 + k, _mm512_shuffle_i32x4::<0x88>(high.0, high.1));
                put(24 + k, _mm512_shuffle_i32x4::<0xDD>(high.0, high.1));
            }
        }
    }
}

type Pair = (__m256i, __m256i);

#[inline(always)]
fn both(a: Pair, b: Pair, f: impl Fn(__m256i, __m256i) -> __m256i) -> Pair {
    (f(a.0, b.0), f(a.1, b.1))
}

impl Lanes for Avx2 {
    type V = Pair;
    type Sums = (Pair, Pair);
    type Flags = __m256i;

    methods! {
        load(from: &Line) -> Pair = {
            let at: *const __m256i = std::ptr::from_ref(from).cast();
            (_mm256_load_si256(at), _mm256_load_si256(at.add(1)))
        };
        store(to: &mut Line, v: Pair) -> () = {
            let at: *mut __m256i = std::ptr::from_mut(to).cast();
            _mm256_store_si256(at, v.0);
            _mm256_store_si256(at.add(1), v.1);
        };
        zero() -> Pair = (_mm256_setzero_si256(), _mm256_setzero_si256());
        max(a: Pair, b: Pair) -> Pair = both(a, b, |a, b| _mm256_max_epi16(a, b));
        no_sums() -> (Pair, Pair) = {
            let zero = _mm256_setzero_si256();
            ((zero, zero), (zero, zero))
        };
        add(sums: (Pair, Pair), a: Pair, b: Pair, weights: Weights) -> (Pair, Pair) = {
            let w = _mm256_set1_epi32(weights.0);
            let low = both(a, b, |a, b| _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), w));
            let high = both(a, b, |a, b| _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), w));
            let sum = |a, b| both(a, b, |a, b| _mm256_add_epi32(a, b));
            (sum(sums.0, low), sum(sums.1, high))
        };
        negated_mean(sums: (Pair, Pair)) -> Pair = both(sums.0, sums.1, |low, high| {
            let throw = _mm256_set1_ps(THROW);
            let low = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(low), throw));
            let high = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(high), throw));
            _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_packs_epi32(low, high))
        });
        no_flags() -> __m256i = _mm256_setzero_si256();
        flag_above(flags: __m256i, a: Pair, b: Pair) -> __m256i = {
            let above = both(a, b, |a, b| _mm256_cmpgt_epi16(a, b));
            _mm256_or_si256(flags, _mm256_or_si256(above.0, above.1))
        };
        any(flags: __m256i) -> bool = _mm256_testz_si256(flags, flags) == 0;
        prefetch(line: *const Line) -> () = _mm_prefetch::<_MM_HINT_T1>(line.cast());
    }

    #[inline(always)]
    unsafe fn transpose(self, block: &Block, to: *mut Line, stride: usize) {
        // SAFETY: the token proves the instruction set; the caller guarantees the lines.
        unsafe {
            for half in 0..2 {
                // Columns 16 · half .. + 16: transpose 8 × 8 within each 128 bits, then the lanes.
                for rows in 0..2 {
                    let mut eights = [[_mm256_setzero_si256(); 8]; 2];
                    for (g, eight) in eights.iter_mut().enumerate() {
                        let mut r = [_mm256_setzero_si256(); 8];
                        for (k, r) in r.iter_mut().enumerate() {
                            let line = &block.0[16 * rows + 8 * g + k].0;
                            *r = _mm256_load_si256(line.as_ptr().add(16 * half).cast());
                        }
                        let mut pairs = [_mm256_setzero_si256(); 8];
                        for (k, pair) in pairs.iter_mut().enumerate() {
                            let (a, b) = (r[k & !1], r[k | 1]);
                            *pair = if k & 1 == 0 {
                                _mm256_unpacklo_epi16(a, b)
                            } else {
                                _mm256_unpackhi_epi16(a, b)
                            };
                        }
                        let mut fours = [_mm256_setzero_si256(); 8];
                        for (k, four) in fours.iter_mut().enumerate() {
                            let (half, column, high) = (k / 4, k / 2 % 2, k & 1);
                            let (a, b) = (pairs[4 * half + column], pairs[4 * half + 2 + column]);
                            *four = if high == 0 {
                                _mm256_unpacklo_epi32(a, b)
                            } else {
                                _mm256_unpackhi_epi32(a, b)
                            };
                        }
                        for (k, eight) in eight.iter_mut().enumerate() {
                            let (a, b) = (fours[k / 2], fours[4 + k / 2]);
                            *eight = if k & 1 == 0 {
                                _mm256_unpacklo_epi64(a, b)
                            } else {
                                _mm256_unpackhi_epi64(a, b)
                            };
                        }
                    }
                    let [first, second] = &eights;
                    for (k, &a) in first.iter().enumerate() {
                        let b = second[k];
                        let put = |column: usize, v| {
                            let line: *mut i16 = to.add((16 * half + column) * stride).cast();
                            _mm256_store_si256(line.add(16 * rows).cast(), v);
                        };
                        put(k, _mm256_permute2x128_si256::<0x20>(a, b));
                        put(8 + k, _mm256_permute2x128_si256::<0x31>(a, b));
                    }
                }
            }
        }
    }
}

const _: () = assert!(LANES == 32);
