//! The one-sided solution on six points or more, in 32-bit floats: rolls until all checkers are off, and until the
//! first one is.

use super::Preference;
use crate::bearoff::{MIXED, ROLLS as DICE};
use adept_ground::work;

/// Length of a distribution.
pub const ROLLS: usize = 32;

/// Largest number of points.
pub(super) const MOST: usize = 10;

/// Largest number of checkers, plus 1.
const COUNTS: usize = 16;

/// The binomial coefficient.
pub(super) fn choose(n: usize, k: usize) -> usize {
    if k > n { 0 } else { (0..k).fold(1, |product, i| product * (n - i) / (i + 1)) }
}

/// P(k) for k = 0 … 31. Longer games count as 31.
pub(super) type Rolls = [f32; ROLLS];

/// The distribution with all its mass at `k` rolls.
pub(super) fn certain(k: usize) -> Rolls {
    std::array::from_fn(|i| f32::from(u8::from(i == k)))
}

/// The solution of all sides, by rank.
pub(super) struct Solved {
    /// Rolls until all checkers are off, under the play with the smallest mean.
    pub(super) rolls: Vec<Rolls>,
    /// Rolls until the first checker is off, under the play with the smallest mean, for the sides with all checkers on
    /// the board. These have the last ranks.
    pub(super) first_off: Vec<Rolls>,
}

/// Solves all sides with at most `checkers` checkers on `points` points. A move lowers the rank, so the afterstates of a side are
/// solved before it.
pub(super) fn solve(points: usize, checkers: u8) -> Solved {
    let ranks = Ranks::new(points);
    let sides = choose(points + usize::from(checkers), points);
    let whole = choose(points + usize::from(checkers) - 1, points);
    let what = format!("solving races on {points} points");
    let (mut all, mut first) = (Goal::new(), Goal::new());
    let mut steps = [const { Vec::new() }; 6];
    for rank in 1..sides {
        if rank.is_multiple_of(4096) {
            work::share(&what, rank as f64 / sides as f64);
        }
        ranks.steps(&ranks.counts(rank), rank, &mut steps);
        all.add(&steps);
        match rank < whole {
            true => first.saved(),
            false => first.add(&steps),
        }
    }
    work::share(&what, 1.0);
    Solved { rolls: all.distributions, first_off: first.distributions.split_off(whole.min(sides)) }
}

/// Ranks of sides: Σⱼ C(Tⱼ + j − 1, j), where Tⱼ is the number of checkers on the j highest points.
struct Ranks {
    points: usize,
    /// C(t + j − 1, j) at `[j][t]`.
    terms: [[u32; COUNTS]; MOST + 1],
}

impl Ranks {
    fn new(points: usize) -> Self {
        let term = |j: usize, t: usize| if j == 0 || t == 0 { 0 } else { choose(t + j - 1, j) as u32 };
        Self { points, terms: std::array::from_fn(|j| std::array::from_fn(|t| term(j, t))) }
    }

    /// The checkers above points 0, 1, 2, … of the side with this rank.
    fn counts(&self, rank: usize) -> [u8; MOST + 1] {
        let (mut left, mut above) = (rank as u32, [0; MOST + 1]);
        for (k, above) in above.iter_mut().enumerate().take(self.points) {
            let terms = &self.terms[self.points - k];
            let count = (1..COUNTS).take_while(|&t| terms[t] <= left).count();
            left -= terms[count];
            *above = count as u8;
        }
        above
    }

    /// Replaces `steps[die − 1]` by the ranks after one checker of this side moves by the die.
    fn steps(&self, above: &[u8; MOST + 1], rank: usize, steps: &mut [Vec<u32>; 6]) {
        // Decrease of the rank if one checker fewer is above points 0 to k − 1.
        let mut lost = [0; MOST + 1];
        for k in 0..self.points {
            let (terms, count) = (&self.terms[self.points - k], usize::from(above[k]));
            lost[k + 1] = lost[k] + terms[count] - terms[count.saturating_sub(1)];
        }
        let highest = above.iter().take_while(|&&count| count > 0).count();
        for (die, steps) in (1..).zip(steps) {
            steps.clear();
            for point in
                (1..=highest).filter(|&point| above[point - 1] > above.get(point).copied().unwrap_or(0))
            {
                let to = match point {
                    _ if point > die => point - die,
                    // If all checkers are home, a checker bears off, with a larger die only from the highest point.
                    _ if highest <= 6 && (point == die || point == highest) => 0,
                    _ => continue,
                };
                steps.push(rank as u32 - (lost[point] - lost[to]));
            }
        }
    }
}

