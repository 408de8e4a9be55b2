//! Statistics of a few runs: mean, standard deviation, tests of a difference, bootstrap.

use adept_game::stream;
use rand::RngExt;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean and standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample (n − 1); 0 for a single number.
    pub sd: f64,
}

/// Mean and standard deviation; NaN without numbers.
pub fn mean_sd(values: &[f64]) -> Summary {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Summary { mean, sd: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 } }
}

/// `mean ± sd` with this many decimal places; the mean alone for fewer than two of `n` numbers, which have no deviation.
pub fn plus_minus(mean: f64, sd: f64, n: usize, places: usize) -> String {
    match n {
        0 | 1 => format!("{mean:.places$}"),
        _ => format!("{mean:.places$} ± {sd:.places$}"),
    }
}

/// 95 % confidence interval of the mean of normal numbers (Student); `None` with fewer than two numbers.
pub fn interval95(values: &[f64]) -> Option<[f64; 2]> {
    let n = values.len();
    let student = StudentsT::new(0.0, 1.0, n.checked_sub(1)? as f64).ok()?;
    let Summary { mean, sd } = mean_sd(values);
    let half = student.inverse_cdf(0.975) * sd / (n as f64).sqrt();
    Some([mean - half, mean + half])
}

/// Mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Mean; `None` without numbers.
    pub mean: Option<f64>,
    /// Standard deviation (n − 1); `None` with fewer than two numbers.
    pub sd: Option<f64>,
    /// Size.
    pub n: usize,
}

impl Sample {
    /// Statistics of these numbers.
    pub fn new(values: &[f64]) -> Self {
        let n = values.len();
        let mut summary = mean_sd(values);
        // Rounding of the mean would give equal numbers a deviation, and so a significance.
        if let [first, rest @ ..] = values
            && rest.iter().all(|v| v == first)
        {
            summary = Summary { mean: *first, sd: 0.0 };
        }
        Self { mean: (n > 0).then_some(summary.mean), sd: (n > 1).then_some(summary.sd), n }
    }
}

/// Welch's t-test of two samples whose variances may differ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Welch {
    /// t.
    pub t: f64,
    /// Degrees of freedom after Welch and Satterthwaite.
    pub freedom: f64,
    /// 95 % confidence interval of the difference of the means.
    pub ci95: [f64; 2],
    /// Two-sided p, in [0, 1], under the hypothesis of equal means.
    pub p: f64,
}

/// Tests mean(b) − mean(a). `None` if a sample has fewer than two numbers, or if both are constant, so that
/// their variance is unknown.
pub fn welch(a: Sample, b: Sample) -> Option<Welch> {
    // Squared standard error of a mean.
    let error = |s: Sample| s.sd.map(|sd| sd * sd / s.n as f64);
    let (error_a, error_b) = (error(a)?, error(b)?);
    let difference = b.mean? - a.mean?;
    let squared = error_a + error_b;
    let freedom =
        squared * squared / (error_a * error_a / (a.n - 1) as f64 + error_b * error_b / (b.n - 1) as f64);
    let t = difference / squared.sqrt();
    // Also covers tiny variances whose squares underflow.
    if !(t.is_finite() && freedom.is_finite()) {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half = student.inverse_cdf(0.975) * squared.sqrt();
    let p = (2.0 * student.sf(t.abs())).min(1.0);
    Some(Welch { t, freedom, ci95: [difference - half, difference + half], p })
}

/// A figure of a run with its seed.
pub(crate) type Seeded = (u64, f64);

/// The test of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Student's t of the differences between runs of the same seed, which share random draws.
    Paired,
    /// Welch's t of independent samples.
    Welch,
}

/// A tested difference of two means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Tested {
    /// The chosen test.
    pub(crate) test: Test,
    /// 95 % interval of the difference, b − a.
    pub(crate) ci95: [f64; 2],
    /// Two-sided p, in [0, 1], under the hypothesis of equal means.
    pub(crate) p: f64,
}

