//! Numbers whose memory begins at a cache line.

use super::simd::LANES;
use std::ops::{Deref, DerefMut};

/// One cache line on the machines that have the widest registers.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

/// A vector of numbers that begins at a cache line. A register that is loaded across two lines takes twice as long, and
/// where a `Vec` begins is a matter of luck.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aligned {
    lines: Vec<Line>,
    len: usize,
}

impl Aligned {
    /// `len` zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([0.0; LANES]); len.div_ceil(LANES)], len }
    }

    /// Changes the length. New numbers are 0.
    #[inline]
    pub(crate) fn resize(&mut self, len: usize) {
        if len != self.len {
            self.change_len(len);
        }
    }

    /// Makes it `len` zeros.
    #[inline]
    pub(crate) fn zero(&mut self, len: usize) {
        self.resize(len);
        self.fill(0.0);
    }

    fn change_len(&mut self, len: usize) {
        let before = self.len;
        self.lines.resize(len.div_ceil(LANES), Line([0.0; LANES]));
        self.len = len;
        // What a longer vector left in the last line.
        if before < len {
            let end = len.min(before.next_multiple_of(LANES));
            self[before..end].fill(0.0);
        }
    }

    /// Removes all numbers but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.len = 0;
    }
}

impl Deref for Aligned {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        // SAFETY: lines are arrays of numbers without padding, and there are at least `len` numbers in them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: see above; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_a_line_and_new_ones_are_zero() {
        let mut all = Aligned::zeros(3);
        all.copy_from_slice(&[1.0, 2.0, 3.0]);
        assert_eq!((all.as_ptr() as usize % 64, &all[..]), (0, &[1.0, 2.0, 3.0][..]));
        all.resize(40);
        assert!(
            (all.as_ptr() as usize).is_multiple_of(64)
                && all[3..].iter().all(|x| *x == 0.0)
                && all.len() == 40
        );
        all.fill(7.0);
        all.resize(2);
        all.resize(20);
        assert_eq!(&all[..3], [7.0, 7.0, 0.0]);
        assert!(all[2..].iter().all(|x| *x == 0.0));
        all.fill(7.0);
        all.zero(3);
        all.resize(20);
        assert!(all.len() == 20 && all.iter().all(|x| *x == 0.0));
        all.clear();
        assert!(all.is_empty());
    }
}
