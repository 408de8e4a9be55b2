//! Upper limits of all untrusted numbers and files that determine sizes. Larger values are refused with a message that
//! names the limit.

use crate::notes;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

/// Number of times that a run learns from one sample.
pub const USES: u64 = 100;

/// Number of threads of a command.
pub const THREADS: usize = 1024;
/// Number of seeds of a command.
pub const SEEDS: u64 = 10_000;
/// A seed. The last of [`SEEDS`] seeds must also fit into a TOML integer.
pub const SEED: u64 = i64::MAX as u64 - SEEDS;
/// Games, samples or iterations of a run. Names of checkpoints have twelve digits.
pub const LENGTH: u64 = 999_999_999_999;
/// Samples per optimiser step, and rows per evaluation.
pub const BATCH: u64 = 1 << 20;
/// Shards of a batch.
pub const SHARDS: usize = 4096;
/// Self-play workers.
pub const WORKERS: usize = 1024;
/// Stored decisions of a regret run.
pub const MEMORY: usize = 100_000_000;
/// Optimiser steps per iteration of a regret run.
pub const STEPS: usize = 100_000_000;
/// Sampled positions of a measurement.
pub const POSITIONS: u64 = 10_000_000;
/// Examples sampled at the start of a run. A larger set would not be fixed in practice.
pub const EXAMPLES: u64 = 10_000_000;
/// Games per pair of a tournament, and iterations of a solver.
pub const GAMES: u64 = 1_000_000_000;
/// Games of a measurement during a run.
pub const EVALUATION_GAMES: u64 = 10_000_000;
/// Recorded games per pair of a tournament.
pub const HISTORIES: u64 = 100_000;
/// Listed worst moves of a review.
pub const WORST: u64 = 10_000;
/// Random decisions at the start of each game of a match.
pub const RANDOM_PLIES: u32 = 1000;
/// Seat orders of a tournament pair.
pub const ORDERS: u64 = 10_000;
/// Agents of a tournament.
pub const AGENTS: usize = 256;
/// Runs per sweep: combinations times seeds.
pub const RUNS: u64 = 100_000;
/// Combinations of a sweep.
pub const COMBINATIONS: u64 = 4096;
/// Nested agents: `optimal:optimal:…`.
pub const NESTED_AGENTS: usize = 8;
/// Plies of a search.
pub const PLIES: u32 = 64;
/// Plies before truncation of rollout games.
pub const TRUNCATION: u32 = 10_000;
/// Actions that a search keeps per decision.
pub const KEPT: usize = 10_000;
/// Milliseconds per search: an hour.
pub const SEARCH_MS: u64 = 3_600_000;
/// Random games per decision.
pub const PLAYOUTS: u64 = 100_000_000;
/// Bytes of a search's position table, without heap data of the positions.
pub const SEARCH_BYTES: usize = 1 << 26;
/// Characters of an experiment's name, which becomes part of file names.
pub const NAME_LETTERS: usize = 200;
/// Length of a chain of priors.
pub const NESTED_PRIORS: usize = 8;
/// Parameters of a network.
pub const PARAMETERS: usize = 1 << 30;
/// Parameters of a network that is exported as source code: a file of some 13 MB.
pub const SOURCE_PARAMETERS: usize = 1_000_000;
/// Bytes of stack that its evaluation may take. Threads have at least 512 KiB on usual systems.
pub const SOURCE_STACK: usize = 1 << 18;
/// Parameter tensors of a network; nesting experts multiplies them.
pub const TENSORS: usize = 1 << 16;
/// Components of a config key.
pub const KEY_PARTS: usize = 64;
/// Nodes of an architecture; nesting experts multiplies them.
pub const NODES: usize = 1 << 17;
/// Outcome classes.
pub const OUTCOMES: usize = 256;
/// Experts of a node.
pub const EXPERTS: usize = 4096;
/// Number of reassignments of learned cells to other experts.
pub const REASSIGNS: u64 = 1_000;
/// Bits that the blind learner reads.
pub const BLIND_BITS: usize = 1 << 14;
/// Weighted sets of bits of the blind learner.
pub const BLIND_FEATURES: usize = 1 << 16;
/// Logit of a gate that starts as a rule.
pub const RULE: f32 = 30.0;
/// Classes per channel of learned cells.
pub const CLASSES: usize = 256;
/// States of a game without hidden information that is measured or solved exhaustively: `equity`, `grade`, `minimax`,
/// best responses, exact values. A game with at most this many states is small.
pub const STATES: usize = 2_000_000;
/// Bytes of those states.
pub const STATE_BYTES: usize = 1 << 30;
/// Tree nodes of a game with hidden information that is solved or whose exploitability is measured.
pub const TREE: usize = 20_000_000;
/// Numbers in the rows of all decisions of a solved game.
pub const INPUTS: usize = 500_000_000;

