//! The command `play`.

use crate::args::PlayArgs;
use crate::output;
use adept_arena::AgentSpec;
use adept_lab::{AnyGame, Catalogue};
use adept_model::checkpoint;
use adept_play::{Input, PlayOptions};
use anyhow::{Result, bail};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn run(games: &dyn Catalogue, args: &PlayArgs, as_json: bool) -> Result<()> {
    let options = PlayOptions {
        opponent: args.opponent.clone(),
        seat: args.seat as usize - 1,
        seed: args.seed.unwrap_or_else(fresh_seed),
        hints: args.hints,
        best: args.best,
    };
    let game = game_of(games, args)?;
    let mut input: Box<dyn Input> = match Editor::new() {
        Some(editor) if !as_json => Box::new(editor),
        _ => Box::new(stdin().lock()),
    };
    if as_json {
        let played = game.play(&options, &mut *input, &mut stderr())?;
        return output::json(&played);
    }
    game.play(&options, &mut *input, &mut stdout())?;
    Ok(())
}

/// A seed from the clock, short enough to type again.
fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() / 1000) as u64 % 1_000_000
}

/// Lines with editing and history, on a terminal.
struct Editor(DefaultEditor);

impl Editor {
    /// `None` without a terminal.
    fn new() -> Option<Self> {
        (stdin().is_terminal() && stdout().is_terminal())
            .then(|| DefaultEditor::new().ok().map(Self))
            .flatten()
    }
}

impl Input for Editor {
    fn line(&mut self, prompt: &str, _: &mut dyn Write) -> std::io::Result<Option<String>> {
        match self.0.readline(prompt) {
            Ok(line) => {
                // The history is a comfort: the game goes on without it.
                let _ = self.0.add_history_entry(&line);
                Ok(Some(line))
            }
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
            Err(error) => Err(std::io::Error::other(error)),
        }
    }
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
    let found: Vec<Arc<dyn AnyGame>> = games.names().iter().filter_map(has).collect();
    if let Some(game) = found.first() {
        let names: Vec<String> = found.iter().map(|game| game.info().name.to_string()).collect();
        if names.len() > 1 {
            output::say(format!(
                "several games have this agent; this is {}. Choose another with --game {}",
                names[0], names[1]
            ));
        }
        return Ok(game.clone());
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
