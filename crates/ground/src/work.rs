//! Progress reports of long work.
//!
//! Games and libraries call [`share`] while they solve a table or sample positions. Without a receiver, reports are
//! dropped.

use std::sync::OnceLock;
use std::time::Duration;

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

/// Iterates over items and reports the share of them that was taken.
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

/// Seconds after which a log line about some work is due. Later lines are due every [`LAST`] seconds.
const DUE: [u64; 8] = [2, 5, 10, 20, 40, 60, 120, 300];

/// Longest time between log lines about some work, in seconds.
const LAST: u64 = 600;

/// Schedules log lines about some work at growing intervals, because long work needs few of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Time at which the latest line was due.
    last: Duration,
}

impl Pace {
    /// Whether a line is due this long after the work began. The next one is due later, however many were missed.
    pub fn is_due(&mut self, elapsed: Duration) -> bool {
        let later = |after: Duration| {
            let next = DUE.into_iter().find(|due| Duration::from_secs(*due) > after);
            Duration::from_secs(next.unwrap_or((after.as_secs() / LAST + 1) * LAST))
        };
        let due = elapsed >= later(self.last);
        if due {
            self.last = elapsed;
        }
        due
    }
}

/// Smallest share of some work for estimating the remaining time, and the time after which any share is enough.
const ESTIMATED: (f64, Duration) = (0.1, Duration::from_secs(30));

/// The estimated remaining time at `now`, if the rest takes as long as the share `done` in (0, 1] that was reported at
/// `reported`; both times are relative to the start. None if an estimate would be unreliable.
pub fn time_left(done: f64, reported: Duration, now: Duration) -> Option<Duration> {
    let (least, late) = ESTIMATED;
    let known = done > 0.0 && (done >= least || reported >= late);
    let whole = known.then(|| Duration::try_from_secs_f64(reported.as_secs_f64() / done).ok())??;
    Some(whole.saturating_sub(now))
}

/// Formats a duration: `40 s`, `12 min`, `3.5 h`.
pub fn time_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn lines_come_at_growing_intervals() {
        let mut pace = Pace::default();
        let due: Vec<u64> = (0..2000).filter(|n| pace.is_due(seconds(*n))).collect();
        assert_eq!(due, [2, 5, 10, 20, 40, 60, 120, 300, 600, 1200, 1800]);
        let mut pace = Pace::default();
        // After a long step one line is due, not all the missed ones.
        let late: Vec<u64> =
            [50, 51, 59, 60, 119, 900, 1199, 1200].into_iter().filter(|n| pace.is_due(seconds(*n))).collect();
        assert_eq!(late, [50, 60, 900, 1200]);
        let hours = (0..100_000).filter(|n| pace.is_due(seconds(*n))).count();
        assert_eq!(hours, 164);
    }

    #[test]
    fn the_time_left_follows_from_the_share() {
        assert_eq!(time_left(0.25, seconds(10), seconds(12)), Some(seconds(28)));
        assert_eq!(time_left(0.5, seconds(10), seconds(25)), Some(seconds(0)), "later than estimated");
        assert_eq!(time_left(0.01, seconds(5), seconds(5)), None, "too early");
        assert_eq!(time_left(0.01, seconds(60), seconds(60)), Some(seconds(5940)));
        for share in [0.0, f64::NAN, 1e-300] {
            assert_eq!(time_left(share, seconds(60), seconds(60)), None, "{share}");
        }
        let texts = [40, 99, 720, 5999, 12_600].map(|n| time_text(seconds(n)));
        assert_eq!(texts, ["40 s", "99 s", "12 min", "100 min", "3.5 h"]);
    }
}
