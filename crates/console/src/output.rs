//! Prints text or JSON on stdout, and messages on stderr.

use crate::program::named;
use adept_arena::OpenError;
use adept_game::GameError;
use adept_ground::shown::{printable, printable_json};
use adept_lab::compare::CompareError;
use adept_lab::sweep::SweepError;
use adept_model::{ModelError, Quantisation};
use adept_play::PlayError;
use adept_trainer::config::ConfigError;
use adept_trainer::run::TrainError;
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

/// Whether a JSON object was printed: there is exactly one.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Prints one JSON object.
///
/// # Errors
/// If the value has no form in JSON or stdout is closed.
pub fn json(value: &impl Serialize) -> Result<()> {
    if is_quiet() {
        return Ok(());
    }
    let text = format!("{}\n", printable_json(&serde_json::to_string_pretty(value)?));
    // A signal may ask for an object at the same time: whoever has the lock prints it, and the other waits for its end.
    let mut out = std::io::stdout().lock();
    PRINTED.store(true, Ordering::Relaxed);
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(STDOUT)
}

/// Prints a result: as the JSON object, or as text.
///
/// # Errors
/// As for [`json`](fn@json) and [`text`].
pub fn show<V: Serialize>(
    as_json: bool,
    value: impl FnOnce() -> V,
    text: impl FnOnce() -> String,
) -> Result<()> {
    if as_json { json(&value()) } else { self::text(&text()) }
}

/// What is named where output cannot be written.
const STDOUT: &str = "stdout";

/// Whether the output of this process cannot be written.
pub(crate) fn is_of_stdout(error: &anyhow::Error) -> bool {
    error.to_string() == STDOUT
}

/// An error with all its causes. Many errors say what their cause says.
pub fn whole(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |said, cause| match cause.to_string() {
        cause if said.contains(&cause) => said,
        cause => format!("{said}: {cause}"),
    })
}

/// Whether another process speaks for this one.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints nothing from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Ends [`be_quiet`].
pub(crate) fn speak_up() {
    QUIET.store(false, Ordering::Relaxed);
}

fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether the command was called with `--json`.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Notes that the command was called with `--json`.
pub(crate) fn ask_for_json() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Whether a JSON object was asked for and not printed yet. A signal handler may ask.
#[cfg(target_os = "linux")]
pub(crate) fn json_is_due() -> bool {
    ASKED.load(Ordering::Relaxed) && !PRINTED.load(Ordering::Relaxed)
}

/// Prints an error as the JSON object, if the command was called with `--json`.
pub(crate) fn json_error_if_asked(kind: &str, message: &str) {
    if ASKED.load(Ordering::Relaxed) {
        json_error(kind, message);
    }
}

/// Prints an error as the JSON object, unless the command printed its own before it failed.
pub(crate) fn json_error(kind: &str, message: &str) {
    let _lock = std::io::stdout().lock();
    if !PRINTED.load(Ordering::Relaxed) {
        // If stdout is closed, there is nothing left to say.
        let _ = json(&json!({ "error": { "kind": kind, "message": named(message) } }));
    }
}

/// The kind of an error, for programs that call this one. The book lists them: docs/commands.md.
pub(crate) fn kind(error: &anyhow::Error) -> &'static str {
    error.chain().find_map(of_cause).unwrap_or("failed")
}

