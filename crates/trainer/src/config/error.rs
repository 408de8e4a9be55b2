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

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let (Some((line, column)), Some(text)) = (self.place, &self.line) {
            let width = line.to_string().len();
            write!(f, "\n{line} | {text}\n{:width$} | {:>column$}", "", "^")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
