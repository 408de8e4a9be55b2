use super::*;
use crate::backgammon::cube::{MatchEquities, Scoring, Terms};
use crate::bearoff::two_sided::{Precision, Settings, Table};
use std::collections::HashMap;

/// Points that the side to roll, player 0, and its opponent need, the Crawford game, the value of the cube and its owner.
#[derive(Clone, Copy, Debug)]
struct Case {
    away: [u32; 2],
    crawford: bool,
    cube: u32,
    owner: CubeOwner,
}

impl Case {
    const fn new(away: [u32; 2], cube: u32, owner: CubeOwner) -> Self {
        Self { away, crawford: false, cube, owner }
    }

    fn terms(self) -> Terms {
        let scoring = Scoring::Match { away: self.away, crawford: self.crawford };
        Terms { cube: self.cube, owner: self.owner, scoring }
    }

    fn solve(self, checkers: u8) -> ScoreTables {
        let steps = MatchEquities::usual().cube_steps(self.terms()).unwrap();
        let owner = match self.owner {
            CubeOwner::Centred => None,
            CubeOwner::Own => Some(0),
            CubeOwner::Theirs => Some(1),
        };
        ScoreTables::solve(checkers, 1, steps, owner, &mut |_| ()).unwrap().0
    }
}

const CASES: [Case; 9] = [
    Case::new([5, 3], 1, CubeOwner::Centred),
    Case::new([2, 4], 1, CubeOwner::Centred),
    Case::new([7, 9], 1, CubeOwner::Centred),
    Case::new([4, 1], 1, CubeOwner::Centred),
    Case::new([3, 2], 2, CubeOwner::Own),
    Case::new([5, 7], 2, CubeOwner::Theirs),
    Case::new([11, 3], 4, CubeOwner::Own),
    Case::new([1, 1], 1, CubeOwner::Centred),
    Case { crawford: true, ..Case::new([1, 3], 1, CubeOwner::Centred) },
];

fn view(tables: &ScoreTables) -> ScoreView<'_> {
    tables.view(tables.start(), 0).unwrap()
}

/// The rules in match winning chances of the player to roll, by plain recursion in 64 bits.
#[derive(Default)]
struct Naive(HashMap<(Position, Terms), [Option<f64>; 2]>);

impl Naive {
    /// The chance after the end of a game by this many points.
    fn after(terms: Terms, points: i32) -> f64 {
        let Scoring::Match { away: [own, other], crawford } = terms.scoring else { unreachable!() };
        let is_late = crawford || own == 1 || other == 1;
        let left = [own as i32 - points.max(0), other as i32 - (-points).max(0)];
        let chance = |[a, b]: [i32; 2]| MatchEquities::usual().chance([a, b], is_late);
        (chance(left) + 1.0 - chance([left[1], left[0]])) / 2.0
    }

    /// The chances without a double, and after a double and a take.
    fn both(&mut self, position: Position, terms: Terms) -> [Option<f64>; 2] {
        if let Some(&known) = self.0.get(&(position, terms)) {
            return known;
        }
        let mut sum = 0.0;
        for roll in ROLLS {
            let decision = DicePosition { position, roll };
            let mut afterstates = Vec::new();
            decision.afterstates(&mut afterstates);
            let values = afterstates.iter().map(|&s| 1.0 - self.value(decision.after(s), terms.other()));
            sum += f64::from(roll.ways()) * values.fold(f64::NEG_INFINITY, f64::max);
        }
        let doubled = Terms { cube: 2 * terms.cube, owner: CubeOwner::Theirs, ..terms };
        let take = terms.may_double().then(|| self.value(position, doubled));
        self.0.insert((position, terms), [Some(sum / 36.0), take]);
        [Some(sum / 36.0), take]
    }

    fn value(&mut self, position: Position, terms: Terms) -> f64 {
        let cube = terms.cube as i32;
        if position.is_over() {
            return Self::after(terms, if position.own.is_empty() { cube } else { -cube });
        }
        let [no_double, take] = self.both(position, terms).map(|chance| chance.unwrap_or(0.0));
        no_double.max(take.min(Self::after(terms, cube)))
    }
}

fn pairs(checkers: u8) -> impl Iterator<Item = Position> {
    let sides = move || (1..rank::sides(checkers)).map(Side::of_rank);
    sides().flat_map(move |own| sides().map(move |opponent| Position { own, opponent }))
}

