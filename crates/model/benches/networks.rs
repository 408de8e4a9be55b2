//! Evaluations, in bfloat16 too, and steps of Adam, sparse ones too, of single networks, by rows a call, and the loops that they are measured against:
//! `cargo bench -p adept-model --bench networks`.

use adept_model::machine::Peak;
use adept_model::optimiser::Adam;
use adept_model::{
    Architecture, Channel, ChannelKind, Compute, Head, NumberFormat, Optimiser, Predictor, QuantisedNetwork,
    Samples, build_on,
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

const NETWORKS: [(&str, usize, f64, &str); 5] = [
    ("68-10-1", 68, 0.5, r#"{ "mlp": { "hidden": [10] } }"#),
    ("hme 16x64", 68, 0.5, r#"{ "hme": { "experts": 16, "expert": { "mlp": { "hidden": [64] } } } }"#),
    ("200-256-1", 200, 0.1, r#"{ "mlp": { "hidden": [256], "activation": "relu", "init": "fan_in" } }"#),
    (
        "202-512-64-1",
        202,
        0.1,
        r#"{ "mlp": { "hidden": [512, 64], "activation": "relu", "init": "fan_in" } }"#,
    ),
    (
        "400-512-512-1",
        400,
        0.5,
        r#"{ "mlp": { "hidden": [512, 512], "activation": "relu", "init": "fan_in" } }"#,
    ),
];

fn networks(c: &mut Criterion) {
    let peak = Peak::measure();
    println!("one core: {:.1} billion multiply-adds a second", peak.multiply_adds / 1e9);
    for (name, inputs, density, architecture) in NETWORKS {
        let architecture: Architecture = serde_json::from_str(architecture).unwrap();
        let channels = [Channel::new("inputs", ChannelKind::Dense(inputs))];
        let mut group = c.benchmark_group(name);
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(500));
        for batch in [1, 8, 512, 8192] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(batch);
            let mut learner = |sparse: bool| {
                let adam = Optimiser::Adam(Adam { sparse, ..Adam::default() });
                build_on(&architecture, &channels, &Head::Value, adam, Compute::default(), &mut rng).unwrap()
            };
            let (mut learner, mut sparse) = (learner(false), learner(true));
            let mut draw = || {
                let mut samples = Samples::new(&channels);
                for _ in 0..batch {
                    let row = samples.rows.push();
                    row.dense.fill_with(|| {
                        if rng.random_bool(density) { rng.random_range(-1.0..1.0) } else { 0.0 }
                    });
                    samples.targets.push(rng.random_range(-1.0..1.0));
                    samples.weights.push(1.0 / batch as f32);
                }
                samples
            };
            let samples = draw();
            let mut values = Vec::new();
            group.throughput(Throughput::Elements(batch));
            group.bench_function(BenchmarkId::new("evaluate", batch), |b| {
                b.iter(|| learner.evaluate(&samples.rows, &mut values));
            });
            let mut flat = Vec::new();
            learner.weights(&mut flat).unwrap();
            let convert = |p| QuantisedNetwork::convert(NumberFormat::Bf16, p, &flat, &samples.rows);
            if let Some(Ok(mut bf16)) = learner.program().cloned().map(convert) {
                group.bench_function(BenchmarkId::new("bf16", batch), |b| {
                    b.iter(|| bf16.evaluate(&samples.rows, &mut values));
                });
            }
            group.bench_function(BenchmarkId::new("update", batch), |b| {
                b.iter(|| learner.update(&samples, 1e-5).unwrap());
            });
            if density <= 0.1 && batch <= 8 {
                // Of other rows each time, so that weights rest and return.
                let mut others = (0..64).map(|_| draw()).collect::<Vec<_>>().into_iter().cycle();
                group.bench_function(BenchmarkId::new("sparse", batch), |b| {
                    b.iter_batched_ref(
                        || others.next().unwrap(),
                        |samples| sparse.update(samples, 1e-5).unwrap(),
                        BatchSize::SmallInput,
                    );
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, networks);
criterion_main!(benches);
