//! A fault in a config file, and how it is printed.

use std::fmt;

/// A fault in a config file: file, line, column, what is wrong, what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// File, or another source of the text.
    pub file: String,
    /// Line and column, from 1, if the fault has a place.
    pub place: Option<(usize, usize)>,
    /// The text of this line.
    pub line: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

impl ConfigError {
    /// A fault of a whole file or option.
    pub fn of(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, line: None, message: message.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let (Some((line, column)), Some(text)) = (self.place, &self.line) {
            let width = line.to_string().len();
            let (part, column) = shown(text, column);
            write!(f, "\n{line} | {part}\n{:width$} | {:>column$}", "", "^")?;
        }
        Ok(())
    }
}

/// Characters of a line shown at most.
const SHOWN: usize = 160;

/// The part of a line around a column, from 1, and the column in that part.
fn shown(line: &str, column: usize) -> (String, usize) {
    let long = line.chars().nth(SHOWN).is_some();
    let skipped = if long { column.saturating_sub(SHOWN / 2) } else { 0 };
    let part = line.chars().skip(skipped).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c });
    (part.collect(), (column - skipped).min(SHOWN + 1))
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_fault() {
        let at = |column: usize, line: &str| ConfigError {
            file: "a.toml".into(),
            place: Some((1, column)),
            line: Some(line.into()),
            message: "is wrong".into(),
        };
        let long = format!("{}X{}", "a".repeat(99_999), "b".repeat(99_999));
        let text = at(100_000, &long).to_string();
        let [_, line, mark] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert!(line.len() < 200 && line.find('X') == mark.find('^'), "{text}");
        assert_eq!(at(3, "ab?").to_string(), "a.toml:1:3: is wrong\n1 | ab?\n  |   ^");
        // The end of the line, and control characters.
        assert!(at(200_000, &long).to_string().len() < 400);
        assert!(!at(1, "\0\x1b[1m").to_string().contains('\0'));
    }
}
