use super::*;
use crate::backgammon::{Backgammon, moves};
use crate::bearoff::two_sided::CubeOwner;
use crate::dice::ROLLS;
use adept_game::{Game, Kit, stream};
use rustc_hash::FxHashMap;

/// The positions that are not over.
fn open_positions(sides: &Sides) -> Vec<Position> {
    let all = &sides.all;
    let pairs = (1..all.len()).flat_map(|own| (1..all.len()).map(move |opponent| (own, opponent)));
    let fitting = pairs.filter(|&(own, opponent)| sides.fit(own, opponent));
    fitting.map(|(own, opponent)| Position { own: all[own], opponent: all[opponent] }).collect()
}

/// The mean over the rolls of the best of all results, by the opponent's value after each.
fn best(position: Position, value: impl Fn(Position) -> f64) -> f64 {
    let mut found: Vec<Position> = Vec::new();
    let of = |&roll| {
        moves::results(position, roll, &mut found);
        let best = found.iter().map(|after| -value(after.swapped())).fold(f64::MIN, f64::max);
        f64::from(roll.ways()) / 36.0 * best
    };
    ROLLS.iter().map(of).sum()
}

/// The points that the side to roll wins if the game is over.
fn result(position: Position) -> Option<f64> {
    let points = |loser| f64::from(Position::result(loser).points());
    match (position.own.is_done(), position.opponent.is_done()) {
        (true, _) => Some(points(position.opponent)),
        (_, true) => Some(-points(position.own)),
        _ => None,
    }
}

/// The equity without a double of the side to roll, after each possible move, by the equities of the opponent.
fn no_double(position: Position, owner: CubeOwner, jacoby: bool, table: &CubefulTable) -> f64 {
    let value = |after| table.equities(after, jacoby).unwrap().value(owner.swapped());
    best(position, |after| match result(after) {
        Some(points) if jacoby && owner == CubeOwner::Centred => points.signum(),
        Some(points) => points,
        None => value(after),
    })
}

/// Values by plain iteration of the formulas, all from 0, of one checker a side.
#[test]
fn one_checker_has_the_values_of_the_formulas() {
    /// C, O and U.
    type Values = FxHashMap<Position, [f64; 3]>;
    let table = CubefulTable::solve(1, 1e-6, 1).unwrap();
    let all = open_positions(&table.sides);
    assert_eq!((all.len(), table.positions()), (601, 601));
    for jacoby in [false, true] {
        let of = |values: &Values, owner: usize, after: Position| match result(after) {
            Some(points) if jacoby && owner == 0 => points.signum(),
            Some(points) => points,
            None => values[&after][owner],
        };
        let mut values: Values = all.iter().map(|&position| (position, [0.0; 3])).collect();
        let mut last = Vec::new();
        for _ in 0..200 {
            last = all
                .iter()
                .map(|&position| [0, 2, 1].map(|owner| best(position, |after| of(&values, owner, after))))
                .collect();
            for (position, &[centred, own, theirs]) in all.iter().zip(&last) {
                let double = (2.0 * theirs).min(1.0);
                values.insert(*position, [centred.max(double), own.max(double), theirs]);
            }
        }
        for (position, expected) in all.iter().zip(&last) {
            let found = table.equities(*position, jacoby).unwrap();
            for (owner, expected) in CubeOwner::ALL.into_iter().zip(expected) {
                let error = (found.no_double(owner) - expected).abs();
                assert!(error <= table.bound(), "{position} {owner}: {error:e}");
            }
        }
    }
}

#[test]
fn values_are_those_of_the_best_moves() {
    let table = CubefulTable::solve(2, 1e-6, 0).unwrap();
    let mut rng = stream(1, "backgammon with the cube", 0);
    let draw = Backgammon::new(2).unwrap().positions().draw("all").unwrap();
    for _ in 0..1_500 {
        let position = draw(&mut rng).position();
        for (owner, jacoby) in [
            (CubeOwner::Centred, false),
            (CubeOwner::Centred, true),
            (CubeOwner::Own, false),
            (CubeOwner::Theirs, false),
        ] {
            let found = table.equities(position, jacoby).unwrap().no_double(owner);
            let again = no_double(position, owner, jacoby, &table);
            assert!(
                (found - again).abs() < 2.0 * table.bound(),
                "{position} {owner} {jacoby}: {found} {again}"
            );
        }
        let cubeless =
            best(position, |after| result(after).unwrap_or_else(|| table.cubeless(after).unwrap()));
        assert!((table.cubeless(position).unwrap() - cubeless).abs() < 2.0 * table.bound(), "{position}");
    }
}

