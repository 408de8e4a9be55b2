//! Values that a thread used last.

/// At most `MOST` values, the most recently used one first.
#[derive(Debug)]
pub(crate) struct Recent<T, const MOST: usize>(Vec<T>);

impl<T, const MOST: usize> Recent<T, MOST> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value that `is_wanted` accepts, or else a new one, which may replace the least recently used one.
    #[inline]
    pub(crate) fn get(&mut self, is_wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
        match self.0.iter().position(is_wanted) {
            Some(0) => {}
            Some(at) => self.0[..=at].rotate_right(1),
            None => {
                self.0.truncate(MOST - 1);
                self.0.insert(0, make());
            }
        }
        &mut self.0[0]
    }
}
