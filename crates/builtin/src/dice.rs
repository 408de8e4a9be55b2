//! Rolls of two dice in backgammon and the bear-off.

use adept_game::GameError;
use rand::{Rng, RngExt};
use std::fmt;
use std::str::FromStr;

/// A roll of two dice, the higher die first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Roll {
    high: u8,
    low: u8,
}

/// The 21 rolls: 2-1, 3-1, 3-2, … 6-5, then the doubles 1-1 to 6-6. Tables and sums use this order.
pub const ROLLS: [Roll; 21] = {
    let mut rolls = [Roll { high: 1, low: 1 }; 21];
    let (mut k, mut high) = (0, 2);
    while high <= 6 {
        let mut low = 1;
        while low < high {
            rolls[k] = Roll { high, low };
            (k, low) = (k + 1, low + 1);
        }
        high += 1;
    }
    let mut die = 1;
    while die <= 6 {
        rolls[k] = Roll { high: die, low: die };
        (k, die) = (k + 1, die + 1);
    }
    rolls
};

/// Number of non-doubles in [`ROLLS`]; they come first.
pub const MIXED: usize = 15;

impl Roll {
    /// The roll of two dice in any order. None if a die is not 1 to 6.
    pub fn new(a: u8, b: u8) -> Option<Self> {
        let die = 1..=6;
        (die.contains(&a) && die.contains(&b)).then_some(Self { high: a.max(b), low: a.min(b) })
    }

    /// The roll of two dice that are 1 to 6, the higher first.
    #[inline]
    pub(crate) const fn from_sorted(high: u8, low: u8) -> Self {
        Self { high, low }
    }

    /// A throw of two dice.
    pub fn throw(rng: &mut dyn Rng) -> Self {
        // Of 36 throws, two give each mixed roll and one gives each double. Mixed rolls come first.
        let throw = rng.random_range(0..36);
        ROLLS[if throw < 2 * MIXED { throw / 2 } else { throw - MIXED }]
    }

    /// The higher die.
    pub fn high(self) -> u8 {
        self.high
    }

    /// The lower die.
    pub fn low(self) -> u8 {
        self.low
    }

    /// Whether both dice are equal. A double is played four times.
    pub fn is_double(self) -> bool {
        self.high == self.low
    }

    /// Number of the 36 throws that give this roll: 1 for a double, otherwise 2.
    pub fn ways(self) -> u32 {
        if self.is_double() { 1 } else { 2 }
    }
}

impl fmt::Display for Roll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.high, self.low)
    }
}

impl fmt::Debug for Roll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.high, self.low)
    }
}

impl FromStr for Roll {
    type Err = GameError;

    /// Reads `65`, `6-5` or `6,5`, in either order.
    fn from_str(text: &str) -> Result<Self, GameError> {
        let dice: Vec<char> = text.chars().filter(|c| !matches!(c, '-' | ',' | ' ')).collect();
        let roll = match dice[..] {
            [a, b] => match (a.to_digit(10), b.to_digit(10)) {
                (Some(a), Some(b)) => Self::new(a as u8, b as u8),
                _ => None,
            },
            _ => None,
        };
        roll.ok_or_else(|| {
            GameError::new(format!("`{text}` is not a roll; write two dice from 1 to 6, such as 65"))
        })
    }
}
