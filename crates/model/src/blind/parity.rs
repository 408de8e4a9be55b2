//! Parity sets: sets of bits whose parity one operator changes, and no other.
//!
//! An operator is identified by the bits that it changes. The position before a move is the last choice where one player makes all
//! moves; otherwise it is estimated by the majority of the choices.

use super::sight::Sight;
use std::collections::BTreeMap;

/// Operators above which no sets are looked for.
pub(super) const OPERATORS: usize = 64;

/// Counts of the changes seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Changes {
    pub(super) counts: BTreeMap<Vec<u64>, u32>,
    /// Decisions, and those of which every change was known before.
    pub(super) decisions: u32,
    pub(super) known: u32,
}

impl Changes {
    fn see(&mut self, changes: Vec<Vec<u64>>) {
        self.decisions += 1;
        self.known += u32::from(changes.iter().all(|change| self.counts.contains_key(change)));
        for change in changes {
            if self.counts.len() < 4 * OPERATORS || self.counts.contains_key(&change) {
                *self.counts.entry(change).or_default() += 1;
            }
        }
    }

    /// The changes that came often enough to be operators; empty if they do not repeat.
    fn operators(&self) -> Vec<Sight> {
        let most = self.counts.values().copied().max().unwrap_or(0);
        let often = self.counts.iter().filter(|(_, count)| **count * 8 >= most);
        let found: Vec<Sight> = often.map(|(words, _)| Sight::from_words(words.clone())).collect();
        match found.len() <= OPERATORS && self.known * 10 >= self.decisions * 8 {
            true => found,
            false => Vec::new(),
        }
    }
}

/// Operators found so far, and the counts that they are found from.
#[derive(Clone, Debug, Default)]
pub(super) struct Operators {
    /// The last choice.
    pub(super) before: Option<Sight>,
    /// Changes from the last choice.
    pub(super) alone: Changes,
    /// Changes from the majority of the choices.
    pub(super) majority: Changes,
}

impl Operators {
    /// Sees the choices of a decision.
    pub(super) fn see(&mut self, choices: &[Sight]) {
        let from = |parent: &Sight| -> Vec<Vec<u64>> {
            choices.iter().map(|choice| choice.changes(parent).words().to_vec()).collect()
        };
        if let Some(before) = &self.before {
            let changes = from(before);
            self.alone.see(changes);
        }
        if choices.len() > 2 {
            let bits = choices[0].words().len() * 64;
            let most = |bit: usize| choices.iter().filter(|c| c.is_on(bit)).count() * 2 > choices.len();
            let mut words = vec![0; bits / 64];
            (0..bits).filter(|&bit| most(bit)).for_each(|bit| words[bit / 64] |= 1 << (bit % 64));
            let changes = from(&Sight::from_words(words));
            self.majority.see(changes);
        }
    }

    /// Sets of several bits whose parity one operator changes, and no other.
    pub(super) fn sets(&self) -> Vec<Sight> {
        let alone = self.alone.operators();
        let operators = if alone.is_empty() { self.majority.operators() } else { alone };
        solve(&operators).into_iter().filter(|set| set.count() > 1).collect()
    }
}

/// For each operator k, a set S with |S ∩ k| odd and |S ∩ j| even for all others, if there is one: linear equations
/// modulo 2.
fn solve(operators: &[Sight]) -> Vec<Sight> {
    let n = operators.len();
    // Each row: an operator, and which operators were added to it.
    let mut rows: Vec<(Sight, u64)> =
        operators.iter().enumerate().map(|(k, operator)| (operator.clone(), 1 << k)).collect();
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    for row in 0..n {
        let Some(bit) = rows[row].0.on().next() else { continue };
        pivots.push((row, bit));
        for other in (0..n).filter(|&other| other != row) {
            if rows[other].0.is_on(bit) {
                let (sight, sum) = (rows[row].0.clone(), rows[row].1);
                rows[other].0 = rows[other].0.changes(&sight);
                rows[other].1 ^= sum;
            }
        }
    }
    let words = operators.first().map_or(0, |operator| operator.words().len());
    let set = |k: usize| {
        let mut set = vec![0_u64; words];
        // S has the pivot bits of the rows to which operator k was added; rows without bits must not ask for any.
        for (row, (_, sum)) in rows.iter().enumerate() {
            if sum >> k & 1 == 1 {
                let (_, bit) = pivots.iter().find(|(at, _)| *at == row)?;
                set[bit / 64] |= 1 << (bit % 64);
            }
        }
        Some(Sight::from_words(set))
    };
    (0..n).filter_map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_answers_to_one_operator() {
        // Lights in a row of five: an operator switches a light and its neighbours.
        let operator = |k: usize| {
            let mut bits = [0.0; 5];
            (k.saturating_sub(1)..=(k + 1).min(4)).for_each(|bit| bits[bit] = 1.0);
            Sight::of(&bits)
        };
        for n in [4, 5] {
            let operators: Vec<Sight> = (0..n).map(operator).collect();
            let sets = solve(&operators);
            // Five operators add up to nothing: 0 + 1 + 3 + 4 is even everywhere, so only the middle one has a set.
            assert_eq!(sets.len(), if n == 4 { 4 } else { 1 });
            for set in &sets {
                assert_eq!(operators.iter().filter(|operator| operator.is_odd(set)).count(), 1, "{set:?}");
            }
        }
    }

    #[test]
    fn operators_of_one_player_are_found_from_choices() {
        let operators = [0b011_u64, 0b110, 0b100];
        let (mut state, mut found) = (0_u64, Operators::default());
        for turn in 0..200_usize {
            let choices: Vec<Sight> =
                operators.iter().map(|operator| Sight::from_words(vec![state ^ operator])).collect();
            found.see(&choices);
            let choice = turn * turn % 7 % 3;
            found.before = Some(choices[choice].clone());
            state ^= operators[choice];
        }
        let sets = found.sets();
        let operators = operators.map(|operator| Sight::from_words(vec![operator]));
        assert!(!sets.is_empty(), "{found:?}");
        for set in &sets {
            assert_eq!(operators.iter().filter(|operator| operator.is_odd(set)).count(), 1, "{set:?}");
        }
    }
}
