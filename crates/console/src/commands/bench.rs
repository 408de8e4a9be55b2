//! The command `bench`.

use crate::args::{BenchAction, BenchArgs};
use crate::output;
use adept_ground::limits;
use adept_lab::bench::{Bench, BenchCell, BenchGrid, speed};
use adept_model::device::devices;
use adept_model::machine::{Machine, Peak};
use anyhow::{Result, bail};
use std::collections::BTreeSet;

pub(crate) fn run(args: &BenchArgs, as_json: bool) -> Result<()> {
    let BenchAction::Speed { devices: chosen, networks, batches, compare } = &args.action;
    let before = compare.as_ref().map(|path| Bench::read(path)).transpose().map_err(anyhow::Error::msg)?;
    let mut grid = BenchGrid::default();
    if chosen.is_empty() {
        let usable = devices().into_iter().filter(|d| d.usable);
        grid.devices = usable.filter_map(|d| d.name.parse().ok()).collect();
    } else {
        grid.devices.clone_from(chosen);
    }
    if !networks.is_empty() {
        grid.networks.clone_from(networks);
    }
    if !batches.is_empty() {
        grid.batches.clone_from(batches);
    }
    if let Some(before) = &before {
        check_grid(before, &grid)?;
    }
    let show = |cell: &BenchCell| {
        output::say(format!(
            "{} {} of {} by {} on {}: {:.1} µs",
            cell.network, cell.operation, cell.batch, cell.engine, cell.device, cell.median_us
        ));
    };
    let bench = speed(&grid, show)?;
    if as_json {
        return output::json(&bench);
    }
    let mut header = vec!["network", "device", "work", "batch", "µs", "from", "to", "rows/s", "peak"];
    if before.is_some() {
        header.extend(["before", "faster"]);
    }
    let rows: Vec<Vec<String>> = bench.cells.iter().map(|c| row(c, &bench.peak, before.as_ref())).collect();
    let mut text = output::table(&header, &rows);
    text.push_str(&format!("\nhere: {}\n", about(&bench.machine, &bench.peak)));
    if let Some(before) = &before {
        text.push_str(&format!("before: {}\n", about(&before.machine, &before.peak)));
    }
    text.push_str("peak: the share of multiply-adds of one core, as if no input were 0\n");
    output::text(&text)
}

/// An earlier measurement must have a cell of this grid.
fn check_grid(before: &Bench, grid: &BenchGrid) -> Result<()> {
    let has = |c: &BenchCell| {
        grid.devices.contains(&c.device)
            && grid.batches.contains(&c.batch)
            && grid.networks.contains(&c.network)
    };
    if before.cells.iter().any(has) {
        return Ok(());
    }
    let devices: BTreeSet<String> = before.cells.iter().map(|c| c.device.to_string()).collect();
    let networks: BTreeSet<String> = before.cells.iter().map(|c| c.network.clone()).collect();
    let batches: BTreeSet<usize> = before.cells.iter().map(|c| c.batch).collect();
    let list = |words: Vec<String>| words.join(", ");
    bail!(
        "--compare: the file has none of these cells; it has devices {}, networks {}, and batches {}",
        list(devices.into_iter().collect()),
        list(networks.into_iter().collect()),
        list(batches.iter().map(usize::to_string).collect())
    )
}

fn row(cell: &BenchCell, peak: &Peak, before: Option<&Bench>) -> Vec<String> {
    let share = cell.multiply_adds * cell.rows_per_second / peak.multiply_adds;
    let mut row = vec![
        cell.network.clone(),
        cell.device.to_string(),
        cell.operation.clone(),
        cell.batch.to_string(),
        format!("{:.2}", cell.median_us),
        format!("{:.2}", cell.range_us[0]),
        format!("{:.2}", cell.range_us[1]),
        format!("{:.0}", cell.rows_per_second),
        format!("{:.0} %", 100.0 * share),
    ];
    if let Some(before) = before {
        let old = before.alike(cell);
        row.push(old.map_or("-".into(), |old| format!("{:.2}", old.median_us)));
        row.push(old.map_or("-".into(), |old| format!("{:.2}", old.median_us / cell.median_us)));
    }
    row
}

fn about(machine: &Machine, peak: &Peak) -> String {
    let caches: Vec<String> = machine.caches.iter().map(|&bytes| limits::size(bytes as u64)).collect();
    let caches = if caches.is_empty() { String::new() } else { format!(", caches {}", caches.join(", ")) };
    let threads = match machine.threads {
        1 => "1 thread".to_string(),
        n => format!("{n} threads"),
    };
    let [fma, read, near] = [peak.multiply_adds, peak.read, peak.read_near].map(|rate| rate / 1e9);
    format!(
        "{}, {}, {}{caches}; one core: {fma:.0} billion multiply-adds, reads {read:.0} GB a second, {near:.0} GB from its cache",
        machine.processor, threads, machine.vectors
    )
}
