//! Texts of games from rules: lists, and moves that people type.

use adept_game::{Game, GameError};
use std::fmt::Write;

/// Line width of lists.
const WIDTH: usize = 76;

/// Wraps a text to the width of a terminal.
pub(crate) fn wrap(text: &str) -> String {
    let (mut wrapped, mut column) = (String::with_capacity(text.len()), 0);
    for word in text.split_whitespace() {
        let wide = word.chars().count();
        if column > 0 {
            let fits = column + 1 + wide <= WIDTH;
            wrapped.push(if fits { ' ' } else { '\n' });
            column = if fits { column + 1 } else { 0 };
        }
        wrapped.push_str(word);
        column += wide;
    }
    wrapped
}

/// The legal action with this text: as printed, its words without signs, or only its first arguments if they are
/// unique.
pub(crate) fn find_action<G: Game<Action = u32>>(
    game: &G,
    state: &G::State,
    text: &str,
) -> Result<u32, GameError> {
    let mut actions = Vec::new();
    game.actions(state, &mut actions);
    let shown = |action: &u32| game.action_text(state, action);
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let typed = words(text);
    let known: Vec<Vec<String>> = actions.iter().map(|action| words(&shown(action))).collect();
    let unique = |test: &dyn Fn(&Vec<String>) -> bool| {
        let mut found = known.iter().zip(&actions).filter(|(words, _)| test(words));
        found.next().filter(|_| found.next().is_none()).map(|(_, action)| *action)
    };
    let exact = || actions.iter().copied().find(|action| shown(action) == text.trim());
    let whole = || unique(&|words| *words == typed);
    let begin = || {
        unique(&|words| {
            !typed.is_empty()
                && (words.starts_with(&typed) || words.get(1..).is_some_and(|rest| rest.starts_with(&typed)))
        })
    };
    exact().or_else(whole).or_else(begin).ok_or_else(|| {
        let texts: Vec<String> = actions.iter().take(20).map(shown).collect();
        let more = if actions.len() > texts.len() { ", …" } else { "" };
        GameError::new(format!(
            "`{}` is not one legal move of these: {}{more}",
            text.trim(),
            texts.join(", ")
        ))
    })
}

/// The lengths of random games, in moves or steps, as a fact of an audit. None if there were no games.
pub(crate) fn lengths(mut lengths: Vec<usize>, unit: &str) -> Option<(String, String)> {
    lengths.sort_unstable();
    let (least, most) = (lengths.first()?, lengths.last()?);
    let (games, middle) = (lengths.len(), lengths[lengths.len() / 2]);
    Some(("random games".into(), format!("{games}: {least} to {most} {unit}, median {middle}")))
}

/// Adds a name and its items, separated by commas and wrapped.
pub(crate) fn list(text: &mut String, begin: &str, all: &[String]) {
    let mut line = begin.to_string();
    let indent = line.chars().count();
    for (i, one) in all.iter().enumerate() {
        let end = if i + 1 < all.len() { ", " } else { "" };
        let begun = line.chars().count() > indent;
        if begun && line.chars().count() + one.chars().count() + end.trim_end().len() > WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            line = " ".repeat(indent);
        }
        line.push_str(one);
        line.push_str(end);
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

/// Adds marked moves, several a line.
pub(crate) fn entries(text: &mut String, marks: &[(u32, String)], shown: impl Fn(u32) -> String) {
    let entries: Vec<String> = marks.iter().map(|(one, mark)| format!("{} {mark}", shown(*one))).collect();
    let wide = entries.iter().map(|entry| entry.chars().count()).max().unwrap_or(0) + 2;
    for line in entries.chunks((WIDTH / wide).max(1)) {
        let line: Vec<String> = line.iter().map(|entry| format!("{entry:<wide$}")).collect();
        let _ = writeln!(text, "  {}", line.concat().trim_end());
    }
}
