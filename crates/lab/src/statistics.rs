//! Statistics of a few runs: mean, standard deviation, Welch's t-test.

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
    /// The sample of these numbers.
    pub fn of(values: &[f64]) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let first = Sample::of(&[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]);
        let second = Sample::of(&[1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]);
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

    /// By hand: means 2 and 6, variances 1 and 4, so t = 4/√(5/3), freedom (5/3)² / (1/9/2 + 16/9/2) = 50/17.
    #[test]
    fn welch_agrees_with_a_sum_by_hand() {
        let test = welch(Sample::of(&[1.0, 2.0, 3.0]), Sample::of(&[4.0, 6.0, 8.0])).expect("both vary");
        assert!((test.t - 4.0 / (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((test.freedom - 50.0 / 17.0).abs() < 1e-12);
        assert!((test.ci95[0] + test.ci95[1] - 8.0).abs() < 1e-9 && test.p > 0.02 && test.p < 0.08);
    }

    #[test]
    fn nothing_is_tested_without_variance() {
        let (one, constant) = (Sample::of(&[1.0]), Sample::of(&[2.0, 2.0]));
        assert_eq!((one.sd, Sample::of(&[]).mean), (None, None));
        assert_eq!(Sample::of(&[637.0 / 960.0; 10]).sd, Some(0.0));
        assert!(welch(one, Sample::of(&[1.0, 2.0])).is_none());
        assert!(welch(constant, constant).is_none() && welch(constant, Sample::of(&[1.0, 1.0])).is_none());
        // One constant side is enough: its mean is taken as known.
        let test = welch(constant, Sample::of(&[1.0, 2.0, 3.0])).expect("one side varies");
        assert!(test.freedom == 2.0 && test.p == 1.0);
    }
}
