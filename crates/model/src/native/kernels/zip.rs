//! [`Iterator::zip`] whose steps are inlined under any profile. Parts of the library's
//! `zip` are not marked `#[inline]`: without link-time optimisation they stay calls in the innermost loops.

/// See [`ZipInlineExt::zip_inline`].
pub(crate) struct ZipInline<A, B>(A, B);

/// Adds [`zip_inline`](Self::zip_inline) to iterators.
pub(crate) trait ZipInlineExt: Iterator + Sized {
    /// Pairs of items, until one of the two iterators ends.
    #[inline(always)]
    fn zip_inline<B: IntoIterator>(self, other: B) -> ZipInline<Self, B::IntoIter> {
        ZipInline(self, other.into_iter())
    }
}

impl<I: Iterator> ZipInlineExt for I {}

impl<A: Iterator, B: Iterator> Iterator for ZipInline<A, B> {
    type Item = (A::Item, B::Item);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.1.next()?))
    }
}
