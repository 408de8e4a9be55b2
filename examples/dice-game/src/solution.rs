//! The exact values of Pig, by value iteration (Neller and Presser, "Optimal play of the dice game Pig", 2004).

use crate::{Pig, Position};
use adept::prelude::*;

/// P(i, j, k): the probability that the player to move wins, with score i against j and k points in this turn.
pub struct Solution {
    target: usize,
    wins: Vec<f64>,
}

impl Solution {
    /// Values change by less than this in the last sweep.
    const PRECISION: f64 = 1e-12;

    /// Points are never lost for good, so pairs of scores are solved from the end of the game on. Only P(i, j, ·) and P(j, i, ·)
    /// depend on each other, through a roll of 1.
    pub fn of(target: usize) -> Self {
        let mut solution = Self { target, wins: vec![0.5; target * target * target] };
        for sum in (0..2 * target - 1).rev() {
            for i in sum.saturating_sub(target - 1)..=sum / 2 {
                while solution.sweep(i, sum - i).max(solution.sweep(sum - i, i)) > Self::PRECISION {}
            }
        }
        solution
    }

    /// Sets P(i, j, ·), and returns the largest change.
    fn sweep(&mut self, i: usize, j: usize) -> f64 {
        let mut change = 0.0f64;
        for k in (0..self.target - i).rev() {
            let roll = self.rolls(i, j, k);
            let best = if k == 0 { roll } else { roll.max(1.0 - self.wins(j, i + k, 0)) };
            let place = self.place(i, j, k);
            change = change.max((best - self.wins[place]).abs());
            self.wins[place] = best;
        }
        change
    }

    fn place(&self, i: usize, j: usize, k: usize) -> usize {
        (i * self.target + j) * self.target + k
    }

    /// P(i, j, k). Points that suffice win.
    pub fn wins(&self, i: usize, j: usize, k: usize) -> f64 {
        if i + k >= self.target { 1.0 } else { self.wins[self.place(i, j, k)] }
    }

    /// The probability to win before a roll of the die.
    pub fn rolls(&self, i: usize, j: usize, k: usize) -> f64 {
        let good: f64 = (2..=6).map(|die| self.wins(i, j, k + die)).sum();
        (1.0 - self.wins(j, i, 0) + good) / 6.0
    }
}

/// The valuation `oracle`: 2 P − 1 for the player who acted.
pub struct Oracle;

impl Valuation<Pig> for Oracle {
    fn value(&self, game: &Pig, after: Afterstate<'_, Pig>) -> f64 {
        let solution = game.solution.get_or_init(|| Solution::of(usize::from(game.target)));
        let Position { scores, turn, mover, rolling } = *after.state;
        let [own, other] = [mover, 1 - mover].map(|p| usize::from(scores[p]));
        let turn = usize::from(turn);
        let wins = match game.turn(after.state) {
            Turn::Over => return game.utility(after.state, after.player),
            _ if rolling => solution.rolls(own, other, turn),
            _ => solution.wins(own, other, turn),
        };
        if after.player == mover { 2.0 * wins - 1.0 } else { 1.0 - 2.0 * wins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// "The first player wins with probability .5306 when both play optimally" (Neller and Presser 2004).
    #[test]
    fn the_values_are_those_of_the_literature() {
        assert!((Solution::of(100).wins(0, 0, 0) - 0.5306).abs() < 5e-5);
    }

    /// Plain value iteration over all states of the rules, which knows nothing of Pig.
    fn values(game: &Pig) -> HashMap<Position, f64> {
        let mut known = HashMap::from([(game.start(), 0.0)]);
        let mut open = vec![game.start()];
        let after = |at: &Position, act| {
            let mut next = *at;
            game.apply(&mut next, &act);
            next
        };
        let (mut acts, mut outcomes) = (Vec::new(), Vec::new());
        while let Some(at) = open.pop() {
            game.actions(&at, &mut acts);
            game.outcomes(&at, &mut outcomes);
            for act in acts.iter().copied().chain(outcomes.iter().map(|o| o.0)) {
                let next = after(&at, act);
                if known.insert(next, 0.0).is_none() {
                    open.push(next);
                }
            }
        }
        // For the first player.
        loop {
            let mut change = 0.0f64;
            for at in known.keys().copied().collect::<Vec<_>>() {
                game.actions(&at, &mut acts);
                game.outcomes(&at, &mut outcomes);
                let of = |act| known[&after(&at, act)];
                let value = match game.turn(&at) {
                    Turn::Over => game.utility(&at, 0),
                    Turn::Chance => outcomes.iter().map(|(act, p)| p * of(*act)).sum(),
                    Turn::Player(0) => acts.iter().map(|act| of(*act)).fold(f64::NEG_INFINITY, f64::max),
                    Turn::Player(_) => acts.iter().map(|act| of(*act)).fold(f64::INFINITY, f64::min),
                };
                change = change.max((value - known[&at]).abs());
                known.insert(at, value);
            }
            if change < 1e-11 {
                return known;
            }
        }
    }

    #[test]
    fn the_oracle_is_value_iteration() {
        let game = Pig::new("pig-20", 20);
        let all = values(&game);
        assert!(all.len() > 5_000, "{}", all.len());
        for (state, value) in &all {
            let found = Oracle.value(&game, Afterstate { state, action: None, player: 0 });
            assert!((found - value).abs() < 1e-9, "{state:?}: {found} {value}");
        }
    }

    #[test]
    fn positions_are_read_as_they_are_written() {
        let game = Pig::new("pig", 100);
        for text in ["0 0 +0 @1", "12 30 +5 @2", "99 0 +0 @1 rolls"] {
            assert_eq!(game.position_text(&game.parse_position(text).unwrap().0), text);
        }
        for text in ["", "100 0 +0 @1", "1 2 +3 @3", "1 2 3"] {
            assert!(game.parse_position(text).is_err(), "{text}");
        }
    }
}
