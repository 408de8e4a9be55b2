//! A cache of expensive constants: one value per key, kept while anyone holds it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The values that are still held, by key.
pub(crate) struct Shared<K, T>(Mutex<Vec<(K, Weak<T>)>>);

impl<K: PartialEq, T> Shared<K, T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The value of a key, computed if nobody holds it. Other callers wait meanwhile.
    pub(crate) fn get<E>(&self, key: K, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(_, one)| one.strong_count() > 0);
        if let Some(one) = held.iter().find(|(k, _)| *k == key).and_then(|(_, one)| one.upgrade()) {
            return Ok(one);
        }
        let one = Arc::new(make()?);
        held.push((key, Arc::downgrade(&one)));
        Ok(one)
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;
    use std::convert::Infallible;
    use std::sync::Arc;

    #[test]
    fn one_of_a_kind_while_it_is_held() {
        static SQUARES: Shared<u32, u32> = Shared::new();
        let square = |n: u32| SQUARES.get(n, || Ok::<_, Infallible>(n * n)).unwrap();
        let (a, b, c) = (square(3), square(3), square(4));
        assert!(Arc::ptr_eq(&a, &b) && (*a, *c) == (9, 16));
        drop((a, b));
        let remade = SQUARES.get(3, || Ok::<_, Infallible>(10)).unwrap();
        assert_eq!(*remade, 10);
        assert_eq!(SQUARES.get(5, || Err::<u32, _>("no")), Err("no"));
    }
}