/// The state of minimising the mean number of rolls to a goal.
struct Goal {
    /// By rank.
    preferences: Vec<Preference>,
    means: Vec<[f64; 2]>,
    distributions: Vec<Rolls>,
    /// Rank of the best side after one, two or three moves by the same die, by die.
    played: [[Vec<u32>; 6]; 3],
}

impl Goal {
    /// Starts with the empty side, which needs no rolls.
    fn new() -> Self {
        let mut goal = Self {
            preferences: Vec::new(),
            means: Vec::new(),
            distributions: Vec::new(),
            played: [const { [const { Vec::new() }; 6] }; 3],
        };
        goal.saved();
        goal
    }

    /// Adds a side that has already reached the goal.
    fn saved(&mut self) {
        let rank = self.means.len();
        self.push(0.0, 0.0, certain(0));
        self.played.as_flattened_mut().iter_mut().for_each(|played| played.push(rank as u32));
    }

    fn push(&mut self, mean: f64, variance: f64, distribution: Rolls) {
        self.preferences.push(Preference::new(mean, variance, self.means.len()));
        self.means.push([mean, variance]);
        self.distributions.push(distribution);
    }

    /// The rank with the best preference.
    fn best(&self, ranks: impl Iterator<Item = u32>) -> u32 {
        ranks.min_by_key(|&rank| self.preferences[rank as usize]).expect("a die can always be played")
    }

