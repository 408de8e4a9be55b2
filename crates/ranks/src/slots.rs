//! Places where other ranks work on jobs that the first rank hands out.
//!
//! Jobs go over connections of their own, not through MPI: a connection that breaks says at once that the rank is gone, and the
//! others go on.

use crate::{Ranks, lock};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Most bytes of a job or its result.
const MOST_BYTES: u64 = 1 << 28;

/// How long ranks try to reach each other.
const PATIENCE: Duration = Duration::from_secs(20);

/// A place on another rank that takes one job at a time.
#[derive(Debug)]
pub struct Slot {
    /// The rank.
    pub rank: usize,
    stream: TcpStream,
    lost: bool,
}

/// What this rank has to do with the jobs.
#[derive(Debug)]
pub enum Part {
    /// Hands them out: the places on the other ranks.
    First(Vec<Slot>),
    /// Works on them.
    Other(Vec<Desk>),
}

/// The side of a [`Slot`] that works.
#[derive(Debug)]
pub struct Desk(TcpStream);

/// Connects the places of all ranks; this one brings `slots`, which the first rank keeps for itself.
///
/// # Errors
/// If ranks cannot reach each other.
pub fn connect(ranks: &Ranks, slots: usize) -> io::Result<Part> {
    let all = ranks.collect(&(slots as u64).to_ne_bytes());
    let expected: u64 = all.iter().skip(1).map(|bytes| u64::from_ne_bytes(crate::word(bytes))).sum();
    if ranks.is_first() {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0));
        let port = listener.as_ref().map_or(0, |l| l.local_addr().map_or(0, |address| address.port()));
        let secret = secret();
        ranks.from_first(Some(format!("{port} {secret:016x} {}", ranks.link().node()).into_bytes()));
        return accept(&listener?, expected, secret).map(Part::First);
    }
    let said = String::from_utf8_lossy(&ranks.from_first(None)).into_owned();
    let mut words = said.splitn(3, ' ');
    let mut next = || words.next().unwrap_or_default().to_string();
    let (port, secret, node) = (next(), next(), next());
    // Names of machines need not be known on the machine itself.
    let host = if node == ranks.link().node() { "127.0.0.1" } else { &node };
    let (port, secret) = (port.parse().unwrap_or(0), u64::from_str_radix(&secret, 16).unwrap_or(0));
    let desk = |_| {
        let mut addresses = (host, port).to_socket_addrs()?;
        let address = addresses.next().ok_or(ErrorKind::AddrNotAvailable)?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.write_all(&secret.to_ne_bytes())?;
        stream.write_all(&(ranks.rank() as u64).to_ne_bytes())?;
        Ok(Desk(stream))
    };
    (0..slots).map(desk).collect::<io::Result<_>>().map(Part::Other)
}

/// A number that strangers do not know, so that only ranks of this program get jobs.
fn secret() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

fn accept(listener: &TcpListener, expected: u64, secret: u64) -> io::Result<Vec<Slot>> {
    let began = Instant::now();
    listener.set_nonblocking(true)?;
    let mut slots = Vec::new();
    while (slots.len() as u64) < expected {
        let mut stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(e) if e.kind() == ErrorKind::WouldBlock && began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(2));
                continue;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Err(ErrorKind::TimedOut.into()),
            Err(e) => return Err(e),
        };
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (Ok(word), Ok(rank)) = (number(&mut stream), number(&mut stream)) else { continue };
        stream.set_read_timeout(None)?;
        if word == secret {
            slots.push(Slot { rank: rank as usize, stream, lost: false });
        }
    }
    // Neighbours in the list are on different ranks.
    let mut seen = std::collections::HashMap::new();
    slots.sort_by_key(|slot: &Slot| slot.rank);
    let mut numbered: Vec<(usize, Slot)> = Vec::new();
    for slot in slots {
        let count = seen.entry(slot.rank).or_insert(0);
        numbered.push((*count, slot));
        *count += 1;
    }
    numbered.sort_by_key(|(count, slot)| (*count, slot.rank));
    Ok(numbered.into_iter().map(|(_, slot)| slot).collect())
}

fn number(stream: &mut TcpStream) -> io::Result<u64> {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn send(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(&(bytes.len() as u64).to_ne_bytes())?;
    stream.write_all(bytes)
}

fn receive(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let length = number(stream)?;
    if length > MOST_BYTES {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length as usize];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

impl Slot {
    /// Has a job done, and returns its result; None if the rank is gone, now or before.
    pub fn call(&mut self, job: &[u8]) -> Option<Vec<u8>> {
        if self.lost {
            return None;
        }
        let done = send(&mut self.stream, job).and_then(|()| receive(&mut self.stream));
        self.lost = done.is_err();
        done.ok()
    }

    /// Whether its rank is gone.
    pub fn is_lost(&self) -> bool {
        self.lost
    }
}

/// Works at all desks until the first rank closes them. Returns the number of jobs done.
pub fn work(desks: Vec<Desk>, job: impl Fn(&[u8]) -> Vec<u8> + Sync) -> u64 {
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for Desk(mut stream) in desks {
            let (job, done) = (&job, &done);
            scope.spawn(move || {
                while let Ok(given) = receive(&mut stream) {
                    if send(&mut stream, &job(&given)).is_err() {
                        break;
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    done.into_inner()
}

/// Slots that several threads borrow.
#[derive(Clone, Debug, Default)]
pub struct Slots(Arc<Mutex<Vec<Slot>>>);

impl Slots {
    /// These slots.
    pub fn new(slots: Vec<Slot>) -> Self {
        Self(Arc::new(Mutex::new(slots)))
    }

    /// Takes all that are free.
    pub fn take(&self) -> Vec<Slot> {
        std::mem::take(&mut *lock(&self.0))
    }

    /// Gives slots back, but for those that are lost.
    pub fn give_back(&self, slots: impl IntoIterator<Item = Slot>) {
        lock(&self.0).extend(slots.into_iter().filter(|slot| !slot.is_lost()));
    }

    /// Ends the work of the other ranks.
    pub fn close(&self) {
        lock(&self.0).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    #[test]
    fn jobs_are_done_elsewhere_and_a_lost_rank_is_noticed() {
        let ranks = threads(3);
        let done = std::thread::scope(|scope| {
            let mut all = ranks.into_iter();
            let first = all.next().unwrap();
            let others: Vec<_> = all
                .map(|rank| {
                    scope.spawn(move || {
                        let Ok(Part::Other(mut desks)) = connect(&rank, 2) else { panic!("no desks") };
                        if rank.rank() == 2 {
                            // It gets a job and dies of it.
                            let Desk(mut stream) = desks.remove(0);
                            drop(desks);
                            let _ = receive(&mut stream);
                            return 0;
                        }
                        work(desks, |job| [b"done ", job].concat())
                    })
                })
                .collect();
            let Ok(Part::First(mut slots)) = connect(&first, 1) else { panic!("no slots") };
            assert_eq!(slots.iter().map(|slot| slot.rank).collect::<Vec<_>>(), [1, 2, 1, 2]);
            assert_eq!(slots[0].call(b"a"), Some(b"done a".to_vec()));
            assert_eq!(slots[2].call(b"b"), Some(b"done b".to_vec()));
            assert_eq!((slots[1].call(b"c"), slots[1].is_lost()), (None, true));
            assert_eq!(slots[3].call(b"d"), None);
            let pool = Slots::new(slots);
            let slots = pool.take();
            pool.give_back(slots);
            let slots = pool.take();
            assert_eq!(slots.len(), 2);
            drop(slots);
            others.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        });
        assert_eq!(done, 2);
    }
}
