//! The command `play`.

use crate::args::PlayArgs;
use crate::output::{self, say};
use adept_lab::{AnyGame, Catalogue};
use adept_model::checkpoint;
use adept_play::PlayOptions;
use anyhow::{Result, bail};
use std::io::{stderr, stdin, stdout};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(games: &dyn Catalogue, args: &PlayArgs, as_json: bool) -> Result<()> {
    let options = PlayOptions {
        opponent: args.opponent.clone(),
        seat: args.seat as usize - 1,
        seed: args.seed,
        hints: args.hints,
        best: args.best,
    };
    if args.opponent == "oracle" {
        say("no table in datasets: solving the oracle first, which takes a few seconds and 3.1 GB");
    }
    let game = game_of(games, args)?;
    let mut input = stdin().lock();
    if as_json {
        let played = game.play(&options, &mut input, &mut stderr().lock())?;
        return output::json(&played);
    }
    game.play(&options, &mut input, &mut stdout().lock())?;
    Ok(())
}

/// The game to play: the named one, the game of the checkpoint, or the first that has an agent of this name.
fn game_of(games: &dyn Catalogue, args: &PlayArgs) -> Result<Arc<dyn AnyGame>> {
    if let Some(name) = &args.game {
        return Ok(games.find(name)?);
    }
    let has = |name: &String| {
        let game = games.find(name).ok()?;
        let agent = args.opponent.split(':').next_back().unwrap_or_default();
        game.info().agents().iter().any(|known| known == agent).then_some(game)
    };
    if let Some(game) = games.names().iter().find_map(has) {
        return Ok(game);
    }
    match checkpoint::named(Path::new(&args.opponent))? {
        Some(path) => {
            Ok(games.find(&checkpoint::read(&checkpoint::locate(&path, args.best)?)?.manifest.game)?)
        }
        None => bail!(
            "`{}` is neither a checkpoint nor an agent of any game: see adept list agents",
            args.opponent
        ),
    }
}
