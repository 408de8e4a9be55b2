//! Stage 3: variables, sets of bits of which at most one is on at any time.

use super::sight::Sight;

/// Bits above which pairs are not counted.
const MOST: usize = 512;
/// Positions in which each bit of a variable must be on.
const LEAST: u32 = 8;

/// Counts which bits are on together.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    bits: usize,
    pub(super) seen: u32,
    /// Positions in which both bits are on, `[bits, bits]`; on the diagonal those in which the bit is on.
    pub(super) both: Vec<u32>,
}

impl Together {
    pub(super) fn new(bits: usize) -> Self {
        let counted = if bits <= MOST { bits } else { 0 };
        Self { bits: counted, seen: 0, both: vec![0; counted * counted] }
    }

    pub(super) fn see(&mut self, sight: &Sight) {
        self.seen = self.seen.saturating_add(1);
        if self.bits == 0 {
            return;
        }
        for a in sight.on() {
            for b in sight.on() {
                let both = &mut self.both[a * self.bits + b];
                *both = both.saturating_add(1);
            }
        }
    }

    /// Sets of bits that were never on together, from the most frequent bit on, each as large as can be.
    pub(super) fn variables(&self) -> Vec<Vec<u16>> {
        let on = |bit: usize| self.both[bit * self.bits + bit];
        let mut left: Vec<usize> = (0..self.bits).filter(|&bit| on(bit) >= LEAST).collect();
        left.sort_by_key(|&bit| (u32::MAX - on(bit), bit));
        let mut variables = Vec::new();
        while let Some(first) = left.first().copied() {
            left.remove(0);
            let (mut set, mut total) = (vec![first], on(first));
            for &bit in &left {
                let apart = set.iter().all(|&other| self.both[bit * self.bits + other] == 0);
                if apart && total.saturating_add(on(bit)) <= self.seen {
                    set.push(bit);
                    total += on(bit);
                }
            }
            left.retain(|bit| !set.contains(bit));
            if set.len() > 1 {
                set.sort_unstable();
                variables.push(set.into_iter().map(|bit| bit as u16).collect());
            }
        }
        variables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three squares, each empty, white or black, and a die of which one face is up.
    #[test]
    fn bits_that_exclude_each_other_are_variables() {
        let mut together = Together::new(9);
        for number in 0..81_usize {
            let mut bits = [0.0; 9];
            for square in 0..3 {
                match number / 3_usize.pow(square) % 3 {
                    0 => {}
                    mark => bits[2 * square as usize + mark - 1] = 1.0,
                }
            }
            bits[6 + number / 27] = 1.0;
            together.see(&Sight::of(&bits));
        }
        let mut found = together.variables();
        found.sort();
        assert_eq!(found, [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7, 8]]);
    }
}
