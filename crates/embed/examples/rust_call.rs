//! What `Model::evaluate_slices` costs in Rust, beside the same call from Python: see `tests/overhead.py`.
//!
//! Prints the rows of a call and its microseconds, for 1 and 512 rows: the least mean of five series.

use adept_embed::Model;
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), adept_embed::Error> {
    let mut given = std::env::args().skip(1);
    let (Some(checkpoint), Some(position)) = (given.next(), given.next()) else {
        eprintln!("usage: rust_call CHECKPOINT POSITION");
        std::process::exit(2);
    };
    let model = Model::open(checkpoint.as_ref())?;
    let all = model.encode(&[position.as_str(); 512])?;
    for rows in [1, 512] {
        let dense = &all.dense[..rows * all.dense_width()];
        let index = &all.index[..rows * all.index_width()];
        let times = 100_000 / (rows + 9);
        let mut least = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            for _ in 0..times {
                black_box(model.evaluate_slices(rows, black_box(dense), black_box(index))?);
            }
            least = least.min(start.elapsed().as_secs_f64() / times as f64);
        }
        println!("{rows} {}", 1e6 * least);
    }
    Ok(())
}
