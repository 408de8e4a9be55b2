//! A network without a game or a config: `cargo run --release -p adept-games --example network_from_code`.
//!
//! Rows of two numbers, the exclusive or of their signs as target, and steps of the optimiser Adam on batches of 64.

use adept::model::{Architecture, Channel, ChannelKind, Head, Optimiser, Samples, build};
use adept::prelude::stream;
use rand::RngExt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An architecture is a value: the same text as in a config, here as JSON.
    let architecture: Architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [16] } }"#)?;
    let optimiser: Optimiser = serde_json::from_str(r#""adam""#)?;
    let channels = [Channel::fixed("point", ChannelKind::Dense(2), "x and y in [−1, 1]")];

    // Every random draw comes from a stream named by seed, purpose and index: runs repeat to the bit.
    let mut network = build(&architecture, &channels, &Head::Value, optimiser, &mut stream(1, "init", 0))?;
    let mut rng = stream(1, "points", 0);

    let mut samples = Samples::new(&channels);
    for step in 0..=2000 {
        samples.clear();
        for _ in 0..64 {
            let (x, y) = (rng.random_range(-1.0..1.0f32), rng.random_range(-1.0..1.0f32));
            samples.rows.push().dense.copy_from_slice(&[x, y]);
            samples.targets.push(if x * y < 0.0 { 1.0 } else { -1.0 });
            samples.weights.push(1.0 / 64.0);
        }
        // Σ weight · ½ (target − output)² before the step.
        let loss = network.update(&samples, 0.01)?;
        if step % 500 == 0 {
            println!("step {step:4}: loss {loss:.4}");
        }
    }

    let mut values = Vec::new();
    samples.clear();
    for (x, y) in [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)] {
        samples.rows.push().dense.copy_from_slice(&[x, y]);
    }
    network.evaluate(&samples.rows, &mut values);
    println!("corners: {values:+.2?}, {} parameters", network.describe().parameters);
    assert!(values[0] < -0.5 && values[1] > 0.5 && values[2] > 0.5 && values[3] < -0.5);
    Ok(())
}
