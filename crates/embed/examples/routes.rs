//! Measures evaluations per second of a checkpoint in Rust: the native engine, and the exported graph in tract.
//!
//!     cargo run --release -p adept-embed --features tract --example routes -- checkpoints/bearoff/residual-10
//!
//! Prints one line per route and batch size: route, rows per call, evaluations per second (median of seven
//! measurements).

use adept_builtin::bearoff::Distribution;
use adept_embed::Model;
use adept_game::stream;
use adept_model::checkpoint;
use adept_model::export::{About, onnx};
use std::path::Path;
use std::time::{Duration, Instant};
use tract_onnx::prelude::*;

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        eprintln!("usage: routes CHECKPOINT…");
        std::process::exit(2);
    }
    for path in &paths {
        if let Err(error) = measure(Path::new(path)) {
            eprintln!("error: {path}: {error}");
            std::process::exit(1);
        }
    }
}

fn measure(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::open(path)?;
    let mut rng = stream(1, "rows", 0);
    let texts: Vec<String> = (0..512).map(|_| Distribution::Table.sample(14, &mut rng).to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let read = checkpoint::read(&checkpoint::locate(path, false)?)?;
    let program =
        adept_model::lower(&read.manifest.architecture, &read.manifest.channels, &read.manifest.head)?;
    let bytes = onnx(&program, &program.parameters_in(&read.tensors)?, &About::default());
    let graph = tract_onnx::onnx().model_for_read(&mut &bytes[..])?;
    let names: Vec<String> = graph.inputs.iter().map(|i| graph.node(i.node).name.clone()).collect();
    let plan = graph.into_optimized()?.into_runnable()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for batch in [1, 512] {
        let rows = model.encode(&texts[..batch])?;
        let native = rate(batch, || model.evaluate(&rows).map(|_| ()).map_err(Into::into))?;
        println!("{name} rust {batch} {native:.0}");
        let mut inputs: TVec<TValue> = tvec!();
        for (channel, &first) in program.channels.iter().zip(&program.layout.offsets) {
            if names.iter().any(|name| *name == channel.name) {
                let width = channel.kind.dense_width();
                let columns = (0..batch).flat_map(|r| &rows.dense_row(r)[first..first + width]);
                let part: Vec<f32> = columns.copied().collect();
                inputs.push(Tensor::from_shape(&[batch, width], &part)?.into());
            }
        }
        let tract = rate(batch, || plan.run(inputs.clone()).map(|_| ()).map_err(Into::into))?;
        println!("{name} tract {batch} {tract:.0}");
    }
    Ok(())
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Evaluations per second: the median of seven measurements of 60 ms, after a warm-up.
fn rate(batch: usize, mut f: impl FnMut() -> Outcome) -> Result<f64, Box<dyn std::error::Error>> {
    let mut rates = Vec::new();
    for _ in 0..8 {
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_millis(60) {
            f()?;
            calls += 1;
        }
        rates.push((calls * batch) as f64 / start.elapsed().as_secs_f64());
    }
    rates.remove(0);
    rates.sort_by(f64::total_cmp);
    Ok(rates[3])
}
