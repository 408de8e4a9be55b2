//! Rules that somebody wrote down, and what a check of them has found.

/// The text that the rules of a game come from: a rule file, a description in GDL, a program in another language.
///
/// A run stores the fingerprint, so that a run of other rules of the same name is not taken for one of these. The command `rules`
/// prints the check and the trace.
pub trait RuleText {
    /// What tells these rules from others of the same name.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// Checks the rules by random games, as many as given.
    fn audit(&self, _games: u64) -> Option<Audit> {
        None
    }

    /// A random game in the words of the rules, to compare with other programs that read them.
    fn trace(&self, _seed: u64) -> Option<Vec<TraceStep>> {
        None
    }
}

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