#[test]
fn all_pairs_of_two_checkers_agree_with_plain_recursion() {
    for case in CASES {
        let (tables, mut naive) = (case.solve(2), Naive::default());
        let view = view(&tables);
        for position in pairs(2) {
            let found = view.equities(position).unwrap();
            let [no_double, take] = naive.both(position, case.terms());
            let won = |equity: f64| view.match_chance(equity);
            assert!((won(found.no_double) - no_double.unwrap()).abs() < 1e-6, "{case:?} {position}");
            assert_eq!(found.double_take.is_some(), take.is_some(), "{case:?}");
            if let (Some(found), Some(take)) = (found.double_take, take) {
                assert!((won(found) - take).abs() < 1e-6, "{case:?} {position}: {} {take}", won(found));
            }
            let value = naive.value(position, case.terms());
            assert!((won(found.value()) - value).abs() < 1e-6, "{case:?} {position}");
            assert!((won(view.value(position).unwrap()) - value).abs() < 1e-6, "{case:?} {position}");
        }
    }
}

/// With a dead cube the chance to win the game lies between the match equities after losing and winning it.
#[test]
fn dead_cubes_have_the_chance_to_win_the_game() {
    let settings = Settings { precision: Precision::Bits64, ..Settings::new(4) };
    let cubeless = Table::solve(settings, &mut |_| {}).unwrap().0;
    for case in [
        Case::new([1, 1], 1, CubeOwner::Centred),
        Case { crawford: true, ..Case::new([1, 4], 1, CubeOwner::Centred) },
        Case { crawford: true, ..Case::new([6, 1], 1, CubeOwner::Centred) },
        Case::new([2, 2], 2, CubeOwner::Own),
        Case::new([4, 3], 4, CubeOwner::Theirs),
        Case::new([2, 5], 2, CubeOwner::Own),
        Case::new([5, 2], 2, CubeOwner::Theirs),
    ] {
        let tables = case.solve(4);
        assert!(tables.live.is_empty(), "{case:?}");
        let view = view(&tables);
        let [lost, won] = [-1, 1].map(|sign| Naive::after(case.terms(), sign * case.cube as i32));
        for position in pairs(4).step_by(7) {
            let found = view.equities(position).unwrap();
            let p = (1.0 + cubeless.value(position).unwrap()) / 2.0;
            let expected = p * won + (1.0 - p) * lost;
            assert!((view.match_chance(found.no_double) - expected).abs() < 1e-6, "{case:?} {position}");
            assert_eq!((found.double_take, found.action()), (None, None));
            assert!((view.cubeless(position).unwrap() - found.no_double).abs() < 1e-6);
        }
    }
}

/// Seen by the opponent, the score, the owner of the cube and the player are exchanged.
#[test]
fn both_players_see_the_same_match() {
    for case in CASES {
        let [own, other] = case.away;
        let mirrored = Case { away: [other, own], owner: case.owner.swapped(), ..case };
        let (tables, mirror) = (case.solve(3), mirrored.solve(3));
        for player in [0, 1] {
            let one = tables.view(tables.start(), player).unwrap();
            let two = mirror.view(mirror.start(), 1 - player).unwrap();
            for position in pairs(3).step_by(3) {
                let [a, b] = [one, two].map(|view| view.equities(position).unwrap());
                assert!((a.no_double - b.no_double).abs() < 1e-6, "{case:?} {position}");
                let takes = a.double_take.zip(b.double_take);
                assert!(takes.is_none_or(|(a, b)| (a - b).abs() < 1e-6), "{case:?} {position}");
                let [p, q] = [one, two].map(|view| view.match_chance(a.no_double));
                assert!((p - q).abs() < 1e-9, "{case:?}: {p} {q}");
            }
        }
    }
}

/// The trailer after the Crawford game doubles at once, and a player who wins the match with the cube as it is does not.
#[test]
fn the_score_decides_who_doubles() {
    let position: Position = "0,0,2,0,0,1/0,0,2,0,0,1".parse().unwrap();
    let action = |case: Case| view(&case.solve(3)).equities(position).unwrap().action();
    let doubles = action(Case::new([4, 1], 1, CubeOwner::Centred));
    assert!(matches!(doubles, Some(CubeAction::DoubleTake | CubeAction::DoublePass)), "{doubles:?}");
    assert_eq!(action(Case::new([1, 4], 1, CubeOwner::Centred)), None);
    assert_eq!(action(Case::new([2, 5], 2, CubeOwner::Own)), None);
    assert_eq!(action(Case { crawford: true, ..Case::new([4, 1], 1, CubeOwner::Centred) }), None);
}

