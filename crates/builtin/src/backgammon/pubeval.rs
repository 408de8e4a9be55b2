//! `pubeval`: the linear evaluator that G. Tesauro published in 1993, a common benchmark of backgammon programs.
//!
//! A position is scored right after a move, for the side that moved: a sum of five weights per point, and weights of
//! the opponent's checkers on the bar and the own checkers off. One set of weights is for races, one for all other
//! positions; the position before the move decides which, so that all moves of a decision use the same set. Gammons and
//! the opponent's blocks are ignored.

use super::{Action, BAR, Backgammon, Position, State, side::POINTS};
use std::sync::LazyLock;

/// Weights are stored as multiples of 1/30 of their last digit, so that sums and ties are exact.
const UNIT: f64 = 3e6;

/// One set of weights, multiplied by their inputs, in [`UNIT`]s.
struct Weights {
    /// By point and number of own checkers.
    own: [[i32; 16]; 25],
    /// Blot of the opponent, by point.
    blot: [i32; 25],
    /// Each checker of the opponent on the bar.
    bar: i32,
    /// Each own checker off.
    off: i32,
}

/// The weights for positions with contact and for races.
static WEIGHTS: LazyLock<[Weights; 2]> = LazyLock::new(|| {
    let lines = include_str!("pubeval.txt").lines().filter(|line| !line.starts_with('#'));
    let numbers: Vec<Vec<f64>> = lines
        .map(|line| line.split_whitespace().map(|word| word.parse().unwrap_or(f64::NAN)).collect())
        .collect();
    let scaled = |weight: f64, input: f64| (weight * input * UNIT).round() as i32;
    [0, 1].map(|set| {
        let mut weights = Weights { own: [[0; 16]; 25], blot: [0; 25], bar: 0, off: 0 };
        for (line, point) in numbers.iter().zip((1..=24).rev()) {
            let [blot, one, two, three, more] = std::array::from_fn(|k| line[5 * set + k]);
            weights.blot[point] = scaled(blot, 1.0);
            weights.own[point] = std::array::from_fn(|count| match count {
                0 => 0,
                1 => scaled(one, 1.0),
                2 => scaled(two, 1.0),
                3 => scaled(two + three, 1.0),
                _ => scaled(two, 1.0) + scaled(more, (count - 3) as f64 / 2.0),
            });
        }
        weights.bar = scaled(numbers[24][2 * set], 0.5);
        weights.off = scaled(numbers[24][2 * set + 1], 1.0 / 15.0);
        weights
    })
});

impl Weights {
    /// The score of a position for `own`, which has just moved. A finished game has the highest score.
    #[inline]
    fn score(&self, Position { own, opponent }: Position) -> i32 {
        if own.is_done() {
            return i32::MAX;
        }
        let mut score = i32::from(opponent.on(BAR)) * self.bar + i32::from(own.off()) * self.off;
        let mut points = own.occupied() & POINTS;
        while points != 0 {
            let point = points.trailing_zeros() as u8;
            score += self.own[usize::from(point)][usize::from(own.on(point))];
            points &= points - 1;
        }
        let mut blots = opponent.occupied() & POINTS & !opponent.blocks();
        while blots != 0 {
            score += self.blot[25 - blots.trailing_zeros() as usize];
            blots &= blots - 1;
        }
        score
    }
}

/// The number of the move with the highest score, the first in a tie. 0 without moves.
pub(super) fn best(position: Position, actions: &[Action]) -> usize {
    let weights = &WEIGHTS[usize::from(!position.has_contact())];
    let mut best = (0, i32::MIN);
    for (index, action) in actions.iter().enumerate() {
        if let Action::Move(after) = *action {
            let score = weights.score(after);
            if score > best.1 {
                best = (index, score);
            }
        }
    }
    best.0
}

/// Plays the move with the highest score, the first in a tie.
pub(super) fn play(_: &Backgammon, state: &State, actions: &[Action], probabilities: &mut Vec<f64>) {
    probabilities.clear();
    probabilities.resize(actions.len(), 0.0);
    if let Some(chosen) = probabilities.get_mut(best(state.position(), actions)) {
        *chosen = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::Game;

    #[test]
    fn all_weights_are_read() {
        let sums: [i64; 2] = WEIGHTS
            .each_ref()
            .map(|set| set.own.as_flattened().iter().chain(&set.blot).map(|&w| i64::from(w)).sum());
        assert_eq!(sums, SUMS);
    }

    /// Sums over all inputs, computed by another program.
    const SUMS: [i64; 2] = [-265_852_980, -3_101_020_560];

    /// Decisions with the best move and its score, computed by a program in another language with a board of 28 places.
    const CHOICES: &[(&str, &str, f64)] = &[
        ("24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31", "8/5 6/5", 10.343115),
        ("24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 65", "24/18/13", 8.016515),
        ("24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 44", "24/20(2) 13/9(2)", 12.01426),
        ("24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 21", "24/21", 7.09586),
        // A hit; opponents on the bar; breaking the last contact, which the contact weights judge; races; bearing off.
        ("bar:1 13:4 8:3 6:5 4:2/24:1 20:1 13:5 8:3 6:5 41", "bar/21 6/5*", 14.52139),
        ("10:2 6:5 5:4 4:4/22:3 bar:1 6:6 5:5 52", "10/8 10/5", 14.84749),
        ("8:1 6:5 5:5 4:4/18:1 6:7 5:7 65", "8/3 6/off", 9.7968983),
        ("12:1 9:2 8:3 6:5 5:4/11:2 7:3 6:5 4:5 63", "12/6 9/6", 21.14864),
        ("7:1 6:2 5:2/6:3 3:4 61", "7/off", 11.5309333),
        ("6:1 1:1/6:15 21", "6/4 1/off", 4.1155833),
        ("1:3 6:1/6:2 61", "6/off 1/off", -4.3027833),
    ];

    #[test]
    fn choices_and_scores_are_those_of_the_original() {
        let game = Backgammon::default();
        let (mut actions, mut probabilities) = (Vec::new(), Vec::new());
        for &(text, expected, score) in CHOICES {
            let state = game.parse_position(text).unwrap().0;
            game.actions(&state, &mut actions);
            play(&game, &state, &actions, &mut probabilities);
            let chosen = actions[probabilities.iter().position(|&p| p == 1.0).unwrap()];
            assert_eq!(chosen, game.parse_action(&state, expected).unwrap(), "{text}");
            let Action::Move(after) = chosen else { unreachable!() };
            let found = WEIGHTS[usize::from(!state.position().has_contact())].score(after);
            assert!((f64::from(found) / UNIT - score).abs() < 1e-6, "{text}: {found}");
        }
    }
}
