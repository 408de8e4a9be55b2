//! Identification of clients and limits per client: otherwise one client could lock out all others.

use crate::fault::Fault;
use crate::limits;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Limits of one client.
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// Number of games.
    pub plays: usize,
    /// Number of event streams, of all jobs together. Half as many per job.
    pub streams: usize,
    /// Number of waiting or running jobs.
    pub jobs: usize,
    /// Connections. Connections through a proxy count for the proxy: the client is the address that connects.
    pub connections: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            plays: limits::PLAYS / 2,
            streams: 32,
            jobs: limits::UNFINISHED_JOBS / 2,
            // A proxy may hold all streams, and as many connections again for other requests.
            connections: limits::CONNECTIONS / 4 * 3,
        }
    }
}

/// The address of a connection, which the server attaches to each request.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// A client: its IPv4 address, or its 64-bit IPv6 network, within which it can choose addresses freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client(IpAddr);

impl Client {
    pub(crate) fn new(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address => address,
        })
    }

    /// Identifies the client of a connection. A proxy on this machine names its client: the last address of
    /// `X-Forwarded-For`, which the proxy itself has added.
    fn identify(peer: IpAddr, forwarded: Option<&str>) -> Self {
        let named = || forwarded?.rsplit(',').next()?.trim().parse().ok();
        let named = if peer.to_canonical().is_loopback() { named() } else { None };
        Self::new(named.unwrap_or(peer))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<Peer>().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0);
        let forwarded = parts.headers.get_all("x-forwarded-for").iter().next_back();
        Ok(Self::identify(peer, forwarded.and_then(|value| value.to_str().ok())))
    }
}

/// Number of open things per holder.
struct Counts<K>(Mutex<HashMap<K, usize>>);

impl<K: Clone + Eq + Hash> Counts<K> {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more for each of these holders, until the result is dropped. If a holder has reached its limit, returns
    /// the holder and the limit.
    fn hold<const N: usize>(self: &Arc<Self>, holders: [(K, usize); N]) -> Result<Held<K>, (K, usize)> {
        let mut open = self.open();
        if let Some(full) = holders.iter().find(|(holder, most)| open.get(holder).is_some_and(|n| n >= most))
        {
            return Err(full.clone());
        }
        let holders: Vec<K> = holders.into_iter().map(|(holder, _)| holder).collect();
        holders.iter().for_each(|holder| *open.entry(holder.clone()).or_default() += 1);
        drop(open);
        Ok(Held { holders, all: self.clone() })
    }
}

/// An open thing.
pub(crate) struct Held<K: Clone + Eq + Hash> {
    holders: Vec<K>,
    all: Arc<Counts<K>>,
}

impl<K: Clone + Eq + Hash> Drop for Held<K> {
    fn drop(&mut self) {
        let mut open = self.all.open();
        for holder in &self.holders {
            if let Some(held) = open.get_mut(holder) {
                *held -= 1;
                if *held == 0 {
                    open.remove(holder);
                }
            }
        }
    }
}

/// The open connections.
pub(crate) struct Connections {
    open: Arc<Counts<Client>>,
    most: usize,
}

impl Connections {
    /// Creates a registry with at most `most` connections per client.
    pub(crate) fn new(most: usize) -> Self {
        Self { open: Counts::new(), most }
    }

    /// Counts a connection until the result is dropped. None if the client has reached its limit.
    pub(crate) fn begin(&self, client: Client) -> Option<Held<Client>> {
        self.open.hold([(client, self.most)]).ok()
    }
}

/// The open streams of events.
#[derive(Clone)]
pub(crate) struct Streams {
    open: Arc<Counts<Holder>>,
    most: usize,
}

/// An open stream.
pub(crate) type Stream = Held<Holder>;

/// Holder of streams: a client, a job, or all together.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Client(Client),
    Job(String),
    All,
}

impl Streams {
    /// Creates a registry with at most `most` streams per client.
    pub(crate) fn new(most: usize) -> Self {
        Self { open: Counts::new(), most }
    }

    /// Opens an event stream for a job, which stays open until the result is dropped.
    pub(crate) fn begin(&self, client: Client, job: &str) -> Result<Stream, Fault> {
        let holders = [
            (Holder::All, limits::STREAMS),
            (Holder::Client(client), self.most),
            (Holder::Job(job.into()), self.most.div_ceil(2)),
        ];
        self.open.hold(holders).map_err(|(holder, most)| {
            let whose = match holder {
                Holder::All => {
                    let text = format!("{most} event streams are open, which is the limit: try again later");
                    return Fault::busy(text);
                }
                Holder::Client(_) => "you",
                Holder::Job(_) => "this job",
            };
            Fault::too_many(format!(
                "{whose}: {most} event streams are open, the limit for one client or one job: close one first"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: &str) -> Client {
        Client::new(address.parse().unwrap())
    }

    #[test]
    fn clients_are_told_apart_by_their_addresses() {
        let of = |peer: &str, forwarded| Client::identify(peer.parse().unwrap(), forwarded);
        assert_eq!(of("10.0.0.1", None), client("10.0.0.1"));
        // Only a proxy on this machine is trusted, and only the address that it adds.
        assert_eq!(of("10.0.0.1", Some("10.0.0.2")), client("10.0.0.1"));
        assert_eq!(of("127.0.0.1", Some("9.9.9.9, 10.0.0.2")), client("10.0.0.2"));
        assert_eq!(of("::1", Some("10.0.0.2")), client("10.0.0.2"));
        assert_eq!(of("127.0.0.1", Some("unknown")), client("127.0.0.1"));
        assert_eq!(client("::ffff:10.0.0.1"), client("10.0.0.1"));
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:2"));
        assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
    }

    #[test]
    fn streams_of_a_client_and_of_a_job_are_counted_while_they_are_open() {
        let (streams, one, two) = (Streams::new(3), client("10.0.0.1"), client("10.0.0.2"));
        let open = |client, job: &str| streams.begin(client, job);
        let first = open(one, "a").unwrap_or_else(|_| panic!());
        let held = [open(one, "a"), open(one, "b")].map(|stream| stream.unwrap_or_else(|_| panic!()));
        let refused = open(one, "c").err().unwrap();
        assert_eq!((refused.status.as_u16(), refused.kind), (429, crate::fault::Kind::Busy));
        // Two streams are the limit for one job, whoever asks.
        assert_eq!(open(two, "a").err().unwrap().status.as_u16(), 429);
        assert!(open(two, "b").is_ok());
        drop(first);
        assert!(open(one, "a").is_ok());
        drop(held);
        assert!(streams.open.open().is_empty());
    }
}
