//! Tables of binomial probabilities for hidden dice.

/// P(Bin(n, p) = k) and P(Bin(n, p) ≥ k) for one p and all n up to a bound.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Odds {
    most: usize,
    point: Vec<f64>,
    tail: Vec<f64>,
}

impl Odds {
    /// Tables for n up to `most` dice, each of which counts with probability `p`.
    pub(super) fn new(p: f64, most: u8) -> Self {
        let most = usize::from(most);
        let width = most + 1;
        let mut point = vec![0.0; width * width];
        let mut tail = point.clone();
        for n in 0..=most {
            let row = &mut point[n * width..][..width];
            let mut ways = 1.0;
            for (k, point) in row[..=n].iter_mut().enumerate() {
                *point = ways * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
                ways *= (n - k) as f64 / (k + 1) as f64;
            }
            // Add the smallest terms first.
            let mut sum = 0.0;
            for k in (0..=n).rev() {
                sum += point[n * width + k];
                tail[n * width + k] = sum.min(1.0);
            }
        }
        Self { most, point, tail }
    }

    /// P(Bin(n, p) ≥ k).
    #[inline]
    pub(super) fn at_least(&self, n: u8, k: i32) -> f64 {
        let n = usize::from(n).min(self.most);
        match usize::try_from(k) {
            Err(_) | Ok(0) => 1.0,
            Ok(k) if k > n => 0.0,
            Ok(k) => self.tail[n * (self.most + 1) + k],
        }
    }

    /// P(Bin(n, p) = k).
    #[inline]
    pub(super) fn exactly(&self, n: u8, k: i32) -> f64 {
        let n = usize::from(n).min(self.most);
        match usize::try_from(k) {
            Ok(k) if k <= n => self.point[n * (self.most + 1) + k],
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums behind the rules of the paper's figure 3, before tuning.
    #[test]
    fn tails_are_those_of_the_paper() {
        let third = Odds::new(1.0 / 3.0, 20);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(2.0 * third.at_least(4, 4) - 1.0, 2.0 * (1.0_f64 / 3.0).powi(4) - 1.0);
        near(third.at_least(2, 1), 5.0 / 9.0);
        near(1.0 - Odds::new(1.0 / 6.0, 5).at_least(2, 1), 25.0 / 36.0);
        near(third.exactly(3, 2), 2.0 / 9.0);
        assert_eq!((third.at_least(5, 0), third.at_least(5, -2), third.at_least(5, 6)), (1.0, 1.0, 0.0));
        assert_eq!((third.exactly(5, -1), third.exactly(5, 6)), (0.0, 0.0));
        for n in 0..=20 {
            near((0..=i32::from(n)).map(|k| third.exactly(n, k)).sum(), 1.0);
        }
    }
}
