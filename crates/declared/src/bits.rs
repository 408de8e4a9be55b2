//! Sets of small numbers, such as the facts that hold: bit n is number n.

use smallvec::{Array, SmallVec};

/// Calls `visit` with each number of a set, in ascending order.
#[inline]
pub(crate) fn each(words: &[u64], mut visit: impl FnMut(usize)) {
    for (w, &word) in words.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            visit(w * 64 + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

/// Whether a set has a number.
#[inline]
pub(crate) fn holds(words: &[u64], number: usize) -> bool {
    words[number / 64] >> (number % 64) & 1 == 1
}

/// Adds a number to a set, or removes it.
#[inline]
pub(crate) fn write(words: &mut [u64], number: usize, holds: bool) {
    let (word, bit) = (&mut words[number / 64], 1 << (number % 64));
    if holds {
        *word |= bit;
    } else {
        *word &= !bit;
    }
}

/// The set with each number n replaced by `places[n]`.
pub(crate) fn moved<A: Array<Item = u64>>(words: &[u64], places: &[u32]) -> SmallVec<A> {
    let mut moved = SmallVec::from_elem(0, words.len());
    each(words, |number| write(&mut moved, places[number] as usize, true));
    moved
}
