//! The command `play`.

use super::games_with;
use crate::args::PlayArgs;
use crate::output;
use adept_arena::{AgentSpec, Level, OpenError, naming};
use adept_game::AddedGame;
use adept_ground::shown::{ascii, printable};
use adept_ground::{files::Files, limits};
use adept_lab::{AnyGame, Catalogue};
use adept_model::checkpoint;
use adept_model::names;
use adept_play::{Input, PlayOptions, Played};
use anyhow::{Context, Result, bail};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::collections::BTreeSet;
use std::env;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin, stdout};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn run(games: &dyn Catalogue, args: &PlayArgs, as_json: bool) -> Result<()> {
    let game = game_of(games, &args.opponent, args.game.as_deref(), args.best)?;
    let options = PlayOptions {
        opponent: opponent_of(&*game, &args.opponent, args.level)?,
        from: args.from.clone(),
        seat: args.seat as usize - 1,
        seed: args.seed.unwrap_or_else(fresh_seed),
        hints: args.hints,
        best: args.best,
        history: args.history.is_some(),
    };
    if let Some(path) = &args.history {
        game.writes_histories()?;
        with_game(&*game, path, "")?;
    }
    let (mut input, mut out) = terminal(args.ascii, as_json);
    let played = game.play(&options, &mut *input, &mut out)?;
    save(&*game, args, &played)?;
    if as_json { output::json(&played) } else { Ok(()) }
}

/// Where a person reads and types. With JSON on stdout, text goes to stderr.
pub(super) fn terminal(in_ascii: bool, as_json: bool) -> (Box<dyn Input>, output::Shown<Box<dyn Write>>) {
    let input: Box<dyn Input> = match Editor::new() {
        Some(editor) if !as_json => Box::new(editor),
        _ => Box::new(stdin().lock()),
    };
    let mut out: Box<dyn Write> = if as_json { Box::new(stderr()) } else { Box::new(stdout()) };
    if in_ascii || !shows_unicode(|name| env::var(name).ok()) {
        out = Box::new(Ascii(out));
    }
    (input, output::Shown(out))
}

/// The agent that plays: at a level, or the best of the game if the game is named.
fn opponent_of(game: &dyn AnyGame, named: &str, level: Option<Level>) -> Result<String> {
    let is_game = naming::names_game(named, &game.info().name) && !is_folder(named)?;
    if level.is_none() && !is_game {
        return Ok(named.into());
    }
    let level = level.unwrap_or(Level::Strong);
    let all = game.levels((!is_game).then_some(named))?;
    let names = || all.iter().map(|rung| rung.level.name()).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|rung| rung.level == level);
    let found =
        found.with_context(|| format!("`{named}` has no level `{}`; it has {}", level.name(), names()))?;
    let about = format!("{}: {}", level.name(), found.about);
    output::say(output::entry("", 0, &about).trim_end());
    Ok(found.agent.clone())
}

/// Whether terminals show more than ASCII, by the variables of the environment: the first one that is set says so. Without any,
/// they do.
fn shows_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| variable(name).filter(|locale| !locale.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_none_or(|locale| locale.to_ascii_uppercase().replace('-', "").contains("UTF8"))
}

/// A writer for terminals that show ASCII alone.
struct Ascii<W>(W);

impl<W: Write> Write for Ascii<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_all(ascii(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// The text of a file of whole games with another one added, and the number of that one. A missing file has none.
fn with_game(game: &dyn AnyGame, path: &Path, one: &str) -> Result<AddedGame> {
    let text = match limits::read_text(path, limits::RECORD_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => bail!("{}: {error}", path.display()),
    };
    Files::default().try_file(path)?;
    match game.add_history(&text, one) {
        Ok(added) => Ok(added),
        Err(why) => bail!("{}: {why}: name another file", path.display()),
    }
}

/// Adds a game to its file.
fn save(game: &dyn AnyGame, args: &PlayArgs, played: &Played) -> Result<()> {
    let Some(path) = &args.history else { return Ok(()) };
    let Some(history) = &played.history else {
        let why = match played.resigned {
            Some(_) => "games that are given up have no place in it",
            None => "the game is not over",
        };
        output::say(format!("{}: nothing is added, because {why}", path.display()));
        return Ok(());
    };
    // Another game may have been added since this one began.
    let AddedGame { text, number } = with_game(game, path, history)?;
    Files::default().replace(path, text.as_bytes())?;
    output::say(format!("{}: added as number {number}", path.display()));
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
///
/// # Errors
/// If there is no such game or agent.
pub fn game_of(
    games: &dyn Catalogue,
    agent: &str,
    game: Option<&str>,
    best: bool,
) -> Result<Arc<dyn AnyGame>> {
    if let Some(name) = game {
        return Ok(games.find(name)?);
    }
    let spec = AgentSpec::parse(agent).map_err(OpenError::Unknown)?;
    if let Some(game) = game_named(games, spec.name())? {
        return Ok(game);
    }
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
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "see `adept list agents`. Runs are looked for by name in `{}` of the working folder. {}",
            checkpoint::RUNS,
            checkpoint::searched()
        ),
    };
    bail!("`{}` is neither a checkpoint nor an agent of any game: {hint}", spec.name())
}

/// Whether a name is that of a checkpoint or run of this machine, which goes before the game of that name.
fn is_folder(name: &str) -> Result<bool> {
    let path = Path::new(name);
    Ok(checkpoint::is_at(path)?
        || checkpoint::named(path)?.is_some_and(|found| found.starts_with(checkpoint::RUNS)))
}

/// The game of this name, or the usual rule set of its family, if the name is not that of a checkpoint or run.
fn game_named(games: &dyn Catalogue, name: &str) -> Result<Option<Arc<dyn AnyGame>>> {
    if is_folder(name)? {
        return Ok(None);
    }
    let usual = games.names().into_iter().find(|usual| naming::names_game(name, usual));
    Ok(games.find(usual.as_deref().unwrap_or(name)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_says_whether_unicode_is_shown() {
        for (set, shows) in [
            (&[][..], true),
            (&[("LANG", "C.UTF-8")], true),
            (&[("LANG", "de_DE.utf8")], true),
            (&[("LANG", "C")], false),
            (&[("LANG", "de_DE.ISO-8859-1")], false),
            (&[("LC_ALL", "POSIX"), ("LANG", "C.UTF-8")], false),
            (&[("LC_ALL", ""), ("LC_CTYPE", "C.UTF-8"), ("LANG", "C")], true),
        ] {
            let variable =
                |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, to)| to.to_string());
            assert_eq!(shows_unicode(variable), shows, "{set:?}");
        }
    }
}
