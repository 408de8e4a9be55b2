//! Dice as counts by face, and the probabilities of rolls.

use rand::{Rng, RngExt};
use std::fmt;

/// Largest number of faces of a die.
pub const FACES: usize = 6;

/// A multiset of dice: the numbers of ones, twos, … sixes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dice(pub [u8; FACES]);

impl Dice {
    /// Number of dice that show this face, from 1.
    #[inline]
    pub fn count(&self, face: u8) -> u8 {
        self.0[usize::from(face) - 1]
    }

    /// Number of dice.
    #[inline]
    pub fn total(&self) -> u8 {
        self.0.iter().sum()
    }

    /// Whether there are no dice.
    #[inline]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The union of two multisets.
    #[inline]
    pub fn with(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    /// These dice without `taken`. None if some of `taken` are missing.
    #[inline]
    pub fn without(&self, taken: &Self) -> Option<Self> {
        let mut rest = *self;
        for (r, t) in rest.0.iter_mut().zip(taken.0) {
            *r = r.checked_sub(t)?;
        }
        Some(rest)
    }

    /// The face that all dice show, if there is only one.
    pub fn uniform(&self) -> Option<u8> {
        let mut faces = (1..=FACES as u8).filter(|f| self.count(*f) > 0);
        let face = faces.next()?;
        faces.next().is_none().then_some(face)
    }

    /// Rolls `n` dice with this number of faces.
    pub fn roll(n: u8, faces: u8, rng: &mut dyn Rng) -> Self {
        let mut dice = Self::default();
        for _ in 0..n {
            dice.0[usize::from(rng.random_range(0..faces))] += 1;
        }
        dice
    }

    /// All outcomes of `n` dice with this number of faces, with probabilities n! / (Π cᵢ!) / facesⁿ.
    pub fn outcomes(n: u8, faces: u8) -> Vec<(Self, f64)> {
        fn fill(dice: Dice, face: usize, left: u8, faces: usize, p: f64, all: &mut Vec<(Dice, f64)>) {
            if face + 1 == faces {
                let mut dice = dice;
                dice.0[face] = left;
                all.push((dice, p));
                return;
            }
            // Of the remaining dice, c show this face: one binomial coefficient per face.
            let mut ways = 1.0;
            for c in 0..=left {
                let mut dice = dice;
                dice.0[face] = c;
                fill(dice, face + 1, left - c, faces, p * ways, all);
                ways *= f64::from(left - c) / f64::from(c + 1);
            }
        }
        let mut all = Vec::new();
        fill(Self::default(), 0, n, usize::from(faces), f64::from(faces).powi(-i32::from(n)), &mut all);
        all
    }

    /// Number of [`outcomes`](Self::outcomes): C(n + faces − 1, faces − 1).
    pub fn count_outcomes(n: u8, faces: u8) -> u64 {
        (1..u64::from(faces)).fold(1, |c, i| c * (u64::from(n) + i) / i)
    }

    /// Calls `each` with every proper nonempty subset of the dice. The lowest faces change last.
    pub(super) fn proper_parts(&self, mut each: impl FnMut(Self)) {
        let mut part = Self::default();
        loop {
            let Some(face) = (0..FACES).rev().find(|f| part.0[*f] < self.0[*f]) else { return };
            part.0[face] += 1;
            part.0[face + 1..].fill(0);
            if part != *self {
                each(part);
            }
        }
    }

    /// Parses digits, such as `11356`.
    pub(super) fn parse(text: &str, faces: u8) -> Result<Self, String> {
        let mut dice = Self::default();
        // No game has this many dice, and sums of a few such hands fit into a byte.
        if text.len() > 120 {
            return Err("too many dice".into());
        }
        for c in text.chars() {
            match c.to_digit(10) {
                Some(face) if face >= 1 && face <= u32::from(faces) => {
                    let n = &mut dice.0[face as usize - 1];
                    *n = n.checked_add(1).ok_or("too many dice")?;
                }
                _ => return Err(format!("`{c}` is not a face from 1 to {faces}")),
            }
        }
        Ok(dice)
    }
}

/// The faces in ascending order, such as `11356`.
impl fmt::Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for face in 1..=FACES as u8 {
            for _ in 0..self.count(face) {
                write!(f, "{face}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_all_there_and_sum_to_one() {
        for (n, faces, count) in [(0, 6, 1), (1, 6, 6), (5, 6, 252), (6, 6, 462), (2, 3, 6), (3, 4, 20)] {
            let all = Dice::outcomes(n, faces);
            assert_eq!((all.len() as u64, Dice::count_outcomes(n, faces)), (count, count));
            assert!(all.iter().all(|(d, _)| d.total() == n));
            assert!((all.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let pair = Dice::outcomes(2, 6).into_iter().find(|(d, _)| d.to_string() == "12").expect("12");
        assert!((pair.1 - 2.0 / 36.0).abs() < 1e-15);
    }

    #[test]
    fn proper_parts_are_neither_empty_nor_whole() {
        let parts = |text: &str| {
            let mut found = Vec::new();
            Dice::parse(text, 6).expect("dice").proper_parts(|p| found.push(p.to_string()));
            found
        };
        assert_eq!(parts("112"), ["2", "1", "12", "11"]);
        assert_eq!(parts("5"), [""; 0]);
        assert_eq!(parts("11356").len(), 3 * 2 * 2 * 2 - 2);
    }
}
