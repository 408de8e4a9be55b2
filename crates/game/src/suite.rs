//! Suites: the kinds of measurements.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A kind of measurement, during runs and on checkpoints.
///
/// ```
/// use adept_game::Suite;
///
/// assert_eq!("move-loss".parse(), Ok(Suite::MoveLoss));
/// assert_eq!(Suite::MoveLoss.name(), "move_loss"); // as in configs and reports
/// assert!("speeds".parse::<Suite>().unwrap_err().starts_with("unknown suite `speeds`; known suites: equity, "));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// Exact match equity of greedy play against opponents, in games whose states can be enumerated.
    Equity,
    /// Exact grades of greedy play in games without chance: against a best response, random and perfect play; moves above the
    /// shortest solution in games for one player.
    Grade,
    /// Root mean square error of values against exact values, on sampled positions.
    Rms,
    /// Value that choices lose, measured by exact values.
    #[serde(alias = "move-loss")]
    MoveLoss,
    /// Games against opponents, who take all other seats.
    Matches,
    /// Winnings of a best response, in small games with hidden information.
    Exploitability,
    /// Evaluations per second on this machine.
    Speed,
}

impl Suite {
    /// All suites with one-line descriptions.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Equity, "exact match equity of greedy play, in small games"),
        (Self::Grade, "exact: against a best response, random and perfect play; shortest solutions"),
        (Self::Rms, "errors of values against exact values, on sampled positions"),
        (Self::MoveLoss, "value that choices lose, measured by exact values"),
        (Self::Matches, "games against opponents, who take all other seats"),
        (Self::Exploitability, "winnings of a best response, in small games with hidden information"),
        (Self::Speed, "evaluations per second on this machine"),
    ];

    /// Suites that can be measured during a run.
    pub const IN_RUNS: [Self; 5] =
        [Self::Equity, Self::Grade, Self::Rms, Self::Matches, Self::Exploitability];

    /// Its name in configs and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equity => "equity",
            Self::Grade => "grade",
            Self::Rms => "rms",
            Self::MoveLoss => "move_loss",
            Self::Matches => "matches",
            Self::Exploitability => "exploitability",
            Self::Speed => "speed",
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Suite {
    type Err = String;

    /// Parses a name; `-` is accepted for `_`.
    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.replace('-', "_");
        let found = Self::ALL.iter().find(|(suite, _)| suite.name() == name);
        found.map(|(suite, _)| *suite).ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|(suite, _)| suite.name()).collect();
            format!("unknown suite `{text}`; known suites: {}", all.join(", "))
        })
    }
}
