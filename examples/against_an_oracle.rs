//! A network against exact values: `cargo run --release -p adept-games --example against_an_oracle`.
//!
//! The bear-off of backgammon with four checkers a side is solved in memory. A network of ten units learns from exact
//! examples; its values and choices are then measured beside those of a simple formula.

use adept::arena::{ByValuation, move_loss};
use adept::bearoff::Bearoff;
use adept::prelude::*;

const CONFIG: &str = r#"
name = "bearoff-4"
game = { rules = "bearoff:4", encoder = "one-sided" }
architecture.mlp.hidden = [10]

[learn]
batch = 8
rate  = { from = 0.05, to = 0.001 }

[learn.supervised]
samples = 200_000

[evaluate]
positions = 1_000
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let game = Bearoff::new(4).ok_or("at most 14 checkers a side")?;
    let source = Source { file: "bearoff-4.toml".into(), text: CONFIG.into(), set: vec![] };
    let config = parse(&source, &Builtin)?;
    let folder = std::env::temp_dir().join(format!("adept-bearoff-{}", std::process::id()));
    let options = TrainOptions { out: Some(folder.clone()), ..TrainOptions::default() };
    let (run, _) = train(&game, &config, 1, &options, &Silent, &Cancel::default())?;
    let (mut network, _) = open::open(&game, &run, false)?;
    std::fs::remove_dir_all(folder)?;

    // Exact values, and Kleinman's formula from the pips.
    let valuation =
        |name: &str| game.values().valuations.open(name).ok_or(GameError::new(format!("no {name}")))?;
    let (oracle, formula) = (valuation("oracle")?, valuation("kleinman")?);

    let draw = game.positions().draw("table").ok_or("no such distribution")?;
    let mut rng = stream(1, "positions", 0);
    let states: Vec<_> = (0..2000).map(|_| draw(&mut rng)).collect();

    // Root mean square error of V, in [−1, 1], for the player who just moved.
    let mut sum = 0.0;
    for state in &states {
        let player = game.just_acted(state).unwrap_or(0);
        let rows = network.encode(&game, state, None, player);
        let mut values = Vec::new();
        network.model.evaluate(&rows, &mut values);
        let exact = oracle.value(&game, Afterstate { state, action: None, player });
        sum += (f64::from(values[0]) - exact).powi(2);
    }
    println!("RMS error {:.4} on {} positions", (sum / states.len() as f64).sqrt(), states.len());

    // What choices lose, over all 21 rolls in each of these positions.
    let mut formula = ByValuation(formula);
    let mut all: [&mut dyn Evaluator<Bearoff>; 2] = [&mut network, &mut formula];
    let losses = move_loss(&game, &*oracle, &mut all, states.into_iter());
    for (name, loss) in ["network", "kleinman"].iter().zip(&losses) {
        let wrong = 100.0 * loss.wrong_share;
        println!("{name:8} loses {:.5} a decision, {wrong:.1} % wrong", loss.loss_per_decision);
    }
    Ok(())
}