    /// Adds the side with the next rank, given the ranks after a step with each die.
    fn add(&mut self, steps: &[Vec<u32>; 6]) {
        // The best side after one `first` step, then `plays` steps by `second`.
        let then = |first: u8, plays: usize, second: u8| {
            let table = &self.played[plays - 1][usize::from(second) - 1];
            steps[usize::from(first) - 1].iter().map(|&step| table[step as usize])
        };
        let choices = DICE.map(|roll| match (roll.high(), roll.low()) {
            (die, low) if die == low => self.best(then(die, 3, die)),
            (high, low) => self.best(then(high, 1, low).chain(then(low, 1, high))),
        });
        let played = [0, 1, 2].map(|plays| {
            [0, 1, 2, 3, 4, 5].map(|die: usize| match plays {
                0 => self.best(steps[die].iter().copied()),
                _ => self.best(then(die as u8 + 1, plays, die as u8 + 1)),
            })
        });
        let (mut mean, mut distribution) = (0.0, [0.0; ROLLS]);
        for (i, &choice) in choices.iter().enumerate() {
            let weight = if i < MIXED { 2.0 } else { 1.0 } / 36.0;
            mean += weight * self.means[choice as usize][0];
            let after = &self.distributions[choice as usize];
            for k in 1..ROLLS {
                distribution[k] += weight as f32 * after[k - 1];
            }
            distribution[ROLLS - 1] += weight as f32 * after[ROLLS - 1];
        }
        // Law of total variance.
        let variance = choices.iter().enumerate().map(|(i, &choice)| {
            let [after, variance] = self.means[choice as usize];
            (if i < MIXED { 2.0 } else { 1.0 }) / 36.0 * (variance + (after - mean).powi(2))
        });
        self.push(1.0 + mean, variance.sum(), distribution);
        for (to, from) in self.played.as_flattened_mut().iter_mut().zip(played.as_flattened()) {
            to.push(*from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::OneSided;
    use super::super::gnubg::GnubgOneSided;
    use super::*;
    use crate::bearoff::Side;
    use crate::bearoff::rank;

    #[test]
    fn six_points_are_the_one_sided_solution() {
        let (found, exact) = (solve(6, 5), OneSided::solve(5));
        for rank in 0..rank::sides(5) {
            let expected = exact.distribution(Side::of_rank(rank)).unwrap();
            for (k, found) in found.rolls[rank].iter().enumerate() {
                let expected = expected.get(k).copied().unwrap_or(0.0);
                assert!((f64::from(*found) - expected).abs() < 1e-6, "{}: {k}", Side::of_rank(rank));
            }
        }
    }

    /// Compares both goals on more points with a plain search over all plays.
    #[test]
    fn more_points_are_played_by_the_smallest_mean() {
        let (points, checkers) = (8, 3);
        let solved = solve(points, checkers);
        let ranks = Ranks::new(points);
        let of = |rank: usize| -> Vec<u8> {
            let above = ranks.counts(rank);
            (0..points).map(|k| above[k] - above[k + 1]).collect()
        };
        let mut plain = Plain { checkers, known: Default::default() };
        let whole = solved.rolls.len() - solved.first_off.len();
        let mean =
            |rolls: &Rolls| rolls.iter().enumerate().map(|(k, p)| k as f64 * f64::from(*p)).sum::<f64>();
        for rank in 0..solved.rolls.len() {
            let counts = of(rank);
            let [all, first] = plain.means(&counts);
            assert!((mean(&solved.rolls[rank]) - all).abs() < 1e-5, "{counts:?}");
            let found = rank.checked_sub(whole).map_or(0.0, |rank| mean(&solved.first_off[rank]));
            assert!((found - first).abs() < 1e-5, "{counts:?}: {found} {first}");
        }
    }

    /// Means by recursion over all plays.
    struct Plain {
        checkers: u8,
        known: std::collections::HashMap<Vec<u8>, [f64; 2]>,
    }

    impl Plain {
        /// The mean rolls until all are off, and until the first is.
        fn means(&mut self, counts: &[u8]) -> [f64; 2] {
            let total: u8 = counts.iter().sum();
            if total == 0 {
                return [0.0; 2];
            }
            if let Some(found) = self.known.get(counts) {
                return *found;
            }
            let mut sums = [1.0, f64::from(u8::from(total == self.checkers))];
            for (a, b) in (1..=6).flat_map(|a| (1..=6).map(move |b| (a, b))) {
                let orders = if a == b { vec![vec![a; 4]] } else { vec![vec![a, b], vec![b, a]] };
                let mut best = [f64::INFINITY; 2];
                for after in orders.iter().flat_map(|dice| played(counts, dice)) {
                    let means = self.means(&after);
                    best = [0, 1].map(|goal| best[goal].min(means[goal]));
                }
                sums[0] += best[0] / 36.0;
                sums[1] += if total == self.checkers { best[1] / 36.0 } else { 0.0 };
            }
            self.known.insert(counts.into(), sums);
            sums
        }
    }

    /// All sides after these dice.
    fn played(counts: &[u8], dice: &[usize]) -> Vec<Vec<u8>> {
        let Some((&die, rest)) = dice.split_first() else { return vec![counts.into()] };
        let Some(highest) = counts.iter().rposition(|&count| count > 0) else { return vec![counts.into()] };
        let mut all = Vec::new();
        for place in (0..=highest).filter(|&place| counts[place] > 0) {
            let mut after = counts.to_vec();
            after[place] -= 1;
            if place >= die {
                after[place - die] += 1;
            } else if highest > 5 || (place + 1 != die && place != highest) {
                continue;
            }
            all.extend(played(&after, rest));
        }
        all
    }

    #[test]
    fn a_solved_table_is_a_file_of_gnubg() {
        let solved = GnubgOneSided::solve(7, 4);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("os.bd");
        solved.save(&path).unwrap();
        let read = GnubgOneSided::open(&path).unwrap();
        assert_eq!((read.points(), read.checkers(), read.has_distributions()), (7, 4, true));
        let counts = [0, 1, 0, 0, 0, 1, 2];
        let (rolls, first) = read.rolls(&counts).unwrap().unwrap();
        assert_eq!(solved.rolls(&counts).unwrap().unwrap(), (rolls, first));
        let mean = |rolls: &[f64]| rolls.iter().enumerate().map(|(k, p)| k as f64 * p).sum::<f64>();
        let [all, saved] = Plain { checkers: 4, known: Default::default() }.means(&counts);
        assert!((mean(&rolls) - all).abs() < 2e-3 && (mean(&first.unwrap()) - saved).abs() < 2e-3);
        assert_eq!(read.rolls(&[0, 0, 0, 0, 0, 0, 0, 1]).unwrap(), None, "a point outside");
        assert_eq!(read.rolls(&[5]).unwrap(), None, "too many checkers");
        let errors = OneSided::solve(4).compare_with_gnubg(&read).unwrap();
        assert!(errors.means.max < 1e-3, "{errors:?}");
    }
}
