//! Notes and warnings of libraries for the user: content omitted from a file, waiting for input, unsuitable networks.
//!
//! Without a receiver, notes are dropped.

use std::sync::OnceLock;

type Receiver = Box<dyn Fn(Kind, &str) + Send + Sync>;

/// Severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Explains what happens.
    Note,
    /// Results may be unexpected.
    Warning,
}

static RECEIVER: OnceLock<Receiver> = OnceLock::new();

/// Sends all later notes and warnings of this process to `receiver`, which may be called on any thread. Only the first
/// call has an effect.
pub fn receive(receiver: impl Fn(Kind, &str) + Send + Sync + 'static) {
    let _ = RECEIVER.set(Box::new(receiver));
}

/// Sends a note of one sentence. A note may be repeated, for example by each of several runs.
pub fn note(text: &str) {
    send(Kind::Note, text);
}

/// Sends a warning of one sentence, like [`note`].
pub fn warn(text: &str) {
    send(Kind::Warning, text);
}

fn send(kind: Kind, text: &str) {
    if let Some(receiver) = RECEIVER.get() {
        receiver(kind, text);
    }
}
