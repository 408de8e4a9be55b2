//! Line operations on NEON.

use super::{Block, LANES, Lanes, Line, Portable, THROW, Weights};
use std::arch::aarch64::*;

/// Token: the machine has NEON.
#[derive(Clone, Copy)]
pub(in crate::bearoff::two_sided) struct Neon(());

impl Neon {
    /// # Safety
    /// The machine has NEON.
    #[inline(always)]
    pub(in crate::bearoff::two_sided) unsafe fn new() -> Self {
        Self(())
    }
}

/// Registers per line.
const PARTS: usize = LANES / 8;

impl Lanes for Neon {
    type V = [int16x8_t; PARTS];
    // The lower and the upper four of every eight columns.
    type Sums = [(int32x4_t, int32x4_t); PARTS];
    type Flags = uint16x8_t;

    #[inline(always)]
    fn load(self, from: &Line) -> Self::V {
        let mut v = self.zero();
        for (k, v) in v.iter_mut().enumerate() {
            // SAFETY: the token proves the instruction set; the line has 32 values.
            *v = unsafe { vld1q_s16(from.0.as_ptr().add(8 * k)) };
        }
        v
    }

    #[inline(always)]
    fn store(self, to: &mut Line, v: Self::V) {
        for (k, v) in v.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { vst1q_s16(to.0.as_mut_ptr().add(8 * k), v) };
        }
    }

    #[inline(always)]
    fn zero(self) -> Self::V {
        // SAFETY: the token proves the instruction set.
        [unsafe { vdupq_n_s16(0) }; PARTS]
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        let mut v = a;
        for (v, b) in v.iter_mut().zip(b) {
            // SAFETY: the token proves the instruction set.
            *v = unsafe { vmaxq_s16(*v, b) };
        }
        v
    }

    #[inline(always)]
    fn no_sums(self) -> Self::Sums {
        // SAFETY: the token proves the instruction set.
        let zero = unsafe { vdupq_n_s32(0) };
        [(zero, zero); PARTS]
    }

    #[inline(always)]
    fn add(self, sums: Self::Sums, a: Self::V, b: Self::V, weights: Weights) -> Self::Sums {
        let (first, second) = (weights.first() as i16, weights.second() as i16);
        let mut sums = sums;
        for k in 0..PARTS {
            let (low, high) = sums[k];
            // SAFETY: the token proves the instruction set.
            sums[k] = unsafe {
                let low = vmlal_n_s16(low, vget_low_s16(a[k]), first);
                let high = vmlal_n_s16(high, vget_high_s16(a[k]), first);
                let low = vmlal_n_s16(low, vget_low_s16(b[k]), second);
                (low, vmlal_n_s16(high, vget_high_s16(b[k]), second))
            };
        }
        sums
    }

    #[inline(always)]
    fn negated_mean(self, sums: Self::Sums) -> Self::V {
        let mut v = self.zero();
        for (v, (low, high)) in v.iter_mut().zip(sums) {
            // SAFETY: the token proves the instruction set.
            *v = unsafe {
                let low = vcvtnq_s32_f32(vmulq_n_f32(vcvtq_f32_s32(low), THROW));
                let high = vcvtnq_s32_f32(vmulq_n_f32(vcvtq_f32_s32(high), THROW));
                vnegq_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high)))
            };
        }
        v
    }

    #[inline(always)]
    fn no_flags(self) -> uint16x8_t {
        // SAFETY: the token proves the instruction set.
        unsafe { vdupq_n_u16(0) }
    }

    #[inline(always)]
    fn flag_above(self, flags: uint16x8_t, a: Self::V, b: Self::V) -> uint16x8_t {
        let mut flags = flags;
        for k in 0..PARTS {
            // SAFETY: the token proves the instruction set.
            flags = unsafe { vorrq_u16(flags, vcgtq_s16(a[k], b[k])) };
        }
        flags
    }

    #[inline(always)]
    fn any(self, flags: uint16x8_t) -> bool {
        // SAFETY: the token proves the instruction set.
        unsafe { vmaxvq_u16(flags) != 0 }
    }

    #[inline(always)]
    unsafe fn transpose(self, block: &Block, to: *mut Line, stride: usize) {
        // SAFETY: the caller guarantees it.
        unsafe { Portable.transpose(block, to, stride) }
    }

    #[inline(always)]
    fn prefetch(self, _: *const Line) {}
}
