//! Who asks, and how much of the server one client may hold: without a bound, one could lock everybody else out.

use crate::fault::Fault;
use crate::limits;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much one client may hold at a time.
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// Games.
    pub plays: usize,
    /// Streams of events, of all jobs together. Half as many of one job.
    pub streams: usize,
    /// Jobs that wait or run.
    pub jobs: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { plays: limits::PLAYS / 2, streams: 32, jobs: limits::UNFINISHED_JOBS / 2 }
    }
}

/// The address of a connection, which the server adds to each request.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// A client: its address, or its network of 64 bits in IPv6, whose addresses are free for it to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client(IpAddr);

impl Client {
    pub(crate) fn new(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address => address,
        })
    }

    /// The client of a connection. A proxy on this machine tells whom it asks for: the last address of `X-Forwarded-For`, which it has
    /// added itself.
    fn of(peer: IpAddr, forwarded: Option<&str>) -> Self {
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
        Ok(Self::of(peer, forwarded.and_then(|value| value.to_str().ok())))
    }
}

/// The open streams of events.
#[derive(Clone)]
pub(crate) struct Streams {
    open: Arc<Mutex<HashMap<Holder, usize>>>,
    most: usize,
}

/// Who holds streams: a client, a job, or all together.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Holder {
    Client(Client),
    Job(String),
    All,
}

impl Streams {
    /// At most so many for a client.
    pub(crate) fn new(most: usize) -> Self {
        Self { open: Arc::default(), most }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a stream of a job's events, which stays open until the result is dropped.
    pub(crate) fn begin(&self, client: Client, job: &str) -> Result<Stream, Fault> {
        let job = Holder::Job(job.into());
        let mut open = self.open();
        let held = |holder: &Holder| open.get(holder).copied().unwrap_or(0);
        if held(&Holder::All) >= limits::STREAMS {
            return Err(Fault::busy(format!(
                "{} streams of events are open, and that is the limit: try again later",
                limits::STREAMS
            )));
        }
        let of_job = self.most.div_ceil(2);
        for (holder, most, whose) in
            [(Holder::Client(client), self.most, "you"), (job.clone(), of_job, "this job")]
        {
            if held(&holder) >= most {
                return Err(Fault::too_many(format!(
                    "{whose}: {most} streams of events are open, the most for one client or one job; close one first"
                )));
            }
        }
        let holders = [Holder::All, Holder::Client(client), job];
        holders.iter().for_each(|holder| *open.entry(holder.clone()).or_default() += 1);
        drop(open);
        Ok(Stream { holders, all: self.clone() })
    }
}

/// An open stream.
pub(crate) struct Stream {
    holders: [Holder; 3],
    all: Streams,
}

impl Drop for Stream {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: &str) -> Client {
        Client::new(address.parse().unwrap())
    }

    #[test]
    fn clients_are_told_apart_by_their_addresses() {
        let of = |peer: &str, forwarded| Client::of(peer.parse().unwrap(), forwarded);
        assert_eq!(of("10.0.0.1", None), client("10.0.0.1"));
        // Only a proxy on this machine is believed, and only the address that it adds.
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
        // Two are the most for one job, whoever asks.
        assert_eq!(open(two, "a").err().unwrap().status.as_u16(), 429);
        assert!(open(two, "b").is_ok());
        drop(first);
        assert!(open(one, "a").is_ok());
        drop(held);
        assert!(streams.open().is_empty());
    }
}
