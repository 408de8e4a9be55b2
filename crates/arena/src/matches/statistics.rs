//! Statistics of matches: the spread of scores, binomial test, confidence intervals, ratings.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Mean utility of an agent's seats in a game, over deals that were played in every seat order.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Net {
    /// Deals.
    pub deals: u64,
    /// Sum over the deals.
    pub sum: f64,
    /// Sum of squares.
    pub squares: f64,
}

impl Net {
    /// Counts a deal with this mean utility over its games.
    pub fn add(&mut self, utility: f64) {
        self.deals += 1;
        self.sum += utility;
        self.squares += utility * utility;
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            deals: self.deals + other.deals,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    /// The mean; 0 without deals.
    pub fn mean(&self) -> f64 {
        self.sum / self.deals.max(1) as f64
    }

    /// The same deals, each with another figure: `change` is linear.
    #[must_use]
    pub(super) fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let (n, offset) = (self.deals as f64, change(0.0));
        let slope = change(1.0) - offset;
        Self {
            deals: self.deals,
            sum: slope * self.sum + offset * n,
            squares: slope * slope * self.squares + 2.0 * slope * offset * self.sum + offset * offset * n,
        }
    }

    /// Standard error of the mean, from the spread between deals; infinite with fewer than two.
    pub fn error(&self) -> f64 {
        if self.deals < 2 {
            return f64::INFINITY;
        }
        let n = self.deals as f64;
        let variance = (self.squares - self.sum * self.sum / n).max(0.0) / (n - 1.0);
        (variance / n).sqrt()
    }

    /// The normal 95 % interval of the mean.
    pub fn ci95(&self) -> [f64; 2] {
        [-Z, Z].map(|z| self.mean() + z * self.error())
    }
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A mean result and its uncertainty. Interval, p and standard errors come from one model, so that they never contradict each
/// other: `p < .05` if and only if the interval excludes the hypothesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// 95 % interval of the expected result, within the possible range.
    pub ci95: [f64; 2],
    /// Two-sided p of the hypothesis, in [0, 1].
    pub p: f64,
    /// Standard errors by which the mean lies above the hypothesis: the normal deviate of `p`.
    pub errors: f64,
}

impl Score {
    /// The uncertainty of `mean`, in `range`, from independent deals. The hypothesis says that `equal` is expected.
    ///
    /// Student's t over the deals. Equal results have no spread to estimate: then the interval ends where a further share of 2.5 %
    /// of results at the end of the range could have gone unseen, and p is that of Markov's bound.
    pub fn new(mean: f64, deals: &Net, equal: f64, range: [f64; 2]) -> Self {
        let within = |[low, high]: [f64; 2]| [low.max(range[0]).min(mean), high.min(range[1]).max(mean)];
        let error = deals.error();
        // Rounding of sums leaves a trace of a spread where all results are equal.
        let resolution = 1e-7 * (range[1] - range[0]) / (deals.deals.max(1) as f64).sqrt();
        if error.is_finite() && error > resolution {
            let t = (mean - equal) / error;
            let Ok(student) = StudentsT::new(0.0, 1.0, (deals.deals - 1) as f64) else {
                return Self { ci95: range, p: 1.0, errors: 0.0 };
            };
            let half = student.inverse_cdf(0.975) * error;
            let p = (2.0 * student.sf(t.abs())).min(1.0);
            return Self { ci95: within([mean - half, mean + half]), p, errors: deviate(p, t) };
        }
        let n = deals.deals as f64;
        if n == 0.0 {
            return Self { ci95: range, p: 1.0, errors: 0.0 };
        }
        let unseen = 0.025_f64.powf(1.0 / n);
        let ci95 = within([range[0] + (mean - range[0]) * unseen, range[1] - (range[1] - mean) * unseen]);
        let share = if mean > equal {
            (equal - range[0]) / (mean - range[0])
        } else if mean < equal {
            (range[1] - equal) / (range[1] - mean)
        } else {
            1.0
        };
        let p = (2.0 * share.powf(n)).min(1.0);
        Self { ci95, p, errors: deviate(p, mean - equal) }
    }
}

/// The normal deviate that has this two-sided p, with the sign of `difference`. It is at most that of 1e-15, beyond which
/// it cannot be told from that of 0.
fn deviate(p: f64, difference: f64) -> f64 {
    let deviate = Normal::standard().inverse_cdf(1.0 - p.max(1e-15) / 2.0).copysign(difference);
    if p < 1.0 { deviate } else { 0.0 }
}