/// At 2-away 2-away a double makes this the last game. 4 and 2 against 1 win with 23 of 36 throws, and without a double there is the same to win.
#[test]
fn a_last_roll_at_two_away_is_a_double() {
    let case = Case::new([2, 2], 1, CubeOwner::Centred);
    let tables = case.solve(2);
    let view = view(&tables);
    let found = view.equities("0,1,0,1,0,0/1,0,0,0,0,0".parse().unwrap()).unwrap();
    let p = 23.0 / 36.0;
    let [won, lost] = [1, -1].map(|points| Naive::after(case.terms(), points));
    assert!((view.match_chance(found.no_double) - (p * won + (1.0 - p) * lost)).abs() < 1e-6);
    assert!((view.match_chance(found.double_take.unwrap()) - p).abs() < 1e-6);
    assert_eq!(found.action(), Some(CubeAction::DoubleTake));
}

#[test]
fn moves_come_best_first() {
    let tables = Case::new([3, 5], 1, CubeOwner::Centred).solve(4);
    let decision =
        DicePosition { position: "1,0,1,0,0,2/0,2,0,0,1,0".parse().unwrap(), roll: "31".parse().unwrap() };
    let moves = view(&tables).moves(decision).unwrap();
    assert!(moves.is_sorted_by(|a, b| a.1 >= b.1) && moves.len() > 1);
    let opponent = tables.view(tables.start(), 1).unwrap();
    for (side, value) in moves {
        let after = opponent.equities(decision.after(side)).unwrap().value();
        assert!((value + after).abs() < 1e-6);
    }
}

#[test]
fn places_that_the_cube_cannot_reach_have_no_tables() {
    let tables = Case::new([4, 4], 2, CubeOwner::Own).solve(1);
    let has = |step, owner| tables.view(CubePlace { step, owner }, 0).is_some();
    assert!(has(0, Some(0)) && has(1, Some(1)));
    // A cube of 2 at the other player has not been solved, one of 4 is dead.
    assert!(!has(0, Some(1)) && has(1, Some(0)) && !has(9, None));
    let over = view(&tables).equities("0,0,0,0,0,0/1,0,0,0,0,0".parse().unwrap()).unwrap();
    assert_eq!((over.value(), over.action()), (1.0, None));
    let both = Position { own: Side::EMPTY, opponent: Side::EMPTY };
    assert!(matches!(view(&tables).value(both), Err(TableError::BothEmpty)));
    let steps = MatchEquities::usual().cube_steps(CASES[0].terms()).unwrap();
    let refused = ScoreTables::solve(16, 0, steps, None, &mut |_| ());
    assert!(matches!(refused, Err(TableError::Checkers(16))));
    assert_eq!(MatchEquities::usual().cube_steps(Terms::money(false)), None);
}

#[test]
fn threads_give_the_same_bits() {
    let case = CASES[0];
    let solve = |threads: usize, isa: Isa| {
        let steps = MatchEquities::usual().cube_steps(case.terms()).unwrap();
        ScoreTables::solve_on(5, &Team::new(threads).unwrap(), isa, steps, None, &mut |_| ()).unwrap().0
    };
    let bytes = |tables: &ScoreTables| tables.grids.contents().to_vec();
    let first = bytes(&solve(1, Isa::Portable));
    for isa in Isa::available() {
        for threads in [1, 3] {
            assert!(bytes(&solve(threads, isa)) == first, "{isa:?}, {threads} threads");
        }
    }
}

#[test]
fn compacted_tables_have_the_same_values() {
    let case = CASES[0];
    let (tables, compacted) = (case.solve(4), case.solve(4).compacted().unwrap());
    assert!(compacted.grids.contents().len() < tables.grids.contents().len());
    for position in pairs(4).step_by(5) {
        let [a, b] = [&tables, &compacted].map(|tables| {
            let view = view(tables);
            (view.equities(position).unwrap(), view.value(position).unwrap())
        });
        assert_eq!(a, b, "{position}");
    }
}
