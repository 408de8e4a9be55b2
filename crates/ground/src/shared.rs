//! Expensive constants shared by all threads.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Computes a constant that other threads wait for, on separate threads. A pool worker that waits for parts of the
/// constant would otherwise steal other work of its pool; if that needs the constant too, the worker would deadlock.
pub fn on_own_threads<R: Send>(make: impl FnOnce() -> R + Send) -> R {
    // WebAssembly has no threads, so nothing waits.
    if cfg!(target_family = "wasm") {
        return make();
    }
    let on_own_threads = || match rayon::ThreadPoolBuilder::new().build() {
        Ok(pool) => pool.install(make),
        Err(_) => make(),
    };
    std::thread::scope(|scope| scope.spawn(on_own_threads).join())
        .unwrap_or_else(|panic| resume_unwind(panic))
}

/// The place of a value, locked while it is made.
type Slot<S> = Arc<Mutex<Option<S>>>;

/// A slot for each key. Only callers of the same key wait for each other.
struct Slots<K, S>(Mutex<Vec<(K, Slot<S>)>>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: PartialEq, S> Slots<K, S> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The slot of a key. Drops those that nobody uses and that have no value, or none that `is_live`.
    fn slot(&self, key: K, is_live: impl Fn(&S) -> bool) -> Slot<S> {
        let mut all = locked(&self.0);
        // A slot that is held here alone is not locked by another thread.
        all.retain(|(_, slot)| Arc::strong_count(slot) > 1 || locked(slot).as_ref().is_some_and(&is_live));
        if let Some((_, slot)) = all.iter().find(|(k, _)| *k == key) {
            return slot.clone();
        }
        let slot = Slot::default();
        all.push((key, slot.clone()));
        slot
    }
}

/// A cache with one value per key, kept while anyone holds it.
pub struct Shared<K, T: ?Sized>(Slots<K, Weak<T>>);

impl<K: PartialEq, T: Send + Sync> Shared<K, T> {
    /// The value of a key, computed if nobody holds it. Concurrent callers of the same key wait.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn get<E: Send>(&self, key: K, make: impl FnOnce() -> Result<T, E> + Send) -> Result<Arc<T>, E> {
        self.get_shared(key, || make().map(Arc::new))
    }
}

impl<K: PartialEq, T: ?Sized + Send + Sync> Shared<K, T> {
    /// An empty cache.
    pub const fn new() -> Self {
        Self(Slots::new())
    }

    /// Same as [`get`](Self::get), for values of any size, such as `dyn Any`.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn get_shared<E: Send>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<Arc<T>, E> + Send,
    ) -> Result<Arc<T>, E> {
        let slot = self.0.slot(key, |one| one.strong_count() > 0);
        let mut held = locked(&slot);
        if let Some(one) = held.as_ref().and_then(Weak::upgrade) {
            return Ok(one);
        }
        let one = on_own_threads(make)?;
        *held = Some(Arc::downgrade(&one));
        Ok(one)
    }
}

impl<K: PartialEq, T: ?Sized + Send + Sync> Default for Shared<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A cache with one value per key, kept while the program runs.
pub struct Kept<K, V>(Slots<K, V>);

impl<K: PartialEq, V: Clone> Kept<K, V> {
    /// An empty cache.
    pub const fn new() -> Self {
        Self(Slots::new())
    }

    /// The value of a key, made by the first caller, if there is one. Concurrent callers of the same key wait.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn get<E>(&self, key: K, make: impl FnOnce() -> Option<Result<V, E>>) -> Option<Result<V, E>> {
        let slot = self.0.slot(key, |_| true);
        let mut held = locked(&slot);
        if let Some(one) = &*held {
            return Some(Ok(one.clone()));
        }
        let made = make()?;
        *held = made.as_ref().ok().cloned();
        Some(made)
    }
}

impl<K: PartialEq, V: Clone> Default for Kept<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Shared, on_own_threads};
    use std::any::Any;
    use std::convert::Infallible;
    use std::sync::mpsc::channel;
    use std::sync::{Arc, OnceLock};
    use std::time::Duration;

    /// One worker computes a constant. Another has taken a part of it, so the first one steals other work of the pool,
    /// which needs the constant.
    #[test]
    fn a_worker_does_not_wait_for_itself() {
        static CONSTANT: OnceLock<u8> = OnceLock::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (taken, is_taken) = channel();
        let (finish, may_finish) = channel();
        let (begun, has_begun) = channel();
        let (done, is_done) = channel();
        let patience = Duration::from_secs(60);
        let part = move || {
            taken.send(()).unwrap();
            may_finish.recv().unwrap();
        };
        let (mine, first) = channel();
        let computed = move || {
            let part = move || {
                // With a single core, no thread takes the part while the other one waits.
                let _ = mine.send(());
                part();
            };
            rayon::join(move || first.recv_timeout(Duration::from_secs(1)).is_ok(), part);
            7
        };
        let sent = done.clone();
        pool.spawn(move || sent.send(*CONSTANT.get_or_init(|| on_own_threads(computed))).unwrap());
        is_taken.recv_timeout(patience).unwrap();
        pool.spawn(move || {
            begun.send(()).unwrap();
            done.send(*CONSTANT.get_or_init(|| unreachable!("it is being computed"))).unwrap();
        });
        has_begun.recv_timeout(patience).unwrap();
        finish.send(()).unwrap();
        for _ in 0..2 {
            assert_eq!(is_done.recv_timeout(patience).expect("a worker waits for itself"), 7);
        }
    }

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

        static ANY: Shared<u32, dyn Any + Send + Sync> = Shared::new();
        let any = |n: u32| ANY.get_shared(n, || Ok::<_, Infallible>(Arc::new(n))).unwrap();
        let (a, b) = (any(3), any(3));
        assert!(Arc::ptr_eq(&a, &b) && a.downcast::<u32>().is_ok());
    }

    /// A thread that makes one value keeps no other value waiting, and makes its own once.
    #[test]
    fn keys_do_not_wait_for_each_other() {
        static SQUARES: Shared<u32, u32> = Shared::new();
        static KEPT: Kept<u32, u32> = Kept::new();
        let patience = Duration::from_secs(60);
        let (begun, has_begun) = channel();
        let (finish, may_finish) = channel::<()>();
        let slow = std::thread::spawn(move || {
            let make = move || {
                begun.send(()).unwrap();
                may_finish.recv_timeout(patience).map(|()| 9)
            };
            let kept = KEPT.get(3, || Some(SQUARES.get(3, make).map(|one| *one)));
            kept.unwrap().expect("it may finish")
        });
        has_begun.recv_timeout(patience).unwrap();
        assert_eq!(*SQUARES.get(4, || Ok::<_, Infallible>(16)).unwrap(), 16);
        assert_eq!(KEPT.get(4, || Some(Ok::<_, Infallible>(16))), Some(Ok(16)));
        finish.send(()).unwrap();
        assert_eq!(slow.join().unwrap(), 9);
        assert_eq!(KEPT.get(3, || Some(Err("made twice"))), Some(Ok(9)));
        // A key without a value, or with a failed one, is tried again.
        assert_eq!(KEPT.get(5, || None::<Result<_, &str>>), None);
        assert_eq!(KEPT.get(5, || Some(Err("no"))), Some(Err("no")));
        assert_eq!(KEPT.get(5, || Some(Ok::<_, &str>(25))), Some(Ok(25)));
    }
}
