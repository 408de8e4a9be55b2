//! Expensive constants shared by all threads.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Computes a constant that other threads wait for, on separate threads. A pool worker that waits for parts of the
/// constant would otherwise steal other work of its pool; if that needs the constant too, the worker would deadlock.
pub(crate) fn on_own_threads<R: Send>(make: impl FnOnce() -> R + Send) -> R {
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

/// A cache with one value per key, kept while anyone holds it.
pub(crate) struct Shared<K, T>(Mutex<Vec<(K, Weak<T>)>>);

impl<K: PartialEq, T: Send + Sync> Shared<K, T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The value of a key, computed if nobody holds it. Concurrent callers wait.
    pub(crate) fn get<E: Send>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<Arc<T>, E> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(_, one)| one.strong_count() > 0);
        if let Some(one) = held.iter().find(|(k, _)| *k == key).and_then(|(_, one)| one.upgrade()) {
            return Ok(one);
        }
        let one = Arc::new(on_own_threads(make)?);
        held.push((key, Arc::downgrade(&one)));
        Ok(one)
    }
}

#[cfg(test)]
mod tests {
    use super::{Shared, on_own_threads};
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
    }
}
