//! Benchmarks of network inference and training on this machine, by engine and device.

use adept_game::{GameError, stream};
use adept_ground::limits;
use adept_model::machine::{Machine, Peak};
use adept_model::{
    Architecture, Channel, ChannelKind, Compute, Description, DeviceName, Engine, Head, Learner, ModelError,
    NumberFormat, Optimiser, OutcomeClass, Predictor, QuantisedNetwork, Samples, build_on,
};
use adept_trainer::run::TrainError;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};

/// A benchmarked network.
struct BenchNetwork {
    /// Layers, or experts by layers.
    name: &'static str,
    inputs: usize,
    /// Share of nonzero inputs.
    density: f64,
    /// Number of outcome classes; 0 for a scalar value.
    classes: usize,
    /// Number of values of the index channel `cell`; 0 without one.
    cells: u64,
    architecture: &'static str,
}

/// Density of dense rows: half of the inputs are 0.
const HALF: f64 = 0.5;
/// Density of encoders of whole boards: about a tenth of the inputs are set.
const BOARD: f64 = 0.1;

const NETWORKS: [BenchNetwork; 7] = [
    BenchNetwork {
        name: "68-10-1",
        inputs: 68,
        density: HALF,
        classes: 0,
        cells: 0,
        architecture: r#"{ "mlp": { "hidden": [10] } }"#,
    },
    BenchNetwork {
        name: "200-256-1",
        inputs: 200,
        density: BOARD,
        classes: 0,
        cells: 0,
        architecture: r#"{ "mlp": { "hidden": [256], "activation": "relu", "init": "fan_in" } }"#,
    },
    BenchNetwork {
        name: "202-128-6",
        inputs: 202,
        density: BOARD,
        classes: 6,
        cells: 0,
        architecture: r#"{ "mlp": { "hidden": [128], "activation": "relu", "init": "fan_in" } }"#,
    },
    BenchNetwork {
        name: "202-512-64-6",
        inputs: 202,
        density: BOARD,
        classes: 6,
        cells: 0,
        architecture: r#"{ "mlp": { "hidden": [512, 64], "activation": "relu", "init": "fan_in" } }"#,
    },
    BenchNetwork {
        name: "400-512-512-1",
        inputs: 400,
        density: HALF,
        classes: 0,
        cells: 0,
        architecture: r#"{ "mlp": { "hidden": [512, 512], "activation": "relu", "init": "fan_in" } }"#,
    },
    BenchNetwork {
        name: "cells 64x8",
        inputs: 68,
        density: HALF,
        classes: 0,
        cells: 64,
        architecture: r#"{ "symbolic": { "by": "cell", "expert": { "mlp": { "hidden": [8], "init": "fan_in" } } } }"#,
    },
    BenchNetwork {
        name: "hme 16x64",
        inputs: 68,
        density: HALF,
        classes: 0,
        cells: 0,
        architecture: r#"{ "hme": { "experts": 16, "expert": { "mlp": { "hidden": [64], "init": "fan_in" } } } }"#,
    },
];

/// The names of the benchmarked networks.
pub fn networks() -> impl Iterator<Item = &'static str> {
    NETWORKS.iter().map(|network| network.name)
}

impl BenchNetwork {
    fn channels(&self) -> Vec<Channel> {
        let dense = Channel::new("inputs", ChannelKind::Dense(self.inputs));
        let cell = (self.cells > 0).then(|| Channel::new("cell", ChannelKind::Index(self.cells)));
        [Some(dense), cell].into_iter().flatten().collect()
    }

    fn head(&self) -> Head {
        match self.classes {
            0 => Head::Value,
            n => Head::Outcomes(
                (0..n)
                    .map(|k| OutcomeClass {
                        name: format!("class{k}"),
                        utility: 1.0 - 2.0 * k as f32 / (n - 1) as f32,
                        mirror: n - 1 - k,
                    })
                    .collect(),
            ),
        }
    }