/// Adjusts the p values of several comparisons after Holm (1979): each is then the level at which its hypothesis is rejected while
/// the chance of any wrong rejection stays below that level. In the order given.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let (mut adjusted, mut highest) = (vec![1.0; p.len()], 0.0_f64);
    for (rank, i) in order.into_iter().enumerate() {
        highest = highest.max(((p.len() - rank) as f64 * p[i]).min(1.0));
        adjusted[i] = highest;
    }
    adjusted
}

/// Two-sided p-value of a binomial test: twice the smaller tail, at most 1. Under the null hypothesis, each of `n`
/// games is won with probability `share`. Without games, 1.
pub fn binomial_test(wins: u64, n: u64, share: f64) -> f64 {
    let Ok(distribution) = Binomial::new(share, n) else { return 1.0 };
    let lower = distribution.cdf(wins);
    let upper = if wins == 0 { 1.0 } else { distribution.sf(wins - 1) };
    (2.0 * lower.min(upper)).min(1.0)
}

/// Wilson's 95 % interval for a share of wins in `n` games. A shared win counts as a fraction. Without games, [0, 1].
pub fn wilson95(wins: f64, n: u64) -> [f64; 2] {
    if n == 0 {
        return [0.0, 1.0];
    }
    let (z, n) = (Z, n as f64);
    let p = wins / n;
    let middle = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    [(middle - half) / (1.0 + z * z / n), (middle + half) / (1.0 + z * z / n)]
}

