//! Maps of learned cells: the expert that a gate selects for each pair of classes.

use crate::chart;
use adept_model::checkpoint::{self, Checkpoint};
use adept_model::program::{Block, Op, Program, Selector};
use adept_model::{ModelError, NumberFormat, lower};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Largest width and height of a map in the terminal.
const COLUMNS: usize = 64;
const ROWS: usize = 32;
/// Letters of experts; they repeat if there are more experts.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Pixels of a cell in a drawing.
const CELL: f64 = 8.0;

/// The cells of one gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellMap {
    /// The node, by the prefix of its tensor names; empty for the root.
    pub node: String,
    /// All nodes with this map, `node` first.
    pub nodes: Vec<String>,
    /// The index channels, down and across.
    pub channels: [String; 2],
    /// Number of experts.
    pub experts: usize,
    /// Expert of each pair of classes: a row for each class of the first channel.
    pub cells: Vec<Vec<usize>>,
    /// First value of each class, for both channels; an empty class repeats the start of the next one.
    pub starts: [Vec<usize>; 2],
}

/// The maps of a checkpoint's learned cells, or those of the latest checkpoint of a run. Nodes with the same cells share
/// a map.
///
/// # Errors
/// [`ModelError`] if there is no such checkpoint, or if it has no learned cells.
pub fn cell_maps(path: &Path) -> Result<Vec<CellMap>, ModelError> {
    let path = checkpoint::locate(path, false)?;
    let Checkpoint { manifest, tensors, .. } = checkpoint::read(&path)?;
    let mut maps: Vec<CellMap> = Vec::new();
    // Growing tables have no program, and integer networks have no cells.
    let has_floats = manifest.quantised.as_ref().is_none_or(|of| of.scheme == NumberFormat::Bf16.scheme());
    if !manifest.architecture.grows() && has_floats {
        let program = lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
        let flat = program.parameters_in(&tensors)?;
        collect(&program, &program.body, &flat, &mut maps);
    }
    if maps.is_empty() {
        let message = "has no learned cells to draw: its architecture has no `cells`".into();
        return Err(ModelError::Checkpoint { path, message });
    }
    Ok(maps)
}

fn collect(program: &Program, block: &Block, flat: &[f32], maps: &mut Vec<CellMap>) {
    for op in &block.ops {
        let Op::Route { select, branches, .. } = op else { continue };
        if let Selector::Cells(gate) = select {
            let tables = program.cells(gate, flat);
            let node = program.node_of_cells(gate.table);
            let cells =
                tables.table.chunks(tables.columns).map(|row| row.iter().map(|&e| e as usize).collect());
            let starts = |k: usize| {
                let classes = program.params[gate.table].shape[k];
                let first = |class: usize| tables.classes[k].iter().position(|&c| c as usize >= class);
                (0..classes).map(|class| first(class).unwrap_or(tables.classes[k].len())).collect()
            };
            let map = CellMap {
                node: node.into(),
                nodes: vec![node.into()],
                channels: gate.channels.map(|c| program.channels[c].name.to_string()),
                experts: branches.len(),
                cells: cells.collect(),
                starts: [starts(0), starts(1)],
            };
            let is_same = |other: &&mut CellMap| {
                other.cells == map.cells && other.channels == map.channels && other.starts == map.starts
            };
            match maps.iter_mut().find(is_same) {
                Some(other) => other.nodes.extend(map.nodes),
                None => maps.push(map),
            }
        }
        branches.iter().for_each(|branch| collect(program, branch, flat, maps));
    }
}

impl CellMap {
    /// Number of experts with at least one cell.
    pub(crate) fn used(&self) -> usize {
        self.cells.iter().flatten().collect::<BTreeSet<_>>().len()
    }

    fn title(&self) -> String {
        let node = if self.node.is_empty() { String::new() } else { format!("{}: ", self.node) };
        let [down, across] = &self.channels;
        let (n, m) = (self.cells.len(), self.cells.first().map_or(0, Vec::len));
        format!(
            "{node}{} of {} experts in {n} × {m} cells; down {down}, across {across}",
            self.used(),
            self.experts
        )
    }

    /// The map as text, one letter per expert, at most 64 columns wide.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.title());
        let height = self.cells.len();
        for line in 0..height.min(ROWS) {
            let row = &self.cells[line * height / height.min(ROWS)];
            let start = self.starts[0][line * height / height.min(ROWS)];
            let width = row.len().min(COLUMNS);
            let letter = |column: usize| char::from(LETTERS[row[column * row.len() / width] % LETTERS.len()]);
            let letters: String = (0..width).map(letter).collect();
            let _ = writeln!(text, "{start:>7} │{letters}");
        }
        let across = &self.starts[1];
        let width = across.len().min(COLUMNS);
        let _ = writeln!(text, "{:>7} └{}", "", "─".repeat(width));
        let (first, last) = (across.first().unwrap_or(&0), across.last().unwrap_or(&0));
        let _ = writeln!(
            text,
            "{:>7}  {first}{last:>rest$}",
            "",
            rest = width.saturating_sub(first.to_string().len())
        );
        text
    }
}