/// Pairs of figures by seed. None unless both sides have the same seeds, at least two, without repeats.
fn pairs(a: &[Seeded], b: &[Seeded]) -> Option<Vec<(f64, f64)>> {
    let sorted = |side: &[Seeded]| {
        let mut side = side.to_vec();
        side.sort_by_key(|(seed, _)| *seed);
        side
    };
    let (a, b) = (sorted(a), sorted(b));
    let is_set = |side: &[Seeded]| side.windows(2).all(|two| two[0].0 < two[1].0);
    let same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0);
    (a.len() > 1 && same && is_set(&a)).then(|| a.iter().zip(&b).map(|(a, b)| (a.1, b.1)).collect())
}

/// Pearson's correlation of figures of the same seed, in [−1, 1]. None unless both sides have the same seeds and vary.
pub(crate) fn correlation(a: &[Seeded], b: &[Seeded]) -> Option<f64> {
    let pairs = pairs(a, b)?;
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (mean_a, mean_b) = (mean_sd(&a).mean, mean_sd(&b).mean);
    let sum = |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(a, b)| f(a - mean_a, b - mean_b)).sum::<f64>();
    let r = sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Tests mean(b) − mean(a). Runs of the same seed share dice and positions: sides with the same seeds are always paired, and
/// others never. A choice by the sample correlation would reject equal means too often: at 3 to 5 seeds in 7 % of cases in
/// place of 5 %. None where nothing varies: one run on a side, or a constant difference of pairs.
pub(crate) fn difference(a: &[Seeded], b: &[Seeded]) -> Option<Tested> {
    let values = |side: &[Seeded]| side.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    let Some(pairs) = pairs(a, b) else {
        let Welch { ci95, p, .. } = welch(Sample::new(&values(a)), Sample::new(&values(b)))?;
        return Some(Tested { test: Test::Welch, ci95, p });
    };
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
    let Summary { mean, sd } = mean_sd(&differences);
    let n = pairs.len() as f64;
    let error = sd / n.sqrt();
    // The rounding of the differences is not a spread.
    let size = pairs.iter().map(|(a, b)| a.abs().max(b.abs())).fold(0.0, f64::max);
    if error <= 1e-12 * size {
        return None;
    }
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let half = student.inverse_cdf(0.975) * error;
    let p = (2.0 * student.sf((mean / error).abs())).min(1.0);
    Some(Tested { test: Test::Paired, ci95: [mean - half, mean + half], p })
}

/// Number of bootstrap resamples.
const RESAMPLES: usize = 10_000;

/// The percentile bootstrap 95 % interval of mean(b) − mean(a), from 10,000 resamples with a fixed seed: of pairs if
/// both sides have the same seeds, otherwise of each side. None with fewer than two runs on a side.
pub(crate) fn bootstrap95(a: &[Seeded], b: &[Seeded]) -> Option<[f64; 2]> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let mut rng = stream(1, "bootstrap", 0);
    let pairs = pairs(a, b);
    let mut mean = |n: usize, value: &dyn Fn(usize) -> f64| {
        (0..n).map(|_| value(rng.random_range(0..n))).sum::<f64>() / n as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| match &pairs {
            Some(pairs) => mean(pairs.len(), &|i| pairs[i].1 - pairs[i].0),
            None => mean(b.len(), &|i| b[i].1) - mean(a.len(), &|i| a[i].1),
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some([means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]])
}

/// The median with its distribution-free interval between order statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Median {
    /// The median; for an even number of values, the mean of the two middle ones.
    pub median: f64,
    /// The narrowest interval between order statistics that covers the median with a probability of 95 %, or all numbers.
    pub interval: [f64; 2],
    /// The coverage probability of the interval: .9375 for five numbers.
    pub level: f64,
}

