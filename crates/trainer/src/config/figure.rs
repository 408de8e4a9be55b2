//! The figure of a run: the one number by which runs are compared, ranked and drawn.

use adept_game::Suite;
use serde::Serialize;

/// A kind of figure. A run reports the first kind that it measures, in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Exact match equity of greedy play against the first opponent, in [−1, 1].
    Equity,
    /// Root mean square error of V on the test positions.
    Rms,
    /// Mean win of a best response, in units of utility.
    Exploitability,
    /// Points per game against the first opponent, in [0, 1]; or utility, in the unit of the game.
    Matches,
}

/// What a network is measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredOn {
    /// The whole game, against the first opponent of the config.
    Opponent,
    /// Games against that opponent: the figure, and that of a baseline, is an estimate.
    Games,
    /// Positions of a distribution or file.
    Positions,
    /// The best responses to its play.
    BestResponses,
}

impl Figure {
    /// The number of kinds: the length of a list that has all of them in an order of its own.
    pub const COUNT: usize = {
        let (mut count, mut i) = (0, 0);
        while i < Suite::ALL.len() {
            count += Self::of(Suite::ALL[i].0).is_some() as usize;
            i += 1;
        }
        count
    };

    /// All kinds, in the order in which a run reports them.
    pub const ALL: [Self; Self::COUNT] = [Self::Equity, Self::Rms, Self::Exploitability, Self::Matches];

    /// The figure of a suite; `None` if its results are never the figure of a run.
    pub const fn of(suite: Suite) -> Option<Self> {
        match suite {
            Suite::Equity => Some(Self::Equity),
            Suite::Rms => Some(Self::Rms),
            Suite::Exploitability => Some(Self::Exploitability),
            Suite::Matches => Some(Self::Matches),
            Suite::Grade | Suite::MoveLoss | Suite::Speed => None,
        }
    }

    /// The suite that measures it, what this is measured on, and the name of the figure in tables for people.
    const fn about(self) -> (Suite, MeasuredOn, &'static str) {
        match self {
            Self::Equity => (Suite::Equity, MeasuredOn::Opponent, "equity"),
            Self::Rms => (Suite::Rms, MeasuredOn::Positions, "RMS error"),
            Self::Exploitability => (Suite::Exploitability, MeasuredOn::BestResponses, "exploitability"),
            Self::Matches => (Suite::Matches, MeasuredOn::Games, "points"),
        }
    }

    /// The suite that measures it.
    pub const fn suite(self) -> Suite {
        self.about().0
    }

    /// What the network is measured on.
    pub const fn measured_on(self) -> MeasuredOn {
        self.about().1
    }

    /// Its name in tables for people.
    pub const fn short(self) -> &'static str {
        self.about().2
    }

    /// Its name in configs and reports.
    pub const fn name(self) -> &'static str {
        self.suite().name()
    }

    /// Whether lower is better. Such figures are drawn on a logarithmic scale.
    pub const fn is_error(self) -> bool {
        match self {
            Self::Rms | Self::Exploitability => true,
            Self::Equity | Self::Matches => false,
        }
    }

    /// A value as a number of which larger is better.
    pub fn merit(self, value: f64) -> f64 {
        if self.is_error() { -value } else { value }
    }

    /// Its name on an axis, measured against this opponent.
    pub fn label(self, against: &str) -> String {
        match self {
            Self::Equity => format!("equity against {against}"),
            Self::Matches => format!("points per game against {against}"),
            Self::Rms => "RMS error of V".into(),
            Self::Exploitability => "exploitability".into(),
        }
    }

    /// A value with its usual digits.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Equity => format!("{value:+.4}"),
            Self::Matches => format!("{value:.4}"),
            Self::Rms | Self::Exploitability => format!("{value:.5}"),
        }
    }
}