    /// Multiply-adds of all layers for one row, and of the first layers.
    fn multiply_adds(&self, described: &Description) -> [f64; 2] {
        let first = described.tensors.iter().filter(|t| t.shape.len() == 2 && t.shape.contains(&self.inputs));
        let first: usize = first.map(|t| t.shape.iter().product::<usize>()).sum();
        [described.multiply_adds_least as f64, first as f64 / self.cells.max(1) as f64]
    }

    /// Synthetic rows like those of encoders, with targets in [−1, 1] or one class each.
    fn samples(&self, channels: &[Channel], batch: usize) -> Samples {
        let mut rng = stream(1, "bench", batch as u64);
        let mut samples = Samples::new(channels);
        for _ in 0..batch {
            let row = samples.rows.push();
            row.dense
                .fill_with(|| if rng.random_bool(self.density) { rng.random_range(-1.0..1.0) } else { 0.0 });
            row.index.fill_with(|| rng.random_range(0..self.cells));
            match self.classes {
                0 => samples.targets.push(rng.random_range(-1.0..1.0)),
                n => {
                    let class = rng.random_range(0..n);
                    samples.targets.extend((0..n).map(|k| if k == class { 1.0 } else { 0.0 }));
                }
            }
            samples.weights.push(1.0 / batch as f32);
        }
        samples
    }
}

/// Results of a benchmark, with the machine: the output of `adept bench speed --json` and input of `--compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// The processor.
    pub machine: Machine,
    /// Peak performance of one core, measured in the same run.
    pub peak: Peak,
    /// The measurements.
    pub cells: Vec<BenchCell>,
}

impl Bench {
    /// Reads the output of `adept bench speed --json`.
    ///
    /// # Errors
    /// A file that cannot be read, is larger than 1 MiB or has another content.
    pub fn read(path: &Path) -> Result<Self, TrainError> {
        let text = limits::read_text(path, 1 << 20).map_err(ModelError::io(path))?;
        let fault = |what: String| {
            let what = format!("{what}; expected what this version's `adept bench speed --json` prints");
            GameError::data(path, what)
        };
        let bench: Self = serde_json::from_str(&text).map_err(|e| fault(e.to_string()))?;
        if bench.cells.is_empty() { Err(fault("has no cells".into()).into()) } else { Ok(bench) }
    }

