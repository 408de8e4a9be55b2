use super::super::{Precision, Settings, Table};
use super::*;
use adept_game::sheet::Sheet;
use std::collections::HashMap;
use std::path::Path;

fn solved(checkers: u8) -> CubeTable {
    CubeTable::solve(checkers, 0, &mut |_| {}).unwrap().0
}

fn solve_cubeless(checkers: u8) -> Table {
    let settings = Settings { precision: Precision::Bits64, ..Settings::new(checkers) };
    Table::solve(settings, &mut |_| {}).unwrap().0
}

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

/// All pairs of nonempty sides.
fn pairs(checkers: u8) -> impl Iterator<Item = Position> {
    let sides = move || (1..rank::sides(checkers)).map(Side::of_rank);
    sides().flat_map(move |own| sides().map(move |opponent| Position { own, opponent }))
}

/// The definition, by memoised recursion in 64 bits.
#[derive(Default)]
struct Naive(HashMap<Position, CubeEquities>);

impl Naive {
    fn value(&mut self, position: Position, owner: CubeOwner) -> f64 {
        if position.is_over() {
            return if position.own.is_empty() { 1.0 } else { -1.0 };
        }
        self.equities(position).value(owner)
    }

    fn equities(&mut self, position: Position) -> CubeEquities {
        if let Some(&known) = self.0.get(&position) {
            return known;
        }
        let rolled = CubeOwner::ALL.map(|owner| {
            let mut sum = 0.0;
            for roll in ROLLS {
                let decision = DicePosition { position, roll };
                let mut afterstates = Vec::new();
                decision.afterstates(&mut afterstates);
                let values = afterstates.iter().map(|&s| -self.value(decision.after(s), owner.swapped()));
                sum += f64::from(roll.ways()) * values.fold(f64::NEG_INFINITY, f64::max);
            }
            sum / 36.0
        });
        self.0.insert(position, CubeEquities::new(rolled));
        CubeEquities::new(rolled)
    }
}

#[test]
fn all_pairs_of_three_checkers_agree_with_the_definition() {
    let (table, mut naive) = (solved(3), Naive::default());
    for position in pairs(3) {
        let (found, exact) = (table.equities(position).unwrap(), naive.equities(position));
        for owner in CubeOwner::ALL {
            assert!((found.no_double(owner) - exact.no_double(owner)).abs() < 1e-6, "{position} {owner}");
            assert!((found.value(owner) - exact.value(owner)).abs() < 1e-6, "{position} {owner}");
            let cell = table.value(position, owner).unwrap();
            assert!((cell - exact.value(owner)).abs() < 1e-6, "{position} {owner}");
        }
    }
}

#[test]
fn reference_equities_are_met() {
    let cube = solved(8);
    let cubeless = solve_cubeless(8);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/bearoff-cube-reference.csv");
    let sheet = Sheet::read(&path).unwrap();
    let mut rows = 0;
    for row in sheet.rows() {
        let row = row.unwrap();
        let position = position(row.text(sheet.column(&["position"]).unwrap().unwrap()));
        let found = cube.equities(position).unwrap();
        for (name, value) in [
            ("cubeless", cubeless.value(position).unwrap()),
            ("no_double_centred", found.no_double(CubeOwner::Centred)),
            ("no_double_own", found.no_double(CubeOwner::Own)),
            ("double_take", found.double_take()),
            ("opponent_owns", found.value(CubeOwner::Theirs)),
            ("value_centred", found.value(CubeOwner::Centred)),
            ("value_own", found.value(CubeOwner::Own)),
        ] {
            let given = row.number(sheet.column(&[name]).unwrap().unwrap()).unwrap();
            assert!((value - given).abs() < 1e-6, "{position} {name}: {value}, {given} in the file");
        }
        for owner in CubeOwner::ALL {
            assert!((cube.value(position, owner).unwrap() - found.value(owner)).abs() < 1e-6, "{position}");
        }
        rows += 1;
    }
    assert_eq!(rows, 140);
}

#[test]
fn access_to_the_cube_is_worth_something() {
    let cube = solved(5);
    let cubeless = solve_cubeless(5);
    for position in pairs(5) {
        let [centred, own, theirs] = CubeOwner::ALL.map(|owner| cube.value(position, owner).unwrap());
        let without = cubeless.value(position).unwrap();
        assert!(theirs <= without + 1e-6 && without <= own + 1e-6, "{position}");
        assert!(theirs <= centred + 1e-6 && centred <= own + 1e-6, "{position}");
        assert!([centred, own, theirs].iter().all(|value| value.abs() <= 1.0), "{position}");
    }
}

/// 23 of 36 rolls bear off from 4 and 2, and the opponent is off with any roll: ND = (23 − 13)/36, and a double is
/// worth twice as much.
#[test]
fn a_last_roll_is_a_double() {
    let table = solved(2);
    let found = table.equities(position("0,1,0,1,0,0/1,0,0,0,0,0")).unwrap();
    for owner in [CubeOwner::Centred, CubeOwner::Own] {
        assert!((found.no_double(owner) - 10.0 / 36.0).abs() < 1e-6, "{found:?}");
        assert!((found.value(owner) - 20.0 / 36.0).abs() < 1e-6, "{found:?}");
        assert_eq!(found.action(owner), Some(CubeAction::DoubleTake));
    }
    assert!((found.value(CubeOwner::Theirs) - 10.0 / 36.0).abs() < 1e-6, "{found:?}");
    assert_eq!(found.action(CubeOwner::Theirs), None);
}

