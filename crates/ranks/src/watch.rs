//! Notices when a rank ends without a word: killed, out of memory, or its machine lost.
//!
//! MPI itself says nothing: the others would wait for its part forever, unless the launcher ends them. So every rank keeps a
//! connection to the first one. It closes with the process, whatever ended it.

use crate::{Dead, OnDeath, Ranks};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a rank sends before it ends as it should.
const GOODBYE: u8 = b'.';

/// What a rank sends before it ends all others because of an error that it has reported.
#[allow(dead_code, reason = "sent by ranks of MPI alone")]
const FAILED: u8 = b'!';

/// What the first rank sends before it leaves, where MPI cannot end because a rank is missing.
#[allow(dead_code, reason = "sent by ranks of MPI alone")]
const LEFT: u8 = b'~';

/// How long a rank tries to reach the first one.
const PATIENCE: Duration = Duration::from_secs(10);

type Streams = Arc<Mutex<Vec<TcpStream>>>;

/// The connections of this rank, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    streams: Streams,
    /// Set at the end, after which nobody is missed.
    over: Arc<AtomicBool>,
}

impl Watch {
    /// Connects all ranks. None if this rank cannot be reached: then the launcher alone ends the others.
    pub(crate) fn new(ranks: &Ranks, on_death: OnDeath) -> Option<Self> {
        let listener =
            if ranks.is_first() { TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).ok() } else { None };
        let port = listener.as_ref().and_then(|l| l.local_addr().ok()).map(|address| address.port());
        let said = format!("{} {}", port.unwrap_or(0), ranks.link().node());
        let heard = ranks.from_first(ranks.is_first().then(|| said.into_bytes()));
        let heard = String::from_utf8_lossy(&heard).into_owned();
        let (port, node) = heard.split_once(' ')?;
        let port: u16 = port.parse().ok().filter(|&port| port > 0)?;
        let all: Streams = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let done = over.clone();
        let on_death: OnDeath = Arc::new(move |dead| {
            if !done.load(Ordering::Relaxed) {
                on_death(dead);
            }
        });
        match listener {
            Some(listener) => {
                let (all, others) = (all.clone(), ranks.size() - 1);
                spawn(move || {
                    for stream in listener.incoming().take(others).flatten() {
                        greet(stream, &all, on_death.clone());
                    }
                });
            }
            None => {
                // Names of machines need not be known on the machine itself.
                let host = if node == ranks.link().node() { "127.0.0.1" } else { node };
                let stream = connect(host, port)?;
                let mine = format!("{} {} on {}\n", ranks.rank(), std::process::id(), ranks.link().node());
                (&stream).write_all(mine.as_bytes()).ok()?;
                crate::lock(&all).push(stream.try_clone().ok()?);
                let first = Dead { rank: 0, place: format!("on {node}"), spoke: false };
                spawn(move || listen(stream, first, &on_death));
            }
        }
        Some(Self { streams: all, over })
    }
}

impl Watch {
    /// Tells the others that this rank ends them all, and has said why.
    #[cfg(feature = "mpi")]
    pub(crate) fn fail(&self) {
        self.tell(FAILED);
    }

    /// Tells the others to leave as this rank does.
    #[cfg(feature = "mpi")]
    pub(crate) fn leave(&self) {
        self.tell(LEFT);
    }

    #[cfg(feature = "mpi")]
    fn tell(&self, word: u8) {
        for mut stream in crate::lock(&self.streams).iter() {
            // Who is gone needs no word.
            let _ = stream.write_all(&[word]);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for mut stream in crate::lock(&self.streams).drain(..) {
            // Who is gone needs no word.
            let _ = stream.write_all(&[GOODBYE]);
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    // Without the thread, the launcher alone ends the others.
    let _ = std::thread::Builder::new().name("watch".into()).spawn(work);
}

fn connect(host: &str, port: u16) -> Option<TcpStream> {
    use std::net::ToSocketAddrs;
    (host, port)
        .to_socket_addrs()
        .ok()?
        .find_map(|address| TcpStream::connect_timeout(&address, PATIENCE).ok())
}

/// Hears who a new connection is, and listens to it.
fn greet(mut stream: TcpStream, all: &Streams, on_death: OnDeath) {
    let Ok(copy) = stream.try_clone() else { return };
    crate::lock(all).push(copy);
    spawn(move || {
        let (mut name, mut byte) = (Vec::new(), [0]);
        // A line of a rank of ours is short.
        while name.len() < 1024 && matches!(stream.read(&mut byte), Ok(1)) && byte != *b"\n" {
            name.push(byte[0]);
        }
        let name = String::from_utf8_lossy(&name).into_owned();
        if let Some((rank, place)) = name.split_once(' ')
            && let Ok(rank) = rank.parse()
        {
            listen(stream, Dead { rank, place: format!("process {place}"), spoke: false }, &on_death);
        }
    });
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
        // The third itself sees the first one go.
        let mut missed = [deaths.recv().unwrap(), deaths.recv().unwrap()];
        missed.sort_unstable();
        assert_eq!(missed, [0, 2]);
        drop(first);
        assert!(deaths.try_recv().is_err());
    }
}
