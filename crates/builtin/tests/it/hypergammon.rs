//! Hypergammon's exact values. Takes some 100 CPU-seconds and runs only on request: `-- --ignored`.

use adept_builtin::backgammon::exact::Table;
use adept_builtin::backgammon::{Backgammon, Position, results};
use adept_builtin::dice::ROLLS;
use adept_game::{Kit, stream};
use std::path::Path;

#[test]
#[ignore = "takes 100 CPU-seconds"]
fn values_of_another_program_agree() {
    let game = Backgammon::new(3).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/hypergammon-reference.csv");
    let examples = game.files().read_examples(&game, &path).unwrap();
    assert_eq!(examples.len(), 60);
    let table = Table::solve(3, Table::CHANGE, 0).unwrap();
    assert_eq!(table.positions(), 7_953_353);
    assert!((table.value(Position::start(3)).unwrap() - 0.110_690_594).abs() < 1e-6);
    // Each value is that of the best reply.
    let draw = game.positions().draw("all").unwrap();
    let (mut rng, mut found) = (stream(1, "hypergammon", 0), Vec::new());
    for _ in 0..2_000 {
        let position = draw(&mut rng).position();
        let mut best = |roll| {
            results(position, roll, &mut found);
            found
                .iter()
                .map(|after: &Position| -table.value(after.swapped()).unwrap())
                .fold(f64::MIN, f64::max)
        };
        let again: f64 = ROLLS.iter().map(|&roll| f64::from(roll.ways()) / 36.0 * best(roll)).sum();
        let value = table.value(position).unwrap();
        assert!((value - again).abs() < 1e-6, "{position}: {value} {again}");
    }
    for example in examples {
        // The file is for the side to roll, the example for the side that moved.
        let value = -3.0 * example.value;
        let exact = table.value(example.state.position()).unwrap();
        assert!((exact - value).abs() < 1e-6, "{}: {exact} {value}", example.state.position());
    }
}
