//! A hierarchical mixture of experts and its gates: `cargo run --release -p adept-games --example experts_and_gates`.
//!
//! Two linear experts share |x| between them. The gate learns where each of them is responsible: gᵢ of Wiering & Kröse,
//! with the posterior probabilities hᵢ as its targets.

use adept::model::{Architecture, Channel, ChannelKind, Head, Optimiser, Samples, build};
use adept::prelude::stream;
use rand::RngExt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let architecture: Architecture = serde_json::from_str(
        r#"{ "hme": { "experts": 2, "expert": { "mlp": { "hidden": [], "output": "linear" } }, "variance": 0.02 } }"#,
    )?;
    let channels = [Channel::fixed("x", ChannelKind::Dense(1), "in [−1, 1]")];
    let mut mixture =
        build(&architecture, &channels, &Head::Value, Optimiser::default(), &mut stream(3, "init", 0))?;

    let mut rng = stream(3, "points", 0);
    let mut samples = Samples::new(&channels);
    for _ in 0..40_000 {
        samples.clear();
        let x = rng.random_range(-1.0..1.0f32);
        samples.rows.push().dense[0] = x;
        samples.targets.push(x.abs());
        samples.weights.push(1.0);
        mixture.update(&samples, 0.02)?;
    }

    println!("    x     value   gates           experts");
    for x in [-0.9, -0.5, -0.1, 0.1, 0.5, 0.9f32] {
        samples.clear();
        samples.rows.push().dense[0] = x;
        let thought = mixture.explain(&samples.rows);
        let experts: Vec<f32> = thought.experts.iter().flatten().map(|expert| expert.value).collect();
        println!("{x:+.2}   {:+.3}   {:.2?}   {experts:+.2?}", thought.value, thought.gates);
        assert!((thought.value - x.abs()).abs() < 0.2, "the mixture is near |x|");
    }
    Ok(())
}
