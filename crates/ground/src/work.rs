//! Reports of long work to whoever shows progress, such as a command line.
//!
//! Games and libraries call [`share`] while they solve a table or draw positions. Without a receiver, reports are dropped.

use std::sync::OnceLock;

type Receiver = Box<dyn Fn(&str, f64) + Send + Sync>;

static RECEIVER: OnceLock<Receiver> = OnceLock::new();

/// Sends all later reports of this process to `receiver`, which may be called on any thread. Only the first call has an
/// effect.
pub fn receive(receiver: impl Fn(&str, f64) + Send + Sync + 'static) {
    let _ = RECEIVER.set(Box::new(receiver));
}

/// Reports the finished share of some work, in [0, 1]. `what` names the work in a few words, the same in each report of
/// it. A share of 0 announces work that takes seconds; 1 ends it.
pub fn share(what: &str, done: f64) {
    if let Some(receiver) = RECEIVER.get() {
        receiver(what, done);
    }
}

/// These items, with reports of the share of them that was taken.
pub fn each<'a, T>(what: &'a str, items: &'a [T]) -> impl Iterator<Item = &'a T> {
    items
        .iter()
        .enumerate()
        .inspect(move |(i, _)| {
            if i % 64 == 63 || i + 1 == items.len() {
                share(what, (i + 1) as f64 / items.len() as f64);
            }
        })
        .map(|(_, item)| item)
}
