//! The command `bench`.

use crate::args::{BenchAction, BenchArgs};
use crate::output;
use adept_lab::bench::{BenchCell, BenchGrid, speed};
use adept_model::device::devices;
use anyhow::Result;
use serde_json::json;

pub(crate) fn run(args: &BenchArgs, as_json: bool) -> Result<()> {
    let BenchAction::Speed { devices: chosen, batches } = &args.action;
    let mut grid = BenchGrid::default();
    if chosen.is_empty() {
        let usable = devices().into_iter().filter(|d| d.usable);
        grid.devices = usable.filter_map(|d| d.name.parse().ok()).collect();
    } else {
        grid.devices.clone_from(chosen);
    }
    if !batches.is_empty() {
        grid.batches.clone_from(batches);
    }
    let show = |cell: &BenchCell| {
        output::say(format!(
            "{} {} of {} by {} on {}: {:.1} µs",
            cell.network, cell.operation, cell.batch, cell.engine, cell.device, cell.median_us
        ));
    };
    let cells = speed(&grid, show)?;
    if as_json {
        return output::json(&json!({ "cells": cells }));
    }
    let header = ["network", "params", "engine", "device", "work", "batch", "µs", "from", "to", "rows/s"];
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|c| {
            vec![
                c.network.into(),
                c.parameters.to_string(),
                c.engine.to_string(),
                c.device.to_string(),
                c.operation.into(),
                c.batch.to_string(),
                format!("{:.1}", c.median_us),
                format!("{:.1}", c.range_us[0]),
                format!("{:.1}", c.range_us[1]),
                format!("{:.0}", c.rows_per_second),
            ]
        })
        .collect();
    output::text(&output::table(&header, &rows))
}
