//! Upper limits of what comes from outside.

use std::time::Duration;

/// Bytes of a request's body.
pub(crate) const BODY_BYTES: usize = 256 << 10;
/// Characters of a position, a move or the name of an agent.
pub(crate) const TEXT: usize = 4096;
/// Positions of one request.
pub(crate) const POSITIONS: usize = 256;
/// How long a client may take to send its request.
pub(crate) const READING: Duration = Duration::from_secs(10);
/// How long a client waits for an answer.
pub(crate) const ANSWERING: Duration = Duration::from_secs(30);
/// Connections at a time.
pub(crate) const CONNECTIONS: usize = 512;
/// Streams of events at a time: half of the connections.
pub(crate) const STREAMS: usize = CONNECTIONS / 2;
/// Requests that wait for a processor.
pub(crate) const WAITING: usize = 1024;
/// Games that are kept.
pub(crate) const PLAYS: usize = 5000;
/// A game that nobody has asked for in this time may be forgotten for a new one, if there are too many.
pub(crate) const IDLE: Duration = Duration::from_secs(60);
/// A game that nobody has asked for in this time is forgotten.
pub(crate) const FORGOTTEN: Duration = Duration::from_secs(6 * 3600);
/// Jobs that are kept, with their results.
pub(crate) const JOBS: usize = 100;
/// Jobs that are waiting or running.
pub(crate) const UNFINISHED_JOBS: usize = 16;
/// How long a job may run.
pub(crate) const JOB: Duration = Duration::from_secs(600);
/// Games of a rollout.
pub(crate) const TRIALS: u64 = 100_000;
/// Plies of a search in games with chance, and without.
pub(crate) const PLIES: (u32, u32) = (3, 8);
/// Moves that a search keeps below its root at most, and the largest margin within which it keeps others.
pub(crate) const FILTER: (usize, f32) = (8, 0.05);
/// How long an agent may think about one question.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Time of a search.
pub(crate) const SEARCH: Duration = Duration::from_secs(5);
/// Positions of a search.
pub(crate) const NODES: u64 = 1_000_000;
/// Games with opened agents.
pub(crate) const ROOMS: usize = 64;
/// Names of agents that are known from earlier requests.
pub(crate) const ASKED: usize = 1024;
/// Runs that learn at a time.
pub(crate) const LEARNING: usize = 2;
/// Settings of a run.
pub(crate) const SETTINGS: usize = 40;
/// Units of a layer, and other numbers of an architecture.
pub(crate) const UNITS: usize = 2048;
/// Numbers in a list of them.
pub(crate) const LAYERS: usize = 8;
/// The product of the numbers of an architecture.
pub(crate) const SIZE: f64 = 4_194_304.0;
/// Measurements of a run.
pub(crate) const MEASUREMENTS: u64 = 10_000;
/// Bytes of the key of a request, and keys that are remembered.
pub(crate) const KEY: usize = 64;
pub(crate) const KEYS: usize = 64;
/// Points of a curve in an answer.
pub(crate) const POINTS: usize = 2000;
/// Runs that are listed.
pub(crate) const RUNS: usize = 500;
