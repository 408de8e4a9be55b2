//! Detects ranks that end unexpectedly: killed, out of memory, or on a lost machine.
//!
//! MPI reports nothing: the others would wait for its messages forever, unless the launcher ends them. So every rank
//! keeps a connection to the first one, which closes with the process for whatever reason.

use crate::Ranks;
use crate::rendezvous::Rendezvous;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Sent by a rank before it ends normally.
const GOODBYE: u8 = b'.';

/// Sent by a rank before it ends all others because of a reported error.
const FAILED: u8 = b'!';

/// Sent by the first rank before it exits without MPI, because a rank is missing.
const LEFT: u8 = b'~';

/// Callback for a rank that has died.
pub(crate) type OnDeath = Arc<dyn Fn(Dead) + Send + Sync>;

/// A rank that has ended unexpectedly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dead {
    /// Its number.
    pub rank: usize,
    /// Its process and machine, as far as known.
    pub place: String,
    /// Whether it has reported an error before, which ends all ranks.
    pub spoke: bool,
}

type Streams = Arc<Mutex<Vec<TcpStream>>>;

/// The watch connections of this rank.
#[derive(Debug)]
pub(crate) struct Watch {
    streams: Streams,
    /// Set at the end, after which closed connections are normal.
    over: Arc<AtomicBool>,
}

impl Watch {
    /// Connects all ranks. None if this rank cannot be reached: then only the launcher ends the others.
    pub(crate) fn new(ranks: &Ranks, on_death: OnDeath) -> Option<Self> {
        let streams: Streams = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let done = over.clone();
        let on_death: OnDeath = Arc::new(move |dead| {
            if !done.load(Ordering::Relaxed) {
                on_death(dead);
            }
        });
        let rendezvous = Rendezvous::open(ranks);
        if ranks.is_first() {
            let expected = Arc::new(AtomicUsize::new(ranks.size() - 1));
            let come = expected.clone();
            let peers = std::thread::spawn(move || rendezvous.accept(|| come.load(Ordering::Relaxed)));
            // Ranks that cannot connect are not waited for.
            let joined = ranks.collect(&[]).iter().filter(|said| !said.is_empty()).count();
            expected.store(joined, Ordering::Relaxed);
            for (rank, stream) in peers.join().ok()?.ok()? {
                crate::lock(&streams).push(stream.try_clone().ok()?);
                let on_death = on_death.clone();
                spawn(move || greet(rank, stream, &on_death));
            }
        } else {
            let place = format!("process {} on {}\n", std::process::id(), ranks.link().node());
            let joined = rendezvous.join(ranks).and_then(|mut stream| {
                stream.write_all(place.as_bytes())?;
                Ok((stream.try_clone()?, stream))
            });
            ranks.collect(if joined.is_ok() { b"here" } else { b"" });
            let (copy, stream) = joined.ok()?;
            crate::lock(&streams).push(copy);
            let first = Dead { rank: 0, place: format!("on {}", rendezvous.node()), spoke: false };
            spawn(move || listen(stream, first, &on_death));
        }
        Some(Self { streams, over })
    }

    /// Tells the others that this rank ends them all after reporting an error.
    pub(crate) fn fail(&self) {
        self.tell(FAILED);
    }

    /// Tells the others to exit.
    pub(crate) fn leave(&self) {
        self.tell(LEFT);
    }

    fn tell(&self, word: u8) {
        for mut stream in crate::lock(&self.streams).iter() {
            // A rank that is gone needs no message.
            let _ = stream.write_all(&[word]);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for mut stream in crate::lock(&self.streams).drain(..) {
            // A rank that is gone needs no message.
            let _ = stream.write_all(&[GOODBYE]);
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    // Without the thread, only the launcher ends the others.
    let _ = std::thread::Builder::new().name("watch".into()).spawn(work);
}

/// Receives a rank's location, and monitors its connection.
fn greet(rank: usize, mut stream: TcpStream, on_death: &OnDeath) {
    let (mut place, mut byte) = (Vec::new(), [0]);
    // The line of a legitimate rank is short.
    while place.len() < 1024 && matches!(stream.read(&mut byte), Ok(1)) && byte != *b"\n" {
        place.push(byte[0]);
    }
    let place = String::from_utf8_lossy(&place).into_owned();
    listen(stream, Dead { rank, place, spoke: false }, on_death);
}

/// Waits until the other side says goodbye or is gone.
fn listen(mut stream: TcpStream, who: Dead, on_death: &OnDeath) {
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(1) if byte[0] == GOODBYE => return,
            // Its work is done.
            Ok(1) if byte[0] == LEFT => std::process::exit(0),
            Ok(1) if byte[0] == FAILED => return on_death(Dead { spoke: true, ..who }),
            Ok(1) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return on_death(who),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;
    use std::sync::mpsc;

    #[test]
    fn a_rank_that_ends_without_a_word_is_missed_and_others_are_not() {
        let (told, deaths) = mpsc::channel();
        let ranks = threads(3);
        let run = |ranks: Ranks| {
            let told = Mutex::new(told.clone());
            let on_death: OnDeath = Arc::new(move |dead: Dead| {
                let _ = crate::lock(&told).send(dead.rank);
            });
            Watch::new(&ranks, on_death).unwrap()
        };
        let watches: Vec<Watch> = std::thread::scope(|scope| {
            let all: Vec<_> = ranks.into_iter().map(|rank| scope.spawn(|| run(rank))).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let [first, second, third]: [Watch; 3] = watches.try_into().unwrap();
        // The second says goodbye, and the third is cut off.
        drop(second);
        for stream in third.streams.lock().unwrap().drain(..) {
            stream.shutdown(Shutdown::Both).unwrap();
        }
        // The third itself detects the loss of the first one.
        let mut missed = [deaths.recv().unwrap(), deaths.recv().unwrap()];
        missed.sort_unstable();
        assert_eq!(missed, [0, 2]);
        drop(first);
        assert!(deaths.try_recv().is_err());
    }
}
