//! Products of matrices of bfloat16 numbers by the tiles of AMX.
//!
//! A tile is a register of sixteen rows of 64 bytes. One instruction multiplies sixteen rows of 32 numbers by 32 rows of sixteen, and
//! adds to sixteen rows of sixteen floats (Intel, Software Developer's Manual 2, TDPBF16PS): for each of the 256 sums it adds the products
//! of even places in order, those of odd places in order, then both to the sum.

use crate::bf16::{Bf16Lane, CacheLine, PER_LANE, to_bf16};

/// Rows of a product in one call.
pub(crate) const HIGH: usize = 32;
/// Columns of a product in one call, as two tiles.
pub(crate) const WIDE: usize = 32;

/// Sums of a product: each row has two lines.
pub(crate) type Sums = [CacheLine<f32, 16>; 2 * HIGH];

/// A weight in the order in which tiles read it: pairs of tiles of sixteen columns; in each, 32 inputs after the other; in each tile,
/// lines of two inputs by sixteen columns. Missing inputs and columns are 0.
pub(crate) fn packed(weight: &[f32], inputs: usize, columns: usize, stride: usize) -> Vec<Bf16Lane> {
    let (depth, pairs) = (inputs.div_ceil(PER_LANE), columns.div_ceil(WIDE));
    let mut all = vec![CacheLine([0; PER_LANE]); pairs * depth * 2 * 16];
    for (place, line) in all.iter_mut().enumerate() {
        let (row, tile, block, pair) = (place % 16, place / 16 % 2, place / 32 % depth, place / 32 / depth);
        for (i, to) in line.0.iter_mut().enumerate() {
            let input = block * PER_LANE + 2 * row + i % 2;
            let column = pair * WIDE + tile * 16 + i / 2;
            if input < inputs && column < columns {
                *to = to_bf16(weight[input * stride + column]);
            }
        }
    }
    all
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use amx::Tiles;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) use none::Tiles;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx {
    use super::{Bf16Lane, CacheLine, HIGH, PER_LANE, Sums};
    use std::arch::asm;
    use std::arch::x86_64::*;
    use std::sync::OnceLock;

    /// A machine with AMX for bfloat16 whose system lets this process use it.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Tiles(());

    /// Tiles that are shaped for products of a number of rows. Dropped, they are free, so that the system does not save them when
    /// it switches to another thread.
    #[derive(Debug)]
    pub(crate) struct Shaped {
        rows: usize,
    }

    impl Drop for Shaped {
        fn drop(&mut self) {
            // SAFETY: shaped tiles prove the instruction set.
            unsafe { asm!("tilerelease", options(nostack, nomem)) };
        }
    }

    /// The shapes of the tiles, as the instruction `ldtilecfg` reads them.
    #[repr(C, align(64))]
    struct Shapes {
        palette: u8,
        start_row: u8,
        reserved: [u8; 14],
        bytes: [u16; 16],
        rows: [u8; 16],
    }

    impl Tiles {
        /// The tiles of this machine, if it has them.
        pub(crate) fn detect() -> Option<Self> {
            static FOUND: OnceLock<bool> = OnceLock::new();
            let found = *FOUND.get_or_init(|| {
                let features = raw_cpuid::CpuId::new().get_extended_feature_info();
                features.is_some_and(|f| f.has_amx_tile() && f.has_amx_bf16())
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bf16")
                    && allowed()
            });
            found.then_some(Self(()))
        }

        /// Up to [`HIGH`] rows of floats as `[blocks of 32 columns][HIGH][32]`.
        pub(crate) fn load<'a>(
            self,
            rows: impl ExactSizeIterator<Item = &'a [f32]>,
            columns: usize,
            to: &mut [Bf16Lane],
        ) {
            assert!(rows.len() <= HIGH && to.len() >= columns.div_ceil(PER_LANE) * HIGH);
            for (r, row) in rows.enumerate() {
                // SAFETY: the token proves the instruction sets.
                unsafe { load_row(&row[..columns], &mut to[r..]) };
            }
        }

        /// Shapes the tiles for products of this many rows, at most [`HIGH`].
        pub(crate) fn shape(self, rows: usize) -> Shaped {
            assert!((1..=HIGH).contains(&rows));
            let (upper, lower) = (rows.min(16) as u8, rows.saturating_sub(16) as u8);
            let mut shapes =
                Shapes { palette: 1, start_row: 0, reserved: [0; 14], bytes: [0; 16], rows: [0; 16] };
            // Sums of the upper and lower rows, rows of the left side, and two tiles of the right side.
            let high = [upper, upper, lower, lower, upper, lower, 16, 16];
            for (tile, rows) in high.into_iter().enumerate().filter(|(_, rows)| *rows > 0) {
                (shapes.bytes[tile], shapes.rows[tile]) = (64, rows);
            }
            // SAFETY: the token proves the instruction set, and the shapes are valid.
            unsafe { asm!("ldtilecfg [{}]", in(reg) &shapes, options(nostack, readonly)) };
            Shaped { rows }
        }
    }

    impl Shaped {
        /// The number of rows.
        pub(crate) fn rows(&self) -> usize {
            self.rows
        }

        /// The product of rows of `a`, as [`load`](Tiles::load) writes them, and a pair of tiles of [`packed`](super::packed).
        pub(crate) fn product(&self, a: &[Bf16Lane], b: &[Bf16Lane], to: &mut Sums) {
            let depth = b.len() / 32;
            assert!(b.len() == depth * 32 && depth > 0 && a.len() >= depth * HIGH);
            // SAFETY: the tiles are shaped, by a token that proves the instruction set, and the loops read `depth` blocks of both
            // slices.
            unsafe {
                if self.rows > 16 {
                    asm!(
                        "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
                        "2:",
                        "tileloadd tmm4, [{a} + {line}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        "tdpbf16ps tmm0, tmm4, tmm6",
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        "tdpbf16ps tmm1, tmm4, tmm7",
                        "tileloadd tmm5, [{a} + {line} + 1024]",
                        "tdpbf16ps tmm2, tmm5, tmm6",
                        "tdpbf16ps tmm3, tmm5, tmm7",
                        "add {a}, 2048",
                        "add {b}, 2048",
                        "dec {depth}",
                        "jnz 2b",
                        "tilestored [{to} + {two}], tmm0",
                        "tilestored [{to} + {two} + 64], tmm1",
                        "tilestored [{to} + {two} + 2048], tmm2",
                        "tilestored [{to} + {two} + 2112], tmm3",
                        a = inout(reg) a.as_ptr() => _,
                        b = inout(reg) b.as_ptr() => _,
                        depth = inout(reg) depth => _,
                        to = in(reg) to.as_mut_ptr(),
                        line = in(reg) 64_usize,
                        two = in(reg) 128_usize,
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                        out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                } else {
                    asm!(
                        "tilezero tmm0", "tilezero tmm1",
                        "2:",
                        "tileloadd tmm4, [{a} + {line}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        "tdpbf16ps tmm0, tmm4, tmm6",
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        "tdpbf16ps tmm1, tmm4, tmm7",
                        "add {a}, 2048",
                        "add {b}, 2048",
                        "dec {depth}",
                        "jnz 2b",
                        "tilestored [{to} + {two}], tmm0",
                        "tilestored [{to} + {two} + 64], tmm1",
                        a = inout(reg) a.as_ptr() => _,
                        b = inout(reg) b.as_ptr() => _,
                        depth = inout(reg) depth => _,
                        to = in(reg) to.as_mut_ptr(),
                        line = in(reg) 64_usize,
                        two = in(reg) 128_usize,
                        out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                }
            }
        }
    }

    /// Asks the system to let this process use the data of tiles.
    fn allowed() -> bool {
        // `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`, which no crate of ours wraps.
        let mut result: usize = 158;
        // SAFETY: the call changes no memory of this process.
        unsafe {
            asm!(
                "syscall",
                inout("rax") result,
                in("rdi") 0x1023,
                in("rsi") 18,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
        result == 0
    }

    /// Rounds a row to every [`HIGH`]th line.
    ///
    /// # Safety
    /// The machine has AVX-512 F and BF16.
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn load_row(row: &[f32], to: &mut [Bf16Lane]) {
        let (whole, rest) = row.as_chunks::<PER_LANE>();
        for (from, to) in whole.iter().zip(to.iter_mut().step_by(HIGH)) {
            round(from, to);
        }
        if !rest.is_empty() {
            let mut last = [0.0; PER_LANE];
            last[..rest.len()].copy_from_slice(rest);
            round(&last, &mut to[whole.len() * HIGH]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn round(from: &[f32; PER_LANE], CacheLine(to): &mut Bf16Lane) {
        // SAFETY: all 32 numbers are read and written.
        unsafe {
            let (low, high) = (_mm512_loadu_ps(from.as_ptr()), _mm512_loadu_ps(from[16..].as_ptr()));
            let halves: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(high, low));
            _mm512_storeu_si512(to.as_mut_ptr().cast(), halves);
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod none {
    use super::{Bf16Lane, Sums};

    /// No machine of this kind.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Tiles {}

    impl Tiles {
        pub(crate) fn detect() -> Option<Self> {
            None
        }

        pub(crate) fn load<'a>(
            self,
            _: impl ExactSizeIterator<Item = &'a [f32]>,
            _: usize,
            _: &mut [Bf16Lane],
        ) {
            match self {}
        }

        pub(crate) fn shape(self, _: usize) -> Shaped {
            match self {}
        }
    }

    /// See [`Tiles`].
    #[derive(Debug)]
    pub(crate) enum Shaped {}

    impl Shaped {
        pub(crate) fn rows(&self) -> usize {
            match *self {}
        }

        pub(crate) fn product(&self, _: &[Bf16Lane], _: &[Bf16Lane], _: &mut Sums) {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bf16::from_bf16;

    /// The rows that AMX reads are those of [`to_bf16`].
    #[test]
    fn rows_are_rounded_as_numbers_are() {
        let Some(tiles) = Tiles::detect() else { return };
        let mut row: Vec<f32> = (0..75).map(|i: u32| f32::from_bits(i.wrapping_mul(0x9e37_79b9))).collect();
        row.extend([0x007f_ffff, 0x807f_ffff, 0x007f_8000, 0x0080_0000].map(f32::from_bits));
        row.extend([0.0, -0.0, 1e-40, -1e-40, f32::MAX, f32::INFINITY, 1.175_494_4e-38, 1.003_906_3]);
        let mut to = vec![CacheLine([7; PER_LANE]); 3 * HIGH];
        tiles.load([&row[..]].into_iter(), row.len(), &mut to);
        for (i, x) in row.iter().enumerate() {
            let found = to[i / PER_LANE * HIGH].0[i % PER_LANE];
            assert!(
                x.is_nan() && from_bf16(found).is_nan() || found == to_bf16(*x),
                "{x}: {found:x} {:x}",
                to_bf16(*x)
            );
        }
        assert!(
            to[2 * HIGH].0[row.len() % PER_LANE..].iter().all(|half| *half == 0),
            "the row is filled with zeros"
        );
        assert!(to[1].0.iter().all(|half| *half == 7), "another row is not written");
    }
}
