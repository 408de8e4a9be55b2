//! The command `bench`.

use crate::args::{BenchAction, BenchArgs};
use crate::output;
use adept_ground::limits;
use adept_ground::shown::{clipped, printable};
use adept_lab::bench::{Bench, BenchCell, BenchGrid, speed};
use adept_model::DeviceName;
use adept_model::device::devices;
use adept_model::machine::{Machine, Peak};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(args: &BenchArgs, as_json: bool) -> Result<()> {
    let BenchAction::Speed { devices: chosen, networks, batches, compare } = &args.action;
    let before = compare.as_ref().map(|path| Bench::read(path)).transpose()?;
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
    if let Some((path, before)) = compare.as_ref().zip(before.as_ref()) {
        if as_json {
            bail!(
                "--compare writes a table: leave out --json, and compare the `median_us` of both files yourself"
            );
        }
        check_grid(path, before, &grid)?;
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
    let mut text = output::table(&header, bench.cells.iter().map(|c| row(c, &bench.peak, before.as_ref())));
    text.push_str(&format!("\nhere: {}\n", about(&bench.machine, &bench.peak)));
    if let Some(before) = &before {
        text.push_str(&format!("before: {}\n", about(&before.machine, &before.peak)));
    }
    let peak = "peak: the share of what one core multiplies and adds at most; inputs that are 0 count, which kernels may skip";
    text.push_str(&format!("{peak}\n"));
    output::text(&text)
}

/// An earlier measurement must have a cell of this grid.
fn check_grid(path: &Path, before: &Bench, grid: &BenchGrid) -> Result<()> {
    let has = |c: &BenchCell| {
        grid.devices.contains(&c.device)
            && grid.batches.contains(&c.batch)
            && grid.networks.contains(&c.network)
    };
    if before.cells.iter().any(has) {
        return Ok(());
    }
    let devices: BTreeSet<String> = before.cells.iter().map(|c| c.device.to_string()).collect();
    let networks: BTreeSet<String> = before.cells.iter().map(|c| word(&c.network)).collect();
    let batches: BTreeSet<usize> = before.cells.iter().map(|c| c.batch).collect();
    let list = |words: Vec<String>| clipped(&words.join(", "), 200).into_owned();
    bail!(
        "{}: has none of the cells that would be measured, but devices {}, networks {} and batches {}: choose some of them with --device, \
         --network and --batch",
        path.display(),
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
        // The limit is that of a core, for floats.
        if cell.device == DeviceName::Cpu && cell.operation != "bf16" {
            format!("{:.0} %", 100.0 * share)
        } else {
            "-".into()
        },
    ];
    if let Some(before) = before {
        let old = before.matching(cell);
        row.push(old.map_or("-".into(), |old| format!("{:.2}", old.median_us)));
        row.push(old.map_or("-".into(), |old| format!("{:.2}", old.median_us / cell.median_us)));
    }
    row
}

/// A word of a file.
fn word(text: &str) -> String {
    printable(&clipped(text, 60)).into_owned()
}

fn about(machine: &Machine, peak: &Peak) -> String {
    let caches: Vec<String> =
        machine.caches.iter().take(4).map(|&bytes| limits::size(bytes as u64)).collect();
    let caches = if caches.is_empty() { String::new() } else { format!(", caches {}", caches.join(", ")) };
    let threads = match machine.threads {
        1 => "1 thread".to_string(),
        n => format!("{n} threads"),
    };
    let [fma, read, near] = [peak.multiply_adds, peak.read, peak.read_near].map(|rate| rate / 1e9);
    format!(
        "{}, {}, {}{caches}; one core: {fma:.0} billion multiply-adds, reads {read:.0} GB a second, {near:.0} GB from its cache",
        word(&machine.processor),
        threads,
        word(&machine.vectors)
    )
}
