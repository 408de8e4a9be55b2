//! Ends the process with a message when a mapped file is cut short while it is read. Reading past its new end raises SIGBUS,
//! which otherwise kills a process without a word.

#[cfg(target_os = "linux")]
use crate::output;

#[cfg(target_os = "linux")]
const TEXT: &str =
    "a file was cut short while it was in use, or its disk failed: restore it, or build it again";

/// Answers SIGBUS with an error message and exit status 1. Elsewhere the signal can also mean a stack overflow.
#[cfg(target_os = "linux")]
pub(crate) fn watch() {
    // SAFETY: all zeros is a valid sigaction. The handler calls only what a signal handler may call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = end;
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn watch() {}

#[cfg(target_os = "linux")]
extern "C" fn end(_signal: libc::c_int) {
    if output::json_is_due() {
        put(libc::STDOUT_FILENO, &["{\"error\":{\"kind\":\"io\",\"message\":\"", TEXT, "\"}}\n"]);
    }
    put(libc::STDERR_FILENO, &["error: ", TEXT, "\n"]);
    // SAFETY: `_exit` may be called from a signal handler and does not return.
    unsafe { libc::_exit(1) }
}

#[cfg(target_os = "linux")]
fn put(descriptor: libc::c_int, parts: &[&str]) {
    for part in parts {
        // SAFETY: the pointer and the length are those of a string that lives on. A closed descriptor does no harm here.
        unsafe { libc::write(descriptor, part.as_ptr().cast(), part.len()) };
    }
}