#[test]
fn actions_follow_from_equities() {
    for (no_double, theirs, action) in [
        (0.3, 0.4, CubeAction::DoubleTake),
        (0.9, 0.6, CubeAction::DoublePass),
        (0.3, 0.1, CubeAction::NoDouble),
        // Ties: a double that costs nothing, a take that costs nothing, and a win for certain.
        (0.0, 0.0, CubeAction::DoubleTake),
        (0.5, 0.5, CubeAction::DoubleTake),
        (1.0, 1.0, CubeAction::DoublePass),
    ] {
        let equities = CubeEquities::new([no_double, no_double, theirs]);
        assert_eq!(equities.action(CubeOwner::Centred), Some(action), "{equities:?}");
        assert_eq!(equities.value(CubeOwner::Own), no_double.max((2.0 * theirs).min(1.0)));
    }
}

#[test]
fn moves_come_best_first_by_owner() {
    let table = solved(4);
    let decision =
        DicePosition { position: position("1,0,1,0,0,2/0,2,0,0,1,0"), roll: "31".parse().unwrap() };
    let mut expected = Vec::new();
    decision.afterstates(&mut expected);
    for owner in CubeOwner::ALL {
        let moves = table.moves(decision, owner).unwrap();
        assert!(moves.is_sorted_by(|a, b| a.1 >= b.1));
        for &(side, value) in &moves {
            let after = table.equities(decision.after(side)).unwrap().value(owner.swapped());
            assert!((value + after).abs() < 1e-6);
        }
        let mut sides: Vec<Side> = moves.iter().map(|&(side, _)| side).collect();
        sides.sort_unstable();
        assert_eq!(sides, expected);
    }
}

#[test]
fn threads_and_instruction_sets_give_the_same_bits() {
    let solve =
        |threads, isa| CubeTable::solve_on(6, &Team::new(threads).unwrap(), isa, &mut |_| {}).unwrap().0;
    let first = solve(1, Isa::Portable);
    for isa in Isa::available() {
        for threads in [1, 3] {
            assert!(solve(threads, isa).contents() == first.contents(), "{isa:?}, {threads} threads");
        }
    }
}

#[test]
fn finished_games_and_wrong_positions() {
    let table = solved(2);
    for (text, value) in [("0,0,0,0,0,0/1,0,0,0,0,0", 1.0), ("1,0,0,0,0,0/0,0,0,0,0,0", -1.0)] {
        for owner in CubeOwner::ALL {
            assert_eq!(table.value(position(text), owner).unwrap(), value);
            assert_eq!(table.equities(position(text)).unwrap().value(owner), value);
        }
    }
    let both = Position { own: Side::EMPTY, opponent: Side::EMPTY };
    assert!(matches!(table.equities(both), Err(TableError::BothEmpty)));
    let large = position("3,0,0,0,0,0/1,0,0,0,0,0");
    assert!(matches!(table.equities(large), Err(TableError::TooManyCheckers { checkers: 2, .. })));
    assert!(matches!(CubeTable::solve(16, 0, &mut |_| {}), Err(TableError::Checkers(16))));
}

#[test]
fn too_little_memory_says_what_fits() {
    let check = |checkers, free| {
        let rows = order_and_moves(checkers, false).0.sides.len();
        check_memory(checkers, rows, OWNERS, free)
    };
    check(11, Some(2_000_000_000)).unwrap();
    let error = check(12, Some(2_000_000_000)).unwrap_err();
    assert!(matches!(error, TableError::CubeMemory { most: Some((11, _)), .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("12 checkers") && text.contains("2.00 GB are free"), "{text}");
    assert!(text.contains("room for 11 checkers a side"), "{text}");
    assert!(check(1, Some(10)).unwrap_err().to_string().contains("not even one"));
    check(15, None).unwrap();
}

#[test]
fn gnubg_files_with_the_cube_are_compared() {
    let table = solved(2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gnubg_ts.bd");
    let mut bytes = format!("gnubg-TS-06-02-1{:x<23}\n", "").into_bytes();
    for own in (0..rank::sides(2)).map(Side::of_rank) {
        for opponent in (0..rank::sides(2)).map(Side::of_rank) {
            let numbers = match table.equities(Position { own, opponent }) {
                Ok(found) => {
                    let [centred, own, theirs] = CubeOwner::ALL.map(|owner| found.no_double(owner));
                    [0.0, own, centred, theirs]
                }
                Err(_) => [1.0; 4],
            };
            bytes.extend(numbers.map(|v| (((v + 1.0) * 32767.5) as u16).to_le_bytes()).concat());
        }
    }
    std::fs::write(&path, &bytes).unwrap();
    let errors = table.compare_with_gnubg(&GnubgTable::open(&path).unwrap()).unwrap().unwrap();
    for errors in errors {
        assert!(errors.rows == 27 * 27 && errors.max < 3.2e-5, "{errors:?}");
    }
    let cubeless = solve_cubeless(2);
    cubeless.export_to_gnubg(2, &path).unwrap();
    assert!(table.compare_with_gnubg(&GnubgTable::open(&path).unwrap()).unwrap().is_none());
}
