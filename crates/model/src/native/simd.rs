//! SIMD operations on sixteen floats, for each instruction set.
//!
//! A token of type [`Simd`] proves that this machine has the instruction set. Kernels are generic over the token and
//! compiled once per instruction set.

/// Numbers in a chunk: one AVX-512 register, two of AVX2, four of SSE or NEON.
pub(crate) const LANES: usize = 16;

/// The unit that all kernels work on.
pub(crate) type Chunk = [f32; LANES];

/// Instruction sets with their own version of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// The default of the target (SSE2 on x86-64, NEON on ARM).
    Portable,
    /// AVX2 with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// All instruction sets of this machine, best first.
    pub fn available() -> Vec<Self> {
        let mut all = vec![];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                all.push(Self::Avx512);
            }
            all.push(Self::Avx2);
        }
        all.push(Self::Portable);
        all
    }

    /// The best instruction set of this machine.
    pub fn detect() -> Self {
        Self::available()[0]
    }
}

/// The bits of a float's exponent. They are 0 in 0 and in denormal numbers.
const EXPONENT: u32 = 0x7F80_0000;

/// Operations on sixteen floats. Comparisons propagate NaN, so that divergence stays visible.
pub(crate) trait Simd: Copy {
    /// Sixteen floats in registers.
    type V: Copy;
    /// Eight floats in registers.
    type H: Copy;

    /// The instruction set that the token proves.
    const ISA: Isa;
    /// Chunks of a row that are processed together, at most 5.
    const BLOCK: usize;
    /// Like the above, and at most that, if there are enough rows to fill the registers with their sums.
    const TALL: usize = Self::BLOCK;
    /// Chunks of a row that are processed together, whatever the number of rows, if the weights are in the L1 cache.
    const WHOLE: usize = 0;
    /// Sums of chunks that fit in the registers next to a block, at least [`BLOCK`](Self::BLOCK).
    const SUMS: usize;
    /// Chunks that are summed at once if weights come one by one, at most 8.
    const UNITS: usize;

    /// Asks for the cache line of an address, which need not be valid.
    #[inline(always)]
    fn prefetch(self, _address: *const f32) {}
    fn splat(self, x: f32) -> Self::V;
    fn load(self, from: &Chunk) -> Self::V;
    fn store(self, to: &mut Chunk, v: Self::V);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// a / b with an error of one or two units in the last place, for b of moderate size. Uses a reciprocal estimate
    /// and a Newton step where they are faster than a division.
    #[inline(always)]
    fn div_near(self, a: Self::V, b: Self::V) -> Self::V {
        self.div(a, b)
    }
    fn sqrt(self, a: Self::V) -> Self::V;
    /// a · b + c, rounded once if the machine supports it.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The larger value; `x` if it is NaN.
    fn at_least(self, x: Self::V, low: Self::V) -> Self::V;
    /// The smaller value; `x` if it is NaN.
    fn at_most(self, x: Self::V, high: Self::V) -> Self::V;
    /// `a` where x > 0, else 0.
    fn where_positive(self, x: Self::V, a: Self::V) -> Self::V;
    /// x with 0 in place of numbers below the smallest normal one, with which many processors compute slowly.
    fn flush(self, x: Self::V) -> Self::V;
    /// Bit i tells whether a and b differ in lane i; NaN differs from everything.
    fn differ(self, a: Self::V, b: Self::V) -> u32;
    /// 2ⁿ from `shifted` = n + 1.5 · 2²³, whose low bits hold n.
    fn exp2_of_low_bits(self, shifted: Self::V) -> Self::V;
    /// Sum of all lanes in a fixed order.
    fn sum(self, v: Self::V) -> f32;
    /// The largest lane; any lane if one is NaN.
    fn max(self, v: Self::V) -> f32;
    /// Looks up entries of a table of sixteen by indices below 16.
    fn lookup(self, table: Self::V, numbers: &[u32; LANES]) -> Self::V;
    fn half(self, from: &[f32; LANES / 2]) -> Self::H;
    fn half_splat(self, x: f32) -> Self::H;
    /// a · b + c, rounded as in [`fma`](Self::fma).
    fn half_fma(self, a: Self::H, b: Self::H, c: Self::H) -> Self::H;
    fn join(self, low: Self::H, high: Self::H) -> Self::V;
    /// Four columns of sixteen rows: lane i of register j is number j of row i.
    fn columns(self, rows: [&[f32; 4]; LANES]) -> [Self::V; 4];
    /// Like [`columns`](Self::columns), sixteen columns.
    #[inline(always)]
    fn transposed(self, rows: [&Chunk; LANES]) -> [Self::V; LANES] {
        let mut out = [self.splat(0.0); LANES];
        for q in 0..LANES / 4 {
            let mut block = [&[0.0; 4]; LANES];
            for i in 0..LANES {
                block[i] = &rows[i].as_chunks().0[q];
            }
            out[4 * q..][..4].copy_from_slice(&self.columns(block));
        }
        out
    }
    /// Like [`transposed`](Self::transposed), of rows that begin `stride` numbers apart.
    ///
    /// # Panics
    /// If a row ends outside of `data`.
    #[inline(always)]
    fn transposed_from(self, data: &[f32], stride: usize) -> [Self::V; LANES] {
        let mut rows = [&[0.0; LANES]; LANES];
        for i in 0..LANES {
            rows[i] = data[i * stride..].first_chunk().expect("a chunk a row");
        }
        self.transposed(rows)
    }
    /// Lane i is the [`sum`](Self::sum) of register i.
    #[inline(always)]
    fn sums(self, v: [Self::V; LANES]) -> Self::V {
        let mut out = [0.0; LANES];
        for i in 0..LANES {
            out[i] = self.sum(v[i]);
        }
        self.load(&out)
    }
}

