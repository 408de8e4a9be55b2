//! The command `play`.

use super::games_with;
use crate::args::PlayArgs;
use crate::output;
use adept_arena::{AgentSpec, OpenError, naming};
use adept_ground::{files::Files, limits, shown::printable};
use adept_lab::{AnyGame, Catalogue};
use adept_model::checkpoint;
use adept_model::names;
use adept_play::{Input, PlayOptions, Played};
use anyhow::{Result, bail};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::collections::BTreeSet;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin, stdout};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn run(games: &dyn Catalogue, args: &PlayArgs, as_json: bool) -> Result<()> {
    if let Some(path) = &args.history {
        games_in(path)?;
    }
    let options = PlayOptions {
        opponent: args.opponent.clone(),
        from: args.from.clone(),
        seat: args.seat as usize - 1,
        seed: args.seed.unwrap_or_else(fresh_seed),
        hints: args.hints,
        best: args.best,
        history: args.history.is_some(),
    };
    let game = game_of(games, &args.opponent, args.game.as_deref(), args.best)?;
    let mut input: Box<dyn Input> = match Editor::new() {
        Some(editor) if !as_json => Box::new(editor),
        _ => Box::new(stdin().lock()),
    };
    if as_json {
        let played = game.play(&options, &mut *input, &mut output::Shown(stderr()))?;
        save(args, &played)?;
        return output::json(&played);
    }
    let played = game.play(&options, &mut *input, &mut output::Shown(stdout()))?;
    save(args, &played)
}

/// The text of a file of whole games, and how many it has. A missing file has none.
fn games_in(path: &Path) -> Result<(String, u64)> {
    let text = match limits::read_text(path, limits::RECORD_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => bail!("{}: {error}", path.display()),
    };
    Files::default().try_file(path)?;
    let is_number = |line: &str| line.strip_prefix('[')?.strip_suffix(']')?.parse::<u64>().ok();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let begins = lines.clone().next().is_none_or(|first| is_number(first).is_some());
    let games = lines.by_ref().filter_map(is_number).max().unwrap_or(0);
    if !begins || games > limits::LENGTH {
        bail!("{}: this file exists and does not hold recorded games: name another file", path.display());
    }
    Ok((text, games))
}

/// Adds a game to its file.
fn save(args: &PlayArgs, played: &Played) -> Result<()> {
    let Some(path) = &args.history else { return Ok(()) };
    let Some(history) = &played.history else {
        output::say(format!("{}: nothing is added, because the game is not over", path.display()));
        return Ok(());
    };
    // Another game may have been added since this one began.
    let (text, number) = games_in(path)?;
    let (_, rest) = history.split_once('\n').unwrap_or_default();
    let before = if number == 0 { String::new() } else { text.trim_end().to_string() + "\n\n" };
    let history = format!("[{}]\n{rest}", number + 1);
    Files::default().replace(path, (before + &history).as_bytes())?;
    output::say(format!("{}: added as number {}", path.display(), number + 1));
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
        match self.0.readline(&*printable(prompt)) {
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

/// The game of an agent: the named one, the game of the checkpoint, or the first that has an agent of this name.
pub(super) fn game_of(
    games: &dyn Catalogue,
    agent: &str,
    game: Option<&str>,
    best: bool,
) -> Result<Arc<dyn AnyGame>> {
    if let Some(name) = game {
        return Ok(games.find(name)?);
    }
    let spec = AgentSpec::parse(agent).map_err(OpenError::Unknown)?;
    let found = games_with(games, spec.name());
    if let Some(folder) = naming::folder_of(spec.name(), |_| !found.is_empty())? {
        return Ok(games.find(&checkpoint::manifest(&checkpoint::locate(&folder, best)?)?.game)?);
    }
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
    let known: BTreeSet<String> = games
        .names()
        .iter()
        .filter_map(|name| games.find(name).ok())
        .flat_map(|game| game.info().agents())
        .chain(checkpoint::known())
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = match names::nearest(spec.name(), &known) {
        Some(near) => format!(": did you mean `{near}`?"),
        None => ": see `adept list agents`".into(),
    };
    bail!("`{}` is neither a checkpoint nor an agent of any game{hint}", spec.name())
}
