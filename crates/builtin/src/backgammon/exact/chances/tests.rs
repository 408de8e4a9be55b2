use super::*;
use crate::backgammon::moves;
use rustc_hash::FxHashMap;

/// The positions that are not over.
fn open_positions(sides: &Sides) -> Vec<Position> {
    let all = &sides.all;
    let pairs = (1..all.len()).flat_map(|own| (1..all.len()).map(move |opponent| (own, opponent)));
    let fitting = pairs.filter(|&(own, opponent)| sides.fit(own, opponent));
    fitting.map(|(own, opponent)| Position { own: all[own], opponent: all[opponent] }).collect()
}

/// The equity of the side to roll, also of a game that it has lost.
fn equity(table: &Table, position: Position) -> f64 {
    match position.opponent.is_done() {
        true => -f64::from(Position::result(position.own).points()),
        false => table.value(position).unwrap(),
    }
}

/// The positions after the best moves, for the opponent.
fn best(table: &Table, chances: &ChancesTable, position: Position) -> Vec<Position> {
    let mut found: Vec<Position> = Vec::new();
    let place = |position: Position| {
        let (own, opponent) = chances.sides.ranks(position).unwrap();
        chances.places[own * chances.sides.len() + opponent]
    };
    let of_roll = |&roll| {
        moves::results(position, roll, &mut found);
        let after = found.iter().map(|after| after.swapped());
        after
            .min_by(|&a, &b| {
                equity(table, a).total_cmp(&equity(table, b)).then_with(|| place(a).cmp(&place(b)))
            })
            .unwrap()
    };
    ROLLS.iter().map(of_roll).collect()
}

/// Plain iteration of the equations in 64-bit floats, of one checker a side.
#[test]
fn one_checker_has_the_chances_of_the_equations() {
    let table = Table::solve(1, Table::CHANGE, 1).unwrap();
    let found = table.chances(1).unwrap();
    let all = open_positions(&found.sides);
    assert_eq!(all.len(), table.positions());
    let after: Vec<Vec<Position>> = all.iter().map(|&position| best(&table, &found, position)).collect();
    let mut values: FxHashMap<Position, [f64; 6]> =
        all.iter().map(|&position| (position, [0.0; 6])).collect();
    for _ in 0..300 {
        let new = |after: &Vec<Position>| {
            let mut sums = [0.0; 6];
            for (roll, after) in ROLLS.iter().zip(after) {
                let mut seen = match after.opponent.is_done() {
                    true => {
                        let mut lost = [0.0; 6];
                        lost[3 - usize::from(Position::result(after.own).points())] = 1.0;
                        lost
                    }
                    false => values[after],
                };
                seen.reverse();
                sums.iter_mut().zip(seen).for_each(|(sum, p)| *sum += f64::from(roll.ways()) / 36.0 * p);
            }
            sums
        };
        let new: Vec<[f64; 6]> = after.iter().map(new).collect();
        for (position, new) in all.iter().zip(new) {
            values.insert(*position, new);
        }
    }
    for (position, expected) in &values {
        for (p, expected) in found.classes(*position).unwrap().iter().zip(expected) {
            assert!((p - expected).abs() < 2e-8, "{position}: {p} {expected}");
        }
    }
    // A checker that is alone on the board has borne off none before it.
    assert!(values.values().all(|classes| classes[2] == 0.0 && classes[3] == 0.0));
}

#[test]
fn chances_have_the_exact_equities() {
    for checkers in [1, 2] {
        let table = Table::solve(checkers, Table::CHANGE, 0).unwrap();
        let found = table.chances(0).unwrap();
        // A move that is best to within the rounding of equities costs at most that, at each turn.
        assert!(found.difference() < 1e-6, "{checkers}: {:e}", found.difference());
        for position in open_positions(&found.sides) {
            let classes = found.classes(position).unwrap();
            let points: f64 =
                classes.iter().zip([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]).map(|(p, points)| p * points).sum();
            assert!(
                (points - table.value(position).unwrap()).abs() <= found.difference() + 1e-9,
                "{position}"
            );
            assert!((classes.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{position}");
            if position.own.off() > 0 {
                assert_eq!((classes[0], classes[1]), (0.0, 0.0), "{position} loses no gammon");
            }
            if position.opponent.off() > 0 {
                assert_eq!((classes[4], classes[5]), (0.0, 0.0), "{position} wins no gammon");
            }
        }
    }
}

/// The table with the cube has the same equities without it, and threads do not matter.
#[test]
fn both_tables_have_the_same_chances() {
    let cubeful = CubefulTable::solve(1, CubefulTable::WIDTH, 1).unwrap();
    let [one, three] = [1, 3].map(|threads| cubeful.chances(threads).unwrap());
    assert!(one.parts == three.parts && one.difference() == three.difference());
    assert!(one.difference() < 2e-6, "{:e}", one.difference());
    let plain = Table::solve(1, Table::CHANGE, 1).unwrap().chances(1).unwrap();
    for position in open_positions(&plain.sides) {
        let [a, b] = [&one, &plain].map(|table| table.chances(position).unwrap());
        assert!((a.equity() - b.equity()).abs() < 3e-6, "{position}: {a:?} {b:?}");
    }
    // A finished game has a certain result.
    let over = Position { own: Position::start(1).own, opponent: plain.sides.all[0] };
    assert_eq!(one.classes(over).unwrap(), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(one.classes(over.swapped()).unwrap(), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

/// Prints how exact the chances of hypergammon are, from the file of a table with the cube.
#[test]
#[ignore = "takes minutes: ADEPT_TABLE=FILE"]
fn chances_of_a_table() {
    let Ok(path) = std::env::var("ADEPT_TABLE") else { return };
    let table = CubefulTable::open(std::path::Path::new(&path)).unwrap();
    let clock = std::time::Instant::now();
    let found = table.chances(0).unwrap();
    println!("{:.1} s, difference {:e}", clock.elapsed().as_secs_f64(), found.difference());
    let start = Position::start(table.checkers());
    println!("start: {:.6?}, {:.6?}", found.classes(start).unwrap(), table.cubeless(start));
    assert!(found.difference() < 1e-5);
}