/// The median of numbers, with its interval by order statistics. None without numbers.
pub fn median(values: &[f64]) -> Option<Median> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let middle = |i: usize| sorted.get(i).copied();
    let median = (middle(n.checked_sub(1)? / 2)? + middle(n / 2)?) / 2.0;
    // The two-sided probability that at most k of n numbers lie below the median.
    let (mut level, mut ends) = (1.0 - 0.5_f64.powi(n as i32 - 1), [0, n - 1]);
    let (mut missed, mut ways) = (0.5_f64.powi(n as i32), 1.0);
    for k in 1..n.div_ceil(2) {
        ways *= (n - k + 1) as f64 / k as f64;
        missed += ways * 0.5_f64.powi(n as i32);
        if 1.0 - 2.0 * missed < 0.95 {
            break;
        }
        (level, ends) = (1.0 - 2.0 * missed, [k, n - 1 - k]);
    }
    Some(Median { median, interval: ends.map(|i| sorted[i]), level })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeded(values: &[f64]) -> Vec<Seeded> {
        values.iter().enumerate().map(|(seed, value)| (seed as u64 + 1, *value)).collect()
    }

    /// Student's sleep data as paired data: ten patients with both drugs. `t.test(Pair(extra.1, extra.2) ~ 1)` in the R
    /// manual gives t = −4.0621, p = .002833 and −2.4598858 … −0.7001142.
    #[test]
    fn pairs_agree_with_r_on_the_sleep_data() {
        let first = seeded(&[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]);
        let second = seeded(&[1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]);
        let found = difference(&second, &first).expect("both vary");
        let near = |a: f64, b: f64, within: f64| assert!((a - b).abs() < within, "{found:?}");
        assert_eq!(found.test, Test::Paired);
        near(found.p, 0.002833, 5e-7);
        near(found.ci95[0], -2.4598858, 5e-7);
        near(found.ci95[1], -0.7001142, 5e-7);
        near(correlation(&first, &second).unwrap(), 0.7951702, 5e-7);
        // The order of the runs does not matter, their seeds do.
        let mut turned = first.clone();
        turned.reverse();
        assert_eq!(difference(&second, &turned), Some(found));
        turned[0].0 = 99;
        assert_eq!(difference(&second, &turned).unwrap().test, Test::Welch);
        let [low, high] = bootstrap95(&second, &first).unwrap();
        assert!((-2.5..-2.0).contains(&low) && (-1.1..-0.8).contains(&high), "{low} {high}");
    }

    #[test]
    fn the_seeds_decide_about_pairs() {
        // Negative correlation makes pairs the weaker test, and they stay pairs.
        let (a, b) = (seeded(&[1.0, 2.0, 3.0, 4.0]), seeded(&[4.0, 3.5, 1.0, 2.0]));
        assert!(correlation(&a, &b).unwrap() < 0.0);
        assert_eq!(difference(&a, &b).unwrap().test, Test::Paired);
        // A side that does not vary has no correlation.
        assert_eq!(difference(&a, &seeded(&[2.0; 4])).unwrap().test, Test::Paired);
        // Other seeds, or fewer, are other dice.
        let later: Vec<Seeded> = b.iter().map(|(seed, value)| (seed + 1, *value)).collect();
        for other in [&later[..], &b[..3]] {
            assert_eq!(difference(&a, other).unwrap().test, Test::Welch);
        }
        // A constant difference, and sides that do not vary.
        let moved: Vec<Seeded> = a.iter().map(|(seed, value)| (*seed, value + 1.0)).collect();
        assert_eq!((difference(&a, &moved), difference(&a, &a)), (None, None));
        assert_eq!(difference(&seeded(&[1.0, 1.0]), &seeded(&[2.0, 2.0])), None);
        for step in [1e-6, f64::EPSILON] {
            let a = [0.1, 0.2, 0.3];
            assert_eq!(difference(&seeded(&a), &seeded(&a.map(|value| value + step))), None);
        }
        assert_eq!((difference(&a, &seeded(&[1.0])), bootstrap95(&a, &seeded(&[1.0]))), (None, None));
    }

    /// Equal means are rejected in 5 % of cases at three seeds, whether or not they correlate: 20,000 trials have a standard
    /// error of 0.15 %. Welch's test where pairs correlate little rejects 6.6 % without a shared part.
    #[test]
    fn pairs_keep_their_level() {
        let mut rng = stream(1, "level of pairs", 0);
        // The sum of 12 uniform numbers is nearly normal.
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        for shared in [0.0, 0.5, 0.9] {
            let mut rejected = 0;
            for _ in 0..20_000 {
                let pairs: Vec<[f64; 2]> = (0..3)
                    .map(|_| {
                        let both = normal();
                        [(); 2].map(|()| shared * both + (1.0 - shared) * normal())
                    })
                    .collect();
                let [a, b] = [0, 1].map(|i| seeded(&pairs.iter().map(|pair| pair[i]).collect::<Vec<_>>()));
                rejected += usize::from(difference(&a, &b).unwrap().p < 0.05);
            }
            assert!((900..=1100).contains(&rejected), "{shared}: {rejected} of 20000");
        }
    }

    /// Levels by the binomial distribution: five numbers, 1 − 2/2^5; ten, 1 − 2 · 11/2^10.
    #[test]
    fn a_median_has_its_own_interval() {
        let found = median(&[3.0, 1.0, 900.0, 2.0, 5.0]).unwrap();
        assert_eq!(found, Median { median: 3.0, interval: [1.0, 900.0], level: 0.9375 });
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = median(&ten).unwrap();
        assert_eq!((found.median, found.interval), (5.5, [2.0, 9.0]));
        assert!((found.level - (1.0 - 22.0 / 1024.0)).abs() < 1e-12, "{found:?}");
        assert_eq!(median(&[7.0]), Some(Median { median: 7.0, interval: [7.0, 7.0], level: 0.0 }));
        assert_eq!(median(&[]), None);
    }

    /// Five numbers of mean 3 and variance 2.5; t of 4 degrees of freedom at 97.5 % is 2.776.
    #[test]
    fn an_interval_is_that_of_student() {
        let [low, high] = interval95(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let half = 2.776_445 * (2.5f64 / 5.0).sqrt();
        assert!((low - (3.0 - half)).abs() < 1e-5 && (high - (3.0 + half)).abs() < 1e-5, "{low} {high}");
        assert_eq!(interval95(&[1.0]), None);
    }

    /// Student's sleep data (1908): `t.test(extra ~ group, data = sleep)` in the R manual gives t = −1.8608, df
    /// = 17.776, p = 0.07939 and −3.3654832 … 0.2054832, for group 1 minus group 2.
    #[test]
    fn welch_agrees_with_r_on_the_sleep_data() {
        let first = Sample::new(&[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]);
        let second = Sample::new(&[1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]);
        let test = welch(second, first).expect("both samples vary");
        let near = |found: f64, expected: f64, within: f64| {
            assert!((found - expected).abs() < within, "{found}, expected {expected}");
        };
        near(test.t, -1.8608, 5e-5);
        near(test.freedom, 17.776, 5e-4);
        near(test.p, 0.07939, 5e-6);
        near(test.ci95[0], -3.3654832, 5e-7);
        near(test.ci95[1], 0.2054832, 5e-7);
    }

    /// Manual computation: means 2 and 6, variances 1 and 4, so t = 4/√(5/3), freedom (5/3)² / (1/9/2 + 16/9/2) =
    /// 50/17.
    #[test]
    fn welch_agrees_with_a_sum_by_hand() {
        let test = welch(Sample::new(&[1.0, 2.0, 3.0]), Sample::new(&[4.0, 6.0, 8.0])).expect("both vary");
        assert!((test.t - 4.0 / (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((test.freedom - 50.0 / 17.0).abs() < 1e-12);
        assert!((test.ci95[0] + test.ci95[1] - 8.0).abs() < 1e-9 && test.p > 0.02 && test.p < 0.08);
    }

    #[test]
    fn nothing_is_tested_without_variance() {
        let (one, constant) = (Sample::new(&[1.0]), Sample::new(&[2.0, 2.0]));
        assert_eq!((one.sd, Sample::new(&[]).mean), (None, None));
        assert_eq!(Sample::new(&[637.0 / 960.0; 10]).sd, Some(0.0));
        assert!(welch(one, Sample::new(&[1.0, 2.0])).is_none());
        assert!(welch(constant, constant).is_none() && welch(constant, Sample::new(&[1.0, 1.0])).is_none());
        // One varying side is enough: the other mean counts as known.
        let test = welch(constant, Sample::new(&[1.0, 2.0, 3.0])).expect("one side varies");
        assert!(test.freedom == 2.0 && test.p == 1.0);
    }
}
