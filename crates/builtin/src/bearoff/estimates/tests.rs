use super::super::rank::sides;
use super::super::{ROLLS, Side, rules};
use super::*;

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

fn estimates(checkers: u8) -> [Box<dyn Estimate>; 3] {
    let solution = Arc::new(OneSided::solve(checkers));
    [Box::new(Convolution(solution.clone())), Box::new(Normal(solution)), Box::new(Kleinman)]
}

/// The exact values of all pairs of sides with at most `checkers` checkers, by the ranks of own and opponent: each side
/// plays optimally, directly by the rules.
fn exact(checkers: u8) -> Vec<Vec<f64>> {
    let n = sides(checkers);
    let mut values = vec![vec![f64::NAN; n]; n];
    let lists: Vec<_> = (0..n)
        .map(|rank| {
            ROLLS.map(|roll| {
                let mut afterstates = Vec::new();
                rules::afterstates(Side::of_rank(rank), roll, &mut afterstates);
                afterstates.iter().map(|a| a.rank()).collect::<Vec<_>>()
            })
        })
        .collect();
    // A move lowers the rank of its side, and so the sum of both ranks.
    for sum in 0..2 * n - 1 {
        for own in sum.saturating_sub(n - 1)..n.min(sum + 1) {
            let opponent = sum - own;
            let best = |list: &Vec<usize>| -> f64 {
                list.iter().map(|&a| -values[opponent][a]).fold(f64::NEG_INFINITY, f64::max)
            };
            values[own][opponent] = match (own, opponent) {
                (0, _) => 1.0,
                (_, 0) => -1.0,
                _ => {
                    ROLLS.iter().zip(&lists[own]).map(|(r, l)| f64::from(r.ways()) * best(l)).sum::<f64>()
                        / 36.0
                }
            };
        }
    }
    values
}

/// Largest absolute and root mean square error over all pairs of sides with one to three checkers.
fn errors(estimate: &dyn Estimate) -> (f64, f64) {
    let (mut largest, mut sum, mut pairs) = (0.0_f64, 0.0, 0.0);
    for (own, row) in exact(3).iter().enumerate().skip(1) {
        for (opponent, wanted) in row.iter().enumerate().skip(1) {
            let position = Position { own: Side::of_rank(own), opponent: Side::of_rank(opponent) };
            let error = estimate.value(position) - wanted;
            largest = largest.max(error.abs());
            sum += error * error;
            pairs += 1.0;
        }
    }
    (largest, f64::sqrt(sum / pairs))
}

#[test]
fn a_finished_game_has_its_exact_value() {
    for estimate in estimates(3) {
        assert_eq!(estimate.value(position("0,0,0,0,0,0/1,1,0,0,0,0")), 1.0, "{}", estimate.name());
        assert_eq!(estimate.value(position("1,1,0,0,0,0/0,0,0,0,0,0")), -1.0, "{}", estimate.name());
    }
}

#[test]
fn the_names_are_fixed() {
    assert_eq!(estimates(1).map(|estimate| estimate.name()), ["convolution", "normal", "kleinman"]);
}

#[test]
fn a_checker_on_point_1_wins_on_roll_against_anything() {
    let [convolution, normal, _] = estimates(3);
    for rank in 1..sides(3) {
        let position = Position { own: Side::of_rank(1), opponent: Side::of_rank(rank) };
        assert!((convolution.value(position) - 1.0).abs() < 1e-15);
        assert!(normal.value(position) > 0.9);
    }
}

#[test]
fn convolution_is_exact_where_one_roll_decides() {
    let (values, [convolution, ..]) = (exact(3), estimates(3));
    // A lone checker on points 1 to 3 is off with any roll: as own side it wins, as opponent it leaves one roll.
    for lone in ["1,0,0,0,0,0", "0,1,0,0,0,0", "0,0,1,0,0,0"].map(|text| text.parse::<Side>().unwrap()) {
        for other in (1..sides(3)).map(Side::of_rank) {
            for position in [Position { own: lone, opponent: other }, Position { own: other, opponent: lone }]
            {
                let wanted = values[position.own.rank()][position.opponent.rank()];
                let found = convolution.value(position);
                assert!((found - wanted).abs() < 1e-14, "{position}: {found} and not {wanted}");
            }
        }
    }
}

