//! Line-based communication over sockets.

use adept_ground::limits;
use adept_trainer::run::Cancel;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Interval of checking the clock and interrupts while a connection is silent.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// Longest line that an error shows, in characters.
pub(super) const SHOWN: usize = 200;

/// Why there is no next line.
pub(super) enum ReadError {
    /// Interrupted.
    Stopped,
    /// Timeout.
    Silent(Duration),
    /// The connection broke, or ended within a line.
    Broken(String),
}

/// Replaces `line` by the next line including its end, or by nothing if the connection has ended between two lines.
/// `since` holds the start and the limit of the waiting time.
///
/// # Errors
/// See [`ReadError`].
pub(super) fn read(
    lines: &mut BufReader<TcpStream>,
    line: &mut Vec<u8>,
    since: Option<(Instant, Duration)>,
    cancel: &Cancel,
) -> Result<(), ReadError> {
    line.clear();
    loop {
        if cancel.requested() {
            return Err(ReadError::Stopped);
        }
        if let Some((_, most)) = since.filter(|(since, most)| since.elapsed() >= *most) {
            return Err(ReadError::Silent(most));
        }
        let room = limits::LINE_BYTES + 1 - line.len();
        match lines.by_ref().take(room as u64).read_until(b'\n', line) {
            // The line keeps what was read so far.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            // The other side may end without reading our last line.
            Err(error) if error.kind() == ErrorKind::ConnectionReset && line.is_empty() => return Ok(()),
            Err(error) if line.is_empty() => return Err(broken(error)),
            Err(error) => {
                return Err(ReadError::Broken(format!("the connection broke within a line: {error}")));
            }
            Ok(_) if line.len() > limits::LINE_BYTES => {
                let most = limits::LINE_BYTES;
                return Err(ReadError::Broken(format!("it sends a line of more than {most} bytes")));
            }
            // NUL bytes after the end of a line may arrive with the next one.
            Ok(_) if line.iter().all(|byte| *byte == 0) => {
                line.clear();
                return Ok(());
            }
            Ok(_) if line.last() != Some(&b'\n') => {
                return Err(ReadError::Broken("it went away within a line".into()));
            }
            Ok(_) => return Ok(()),
        }
    }
}

/// The error of a broken connection.
pub(super) fn broken(error: std::io::Error) -> ReadError {
    ReadError::Broken(format!("the connection broke: {error}"))
}
