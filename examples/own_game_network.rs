//! A config and a game become a trained network: `cargo run --release -p adept-games --example own_game_network`.
//!
//! The game here is tic-tac-toe. Any type that implements `Game` and `Kit` takes its place: see `own_game_table`, and
//! `examples/own-game` for one with every command.

use adept::prelude::*;
use adept::tictactoe::TicTacToe;

const CONFIG: &str = r#"
name  = "first-steps"
about = "32 units learn by self-play"

[game]
rules   = "tictactoe"
encoder = "fields"

[architecture.mlp]
hidden = [32]

[learn]
rate = { from = 0.02, to = 0.001 }    # linear over the run

[learn.td]
games   = 20_000
lambda  = 0.5
explore = { from = 0.4, to = 0.05 }   # ε of ε-greedy play

[evaluate]
every   = 2_000
against = ["random"]                  # exact: all games are gone through
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A fault in the config would name its line and column.
    let source = Source { file: "first-steps.toml".into(), text: CONFIG.into(), set: vec![] };
    let config = parse(&source, &One(TicTacToe))?;

    let folder = std::env::temp_dir().join(format!("adept-first-steps-{}", std::process::id()));
    let options = TrainOptions { out: Some(folder.clone()), ..TrainOptions::default() };
    let (run, record) = train(&TicTacToe, &config, 1, &options, &Silent, &Cancel::default())?;
    let last = record.r#final.ok_or("nothing was measured")?;
    println!("{} games; equity against random play {:+.4}", record.step, last.equity.unwrap_or(f64::NAN));

    // The checkpoint is an evaluator; an agent that takes the highest value plays it.
    let (network, manifest) = open::open(&TicTacToe, &run, false)?;
    let found = equity(&TicTacToe, &mut Greedy::new(network), &mut Random)?;
    println!("{} by {}: seats {:+.4?}", manifest.game, manifest.encoder, found.seats);
    Ok(std::fs::remove_dir_all(folder)?)
}
