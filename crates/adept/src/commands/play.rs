//! The command `play`.

use crate::args::PlayArgs;
use crate::output::{self, say};
use adept_arena::AgentSpec;
use adept_game::Named;
use adept_lab::{AnyGame, Catalogue};
use adept_model::checkpoint;
use adept_play::PlayOptions;
use adept_trainer::positions::EXACT_VALUES;
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
    let game = game_of(games, args)?;
    let valuation = |known: &Named| args.opponent.split(':').next() == Some(&*known.name);
    if game.info().valuations.iter().any(valuation) {
        say(EXACT_VALUES);
    }
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
    let path = |path: &Path| -> Result<Arc<dyn AnyGame>> {
        Ok(games.find(&checkpoint::read(&checkpoint::locate(path, args.best)?)?.manifest.game)?)
    };
    // A folder goes before an agent of that name, an agent before a run.
    let opponent = Path::new(&args.opponent);
    if opponent.exists() {
        return path(opponent);
    }
    if let Ok(AgentSpec::Greedy(of) | AgentSpec::Epsilon(_, of) | AgentSpec::Boltzmann(_, of)) =
        AgentSpec::parse(&args.opponent)
    {
        return path(Path::new(&of));
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
