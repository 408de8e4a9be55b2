//! The inner loops of the native engine, generic over the instruction set, which is selected at run time.
//!
//! Every matrix row is padded with zeros to a multiple of [`LANES`] numbers, so that all loops run over whole chunks. A
//! width of 1 is not padded. Weights have shape `[inputs, padded outputs]`, so that one input times one row of weights
//! is a vector operation. With a single output they are one padded column.

use super::simd::{Chunk, LANES};

/// Defines `avx512` and `avx2`, the versions of `$body` for these instruction sets, as functions that are not inlined.
#[cfg(target_arch = "x86_64")]
macro_rules! versions {
    (fn $body:ident $(<$const:ident>)? ($($arg:ident: $type:ty),*)) => {
        use crate::native::simd::{Avx2, Avx512};
        #[inline(never)]
        #[target_feature(enable = "avx512f,avx512dq,avx2,fma,popcnt,bmi1")]
        fn avx512 $(<const $const: usize>)? ($($arg: $type),*) {
            // SAFETY: these are the features of this function.
            $body$(::<_, $const>)?(unsafe { Avx512::new() }, $($arg),*)
        }
        #[inline(never)]
        #[target_feature(enable = "avx2,fma,popcnt,bmi1")]
        fn avx2 $(<const $const: usize>)? ($($arg: $type),*) {
            // SAFETY: these are the features of this function.
            $body$(::<_, $const>)?(unsafe { Avx2::new() }, $($arg),*)
        }
    };
}

/// Defines `$name`, which runs the version of `$body` for the instruction set `isa`.
macro_rules! dispatched {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:ident;) => {
        $(#[$meta])*
        pub(crate) fn $name(isa: crate::native::simd::Isa, $($arg: $type),*) {
            use crate::native::simd::{Isa, Portable};
            #[cfg(target_arch = "x86_64")]
            {
                versions!(fn $body($($arg: $type),*));
                match isa {
                    // SAFETY: networks accept only detected instruction sets.
                    Isa::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: see above.
                    Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    Isa::Portable => {}
                }
            }
            // Other targets have only the portable version.
            #[cfg(not(target_arch = "x86_64"))]
            let Isa::Portable = isa;
            $body(Portable, $($arg),*)
        }
    };
}

/// Defines `$name::<S, C>`, which runs `$body` in a function of its own. This crate takes twice as long to compile if all block sizes
/// of a kernel are inlined in one function.
macro_rules! per_width {
    ($(#[$meta:meta])* fn $name:ident<$const:ident>($($arg:ident: $type:ty),* $(,)?) = $body:ident;) => {
        $(#[$meta])*
        #[inline(always)]
        pub(super) fn $name<S: crate::native::simd::Simd, const $const: usize>(_: S, $($arg: $type),*) {
            use crate::native::simd::{Isa, Portable};
            #[cfg(target_arch = "x86_64")]
            {
                versions!(fn $body<$const>($($arg: $type),*));
                // In `const` blocks, so that no version is compiled for block sizes that only another one has.
                if const { matches!(S::ISA, Isa::Avx512) } {
                    // SAFETY: the token proves these features.
                    return unsafe { avx512::<$const>($($arg),*) };
                }
                if const { matches!(S::ISA, Isa::Avx2) } {
                    // SAFETY: see above.
                    return unsafe { avx2::<$const>($($arg),*) };
                }
            }
            if const { matches!(S::ISA, Isa::Portable) } {
                #[inline(never)]
                fn portable<const $const: usize>($($arg: $type),*) {
                    $body::<_, $const>(Portable, $($arg),*)
                }
                portable::<$const>($($arg),*);
            }
        }
    };
}

// After the macros, which the modules use.
mod across;
mod backward;
mod bf16;
mod bf16_floats;
mod bf16_pairs;
mod bf16_tiles;
mod dense;
mod forward;
mod gate;
pub(crate) mod int8;
mod math;
mod mixed;
mod mixture;
mod narrow;
mod pairwise;
mod peak;
mod residual;
mod sparse;
mod step;
mod zip;

pub(crate) use backward::dense_backward;
pub(crate) use bf16::{Bf16Layers, Bf16Unit, suits_bf16};
pub(crate) use dense::{InputAdjoint, Layer, LayerGrad, Matrix, Saved};
pub(crate) use forward::{ForwardRoom, dense_forward};
pub(crate) use gate::gate;
pub(crate) use int8::Int8Isa;
pub(crate) use mixed::{MOST_UNITS, Mixed, lanes, mixed_forward};
pub(crate) use mixture::{blend, blend_backward, gate_backward, log_mix, log_mix_backward, log_weights};
pub(crate) use narrow::{is_narrow, narrow_forward, narrow_rows};
pub(crate) use pairwise::{
    Columns, Errors, Gated, Head, Unit, gated_values, pair_errors, pair_products, pair_values,
};
pub use pairwise::{TILE, TileRow};
pub(crate) use peak::{fma_loop, read_loop};
pub(crate) use residual::{Prior, residual, residual_backward};
pub(crate) use sparse::by_differences;
pub(crate) use step::{SparseStep, StepRule, add_scaled, scale_add, step, step_inputs};
pub(crate) use zip::ZipInlineExt;

/// Padded row length of a value or weight of width `width`.
pub(crate) fn stride(width: usize) -> usize {
    if width == 1 { 1 } else { width.next_multiple_of(LANES) }
}

#[inline(always)]
fn chunks(data: &[f32]) -> &[Chunk] {
    data.as_chunks().0
}

#[inline(always)]
fn chunks_mut(data: &mut [f32]) -> &mut [Chunk] {
    data.as_chunks_mut().0
}

#[cfg(test)]
dispatched! {
    /// Four columns of sixteen rows.
    fn columns(rows: &[[f32; 4]; LANES], to: &mut [Chunk; 4]) = columns_body;
}

#[cfg(test)]
#[inline(always)]
fn columns_body<S: super::simd::Simd>(s: S, rows: &[[f32; 4]; LANES], to: &mut [Chunk; 4]) {
    to.iter_mut().zip_inline(s.columns(rows.each_ref())).for_each(|(to, column)| s.store(to, column));
}

#[cfg(test)]
dispatched! {
    /// Rows as columns.
    fn transposed(rows: &[Chunk; LANES], to: &mut [Chunk; LANES]) = transposed_body;
}

#[cfg(test)]
#[inline(always)]
fn transposed_body<S: super::simd::Simd>(s: S, rows: &[Chunk; LANES], to: &mut [Chunk; LANES]) {
    to.iter_mut().zip_inline(s.transposed(rows.each_ref())).for_each(|(to, row)| s.store(to, row));
}

#[cfg(test)]
dispatched! {
    /// The sum of each row.
    fn sums_of(rows: &[Chunk; LANES], to: &mut Chunk) = sums_body;
}

#[cfg(test)]
#[inline(always)]
fn sums_body<S: super::simd::Simd>(s: S, rows: &[Chunk; LANES], to: &mut Chunk) {
    s.store(to, s.sums(rows.each_ref().map(|row| s.load(row))));
}
