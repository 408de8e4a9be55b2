//! Memory prefetching. Tables are larger than the caches, and many parallel reads take hardly longer than one.

/// Prefetches the cache lines of a slice. This is only a hint: it affects only speed, and does nothing on machines
/// without such an instruction.
#[inline(always)]
pub(crate) fn fetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let (start, bytes) = (slice.as_ptr().cast::<i8>(), size_of_val(slice));
        for at in (0..bytes).step_by(LINE).chain(bytes.checked_sub(1)) {
            // SAFETY: prefetching has no visible effect, and any address is allowed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}

/// Bytes per cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;
