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

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn the_least_recent_value_is_replaced() {
        let mut recent: Recent<(u32, u32), 2> = Recent::new();
        let mut made = 0;
        let mut get = |wanted: u32| {
            let make = || {
                made += 1;
                (wanted, made)
            };
            *recent.get(|(name, _)| *name == wanted, make)
        };
        assert_eq!([1, 2, 1, 3, 1, 2].map(&mut get), [(1, 1), (2, 2), (1, 1), (3, 3), (1, 1), (2, 4)]);
    }
}
