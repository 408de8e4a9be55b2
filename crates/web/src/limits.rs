//! Upper limits of input from clients.

use std::time::Duration;

/// Bytes of a request body.
pub(crate) const BODY_BYTES: usize = 256 << 10;
/// Bytes from which on an answer is compressed: smaller ones fit into few packets.
pub(crate) const COMPRESSED: u64 = 4 << 10;
/// Characters of a position, a move or the name of an agent.
pub(crate) const TEXT: usize = 4096;
/// Positions of one request.
pub(crate) const POSITIONS: usize = 256;
/// Timeout for receiving a request.
pub(crate) const READING: Duration = Duration::from_secs(10);
/// Timeout for an answer.
pub(crate) const ANSWERING: Duration = Duration::from_secs(30);
/// Number of simultaneous connections.
pub(crate) const CONNECTIONS: usize = 512;
/// Number of simultaneous event streams: half of the connections.
pub(crate) const STREAMS: usize = CONNECTIONS / 2;
/// Number of requests that wait for a processor.
pub(crate) const WAITING: usize = 1024;
/// Number of stored games.
pub(crate) const PLAYS: usize = 5000;
/// Idle time after which a game may be deleted to make room for a new one.
pub(crate) const IDLE: Duration = Duration::from_secs(60);
/// Number of games in files, and bytes of each.
pub(crate) const STORED: usize = 20_000;
pub(crate) const RECORD_BYTES: u64 = 1 << 20;
/// Pause between two games whose files are synced: a person's moves are, the thousands a second of a program are not.
pub(crate) const SYNCING: Duration = Duration::from_millis(100);
/// Idle time after which a game leaves memory.
pub(crate) const FORGOTTEN: Duration = Duration::from_secs(6 * 3600);
/// Number of stored jobs with their results.
pub(crate) const JOBS: usize = 100;
/// Number of waiting or running jobs.
pub(crate) const UNFINISHED_JOBS: usize = 16;
/// Running time of a job.
pub(crate) const JOB: Duration = Duration::from_secs(600);
/// Bytes of a file of games to review, and the time in which it must arrive.
pub(crate) const REVIEW_BYTES: usize = 4 << 20;
pub(crate) const REVIEW_READING: Duration = Duration::from_secs(60);
/// Number of actions of players in such a file: their judgements are kept with the job.
pub(crate) const REVIEW_ACTIONS: usize = 5000;
/// Number of games of a rollout.
pub(crate) const TRIALS: u64 = 100_000;
/// Search depth in plies in games with chance, and without.
pub(crate) const PLIES: (u32, u32) = (3, 8);
/// Largest number of moves that a search keeps below its root, and largest margin within which it keeps others.
pub(crate) const FILTER: (usize, f32) = (8, 0.05);
/// Time of an agent for one request.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Time of a search.
pub(crate) const SEARCH: Duration = Duration::from_secs(5);
/// Number of positions of a search.
pub(crate) const NODES: u64 = 1_000_000;
/// Number of games with open agents.
pub(crate) const ROOMS: usize = 64;
/// Number of cached agent names of earlier requests.
pub(crate) const ASKED: usize = 1024;
/// Number of simultaneous training runs.
pub(crate) const LEARNING: usize = 2;
/// Number of settings of a run.
pub(crate) const SETTINGS: usize = 40;
/// Value of a layer width or another number of an architecture.
pub(crate) const UNITS: usize = 2048;
/// Length of a list of such numbers.
pub(crate) const LAYERS: usize = 8;
/// Product of all numbers of an architecture.
pub(crate) const SIZE: f64 = 4_194_304.0;
/// Number of measurements of a run.
pub(crate) const MEASUREMENTS: u64 = 10_000;
/// Bytes of a request key, and number of remembered keys.
pub(crate) const KEY: usize = 64;
pub(crate) const KEYS: usize = 64;
/// Number of cells of a map in the answer about a run.
pub(crate) const CELLS: usize = 4096;
/// Number of points of a curve in an answer.
pub(crate) const POINTS: usize = 2000;
/// Number of listed runs.
pub(crate) const RUNS: usize = 500;
