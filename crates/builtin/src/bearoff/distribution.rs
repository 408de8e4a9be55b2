//! Named distributions of positions.

use super::{MAX_CHECKERS, POINTS, Position, Side, rank};
use rand::{Rng, RngExt};
use std::fmt;
use std::str::FromStr;

/// A distribution of positions. Both sides have the same distribution and are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform over all sides with 1 to n checkers.
    Table,
    /// The number of checkers is uniform in 1..=n; each checker is uniform on points 1 to 6.
    Checkers,
    /// All n checkers, each uniform on points 1 to 6.
    Full,
    /// Like `checkers`, with at most 6 checkers.
    Small,
    /// The number of checkers is uniform in 1..=n; then all sides with this number are equally likely.
    Even,
}

/// Default number of checkers per side: the largest for which no gammon is possible.
pub const USUAL_CHECKERS: u8 = 14;

impl Distribution {
    /// All distributions with names and one-line descriptions, in the order of the variants.
    pub const ALL: [(&str, &str); 5] = [
        ("table", "uniform over all pairs of nonempty sides"),
        ("checkers", "uniform number of checkers, each on a uniform point"),
        ("full", "all checkers on the board, each on a uniform point"),
        ("small", "like checkers, with 1 to 6 per side"),
        ("even", "uniform number of checkers, then uniform over all sides with this number"),
    ];

    /// Samples a position with at most `checkers` checkers per side, 1 to 15.
    pub fn sample<R: Rng + ?Sized>(self, checkers: u8, rng: &mut R) -> Position {
        let checkers = checkers.clamp(1, MAX_CHECKERS);
        Position { own: self.side(checkers, rng), opponent: self.side(checkers, rng) }
    }

    fn side<R: Rng + ?Sized>(self, checkers: u8, rng: &mut R) -> Side {
        let count = match self {
            Self::Table => return rank::all()[rng.random_range(1..rank::sides(checkers))],
            Self::Full => checkers,
            Self::Checkers => rng.random_range(1..=checkers),
            Self::Small => rng.random_range(1..=checkers.min(6)),
            Self::Even => {
                let count = rng.random_range(1..=checkers);
                return rank::all()[rng.random_range(rank::of_count(count))];
            }
        };
        let mut counts = [0; POINTS];
        for _ in 0..count {
            counts[rng.random_range(0..POINTS)] += 1;
        }
        Side::new(counts).expect("there are at most 15 checkers")
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].0)
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Table, Self::Checkers, Self::Full, Self::Small, Self::Even];
        all.into_iter().find(|distribution| distribution.to_string() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("unknown distribution `{text}`; distributions are {}", names.join(", "))
        })
    }
}