/// The same for an error of a library.
pub(crate) fn kind_of(error: &(dyn std::error::Error + 'static)) -> &'static str {
    let mut causes = std::iter::successors(Some(error), |cause| cause.source());
    causes.find_map(of_cause).unwrap_or("failed")
}

fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let of_sweep = |error: &SweepError| match error {
        SweepError::Config(_) | SweepError::Combination { .. } | SweepError::Grid(_) => "config",
        SweepError::Folder { .. } => "folder",
        SweepError::Model(error) => of_model(error),
        SweepError::Train(error) => of_train(error),
    };
    let of_compare = |error: &CompareError| match error {
        CompareError::Side { .. } => "name",
        CompareError::Model(error) => of_model(error),
    };
    let of_play = |error: &PlayError| match error {
        PlayError::Open(error) => of_open(error),
        PlayError::Io(_) => "io",
        _ => "game",
    };
    let plain = cause.is::<ConfigError>().then_some("config");
    let plain = plain.or_else(|| cause.is::<std::io::Error>().then_some("io"));
    let ours =
        plain.or_else(|| cause.downcast_ref().map(of_game)).or_else(|| cause.downcast_ref().map(of_train));
    let ours =
        ours.or_else(|| cause.downcast_ref().map(of_open)).or_else(|| cause.downcast_ref().map(of_model));
    let ours = ours.or_else(|| cause.downcast_ref().map(of_sweep));
    ours.or_else(|| cause.downcast_ref().map(of_compare)).or_else(|| cause.downcast_ref().map(of_play))
}

fn of_train(error: &TrainError) -> &'static str {
    match error {
        TrainError::Model(error) => of_model(error),
        TrainError::Open(error) => of_open(error),
        TrainError::Config(_) => "config",
        TrainError::Disk { .. } | TrainError::Space { .. } => "io",
        TrainError::Folder { .. } | TrainError::Taken { .. } => "folder",
        TrainError::Tensors { .. } => "checkpoint",
        TrainError::Interrupted { .. } => "interrupted",
        TrainError::Diverged { .. } => "diverged",
        TrainError::Elsewhere(_) | TrainError::Ranks(_) => "failed",
        TrainError::Exact(_) | TrainError::Suite(_) => "game",
        TrainError::Game(error) => of_game(error),
    }
}

fn of_model(error: &ModelError) -> &'static str {
    match error {
        ModelError::Checkpoint { .. } | ModelError::Damaged { .. } => "checkpoint",
        ModelError::Architecture { .. } => "config",
        ModelError::Diverged { .. } => "diverged",
        ModelError::Io(_) => "io",
        ModelError::Memory { .. } => "memory",
        _ => "model",
    }
}

fn of_game(error: &GameError) -> &'static str {
    match error {
        GameError::Rules(_) => "game",
        GameError::File { .. } => "io",
        GameError::Data { .. } => "data",
        GameError::Table(_) => "checkpoint",
        GameError::Memory(_) => "memory",
        GameError::Peer(_) => "protocol",
    }
}

fn of_open(error: &OpenError) -> &'static str {
    match error {
        OpenError::Model(error) => of_model(error),
        OpenError::Mismatch { .. } => "checkpoint",
        OpenError::Unknown(_) | OpenError::Exact(_) => "name",
        OpenError::Game(error) => of_game(error),
    }
}

/// Prints text that ends with a line break. On a terminal, tables of Markdown become columns and long sentences are broken
/// into lines; lines that end in something to copy, which have gaps of two spaces, are not.
///
/// # Errors
/// If stdout is closed.
pub fn text(text: &str) -> Result<()> {
    let text = named(text);
    let text = printable(&text);
    if !std::io::stdout().is_terminal() {
        return file(&text);
    }
    file(&without_markdown(&text))
}

/// Breaks text between words into lines of at most 80 columns; every line ends with a line break.
pub(crate) fn wrapped(text: &str) -> String {
    textwrap::fill(&printable(text), lines_of(COLUMNS)) + "\n"
}

/// The beginning of a text as it is shown, at most so many columns, with `…` where it is cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    let (text, mut width) = (printable(text), 0);
    let past = text.char_indices().find(|(at, c)| {
        width += display_width(&text[*at..at + c.len_utf8()]);
        width > columns
    });
    match past {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into_owned(),
    }
}

/// A text whose words have at most so many columns each.
pub(crate) fn cut_words(text: &str, columns: usize) -> String {
    text.split(' ').map(|word| cut(word, columns)).collect::<Vec<_>>().join(" ")
}

/// A line, broken into several if it is a long sentence.
fn folded(line: &str) -> String {
    let is_sentence = display_width(line) > COLUMNS && !line.contains("  ");
    if is_sentence { wrapped(line) } else { format!("{line}\n") }
}

/// Prints the content of a file as it is; on a terminal without control characters.
pub(crate) fn file(text: &str) -> Result<()> {
    if is_quiet() {
        return Ok(());
    }
    note_alive();
    let mut out = std::io::stdout().lock();
    let text = if out.is_terminal() { printable(text) } else { text.into() };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(STDOUT)
}

/// When something was last printed or reported.
static SAID: Mutex<Option<Instant>> = Mutex::new(None);

