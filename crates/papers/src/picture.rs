//! Panels of small pictures as SVG: functions and gates over a square.

use adept_lab::chart;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Pixels of a cell.
const CELL: usize = 3;
/// Pixels between panels, and above a panel for its title.
const GAP: usize = 26;
/// Number of colour steps for values.
const STEPS: f64 = 20.0;

/// A titled square of colours.
pub(super) struct Panel {
    title: String,
    /// Rows of CSS colours, top row first.
    cells: Vec<Vec<String>>,
}

impl Panel {
    /// A function with values in [−1, 1], top row first: blue below 0, orange above.
    pub(super) fn of_values(title: &str, values: &[Vec<f32>]) -> Self {
        let colour = |v: &f32| {
            let v = (f64::from(v.clamp(-1.0, 1.0)) * STEPS).round() / STEPS;
            let (hue, light) = (if v < 0.0 { 215.0 } else { 28.0 }, 0.97 - 0.52 * v.abs());
            chart::hsl(hue, 0.75, light)
        };
        Self {
            title: title.into(),
            cells: values.iter().map(|row| row.iter().map(colour).collect()).collect(),
        }
    }

    /// Numbers of experts, top row first: a colour each.
    pub(super) fn of_experts(title: &str, experts: &[Vec<usize>]) -> Self {
        // Hues at golden-angle steps make neighbouring numbers easy to distinguish.
        let colour = |e: &usize| chart::hsl(*e as f64 * 137.508 + 200.0, 0.55, 0.62);
        Self {
            title: title.into(),
            cells: experts.iter().map(|row| row.iter().map(colour).collect()).collect(),
        }
    }
}

/// Rows of panels as an SVG document.
pub(super) fn svg(rows: &[Vec<Panel>]) -> String {
    let side = |panel: &Panel| panel.cells.len() * CELL;
    let (mut body, mut top, mut widest) = (String::new(), 0, 0);
    for row in rows {
        let (mut left, mut height) = (GAP / 2, 0);
        for panel in row {
            let _ = writeln!(
                body,
                r#"<text x="{left}" y="{}" font-size="12">{}</text>"#,
                top + GAP - 8,
                panel.title.replace('&', "&amp;").replace('<', "&lt;")
            );
            for (colour, path) in runs(panel, left, top + GAP) {
                let _ = writeln!(body, r#"<path fill="{colour}" d="{path}"/>"#);
            }
            left += side(panel) + GAP / 2;
            height = height.max(side(panel));
        }
        widest = widest.max(left);
        top += height + GAP;
    }
    let bottom = top + GAP / 2;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{widest}\" height=\"{bottom}\" \
         viewBox=\"0 0 {widest} {bottom}\" font-family=\"sans-serif\" shape-rendering=\"crispEdges\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// For each colour of a panel, an SVG path over its runs of cells.
fn runs(panel: &Panel, left: usize, top: usize) -> BTreeMap<&str, String> {
    let mut paths: BTreeMap<&str, String> = BTreeMap::new();
    for (r, row) in panel.cells.iter().enumerate() {
        let mut column = 0;
        while column < row.len() {
            let run = row[column..].iter().take_while(|c| **c == row[column]).count();
            let (x, y, width) = (left + column * CELL, top + r * CELL, run * CELL);
            let _ = write!(paths.entry(&row[column]).or_default(), "M{x} {y}h{width}v{CELL}h-{width}z");
            column += run;
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_a_colour_share_a_path() {
        let panel = Panel::of_experts("a < b", &[vec![0, 0, 1], vec![1, 1, 1]]);
        let text = svg(&[vec![panel]]);
        assert_eq!(text.matches("<path").count(), 2);
        assert!(text.contains("a &lt; b") && text.contains("M13 26h6v3h-6z"), "{text}");
        assert!(text.contains("M13 29h9v3h-9z"), "{text}");
    }
}
