//! TCP connections between the first rank and the others, in addition to MPI.

use crate::Ranks;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Timeout for connecting ranks.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A listener of the first rank for the others.
pub(crate) struct Rendezvous {
    listener: Option<TcpListener>,
    node: String,
    port: u16,
    /// A number unknown to strangers.
    secret: u64,
}

impl Rendezvous {
    /// Opens a port on the first rank and announces it. All ranks call it.
    pub(crate) fn open(ranks: &Ranks) -> Self {
        let listener =
            if ranks.is_first() { TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).ok() } else { None };
        let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
        let said = format!("{} {} {}", address.map_or(0, |a| a.port()), secret(), ranks.link().node());
        let heard = ranks.from_first(ranks.is_first().then(|| said.into_bytes()));
        let heard = String::from_utf8_lossy(&heard).into_owned();
        let mut words = heard.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default();
        let (port, secret, node) = (next(), next(), next());
        let (port, secret) = (port.parse().unwrap_or(0), secret.parse().unwrap_or(0));
        Self { listener, node: node.into(), port, secret }
    }

    /// The machine of the first rank.
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// Connects a rank other than the first.
    pub(crate) fn join(&self, ranks: &Ranks) -> io::Result<TcpStream> {
        // A machine may not be able to resolve its own name.
        let host = if self.node == ranks.link().node() { "127.0.0.1" } else { &self.node };
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        for address in (host, self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(mut stream) => {
                    ready(&stream)?;
                    stream.write_all(&self.secret.to_ne_bytes())?;
                    stream.write_all(&(ranks.rank() as u64).to_ne_bytes())?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Accepts the expected number of connections, with their ranks; fewer if some do not arrive in time. Strangers are
    /// rejected.
    pub(crate) fn accept(self, expected: impl Fn() -> usize) -> io::Result<Vec<(usize, TcpStream)>> {
        let Some(listener) = self.listener else { return Err(ErrorKind::AddrNotAvailable.into()) };
        let began = Instant::now();
        listener.set_nonblocking(true)?;
        let mut peers = Vec::new();
        while peers.len() < expected() && began.elapsed() < PATIENCE {
            let Ok((mut stream, _)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(2));
                continue;
            };
            // Ranks identify themselves immediately.
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            if let (Ok(word), Ok(rank)) = (number(&mut stream), number(&mut stream))
                && word == self.secret
            {
                stream.set_read_timeout(None)?;
                ready(&stream)?;
                peers.push((rank as usize, stream));
            }
        }
        Ok(peers)
    }
}

/// Disables Nagle's algorithm, and detects a lost machine within a minute.
fn ready(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    #[cfg(not(target_family = "wasm"))]
    {
        use socket2::{SockRef, TcpKeepalive};
        let probes =
            TcpKeepalive::new().with_time(Duration::from_secs(20)).with_interval(Duration::from_secs(10));
        SockRef::from(stream).set_tcp_keepalive(&probes)?;
    }
    Ok(())
}

fn secret() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// Reads a number.
pub(crate) fn number(stream: &mut TcpStream) -> io::Result<u64> {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    #[test]
    fn strangers_do_not_count() {
        let ranks = threads(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let rendezvous = Rendezvous::open(&ranks[1]);
                for said in [&b""[..], b"GET / HTTP/1.1 and more"] {
                    let mut stranger = TcpStream::connect(("127.0.0.1", rendezvous.port)).unwrap();
                    stranger.write_all(said).unwrap();
                }
                rendezvous.join(&ranks[1]).unwrap();
            });
            let peers = Rendezvous::open(&ranks[0]).accept(|| 1).unwrap();
            assert_eq!(peers.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [1]);
        });
    }
}