/// Notes that something is printed, or that work was reported that need not be printed yet.
pub(crate) fn note_alive() {
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

/// Time since something was printed or reported, or since the first call.
pub(crate) fn silence() -> Duration {
    SAID.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now).elapsed()
}

/// Prints a message on stderr; on a terminal, a long sentence is broken into lines. A closed stderr is not an error.
pub fn say(message: impl std::fmt::Display) {
    if is_quiet() {
        return;
    }
    note_alive();
    remark(message);
}

/// Prints a message as [`say`] does, and does not count it as a sign of life.
pub(crate) fn remark(message: impl std::fmt::Display) {
    if is_quiet() {
        return;
    }
    let message = printable(&named(&message.to_string())).into_owned();
    let mut out = std::io::stderr().lock();
    let lines = message.split('\n');
    let text: String = if out.is_terminal() { lines.map(folded).collect() } else { message + "\n" };
    let _ = out.write_all(text.as_bytes());
}

/// Prints help, or what is wrong with the arguments.
pub(crate) fn usage(error: &clap::Error) {
    let text = error.render().to_string();
    // If nobody reads it, there is nothing left to say.
    let _ = match named(&text) {
        Cow::Borrowed(_) => error.print(),
        Cow::Owned(text) if error.use_stderr() => std::io::stderr().write_all(text.as_bytes()),
        Cow::Owned(text) => std::io::stdout().write_all(text.as_bytes()),
    };
}

/// A writer for people: control characters of what is written are shown, and obeyed by no terminal.
pub(crate) struct Shown<W>(pub(crate) W);

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_all(printable(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Whether the reader of our output has closed the pipe, as `head` does.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(closed)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|e| e.io_error_kind() == Some(std::io::ErrorKind::BrokenPipe))
    })
}

/// A number with three digits that matter.
pub(crate) fn short(v: f64) -> String {
    match v.abs() {
        a if a == 0.0 || !a.is_finite() => format!("{v}"),
        a if a < 1e-3 => format!("{v:.2e}"),
        a => format!("{v:.*}", (2 - a.log10().floor() as i32).clamp(0, 5) as usize),
    }
}

/// Columns of a terminal for which text is broken into lines.
pub(crate) const COLUMNS: usize = 80;

/// Lines of this width, broken between words only.
fn lines_of(columns: usize) -> Options<'static> {
    Options::new(columns).break_words(false).word_splitter(WordSplitter::NoHyphenation)
}

/// A list entry: `head`, then text whose later lines are indented by `indent` columns. No line has more than 80 columns, unless a
/// single word is longer.
pub(crate) fn entry(head: &str, indent: usize, text: &str) -> String {
    let words = printable(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return format!("{head}\n");
    }
    let (first, rest) = (format!("{head:<width$} ", width = indent.saturating_sub(1)), " ".repeat(indent));
    let first = if head.ends_with(' ') && head.chars().count() >= indent { head } else { &first };
    textwrap::fill(&words, lines_of(COLUMNS).initial_indent(first).subsequent_indent(&rest)) + "\n"
}

/// How far a quantised network is from the one it was made from.
pub(crate) fn quantised(of: &Quantisation) -> String {
    let mut text = format!(
        "values differ by {:.5} from the network's, root mean square over positions of its games, and by {:.4} at most",
        of.rms, of.max
    );
    if of.rows > 0 {
        text.push_str(&format!("; {} positions of other games gave the scales", of.rows));
    }
    text
}

/// An entry for a channel of an encoder.
pub(crate) fn channel(name: &str, kind: &str, about: &str) -> String {
    entry(&format!("  {name:<14}{kind} "), 29, about)
}

/// Formats columns; the first is left-aligned, the others right-aligned. If the table would be wider than 80 columns, the gaps
/// are smaller; if that is not enough, headers are broken into lines. On a terminal cells are broken too, and columns that still
/// do not fit follow in a table below, which begins with the first column again.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    table_for(std::io::stdout().is_terminal(), header, &rows.into_iter().collect::<Vec<_>>())
}

