//! Notes of libraries to whoever runs them, such as a command line: what was left out of a file, what is being waited for.
//!
//! Without a receiver, notes are dropped.

use std::sync::OnceLock;

type Receiver = Box<dyn Fn(&str) + Send + Sync>;

static RECEIVER: OnceLock<Receiver> = OnceLock::new();

/// Sends all later notes of this process to `receiver`, which may be called on any thread. Only the first call has an effect.
pub fn receive(receiver: impl Fn(&str) + Send + Sync + 'static) {
    let _ = RECEIVER.set(Box::new(receiver));
}

/// Sends a note of one sentence. The same note may be sent again, for example by each run of several.
pub fn note(text: &str) {
    if let Some(receiver) = RECEIVER.get() {
        receiver(text);
    }
}