/// The portable version: plain arrays, for any machine.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> Chunk {
    std::array::from_fn(f)
}

/// Sums in halves: lane i with lane i + n/2, and so on.
#[inline(always)]
fn tree_sum(mut v: Chunk) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            v[i] += v[i + half];
        }
        half /= 2;
    }
    v[0]
}

impl Simd for Portable {
    type V = Chunk;
    type H = [f32; LANES / 2];
    const ISA: Isa = Isa::Portable;
    const BLOCK: usize = if cfg!(target_arch = "aarch64") { 2 } else { 1 };
    const SUMS: usize = 2 * Self::BLOCK;
    const UNITS: usize = 2 * Self::BLOCK;

    #[inline(always)]
    fn splat(self, x: f32) -> Chunk {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, from: &Chunk) -> Chunk {
        *from
    }
    #[inline(always)]
    fn store(self, to: &mut Chunk, v: Chunk) {
        *to = v;
    }
    #[inline(always)]
    fn add(self, a: Chunk, b: Chunk) -> Chunk {
        each(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, a: Chunk, b: Chunk) -> Chunk {
        each(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(self, a: Chunk, b: Chunk) -> Chunk {
        each(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div(self, a: Chunk, b: Chunk) -> Chunk {
        each(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn sqrt(self, a: Chunk) -> Chunk {
        each(|i| a[i].sqrt())
    }
    #[inline(always)]
    fn fma(self, a: Chunk, b: Chunk, c: Chunk) -> Chunk {
        // Fused multiply-add is an instruction on 64-bit ARM, but a library call on old x86.
        if cfg!(target_arch = "aarch64") {
            each(|i| a[i].mul_add(b[i], c[i]))
        } else {
            each(|i| a[i] * b[i] + c[i])
        }
    }
    #[inline(always)]
    fn at_least(self, x: Chunk, low: Chunk) -> Chunk {
        each(|i| if x[i] < low[i] { low[i] } else { x[i] })
    }
    #[inline(always)]
    fn at_most(self, x: Chunk, high: Chunk) -> Chunk {
        each(|i| if x[i] > high[i] { high[i] } else { x[i] })
    }
    #[inline(always)]
    fn where_positive(self, x: Chunk, a: Chunk) -> Chunk {
        each(|i| if x[i] > 0.0 { a[i] } else { 0.0 })
    }
    #[inline(always)]
    fn flush(self, x: Chunk) -> Chunk {
        each(|i| if x[i].to_bits() & EXPONENT == 0 { 0.0 } else { x[i] })
    }
    #[inline(always)]
    fn differ(self, a: Chunk, b: Chunk) -> u32 {
        (0..LANES).fold(0, |mask, i| mask | u32::from(a[i] != b[i]) << i)
    }
    #[inline(always)]
    fn exp2_of_low_bits(self, shifted: Chunk) -> Chunk {
        each(|i| f32::from_bits((shifted[i].to_bits() << 23).wrapping_add(127 << 23)))
    }
    #[inline(always)]
    fn sum(self, v: Chunk) -> f32 {
        tree_sum(v)
    }
    #[inline(always)]
    fn max(self, v: Chunk) -> f32 {
        v.into_iter().fold(v[0], f32::max)
    }
    #[inline(always)]
    fn lookup(self, table: Chunk, numbers: &[u32; LANES]) -> Chunk {
        each(|i| table[numbers[i] as usize % LANES])
    }
    #[inline(always)]
    fn half(self, from: &[f32; LANES / 2]) -> Self::H {
        *from
    }
    #[inline(always)]
    fn half_splat(self, x: f32) -> Self::H {
        [x; LANES / 2]
    }
    #[inline(always)]
    fn half_fma(self, a: Self::H, b: Self::H, c: Self::H) -> Self::H {
        if cfg!(target_arch = "aarch64") {
            std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
        } else {
            std::array::from_fn(|i| a[i] * b[i] + c[i])
        }
    }
    #[inline(always)]
    fn join(self, low: Self::H, high: Self::H) -> Chunk {
        each(|i| if i < LANES / 2 { low[i] } else { high[i - LANES / 2] })
    }
    #[inline(always)]
    fn columns(self, rows: [&[f32; 4]; LANES]) -> [Chunk; 4] {
        let mut out = [[0.0; LANES]; 4];
        for (i, row) in rows.into_iter().enumerate() {
            for (out, x) in out.iter_mut().zip(row) {
                out[i] = *x;
            }
        }
        out
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Chunk, EXPONENT, Isa, Simd};
    use std::arch::x86_64::*;

    /// A machine with AVX-512 F and DQ, and all that [`Avx2`] needs.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(());

    /// A machine with AVX2, FMA, POPCNT and BMI1.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(());

    impl Avx512 {
        /// # Safety
        /// The machine is as [`Avx512`] says.
        #[inline(always)]
        pub(crate) unsafe fn new() -> Self {
            Self(())
        }
    }

    impl Avx2 {
        /// # Safety
        /// The machine is as [`Avx2`] says.
        #[inline(always)]
        pub(crate) unsafe fn new() -> Self {
            Self(())
        }
    }

    /// Defines a method of a token: its arguments and its intrinsics.
    macro_rules! methods {
        ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty = $body:expr;)*) => {
            $(
                #[inline(always)]
                fn $name(self, $($arg: $type),*) -> $out {
                    // SAFETY: the token proves the instruction set; loads and stores take whole chunks, or what an
                    // assertion bounds, and need no alignment.
                    unsafe { $body }
                }
            )*
        };
    }

    impl Simd for Avx512 {
        type V = __m512;
        type H = __m256;
        const ISA: Isa = Isa::Avx512;
        const BLOCK: usize = 5;
        // Eight rows by three chunks: processors of Intel read too little from their L2 cache for wider blocks.
        const TALL: usize = 3;
        const WHOLE: usize = 5;
        const SUMS: usize = 24;
        const UNITS: usize = 8;

        methods! {
            prefetch(address: *const f32) -> () = _mm_prefetch::<_MM_HINT_T0>(address.cast());
            splat(x: f32) -> __m512 = _mm512_set1_ps(x);
            load(from: &Chunk) -> __m512 = _mm512_loadu_ps(from.as_ptr());
            store(to: &mut Chunk, v: __m512) -> () = _mm512_storeu_ps(to.as_mut_ptr(), v);
            add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
            sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
            mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
            div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
            div_near(a: __m512, b: __m512) -> __m512 = {
                let r = _mm512_rcp14_ps(b);
                let r = _mm512_mul_ps(r, _mm512_fnmadd_ps(b, r, _mm512_set1_ps(2.0)));
                _mm512_mul_ps(a, r)
            };
            sqrt(a: __m512) -> __m512 = _mm512_sqrt_ps(a);
            fma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
            // The instruction returns the second operand if one is NaN.
            at_least(x: __m512, low: __m512) -> __m512 = _mm512_max_ps(low, x);
            at_most(x: __m512, high: __m512) -> __m512 = _mm512_min_ps(high, x);
            where_positive(x: __m512, a: __m512) -> __m512 =
                _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, _mm512_setzero_ps()), a);
            flush(x: __m512) -> __m512 = {
                let normal = _mm512_test_epi32_mask(_mm512_castps_si512(x), _mm512_set1_epi32(EXPONENT as i32));
                _mm512_maskz_mov_ps(normal, x)
            };
            differ(a: __m512, b: __m512) -> u32 = u32::from(_mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, b));
            exp2_of_low_bits(shifted: __m512) -> __m512 = _mm512_castsi512_ps(_mm512_add_epi32(
                _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted)),
                _mm512_set1_epi32(127 << 23),
            ));
            sum(v: __m512) -> f32 = {
                let half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps::<1>(v));
                sum8(half)
            };
            max(v: __m512) -> f32 = {
                let half = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps::<1>(v));
                max8(half)
            };
            lookup(table: __m512, numbers: &[u32; 16]) -> __m512 =
                _mm512_permutexvar_ps(_mm512_loadu_epi32(numbers.as_ptr().cast()), table);
            half(from: &[f32; 8]) -> __m256 = _mm256_loadu_ps(from.as_ptr());
            half_splat(x: f32) -> __m256 = _mm256_set1_ps(x);
            half_fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
            join(low: __m256, high: __m256) -> __m512 =
                _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high);
            columns(rows: [&[f32; 4]; 16]) -> [__m512; 4] = {
                let mut v = [_mm512_setzero_ps(); 4];
                for (i, v) in v.iter_mut().enumerate() {
                    let quarter = |k: usize| _mm_loadu_ps(rows[4 * k + i].as_ptr());
                    *v = _mm512_castps128_ps512(quarter(0));
                    *v = _mm512_insertf32x4::<1>(*v, quarter(1));
                    *v = _mm512_insertf32x4::<2>(*v, quarter(2));
                    *v = _mm512_insertf32x4::<3>(*v, quarter(3));
                }
                columns_of_quarters(v)
            };
            transposed(rows: [&Chunk; 16]) -> [__m512; 16] = {
                let mut addresses = [std::ptr::null(); 16];
                for i in 0..16 {
                    addresses[i] = rows[i].as_ptr();
                }
                transposed_at(addresses)
            };
            transposed_from(data: &[f32], stride: usize) -> [__m512; 16] = {
                assert!(stride <= data.len() && 15 * stride + 16 <= data.len(), "a row ends outside");
                let mut addresses = [data.as_ptr(); 16];
                for (i, address) in addresses.iter_mut().enumerate() {
                    *address = address.add(i * stride);
                }
                transposed_at(addresses)
            };
            sums(v: [__m512; 16]) -> __m512 = {
                // Eight sums of two registers each, as in `sum`: lanes 8 apart, then 4, 2 and 1.
                let mut four = [_mm512_setzero_ps(); 4];
                for i in 0..4 {
                    let ab = add_halves(v[i], v[4 + i]);
                    let cd = add_halves(v[8 + i], v[12 + i]);
                    let even = _mm512_shuffle_f32x4::<0x88>(ab, cd);
                    four[i] = _mm512_add_ps(even, _mm512_shuffle_f32x4::<0xdd>(ab, cd));
                }
                // Quarter k of register i holds the sum of register 4 k + i.
                let two = |a, b| _mm512_add_ps(_mm512_shuffle_ps::<0x44>(a, b), _mm512_shuffle_ps::<0xee>(a, b));
                let (ab, cd) = (two(four[0], four[1]), two(four[2], four[3]));
                _mm512_add_ps(_mm512_shuffle_ps::<0x88>(ab, cd), _mm512_shuffle_ps::<0xdd>(ab, cd))
            };
        }
    }

    /// Four columns: quarter k of register i holds four numbers of row 4 k + i.
    ///
    /// # Safety
    /// The machine has AVX-512 F.
    #[inline(always)]
    unsafe fn columns_of_quarters(v: [__m512; 4]) -> [__m512; 4] {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (a, b) = (_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
            let (c, d) = (_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
            [
                _mm512_shuffle_ps::<0x44>(a, c),
                _mm512_shuffle_ps::<0xee>(a, c),
                _mm512_shuffle_ps::<0x44>(b, d),
                _mm512_shuffle_ps::<0xee>(b, d),
            ]
        }
    }

    /// Rows of sixteen floats at these addresses as columns.
    ///
    /// # Safety
    /// The machine has AVX-512 F, and the addresses are valid.
    #[inline(always)]
    unsafe fn transposed_at(rows: [*const f32; 16]) -> [__m512; 16] {
        // SAFETY: guaranteed by the caller; a row has four quarters.
        unsafe {
            let mut out = [_mm512_setzero_ps(); 16];
            for i in 0..4 {
                for q in 0..4 {
                    let quarter = |k: usize| _mm_loadu_ps(rows[4 * k + i].add(4 * q));
                    let v = _mm512_castps128_ps512(quarter(0));
                    let v = _mm512_insertf32x4::<1>(v, quarter(1));
                    let v = _mm512_insertf32x4::<2>(v, quarter(2));
                    out[4 * q + i] = _mm512_insertf32x4::<3>(v, quarter(3));
                }
            }
            for q in 0..4 {
                let columns =
                    columns_of_quarters([out[4 * q], out[4 * q + 1], out[4 * q + 2], out[4 * q + 3]]);
                (out[4 * q], out[4 * q + 1]) = (columns[0], columns[1]);
                (out[4 * q + 2], out[4 * q + 3]) = (columns[2], columns[3]);
            }
            out
        }
    }

    /// The sums of both halves of a, then those of b.
    ///
    /// # Safety
    /// The machine has AVX-512 F.
    #[inline(always)]
    unsafe fn add_halves(a: __m512, b: __m512) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_add_ps(_mm512_shuffle_f32x4::<0x44>(a, b), _mm512_shuffle_f32x4::<0xee>(a, b)) }
    }

    /// Sum of eight lanes: halves, then halves of halves.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn sum8(v: __m256) -> f32 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }

    /// The largest of eight lanes.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn max8(v: __m256) -> f32 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }

    /// Four columns of eight rows: lane i of register j is number j of row i.
    ///
    /// # Safety
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn columns8(rows: &[&[f32; 4]]) -> [__m256; 4] {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut v = [_mm256_setzero_ps(); 4];
            for (i, v) in v.iter_mut().enumerate() {
                let half = |k: usize| _mm_loadu_ps(rows[4 * k + i].as_ptr());
                *v = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(half(0)), half(1));
            }
            let (a, b) = (_mm256_unpacklo_ps(v[0], v[1]), _mm256_unpackhi_ps(v[0], v[1]));
            let (c, d) = (_mm256_unpacklo_ps(v[2], v[3]), _mm256_unpackhi_ps(v[2], v[3]));
            [
                _mm256_shuffle_ps::<0x44>(a, c),
                _mm256_shuffle_ps::<0xee>(a, c),
                _mm256_shuffle_ps::<0x44>(b, d),
                _mm256_shuffle_ps::<0xee>(b, d),
            ]
        }
    }

    type Pair = (__m256, __m256);

    #[inline(always)]
    fn both(a: Pair, f: impl Fn(__m256) -> __m256) -> Pair {
        (f(a.0), f(a.1))
    }

    #[inline(always)]
    fn both2(a: Pair, b: Pair, f: impl Fn(__m256, __m256) -> __m256) -> Pair {
        (f(a.0, b.0), f(a.1, b.1))
    }

    impl Simd for Avx2 {
        type V = Pair;
        type H = __m256;
        const ISA: Isa = Isa::Avx2;
        const BLOCK: usize = 2;
        const TALL: usize = 1;
        const SUMS: usize = 6;
        const UNITS: usize = 4;

        #[inline(always)]
        fn join(self, low: __m256, high: __m256) -> Pair {
            (low, high)
        }

        methods! {
            prefetch(address: *const f32) -> () = _mm_prefetch::<_MM_HINT_T0>(address.cast());
            splat(x: f32) -> Pair = (_mm256_set1_ps(x), _mm256_set1_ps(x));
            load(from: &Chunk) -> Pair = (_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8)));
            store(to: &mut Chunk, v: Pair) -> () = {
                _mm256_storeu_ps(to.as_mut_ptr(), v.0);
                _mm256_storeu_ps(to.as_mut_ptr().add(8), v.1);
            };
            add(a: Pair, b: Pair) -> Pair = both2(a, b, |a, b| _mm256_add_ps(a, b));
            sub(a: Pair, b: Pair) -> Pair = both2(a, b, |a, b| _mm256_sub_ps(a, b));
            mul(a: Pair, b: Pair) -> Pair = both2(a, b, |a, b| _mm256_mul_ps(a, b));
            div(a: Pair, b: Pair) -> Pair = both2(a, b, |a, b| _mm256_div_ps(a, b));
            sqrt(a: Pair) -> Pair = both(a, |a| _mm256_sqrt_ps(a));
            fma(a: Pair, b: Pair, c: Pair) -> Pair =
                (_mm256_fmadd_ps(a.0, b.0, c.0), _mm256_fmadd_ps(a.1, b.1, c.1));
            at_least(x: Pair, low: Pair) -> Pair = both2(x, low, |x, low| _mm256_max_ps(low, x));
            at_most(x: Pair, high: Pair) -> Pair = both2(x, high, |x, high| _mm256_min_ps(high, x));
            where_positive(x: Pair, a: Pair) -> Pair = both2(x, a, |x, a| {
                _mm256_and_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(x, _mm256_setzero_ps()), a)
            });
            flush(x: Pair) -> Pair = both(x, |x| {
                let exponent = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(EXPONENT as i32));
                let small = _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256());
                _mm256_andnot_ps(_mm256_castsi256_ps(small), x)
            });
            differ(a: Pair, b: Pair) -> u32 = {
                let half = |a, b| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NEQ_UQ>(a, b)) as u32;
                half(a.0, b.0) | half(a.1, b.1) << 8
            };
            exp2_of_low_bits(shifted: Pair) -> Pair = both(shifted, |x| {
                _mm256_castsi256_ps(_mm256_add_epi32(
                    _mm256_slli_epi32::<23>(_mm256_castps_si256(x)),
                    _mm256_set1_epi32(127 << 23),
                ))
            });
            sum(v: Pair) -> f32 = sum8(_mm256_add_ps(v.0, v.1));
            max(v: Pair) -> f32 = max8(_mm256_max_ps(v.0, v.1));
            lookup(table: Pair, numbers: &[u32; 16]) -> Pair = {
                let half = |k: usize| {
                    let numbers = _mm256_loadu_si256(numbers.as_ptr().add(8 * k).cast());
                    let high = _mm256_castsi256_ps(_mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(7)));
                    let of = |table| _mm256_permutevar8x32_ps(table, numbers);
                    _mm256_blendv_ps(of(table.0), of(table.1), high)
                };
                (half(0), half(1))
            };
            half(from: &[f32; 8]) -> __m256 = _mm256_loadu_ps(from.as_ptr());
            half_splat(x: f32) -> __m256 = _mm256_set1_ps(x);
            half_fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
            columns(rows: [&[f32; 4]; 16]) -> [Pair; 4] = {
                let (low, high) = (columns8(&rows[..8]), columns8(&rows[8..]));
                [(low[0], high[0]), (low[1], high[1]), (low[2], high[2]), (low[3], high[3])]
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::kernels::{columns, sums_of, transposed};

    #[test]
    fn columns_of_rows_are_found_on_every_instruction_set() {
        let mut rows = [[0.0; 4]; LANES];
        rows.iter_mut().flatten().enumerate().for_each(|(i, x)| *x = i as f32);
        for isa in Isa::available() {
            let mut found = [[0.0; LANES]; 4];
            columns(isa, &rows, &mut found);
            for (j, column) in found.iter().enumerate() {
                for (i, x) in column.iter().enumerate() {
                    assert_eq!(*x, rows[i][j], "{isa:?}, row {i}, column {j}");
                }
            }
        }
    }

    #[test]
    fn squares_are_transposed_on_every_instruction_set() {
        let mut rows = [[0.0; LANES]; LANES];
        rows.iter_mut().flatten().enumerate().for_each(|(i, x)| *x = i as f32);
        for isa in Isa::available() {
            let mut found = [[0.0; LANES]; LANES];
            transposed(isa, &rows, &mut found);
            for (i, row) in found.iter().enumerate() {
                for (j, x) in row.iter().enumerate() {
                    assert_eq!(*x, rows[j][i], "{isa:?}, row {i}, column {j}");
                }
            }
        }
    }

    /// Numbers whose sum depends on the order.
    #[test]
    fn sums_of_sixteen_rows_have_the_bits_of_each_sum() {
        let mut rows = [[0.0; LANES]; LANES];
        rows.iter_mut()
            .flatten()
            .enumerate()
            .for_each(|(i, x)| *x = 1.7_f32.powi((i * 37 % 101) as i32 - 50));
        let expected = rows.map(tree_sum);
        for isa in Isa::available() {
            let mut found = [0.0; LANES];
            sums_of(isa, &rows, &mut found);
            assert_eq!(found.map(f32::to_bits), expected.map(f32::to_bits), "{isa:?}");
        }
    }
}