/// Elo-scale ratings with mean 0 from the Bradley–Terry model. `scores[a][b]` are the points of a against b. One extra
/// draw per pair that met keeps ratings finite for agents that won or lost every game.
pub fn ratings(scores: &[Vec<f64>]) -> Vec<f64> {
    let n = scores.len();
    let met = |a: usize, b: usize| a != b && scores[a][b] + scores[b][a] > 0.0;
    let points = |a: usize, b: usize| if met(a, b) { scores[a][b] + 0.5 } else { 0.0 };
    let mut strength = vec![1.0_f64; n];
    // Minorisation-maximisation (Hunter 2004). Each round increases the likelihood.
    for _ in 0..10_000 {
        let mut moved = 0.0_f64;
        for a in 0..n {
            let won: f64 = (0..n).map(|b| points(a, b)).sum();
            let weight: f64 =
                (0..n).map(|b| (points(a, b) + points(b, a)) / (strength[a] + strength[b])).sum();
            if weight > 0.0 {
                let new = won / weight;
                moved = moved.max((new / strength[a]).ln().abs());
                strength[a] = new;
            }
        }
        let mean = strength.iter().map(|s| s.ln()).sum::<f64>() / n.max(1) as f64;
        strength.iter_mut().for_each(|s| *s /= mean.exp());
        if moved < 1e-10 {
            break;
        }
    }
    strength.iter().map(|s| 400.0 * s.log10()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the paper: of 4000 games, 2082 wins are significant at p = .01; 2080 are not.
    #[test]
    fn the_test_has_the_threshold_of_the_paper() {
        assert!(binomial_test(2082, 4000, 0.5) < 0.01 && binomial_test(2081, 4000, 0.5) > 0.01);
        assert!(binomial_test(4000 - 2082, 4000, 0.5) < 0.01);
        assert_eq!((binomial_test(5, 10, 0.5), binomial_test(0, 0, 0.5)), (1.0, 1.0));
        // 1/2^10 on one side.
        assert!((binomial_test(10, 10, 0.5) - 2.0 / 1024.0).abs() < 1e-12);
        assert!((binomial_test(0, 4, 0.25) - 2.0 * 0.75_f64.powi(4)).abs() < 1e-12);
    }

    fn net(results: &[(f64, u64)]) -> Net {
        let mut net = Net::default();
        results.iter().for_each(|(result, times)| (0..*times).for_each(|_| net.add(*result)));
        net
    }

    /// 16 wins, 84 draws, no loss: the mean is .58, the variance (16 · .42² + 84 · .08²) / 99, the quantile of t with 99 degrees of
    /// freedom 1.98422.
    #[test]
    fn draws_make_the_spread_smaller() {
        let found = Score::new(0.58, &net(&[(1.0, 16), (0.5, 84)]), 0.5, [0.0, 1.0]);
        let error = (3.36_f64 / 99.0 / 100.0).sqrt();
        // t is 4.34; its p has this normal deviate.
        assert!((found.errors - 4.14).abs() < 0.01, "{found:?}");
        for (end, sign) in found.ci95.iter().zip([-1.0, 1.0]) {
            assert!((end - (0.58 + sign * 1.984_217 * error)).abs() < 1e-6, "{found:?}");
        }
        assert!(found.p > 3e-5 && found.p < 4e-5, "{found:?}");
    }

    #[test]
    fn equal_results_prove_little_in_few_deals() {
        let won = |n| Score::new(1.0, &net(&[(1.0, n)]), 0.5, [0.0, 1.0]);
        // All of five won: the binomial test gives 2/2^5.
        assert!((won(5).p - 2.0 / 32.0).abs() < 1e-12 && won(5).ci95[0] < 0.5 && won(5).errors < 1.96);
        assert!((won(6).p - 2.0 / 64.0).abs() < 1e-12 && won(6).ci95[0] > 0.5 && won(6).errors > 1.96);
        assert_eq!((won(6).ci95[1], won(1).p, won(1).errors), (1.0, 1.0, 0.0));
        // An interval of many drawn games is narrow, and stays in the range.
        let drawn = Score::new(0.5, &net(&[(0.5, 1000)]), 0.5, [0.0, 1.0]);
        assert!(drawn.p == 1.0 && drawn.errors == 0.0 && drawn.ci95[0] > 0.49 && drawn.ci95[1] < 0.51);
        assert_eq!(Score::new(0.3, &Net::default(), 0.5, [0.0, 1.0]).ci95, [0.0, 1.0]);
        // Rounding is no spread.
        let thirds = Score::new(0.3, &net(&[(0.3, 10)]), 0.5, [0.0, 1.0]);
        assert!((thirds.p - 2.0 * (0.5_f64 / 0.7).powi(10)).abs() < 1e-12, "{thirds:?}");
    }

    /// Over many tables of wins, draws and losses, p and interval say the same, and the interval stays in the range.
    #[test]
    fn p_and_interval_never_contradict_each_other() {
        const COUNTS: [u64; 6] = [0, 1, 2, 5, 30, 400];
        for (wins, draws, losses) in COUNTS
            .iter()
            .flat_map(|a| COUNTS.iter().flat_map(move |b| COUNTS.iter().map(move |c| (*a, *b, *c))))
            .filter(|(a, b, c)| a + b + c > 0)
        {
            let deals = net(&[(1.0, wins), (0.5, draws), (0.0, losses)]);
            let found = Score::new(deals.mean(), &deals, 0.5, [0.0, 1.0]);
            let [low, high] = found.ci95;
            assert!(0.0 <= low && low <= deals.mean() && deals.mean() <= high && high <= 1.0, "{found:?}");
            assert_eq!(found.p < 0.05, low > 0.5 || high < 0.5, "{wins} {draws} {losses}: {found:?}");
            assert_eq!(found.p < 0.05, found.errors.abs() > Z, "{wins} {draws} {losses}: {found:?}");
            assert_eq!(
                found.errors > 0.0,
                wins > losses && found.p < 1.0,
                "{wins} {draws} {losses}: {found:?}"
            );
        }
    }

    /// Holm (1979) by hand: .01 · 4, .02 · 3, then the larger of .06 and .03 · 2, then .04.
    #[test]
    fn holm_orders_and_never_decreases() {
        let found = holm(&[0.04, 0.01, 0.03, 0.02]);
        let near = found.iter().zip([0.06, 0.04, 0.06, 0.06]).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near, "{found:?}");
        assert_eq!((holm(&[]), holm(&[0.7, 0.9])), (vec![], vec![1.0, 1.0]));
    }

    /// Newcombe (1998), table I: 81 of 263 gives .2553 to .3662, 0 of 20 gives 0 to .1611.
    #[test]
    fn intervals_agree_with_newcombe() {
        let near = |found: [f64; 2], expected: [f64; 2]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-5), "{found:?}");
        };
        near(wilson95(81.0, 263), [0.2553, 0.3662]);
        near(wilson95(0.0, 20), [0.0, 0.1611]);
        near(wilson95(1.0, 29), [0.0061, 0.1718]);
    }

    #[test]
    fn ratings_follow_the_scores() {
        // With one extra draw: 30.5 points to 10.5.
        let two = ratings(&[vec![0.0, 30.0], vec![10.0, 0.0]]);
        assert!((two[0] - two[1] - 400.0 * (30.5_f64 / 10.5).log10()).abs() < 1e-6);
        assert!((two[0] + two[1]).abs() < 1e-9);
        let chain = ratings(&[vec![0.0, 20.0, 0.0], vec![0.0, 0.0, 15.0], vec![0.0, 5.0, 0.0]]);
        assert!(chain[0] > chain[1] && chain[1] > chain[2]);
        assert_eq!(ratings(&[vec![0.0, 0.0], vec![0.0, 0.0]]), [0.0, 0.0]);
    }
}
