//! Agreement with recorded decisions of another program.

/// How often an agent decides as another program did.
///
/// ```
/// use adept_game::{Difference, Recorded};
///
/// let [position, recorded, chosen] = ["3 4 5 @1", "2 from 1", "1 from 1"].map(String::from);
/// let other = Difference { line: 2, position, recorded, chosen };
/// let found = Recorded { rows: 4, agree: 3, share: 0.75, differences: vec![other] };
/// assert_eq!(found.rows - found.agree, found.differences.len() as u64);
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Recorded {
    /// Recorded decisions.
    pub rows: u64,
    /// Those on which both agree.
    pub agree: u64,
    /// Their share, from 0 to 1.
    pub share: f64,
    /// The others.
    pub differences: Vec<Difference>,
}

/// A decision on which an agent differs from the record.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// Line of the file.
    pub line: u64,
    /// The position, as the file has it.
    pub position: String,
    /// The recorded action.
    pub recorded: String,
    /// What the agent chooses.
    pub chosen: String,
}
