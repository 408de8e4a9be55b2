//! The name of this program. Messages and help name commands as `adept …`; a program with a game of its own prints its own name instead.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

/// The name by which this process was started, without its folder; `adept` if that name needs quotes in a shell.
pub(crate) fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let first = std::env::args_os().next().unwrap_or_default();
        let file = Path::new(&first).file_name().and_then(|file| file.to_str()).unwrap_or_default();
        let stem = file.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(file);
        let is_word = stem.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if is_word && !stem.is_empty() && !stem.starts_with('-') { stem.to_owned() } else { "adept".into() }
    })
}

/// A text in which commands, such as `adept train`, have this name.
pub(crate) fn named(text: &str) -> Cow<'_, str> {
    renamed(text, name())
}

/// The commands of this program.
static COMMANDS: OnceLock<Vec<String>> = OnceLock::new();

/// Notes the commands of this program, which texts may name.
pub(crate) fn know(line: &clap::Command) {
    let _ = COMMANDS.set(line.get_subcommands().map(|command| command.get_name().to_owned()).collect());
}

fn renamed<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    let places: Vec<usize> = match name {
        "adept" => Vec::new(),
        _ => text.match_indices("adept ").map(|(at, _)| at).filter(|at| is_command(text, *at)).collect(),
    };
    if places.is_empty() {
        return text.into();
    }
    let (mut renamed, mut from) = (String::with_capacity(text.len()), 0);
    for at in places {
        renamed.push_str(&text[from..at]);
        renamed.push_str(name);
        from = at + "adept".len();
    }
    (renamed + &text[from..]).into()
}

/// Whether a command begins here.
fn is_command(text: &str, at: usize) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
    let next = text[at + "adept ".len()..].split(|c: char| !c.is_alphanumeric() && c != '…').next();
    let next = next.unwrap_or_default();
    let known = COMMANDS.get().map_or(&[][..], Vec::as_slice);
    !text[..at].ends_with(is_part) && (known.iter().any(|command| command == next) || next == "…")
}

/// Words of examples that only the built-in games have.
const BUILT_IN: [&str; 6] = ["bearoff", "liars-dice", "X...", "gnubg", "hme-", "pm-0"];

/// Help whose examples name this game, for programs without the built-in ones.
pub(crate) fn with_examples_of(game: &str, command: clap::Command) -> clap::Command {
    let help = command.get_after_help().map(|help| examples_of(game, &help.to_string()));
    let command = match help {
        Some(help) => command.after_help(help),
        None => command,
    };
    command.mut_subcommands(|below| with_examples_of(game, below))
}

fn examples_of(game: &str, help: &str) -> String {
    let is_example = |line: &&str| line.starts_with("  adept ");
    let word = |word: &str| match word {
        "configs/tictactoe/*.toml" => "*.toml".into(),
        _ if word.starts_with("configs/") => "my.toml".into(),
        _ => word.replace("tictactoe", game).replace("\"ttt\"", "\"random\""),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let kept = |line: &&str| !is_example(line) || BUILT_IN.iter().all(|word| !line.contains(word));
    let lines: Vec<String> = help.lines().filter(kept).map(line).collect();
    let heads = |i: usize| {
        lines[i].starts_with("Example") && lines.get(i + 1).is_none_or(|next| !next.starts_with("  "))
    };
    let left = (0..lines.len()).filter(|i| !heads(*i)).map(|i| lines[i].as_str());
    left.collect::<Vec<_>>().join("\n").trim_start().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_name_of_the_program() {
        let commands = ["train", "list", "oracle"].map(clap::Command::new);
        know(&clap::Command::new("adept").subcommands(commands));
        let text = "no games: see `adept list games`, adept list agents\n\nExample:\n  adept train my.toml\nadept trains networks; cargo \
                    install adept, crates/adept list; `adept oracle build`";
        let own = "no games: see `dice list games`, dice list agents\n\nExample:\n  dice train my.toml\nadept trains networks; cargo \
                   install adept, crates/adept list; `dice oracle build`";
        assert_eq!(renamed(text, "dice"), own);
        assert!(matches!(renamed(text, "adept"), Cow::Borrowed(_)));
    }

    #[test]
    fn examples_name_a_game_of_the_program() {
        let help = "Examples:\n  adept config check configs/tictactoe/*.toml\n  adept config new tictactoe > my.toml\n  adept oracle bearoff";
        let own = "Examples:\n  adept config check *.toml\n  adept config new pig > my.toml";
        assert_eq!(examples_of("pig", help), own);
        assert_eq!(examples_of("pig", "Example:\n  adept value bearoff\n\nMore."), "More.");
    }
}
