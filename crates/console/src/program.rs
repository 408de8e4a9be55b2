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

/// A text in which commands in backquotes and examples of help have this name.
pub(crate) fn named(text: &str) -> Cow<'_, str> {
    renamed(text, name())
}

fn renamed<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    if name == "adept" || !text.contains("adept ") {
        return text.into();
    }
    text.replace("`adept ", &format!("`{name} ")).replace("\n  adept ", &format!("\n  {name} ")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_name_of_the_program() {
        let text =
            "no games: see `adept list games`\n\nExample:\n  adept train my.toml\nadept trains networks";
        let own = "no games: see `dice list games`\n\nExample:\n  dice train my.toml\nadept trains networks";
        assert_eq!(renamed(text, "dice"), own);
        assert!(matches!(renamed(text, "adept"), Cow::Borrowed(_)));
    }
}