    /// The cell with the same network, operation, batch, engine and device.
    pub fn matching(&self, cell: &BenchCell) -> Option<&BenchCell> {
        let is_matching = |c: &&BenchCell| {
            (&c.network, &c.operation, c.batch) == (&cell.network, &cell.operation, cell.batch)
                && (c.engine, c.device) == (cell.engine, cell.device)
        };
        self.cells.iter().find(is_matching)
    }
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchCell {
    /// Name of the network: layers, or experts by hidden units.
    pub network: String,
    /// Number of learned parameters.
    pub parameters: usize,
    /// Rows per call.
    pub batch: usize,
    /// `evaluate`, `bf16` (evaluation of the [quantised](NumberFormat::Bf16) network), or `update` (a step of Adam:
    /// forward, backward, parameters).
    pub operation: String,
    /// Engine.
    pub engine: Engine,
    /// Device.
    pub device: DeviceName,
    /// Number of calling threads.
    pub threads: usize,
    /// Median microseconds per call.
    pub median_us: f64,
    /// Shortest and longest call, in microseconds; averaged over consecutive calls if a call takes less than 10.
    pub range_us: [f64; 2],
    /// Rows per second at the median.
    pub rows_per_second: f64,
    /// Multiply-adds of the layers per row, including the backward pass of `update`, as if no input were 0.
    pub multiply_adds: f64,
    /// Timed calls, after four warm-up calls.
    pub calls: usize,
}

/// Benchmark settings.
#[derive(Clone, Debug)]
pub struct BenchGrid {
    /// Devices; the CPU means the native engine.
    pub devices: Vec<DeviceName>,
    /// Names of [`networks`].
    pub networks: Vec<String>,
    /// Rows per call.
    pub batches: Vec<usize>,
    /// Time per cell, for at least five calls.
    pub time: Duration,
}

impl Default for BenchGrid {
    fn default() -> Self {
        Self {
            devices: vec![DeviceName::Cpu],
            networks: networks().map(String::from).collect(),
            batches: vec![1, 8, 512, 8192],
            time: Duration::from_millis(300),
        }
    }
}

/// Runs all benchmarks of a grid, one at a time. Calls `seen` with each result.
///
/// # Errors
/// [`ModelError::Unsupported`] if a device cannot be used.
pub fn speed(grid: &BenchGrid, mut seen: impl FnMut(&BenchCell)) -> Result<Bench, ModelError> {
    let (mut cells, peak) = (Vec::new(), Peak::measure());
    for network in NETWORKS.iter().filter(|network| grid.networks.iter().any(|name| name == network.name)) {
        let architecture: Architecture = serde_json::from_str(network.architecture)?;
        let (channels, head) = (network.channels(), network.head());
        for &device in &grid.devices {
            let engine = if device == DeviceName::Cpu { Engine::Native } else { Engine::Burn };
            let compute = Compute { engine, device };
            for &batch in &grid.batches {
                let samples = network.samples(&channels, batch);
                let adam = Optimiser::Adam(Default::default());
                let mut rng = stream(1, "init", 0);
                let mut learner = build_on(&architecture, &channels, &head, adam, compute, &mut rng)?;
                // Networks with large layers also run in bfloat16.
                let mut bf16 = match learner.program().cloned() {
                    Some(program) if engine == Engine::Native => {
                        let mut flat = Vec::new();
                        learner.weights(&mut flat)?;
                        QuantisedNetwork::convert(NumberFormat::Bf16, program, &flat, &samples.rows).ok()
                    }
                    _ => None,
                };
                let described = learner.describe();
                let [forward, first] = network.multiply_adds(&described);
                let mut measure =
                    |operation: &str,
                     multiply_adds: f64,
                     work: &mut dyn FnMut(&mut dyn Learner) -> Result<(), ModelError>| {
                        let (times, group) = timed(grid.time, || work(&mut *learner))?;
                        let median = times[times.len() / 2];
                        let cell = BenchCell {
                            network: network.name.into(),
                            parameters: described.parameters,
                            batch,
                            operation: operation.into(),
                            engine,
                            device,
                            threads: 1,
                            median_us: 1e6 * median,
                            range_us: [1e6 * times[0], 1e6 * times[times.len() - 1]],
                            rows_per_second: batch as f64 / median,
                            multiply_adds,
                            calls: times.len() * group,
                        };
                        seen(&cell);
                        cells.push(cell);
                        Ok::<(), ModelError>(())
                    };
                let mut values = Vec::new();
                // Only the CPU evaluates rows, whatever device trains.
                if engine == Engine::Native {
                    measure("evaluate", forward, &mut |l| {
                        l.evaluate(&samples.rows, &mut values);
                        Ok(())
                    })?;
                    if let Some(bf16) = &mut bf16 {
                        measure("bf16", forward, &mut |_| {
                            bf16.evaluate(&samples.rows, &mut values);
                            Ok(())
                        })?;
                    }
                }
                // Gradients of weights cost as much as the forward pass, and so do gradients of inputs, except those of
                // rows.
                let learn = 3.0 * forward - first;
                measure("update", learn, &mut |l| l.update(&samples, 1e-5).map(|_| ()))?;
            }
        }
    }
    Ok(Bench { machine: Machine::here(), peak, cells })
}

/// Shortest time between two readings of the clock. A reading takes some 20 ns, a tenth of the shortest calls.
const READING: Duration = Duration::from_micros(10);

/// Sorted seconds per call of each reading, and the number of calls between two readings.
fn timed(
    time: Duration,
    mut call: impl FnMut() -> Result<(), ModelError>,
) -> Result<(Vec<f64>, usize), ModelError> {
    for _ in 0..3 {
        call()?;
    }
    let before = Instant::now();
    call()?;
    let once = before.elapsed().as_nanos().max(10);
    let group = READING.as_nanos().div_ceil(once) as usize;
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 5 || start.elapsed() < time {
        let before = Instant::now();
        for _ in 0..group {
            call()?;
        }
        times.push(before.elapsed().as_secs_f64() / group as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok((times, group))
}
