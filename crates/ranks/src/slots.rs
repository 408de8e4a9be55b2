//! Slots in which other ranks do jobs of the first rank.
//!
//! Jobs use their own connections, not MPI: a broken connection immediately shows that the rank is gone, and the others
//! continue.

use crate::rendezvous::{Rendezvous, number};
use crate::{Ranks, lock};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limit on bytes of a job or its result.
const MOST_BYTES: u64 = 1 << 28;

/// A slot of another rank, which does one job at a time.
#[derive(Debug)]
pub struct Slot {
    /// The rank.
    pub rank: usize,
    stream: TcpStream,
    lost: bool,
}

/// This rank's role in distributing jobs.
#[derive(Debug)]
pub enum Role {
    /// The first rank distributes jobs to the slots of the others.
    First(Vec<Slot>),
    /// Another rank does jobs from these links.
    Other(Vec<JobLink>),
}

/// A worker's end of a [`Slot`].
#[derive(Debug)]
pub struct JobLink(TcpStream);

/// Connects the slots of all ranks; this rank contributes `slots`, which the first rank keeps for itself.
///
/// # Errors
/// If ranks cannot reach each other.
pub fn connect(ranks: &Ranks, slots: usize) -> io::Result<Role> {
    let all = ranks.collect(&(slots as u64).to_ne_bytes());
    let expected: u64 = all.iter().skip(1).map(|bytes| u64::from_ne_bytes(crate::word(bytes))).sum();
    let rendezvous = Rendezvous::open(ranks);
    if !ranks.is_first() {
        let link = |_| rendezvous.join(ranks).map(JobLink);
        return (0..slots).map(link).collect::<io::Result<_>>().map(Role::Other);
    }
    let peers = rendezvous.accept(|| expected as usize)?;
    if (peers.len() as u64) < expected {
        let message = format!("{} of {expected} connections came from other ranks in time", peers.len());
        return Err(io::Error::new(ErrorKind::TimedOut, message));
    }
    // Adjacent slots in the list are on different ranks.
    let mut counts = vec![0; ranks.size()];
    let mut numbered = Vec::new();
    for (rank, stream) in peers {
        let count = counts.get_mut(rank).ok_or(ErrorKind::InvalidData)?;
        numbered.push((*count, Slot { rank, stream, lost: false }));
        *count += 1;
    }
    numbered.sort_by_key(|(count, slot)| (*count, slot.rank));
    Ok(Role::First(numbered.into_iter().map(|(_, slot)| slot).collect()))
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
    /// Sends a job and returns its result; none if the rank is lost.
    pub fn call(&mut self, job: &[u8]) -> Option<Vec<u8>> {
        if self.lost {
            return None;
        }
        let done = send(&mut self.stream, job).and_then(|()| receive(&mut self.stream));
        self.lost = done.is_err();
        done.ok()
    }

    /// Whether the rank is lost.
    pub fn is_lost(&self) -> bool {
        self.lost
    }
}

/// Does jobs from all links until the first rank closes them. Returns the number of jobs done. Once `stops` holds, links
/// are closed without answering their jobs, so that the first rank counts this one as lost.
pub fn work(
    links: Vec<JobLink>,
    job: impl Fn(&[u8]) -> Vec<u8> + Sync,
    stops: impl Fn() -> bool + Sync,
) -> u64 {
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for JobLink(mut stream) in links {
            let (job, stops, done) = (&job, &stops, &done);
            scope.spawn(move || {
                while let Ok(given) = receive(&mut stream)
                    && !stops()
                {
                    let result = job(&given);
                    if stops() || send(&mut stream, &result).is_err() {
                        break;
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    done.into_inner()
}

/// A pool of slots for several threads, while it is open.
#[derive(Debug)]
pub struct Slots(Mutex<Option<Vec<Slot>>>);

impl Slots {
    /// An empty, closed pool.
    pub const fn closed() -> Self {
        Self(Mutex::new(None))
    }

    /// Opens the pool with these slots.
    pub fn open(&self, slots: Vec<Slot>) {
        *lock(&self.0) = Some(slots);
    }

    /// Whether the pool is open.
    pub fn are_open(&self) -> bool {
        lock(&self.0).is_some()
    }

    /// Takes all free slots.
    pub fn take(&self) -> Vec<Slot> {
        lock(&self.0).as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns a slot, unless its rank is lost.
    pub fn give_back(&self, slot: Slot) {
        if let Some(slots) = &mut *lock(&self.0)
            && !slot.is_lost()
        {
            slots.push(slot);
        }
    }

    /// Closes the pool, which releases the other ranks once all slots are returned.
    pub fn close(&self) {
        *lock(&self.0) = None;
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
                        let Ok(Role::Other(mut links)) = connect(&rank, 2) else { panic!("no links") };
                        if rank.rank() == 2 {
                            // It receives a job and dies.
                            let JobLink(mut stream) = links.remove(0);
                            drop(links);
                            let _ = receive(&mut stream);
                            return 0;
                        }
                        work(links, |job| [b"done ", job].concat(), || false)
                    })
                })
                .collect();
            let Ok(Role::First(mut slots)) = connect(&first, 1) else { panic!("no slots") };
            assert_eq!(slots.iter().map(|slot| slot.rank).collect::<Vec<_>>(), [1, 2, 1, 2]);
            assert_eq!(slots[0].call(b"a"), Some(b"done a".to_vec()));
            assert_eq!(slots[2].call(b"b"), Some(b"done b".to_vec()));
            assert_eq!((slots[1].call(b"c"), slots[1].is_lost()), (None, true));
            assert_eq!(slots[3].call(b"d"), None);
            let pool = Slots::closed();
            pool.open(slots);
            assert!(pool.are_open());
            pool.take().into_iter().for_each(|slot| pool.give_back(slot));
            let mut slots = pool.take();
            assert_eq!(slots.len(), 2);
            pool.give_back(slots.remove(0));
            pool.close();
            // Slots that are returned late are closed too.
            slots.into_iter().for_each(|slot| pool.give_back(slot));
            assert!(!pool.are_open() && pool.take().is_empty());
            others.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        });
        assert_eq!(done, 2);
    }
}
