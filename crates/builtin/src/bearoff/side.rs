//! The checkers of one side on its home points.

use adept_game::GameError;
use std::fmt;
use std::str::FromStr;

/// Points of a home board.
pub const POINTS: usize = 6;

/// Largest number of checkers of a side.
pub const MAX_CHECKERS: u8 = 15;

/// The checkers of one side on its points 1 to 6, at most 15. Missing checkers have been borne off.
///
/// Each point has four bits, point 1 lowest, so moving a checker is one subtraction and one addition. Sides are ordered
/// by these bits: a move always leads to a smaller side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Side(u32);

impl Side {
    /// All checkers borne off.
    pub const EMPTY: Self = Self(0);

    /// The side with `counts[k]` checkers on point k + 1. None if the total is above 15.
    pub fn new(counts: [u8; POINTS]) -> Option<Self> {
        let total: u32 = counts.iter().map(|&c| u32::from(c)).sum();
        let bits = counts.iter().rev().fold(0, |bits, &c| bits << 4 | u32::from(c));
        (total <= u32::from(MAX_CHECKERS)).then_some(Self(bits))
    }

    /// Checkers on the points 1 to 6.
    pub fn counts(self) -> [u8; POINTS] {
        std::array::from_fn(|k| self.on(k as u8 + 1))
    }

    /// Checkers on a point, 1 to 6.
    #[inline]
    pub fn on(self, point: u8) -> u8 {
        (self.0 >> (4 * (point - 1)) & 15) as u8
    }

    /// Number of checkers on the board.
    pub fn checkers(self) -> u8 {
        self.counts().iter().sum()
    }

    /// Sum of the points of all checkers.
    pub fn pips(self) -> u32 {
        (1..).zip(self.counts()).map(|(point, count)| point * u32::from(count)).sum()
    }

    /// Whether all checkers have been borne off.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The highest point with a checker, or 0.
    #[inline]
    pub fn highest(self) -> u8 {
        (32 - self.0.leading_zeros()).div_ceil(4) as u8
    }

    /// The bits: four per point, point 1 lowest.
    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// The side after a checker on `point` moves `pips` points. Past point 1, the checker bears off.
    #[inline]
    pub(super) fn moved(self, point: u8, pips: u8) -> Self {
        let taken = self.0 - (1 << (4 * (point - 1)));
        Self(if point > pips { taken + (1 << (4 * (point - pips - 1))) } else { taken })
    }
}

impl fmt::Display for Side {
    /// The checkers on the points 1 to 6, such as `1,0,2,0,0,3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.counts();
        write!(f, "{a},{b},{c},{d},{e},{g}")
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({self})")
    }
}

impl FromStr for Side {
    type Err = GameError;

    fn from_str(text: &str) -> Result<Self, GameError> {
        let fault = |what: String| {
            GameError::new(format!(
                "`{text}` is not a side: {what}; write the checkers on points 1 to 6, such as 1,0,2,0,0,3"
            ))
        };
        let mut counts = [0; POINTS];
        let mut parts = text.split(',');
        for (k, count) in counts.iter_mut().enumerate() {
            let part = parts.next().ok_or_else(|| fault(format!("{k} numbers instead of 6")))?.trim();
            *count = part.parse().map_err(|_| fault(format!("`{part}` is not a number of checkers")))?;
        }
        if parts.next().is_some() {
            return Err(fault("more than 6 numbers".into()));
        }
        Self::new(counts).ok_or_else(|| fault(format!("more than {MAX_CHECKERS} checkers")))
    }
}