/// The maps as an SVG document, stacked vertically.
pub fn svg(maps: &[CellMap]) -> String {
    let (margin, mut top) = (70.0, 0.0);
    let mut body = String::new();
    let mut widest = 0.0f64;
    for map in maps {
        let (n, m) = (map.cells.len() as f64, map.cells.first().map_or(0, Vec::len) as f64);
        widest = widest.max(m * CELL);
        let _ = writeln!(
            body,
            r#"<text x="{margin}" y="{}" font-size="13">{}</text>"#,
            top + 20.0,
            escaped(&map.title())
        );
        let left_top = top + 32.0;
        for (r, row) in map.cells.iter().enumerate() {
            let mut column = 0;
            while column < row.len() {
                let run = row[column..].iter().take_while(|e| **e == row[column]).count();
                // Hues at golden-angle steps make neighbouring numbers easy to distinguish.
                let light = 0.45 + 0.12 * (row[column] % 4) as f64;
                let colour = chart::hsl(row[column] as f64 * 137.508, 0.6, light);
                let _ = writeln!(
                    body,
                    r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{CELL:.1}" fill="{colour}"/>"#,
                    margin + column as f64 * CELL,
                    left_top + r as f64 * CELL,
                    run as f64 * CELL
                );
                column += run;
            }
        }
        let bottom = left_top + n * CELL;
        for k in 0..=4 {
            let at = |count: f64| ((count - 1.0) * f64::from(k) / 4.0) as usize;
            let (down, across) = (at(n), at(m));
            let (y, x) = (left_top + (down as f64 + 0.7) * CELL, margin + down_to(across));
            let _ = writeln!(
                body,
                r#"<text x="{:.0}" y="{y:.0}" font-size="11" text-anchor="end">{}</text>"#,
                margin - 6.0,
                map.starts[0][down]
            );
            let _ = writeln!(
                body,
                r#"<text x="{x:.0}" y="{:.0}" font-size="11" text-anchor="middle">{}</text>"#,
                bottom + 14.0,
                map.starts[1][across]
            );
        }
        let (middle, half) = (left_top + n * CELL / 2.0, margin + m * CELL / 2.0);
        let _ = writeln!(
            body,
            r#"<text x="16" y="{middle:.0}" font-size="12" text-anchor="middle" transform="rotate(-90 16 {middle:.0})">{}</text>"#,
            escaped(&map.channels[0])
        );
        let _ = writeln!(
            body,
            r#"<text x="{half:.0}" y="{:.0}" font-size="12" text-anchor="middle">{}</text>"#,
            bottom + 30.0,
            escaped(&map.channels[1])
        );
        top = bottom + 46.0;
    }
    let width = (margin + widest + 20.0).max(560.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" \
         viewBox=\"0 0 {width:.0} {top:.0}\" font-family=\"sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The middle of a column.
fn down_to(column: usize) -> f64 {
    (column as f64 + 0.5) * CELL
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_model::{Architecture, Channel, ChannelKind, Head};

    #[test]
    fn nodes_with_the_same_cells_share_a_map() {
        let text = r#"{ "meta_pi": { "experts": 3, "expert":
            { "cells": { "by": ["a", "b"], "experts": 2, "expert": { "mlp": { "hidden": [1] } } } } } }"#;
        let architecture: Architecture = serde_json::from_str(text).expect("an architecture");
        let channels = [
            Channel::new("x", ChannelKind::Dense(1)),
            Channel::new("a", ChannelKind::Index(4)),
            Channel::new("b", ChannelKind::Index(3)),
        ];
        let program = lower(&architecture, &channels, &Head::Value).expect("a program");
        let mut flat = vec![0.0; program.parameters()];
        let maps = |flat: &[f32]| {
            let mut maps = Vec::new();
            collect(&program, &program.body, flat, &mut maps);
            maps.into_iter().map(|map| map.nodes).collect::<Vec<_>>()
        };
        assert_eq!(maps(&flat), [["expert.0", "expert.1", "expert.2"]]);
        let mut set = |name: &str| {
            let param = program.params.iter().find(|param| param.name == name).expect("there is one");
            flat[param.offset] = 1.0;
        };
        // Another expert in a cell, or other class boundaries.
        set("expert.0.gate.table");
        set("expert.2.gate.classes.1");
        assert_eq!(maps(&flat), [["expert.0"], ["expert.1"], ["expert.2"]]);
    }
}
