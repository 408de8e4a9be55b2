//! The doubling cube as exact tables and models see it: its owner, decisions, equities.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Owner of the cube, as one side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CubeOwner {
    /// The cube is in the middle: both sides may double.
    Centred,
    /// This side.
    Own,
    /// The other side.
    Theirs,
}

impl CubeOwner {
    /// All owners.
    pub const ALL: [Self; 3] = [Self::Centred, Self::Own, Self::Theirs];

    /// The owner as the other side sees it.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Centred => Self::Centred,
            Self::Own => Self::Theirs,
            Self::Theirs => Self::Own,
        }
    }
}

impl fmt::Display for CubeOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Centred => "centred",
            Self::Own => "own",
            Self::Theirs => "theirs",
        })
    }
}

impl FromStr for CubeOwner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let owner = Self::ALL.into_iter().find(|owner| owner.to_string() == text);
        owner.ok_or_else(|| "expected centred, own or theirs".into())
    }
}

/// A decision about the cube before a roll, with the opponent's best answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CubeAction {
    /// Roll the dice.
    NoDouble,
    /// Double. The opponent takes.
    DoubleTake,
    /// Double. The opponent passes and loses the cube's value.
    DoublePass,
    /// Roll the dice, to win a gammon, although the opponent would pass.
    TooGood,
}

impl CubeAction {
    /// The action in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoDouble => "no double",
            Self::DoubleTake => "double, take",
            Self::DoublePass => "double, pass",
            Self::TooGood => "too good to double",
        }
    }

    /// The best action of a side that may double, from the equities without a double and after a double and a take, in units of the
    /// cube. Equities that differ by at most `tie` count as equal: then the side doubles, and the opponent takes.
    pub fn best(no_double: f64, double_take: f64, tie: f64) -> Self {
        match double_take > CubeEquities::DOUBLE_PASS + tie {
            true if no_double > CubeEquities::DOUBLE_PASS + tie => Self::TooGood,
            true => Self::DoublePass,
            false if no_double > double_take + tie => Self::NoDouble,
            false => Self::DoubleTake,
        }
    }
}

impl fmt::Display for CubeAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

/// Equities of a position before the roll, for the side to roll, per unit of the cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeEquities {
    /// The equities after rolling, by [`CubeOwner`].
    rolled: [f64; 3],
}

/// Differences below this are rounding: then both actions are right.
const TIE: f64 = 1e-6;

impl CubeEquities {
    /// The equity after a double and a pass.
    pub const DOUBLE_PASS: f64 = 1.0;

    /// Takes the equities after rolling without a double, in the order of [`CubeOwner::ALL`].
    pub fn new(rolled: [f64; 3]) -> Self {
        Self { rolled }
    }

    /// The equity after rolling without a double.
    pub fn no_double(&self, owner: CubeOwner) -> f64 {
        self.rolled[owner as usize]
    }

    /// The equity after a double and a take, in units of the cube before the double.
    pub fn double_take(&self) -> f64 {
        2.0 * self.no_double(CubeOwner::Theirs)
    }

    /// The equity after a double and the opponent's best answer.
    fn double(&self) -> f64 {
        self.double_take().min(Self::DOUBLE_PASS)
    }

    /// The equity if both sides decide best.
    pub fn value(&self, owner: CubeOwner) -> f64 {
        match owner {
            CubeOwner::Theirs => self.no_double(owner),
            CubeOwner::Centred | CubeOwner::Own => self.no_double(owner).max(self.double()),
        }
    }

    /// The best action of the side to roll, with the opponent's best answer. None if the opponent owns the cube. If
    /// two actions have the same equity, the side doubles, and the opponent takes.
    pub fn action(&self, owner: CubeOwner) -> Option<CubeAction> {
        (owner != CubeOwner::Theirs).then(|| CubeAction::best(self.no_double(owner), self.double_take(), TIE))
    }
}