fn table_for(terminal: bool, header: &[&str], rows: &[Vec<String>]) -> String {
    // A word that is wider than two columns side by side would break the lines of a terminal, and a very long one the format.
    let longest = if terminal { COLUMNS / 2 - 2 } else { WORD };
    let clipped = |row: &Vec<String>| row.iter().map(|cell| cut_words(cell, longest)).collect();
    let rows: &[Vec<String>] = &rows.iter().map(clipped).collect::<Vec<_>>();
    let columns: Vec<Column> = (0..header.len()).map(|c| Column::new(header[c], rows, c)).collect();
    let total = |widths: &[usize], gap: usize| widths.iter().map(|w| w + gap).sum::<usize>() - gap;
    let fits = |width: fn(&Column) -> usize, gap: usize| {
        let widths: Vec<usize> = columns.iter().map(width).collect();
        (total(&widths, gap) <= COLUMNS).then_some((widths, gap))
    };
    let whole = |c: &Column| c.cell.max(c.header);
    let found = fits(whole, 2).or_else(|| fits(whole, 1)).or_else(|| fits(|c| c.cell.max(c.header_word), 1));
    if let Some((widths, gap)) = found {
        return lines(header, rows, &widths, gap);
    }
    let mut widths: Vec<usize> = columns.iter().map(|c| c.cell.max(c.header_word)).collect();
    if !terminal {
        return lines(header, rows, &widths, 1);
    }
    let least: Vec<usize> = columns.iter().map(|c| c.cell_word.max(c.header_word)).collect();
    while total(&widths, 1) > COLUMNS {
        let wide = (0..widths.len()).filter(|&c| widths[c] > least[c]).max_by_key(|&c| widths[c]);
        let Some(c) = wide else { break };
        widths[c] -= 1;
    }
    // At least one column beside the first, so that each table is narrower than the one before.
    let many =
        (2..=header.len()).rev().find(|&n| total(&widths[..n], 1) <= COLUMNS).unwrap_or(2.min(header.len()));
    let first: Vec<Vec<String>> = rows.iter().map(|row| row[..many].to_vec()).collect();
    let mut text = lines(&header[..many], &first, &widths[..many], 1);
    if many < header.len() {
        let rest = |row: &Vec<String>| [&row[..1], &row[many..]].concat();
        let rest: Vec<Vec<String>> = rows.iter().map(rest).collect();
        text.push('\n');
        text.push_str(&table_for(terminal, &[&header[..1], &header[many..]].concat(), &rest));
    }
    text
}

/// Letters of a word in a table that no terminal shows.
const WORD: usize = 1000;

/// How wide a column of a table is, and how narrow it may be: its longest header, cell and words of them.
struct Column {
    header: usize,
    header_word: usize,
    cell: usize,
    cell_word: usize,
}

impl Column {
    fn new(header: &str, rows: &[Vec<String>], c: usize) -> Self {
        let word = |text: &str| text.split(' ').map(display_width).max().unwrap_or(0);
        let most = |width: &dyn Fn(&str) -> usize| rows.iter().map(|row| width(&row[c])).max().unwrap_or(0);
        Self {
            header: display_width(header),
            header_word: word(header),
            cell: most(&display_width),
            cell_word: most(&word),
        }
    }
}

