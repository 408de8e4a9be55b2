//! Notes and warnings of libraries to whoever runs them, such as a command line: what was left out of a file, what is being waited
//! for, what a network must not be used for.
//!
//! Without a receiver, notes are dropped.

use std::sync::OnceLock;

type Receiver = Box<dyn Fn(Kind, &str) + Send + Sync>;

/// How much a text matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It explains what happens.
    Note,
    /// Results may not be what is expected.
    Warning,
}

static RECEIVER: OnceLock<Receiver> = OnceLock::new();

/// Sends all later notes and warnings of this process to `receiver`, which may be called on any thread. Only the first call has an effect.
pub fn receive(receiver: impl Fn(Kind, &str) + Send + Sync + 'static) {
    let _ = RECEIVER.set(Box::new(receiver));
}

/// Sends a note of one sentence. The same note may be sent again, for example by each run of several.
pub fn note(text: &str) {
    send(Kind::Note, text);
}

/// Sends a warning of one sentence, as [`note`] sends a note.
pub fn warn(text: &str) {
    send(Kind::Warning, text);
}

fn send(kind: Kind, text: &str) {
    if let Some(receiver) = RECEIVER.get() {
        receiver(kind, text);
    }
}
