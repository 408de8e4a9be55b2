//! Two iterators side by side, as by [`Iterator::zip`], whose steps are inlined under any profile. Parts of the library's
//! `zip` are not marked `#[inline]`: without link-time optimisation they stay calls in the innermost loops.

/// See [`BesideExt::beside`].
pub(crate) struct Beside<A, B>(A, B);

/// Iterators that go side by side with another one.
pub(crate) trait BesideExt: Iterator + Sized {
    /// Pairs of items, until one of the two ends.
    #[inline(always)]
    fn beside<B: IntoIterator>(self, other: B) -> Beside<Self, B::IntoIter> {
        Beside(self, other.into_iter())
    }
}

impl<I: Iterator> BesideExt for I {}

impl<A: Iterator, B: Iterator> Iterator for Beside<A, B> {
    type Item = (A::Item, B::Item);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.1.next()?))
    }
}