/// The lines of a table whose columns have these widths; longer headers and cells are broken.
fn lines(header: &[&str], rows: &[Vec<String>], widths: &[usize], gap: usize) -> String {
    let row = |cells: &mut dyn Iterator<Item = &str>, below: bool| -> String {
        let cells: Vec<Vec<String>> = cells
            .zip(widths)
            .map(|(cell, &width)| match display_width(cell) > width {
                true => textwrap::wrap(cell, lines_of(width)).into_iter().map(Cow::into_owned).collect(),
                // As it is: breaking would drop spaces at its start.
                false => vec![cell.to_string()],
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        // Short headers stand just above their column.
        let line = |cell: &Vec<String>, at: usize| {
            let at = if below { (at + cell.len()).checked_sub(height) } else { Some(at) };
            at.and_then(|at| cell.get(at).cloned()).unwrap_or_default()
        };
        (0..height)
            .map(|at| {
                let padded = cells.iter().zip(widths).enumerate().map(|(c, (cell, width))| {
                    let text = line(cell, at);
                    let space = " ".repeat(width.saturating_sub(display_width(&text)));
                    if c == 0 { text + &space } else { space + &text }
                });
                padded.collect::<Vec<_>>().join(&" ".repeat(gap)).trim_end().to_string() + "\n"
            })
            .collect()
    };
    let body = rows.iter().map(|cells| row(&mut cells.iter().map(String::as_str), false));
    row(&mut header.iter().copied(), true) + &body.collect::<String>()
}

/// A text for a terminal: the tables of Markdown in columns, long sentences folded.
fn without_markdown(text: &str) -> String {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
    };
    let (mut shown, mut block) = (String::new(), Vec::new());
    for line in text.lines().map(Some).chain([None]) {
        if let Some(line) = line.filter(|line| line.starts_with('|')) {
            block.push(line);
            continue;
        }
        let rows: Vec<Vec<String>> = block.iter().copied().map(cells).collect();
        let rule = |row: &Vec<String>| row.iter().all(|cell| cell.trim_matches([':', '-']).is_empty());
        if let [header, second, below @ ..] = &rows[..]
            && rule(second)
            && rows.iter().all(|row| row.len() == header.len())
        {
            shown.push_str(&table(&header.iter().map(String::as_str).collect::<Vec<_>>(), below.to_vec()));
        } else {
            block.iter().for_each(|line| shown.push_str(&format!("{line}\n")));
        }
        block.clear();
        shown.push_str(&line.map_or_else(String::new, folded));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_break_their_headers() {
        let row = |n: usize| vec!["one".to_string(); n];
        let narrow = table(&["first", "second column"], [row(2)]);
        assert_eq!(narrow, "first  second column\none              one\n");
        let header = ["checkers of the larger side"; 8];
        let wide = table(&header, [row(8)]);
        assert!(wide.lines().all(|line| line.chars().count() <= COLUMNS), "{wide}");
        assert_eq!(wide.lines().count(), 5);
    }

    #[test]
    fn long_words_are_cut() {
        for letters in [100, 70_000] {
            let rows = [vec!["x".repeat(letters), "1".into(), "2".into()]];
            let shown = table_for(true, &["player", "games", "decisions"], &rows);
            assert!(
                shown.contains('…') && shown.lines().all(|line| line.chars().count() <= COLUMNS),
                "{shown}"
            );
            assert!(!table_for(false, &["player", "games", "decisions"], &rows).is_empty());
        }
    }

    /// Letters of two columns, and characters that are shown as escapes.
    #[test]
    fn what_is_shown_counts() {
        assert_eq!(cut("a 日本語", 4), "a 日…");
        assert_eq!(cut_words("a 日本語 b", 4), "a 日本… b");
        assert_eq!(cut("\u{1b}bc", 7), "\\u{1b}b…");
        for name in ["日本語".repeat(20), "\u{7}".repeat(60)] {
            let rows = [vec![name.clone(), "1".into()], vec!["b".into(), "2".into()]];
            let shown = table_for(true, &["player", "games"], &rows);
            let ends: Vec<usize> = shown.lines().map(display_width).collect();
            assert!(ends[0] <= COLUMNS && ends.iter().all(|end| *end == ends[0]), "{shown}");
            let words = [name.as_str(); 3].map(|word| cut(word, 12)).join(" ");
            for text in [entry("  1.000", 9, &words.repeat(3)), wrapped(&words.repeat(3))] {
                assert!(text.lines().all(|line| display_width(line) <= COLUMNS), "{text}");
            }
        }
    }

    #[test]
    fn wide_cells_are_broken_and_then_columns_follow_below() {
        let long = "four words of text".to_string();
        let wrapped = table_for(true, &["a", "b", "c", "d", "e", "f"], &[vec![long.clone(); 6]]);
        assert_eq!(wrapped.lines().count(), 3, "{wrapped}");
        let word = "x".repeat(30);
        let split =
            table_for(true, &["name", "b", "c", "d"], &[vec!["n".into(), word.clone(), word.clone(), word]]);
        let shown: Vec<&str> = split.lines().collect();
        assert_eq!(shown.len(), 5, "{split}");
        assert!(shown[3].starts_with("name") && shown[4].starts_with("n   "), "{split}");
        assert!(table(&["a"], [vec!["  in".into()]]).contains("\n  in\n"));
        for text in [wrapped, split] {
            assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        }
    }

    #[test]
    fn markdown_tables_become_columns() {
        let text = without_markdown("# Title\n\n| a | b |\n|---|---:|\n| 1 | 22 |\n\nend\n");
        assert_eq!(text, "# Title\n\na   b\n1  22\n\nend\n");
        assert_eq!(without_markdown("| alone |\n"), "| alone |\n");
    }
}
