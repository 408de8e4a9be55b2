use super::*;
use crate::backgammon::{Backgammon, MatchState};
use adept_game::Game;

fn money(owner: CubeOwner) -> Terms {
    Terms { owner, ..Terms::money(false) }
}

/// Without gammons the take point is 20 % live and 25 % dead; between them the efficiency decides.
#[test]
fn single_games_have_the_known_points() {
    let model = CubeModel::usual();
    let values = |chances, terms| model.values_at(0.68, chances, terms);
    let first = |decides: &dyn Fn(CubeValues) -> bool, terms| {
        let chance = |n: u32| f64::from(n) / 1000.0;
        let found =
            (0..=1000).map(chance).find(|p| decides(values(Chances::of_equity(2.0 * p - 1.0), terms)));
        found.unwrap()
    };
    let drops = first(&|values| !values.takes(), money(CubeOwner::Centred));
    // -1/2 = x (5/2 p - 1) + (1 - x) (2 p - 1), and the other side drops from 1 - p on.
    assert!((1.0 - drops - 0.5 / 2.34).abs() < 0.0011, "{drops}");
    // In an even position, a centred cube is worth nothing and an own cube more than the opponent's.
    let even = |owner| model.equity(0.68, Chances::of_equity(0.0), money(owner));
    assert!(even(CubeOwner::Centred).abs() < 1e-12);
    assert!((even(CubeOwner::Own) + even(CubeOwner::Theirs)).abs() < 1e-12 && even(CubeOwner::Own) > 0.05);
    let [initial, again] =
        [CubeOwner::Centred, CubeOwner::Own].map(|owner| first(&|values| values.doubles(), money(owner)));
    assert!(0.68 < initial && initial < again && again < 0.78, "{initial} {again}");
    // A won game is doubled until there is nothing left to gain.
    assert!(!values(Chances::of_equity(1.0), money(CubeOwner::Centred)).doubles());
    assert!(values(Chances::of_equity(0.6), money(CubeOwner::Own)).doubles());
    // The points at which decisions change are those of a search over chances.
    let start = Backgammon::default().parse_position("4HPwATDgc/ABMA").unwrap().0.position();
    let points = model.points(start, Chances::of_equity(0.0), money(CubeOwner::Centred)).map(Option::unwrap);
    assert!((points[0] - initial).abs() < 0.0011 && (points[1] - drops).abs() < 0.0011, "{points:?}");
    for terms in [Terms { cube: 64, ..money(CubeOwner::Own) }, money(CubeOwner::Theirs)] {
        let values = values(Chances::of_equity(0.6), terms);
        assert_eq!((values.double_take, values.double_pass, values.doubles()), (None, None, false));
    }
}

