//! What a check of rules that somebody wrote down has found.

/// A check of rules.
///
/// ```
/// use adept_game::Audit;
///
/// let facts = vec![("roles".into(), "white, black".into())];
/// let audit = Audit { facts, notes: vec!["`draw` is never true".into()] };
/// let lines: Vec<String> = audit.facts.iter().map(|(what, found)| format!("{what}: {found}")).collect();
/// assert_eq!((lines, audit.notes.len()), (vec!["roles: white, black".to_string()], 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// What the game is, such as `roles` and `white, black`.
    pub facts: Vec<(String, String)>,
    /// What the author will want to mend.
    pub notes: Vec<String>,
}

/// A position of a random game, in the words of its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// What holds.
    pub facts: Vec<String>,
    /// The legal moves of each role.
    pub legal: Vec<Vec<String>>,
    /// The move of each role; empty if the game is over.
    pub moves: Vec<String>,
    /// Whether the game is over.
    pub is_over: bool,
    /// The goals of each role.
    pub goals: Vec<Vec<i64>>,
}