#[test]
fn convolution_is_close_to_exact_and_the_others_are_not_far() {
    let [convolution, normal, kleinman] = estimates(3);
    let (largest, rms) = errors(&*convolution);
    assert!(largest < 0.05 && rms < 0.01, "convolution: {largest} and {rms}");
    let (_, rms) = errors(&*normal);
    assert!(rms < 0.08, "normal: {rms}");
    let (_, rms) = errors(&*kleinman);
    assert!(rms < 0.35, "kleinman: {rms}");
}

/// Values of an independent solver with 64-bit floats, to nine digits.
#[test]
fn convolution_is_close_to_exact_for_many_checkers() {
    let [convolution, normal, ..] = estimates(15);
    for (text, wanted) in [
        ("1,1,1,1,1,1/1,1,1,1,1,1", 0.401143250),
        ("0,2,0,2,0,2/2,0,2,0,2,0", 0.119659529),
        ("0,0,0,0,0,14/0,0,0,0,0,14", 0.196281093),
        ("2,2,2,3,3,2/2,2,2,3,3,2", 0.275948804),
        ("0,0,2,4,4,4/0,1,2,3,4,4", 0.110245648),
        ("10,0,0,0,0,1/5,0,0,0,0,4", 0.538426442),
    ] {
        let found = convolution.value(position(text));
        assert!((found - wanted).abs() < 0.005, "{text}: {found} and not {wanted}");
        let found = normal.value(position(text));
        assert!((found - wanted).abs() < 0.05, "{text}: {found} and not {wanted}");
    }
}

/// P(win) to four digits, as GNU Backgammon 1.07.001 prints it (`show kleinman`).
#[test]
fn kleinman_is_that_of_gnubg() {
    for (text, win) in [
        ("1,1,1,1,1,1/1,1,1,1,1,1", 0.6768),
        ("0,0,0,0,0,4/0,0,1,0,0,5", 0.8966),
        ("0,0,1,0,0,5/0,0,0,0,0,4", 0.3136),
        ("10,0,0,0,0,1/5,0,0,0,0,4", 0.9698),
        ("2,2,2,3,3,2/0,0,2,4,4,4", 0.8969),
        ("2,2,2,3,3,3/15,0,0,0,0,0", 0.0006),
    ] {
        let found = 0.5 + 0.5 * Kleinman.value(position(text));
        assert!((found - win).abs() < 5.1e-5, "{text}: {found} and not {win}");
    }
    // gnubg gives no value for four pips in total: the limit.
    assert_eq!(Kleinman.value(position("1,0,0,0,0,0/1,0,0,0,0,0")), 1.0);
    assert_eq!(Kleinman.value(position("3,0,0,0,0,0/1,0,0,0,0,0")), 1.0);
}

#[test]
fn values_are_numbers_in_range_up_to_the_solution_and_nan_beyond() {
    for estimate in estimates(4) {
        for own in (0..sides(4)).step_by(3).map(Side::of_rank) {
            for opponent in (0..sides(4)).step_by(7).map(Side::of_rank) {
                assert!((-1.0..=1.0).contains(&estimate.value(Position { own, opponent })));
            }
        }
    }
    let [convolution, normal, ..] = estimates(4);
    let five = position("5,0,0,0,0,0/1,0,0,0,0,0");
    assert!(convolution.value(five).is_nan() && normal.value(five).is_nan());
    assert!(convolution.value(five.swapped()).is_nan() && normal.value(five.swapped()).is_nan());
}

#[test]
fn rolls_are_the_convolution_in_single_precision() {
    let solution = Arc::new(OneSided::solve(15));
    let (rolls, convolution) = (Rolls::new(&solution), Convolution(solution.clone()));
    let all = (1..sides(15)).map(Side::of_rank);
    let beyond = |side: Side| solution.distribution(side).unwrap().iter().skip(TERMS + 1).sum::<f64>();
    assert!(all.clone().map(beyond).fold(0.0, f64::max) < 1e-9, "no side needs more terms");
    let some: Vec<Side> = all.step_by(97).collect();
    for &own in &some {
        for &opponent in &some {
            let position = Position { own, opponent };
            let (a, b) = (rolls.value(position), convolution.value(position));
            assert!((a - b).abs() < 1e-6 && a.abs() <= 1.0, "{position}: {a}, exactly {b}");
        }
    }
    let over = Position { own: Side::EMPTY, opponent: some[0] };
    assert_eq!((rolls.value(over), rolls.value(over.swapped())), (1.0, -1.0));
    assert!(Rolls::new(&OneSided::solve(2)).value(Position { own: some[5], opponent: some[5] }).is_nan());
}
