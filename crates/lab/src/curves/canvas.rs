//! Curves in a terminal.

use super::{Curve, is_error, label};

/// Columns of a drawing, with the numbers at its left.
pub const WIDTH: usize = 78;
/// Rows of a drawing, without the labels below it.
pub const HEIGHT: usize = 18;

/// Columns of the numbers at the left.
const MARGIN: usize = 9;
const SYMBOLS: [char; 8] = ['●', '○', '▲', '△', '■', '□', '◆', '◇'];

/// Draws curves with labelled axes, [`WIDTH`] columns wide, with a line for each name below. All must measure the same
/// figure. Errors are drawn on a logarithmic scale.
pub fn canvas(curves: &[Curve]) -> String {
    let Some(first) = curves.first() else { return String::new() };
    let log = is_error(first.figure);
    let place = |v: f64| if log { v.max(1e-12).log10() } else { v };
    let mut marks = first.marks();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in curves.iter().flat_map(|c| &c.points).map(|p| place(p.mean)).filter(|v| v.is_finite()) {
        (low, high) = (low.min(v), high.max(v));
    }
    // A reference far from all curves would leave them few rows; it is named below the drawing.
    let (nearest, farthest) = (low - (high - low), high + (high - low));
    marks.retain(|(_, value)| (nearest..=farthest).contains(&place(*value)));
    for (_, value) in &marks {
        (low, high) = (low.min(place(*value)), high.max(place(*value)));
    }
    if low > high {
        return String::new();
    }
    if high - low < 1e-9 {
        (low, high) = (low - 0.5, high + 0.5);
    }
    let last = curves.iter().filter_map(|c| c.points.last()).map(|p| p.step).max().unwrap_or(1).max(1);
    let columns = WIDTH - MARGIN - 2;
    let row = |v: f64| ((high - place(v)) / (high - low) * (HEIGHT - 1) as f64).round() as usize;
    let mut cells = vec![vec![' '; columns]; HEIGHT];
    for (_, value) in &marks {
        cells[row(*value).min(HEIGHT - 1)].fill('┄');
    }
    for (curve, symbol) in curves.iter().zip(SYMBOLS.iter().cycle()) {
        for point in curve.points.iter().filter(|p| place(p.mean).is_finite()) {
            let x = (point.step as f64 / last as f64 * (columns - 1) as f64).round() as usize;
            cells[row(point.mean).min(HEIGHT - 1)][x.min(columns - 1)] = *symbol;
        }
    }
    let value = |r: usize| {
        let v = high - (high - low) * r as f64 / (HEIGHT - 1) as f64;
        if log { 10f64.powf(v) } else { v }
    };
    let number = |v: f64| if log && v < 1e-3 { format!("{v:.1e}") } else { format!("{v:.4}") };
    let mut text = format!("{}\n", label(&first.config));
    for (r, cells) in cells.iter().enumerate() {
        let at = if r % 4 == 0 || r + 1 == HEIGHT { number(value(r)) } else { String::new() };
        let line: String = cells.iter().collect();
        text.push_str(&format!("{at:>MARGIN$} │{}\n", line.trim_end()));
    }
    text.push_str(&format!("{:>MARGIN$} └{}\n", "", "─".repeat(columns)));
    let end = format!("{last} {}", first.config.learn.unit());
    text.push_str(&format!("{:>MARGIN$}  0{end:>width$}\n", "", width = columns - 1));
    for (curve, symbol) in curves.iter().zip(SYMBOLS.iter().cycle()) {
        let runs = if curve.runs > 1 { format!(", mean of {} runs", curve.runs) } else { String::new() };
        text.push_str(&format!("{symbol} {}{runs}\n", curve.name));
    }
    for reference in first.references.iter().flat_map(|r| [&r.baseline, &r.best]) {
        let mark = if marks.iter().any(|(name, _)| *name == reference.to_string()) { "┄" } else { " " };
        text.push_str(&format!("{mark} {reference}\n"));
    }
    text
}
