//! Speed of the bear-off: moves, solving, lookups. `cargo bench -p adept-builtin`.

use adept_builtin::bearoff::two_sided::{Settings, Table, usual_file};
use adept_builtin::bearoff::{DicePosition, Distribution, OneSided, Position, ROLLS, Roll, Side, rules};
use adept_game::stream;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use std::hint::black_box;
use std::path::Path;

fn moves(c: &mut Criterion) {
    let mut group = c.benchmark_group("moves");
    let mut rng = stream(1, "bench", 0);
    let decisions: Vec<(Side, Roll)> = (0..1000)
        .map(|_| (Distribution::Table.sample(14, &mut rng).own, ROLLS[rng.random_range(0..ROLLS.len())]))
        .collect();
    group.throughput(Throughput::Elements(decisions.len() as u64));
    group.bench_function("afterstates of random decisions, 14 checkers", |b| {
        let mut afterstates = Vec::new();
        b.iter(|| {
            for &(side, roll) in &decisions {
                rules::afterstates(side, roll, &mut afterstates);
                black_box(&afterstates);
            }
        });
    });
}

fn solving(c: &mut Criterion) {
    let mut group = c.benchmark_group("solving");
    group.sample_size(10);
    for checkers in [6, 8, 10] {
        group.bench_function(format!("two-sided, {checkers} checkers, one thread"), |b| {
            let settings = Settings { threads: 1, ..Settings::new(checkers) };
            b.iter(|| Table::solve(settings, &mut |_| {}));
        });
    }
    group.bench_function("one-sided, 15 checkers", |b| b.iter(|| OneSided::solve(15)));
}

/// Lookups in the largest table in `datasets`, or in one of 10 checkers.
fn lookups(c: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    let file = (11..=15).rev().map(|n| usual_file(&folder, n)).find(|file| file.exists());
    let table = match file {
        Some(file) => Table::open(&file).expect("a whole table"),
        None => Table::solve(Settings::new(10), &mut |_| {}).expect("room for 140 MB").0,
    };
    table.verify().expect("a whole table");
    let checkers = table.checkers();
    let mut group = c.benchmark_group(format!("lookups in {checkers} checkers"));
    let mut rng = stream(2, "bench", 0);
    let mut positions = |count| -> Vec<Position> {
        (0..count).map(|_| Distribution::Table.sample(checkers, &mut rng)).collect()
    };
    let batch = 100_000;
    group.throughput(Throughput::Elements(batch as u64));
    group.bench_function("random pairs", |b| {
        let sum = |positions: Vec<Position>| -> f64 {
            positions
                .into_iter()
                .map(|position| table.value(position).expect("a position of the table"))
                .sum()
        };
        b.iter_batched(|| positions(batch), sum, BatchSize::LargeInput);
    });
    let count = 1000;
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("all afterstates of random decisions", |b| {
        let decisions = || -> Vec<DicePosition> {
            let mut rng = stream(3, "bench", 0);
            let roll = |position| DicePosition { position, roll: ROLLS[rng.random_range(0..ROLLS.len())] };
            positions(count).into_iter().map(roll).collect()
        };
        let mut values = Vec::new();
        b.iter_batched(
            decisions,
            |decisions| {
                for decision in decisions {
                    table.moves(decision, &mut values).expect("a position of the table");
                    black_box(&values);
                }
            },
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, moves, solving, lookups);
criterion_main!(benches);