/// Bytes of a config file.
pub const CONFIG_BYTES: u64 = 1 << 20;
/// Bytes of a manifest.
pub const MANIFEST_BYTES: u64 = 1 << 22;
/// Bytes of a record: a run, a sweep, a tournament.
pub const RECORD_BYTES: u64 = 1 << 28;
/// Bytes of a list of positions or measurements.
pub const LIST_BYTES: u64 = 1 << 30;
/// Bytes of a binary file of labelled positions.
pub const LABEL_BYTES: u64 = 1 << 35;
/// Rows of such a file.
pub const LABELS: u64 = 1_000_000_000;
/// Bytes of a line of a list.
pub const LINE_BYTES: usize = 4096;
/// Bytes of the header of a tensor file.
pub const HEADER_BYTES: u64 = 1 << 26;
/// Bytes of weights or of a training state.
pub const WEIGHT_BYTES: u64 = 1 << 34;
/// Bytes of input that is not a regular file, such as a pipe or a device.
pub(crate) const PIPE_BYTES: u64 = 1 << 26;

/// Checks that a file may be placed here: the path is free, or a regular file. A finished file is renamed into place,
/// which would destroy a device, a pipe or a link.
///
/// # Errors
/// The existing object.
pub(crate) fn check_target(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let what = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        kind if kind.is_symlink() => "a link: name the file it leads to",
        _ => "a device or a pipe, where no file can be put",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("this is {what}")))
}

/// Silence of a pipe or a device after which a note is sent.
const SILENCE: Duration = Duration::from_secs(2);

/// Reads a file of at most `limit` bytes. A pipe is read until its writer closes it; if that takes long, a note says
/// so.
///
/// # Errors
/// As for [`std::fs::read`], and [`ErrorKind::FileTooLarge`] without reading more than the limit.
pub fn read(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if about.is_file() || about.is_dir() {
        return read_now(path, limit);
    }
    // A pipe without a writer would block this thread.
    let (send, receive) = mpsc::channel();
    let other = path.to_path_buf();
    std::thread::Builder::new().spawn(move || send.send(read_now(&other, limit)))?;
    let ended = |_| Err(io::Error::other("reading ended without a result"));
    match receive.recv_timeout(SILENCE) {
        Err(mpsc::RecvTimeoutError::Timeout) => {
            notes::note(&format!(
                "{}: waiting until another program has written to it and closed it",
                path.display()
            ));
            receive.recv().unwrap_or_else(ended)
        }
        found => found.unwrap_or_else(|_| ended(mpsc::RecvError)),
    }
}

fn read_now(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let too_large = |limit: u64| {
        let message = format!("is larger than {}, the limit of such a file", size(limit));
        std::io::Error::new(ErrorKind::FileTooLarge, message)
    };
    let file = File::open(path)?;
    let about = file.metadata()?;
    let limit = if about.is_file() { limit } else { limit.min(PIPE_BYTES) };
    if about.is_file() && about.len() > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// Checks that a file that will be read more than once is not a pipe or a device, which can be read only once.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a pipe or a device, and an I/O error if the file does not exist.
pub fn check_lasting(path: &Path) -> io::Result<Metadata> {
    let about = std::fs::metadata(path)?;
    if about.is_file() || about.is_dir() {
        return Ok(about);
    }
    let message = "is a pipe or a device, which can be read only once: write it to a file first";
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

/// The byte order mark of UTF-16, as written by Windows programs.
const UTF_16: [u8; 2] = [0xFF, 0xFE];

/// Largest number of stored states of this size in bytes: [`STATES`], or fewer because of [`STATE_BYTES`].
pub fn states(bytes: usize) -> usize {
    STATES.min(STATE_BYTES / bytes.max(1))
}

/// Reads a text file of at most `limit` bytes, in UTF-8, or in little-endian UTF-16 with a byte order mark. The mark is
/// removed.
///
/// # Errors
/// As for [`read`], and [`ErrorKind::InvalidData`] for another encoding.
pub fn read_text(path: &Path, limit: u64) -> std::io::Result<String> {
    let no_text = |bytes: Vec<u8>| std::io::Error::new(ErrorKind::InvalidData, other_encoding(&bytes));
    decoded(read(path, limit)?).map_err(no_text)
}

/// Reads a text file of an older program: text that is not UTF-8 or UTF-16 is read as Latin-1.
///
/// # Errors
/// As for [`read`].
pub fn read_any_text(path: &Path, limit: u64) -> std::io::Result<String> {
    Ok(any_text(read(path, limit)?))
}

/// Decodes the text of an older program: what is not UTF-8 or UTF-16 is Latin-1.
pub fn any_text(bytes: Vec<u8>) -> String {
    decoded(bytes).unwrap_or_else(|bytes| bytes.into_iter().map(char::from).collect())
}

/// Decodes bytes and removes the byte order mark; returns the bytes if they are neither UTF-8 nor little-endian UTF-16.
fn decoded(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if let Some(text) = bytes.strip_prefix(&UTF_16).filter(|text| text.len() % 2 == 0) {
        let units = text.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        return char::decode_utf16(units).collect::<Result<String, _>>().map_err(|_| bytes);
    }
    let mut text = String::from_utf8(bytes).map_err(|e| e.into_bytes())?;
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    Ok(text)
}

/// The byte order mark that some programs put before UTF-8.
const MARK: char = '\u{feff}';

/// Describes the encoding of a text that is not UTF-8, by its first bytes.
fn other_encoding(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xFE, 0xFF, ..] => "is a text in big-endian UTF-16: save it as UTF-8",
        _ => "is not a text in UTF-8",
    }
}

