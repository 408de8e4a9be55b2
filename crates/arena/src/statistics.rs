//! Statistics of matches: binomial test, confidence intervals, ratings.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// Two-sided p-value of a binomial test: twice the smaller tail, at most 1. Under the null hypothesis, each of `n`
/// games is won with probability `share`. Without games, 1.
pub fn binomial_test(wins: u64, n: u64, share: f64) -> f64 {
    let Ok(distribution) = Binomial::new(share, n) else { return 1.0 };
    let lower = distribution.cdf(wins);
    let upper = if wins == 0 { 1.0 } else { distribution.sf(wins - 1) };
    (2.0 * lower.min(upper)).min(1.0)
}

/// Two-sided p-value of a normal test: how likely a standard normal number is as far from 0 as `z`. Not a number without spread
/// and mean: 1.
pub fn normal_test(z: f64) -> f64 {
    if z.is_nan() { 1.0 } else { 2.0 * Normal::standard().sf(z.abs()) }
}

/// Wilson's 95 % interval for a share of wins in `n` games. A shared win counts as a fraction. Without games, [0, 1].
pub fn wilson95(wins: f64, n: u64) -> [f64; 2] {
    if n == 0 {
        return [0.0, 1.0];
    }
    // The 97.5 % quantile of the normal distribution.
    let (z, n) = (1.959_963_984_540_054_f64, n as f64);
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

    #[test]
    fn normal_tails_are_known() {
        assert!((normal_test(-1.959_963_984_540_054) - 0.05).abs() < 1e-9);
        assert_eq!((normal_test(0.0), normal_test(f64::NAN)), (1.0, 1.0));
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
