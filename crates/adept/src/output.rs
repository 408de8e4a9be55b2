//! Prints text or JSON on stdout, and messages on stderr.

use anyhow::Result;
use serde::Serialize;
use std::io::Write;

/// Prints one JSON object.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Prints text that ends with a line break.
pub(crate) fn text(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a message on stderr. A closed stderr is not an error.
pub(crate) fn say(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
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

/// Formats columns of equal width; the first is left-aligned, the others right-aligned.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |c: usize| {
        rows.iter().map(|r| r[c].chars().count()).chain([header[c].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| -> String {
        let padded = cells.zip(&widths).enumerate().map(|(c, (cell, width))| {
            if c == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let mut text = line(&mut header.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}