/// No cube and a centred cube are worth at least as much as the opponent's cube, at most as much as an own one. The Jacoby rule
/// changes nothing where no gammon is possible.
#[test]
fn the_cube_is_worth_having() {
    for checkers in [1, 2] {
        let table = CubefulTable::solve(checkers, 1e-6, 0).unwrap();
        let cubeless = Table::solve(checkers, 1e-9, 0).unwrap();
        let near = 2.0 * table.bound();
        let mut gammonless = 0;
        for position in open_positions(&table.sides) {
            let found = [false, true].map(|jacoby| table.equities(position, jacoby).unwrap());
            let [plain, by_jacoby] = found;
            let dead = table.cubeless(position).unwrap();
            let [centred, own, theirs] = CubeOwner::ALL.map(|owner| plain.value(owner));
            assert!((dead - cubeless.value(position).unwrap()).abs() <= near, "{position}: {dead}");
            assert!(theirs <= dead + near && dead <= own + near, "{position}: {theirs} {dead} {own}");
            assert!(theirs <= centred + near && centred <= own + near, "{position}: {centred}");
            assert!(theirs.abs().max(own.abs()).max(centred.abs()) <= 3.0, "{position}");
            for equities in found {
                let double = equities.double_take().min(CubeEquities::DOUBLE_PASS);
                for owner in [CubeOwner::Centred, CubeOwner::Own] {
                    assert_eq!(equities.value(owner), equities.no_double(owner).max(double), "{position}");
                }
            }
            assert!(by_jacoby.value(CubeOwner::Centred).abs() <= 1.0 + near, "{position}");
            if position.own.off() > 0 && position.opponent.off() > 0 {
                gammonless += 1;
                let difference =
                    by_jacoby.no_double(CubeOwner::Centred) - plain.no_double(CubeOwner::Centred);
                assert!(difference.abs() <= near, "{position}: {difference:e}");
            }
        }
        assert_eq!(gammonless > 0, checkers > 1);
    }
}

/// GNU Backgammon's values of positions in which each of its rolls can be played.
#[test]
fn gnubg_has_the_same_values() {
    let tables = [1, 2].map(|checkers| CubefulTable::solve(checkers, CubefulTable::WIDTH, 0).unwrap());
    let text = include_str!("../../../../../../datasets/hypergammon-cube-gnubg.csv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let checkers = if cells[0].matches(':').count() == 2 && !cells[0].contains(":2") { 1 } else { 2 };
        let (state, _) = Backgammon::new(checkers).unwrap().parse_position(cells[0]).unwrap();
        let (table, position) = (&tables[usize::from(checkers) - 1], state.position());
        let [plain, by_jacoby] = [false, true].map(|jacoby| table.equities(position, jacoby).unwrap());
        let found = [
            table.cubeless(position).unwrap(),
            plain.no_double(CubeOwner::Centred),
            by_jacoby.no_double(CubeOwner::Centred),
            plain.no_double(CubeOwner::Own),
            plain.no_double(CubeOwner::Theirs),
        ];
        for (found, cell) in found.into_iter().zip(&cells[1..]) {
            let error = (found - cell.parse::<f64>().unwrap()).abs();
            assert!(error <= 2e-6, "{row}: {found} {error:e}");
        }
        count += 1;
    }
    assert_eq!(count, 40);
}

/// A table does not depend on the number of threads, keeps its bound, and is read as it is written.
#[test]
fn tables_with_the_cube_are_read_as_they_are_written() {
    let [one, three] = [1, 3].map(|threads| CubefulTable::solve(2, 1e-3, threads).unwrap());
    assert!(one.stored.values == three.stored.values && one.bound() == three.bound());
    let fine = CubefulTable::solve(2, 1e-6, 0).unwrap();
    assert!(fine.bound() < 1e-6 && one.bound() > 1e-5 && one.bound() < 1e-3, "{}", one.bound());
    let pairs = one.stored.values.iter().zip(&fine.stored.values);
    let most = pairs.map(|(a, b)| f64::from(a - b).abs()).fold(0.0, f64::max);
    assert!(most <= one.bound() + fine.bound(), "{most}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.table");
    one.save(&path).unwrap();
    let read = CubefulTable::open(&path).unwrap();
    assert_eq!((read.checkers(), read.bound()), (2, one.bound()));
    assert!(read.stored.values == one.stored.values);
    // A table without the cube is another one.
    let error = Table::open(&path).err().unwrap().to_string();
    assert!(error.contains("this is not a table of backgammon"), "{error}");
    Table::solve(2, 1e-6, 0).unwrap().save(&path).unwrap();
    let error = CubefulTable::open(&path).err().unwrap().to_string();
    assert!(error.contains("not a table of backgammon with the cube") && error.contains("--cube"), "{error}");
}
