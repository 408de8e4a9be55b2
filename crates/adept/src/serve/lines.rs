//! Lines over sockets.

use adept_ground::limits;
use adept_trainer::run::Cancel;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How often a silent connection is left to look at the clock and at Ctrl-C.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// Letters of a line that an error shows.
pub(super) const SHOWN: usize = 200;

/// Why there is no next line.
pub(super) enum Lost {
    /// Ctrl-C.
    Stopped,
    /// Nothing came for so long.
    Silent(Duration),
    /// The connection broke, or ended within a line.
    Broken(String),
}

/// Replaces `line` by the next line with its end; by nothing if the connection has ended between two lines. The wait for it begins at
/// the time in `since` and may last as long as is said there.
///
/// # Errors
/// See [`Lost`].
pub(super) fn read(
    lines: &mut BufReader<TcpStream>,
    line: &mut Vec<u8>,
    since: Option<(Instant, Duration)>,
    cancel: &Cancel,
) -> Result<(), Lost> {
    line.clear();
    loop {
        if cancel.requested() {
            return Err(Lost::Stopped);
        }
        if let Some((_, most)) = since.filter(|(since, most)| since.elapsed() >= *most) {
            return Err(Lost::Silent(most));
        }
        let room = limits::LINE_BYTES + 1 - line.len();
        match lines.by_ref().take(room as u64).read_until(b'\n', line) {
            // What was read so far is in the line.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            // The other side may end without reading our last line.
            Err(error) if error.kind() == ErrorKind::ConnectionReset && line.is_empty() => return Ok(()),
            Err(error) if line.is_empty() => return Err(broken(error)),
            Err(error) => return Err(Lost::Broken(format!("the connection broke within a line: {error}"))),
            Ok(_) if line.len() > limits::LINE_BYTES => {
                let most = limits::LINE_BYTES;
                return Err(Lost::Broken(format!("it sends a line of more than {most} bytes")));
            }
            // The bytes after the end of a line may come with the next one.
            Ok(_) if line.iter().all(|byte| *byte == 0) => {
                line.clear();
                return Ok(());
            }
            Ok(_) if line.last() != Some(&b'\n') => {
                return Err(Lost::Broken("it went away within a line".into()));
            }
            Ok(_) => return Ok(()),
        }
    }
}

/// The fault of a connection.
pub(super) fn broken(error: std::io::Error) -> Lost {
    Lost::Broken(format!("the connection broke: {error}"))
}
