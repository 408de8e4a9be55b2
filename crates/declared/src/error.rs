//! Errors in rule files, with their place.

use std::fmt;

/// A place in a rule file: line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// An error in a rule file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The place.
    pub place: Place,
    /// What was found and what was expected.
    pub what: String,
}

impl RuleError {
    pub(crate) fn new(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into() }
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.place.line, self.place.column, self.what)
    }
}

impl std::error::Error for RuleError {}

/// Makes the error `what`, with a suggestion if one of `names` is similar to `found`.
pub(crate) fn unknown(what: String, found: &str, names: impl Iterator<Item = impl AsRef<str>>) -> String {
    // Longest word for which similar names are searched.
    const LONG: usize = 64;
    let near = names
        .filter(|name| found.len() <= LONG && name.as_ref().len() <= LONG)
        .map(|name| (strsim::damerau_levenshtein(found, name.as_ref()), name))
        .filter(|(distance, _)| *distance <= 2 && distance * 2 <= found.chars().count())
        .min_by_key(|(distance, _)| *distance);
    match near {
        Some((_, name)) => format!("{what}; did you mean `{}`?", name.as_ref()),
        None => what,
    }
}
