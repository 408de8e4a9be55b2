//! Asking memory for what will soon be read: tables are larger than the caches, and many reads at a time take hardly longer
//! than one.

/// Asks for the cache lines of a slice. Only a hint: it changes nothing but time, and does nothing where there is no
/// such instruction.
#[inline(always)]
pub(crate) fn fetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let (start, bytes) = (slice.as_ptr().cast::<i8>(), size_of_val(slice));
        for at in (0..bytes).step_by(LINE).chain(bytes.checked_sub(1)) {
            // SAFETY: prefetching reads nothing that the program could see, and any address is allowed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;
