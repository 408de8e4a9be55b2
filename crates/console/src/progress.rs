//! Progress of runs: bars on a terminal, plain lines in a pipe.

use crate::output::{self, say};
use adept_ground::shown::printable;
use adept_ground::work::{Pace, time_left, time_text};
use adept_ground::{notes, work};
use adept_lab::tournament::shown;
use adept_trainer::config::Figure;
use adept_trainer::run::{Evaluation, Event, Match, Observer};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
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
    began: Instant,
    pace: Pace,
    figure: String,
    /// Whether a warning about the results was shown.
    warned: bool,
}

/// Time after which work gets a bar on a terminal: short work needs none.
const SHORT: Duration = Duration::from_millis(475);

/// Time between two looks at whether a line is due.
const LOOK: Duration = Duration::from_millis(100);

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
                let (figure, pace, began) = (String::new(), Pace::default(), Instant::now());
                shown.insert(name.into(), Shown { bar, games, unit, began, pace, figure, warned: false });
            }
            Event::Progress { step, rate } => {
                let Some(run) = shown.get_mut(name) else { return };
                run.bar.set_position(step);
                // Several runs have the same opponent.
                let figure = run.figure.split(" against ").next().filter(|_| self.many);
                let figure = printable(figure.unwrap_or(&run.figure));
                run.bar.set_message(format!("{figure}, {rate:.0}/s"));
                if self.bars.is_some() {
                    return;
                }
                output::note_alive();
                let elapsed = run.began.elapsed();
                if step < run.games && run.pace.is_due(elapsed) {
                    let left = Duration::try_from_secs_f64((run.games - step) as f64 / rate);
                    let left =
                        left.map_or_else(|_| String::new(), |left| format!(", {} left", time_text(left)));
                    let name = if self.many { format!("{name}: ") } else { String::new() };
                    say(format!(
                        "{name}{step}/{} {} after {}, {rate:.0}/s{}{left}",
                        run.games,
                        run.unit,
                        time_text(elapsed),
                        run.figure
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
                if let Some((figure, value)) = evaluation.watched() {
                    run.figure = format!(", {}", watched(evaluation, figure, value));
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
                work::share("runs", self.bar.position() as f64 / self.total.max(1) as f64);
            }
            self.bar.set_message(text);
        }
    }
}

/// Work that is being shown.
struct Working {
    bar: ProgressBar,
    began: Instant,
    pace: Pace,
    share: f64,
    /// When the share was reported, from the beginning of the work.
    reported: Duration,
}

impl Working {
    /// The line of this work in a log, if one is due.
    fn line(&mut self, what: &str, now: Duration) -> Option<String> {
        self.pace.is_due(now).then(|| {
            let left = time_left(self.share, self.reported, now);
            let left = left.map_or_else(String::new, |left| format!(", {} left", time_text(left)));
            format!("{}: {:.0} % after {}{left}", name_of(what), 100.0 * self.share, time_text(now))
        })
    }
}

/// The work that libraries have reported and not ended, by its name.
static WORK: Mutex<BTreeMap<String, Working>> = Mutex::new(BTreeMap::new());

/// Shows the work that libraries report: a bar on a terminal, lines at growing intervals in a pipe ([`show_life`]). Several threads
/// may report the same work: the largest share counts.
pub(crate) fn show_work() {
    work::receive(move |what, share| {
        output::note_alive();
        let mut all = WORK.lock().unwrap_or_else(PoisonError::into_inner);
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
            let (began, reported) = (Instant::now(), Duration::ZERO);
            all.insert(what.into(), Working { bar, began, pace: Pace::default(), share: 0.0, reported });
        }
        let Some(working) = all.get_mut(what).filter(|working| share >= working.share) else { return };
        (working.share, working.reported) = (share, working.began.elapsed());
        if !working.bar.is_hidden() && working.reported >= SHORT {
            let left = time_left(share, working.reported, working.reported);
            let left = left.map_or_else(String::new, |left| format!(", {} left", time_text(left)));
            working.bar.set_message(left);
            working.bar.set_position((share * 1000.0) as u64);
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

/// The figure of a measurement as text, with the first opponent if there is one.
fn watched(evaluation: &Evaluation, figure: Figure, value: f64) -> String {
    let text = format!("{} {}", figure.short(), figure.text(value));
    match (figure, evaluation.equity.first(), evaluation.matches.first()) {
        (Figure::Equity, Some((against, _)), _) => match &evaluation.grade {
            Some(grade) if grade.optimal => text + ", optimal",
            Some(_) => text + ", not optimal",
            None => format!("{text} against {against}"),
        },
        (Figure::Matches, _, Some(Match { against, unit: Some(unit), .. })) => {
            format!("{} {unit} against {against}", shown(value, true))
        }
        (Figure::Matches, _, Some(Match { against, unit: None, .. })) => format!("{text} against {against}"),
        (Figure::Equity | Figure::Matches | Figure::Rms | Figure::Exploitability, ..) => text,
    }
}

/// The work without what it takes.
fn name_of(what: &str) -> &str {
    what.split([',', ';']).next().unwrap_or(what)
}

/// Says in a pipe, at growing intervals, how far reported work is; or, while nothing is reported or printed, that this command is at
/// work. On a terminal, bars do that.
pub(crate) fn show_life(command: String) {
    if std::io::stderr().is_terminal() {
        return;
    }
    // Without the thread, the work goes on in silence.
    let _ = std::thread::Builder::new().spawn(move || {
        let mut silence = Silence::default();
        loop {
            std::thread::sleep(LOOK);
            let lines: Vec<String> = {
                let mut all = WORK.lock().unwrap_or_else(PoisonError::into_inner);
                all.iter_mut().filter_map(|(what, work)| work.line(what, work.began.elapsed())).collect()
            };
            lines.iter().for_each(say);
            if silence.is_due(output::silence()) {
                output::remark(format!(
                    "{command}: at work, nothing said for {}",
                    time_text(output::silence())
                ));
            }
        }
    });
}

/// Decides when it is said that a silent program is at work.
#[derive(Default)]
struct Silence {
    pace: Pace,
    /// The longest silence seen since something was said.
    longest: Duration,
}

impl Silence {
    /// Whether a line is due after this time without a sign of life.
    fn is_due(&mut self, silent: Duration) -> bool {
        if silent < self.longest {
            self.pace = Pace::default();
        }
        self.longest = silent;
        self.pace.is_due(silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: f64) -> Duration {
        Duration::from_secs_f64(n)
    }

    #[test]
    fn lines_say_the_work_the_share_and_the_times() {
        let (bar, pace) = (ProgressBar::hidden(), Pace::default());
        let mut working = Working { bar, began: Instant::now(), pace, share: 0.0, reported: Duration::ZERO };
        let mut lines = Vec::new();
        for second in 1..100 {
            // Reports come at times, and lines while there is none.
            if second % 8 == 0 {
                (working.share, working.reported) = (f64::from(second) / 200.0, seconds(second.into()));
            }
            lines.extend(working.line("solving the game, a minute", seconds(second.into())));
        }
        assert_eq!(
            lines,
            [
                "solving the game: 0 % after 2 s",
                "solving the game: 0 % after 5 s",
                "solving the game: 4 % after 10 s",
                "solving the game: 8 % after 20 s",
                "solving the game: 20 % after 40 s, 3 min left",
                "solving the game: 28 % after 60 s, 2 min left",
            ]
        );
    }

    #[test]
    fn a_silent_program_says_less_and_less() {
        let mut silence = Silence::default();
        let mut due = |times: &[f64]| times.iter().map(|t| silence.is_due(seconds(*t))).collect::<Vec<_>>();
        assert_eq!(due(&[1.0, 2.0, 3.0, 5.0, 9.0, 10.0]), [false, true, false, true, false, true]);
        // Something was said.
        assert_eq!(due(&[0.1, 1.9, 2.0]), [false, false, true]);
    }
}
