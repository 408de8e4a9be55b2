//! An encoder of your own for a built-in game: `cargo run --release -p adept-games --example own_encoder`.
//!
//! It shows a network the number of open lines of either side in tic-tac-toe, four inputs in all. The same network learns
//! with it and with the nine squares, against the same opponent.

use adept::prelude::*;
use adept::tictactoe::{LINES, TicTacToe};
use std::sync::Arc;

/// Lines in which only that player has stones, with so many of them.
fn open_lines(stones: [u16; 2], player: usize, count: u32) -> f32 {
    let (own, other) = (stones[player], stones[1 - player]);
    LINES.iter().filter(|line| *line & other == 0 && (*line & own).count_ones() == count).count() as f32
}

fn lines() -> Arc<dyn Encoder<TicTacToe>> {
    let about = "quarter of the lines with one and two own stones alone, then with the other's";
    let channels = vec![Channel::fixed("lines", ChannelKind::Dense(4), about)];
    Arc::new(EncoderFn::new("lines", channels, |_: &TicTacToe, after: Afterstate<'_, _>, row: RowMut<'_>| {
        let stones = after.state.stones;
        for (i, (who, count)) in [(0, 1), (0, 2), (1, 1), (1, 2)].into_iter().enumerate() {
            let player = if who == 0 { after.player } else { 1 - after.player };
            row.dense[i] = open_lines(stones, player, count) / 4.0;
        }
    }))
}

/// Learns from games against random play: the target of each afterstate is how its game ended.
fn learned(encoder: Arc<dyn Encoder<TicTacToe>>) -> Result<f64, Box<dyn std::error::Error>> {
    let (game, mut rng) = (TicTacToe, stream(1, "games", 0));
    let architecture: Architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [20] } }"#)?;
    let mut first = stream(1, "init", 0);
    let network = adept::model::build(
        &architecture,
        encoder.channels(),
        &adept::model::Head::Value,
        Optimiser::default(),
        &mut first,
    )?;
    let mut network = GameModel::learning(&game, encoder.clone(), network);
    let (mut samples, mut scratch) = (Samples::new(encoder.channels()), Default::default());
    for g in 0..10_000 {
        samples.clear();
        let mut state = game.start();
        while let Turn::Player(player) = game.turn(&state) {
            let at = Decision::new(&game, &state, player);
            let chosen = match player == g % 2 {
                true => EpsilonGreedy::new(&mut network, 0.2).choose(at, &mut scratch, &mut rng),
                false => Random.choose(at, &mut scratch, &mut rng),
            };
            let action = chosen?;
            game.apply(&mut state, &action);
            if player == g % 2 && game.turn(&state) != Turn::Over {
                let after = Afterstate { state: &state, action: Some(&action), player };
                encoder.encode(&game, after, samples.rows.push());
            }
        }
        samples.targets.resize(samples.rows.len(), game.utility(&state, g % 2) as f32);
        samples.weights.resize(samples.rows.len(), 1.0);
        network.model.update(&samples, 0.01)?;
    }
    Ok(equity(&game, &mut Greedy::new(network), &mut Random)?.equity)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("four inputs of open lines: equity {:+.3} against random play", learned(lines())?);
    let fields = TicTacToe.encoders().open("fields").ok_or("no such encoder")?;
    println!("nine squares:              equity {:+.3}", learned(fields)?);
    Ok(())
}