#[test]
fn classes_have_the_order_of_the_game() {
    let classes = adept_game::outcome_classes(&Backgammon::default()).unwrap();
    assert_eq!(classes.iter().map(|class| &*class.name).collect::<Vec<_>>(), CLASSES);
    // A won gammon is worth 2 points to the winner and -2 to the loser.
    let won = Chances::of_classes([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!((won.win(), won.equity(), won.other().win(), won.other().equity()), (1.0, 2.0, 0.0, -2.0));
}

#[test]
fn gammons_are_played_for_and_feared() {
    let values = |classes, terms| CubeModel::usual().values_at(0.68, Chances::of_classes(classes), terms);
    let too_good = values([0.0, 0.0, 0.05, 0.25, 0.65, 0.05], money(CubeOwner::Centred));
    assert!(too_good.action == CubeAction::TooGood && too_good.no_double > 1.0, "{too_good:?}");
    // By the Jacoby rule there are no gammons to play on for.
    let jacoby = values([0.0, 0.0, 0.05, 0.25, 0.65, 0.05], Terms::money(true));
    assert!(jacoby.action == CubeAction::DoublePass && jacoby.no_double < 1.0, "{jacoby:?}");
    let single = [0.0, 0.0, 0.25, 0.75, 0.0, 0.0];
    let both = [false, true].map(|jacoby| values(single, Terms::money(jacoby)).no_double);
    assert_eq!(both[0], both[1]);
    let feared = values([0.0, 0.0, 0.25, 0.4, 0.35, 0.0], Terms::money(false));
    assert!(values(single, Terms::money(false)).takes() && !feared.takes());
}

/// Each number of GNU Backgammon's cube analysis at 0 ply follows from its probabilities: 100 positions in money games and at
/// scores from 2-away 2-away to 25-away 25-away, before, in and after the Crawford game.
#[test]
fn values_are_those_of_gnu_backgammon() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/backgammon-cube-gnubg.csv");
    let (mut settings, mut numbers) = (0, 0);
    for row in csv::Reader::from_path(file).unwrap().into_records() {
        let row = row.unwrap();
        let number = |column: usize| row[column].parse::<f64>().ok();
        let at = format!("{}:{}", &row[0], &row[1]);
        let position = Backgammon::default().parse_position(&at).unwrap().0.position();
        let terms = MatchState::parse(&at).unwrap().unwrap().terms();
        let [win, wg, wb, lg, lb] = [2, 3, 4, 5, 6].map(|column| number(column).unwrap());
        let chances =
            Chances::of_classes([lb, lg - lb, 1.0 - win - lg, win - wg, wg - wb, wb].map(|p| p.max(0.0)));
        let values = CubeModel::usual().values(position, chances, terms);
        assert!((values.cubeless - number(7).unwrap()).abs() < 2e-5, "{at}: {values:?}");
        for (found, expected) in [(Some(values.no_double), number(8)), (values.double_take, number(9))] {
            assert_eq!(found.is_some() || !terms.may_double(), expected.is_some() || !terms.may_double());
            if let (Some(found), Some(expected)) = (found, expected) {
                assert!((found - expected).abs() < 5e-6, "{at}: {found}, gnubg {expected}");
                numbers += 1;
            }
        }
        // Where two actions are worth the same, either may be named.
        let is_close = values.double_take.is_some_and(|take| (take.min(1.0) - values.no_double).abs() < 1e-6);
        let action = match row[10].to_lowercase().replace("redouble", "double") {
            _ if is_close => values.action,
            action if action.starts_with("double, take") => CubeAction::DoubleTake,
            action if action.starts_with("double, pass") => CubeAction::DoublePass,
            action if action.starts_with("too good") => CubeAction::TooGood,
            action if action.starts_with("no double") => CubeAction::NoDouble,
            action => {
                assert_eq!(action, "", "{at}");
                values.action
            }
        };
        assert_eq!(values.action, action, "{at}: {values:?}");
        settings += 1;
    }
    assert_eq!((settings, numbers), (100, 164));
}

/// Live cash points without gammons, with the cube in the middle.
#[test]
fn cash_points_are_those_of_the_literature() {
    for (away, expected) in [
        ([2, 2], 0.6774),
        ([2, 4], 0.8144),
        ([4, 2], 0.8011),
        ([3, 5], 0.8087),
        ([5, 3], 0.8239),
        ([5, 5], 0.8183),
        ([7, 7], 0.7975),
    ] {
        let score = Score { equities: MatchEquities::usual(), away, crawford: false };
        let found = score.cash_point(Chances::of_equity(0.0), 1);
        assert!((found - expected).abs() < 5e-5, "{away:?}: {found}");
    }
}

/// What one side wins, the other loses: after a move the opponent's view of the same cube and score.
#[test]
fn both_sides_value_the_same_position_alike() {
    let model = CubeModel::usual();
    let chances = Chances::of_classes([0.01, 0.09, 0.33, 0.37, 0.17, 0.03]);
    let scorings = [
        Scoring::Money { jacoby: false },
        Scoring::Money { jacoby: true },
        Scoring::Match { away: [7, 4], crawford: false },
        Scoring::Match { away: [2, 11], crawford: false },
        Scoring::Match { away: [1, 5], crawford: true },
        Scoring::Match { away: [6, 1], crawford: false },
    ];
    for scoring in scorings {
        for (cube, owner) in
            [(1, CubeOwner::Centred), (2, CubeOwner::Own), (2, CubeOwner::Theirs), (4, CubeOwner::Own)]
        {
            let terms = Terms { cube, owner, scoring };
            let own = model.equity(0.68, chances, terms);
            let other = model.equity(0.68, chances.other(), terms.other());
            // Chances of a match that both sides have in the table add up to 1 within its rounding.
            assert!((own + other).abs() < 5e-4, "{terms:?}: {own} {other}");
            assert_eq!(terms.other().other(), terms);
            if let Some(chance) = model.match_chance_of(own, terms) {
                assert!((0.0..=1.0).contains(&chance), "{terms:?}: {chance}");
            }
        }
    }
}

/// After the Crawford game the trailer doubles; in it nobody does; a side that wins the match with the cube as it is gains nothing.
#[test]
fn the_score_decides_who_doubles() {
    let model = CubeModel::usual();
    let even = Chances::of_classes([0.01, 0.12, 0.37, 0.37, 0.12, 0.01]);
    let values = |away, crawford, cube, owner| {
        model.values_at(0.68, even, Terms { cube, owner, scoring: Scoring::Match { away, crawford } })
    };
    assert!(values([5, 1], false, 1, CubeOwner::Centred).doubles());
    assert!(!values([5, 1], true, 1, CubeOwner::Centred).doubles());
    assert_eq!(values([1, 5], false, 1, CubeOwner::Centred).double_take, None);
    assert_eq!(values([2, 5], false, 2, CubeOwner::Own).double_take, None);
    assert!(!values([7, 7], false, 1, CubeOwner::Centred).doubles());
    // At 2-away 2-away a double costs nothing.
    let two = values([2, 2], false, 1, CubeOwner::Centred);
    assert!((two.double_take.unwrap() - two.no_double).abs() < 0.02, "{two:?}");
}
