//! Learning curves in the terminal.

use super::{Curve, Drawing, Show};
use crate::chart::{Mark, Range, Scale};

/// Width of a drawing in columns, including the numbers at its left.
pub const WIDTH: usize = 78;
/// Height of a drawing in rows, without the labels below it.
pub const HEIGHT: usize = 18;

/// Width of the numbers at the left.
const MARGIN: usize = 9;
const SYMBOLS: [char; 8] = ['●', '○', '▲', '△', '■', '□', '◆', '◇'];

/// Draws curves with labelled axes, [`WIDTH`] columns wide, and a line for each name below. All must measure the same
/// figure. Errors and distances use a logarithmic scale. `marks` are horizontal reference values.
pub fn canvas(curves: &[Curve], show: Show, marks: &[Mark]) -> String {
    let (Some(first), Some(drawing)) = (curves.first(), Drawing::new(curves, show, marks)) else {
        return String::new();
    };
    let Drawing { label, scale, mut bands, marks } = drawing;
    // Bands are not drawn here, so they must not extend the range.
    bands.iter_mut().flat_map(|band| &mut band.points).for_each(|point| point.2 = 0.0);
    let Some(range) = Range::around(scale, &bands, &marks) else { return String::new() };
    let log = scale == Scale::Log;
    let place = |v: f64| if log { v.max(range.low).log10() } else { v };
    let (mut low, mut high) = (place(range.low), place(range.high));
    if high - low < 1e-9 {
        (low, high) = (low - 0.5, high + 0.5);
    }
    let last = curves.iter().filter_map(|c| c.points.last()).map(|p| p.step).max().unwrap_or(1).max(1);
    let columns = WIDTH - MARGIN - 2;
    let row = |v: f64| ((high - place(v)) / (high - low) * (HEIGHT - 1) as f64).round() as usize;
    let mut cells = vec![vec![' '; columns]; HEIGHT];
    for mark in marks.iter().filter(|mark| range.contains(mark.value)) {
        cells[row(mark.value).min(HEIGHT - 1)].fill('┄');
    }
    for (band, symbol) in bands.iter().zip(SYMBOLS.iter().cycle()) {
        for (step, mean, _) in band.points.iter().filter(|p| place(p.1).is_finite()) {
            let x = (step / last as f64 * (columns - 1) as f64).round() as usize;
            cells[row(*mean).min(HEIGHT - 1)][x.min(columns - 1)] = *symbol;
        }
    }
    let value = |r: usize| {
        let v = high - (high - low) * r as f64 / (HEIGHT - 1) as f64;
        if log { 10f64.powf(v) } else { v }
    };
    let number = |v: f64| if log && v < 1e-3 { format!("{v:.1e}") } else { format!("{v:.4}") };
    let mut text = format!("{label}\n");
    for (r, cells) in cells.iter().enumerate() {
        let at = if r % 4 == 0 || r + 1 == HEIGHT { number(value(r)) } else { String::new() };
        let line: String = cells.iter().collect();
        text.push_str(&format!("{at:>MARGIN$} │{}\n", line.trim_end()));
    }
    text.push_str(&format!("{:>MARGIN$} └{}\n", "", "─".repeat(columns)));
    let end = format!("{last} {}", first.config.learn.unit());
    text.push_str(&format!("{:>MARGIN$}  0{end:>width$}\n", "", width = columns - 1));
    for (band, symbol) in bands.iter().zip(SYMBOLS.iter().cycle()) {
        text.push_str(&format!("{symbol} {}\n", band.name));
    }
    for mark in &marks {
        let line = if range.contains(mark.value) { "┄" } else { " " };
        text.push_str(&format!("{line} {}\n", range.legend(mark)));
    }
    text
}
