//! Steps on inputs of which half stay 0 after a time: moments that decay must not become denormal, with which processors compute
//! slowly. Prints how long steps take before, at first and at last: `cargo bench -p adept-model --bench rare_inputs`.

use adept_model::{Architecture, Channel, ChannelKind, Compute, Head, Optimiser, Samples, build_on};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Instant;

fn main() {
    const STEPS: usize = 1_000_000;
    let architecture: Architecture =
        serde_json::from_str(r#"{ "mlp": { "hidden": [128], "activation": "relu", "init": "fan_in" } }"#)
            .unwrap();
    let channels = [Channel::new("inputs", ChannelKind::Dense(202))];
    for optimiser in [Optimiser::Adam(Default::default()), Optimiser::Soap(Default::default())] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut learner =
            build_on(&architecture, &channels, &Head::Value, optimiser, Compute::default(), &mut rng)
                .unwrap();
        // Steps of SOAP take longer.
        let steps = if matches!(optimiser, Optimiser::Soap(_)) { STEPS / 50 } else { STEPS };
        let mut rows = |used: usize| {
            let mut samples = Samples::new(&channels);
            samples.rows.push().dense[..used].fill_with(|| if rng.random_bool(0.1) { 1.0 } else { 0.0 });
            samples.targets.push(rng.random_range(-1.0..1.0));
            samples.weights.push(1.0);
            samples
        };
        let (first, later): (Vec<_>, Vec<_>) = (0..1000).map(|_| (rows(202), rows(101))).unzip();
        // The median of a hundred parts: other programs use the machine too.
        let mut tenth = |samples: &[Samples]| {
            let part = steps / 1000;
            let mut times: Vec<f64> = (0..100)
                .map(|first| {
                    let start = Instant::now();
                    for step in first * part..(first + 1) * part {
                        learner.update(&samples[step % samples.len()], 1e-4).unwrap();
                    }
                    1e6 * start.elapsed().as_secs_f64() / part as f64
                })
                .collect();
            times.sort_by(f64::total_cmp);
            times[50]
        };
        let before = tenth(&first);
        let tenths: Vec<f64> = (0..10).map(|_| tenth(&later)).collect();
        let name = if steps == STEPS { "adam" } else { "soap" };
        println!(
            "{name}, µs a step: {before:.2} with all inputs; half of them 0, by tenths of {steps} steps: {}",
            tenths.iter().map(|t| format!("{t:.2}")).collect::<Vec<_>>().join(" ")
        );
    }
}
