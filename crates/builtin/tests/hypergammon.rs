//! Hypergammon's exact values. They take two CPU-minutes, so that this runs only if it is asked for: `-- --ignored`.

use adept_builtin::backgammon::exact::Table;
use adept_builtin::backgammon::{Backgammon, Position};
use adept_game::Kit;
use std::path::Path;

#[test]
#[ignore = "takes two CPU-minutes"]
fn values_of_another_program_agree() {
    let game = Backgammon::new(3).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/hypergammon-reference.csv");
    let examples = game.read_examples(&path).unwrap();
    assert_eq!(examples.len(), 60);
    let table = Table::solve(3, Table::CHANGE, 0).unwrap();
    assert_eq!(table.positions(), 7_953_353);
    assert!((table.value(Position::start(3)).unwrap() - 0.110_690_594).abs() < 1e-6);
    for example in examples {
        // The file is for the side to roll, the example for the side that moved.
        let value = -3.0 * example.value;
        let exact = table.value(example.state.position()).unwrap();
        assert!((exact - value).abs() < 1e-6, "{}: {exact} {value}", example.state.position());
    }
}
