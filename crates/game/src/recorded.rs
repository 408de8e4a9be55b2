//! Agreement with recorded decisions of another program.

/// How often an agent decides as another program did.
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
