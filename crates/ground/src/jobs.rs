//! Jobs on several threads.
//!
//! What calls this is often compiled for each game. The scheduler is not: it is some twenty functions for every type of job that it
//! knows, so it knows only one.

use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` with every number below `n`, on the threads of the pool; without one, on those of the pool that this is called in.
/// Each number is a job of its own, which any free thread takes, because jobs take unequal time. They begin in no fixed order.
pub fn each(pool: Option<&ThreadPool>, n: usize, work: &(dyn Fn(usize) + Sync)) {
    let mut all = || (0..n).into_par_iter().with_max_len(1).for_each(work);
    let all: &mut (dyn FnMut() + Send) = &mut all;
    match pool {
        Some(pool) => pool.install(all),
        None => all(),
    }
}

/// An item that waits, or what was made of it.
enum Slot<I, T> {
    Open(I),
    Taken,
    Done(T),
}

/// Calls `work` with each item, as [`each`] does. Results stand in the order of the items.
pub fn all<I: Send, T: Send>(
    pool: Option<&ThreadPool>,
    items: impl IntoIterator<Item = I>,
    work: &(dyn Fn(I) -> T + Sync),
) -> Vec<T> {
    let slots: Vec<Mutex<Slot<I, T>>> = items.into_iter().map(|item| Mutex::new(Slot::Open(item))).collect();
    let set = |k: usize, slot| {
        std::mem::replace(&mut *slots[k].lock().unwrap_or_else(PoisonError::into_inner), slot)
    };
    each(pool, slots.len(), &|k| {
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

/// Like [`all`]; after an error no further job begins.
///
/// # Errors
/// Of the jobs that began, the error of the first in order.
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
    // Without an error all have begun.
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
    fn after_an_error_no_job_begins() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let begun = Mutex::new(Vec::new());
        let found = try_all(Some(&pool), 0..10, &|k| {
            begun.lock().unwrap().push(k);
            if k == 3 { Err(format!("{k} fails")) } else { Ok(k) }
        });
        assert_eq!(found, Err("3 fails".into()));
        // One thread may take them in another order, but takes none after the one that fails.
        assert_eq!(begun.lock().unwrap().last(), Some(&3));
        assert_eq!(try_all(None, 0..5, &|k| Ok::<_, String>(k + 1)), Ok(vec![1, 2, 3, 4, 5]));
    }
}
