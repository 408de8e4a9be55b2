//! Progress of runs: bars on a terminal, plain lines in a pipe.

use crate::output::{self, json_error_if_asked, say};
use adept_ground::shown::printable;
use adept_ground::{files, notes, work};
use adept_lab::tournament::shown;
use adept_trainer::run::{Cancel, Event, Match, Observer};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Shows the progress of runs.
pub(crate) struct Progress {
    bars: Option<MultiProgress>,
    /// Whether any run has started or resumed.
    began: AtomicBool,
    shown: Mutex<HashMap<String, Shown>>,
    said: Mutex<HashSet<String>>,
    /// Whether several runs are active at once, so that lines need the name of their run.
    many: bool,
}

struct Shown {
    bar: ProgressBar,
    games: u64,
    unit: &'static str,
    printed: Option<Instant>,
    figure: String,
    /// Whether a warning about the results was shown.
    warned: bool,
}

/// Time between plain lines: two seconds, less what a line may be late.
const PAUSE: Duration = Duration::from_millis(1900);

impl Progress {
    /// Progress on stderr; `many` if several runs are active at once.
    pub(crate) fn new(many: bool) -> Self {
        let bars = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self {
            bars,
            began: AtomicBool::new(false),
            shown: Mutex::new(HashMap::new()),
            said: Mutex::default(),
            many,
        }
    }

    /// Whether any run has started or resumed; false if all were already finished.
    pub(crate) fn began(&self) -> bool {
        self.began.load(Ordering::Relaxed)
    }

    /// Prints a permanent line.
    pub(crate) fn line(&self, text: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| say(text)),
            None => say(text),
        }
    }

    /// Removes a run that reports no end.
    pub(crate) fn remove(&self, name: &str) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = shown.remove(name) {
            run.bar.finish_and_clear();
        }
    }

    /// Shows an event of the run with this name.
    pub(crate) fn show(&self, name: &str, event: Event<'_>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            // All runs prepare in the same way: one line is enough.
            Event::Preparing(what) => {
                if self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(what.into()) {
                    self.line(what);
                }
            }
            Event::Started { from, games, unit } => {
                self.began.store(true, Ordering::Relaxed);
                let bar = match &self.bars {
                    Some(bars) => bars.add(ProgressBar::new(games)),
                    None => ProgressBar::hidden(),
                };
                // What does not fit the line is cut at its end.
                if let Ok(style) = ProgressStyle::with_template(&format!(
                    "{{prefix}}{{bar:12}} {{pos}}/{{len}} {unit}, {{eta}} left{{wide_msg}}",
                )) {
                    bar.set_style(style);
                }
                if self.many {
                    bar.set_prefix(format!("{name:<9} "));
                }
                bar.set_position(from);
                bar.reset_eta();
                let figure = String::new();
                shown.insert(name.into(), Shown { bar, games, unit, printed: None, figure, warned: false });
            }
            Event::Progress { step, rate } => {
                let Some(run) = shown.get_mut(name) else { return };
                run.bar.set_position(step);
                // Several runs have the same opponent.
                let figure = run.figure.split(" against ").next().filter(|_| self.many);
                let figure = printable(figure.unwrap_or(&run.figure));
                run.bar.set_message(format!("{figure}, {rate:.0}/s"));
                let due = run.printed.is_none_or(|at| at.elapsed() >= PAUSE);
                if self.bars.is_none() && due && step < run.games {
                    let first = run.printed.is_none();
                    run.printed = Some(Instant::now());
                    if first {
                        return;
                    }
                    let left = (run.games - step) as f64 / rate;
                    let name = if self.many { format!("{name}: ") } else { String::new() };
                    say(format!(
                        "{name}{step}/{} {}, {rate:.0}/s{}, {left:.0} s left",
                        run.games, run.unit, run.figure
                    ));
                }
            }
            Event::SetBack { why, step } => {
                self.line(&format!("warning: {why}; continuing from an older checkpoint, at step {step}"));
            }
            Event::Evaluated(evaluation) => {
                let Some(run) = shown.get_mut(name) else { return };
                let warned = std::mem::replace(&mut run.warned, !evaluation.warnings.is_empty());
                if !warned {
                    for warning in &evaluation.warnings {
                        self.line(&format!("warning: after {} {}, {warning}", evaluation.step, run.unit));
                    }
                }
                if let Some((against, equity)) = evaluation.equity.first() {
                    run.figure = format!(", equity {:+.4} against {against}", equity.equity);
                    if let Some(grade) = &evaluation.grade {
                        run.figure = format!(", equity {:+.4}", equity.equity);
                        run.figure += if grade.optimal { ", optimal" } else { ", not optimal" };
                    }
                } else if let Some(exploitability) = evaluation.exploitability {
                    run.figure = format!(", exploitability {exploitability:.5}");
                } else if let Some(first) = evaluation.matches.first() {
                    run.figure = format!(", {} against {}", points(first), first.against);
                } else if let Some(errors) = evaluation.rms {
                    run.figure = format!(", RMS error {:.5}", errors.rms);
                }
            }
            Event::Ended(_) => {
                if let Some(run) = shown.remove(name) {
                    run.bar.finish_and_clear();
                }
            }
        }
    }
}

impl Observer for Progress {
    fn event(&self, seed: u64, event: Event<'_>) {
        self.show(&format!("seed {seed}"), event);
    }
}

