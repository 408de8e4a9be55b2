//! Jobs on several threads.
//!
//! Callers are often compiled once per game. The scheduler is not: it consists of some twenty functions per job type,
//! so it has only one job type.

use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` with every number below `n` on the threads of the pool, or without one, on the current pool. Each
/// number is a separate job for any free thread, because jobs take unequal time. The order is unspecified.
pub fn each(pool: Option<&ThreadPool>, n: usize, work: &(dyn Fn(usize) + Sync)) {
    let mut all = || (0..n).into_par_iter().with_max_len(1).for_each(work);
    let all: &mut (dyn FnMut() + Send) = &mut all;
    match pool {
        Some(pool) => pool.install(all),
        None => all(),
    }
}

/// Calls `first` on this thread and `work` with every number below `n`: in order on the threads of the pool as they
/// become free, and on this thread after `first`. Without a pool this thread does everything.
fn each_beside(pool: Option<&ThreadPool>, n: usize, work: &(dyn Fn(usize) + Sync), first: &mut dyn FnMut()) {
    let next = AtomicUsize::new(0);
    let run = || {
        while let k = next.fetch_add(1, Ordering::Relaxed)
            && k < n
        {
            work(k);
        }
    };
    let Some(pool) = pool else {
        first();
        return run();
    };
    pool.in_place_scope(|scope| {
        for _ in 0..pool.current_num_threads().min(n) {
            scope.spawn(|_| run());
        }
        first();
        run();
    });
}

/// An input item, or its result.
enum Slot<I, T> {
    Open(I),
    Taken,
    Done(T),
}

/// Calls `work` with each item, as [`each`] does. Results are in the order of the items.
pub fn all<I: Send, T: Send>(
    pool: Option<&ThreadPool>,
    items: impl IntoIterator<Item = I>,
    work: &(dyn Fn(I) -> T + Sync),
) -> Vec<T> {
    with_slots(items, work, |n, work| each(pool, n, work))
}

/// Calls `first` on this thread and `work` with each item: in order on the threads of the pool as they become free, and
/// on this thread after `first`. Without a pool this thread does everything. Results are in the order of the items.
pub fn all_beside<I: Send, T: Send, R>(
    pool: Option<&ThreadPool>,
    items: impl IntoIterator<Item = I>,
    work: &(dyn Fn(I) -> T + Sync),
    first: impl FnOnce() -> R,
) -> (R, Vec<T>) {
    let (mut first, mut result) = (Some(first), None);
    let made = with_slots(items, work, |n, work| {
        each_beside(pool, n, work, &mut || result = first.take().map(|first| first()));
    });
    (result.expect("`first` is called once"), made)
}

/// Lets `call` call `work` with the items by index, and collects the results.
fn with_slots<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    work: &(dyn Fn(I) -> T + Sync),
    call: impl FnOnce(usize, &(dyn Fn(usize) + Sync)),
) -> Vec<T> {
    let slots: Vec<Mutex<Slot<I, T>>> = items.into_iter().map(|item| Mutex::new(Slot::Open(item))).collect();
    let set = |k: usize, slot| {
        std::mem::replace(&mut *slots[k].lock().unwrap_or_else(PoisonError::into_inner), slot)
    };
    call(slots.len(), &|k| {
        if let Slot::Open(item) = set(k, Slot::Taken) {
            set(k, Slot::Done(work(item)));
        }
    });
    let done = |slot: Mutex<Slot<I, T>>| match slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Slot::Done(made) => Some(made),
        _ => None,
    };
    slots.into_iter().filter_map(done).collect()
}

/// Like [`all`]; after an error no further job starts.
///
/// # Errors
/// The first error in order among the started jobs.
pub fn try_all<I: Send, T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    items: impl IntoIterator<Item = I>,
    work: &(dyn Fn(I) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    let failed = AtomicBool::new(false);
    let found = all(pool, items, &|item| {
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let made = work(item);
        failed.fetch_or(made.is_err(), Ordering::Relaxed);
        Some(made)
    });
    // Without an error, all have started.
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_items() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for pool in [None, Some(&pool)] {
            let names = ["a", "b", "c", "d", "e"].map(String::from);
            assert_eq!(all(pool, names, &|name| name + "!"), ["a!", "b!", "c!", "d!", "e!"]);
            assert_eq!(all(pool, 0..100, &|k| k * k), (0..100).map(|k| k * k).collect::<Vec<_>>());
            assert!(all(pool, [0; 0], &|k| k).is_empty());
        }
    }

    #[test]
    fn the_first_thing_is_done_here_and_the_items_by_all() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for pool in [None, Some(&pool)] {
            let here = std::thread::current().id();
            for n in [0, 1, 2, 50] {
                let (first, found) =
                    all_beside(pool, 0..n, &|k| k * k, || std::thread::current().id() == here);
                assert!(first);
                assert_eq!(found, (0..n).map(|k| k * k).collect::<Vec<_>>());
            }
        }
        // The only pool thread waits for an item that this thread does.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let (send, receive) = (Mutex::new(send), Mutex::new(receive));
        let (begun, begins) = std::sync::mpsc::channel();
        let begun = Mutex::new(begun);
        let work = |k: usize| match k {
            0 => {
                begun.lock().unwrap().send(()).unwrap();
                receive.lock().unwrap().recv().unwrap()
            }
            _ => {
                send.lock().unwrap().send(k).unwrap();
                k
            }
        };
        // This thread must not start before the pool has taken the first item.
        let ((), found) = all_beside(Some(&pool), 0..2, &work, || begins.recv().unwrap());
        assert_eq!(found, [1, 1]);
    }

    #[test]
    fn after_an_error_no_job_begins() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let begun = Mutex::new(Vec::new());
        let found = try_all(Some(&pool), 0..10, &|k| {
            begun.lock().unwrap().push(k);
            if k == 3 { Err(format!("{k} fails")) } else { Ok(k) }
        });
        assert_eq!(found, Err("3 fails".into()));
        // A single thread may take them in another order, but takes none after the failing one.
        assert_eq!(begun.lock().unwrap().last(), Some(&3));
        assert_eq!(try_all(None, 0..5, &|k| Ok::<_, String>(k + 1)), Ok(vec![1, 2, 3, 4, 5]));
    }
}
