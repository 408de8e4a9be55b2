//! Operations on 32 values of 16 bits at a time, for each instruction set. All give the same result.

use super::grid::THROW;

#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub(super) use arm::Neon;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

/// Values per line: one 512-bit register, 64 bytes.
pub(super) const LANES: usize = 32;

/// Thirty-two columns of a row.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [i16; LANES]);

/// A square of values to write to the table.
#[derive(Clone, Copy)]
pub(super) struct Block(pub(super) [Line; LANES]);

impl Block {
    pub(super) const ZERO: Self = Self([Line([0; LANES]); LANES]);
}

/// Supported instruction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Plain Rust, for any machine.
    Portable,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F and BW.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Isa {
    /// All instruction sets of this machine, best first.
    pub fn available() -> Vec<Self> {
        let mut all = vec![];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                all.push(Self::Avx512);
            }
            all.push(Self::Avx2);
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            all.push(Self::Neon);
        }
        all.push(Self::Portable);
        all
    }

    /// The best instruction set of this machine.
    pub fn detect() -> Self {
        Self::available()[0]
    }
}

/// Two weights for [`Lanes::add`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights(i32);

impl Weights {
    /// Weights of the first and of the second operand.
    pub(super) const fn new(first: i16, second: i16) -> Self {
        Self(first as u16 as i32 | (second as i32) << 16)
    }

    fn first(self) -> i32 {
        i32::from(self.0 as i16)
    }

    fn second(self) -> i32 {
        self.0 >> 16
    }
}

/// Operations on lines.
pub(super) trait Lanes: Copy {
    /// A line in registers.
    type V: Copy;
    /// Thirty-two 32-bit sums in registers.
    type Sums: Copy;
    /// Flags of the columns in which one line was above another.
    type Flags: Copy;

    fn load(self, from: &Line) -> Self::V;
    fn store(self, to: &mut Line, v: Self::V);
    fn zero(self) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn no_sums(self) -> Self::Sums;
    /// sums + a · first weight + b · second weight.
    fn add(self, sums: Self::Sums, a: Self::V, b: Self::V, weights: Weights) -> Self::Sums;
    /// −sums / 36, rounded to nearest, ties to even.
    fn negated_mean(self, sums: Self::Sums) -> Self::V;
    fn no_flags(self) -> Self::Flags;
    /// Flags the columns in which a > b.
    fn flag_above(self, flags: Self::Flags, a: Self::V, b: Self::V) -> Self::Flags;
    fn any(self, flags: Self::Flags) -> bool;
    /// Writes the transposed block. Column k goes to the line `stride` · k lines after `to`.
    ///
    /// # Safety
    /// The caller may write these 32 lines.
    unsafe fn transpose(self, block: &Block, to: *mut Line, stride: usize);
    /// A hint that a line will be read soon.
    fn prefetch(self, line: *const Line);
}

/// Plain arrays.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Lanes for Portable {
    type V = [i16; LANES];
    type Sums = [i32; LANES];
    type Flags = bool;

    #[inline(always)]
    fn load(self, from: &Line) -> Self::V {
        from.0
    }
    #[inline(always)]
    fn store(self, to: &mut Line, v: Self::V) {
        to.0 = v;
    }
    #[inline(always)]
    fn zero(self) -> Self::V {
        [0; LANES]
    }
    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i].max(b[i]))
    }
    #[inline(always)]
    fn no_sums(self) -> Self::Sums {
        [0; LANES]
    }
    #[inline(always)]
    fn add(self, sums: Self::Sums, a: Self::V, b: Self::V, weights: Weights) -> Self::Sums {
        let (first, second) = (weights.first(), weights.second());
        std::array::from_fn(|i| sums[i] + i32::from(a[i]) * first + i32::from(b[i]) * second)
    }
    #[inline(always)]
    fn negated_mean(self, sums: Self::Sums) -> Self::V {
        std::array::from_fn(|i| -((sums[i] as f32 * THROW).round_ties_even() as i16))
    }
    #[inline(always)]
    fn no_flags(self) -> bool {
        false
    }
    #[inline(always)]
    fn flag_above(self, flags: bool, a: Self::V, b: Self::V) -> bool {
        flags | (0..LANES).fold(false, |any, i| any | (a[i] > b[i]))
    }
    #[inline(always)]
    fn any(self, flags: bool) -> bool {
        flags
    }
    #[inline(always)]
    unsafe fn transpose(self, block: &Block, to: *mut Line, stride: usize) {
        for k in 0..LANES {
            let line = Line(std::array::from_fn(|i| block.0[i].0[k]));
            // SAFETY: the caller guarantees these lines.
            unsafe { to.add(k * stride).write(line) };
        }
    }
    #[inline(always)]
    fn prefetch(self, _: *const Line) {}
}
