//! Ctrl-C and other signals that end a command: work that stops by itself is asked to.

use crate::output::{json_error_if_asked, say};
use adept_ground::files;
use adept_trainer::run::Cancel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit status after a signal, as shells give it for Ctrl-C.
const INTERRUPTED: i32 = 130;

/// How long the work may take to stop by itself.
const PATIENCE: Duration = Duration::from_millis(800);

/// How long the work may take to stop by itself where no person waits: several ranks finish a batch together, and a batch system
/// gives its jobs time to save.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

fn patience() -> Duration {
    let waits = MANY_RANKS.load(Ordering::Relaxed) || std::env::var_os("SLURM_JOB_ID").is_some();
    if waits { LONG_PATIENCE } else { PATIENCE }
}

/// The work that Ctrl-C asks to stop, and its message, once the command has work that stops by itself.
static STOPS: OnceLock<(Cancel, &str)> = OnceLock::new();

/// Answers Ctrl-C and other requests to end. Work that stops by itself ([`on_interrupt`]) is asked to; a second Ctrl-C ends
/// the process at once. Other work, such as solving a table, is ended. Nothing is lost by that: files are replaced as a whole,
/// and runs go on from their latest checkpoint. Signals that the parent process ignores stay ignored: a script may want its
/// background jobs to outlive Ctrl-C, and nohup its command to outlive the terminal.
pub(crate) fn obey_signals() {
    let ignored = ignored_signals();
    if let Err(e) = ctrlc::set_handler(interrupted) {
        say(format!("warning: Ctrl-C will not write a checkpoint: {e}"));
    }
    ignore(&ignored);
}

/// The message of runs that write a checkpoint and stop at Ctrl-C.
pub(crate) const SAVING: &str = "\nstopping, and saving what can be continued (again to stop at once)";

/// Asked to end when Ctrl-C is pressed: the work of this command, which stops by itself. `says` is then shown.
pub fn on_interrupt(says: &'static str) -> Cancel {
    STOPS.get_or_init(|| (Cancel::default(), says)).0.clone()
}

/// Whether this process ends because of an error that was said. A signal changes nothing then.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether this process is one of several ranks.
static MANY_RANKS: AtomicBool = AtomicBool::new(false);

/// From now on, signals change nothing: this process ends because of an error that was said.
pub(crate) fn set_ending() {
    ENDING.store(true, Ordering::Relaxed);
}

/// Whether this process ends because of an error that was said.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

/// Gives work more time to stop, because it is shared by several ranks.
pub(crate) fn wait_for_ranks() {
    MANY_RANKS.store(true, Ordering::Relaxed);
}

fn interrupted() {
    // The error that ends this process has been said.
    if is_ending() {
        return;
    }
    let Some((asked, says)) = STOPS.get() else { end("stopped before the end") };
    if asked.requested() {
        end(if asked.is_finished() {
            FINISHED
        } else {
            "stopped at once: continue with --resume where the command has it"
        });
    }
    asked.cancel();
    let patience = patience();
    // Before anything is said, because nobody may read it.
    std::thread::spawn(move || {
        std::thread::sleep(patience);
        // The command itself reports what was saved, if nothing else holds it up.
        while asked.is_saving() {
            while asked.is_saving() {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(patience);
        }
        let unfinished = "stopped before the end: continue with --resume where the command has it";
        end(if asked.is_finished() { FINISHED } else { unfinished })
    });
    say(if asked.is_finished() { "\nstopping" } else { says });
}

/// The message of a command that ends during measurements after its run.
const FINISHED: &str =
    "the run is finished and saved; only its comparison with formulas by kind of position is left out";

fn end(message: &str) -> ! {
    // A pipe that nobody reads must not keep the process.
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        std::process::exit(INTERRUPTED);
    });
    files::remove_unfinished();
    json_error_if_asked("interrupted", message);
    say(message);
    std::process::exit(INTERRUPTED);
}

/// Signals that would end the process and that its parent wants ignored.
#[cfg(unix)]
fn ignored_signals() -> Vec<libc::c_int> {
    let is_ignored = |signal: &libc::c_int| {
        // SAFETY: all zeros is a valid sigaction. Without a new action, the call only writes the current one to it.
        unsafe {
            let mut present: libc::sigaction = std::mem::zeroed();
            let asked = libc::sigaction(*signal, std::ptr::null(), &mut present);
            asked == 0 && present.sa_sigaction == libc::SIG_IGN
        }
    };
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(is_ignored).collect()
}

/// Ignores these signals, which the handler for all of them would otherwise receive.
#[cfg(unix)]
fn ignore(signals: &[libc::c_int]) {
    for signal in signals {
        // SAFETY: ignoring a signal runs none of our code.
        unsafe {
            libc::signal(*signal, libc::SIG_IGN);
        }
    }
}

#[cfg(not(unix))]
fn ignored_signals() -> Vec<i32> {
    Vec::new()
}

#[cfg(not(unix))]
fn ignore(_: &[i32]) {}