/// Reads a list: a text file of at most [`LIST_BYTES`] with lines of at most [`LINE_BYTES`]. Stops early if its
/// beginning is not a list.
///
/// # Errors
/// As for [`read_text`], and [`ErrorKind::InvalidData`] with the line that is too long.
pub fn read_list(path: &Path) -> std::io::Result<String> {
    let fault = |message: String| Err(std::io::Error::new(ErrorKind::InvalidData, message));
    let about = std::fs::metadata(path)?;
    // A line with its end.
    let length = LINE_BYTES + 2;
    if about.is_file() && about.len() > length as u64 {
        let mut head = vec![0; length];
        File::open(path)?.read_exact(&mut head)?;
        match head.iter().rposition(|&b| b == b'\n') {
            _ if head.starts_with(&UTF_16) => {}
            None => return fault(too_long(1)),
            Some(end) if std::str::from_utf8(&head[..end]).is_err() => {
                return fault(other_encoding(&head).into());
            }
            Some(_) => {}
        }
    }
    let text = read_text(path, LIST_BYTES)?;
    match text.lines().position(|line| line.len() > LINE_BYTES) {
        Some(line) => fault(too_long(line + 1)),
        None => Ok(text),
    }
}

fn too_long(line: usize) -> String {
    format!("line {line} is longer than {LINE_BYTES} bytes: is this a list, one entry a line?")
}

/// Memory reserved by large objects of this process.
static CLAIMS: Mutex<Claims> = Mutex::new(Claims { taken: 0, free: None });

struct Claims {
    taken: u64,
    /// Free memory when the claims first exceeded [`SMALL`].
    free: Option<u64>,
}

/// Claims below this total are granted without checking free memory.
const SMALL: u64 = 1 << 27;

/// A memory reservation until dropped. Memory counts as used only once it is written, so two objects that fit
/// separately may not fit together. A claim that does not fit is refused, not delayed.
#[derive(Debug)]
pub struct Claim(u64);

/// Insufficient memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// Bytes of all claims, including the refused one.
    pub needed: u64,
    /// Bytes that were free before the first claim.
    pub free: u64,
}

impl Claim {
    /// Reserves bytes.
    ///
    /// # Errors
    /// [`Short`] if the claims of this process exceed the memory of the machine, its control group or `ulimit -v`.
    pub fn new(bytes: u64) -> Result<Self, Short> {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        if claims.taken == 0 {
            claims.free = None;
        }
        let needed = claims.taken.saturating_add(bytes);
        if needed > SMALL {
            if claims.free.is_none() {
                claims.free = free_memory();
            }
            // Other programs may have freed memory since, so compare with the free memory now plus all claims.
            let is_short = |free: &u64| *free < needed;
            if claims.free.as_ref().is_some_and(is_short) {
                claims.free = claims.free.max(free_memory());
            }
            if let Some(free) = claims.free.filter(is_short) {
                return Err(Short { needed, free });
            }
        }
        claims.taken = needed;
        Ok(Self(bytes))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        claims.taken = claims.taken.saturating_sub(self.0);
    }
}

/// Bytes that `ulimit -v` still allows; `None` if there is no such limit.
#[cfg(target_os = "linux")]
fn free_addresses() -> Option<u64> {
    let (soft, _) = rlimit::getrlimit(rlimit::Resource::AS).ok()?;
    if soft == rlimit::INFINITY {
        return None;
    }
    let me = sysinfo::get_current_pid().ok()?;
    let mut system = sysinfo::System::new();
    system.refresh_processes_specifics(
        sysinfo::ProcessesToUpdate::Some(&[me]),
        false,
        sysinfo::ProcessRefreshKind::nothing().with_memory(),
    );
    Some(soft.saturating_sub(system.process(me)?.virtual_memory()))
}

