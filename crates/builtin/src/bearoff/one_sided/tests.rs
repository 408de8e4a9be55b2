use super::*;
use std::collections::HashMap;

fn side(text: &str) -> Side {
    text.parse().unwrap()
}

fn all(checkers: u8) -> impl Iterator<Item = Side> {
    (0..sides(checkers)).map(Side::of_rank)
}

/// The smallest mean number of rolls, directly by the rules.
fn mean(side: Side, known: &mut HashMap<Side, f64>) -> f64 {
    if side.is_empty() {
        return 0.0;
    }
    if let Some(&mean) = known.get(&side) {
        return mean;
    }
    let mut sum = 0.0;
    for roll in ROLLS {
        let mut afterstates = Vec::new();
        rules::afterstates(side, roll, &mut afterstates);
        let best = afterstates.into_iter().map(|a| mean(a, known)).fold(f64::INFINITY, f64::min);
        sum += f64::from(roll.ways()) * (1.0 + best);
    }
    known.insert(side, sum / 36.0);
    sum / 36.0
}

#[test]
fn small_sides_have_the_values_worked_out_by_hand() {
    let solution = OneSided::solve(3);
    assert_eq!(solution.distribution(Side::EMPTY), Some(&[1.0][..]));
    assert_eq!(solution.distribution(side("1,0,0,0,0,0")), Some(&[0.0, 1.0][..]));
    // A checker on point 6 stays on with 2-1, 3-1, 3-2, 4-1 and 1-1, nine throws of 36.
    assert_eq!(solution.distribution(side("0,0,0,0,0,1")), Some(&[0.0, 0.75, 0.25][..]));
    assert_eq!(solution.mean(side("0,0,0,0,0,1")), Some(1.25));
    assert_eq!(solution.sd(side("0,0,0,0,0,1")), Some(0.1875_f64.sqrt()));
    // Only a double bears off three checkers on point 1 in one roll.
    let distribution = solution.distribution(side("3,0,0,0,0,0")).unwrap();
    assert!((distribution[1] - 1.0 / 6.0).abs() < 1e-15 && (distribution[2] - 5.0 / 6.0).abs() < 1e-15);
    // 2-1 from points 6 and 1: 6/4 1/off leaves one checker, which stays on only with 2-1.
    let roll = Roll::new(2, 1).unwrap();
    assert_eq!(solution.afterstate(side("1,0,0,0,0,1"), roll), Some(side("0,0,0,1,0,0")));
    assert_eq!(solution.afterstate(Side::EMPTY, roll), Some(Side::EMPTY));
}

/// The afterstate with the smallest mean, then smallest variance, then lowest rank, from the full list.
fn best_of(solution: &OneSided, side: Side, roll: Roll) -> Option<Side> {
    let mut afterstates = Vec::new();
    rules::afterstates(side, roll, &mut afterstates);
    let preference = |a: &Side| {
        let (mean, sd) = (solution.mean(*a).unwrap(), solution.sd(*a).unwrap());
        Preference::new(mean, sd * sd, a.rank())
    };
    afterstates.into_iter().min_by_key(preference)
}

#[test]
fn means_are_those_of_a_plain_recursion() {
    let solution = OneSided::solve(3);
    let mut known = HashMap::new();
    for side in all(3) {
        let (found, wanted) = (solution.mean(side).unwrap(), mean(side, &mut known));
        assert!((found - wanted).abs() < 1e-13, "{side}: {found} and not {wanted}");
    }
}

#[test]
fn the_choice_is_the_best_afterstate_of_all() {
    let solution = OneSided::solve(7);
    for side in all(7) {
        for roll in ROLLS {
            assert_eq!(solution.afterstate(side, roll), best_of(&solution, side, roll), "{side} {roll}");
        }
    }
}

#[test]
fn distributions_sum_to_one_and_have_their_mean_and_sd() {
    let solution = OneSided::solve(MAX_CHECKERS);
    assert_eq!(solution.means.len(), 54_264);
    for side in all(MAX_CHECKERS) {
        let distribution = solution.distribution(side).unwrap();
        let moment =
            |power| -> f64 { distribution.iter().zip(0..).map(|(p, k)| p * f64::from(k).powi(power)).sum() };
        let (mean, sd) = (solution.mean(side).unwrap(), solution.sd(side).unwrap());
        assert!((moment(0) - 1.0).abs() < 1e-12, "{side}");
        assert!((moment(1) - mean).abs() < 1e-11, "{side}");
        assert!((moment(2) - mean * mean - sd * sd).abs() < 1e-9, "{side}");
        assert!(distribution[distribution.len() - 1] > 0.0, "{side}");
        // At most four checkers are borne off per roll.
        let fewest = usize::from(side.checkers().div_ceil(4));
        assert!(distribution[..fewest].iter().all(|&p| p == 0.0), "{side}");
        assert!(distribution.len() <= 31, "{side}");
    }
}

#[test]
fn a_larger_solution_contains_the_smaller_one() {
    let (small, large) = (OneSided::solve(4), OneSided::solve(6));
    for side in all(4) {
        assert_eq!(small.distribution(side), large.distribution(side));
        assert_eq!(small.sd(side), large.sd(side));
    }
    assert_eq!(OneSided::solve(0).mean(Side::EMPTY), Some(0.0));
}

#[test]
fn nothing_is_told_of_sides_beyond_the_solution() {
    let solution = OneSided::solve(3);
    let four = side("4,0,0,0,0,0");
    assert_eq!(solution.checkers(), 3);
    assert_eq!(solution.distribution(four), None);
    assert_eq!(solution.mean(four), None);
    assert_eq!(solution.sd(four), None);
    assert_eq!(solution.afterstate(four, ROLLS[0]), None);
    assert_eq!(OneSided::solve(200).checkers(), MAX_CHECKERS);
}