/// Progress of many runs of several experiments, with one line at the end of each.
pub(crate) struct Count {
    bar: ProgressBar,
    total: u64,
}

impl Count {
    /// Counts up to `total` runs on stderr.
    pub(crate) fn new(total: u64) -> Self {
        let bar =
            if std::io::stderr().is_terminal() { ProgressBar::new(total) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} runs, {eta} left, {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, total }
    }
}

impl Observer for Count {
    fn event(&self, seed: u64, event: Event<'_>) {
        if let Event::Ended(record) = event {
            let Some(score) = &record.r#final else {
                // Stopped before its end: it does not count as done.
                self.bar.set_message(format!("{} seed {seed}: stopped", record.name));
                return;
            };
            self.bar.inc(1);
            let text = format!("{} seed {seed}: {:.4}", record.name, score.figure());
            if self.bar.is_hidden() {
                say(format!("{}/{} {text}, {:.1} s", self.bar.position(), self.total, record.seconds));
            }
            self.bar.set_message(text);
        }
    }
}

/// Work that is being shown.
struct Working {
    bar: ProgressBar,
    began: Instant,
    printed: Instant,
    share: f64,
}

/// Shows the work that libraries report: a bar on a terminal, a line every two seconds in a pipe. Several threads may
/// report the same work: the largest share counts.
pub(crate) fn show_work() {
    let all: Mutex<HashMap<String, Working>> = Mutex::default();
    work::receive(move |what, share| {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        if share >= 1.0 {
            if let Some(working) = all.remove(what) {
                working.bar.finish_and_clear();
            }
            return;
        }
        if !all.contains_key(what) {
            if share == 0.0 {
                say(what);
            }
            let terminal = std::io::stderr().is_terminal();
            let bar = if terminal { ProgressBar::new(1000) } else { ProgressBar::hidden() };
            // Neither a prefix nor a style given like this draws the bar.
            let bar = bar.with_prefix(printable(name_of(what)).into_owned());
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:16} {percent} %{msg}") {
                bar.set_style(style);
            }
            let now = Instant::now();
            all.insert(what.into(), Working { bar, began: now, printed: now, share: 0.0 });
        }
        let Some(working) = all.get_mut(what).filter(|working| share >= working.share) else { return };
        working.share = share;
        let left = working.began.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-9);
        // A guess from the first steps would be far off.
        let left = if share < 0.1 { String::new() } else { format!(", {left:.0} s left") };
        // Short work needs no bar.
        if !working.bar.is_hidden() && working.began.elapsed() >= PAUSE / 4 {
            working.bar.set_message(left);
            working.bar.set_position((share * 1000.0) as u64);
        } else if working.bar.is_hidden() && working.printed.elapsed() >= PAUSE {
            working.printed = Instant::now();
            say(format!("{}: {:.0} %{left}", name_of(what), 100.0 * share));
        }
    });
}

/// Shows the notes and warnings of libraries, each once.
pub(crate) fn show_notes() {
    let said: Mutex<HashSet<String>> = Mutex::default();
    notes::receive(move |kind, text| {
        if said.lock().unwrap_or_else(PoisonError::into_inner).insert(text.into()) {
            let kind = match kind {
                notes::Kind::Note => "note",
                notes::Kind::Warning => "warning",
            };
            say(format!("{kind}: {text}"));
        }
    });
}

/// The result of a match as text.
fn points(found: &Match) -> String {
    match &found.unit {
        Some(unit) => format!("{} {unit}", shown(found.score, true)),
        None => format!("points {:.4}", found.score),
    }
}

/// The work without what it takes.
fn name_of(what: &str) -> &str {
    what.split([',', ';']).next().unwrap_or(what)
}

/// Says every two seconds that the program is at work, while nothing else is said in a pipe. On a terminal, bars do that.
pub(crate) fn show_life() {
    if std::io::stderr().is_terminal() {
        return;
    }
    // Without the thread, the work goes on in silence.
    let _ = std::thread::Builder::new().spawn(|| {
        let began = Instant::now();
        loop {
            std::thread::sleep(PAUSE / 20);
            if output::silence() >= PAUSE {
                say(format!("at work, {:.0} s", began.elapsed().as_secs_f64()));
            }
        }
    });
}

/// Exit status after a signal, as shells give it for Ctrl-C.
const INTERRUPTED: i32 = 130;

/// How long the work may take to stop by itself.
const PATIENCE: Duration = Duration::from_millis(800);

/// How long the work may take to stop by itself where no person waits: several ranks finish a batch together, and a batch system
/// gives its jobs time to save.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

fn patience() -> Duration {
    let waits = crate::world::ranks().are_several() || std::env::var_os("SLURM_JOB_ID").is_some();
    if waits { LONG_PATIENCE } else { PATIENCE }
}

/// What Ctrl-C asks to stop, once the command has something that stops by itself.
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

/// What runs that write a checkpoint and stop say at Ctrl-C.
pub(crate) const SAVING: &str = "\nstopping, and saving what can be continued (again to stop at once)";

/// Asked to end when Ctrl-C is pressed: the work of this command, which stops by itself. `says` is then shown.
pub fn on_interrupt(says: &'static str) -> Cancel {
    STOPS.get_or_init(|| (Cancel::default(), says)).0.clone()
}

fn interrupted() {
    // What ends this process has been said.
    if crate::world::is_failing() {
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

/// What is said of a command that is ended while it measures what is not part of its run.
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
