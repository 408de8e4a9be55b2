//! Prints values of 512 bear-off positions, one per line, and the number of rows evaluated per second.
//!
//!     cargo run --release -p adept-embed --example rows -- checkpoints/bearoff/residual-10
//!
//! Results are the same on every machine up to rounding: `scripts/processors.sh` compares ARM and WebAssembly with this
//! one.

use adept_builtin::bearoff::Distribution;
use adept_embed::Model;
use adept_game::stream;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: rows CHECKPOINT");
        std::process::exit(2);
    };
    if let Err(error) = run(Path::new(&path)) {
        eprintln!("error: {path}: {error}");
        std::process::exit(1);
    }
}

fn run(path: &Path) -> Result<(), adept_embed::Error> {
    let model = Model::open(path)?;
    let mut rng = stream(1, "rows", 0);
    let texts: Vec<String> = (0..512).map(|_| Distribution::Table.sample(14, &mut rng).to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rows = model.encode(&texts)?;
    let evaluate = || model.evaluate_slices(rows.len(), &rows.dense, &rows.index);
    for (text, value) in texts.iter().zip(evaluate()?) {
        println!("{value:+.8} {text}");
    }
    // The median of seven measurements of 60 ms, after a warm-up.
    let mut rates = Vec::new();
    for _ in 0..8 {
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_millis(60) {
            evaluate()?;
            calls += 1;
        }
        rates.push((calls * rows.len()) as f64 / start.elapsed().as_secs_f64());
    }
    rates.remove(0);
    rates.sort_by(f64::total_cmp);
    println!("{:.0} rows per second", rates[3]);
    Ok(())
}
