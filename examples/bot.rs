//! A checkpoint inside a bot: `cargo run --release -p adept-games --example bot`.
//!
//! The bot answers positions of the bear-off with its move. With `--stdin` it reads them, a line each; without, it shows
//! three. `adept-embed` offers the same to C, and for any built-in game by name.

use adept::bearoff::Bearoff;
use adept::prelude::*;
use std::io::BufRead;

/// The best move of a position with a roll, as text, and its value for the player to move.
fn choose(network: &mut GameModel<Bearoff>, position: &str) -> Result<(String, f32), GameError> {
    let game = Bearoff::default();
    let (state, _) = game.parse_position(position)?;
    let Turn::Player(player) = game.turn(&state) else {
        return Err(GameError::new(format!("`{position}`: write the roll behind the position, as in … 65")));
    };
    let (mut actions, mut values) = (Vec::new(), Vec::new());
    network.weigh(Decision::new(&game, &state, player), &mut actions, &mut values);
    let best = (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b]));
    let best = best.ok_or(GameError::new("there is no legal move"))?;
    Ok((game.action_text(&state, &actions[best]), values[best]))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../checkpoints/bearoff/plain-10");
    let (mut network, manifest) = open::open(&Bearoff::default(), folder.as_ref(), false)?;
    println!("{} learned from {} samples", manifest.game, manifest.step);

    let lines: Box<dyn Iterator<Item = String>> = match std::env::args().nth(1).as_deref() {
        Some("--stdin") => Box::new(std::io::stdin().lock().lines().map_while(Result::ok)),
        _ => {
            let shown =
                ["0,2,2,2,0,0/3,3,0,0,0,0 61", "1,1,0,0,0,2/0,0,0,0,1,2 65", "0,0,0,0,2,2/4,0,0,0,0,0"];
            Box::new(shown.into_iter().map(String::from))
        }
    };
    for line in lines {
        match choose(&mut network, line.trim()) {
            Ok((play, value)) => println!("{line}: {play} ({value:+.3})"),
            Err(error) => println!("error: {error}"),
        }
    }
    Ok(())
}
