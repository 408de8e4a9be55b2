//! Suites: the kinds of measurements.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares the suites, in the order of help: each with its documentation, its name in configs and reports, and a line for help.
macro_rules! suites {
    ($($(#[$about:meta])* $suite:ident, $name:literal, $line:literal;)+) => {
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
            $($(#[$about])* $suite,)+
        }

        impl Suite {
            /// All suites with one-line descriptions.
            pub const ALL: [(Self, &'static str); [$($line),+].len()] = [$((Self::$suite, $line)),+];

            /// Its name in configs and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$suite => $name,)+
                }
            }
        }
    };
}

suites! {
    /// Exact match equity of greedy play against opponents, in games whose states can be enumerated.
    Equity, "equity", "exact match equity of greedy play, in small games";
    /// Exact grades of greedy play in games without chance: against a best response, random and perfect play; moves above the
    /// shortest solution in games for one player.
    Grade, "grade", "exact: against a best response, random and perfect play; shortest solutions";
    /// Root mean square error of values against exact values, on sampled positions.
    Rms, "rms", "errors of values against exact values, on sampled positions";
    /// Value that choices lose, measured by exact values.
    #[serde(alias = "move-loss")]
    MoveLoss, "move_loss", "value that choices lose, measured by exact values";
    /// Games against opponents, who take all other seats.
    Matches, "matches", "games against opponents, who take all other seats";
    /// Winnings of a best response, in small games with hidden information.
    Exploitability, "exploitability", "winnings of a best response, in small games with hidden information";
    /// Evaluations per second on this machine.
    Speed, "speed", "evaluations per second on this machine";
}

impl Suite {
    /// Whether it can be measured during a run.
    pub const fn is_in_runs(self) -> bool {
        match self {
            Self::Equity | Self::Grade | Self::Rms | Self::Matches | Self::Exploitability => true,
            Self::MoveLoss | Self::Speed => false,
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