#[cfg(not(target_os = "linux"))]
fn free_addresses() -> Option<u64> {
    None
}

/// Free memory in bytes: available on the machine, or less under a control group limit or `ulimit -v`. Cached file
/// pages count as free. None if the system does not report it.
pub fn free_memory() -> Option<u64> {
    [machine_memory(), free_addresses()].into_iter().flatten().min()
}

fn machine_memory() -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let machine = system.available_memory();
    // 0 means that the system does not report it.
    let known = (machine > 0).then_some(machine);
    match system.cgroup_limits() {
        Some(group) if group.total_memory < system.total_memory() => {
            let left = group.total_memory.saturating_sub(group.rss);
            Some(known.map_or(left, |machine| machine.min(left)))
        }
        _ => known,
    }
}

/// Formats a number of bytes: `16 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1u32 << 30)),
    }
}

/// Free bytes on the disk of a path, which need not exist yet; `None` if the system does not report them.
pub fn free_space(path: &Path) -> Option<u64> {
    let here = std::path::absolute(path).ok()?;
    let real = here.ancestors().find_map(|p| p.canonicalize().ok())?;
    let disks = sysinfo::Disks::new_with_refreshed_list();
    let holds = disks.iter().filter(|d| real.starts_with(d.mount_point()));
    holds.max_by_key(|d| d.mount_point().components().count()).map(|d| d.available_space())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit() {
        let path = std::env::temp_dir().join(format!("adept-limits-{}", std::process::id()));
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "is larger than 4 bytes, the limit of such a file");
        std::fs::write(&path, [0xFF]).unwrap();
        assert_eq!(read_text(&path, 5).unwrap_err().kind(), ErrorKind::InvalidData);
        let utf_16: Vec<u8> = "a;−\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        std::fs::write(&path, [&UTF_16[..], &utf_16].concat()).unwrap();
        assert_eq!(
            (read_text(&path, 99).unwrap(), read_list(&path).unwrap()),
            ("a;−\n".into(), "a;−\n".into())
        );
        assert!(check_lasting(&path).is_ok());
        std::fs::write(&path, "\u{feff}\u{feff}x").unwrap();
        assert_eq!(read_text(&path, 9).unwrap(), "\u{feff}x");
        std::fs::write(&path, [0xFE, 0xFF, 0, b'x']).unwrap();
        assert!(read_text(&path, 5).unwrap_err().to_string().contains("save it as UTF-8"));
        std::fs::remove_file(&path).unwrap();
        // A device has no length and never ends.
        #[cfg(unix)]
        {
            assert_eq!(read(Path::new("/dev/zero"), 1 << 12).unwrap_err().kind(), ErrorKind::FileTooLarge);
            assert_eq!(check_lasting(Path::new("/dev/zero")).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn what_is_no_list_is_not_read_to_its_end() {
        let path = std::env::temp_dir().join(format!("adept-list-{}", std::process::id()));
        let found = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read_list(&path).map_err(|e| e.to_string())
        };
        assert_eq!(found(b"a\nb\n").unwrap(), "a\nb\n");
        let line = |length: usize| [&vec![b'x'; length][..], b"\r\n", &[b'\n'; LINE_BYTES]].concat();
        assert!(found(&line(LINE_BYTES)).is_ok() && found(&line(LINE_BYTES + 1)).is_err());
        let long = "line 1 is longer than 4096 bytes: is this a list, one entry a line?";
        assert_eq!(found(&[b'x'; 2 * LINE_BYTES]).unwrap_err(), long);
        let late = [b"a\n", &[b'x'; 2 * LINE_BYTES][..]].concat();
        assert_eq!(found(&late).unwrap_err(), long.replace("line 1", "line 2"));
        let junk = [&[0xFF, b'\n'][..], &[b'\n'; LINE_BYTES]].concat();
        assert_eq!(found(&junk).unwrap_err(), "is not a text in UTF-8");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn claims_add_up_until_they_are_dropped() {
        let Some(free) = free_memory() else { return };
        let first = Claim::new(free / 2).unwrap();
        let short = Claim::new(free).unwrap_err();
        assert!(short.needed >= free + free / 2 && short.free <= 2 * free);
        drop(first);
        drop(Claim::new(free / 2).unwrap());
    }

    #[test]
    fn sizes_are_short() {
        let texts = [5, 2048, 1 << 20, 3 << 30].map(size);
        assert_eq!(texts, ["5 bytes", "2 KiB", "1 MiB", "3.0 GiB"]);
    }

    #[test]
    fn the_disk_of_a_folder_that_is_not_there_yet_is_found() {
        let here = std::env::temp_dir();
        if let (Some(there), Some(not_yet)) = (free_space(&here), free_space(&here.join("not/there/yet"))) {
            assert!(there > 0 && not_yet > 0);
        }
    }
}
