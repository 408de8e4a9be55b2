//! Measures how fast networks evaluate rows and learn on this machine, by engine and device.

use adept_game::stream;
use adept_model::{
    Architecture, Channel, ChannelKind, Compute, DeviceName, Engine, Learner, ModelError, Optimiser, Samples,
    build_on,
};
use rand::RngExt;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Benchmarked networks: name, dense inputs, architecture as JSON.
const NETWORKS: [(&str, usize, &str); 3] = [
    ("68-10-1", 68, r#"{ "mlp": { "hidden": [10] } }"#),
    ("400-512-512-1", 400, r#"{ "mlp": { "hidden": [512, 512], "activation": "relu", "init": "fan_in" } }"#),
    (
        "hme 16x64",
        68,
        r#"{ "hme": { "experts": 16, "expert": { "mlp": { "hidden": [64], "init": "fan_in" } } } }"#,
    ),
];

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchCell {
    /// Name of the network: layers, or experts by hidden units.
    pub network: &'static str,
    /// Number of learned parameters.
    pub parameters: usize,
    /// Rows per call.
    pub batch: usize,
    /// `evaluate`, or `update` (a step of Adam: forward, backward, parameters).
    pub operation: &'static str,
    /// Engine.
    pub engine: Engine,
    /// Device.
    pub device: DeviceName,
    /// Number of calling threads.
    pub threads: usize,
    /// Median microseconds per call.
    pub median_us: f64,
    /// Shortest and longest call, in microseconds.
    pub range_us: [f64; 2],
    /// Rows per second at the median.
    pub rows_per_second: f64,
    /// Timed calls, after three warm-up calls.
    pub calls: usize,
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct BenchGrid {
    /// Devices; the CPU means the native engine.
    pub devices: Vec<DeviceName>,
    /// Rows per call.
    pub batches: Vec<usize>,
    /// Time per cell; at least five calls are made.
    pub time: Duration,
}

impl Default for BenchGrid {
    fn default() -> Self {
        Self {
            devices: vec![DeviceName::Cpu],
            batches: vec![1, 8, 512, 8192],
            time: Duration::from_millis(300),
        }
    }
}

/// Measures the grid, one cell at a time. Calls `seen` with each cell.
///
/// # Errors
/// [`ModelError::Unsupported`] if a device cannot be used.
pub fn speed(grid: &BenchGrid, mut seen: impl FnMut(&BenchCell)) -> Result<Vec<BenchCell>, ModelError> {
    let mut cells = Vec::new();
    for (network, inputs, architecture) in NETWORKS {
        let architecture: Architecture = serde_json::from_str(architecture)?;
        let channels = [Channel::new("inputs", ChannelKind::Dense(inputs))];
        for &device in &grid.devices {
            let engine = if device == DeviceName::Cpu { Engine::Native } else { Engine::Burn };
            let compute = Compute { engine, device };
            for &batch in &grid.batches {
                let (samples, adam) = (samples(&channels, batch), Optimiser::Adam(Default::default()));
                let mut learner = build_on(
                    &architecture,
                    &channels,
                    &adept_model::Head::Value,
                    adam,
                    compute,
                    &mut stream(1, "init", 0),
                )?;
                let parameters = learner.describe().parameters;
                let mut measure =
                    |operation, work: &mut dyn FnMut(&mut dyn Learner) -> Result<(), ModelError>| {
                        let times = timed(grid.time, || work(&mut *learner))?;
                        let median = times[times.len() / 2];
                        let cell = BenchCell {
                            network,
                            parameters,
                            batch,
                            operation,
                            engine,
                            device,
                            threads: 1,
                            median_us: 1e6 * median,
                            range_us: [1e6 * times[0], 1e6 * times[times.len() - 1]],
                            rows_per_second: batch as f64 / median,
                            calls: times.len(),
                        };
                        seen(&cell);
                        cells.push(cell);
                        Ok::<(), ModelError>(())
                    };
                let mut values = Vec::new();
                // Rows are evaluated on the CPU, whatever device trains.
                if engine == Engine::Native {
                    measure("evaluate", &mut |l| {
                        l.evaluate(&samples.rows, &mut values);
                        Ok(())
                    })?;
                }
                measure("update", &mut |l| l.update(&samples, 1e-5).map(|_| ()))?;
            }
        }
    }
    Ok(cells)
}

/// Seconds of each call, sorted.
fn timed(time: Duration, mut call: impl FnMut() -> Result<(), ModelError>) -> Result<Vec<f64>, ModelError> {
    for _ in 0..3 {
        call()?;
    }
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 5 || start.elapsed() < time {
        let before = Instant::now();
        call()?;
        times.push(before.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Rows like those of encoders: half of the entries are 0, and targets lie in [−1, 1].
fn samples(channels: &[Channel], batch: usize) -> Samples {
    let mut rng = stream(1, "bench", batch as u64);
    let mut samples = Samples::new(channels);
    for _ in 0..batch {
        let dense = samples.rows.push().dense;
        dense.fill_with(|| if rng.random_bool(0.5) { rng.random_range(-1.0..1.0) } else { 0.0 });
        samples.targets.push(rng.random_range(-1.0..1.0));
        samples.weights.push(1.0 / batch as f32);
    }
    samples
}
